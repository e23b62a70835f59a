/*
 * What an op is: one row.
 *
 * A row says everything about an op on element types, extents and a struct of parameters, and
 * nothing of program text or ranks: eager calls and programs share it. Each hook can be used alone.
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
#include "number/dtype.h"
#include "ops/params.h"
#include "spmd/class.h"

typedef struct op_row op_row;
struct op_builder;
struct op_value;
struct op_vjp;

/* What a program knows of an operand beyond its type. */
typedef struct op_operand_fact {
    bool is_constant; /* defined by a constant */
    bool is_slice;    /* defined by a slice */
    uint32_t source;  /* a number of the value, seen through one slice if it is one */
} op_operand_fact;

/* What a rule depends on beside types and parameters. All of it is false for an eager call. */
typedef struct op_facts {
    bool conservative;            /* factors that would need halos are left out or blocked */
    bool feeds_rng_bit_generator; /* some user is rng_bit_generator */
    const op_operand_fact *operands;
} op_facts;

/* One use of an op: what its hooks are asked about. */
typedef struct op_request {
    tsr_context *ctx;
    tsr_arena *arena; /* for the extents of results */
    const char *call; /* who asks, for messages: "tsr_add" */
    const op_row *row;
    const void *params; /* the struct that row->fields describes; NULL where there is none */
    size_t num_operands;
    const op_type *operands;
    size_t num_results;    /* of a row with OP_ANY_RESULTS; others count them by operands */
    const op_facts *facts; /* NULL: nothing is known */
    bool broadcasts;       /* elementwise operands may differ in shape, as eager calls allow */
    bool mixes_dtypes;     /* operands may differ in element type: programs promote them */
    bool own_values;       /* operands are a rank's own arrays: a mean divides by their extents */
} op_request;

/* This rank's part of a tensor, and its position in the whole. */
typedef struct op_array {
    tsr_view view;        /* with strides */
    const int64_t *start; /* of the part in the whole */
    const int64_t *full;  /* the shape of the whole */
} op_array;

/* One run of an op on parts that fit together as its rule says. */
typedef struct op_call {
    const op_row *row;
    const void *params;
    size_t num_operands;
    size_t num_results;
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
    OP_ELEMENTWISE = 1,      /* element by element; in eager calls operands broadcast */
    OP_POSITIONAL = 2,       /* its kernel looks at `start`: parts must be boxes */
    OP_VARIADIC = 4,         /* num_operands operands or more */
    OP_GRADIENT_BY_TYPE = 8, /* its gradient looks at the types of operands only, not at elements */
    OP_GRADIENT_BY_RESULT = 16, /* its gradient looks at the elements of results */
    OP_RULE_BY_OPERANDS = 32,   /* its rule looks at what defines operands, and at users */
    OP_ANY_RESULTS = 64,        /* as many results as the request says */
    /* By op priority, a program's propagation goes through these before all others: both ways,
     * from operands to results only; or late from operands to results. */
    OP_PASSES_ON = 128,
    OP_PASSES_FORWARD = 256,
    OP_BROADCASTS = 512,
    OP_EXPANDS = 1024 /* compilers rewrite it to ops of which several read each operand */
} op_traits;

/*
 * Which values of an op, operands first, are computed in one element type where programs give them
 * several: each alone, all, value i with value i mod the number of results (operands and initial
 * values of a reduction), inputs and updates of a scatter with their results.
 */
typedef enum op_alike { OP_ALIKE_NONE, OP_ALIKE_ALL, OP_ALIKE_INPUTS, OP_ALIKE_SCATTERED } op_alike;

/* Where an op comes from. */
typedef enum op_dialect { OP_STABLEHLO, OP_CHLO, OP_TESSERA } op_dialect;

/*
 * The row. A hook that is NULL has a default: no types, so that the op is in programs only, with
 * the results that the program says; no rule, so that the op runs on whole operands; every
 * pass-through and reduction factor may be cut; every argument is nonlinear; reductions are sums; a
 * kernel for every element type; no scratch; no kernel; no gradient, which is an error where one
 * flows. A row without `types` has neither gradient nor public call, and its rule and `supports`
 * are asked about uses that nothing has checked.
 */
struct op_row {
    const char *name;
    const char *call; /* the public call, such as "tsr_exp"; NULL where there is no single one */
    op_dialect dialect;
    int traits;
    int kind; /* for rows that share their hooks: what tells them apart */
    op_alike alike;
    size_t num_operands;
    size_t num_results;
    /* For rows whose results are as many as their inputs: how many, by the number of operands. */
    size_t (*count_results)(size_t num_operands);
    const op_fields *fields; /* the parameters; NULL where there are none */
    /*
     * Is this use legal, and what comes out: StableHLO's verification, whether or not there is a
     * kernel. Extents may be TSR_UNKNOWN and are then compatible with any.
     */
    tsr_status (*types)(const op_request *r, op_type *results);
    /*
     * The sharding rule of the reference's registry, as a function of the request alone;
     * TSR_NOT_APPLICABLE where there is none. All extents are known: op_find_rule sees to that.
     */
    tsr_status (*rule)(const op_request *r, const op_type *results, tsr_arena *arena,
                       const tsr_rule **out);
    /* Sets `whole[f]` for each factor that must not be cut when the kernel runs on parts, although
     * the rule's kinds would allow it. */
    void (*local)(const op_request *r, const op_type *results, const tsr_rule *rule, bool *whole);
    /* What the op does to a reduction that is pending in an argument: spmd/class.h. */
    spmd_class (*class_of)(const op_request *r, size_t operand, tsr_reduction pending);
    /* What is pending in the results when a reduction factor is sharded. */
    tsr_reduction (*reduces)(const op_request *r);
    /* Whether there is a kernel for these element types and parameters. */
    bool (*supports)(const op_request *r, const op_type *results);
    /* Bytes of scratch that the kernel needs, and the kernel. */
    size_t (*scratch)(const op_call *c);
    void (*run)(const op_call *c, void *scratch);
    /* The gradients of the operands: gradient.h. */
    void (*gradient)(struct op_builder *b, const struct op_vjp *v, struct op_value **grads);
};

/* Rows of one subject, listed in the file that defines them; families.def lists the families. */
typedef struct op_family {
    const op_row *const *rows;
    size_t count;
} op_family;

/* All rows, in the order of families. */
size_t op_count(void);
const op_row *op_at(size_t i);

/* The row of that name, or NULL. */
const op_row *op_find(const char *name);

/* How many results a row gives for so many operands. */
static inline size_t op_num_results(const op_row *row, size_t num_operands)
{
    return row->count_results != NULL ? row->count_results(num_operands) : row->num_results;
}

/* How many results a request has. */
static inline size_t op_request_results(const op_request *r)
{
    return (r->row->traits & OP_ANY_RESULTS) != 0 ? r->num_results
                                                  : op_num_results(r->row, r->num_operands);
}

/* Whether a row takes so many operands. */
bool op_takes(const op_row *row, size_t num_operands);

/*
 * The row's rule: TSR_NOT_APPLICABLE where it has none for these types. The reference refuses to
 * shard an op with an unknown extent, so there is none for those.
 */
tsr_status op_find_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                        const tsr_rule **out);

/* The rule with every factor that must not be cut marked as needing replication. */
tsr_status op_local_rule(const op_request *r, const op_type *results, const tsr_rule *rule,
                         tsr_arena *arena, const tsr_rule **out);

/* An error that names the element types when the row has no kernel for them. */
tsr_status op_check_supported(const op_request *r, const op_type *results);

/* ---- for hooks ---- */

/*
 * An error about a request: the call's name, then the text. Where StableHLO has the rule the text
 * is the reference's, which programs print without the name.
 */
#define OP_ERROR(r, format, ...)                                                                   \
    diag_error((r)->ctx, TSR_ERR_INVALID, NO_LOCATION, "%s: " format, (r)->call, __VA_ARGS__)

static inline bool op_is_conservative(const op_request *r)
{
    return r->facts != NULL && r->facts->conservative;
}

/* Room for the extents of a result, in the request's arena; NULL without memory. */
int64_t *op_new_shape(const op_request *r, size_t rank);

/* A result of an operand's type, sharing its extents. */
static inline op_type op_type_like(const op_type *type, tsr_dtype dtype)
{
    return (op_type){.dtype = dtype, .rank = type->rank, .shape = type->shape};
}

/* Copies elements of a view, by strides and a shape, to `offset` bytes into an array. */
void op_copy_to(const op_array *to, size_t offset, const int64_t *to_strides, const tsr_view *from,
                const int64_t *from_strides, const int64_t *shape);

/* "f32[4,?]"; cut when it does not fit. */
typedef struct op_text {
    char text[160];
} op_text;
op_text op_type_text(const op_type *type);
/* "1, 2, 3", cut likewise. */
op_text op_ints_text(const int64_t *values, size_t count);

tsr_extents op_extents(const op_type *type);
/* The extents of all operands, in the arena. NULL without memory. */
tsr_extents *op_operand_extents(const op_request *r, tsr_arena *arena);

/* Whether two extents may be the same: they are, or one of them is unknown. */
static inline bool extents_agree(int64_t a, int64_t b)
{
    return a == b || a == TSR_UNKNOWN || b == TSR_UNKNOWN;
}
/* The one of two extents that agree which is known, if any. */
static inline int64_t known_extent(int64_t a, int64_t b)
{
    return a == TSR_UNKNOWN ? b : a;
}
/* Whether two types have one rank and extents that agree. */
bool op_shapes_agree(const op_type *a, const op_type *b);
bool op_has_unknown(const op_type *type);

/* A dimension parameter within a rank. */
tsr_status op_check_dim(const op_request *r, const char *what, int64_t dim, size_t rank);
/* A list of them, each once. */
tsr_status op_check_dims(const op_request *r, const char *what, op_ints dims, size_t rank);
/* The first value that a list has twice, or that two lists share; NULL: none. */
const int64_t *op_ints_repeated(op_ints list);
const int64_t *op_ints_shared(op_ints a, op_ints b);
bool op_ints_sorted(op_ints list);
/* Whether two operands have the same element type; an error names both. */
tsr_status op_same_dtype(const op_request *r, size_t a, size_t b);

/* How many elements a shape has; false when that exceeds int64 or an extent is unknown. */
bool op_elements(const op_type *type, int64_t *out);

/* The classes of ops that only move elements, one argument by itself or all together. */
spmd_class class_moves(const op_request *r, size_t operand, tsr_reduction pending);
/* Sums of arguments: linear for sums, and for averages of floats. */
spmd_class class_linear(const op_request *r, size_t operand, tsr_reduction pending);
/* Products of arguments. */
spmd_class class_multilinear(const op_request *r, size_t operand, tsr_reduction pending);

#endif
