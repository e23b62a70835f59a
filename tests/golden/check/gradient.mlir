// A training step with data parallelism: the gradient and the loss are reduced, in a function.
sdy.mesh @mesh = <["data"=4]>
func.func public @main(%w: tensor<6x3xf32>, %x: tensor<8x6xf32>, %y: tensor<8x3xf32>) -> (tensor<6x3xf32>, tensor<f32>) {
  %r:2 = sdy.manual_computation(%w, %x, %y) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"data"}, {}]>, <@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, []>] manual_axes={"data"} (%a0: tensor<6x3xf32>, %a1: tensor<2x6xf32>, %a2: tensor<2x3xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %lr = stablehlo.constant dense<0.1> : tensor<6x3xf32>
    %0 = stablehlo.dot_general %a1, %a0, contracting_dims = [1] x [0] : (tensor<2x6xf32>, tensor<6x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.subtract %0, %a2 : tensor<2x3xf32>
    %2 = stablehlo.dot_general %a1, %1, contracting_dims = [0] x [0] : (tensor<2x6xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>
    %3 = func.call @psum(%2) : (tensor<6x3xf32>) -> tensor<6x3xf32>
    %4 = stablehlo.multiply %lr, %3 : tensor<6x3xf32>
    // mutant pending-plus-replicated: %4 = stablehlo.multiply %lr, %2 : tensor<6x3xf32>
    %5 = stablehlo.subtract %a0, %4 : tensor<6x3xf32>
    // mutant unreduced-gradient: %5 = stablehlo.negate %2 : tensor<6x3xf32>
    %6 = stablehlo.multiply %1, %1 : tensor<2x3xf32>
    %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    %8 = func.call @psum_0(%7) : (tensor<f32>) -> tensor<f32>
    // mutant needless-collective: %8 = func.call @twice(%7) : (tensor<f32>) -> tensor<f32>
    %9 = stablehlo.sqrt %8 : tensor<f32>
    // mutant result-varies: %9 = stablehlo.sqrt %7 : tensor<f32>
    sdy.return %5, %9 : tensor<6x3xf32>, tensor<f32>
    // mutant unreduced-gradient: sdy.return %2, %9 : tensor<6x3xf32>, tensor<f32>
    // mutant result-varies: sdy.return %5, %7 : tensor<6x3xf32>, tensor<f32>
  } : (tensor<6x3xf32>, tensor<8x6xf32>, tensor<8x3xf32>) -> (tensor<6x3xf32>, tensor<f32>)
  return %r#0, %r#1 : tensor<6x3xf32>, tensor<f32>
}
func.func private @psum(%a: tensor<6x3xf32>) -> tensor<6x3xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x3xf32>) -> tensor<6x3xf32>
  return %0 : tensor<6x3xf32>
  // mutant pending-plus-replicated: return %a : tensor<6x3xf32>
}
func.func private @psum_0(%a: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @twice(%a: tensor<f32>) -> tensor<f32> {
  %0 = call @psum_0(%a) : (tensor<f32>) -> tensor<f32>
  %1 = call @psum_0(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
