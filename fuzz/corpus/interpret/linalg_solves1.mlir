func.func @solves() {
  %a = stablehlo.constant dense<[[(2.0, 0.0), (9.0, 9.0)], [(1.0, 1.0), (0.0, 1.0)]]> : tensor<2x2xcomplex<f64>>
  %b = stablehlo.constant dense<[[(2.0, 0.0)], [(1.0, 2.0)]]> : tensor<2x1xcomplex<f64>>
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xcomplex<f64>>, tensor<2x1xcomplex<f64>>) -> tensor<2x1xcomplex<f64>>
  check.expect_almost_eq_const %0, dense<[[(1.0, 0.0)], [(1.0, 0.0)]]> : tensor<2x1xcomplex<f64>>
  return
}
