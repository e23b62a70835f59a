// Integers wrap around; division by zero, shifts and conversions are as StableHLO says.
func.func @wraps() {
  %a = stablehlo.constant dense<[127, -128, 100]> : tensor<3xi8>
  %b = stablehlo.constant dense<[1, -1, 100]> : tensor<3xi8>
  %sum = stablehlo.add %a, %b : tensor<3xi8>
  check.expect_eq_const %sum, dense<[-128, 127, -56]> : tensor<3xi8>
  %product = stablehlo.multiply %a, %b : tensor<3xi8>
  check.expect_eq_const %product, dense<[127, -128, 16]> : tensor<3xi8>
  %negative = stablehlo.negate %a : tensor<3xi8>
  check.expect_eq_const %negative, dense<[-127, -128, -100]> : tensor<3xi8>
  %size = stablehlo.abs %a : tensor<3xi8>
  check.expect_eq_const %size, dense<[127, -128, 100]> : tensor<3xi8>
  return
}
