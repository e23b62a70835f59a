func.func @main() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<5> : tensor<i32>
  // Loops inside of loops, a value that is not used, one that stays.
  %0:3 = stablehlo.while(%i = %zero, %s = %zero, %keep = %n) : tensor<i32>, tensor<i32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %keep : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %unused = stablehlo.multiply %i, %i : tensor<i32>
    %2:2 = stablehlo.while(%j = %zero, %t = %s) : tensor<i32>, tensor<i32>
    cond {
      %3 = stablehlo.compare LE, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %4 = stablehlo.add %j, %one : tensor<i32>
      %5 = func.call @add(%t, %j) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      stablehlo.return %4, %5 : tensor<i32>, tensor<i32>
    }
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %2#1, %keep : tensor<i32>, tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %0#1, dense<20> : tensor<i32>
  %7 = stablehlo.composite "own.twice" %0#1 {decomposition = @twice} : (tensor<i32>) -> tensor<i32>
  check.expect_eq_const %7, dense<40> : tensor<i32>
  %8 = stablehlo.tuple %7, %one : tuple<tensor<i32>, tensor<i32>>
  %9 = stablehlo.get_tuple_element %8[1] : (tuple<tensor<i32>, tensor<i32>>) -> tensor<i32>
  check.expect_eq %9, %one : tensor<i32>
  return
}
func.func private @add(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.add %a, %b : tensor<i32>
  return %0 : tensor<i32>
}
func.func private @twice(%a: tensor<i32>) -> tensor<i32> {
  %0 = func.call @add(%a, %a) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
