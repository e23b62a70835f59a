module @jit_forgotten attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<16x32xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{}, {"model"}]>, <@mesh, [{"model"}, {}]>] out_shardings=[<@mesh, [{"data"}, {}]>] manual_axes={"data", "model"} (%arg3: tensor<8x32xf32>, %arg4: tensor<32x16xf32>, %arg5: tensor<16x32xf32>) {
      %1 = stablehlo.dot_general %arg3, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
      %2 = stablehlo.multiply %1, %1 : tensor<8x16xf32>
      %3 = stablehlo.multiply %2, %1 : tensor<8x16xf32>
      %cst = stablehlo.constant dense<4.471500e-02> : tensor<f32>
      %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %5 = stablehlo.multiply %4, %3 : tensor<8x16xf32>
      %6 = stablehlo.add %1, %5 : tensor<8x16xf32>
      %cst_0 = stablehlo.constant dense<0.797884583> : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %8 = stablehlo.multiply %7, %6 : tensor<8x16xf32>
      %9 = stablehlo.tanh %8 : tensor<8x16xf32>
      %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %11 = stablehlo.add %10, %9 : tensor<8x16xf32>
      %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %13 = stablehlo.multiply %12, %11 : tensor<8x16xf32>
      %14 = stablehlo.multiply %1, %13 : tensor<8x16xf32>
      %15 = stablehlo.dot_general %14, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
      %16 = stablehlo.multiply %15, %15 : tensor<8x32xf32>
      %17 = stablehlo.multiply %16, %15 : tensor<8x32xf32>
      %cst_3 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
      %19 = stablehlo.multiply %18, %17 : tensor<8x32xf32>
      %20 = stablehlo.add %15, %19 : tensor<8x32xf32>
      %cst_4 = stablehlo.constant dense<0.797884583> : tensor<f32>
      %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
      %22 = stablehlo.multiply %21, %20 : tensor<8x32xf32>
      %23 = stablehlo.tanh %22 : tensor<8x32xf32>
      %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %24 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
      %25 = stablehlo.add %24, %23 : tensor<8x32xf32>
      %cst_6 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
      %27 = stablehlo.multiply %26, %25 : tensor<8x32xf32>
      %28 = stablehlo.multiply %15, %27 : tensor<8x32xf32>
      sdy.return %28 : tensor<8x32xf32>
    } : (tensor<16x32xf32>, tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    return %0 : tensor<16x32xf32>
  }
}
