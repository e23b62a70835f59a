#!/usr/bin/env bash
# Programs that JAX exported, run on one device with their inputs: the results are those that JAX
# computed, where programs are at hand. ONLY=NAME runs one.
set -euo pipefail
programs=$TSR_CONFORMANCE_DIR/../programs
[[ -d $programs ]] || { echo "no programs at hand" && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0
for program in "$programs"/${ONLY:-*}/; do
    name=$(basename "$program")
    [[ -e $program/in_0.npy || -e $program/inputs.npz ]] || continue
    rm -rf "${folder:?}"/*
    zcat -f "$program/$name".mlir* > "$folder/in.mlir"
    inputs=("$program"/in_*.npy)
    expected=$program
    if [[ -e $program/inputs.npz ]]; then
        inputs=("$program/inputs.npz")
        expected=$folder/expected
        python3 -m zipfile -e "$program/outputs.npz" "$expected"
    fi
    if "$TESSERA" eval "$folder/in.mlir" --input "${inputs[@]}" --output "$folder/out" \
        > "$folder/errors" 2>&1 &&
        "$TSR_BUILD_DIR/tests/conformance/compare_outputs" "$program/meta.json" "$expected" \
            "$folder/out" > "$folder/errors"; then
        passed=$((passed + 1))
        grep -q ' 0 of ' "$folder/errors" || echo "$name: $(tail -n 1 "$folder/errors")"
    else
        failed=$((failed + 1))
        echo "$name: $(head -n 1 "$folder/errors")"
    fi
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
