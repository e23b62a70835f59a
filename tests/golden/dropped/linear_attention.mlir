module @jit_linear_attention attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x32x8xf32>, %arg1: tensor<2x32x8xf32>, %arg2: tensor<2x32x8xf32>) -> (tensor<2x32x8xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{}, {"x"}, {}]>, <@mesh, [{}, {"x"}, {}]>, <@mesh, [{}, {"x"}, {}]>] out_shardings=[<@mesh, [{}, {"x"}, {}]>] manual_axes={"x", "y"} (%arg3: tensor<2x8x8xf32>, %arg4: tensor<2x8x8xf32>, %arg5: tensor<2x8x8xf32>) {
      %1 = func.call @elu(%arg3) : (tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
      %3 = stablehlo.add %1, %2 : tensor<2x8x8xf32>
      %4 = func.call @elu(%arg4) : (tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
      %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
      %6 = stablehlo.add %4, %5 : tensor<2x8x8xf32>
      %7 = stablehlo.dot_general %6, %arg5, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
      %8 = "stablehlo.all_reduce"(%7) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %16 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %16 : tensor<f32>
      }) : (tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
      %10 = "stablehlo.all_reduce"(%9) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %16 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %16 : tensor<f32>
      }) : (tensor<2x8xf32>) -> tensor<2x8xf32>
      %11 = stablehlo.dot_general %3, %8, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
      %12 = stablehlo.dot_general %3, %10, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
      %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
      %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x8x1xf32>) -> tensor<2x8x8xf32>
      %15 = stablehlo.divide %11, %14 : tensor<2x8x8xf32>
      sdy.return %15 : tensor<2x8x8xf32>
    } : (tensor<2x32x8xf32>, tensor<2x32x8xf32>, tensor<2x32x8xf32>) -> tensor<2x32x8xf32>
    return %0 : tensor<2x32x8xf32>
  }
  func.func private @elu(%arg0: tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
    %3 = stablehlo.compare GT, %arg0, %2, FLOAT : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = call @_where(%3, %cst_1, %arg0) : (tensor<2x8x8xi1>, tensor<f32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
    %5 = stablehlo.exponential_minus_one %4 : tensor<2x8x8xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<2x8x8xf32>
    %8 = call @_where_0(%1, %arg0, %7) : (tensor<2x8x8xi1>, tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
    return %8 : tensor<2x8x8xf32>
  }
  func.func private @_where(%arg0: tensor<2x8x8xi1>, %arg1: tensor<f32>, %arg2: tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<2x8x8xi1>, tensor<2x8x8xf32>
    return %2 : tensor<2x8x8xf32>
  }
  func.func private @_where_0(%arg0: tensor<2x8x8xi1>, %arg1: tensor<2x8x8xf32>, %arg2: tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2x8x8xi1>, tensor<2x8x8xf32>
    return %0 : tensor<2x8x8xf32>
  }
}
