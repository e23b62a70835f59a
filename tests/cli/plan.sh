#!/usr/bin/env bash
# shellcheck disable=SC1091
# `tessera plan`: the table, its picture, JSON, limits, topologies from files, what is refused.
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
unset TSR_TOPOLOGY
plan() { run "$TESSERA" plan "$@"; }
rows=(--mesh x=2,y=8 --shape 16000000xf32)

# Two hosts of eight, bandwidths 1 and 10: the example of the cost model.
cat >"$work/hosts.json" <<'JSON'
{"name": "hosts",
 "levels": [{"name": "net", "size": 2, "latency": "0 ps", "bandwidth": "1 GB/s"},
            {"name": "host", "size": 8, "latency": "0 ps", "bandwidth": "10 GB/s"}],
 "device": {"copy": "1 TB/s", "reduction": "1 TB/s"}}
JSON
plan "${rows[@]}" --topology "$work/hosts.json" '[{"x", "y"}]' '[{}]'
expect_fine
expect_out 'from          [{"x", "y"}]
to            [{}]
tensor        16000000xf32
topology      hosts: net 2, host 8
step 1        all-gather along "x", pairwise: 4000.000 us
              4000000 bytes over net in 1 round
              to [{("x"), "y"}]
step 2        all-gather along "y", pairwise: 5664.000 us
              56000000 bytes over host in 7 rounds
              to [{}]
net           |111                                     | 4000000 bytes
host          |2222222222222222222222222222222222222222| 56000000 bytes
time          9664.000 us in 2 steps, the minimum of 7 layouts
bound         5454.545 us
memory        140005376 live bytes of a device
direct        32000.000 us
collective    32000.000 us
greedy        34800.000 us'
expect_width 80

# The environment names a topology; a program has no direct step, and pads.
TSR_TOPOLOGY=ethernet plan --mesh x=2,y=2 --shape 5xf32 '[{"x"}]' '[{"x", "y"}]'
expect_fine
expect_in_out 'topology      ethernet: ethernet 4'
expect_in_out 'step 1        direct along "y", pairwise'
plan --mesh x=2,y=2 --shape 5xf32 --vocabulary program --any-layout '[{"x"}]' '[{"x", "y"}]'
expect_fine
expect_in_out 'topology      host: host 4'
expect_in_out ', padded
              12 bytes over host in 1 round
              to [{}]'
plan --mesh x=2,y=2 --shape 5xf32 --vocabulary program '[{"x"}]' '[{"x", "y"}]'
expect_error 3 'without a layout larger than both ends; allow any layout'

# Nothing to do.
plan "${rows[@]}" '[{"x"}]' '[{"x"}]'
expect_fine
expect_in_out 'time          0.000 us in 0 steps'

# Limits of memory: fewer steps, then none.
plan --mesh x=2,y=2 --shape 1048576xf32 '[{"x", "y"}]' '[{}]'
expect_in_out 'memory        7340032 live bytes of a device'
plan --mesh x=2,y=2 --shape 1048576xf32 --memory 7340031 '[{"x", "y"}]' '[{}]'
expect_fine
expect_in_out 'memory        5242880 live bytes of a device, limit 7340031'
expect_in_out ', beyond the limits of memory'
plan --mesh x=2,y=2 --shape 1048576xf32 --memory 5242879 '[{"x", "y"}]' '[{}]'
expect_error 3 'no sequence of steps is within 5242879 live bytes of a device'
plan --mesh x=2,y=2 --shape 1048576xf32 --memory 6M --donate '[{"x", "y"}]' '[{}]'
expect_fine
expect_in_out ' in 2 steps'

# JSON.
plan "${rows[@]}" --topology "$work/hosts.json" --json '[{"x", "y"}]' '[{}]'
expect_fine
expect_in_out '"kind": "all-gather", "axes": "\"x\"", "algorithm": "pairwise", "layout": "[{(\"x\"), \"y\"}]", "bytes": [4000000, 0], "rounds": [1, 0], "padded": false, "in_order": false'
expect_in_out '"direct": 32000000, "collective": 32000000, "greedy": 34800000, "greedy_obeys": true, "nanoseconds": 9664000'

plan --list-topologies
expect_fine
expect_in_out 'gpu-pod       NVIDIA H100 SXM'
expect_width 80

# What is refused.
plan --mesh x=2 '[{"x"}]' '[{}]'
expect_code 2
expect_in_err '--shape and two layouts, FROM and TO, are required'
plan "${rows[@]}" '[{"x"}]'
expect_code 2
plan "${rows[@]}" --vocabulary words '[{"x"}]' '[{}]'
expect_code 2
expect_in_err '--vocabulary must be runtime or program, got: words'
plan "${rows[@]}" --memory -1 '[{"x"}]' '[{}]'
expect_error 2 '--memory must be a number of bytes above 0, such as 16M, got: -1'
plan --mesh x=2 --shape 4 '[{"x"}]' '[{}]'
expect_error 2 'give an element type, as in 4x8xf32'
plan --mesh x=2 --shape '?xf32' '[{"x"}]' '[{}]'
expect_error 2 'unknown extents are not supported'
plan "${rows[@]}" --topology gpupod '[{"x"}]' '[{}]'
expect_error 2 'unknown topology gpupod: not one of threads, host, gpu-pod, ethernet'
plan --mesh x=12 --shape 24xf32 --topology gpu-pod '[{"x"}]' '[{}]'
expect_error 2 '12 devices do not fill level host of topology gpu-pod'
sed 's/"0 ps"/"0 GB"/' "$work/hosts.json" >"$work/unit.json"
plan "${rows[@]}" --topology "$work/unit.json" '[{"x"}]' '[{}]'
expect_error 2 'unit.json:2:51: error: "latency" must be a string of a decimal number and a unit'
plan "${rows[@]}" '[{}]' '[{}], unreduced={"x"}'
expect_error 3 'no step makes a sum pending'
finish
