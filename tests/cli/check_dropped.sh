#!/usr/bin/env bash
# Programs of tests/golden/dropped are right: nothing is found in them without --notes. Without any one of their
# all_reduces they are wrong: `tessera check` finds that, and calls only gradients unreduced gradients.
# shellcheck disable=SC1091,SC2154
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
programs=${TSR_SOURCE_DIR:?}/tests/golden/dropped
right=0
dropped=0
found=0

# without N: standard input without its N-th all_reduce, whose operand stands for the result. Fails if there is none.
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

# Programs that compute gradients; in all others a sum that is not reduced is none.
has_gradients='^(sgd|momentum|adam|value_and_grad)$'

: >"$work/notes"
for program in "$programs"/*.mlir; do
    name=$(basename "$program" .mlir)
    run "$TESSERA" check "$program"
    expect_fine
    expect_no_out
    right=$((right + 1))
    run "$TESSERA" check --notes "$program"
    expect_no_err
    sed -nE "s/.*: note: .* \[([a-z-]+)\]\$/$name \1/p" "$work/out" | sort -u >>"$work/notes"
    for ((n = 1; ; n++)); do
        without "$n" <"$program" >"$work/in.mlir" || break
        dropped=$((dropped + 1))
        run "$TESSERA" check "$work/in.mlir"
        expect_no_err
        if grep -qE ': (error|warning): ' "$work/out"; then
            found=$((found + 1))
        else
            echo "$name: all_reduce $n is found with --notes only"
            run "$TESSERA" check --notes "$work/in.mlir"
            grep -qE ': note: .*\[' "$work/out" || fail "$name without all_reduce $n"
        fi
        if [[ ! $name =~ $has_gradients ]]; then
            expect_not_in_out unreduced-gradient
        fi
    done
done
echo "$right right programs; without an all_reduce $found of $dropped found without --notes"
[ "$right" -ge 60 ] || fail 'there are 60 right programs'
[ "$dropped" -ge 59 ] || fail 'there are 59 dropped collectives'
[ $((found * 59)) -ge $((dropped * 55)) ] || fail 'at least 55 of 59 are found'
[ -s "$work/notes" ] || fail 'some right programs have notes'
diff "$programs/notes.txt" "$work/notes" || fail 'the notes of right programs are those of notes.txt'
finish
