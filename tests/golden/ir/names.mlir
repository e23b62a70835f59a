// flags:
// Names of values: those of a module are taken in its functions, before and after it.
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<2xf32>
  %c2 = stablehlo.constant dense<3.0> : tensor<2xf32>
  %i = stablehlo.constant dense<3> : tensor<2xi32>
  %0 = stablehlo.add %a, %c : tensor<2xf32>
  %sel = stablehlo.constant dense<0> : tensor<i32>
  %1:2 = "stablehlo.case"(%sel) ({
    %d = stablehlo.constant dense<4.0> : tensor<2xf32>
    stablehlo.return %d, %d : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0 : tensor<2xf32>
}
%c = stablehlo.constant dense<2.0> : tensor<2xf32>
%c2 = stablehlo.constant dense<5.0> : tensor<2xf32>
%n = stablehlo.add %c, %c2 : tensor<2xf32>
func.func @other(%a: tensor<2xf32>) -> tensor<2xf32> {
  %q = stablehlo.constant dense<1.0> : tensor<2xf32>
  %m = stablehlo.add %q, %q : tensor<2xf32>
  return %m : tensor<2xf32>
}
