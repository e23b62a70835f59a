func.func @converts() {
  %a = stablehlo.constant dense<[1.9, -1.9, 300.0, -300.0, 0x7FC00000]> : tensor<5xf32>
  %bytes = stablehlo.convert %a : (tensor<5xf32>) -> tensor<5xi8>
  check.expect_eq_const %bytes, dense<[1, -1, 127, -128, 0]> : tensor<5xi8>
  %unsigned = stablehlo.convert %a : (tensor<5xf32>) -> tensor<5xui8>
  check.expect_eq_const %unsigned, dense<[1, 0, 255, 0, 0]> : tensor<5xui8>
  %truth = stablehlo.convert %a : (tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %truth, dense<true> : tensor<5xi1>
  %b = stablehlo.constant dense<[257, -1]> : tensor<2xi32>
  %narrow = stablehlo.convert %b : (tensor<2xi32>) -> tensor<2xui8>
  check.expect_eq_const %narrow, dense<[1, 255]> : tensor<2xui8>
  %large = stablehlo.constant dense<16777217> : tensor<i64>
  %single = stablehlo.convert %large : (tensor<i64>) -> tensor<f32>
  check.expect_eq_const %single, dense<16777216.0> : tensor<f32>
  return
}
