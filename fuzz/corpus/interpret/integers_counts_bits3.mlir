func.func @counts_bits() {
  %a = stablehlo.constant dense<[0, 1, -1, 64]> : tensor<4xi16>
  %ones = stablehlo.popcnt %a : tensor<4xi16>
  check.expect_eq_const %ones, dense<[0, 1, 16, 1]> : tensor<4xi16>
  %leading = stablehlo.count_leading_zeros %a : tensor<4xi16>
  check.expect_eq_const %leading, dense<[16, 15, 0, 9]> : tensor<4xi16>
  %not = stablehlo.not %a : tensor<4xi16>
  check.expect_eq_const %not, dense<[-1, -2, 0, -65]> : tensor<4xi16>
  return
}
