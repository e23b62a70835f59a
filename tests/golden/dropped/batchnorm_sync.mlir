module @jit_batchnorm_sync attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>) -> (tensor<32x8xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%arg3: tensor<8x8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8xf32>) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.reduce(%arg3 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %28 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %28 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %cst_0 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %4 = stablehlo.divide %2, %3 : tensor<8xf32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
      %7 = stablehlo.subtract %arg3, %6 : tensor<8x8xf32>
      %8 = stablehlo.multiply %7, %7 : tensor<8x8xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %10 = "stablehlo.all_reduce"(%9) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %28 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %28 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %cst_2 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
      %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %12 = stablehlo.divide %10, %11 : tensor<8xf32>
      %13 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
      %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
      %15 = stablehlo.subtract %arg3, %14 : tensor<8x8xf32>
      %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
      %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %17 = stablehlo.add %12, %16 : tensor<8xf32>
      %18 = stablehlo.rsqrt %17 : tensor<8xf32>
      %19 = stablehlo.broadcast_in_dim %18, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
      %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
      %21 = stablehlo.multiply %15, %20 : tensor<8x8xf32>
      %22 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
      %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
      %24 = stablehlo.multiply %21, %23 : tensor<8x8xf32>
      %25 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
      %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
      %27 = stablehlo.add %24, %26 : tensor<8x8xf32>
      sdy.return %27 : tensor<8x8xf32>
    } : (tensor<32x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<32x8xf32>
    return %0 : tensor<32x8xf32>
  }
}
