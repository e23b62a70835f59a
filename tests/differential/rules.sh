#!/usr/bin/env bash
# The rules of rows against the reference implementation's, on random uses of every op: plain and
# conservative, then with faults planted in three rules, which must be found. Needs the oracle; exit
# code 77 without it. RULES_EACH sets how many uses of each op, TSR_SEED the seed.
set -euo pipefail
oracle=${TSR_ORACLE:-$TSR_SOURCE_DIR/../shared/oracle/sdy-oracle}
[[ -x $oracle ]] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
each=${RULES_EACH:-200}
compare=$(dirname "${BASH_SOURCE[0]}")/compare_rules.py

# run VARIANT PASS: writes the programs, lets the reference print their rules, compares.
run() {
    "$TSR_BUILD_DIR/tests/differential/rules" "$each" "$1" "$folder/program.mlir" "$folder/rules.txt"
    "$oracle" "$folder/program.mlir" "$2" -mlir-print-op-generic > "$folder/printed.mlir"
    python3 "$compare" "$folder/rules.txt" "$folder/printed.mlir"
}

run plain -sdy-populate-op-sharding-rules
for op in dot_general pad scatter; do
    TSR_PLANT=$op "$TSR_BUILD_DIR/tests/differential/rules" "$each" plain "$folder/program.mlir" \
        "$folder/rules.txt" > /dev/null
    if python3 "$compare" "$folder/rules.txt" "$folder/printed.mlir" > "$folder/found.txt"; then
        echo "the fault planted in $op was not found"
        exit 1
    fi
    echo "planted in $op: $(tail -n 1 "$folder/found.txt")"
done
run conservative -sdy-populate-op-sharding-rules=conservative-propagation=true
