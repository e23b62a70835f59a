#!/usr/bin/env bash
# Records of programs are written by the store, the reader and the files of ir/edit.h alone.
set -euo pipefail
cd "$TSR_SOURCE_DIR"

result=0
while IFS=: read -r file line text; do
    case $file in
    src/ir/program.c | src/ir/edit.c | src/ir/clone.c | src/ir/uses.c | src/ir/read*.c) ;;
    *)
        echo "$file:$line: programs are changed through ir/edit.h, not by $text"
        result=1
        ;;
    esac
done < <(grep -rnE --include='*.[ch]' '"ir/records.h"' src)
exit $result
