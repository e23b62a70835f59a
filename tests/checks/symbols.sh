#!/usr/bin/env bash
# Both libraries export what the headers mark TSR_API, and nothing without the prefix tsr_.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for header in "$TSR_SOURCE_DIR"/include/tessera/*.h; do
    awk -f "$TSR_SOURCE_DIR/scripts/declarations.awk" "$header"
done | sed -n '/TSR_API/s/^[^(]*\b\(tsr_[a-z0-9_]*\) *(.*/\1/p' | sort -u >"$work/declared"
[[ -s $work/declared ]] || { echo "no function is declared TSR_API" && exit 1; }

nm -D --defined-only --extern-only --format=posix "$TSR_BUILD_DIR/libtessera.so" >"$work/shared"
nm --defined-only --extern-only --format=posix "$TSR_BUILD_DIR/libtessera.a" >"$work/static"

result=0
for library in shared static; do
    awk 'NF >= 2 { print $1 }' "$work/$library" | sort -u >"$work/exported"
    if grep -v '^tsr_' "$work/exported"; then
        echo "the $library library exports these, which lack the prefix tsr_"
        result=1
    fi
    comm -23 "$work/declared" "$work/exported" >"$work/lacking"
    if [[ -s $work/lacking ]]; then
        cat "$work/lacking"
        echo "the $library library does not export these, which are declared TSR_API"
        result=1
    fi
    comm -13 "$work/declared" "$work/exported" | grep '^tsr_' >"$work/unknown" || true
    if [[ -s $work/unknown ]]; then
        cat "$work/unknown"
        echo "the $library library exports these, which no public header declares"
        result=1
    fi
done
exit $result
