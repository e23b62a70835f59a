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
