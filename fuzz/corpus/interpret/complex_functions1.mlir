func.func @functions() {
  %a = stablehlo.constant dense<(0.5, -0.25)> : tensor<complex<f64>>
  %e = stablehlo.exponential %a : tensor<complex<f64>>
  %back = stablehlo.log %e : tensor<complex<f64>>
  check.expect_almost_eq %back, %a, tolerance = 1.0e-14 : tensor<complex<f64>>
  %root = stablehlo.sqrt %a : tensor<complex<f64>>
  %square = chlo.square %root : tensor<complex<f64>> -> tensor<complex<f64>>
  check.expect_almost_eq %square, %a, tolerance = 1.0e-14 : tensor<complex<f64>>
  %small = stablehlo.constant dense<(1.0e-20, 2.0e-20)> : tensor<complex<f64>>
  %expm1 = stablehlo.exponential_minus_one %small : tensor<complex<f64>>
  check.expect_close %expm1, %small, max_ulp_difference = 1 : tensor<complex<f64>>, tensor<complex<f64>>
  %log1p = stablehlo.log_plus_one %small : tensor<complex<f64>>
  check.expect_close %log1p, %small, max_ulp_difference = 1 : tensor<complex<f64>>, tensor<complex<f64>>
  return
}
