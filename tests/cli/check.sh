#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2154
# `tessera check`: findings as text, JSON and SARIF, sources, exit codes, and what is refused.
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
cd "$work" || exit
cat > step.mlir << 'PROGRAM'
sdy.mesh @mesh = <["data"=4]>
func.func public @main(%w: tensor<6x3xf32>, %x: tensor<8x6xf32>, %g: tensor<8x3xf32>) -> tensor<6x3xf32> {
  %r = sdy.manual_computation(%w, %x, %g) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"data"}, {}]>, <@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"data"} (%a0: tensor<6x3xf32>, %a1: tensor<2x6xf32>, %a2: tensor<2x3xf32>) {
    %0 = stablehlo.dot_general %a1, %a2, contracting_dims = [0] x [0] : (tensor<2x6xf32>, tensor<2x3xf32>) -> tensor<6x3xf32> loc("train \"v1\".py":12:7)
    %1 = stablehlo.negate %0 : tensor<6x3xf32> loc(callsite("scale"("opt.py":3:9) at "train.py":30:1))
    %forward = stablehlo.dot_general %a1, %a0, contracting_dims = [1] x [0] : (tensor<2x6xf32>, tensor<6x3xf32>) -> tensor<2x3xf32>
    sdy.return %1 : tensor<6x3xf32>
  } : (tensor<6x3xf32>, tensor<8x6xf32>, tensor<8x3xf32>) -> tensor<6x3xf32>
  return %r : tensor<6x3xf32>
}
PROGRAM

run "$TESSERA" check step.mlir
expect_code 1
expect_no_err
expect_out 'step.mlir:5:10: error: result 0 has the type of argument 0, which is replicated over "data", but is a sum that was never reduced over that axis [unreduced-gradient]
  from opt.py:3:9
step.mlir:4:10: note: pending since here: each device has the sum over its own part
  from train "v1".py:12:7
step.mlir:3:8: note: declared replicated here
  help: reduce the gradient over "data" before it is returned: psum, pmean, all_reduce'

run "$TESSERA" check - < step.mlir
expect_code 1
expect_in_out '<stdin>:5:10: error: result 0'

run "$TESSERA" check --json step.mlir
expect_code 1
expect_out '[
  {"id": "TSR-C003", "rule": "unreduced-gradient", "severity": "error", "file": "step.mlir", "line": 5, "column": 10, "op": "stablehlo.negate", "source": {"file": "opt.py", "line": 3, "column": 9}, "axis": "data", "message": "result 0 has the type of argument 0, which is replicated over \"data\", but is a sum that was never reduced over that axis", "remedy": "reduce the gradient over \"data\" before it is returned: psum, pmean, all_reduce", "notes": [{"line": 4, "column": 10, "op": "stablehlo.dot_general", "source": {"file": "train \"v1\".py", "line": 12, "column": 7}, "text": "pending since here: each device has the sum over its own part"}, {"line": 3, "column": 8, "op": "sdy.manual_computation", "source": null, "text": "declared replicated here"}]}
]'

# The same as SARIF: a place in the source first, the places of notes as related.
run "$TESSERA" check --sarif step.mlir
expect_code 1
expect_in_out '"version": "2.1.0"'
expect_in_out '{"ruleId": "TSR-C003", "ruleIndex": 2, "level": "error",'
expect_in_out '"locations": [{"physicalLocation": {"artifactLocation": {"uri": "opt.py"}, "region": {"startLine": 3, "startColumn": 9}}}]'
expect_in_out '{"message": {"text": "in the program"}, "physicalLocation": {"artifactLocation": {"uri": "step.mlir"}, "region": {"startLine": 5, "startColumn": 10}}}'
expect_in_out '"uri": "train%20%22v1%22.py"'
if command -v python3 > /dev/null; then
    printf '%s' "$out" > found.sarif
    run python3 -c '
import json
log = json.load(open("found.sarif"))
run = log["runs"][0]
rules = run["tool"]["driver"]["rules"]
assert log["version"] == "2.1.0" and len(rules) == 12
assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in rules)
for result in run["results"]:
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
    for place in result["locations"] + result["relatedLocations"]:
        assert place["physicalLocation"]["artifactLocation"]["uri"]
        assert place["physicalLocation"]["region"]["startLine"] > 0'
    expect_fine
fi

# A warning fails the run only when asked to; notes are shown only when asked for.
sed 's/%1 = .*/%1 = stablehlo.multiply %a0, %a0 : tensor<6x3xf32>\n%2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<6x3xf32>) -> tensor<6x3xf32>/' step.mlir > sent.mlir
run "$TESSERA" check sent.mlir
expect_fine
expect_in_out 'warning: '
expect_in_out '[needless-collective]'
run "$TESSERA" check --werror sent.mlir
expect_code 1
cat > norm.mlir << 'PROGRAM'
sdy.mesh @mesh = <["data"=4]>
func.func public @main(%x: tensor<8xf32>) -> tensor<4xf32> {
  %r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%a: tensor<2xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.rsqrt %0 : tensor<f32>
    %2 = stablehlo.reshape %1 : (tensor<f32>) -> tensor<1xf32>
    sdy.return %2 : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
PROGRAM
run "$TESSERA" check norm.mlir
expect_fine
expect_no_out
run "$TESSERA" check --notes --werror norm.mlir
expect_fine
expect_in_out '[local-sum-in-nonlinear]'
run "$TESSERA" check --json norm.mlir
expect_fine
expect_out '[]'

run "$TESSERA" check --rules
expect_fine
expect_in_out 'TSR-C001  pending-in-nonlinear        error    a pending sum in a nonlinear op'
[ "$(wc -l <<< "$out")" -eq 12 ] || fail "twelve rules"

run "$TESSERA" check
expect_error 2 'a file is missing'
run "$TESSERA" check step.mlir norm.mlir
expect_error 2 'more than one file'
run "$TESSERA" check none.mlir
expect_error 2 'none.mlir'
echo 'func.func @main(' > cut.mlir
run "$TESSERA" check cut.mlir
expect_error 2 'cut.mlir:'
finish
