// The greatest of each window and where it is, by one region of two values.
func.func @reduces_pairs() {
  %x = stablehlo.constant dense<[[3.0, 1.0, 2.0, 7.0]]> : tensor<1x4xf32>
  %i = stablehlo.iota dim = 1 : tensor<1x4xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = "stablehlo.reduce_window"(%x, %i, %low, %zero) <{window_dimensions = array<i64: 1, 3>,
    padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
    %less = stablehlo.compare LT, %a, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.select %less, %c, %a : tensor<i1>, tensor<f32>
    %2 = stablehlo.select %less, %d, %b : tensor<i1>, tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }) : (tensor<1x4xf32>, tensor<1x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<1x4xf32>, tensor<1x4xi32>)
  check.expect_eq_const %0#0, dense<[[3.0, 3.0, 7.0, 7.0]]> : tensor<1x4xf32>
  check.expect_eq_const %0#1, dense<[[0, 0, 3, 3]]> : tensor<1x4xi32>
  return
}
