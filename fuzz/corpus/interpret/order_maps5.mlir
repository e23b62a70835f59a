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
