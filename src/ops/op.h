/*
 * What an op is: one row.
 *
 * A row says everything about an op on element types, shapes and a struct of parameters, and
 * nothing of programs or ranks: eager calls and programs share it. Each hook can be used alone.
 * Names and meanings are StableHLO's where it has the op.
 */
#ifndef OPS_OP_H
#define OPS_OP_H

#include <tessera/rule.h>
#include <tessera/sharding.h>
#include <tessera/view.h>

#include "base/base.h"
#include "base/diag.h"
#include "kernel/copy.h"
#include "spmd/class.h"

enum { OP_MAX_RANK = KERNEL_MAX_RANK, OP_MAX_RESULTS = 2 };

/* A tensor as an op sees it. */
typedef struct op_type {
    tsr_dtype dtype;
    size_t rank;
    int64_t shape[OP_MAX_RANK];
} op_type;

/* A list of numbers; its values are the caller's. */
typedef struct op_ints {
    size_t count;
    const int64_t *values;
} op_ints;

/*
 * The parameters of all ops: each op reads those that it has, the others are zeros. Dimensions
 * count from 0. Whoever adds a list adds it to the table in params.c too.
 */
typedef struct op_params {
    tsr_dtype dtype;   /* convert, iota, random: of the result */
    int32_t variant;   /* compare: compare_op; reduce, cumulative: fold_op; random: random_kind;
                          scatter: scatter_kind; sort: 1 for descending */
    int64_t dimension; /* concatenate, iota, sort, top_k, cumulative */
    int64_t k;         /* top_k */
    int64_t index_vector_dim; /* gather, scatter */
    uint64_t key;             /* random */
    uint64_t stream;          /* random */
    op_ints dimensions; /* reduce: those reduced; transpose: the permutation; broadcast_in_dim */
    op_ints shape;      /* broadcast_in_dim, reshape, iota, random: of the result */
    op_ints start;      /* slice: start_indices; pad: edge_padding_low */
    op_ints limit;      /* slice: limit_indices; pad: edge_padding_high */
    op_ints strides;    /* slice; pad: interior_padding */
    op_ints lhs_batch;  /* dot_general; gather, scatter: operand_batching_dims */
    op_ints rhs_batch;  /* dot_general; gather, scatter: start_indices_batching_dims */
    op_ints lhs_contracting; /* dot_general; gather: offset_dims; scatter: update_window_dims */
    op_ints rhs_contracting; /* dot_general; gather: collapsed_slice_dims; scatter: inserted_.. */
    op_ints index_map;       /* gather: start_index_map; scatter: scatter_dims_to_operand_dims */
    op_ints slice_sizes;     /* gather */
} op_params;

/* The arena's copy; whether two are the same; a hash. */
tsr_status op_params_copy(tsr_context *ctx, tsr_arena *arena, const op_params *params,
                          op_params *out);
bool op_params_equal(const op_params *a, const op_params *b);
uint64_t op_params_hash(const op_params *params, uint64_t seed);

typedef struct op_row op_row;
struct op_builder;
struct op_value;
struct op_vjp;

/* One use of an op: what its hooks are asked about. */
typedef struct op_request {
    tsr_context *ctx;
    const char *call; /* who asks, for messages: "tsr_add" */
    const op_row *row;
    const op_params *params;
    size_t num_operands;
    const op_type *operands;
} op_request;

/* This rank's part of a tensor, and where it lies in the whole. */
typedef struct op_array {
    tsr_view view;        /* with strides */
    const int64_t *start; /* of the part in the whole */
    const int64_t *full;  /* the shape of the whole */
} op_array;

/* One run of an op on parts that fit together as its rule says. */
typedef struct op_call {
    const op_row *row;
    const op_params *params;
    size_t num_operands;
    const op_array *operands;
    const op_array *results;
    /*
     * Of the ranks whose results are summed because a reduction factor is sharded, this is the
     * first. What all of them have, as the input of a scatter, counts on this one only.
     */
    bool first;
} op_call;

/* What holds of an op, beside its hooks. */
typedef enum op_traits {
    OP_ELEMENTWISE = 1,      /* operands broadcast to the result, element by element */
    OP_POSITIONAL = 2,       /* its kernel looks at `start`: parts must be boxes */
    OP_VARIADIC = 4,         /* one operand or more, whatever num_operands says */
    OP_GRADIENT_BY_TYPE = 8, /* its gradient looks at the types of operands only, not at elements */
    OP_GRADIENT_BY_RESULT = 16 /* its gradient looks at the elements of results */
} op_traits;

/*
 * The row. Hooks that are NULL have a default: no rule, so that it runs on whole operands; every
 * argument nonlinear; reductions are sums; no scratch.
 */
struct op_row {
    const char *name;
    int traits;
    int kind; /* for rows that share their hooks: what tells them apart */
    size_t num_operands;
    size_t num_results;
    /* Checks operands and parameters, and tells the results. */
    tsr_status (*types)(const op_request *r, op_type *results);
    /* The sharding rule; TSR_NOT_APPLICABLE where there is none for these shapes. */
    tsr_status (*rule)(const op_request *r, const op_type *results, tsr_arena *arena,
                       const tsr_rule **out);
    /* What the op does to a reduction that is pending in an argument: spmd/class.h. */
    spmd_class (*class_of)(const op_request *r, size_t operand, tsr_reduction pending);
    /* What is pending in the results when a reduction factor is sharded. */
    tsr_reduction (*reduces)(const op_request *r);
    /* Bytes of scratch that the kernel wants, and the kernel. */
    size_t (*scratch)(const op_call *c);
    void (*run)(const op_call *c, void *scratch);
    /* The gradients of the operands: gradient.h. NULL: there is none, which is an error where one
     * flows. */
    void (*gradient)(struct op_builder *b, const struct op_vjp *v, struct op_value **grads);
};

/* All rows. */
extern const op_row *const op_rows[];
extern const size_t op_rows_count;

/* The row of that name, or NULL. */
const op_row *op_find(const char *name);

/* ---- for hooks ---- */

/* An error about a request: the call's name, then the text. */
#define OP_ERROR(r, format, ...)                                                                   \
    diag_error((r)->ctx, TSR_ERR_INVALID, NO_LOCATION, "%s: " format, (r)->call, __VA_ARGS__)

/* Whether a list has a dimension. */
bool op_ints_have(op_ints list, size_t dim);

/* "f32[4,8]"; the arena-free text is cut when it does not fit. */
typedef struct op_text {
    char text[160];
} op_text;
op_text op_type_text(const op_type *type);

tsr_extents op_extents(const op_type *type);

/* The same type and another shape. */
op_type op_type_of(tsr_dtype dtype, op_ints shape);

/* Refuses an element type that a kernel does not have. */
tsr_status op_no_such_type(const op_request *r, tsr_dtype dtype);

/* A dimension parameter within a rank. */
tsr_status op_check_dim(const op_request *r, const char *what, int64_t dim, size_t rank);
/* A list of them, each once; sizes is NULL or has the room for them as size_t. */
tsr_status op_check_dims(const op_request *r, const char *what, op_ints dims, size_t rank,
                         size_t *sizes);

/* Whether two operands have the same element type; an error names both. */
tsr_status op_same_dtype(const op_request *r, size_t a, size_t b);

/* How many elements a shape has; false when that exceeds int64. */
bool op_elements(const op_type *type, int64_t *out);

/* The classes of ops that only move elements, one argument by itself or all together. */
spmd_class class_moves(const op_request *r, size_t operand, tsr_reduction pending);
/* Sums of arguments: linear for sums, and for averages of floats. */
spmd_class class_linear(const op_request *r, size_t operand, tsr_reduction pending);
/* Products of arguments. */
spmd_class class_multilinear(const op_request *r, size_t operand, tsr_reduction pending);

bool dtype_is_float(tsr_dtype dtype);
bool dtype_is_complex(tsr_dtype dtype);
bool dtype_is_integer(tsr_dtype dtype);

#endif
