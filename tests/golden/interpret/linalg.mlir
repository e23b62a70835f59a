func.func @decomposes() {
  %a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 10.0]]> : tensor<2x2xf32>
  %l = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>
  check.expect_almost_eq_const %l, dense<[[2.0, 0.0], [1.0, 3.0]]> : tensor<2x2xf32>
  %u = stablehlo.cholesky %a, lower = false : tensor<2x2xf32>
  check.expect_almost_eq_const %u, dense<[[2.0, 1.0], [0.0, 3.0]]> : tensor<2x2xf32>
  return
}
// -----
func.func @solves() {
  %a = stablehlo.constant dense<[[(2.0, 0.0), (9.0, 9.0)], [(1.0, 1.0), (0.0, 1.0)]]> : tensor<2x2xcomplex<f64>>
  %b = stablehlo.constant dense<[[(2.0, 0.0)], [(1.0, 2.0)]]> : tensor<2x1xcomplex<f64>>
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xcomplex<f64>>, tensor<2x1xcomplex<f64>>) -> tensor<2x1xcomplex<f64>>
  check.expect_almost_eq_const %0, dense<[[(1.0, 0.0)], [(1.0, 0.0)]]> : tensor<2x1xcomplex<f64>>
  return
}
// -----
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
// -----
func.func @normalizes() {
  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 6.0]]> : tensor<2x2xf32>
  %s = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %o = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 0.0 : f32, feature_index = 1 : i64}>
    : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_almost_eq_const %0#0, dense<[[-1.0, -1.0], [1.0, 3.0]]> : tensor<2x2xf32>
  check.expect_almost_eq_const %0#1, dense<[2.0, 4.0]> : tensor<2xf32>
  check.expect_almost_eq_const %0#2, dense<[1.0, 4.0]> : tensor<2xf32>
  %1 = "stablehlo.batch_norm_inference"(%x, %s, %o, %0#1, %0#2) <{epsilon = 0.0 : f32, feature_index = 1 : i64}>
    : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  check.expect_almost_eq %1, %0#0 : tensor<2x2xf32>
  return
}
// -----
func.func @multiplies() {
  %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %v = stablehlo.constant dense<[1, 10]> : tensor<2xi32>
  %0 = stablehlo.dot %a, %v : (tensor<2x2xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[21, 43]> : tensor<2xi32>
  return
}
