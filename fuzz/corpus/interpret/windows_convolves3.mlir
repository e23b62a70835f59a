func.func @convolves() {
  %x = stablehlo.constant dense<[[[1, 2, 3, 4]]]> : tensor<1x1x4xi32>
  %k = stablehlo.constant dense<[[[1, 10]]]> : tensor<1x1x2xi32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
    window = {pad = [[1, 0]], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x1x4xi32>, tensor<1x1x2xi32>) -> tensor<1x1x4xi32>
  check.expect_eq_const %0, dense<[[[1, 12, 23, 34]]]> : tensor<1x1x4xi32>
  return
}
