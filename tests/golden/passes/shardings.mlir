// flags: -split-input-file -sdy-remove-sharding-groups -sdy-sharding-constraint-to-reshard -sdy-update-non-divisible-input-output-shardings -sdy-remove-sub-axes-in-input-output-shardings -sdy-close-shardings -sdy-drop-sharding-rules
// Inputs and outputs keep the axes that divide them, and no parts of axes where they are open.
sdy.mesh @m = <["p"=4, "q"=3, "r"=2]>
func.func @main(%x: tensor<9x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"q", "r"}, {"p":(1)2, ?}]>}, %y: tensor<9xf32> {sdy.sharding = #sdy.sharding<@m, [{"q", "p", ?}p1], replicated={"r"}>}) -> (tensor<9xf32> {sdy.sharding = #sdy.sharding<@m, [{"q", "r"}]>}) {
  sdy.sharding_group %y group_id=0 : tensor<9xf32>
  %0 = sdy.sharding_constraint %y <@m, [{"q", ?}], replicated={"p"}> {note} : tensor<9xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{?}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=9}>} : tensor<9xf32>
  return %1 : tensor<9xf32>
}
