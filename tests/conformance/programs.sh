#!/usr/bin/env bash
# Programs that JAX exported print as MLIR prints them, byte for byte, where they are at hand.
set -euo pipefail
programs=$TSR_CONFORMANCE_DIR/../programs
[[ -d $programs ]] || { echo "no programs at hand" && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Sanitized builds read a third of the files, without the largest programs.
every=1
large=nothing
if [[ ${TSR_INSTRUMENTED:-OFF} == ON ]]; then
    every=3
    large='*/big_*'
fi
passed=0
failed=0
while IFS= read -r file; do
    zcat -f "$file" > "$folder/in.mlir"
    flags=(-allow-unregistered-dialect)
    if grep -q '^#loc' "$folder/in.mlir"; then
        flags+=(-mlir-print-debuginfo)
    fi
    if "$TSR_BUILD_DIR/tessera-opt" "$folder/in.mlir" "${flags[@]}" -o "$folder/out.mlir" \
        2> "$folder/errors" && cmp -s "$folder/in.mlir" "$folder/out.mlir"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$file: $(head -n 1 "$folder/errors")"
    fi
done < <(find "$programs" \( -name '*.mlir' -o -name '*.mlir.gz' \) ! -name '*.xla_*' \
    ! -path "$large" | sort | awk -v every=$every 'NR % every == 0')
echo "$passed passed, $failed failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
