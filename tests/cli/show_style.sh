#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# Characters and colours.
source "$(dirname "$0")/helpers.bash"

escape=$'\033'
args=(--mesh "$mesh" --shape 4x8 '[{"x"}, {"y"}]')
boxes='    +-------+-------+-------+-------+
0:2 |   0   |   1   |   2   |   3   |
    +-------+-------+-------+-------+'

show --ascii "${args[@]}"
expect_fine
expect_in_out "$boxes"
run env LC_ALL=C "$TESSERA" show "${args[@]}"
expect_in_out "$boxes"
run env TERM=dumb "$TESSERA" show "${args[@]}"
expect_in_out "$boxes"
show --ascii --mesh '<["x"=1000]>' --shape 1000 '[{"x"}]'
expect_in_out '| .. |'
[ "$(LC_ALL=C tr -d '\000-\177' <<<"$out" | wc -c)" -eq 0 ] || fail 'ASCII only'

# No terminal, no colours, unless asked for.
show "${args[@]}"
expect_not_in_out "$escape"
show --color never "${args[@]}"
expect_not_in_out "$escape"
show --color always "${args[@]}"
expect_fine
expect_in_out "${escape}[38;5;16;48;5;"
[ "$(grep -o '48;5;[0-9]*m' <<<"$out" | sort -u | wc -l)" -eq 8 ] || fail 'a colour for each shard'

# A terminal has colours, but not with NO_COLOR or when it is dumb.
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    line="$TESSERA show --mesh '$mesh' --shape 4x8 '[{\"x\"}, {\"y\"}]'"
    run script -qec "$line" /dev/null
    expect_in_out "${escape}[38;5;16"
    run env NO_COLOR= script -qec "$line" /dev/null
    expect_in_out "${escape}[38;5;16"
    run env NO_COLOR=1 script -qec "$line" /dev/null
    expect_not_in_out "$escape"
    run env TERM=dumb script -qec "$line" /dev/null
    expect_not_in_out "$escape"
    run env NO_COLOR=1 script -qec "${line/show/show --color always}" /dev/null
    expect_in_out "${escape}[38;5;16"
fi

# Errors are coloured by the same rule.
show --color always --mesh "$mesh" '[{"q"}]'
expect_error 2 "${escape}["
show --mesh "$mesh" '[{"q"}]'
[[ "$err" != *"$escape"* ]] || fail 'no colours in stderr'

finish
