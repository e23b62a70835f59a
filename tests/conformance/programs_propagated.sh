#!/usr/bin/env bash
# Programs that JAX exported, propagated as the reference did it, where they are at hand: from the
# imported program with rules kept, and through the whole pipeline, byte for byte.
set -euo pipefail
programs=$TSR_CONFORMANCE_DIR/../programs
[[ -d $programs ]] || { echo "no programs at hand" && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0
around=sdy-add-data-flow-edges,sdy-flatten-call-graph,symbol-dce,sdy-import-func-calls,symbol-dce
around+=,sdy-apply-sharding-constraints,sdy-sharding-group-import,sdy-pre-order-funcs
around+=',sdy-user-priority-propagate{keep-sharding-rules=true},sdy-export-named-computations'
around+=,sdy-propagate-to-func-results,sdy-unflatten-call-graph,symbol-dce
around+=',sdy-insert-func-call-reshards,func.func(sdy-constant-or-scalar-merger)'
around+=',func.func(sdy-sink-data-flow-edges),sdy-remove-sharding-groups'
around+=',func.func(sdy-sharding-constraint-to-reshard)'
around+=,sdy-update-non-divisible-input-output-shardings
around+=,sdy-remove-sub-axes-in-input-output-shardings,sdy-close-shardings

# Sanitized builds take half of the programs, without the largest.
every=1
large=nothing
if [[ ${TSR_INSTRUMENTED:-OFF} == ON ]]; then
    every=2
    large='*/big_*'
fi

# compare FROM TO FLAG: the program TO is what FLAG makes of FROM, compressed or not.
compare() {
    local from=${1%.gz}
    [[ -f $from ]] || from+=.gz
    zcat -f "$from" > "$folder/in.mlir"
    zcat -f "$2" > "$folder/wanted.mlir"
    if "$TSR_BUILD_DIR/tessera-opt" "$folder/in.mlir" -allow-unregistered-dialect "$3" \
        -o "$folder/out.mlir" 2> "$folder/errors" && cmp -s "$folder/wanted.mlir" "$folder/out.mlir"
    then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$2: $(grep -m 1 error "$folder/errors" || echo differs)"
    fi
}

while IFS= read -r wanted; do
    compare "${wanted/.after./.before.}" "$wanted" "-pass-pipeline=builtin.module($around)"
done < <(find "$programs" -name '*.after.mlir*' ! -name '*xla*' ! -path "$large" | sort |
    awk -v every=$every 'NR % every == 0')
while IFS= read -r wanted; do
    compare "${wanted/.pipeline./.}" "$wanted" -sdy-propagation-pipeline
done < <(find "$programs" -name '*.pipeline.mlir*' ! -path "$large" | sort |
    awk -v every=$every 'NR % every == 0')
echo "$passed passed, $failed failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
