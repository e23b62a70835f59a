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
