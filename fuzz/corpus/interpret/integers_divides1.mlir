func.func @divides() {
  %a = stablehlo.constant dense<[7, -7, 5, -2147483648]> : tensor<4xi32>
  %b = stablehlo.constant dense<[2, 2, 0, -1]> : tensor<4xi32>
  %quotient = stablehlo.divide %a, %b : tensor<4xi32>
  check.expect_eq_const %quotient, dense<[3, -3, -1, -2147483648]> : tensor<4xi32>
  %rest = stablehlo.remainder %a, %b : tensor<4xi32>
  check.expect_eq_const %rest, dense<[1, -1, 5, 0]> : tensor<4xi32>
  %c = stablehlo.constant dense<[7, 9]> : tensor<2xui16>
  %d = stablehlo.constant dense<[0, 4]> : tensor<2xui16>
  %e = stablehlo.divide %c, %d : tensor<2xui16>
  check.expect_eq_const %e, dense<[65535, 2]> : tensor<2xui16>
  return
}
