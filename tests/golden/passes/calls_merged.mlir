// flags: -sdy-unflatten-call-graph=dedup-functions-fully=true
// The shardings that are called most often win; of their functions the one that was called then.
sdy.mesh @m = <["p"=2, "q"=2]>
func.func @main(%x: tensor<4xf32>) {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @f_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @f_1(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func private @f(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"p"}]>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @f_0(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"q"}]>}) -> tensor<4xf32> attributes {sdy.original_func_name = "f"} {
  return %x : tensor<4xf32>
}
func.func private @f_1(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"q"}]>}) -> tensor<4xf32> attributes {sdy.original_func_name = "f"} {
  return %x : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> attributes {sdy.original_func_name = "f", sdy.func_manual_axes = #sdy<manual_axes{"p"}>} {
  return %x : tensor<4xf32>
}
