#!/usr/bin/env bash
# Tokens to experts and back, on several numbers of ranks: the program checks its own result.
set -euo pipefail

for kind in threads processes; do
    for ranks in 1 2 3 4 7 8; do
        output=$("$TSR_BUILD_DIR/examples/moe_dispatch" "$ranks" "$kind")
        [[ $output == *"the same as without sharding" ]] ||
            { echo "$ranks $kind:" && echo "$output" && exit 1; }
        [[ $(grep -c '^rank .* 0 wrong$' <<<"$output") -eq $ranks ]] ||
            { echo "$ranks $kind:" && echo "$output" && exit 1; }
    done
done
