// flags: -split-input-file -sdy-add-data-flow-edges -sdy-apply-sharding-constraints=debug-propagation-edge-sharding=true -sdy-basic-propagate=debug-propagation-edge-sharding=true -sdy-aggressive-propagate=debug-propagation-edge-sharding=true -sdy-sink-data-flow-edges=sink-debug-propagation-edge-sharding=true
// A constraint is written to its operand in step 0; the passes after it go on counting.
sdy.mesh @m = <["p"=2, "q"=4]>
func.func @main(%x: tensor<8x4xf32>, %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"q":(1)2, ?}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@m, [{"p"}, {}]> : tensor<8x4xf32>
  %2 = stablehlo.multiply %1, %y : tensor<8x4xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----
// Both factors of a dimension get a part of one axis: it is recorded whole.
sdy.mesh @m = <["p"=2, "q"=4]>
func.func @main(%x: tensor<2x2x3xf32> {sdy.sharding = #sdy.sharding<@m, [{"q":(1)2}, {"q":(2)2}, {}]>}) -> tensor<4x3xf32> {
  %0 = stablehlo.reshape %x : (tensor<2x2x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----
// Of two axes in conflict the larger tensor has its way, which only the second pass decides.
sdy.mesh @m = <["p"=2, "q"=4]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"p", ?}, {?}]>}, %y: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"p", "q", ?}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----
// A barrier has no arguments of its own: its list of them is empty.
sdy.mesh @m = <["p"=2, "q"=4]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"p", "q"}]>}, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0:2 = stablehlo.optimization_barrier %x, %y : tensor<8xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<8xf32>, tensor<4xf32>
}
