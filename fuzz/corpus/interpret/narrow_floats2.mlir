func.func @floats() {
  %a = stablehlo.constant dense<[1.125, 448.0, -0.5]> : tensor<3xf8E4M3FN>
  %b = stablehlo.constant dense<[1.125, 1.0, 0.25]> : tensor<3xf8E4M3FN>
  %product = stablehlo.multiply %a, %b : tensor<3xf8E4M3FN>
  %wide = stablehlo.convert %product : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
  check.expect_eq_const %wide, dense<[1.25, 448.0, -0.125]> : tensor<3xf32>
  %c = stablehlo.constant dense<[1.1, 3.0, 70000.0]> : tensor<3xf32>
  %d = stablehlo.convert %c : (tensor<3xf32>) -> tensor<3xf8E5M2>
  %e = stablehlo.convert %d : (tensor<3xf8E5M2>) -> tensor<3xf32>
  check.expect_eq_const %e, dense<[1.0, 3.0, 0x7F800000]> : tensor<3xf32>
  return
}
