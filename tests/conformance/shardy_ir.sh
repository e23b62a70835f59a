#!/usr/bin/env bash
# The public cases of reading, printing and verifying sdy programs, where they are at hand. Those of
# canonicalization come with partitioning.
set -euo pipefail
run=$TSR_CONFORMANCE_DIR/shardy/run
[[ -x $run ]] || { echo "no cases at hand" && exit 77; }
command -v FileCheck FileCheck-14 FileCheck-16 > /dev/null || [[ -x /usr/lib/llvm-14/bin/FileCheck ]] ||
    { echo "no FileCheck at hand" && exit 77; }
"$run" --opt "$TSR_BUILD_DIR/tessera-opt" --per-function --quiet \
    --only 'ir/test/(?!.*canonicalization)' --failures 5
