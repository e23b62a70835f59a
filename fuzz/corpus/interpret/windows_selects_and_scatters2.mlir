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
