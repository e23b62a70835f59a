module @jit_cross_entropy_vocab attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x32xf32>, %arg1: tensor<8xi32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{}, {"x"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, []>] manual_axes={"x", "y"} (%arg2: tensor<8x8xf32>, %arg3: tensor<8xi32>) {
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %1 = stablehlo.reduce(%arg2 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %32 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
        stablehlo.return %32 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
      %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
      %5 = stablehlo.subtract %arg2, %4 : tensor<8x8xf32>
      %6 = stablehlo.exponential %5 : tensor<8x8xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %8 = "stablehlo.all_reduce"(%7) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %32 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %32 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %c = stablehlo.constant dense<2> : tensor<ui32>
      %c_1 = stablehlo.constant dense<4> : tensor<ui32>
      %9 = stablehlo.partition_id : tensor<ui32>
      %10 = stablehlo.divide %9, %c : tensor<ui32>
      %11 = stablehlo.remainder %10, %c_1 : tensor<ui32>
      %12 = stablehlo.convert %11 : (tensor<ui32>) -> tensor<i32>
      %c_2 = stablehlo.constant dense<8> : tensor<i32>
      %13 = stablehlo.multiply %12, %c_2 : tensor<i32>
      %14 = stablehlo.broadcast_in_dim %arg3, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
      %15 = stablehlo.iota dim = 0 : tensor<8xi32>
      %16 = stablehlo.broadcast_in_dim %15, dims = [1] : (tensor<8xi32>) -> tensor<1x8xi32>
      %17 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<i32>) -> tensor<1x8xi32>
      %18 = stablehlo.add %16, %17 : tensor<1x8xi32>
      %19 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<8x1xi32>) -> tensor<8x8xi32>
      %20 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<8x8xi32>
      %21 = stablehlo.compare EQ, %19, %20, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
      %22 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
      %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
      %24 = stablehlo.subtract %arg2, %23 : tensor<8x8xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %25 = func.call @_where(%21, %24, %cst_3) : (tensor<8x8xi1>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %26 = stablehlo.reduce(%25 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %27 = "stablehlo.all_reduce"(%26) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %32 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %32 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %28 = stablehlo.log %8 : tensor<8xf32>
      %29 = stablehlo.subtract %28, %27 : tensor<8xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %30 = stablehlo.reduce(%29 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      %cst_6 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %31 = stablehlo.divide %30, %cst_6 : tensor<f32>
      sdy.return %31 : tensor<f32>
    } : (tensor<8x32xf32>, tensor<8xi32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @_where(%arg0: tensor<8x8xi1>, %arg1: tensor<8x8xf32>, %arg2: tensor<f32>) -> tensor<8x8xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<8x8xi1>, tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
}
