module @jit_value_and_grad attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<32x8xf32>, %arg2: tensor<32x8xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8x8xf32> {jax.result_info = "result[1]"}) {
    %0:2 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, []>, <@mesh, [{}, {}]>] manual_axes={"x", "y"} (%arg3: tensor<8x8xf32>, %arg4: tensor<8x8xf32>, %arg5: tensor<8x8xf32>) {
      %1 = stablehlo.dot_general %arg4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = stablehlo.tanh %1 : tensor<8x8xf32>
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %4 = stablehlo.subtract %3, %2 : tensor<8x8xf32>
      %5 = stablehlo.subtract %2, %arg5 : tensor<8x8xf32>
      %6 = stablehlo.multiply %5, %5 : tensor<8x8xf32>
      %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %8 = stablehlo.multiply %7, %5 : tensor<8x8xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
      %cst_2 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %10 = stablehlo.divide %9, %cst_2 : tensor<f32>
      %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %cst_4 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %11 = stablehlo.divide %cst_3, %cst_4 : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %13 = stablehlo.multiply %12, %8 : tensor<8x8xf32>
      %14 = stablehlo.multiply %13, %4 : tensor<8x8xf32>
      %15 = stablehlo.multiply %14, %2 : tensor<8x8xf32>
      %16 = stablehlo.add %14, %15 : tensor<8x8xf32>
      %17 = stablehlo.dot_general %16, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %18 = stablehlo.transpose %17, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %19 = "stablehlo.all_reduce"(%10) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %24 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %24 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_5 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %20 = stablehlo.divide %19, %cst_5 : tensor<f32>
      %21 = "stablehlo.all_reduce"(%18) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %24 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %24 : tensor<f32>
      }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %cst_6 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %22 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %23 = stablehlo.divide %21, %22 : tensor<8x8xf32>
      sdy.return %20, %23 : tensor<f32>, tensor<8x8xf32>
    } : (tensor<8x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>) -> (tensor<f32>, tensor<8x8xf32>)
    return %0#0, %0#1 : tensor<f32>, tensor<8x8xf32>
  }
}
