#!/usr/bin/env bash
# Tries the other checks: each must pass a small clean tree and refuse it with a fault planted.
set -euo pipefail
checks=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result=0

# A tree that keeps all the rules, in $work/clean.
make_clean_tree() {
    local clean=$work/clean
    mkdir -p "$clean"/{include/tessera,src/base,src/ir,src/mesh,tools/tessera,scripts,build}
    cp "$TSR_SOURCE_DIR"/.clang-format "$clean"
    printf 'src/base :\nsrc/ir :\nsrc/mesh : base\ntools : include/tessera\n' >"$clean/layers.txt"
    cp "$TSR_SOURCE_DIR"/scripts/{format,declarations.awk} "$clean/scripts"
    echo "Words." | tee "$clean"/src/{base,ir}/README.md >"$clean/src/mesh/README.md"
    echo 'OP(STABLEHLO_ADD, stablehlo, "add", ROW)' >"$clean/src/ir/ops.def"
    echo "CMAKE_BUILD_TYPE:STRING=RelWithDebInfo" >"$clean/build/CMakeCache.txt"
    cat >"$clean/include/tessera/base.h" <<'END'
#ifndef TESSERA_BASE_H
#define TESSERA_BASE_H
#define TSR_API __attribute__((visibility("default")))
#define TSR_PRINTF(format, first) __attribute__((__format__(printf, format, first)))
#define TSR_MT_SAFE
#ifdef __cplusplus
extern "C" {
#endif
/* A comment; with a tsr_phantom(void); */
typedef struct tsr_hook {
    int (*call)(void *state);
} tsr_hook;
typedef void (*tsr_callback)(int);
TSR_API const char *tsr_version(void) TSR_MT_SAFE;
TSR_API int tsr_format(const char *format, ...) TSR_PRINTF(1, 2) TSR_MT_SAFE;
TSR_API const char *tsr_mesh_text(void) TSR_MT_SAFE;
static inline int tsr_twice(int x) TSR_MT_SAFE
{
    return 2 * x;
}
#ifdef __cplusplus
}
#endif
#endif
END
    echo "typedef int tsr_other;" >"$clean/include/tessera/other.h"
    cat >"$clean/src/base/version.c" <<'END'
#include <tessera/base.h>

const char *tsr_version(void)
{
    return "0";
}

int tsr_format(const char *format, ...)
{
    return format[0];
}
END
    cat >"$clean/src/mesh/mesh.c" <<'END'
#include <tessera/base.h>

#include "base/text.h"

const char *mesh_text(void)
{
    return text_none();
}

const char *tsr_mesh_text(void)
{
    return mesh_text();
}
END
    printf '#include <tessera/base.h>\n' >"$clean/tools/tessera/main.c"
    echo "const char *text_none(void);" >"$clean/src/base/text.h"
    printf '#include "base/text.h"\n\nconst char *text_none(void)\n{\n    return "";\n}\n' \
        >"$clean/src/base/text.c"
}

# Makes the libraries in $work/tree/build the way the build does. A source that does not compile
# leaves the objects of the clean tree.
make_libraries() (
    cd "$work/tree/build" || return
    local objects=() source object
    for source in ../src/*/*.c; do
        object=CMakeFiles/tessera_objects.dir/${source#../}.o
        mkdir -p "${object%/*}"
        gcc -w -O2 -fPIC -fvisibility=hidden -I ../include -I ../src -c "$source" -o new.o || return
        mv new.o "$object"
        objects+=("$object")
    done
    gcc -shared -o libtessera.so "${objects[@]}" &&
        ar rc libtessera_objects.a "${objects[@]}" &&
        ld -r -o merged "${objects[@]}" && objcopy --localize-hidden merged && ar rc libtessera.a merged
)

# run CHECK: the check on $work/tree; leaves its exit code in $code.
run() {
    code=0
    if [[ $1 == symbols || $1 == libc || $1 == layers ]]; then
        make_libraries 2>"$work/output" || [[ $1 == layers ]] || exit 2
    fi
    TSR_SOURCE_DIR=$work/tree TSR_BUILD_DIR=$work/tree/build bash "$checks/$1.sh" \
        >"$work/output" 2>&1 || code=$?
}

fresh_tree() {
    rm -rf "$work/tree" && cp -r "$work/clean" "$work/tree"
}

# plant CHECK FILE TEXT: appends the text to the file; the check must then refuse the tree.
plant() {
    fresh_tree
    printf '%b\n' "$3" >>"$work/tree/$2"
    run "$1"
    [[ $code -eq 1 ]] || { echo "$1.sh did not refuse '$3' in $2 (exit code $code)" && result=1; }
}

make_clean_tree
fresh_tree
make_libraries || exit 2
cp -r "$work/tree/build" "$work/clean"
for check in layers headers symbols prototypes programs libc format docs words; do
    fresh_tree
    run $check
    [[ $code -eq 0 || $code -eq 77 ]] ||
        { echo "$check.sh refused the clean tree:" && cat "$work/output" && result=1; }
done

plant layers src/base/version.c '#include "mesh/mesh.h"'
plant layers src/base/version.c '#include "text.h"'
plant layers src/base/version.c '#include <mpi.h>'
plant layers include/tessera/base.h '#include "base/text.h"'
plant layers include/tessera/base.h '#include <unistd.h>'
plant layers tools/tessera/main.c '#include "base/text.h"'
plant layers tools/tessera/main.c '#include "../../src/base/text.h"'
plant layers layers.txt 'src/extra : later\nsrc/later :'
plant layers layers.txt 'src/extra :'
plant layers src/base/version.c 'const char *mesh_text(void);\nconst char *up(void) { return mesh_text(); }'
plant layers src/base/version.c 'const char *up(void) { return tsr_mesh_text(); }'
plant layers src/base/version.c 'const char *(*const up)(void) = tsr_mesh_text;'
plant layers layers.txt 'src/rt : base mesh'

plant programs src/mesh/mesh.c '#include "ir/records.h"'
plant programs src/mesh/mesh.c 'const char *name = "stablehlo.add";'
plant programs src/mesh/mesh.c 'bool is_add(p, op) { return strcmp(op_name(p, op), add) == 0; }'

plant headers include/tessera/other.h 'size_t tsr_size(void);'
plant headers include/tessera/other.h 'int *tsr_new(int class);'
plant headers include/tessera/other.h 'struct tsr_twice { int x; };'

plant symbols src/base/version.c '__attribute__((visibility("default"))) int stray;'
plant symbols src/base/version.c '__attribute__((visibility("default"))) int tsr_stray;'
plant symbols include/tessera/other.h 'TSR_API int\ntsr_absent(void) TSR_MT_SAFE;'

plant prototypes include/tessera/other.h 'TSR_API int tsr_bare(void);'
plant prototypes include/tessera/other.h 'TSR_API int tsr_first(void) TSR_MT_SAFE, tsr_last(void);'
plant prototypes include/tessera/other.h 'static inline int tsr_bare(void) { return 0; }'
plant prototypes include/tessera/other.h 'int tsr_hidden(void) TSR_MT_SAFE;'

plant libc src/base/version.c '#include <stdio.h>\nvoid show(void) { printf("%d", 1); }'
plant libc src/base/version.c '#include <stdio.h>\nvoid show(void) { fputs("x", stderr); }'
plant libc src/base/version.c '#include <stdlib.h>\nvoid stop(void) { abort(); }'
plant libc src/base/version.c '#include <assert.h>\nvoid stop(int x) { assert(x); }'

if [[ $(clang-format --version) == *"version 14."* ]]; then
    plant format src/base/version.c 'int  x ;'
fi
plant docs src/base/README.md 'text \t'
plant docs src/base/README.md ' '

plant words src/base/version.c '/* What lies behind it. */'
plant words src/base/version.c 'int lex_behind;'
plant words include/tessera/other.h '/* Nobody leaves while his memory is in use. */'
plant words src/base/version.c '/* NULL is no rule. */'
plant words src/base/version.c '/* Frees it if it is there. */'
plant words src/base/version.c "/* The list is the arena's. */"
plant words include/tessera/other.h 'enum { MOST_ROWS = 3 };'
plant words src/base/README.md '<<<<<<< HEAD'
plant words layers.txt '>>>>>>> branch'

fresh_tree
rm "$work/tree/src/mesh/README.md"
run docs
[[ $code -eq 1 ]] || { echo "docs.sh did not miss a README.md" && result=1; }
exit $result
