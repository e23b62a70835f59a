// Integers of 2 and 4 bits, floats of 8 bits and fewer.
func.func @nibbles() {
  %a = stablehlo.constant dense<[7, -8, 3, -1]> : tensor<4xi4>
  %b = stablehlo.constant dense<[1, -1, 3, 2]> : tensor<4xi4>
  %sum = stablehlo.add %a, %b : tensor<4xi4>
  check.expect_eq_const %sum, dense<[-8, 7, 6, 1]> : tensor<4xi4>
  %product = stablehlo.multiply %a, %b : tensor<4xi4>
  check.expect_eq_const %product, dense<[7, -8, -7, -2]> : tensor<4xi4>
  %max = stablehlo.maximum %a, %b : tensor<4xi4>
  check.expect_eq_const %max, dense<[7, -1, 3, 2]> : tensor<4xi4>
  %ones = stablehlo.popcnt %a : tensor<4xi4>
  check.expect_eq_const %ones, dense<[3, 1, 2, 4]> : tensor<4xi4>
  %leading = stablehlo.count_leading_zeros %b : tensor<4xi4>
  check.expect_eq_const %leading, dense<[3, 0, 2, 2]> : tensor<4xi4>
  %right = stablehlo.shift_right_logical %a, %b : tensor<4xi4>
  check.expect_eq_const %right, dense<[3, 0, 0, 3]> : tensor<4xi4>
  %not = stablehlo.not %a : tensor<4xi4>
  check.expect_eq_const %not, dense<[-8, 7, -4, 0]> : tensor<4xi4>
  return
}
// -----
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
// -----
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
// -----
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
// -----
func.func @bits() {
  %a = stablehlo.constant dense<[[1, -2], [7, 0]]> : tensor<2x2xi4>
  %b = stablehlo.bitcast_convert %a : (tensor<2x2xi4>) -> tensor<2xi8>
  check.expect_eq_const %b, dense<[-31, 7]> : tensor<2xi8>
  %c = stablehlo.bitcast_convert %b : (tensor<2xi8>) -> tensor<2x2xi4>
  check.expect_eq %c, %a : tensor<2x2xi4>
  %x = stablehlo.constant dense<[1.0, 3.0, 2.0]> : tensor<3xf8E4M3FN>
  %v, %i = chlo.top_k(%x, k = 1) : tensor<3xf8E4M3FN> -> (tensor<1xf8E4M3FN>, tensor<1xi32>)
  check.expect_eq_const %i, dense<[1]> : tensor<1xi32>
  return
}
// -----
// Regions may work in a wider type than that of the operands.
func.func @promotes() {
  %x = stablehlo.constant dense<[100, 100, 100]> : tensor<3xi8>
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %0 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<3xi8>, tensor<i8>) -> tensor<i32>
  check.expect_eq_const %0, dense<300> : tensor<i32>
  %2 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %3 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }) : (tensor<3xi8>) -> tensor<3xi32>
  check.expect_eq_const %2, dense<100> : tensor<3xi32>
  return
}
