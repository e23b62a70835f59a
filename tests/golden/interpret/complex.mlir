func.func @arithmetic() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (0.0, -1.0)]> : tensor<2xcomplex<f32>>
  %b = stablehlo.constant dense<[(3.0, -1.0), (2.0, 0.0)]> : tensor<2xcomplex<f32>>
  %product = stablehlo.multiply %a, %b : tensor<2xcomplex<f32>>
  check.expect_almost_eq_const %product, dense<[(5.0, 5.0), (0.0, -2.0)]> : tensor<2xcomplex<f32>>
  %quotient = stablehlo.divide %product, %b : tensor<2xcomplex<f32>>
  check.expect_almost_eq %quotient, %a : tensor<2xcomplex<f32>>
  %size = stablehlo.abs %b : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_almost_eq_const %size, dense<[3.16227766, 2.0]> : tensor<2xf32>
  %re = stablehlo.real %a : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %im = stablehlo.imag %a : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_eq_const %im, dense<[2.0, -1.0]> : tensor<2xf32>
  %again = stablehlo.complex %re, %im : tensor<2xcomplex<f32>>
  check.expect_eq %again, %a : tensor<2xcomplex<f32>>
  %conjugate = chlo.conj %a : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  check.expect_eq_const %conjugate, dense<[(1.0, -2.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  %same = stablehlo.compare EQ, %a, %again : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  check.expect_eq_const %same, dense<true> : tensor<2xi1>
  return
}
// -----
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
// -----
func.func @sums() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0), (5.0, -6.0)]> : tensor<3xcomplex<f32>>
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  check.expect_eq_const %sum, dense<(9.0, 0.0)> : tensor<complex<f32>>
  %dot = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0]
    : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<complex<f32>>
  check.expect_almost_eq_const %dot, dense<(-21.0, -32.0)> : tensor<complex<f32>>
  return
}
// -----
func.func @iota() {
  %0 = stablehlo.iota dim = 0 : tensor<3xcomplex<f64>>
  check.expect_eq_const %0, dense<[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]> : tensor<3xcomplex<f64>>
  return
}
