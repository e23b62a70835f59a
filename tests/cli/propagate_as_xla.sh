#!/usr/bin/env bash
# Axes pass through ops of chlo and composites, which XLA rewrites before propagation, as they do in JAX: by `tessera
# propagate`, `explain` and `check`. `tessera-opt` stays the reference's. Ops without a rule are listed.
# shellcheck disable=SC1091,SC2154,SC2016
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
opt=${TESSERA_OPT:?}
x='{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}'
t='tensor<8x16xf32>'

# module RESULTS LINE...: a program of two arguments, the first sharded.
module() {
    local results=$1
    shift
    printf 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'
    printf 'func.func @main(%%a: %s %s, %%b: %s) -> %s {\n' "$t" "$x" "$t" "$results"
    printf '  %s\n' "$@"
    printf '}\n'
}

# The 18 ops that JAX prints and XLA rewrites, where nothing else would bring axes, forwards and backwards.
for op in acos acosh asin asinh atan atanh bessel_i1e cosh digamma erf_inv erfc lgamma sinh square; do
    module "$t" "%c = chlo.$op %a : $t -> $t" "return %c : $t" >"$work/in.mlir"
    run "$TESSERA" propagate --table "$work/in.mlir"
    expect_fine
    expect_in_out '%c              3           64  tensor<8x16xf32>             [{"x"}, {"y"}]'
    module "($t $x)" "%c = chlo.$op %b : $t -> $t" "return %c : $t" >"$work/in.mlir"
    run "$TESSERA" propagate --table "$work/in.mlir"
    expect_fine
    expect_in_out '%b                          64  tensor<8x16xf32>             [{"x"}, {"y"}]'
done
for op in next_after polygamma zeta; do
    module "$t" "%c = chlo.$op %b, %a : $t, $t -> $t" "return %c : $t" >"$work/in.mlir"
    run "$TESSERA" propagate --table "$work/in.mlir"
    expect_fine
    expect_in_out '%c              3           64  tensor<8x16xf32>             [{"x"}, {"y"}]'
    expect_in_out '%b                          64  tensor<8x16xf32>             [{"x"}, {"y"}]'
done
module "(tensor<8x4xf32>, tensor<8x4xi32>)" \
    "%v, %i = chlo.top_k(%a, k = 4) : $t -> (tensor<8x4xf32>, tensor<8x4xi32>)" \
    "return %v, %i : tensor<8x4xf32>, tensor<8x4xi32>" >"$work/in.mlir"
run "$TESSERA" propagate --table "$work/in.mlir"
expect_fine
expect_in_out 'tensor<8x4xf32>              [{"x"}, {}]'
expect_in_out 'tensor<8x4xi32>              [{"x"}, {}]'
run "$TESSERA" explain "$work/in.mlir" result0
expect_fine
expect_in_out 'dim 0 has "x" from argument 0 of @main'
expect_in_out 'to %v dim 0, by top_k (line 3)'

# The reference knows none of them.
run "$opt" -sdy-propagation-pipeline "$work/in.mlir"
expect_in_err "op 'chlo.top_k' is unknown to SDY sharding rule registry"
expect_in_out 'k = 4) : tensor<8x16xf32>'
run "$opt" '-sdy-propagation-pipeline=as-xla=true' "$work/in.mlir"
expect_fine
expect_in_out '[{"x"}, {}]'

# XLA squares by a product that reads its operand twice, so that the square waits, at the first level, for what is
# read once: the axes that the negation wants come first.
cat >"$work/in.mlir" <<'PROGRAM'
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) -> tensor<8x16xf32> {
  %c = chlo.OP %a : tensor<8x16xf32> -> tensor<8x16xf32>
  %d = stablehlo.negate %b : tensor<8x16xf32>
  %e = stablehlo.add %c, %d : tensor<8x16xf32>
  return %e : tensor<8x16xf32>
}
PROGRAM
for op in square atan; do
    sed "s/OP/$op/" "$work/in.mlir" >"$work/$op.mlir"
done
run "$TESSERA" propagate --table "$work/square.mlir"
expect_fine
expect_in_out '%e              5          256  tensor<8x16xf32>             [{"x"}, {}]'
run "$TESSERA" propagate --table "$work/atan.mlir"
expect_fine
expect_in_out '%e              5          256  tensor<8x16xf32>             [{}, {"x"}]'

# Composites are what their decompositions are, and stay composites.
cat >"$work/composite.mlir" <<'PROGRAM'
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %c = stablehlo.composite "my.turn" %a {composite_attributes = {scale = 2 : i32}, decomposition = @turn, version = 3 : i32} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  return %c : tensor<16x8xf32>
}
func.func private @turn(%a: tensor<8x16xf32>) -> tensor<16x8xf32> {
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %s = chlo.square %t : tensor<16x8xf32> -> tensor<16x8xf32>
  return %s : tensor<16x8xf32>
}
PROGRAM
run "$TESSERA" propagate "$work/composite.mlir"
expect_fine
expect_in_out 'stablehlo.composite "my.turn" %arg0 {composite_attributes = {scale = 2 : i32}, decomposition = @turn, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>, version = 3 : i32} : (tensor<8x16xf32>) -> tensor<16x8xf32>'
expect_in_out '-> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})'
expect_not_in_out tessera.composite
"$TESSERA" propagate "$work/composite.mlir" >"$work/again.mlir"
run "$TESSERA" propagate "$work/again.mlir"
expect_fine
run "$TESSERA" explain "$work/composite.mlir" %c
expect_fine
expect_in_out '%c (line 3): tensor<16x8xf32> [{?}, {"x", ?}]'
sed 's/chlo.square %t : tensor<16x8xf32> -> tensor<16x8xf32>/stablehlo.composite "my.self" %t {decomposition = @back} : (tensor<16x8xf32>) -> tensor<16x8xf32>/' \
    "$work/composite.mlir" >"$work/self.mlir"
cat >>"$work/self.mlir" <<'PROGRAM'
func.func private @back(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
  %s = stablehlo.composite "my.turn" %t {decomposition = @turn} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  return %s : tensor<16x8xf32>
}
PROGRAM
run "$TESSERA" propagate "$work/self.mlir"
expect_error 2 'calls itself'

# What has no rule, and XLA gives none: each kind once, with all its lines.
module "$t" "%c = chlo.erf %a : $t -> $t" "%d = chlo.erf %c : $t -> $t" \
    "%e = stablehlo.custom_call @mine(%d) : ($t) -> $t" "return %e : $t" >"$work/in.mlir"
run "$TESSERA" propagate --table "$work/in.mlir"
expect_code 0
expect_in_err "in.mlir:3:8: warning: op 'chlo.erf' has no sharding rule, so axes do not propagate through it, also in line 4: annotate its results, or add an sdy.sharding_rule"
expect_in_err 'in.mlir:5:8: warning: custom call @mine has no sharding rule'
[ "$(grep -c warning <<<"$err")" -eq 2 ] || fail 'two kinds are listed, each once'

# Two meshes over the same devices, of which XLA makes one: a note. Not for one mesh, or meshes of other sizes.
cat >"$work/two.mlir" <<'PROGRAM'
sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["z"=8]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}, %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@b, [{"z"}, {}]>}) -> tensor<8x16xf32> {
  %c = stablehlo.add %a, %b : tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
PROGRAM
run "$TESSERA" propagate --table "$work/two.mlir"
expect_code 0
expect_in_err 'warning: meshes @a and @b have the same devices'
run "$opt" -sdy-propagation-pipeline "$work/two.mlir"
expect_fine
sed 's/"z"=8/"z"=4/' "$work/two.mlir" >"$work/other.mlir"
run "$TESSERA" propagate --table "$work/other.mlir"
expect_fine

# `tessera check` follows statistics through them.
program=${TSR_SOURCE_DIR:?}/tests/golden/dropped/rmsnorm.mlir
sed 's/stablehlo.multiply %arg2, %arg2 : \(.*\)/chlo.square %arg2 : \1 -> \1/' "$program" >"$work/right.mlir"
grep -q chlo.square "$work/right.mlir" || fail 'the program squares'
run "$TESSERA" check "$work/right.mlir"
expect_fine
expect_no_out
awk '/"stablehlo.all_reduce"/ { dropping = 1; print "      %4 = stablehlo.optimization_barrier %3 : tensor<8x1xf32>" }
    !dropping { print } dropping && /}\) :/ { dropping = 0 }' "$work/right.mlir" >"$work/wrong.mlir"
run "$TESSERA" check "$work/wrong.mlir"
expect_in_out '[local-statistic]'
cat >"$work/pending.mlir" <<'PROGRAM'
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{}, {"x"}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%c: tensor<8x8xf32>, %d: tensor<8x8xf32>) {
    %1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.composite "my.square" %1 {decomposition = @square} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %2 : tensor<8x8xf32>
  } : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func private @square(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = chlo.square %a : tensor<8x8xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
PROGRAM
run "$TESSERA" check "$work/pending.mlir"
expect_in_out "pending.mlir:11:8: error: 'chlo.square'"
expect_in_out '[pending-in-nonlinear]'
finish
