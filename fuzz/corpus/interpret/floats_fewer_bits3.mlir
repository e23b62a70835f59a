func.func @fewer_bits() {
  %a = stablehlo.constant dense<[1.0625, 1.1875, 3.0e38, 1.0e-30, -70000.0]> : tensor<5xf32>
  %b = stablehlo.reduce_precision %a, format = e5m3 : tensor<5xf32>
  check.expect_eq_const %b, dense<[1.0, 1.25, 0x7F800000, 0.0, 0xFF800000]> : tensor<5xf32>
  %c = stablehlo.constant dense<[1.0, 0.0, -1.0]> : tensor<3xf32>
  %d = stablehlo.constant dense<[2.0, -1.0, -1.0]> : tensor<3xf32>
  %e = chlo.next_after %c, %d : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  check.expect_eq_const %e, dense<[0x3F800001, 0x80000001, -1.0]> : tensor<3xf32>
  return
}
