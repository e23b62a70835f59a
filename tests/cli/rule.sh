#!/usr/bin/env bash
# shellcheck disable=SC1091
# `tessera rule`: rules of ops and rules as text, what propagates, decisions, JSON, and what is refused.
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
rule() { run "$TESSERA" rule "$@"; }
small='<["x"=2, "y"=4]>'

expect_rule() {
    rule "$1"
    expect_fine
    expect_out "rule       $2"
}
expect_rule 'matmul 2x4,4x8' '([i, k], [k, j])->([i, j]) {i=2, j=8, k=4} reduction={k}'
expect_rule 'einsum ij,jk->ik 2x4,4x8' '([i, j], [j, k])->([i, k]) {i=2, j=4, k=8} reduction={j}'
expect_rule 'add 4x8,4x8' '([i, j], [i, j])->([i, j]) {i=4, j=8}'
expect_rule 'logistic 4' '([i])->([i]) {i=4}'
expect_rule 'exp 4' '([i])->([i]) {i=4}'
expect_rule 'exponential 4' '([i])->([i]) {i=4}'
expect_rule 'clamp 4x8,4x8,4x8' '([i, j], [i, j], [i, j])->([i, j]) {i=4, j=8}'
expect_rule 'reduce 4x8x2 dims=1' '([i, j, k])->([i, k]) {i=4, j=8, k=2} reduction={j}'
expect_rule 'transpose 2x3x4 dims=2,0,1' '([j, k, i])->([i, j, k]) {i=4, j=2, k=3}'
expect_rule 'broadcast 4 to 3x4' '([j])->([i, j]) {i=3, j=4}'
expect_rule 'reshape 8 to 2x4' '([ij])->([i, j]) {i=2, j=4}'
expect_rule 'slice 8x4 to 3x4' '([i, j])->([i, j]) {i=8, j=4} permutation={i}'
expect_rule 'pad 3x4 to 8x4' '([i, j], [])->([i, j]) {i=3, j=4} permutation={i}'
expect_rule 'concatenate 2x3,5x3 dims=0' '([i, j], [i, j])->([i, j]) {i=7, j=3} need_replication={i}'
expect_rule 'sort 3x4 dims=1' '([i, j])->([i, j]) {i=3, j=4} need_replication={j}'
expect_rule 'cumulative 3x4 dims=0' '([i, j])->([i, j]) {i=3, j=4} permutation={i}'
expect_rule 'embedding 100x16,2x5' '([l, k], [i, j])->([i, j, k]) {i=2, j=5, k=16, l=100} reduction={l}'
expect_rule '([a,b],[b,c])->([a,c])' '([i, j], [j, k])->([i, k])'

rule '([i,k],[k,j])->([i,j]) reduction={k}' --mesh "$small" --in '[{"y"},{"x"}]' --in '[{"x"},{?}]'
expect_fine
expect_out 'rule       ([i, j], [j, k])->([i, k]) reduction={j}
operand 0  [{"y"}, {"x"}]
operand 1  [{"x"}, {?}]
result 0   [{"y", ?}, {?}]  was none
pending    "x"
decided    result 0 gets "y" for i from operand 0'

rule 'add 8,8' --mesh "$small" --in '[{"x", ?}]' --in '[{"y", ?}]' --strategy most-parallel
expect_fine
expect_in_out 'result 0   [{"y", ?}]  was none'
expect_in_out 'operand 1 and operand 0 disagree, nothing is common for i'

rule 'add 8,8' --mesh "$small" --in '?' --out '[{"x"}]' --json
expect_fine
expect_in_out '"operands": ["[{\"x\", ?}]", "[{\"x\", ?}]"], "results": ["[{\"x\"}]"], "pending": ""'
expect_in_out '"factors": [{"size": 8, "kind": "pass-through", "blocked": false}]'

rule
expect_error 2 'an op or a rule is required'
rule 'frobnicate 2x4'
expect_error 2 "unknown op 'frobnicate'"
rule 'matmul 2x4'
expect_error 2 'matmul takes 2 shapes, got 1'
rule 'matmul 2x4,5x8'
expect_error 2 'contracting dimension sizes must match for lhs/rhs'
rule 'sort 3x4,5x6 dims=0'
expect_error 2 'sort: the operands have different shapes'
rule 'cumulative 3x4 dims=0,1'
expect_error 2 'cumulative takes one dimension in dims=, got 2'
rule 'matmul 2x4,4x8 dims=1'
expect_error 2 'matmul takes no dims='
rule 'reshape 8'
expect_error 2 "reshape needs the result's shape"
rule 'reduce 4x8'
expect_error 2 'reduce needs dims='
rule 'reduce 4x8 dims=x'
expect_error 2 'dims= takes numbers from 0'
rule 'add 4,5'
expect_error 2 'only size 1 grows'
rule '([i])->([j'
expect_error 2 "expected ']'"
rule 'add 4,4' --in '[{}]'
expect_error 2 'it needs a mesh: add --mesh'
rule 'add 4,4' --mesh "$small" --in '[{}]' --in '[{}]' --in '[{}]'
expect_error 2 'the op has 2 operands and 1 results, got 3 --in and 0 --out'
rule 'add 4,4' --mesh "$small" --in '[{}, {}]'
expect_error 2 "sharding doesn't match tensor rank: 2 != 1"
rule 'add 4,4' --strategy greedy
expect_error 2 'must be basic, aggressive or most-parallel'
rule 'reshape 0 to 0x3'
expect_code 3
# Shapes broadcast as those of eager calls do.
run "$TESSERA" rule 'add 4x8,8'
expect_fine
expect_out 'rule       ([i, j], [j])->([i, j]) {i=4, j=8}'
run "$TESSERA" rule 'select 4x8,4x1,8'
expect_fine
expect_in_out '->([i, j])'
run "$TESSERA" rule 'add 4x8,0x1'
expect_error 2 'only size 1 grows'

# Every op, as a line of a program.
while IFS='|' read -r line expected; do
    run "$TESSERA" rule "$line"
    expect_fine
    expect_in_out "rule       $expected"
done <<'EOF'
%r = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>|([i, j])->([i, j]) {i=4, j=4} need_replication={i, j}
stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>|([i, k], [k, j])->([i, j]) {i=4, j=4, k=4} reduction={k}
stablehlo.select %p, %a, %b : tensor<8xi1>, tensor<8xf32>|([i], [i], [i])->([i]) {i=8}
%0 = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>|([i, j], [])->([i]) {i=4, j=8} reduction={j}
%o, %s = stablehlo.rng_bit_generator %a, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x8xui32>)|([i])->([i], [j, k])
stablehlo.fft %a, type = FFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>|([i, j])->([i, j]) {i=4, j=8} need_replication={j}
%1 = "stablehlo.reverse"(%0) {dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>|([i, j])->([i, j])
EOF
run "$TESSERA" rule 'stablehlo.abs %a : tensor<8xf32>' --mesh x=2 --in "P('x')"
expect_fine
expect_in_out 'result 0   [{"x", ?}]'
run "$TESSERA" rule 'stablehlo.nothing %a : tensor<4xf32>'
expect_error 2 'is unknown'
run "$TESSERA" rule 'stablehlo.abs %a'
expect_error 2 'must end in its types'
run "$TESSERA" rule 'stablehlo.abs %a : tensor<4xf32'
expect_code 2

finish
