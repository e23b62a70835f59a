func.func @rounds() {
  %a = stablehlo.constant dense<[-2.5, -0.5, 0.5, 1.5, 2.5]> : tensor<5xf64>
  %even = stablehlo.round_nearest_even %a : tensor<5xf64>
  check.expect_eq_const %even, dense<[-2.0, -0.0, 0.0, 2.0, 2.0]> : tensor<5xf64>
  %away = stablehlo.round_nearest_afz %a : tensor<5xf64>
  check.expect_eq_const %away, dense<[-3.0, -1.0, 1.0, 2.0, 3.0]> : tensor<5xf64>
  %sign = stablehlo.sign %a : tensor<5xf64>
  check.expect_eq_const %sign, dense<[-1.0, -1.0, 1.0, 1.0, 1.0]> : tensor<5xf64>
  %finite = stablehlo.is_finite %a : (tensor<5xf64>) -> tensor<5xi1>
  check.expect_eq_const %finite, dense<true> : tensor<5xi1>
  return
}
