module @jit_transformer_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x32xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<8x32xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg2: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg3: tensor<64x3x4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}, {}]>}, %arg4: tensor<4x16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg5: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg6: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<256x64xf32> {jax.result_info = "result[1][0]"}, tensor<64x3x4x16xf32> {jax.result_info = "result[1][1]"}, tensor<4x16x64xf32> {jax.result_info = "result[1][2]"}, tensor<64x256xf32> {jax.result_info = "result[1][3]"}, tensor<256x64xf32> {jax.result_info = "result[1][4]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x32xi32>
    %1 = stablehlo.compare LT, %arg0, %0, SIGNED : (tensor<8x32xi32>, tensor<8x32xi32>) -> tensor<8x32xi1>
    %c_0 = stablehlo.constant dense<256> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x32xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<8x32xi32>
    %4 = stablehlo.select %1, %3, %arg0 : tensor<8x32xi1>, tensor<8x32xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x32xi32>) -> tensor<8x32x1xi32>
    %6 = "stablehlo.gather"(%arg2, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 64>}> : (tensor<256x64xf32>, tensor<8x32x1xi32>) -> tensor<8x32x64xf32>
    %7 = stablehlo.dot_general %arg3, %6, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x3x4x16xf32>, tensor<8x32x64xf32>) -> tensor<3x4x16x8x32xf32>
    %8 = stablehlo.transpose %7, dims = [0, 3, 4, 1, 2] : (tensor<3x4x16x8x32xf32>) -> tensor<3x8x32x4x16xf32>
    %9 = stablehlo.slice %8 [0:1, 0:8, 0:32, 0:4, 0:16] : (tensor<3x8x32x4x16xf32>) -> tensor<1x8x32x4x16xf32>
    %10 = stablehlo.reshape %9 : (tensor<1x8x32x4x16xf32>) -> tensor<8x32x4x16xf32>
    %11 = stablehlo.slice %8 [1:2, 0:8, 0:32, 0:4, 0:16] : (tensor<3x8x32x4x16xf32>) -> tensor<1x8x32x4x16xf32>
    %12 = stablehlo.reshape %11 : (tensor<1x8x32x4x16xf32>) -> tensor<8x32x4x16xf32>
    %13 = stablehlo.slice %8 [2:3, 0:8, 0:32, 0:4, 0:16] : (tensor<3x8x32x4x16xf32>) -> tensor<1x8x32x4x16xf32>
    %14 = stablehlo.reshape %13 : (tensor<1x8x32x4x16xf32>) -> tensor<8x32x4x16xf32>
    %15 = stablehlo.dot_general %10, %12, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x32xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x32x32xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %18 = stablehlo.maximum %17, %16 : tensor<8x4x32xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<8x4x32xf32>) -> tensor<8x4x32x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %21 = stablehlo.subtract %15, %20 : tensor<8x4x32x32xf32>
    %22 = stablehlo.exponential %21 : tensor<8x4x32x32xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x32xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<8x4x32xf32>) -> tensor<8x4x32x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %26 = stablehlo.divide %22, %25 : tensor<8x4x32x32xf32>
    %27 = stablehlo.multiply %24, %24 : tensor<8x4x32x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x4x32x1xf32>
    %29 = stablehlo.divide %28, %27 : tensor<8x4x32x1xf32>
    %30 = stablehlo.dot_general %14, %26, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<8x4x32x32xf32>) -> tensor<8x4x16x32xf32>
    %31 = stablehlo.transpose %30, dims = [0, 3, 1, 2] : (tensor<8x4x16x32xf32>) -> tensor<8x32x4x16xf32>
    %32 = stablehlo.dot_general %31, %arg4, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<4x16x64xf32>) -> tensor<8x32x64xf32>
    %33 = stablehlo.add %6, %32 : tensor<8x32x64xf32>
    %34 = stablehlo.dot_general %33, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %35 = stablehlo.multiply %34, %34 : tensor<8x32x256xf32>
    %36 = stablehlo.multiply %35, %34 : tensor<8x32x256xf32>
    %37 = stablehlo.multiply %34, %34 : tensor<8x32x256xf32>
    %cst_4 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %39 = stablehlo.multiply %38, %37 : tensor<8x32x256xf32>
    %cst_5 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %41 = stablehlo.multiply %40, %36 : tensor<8x32x256xf32>
    %42 = stablehlo.add %34, %41 : tensor<8x32x256xf32>
    %cst_6 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %44 = stablehlo.multiply %43, %42 : tensor<8x32x256xf32>
    %45 = stablehlo.tanh %44 : tensor<8x32x256xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %47 = stablehlo.subtract %46, %45 : tensor<8x32x256xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %49 = stablehlo.add %48, %45 : tensor<8x32x256xf32>
    %cst_9 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %51 = stablehlo.multiply %50, %49 : tensor<8x32x256xf32>
    %52 = stablehlo.multiply %34, %51 : tensor<8x32x256xf32>
    %53 = stablehlo.dot_general %52, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %54 = stablehlo.add %33, %53 : tensor<8x32x64xf32>
    %55 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %56 = stablehlo.dot_general %54, %55, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %57 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<8x32xi32>) -> tensor<8x32x1xi32>
    %58:2 = call @take_along_axis(%56, %57) : (tensor<8x32x256xf32>, tensor<8x32x1xi32>) -> (tensor<8x32x1xf32>, tensor<8x32x1x1xi32>)
    %59 = stablehlo.reshape %58#0 : (tensor<8x32x1xf32>) -> tensor<8x32xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %60 = stablehlo.reduce(%56 init: %cst_10) applies stablehlo.maximum across dimensions = [2] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<8x32xf32>
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %62 = stablehlo.maximum %61, %60 : tensor<8x32xf32>
    %63 = stablehlo.is_finite %62 : (tensor<8x32xf32>) -> tensor<8x32xi1>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %65 = stablehlo.select %63, %62, %64 : tensor<8x32xi1>, tensor<8x32xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %67 = stablehlo.broadcast_in_dim %66, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x256xf32>
    %68 = stablehlo.subtract %56, %67 : tensor<8x32x256xf32>
    %69 = stablehlo.exponential %68 : tensor<8x32x256xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.reduce(%69 init: %cst_13) applies stablehlo.add across dimensions = [2] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<8x32xf32>
    %71 = stablehlo.abs %70 : tensor<8x32xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %73 = stablehlo.compare GE, %70, %72, FLOAT : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xi1>
    %74 = stablehlo.log %71 : tensor<8x32xf32>
    %75 = stablehlo.add %74, %65 : tensor<8x32xf32>
    %76 = stablehlo.subtract %75, %59 : tensor<8x32xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %77 = stablehlo.reduce(%76 init: %cst_15) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_16 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %78 = stablehlo.divide %77, %cst_16 : tensor<f32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_18 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %79 = stablehlo.divide %cst_17, %cst_18 : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %79, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %81 = stablehlo.negate %80 : tensor<8x32xf32>
    %82 = stablehlo.divide %80, %71 : tensor<8x32xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %84 = stablehlo.select %73, %83, %82 : tensor<8x32xi1>, tensor<8x32xf32>
    %85 = stablehlo.select %73, %82, %83 : tensor<8x32xi1>, tensor<8x32xf32>
    %86 = stablehlo.negate %84 : tensor<8x32xf32>
    %87 = stablehlo.add %85, %86 : tensor<8x32xf32>
    %88 = stablehlo.broadcast_in_dim %87, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x256xf32>
    %89 = stablehlo.multiply %88, %69 : tensor<8x32x256xf32>
    %90 = stablehlo.broadcast_in_dim %81, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %91 = call @take_along_axis_0(%58#1, %90) : (tensor<8x32x1x1xi32>, tensor<8x32x1xf32>) -> tensor<8x32x256xf32>
    %92 = stablehlo.add %89, %91 : tensor<8x32x256xf32>
    %93 = stablehlo.dot_general %92, %54, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %94 = stablehlo.transpose %93, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %95 = stablehlo.dot_general %92, %55, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %96 = stablehlo.transpose %94, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %97 = stablehlo.dot_general %95, %52, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %98 = stablehlo.transpose %97, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %99 = stablehlo.dot_general %95, %arg6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %100 = stablehlo.multiply %34, %99 : tensor<8x32x256xf32>
    %101 = stablehlo.multiply %99, %51 : tensor<8x32x256xf32>
    %cst_20 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %103 = stablehlo.multiply %102, %100 : tensor<8x32x256xf32>
    %104 = stablehlo.multiply %103, %47 : tensor<8x32x256xf32>
    %105 = stablehlo.multiply %104, %45 : tensor<8x32x256xf32>
    %106 = stablehlo.add %104, %105 : tensor<8x32x256xf32>
    %cst_21 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %108 = stablehlo.multiply %107, %106 : tensor<8x32x256xf32>
    %109 = stablehlo.add %101, %108 : tensor<8x32x256xf32>
    %cst_22 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %110 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %111 = stablehlo.multiply %110, %108 : tensor<8x32x256xf32>
    %112 = stablehlo.multiply %111, %39 : tensor<8x32x256xf32>
    %113 = stablehlo.add %109, %112 : tensor<8x32x256xf32>
    %114 = stablehlo.dot_general %113, %33, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %115 = stablehlo.transpose %114, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %116 = stablehlo.dot_general %113, %arg5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %117 = stablehlo.add %95, %116 : tensor<8x32x64xf32>
    %118 = stablehlo.dot_general %117, %31, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x4x16xf32>) -> tensor<64x4x16xf32>
    %119 = stablehlo.transpose %118, dims = [1, 2, 0] : (tensor<64x4x16xf32>) -> tensor<4x16x64xf32>
    %120 = stablehlo.dot_general %117, %arg4, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<4x16x64xf32>) -> tensor<8x32x4x16xf32>
    %121 = stablehlo.transpose %120, dims = [0, 2, 3, 1] : (tensor<8x32x4x16xf32>) -> tensor<8x4x16x32xf32>
    %122 = stablehlo.dot_general %121, %14, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x32xf32>
    %123 = stablehlo.dot_general %121, %26, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x32xf32>, tensor<8x4x32x32xf32>) -> tensor<8x4x16x32xf32>
    %124 = stablehlo.transpose %123, dims = [0, 3, 1, 2] : (tensor<8x4x16x32xf32>) -> tensor<8x32x4x16xf32>
    %125 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %126 = stablehlo.multiply %122, %125 : tensor<8x4x32x32xf32>
    %127 = stablehlo.multiply %126, %22 : tensor<8x4x32x32xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %128 = stablehlo.reduce(%127 init: %cst_23) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x32xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %129 = stablehlo.reshape %128 : (tensor<8x4x32xf32>) -> tensor<8x4x32x1xf32>
    %130 = stablehlo.negate %129 : tensor<8x4x32x1xf32>
    %131 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %132 = stablehlo.divide %122, %131 : tensor<8x4x32x32xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %133 = stablehlo.reduce(%130 init: %cst_24) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x1xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %134 = stablehlo.broadcast_in_dim %133, dims = [0, 1, 2] : (tensor<8x4x32xf32>) -> tensor<8x4x32x32xf32>
    %135 = stablehlo.add %132, %134 : tensor<8x4x32x32xf32>
    %136 = stablehlo.multiply %135, %22 : tensor<8x4x32x32xf32>
    %137 = stablehlo.dot_general %136, %10, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x32x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %138 = stablehlo.transpose %137, dims = [0, 2, 1, 3] : (tensor<8x4x32x16xf32>) -> tensor<8x32x4x16xf32>
    %139 = stablehlo.dot_general %136, %12, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x32x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %140 = stablehlo.transpose %139, dims = [0, 2, 1, 3] : (tensor<8x4x32x16xf32>) -> tensor<8x32x4x16xf32>
    %141 = stablehlo.broadcast_in_dim %124, dims = [1, 2, 3, 4] : (tensor<8x32x4x16xf32>) -> tensor<1x8x32x4x16xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %142 = stablehlo.pad %141, %cst_25, low = [2, 0, 0, 0, 0], high = [0, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x32x4x16xf32>, tensor<f32>) -> tensor<3x8x32x4x16xf32>
    %143 = stablehlo.broadcast_in_dim %138, dims = [1, 2, 3, 4] : (tensor<8x32x4x16xf32>) -> tensor<1x8x32x4x16xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %144 = stablehlo.pad %143, %cst_26, low = [1, 0, 0, 0, 0], high = [1, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x32x4x16xf32>, tensor<f32>) -> tensor<3x8x32x4x16xf32>
    %145 = stablehlo.add %142, %144 : tensor<3x8x32x4x16xf32>
    %146 = stablehlo.broadcast_in_dim %140, dims = [1, 2, 3, 4] : (tensor<8x32x4x16xf32>) -> tensor<1x8x32x4x16xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %147 = stablehlo.pad %146, %cst_27, low = [0, 0, 0, 0, 0], high = [2, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x32x4x16xf32>, tensor<f32>) -> tensor<3x8x32x4x16xf32>
    %148 = stablehlo.add %145, %147 : tensor<3x8x32x4x16xf32>
    %149 = stablehlo.transpose %148, dims = [0, 3, 4, 1, 2] : (tensor<3x8x32x4x16xf32>) -> tensor<3x4x16x8x32xf32>
    %150 = stablehlo.dot_general %149, %arg3, contracting_dims = [0, 1, 2] x [1, 2, 3], precision = [DEFAULT, DEFAULT] : (tensor<3x4x16x8x32xf32>, tensor<64x3x4x16xf32>) -> tensor<8x32x64xf32>
    %151 = stablehlo.add %117, %150 : tensor<8x32x64xf32>
    %152 = stablehlo.dot_general %149, %6, contracting_dims = [3, 4] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<3x4x16x8x32xf32>, tensor<8x32x64xf32>) -> tensor<3x4x16x64xf32>
    %153 = stablehlo.transpose %152, dims = [3, 0, 1, 2] : (tensor<3x4x16x64xf32>) -> tensor<64x3x4x16xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %155 = "stablehlo.scatter"(%154, %5, %151) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %172 = stablehlo.add %arg7, %arg8 : tensor<f32>
      stablehlo.return %172 : tensor<f32>
    }) : (tensor<256x64xf32>, tensor<8x32x1xi32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %156 = stablehlo.add %96, %155 : tensor<256x64xf32>
    %cst_29 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %158 = stablehlo.multiply %157, %156 : tensor<256x64xf32>
    %159 = stablehlo.subtract %arg2, %158 : tensor<256x64xf32>
    %cst_30 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<64x3x4x16xf32>
    %161 = stablehlo.multiply %160, %153 : tensor<64x3x4x16xf32>
    %162 = stablehlo.subtract %arg3, %161 : tensor<64x3x4x16xf32>
    %cst_31 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %163 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<4x16x64xf32>
    %164 = stablehlo.multiply %163, %119 : tensor<4x16x64xf32>
    %165 = stablehlo.subtract %arg4, %164 : tensor<4x16x64xf32>
    %cst_32 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %167 = stablehlo.multiply %166, %115 : tensor<64x256xf32>
    %168 = stablehlo.subtract %arg5, %167 : tensor<64x256xf32>
    %cst_33 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %169 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %170 = stablehlo.multiply %169, %98 : tensor<256x64xf32>
    %171 = stablehlo.subtract %arg6, %170 : tensor<256x64xf32>
    return %78, %159, %162, %165, %168, %171 : tensor<f32>, tensor<256x64xf32>, tensor<64x3x4x16xf32>, tensor<4x16x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<8x32x256xf32>, %arg1: tensor<8x32x1xi32>) -> (tensor<8x32x1xf32>, tensor<8x32x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x32x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x32x1xi32>, tensor<8x32x1xi32>) -> tensor<8x32x1xi1>
    %c_0 = stablehlo.constant dense<256> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x32x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x32x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<8x32x1xi1>, tensor<8x32x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<8x32x1xi32>) -> tensor<8x32x1x1xi32>
    %c_1 = stablehlo.constant dense<255> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x32x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x32x1x1xi32>, tensor<8x32x1x1xi32>) -> tensor<8x32x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<8x32x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<8x32x1x1xi32>, tensor<8x32x1x1xi32>) -> tensor<8x32x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<8x32x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<8x32x1x1xi1>, tensor<i1>) -> tensor<8x32x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x32x256xf32>, tensor<8x32x1x1xi32>) -> tensor<8x32x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<8x32x1xi1>, tensor<8x32x1xf32>
    return %15, %5 : tensor<8x32x1xf32>, tensor<8x32x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<8x32x1x1xi32>, %arg1: tensor<8x32x1xf32>) -> tensor<8x32x256xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<8x32x256xf32>, tensor<8x32x1x1xi32>, tensor<8x32x1xf32>) -> tensor<8x32x256xf32>
    return %1 : tensor<8x32x256xf32>
  }
}
