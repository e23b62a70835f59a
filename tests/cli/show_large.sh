#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# Large meshes and shapes: at once, and never wider than 80 columns.
source "$(dirname "$0")/helpers.bash"

huge='<["x"=1048576,"y"=1048576]>'
limit=10
quick() { run timeout "$limit" "$TESSERA" show "$@"; }

quick --mesh "$huge" --shape 1099511627776x1048577 '[{"x"}, {"y"}]'
expect_fine
expect_width 80
expect_in_out 'devices       1099511627776'
expect_in_out '…'
quick --mesh "$huge" --shape 1048576x8 '[{"x"}, {}]'
expect_fine
expect_width 80
expect_in_out '0-1048575'
quick --mesh "$huge" --shape 1048576x8 '[{}, {"x"}]'
expect_fine
expect_width 80
quick --mesh "$huge" --shape 8x8 '[{"x", "y"}, {}]'
expect_fine
expect_width 80
expect_in_out '1099511627768 devices hold nothing'
quick --mesh "$huge" --shape 8 '[{"y":(2)2}]'
expect_fine
expect_width 80
quick --mesh "$huge" --shape 4x4x4x4x4x4 '[{"x":(1)4}, {"y":(1)4}, {"x":(4)4}, {}, {}, {}]'
expect_fine
expect_width 80
expect_in_out '… and 60 more slices'
quick --mesh "$huge" --shape 9223372036853727232 '[{"x"}]'
expect_fine
expect_width 80
quick --mesh "$huge" --shape 3037000499x3037000499 '[{"x"}, {"y"}]'
expect_fine
expect_width 80
quick --mesh "$huge" --shape 1048576x1048576xf32 --json '[{"x"}, {"y"}]'
expect_error 2 '--devices A:B'
quick --mesh "$huge" --shape 1048576x1048576xf32 --json --devices 1099511627775: '[{"x"}, {"y"}]'
expect_fine
expect_in_out '{"id": 1099511627775, "start": [1048575, 1048575], "size": [1, 1]}'
quick --mesh "$huge" --shape 1048576x1048576 --svg - '[{"x"}, {"y"}]'
expect_fine
expect_in_out '</svg>'

# Every number of shards in every direction.
for count in 1 2 7 8 9 15 16 17 40 1000; do
    for sharding in '[{"x"}, {}]' '[{}, {"x"}]' '[{"x"}, {"y"}]'; do
        quick --mesh "<[\"x\"=$count, \"y\"=$count, \"z\"=3]>" --shape 123456x1000 "$sharding"
        expect_fine
        expect_width 80
        quick --ascii --mesh "<[\"x\"=$count, \"y\"=$count, \"z\"=3]>" --shape 123456x1000 "$sharding"
        expect_fine
        expect_width 80
    done
done

# A long list of ids and a long sharding.
ids=$(seq -s, 255 -1 0)
quick --mesh "<[\"x\"=16, \"y\"=16], device_ids=[$ids]>" --shape 16x16 '[{"x"}, {"y"}]'
expect_fine
expect_width 80
quick --mesh '<["batch"=2, "sequence"=2, "heads"=2, "model"=2, "expert"=2, "stage"=2]>' \
    '[{"batch", "sequence"}, {"heads", ?}, {"model", ?}p3], replicated={"expert", "stage"}'
expect_fine
expect_width 80
# Ids in no order at all.
ids=$(seq 0 1023 | awk '{print ($1 * 617 + 5) % 1024}' | paste -sd,)
quick --mesh "<[\"x\"=4, \"y\"=256], device_ids=[$ids]>" --shape 16x16 '[{"x"}, {}]'
expect_fine
expect_width 80
expect_in_out '…'

# A tensor of 40000 dimensions, in time and memory that are linear in that.
ones=$(printf 'x1%.0s' {1..39999})
dims=$(printf ',{}%.0s' {1..39999})
quick --mesh '<["x"=2]>' --shape "2$ones" "[{\"x\"}$dims]"
expect_fine
expect_in_out "local shape   1$ones"
expect_in_out '[1:2, :, :,'
quick --mesh '<["x"=2]>' --shape "2$ones" --svg - "[{\"x\"}$dims]"
expect_fine
[ "${#out}" -lt 10000 ] || fail 'titles and boxes are cut'
if ! grep -qE '__(asan|tsan)_init' "$TESSERA"; then
    # CBLAS reserves addresses for each of its threads as it is loaded, about 100 MB for one.
    last='40000 dimensions in 200 MB'
    (
        export OPENBLAS_NUM_THREADS=1
        ulimit -v 300000
        "$TESSERA" show --mesh '<["x"=2]>' --shape "2$ones" "[{\"x\"}$dims]" >/dev/null
    ) || fail 'memory'
fi

finish
