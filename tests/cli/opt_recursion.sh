#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# Call graphs that passes cannot copy: recursive, exponential and very deep ones are refused.
source "$(dirname "$0")/helpers.bash"
# Sanitizers reserve more addresses than that.
grep -qE '__(asan|tsan)_init' "$TESSERA_OPT" || ulimit -v 8000000
opt() { run timeout 60 "$TESSERA_OPT" "$@"; }

type='tensor<8xf32>'
# The text of a function that calls others, one after the other: name, then callees.
function_text() {
    local name=$1 visibility=private last='%a' n=0 callee
    shift
    [ "$name" = main ] && visibility=public
    echo "func.func $visibility @$name(%a: $type) -> $type {"
    for callee in "$@"; do
        echo "  %v$n = call @$callee($last) : ($type) -> $type"
        last="%v$n"
        n=$((n + 1))
    done
    echo "  %r = stablehlo.add $last, %a : $type"
    echo "  return %r : $type"
    echo '}'
}
{ function_text main f && function_text f f; } >"$work/itself.mlir"
{ function_text main f && function_text f g && function_text g f; } >"$work/mutual.mlir"
{ function_text main f && function_text f g && function_text g h && function_text h g; } \
    >"$work/inner.mlir"
function_text main main >"$work/main.mlir"
{ function_text main && function_text f g && function_text g f; } >"$work/dead.mlir"

passes=$("$TESSERA_OPT" --help | grep -oE -- '--(sdy-[a-z-]+|symbol-dce|canonicalize)' | sort -u)
[ "$(wc -l <<<"$passes")" -ge 40 ] || fail 'the passes of the table are listed'
for pass in $passes; do
    for graph in itself mutual inner main dead; do
        opt "$pass" "$work/$graph.mlir"
        expect_error 1 'calls itself'
    done
done
opt --sdy-import-func-calls "$work/mutual.mlir"
expect_error 1 'mutual.mlir:12:9: error: function @f calls itself through @g: recursive calls are not supported'
for command in propagate explain; do
    run timeout 60 "$TESSERA" "$command" "$work/mutual.mlir"
    expect_error 2 'function @f calls itself through @g'
done

# Doubled at each of `count` functions.
doubled() {
    local i
    function_text main f0 f0
    for ((i = 0; i < $1; i++)); do
        function_text "f$i" "f$((i + 1))" "f$((i + 1))"
    done
    function_text "f$1"
}
doubled 30 >"$work/doubled.mlir"
for pass in sdy-flatten-call-graph sdy-import-func-calls sdy-propagation-pipeline; do
    opt "--$pass" "$work/doubled.mlir"
    expect_error 1 'for each of its calls gives more than 4194304 ops'
done
run timeout 60 "$TESSERA" propagate "$work/doubled.mlir"
expect_error 2 'for each of its calls gives more than 4194304 ops'
opt --sdy-pre-order-funcs "$work/doubled.mlir"
expect_fine
doubled 10 >"$work/few.mlir"
opt --sdy-flatten-call-graph "$work/few.mlir"
expect_fine
[ "$(grep -c 'func.func' <<<"$out")" -eq 4095 ] || fail 'each call has a function'

# Long chains of calls: as many as the limit are copied, more are refused.
chain() {
    function_text main f0 f0 >"$work/chain.mlir"
    for ((i = 0; i < $1; i++)); do
        function_text "f$i" "f$((i + 1))"
    done >>"$work/chain.mlir"
    function_text "f$1" >>"$work/chain.mlir"
}
for pass in sdy-flatten-call-graph sdy-import-func-calls; do
    chain 999
    opt "--$pass" "$work/chain.mlir"
    expect_code 0
    chain 1000
    opt "--$pass" "$work/chain.mlir"
    expect_error 1 'are nested more than 1000 levels deep'
done
chain 20000
opt --sdy-import-func-calls "$work/chain.mlir"
expect_error 1 'are nested more than 1000 levels deep'
finish
