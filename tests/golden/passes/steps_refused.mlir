// flags: -verify-diagnostics -sdy-add-data-flow-edges -sdy-basic-propagate=debug-propagation-edge-sharding=true
// Records of a loop name its second source, which the edge does not have as an operand.
sdy.mesh @m = <["p"=2]>
func.func @main(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected a value ref to have an operand index in range [0, 1), got: 1}}
  %0:2 = stablehlo.while(%a = %x, %i = %n) : tensor<8xf32>, tensor<i32>
    cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.tanh %a : tensor<8xf32>
    %2 = sdy.sharding_constraint %1 <@m, [{"p"}]> : tensor<8xf32>
    stablehlo.return %2, %i : tensor<8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8xf32>
}
