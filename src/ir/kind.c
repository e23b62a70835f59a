#include "ir/kind.h"

#include <string.h>

#include "ops/op_chlo.h"

/* What the list says of an op. */
typedef struct kind_row {
    const char *name; /* with the dialect */
    size_t prefix;    /* the length of the dialect and the dot */
    bool has_row;     /* in ops */
} kind_row;

enum { NONE, ROW };

static const kind_row kinds[OP_KIND_COUNT] = {
#define OP_DIALECT(upper, dialect)
#define OP(kind, dialect, name, row) [OP_##kind] = {#dialect "." name, sizeof #dialect, row},
#include "ir/ops.def"
#undef OP_DIALECT
#undef OP
};

const char *op_kind_name(op_kind kind)
{
    return kinds[kind].name != NULL ? kinds[kind].name : "?";
}

op_kind op_kind_find(const char *name, size_t size)
{
    for (int kind = 0; kind < OP_KIND_COUNT; kind++) {
        if (kinds[kind].name != NULL && slice_is((slice){name, size}, kinds[kind].name)) {
            return (op_kind)kind;
        }
    }
    return OP_UNKNOWN;
}

/* The greatest are of the last dimension in programs, of any in calls. */
const op_row *op_kind_row(op_kind kind)
{
    if (kind == OP_CHLO_TOP_K) {
        return &op_top_k_last;
    }
    return kinds[kind].has_row ? op_find(kinds[kind].name + kinds[kind].prefix) : NULL;
}
