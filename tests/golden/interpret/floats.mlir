// NaNs, infinities and the zeros.
func.func @extremes() {
  %a = stablehlo.constant dense<[0x7FC00000, 1.0, -0.0, 0.0]> : tensor<4xf32>
  %b = stablehlo.constant dense<[1.0, 0x7FC00000, 0.0, -0.0]> : tensor<4xf32>
  %max = stablehlo.maximum %a, %b : tensor<4xf32>
  %is_number = stablehlo.compare EQ, %max, %max : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %is_number, dense<[false, false, true, true]> : tensor<4xi1>
  %differs = stablehlo.compare NE, %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %differs, dense<[true, false, false, false]> : tensor<4xi1>
  %same = stablehlo.compare EQ, %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %same, dense<[false, false, true, true]> : tensor<4xi1>
  return
}
// -----
func.func @total_order() {
  %a = stablehlo.constant dense<[-0.0, 0x7FC00000, 0xFFC00000, 1.0]> : tensor<4xf32>
  %b = stablehlo.constant dense<[0.0, 0x7F800000, 0xFF800000, 1.0]> : tensor<4xf32>
  %less = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %less, dense<[true, false, true, false]> : tensor<4xi1>
  %same = stablehlo.compare EQ, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %same, dense<[false, false, false, true]> : tensor<4xi1>
  return
}
// -----
func.func @rounds() {
  %a = stablehlo.constant dense<[-2.5, -0.5, 0.5, 1.5, 2.5]> : tensor<5xf64>
  %even = stablehlo.round_nearest_even %a : tensor<5xf64>
  check.expect_eq_const %even, dense<[-2.0, -0.0, 0.0, 2.0, 2.0]> : tensor<5xf64>
  %away = stablehlo.round_nearest_afz %a : tensor<5xf64>
  check.expect_eq_const %away, dense<[-3.0, -1.0, 1.0, 2.0, 3.0]> : tensor<5xf64>
  %sign = stablehlo.sign %a : tensor<5xf64>
  check.expect_eq_const %sign, dense<[-1.0, -1.0, 1.0, 1.0, 1.0]> : tensor<5xf64>
  %finite = stablehlo.is_finite %a : (tensor<5xf64>) -> tensor<5xi1>
  check.expect_eq_const %finite, dense<true> : tensor<5xi1>
  return
}
// -----
func.func @fewer_bits() {
  %a = stablehlo.constant dense<[1.0625, 1.1875, 3.0e38, 1.0e-30, -70000.0]> : tensor<5xf32>
  %b = stablehlo.reduce_precision %a, format = e5m3 : tensor<5xf32>
  check.expect_eq_const %b, dense<[1.0, 1.25, 0x7F800000, 0.0, 0xFF800000]> : tensor<5xf32>
  %c = stablehlo.constant dense<[1.0, 0.0, -1.0]> : tensor<3xf32>
  %d = stablehlo.constant dense<[2.0, -1.0, -1.0]> : tensor<3xf32>
  %e = chlo.next_after %c, %d : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  check.expect_eq_const %e, dense<[0x3F800001, 0x80000001, -1.0]> : tensor<3xf32>
  return
}
// -----
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
// -----
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = chlo.broadcast_add %x, %s : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[4.0, 5.0]> : tensor<2xf32>
  %1 = chlo.broadcast_compare %x, %s {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
  check.expect_eq_const %1, dense<true> : tensor<2xi1>
  return
}
