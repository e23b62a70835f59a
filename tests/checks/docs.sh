#!/usr/bin/env bash
# Each folder of src/ has a README.md, and no file has white space at the end of a line.
set -euo pipefail
cd "$TSR_SOURCE_DIR"

result=0
for folder in src/*/; do
    [[ -s $folder/README.md ]] || { echo "${folder}README.md is missing" && result=1; }
done
if grep -rnIE '[[:blank:]]+$' --exclude-dir=.git --exclude-dir='build*' --exclude-dir=corpus .; then
    echo "these lines end in white space"
    result=1
fi
exit $result
