// flags: -sdy-basic-propagate
// A function that returns its argument, called on what another call gave: users are found, and found once.
sdy.mesh @m = <["p"=2, "q"=2]>
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"p"}]>}) -> tensor<4xf32> {
  %a = stablehlo.negate %x : tensor<4xf32>
  %b = func.call @same(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @same(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = stablehlo.tanh %c : tensor<4xf32>
  return %d : tensor<4xf32>
}
func.func private @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
