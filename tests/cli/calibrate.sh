#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2154
# `tessera calibrate`: measurements on threads and processes, the topology that fits them, and what is refused.
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
quick=(--bytes 16K --times 1)

run "$TESSERA" calibrate "${quick[@]}" --levels threads=2
expect_fine
for text in 'all-gather     threads' 'all-to-all     threads' 'reduce-scatter threads' 'slice          all' \
    'the maximum  median' 'the sum      median' '"name": "threads"' '"size": 2' '"latency"' '"copy"' '"f32"'; do
    expect_in_out "$text"
done
expect_width 80

run "$TESSERA" calibrate "${quick[@]}" --processes --levels host=3 --output "$work/here.json"
expect_fine
expect_not_in_out '"latency"'
grep -q '"name": "host"' "$work/here.json" || fail 'the file has the level'

# Every prediction is the formula of its kind, from the numbers of the topology: over all levels the bytes of the levels
# take their maximum, or their sum.
run "$TESSERA" calibrate "${quick[@]}" --levels outer=2,inner=3 --json
expect_fine
wrong=$(awk '
    function number(unit) {
        match($0, /: "[0-9.]+ [A-Za-z\/]+"/)
        split(substr($0, RSTART + 3, RLENGTH - 4), quantity, " ")
        unit["ps"] = 1e-12; unit["ns"] = 1e-9; unit["us"] = 1e-6; unit["ms"] = 1e-3; unit["s"] = 1
        unit["B/s"] = 1; unit["kB/s"] = 1e3; unit["MB/s"] = 1e6; unit["GB/s"] = 1e9; unit["TB/s"] = 1e12
        if (!(quantity[2] in unit)) { print "unit " quantity[2]; exit }
        return quantity[1] * unit[quantity[2]]
    }
    function field(name, from) {
        from = substr($0, index($0, "\"" name "\": ") + length(name) + 4)
        gsub(/^"/, "", from)
        sub(/[",}].*/, "", from)
        return from
    }
    function off(a, b) { return a - b > 1e-6 * b || b - a > 1e-6 * b }
    /"latency"/ { levels++; latency[levels] = number() }
    /"bandwidth"/ { bandwidth[levels] = number() }
    /"copy"/ { copy = number() }
    /"reduction"/ { reduction = number() }
    /"kind"/ {
        rows++
        kind = field("kind"); level = field("level"); bytes = field("bytes")
        outer = level == "inner" ? 1 : 2
        inner = level == "outer" ? 1 : 3
        part = bytes / (outer * inner)
        peers[1] = (outer - 1) * inner; peers[2] = inner - 1
        each = kind == "all-to-all" ? part / (outer * inner) : part
        if (kind == "slice") { most = sum = part / copy }
        else {
            base = peers[1] * latency[1] + peers[2] * latency[2]
            if (kind == "reduce-scatter") base += (outer * inner - 1) * part / reduction
            a = peers[1] * each / bandwidth[1]; b = peers[2] * each / bandwidth[2]
            most = base + (a > b ? a : b); sum = base + a + b
        }
        if (off(field("max"), most) || off(field("sum"), sum)) print "predicted " field("max") ", not " most ": " $0
    }
    END { if (levels != 2 || rows != 20) print levels " levels, " rows " measurements" }
' <<<"$out")
[[ -z $wrong ]] || fail "$wrong"

run "$TESSERA" calibrate --levels x=1
expect_error 2 '--levels x=1: level x has size 1; nothing moves along a level of less than 2'
run "$TESSERA" calibrate --levels x=200,y=2
expect_error 2 '400 ranks; the maximum is 256'
run "$TESSERA" calibrate --levels x=
expect_error 2 'error: '
run "$TESSERA" calibrate --levels '<["x"=2], device_ids=[1, 0]>'
expect_error 2 'in the order of the ranks'
run "$TESSERA" calibrate --bytes 4095
expect_error 2 '--bytes must be a number of bytes of at least 4096'
run "$TESSERA" calibrate --times 0
expect_error 2 '--times must be 1 to 1000, got: 0'
run "$TESSERA" calibrate --timeout soon
expect_error 2 '--timeout must be a number of seconds above 0, got: soon'
run "$TESSERA" calibrate here.json
expect_error 2 "unexpected argument 'here.json'"
run "$TESSERA" calibrate "${quick[@]}" --levels threads=2 --output "$work/missing/here.json"
expect_error 2 'cannot write'
run env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "$TESSERA" calibrate
expect_error 2 '--levels is missing: under mpirun'
