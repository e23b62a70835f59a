// There and back, of a length with a large prime factor.
func.func @transforms() {
  %n = stablehlo.iota dim = 0 : tensor<34xf64>
  %x = stablehlo.sine %n : tensor<34xf64>
  %f = stablehlo.fft %x, type = RFFT, length = [34] : (tensor<34xf64>) -> tensor<18xcomplex<f64>>
  %y = stablehlo.fft %f, type = IRFFT, length = [34] : (tensor<18xcomplex<f64>>) -> tensor<34xf64>
  check.expect_almost_eq %y, %x, tolerance = 1.0e-14 : tensor<34xf64>
  %one = stablehlo.constant dense<1.0> : tensor<4xf64>
  %g = stablehlo.fft %one, type = RFFT, length = [4] : (tensor<4xf64>) -> tensor<3xcomplex<f64>>
  check.expect_almost_eq_const %g, dense<[(4.0, 0.0), (0.0, 0.0), (0.0, 0.0)]> : tensor<3xcomplex<f64>>
  return
}
