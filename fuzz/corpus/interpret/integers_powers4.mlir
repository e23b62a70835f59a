func.func @powers() {
  %a = stablehlo.constant dense<[-2, -1, 0, 1, 3]> : tensor<5xi64>
  %b = stablehlo.constant dense<[3, -3, 0, -5, -1]> : tensor<5xi64>
  %power = stablehlo.power %a, %b : tensor<5xi64>
  check.expect_eq_const %power, dense<[-8, -1, 1, 1, 0]> : tensor<5xi64>
  %high = chlo.mulhi %a, %b : tensor<5xi64>, tensor<5xi64> -> tensor<5xi64>
  check.expect_eq_const %high, dense<[-1, 0, 0, -1, -1]> : tensor<5xi64>
  return
}
