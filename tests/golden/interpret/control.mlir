// Branches outside of their range mean the last one; regions see outer values.
func.func @branches() {
  %x = stablehlo.constant dense<5> : tensor<i32>
  %at = stablehlo.constant dense<-3> : tensor<i32>
  %0 = "stablehlo.case"(%at) ({
    stablehlo.return %x : tensor<i32>
  }, {
    %1 = stablehlo.add %x, %x : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  check.expect_eq_const %0, dense<10> : tensor<i32>
  %no = stablehlo.constant dense<false> : tensor<i1>
  %2 = "stablehlo.if"(%no) ({
    stablehlo.return %x : tensor<i32>
  }, {
    stablehlo.return %0 : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  check.expect_eq_const %2, dense<10> : tensor<i32>
  return
}
// -----
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
// -----
func.func @scans() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %init = stablehlo.constant dense<10> : tensor<i32>
  %0:2 = chlo.scan(%x) inits (%init) dimension=0 attributes {is_reverse = true} {
  ^bb0(%a: tensor<i32>, %c: tensor<i32>):
    %1 = stablehlo.add %a, %c : tensor<i32>
    stablehlo.return %1, %1 : tensor<i32>, tensor<i32>
  } : (tensor<3xi32>, tensor<i32>) -> (tensor<3xi32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<[16, 15, 13]> : tensor<3xi32>
  check.expect_eq_const %0#1, dense<16> : tensor<i32>
  return
}
