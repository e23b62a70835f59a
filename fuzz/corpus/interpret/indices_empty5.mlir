func.func @empty() {
  %x = stablehlo.constant dense<> : tensor<0x3xf32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %one) applies stablehlo.add across dimensions = [0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %0, dense<1.0> : tensor<3xf32>
  %1 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
  %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<3x3xf32>
  check.expect_eq_const %2, dense<0.0> : tensor<3x3xf32>
  %3 = stablehlo.add %x, %x : tensor<0x3xf32>
  check.expect_eq %1, %3 : tensor<0x3xf32>
  return
}
