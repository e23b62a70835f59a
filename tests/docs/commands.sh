#!/usr/bin/env bash
# shellcheck disable=SC1091
# Runs every command that the documents show in ```console blocks and compares what it prints. C
# programs in ```c blocks are written to hello.c beside, and built as the document says, against an
# installed library. Of `make TARGET` only its existence is checked: this is part of `make check`.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result=0
count=0

cmake --install "$TSR_BUILD_DIR" --prefix "$work/prefix" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name tessera.pc)")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
PATH=$(dirname "$TESSERA"):$PATH
mkdir "$work/examples"
ln -s "$TSR_BUILD_DIR"/examples/* "$TSR_SOURCE_DIR/examples/programs" "$work/examples"
export LC_ALL=C.UTF-8 NO_COLOR=1
source "$TSR_SOURCE_DIR/tests/support/mpi.sh"

# What ranks print under mpirun comes in any order.
arrange() {
    if [[ $1 == mpirun\ * ]]; then sort; else cat; fi
}

# check DOCUMENT COMMAND EXPECTED
check() {
    local output
    count=$((count + 1))
    if [[ $2 == make\ * ]]; then
        local target=${2#make }
        target=${target%% *}
        make -C "$TSR_SOURCE_DIR" -n "$target" >/dev/null ||
            { echo "$1: there is no '$2'" && result=1; }
        return
    fi
    output=$(cd "$work" && bash -c "$2" 2>&1 </dev/null) || true
    if [[ $(arrange "$2" <<<"$output") != "$(arrange "$2" <<<"$3")" ]]; then
        echo "$1: '$2' prints"
        diff <(echo "$3") <(echo "$output") || true
        result=1
    fi
}

# Walks a document line by line: commands start with "$ ", the rest of a block is their output.
walk() {
    local document=$1 line kind='' command='' expected='' program=''
    while IFS= read -r line; do
        if [[ $line == '```'* ]]; then
            [[ -z $command ]] || check "$document" "$command" "${expected%$'\n'}"
            [[ $kind != c ]] || printf '%s' "$program" >"$work/hello.c"
            command='' expected='' program=''
            if [[ -n $kind ]]; then
                kind=''
            else
                kind=${line#'```'}
                kind=${kind:-text}
            fi
        elif [[ $kind == c ]]; then
            program+=$line$'\n'
        elif [[ $kind == console && $line == '$ '* ]]; then
            [[ -z $command ]] || check "$document" "$command" "${expected%$'\n'}"
            command=${line#'$ '}
            expected=''
        elif [[ $kind == console ]]; then
            expected+=$line$'\n'
        fi
    done <"$TSR_SOURCE_DIR/$document"
}

cd "$TSR_SOURCE_DIR"
for document in README.md ARCHITECTURE.md CONTRIBUTING.md tools/tessera/README.md docs/*.md; do
    walk "$document"
done
echo "$count commands"
[[ $count -ge 10 ]] || { echo "too few commands were found" && result=1; }
exit $result
