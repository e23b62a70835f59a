func.func @decomposes() {
  %a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 10.0]]> : tensor<2x2xf32>
  %l = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>
  check.expect_almost_eq_const %l, dense<[[2.0, 0.0], [1.0, 3.0]]> : tensor<2x2xf32>
  %u = stablehlo.cholesky %a, lower = false : tensor<2x2xf32>
  check.expect_almost_eq_const %u, dense<[[2.0, 1.0], [0.0, 3.0]]> : tensor<2x2xf32>
  return
}
