// Integers of 2 and 4 bits, floats of 8 bits and fewer.
func.func @nibbles() {
  %a = stablehlo.constant dense<[7, -8, 3, -1]> : tensor<4xi4>
  %b = stablehlo.constant dense<[1, -1, 3, 2]> : tensor<4xi4>
  %sum = stablehlo.add %a, %b : tensor<4xi4>
  check.expect_eq_const %sum, dense<[-8, 7, 6, 1]> : tensor<4xi4>
  %product = stablehlo.multiply %a, %b : tensor<4xi4>
  check.expect_eq_const %product, dense<[7, -8, -7, -2]> : tensor<4xi4>
  %max = stablehlo.maximum %a, %b : tensor<4xi4>
  check.expect_eq_const %max, dense<[7, -1, 3, 2]> : tensor<4xi4>
  %ones = stablehlo.popcnt %a : tensor<4xi4>
  check.expect_eq_const %ones, dense<[3, 1, 2, 4]> : tensor<4xi4>
  %leading = stablehlo.count_leading_zeros %b : tensor<4xi4>
  check.expect_eq_const %leading, dense<[3, 0, 2, 2]> : tensor<4xi4>
  %right = stablehlo.shift_right_logical %a, %b : tensor<4xi4>
  check.expect_eq_const %right, dense<[3, 0, 0, 3]> : tensor<4xi4>
  %not = stablehlo.not %a : tensor<4xi4>
  check.expect_eq_const %not, dense<[-8, 7, -4, 0]> : tensor<4xi4>
  return
}
