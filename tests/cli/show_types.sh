#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2016,SC2034,SC2154
# The shape from a type after the sharding, and the name of a value before it.
source "$(dirname "$0")/helpers.bash"

show --mesh "$mesh" --shape 4x8xf32 '[{"x"}, {"y"}]'
expect_fine
expected=$out
for sharding in '[{"x"}, {"y"}] : tensor<4x8xf32>' '[{"x"}, {"y"}]:tensor<4x8xf32> ' \
    '%arg0 : [{"x"}, {"y"}] : tensor<4x8xf32>' '  %0#1: sharding<@mesh, [{"x"}, {"y"}]> : tensor<4x8xf32>' \
    '#sdy.sharding<@mesh, [{"x"}, {"y"}]> : tensor<4x8xf32>' "P('x', 'y') : tensor<4x8xf32>" \
    '[Shard(0), Shard(1)] : tensor<4x8xf32>' '%a-b$c_d.e : {devices=[2,4]<=[8]} : tensor<4x8xf32>'; do
    show --mesh "$mesh" "$sharding"
    expect_fine
    expect_out "$expected"
    show --mesh "$mesh" --shape 4x8 "$sharding"
    expect_fine
    expect_out "$expected"
done
show --mesh "$mesh" --shape 4x8xf32 --dtype f32 '[{"x"}, {"y"}] : tensor<4x8xf32>'
expect_out "$expected"
show --strict --mesh "$mesh" '<@mesh, [{"x"}, {"y"}]> : tensor<4x8xf32>'
expect_out "$expected"
show --mesh "$mesh" --shape 4x8xf32 '%arg0 : [{"x"}, {"y"}]'
expect_out "$expected"

# It is as good as --shape for what needs one.
show --mesh "$mesh" --dtype f32 '[{"x"}, {"y"}] : tensor<4x8xf32>'
expect_fine
show --mesh "$mesh" --devices 0:1 '[{"x"}, {"y"}] : tensor<4x8xf32>'
expect_in_out 'device 0      [0:2, 0:2]'
show --mesh "$mesh" --svg - '[{"x"}, {"y"}] : tensor<4x8xf32>'
expect_in_out 'shape 4x8'
show --mesh "$mesh" --to jax '[Shard(0), Shard(0)] : tensor<8x8xf32>'
expect_out "P(('x', 'y'), None)"
show --mesh "$mesh" '[] : tensor<f32>'
expect_in_out 'shape         scalar'
show --mesh "$mesh" '[{"x"}] : tensor<4xcomplex<f32>>'
expect_in_out 'bytes/device  16, as complex<f32>'

# Names and layouts that look like one.
show --mesh '<["x : tensor<4>"=2]>' '<@mesh, [{"x : tensor<4>"}]>'
expect_fine
expect_not_in_out 'local shape'
show --mesh '<["x\22 : tensor<4>"=2]>' '[{"x\" : tensor<4>"}] : tensor<6xi8>'
expect_fine
expect_in_out 'local shape   3'
show --mesh '<["x"=4]>' '[{"x":(1)2}:dynamic[1, 2]p1] : tensor<3xi8>'
expect_fine
expect_in_out 'local shape   2'

# What differs is refused.
show --mesh "$mesh" --shape 4x8 '[{"x"}, {}] : tensor<4x9xf32>'
expect_error 2 '--shape says 4x8, but the type after the sharding says 4x9: remove one'
show --mesh "$mesh" --shape '?x8' '[{"x"}] : tensor<8xf32>'
expect_error 2 '--shape says ?x8, but the type after the sharding says 8: remove one'
show --mesh "$mesh" --shape 4x8xf16 '[{"x"}, {}] : tensor<4x8xf32>'
expect_error 2 '--shape says f16, but the type after the sharding says f32: remove one'
show --mesh "$mesh" --dtype f16 '[{"x"}, {}] : tensor<4x8xf32>'
expect_error 2 'the type after the sharding says f32, but --dtype says f16: remove one'

# Errors are at their place in the whole argument.
show --mesh "$mesh" '%arg0 : [{"x"}, {"q"}] : tensor<4x8xf32>'
expect_error 2 '<sharding>:1:18: error: unknown axis name: "q"
%arg0 : [{"x"}, {"q"}] : tensor<4x8xf32>
                 ^~~'
show --mesh "$mesh" '%a : [{"x"}, {}] : tensor<8xf32>'
expect_error 2 "<sharding>:1:6: error: sharding doesn't match tensor rank: 2 != 1"
show --mesh "$mesh" '%a : [{"x"}, {}] more : tensor<4x8xf32>'
expect_error 2 '<sharding>:1:18: error: unexpected text after the sharding
%a : [{"x"}, {}] more : tensor<4x8xf32>
                 ^~~~'
[[ "$err" != *'^~~~~'* ]] || fail 'the caret is as wide as the word'
show --mesh "$mesh" '%a : [{"x"}] : tensor<4xf33>'
expect_error 2 "<sharding>:1:16: error: unknown element type 'f33'"
show --mesh "$mesh" '[{"x"}] : tensor<4;xf32>'
expect_error 2 '<sharding>:1:11: error: not a shape'
show --mesh "$mesh" '[{"x"}] : tensor<4xf32'
expect_error 2 '<sharding>:1:11: error: this type is not terminated'
show --mesh "$mesh" '[{"x"}] : tensor<4xf32> {a = 1}'
expect_error 2 '<sharding>:1:25: error: unexpected text after the type'
show --mesh "$mesh" '[{"x"}] : f32'
expect_error 2 '<sharding>:1:9: error: unexpected text after the sharding'
for sharding in '%arg0' '%arg0 :' '% : [{"x"' '%arg0 : tensor<4xf32>' ': tensor<4xf32>'; do
    show --mesh "$mesh" "$sharding"
    expect_code 2
    expect_no_out
    expect_in_err '<sharding>:1:'
done

finish
