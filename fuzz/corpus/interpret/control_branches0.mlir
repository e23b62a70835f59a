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
