module @jit_quantize_shared_scale attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x32xf32>) -> (tensor<8x32xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{}, {"x"}]>] manual_axes={"x", "y"} (%arg1: tensor<8x8xf32>) {
      %1 = stablehlo.abs %arg1 : tensor<8x8xf32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
      %3 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %10 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
        stablehlo.return %10 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_0 = stablehlo.constant dense<1.270000e+02> : tensor<f32>
      %4 = stablehlo.divide %3, %cst_0 : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %6 = stablehlo.divide %arg1, %5 : tensor<8x8xf32>
      %7 = func.call @round(%6) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %8 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %9 = stablehlo.multiply %7, %8 : tensor<8x8xf32>
      sdy.return %9 : tensor<8x8xf32>
    } : (tensor<8x32xf32>) -> tensor<8x32xf32>
    return %0 : tensor<8x32xf32>
  }
  func.func private @round(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
