#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# tessera-opt makes each NAME.mlir of tests/golden/ir and tests/golden/passes NAME.out; the first
# line has the flags.
source "$(dirname "$0")/helpers.bash"

golden=$(cd "$(dirname "$0")/../golden" && pwd)
for folder in ir passes; do
    cd "$golden/$folder"
    for input in *.mlir; do
        read -r -a flags < <(sed -n '1s/^\/\/ flags://p' "$input")
        run "$TESSERA_OPT" "$input" "${flags[@]}"
        expect_fine
        expect_out "$(cat "${input%.mlir}.out")"
    done
done

finish
