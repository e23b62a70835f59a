/*
 * The kind of an op: a number for each op of the list ops.def, 0 for any other. Ops are compared by
 * kind; their names are for texts.
 */
#ifndef IR_KIND_H
#define IR_KIND_H

#include "base/base.h"
#include "base/lex.h"
#include "ops/op.h"

typedef enum op_kind {
    OP_UNKNOWN,
#define OP_DIALECT(upper, dialect) OP_BEFORE_##upper,
#define OP(kind, dialect, name, row) OP_##kind,
#include "ir/ops.def"
#undef OP_DIALECT
#undef OP
    OP_KIND_COUNT
} op_kind;

/* `dialect.name`; "?" for no op. */
const char *op_kind_name(op_kind kind);
/* The kind of the op that a text names; OP_UNKNOWN: it is in no list. */
op_kind op_kind_find(const char *name, size_t size);
/* The row of ops/op.h of a kind, found by name; NULL: programs alone have such ops. */
const op_row *op_kind_row(op_kind kind);

/* Whether a kind is of a dialect. */
static inline bool op_kind_is_chlo(op_kind kind)
{
    return kind > OP_BEFORE_CHLO && kind < OP_BEFORE_SDY;
}

static inline bool op_kind_is_sdy(op_kind kind)
{
    return kind > OP_BEFORE_SDY && kind < OP_BEFORE_CHECK;
}

/* Whether an op of chlo computes another op on operands that broadcast. */
static inline bool op_kind_broadcasts(op_kind kind)
{
    return kind >= OP_CHLO_BROADCAST_ADD && kind <= OP_CHLO_BROADCAST_SELECT;
}

#endif
