#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2154
# Man pages and completions have every option of --help, and shells accept them; first steps work.
source "$(dirname "$0")/helpers.bash"
share=$work/share
for command in "$TESSERA" "$TESSERA_OPT"; do
    run "$TSR_SOURCE_DIR/scripts/describe" "$command" "$share"
    expect_fine
done

# options COMMAND...: the long options that its help lists, one a line.
options() { "$@" --help | grep -oE '(^|[ ,])--[a-zA-Z][a-zA-Z0-9-]*' | grep -oE '[a-zA-Z].*' | sort -u; }

# has FILE WORD: the word is in the file, a dash escaped or not.
has() { sed 's/\\-/-/g' "$1" | grep -F -e "$2" >/dev/null || fail "$1 should have $2"; }

check_pages() {
    local name=$1 page=$2 option
    shift 2
    [ -s "$share/man/man1/$page.1" ] || fail "there is no page $page.1"
    while IFS= read -r option; do
        has "$share/man/man1/$page.1" "--$option"
        has "$share/bash-completion/completions/$name" "--$option"
        has "$share/zsh/site-functions/_$name" "--$option"
        has "$share/fish/vendor_completions.d/$name.fish" "-l $option"
    done < <(options "$@")
}
check_pages tessera tessera "$TESSERA"
check_pages tessera-opt tessera-opt "$TESSERA_OPT"
count=0
while IFS= read -r command; do
    check_pages tessera "tessera-$command" "$TESSERA" "$command"
    has "$share/man/man1/tessera.1" ".B $command"
    count=$((count + 1))
done < <("$TESSERA" --describe | awk -F '\t' '$2 ~ /^tessera ./ { print substr($2, 9) }')
[ "$count" -ge 9 ] || fail "there are $count commands"

for name in tessera tessera-opt; do
    bash -n "$share/bash-completion/completions/$name" || fail "bash refuses $name"
    if command -v zsh >/dev/null; then
        zsh -n "$share/zsh/site-functions/_$name" || fail "zsh refuses $name"
    fi
    if command -v fish >/dev/null; then
        fish -n "$share/fish/vendor_completions.d/$name.fish" || fail "fish refuses $name"
    fi
done
if command -v groff >/dev/null; then
    for page in "$share"/man/man1/*.1; do
        [ -z "$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)" ] || fail "groff warns of $page"
    done
fi

# What bash completes.
complete_words() { bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tessera; echo "${COMPREPLY[*]}"' _ "$share/bash-completion/completions/tessera" "$@"; }
[ "$(complete_words tessera sh)" = show ] || fail 'sh is show'
[ "$(complete_words tessera show --me)" = --mesh ] || fail '--me is --mesh'
[[ "$(complete_words tessera redistribute --t)" == *--timeout* ]] || fail '--t is --timeout'

# `tessera` alone names commands that work as they are pasted.
run "$TESSERA"
expect_error 2 'Try these first:'
steps=$(grep '^  tessera ' <<<"$err")
[ "$(wc -l <<<"$steps")" -eq 3 ] || fail 'three commands'
PATH=$(dirname "$TESSERA"):$PATH
while IFS= read -r step; do
    run bash -c "$step"
    expect_fine
done <<<"$steps"

finish
