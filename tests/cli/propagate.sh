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
expect_in_out '%w                         512  tensor<32x16xf32>            [{}, {"y"}]'
expect_in_out '%b              4           64  tensor<8x16xf32>             [{"x"}, {"y"}]'
expect_in_out '%p              5           16  tensor<8x16xi1>              [{"x"}, {"y"}]'
expect_in_out '%z              6          128  tensor<8x16xcomplex<f32>>    [{"x"}, {"y"}]'

# The first priority alone: the weights are not cut yet.
run "$TESSERA" propagate --table --until-priority 0 "$folder/product.mlir"
expect_fine
expect_in_out '%b              4          256  tensor<8x16xf32>             [{"x"}, {}]'

run "$TESSERA" propagate --json - < "$folder/product.mlir"
expect_fine
expect_in_out '{"value": "%b", "line": 4, "type": "tensor<8x16xf32>", "sharding": "[{\"x\"}, {\"y\"}]", "bytes_per_device": 64}'

echo 'func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { %b = "new.op"(%a) : (tensor<4xf32>) -> tensor<4xf32> return %b : tensor<4xf32> }' > "$folder/new.mlir"
run "$TESSERA" propagate --table "$folder/new.mlir"
expect_in_err "warning: op 'new.op' has no sharding rule"

# A name of the table is the name of the text: `explain` takes it for the tensor of the same line and sharding. What
# propagation made is named for what it was made of.
cat > "$folder/names.mlir" << 'PROGRAM'
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %z: tensor<f32>) -> tensor<8xf32> {
  %7 = stablehlo.constant dense<1.0> : tensor<8x8xf32>
  %5 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %0 = call @twice(%5) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = call @twice(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = sdy.sharding_constraint %1 <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  %t = stablehlo.add %m, %7 : tensor<8x8xf32>
  %2:2 = stablehlo.optimization_barrier %t, %a : tensor<8x8xf32>, tensor<8x16xf32>
  %s = stablehlo.reduce(%2#0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
func.func private @twice(%v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %w = stablehlo.add %v, %v : tensor<8x8xf32>
  return %w : tensor<8x8xf32>
}
PROGRAM
run "$TESSERA" propagate --table --value '%5' '[{"y"}, {}]' "$folder/names.mlir"
expect_fine
expect_in_out 'reshard of %5 '
run "$TESSERA" propagate --table "$folder/names.mlir"
expect_fine
table=$out
names=0
while read -r name line _ type sharding; do
    [[ $name == %* && $line =~ ^[0-9]+$ && $type == tensor* ]] || continue
    names=$((names + 1))
    run "$TESSERA" explain "$folder/names.mlir" "$name"
    expect_fine
    found=$(sed 's/{?}/{}/g; s/, ?}/}/g' <<< "$out" | grep -m 1 '(line')
    [[ $found == "$name"*"(line $line): $type $sharding" ]] || fail "$name should be line $line, $type $sharding"
done <<< "$table"
[ "$names" -ge 9 ] || fail 'nine values have names and lines'

# Programs come from plain files, from pipes, and compressed.
"$TESSERA" propagate --table "$folder/names.mlir" > "$folder/plain"
run "$TESSERA" propagate --table <(cat "$folder/names.mlir")
expect_fine
expect_out "$(cat "$folder/plain")"
gzip -k "$folder/names.mlir"
run "$TESSERA" propagate --table "$folder/names.mlir.gz"
expect_fine
expect_out "$(cat "$folder/plain")"
run "$TESSERA" propagate --table - < "$folder/names.mlir.gz"
expect_out "$(cat "$folder/plain")"
run "$TESSERA" explain "$folder/names.mlir.gz" %t
expect_fine
expect_in_out '%t (line 8)'
head -n 4 "$folder/names.mlir" | gzip > "$folder/parts.gz"
tail -n +5 "$folder/names.mlir" | gzip >> "$folder/parts.gz"
run "$TESSERA" propagate --table "$folder/parts.gz"
expect_out "$(cat "$folder/plain")"
head -c 100 "$folder/names.mlir.gz" > "$folder/cut.gz"
run "$TESSERA" propagate "$folder/cut.gz"
expect_error 2 'cut.gz: the gzip file is truncated'
printf '\037\213hello' > "$folder/bad.gz"
run "$TESSERA" propagate "$folder/bad.gz"
expect_error 2 'bad.gz: the gzip file is damaged'
run "$TESSERA" propagate "$folder"
expect_error 2 'it is not a regular file'

run "$TESSERA" propagate
expect_error 2 'a file is missing'
run "$TESSERA" propagate "$folder/none.mlir"
expect_error 2 'none.mlir'
run "$TESSERA" propagate "$folder/product.mlir" --until-priority=-1
expect_error 2 'from 0 to 2^63-1'
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
expect_error 2 'a mesh that the outermost module does not define'

# On a terminal a run that takes more than a second says what it does, and leaves nothing.
if command -v script > /dev/null; then
    run script -qefc "(sleep 1.6; cat '$folder/product.mlir') | '$TESSERA' propagate - --table" /dev/null
    expect_in_out 'reading -, 1.'
    expect_in_out '%w '
fi
run bash -c "(sleep 1.3; cat '$folder/product.mlir') | '$TESSERA' propagate - --table"
expect_fine
finish
