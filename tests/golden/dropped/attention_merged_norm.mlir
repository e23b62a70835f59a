module @jit_attention_merged_norm attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x8x16xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<16x32xf32>, %arg3: tensor<16x32xf32>, %arg4: tensor<32x16xf32>) -> (tensor<2x8x16xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3, %arg4) in_shardings=[<@mesh, [{}, {}, {}]>, <@mesh, [{}, {"x"}]>, <@mesh, [{}, {"x"}]>, <@mesh, [{}, {"x"}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}, {}]>] manual_axes={"x", "y"} (%arg5: tensor<2x8x16xf32>, %arg6: tensor<16x8xf32>, %arg7: tensor<16x8xf32>, %arg8: tensor<16x8xf32>, %arg9: tensor<8x16xf32>) {
      %1 = stablehlo.dot_general %arg5, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x8xf32>) -> tensor<2x8x8xf32>
      %2 = stablehlo.reshape %1 : (tensor<2x8x8xf32>) -> tensor<2x8x2x4xf32>
      %3 = stablehlo.transpose %2, dims = [0, 2, 1, 3] : (tensor<2x8x2x4xf32>) -> tensor<2x2x8x4xf32>
      %4 = stablehlo.reshape %3 : (tensor<2x2x8x4xf32>) -> tensor<4x8x4xf32>
      %5 = stablehlo.dot_general %arg5, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x8xf32>) -> tensor<2x8x8xf32>
      %6 = stablehlo.reshape %5 : (tensor<2x8x8xf32>) -> tensor<2x8x2x4xf32>
      %7 = stablehlo.transpose %6, dims = [0, 2, 1, 3] : (tensor<2x8x2x4xf32>) -> tensor<2x2x8x4xf32>
      %8 = stablehlo.reshape %7 : (tensor<2x2x8x4xf32>) -> tensor<4x8x4xf32>
      %9 = stablehlo.dot_general %arg5, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<16x8xf32>) -> tensor<2x8x8xf32>
      %10 = stablehlo.reshape %9 : (tensor<2x8x8xf32>) -> tensor<2x8x2x4xf32>
      %11 = stablehlo.transpose %10, dims = [0, 2, 1, 3] : (tensor<2x8x2x4xf32>) -> tensor<2x2x8x4xf32>
      %12 = stablehlo.reshape %11 : (tensor<2x2x8x4xf32>) -> tensor<4x8x4xf32>
      %13 = stablehlo.transpose %8, dims = [0, 2, 1] : (tensor<4x8x4xf32>) -> tensor<4x4x8xf32>
      %14 = stablehlo.dot_general %4, %13, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x4xf32>, tensor<4x4x8xf32>) -> tensor<4x8x8xf32>
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8x8xf32>
      %16 = stablehlo.divide %14, %15 : tensor<4x8x8xf32>
      %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %17 = stablehlo.reduce(%16 init: %cst_0) applies stablehlo.maximum across dimensions = [2] : (tensor<4x8x8xf32>, tensor<f32>) -> tensor<4x8xf32>
      %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
      %19 = stablehlo.maximum %18, %17 : tensor<4x8xf32>
      %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8x1xf32>
      %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<4x8x1xf32>) -> tensor<4x8x8xf32>
      %22 = stablehlo.subtract %16, %21 : tensor<4x8x8xf32>
      %23 = stablehlo.exponential %22 : tensor<4x8x8xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %24 = stablehlo.reduce(%23 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x8x8xf32>, tensor<f32>) -> tensor<4x8xf32>
      %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8x1xf32>
      %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<4x8x1xf32>) -> tensor<4x8x8xf32>
      %27 = stablehlo.divide %23, %26 : tensor<4x8x8xf32>
      %28 = stablehlo.dot_general %27, %12, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x8xf32>, tensor<4x8x4xf32>) -> tensor<4x8x4xf32>
      %29 = stablehlo.reshape %28 : (tensor<4x8x4xf32>) -> tensor<2x2x8x4xf32>
      %30 = stablehlo.transpose %29, dims = [0, 2, 1, 3] : (tensor<2x2x8x4xf32>) -> tensor<2x8x2x4xf32>
      %31 = stablehlo.reshape %30 : (tensor<2x8x2x4xf32>) -> tensor<2x8x8xf32>
      %32 = stablehlo.dot_general %31, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8xf32>, tensor<8x16xf32>) -> tensor<2x8x16xf32>
      %33 = "stablehlo.all_reduce"(%32) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
        %45 = stablehlo.add %arg10, %arg11 : tensor<f32>
        stablehlo.return %45 : tensor<f32>
      }) : (tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
      %34 = stablehlo.add %arg5, %33 : tensor<2x8x16xf32>
      %35 = stablehlo.multiply %34, %34 : tensor<2x8x16xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %36 = stablehlo.reduce(%35 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<2x8x16xf32>, tensor<f32>) -> tensor<2x8xf32>
      %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
      %cst_4 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
      %38 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x8x1xf32>
      %39 = stablehlo.divide %37, %38 : tensor<2x8x1xf32>
      %cst_5 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
      %40 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x8x1xf32>
      %41 = stablehlo.add %39, %40 : tensor<2x8x1xf32>
      %42 = stablehlo.rsqrt %41 : tensor<2x8x1xf32>
      %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<2x8x1xf32>) -> tensor<2x8x16xf32>
      %44 = stablehlo.multiply %34, %43 : tensor<2x8x16xf32>
      sdy.return %44 : tensor<2x8x16xf32>
    } : (tensor<2x8x16xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    return %0 : tensor<2x8x16xf32>
  }
}
