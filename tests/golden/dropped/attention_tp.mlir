module @jit_attention_tp attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x8x16xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<16x32xf32>, %arg3: tensor<16x32xf32>, %arg4: tensor<32x16xf32>) -> (tensor<2x8x16xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3, %arg4) in_shardings=[<@mesh, [{}, {}, {}]>, <@mesh, [{}, {"x"}]>, <@mesh, [{}, {"x"}]>, <@mesh, [{}, {"x"}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}, {}]>] manual_axes={"x", "y"} (%arg5: tensor<2x8x16xf32>, %arg6: tensor<16x8xf32>, %arg7: tensor<16x8xf32>, %arg8: tensor<16x8xf32>, %arg9: tensor<8x16xf32>) {
      %1 = stablehlo.dot_general %arg5, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x8xf32>) -> tensor<2x8x8xf32>
      %2 = stablehlo.reshape %1 : (tensor<2x8x8xf32>) -> tensor<2x8x2x4xf32>
      %3 = stablehlo.transpose %2, dims = [0, 2, 1, 3] : (tensor<2x8x2x4xf32>) -> tensor<2x2x8x4xf32>
      %4 = stablehlo.dot_general %arg5, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x8xf32>) -> tensor<2x8x8xf32>
      %5 = stablehlo.reshape %4 : (tensor<2x8x8xf32>) -> tensor<2x8x2x4xf32>
      %6 = stablehlo.transpose %5, dims = [0, 2, 1, 3] : (tensor<2x8x2x4xf32>) -> tensor<2x2x8x4xf32>
      %7 = stablehlo.dot_general %arg5, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x8xf32>) -> tensor<2x8x8xf32>
      %8 = stablehlo.reshape %7 : (tensor<2x8x8xf32>) -> tensor<2x8x2x4xf32>
      %9 = stablehlo.transpose %8, dims = [0, 2, 1, 3] : (tensor<2x8x2x4xf32>) -> tensor<2x2x8x4xf32>
      %10 = stablehlo.transpose %6, dims = [0, 1, 3, 2] : (tensor<2x2x8x4xf32>) -> tensor<2x2x4x8xf32>
      %11 = stablehlo.dot_general %3, %10, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x2x8x4xf32>, tensor<2x2x4x8xf32>) -> tensor<2x2x8x8xf32>
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x8x8xf32>
      %13 = stablehlo.divide %11, %12 : tensor<2x2x8x8xf32>
      %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %14 = stablehlo.reduce(%13 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x8x8xf32>, tensor<f32>) -> tensor<2x2x8xf32>
      %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x2x8xf32>
      %16 = stablehlo.maximum %15, %14 : tensor<2x2x8xf32>
      %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<2x2x8xf32>) -> tensor<2x2x8x1xf32>
      %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<2x2x8x1xf32>) -> tensor<2x2x8x8xf32>
      %19 = stablehlo.subtract %13, %18 : tensor<2x2x8x8xf32>
      %20 = stablehlo.exponential %19 : tensor<2x2x8x8xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %21 = stablehlo.reduce(%20 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x2x8x8xf32>, tensor<f32>) -> tensor<2x2x8xf32>
      %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x2x8xf32>) -> tensor<2x2x8x1xf32>
      %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<2x2x8x1xf32>) -> tensor<2x2x8x8xf32>
      %24 = stablehlo.divide %20, %23 : tensor<2x2x8x8xf32>
      %25 = stablehlo.dot_general %24, %9, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x2x8x8xf32>, tensor<2x2x8x4xf32>) -> tensor<2x2x8x4xf32>
      %26 = stablehlo.transpose %25, dims = [0, 2, 1, 3] : (tensor<2x2x8x4xf32>) -> tensor<2x8x2x4xf32>
      %27 = stablehlo.reshape %26 : (tensor<2x8x2x4xf32>) -> tensor<2x8x8xf32>
      %28 = stablehlo.dot_general %27, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8xf32>, tensor<8x16xf32>) -> tensor<2x8x16xf32>
      %29 = "stablehlo.all_reduce"(%28) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
        %30 = stablehlo.add %arg10, %arg11 : tensor<f32>
        stablehlo.return %30 : tensor<f32>
      }) : (tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
      sdy.return %29 : tensor<2x8x16xf32>
    } : (tensor<2x8x16xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    return %0 : tensor<2x8x16xf32>
  }
}
