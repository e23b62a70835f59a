// Equals keep their order; any comparator of several operands.
func.func @sorts_by_two() {
  %x = stablehlo.constant dense<[2, 1, 2, 1]> : tensor<4xi32>
  %y = stablehlo.constant dense<[1.0, 4.0, 3.0, 2.0]> : tensor<4xf32>
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):
    %less = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %same = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %more = stablehlo.compare GT, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.and %same, %more : tensor<i1>
    %2 = stablehlo.or %less, %1 : tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<4xi32>, tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>)
  check.expect_eq_const %0#0, dense<[1, 1, 2, 2]> : tensor<4xi32>
  check.expect_eq_const %0#1, dense<[4.0, 2.0, 3.0, 1.0]> : tensor<4xf32>
  return
}
// -----
func.func @sorts_stably() {
  %x = stablehlo.constant dense<[[3, 1], [1, 1], [2, 0]]> : tensor<3x2xi8>
  %i = stablehlo.iota dim = 0 : tensor<3x2xi64>
  %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>, %c: tensor<i64>, %d: tensor<i64>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<3x2xi8>, tensor<3x2xi64>) -> (tensor<3x2xi8>, tensor<3x2xi64>)
  check.expect_eq_const %0#0, dense<[[1, 0], [2, 1], [3, 1]]> : tensor<3x2xi8>
  check.expect_eq_const %0#1, dense<[[1, 2], [2, 0], [0, 1]]> : tensor<3x2xi64>
  return
}
// -----
func.func @sorts_in_total_order() {
  %x = stablehlo.constant dense<[0.0, 0x7FC00000, -0.0, 0xFFC00000, -1.0]> : tensor<5xf32>
  %i = stablehlo.iota dim = 0 : tensor<5xi32>
  %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<5xf32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>)
  check.expect_eq_const %0#1, dense<[3, 4, 2, 0, 1]> : tensor<5xi32>
  return
}
// -----
func.func @finds_the_first() {
  %x = stablehlo.constant dense<[[1.0, 3.0, 3.0, 2.0]]> : tensor<1x4xbf16>
  %v, %i = chlo.top_k(%x, k = 2) : tensor<1x4xbf16> -> (tensor<1x2xbf16>, tensor<1x2xi32>)
  check.expect_eq_const %v, dense<[[3.0, 3.0]]> : tensor<1x2xbf16>
  check.expect_eq_const %i, dense<[[1, 2]]> : tensor<1x2xi32>
  return
}
// -----
// The place of the greatest element, by a reduction of two operands.
func.func @reduces_pairs() {
  %x = stablehlo.constant dense<[[1.0, 7.0, 3.0], [9.0, 2.0, 9.0]]> : tensor<2x3xf32>
  %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [1]
    : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
    %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.select %less, %b, %a : tensor<i1>, tensor<f32>
    %2 = stablehlo.select %less, %d, %c : tensor<i1>, tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  check.expect_eq_const %0#0, dense<[7.0, 9.0]> : tensor<2xf32>
  check.expect_eq_const %0#1, dense<[1, 0]> : tensor<2xi32>
  return
}
// -----
func.func @maps() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %y = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.multiply %a, %b : tensor<i32>
    %2 = stablehlo.subtract %1, %a : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %0, dense<[9, 38, 87]> : tensor<3xi32>
  return
}
// -----
// A comparator with a kernel that needs scratch memory, called by one that uses its own.
func.func @sort_inside_of_a_comparator() {
  %x = stablehlo.constant dense<[3.0, 1.0, 7.0, 2.0, 9.0, 5.0, 4.0]> : tensor<7xf32>
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %many = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<300xf32>
    %i = stablehlo.iota dim = 0 : tensor<300xf32>
    %m = stablehlo.multiply %many, %i : tensor<300xf32>
    %n = stablehlo.negate %m : tensor<300xf32>
    %s = "stablehlo.sort"(%n) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%c: tensor<f32>, %d: tensor<f32>):
      %e = stablehlo.multiply %c, %c : tensor<f32>
      %f = stablehlo.multiply %d, %d : tensor<f32>
      %lt = stablehlo.compare LT, %e, %f : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<300xf32>) -> tensor<300xf32>
    %t = stablehlo.slice %s [1:2] : (tensor<300xf32>) -> tensor<1xf32>
    %u = stablehlo.reshape %t : (tensor<1xf32>) -> tensor<f32>
    %v = stablehlo.negate %b : tensor<f32>
    %gt = stablehlo.compare GT, %u, %v : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %gt : tensor<i1>
  }) : (tensor<7xf32>) -> tensor<7xf32>
  check.expect_eq_const %r, dense<[1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 9.0]> : tensor<7xf32>
  return
}
