// flags: -split-input-file -sdy-add-data-flow-edges -sdy-apply-sharding-constraints=debug-sharding-origins=true -sdy-user-priority-propagate=debug-sharding-origins=true -sdy-sink-data-flow-edges=sink-debug-sharding-origins=true
// Axes of an argument, a result and a constraint meet; each keeps the first origin it had.
sdy.mesh @m = <["p"=2, "q"=4]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"p", ?}, {?}]>}, %y: tensor<4x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"q":(2)2, ?}p1]>}) {
  %0 = sdy.sharding_constraint %y <@m, [{"q":(1)2, ?}, {?}]> : tensor<4x8xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.sharding_constraint %1 <@m, [{"p"}, {?}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----
// A part of an axis has the origin of the axis. Of two results that are one value, one tells.
sdy.mesh @m = <["p"=2, "q"=4]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"q"}]>}) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<2x4xf32>
  return %0, %0 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----
// A manual computation names what it takes and gives; an op of two results has two dictionaries.
sdy.mesh @m = <["p"=2, "q"=4]>
func.func @main(%x: tensor<8x4xf32>, %y: tensor<8x4xi32>) -> (tensor<8x4xf32>, tensor<8x4xi32>) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"p"}, {"q", ?}]>] out_shardings=[<@m, [{"p"}, {?}]>] manual_axes={"p"} (%a: tensor<4x4xf32>) {
    %2 = stablehlo.tanh %a : tensor<4x4xf32>
    sdy.return %2 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1:2 = "stablehlo.sort"(%0, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %2 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<8x4xf32>, tensor<8x4xi32>) -> (tensor<8x4xf32>, tensor<8x4xi32>)
  return %1#0, %1#1 : tensor<8x4xf32>, tensor<8x4xi32>
}
