#!/usr/bin/env bash
# The programs in examples/programs are read and print as they are, in both forms.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
count=0
for file in "$TSR_SOURCE_DIR"/examples/programs/*.mlir; do
    "$TSR_BUILD_DIR/tessera-opt" "$file" -o "$folder/pretty.mlir"
    cmp "$file" "$folder/pretty.mlir"
    "$TSR_BUILD_DIR/tessera-opt" "$file" -mlir-print-op-generic -o "$folder/generic.mlir"
    if grep -E '^ *(%[^=]*= )?(stablehlo|sdy|func)\.' "$folder/generic.mlir"; then
        echo "$file: an op is not in generic form"
        exit 1
    fi
    "$TSR_BUILD_DIR/tessera-opt" "$folder/generic.mlir" -o "$folder/again.mlir"
    cmp "$file" "$folder/again.mlir"
    count=$((count + 1))
done
[[ $count -ge 3 ]]
