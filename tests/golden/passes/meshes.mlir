// flags: -split-input-file -sdy-lift-inlined-meshes -sdy-remove-size-one-axes -sdy-manual-axes-cleanup
// Equal meshes get one name; axes of size 1 leave; manual axes that a tensor lacks replicate it.
sdy.mesh @a = <["p"=2, "u"=1, "q"=4]>
sdy.mesh @b = <["p"=2, "u"=1, "q"=4]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@b, [{"u", "p", ?}]>}, %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["r"=3]>, [{"r"}]>}, %z: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[5]>, []>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["r"=3]>, [{}], replicated={"r"}>}) {
  %0 = sdy.sharding_constraint %x <@a, [{"u"}p2], replicated={"p"}> : tensor<8xf32>
  %1 = sdy.manual_computation(%x, %y) in_shardings=[<@b, [{"q", "p"}]>, <@a, [{"q"}]>] out_shardings=[<@a, [{"q"}], replicated={"p"}>] manual_axes={"q", "p"} (%a: tensor<1xf32>, %b: tensor<2xf32>) {
    sdy.return %b : tensor<2xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
