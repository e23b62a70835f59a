#!/usr/bin/env bash
# Programs that JAX exported, where they are at hand: `tessera check` has nothing to say about any of them in any
# form, and finds what is missing when an all_reduce is left out.
set -euo pipefail
programs=$TSR_CONFORMANCE_DIR/../programs
[[ -d $programs ]] || { echo "no programs at hand" && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
silent=0
found=0
legal=0
failed=0

# Sanitized builds leave the largest programs out: they are slow, and show nothing more.
large=nothing
if grep -q __asan_init "$TSR_BUILD_DIR/tessera"; then
    large='*/big_*'
fi

# All_reduces without which a program is another one that is right too, and its results are declared to vary.
is_legal() {
    case $1 in
    pmap_psum.mlir:1 | sm_partial_auto_nested.mlir:1 | sm_partial_auto_nested.spmd.mlir:1) return 0 ;;
    *) return 1 ;;
    esac
}

while IFS= read -r program; do
    zcat -f "$program" > "$folder/in.mlir"
    if "$TSR_BUILD_DIR/tessera" check "$folder/in.mlir" > "$folder/out" 2>&1 && [[ ! -s $folder/out ]]; then
        silent=$((silent + 1))
    else
        failed=$((failed + 1))
        echo "$program: $(head -1 "$folder/out")"
    fi
done < <(find "$programs" \( -name '*.mlir' -o -name '*.mlir.gz' \) ! -name '*xla*' ! -path "$large" | sort)

# without N: standard input without its N-th all_reduce, whose operand stands for the result. Nothing if there is none.
without() {
    awk -v wanted="$1" '
        dropping && /^ *}\)/ {
            sub(/.* : \(/, ""); sub(/\) -> .*/, "")
            print "    " result " = stablehlo.optimization_barrier " operand " : " $0
            dropping = 0
            next
        }
        dropping { next }
        /"stablehlo.all_reduce"\(/ && /\({$/ && ++seen == wanted {
            result = $1
            operand = $3
            sub(/.*\(/, "", operand)
            sub(/\).*/, "", operand)
            dropping = 1
            next
        }
        { print }
        END { exit seen < wanted }'
}

while IFS= read -r program; do
    flags=()
    [[ $program != *.spmd.mlir ]] || flags=(--local)
    for ((n = 1; ; n++)); do
        without "$n" < "$program" > "$folder/in.mlir" || break
        "$TSR_BUILD_DIR/tessera" check "${flags[@]}" "$folder/in.mlir" > "$folder/out" 2>&1 || true
        if grep -qE ': (error|warning): .*\[(pending|unreduced|result)-' "$folder/out"; then
            found=$((found + 1))
        elif is_legal "${program##*/}:$n" && [[ ! -s $folder/out ]]; then
            legal=$((legal + 1))
        else
            failed=$((failed + 1))
            echo "$program without all_reduce $n: $(head -1 "$folder/out")"
        fi
    done
done < <(find "$programs" -name '*.mlir' ! -name '*xla*' ! -name '*.debug.mlir' ! -name '*.before.mlir' \
    ! -name '*.after.mlir' ! -name '*.pipeline.mlir' ! -name '*.collectives.mlir' | sort)
echo "$silent silent; without an all_reduce $found found, $legal legal; $failed failed"
[[ $failed -eq 0 && $silent -gt 0 ]]
