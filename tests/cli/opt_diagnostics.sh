#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# tessera-opt -verify-diagnostics: every way to name a line, kinds, expressions, what is missing.
source "$(dirname "$0")/helpers.bash"
opt() { run "$TESSERA_OPT" "$@"; }

# One error on line 3: `%y` is not known.
bad='func.func @f(%x: tensor<f32>) -> tensor<f32> {
  LINE_BEFORE
  %0 = stablehlo.add %x, %x : tensor<f32> SAME_LINE
  LINE_AFTER
  return %y : tensor<f32> LAST
}'

# program PLACE COMMENT: the program with a comment at a place, to stdin of the command.
program() {
    local text=${bad/$1/$2} place
    for place in LINE_BEFORE SAME_LINE LINE_AFTER LAST; do
        text=${text/$place/}
    done
    printf '%s\n' "$text"
}

message='use of undeclared SSA value name'
while IFS='|' read -r place comment; do
    program "$place" "// $comment" >"$work/p.mlir"
    opt -verify-diagnostics "$work/p.mlir"
    expect_code 0
    expect_no_err
done <<END
LAST|expected-error {{$message}}
LAST|expected-error{{undeclared SSA}}
LAST|expected-error @5 {{$message}}
LINE_AFTER|expected-error@+1 {{$message}}
LINE_AFTER|expected-error @+1 {{$message}} // and a comment
LINE_AFTER|expected-error @below {{$message}}
SAME_LINE|expected-error @+2 {{undeclared}}
LINE_AFTER|expected-error-re @+1 {{use of {{un[a-z]+}} SSA}}
LINE_AFTER|expected-error-re @+1 {{{{^use .* name$}}}}
LINE_AFTER|expected-error-re @+1 {{use {{of}}{{ undeclared SSA}}}}
LINE_AFTER|expected-error-re @+1 {{use {{of}} {{undeclared}} SSA}}
END

program NONE '' >"$work/p.mlir"
printf '// expected-error@-2 {{%s}}\n' "$message" >>"$work/p.mlir"
opt -verify-diagnostics "$work/p.mlir"
expect_code 0
expect_no_err

while IFS='|' read -r comment wanted; do
    program LINE_AFTER "// $comment" >"$work/p.mlir"
    opt -verify-diagnostics "$work/p.mlir"
    expect_error 1 "$wanted"
done <<END
expected-error@+1 {{another text}}|unexpected error: $message
expected-error@+1 {{another text}}|expected error "another text" was not produced
expected-error@+2 {{$message}}|unexpected error: $message
expected-warning@+1 {{$message}}|expected warning "$message" was not produced
expected-note@+1 {{$message}}|unexpected error: $message
expected-error@unknown {{$message}}|unexpected error: $message
expected-error-re@+1 {{use {{of}}{{ another}}}}|unexpected error: $message
expected-error-re@+1 {{use {{(}}}}|not a regular expression
no expectation|unexpected error: $message
END

# Each piece has its own expectations, with the lines of the whole file.
{
    program LINE_AFTER "// expected-error@+1 {{$message}}"
    echo '// -----'
    echo 'module @fine {'
    echo '}'
    echo '// -----'
    program LAST "// expected-error {{$message}}"
} >"$work/pieces.mlir"
opt -split-input-file -verify-diagnostics "$work/pieces.mlir"
expect_fine
expect_out 'module @fine {
}'

# What is wrong with an expectation is said on its line of the whole file.
echo '// -----
// expected-error {{nothing}}' >>"$work/pieces.mlir"
opt -split-input-file -verify-diagnostics "$work/pieces.mlir"
expect_code 1
expect_in_err "$work/pieces.mlir:$(wc -l <"$work/pieces.mlir"):13: error: expected error \"nothing\""

# Messages that no comment names, when only the named ones matter.
program NONE '' >"$work/p.mlir"
opt -verify-diagnostics=only-expected "$work/p.mlir"
expect_code 0
opt -verify-diagnostics=some "$work/p.mlir"
expect_error 1 "all or only-expected, not 'some'"

# Without the option, comments are comments.
program LINE_AFTER "// expected-error@+1 {{$message}}" >"$work/p.mlir"
opt "$work/p.mlir"
expect_error 1 "$work/p.mlir:5:10: error: $message"
expect_in_err '  return %y : tensor<f32>'
expect_in_err '         ^'

# A terminal has colours by the rule of tessera: not with NO_COLOR or when it is dumb.
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    escape=$'\033'
    line="$TESSERA_OPT $work/p.mlir"
    run script -qec "$line" /dev/null
    expect_in_out "${escape}["
    run env NO_COLOR= script -qec "$line" /dev/null
    expect_in_out "${escape}["
    run env NO_COLOR=1 script -qec "$line" /dev/null
    expect_not_in_out "$escape"
    run env TERM=dumb script -qec "$line" /dev/null
    expect_not_in_out "$escape"
fi

finish
