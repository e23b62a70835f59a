#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# Reading and writing the dialects.
source "$(dirname "$0")/helpers.bash"

canonical='sharding      #sdy.sharding<@mesh, [{"x"}, {}]>'
show --mesh "$mesh" --shape 4x8 "P('x', None)"
expect_fine
expect_in_out "$canonical"
show --mesh "$mesh" --shape 4x8 '[Shard(0), Replicate()]'
expect_fine
expect_in_out "$canonical"
show --mesh "$mesh" --shape 4x8 '{devices=[2,1,4]<=[8] last_tile_dim_replicate}'
expect_fine
expect_in_out "$canonical"
show --mesh "$mesh" --shape 4x8 '#sdy.sharding<@mesh, [{"x"}, {}]>'
expect_fine
expect_in_out "$canonical"
show --mesh "$mesh" --shape 4x8 'sharding<@mesh, [{"x"}, {}], replicated={}>'
expect_fine
expect_in_out "$canonical"

# HLO makes its own mesh, which is shown.
show --shape 4x8 '{devices=[2,4]<=[8]}'
expect_fine
expect_in_out 'mesh          <["d0"=2, "d1"=4]>'
expect_in_out '│   4   │   5   │   6   │   7   │'

# --from overrules what the text looks like.
show --mesh "$mesh" --shape 4x8 --from jax "P('x', None)"
expect_fine
show --mesh "$mesh" --shape 4x8 --from sdy "P('x', None)"
expect_code 2
expect_in_err '<sharding>:1:1'
show --mesh "$mesh" --shape 4x8 --from klingon "P('x', None)"
expect_error 2 'klingon'

# Each translation prints its text and nothing else.
show --mesh "$mesh" --shape 4x8 --to sdy "P('x', None)"
expect_fine
expect_out '#sdy.sharding<@mesh, [{"x"}, {}]>'
show --mesh "$mesh" --shape 4x8 --to jax '[{"x"}, {}]'
expect_fine
expect_out "P('x', None)"
show --mesh "$mesh" --shape 4x8 --to dtensor '[{"x"}, {}]'
expect_fine
expect_out '[Shard(0), Replicate()]'
show --mesh "$mesh" --shape 4x8 --to hlo '[{"x"}, {}]'
expect_fine
expect_out '{devices=[2,1,4]<=[8] last_tile_dim_replicate}'
show --mesh "$mesh" --to hlo '[{"x"}, {"y"}]'
expect_fine
expect_out '{devices=[2,4]<=[8]}'
show --mesh "$mesh" --json --to jax '[{"x"}, {}]'
expect_fine
expect_out "{\"dialect\": \"jax\", \"text\": \"P('x', None)\"}"
show --mesh "$mesh" --json --to sdy '[{"x"}]'
expect_out '{"dialect": "sdy", "text": "#sdy.sharding<@mesh, [{\"x\"}]>"}'

# What a dialect has no words for.
show --mesh "$mesh" --to jax '[{"y":(1)2}]'
expect_error 3 'cannot be expressed'
show --mesh "$mesh" --to klingon '[{"x"}]'
expect_error 2 'klingon'

# Several meshes, by name; the first is the default.
show --mesh '@one = <["a"=4]>' --mesh '@two = <["b"=2, "c"=2]>' --shape 8 '<@two, [{"b"}]>'
expect_fine
expect_in_out 'mesh          @two = <["b"=2, "c"=2]>'
show --mesh '@one = <["a"=4]>' --mesh '@two = <["b"=2, "c"=2]>' --shape 8 '[{"a"}]'
expect_fine
expect_in_out 'sharding      #sdy.sharding<@one, [{"a"}]>'
show --mesh '@one = <["a"=4]>' --mesh '@one = <["b"=2]>' --shape 8 '[{"a"}]'
expect_error 2 'one'
show --mesh '<["a"=4]>' --mesh '<["b"=2]>' --shape 8 '[{"a"}]'
expect_error 2 "redefinition of symbol named 'mesh'"
expect_in_err 'give each mesh its own name'

# Strict reading, and no sub-axes.
show --mesh "$mesh" --strict '<@mesh, [{"x"}, {}]>'
expect_fine
show --mesh '@m = <["x"=2]>' --strict '<@m, [{"x"}, {}]>'
expect_fine
expect_in_out '@m = <["x"=2]>'
show --mesh "$mesh" --strict '<@mesh, [{"x"}], replicated={}>'
expect_error 2 'expected string'
# Without --strict, what is written as in programs is read as in programs; the rest is sorted.
for sharding in '<@mesh, [{}], replicated={"y", "x"}>' '#sdy.sharding<@mesh, [{}], replicated={"y", "x"}>' \
    '<@mesh, [{}], replicated={}>'; do
    show --mesh "$mesh" "$sharding"
    expect_error 2 '<sharding>:1:'
done
for sharding in 'sharding<@mesh, [{}], replicated={"y", "x"}>' '[{}], replicated={"y", "x"}'; do
    show --mesh "$mesh" "$sharding"
    expect_fine
    expect_in_out 'sharding      #sdy.sharding<@mesh, [{}], replicated={"x", "y"}>'
done
show --mesh '<"x"=8>' --strict '<@mesh, [{"x"}]>'
expect_code 2
show --mesh "$mesh" '[{"y":(1)2}]'
expect_fine
show --mesh "$mesh" --no-sub-axes '[{"y":(1)2}]'
expect_error 2 'sub-axes'

finish
