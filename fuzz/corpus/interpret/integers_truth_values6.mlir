func.func @truth_values() {
  %a = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
  %b = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
  %sum = stablehlo.add %a, %b : tensor<4xi1>
  check.expect_eq_const %sum, dense<[true, true, true, false]> : tensor<4xi1>
  %product = stablehlo.multiply %a, %b : tensor<4xi1>
  check.expect_eq_const %product, dense<[true, false, false, false]> : tensor<4xi1>
  %xor = stablehlo.xor %a, %b : tensor<4xi1>
  check.expect_eq_const %xor, dense<[false, true, true, false]> : tensor<4xi1>
  return
}
