#!/usr/bin/env bash
# Records of programs are written by the store, the reader and the files of ir/edit.h alone; ops are
# compared by kind: their names are in the list ir/ops.def and in texts.
set -euo pipefail
cd "$TSR_SOURCE_DIR"

result=0
complain() {
    echo "$*"
    result=1
}

while IFS=: read -r file line text; do
    case $file in
    src/ir/program.c | src/ir/edit.c | src/ir/clone.c | src/ir/uses.c | src/text/read*.c) ;;
    *) complain "$file:$line: programs are changed through ir/edit.h, not by $text" ;;
    esac
done < <(grep -rnE --include='*.[ch]' '"ir/records.h"' src)

# The names of the list, as literals. What reads texts may have them: notations, written names.
names=$(mktemp)
trap 'rm -f "$names"' EXIT
sed -nE 's/^OP\([A-Z0-9_]+, ([a-z]+), "([^"]+)".*/"\1.\2"/p' src/ir/ops.def >"$names"
while IFS=: read -r file line text; do
    case $file in
    src/mesh/mesh_text.c | src/shard/layout_text.c | src/text/written_names.c) ;;
    src/ops/op_custom.c | src/interp/steps_custom.c) ;; # targets of custom calls
    *) complain "$file:$line: write the kind of the op, OP_..., not its name: $text" ;;
    esac
done < <([[ ! -s $names ]] || grep -rnF --include='*.[ch]' -f "$names" src)

# Comparisons of names, but for the name that a message starts with, and targets of custom calls.
while IFS=: read -r file line text; do
    case $file in
    src/verify/verify_types.c | src/interp/steps_check.c) ;;
    *) complain "$file:$line: compare kinds of ops, not names: $text" ;;
    esac
done < <(grep -rnE --include='*.[ch]' \
    '(strn?cmp|memcmp|strstr|slice_is|slice_equal)\(.*\b(op_name|op_kind_name|tsr_ir_op_name)\(' src)

exit $result
