// One axis of 12, summed in two stages: halves of the devices first, then across them; and a computation in another.
sdy.mesh @mesh = <["x"=12, "y"=2]>
func.func public @main(%a: tensor<24x4xf32>) -> tensor<24x4xf32> {
  %r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {?}]>] out_shardings=[<@mesh, [{}, {?}]>] manual_axes={"x"} (%a0: tensor<2x4xf32>) {
    %0 = "stablehlo.all_gather"(%a0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 11], [12, 14, 16, 18, 20, 22], [13, 15, 17, 19, 21, 23]]> : tensor<4x6xi64>, use_global_device_ids}> : (tensor<2x4xf32>) -> tensor<12x4xf32>
    %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 12], [1, 13], [2, 14], [3, 15], [4, 16], [5, 17], [6, 18], [7, 19], [8, 20], [9, 21], [10, 22], [11, 23]]> : tensor<12x2xi64>, use_global_device_ids}> : (tensor<12x4xf32>) -> tensor<24x4xf32>
    // mutant result-varies: %1 = stablehlo.concatenate %0, %0, dim = 0 : (tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<24x4xf32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"} (%a1: tensor<24x2xf32>) {
      %3 = "stablehlo.all_reduce"(%a1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11], [12, 13], [14, 15], [16, 17], [18, 19], [20, 21], [22, 23]]> : tensor<12x2xi64>, use_global_device_ids}> ({
      // mutant partly-needless-collective: %3 = "stablehlo.all_reduce"(%a1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]]> : tensor<1x24xi64>, use_global_device_ids}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        %t = sdy.sharding_constraint %s <@mesh, []> : tensor<f32>
        stablehlo.return %t : tensor<f32>
      }) : (tensor<24x2xf32>) -> tensor<24x2xf32>
      %4 = stablehlo.subtract %a1, %3 : tensor<24x2xf32>
      sdy.return %4 : tensor<24x2xf32>
    } : (tensor<24x4xf32>) -> tensor<24x4xf32>
    sdy.return %2 : tensor<24x4xf32>
  } : (tensor<24x4xf32>) -> tensor<24x4xf32>
  return %r : tensor<24x4xf32>
}
