module @jit_attention_weighted_merge attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x4x8xf32>, %arg1: tensor<2x32x8xf32>, %arg2: tensor<2x32x8xf32>) -> (tensor<2x4x8xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{}, {}, {}]>, <@mesh, [{}, {"x"}, {}]>, <@mesh, [{}, {"x"}, {}]>] out_shardings=[<@mesh, [{}, {}, {}]>] manual_axes={"x", "y"} (%arg3: tensor<2x4x8xf32>, %arg4: tensor<2x8x8xf32>, %arg5: tensor<2x8x8xf32>) {
      %1 = stablehlo.dot_general %arg3, %arg4, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8xf32>, tensor<2x8x8xf32>) -> tensor<2x4x8xf32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
      %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
      %5 = stablehlo.subtract %1, %4 : tensor<2x4x8xf32>
      %6 = stablehlo.exponential %5 : tensor<2x4x8xf32>
      %7 = stablehlo.dot_general %6, %arg5, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8xf32>, tensor<2x8x8xf32>) -> tensor<2x4x8xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %8 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
      %10 = "stablehlo.all_reduce"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %20 = stablehlo.maximum %arg6, %arg7 : tensor<f32>
        stablehlo.return %20 : tensor<f32>
      }) : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
      %11 = stablehlo.subtract %3, %10 : tensor<2x4x1xf32>
      %12 = stablehlo.exponential %11 : tensor<2x4x1xf32>
      %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
      %14 = stablehlo.multiply %7, %13 : tensor<2x4x8xf32>
      %15 = "stablehlo.all_reduce"(%14) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %20 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %20 : tensor<f32>
      }) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
      %16 = stablehlo.multiply %9, %12 : tensor<2x4x1xf32>
      %17 = "stablehlo.all_reduce"(%16) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %20 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %20 : tensor<f32>
      }) : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
      %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
      %19 = stablehlo.divide %15, %18 : tensor<2x4x8xf32>
      sdy.return %19 : tensor<2x4x8xf32>
    } : (tensor<2x4x8xf32>, tensor<2x32x8xf32>, tensor<2x32x8xf32>) -> tensor<2x4x8xf32>
    return %0 : tensor<2x4x8xf32>
  }
}
