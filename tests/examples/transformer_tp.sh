#!/usr/bin/env bash
# The transformer block on several numbers of ranks: the program compares itself with one rank. With a
# forgotten convert it does not type-check, and the message says what to add.
set -euo pipefail
example=$TSR_BUILD_DIR/examples/transformer_tp

for ranks in 1 2 4 8; do
    output=$("$example" $ranks)
    [[ $output == *"one rank's but for rounding" ]] || { echo "$ranks: $output" && exit 1; }
    [[ $(grep -c '^step' <<<"$output") -eq 4 ]]
done
for ranks in 2 8; do
    ! output=$("$example" --forget $ranks 2>&1) || { echo "a forgotten convert was let through" && exit 1; }
    grep -qF 'along axis tp: an invariant operand does not mix with others' <<<"$output"
    grep -qF 'convert I->R of operand 1 along axis tp would do: nothing forward, one all_reduce backward' \
        <<<"$output"
done
