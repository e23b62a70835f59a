#!/usr/bin/env bash
# The whole tree passes clang-format. Only with the version the style was made for.
set -euo pipefail
wanted=14

version=$(clang-format --version | sed 's/.*version \([0-9]*\).*/\1/')
if [[ $version != "$wanted" ]]; then
    echo "clang-format $version, not $wanted: skipped"
    exit 77
fi
"$TSR_SOURCE_DIR/scripts/format" --check || exit 1
