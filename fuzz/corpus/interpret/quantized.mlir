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
