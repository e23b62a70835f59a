// Gradients accumulated over steps in a loop, reduced after it, then used in a nonlinear update in which bf16 is
// widened: sums pass through the loop, its zeros, and conversions.
sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func public @main(%w: tensor<6x4xf32>, %x: tensor<3x8x6xf32>, %g: tensor<3x8x4xf32>) -> tensor<6x4xf32> {
  %r = sdy.manual_computation(%w, %x, %g) in_shardings=[<@mesh, [{}, {"model"}]>, <@mesh, [{}, {"data"}, {}]>, <@mesh, [{}, {"data"}, {"model"}]>] out_shardings=[<@mesh, [{}, {"model"}]>] manual_axes={"data", "model"} (%a0: tensor<6x2xf32>, %a1: tensor<3x4x6xf32>, %a2: tensor<3x4x2xf32>) {
    %zero = stablehlo.constant dense<-0.0> : tensor<f32>
    %acc = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %i0 = stablehlo.constant dense<0> : tensor<i32>
    %l:4 = stablehlo.while(%i = %i0, %sum = %acc, %xs = %a1, %gs = %a2) : tensor<i32>, tensor<6x2xf32>, tensor<3x4x6xf32>, tensor<3x4x2xf32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0 = stablehlo.slice %xs [0:1, 0:4, 0:6] : (tensor<3x4x6xf32>) -> tensor<1x4x6xf32>
      %1 = stablehlo.reshape %0 : (tensor<1x4x6xf32>) -> tensor<4x6xf32>
      %2 = stablehlo.slice %gs [0:1, 0:4, 0:2] : (tensor<3x4x2xf32>) -> tensor<1x4x2xf32>
      %3 = stablehlo.reshape %2 : (tensor<1x4x2xf32>) -> tensor<4x2xf32>
      %4 = stablehlo.dot_general %1, %3, contracting_dims = [0] x [0] : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<6x2xf32>
      %5 = stablehlo.add %sum, %4 : tensor<6x2xf32>
      %6 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %6, %5, %xs, %gs : tensor<i32>, tensor<6x2xf32>, tensor<3x4x6xf32>, tensor<3x4x2xf32>
    }
    %b = stablehlo.convert %l#1 : (tensor<6x2xf32>) -> tensor<6x2xbf16>
    %r0 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<bf16>, %q: tensor<bf16>):
      %s = stablehlo.add %p, %q : tensor<bf16>
      stablehlo.return %s : tensor<bf16>
    }) : (tensor<6x2xbf16>) -> tensor<6x2xbf16>
    %r1 = stablehlo.convert %r0 : (tensor<6x2xbf16>) -> tensor<6x2xf32>
    // mutant pending-in-nonlinear: %r1 = stablehlo.convert %b : (tensor<6x2xbf16>) -> tensor<6x2xf32>
    %r2 = stablehlo.multiply %r1, %r1 : tensor<6x2xf32>
    // mutant pending-in-nonlinear: %r2 = stablehlo.multiply %l#1, %l#1 : tensor<6x2xf32>
    %r3 = stablehlo.sqrt %r2 : tensor<6x2xf32>
    %r4 = stablehlo.divide %r1, %r3 : tensor<6x2xf32>
    %r5 = stablehlo.subtract %a0, %r4 : tensor<6x2xf32>
    sdy.return %r5 : tensor<6x2xf32>
    // mutant result-varies: sdy.return %l#1 : tensor<6x2xf32>
  } : (tensor<6x4xf32>, tensor<3x8x6xf32>, tensor<3x8x4xf32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}
