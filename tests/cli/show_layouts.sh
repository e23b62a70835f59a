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

# Aligned partitions are stored in multiples of their alignment: 6 and 10 rows as 8 and 16.
aligned='[{"x"}:partitioned[[4, 6], [2, 4]](aligned, align=8), {}]'
show --mesh '<["x"=2]>' --shape 16x3xf32 "$aligned"
expect_fine
expect_in_out 'local shape   10x3
stored shape  16x3, partitions rounded up to their alignment'
expect_in_out 'bytes/device  192 at most, 96 at least, as f32'
show --json --mesh '<["x"=2]>' --shape 16x3xf32 "$aligned"
expect_fine
expect_in_out '"bytes_per_device": 192'
expect_in_out '{"id": 0, "start": [0, 0], "size": [6, 3], "stored_size": [8, 3]}'
expect_in_out '{"id": 1, "start": [6, 0], "size": [10, 3], "stored_size": [16, 3]}'

# Only one device stores more, though both store the same; one that holds nothing stores nothing.
show --json --mesh '<["x"=2]>' --shape 14 '[{"x"}:partitioned[[3, 4], [3, 4]](aligned, align=8)]'
expect_in_out '"size": [6], "stored_size": [8]}'
expect_in_out '"size": [8]}'
show --mesh '<["x"=2]>' --shape 14xi8 '[{"x"}:partitioned[[3, 4], [3, 4]](aligned, align=8)]'
expect_in_out 'local shape   8
stored shape  8,'
expect_in_out 'bytes/device  8, as i8'
show --mesh '<["x"=2]>' --shape 6xi8 '[{"x"}:partitioned[[3, 0], [3, 0]](aligned, align=4)]'
expect_in_out 'bytes/device  8 at most, 0 at least, as i8'

# Nothing to round up: no word about it. Over a sub-axis and on other ids, the same sizes.
show --json --mesh '<["x"=2]>' --shape 16 '[{"x"}:partitioned[[4, 4], [4, 4]](aligned, align=8)]'
expect_not_in_out 'stored'
show --mesh '<["x"=2]>' --shape 16 '[{"x"}:partitioned[[4, 4], [4, 4]](aligned, align=8)]'
expect_not_in_out 'stored'
show --mesh '<["y"=4], device_ids=[3, 0, 2, 1]>' --shape 16x3xf32 "${aligned/\"x\"/\"y\":(2)2}"
expect_fine
expect_in_out 'bytes/device  192 at most, 96 at least, as f32'

# More than can be counted.
show --mesh '<["x"=2]>' --shape 16x3xf32 "${aligned/align=8/align=4611686018427387904}"
expect_fine
expect_in_out 'bytes/device  more than 2^63-1, as f32'

# Names of axes alone: the partition spec that they may stand for.
show --mesh 'x=2,dp=4' --shape 8x8 dp
expect_error 2 "write P('dp')"
show --mesh 'x=2,dp=4' --shape 8x8 'dp, None'
expect_error 2 "write P('dp', None)"
show --mesh 'x=2,dp=4' --shape 8x8 " 'x' , dp "
expect_error 2 "write P('x', 'dp')"
show --mesh 'x=2,dp=4' --shape 8x8 'dp x'
expect_error 2 error
expect_not_in_err 'write P('

# Two kinds of pending reductions are refused, also where one has nothing pending: the kind would be lost.
for sizes in x=2,y=2 x=1,y=2 x=2,y=1 x=1,y=1; do
    show --mesh "$sizes" --shape 8 "[Partial('sum'), Partial('max')]"
    expect_error 3 'a sharding has one kind of pending reduction, but this one is max and an earlier one sum'
    [[ $sizes == x=2,y=2 ]] || expect_in_err 'a sum over an axis of size 1 is complete: write Replicate() there'
done

finish
