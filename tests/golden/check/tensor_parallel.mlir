// Two products of which the second contracts what the first has cut, on a mesh of odd size.
// A line `// mutant NAME: LINE` is the line before it as it would be by mistake, and the rule that says so.
sdy.mesh @mesh = <["dp"=2, "tp"=3]>
func.func public @main(%x: tensor<8x5xf32>, %w: tensor<5x12xf32>, %b: tensor<12xf32>, %v: tensor<12x7xf32>, %c: tensor<7xf32>) -> tensor<8x7xf32> {
  %r = sdy.manual_computation(%x, %w, %b, %v, %c) in_shardings=[<@mesh, [{"dp"}, {}]>, <@mesh, [{}, {"tp"}]>, <@mesh, [{"tp"}]>, <@mesh, [{"tp"}, {}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"dp"}, {}]>] manual_axes={"dp", "tp"} (%a0: tensor<4x5xf32>, %a1: tensor<5x4xf32>, %a2: tensor<4xf32>, %a3: tensor<4x7xf32>, %a4: tensor<7xf32>) {
    %0 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (tensor<4x5xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.broadcast_in_dim %a2, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x4xf32>
    %3 = stablehlo.tanh %2 : tensor<4x4xf32>
    %4 = stablehlo.dot_general %3, %a3, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    %5 = "stablehlo.all_reduce"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>, use_global_device_ids}> ({
    // mutant result-varies: %5 = "stablehlo.all_reduce"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      // mutant pending-in-nonlinear: %s = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x7xf32>) -> tensor<4x7xf32>
    %6 = stablehlo.broadcast_in_dim %a4, dims = [1] : (tensor<7xf32>) -> tensor<4x7xf32>
    %7 = stablehlo.add %5, %6 : tensor<4x7xf32>
    // mutant pending-plus-replicated: %7 = stablehlo.add %4, %6 : tensor<4x7xf32>
    %8 = stablehlo.tanh %7 : tensor<4x7xf32>
    // mutant pending-in-nonlinear: %8 = stablehlo.tanh %4 : tensor<4x7xf32>
    sdy.return %8 : tensor<4x7xf32>
    // mutant result-varies: sdy.return %4 : tensor<4x7xf32>
  } : (tensor<8x5xf32>, tensor<5x12xf32>, tensor<12xf32>, tensor<12x7xf32>, tensor<7xf32>) -> tensor<8x7xf32>
  return %r : tensor<8x7xf32>
}
