module @jit_moe_z_loss attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x8xf32>, %arg1: tensor<8x4xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, []>] manual_axes={"x", "y"} (%arg2: tensor<8x8xf32>, %arg3: tensor<8x4xf32>) {
      %1 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
      %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %4 = stablehlo.maximum %3, %2 : tensor<8xf32>
      %5 = stablehlo.is_finite %4 : (tensor<8xf32>) -> tensor<8xi1>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %7 = stablehlo.select %5, %4, %6 : tensor<8xi1>, tensor<8xf32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
      %10 = stablehlo.subtract %1, %9 : tensor<8x4xf32>
      %11 = stablehlo.exponential %10 : tensor<8x4xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
      %13 = stablehlo.abs %12 : tensor<8xf32>
      %14 = stablehlo.log %13 : tensor<8xf32>
      %15 = stablehlo.add %14, %7 : tensor<8xf32>
      %16 = stablehlo.multiply %15, %15 : tensor<8xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      %18 = "stablehlo.all_reduce"(%17) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %20 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %20 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_4 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
      %19 = stablehlo.divide %18, %cst_4 : tensor<f32>
      sdy.return %19 : tensor<f32>
    } : (tensor<32x8xf32>, tensor<8x4xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
