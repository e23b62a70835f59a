#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# tessera-opt --interpret: checks, control flow, exit codes.
source "$(dirname "$0")/helpers.bash"
interpret() { run "$TESSERA_OPT" --interpret "$@"; }

cat >"$work/loop.mlir" <<'END'
func.func private @twice(%x: tensor<i64>) -> tensor<i64> {
  %0 = stablehlo.add %x, %x : tensor<i64>
  return %0 : tensor<i64>
}
func.func @main() {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %ten = stablehlo.constant dense<10> : tensor<i64>
  %0:2 = stablehlo.while(%i = %zero, %x = %one) : tensor<i64>, tensor<i64>
  cond {
    %more = stablehlo.compare LT, %i, %ten : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i64>
    %y = func.call @twice(%x) : (tensor<i64>) -> tensor<i64>
    stablehlo.return %next, %y : tensor<i64>, tensor<i64>
  }
  check.expect_eq_const %0#1, dense<1024> : tensor<i64>
  interpreter.print %0#0 : tensor<i64>
  return
}
END
interpret "$work/loop.mlir"
expect_fine
expect_out 'i64[] 10'

sed 's/1024/1023/' "$work/loop.mlir" >"$work/wrong.mlir"
interpret "$work/wrong.mlir"
expect_code 1
expect_in_err 'check.expect_eq_const: at [] the value is 1024, expected 1023'

cat >"$work/rows.mlir" <<'END'
func.func @rows() {
  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.5]]> : tensor<2x2xf32>
  %y = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  check.expect_almost_eq %x, %y : tensor<2x2xf32>
  return
}
END
interpret "$work/rows.mlir"
expect_code 1
expect_in_err 'at [1, 1] the value is 4.5, expected 4'

echo 'func.func @bad( {' >"$work/bad.mlir"
interpret "$work/bad.mlir"
expect_code 2

cat >"$work/inputs.mlir" <<'END'
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
END
interpret "$work/inputs.mlir"
expect_code 2
expect_in_err '0 inputs given, 1 expected'

cat >"$work/call.mlir" <<'END'
func.func @main() {
  %x = stablehlo.constant dense<1.0> : tensor<2xf32>
  %y = stablehlo.custom_call @nobody_knows(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
END
interpret "$work/call.mlir"
expect_code 3
expect_in_err 'stablehlo.custom_call is not supported here with target @nobody_knows: tensor<2xf32> -> tensor<2xf32>'

# What LAPACK would not take as the program says it: by rows, of another code, of other extents.
cat >"$work/lapack.mlir" <<'END'
func.func @main() {
  %x = stablehlo.constant dense<1.0> : tensor<1x2x2xf32>
  %y:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8},
    operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>]}
    : (tensor<1x2x2xf32>) -> (tensor<1x2x2xf32>, tensor<1xi32>)
  return
}
END
interpret "$work/lapack.mlir"
expect_fine
for change in 's/operand_layouts = .dense<.1, 2, 0/operand_layouts = [dense<[2, 1, 0/' 's/76/77/' 's/1x2x2x/1x2x3x/' \
    's/operand_layouts.*index>.}$/unused = 1 : i32}/' 's/uplo/other/' 's/_spotrf/_dpotrf/' 's/1xi32/1xi64/'; do
    sed "$change" "$work/lapack.mlir" >"$work/other.mlir"
    interpret "$work/other.mlir"
    expect_code 3
    expect_in_err 'stablehlo.custom_call is not supported here with target @lapack_'
done
finish
