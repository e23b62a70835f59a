#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# The picture as SVG.
source "$(dirname "$0")/helpers.bash"

# Every tag that is opened is closed, and text is escaped.
expect_well_formed() {
    local file=$1
    [ "$(head -c 5 "$file")" = '<?xml' ] || fail "$file starts as XML"
    [ "$(tail -n 1 "$file")" = '</svg>' ] || fail "$file is complete"
    [ "$(grep -o '<text' "$file" | wc -l)" -eq "$(grep -o '</text>' "$file" | wc -l)" ] ||
        fail "$file: text is closed"
    [ "$(grep -c '<rect' "$file")" -eq "$(grep -c '<rect.*/>$' "$file")" ] || fail "$file: rects"
    if sed 's/&\(amp\|lt\|gt\|quot\|#39\|#xFFFD\);//g' "$file" | grep -q '&'; then
        fail "$file: bare ampersand"
    fi
    if command -v xmllint >/dev/null; then
        xmllint --noout "$file" || fail "$file: xmllint"
    fi
}

show --mesh "$mesh" --shape 4x8 --svg "$work/a.svg" '[{"x"}, {"y"}]'
expect_fine
expect_in_out 'local shape   2x2'
expect_well_formed "$work/a.svg"
svg=$(cat "$work/a.svg")
for text in '#sdy.sharding&lt;@mesh, [{&quot;x&quot;}, {&quot;y&quot;}]&gt;' 'shape 4x8' '>0:2<' \
    '[0:2, 2:4]: device 1'; do
    [[ "$svg" == *"$text"* ]] || fail "SVG contains $text"
done
[ "$(grep -c 'class="cell"' "$work/a.svg")" -eq 16 ] || fail '8 cells and 8 legend entries'
[ "$(find "$work" -name 'a.svg*' | wc -l)" -eq 1 ] || fail 'no temporary file is left'

# To standard output: only that.
show --mesh "$mesh" --shape 4x8 --svg - '[{"x"}, {"y"}]'
expect_fine
[ "$out" = "$svg" ] || fail 'the same on standard output'

# With JSON beside it.
show --mesh "$mesh" --shape 4x8 --json --svg "$work/b.svg" '[{"x"}, {"y"}]'
expect_fine
expect_in_out '"local_shape"'
cmp -s "$work/a.svg" "$work/b.svg" || fail 'the same with --json'

# A name that XML would take apart, and one that is not UTF-8.
show --mesh '<["<&>"=2]>' --shape 4 --svg "$work/c.svg" '[{"<&>"}]'
expect_fine
expect_well_formed "$work/c.svg"
show --mesh $'<["\xff"=2]>' --shape 4 --svg "$work/d.svg" $'[{"\xff"}]'
[ ! -e "$work/d.svg" ] || expect_well_formed "$work/d.svg"

# All kinds of pictures.
number=0
while read -r shape sharding; do
    number=$((number + 1))
    show --mesh '<["x"=2, "y"=64]>' --shape "$shape" --svg "$work/k$number.svg" "$sharding"
    expect_fine
    expect_well_formed "$work/k$number.svg"
done <<'END'
scalar []
5 [{"x"}]
0x3 [{"x"}, {}]
128x128 [{"x"}, {"y"}]
128x128 [{"y"}, {"x"}]
5x2 [{"y"}, {}]
4x64x2x2 [{"x"}, {"y"}, {}, {}]
16 [{"x"}:partitioned[[2, 3], [4, 7]]]
END

# Long titles are cut.
ids=$(seq -s, 255 -1 0)
show --mesh "<[\"x\"=256], device_ids=[$ids]>" --shape 256 --svg "$work/long.svg" '[{"x"}]'
expect_fine
expect_well_formed "$work/long.svg"
[ "$(wc -L <"$work/long.svg")" -lt 400 ] || fail 'long titles are cut'

# It replaces a file, keeps its permissions, and follows a link.
echo old >"$work/e.svg"
chmod 640 "$work/e.svg"
ln -s e.svg "$work/link.svg"
show --mesh "$mesh" --shape 4x8 --svg "$work/link.svg" '[{"x"}, {"y"}]'
expect_fine
cmp -s "$work/a.svg" "$work/e.svg" || fail 'the target of the link is written'
[ -L "$work/link.svg" ] || fail 'the link stays'
[ "$(stat -c %a "$work/e.svg")" = 640 ] || fail 'permissions stay'

# Failures: a message, exit code 2, no file left.
show --mesh "$mesh" --shape 4x8 --svg "$work/none/a.svg" '[{"x"}, {"y"}]'
expect_code 2
expect_in_err 'cannot write'
expect_in_err 'No such file or directory'
show --mesh "$mesh" --shape 4x8 --svg "$work" '[{"x"}, {"y"}]'
expect_code 2
expect_in_err 'Is a directory'
if [ -c /dev/full ]; then
    show --mesh "$mesh" --shape 4x8 --svg /dev/full '[{"x"}, {"y"}]'
    expect_code 2
    expect_in_err 'No space left'
    [ -c /dev/full ] || fail '/dev/full is still a device'
fi
# A file size limit stands for a full disk.
code=0
(
    ulimit -f 1
    trap '' XFSZ
    exec "$TESSERA" show --mesh "$mesh" --shape 4x8 --svg "$work/f.svg" '[{"x"}, {"y"}]'
) >/dev/null 2>"$work/err" || code=$?
[ "$code" -eq 2 ] || fail "exit code at the file size limit is $code"
[ "$(find "$work" -name 'f.svg*' | wc -l)" -eq 0 ] || fail 'no partial file'

finish
