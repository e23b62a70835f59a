#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# Rules of ops whose values are more than tensors of plain elements: quantized types, tokens; and
# which ops are unknown.
source "$(dirname "$0")/helpers.bash"
opt() { run "$TESSERA_OPT" -sdy-populate-op-sharding-rules -; }

# of TEXT: the rules of the ops of a function with these arguments and this body.
of() {
    opt <<<"func.func @main$1"
}
none() { expect_not_in_out 'op_sharding_rule'; }

q='!quant.uniform<i8:f32, 2.000000e+00:3>'
of "(%x: tensor<4x8x$q>) { %0 = stablehlo.add %x, %x : tensor<4x8x$q> return }"
expect_fine
expect_in_out '<([i, j], [i, j])->([i, j]) {i=4, j=8}>'
of "(%x: tensor<4x8x$q>) { %0 = stablehlo.reverse %x, dims = [1] : tensor<4x8x$q> return }"
expect_fine
expect_in_out '<([i, j])->([i, j]) {i=4, j=8} permutation={j}>'
of "(%x: tensor<4x8x$q>) { %0 = stablehlo.custom_call @MoveToHost(%x) : (tensor<4x8x$q>) -> tensor<4x8x$q> return }"
expect_fine
expect_in_out '<([i, j])->([i, j]) {i=4, j=8}>'
of "(%x: tensor<8x4x$q>) {
  %0 = \"stablehlo.all_gather\"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8x4x$q>) -> tensor<16x4x$q>
  return }"
expect_fine
expect_in_out '<([j, i])->([k, i]) {i=4, j=8, k=16} need_replication={j, k}>'

# What nothing has verified, for its elements or for parameters left out, has no rule if it does not fit.
of "(%x: tensor<4x$q>) { %0 = \"stablehlo.transpose\"(%x) <{permutation = array<i64: 5, 90000>}> : (tensor<4x$q>) -> tensor<1x1x$q> return }"
expect_fine
none
of "(%x: tensor<4x4x$q>, %y: tensor<4x$q>) { %0 = \"stablehlo.concatenate\"(%x, %y) <{dimension = 1 : i64}> : (tensor<4x4x$q>, tensor<4x$q>) -> tensor<4x4x$q> return }"
expect_fine
none
dims='dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64'
of "(%x: tensor<2x8x8x3x$q>, %y: tensor<3x3x3x5x$q>) { %0 = \"stablehlo.convolution\"(%x, %y) <{$dims}> : (tensor<2x8x8x3x$q>, tensor<3x3x3x5x$q>) -> tensor<2x6x6x5x$q> return }"
expect_fine
expect_in_out 'reduction='

# A first result that is no tensor: no rule, and no warning.
of '(%x: tensor<4xf32>) { %0 = stablehlo.custom_call @MoveToHost(%x) : (tensor<4xf32>) -> !stablehlo.token return }'
expect_fine
none
of '(%x: tensor<4xf32>) { stablehlo.custom_call @MoveToHost(%x) : (tensor<4xf32>) -> () return }'
expect_fine
none
of '(%t: !stablehlo.token) { %0 = stablehlo.after_all %t : !stablehlo.token return }'
expect_fine
none

# Targets that need no rule, and those that are unknown.
of '(%x: tensor<4xf32>) { %0 = stablehlo.custom_call @tpu_custom_call(%x) : (tensor<4xf32>) -> tensor<4xf32> return }'
expect_fine
none
of '(%x: tensor<4xf32>) { %0 = stablehlo.custom_call @unheard_of(%x) : (tensor<4xf32>) -> tensor<4xf32> return }'
expect_code 0
expect_in_err 'custom call @unheard_of is unknown to SDY sharding rule registry'
none
of '(%x: tensor<4xf32>) { %0 = stablehlo.custom_call @""(%x) : (tensor<4xf32>) -> tensor<4xf32> return }'
expect_code 0
expect_in_err 'custom call @ is unknown to SDY sharding rule registry'

# A token among the operands has rank 0 while shardings propagate.
run "$TESSERA_OPT" -sdy-basic-propagate - <<'END'
sdy.mesh @m = <["x"=2]>
func.func @main(%t: !stablehlo.token, %x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @MoveToHost(%t, %x) : (!stablehlo.token, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
END
expect_fine
expect_in_out 'sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x", ?}]>]>'
finish
