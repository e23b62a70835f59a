#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# Output that cannot be written is an error.
source "$(dirname "$0")/helpers.bash"

# Runs the command with its output going to the file in $1.
into() {
    local target=$1
    shift
    last="$* > $target"
    code=0
    out=
    "$@" >"$target" 2>"$work/err" || code=$?
    err=$(cat "$work/err")
}

if [ -c /dev/full ]; then
    for arguments in --version --help 'show --help'; do
        # shellcheck disable=SC2086
        into /dev/full "$TESSERA" $arguments
        expect_error 2 'cannot write to standard output'
    done
    into /dev/full "$TESSERA" show --mesh "$mesh" --shape 4x8 '[{"x"}, {"y"}]'
    expect_error 2 'cannot write to standard output: No space left on device'
    into /dev/full "$TESSERA" show --mesh "$mesh" --shape 4x8 --json '[{"x"}, {"y"}]'
    expect_error 2 'cannot write to standard output'
    into /dev/full "$TESSERA" show --mesh "$mesh" --to jax '[{"x"}, {"y"}]'
    expect_error 2 'cannot write to standard output'
    into /dev/full "$TESSERA" show --mesh "$mesh" --shape 4x8 --svg - '[{"x"}, {"y"}]'
    expect_error 2 'cannot write to standard output'
    into /dev/full "$TESSERA" show --mesh "$mesh" --shape 4x8 --svg "$work/a.svg" '[{"x"}, {"y"}]'
    expect_error 2 'cannot write to standard output: No space left on device'
    [ ! -e "$work/a.svg" ] || fail 'no file when the table could not be written'
fi

# Standard output closed.
last='closed standard output'
code=0
"$TESSERA" show --mesh "$mesh" --shape 4x8 '[{"x"}, {"y"}]' >&- 2>"$work/err" || code=$?
err=$(cat "$work/err")
expect_error 2 'cannot write to standard output'

# A pipe without a reader; an endless listing stops there.
last='closed pipe'
code=0
{
    timeout 20 "$TESSERA" show --mesh '<["x"=1099511627776]>' --shape 1 --json --devices : '[{}]' \
        2>"$work/err" || echo $? >"$work/code"
} | head -n 1 >/dev/null
out=
err=$(cat "$work/err")
[ ! -e "$work/code" ] || fail 'exit code 0'
expect_no_err

# A reader that has seen enough ends the command quietly, whatever prints.
program=$work/long.mlir
{
    echo 'sdy.mesh @mesh = <["x"=2]>'
    echo 'func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {'
    echo '  %0 = stablehlo.negate %a : tensor<8xf32>'
    for ((i = 1; i < 3000; i++)); do
        echo "  %$i = stablehlo.negate %$((i - 1)) : tensor<8xf32>"
    done
    echo '  return %2999 : tensor<8xf32>'
    echo '}'
} >"$program"
for arguments in "propagate" "propagate --table" "propagate --json" "explain --top 0" "explain --json"; do
    last="tessera $arguments | head -n 1"
    # shellcheck disable=SC2086
    { "$TESSERA" $arguments "$program" 2>"$work/err" || echo $? >"$work/code"; } | head -n 1 >"$work/line"
    [ ! -s "$work/err" ] || fail "quiet, not: $(cat "$work/err")"
    [ -s "$work/line" ] || fail 'a line'
done

finish
