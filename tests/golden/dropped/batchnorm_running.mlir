module @jit_batchnorm_running attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>) -> (tensor<32x8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}) {
    %0:3 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>, <@mesh, [{}]>] manual_axes={"x", "y"} (%arg3: tensor<8x8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8xf32>) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.reduce(%arg3 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %3 = stablehlo.divide %1, %2 : tensor<8xf32>
      %4 = "stablehlo.all_reduce"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %35 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %35 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %6 = stablehlo.divide %4, %5 : tensor<8xf32>
      %7 = stablehlo.multiply %arg3, %arg3 : tensor<8x8xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %8 = stablehlo.reduce(%7 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %cst_3 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %10 = stablehlo.divide %8, %9 : tensor<8xf32>
      %11 = "stablehlo.all_reduce"(%10) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %35 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %35 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %cst_4 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %13 = stablehlo.divide %11, %12 : tensor<8xf32>
      %14 = stablehlo.multiply %6, %6 : tensor<8xf32>
      %15 = stablehlo.subtract %13, %14 : tensor<8xf32>
      %16 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
      %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
      %18 = stablehlo.subtract %arg3, %17 : tensor<8x8xf32>
      %cst_5 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %20 = stablehlo.add %15, %19 : tensor<8xf32>
      %21 = stablehlo.sqrt %20 : tensor<8xf32>
      %22 = stablehlo.broadcast_in_dim %21, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
      %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
      %24 = stablehlo.divide %18, %23 : tensor<8x8xf32>
      %cst_6 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %25 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %26 = stablehlo.multiply %25, %arg4 : tensor<8xf32>
      %cst_7 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %27 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %28 = stablehlo.multiply %27, %6 : tensor<8xf32>
      %29 = stablehlo.add %26, %28 : tensor<8xf32>
      %cst_8 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %30 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %31 = stablehlo.multiply %30, %arg5 : tensor<8xf32>
      %cst_9 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %32 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %33 = stablehlo.multiply %32, %15 : tensor<8xf32>
      %34 = stablehlo.add %31, %33 : tensor<8xf32>
      sdy.return %24, %29, %34 : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    } : (tensor<32x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<32x8xf32>, tensor<8xf32>, tensor<8xf32>)
    return %0#0, %0#1, %0#2 : tensor<32x8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
