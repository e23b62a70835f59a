module @jit_squeeze_excite attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x32x8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<4x8xf32>) -> (tensor<2x32x8xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{}, {"x"}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {"x"}, {}]>] manual_axes={"x", "y"} (%arg3: tensor<2x8x8xf32>, %arg4: tensor<8x4xf32>, %arg5: tensor<4x8xf32>) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.reduce(%arg3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
      %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %17 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %17 : tensor<f32>
      }) : (tensor<2x8xf32>) -> tensor<2x8xf32>
      %cst_0 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
      %4 = stablehlo.divide %2, %3 : tensor<2x8xf32>
      %5 = stablehlo.dot_general %4, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
      %6 = func.call @relu(%5) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %7 = stablehlo.dot_general %6, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
      %8 = stablehlo.negate %7 : tensor<2x8xf32>
      %9 = stablehlo.exponential %8 : tensor<2x8xf32>
      %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
      %11 = stablehlo.add %10, %9 : tensor<2x8xf32>
      %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
      %13 = stablehlo.divide %12, %11 : tensor<2x8xf32>
      %14 = stablehlo.broadcast_in_dim %13, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<2x1x8xf32>) -> tensor<2x8x8xf32>
      %16 = stablehlo.multiply %arg3, %15 : tensor<2x8x8xf32>
      sdy.return %16 : tensor<2x8x8xf32>
    } : (tensor<2x32x8xf32>, tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<2x32x8xf32>
    return %0 : tensor<2x32x8xf32>
  }
  func.func private @relu(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
}
