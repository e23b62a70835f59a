#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# tessera-opt prints each tests/golden/ir/NAME.mlir as NAME.out; the first line has the flags.
source "$(dirname "$0")/helpers.bash"

cd "$(dirname "$0")/../golden/ir"
for input in *.mlir; do
    read -r -a flags < <(sed -n '1s/^\/\/ flags://p' "$input")
    run "$TESSERA_OPT" "$input" "${flags[@]}"
    expect_fine
    expect_out "$(cat "${input%.mlir}.out")"
done

finish
