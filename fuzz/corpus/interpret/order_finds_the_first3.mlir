func.func @finds_the_first() {
  %x = stablehlo.constant dense<[[1.0, 3.0, 3.0, 2.0]]> : tensor<1x4xbf16>
  %v, %i = chlo.top_k(%x, k = 2) : tensor<1x4xbf16> -> (tensor<1x2xbf16>, tensor<1x2xi32>)
  check.expect_eq_const %v, dense<[[3.0, 3.0]]> : tensor<1x2xbf16>
  check.expect_eq_const %i, dense<[[1, 2]]> : tensor<1x2xi32>
  return
}
