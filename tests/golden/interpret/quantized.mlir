// Integers that stand for numbers: rounded to nearest even and saturated.
func.func @there_and_back() {
  %x = stablehlo.constant dense<[1.0, -0.25, 100.0, -3.75]> : tensor<4xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01:-10>>
  %i = stablehlo.bitcast_convert %q : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:-10>>) -> tensor<4xi8>
  check.expect_eq_const %i, dense<[-8, -10, 127, -18]> : tensor<4xi8>
  %y = stablehlo.uniform_dequantize %q : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:-10>>) -> tensor<4xf32>
  check.expect_eq_const %y, dense<[1.0, 0.0, 68.5, -4.0]> : tensor<4xf32>
  return
}
// -----
func.func @sums() {
  %a = stablehlo.constant dense<[10, 20]> : tensor<2xi8>
  %x = stablehlo.bitcast_convert %a : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 1.000000e+00:5>>
  %y = stablehlo.add %x, %x : tensor<2x!quant.uniform<i8:f32, 1.000000e+00:5>>
  %b = stablehlo.bitcast_convert %y : (tensor<2x!quant.uniform<i8:f32, 1.000000e+00:5>>) -> tensor<2xi8>
  check.expect_eq_const %b, dense<[15, 35]> : tensor<2xi8>
  return
}
