module @jit_binary_cross_entropy attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32xf32>, %arg1: tensor<32xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, []>] manual_axes={"x", "y"} (%arg2: tensor<8xf32>, %arg3: tensor<8xf32>) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %2 = stablehlo.maximum %arg2, %1 : tensor<8xf32>
      %3 = stablehlo.multiply %arg2, %arg3 : tensor<8xf32>
      %4 = stablehlo.subtract %2, %3 : tensor<8xf32>
      %5 = stablehlo.abs %arg2 : tensor<8xf32>
      %6 = stablehlo.negate %5 : tensor<8xf32>
      %7 = stablehlo.exponential %6 : tensor<8xf32>
      %8 = stablehlo.log_plus_one %7 : tensor<8xf32>
      %9 = stablehlo.add %4, %8 : tensor<8xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.reduce(%9 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %11 = stablehlo.divide %10, %cst_1 : tensor<f32>
      %12 = "stablehlo.all_reduce"(%11) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %14 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %14 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %13 = stablehlo.divide %12, %cst_2 : tensor<f32>
      sdy.return %13 : tensor<f32>
    } : (tensor<32xf32>, tensor<32xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
