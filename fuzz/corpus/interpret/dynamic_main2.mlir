func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<3xi32>, tensor<i32>) -> tensor<?xi32, #stablehlo.bounds<3>>
  %1 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?xi32, #stablehlo.bounds<3>>) -> tensor<i32>
  check.expect_eq_const %1, dense<2> : tensor<i32>
  return
}
