module @jit_sgd attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<32x8xf32>, %arg2: tensor<32x8xf32>) -> (tensor<8x8xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x", "y"} (%arg3: tensor<8x8xf32>, %arg4: tensor<8x8xf32>, %arg5: tensor<8x8xf32>) {
      %1 = stablehlo.dot_general %arg4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = stablehlo.tanh %1 : tensor<8x8xf32>
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %4 = stablehlo.subtract %3, %2 : tensor<8x8xf32>
      %5 = stablehlo.subtract %2, %arg5 : tensor<8x8xf32>
      %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %7 = stablehlo.multiply %6, %5 : tensor<8x8xf32>
      %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %cst_2 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %8 = stablehlo.divide %cst_1, %cst_2 : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %10 = stablehlo.multiply %9, %7 : tensor<8x8xf32>
      %11 = stablehlo.multiply %10, %4 : tensor<8x8xf32>
      %12 = stablehlo.multiply %11, %2 : tensor<8x8xf32>
      %13 = stablehlo.add %11, %12 : tensor<8x8xf32>
      %14 = stablehlo.dot_general %13, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %15 = stablehlo.transpose %14, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %16 = "stablehlo.all_reduce"(%15) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %22 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %22 : tensor<f32>
      }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %cst_3 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %18 = stablehlo.divide %16, %17 : tensor<8x8xf32>
      %cst_4 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %20 = stablehlo.multiply %19, %18 : tensor<8x8xf32>
      %21 = stablehlo.subtract %arg3, %20 : tensor<8x8xf32>
      sdy.return %21 : tensor<8x8xf32>
    } : (tensor<8x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
