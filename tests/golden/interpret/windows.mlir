func.func @reduces_windows() {
  %x = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // Padded and with holes between elements: 0 1 0 2 0 3 0 4 0 5; windows of 2, two apart, every 3.
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2>,
    window_strides = array<i64: 3>, base_dilations = array<i64: 2>, window_dilations = array<i64: 2>,
    padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<5xi32>, tensor<i32>) -> tensor<3xi32>
  check.expect_eq_const %0, dense<[0, 5, 0]> : tensor<3xi32>
  return
}
// -----
// The greatest of each window and where it is, by one region of two values.
func.func @reduces_pairs() {
  %x = stablehlo.constant dense<[[3.0, 1.0, 2.0, 7.0]]> : tensor<1x4xf32>
  %i = stablehlo.iota dim = 1 : tensor<1x4xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = "stablehlo.reduce_window"(%x, %i, %low, %zero) <{window_dimensions = array<i64: 1, 3>,
    padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
    %less = stablehlo.compare LT, %a, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.select %less, %c, %a : tensor<i1>, tensor<f32>
    %2 = stablehlo.select %less, %d, %b : tensor<i1>, tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }) : (tensor<1x4xf32>, tensor<1x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<1x4xf32>, tensor<1x4xi32>)
  check.expect_eq_const %0#0, dense<[[3.0, 3.0, 7.0, 7.0]]> : tensor<1x4xf32>
  check.expect_eq_const %0#1, dense<[[0, 0, 3, 3]]> : tensor<1x4xi32>
  return
}
// -----
func.func @selects_and_scatters() {
  %x = stablehlo.constant dense<[[1, 5, 2], [3, 0, 6], [5, 4, 9], [1, 1, 1]]> : tensor<4x3xi64>
  %y = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xi64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %0 = "stablehlo.select_and_scatter"(%x, %y, %zero) <{window_dimensions = array<i64: 2, 2>,
    window_strides = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %1 = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %1 : tensor<i64>
  }) : (tensor<4x3xi64>, tensor<2x2xi64>, tensor<i64>) -> tensor<4x3xi64>
  check.expect_eq_const %0, dense<[[0, 10, 0], [0, 0, 20], [30, 0, 40], [0, 0, 0]]> : tensor<4x3xi64>
  return
}
// -----
func.func @convolves() {
  %x = stablehlo.constant dense<[[[1, 2, 3, 4]]]> : tensor<1x1x4xi32>
  %k = stablehlo.constant dense<[[[1, 10]]]> : tensor<1x1x2xi32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
    window = {pad = [[1, 0]], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x1x4xi32>, tensor<1x1x2xi32>) -> tensor<1x1x4xi32>
  check.expect_eq_const %0, dense<[[[1, 12, 23, 34]]]> : tensor<1x1x4xi32>
  return
}
// -----
// Two groups of features, strides, and holes in input and kernel.
func.func @convolves_groups() {
  %x = stablehlo.constant dense<[[[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]]> : tensor<1x3x2xf32>
  %k = stablehlo.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {stride = [2], lhs_dilate = [2], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
    : (tensor<1x3x2xf32>, tensor<2x1x2xf32>) -> tensor<1x2x2xf32>
  check.expect_eq_const %0, dense<[[[7.0, 100.0], [11.0, 160.0]]]> : tensor<1x2x2xf32>
  return
}
