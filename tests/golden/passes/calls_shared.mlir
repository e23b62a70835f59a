// flags: -split-input-file -sdy-propagate-to-func-results -sdy-unflatten-call-graph -symbol-dce -sdy-insert-func-call-reshards -sdy-pre-order-funcs
// Calls of functions that were one and have the same shardings share it again; results of a call
// that differ from its function's are resharded right after it, the last first.
sdy.mesh @m = <["p"=2, "q"=2]>
func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"p"}]>]>} : tensor<4xf32>
  return %0, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @f_0(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {sdy.original_func_name = "f"} {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"p"}]>]>} : tensor<4xf32>
  return %0, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @f_1(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"q"}]>}) -> (tensor<4xf32>, tensor<4xf32>) attributes {sdy.original_func_name = "f"} {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"q"}]>, <@m, [{"p"}]>]>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1:2 = call @f_0(%0#0) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"p", ?}]>, <@m, [{?}]>]>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2:2 = call @f_1(%1#1) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %3 = stablehlo.add %0#1, %2#0 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
