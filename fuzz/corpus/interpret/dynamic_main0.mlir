// Extents that are known only when the program runs.
func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %0 = func.call @rows(%x) : (tensor<6xi32>) -> tensor<?x3xi32>
  %1 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xi32>) -> tensor<i32>
  check.expect_eq_const %1, dense<2> : tensor<i32>
  %2 = stablehlo.add %0, %0 : tensor<?x3xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %3 = stablehlo.dynamic_reshape %2, %shape : (tensor<?x3xi32>, tensor<2xi64>) -> tensor<2x3xi32>
  check.expect_eq_const %3, dense<[[2, 4, 6], [8, 10, 12]]> : tensor<2x3xi32>
  return
}
func.func private @rows(%x: tensor<6xi32>) -> tensor<?x3xi32> {
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<6xi32>, tensor<2xi32>) -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}
