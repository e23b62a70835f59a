func.func @total_order() {
  %a = stablehlo.constant dense<[-0.0, 0x7FC00000, 0xFFC00000, 1.0]> : tensor<4xf32>
  %b = stablehlo.constant dense<[0.0, 0x7F800000, 0xFF800000, 1.0]> : tensor<4xf32>
  %less = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %less, dense<[true, false, true, false]> : tensor<4xi1>
  %same = stablehlo.compare EQ, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %same, dense<[false, false, false, true]> : tensor<4xi1>
  return
}
