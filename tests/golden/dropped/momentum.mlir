module @jit_momentum attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<32x8xf32>, %arg3: tensor<32x8xf32>) -> (tensor<8x8xf32> {jax.result_info = "result[0]"}, tensor<8x8xf32> {jax.result_info = "result[1]"}) {
    %0:2 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>] manual_axes={"x", "y"} (%arg4: tensor<8x8xf32>, %arg5: tensor<8x8xf32>, %arg6: tensor<8x8xf32>, %arg7: tensor<8x8xf32>) {
      %1 = stablehlo.dot_general %arg6, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = stablehlo.tanh %1 : tensor<8x8xf32>
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %4 = stablehlo.subtract %3, %2 : tensor<8x8xf32>
      %5 = stablehlo.subtract %2, %arg7 : tensor<8x8xf32>
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
      %14 = stablehlo.dot_general %13, %arg6, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %15 = stablehlo.transpose %14, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %16 = "stablehlo.all_reduce"(%15) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
        %25 = stablehlo.add %arg8, %arg9 : tensor<f32>
        stablehlo.return %25 : tensor<f32>
      }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %cst_3 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %18 = stablehlo.divide %16, %17 : tensor<8x8xf32>
      %cst_4 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %20 = stablehlo.multiply %19, %arg5 : tensor<8x8xf32>
      %21 = stablehlo.add %20, %18 : tensor<8x8xf32>
      %cst_5 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %22 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %23 = stablehlo.multiply %22, %21 : tensor<8x8xf32>
      %24 = stablehlo.subtract %arg4, %23 : tensor<8x8xf32>
      sdy.return %24, %21 : tensor<8x8xf32>, tensor<8x8xf32>
    } : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    return %0#0, %0#1 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}
