/*
 * SPMD types: what an axis of the mesh means for a value and for its gradient.
 *
 * Along each axis a value is replicated (R), invariant (I), varying (V) or partial (P). R and I
 * both mean that every rank has the same; the gradient of R is P, so that each rank may contribute
 * to it, that of I is I. V is different on each rank, and so is its gradient. P is a reduction that
 * has not happened yet; its gradient is R. A partition spec says, for axes along which a value
 * varies, how the parts make a whole: which dimension they cut. S(i) is sugar for V with a place in
 * dimension i.
 *
 * Everything here is about types alone: nothing runs and nothing is communicated.
 */
#ifndef TESSERA_SPMD_H
#define TESSERA_SPMD_H

#include <tessera/dtype.h>
#include <tessera/mesh.h>
#include <tessera/rule.h>
#include <tessera/sharding.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---- */

typedef enum tsr_local_type {
    TSR_UNTYPED, /* nothing is known or checked */
    TSR_R,
    TSR_I,
    TSR_V,
    TSR_P
} tsr_local_type;

/* The type along one axis. `partial` is what is pending: SUM unless the kind is P. */
typedef struct tsr_axis_type {
    tsr_local_type kind;
    tsr_reduction partial;
} tsr_axis_type;

/* The axes that cut one dimension, major to minor: places in the mesh. */
typedef struct tsr_spec_dim {
    size_t num_axes;
    const size_t *axes;
    const int64_t *sizes; /* explicit sizes of the shards; NULL: even chunks */
} tsr_spec_dim;

/* What a type is built from. `axes` has one entry for each axis of the mesh. */
typedef struct tsr_type_spec {
    const tsr_mesh *mesh;
    const tsr_axis_type *axes;
    bool has_spec;
    size_t rank; /* of the spec */
    const tsr_spec_dim *dims;
} tsr_type_spec;

/* A type: const once built, the arena's, over a mesh that outlives it. */
typedef struct tsr_type tsr_type;

/*
 * Builds a type; everything but the mesh is copied. Axes in the spec become V where they were
 * untyped; one that is R, I or P is an error, and so is an axis twice in the spec.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_create(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_type_spec *spec,
                                                 const tsr_type **out) TSR_MT_CONTEXT;

TSR_API const tsr_mesh *tsr_type_mesh(const tsr_type *type) TSR_MT_SAFE;
TSR_API tsr_axis_type tsr_type_axis(const tsr_type *type, size_t axis) TSR_MT_SAFE;
/* Whether there is a spec, and its dimensions. */
TSR_API bool tsr_type_has_spec(const tsr_type *type) TSR_MT_SAFE;
TSR_API size_t tsr_type_rank(const tsr_type *type) TSR_MT_SAFE;
TSR_API const tsr_spec_dim *tsr_type_dim(const tsr_type *type, size_t dim) TSR_MT_SAFE;
/* The dimension that an axis cuts, or -1. */
TSR_API int64_t tsr_type_dim_of(const tsr_type *type, size_t axis) TSR_MT_SAFE;
TSR_API bool tsr_type_equal(const tsr_type *a, const tsr_type *b) TSR_MT_SAFE;

/* "R", "I", "V", "P", "?"; and "P", "P(avg)", "P(max)", "P(min)" with what is pending. Static. */
TSR_API const char *tsr_local_type_name(tsr_local_type type) TSR_MT_SAFE;
TSR_API const char *tsr_axis_type_name(tsr_axis_type type) TSR_MT_SAFE;

/*
 * A value as its type sees it. `shape` is that of the whole value: what the axes of the spec cut
 * put together; `local` is what this rank has of it. They are the same where there is no spec.
 */
typedef struct tsr_typed_shape {
    const tsr_type *type;
    tsr_dtype dtype;
    size_t rank;
    const int64_t *shape;
    const int64_t *local; /* NULL where only the type is looked at */
} tsr_typed_shape;

/*
 * Reads and prints `f32[8,16@tp]`, `f32[8@(dp,tp)]{pp:R, ep:P(max)}`: axes stand at the dimensions
 * that they cut, the types of the others behind; explicit sizes as `8@tp:[3,0,5]`. In a text
 * without any `@` and with
 * `{tp:V}` there is no spec for tp. Axes that are not named are untyped. What is printed reads back
 * equal.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_read(tsr_context *ctx, tsr_arena *arena, tsr_text *text,
                                               const tsr_mesh *mesh,
                                               tsr_typed_shape *out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_type_print(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_typed_shape *typed,
                                                const char **out) TSR_MT_CONTEXT;

/* The type of a gradient: R gives P, P gives R, I gives I, V gives V with the same spec. */
TSR_API TSR_NODISCARD tsr_status tsr_type_gradient(tsr_context *ctx, tsr_arena *arena,
                                                   const tsr_type *type,
                                                   const tsr_type **out) TSR_MT_CONTEXT;

/*
 * Between types and shardings. A sharding's axes are V at their dimensions, its unreduced ones P,
 * the rest `other` (R or I); the mesh of the type is the sharding's. Back, R and I are replicated;
 * a V without a place in the spec has no sharding: an error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_of_sharding(tsr_context *ctx, tsr_arena *arena,
                                                      const tsr_sharding *sharding,
                                                      tsr_local_type other,
                                                      const tsr_type **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_type_sharding(tsr_context *ctx, tsr_arena *arena,
                                                   const tsr_type *type, size_t rank,
                                                   const tsr_sharding **out) TSR_MT_CONTEXT;

/* ---- ops ---- */

/* What an op does to a pending sum of an argument; src/spmd/class.h says it in full. */
typedef enum tsr_op_class { TSR_NONLINEAR, TSR_LINEAR, TSR_MULTILINEAR } tsr_op_class;

/* Which axes are checked as a whole value's (global), by their places in the mesh; the others
 * locally. */
typedef struct tsr_axis_set {
    uint64_t bits; /* of the first 64 axes */
} tsr_axis_set;

/*
 * An op to be typed. An operand whose type is NULL is a plain number. `class_of` is asked for the
 * class of an operand with regard to a pending reduction. With global axes, `rule` is the op's rule
 * on the shapes of whole values; an op without one is refused there.
 */
typedef struct tsr_typed_call {
    const char *name; /* for messages: "tsr_add" */
    const tsr_mesh *mesh;
    size_t num_operands;
    const tsr_typed_shape *operands;
    tsr_op_class (*class_of)(void *state, size_t operand, tsr_reduction pending);
    void *state;
    tsr_axis_set global;
    const tsr_rule *rule;
    tsr_axis_set out_partial; /* out_partial_axes */
    tsr_reduction reduction;  /* what a sharded reduction factor leaves pending: SUM, MAX, MIN */
    bool implicit_partial; /* a sharded contracted dimension gives P by itself, as in the reference
                            */
    bool strict;           /* all operands must be typed on all axes that any of them is */
} tsr_typed_call;

/*
 * The types of the results (one for each result of the rule, one without a rule), axis by axis by
 * the table of local rules, then the partition specs. An error says which axis, the operands with
 * their types, why in one line, and as notes the fixes that were tried through this checker and
 * keep the type of the result, each with what it costs forward and backward.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_infer(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_typed_call *call,
                                                const tsr_type **results) TSR_MT_CONTEXT;

/* ---- collectives ---- */

typedef enum tsr_transition_op {
    TSR_ALL_REDUCE,
    TSR_ALL_GATHER,
    TSR_REDUCE_SCATTER,
    TSR_ALL_TO_ALL,
    TSR_REINTERPRET,
    TSR_CONVERT
} tsr_transition_op;

/* "all_reduce" ..; static. */
TSR_API const char *tsr_transition_name(tsr_transition_op op) TSR_MT_SAFE;

/* One end: a kind, and for S(i) the dimension (V then); dim is TSR_NO_DIM for plain V, R, I and P.
 */
#define TSR_NO_DIM INT64_MIN
typedef struct tsr_end {
    tsr_local_type kind;
    int64_t dim; /* negative ones count from the last */
    tsr_reduction partial;
} tsr_end;

/* A change of type along one axis: what is called. */
typedef struct tsr_transition {
    tsr_transition_op op;
    tsr_end src;
    tsr_end dst;
} tsr_transition;

/* How strictly reinterpret and convert are taken: guarded asks for an expert scope where it is easy
 * to go wrong. */
typedef enum tsr_guard { TSR_UNGUARDED, TSR_GUARDED, TSR_GUARDED_EXPERT } tsr_guard;

/*
 * Whether there is such a call for a local value of this rank: by the tables of the types. An error
 * names the call, the axis, both ends and, where there is one, the call that does what seems to be
 * meant.
 */
TSR_API TSR_NODISCARD tsr_status tsr_transition_check(tsr_context *ctx, const char *axis,
                                                      const tsr_transition *transition, size_t rank,
                                                      tsr_guard guard) TSR_MT_CONTEXT;

/* Its backward: one or two calls, the first applied first. */
TSR_API TSR_NODISCARD tsr_status tsr_transition_backward(tsr_context *ctx,
                                                         const tsr_transition *transition,
                                                         tsr_transition *steps,
                                                         size_t *num_steps) TSR_MT_CONTEXT;

/* The call that a redistribution along one axis is; *num_calls is 0 when both ends are the same. */
TSR_API TSR_NODISCARD tsr_status tsr_transition_route(tsr_context *ctx, tsr_end src, tsr_end dst,
                                                      tsr_transition *call,
                                                      size_t *num_calls) TSR_MT_CONTEXT;

/*
 * The type behind a call along axes that are one communicator (several are flattened; they must all
 * be of the source's kind). On a global axis only S variants and the others that keep the whole
 * value are there, and of several axes on a dimension only the innermost can be worked on.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_transition(tsr_context *ctx, tsr_arena *arena,
                                                     const tsr_typed_shape *value,
                                                     const size_t *axes, size_t num_axes,
                                                     const tsr_transition *transition,
                                                     tsr_axis_set global, tsr_guard guard,
                                                     const tsr_type **out) TSR_MT_CONTEXT;

/* Whether a backward may start from a value of a type: I and P may; R and V say both remedies. */
TSR_API TSR_NODISCARD tsr_status tsr_type_check_loss(tsr_context *ctx,
                                                     const tsr_type *type) TSR_MT_CONTEXT;

/*
 * A claim about a value: axes that the claim leaves untyped are not checked, unless `rest` says
 * what they must be. What the claim adds (a type of an untyped axis, a place of a V axis) is taken;
 * what contradicts is an error that says both.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_assert(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_type *value, const tsr_type *claim,
                                                 tsr_local_type rest,
                                                 const tsr_type **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
