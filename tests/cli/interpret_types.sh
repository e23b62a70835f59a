#!/usr/bin/env bash
# shellcheck disable=SC1091
# Which ops the interpreter runs on which element types: whatever is legal, but for the pairs that
# tests/golden/interpret_unsupported.txt lists. That list is to shrink: a pair that runs must go.
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
opt=$(dirname "$TESSERA")/tessera-opt
integers='i2 i4 i8 i16 i32 i64 ui2 ui4 ui8 ui16 ui32 ui64'
floats='f4E2M1FN f6E2M3FN f6E3M2FN f8E3M4 f8E4M3 f8E4M3FN f8E4M3FNUZ f8E4M3B11FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU f16 bf16 f32 f64'
complexes='complex<f32> complex<f64>'
one() {
    case $1 in
    i1) echo true ;;
    complex*) echo '(1.0, 0.0)' ;;
    *f[0-9]*) echo 1.0 ;;
    *) echo 1 ;;
    esac
}
unary='abs cbrt ceil cosine count_leading_zeros exponential exponential_minus_one floor imag is_finite log
    log_plus_one logistic negate not popcnt real round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh'
chlo_unary='acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv erfc is_inf is_neg_inf
    is_pos_inf lgamma sinh square'
binary='add and atan2 divide maximum minimum multiply or power remainder shift_left shift_right_arithmetic
    shift_right_logical subtract xor'
chlo_binary='next_after polygamma zeta'

# program OP TYPE OPERANDS: one op in the generic form; the result type is what the op gives.
program() {
    local result=tensor\<2x$2\> operands types
    case $1 in
    *is_*) result='tensor<2xi1>' ;;
    *.abs | *.real | *.imag) result=${result/complex<f32>/f32} result=${result/complex<f64>/f64} ;;
    esac
    operands='%c' types="tensor<2x$2>"
    if [ "$3" -eq 2 ]; then
        operands='%c, %c' types="tensor<2x$2>, tensor<2x$2>"
    fi
    printf 'func.func @main() {\n  %%c = stablehlo.constant dense<%s> : tensor<2x%s>\n  %%r = "%s"(%s) : (%s) -> %s\n  return\n}\n' \
        "$one" "$2" "$1" "$operands" "$types" "$result"
}

: > "$work/unsupported"
ran=0
try() { # OP TYPE OPERANDS
    local code=0
    program "$1" "$2" "$3" > "$work/p.mlir"
    "$opt" --interpret "$work/p.mlir" > "$work/out" 2> "$work/err" || code=$?
    case $code in
    0) ran=$((ran + 1)) ;;
    2) ;; # it is not legal
    3) echo "$1 $2" >> "$work/unsupported" ;;
    *) last="$1 $2" out=$(cat "$work/err") err='' && fail "exit code $code" ;;
    esac
}
one=
types="i1 $integers $floats $complexes"
[[ ${TSR_BUILD_DIR:-} != *-asan ]] || types='i1 ui4 i64 f8E5M2 bf16 complex<f32>' # it is slow there
for type in $types; do
    one=$(one "$type")
    for op in $unary; do try "stablehlo.$op" "$type" 1; done
    for op in $chlo_unary; do try "chlo.$op" "$type" 1; done
    for op in $binary; do try "stablehlo.$op" "$type" 2; done
    for op in $chlo_binary; do try "chlo.$op" "$type" 2; done
done
[ "$ran" -gt 150 ] || fail "only $ran pairs ran"
while read -r op type; do
    [[ " $types " != *" $type "* ]] || echo "$op $type"
done < "$TSR_SOURCE_DIR/tests/golden/interpret_unsupported.txt" > "$work/wanted"
if ! diff "$work/wanted" "$work/unsupported" > "$work/diff"; then
    last='the list of unsupported pairs' out=$(cat "$work/diff") err='' && fail 'the list has changed'
fi
echo "$ran pairs run, $(wc -l < "$work/unsupported") are not supported"
finish
