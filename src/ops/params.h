/*
 * Parameters of ops: each family of ops has a struct of its own with StableHLO's names, and one
 * table that says what is in it. By that table parameters are copied, compared, hashed, read and
 * printed; nothing else knows their fields but the hooks of the row.
 */
#ifndef OPS_PARAMS_H
#define OPS_PARAMS_H

#include <tessera/dtype.h>
#include <tessera/sharding.h>

#include "kernel/copy.h"
#include "kernel/fold.h"

enum { OP_MAX_RANK = KERNEL_MAX_RANK };

/* A tensor as an op sees it. The extents belong to the caller; TSR_UNKNOWN is an extent. */
typedef struct op_type {
    tsr_dtype dtype;
    size_t rank;
    const int64_t *shape;
} op_type;

/* A list of numbers; its values belong to the caller. */
typedef struct op_ints {
    size_t count;
    const int64_t *values;
} op_ints;

bool op_ints_have(op_ints list, size_t dim);

/*
 * The region of an op: what it does to elements. Most regions are one known op on their arguments;
 * any other is a function with a state of its own, of which only the address is compared.
 */
typedef enum op_body {
    OP_BODY_OPAQUE,
    OP_BODY_SUM, /* combiners of two values */
    OP_BODY_PROD,
    OP_BODY_MAX,
    OP_BODY_MIN,
    OP_BODY_AND,
    OP_BODY_OR,
    OP_BODY_SECOND, /* the update of a scatter replaces the old element */
    OP_BODY_LESS,   /* comparators of the first operand of a sort: ascending, descending */
    OP_BODY_GREATER,
    OP_BODY_LESS_EQUAL,
    OP_BODY_GREATER_EQUAL,
    OP_BODY_COUNT
} op_body;

/* Computes results from arguments, each one element of its type. */
typedef void (*op_body_call)(void *state, const void *const *arguments, void *const *results);

typedef struct op_region {
    op_body body;
    op_body_call call; /* of an opaque one */
    void *state;
} op_region;

/* A region that is one known op. */
static inline op_region known_region(op_body body)
{
    return (op_region){.body = body};
}

/* The fold that a known combiner is; FOLD_COUNT for the others. */
fold_op op_region_fold(const op_region *region);
/* What is pending when parts are combined by it; AND and OR of truth values are the least and the
 * greatest. */
tsr_reduction op_region_reduction(const op_region *region);

/* ---- what a struct of parameters holds ---- */

typedef enum op_field_kind {
    OP_FIELD_INT,    /* int64_t */
    OP_FIELD_INTS,   /* op_ints */
    OP_FIELD_BOOL,   /* bool */
    OP_FIELD_ENUM,   /* int32_t, one of `names`: an enum, or a string of a known set */
    OP_FIELD_REGION, /* op_region */
    OP_FIELD_DTYPE,  /* tsr_dtype: the element type of the result, which no attribute says */
    OP_FIELD_RESULT  /* op_type: the result, which no attribute says */
} op_field_kind;

typedef struct op_field {
    const char *name; /* the attribute's */
    op_field_kind kind;
    size_t offset;
    const char *const *names; /* of an enum, ended by NULL */
} op_field;

/* A struct of parameters. */
typedef struct op_fields {
    size_t bytes;
    size_t count;
    const op_field *fields;
} op_fields;

/* Tables of fields: `static const op_field fields[] = {OP_FIELD(slice_params, strides, INTS)};` */
#define OP_FIELD(type, member, field_kind)                                                         \
    {                                                                                              \
        .name = #member, .kind = OP_FIELD_##field_kind, .offset = offsetof(type, member)           \
    }
#define OP_FIELDS(type, list)                                                                      \
    {                                                                                              \
        .bytes = sizeof(type), .count = sizeof(list) / sizeof(list)[0], .fields = (list)           \
    }

/* The arena's copy, NULL with TSR_OK when there are no parameters; whether two are the same; a
 * hash. `fields` may be NULL: no parameters. */
tsr_status op_params_copy(tsr_context *ctx, tsr_arena *arena, const op_fields *fields,
                          const void *params, const void **out);
bool op_params_equal(const op_fields *fields, const void *a, const void *b);
uint64_t op_params_hash(const op_fields *fields, const void *params, uint64_t seed);

#endif
