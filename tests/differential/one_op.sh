#!/usr/bin/env bash
# Propagation through one op against the reference implementation's, on random uses of every op with
# random shardings, by the basic and the aggressive strategy. Needs the oracle; exit code 77 without
# it. ONE_OP_EACH sets how many uses of each op, TSR_SEED the seed.
set -euo pipefail
oracle=${TSR_ORACLE:-$TSR_SOURCE_DIR/../shared/oracle/sdy-oracle}
[[ -x $oracle ]] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
each=${ONE_OP_EACH:-200}
for strategy in basic aggressive; do
    "$TSR_BUILD_DIR/tests/differential/one_op" "$each" "$strategy" "$folder/program.mlir" \
        "$folder/own.txt"
    "$oracle" "$folder/program.mlir" "-sdy-$strategy-propagate" -mlir-print-op-generic \
        > "$folder/printed.mlir"
    printf '%s: ' "$strategy"
    python3 "$(dirname "${BASH_SOURCE[0]}")/compare_shardings.py" "$folder/own.txt" \
        "$folder/printed.mlir"
done
