#!/usr/bin/env bash
# The two-layer network on several numbers and kinds of ranks: the program checks its own result, and
# what it prints of layouts and collectives is the same on all kinds.
set -euo pipefail
example=$TSR_BUILD_DIR/examples/mlp

for ranks in 1 2 3 4 6 7 8 11; do
    threads=$("$example" "$ranks" threads)
    [[ $threads == *"the same as on one rank" ]] || { echo "$ranks: $threads" && exit 1; }
    processes=$("$example" "$ranks" processes)
    [[ $processes == "$threads" ]] || { echo "$ranks processes: $processes" && exit 1; }
done
"$example" 4 | grep -qF 'tsr_add: operand 0, f32[10,12]: all-reduce over "model"'
[[ $("$example" 4 | grep -c 'bytes') -eq 1 ]]
