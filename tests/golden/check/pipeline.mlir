// Stages that pass values on, and a result that one stage has: a masked sum gives it to all. A function that is called
// with what varies and with what does not.
sdy.mesh @mesh = <["stage"=3]>
func.func public @main(%w: tensor<3x4x4xf32>, %x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<3x4x4xf32>, tensor<2x4xf32>) {
  %r:3 = sdy.manual_computation(%w, %x) in_shardings=[<@mesh, [{"stage"}, {}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"stage"}, {}, {}]>, <@mesh, [{}, {}]>] manual_axes={"stage"} (%a0: tensor<1x4x4xf32>, %a1: tensor<2x4xf32>) {
    %c2 = stablehlo.constant dense<2> : tensor<ui32>
    %zero = stablehlo.constant dense<0.0> : tensor<2x4xf32>
    %id = stablehlo.partition_id : tensor<ui32>
    %last = stablehlo.compare EQ, %id, %c2 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %0 = stablehlo.reshape %a0 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %a1, %0, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %twice = func.call @twice(%a1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    // mutant result-varies: %twice = func.call @twice(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %doubled = func.call @twice(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.tanh %doubled : tensor<2x4xf32>
    %3 = "stablehlo.collective_permute"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    // mutant needless-collective: %3 = "stablehlo.collective_permute"(%a1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %4 = stablehlo.dot_general %3, %0, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %5 = stablehlo.select %last, %4, %zero : tensor<i1>, tensor<2x4xf32>
    %6 = "stablehlo.all_reduce"(%5) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    sdy.return %6, %a0, %twice : tensor<2x4xf32>, tensor<1x4x4xf32>, tensor<2x4xf32>
    // mutant result-may-vary: sdy.return %4, %a0, %twice : tensor<2x4xf32>, tensor<1x4x4xf32>, tensor<2x4xf32>
    // mutant result-varies: sdy.return %2, %a0, %twice : tensor<2x4xf32>, tensor<1x4x4xf32>, tensor<2x4xf32>
  } : (tensor<3x4x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<3x4x4xf32>, tensor<2x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x4xf32>, tensor<3x4x4xf32>, tensor<2x4xf32>
}
func.func private @twice(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.add %a, %a : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
