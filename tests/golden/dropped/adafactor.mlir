module @jit_adafactor attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x8xf32>, %arg1: tensor<32x8xf32>, %arg2: tensor<32xf32>, %arg3: tensor<8xf32>) -> (tensor<32x8xf32> {jax.result_info = "result[0]"}, tensor<32xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}) {
    %0:3 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{}]>] manual_axes={"x", "y"} (%arg4: tensor<8x8xf32>, %arg5: tensor<8x8xf32>, %arg6: tensor<8xf32>, %arg7: tensor<8xf32>) {
      %cst = stablehlo.constant dense<0.899999976> : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %2 = stablehlo.multiply %1, %arg6 : tensor<8xf32>
      %3 = stablehlo.multiply %arg5, %arg5 : tensor<8x8xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %6 = stablehlo.divide %4, %5 : tensor<8xf32>
      %cst_2 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %8 = stablehlo.multiply %7, %6 : tensor<8xf32>
      %9 = stablehlo.add %2, %8 : tensor<8xf32>
      %cst_3 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %11 = stablehlo.multiply %10, %arg7 : tensor<8xf32>
      %12 = stablehlo.multiply %arg5, %arg5 : tensor<8x8xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %13 = stablehlo.reduce(%12 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %14 = "stablehlo.all_reduce"(%13) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
        %37 = stablehlo.add %arg8, %arg9 : tensor<f32>
        stablehlo.return %37 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %cst_5 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %16 = stablehlo.multiply %15, %14 : tensor<8xf32>
      %cst_6 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %18 = stablehlo.divide %16, %17 : tensor<8xf32>
      %19 = stablehlo.add %11, %18 : tensor<8xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %20 = stablehlo.reduce(%9 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      %21 = "stablehlo.all_reduce"(%20) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
        %37 = stablehlo.add %arg8, %arg9 : tensor<f32>
        stablehlo.return %37 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_8 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
      %22 = stablehlo.divide %21, %cst_8 : tensor<f32>
      %cst_9 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %23 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %24 = stablehlo.multiply %23, %arg5 : tensor<8x8xf32>
      %25 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
      %26 = stablehlo.broadcast_in_dim %19, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
      %27 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
      %28 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
      %29 = stablehlo.multiply %27, %28 : tensor<8x8xf32>
      %30 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %31 = stablehlo.divide %29, %30 : tensor<8x8xf32>
      %cst_10 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
      %32 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %33 = stablehlo.add %31, %32 : tensor<8x8xf32>
      %34 = stablehlo.sqrt %33 : tensor<8x8xf32>
      %35 = stablehlo.divide %24, %34 : tensor<8x8xf32>
      %36 = stablehlo.subtract %arg4, %35 : tensor<8x8xf32>
      sdy.return %36, %9, %19 : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
    } : (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32xf32>, tensor<8xf32>) -> (tensor<32x8xf32>, tensor<32xf32>, tensor<8xf32>)
    return %0#0, %0#1, %0#2 : tensor<32x8xf32>, tensor<32xf32>, tensor<8xf32>
  }
}
