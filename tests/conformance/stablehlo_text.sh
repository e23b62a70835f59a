#!/usr/bin/env bash
# Every public program of stablehlo is read, verified and printed to a fixed point, where they are
# at hand.
set -euo pipefail
suite=$TSR_CONFORMANCE_DIR/stablehlo/suite
[[ -d $suite ]] || { echo "no programs at hand" && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
count=0
while IFS= read -r file; do
    cat "$file" >> "$folder/all.mlir"
    printf '\n// -----\n' >> "$folder/all.mlir"
    count=$((count + 1))
done < <(find "$suite" -name '*.mlir' | sort)
"$TSR_BUILD_DIR/tessera-opt" "$folder/all.mlir" -split-input-file -o "$folder/once.mlir"
"$TSR_BUILD_DIR/tessera-opt" "$folder/once.mlir" -split-input-file -o "$folder/twice.mlir"
cmp "$folder/once.mlir" "$folder/twice.mlir"
[[ $(grep -c '^module' "$folder/once.mlir") -ge $count && $count -gt 0 ]]
echo "$count programs"
