#!/usr/bin/env bash
# Every public header compiles alone, twice in one file, as C17 and as C++17, with gcc and clang.
set -euo pipefail
cd "$TSR_SOURCE_DIR/include"

result=0
for header in tessera/*.h; do
    for compiler in "gcc -x c -std=c17" "clang -x c -std=c17" \
        "g++ -x c++ -std=c++17" "clang++ -x c++ -std=c++17"; do
        printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
            $compiler -Wall -Wextra -Wundef -pedantic -Werror -fsyntax-only -I . - ||
            { echo "$header: not with $compiler" && result=1; }
    done
done
exit $result
