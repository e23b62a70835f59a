#!/usr/bin/env bash
# Every function in a public header ends in a thread-safety word, and is TSR_API or static inline.
set -euo pipefail
cd "$TSR_SOURCE_DIR"

result=0
for header in include/tessera/*.h; do
    while read -r declaration; do
        if ! [[ $declaration =~ \)[[:space:]]*(TSR_[A-Z_]+(\([^\)]*\))?[[:space:]]+)*TSR_MT_(SAFE|CONTEXT)$ ]]; then
            echo "$header: no thread-safety word at the end: $declaration"
            result=1
        fi
        if ! [[ $declaration =~ ^(extern )?TSR_API\  || $declaration =~ ^static\ inline\  ]]; then
            echo "$header: neither TSR_API nor static inline: $declaration"
            result=1
        fi
    done < <(awk -f "$TSR_SOURCE_DIR/scripts/declarations.awk" "$header")
done
exit $result
