#!/usr/bin/env bash
# Propagation through one op against the reference implementation's, on random uses of every op with
# random shardings, by the basic and the aggressive strategy, plain and
# conservative. Needs the oracle; exit code 77 without
# it. ONE_OP_EACH sets how many uses of each op, TSR_SEED the seed.
set -euo pipefail
oracle=${TSR_ORACLE:-$TSR_SOURCE_DIR/../shared/oracle/sdy-oracle}
[[ -x $oracle ]] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
each=${ONE_OP_EACH:-200}

# run STRATEGY VARIANT PASS: writes the programs, lets the reference propagate, compares.
run() {
    "$TSR_BUILD_DIR/tests/differential/one_op" "$each" "$1" "$2" "$folder/program.mlir" \
        "$folder/own.txt"
    "$oracle" "$folder/program.mlir" "$3" -mlir-print-op-generic > "$folder/printed.mlir"
    printf '%s, %s: ' "$1" "$2"
    python3 "$(dirname "${BASH_SOURCE[0]}")/compare_shardings.py" "$folder/own.txt" \
        "$folder/printed.mlir"
}

for strategy in basic aggressive; do
    run "$strategy" plain "-sdy-$strategy-propagate"
    run "$strategy" conservative "-sdy-$strategy-propagate=conservative-propagation=true"
done
