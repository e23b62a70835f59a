module @jit_variance_loss attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x8xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, []>] manual_axes={"x", "y"} (%arg1: tensor<8x8xf32>) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %3 = stablehlo.divide %1, %2 : tensor<8xf32>
      %4 = "stablehlo.all_reduce"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %26 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %26 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %6 = stablehlo.divide %4, %5 : tensor<8xf32>
      %7 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
      %9 = stablehlo.subtract %arg1, %8 : tensor<8x8xf32>
      %10 = stablehlo.multiply %9, %9 : tensor<8x8xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %cst_3 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %13 = stablehlo.divide %11, %12 : tensor<8xf32>
      %14 = "stablehlo.all_reduce"(%13) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %26 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %26 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %cst_4 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %16 = stablehlo.divide %14, %15 : tensor<8xf32>
      %cst_5 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %18 = stablehlo.add %16, %17 : tensor<8xf32>
      %19 = stablehlo.sqrt %18 : tensor<8xf32>
      %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %20 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %21 = stablehlo.subtract %20, %19 : tensor<8xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %22 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %23 = stablehlo.maximum %22, %21 : tensor<8xf32>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %24 = stablehlo.reduce(%23 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      %cst_9 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %25 = stablehlo.divide %24, %cst_9 : tensor<f32>
      sdy.return %25 : tensor<f32>
    } : (tensor<32x8xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
