module @jit_global_context attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x32x8xf32>, %arg1: tensor<8x8xf32>) -> (tensor<2x32x8xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{}, {"x"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {"x"}, {}]>] manual_axes={"x", "y"} (%arg2: tensor<2x8x8xf32>, %arg3: tensor<8x8xf32>) {
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %1 = stablehlo.reduce(%arg2 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
      %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %8 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
        stablehlo.return %8 : tensor<f32>
      }) : (tensor<2x8xf32>) -> tensor<2x8xf32>
      %3 = stablehlo.dot_general %2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
      %4 = stablehlo.tanh %3 : tensor<2x8xf32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<2x1x8xf32>) -> tensor<2x8x8xf32>
      %7 = stablehlo.multiply %arg2, %6 : tensor<2x8x8xf32>
      sdy.return %7 : tensor<2x8x8xf32>
    } : (tensor<2x32x8xf32>, tensor<8x8xf32>) -> tensor<2x32x8xf32>
    return %0 : tensor<2x32x8xf32>
  }
}
