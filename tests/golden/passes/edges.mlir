// flags: -split-input-file -allow-unregistered-dialect -sdy-add-data-flow-edges
// One for each owner of static shape, with its sharding, in front of its uses.
sdy.mesh @m = <["p"=2, "q"=2]>
func.func @main(%x: tensor<4xf32>, %d: tensor<?xf32>, %t: tensor<i1>, %k: !stablehlo.token) -> (tensor<4xf32>, tensor<?xf32>) {
  %0:3 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"p"}]>, <@m, [{?}]>, <@m, []>]>} %x, %d, %k : tensor<4xf32>, tensor<?xf32>, !stablehlo.token
  %1:2 = stablehlo.while(%a = %0#0, %b = %x) : tensor<4xf32>, tensor<4xf32>
  cond {
    stablehlo.return %t : tensor<i1>
  } do {
    %4 = stablehlo.add %a, %b : tensor<4xf32>
    stablehlo.return %b, %4 : tensor<4xf32>, tensor<4xf32>
  }
  %2 = sdy.manual_computation(%1#1) in_shardings=[<@m, [{"p", "q"}]>] out_shardings=[<@m, [{"q"}]>] manual_axes={"p"} (%a: tensor<2xf32>) {
    "a.use"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> ()
    %4 = "a.make"() : () -> tensor<4xf32>
    sdy.return %4 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %2, %0#1 : tensor<4xf32>, tensor<?xf32>
}
