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
// -----
func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [1] : (tensor<3xi32>, tensor<2xi64>) -> tensor<?x?xi32>
  %1 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi64>) -> tensor<?x?xi32>
  %2 = stablehlo.multiply %0, %1 : tensor<?x?xi32>
  %s = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %l = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %t = stablehlo.constant dense<[1, 1]> : tensor<2xi64>
  %3 = stablehlo.real_dynamic_slice %2, %s, %l, %t : (tensor<?x?xi32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xi32>
  %p = stablehlo.constant dense<9> : tensor<i32>
  %low = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %none = stablehlo.constant dense<[0, 0]> : tensor<2xi64>
  %4 = stablehlo.dynamic_pad %3, %p, %low, %none, %none : (tensor<?x?xi32>, tensor<i32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xi32>
  %5 = tensor.cast %4 : tensor<?x?xi32> to tensor<2x3xi32>
  check.expect_eq_const %5, dense<[[9, 2, 6], [9, 2, 6]]> : tensor<2x3xi32>
  return
}
// -----
func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<3xi32>, tensor<i32>) -> tensor<?xi32, #stablehlo.bounds<3>>
  %1 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?xi32, #stablehlo.bounds<3>>) -> tensor<i32>
  check.expect_eq_const %1, dense<2> : tensor<i32>
  return
}
