// flags: -split-input-file -allow-unregistered-dialect -sdy-constant-or-scalar-splitter
// Each use gets its own constant, in the order of uses; twice in one op are two uses.
func.func @uses(%x: tensor<6xf32>) -> tensor<6xf32> {
  %c = stablehlo.constant {note = "kept"} dense<2.0> : tensor<6xf32>
  %0 = "a.first"(%c, %x, %c) : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %1 = stablehlo.subtract %0, %c : tensor<6xf32>
  return %1 : tensor<6xf32>
}
// -----
// What is computed from constants is copied as a whole, what is shared in it once.
func.func @computed(%x: tensor<2x3xi32>) -> (tensor<6xi32>, tensor<2x3xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %n = stablehlo.negate %i : tensor<2x3xi32>
  %s = stablehlo.subtract %n, %i : tensor<2x3xi32>
  %r = stablehlo.reshape %s : (tensor<2x3xi32>) -> tensor<6xi32>
  %u = stablehlo.add %s, %x : tensor<2x3xi32>
  return %r, %u : tensor<6xi32>, tensor<2x3xi32>
}
// -----
// Scalars stay one; broadcasts of them are copied.
func.func @scalars(%x: tensor<f32>) -> (tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %e = stablehlo.exponential %c : tensor<f32>
  %b = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %d = stablehlo.broadcast_in_dim %e, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %0 = "a.op"(%b, %d, %e) : (tensor<3xf32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %e, %0, %b, %d : tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
// -----
// What does more than pass elements on ends a constant, and so does a change of rank of bits.
func.func @ends(%x: tensor<4xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  %t = stablehlo.reverse %c, dims = [0] : tensor<4xf32>
  %w = stablehlo.bitcast_convert %c : (tensor<4xf32>) -> tensor<4xi32>
  %n = stablehlo.bitcast_convert %c : (tensor<4xf32>) -> tensor<4x4xi8>
  "a.use"(%t, %w, %n) : (tensor<4xf32>, tensor<4xi32>, tensor<4x4xi8>) -> ()
  "a.use"(%t, %w, %n) : (tensor<4xf32>, tensor<4xi32>, tensor<4x4xi8>) -> ()
  return
}
// -----
// Copies are in the groups of what they are copies of; those of the original go with it.
func.func @groups() -> (tensor<4xi32>, tensor<4xi32>) {
  %c = stablehlo.constant dense<7> : tensor<4xi32>
  sdy.sharding_group %c group_id=3 : tensor<4xi32>
  sdy.sharding_group %c group_id=5 : tensor<4xi32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  sdy.sharding_group %i group_id=3 : tensor<4xi32>
  sdy.sharding_group %i group_id=5 : tensor<4xi32>
  %p = stablehlo.power %i, %c : tensor<4xi32>
  return %c, %p : tensor<4xi32>, tensor<4xi32>
}
// -----
// Uses in regions, of what is outside them.
func.func @regions(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.5> : tensor<4xf32>
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.multiply %c, %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %c : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
// A call of constants is a constant if its function is; each copy calls copies of all functions.
func.func @calls() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %c = stablehlo.constant dense<3.0> : tensor<2xf32>
  %0 = call @outer(%c) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @sorts(%c) : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %0, %1 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
func.func private @outer(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @inner(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.cosine %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @inner(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.sine %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @sorts(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// Named computations: inner ones first, by name, and only the result that is asked for has groups.
func.func @computations(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0:2 = sdy.named_computation<"pair">() () {
    %1 = stablehlo.constant dense<1.0> : tensor<2xf32>
    %2 = sdy.named_computation<"floor">(%1) (%y: tensor<2xf32>) {
      %3 = stablehlo.floor %y : tensor<2xf32>
      sdy.return %3 : tensor<2xf32>
    } : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %1, %2 : tensor<2xf32>, tensor<2xf32>
  } : () -> (tensor<2xf32>, tensor<2xf32>)
  sdy.sharding_group %0#0 group_id=1 : tensor<2xf32>
  sdy.sharding_group %0#1 group_id=2 : tensor<2xf32>
  %4 = stablehlo.add %x, %0#1 : tensor<2xf32>
  return %0#0, %4 : tensor<2xf32>, tensor<2xf32>
}
