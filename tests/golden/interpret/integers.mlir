// Integers wrap around; division by zero, shifts and conversions are as StableHLO says.
func.func @wraps() {
  %a = stablehlo.constant dense<[127, -128, 100]> : tensor<3xi8>
  %b = stablehlo.constant dense<[1, -1, 100]> : tensor<3xi8>
  %sum = stablehlo.add %a, %b : tensor<3xi8>
  check.expect_eq_const %sum, dense<[-128, 127, -56]> : tensor<3xi8>
  %product = stablehlo.multiply %a, %b : tensor<3xi8>
  check.expect_eq_const %product, dense<[127, -128, 16]> : tensor<3xi8>
  %negative = stablehlo.negate %a : tensor<3xi8>
  check.expect_eq_const %negative, dense<[-127, -128, -100]> : tensor<3xi8>
  %size = stablehlo.abs %a : tensor<3xi8>
  check.expect_eq_const %size, dense<[127, -128, 100]> : tensor<3xi8>
  return
}
// -----
func.func @divides() {
  %a = stablehlo.constant dense<[7, -7, 5, -2147483648]> : tensor<4xi32>
  %b = stablehlo.constant dense<[2, 2, 0, -1]> : tensor<4xi32>
  %quotient = stablehlo.divide %a, %b : tensor<4xi32>
  check.expect_eq_const %quotient, dense<[3, -3, -1, -2147483648]> : tensor<4xi32>
  %rest = stablehlo.remainder %a, %b : tensor<4xi32>
  check.expect_eq_const %rest, dense<[1, -1, 5, 0]> : tensor<4xi32>
  %c = stablehlo.constant dense<[7, 9]> : tensor<2xui16>
  %d = stablehlo.constant dense<[0, 4]> : tensor<2xui16>
  %e = stablehlo.divide %c, %d : tensor<2xui16>
  check.expect_eq_const %e, dense<[65535, 2]> : tensor<2xui16>
  return
}
// -----
func.func @shifts() {
  %a = stablehlo.constant dense<[-128, -1, 1, 64]> : tensor<4xi8>
  %by = stablehlo.constant dense<[1, 8, 7, -1]> : tensor<4xi8>
  %left = stablehlo.shift_left %a, %by : tensor<4xi8>
  check.expect_eq_const %left, dense<[0, 0, -128, 0]> : tensor<4xi8>
  %arithmetic = stablehlo.shift_right_arithmetic %a, %by : tensor<4xi8>
  check.expect_eq_const %arithmetic, dense<[-64, -1, 0, 0]> : tensor<4xi8>
  %logical = stablehlo.shift_right_logical %a, %by : tensor<4xi8>
  check.expect_eq_const %logical, dense<[64, 0, 0, 0]> : tensor<4xi8>
  return
}
// -----
func.func @counts_bits() {
  %a = stablehlo.constant dense<[0, 1, -1, 64]> : tensor<4xi16>
  %ones = stablehlo.popcnt %a : tensor<4xi16>
  check.expect_eq_const %ones, dense<[0, 1, 16, 1]> : tensor<4xi16>
  %leading = stablehlo.count_leading_zeros %a : tensor<4xi16>
  check.expect_eq_const %leading, dense<[16, 15, 0, 9]> : tensor<4xi16>
  %not = stablehlo.not %a : tensor<4xi16>
  check.expect_eq_const %not, dense<[-1, -2, 0, -65]> : tensor<4xi16>
  return
}
// -----
func.func @powers() {
  %a = stablehlo.constant dense<[-2, -1, 0, 1, 3]> : tensor<5xi64>
  %b = stablehlo.constant dense<[3, -3, 0, -5, -1]> : tensor<5xi64>
  %power = stablehlo.power %a, %b : tensor<5xi64>
  check.expect_eq_const %power, dense<[-8, -1, 1, 1, 0]> : tensor<5xi64>
  %high = chlo.mulhi %a, %b : tensor<5xi64>, tensor<5xi64> -> tensor<5xi64>
  check.expect_eq_const %high, dense<[-1, 0, 0, -1, -1]> : tensor<5xi64>
  return
}
// -----
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
// -----
func.func @truth_values() {
  %a = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
  %b = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
  %sum = stablehlo.add %a, %b : tensor<4xi1>
  check.expect_eq_const %sum, dense<[true, true, true, false]> : tensor<4xi1>
  %product = stablehlo.multiply %a, %b : tensor<4xi1>
  check.expect_eq_const %product, dense<[true, false, false, false]> : tensor<4xi1>
  %xor = stablehlo.xor %a, %b : tensor<4xi1>
  check.expect_eq_const %xor, dense<[false, true, true, false]> : tensor<4xi1>
  return
}
