#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# The table and the picture, character by character where that matters.
source "$(dirname "$0")/helpers.bash"

show --mesh "$mesh" --shape 4x8 '[{"x"}, {"y"}]'
expect_fine
expect_out 'sharding      #sdy.sharding<@mesh, [{"x"}, {"y"}]>
mesh          @mesh = <["x"=2, "y"=4]>
devices       8
shape         4x8
local shape   2x2
shards        2x4
replication   each element is on 1 device

       0:2     2:4     4:6     6:8
    ┌───────┬───────┬───────┬───────┐
0:2 │   0   │   1   │   2   │   3   │
    ├───────┼───────┼───────┼───────┤
2:4 │   4   │   5   │   6   │   7   │
    └───────┴───────┴───────┴───────┘'

# Without a shape: the sharding, the mesh and the shards.
show --mesh "$mesh" '[{"y"}, {}]'
expect_fine
expect_out 'sharding      #sdy.sharding<@mesh, [{"y"}, {}]>
mesh          @mesh = <["x"=2, "y"=4]>
devices       8
shards        4x1
replication   each element is on 2 devices'

# Uneven, with an empty shard, bytes of the largest and the smallest part.
show --mesh '<["y"=4]>' --shape 5xf32 '[{"y"}]'
expect_fine
expect_out 'sharding      #sdy.sharding<@mesh, [{"y"}]>
mesh          @mesh = <["y"=4]>
devices       4
shape         5
local shape   2
padded shape  8
shards        4
replication   each element is on 1 device
bytes/device  8 at most, 0 at least, as f32

   0:2     2:4     4:5
┌───────┬───────┬───────┐
│   0   │   1   │   2   │
└───────┴───────┴───────┘

device 3 holds nothing'

# Even: one number of bytes, from either option.
show --mesh "$mesh" --shape 4x8 --dtype bf16 '[{"x"}, {"y"}]'
expect_fine
expect_in_out 'bytes/device  8, as bf16'
show --mesh "$mesh" --shape 'tensor<4x8xbf16>' --dtype bf16 '[{"x"}, {"y"}]'
expect_in_out 'bytes/device  8, as bf16'
show --mesh "$mesh" --shape 4x8 --dtype i1 '[{"x"}, {"y"}]'
expect_in_out 'bytes/device  4, as i1'

# Rank 0, spelled in every way.
for shape in scalar '' 'tensor<f32>' f32; do
    show --mesh "$mesh" --shape "$shape" '[]'
    expect_fine
    expect_in_out 'shape         scalar'
    expect_in_out '┌───────┐
│  0-7  │
└───────┘'
done

# The same shape in other spellings.
for shape in 4,8 '4, 8' 'tensor<4x8xf32>' 4x8xf32; do
    show --mesh "$mesh" --shape "$shape" '[{"x"}, {"y"}]'
    expect_fine
    expect_in_out 'local shape   2x2'
done

# No elements.
show --mesh "$mesh" --shape 0x8 '[{"x"}, {"y"}]'
expect_fine
expect_in_out 'no elements'
expect_not_in_out '┌'

# Devices of a cell, compressed.
show --mesh "$mesh" --shape 4x8 '[{"x"}, {}]'
expect_in_out '│  0-3  │'
expect_in_out '│  4-7  │'
show --mesh "$mesh" --shape 8 '[{"y"}]'
expect_in_out '│  0,4  │  1,5  │  2,6  │  3,7  │'
show --mesh '<["a"=4, "b"=2]>' --shape 8 '[{"b"}]'
expect_in_out '│ 0-6:2 │ 1-7:2 │'
show --mesh '<["a"=2, "b"=2, "c"=2]>' --shape 8 '[{"b"}]'
expect_in_out '│ 0-1,4-5 │ 2-3,6-7 │'

# The order of the devices is the mesh's own.
show --mesh '<["x"=4], device_ids=[3, 1, 0, 2]>' --shape 4 '[{"x"}]'
expect_in_out '│   3   │   1   │   0   │   2   │'
show --mesh '<["x"=2, "y"=3], device_ids=[5, 0, 3, 1, 4, 2]>' --shape 4 '[{"x"}]'
expect_in_out '│ 0,3,5 │ 1-2,4 │'
show --mesh '<["x"=2, "y"=4], device_ids=[0, 2, 4, 6, 1, 3, 5, 7]>' --shape 4 '[{"x"}]'
expect_in_out '│ 0-6:2 │ 1-7:2 │'

# One device that is not the first.
show --mesh '<[], device_ids=[3]>' --shape 4x2 '[]'
expect_fine
expect_in_out '│   3   │'

# The empty mesh stands for any devices.
show --mesh '<[]>' --shape 4 '[{}]'
expect_fine
expect_in_out 'devices       any'
expect_in_out 'each element is on every device'
expect_in_out '│  all  │'

# A pending reduction.
show --mesh "$mesh" --shape 4x8 '[{"x"}, {}], unreduced={"y"}'
expect_fine
expect_in_out 'pending       sum over "y", of 4 parts of each element'
expect_in_out 'replication   each element is on 4 devices'

# One over axes of size 1 has nothing left to do.
show --mesh '<["x"=2, "y"=1]>' --shape 4 '[{"x"}], unreduced=max{"y"}'
expect_fine
expect_in_out 'unreduced=max{"y"}'
expect_not_in_out 'pending'
show --mesh '<["x"=2, "y"=1]>' --shape 4 '[{}], unreduced=max{"x", "y"}'
expect_in_out 'pending       maximum over "x", "y", of 2 parts of each element'

# Slices of more dimensions.
show --mesh "$mesh" --shape 4x4x8 '[{"x"}, {}, {"y"}]'
expect_fine
expect_in_out '[0:2, :, :]
       0:2     2:4     4:6     6:8
    ┌───────┬───────┬───────┬───────┐
0:4 │   0   │   1   │   2   │   3   │
    └───────┴───────┴───────┴───────┘

[2:4, :, :]
       0:2     2:4     4:6     6:8'
expect_not_in_out 'more slice'
show --mesh '<["a"=3, "b"=3]>' --shape 3x3x2x2 '[{"a"}, {"b"}, {}, {}]'
expect_in_out '[1:2, 0:1, :, :]'
expect_in_out '… and 5 more slices'

finish
