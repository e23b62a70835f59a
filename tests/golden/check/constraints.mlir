// Constraints on activations and weights: a gather for a product is meant, one that is undone is not.
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func public @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %v: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<16x8xf32>) {
  %0 = sdy.sharding_constraint %w <@mesh, [{}, {"model"}]> : tensor<8x32xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{?}, {"model"}]> : tensor<16x32xf32>
  // mutant closed-dimension: %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"model"}]> : tensor<16x32xf32>
  %3 = stablehlo.tanh %2 : tensor<16x32xf32>
  %4 = sdy.sharding_constraint %v <@mesh, [{"data"}, {}]> : tensor<16x8xf32>
  %5 = stablehlo.exponential %4 : tensor<16x8xf32>
  %6 = stablehlo.negate %5 : tensor<16x8xf32>
  // mutant closed-dimension: %6 = sdy.sharding_constraint %5 <@mesh, [{"data"}, {"model"}]> : tensor<16x8xf32>
  return %3, %6 : tensor<16x32xf32>, tensor<16x8xf32>
}
