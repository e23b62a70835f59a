module @jit_moe_experts_cut attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<4x8x8xf32>, %arg3: tensor<4x8x8xf32>) -> (tensor<16x8xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x", "y"} (%arg4: tensor<16x8xf32>, %arg5: tensor<8x4xf32>, %arg6: tensor<1x8x8xf32>, %arg7: tensor<1x8x8xf32>) {
      %1 = stablehlo.dot_general %arg4, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<16x4xf32>, tensor<f32>) -> tensor<16xf32>
      %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %4 = stablehlo.maximum %3, %2 : tensor<16xf32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x4xf32>
      %7 = stablehlo.subtract %1, %6 : tensor<16x4xf32>
      %8 = stablehlo.exponential %7 : tensor<16x4xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<16x4xf32>, tensor<f32>) -> tensor<16xf32>
      %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
      %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x4xf32>
      %12 = stablehlo.divide %8, %11 : tensor<16x4xf32>
      %c = stablehlo.constant dense<2> : tensor<ui32>
      %c_2 = stablehlo.constant dense<4> : tensor<ui32>
      %13 = stablehlo.partition_id : tensor<ui32>
      %14 = stablehlo.divide %13, %c : tensor<ui32>
      %15 = stablehlo.remainder %14, %c_2 : tensor<ui32>
      %16 = stablehlo.convert %15 : (tensor<ui32>) -> tensor<i32>
      %17 = stablehlo.dot_general %arg6, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x8x8xf32>, tensor<16x8xf32>) -> tensor<1x8x16xf32>
      %18 = stablehlo.transpose %17, dims = [0, 2, 1] : (tensor<1x8x16xf32>) -> tensor<1x16x8xf32>
      %19 = func.call @relu(%18) : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
      %20 = stablehlo.dot_general %19, %arg7, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x16x8xf32>, tensor<1x8x8xf32>) -> tensor<1x16x8xf32>
      %21 = stablehlo.transpose %12, dims = [1, 0] : (tensor<16x4xf32>) -> tensor<4x16xf32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %22 = stablehlo.compare LT, %16, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_4 = stablehlo.constant dense<4> : tensor<i32>
      %23 = stablehlo.add %16, %c_4 : tensor<i32>
      %24 = stablehlo.select %22, %23, %16 : tensor<i1>, tensor<i32>
      %c_5 = stablehlo.constant dense<0> : tensor<i32>
      %25 = stablehlo.dynamic_slice %21, %24, %c_5, sizes = [1, 16] : (tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
      %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
      %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<1x16x1xf32>) -> tensor<1x16x8xf32>
      %28 = stablehlo.multiply %20, %27 : tensor<1x16x8xf32>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %29 = stablehlo.reduce(%28 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<1x16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
      %30 = "stablehlo.all_reduce"(%29) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
        %31 = stablehlo.add %arg8, %arg9 : tensor<f32>
        stablehlo.return %31 : tensor<f32>
      }) : (tensor<16x8xf32>) -> tensor<16x8xf32>
      sdy.return %30 : tensor<16x8xf32>
    } : (tensor<16x8xf32>, tensor<8x4xf32>, tensor<4x8x8xf32>, tensor<4x8x8xf32>) -> tensor<16x8xf32>
    return %0 : tensor<16x8xf32>
  }
  func.func private @relu(%arg0: tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x16x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<1x16x8xf32>
    return %1 : tensor<1x16x8xf32>
  }
}
