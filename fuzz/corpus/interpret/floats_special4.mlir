func.func @special() {
  %a = stablehlo.constant dense<[0.5, 1.0, 4.5]> : tensor<3xf64>
  %gamma = chlo.lgamma %a : tensor<3xf64> -> tensor<3xf64>
  check.expect_almost_eq_const %gamma, dense<[0.57236494292470008, 0.0, 2.4537365708424423]>
    : tensor<3xf64>, tolerance = 1.0e-14
  %digamma = chlo.digamma %a : tensor<3xf64> -> tensor<3xf64>
  check.expect_almost_eq_const %digamma,
    dense<[-1.9635100260214235, -0.57721566490153287, 1.3888709263595289]> : tensor<3xf64>, tolerance = 1.0e-14
  %two = stablehlo.constant dense<2.0> : tensor<3xf64>
  %zeta = chlo.zeta %two, %a : tensor<3xf64>, tensor<3xf64> -> tensor<3xf64>
  check.expect_almost_eq_const %zeta,
    dense<[4.934802200544679, 1.6449340668482264, 0.24872510303901037]> : tensor<3xf64>, tolerance = 1.0e-13
  %one = stablehlo.constant dense<1.0> : tensor<3xf64>
  %trigamma = chlo.polygamma %one, %a : tensor<3xf64>, tensor<3xf64> -> tensor<3xf64>
  check.expect_almost_eq_const %trigamma,
    dense<[4.934802200544679, 1.6449340668482264, 0.24872510303901037]> : tensor<3xf64>, tolerance = 1.0e-13
  %bessel = chlo.bessel_i1e %a : tensor<3xf64> -> tensor<3xf64>
  check.expect_almost_eq_const %bessel,
    dense<[0.15642080318487173, 0.20791041534970847, 0.17095882229749212]> : tensor<3xf64>, tolerance = 1.0e-6
  %half = stablehlo.constant dense<[0.5, -0.25, 0.999]> : tensor<3xf64>
  %inverse = chlo.erf_inv %half : tensor<3xf64> -> tensor<3xf64>
  %back = chlo.erf %inverse : tensor<3xf64> -> tensor<3xf64>
  check.expect_almost_eq %back, %half, tolerance = 1.0e-14 : tensor<3xf64>
  return
}
