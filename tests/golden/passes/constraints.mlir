// flags: -split-input-file -allow-unregistered-dialect -sdy-apply-sharding-constraints
// A constraint is written to an argument or a result that has no sharding, with its own rule kept.
sdy.mesh @m = <["p"=2, "q"=3]>
func.func @main(%x: tensor<6xf32>, %y: tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"q"}]>}) {
  %0 = sdy.sharding_constraint %x <@m, [{"p"}]> : tensor<6xf32>
  %1 = sdy.sharding_constraint %y <@m, [{"p"}]> : tensor<6xf32>
  %2:2 = "a.pair"() : () -> (tensor<6xf32>, tensor<6x6xf32>)
  %3 = sdy.sharding_constraint %2#1 <@m, [{"q"}, {}]> : tensor<6x6xf32>
  %4 = "a.open"() : () -> tensor<6xf32>
  %5 = sdy.sharding_constraint %4 <@m, [{"q", ?}]> : tensor<6xf32>
  %6 = "a.rule"() : () -> tensor<6xf32>
  %7 = sdy.sharding_constraint %6 <@m, [{"q"}]> {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=6}, custom>} : tensor<6xf32>
  return
}
// -----
// Several that agree, and several that do not; a manual computation counts as a constraint.
sdy.mesh @m = <["p"=2, "q"=2]>
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>, %w: tensor<4xf32>) {
  %0 = sdy.sharding_constraint %x <@m, [{"p"}]> : tensor<4xf32>
  %1 = sdy.sharding_constraint %x <@m, [{"p"}]> : tensor<4xf32>
  %2 = sdy.sharding_constraint %y <@m, [{"p"}]> : tensor<4xf32>
  %3 = sdy.sharding_constraint %y <@m, [{"q"}]> : tensor<4xf32>
  %4 = sdy.sharding_constraint %z <@m, [{"p"}]> : tensor<4xf32>
  %5 = sdy.manual_computation(%z, %w) in_shardings=[<@m, [{"q"}]>, <@m, [{"q"}]>] out_shardings=[<@m, [{"q"}]>] manual_axes={"q"} (%a: tensor<2xf32>, %b: tensor<2xf32>) {
    sdy.return %a : tensor<2xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// In front of the other uses of an edge, with unreduced axes on the edge itself.
sdy.mesh @m = <["p"=2, "q"=2]>
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.optimization_barrier %x : tensor<4xf32>
  %1 = sdy.data_flow_edge %0 : tensor<4xf32>
  "a.use"(%1) : (tensor<4xf32>) -> ()
  %2 = sdy.sharding_constraint %1 <@m, [{"p"}], unreduced={"q"}> : tensor<4xf32>
  %3 = stablehlo.optimization_barrier %y : tensor<4xf32>
  %4 = sdy.data_flow_edge %3 : tensor<4xf32>
  "a.use"(%4) : (tensor<4xf32>) -> ()
  %5 = sdy.manual_computation(%4) in_shardings=[<@m, [{"q"}]>] out_shardings=[<@m, [{"q"}]>] manual_axes={"q"} (%a: tensor<2xf32>) {
    sdy.return %a : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// -----
// Arguments of loops: with an edge the constraint goes to the front, without one it is the loop's.
sdy.mesh @m = <["p"=2, "q"=2]>
func.func @main(%x: tensor<4xf32>, %t: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = stablehlo.while(%a = %x, %b = %x) : tensor<4xf32>, tensor<4xf32>
  cond {
    stablehlo.return %t : tensor<i1>
  } do {
    %2 = stablehlo.add %a, %b : tensor<4xf32>
    %3 = sdy.sharding_constraint %a <@m, [{"p"}]> : tensor<4xf32>
    %4 = sdy.sharding_constraint %b <@m, [{"q"}]> : tensor<4xf32>
    stablehlo.return %2, %b : tensor<4xf32>, tensor<4xf32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<4xf32>
  return %1, %0#1 : tensor<4xf32>, tensor<4xf32>
}
// -----
// Arguments of other regions have no place for a sharding; those of computations do.
sdy.mesh @m = <["p"=2]>
func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> (tensor<f32>, tensor<4xf32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = sdy.sharding_constraint %a <@m, []> : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %1 = sdy.named_computation<"f">(%x, %x) (%a: tensor<4xf32>, %b: tensor<4xf32>) {
    %2 = sdy.sharding_constraint %b <@m, [{"p"}]> : tensor<4xf32>
    sdy.return %b : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<f32>, tensor<4xf32>
}
// -----
// Uses after a chain of constraints, in its block, are those of its end; returns are not.
sdy.mesh @m = <["p"=2, "q"=2]>
func.func @main(%x: tensor<4xf32>, %t: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "a.before"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = sdy.sharding_constraint %x <@m, [{"p", ?}]> : tensor<4xf32>
  %2 = "a.between"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = sdy.sharding_constraint %1 <@m, [{"q", ?}]> : tensor<4xf32>
  %4 = "a.after"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = "stablehlo.if"(%t) ({
    %6 = "a.inside"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %6 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %x, %3 : tensor<4xf32>, tensor<4xf32>
}
