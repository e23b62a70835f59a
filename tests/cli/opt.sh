#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# tessera-opt: input, output, pieces, options.
source "$(dirname "$0")/helpers.bash"
opt() { run "$TESSERA_OPT" "$@"; }

cat >"$work/good.mlir" <<'END'
func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %sum = stablehlo.add %x, %x : tensor<4xf32>
  return %sum : tensor<4xf32>
}
END
good='module {
  func.func @double(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}'

opt "$work/good.mlir"
expect_fine
expect_out "$good"

for source in '' -; do
    # shellcheck disable=SC2086
    opt $source <"$work/good.mlir"
    expect_fine
    expect_out "$good"
done

# Standard input is read from where it is, not from the start of its file.
{ echo 'a line for another reader' && cat "$work/good.mlir"; } >"$work/later.mlir"
{ read -r _ && opt -; } <"$work/later.mlir"
expect_fine
expect_out "$good"

opt "$work/good.mlir" -o "$work/made.mlir"
expect_fine
expect_no_out
opt "$work/made.mlir" --o=-
expect_fine
expect_out "$good"

# In programs, and only there, true and false are integers.
echo 'sdy.mesh @m = <["x"=2], device_ids=[1, false]>' >"$work/bools.mlir"
opt "$work/bools.mlir"
expect_fine
expect_in_out 'device_ids=[1, 0]'
show --mesh '<["x"=2], device_ids=[1, false]>' --shape 4 '[{"x"}]'
expect_error 2 'expected integer value'

# A file that is replaced keeps its permissions, and a link to it stays one.
echo old >"$work/kept.mlir"
chmod 640 "$work/kept.mlir"
ln -s kept.mlir "$work/link.mlir"
opt "$work/good.mlir" -o "$work/link.mlir"
expect_fine
[ -L "$work/link.mlir" ] || fail 'the link stays'
[ "$(stat -c %a "$work/kept.mlir")" = 640 ] || fail 'permissions stay'
[ "$(cat "$work/kept.mlir")" = "$(cat "$work/made.mlir")" ] || fail 'the file is replaced'
opt -no-such-option "$work/good.mlir" -o "$work/link.mlir"
expect_code 1
echo 'no program' >"$work/bad.mlir"
opt "$work/bad.mlir" -o "$work/link.mlir"
expect_code 1
[ "$(cat "$work/kept.mlir")" = "$(cat "$work/made.mlir")" ] || fail 'the file stays after an error'
[ "$(find "$work" -name '*.mlir.*')" = '' ] || fail 'nothing is left beside the file'
rm "$work/bad.mlir"

opt "$work/good.mlir" -mlir-print-op-generic
expect_fine
expect_in_out '"stablehlo.add"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>'

opt "$work/good.mlir" --mlir-print-debuginfo
expect_fine
expect_in_out 'loc(#loc'

opt "$work/good.mlir" -mlir-timing -verify-each=false -mlir-disable-threading
expect_code 0
expect_out "$good"
expect_in_err 'Execution time report'
expect_in_err 'Parser'

# Pieces: a bad one does not keep the others from the output.
{
    cat "$work/good.mlir"
    printf '// -----\nfunc.func @bad() { %%0 = stablehlo.ad }\n// -----\n'
    cat "$work/good.mlir"
} >"$work/pieces.mlir"
opt "$work/pieces.mlir" -split-input-file
expect_code 1
expect_out "$good

// -----
$good"
expect_in_err "$work/pieces.mlir:6:"
expect_in_err ": error: custom op 'stablehlo.ad' is unknown"
expect_in_err 'func.func @bad() { %0 = stablehlo.ad }'
expect_in_err '^'

opt "$work/pieces.mlir" -split-input-file -o "$work/none.mlir"
expect_code 1
[[ ! -e $work/none.mlir ]] || fail 'no output file after an error'

opt --split-input-file='//===' -output-split-marker='//+++' <<'END'
module @a {
}
//===
module @b {
}
END
expect_fine
expect_out 'module @a {
}

//+++
module @b {
}'

# Ops that are not known.
echo '"some.op"() : () -> ()' >"$work/foreign.mlir"
opt "$work/foreign.mlir"
expect_error 1 'please use -allow-unregistered-dialect'
opt "$work/foreign.mlir" -allow-unregistered-dialect
expect_fine
expect_in_out '"some.op"() : () -> ()'

# Wrong usage.
opt "$work/absent.mlir"
expect_error 1 "cannot open input file '$work/absent.mlir': No such file or directory"
opt "$work/good.mlir" "$work/foreign.mlir"
expect_error 1 'more than one input file'
opt --split-input-fil
expect_error 1 "unknown option or pass '--split-input-fil'; did you mean '--split-input-file'?"
opt -zzzzzzzzzzz
expect_error 1 "unknown option or pass '-zzzzzzzzzzz'; see --help"
opt -mlir-timing=perhaps
expect_error 1 "is true or false, not 'perhaps'"
opt -pass-pipeline='builtin.module(nothing-like-it)' "$work/good.mlir"
expect_error 1 "unknown pass 'nothing-like-it'"
opt --pass-pipeline 'builtin.module(nothing-like-it)' "$work/good.mlir"
expect_error 1 "unknown pass 'nothing-like-it'"
opt --pass-pipeline 'builtin.module()' "$work/good.mlir"
expect_fine
expect_out "$good"
opt "$work/good.mlir" --pass-pipeline
expect_error 1 '--pass-pipeline needs a value'
opt -pass-pipeline='func(' "$work/good.mlir"
expect_error 1 'expected builtin.module(...)'
opt "$work/good.mlir" -o /nowhere/at/all
expect_error 1 "cannot write '/nowhere/at/all'"
code=0
"$TESSERA_OPT" "$work/good.mlir" >/dev/full 2>"$work/err" || code=$?
err=$(cat "$work/err")
expect_code 1
expect_in_err "cannot write"

opt --version
expect_fine
[[ "$out" =~ ^tessera-opt\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail 'tessera-opt X.Y.Z'
opt -help
expect_fine
for option in split-input-file verify-diagnostics pass-pipeline allow-unregistered-dialect; do
    expect_in_out "--$option"
done
opt --show-dialects
expect_fine
expect_in_out stablehlo
opt --list-passes
expect_fine

finish
