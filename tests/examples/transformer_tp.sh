#!/usr/bin/env bash
# The transformer block on several numbers of ranks: the program compares itself with one rank. With a
# forgotten convert it does not type-check, and the message says what to add; without checks it computes
# the same.
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
    grep -qF 'tsr_convert_type(operand 1, "tp", TSR_AS(I), TSR_AS(R), ..) would do: nothing forward' \
        <<<"$output"
done
# Types are erasable: without checks the same program gives the same numbers.
for ranks in 1 4; do
    [[ $("$example" $ranks) == "$("$example" --unchecked $ranks)" ]] || { echo "$ranks: other numbers" && exit 1; }
done
