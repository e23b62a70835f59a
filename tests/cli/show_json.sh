#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# JSON, and ranges of devices.
source "$(dirname "$0")/helpers.bash"

show --json --mesh '<["x"=2, "y"=2]>' --shape 3x4xf32 '[{"x"}, {}]'
expect_fine
expect_out '{
  "sharding": "#sdy.sharding<@mesh, [{\"x\"}, {}]>",
  "mesh": "@mesh = <[\"x\"=2, \"y\"=2]>",
  "shards": [2, 1],
  "shape": [3, 4],
  "local_shape": [2, 4],
  "padded_shape": [4, 4],
  "dtype": "f32",
  "bytes_per_device": 32,
  "devices": [
    {"id": 0, "start": [0, 0], "size": [2, 4]},
    {"id": 1, "start": [0, 0], "size": [2, 4]},
    {"id": 2, "start": [2, 0], "size": [1, 4]},
    {"id": 3, "start": [2, 0], "size": [1, 4]}
  ]
}'

# In the order of the mesh.
show --json --mesh '<["x"=3], device_ids=[2, 0, 1]>' --shape 3 '[{"x"}]'
expect_fine
expect_in_out '"devices": [
    {"id": 2, "start": [0], "size": [1]},
    {"id": 0, "start": [1], "size": [1]},
    {"id": 1, "start": [2], "size": [1]}
  ]'

# Without a shape; a scalar.
show --json --mesh '<["x"=2]>' '[{"x"}]'
expect_fine
expect_out '{
  "sharding": "#sdy.sharding<@mesh, [{\"x\"}]>",
  "mesh": "@mesh = <[\"x\"=2]>",
  "shards": [2]
}'
show --json --mesh '<["x"=2]>' --shape scalar '[]'
expect_fine
expect_in_out '{"id": 1, "start": [], "size": []}'

# Ranges.
show --json --devices 1:3 --mesh "$mesh" --shape 8 '[{"x"}]'
expect_fine
expect_in_out '"devices": [
    {"id": 1, "start": [0], "size": [4]},
    {"id": 2, "start": [0], "size": [4]}
  ]'
show --json --devices 2:2 --mesh "$mesh" --shape 8 '[{"x"}]'
expect_fine
expect_in_out '"devices": []'
show --json --devices :1 --mesh "$mesh" --shape 8 '[{"x"}]'
expect_in_out '"devices": [
    {"id": 0, "start": [0], "size": [4]}
  ]'
show --json --devices 7: --mesh "$mesh" --shape 8 '[{"x"}]'
expect_in_out '"devices": [
    {"id": 7, "start": [4], "size": [4]}
  ]'

# The same in words.
show --devices 3:5 --mesh "$mesh" --shape 5x8 '[{"y"}, {"x"}]'
expect_fine
expect_in_out 'device 3      [none, 0:4]
device 4      [0:2, 4:8]'

# Names that need escapes.
show --json --mesh '<["a\\b"=2]>' '[{}]'
expect_fine
expect_in_out 'a\\\\b'

# 65536 devices are listed, one more is not.
show --json --mesh '<["x"=65536]>' --shape 65536 '[{"x"}]'
expect_fine
[ "$(grep -c '"id"' <<<"$out")" -eq 65536 ] || fail '65536 devices'
show --json --mesh '<["x"=65537]>' --shape 65537 '[{"x"}]'
expect_error 2 '--devices A:B'
show --json --devices 65530:65537 --mesh '<["x"=65537]>' --shape 65537 '[{"x"}]'
expect_fine
[ "$(grep -c '"id"' <<<"$out")" -eq 7 ] || fail '7 devices'

finish
