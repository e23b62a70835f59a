func.func @bits() {
  %a = stablehlo.constant dense<[[1, -2], [7, 0]]> : tensor<2x2xi4>
  %b = stablehlo.bitcast_convert %a : (tensor<2x2xi4>) -> tensor<2xi8>
  check.expect_eq_const %b, dense<[-31, 7]> : tensor<2xi8>
  %c = stablehlo.bitcast_convert %b : (tensor<2xi8>) -> tensor<2x2xi4>
  check.expect_eq %c, %a : tensor<2x2xi4>
  %x = stablehlo.constant dense<[1.0, 3.0, 2.0]> : tensor<3xf8E4M3FN>
  %v, %i = chlo.top_k(%x, k = 1) : tensor<3xf8E4M3FN> -> (tensor<1xf8E4M3FN>, tensor<1xi32>)
  check.expect_eq_const %i, dense<[1]> : tensor<1xi32>
  return
}
