#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# Dynamic and partitioned dimensions.
source "$(dirname "$0")/helpers.bash"

show --mesh '<["x"=4]>' --shape 8xf32 '[{"x"}:dynamic[3, 0, 5, 0]]'
expect_fine
expect_in_out 'local shape   5'
expect_in_out 'bytes/device  20 at most, 0 at least, as f32'
expect_in_out '   0:3     3:8
┌───────┬───────┐
│   0   │   2   │
└───────┴───────┘

devices 1,3 hold nothing'

# The worked example of the placements page: blocks in logical order, whole partitions.
show --mesh '<["x"=2]>' --shape 32 '[{"x"}:partitioned[[4, 6, 4, 2], [2, 4, 8, 2]]]'
expect_fine
expect_in_out '0:4'
expect_in_out '30:32'
expect_in_out '│   0   │   1   │   0   │   1   │   0   │'
show --mesh '<["x"=2]>' --shape 32 '[{"x"}:partitioned[[4, 6, 4, 2], [2, 4, 8, 2]](aligned)]'
expect_fine
expect_in_out '0:16    16:32'

show --json --mesh '<["x"=2]>' --shape 32 '[{"x"}:partitioned[[4, 6, 4, 2], [2, 4, 8, 2]]]'
expect_fine
expect_in_out '{"id": 0, "start": [0], "size": [16], "pieces": [[[0, 4], [6, 6], [16, 4], [28, 2]]]}'
expect_in_out '{"id": 1, "start": [4], "size": [16], "pieces": [[[4, 2], [12, 4], [20, 8], [30, 2]]]}'

show --devices 1:2 --mesh '<["x"=2]>' --shape 32 \
    '[{"x"}:partitioned[[4, 6, 4, 2], [2, 4, 8, 2]]]'
expect_in_out 'device 1      [4:6+12:16+20:28+30:32]'

show --mesh '<["x"=2]>' --shape 9 '[{"x"}:dynamic[3, 5]]'
expect_code 2
expect_no_out

finish
