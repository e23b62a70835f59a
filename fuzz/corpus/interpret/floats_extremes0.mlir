// NaNs, infinities and the zeros.
func.func @extremes() {
  %a = stablehlo.constant dense<[0x7FC00000, 1.0, -0.0, 0.0]> : tensor<4xf32>
  %b = stablehlo.constant dense<[1.0, 0x7FC00000, 0.0, -0.0]> : tensor<4xf32>
  %max = stablehlo.maximum %a, %b : tensor<4xf32>
  %is_number = stablehlo.compare EQ, %max, %max : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %is_number, dense<[false, false, true, true]> : tensor<4xi1>
  %differs = stablehlo.compare NE, %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %differs, dense<[true, false, false, false]> : tensor<4xi1>
  %same = stablehlo.compare EQ, %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %same, dense<[false, false, true, true]> : tensor<4xi1>
  return
}
