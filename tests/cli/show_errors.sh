#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# Errors of the input: a place, a caret, exit code 2.
source "$(dirname "$0")/helpers.bash"

show --mesh "$mesh" --shape 4x8 '[{"q"}, {}]'
expect_error 2 '<sharding>:1:'
expect_in_err 'unknown axis name: "q"'
expect_in_err '^'

show --mesh '<["x"=0]>' '[{"x"}]'
expect_error 2 '<mesh>:1:'
expect_in_err 'axis size must be at least 1, got: 0'

show --mesh '<["x"=2]> <["y"=2]>' '[{"x"}]'
expect_error 2 'unexpected text after the mesh'
expect_in_err '<mesh>:1:11'
show --mesh "$mesh" '[{"x"}] [{"y"}]'
expect_error 2 'unexpected text after the sharding'
expect_in_err '<sharding>:1:9'

show --mesh "$mesh" --shape 4 '[{"x"}, {}]'
expect_code 2
expect_no_out
show --mesh "$mesh" ''
expect_code 2
expect_no_out

show "P('x')"
expect_error 2 'needs a mesh'
show '[Shard(0)]'
expect_error 2 'needs a mesh'
show '[{"x"}]'
expect_error 2 'add --mesh'
show '<@nowhere, [{"x"}]>'
expect_code 2
expect_in_err 'nowhere'

for shape in 4x 4xx8 x8 -4 4x-8 '4;8' 4x8x '<4>' 4.5; do
    show --mesh "$mesh" "--shape=$shape" '[{"x"}, {}]'
    expect_error 2 "--shape '$shape': not a shape"
done
show --mesh "$mesh" --shape 99999999999999999999 '[{"x"}]'
expect_error 2 "--shape '99999999999999999999': extent 0 does not fit"
show --mesh "$mesh" --shape 4x8xf33 '[{"x"}, {}]'
expect_error 2 "--shape '4x8xf33': unknown element type 'f33'; known ones are"
show --mesh "$mesh" --shape 4x8 --dtype f33 '[{"x"}, {}]'
expect_error 2 'f33'
show --mesh "$mesh" --shape 4x8xf32 --dtype f64 '[{"x"}, {}]'
expect_error 2 '--shape says f32, but --dtype says f64'
show --mesh "$mesh" --shape '?x8' '[{"x"}, {}]'
expect_code 2
expect_no_out
show --mesh "$mesh" --shape 4611686018427387904x4 '[{"x"}, {}]'
expect_code 2
expect_no_out

# Errors that need the extents are pointed at too.
show --mesh '<["x"=2]>' --shape 6 '[{"x"}:dynamic[2, 3]]'
expect_error 2 '<sharding>:1:2: error: dim 0: its sizes sum to 5, the extent is 6'
expect_in_err '
[{"x"}:dynamic[2, 3]]
 ^~~'

# Errors that ask for the shape name the option, where it was not given.
note='note: give it with --shape'
for sharding in '[Replicate(), Replicate()]' '{replicated}'; do
    show --mesh "$mesh" "$sharding"
    expect_error 2 'give the shape of the tensor'
    expect_in_err "$note"
done
show --mesh "$mesh" --to dtensor '[{"x", "y"}]'
expect_error 2 'which is unknown'
expect_in_err "$note"
show --mesh "$mesh" --shape '?' --to dtensor '[{"x", "y"}]'
expect_error 2 'which is unknown'
expect_not_in_err "$note"
show --mesh "$mesh" '[{"q"}]'
expect_error 2 'unknown axis name'
expect_not_in_err "$note"

for range in 3 a:b 1:2:3 -1:2 1-2; do
    show --mesh "$mesh" --shape 4x8 "--devices=$range" '[{"x"}, {}]'
    expect_error 2 "--devices '$range' is not a range"
done
for range in 0:9 5:4 9:; do
    show --mesh "$mesh" --shape 4x8 "--devices=$range" '[{"x"}, {}]'
    expect_error 2 "--devices '$range' is out of range: the mesh has the places 0:8"
done

finish
