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
