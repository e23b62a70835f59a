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
