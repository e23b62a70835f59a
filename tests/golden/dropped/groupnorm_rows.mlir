module @jit_groupnorm_rows attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x8x4x6xf32>) -> (tensor<2x8x4x6xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}, {"x"}, {}, {}]>] out_shardings=[<@mesh, [{}, {"x"}, {}, {}]>] manual_axes={"x", "y"} (%arg1: tensor<2x2x4x6xf32>) {
      %1 = stablehlo.reshape %arg1 : (tensor<2x2x4x6xf32>) -> tensor<2x8x3x2xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1, 3] : (tensor<2x8x3x2xf32>, tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x1x3x1xf32>
      %4 = "stablehlo.all_reduce"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %23 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %23 : tensor<f32>
      }) : (tensor<2x1x3x1xf32>) -> tensor<2x1x3x1xf32>
      %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x1x3x1xf32>
      %6 = stablehlo.divide %4, %5 : tensor<2x1x3x1xf32>
      %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<2x1x3x1xf32>) -> tensor<2x8x3x2xf32>
      %8 = stablehlo.subtract %1, %7 : tensor<2x8x3x2xf32>
      %9 = stablehlo.multiply %8, %8 : tensor<2x8x3x2xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [1, 3] : (tensor<2x8x3x2xf32>, tensor<f32>) -> tensor<2x3xf32>
      %11 = stablehlo.broadcast_in_dim %10, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x1x3x1xf32>
      %12 = "stablehlo.all_reduce"(%11) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %23 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %23 : tensor<f32>
      }) : (tensor<2x1x3x1xf32>) -> tensor<2x1x3x1xf32>
      %cst_2 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x1x3x1xf32>
      %14 = stablehlo.divide %12, %13 : tensor<2x1x3x1xf32>
      %15 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<2x1x3x1xf32>) -> tensor<2x8x3x2xf32>
      %16 = stablehlo.subtract %1, %15 : tensor<2x8x3x2xf32>
      %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x1x3x1xf32>
      %18 = stablehlo.add %14, %17 : tensor<2x1x3x1xf32>
      %19 = stablehlo.rsqrt %18 : tensor<2x1x3x1xf32>
      %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<2x1x3x1xf32>) -> tensor<2x8x3x2xf32>
      %21 = stablehlo.multiply %16, %20 : tensor<2x8x3x2xf32>
      %22 = stablehlo.reshape %21 : (tensor<2x8x3x2xf32>) -> tensor<2x2x4x6xf32>
      sdy.return %22 : tensor<2x2x4x6xf32>
    } : (tensor<2x8x4x6xf32>) -> tensor<2x8x4x6xf32>
    return %0 : tensor<2x8x4x6xf32>
  }
}
