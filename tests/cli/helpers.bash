# Helpers of the tests in this folder. TESSERA is the command; each test ends with `finish`.
set -euo pipefail
: "${TESSERA:?set TESSERA to the path of the command}"
export LC_ALL=C.UTF-8 TERM=xterm
unset NO_COLOR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
last=
out=
err=
code=0

# The mesh and sharding that most tests use.
mesh='<["x"=2, "y"=4]>'
# shellcheck disable=SC2034
show() { run "$TESSERA" show "$@"; }

# Runs a command; leaves its exit code in code, its output in out and err.
run() {
    last="$*"
    code=0
    "$@" >"$work/out" 2>"$work/err" || code=$?
    out=$(cat "$work/out")
    err=$(cat "$work/err")
}

fail() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n  after: %s\n  exit code: %s\n  stdout:\n%s\n  stderr:\n%s\n' \
        "$1" "$last" "$code" "${out:0:3000}" "${err:0:3000}"
}

expect_code() { [ "$code" -eq "$1" ] || fail "exit code should be $1"; }
expect_out() { [ "$out" = "$1" ] || fail "stdout should be: $1"; }
expect_in_out() { [[ "$out" == *"$1"* ]] || fail "stdout should contain: $1"; }
expect_in_err() { [[ "$err" == *"$1"* ]] || fail "stderr should contain: $1"; }
expect_not_in_out() { [[ "$out" != *"$1"* ]] || fail "stdout should not contain: $1"; }
expect_not_in_err() { [[ "$err" != *"$1"* ]] || fail "stderr should not contain: $1"; }
expect_no_out() { [ -z "$out" ] || fail "stdout should be empty"; }
expect_no_err() { [ -z "$err" ] || fail "stderr should be empty"; }

# The run succeeded and said nothing on stderr.
expect_fine() {
    expect_code 0
    expect_no_err
}

# The run failed with that code, printed nothing, and said the text on stderr.
expect_error() {
    expect_code "$1"
    expect_no_out
    expect_in_err "$2"
}

# No line of stdout is longer than so many characters.
expect_width() {
    local line
    while IFS= read -r line; do
        [ "${#line}" -le "$1" ] || fail "line of ${#line} characters: $line"
    done <<<"$out"
}

finish() {
    if [ "$failures" -gt 0 ]; then
        echo "$failures expectation(s) failed"
        exit 1
    fi
    echo "all good"
}
