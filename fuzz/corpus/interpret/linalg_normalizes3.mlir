func.func @normalizes() {
  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 6.0]]> : tensor<2x2xf32>
  %s = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %o = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 0.0 : f32, feature_index = 1 : i64}>
    : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_almost_eq_const %0#0, dense<[[-1.0, -1.0], [1.0, 3.0]]> : tensor<2x2xf32>
  check.expect_almost_eq_const %0#1, dense<[2.0, 4.0]> : tensor<2xf32>
  check.expect_almost_eq_const %0#2, dense<[1.0, 4.0]> : tensor<2xf32>
  %1 = "stablehlo.batch_norm_inference"(%x, %s, %o, %0#1, %0#2) <{epsilon = 0.0 : f32, feature_index = 1 : i64}>
    : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  check.expect_almost_eq %1, %0#0 : tensor<2x2xf32>
  return
}
