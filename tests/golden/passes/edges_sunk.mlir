// flags: -split-input-file -allow-unregistered-dialect -sdy-sink-data-flow-edges
// Shardings go to the owners; what has none becomes open where another has one.
sdy.mesh @m = <["p"=2, "q"=2]>
func.func @main(%x: tensor<4xf32>, %t: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:2 = stablehlo.optimization_barrier %x, %x : tensor<4xf32>, tensor<4xf32>
  %1 = sdy.data_flow_edge %0#0 : tensor<4xf32>
  %2 = sdy.data_flow_edge %0#1 sharding=<@m, [{"q", ?}]> : tensor<4xf32>
  %3 = sdy.manual_computation(%2) in_shardings=[<@m, [{"p"}]>] out_shardings=[<@m, [{"p"}]>] manual_axes={"p"} (%a: tensor<2xf32>) {
    %6 = sdy.data_flow_edge %a sharding=<@m, [{"q"}]> : tensor<2xf32>
    sdy.return %6 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %4 = sdy.data_flow_edge %3 sharding=<@m, [{"p", "q"}]> : tensor<4xf32>
  %5 = stablehlo.while(%a = %1) : tensor<4xf32>
  cond {
    stablehlo.return %t : tensor<i1>
  } do {
    stablehlo.return %a : tensor<4xf32>
  }
  %6 = sdy.data_flow_edge %5 : tensor<4xf32>
  return %4, %1, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
