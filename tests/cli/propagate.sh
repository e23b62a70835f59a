#!/usr/bin/env bash
# shellcheck disable=SC1091
# `tessera propagate`: programs, tables, JSON, priorities, warnings, and what is refused.
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/product.mlir" << 'PROGRAM'
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>},
    %w: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}p1]>}) -> tensor<8x16xf32> {
  %b = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %p = stablehlo.compare LT, %b, %b : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
  %z = stablehlo.complex %b, %b : tensor<8x16xcomplex<f32>>
  %r = stablehlo.real %z : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
  %s = stablehlo.select %p, %r, %b : tensor<8x16xi1>, tensor<8x16xf32>
  return %s : tensor<8x16xf32>
}
PROGRAM

run "$TESSERA" propagate "$folder/product.mlir"
expect_fine
expect_in_out '-> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})'

run "$TESSERA" propagate --table "$folder/product.mlir"
expect_fine
expect_in_out 'value        line bytes/device  type                         sharding'
expect_in_out '%arg1                      512  tensor<32x16xf32>            [{}, {"y"}]'
expect_in_out '%0              4           64  tensor<8x16xf32>             [{"x"}, {"y"}]'
expect_in_out '%1              5           16  tensor<8x16xi1>              [{"x"}, {"y"}]'
expect_in_out '%2              6          128  tensor<8x16xcomplex<f32>>    [{"x"}, {"y"}]'

# The first priority alone: the weights are not cut yet.
run "$TESSERA" propagate --table --until-priority 0 "$folder/product.mlir"
expect_fine
expect_in_out '%0              4          256  tensor<8x16xf32>             [{"x"}, {}]'

run "$TESSERA" propagate --json - < "$folder/product.mlir"
expect_fine
expect_in_out '{"value": "%0", "line": 4, "type": "tensor<8x16xf32>", "sharding": "[{\"x\"}, {\"y\"}]", "bytes_per_device": 64}'

echo 'func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { %b = "new.op"(%a) : (tensor<4xf32>) -> tensor<4xf32> return %b : tensor<4xf32> }' > "$folder/new.mlir"
run "$TESSERA" propagate --table "$folder/new.mlir"
expect_in_err "warning: op 'new.op' is unknown"

run "$TESSERA" propagate
expect_error 2 'which file'
run "$TESSERA" propagate "$folder/none.mlir"
expect_error 2 'none.mlir'
run "$TESSERA" propagate "$folder/product.mlir" --until-priority=-1
expect_error 2 'not negative'
echo 'func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { %b = stablehlo.abs %a : tensor<?xf32> return %b : tensor<?xf32> }' > "$folder/dynamic.mlir"
run "$TESSERA" propagate "$folder/dynamic.mlir"
expect_error 2 'static shape'
cat > "$folder/nested.mlir" << 'PROGRAM'
module {
  module @inner {
    sdy.mesh @m = <["y"=4]>
    func.func @f(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) -> tensor<4xf32> {
      return %a : tensor<4xf32>
    }
  }
  func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
    return %a : tensor<2xf32>
  }
}
PROGRAM
run "$TESSERA" propagate "$folder/nested.mlir"
expect_error 2 'a mesh that the outermost module does not have'

# On a terminal a run that takes more than a second says what it does, and leaves nothing.
if command -v script > /dev/null; then
    run script -qefc "(sleep 1.6; cat '$folder/product.mlir') | '$TESSERA' propagate - --table" /dev/null
    expect_in_out 'reading -, 1.'
    expect_in_out '%arg1 '
fi
run bash -c "(sleep 1.3; cat '$folder/product.mlir') | '$TESSERA' propagate - --table"
expect_fine
finish
