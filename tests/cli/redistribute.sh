#!/usr/bin/env bash
# shellcheck disable=SC1091
# `tessera redistribute`: the plan, the run on threads and processes, JSON, and what is refused.
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
move() { run "$TESSERA" redistribute "$@"; }
rows=(--mesh '<["x"=2]>' --shape 6x8xf32 --from '[{"x"}, {}]' --to '[{}, {"x"}]')

move "${rows[@]}" --plan
expect_fine
expect_out 'from          [{"x"}, {}]
to            [{}, {"x"}]
tensor        6x8xf32
moves         96 bytes in 1 step
step 1        all-to-all along "x": 96 bytes, 0.000505 ms by the shared-memory model
busiest rank  receives 48 bytes, sends 48'

# A sum on many devices: two steps; tens of thousands of devices are no more work.
move --mesh '<["x"=256, "y"=256]>' --shape 65537x32771xf32 --from '[{"x"}, {}], unreduced={"y"}' --to '[{"x"}, {}]' --plan
expect_fine
expect_in_out 'moves         4381334575080 bytes in 2 steps'
expect_in_out 'step 1        reduce-scatter along "y": 2190667287540 bytes'
expect_in_out 'step 2        all-gather along "y": 2190667287540 bytes'
expect_in_out 'busiest rank  receives 67372036 bytes, sends 67372036'

# A petabyte over 4096 devices: everything but what stays moves. What cannot be counted is refused with the reason.
move --mesh x=4096 --shape 16777216x16777216xf32 --from '[{"x"}, {}]' --to '[{}, {"x"}]' --plan
expect_fine
expect_in_out "moves         $((4095 << 38)) bytes in 1 step"
move --mesh x=65536 --shape 16777216x16777216xf32 --from '[{"x"}, {}]' --to '[{}, {"x"}]' --plan
expect_error 2 'the tensor times 65536 devices has more than 2^63-1 elements'
move --mesh x=4096 --shape 16777216x16777216xf32 --from '[{"x"}, {}]' --to '[{}, {}]' --plan
expect_error 2 'send or receive more than 2^63-1 bytes'

for kind in "" --processes; do
    # shellcheck disable=SC2086
    move "${rows[@]}" $kind --times 2
    expect_fine
    expect_in_out 'elements      all correct'
    expect_in_out "ranks         2, ${kind:+processes}"
done

# Element types of every size, odd extents, more ranks than cores, a pending sum.
for type in i8 bf16 f32 f64 c128; do
    move --mesh '<["x"=3, "y"=2]>' --shape "7x5x$type" --from '[{"x"}, {"y"}]' --to '[{"y"}, {}]' --times 1
    expect_fine
    expect_in_out 'all correct'
done
move --mesh '<["x"=4]>' --shape 9xi32 --from '[{}], unreduced={"x"}' --to '[{"x"}]' --times 1
expect_fine
expect_in_out 'not compared: a reduction is pending'
move --mesh '<["x"=2]>' --shape 0x3xf32 --from '[{"x"}, {}]' --to '[{}, {}]' --times 1
expect_fine

move "${rows[@]}" --json --times 1
expect_fine
expect_in_out '"steps": 1, "bytes_moved": 96, "most_received": 48, "most_sent": 48, "plan": [{"kind": "all-to-all", "axes": "\"x\"", "bytes_moved": 96, "most_received": 48, "most_sent": 48, "seconds": 5.048e-07}], "ranks": 2'
expect_in_out '"wrong_elements": 0'

move --mesh '<["x"=2]>' --shape 6x8xf32 --from '[{"x"}, {}]'
expect_error 2 '--shape, --from and --to are required'
move --mesh '<["x"=2]>' --shape 6x8 --from '[{"x"}, {}]' --to '[{}, {}]'
expect_error 2 'give an element type'
move --mesh '<["x"=2]>' --shape '6x?xf32' --from '[{"x"}, {}]' --to '[{}, {}]'
expect_error 2 'unknown extents are not supported'
move --mesh '<["x"=2]>' --shape 6x8xf32 --from '[{"q"}, {}]' --to '[{}, {}]'
expect_error 2 'q'
move --mesh '<["x"=2]>' --shape 6x8xf32 --from '[{}, {}]' --to '[{}, {}], unreduced={"x"}'
expect_code 3
move "${rows[@]}" --times 0
expect_error 2 '--times must be 1 to 1000, got: 0'
move "${rows[@]}" --timeout never
expect_error 2 '--timeout must be a number of seconds above 0'
move --mesh '<["x"=2000]>' --shape 8xf32 --from '[{}]' --to '[{"x"}]'
expect_error 2 'the number of ranks must be 1 to 1024, got: 2000'
finish
