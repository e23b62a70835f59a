#!/usr/bin/env bash
# shellcheck disable=SC1091
# `tessera diff`: shardings that differ between two versions, their causes, and what is refused.
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
program() { # ARGUMENT_ATTRIBUTES CONSTRAINT OP
    cat << PROGRAM
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32>$1, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %p = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
$2
  %q = stablehlo.$3 %p : tensor<8x8xf32>
  return %q : tensor<8x8xf32>
}
PROGRAM
}
x=' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
y=' {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}'
program "$x" '' tanh > "$work/a.mlir"
program "$y" '' tanh > "$work/b.mlir"
program "$x" '  %c = sdy.sharding_constraint %p <@mesh, [{}, {"y"}]> : tensor<8x8xf32>' tanh > "$work/c.mlir"
program "$x" '' abs > "$work/d.mlir"

run "$TESSERA" diff "$work/a.mlir" "$work/a.mlir"
expect_fine
expect_no_out
run "$TESSERA" diff "$work/a.mlir" "$work/b.mlir"
expect_code 1
expect_in_out '%p (line 3 | 3)'
expect_in_out '  dim 0: {"x"} | {"y"}'
expect_in_out 'first: argument 0 of @main (line 2)'
expect_in_out 'result 0 of @main'
run "$TESSERA" diff "$work/a.mlir" "$work/c.mlir"
expect_code 1
expect_in_out '  dim 1: {} | {"y"}'
expect_in_out 'second: the constraint %c (line 4)'
run "$TESSERA" diff --json "$work/a.mlir" "$work/c.mlir"
expect_code 1
python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))) >= 2' "$work/out" || fail 'JSON'
run "$TESSERA" diff "$work/a.mlir" "$work/d.mlir"
expect_code 2
expect_in_err 'line 5 has stablehlo.tanh, line 5 of the other has stablehlo.abs'
run "$TESSERA" diff "$work/a.mlir"
expect_error 2 'two files are missing'
run "$TESSERA" diff "$work/a.mlir" "$work/b.mlir" "$work/c.mlir"
expect_error 2 'more than two files'
run "$TESSERA" diff "$work/a.mlir" "$work/none.mlir"
expect_error 2 'none.mlir'
finish
