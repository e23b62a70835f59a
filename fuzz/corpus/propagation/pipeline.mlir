sdy.mesh @m = <["a"=2, "b"=2, "c"=1]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}p1, {?}]>},
    %w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2, "b"=2, "c"=1]>,
    [{}, {"b"}]>}, %i: tensor<i32>) -> tensor<4x16xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %s = stablehlo.add %x, %c : tensor<4x8xf32>
  %t = call @f(%s) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %u = call @f(%t) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %k = sdy.sharding_constraint %u <@m, [{"a", ?}, {?}]> : tensor<4x8xf32>
  sdy.sharding_group %k group_id=7 : tensor<4x8xf32>
  sdy.sharding_group %t group_id=7 : tensor<4x8xf32>
  %l:2 = stablehlo.while(%p = %k, %q = %i) : tensor<4x8xf32>, tensor<i32> cond {
    %r = stablehlo.compare LT, %q, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  } do {
    %n = stablehlo.tanh %p : tensor<4x8xf32>
    stablehlo.return %n, %q : tensor<4x8xf32>, tensor<i32>
  }
  %m = sdy.manual_computation(%l#0) in_shardings=[<@m, [{"a"}, {?}]>]
      out_shardings=[<@m, [{"a"}, {?}]>] manual_axes={"a"} (%v: tensor<2x8xf32>) {
    %n = stablehlo.negate %v : tensor<2x8xf32>
    sdy.return %n : tensor<2x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] :
      (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %d : tensor<4x16xf32>
}
func.func private @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = stablehlo.concatenate %x, %x, dim = 1 :
      (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %z = stablehlo.slice %y [0:4, 0:8] : (tensor<4x16xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}
