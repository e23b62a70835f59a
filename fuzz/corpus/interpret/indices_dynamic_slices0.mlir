// Starts of slices are clamped; updates outside are left out.
func.func @dynamic_slices() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %far = stablehlo.constant dense<100> : tensor<i64>
  %below = stablehlo.constant dense<-7> : tensor<i64>
  %0 = stablehlo.dynamic_slice %x, %far, %below, sizes = [1, 2] : (tensor<2x3xi32>, tensor<i64>, tensor<i64>) -> tensor<1x2xi32>
  check.expect_eq_const %0, dense<[[4, 5]]> : tensor<1x2xi32>
  %huge = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %y = stablehlo.constant dense<[[9, 8]]> : tensor<1x2xi32>
  %1 = stablehlo.dynamic_update_slice %x, %y, %huge, %huge : (tensor<2x3xi32>, tensor<1x2xi32>, tensor<ui64>, tensor<ui64>) -> tensor<2x3xi32>
  check.expect_eq_const %1, dense<[[1, 2, 3], [4, 9, 8]]> : tensor<2x3xi32>
  return
}
