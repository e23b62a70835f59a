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
