func.func @unsigned() {
  %a = stablehlo.constant dense<[3, 0, 2]> : tensor<3xui2>
  %b = stablehlo.constant dense<[1, 1, 3]> : tensor<3xui2>
  %sum = stablehlo.add %a, %b : tensor<3xui2>
  check.expect_eq_const %sum, dense<[0, 1, 1]> : tensor<3xui2>
  %difference = stablehlo.subtract %a, %b : tensor<3xui2>
  check.expect_eq_const %difference, dense<[2, 3, 3]> : tensor<3xui2>
  %wide = stablehlo.convert %difference : (tensor<3xui2>) -> tensor<3xf32>
  check.expect_eq_const %wide, dense<[2.0, 3.0, 3.0]> : tensor<3xf32>
  return
}
