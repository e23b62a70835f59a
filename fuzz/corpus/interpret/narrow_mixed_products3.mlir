func.func @mixed_products() {
  %a = stablehlo.constant dense<[[100, 100], [-128, 2]]> : tensor<2x2xi8>
  %dot = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
    : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi32>
  check.expect_eq_const %dot, dense<[[-2800, 10200], [-13056, -12796]]> : tensor<2x2xi32>
  %b = stablehlo.constant dense<[1.0, 256.0, 0.5]> : tensor<3xbf16>
  %sum = stablehlo.dot_general %b, %b, contracting_dims = [0] x [0]
    : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<f32>
  check.expect_eq_const %sum, dense<65537.25> : tensor<f32>
  return
}
