func.func @pads() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %p = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %x, %p, low = [-1], high = [2], interior = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  check.expect_eq_const %0, dense<[0, 2, 0, 3, 0, 4, 0, 0]> : tensor<8xi32>
  %1 = stablehlo.reverse %x, dims = [0] : tensor<4xi32>
  check.expect_eq_const %1, dense<[4, 3, 2, 1]> : tensor<4xi32>
  %2 = stablehlo.slice %x [1:4:2] : (tensor<4xi32>) -> tensor<2xi32>
  check.expect_eq_const %2, dense<[2, 4]> : tensor<2xi32>
  return
}
