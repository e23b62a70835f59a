func.func @iota() {
  %0 = stablehlo.iota dim = 0 : tensor<3xcomplex<f64>>
  check.expect_eq_const %0, dense<[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]> : tensor<3xcomplex<f64>>
  return
}
