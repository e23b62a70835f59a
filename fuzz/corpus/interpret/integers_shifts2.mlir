func.func @shifts() {
  %a = stablehlo.constant dense<[-128, -1, 1, 64]> : tensor<4xi8>
  %by = stablehlo.constant dense<[1, 8, 7, -1]> : tensor<4xi8>
  %left = stablehlo.shift_left %a, %by : tensor<4xi8>
  check.expect_eq_const %left, dense<[0, 0, -128, 0]> : tensor<4xi8>
  %arithmetic = stablehlo.shift_right_arithmetic %a, %by : tensor<4xi8>
  check.expect_eq_const %arithmetic, dense<[-64, -1, 0, 0]> : tensor<4xi8>
  %logical = stablehlo.shift_right_logical %a, %by : tensor<4xi8>
  check.expect_eq_const %logical, dense<[64, 0, 0, 0]> : tensor<4xi8>
  return
}
