#!/usr/bin/env bash
# Every public program of stablehlo is read, verified and printed to a fixed point, where they are
# at hand.
set -euo pipefail
suite=$TSR_CONFORMANCE_DIR/stablehlo/suite
[[ -d $suite ]] || { echo "no programs at hand" && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0
while IFS= read -r file; do
    if "$TSR_BUILD_DIR/tessera-opt" "$file" -o "$folder/once.mlir" 2> "$folder/errors" &&
        "$TSR_BUILD_DIR/tessera-opt" "$folder/once.mlir" -o "$folder/twice.mlir" 2> "$folder/errors" &&
        cmp -s "$folder/once.mlir" "$folder/twice.mlir"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$file: $(head -n 1 "$folder/errors")"
    fi
done < <(find "$suite" -name '*.mlir' | sort)
echo "$passed passed, $failed failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
