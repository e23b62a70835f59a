#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# Help, version, and how wrong usage is refused.
source "$(dirname "$0")/helpers.bash"

run "$TESSERA" --version
expect_fine
[[ "$out" =~ ^tessera\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail 'tessera X.Y.Z'

run "$TESSERA" --help
expect_fine
expect_in_out 'Usage: tessera'
expect_in_out 'show'

run "$TESSERA" show --help
expect_fine
expect_in_out 'Usage: tessera show'
expect_in_out 'Examples:'
for option in mesh shape dtype from strict no-sub-axes to json devices svg ascii color; do
    expect_in_out "--$option"
done
expect_width 80

run "$TESSERA"
expect_error 2 'Usage: tessera'
expect_in_err 'show'

run "$TESSERA" shwo
expect_error 2 "unknown command 'shwo'; the commands are algorithms, calibrate, check, "

run "$TESSERA" --wrong
expect_error 2 "unrecognized option '--wrong'"

show --wrong '[{"x"}]'
expect_error 2 "unrecognized option '--wrong'"

show --mesh "$mesh"
expect_error 2 'a sharding is missing'

show --mesh "$mesh" '[{"x"}]' '[{"y"}]'
expect_error 2 'more than one sharding'

show --mesh
expect_error 2 'requires an argument'

show --mesh "$mesh" --color sometimes '[{"x"}]'
expect_error 2 "--color 'sometimes'"

show --mesh "$mesh" --svg "$work/x.svg" '[{"x"}]'
expect_error 2 '--svg needs --shape'
show --mesh "$mesh" --devices 0:1 '[{"x"}]'
expect_error 2 '--devices needs --shape'
show --mesh "$mesh" --dtype f32 '[{"x"}]'
expect_error 2 '--dtype needs --shape'
show --mesh "$mesh" --shape 4 --to sdy --svg "$work/x.svg" '[{"x"}]'
expect_error 2 'remove --svg'
show --mesh "$mesh" --shape 4 --to sdy --devices 0:1 '[{"x"}]'
expect_error 2 'remove --devices'
show --mesh "$mesh" --shape 4 --json --svg - '[{"x"}]'
expect_error 2 'remove one'

finish
