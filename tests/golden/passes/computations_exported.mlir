// flags: -sdy-export-named-computations
// Inner ones first; edges give the shardings that a function and its call get.
sdy.mesh @m = <["p"=2, "q"=2]>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.named_computation<"f">(%x) in_shardings=[<@m, [{?}]>] (%a: tensor<4xf32>) {
    %2 = sdy.data_flow_edge %a sharding=<@m, [{"p"}]> : tensor<4xf32>
    %3 = sdy.named_computation<"g">(%2) out_shardings=[<@m, [{"q"}]>] (%b: tensor<4xf32>) {
      sdy.return %b : tensor<4xf32>
    } {execution_thread = "t", note} : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %3 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@m, [{"q", ?}]> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
