#!/usr/bin/env bash
# shellcheck disable=SC1091
# `tessera explain`: paths, conflicts, suggestions that hold, how values are named, and errors.
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
cat > "$work/clash.mlir" << 'PROGRAM'
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
                %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}]>})
    -> (tensor<8x8xf32> {jax.result_info = "result['loss']"}) {
  %sum = stablehlo.add %a, %b : tensor<8x8xf32>
  %p = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = sdy.sharding_constraint %p <@mesh, [{}, {?}]> : tensor<8x8xf32>
  %r = func.call @double(%p) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = stablehlo.add %sum, %c : tensor<8x8xf32>
  %z = stablehlo.add %q, %r : tensor<8x8xf32> loc("model.py":7:3)
  return %z : tensor<8x8xf32>
}
func.func private @double(%t: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %u = stablehlo.add %t, %t : tensor<8x8xf32>
  return %u : tensor<8x8xf32>
}
PROGRAM

run "$TESSERA" explain "$work/clash.mlir" %p
expect_fine
expect_in_out '%p (line 7): tensor<8x8xf32> [{"x", ?}, {?}]'
expect_in_out 'dim 0 has "x" from argument 0 of @main (line 2), annotated [{"x"}, {}]'
expect_in_out 'to %p dim 0, by dot_general (line 7)'
expect_in_out 'dim 1 stays without "x", which dot_general (line 7) has on %w:'
expect_in_out 'it is on dim 0 already, from argument 0 of @main'
expect_in_out 'to have it there, annotate %p with [{?}, {"x", ?}]'
expect_not_in_out '%sum'

# Through a call, with the names of the function called; by line, by source, by result.
run "$TESSERA" explain "$work/clash.mlir" %u
expect_fine
expect_in_out '%u of @double (line 15)'
expect_in_out 'to %t of @double dim 0, around call (line 9)'
run "$TESSERA" explain "$work/clash.mlir" 8
expect_in_out '%c (line 8): tensor<8x8xf32> [{}, {?}]'
expect_in_out 'the dimension is closed by the constraint %c (line 8), annotated [{}, {?}]'
expect_in_out 'annotate %c with [{"x", ?}, {?}]'
run "$TESSERA" explain "$work/clash.mlir" model.py:7
expect_in_out '%z (line 11)'
run "$TESSERA" explain "$work/clash.mlir" "result['loss']"
expect_in_out 'result 0 of @main'
run "$TESSERA" explain "$work/clash.mlir" result0
expect_in_out 'result 0 of @main'
expect_in_out 'by return'

# A warning is told once, however many suggestions are tried.
sed 's/stablehlo.add %sum, %c/"new.op"(%sum, %c)/; s/^  %q = \(.*\) : tensor<8x8xf32>$/  %q = \1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>/' "$work/clash.mlir" > "$work/unknown.mlir"
run "$TESSERA" explain "$work/unknown.mlir"
expect_code 0
expect_in_out 'to have it there, annotate'
[ "$(grep -c "warning: op 'new.op' has no sharding rule" <<<"$err")" -eq 1 ] || fail 'the warning should be told once'

# Every suggestion is applied as it says, and the dimension then has the axis.
run "$TESSERA" explain "$work/clash.mlir" --json
expect_fine
python3 - "$TESSERA" "$work/clash.mlir" "$work/out" << 'PYTHON' || fail "a suggestion does not hold"
import json, subprocess, sys
tessera, program, out = sys.argv[1:]
tried = 0
for value in json.load(open(out))["tensors"]:
    for conflict in value["conflicts"]:
        s = conflict["suggestion"]
        if s is None:
            continue
        table = json.loads(subprocess.run(
            [tessera, "explain", program, value["value"], "--value", s["value"], s["sharding"], "--json"],
            check=True, capture_output=True, text=True).stdout)
        assert any(a["dim"] == conflict["dim"] and a["axis"] == conflict["axis"]
                   for entry in table["tensors"] for a in entry["axes"]), (value["value"], conflict)
        tried += 1
assert tried >= 2, tried
PYTHON

# Totals come first; of many tensors those with the most bytes on a device are shown, or as many as --top says.
run "$TESSERA" explain "$work/clash.mlir" --top 2
expect_fine
[[ $out =~ ^([0-9]+)\ tensors\ have\ an\ axis,\ ([0-9]+)\ lack\ one ]] || fail 'totals should come first'
expect_in_out 'showing the 2 of '
[ "$(grep -c '^%' <<<"$out")" -eq 2 ] || fail 'two tensors should be shown'
expect_in_out ' stays without '
run "$TESSERA" explain "$work/clash.mlir" --top -1
expect_error 2 'from 0 to 2^63-1'

# A chain of N ops: JSON has each step once, and is linear in N, as is the time; without --top 20 tensors are printed.
chain() {
    echo 'sdy.mesh @mesh = <["x"=2]>'
    echo 'func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32> {'
    echo '  %0 = stablehlo.add %a, %b : tensor<8xf32>'
    for ((i = 1; i < $1; i++)); do
        echo "  %$i = stablehlo.add %$((i - 1)), %b : tensor<8xf32>"
    done
    echo "  return %$(($1 - 1)) : tensor<8xf32>"
    echo '}'
}
chain 1000 >"$work/short.mlir"
chain 4000 >"$work/long.mlir"
"$TESSERA" explain --json "$work/short.mlir" >"$work/short.json"
"$TESSERA" explain --json "$work/long.mlir" >"$work/long.json"
[ $(($(wc -c <"$work/long.json"))) -lt $((5 * $(wc -c <"$work/short.json"))) ] || fail 'JSON should be linear'
run "$TESSERA" explain "$work/long.mlir"
[ "${#out}" -lt 30000 ] || fail 'twenty tensors should be printed'
run "$TESSERA" explain "$work/long.mlir" %3999
expect_in_out '... 3993 more, all with --full'
python3 - "$work/long.json" << 'PYTHON' || fail 'steps should lead to annotations'
import json, sys
told = json.load(open(sys.argv[1]))
steps = {s["step"]: s for s in told["steps"]}
assert len(steps) == len(told["steps"]) > 4000
assert told["totals"]["tensors"] == len(told["tensors"]) == told["totals"]["shown"]
last = next(t for t in told["tensors"] if t["value"] == "%3999")
step, hops = steps[last["axes"][0]["step"]], 0
assert step["value"] == "%3999"
while step["from"] is not None:
    assert step["from"] < step["step"]
    step, hops = steps[step["from"]], hops + 1
assert step["by"] == "annotated" and step["value"] == "%a" and hops == 4000, (step, hops)
PYTHON

# A program without shardings, annotated by the command line.
cat > "$work/plain.mlir" << 'PROGRAM'
func.func @main(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
PROGRAM
run "$TESSERA" explain "$work/plain.mlir"
expect_fine
expect_out "no tensor has an axis: the program has no annotations; give some, such as --mesh x=2,y=4 --arg 0 \"P('x')\""
run "$TESSERA" explain "$work/plain.mlir" %0 --mesh '<["x"=2,"y"=4]>' --arg 1 '[{"x"}, {"y"}]'
expect_fine
expect_in_out 'dim 0 has "x" from argument 1 of @main (line 1), annotated [{"x"}, {"y"}]'
run "$TESSERA" propagate "$work/plain.mlir" --mesh '<["x"=2,"y"=4]>' --arg 1 '[{"x"}, {"y"}]' --result 0 '[{}, {?}]'
expect_fine
expect_in_out 'sdy.mesh @mesh = <["x"=2, "y"=4]>'
expect_in_out '%arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}'
expect_in_out '-> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>})'

run "$TESSERA" explain "$work/clash.mlir" %nothing
expect_error 2 'has no value %nothing'
run "$TESSERA" explain
expect_error 2 'a file is missing'
run "$TESSERA" explain "$work/clash.mlir" %p %q
expect_error 2 'more than one value'
run "$TESSERA" explain "$work/clash.mlir" --until-priority x
expect_error 2 'from 0 to 2^63-1'
run "$TESSERA" propagate "$work/plain.mlir" --arg 0 '[{"x"}, {}]'
expect_error 2 'the program has no mesh'
run "$TESSERA" propagate "$work/plain.mlir" --mesh '<["x"=2]>' --arg 7 '[{"x"}, {}]'
expect_error 2 'main has 2 arguments'
run "$TESSERA" propagate "$work/plain.mlir" --mesh '<["x"=2]>' --arg 0
expect_error 2 'needs a number and a sharding'
run "$TESSERA" propagate "$work/plain.mlir" --mesh '<["x"=2]>' --arg 0 '[{"x"}]'
expect_error 2 "sharding doesn't match tensor rank: 1 != 2"
run "$TESSERA" propagate "$work/plain.mlir" --mesh '<["x"=2]>' --value %9 '[{"x"}, {}]'
expect_error 2 'unknown value %9'
finish
