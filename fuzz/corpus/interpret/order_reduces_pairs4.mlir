// The place of the greatest element, by a reduction of two operands.
func.func @reduces_pairs() {
  %x = stablehlo.constant dense<[[1.0, 7.0, 3.0], [9.0, 2.0, 9.0]]> : tensor<2x3xf32>
  %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [1]
    : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
    %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.select %less, %b, %a : tensor<i1>, tensor<f32>
    %2 = stablehlo.select %less, %d, %c : tensor<i1>, tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  check.expect_eq_const %0#0, dense<[7.0, 9.0]> : tensor<2xf32>
  check.expect_eq_const %0#1, dense<[1, 0]> : tensor<2xi32>
  return
}
