#!/usr/bin/env bash
# The mixture of experts on several numbers of ranks: the program compares itself with one rank.
set -euo pipefail
example=$TSR_BUILD_DIR/examples/moe_train

for ranks in 1 2 4 8; do
    output=$("$example" $ranks)
    [[ $output == *"one rank's but for rounding" ]] || { echo "$ranks: $output" && exit 1; }
    [[ $(grep -c '^step' <<<"$output") -eq 5 ]]
done
! "$example" 3 2>/dev/null
