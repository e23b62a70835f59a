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
