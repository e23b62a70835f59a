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
