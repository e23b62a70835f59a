// flags: -split-input-file -symbol-dce -sdy-propagate-sharding-from-func-to-call -sdy-flatten-call-graph -sdy-import-func-calls
// Each call becomes a computation of its own, with the shardings of its function.
sdy.mesh @m = <["p"=2, "q"=2]>
sdy.mesh @one = <[], device_ids=[0]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x, %x) {note} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = call @f(%0, %x) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"q"}]>]>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = call @g(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>, %y: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"p"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"p"}]>}) {
  %0 = call @g(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@one, []>}) -> tensor<4xf32> attributes {execution_thread = "t"} {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
