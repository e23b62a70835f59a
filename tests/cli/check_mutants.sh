#!/usr/bin/env bash
# Programs of tests/golden/check are silent, notes included, and each of their mutants is found by its rule.
# shellcheck disable=SC1091,SC2154
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
programs=${TSR_SOURCE_DIR:?}/tests/golden/check
count=0

# mutate FILE N: the program with its N-th mutant line instead of the line before the mutants of that line.
mutate() {
    awk -v wanted="$2" '
        /^ *\/\/ mutant / {
            seen++
            if (seen == wanted) { sub(/^ *\/\/ mutant [a-z-]+: /, ""); held = $0 }
            next
        }
        { if (NR > 1) print held; held = $0 }
        END { print held }' "$1"
}

for program in "$programs"/*.mlir; do
    run "$TESSERA" check --notes "$program"
    expect_fine
    expect_no_out
    n=0
    while IFS= read -r rule; do
        n=$((n + 1))
        mutate "$program" "$n" > "$work/mutant.mlir"
        run "$TESSERA" check --notes "$work/mutant.mlir"
        [[ $out == *"[$rule]"* ]] || fail "mutant $n of $program should be found as $rule"
        expect_no_err
        count=$((count + 1))
    done < <(sed -nE 's/^ *\/\/ mutant ([a-z-]+): .*/\1/p' "$program")
done

# Every rule has one.
while read -r _ name _; do
    grep -qE "// mutant $name: " "$programs"/*.mlir || fail "no mutant for $name"
done < <("$TESSERA" check --rules)
echo "$count mutants found"
finish
