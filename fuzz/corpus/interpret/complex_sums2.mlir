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
