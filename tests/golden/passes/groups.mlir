// flags: -split-input-file -sdy-sharding-group-import
// Numbers in the order in which they are seen.
func.func @numbers(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  sdy.sharding_group %y group_id=70 : tensor<4xf32>
  sdy.sharding_group %x group_id=8 : tensor<4xf32>
  return
}
// -----
// Groups that share a value are one, and a value is in it once.
func.func @unites(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>, %w: tensor<4xi32>) {
  sdy.sharding_group %x group_id=5 : tensor<4xf32>
  sdy.sharding_group %y group_id=6 : tensor<4xf32>
  sdy.sharding_group %z group_id=9 : tensor<4xf32>
  sdy.sharding_group %w group_id=6 : tensor<4xi32>
  sdy.sharding_group %w group_id=5 : tensor<4xi32>
  sdy.sharding_group %x group_id=5 : tensor<4xf32>
  return
}
// -----
// The first group of the value that unites them gives its number.
func.func @leads(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>, %w: tensor<4xf32>) {
  sdy.sharding_group %x group_id=1 : tensor<4xf32>
  sdy.sharding_group %y group_id=2 : tensor<4xf32>
  sdy.sharding_group %z group_id=3 : tensor<4xf32>
  sdy.sharding_group %z group_id=1 : tensor<4xf32>
  sdy.sharding_group %w group_id=4 : tensor<4xf32>
  return
}
