#!/usr/bin/env bash
# The network that is trained by AdamW: the program insists that its loss falls, and to three digits
# the losses are those of one rank.
set -euo pipefail
example=$TSR_BUILD_DIR/examples/train_mlp

one=$("$example" 1 threads)
[[ $(wc -l <<<"$one") -eq 5 ]] || { echo "$one" && exit 1; }
for ranks in 2 3 4 6; do
    for kind in threads processes; do
        several=$("$example" "$ranks" "$kind")
        [[ $several == "$one" ]] || { echo "$ranks $kind: $several, one rank: $one" && exit 1; }
    done
done
