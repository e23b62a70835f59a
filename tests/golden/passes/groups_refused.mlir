// flags: -split-input-file -verify-diagnostics -sdy-sharding-group-import
func.func @shapes(%x: tensor<4xf32>, %y: tensor<4x1xf32>) {
  sdy.sharding_group %x group_id=3 : tensor<4xf32>
  // expected-error @+1 {{ShardingGroupOps values must have the same shape for groupId: 3}}
  sdy.sharding_group %y group_id=3 : tensor<4x1xf32>
  return
}
// -----
sdy.mesh @m = <["p"=2]>
func.func @boundary(%x: tensor<4xf32>) {
  sdy.sharding_group %x group_id=12 : tensor<4xf32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"p"}]>] out_shardings=[<@m, [{"p"}]>] manual_axes={"p"} (%a: tensor<2xf32>) {
    // expected-error @+1 {{ShardingGroupOps values cannot cross ManualComputationOp boundaries for groupId: 12}}
    sdy.sharding_group %a group_id=12 : tensor<2xf32>
    sdy.return %a : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}
