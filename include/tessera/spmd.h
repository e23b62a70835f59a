/*
 * SPMD types: what an axis of the mesh means for a value and for its gradient.
 *
 * Along each axis a value is replicated (R), invariant (I), varying (V) or partial (P). R and I
 * both mean that every rank has the same; the gradient of R is P, so that each rank may contribute
 * to it, that of I is I. V is different on each rank, and so is its gradient. P is a reduction that
 * has not happened yet; its gradient is R. A partition spec says, for axes along which a value
 * varies, how the parts make a whole: which dimension they cut. S(i) is short for V along an axis
 * that cuts dimension i.
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

/*
 * The axes that cut one dimension, major to minor: indices in the mesh. `symbol` stands for
 * explicit sizes that are not bound yet, "" for `?` alone (tsr_ragged); with sizes it is NULL.
 */
typedef struct tsr_spec_dim {
    size_t num_axes;
    TSR_ARRAY(num_axes) const size_t *axes;
    TSR_NULLABLE const int64_t *sizes; /* explicit sizes of the shards; NULL: even chunks */
    TSR_NULLABLE const char *symbol;   /* or their symbol */
} tsr_spec_dim;

/* What a type is built from. `axes` has one entry for each axis of the mesh. */
typedef struct tsr_type_spec {
    const tsr_mesh *mesh;
    TSR_ARRAY(tsr_mesh_num_axes(mesh)) const tsr_axis_type *axes;
    bool has_spec;
    size_t rank; /* of the spec */
    TSR_ARRAY(has_spec ? rank : 0) const tsr_spec_dim *dims;
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
 * A value as its type sees it. `shape` is that of the whole value: the concatenation of what the
 * axes of the spec cut; `local` is what this rank has of it. They are the same where there is no
 * spec.
 */
typedef struct tsr_typed_shape {
    TSR_NULLABLE const tsr_type *type;
    tsr_dtype dtype;
    size_t rank;
    TSR_ARRAY(rank) const int64_t *shape;
    TSR_NULLABLE const int64_t *local; /* NULL where only the type is checked */
} tsr_typed_shape;

/*
 * Reads and prints `f32[8,16@tp]`, `f32[8@(dp,tp)]{pp:R, ep:P(max)}`: axes are written at the
 * dimensions that they cut, the types of the others at the end; explicit sizes as `8@tp:[3,0,5]`,
 * unbound ones as `8@tp:[?rows]`.
 * Several axes may also be read without parentheses: `f32[8@dp,tp]`.
 * In a text without any `@` and with `{tp:V}` there is no spec for tp; `{tp:S(0)}` is read as `@tp`
 * at dimension 0, where that is the only axis and no `@` is written. Axes that are not named are
 * untyped. What is printed reads back equal.
 *
 * `x:(1)2` is a part of an axis, as in shardings: `f32[8@x:(1)2]{x:(2)2:R}` with an axis x of size
 * 4. The mesh of such a type is the given one with its axes cut there, so that each part is an
 * axis, of that name; neighbouring parts with one type and one place are joined. Axes and parts of
 * one type must not overlap.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_read(tsr_context *ctx, tsr_arena *arena, tsr_text *text,
                                               const tsr_mesh *mesh,
                                               tsr_typed_shape *out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_type_print(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_typed_shape *typed,
                                                const char **out) TSR_MT_CONTEXT;

/*
 * Whether a type is one for a value: the spec has its rank, explicit sizes sum to their extent, and
 * `local`, if given, fits. An error says which does not.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_check(tsr_context *ctx,
                                                const tsr_typed_shape *typed) TSR_MT_CONTEXT;

/*
 * What each rank has of a whole value: rank `coordinates` of the mesh, one for each axis. Even
 * chunks are of ceil(extent / shards), so that the last ones may be smaller or empty.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_local_shape(
    tsr_context *ctx, const tsr_typed_shape *typed,
    TSR_ARRAY(tsr_mesh_num_axes(tsr_type_mesh(typed->type))) const int64_t *coordinates,
    TSR_ARRAY(typed->rank) int64_t *local) TSR_MT_CONTEXT;

/*
 * The same type under another mesh over the same ranks, in which each axis of the type is an axis,
 * or several (V on the whole is V on each part), or a part of an axis all of whose parts have one
 * type: a type along dp_cp under a mesh with dp and cp, and back. An axis that the type says
 * nothing about stays untyped. Groups that overlap otherwise, parts that differ in type, and a spec
 * that has parts in another order are errors that name the axes and their ranks. Only whole axes of
 * `mesh` are typed; types on parts are those of a mesh that is cut (tsr_type_read).
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_on_mesh(tsr_context *ctx, tsr_arena *arena,
                                                  const tsr_type *type, const tsr_mesh *mesh,
                                                  const tsr_type **out) TSR_MT_CONTEXT;

/* The same type along every axis of a mesh, without a spec: what a constant is (R). */
TSR_API TSR_NODISCARD tsr_status tsr_type_uniform(tsr_context *ctx, tsr_arena *arena,
                                                  const tsr_mesh *mesh, tsr_axis_type type,
                                                  const tsr_type **out) TSR_MT_CONTEXT;

/* The type of a gradient: R gives P, P gives R, I gives I, V gives V with the same spec. A
 * pending max or min has none: an error. */
TSR_API TSR_NODISCARD tsr_status tsr_type_gradient(tsr_context *ctx, tsr_arena *arena,
                                                   const tsr_type *type,
                                                   const tsr_type **out) TSR_MT_CONTEXT;

/*
 * Between types and shardings. A sharding's axes are V at their dimensions, its unreduced ones P,
 * the rest `other` (R or I); the mesh of the type is the sharding's, cut where it uses parts of
 * axes (tsr_type_read). Back, R and I are replicated;
 * a V without an entry in the spec has no sharding: an error.
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

/*
 * Which axes are checked as a whole value's (global), by their indices in the mesh; the others
 * locally.
 */
typedef struct tsr_axis_set {
    uint64_t bits; /* of the first 64 axes */
} tsr_axis_set;

/*
 * An op to be typed. An operand whose type is NULL is a plain number; one that is untyped along an
 * axis says nothing about it, and is refused when strict. `class_of` is asked for the class of an
 * operand with regard to a pending reduction; NULL is an op that nothing is known of: its results
 * are untyped, and it is refused when strict. With global axes, `rule` is the op's rule, an operand
 * for each of the call's (plain numbers have rank 0); an op without one is refused there. The rule
 * is on the shapes that one rank has, as the op is called there; sharded factors are larger by the
 * number of shards in the whole. A dimension that is cut and then split would leave open which part
 * grows, and is refused; with `whole_rule` the rule is on the shapes of whole values, and a split
 * is fine where the shards divide its major part.
 */
typedef struct tsr_typed_call {
    const char *name; /* for messages: "tsr_add" */
    const tsr_mesh *mesh;
    size_t num_operands;
    TSR_ARRAY(num_operands) const tsr_typed_shape *operands;
    TSR_NULLABLE tsr_op_class (*class_of)(void *state, size_t operand, tsr_reduction pending);
    TSR_NULLABLE void *state;
    tsr_axis_set global;
    TSR_NULLABLE const tsr_rule *rule;
    bool whole_rule;
    tsr_axis_set out_partial; /* out_partial_axes */
    tsr_reduction reduction;  /* what a sharded reduction factor leaves pending: SUM, MAX, MIN */
    bool implicit_partial;    /* a sharded contracted dimension gives P by itself */
    bool strict;              /* all operands must be typed on all axes that any of them is */
    tsr_axis_set required;    /* strict: and on these */
    bool no_fixes;            /* errors have no suggestions */
    bool mix_invariant;       /* no gradient is needed: I beside R, V or P counts as R */
    /* for messages, one for each operand; NULL: operand 0, operand 1 .. */
    TSR_NULLABLE const char *const *operand_names;
} tsr_typed_call;

/*
 * The types of the results (one for each result of the rule, one without a rule), axis by axis.
 * Operands may be typed on other meshes over the same ranks: they are read under the call's mesh by
 * tsr_type_on_mesh. Where operands are on parts of its axes, the call is checked on the mesh with
 * these axes cut, and parts of a result that agree are joined again.
 *
 *     operands                nonlinear   linear    multilinear
 *     all R, or all I         R, I        R, I      R, I          numbers say nothing
 *     V, or R with V          V           V         V
 *     I with R, V or P        error       error     error
 *     P with V                error       error     error
 *     P alone                 error       P         P
 *     P with P                error       P         error
 *     P with R or a number    error       error     P             a / b: only a is linear
 *
 * With mix_invariant an I beside R, V or P counts as R; operands that are all I still give I.
 *
 * and then the partition specs. An error says which axis, the operands with
 * their types, why in one line, and as notes the fixes that were tried through this checker and
 * keep the type of the result, each with what it costs forward and backward.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_infer(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_typed_call *call,
                                                const tsr_type **results) TSR_MT_CONTEXT;

/*
 * Whether a value is one of a whole along global axes: what varies has an entry in the spec there.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_check_global(tsr_context *ctx, const tsr_type *type,
                                                       tsr_axis_set global) TSR_MT_CONTEXT;

/* The place that a result is written to. */
typedef enum tsr_place {
    TSR_PLACE_WATCHED, /* a gradient goes through it: its type stays */
    TSR_PLACE_UPDATED, /* an operand of the call, changed in place */
    TSR_PLACE_OUT      /* overwritten */
} tsr_place;

/*
 * Whether a result may be written to a slot of a type; *out is the type of the slot after the
 * write: the result's. An untyped slot takes any. A watched one keeps its type: another is an
 * error. One that is updated takes the result's type. One that is only overwritten may change
 * between R and V; I, P and another dimension are errors, because what was read from it before
 * would have meant something else.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_store(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_type *slot, const tsr_type *result,
                                                tsr_place place,
                                                const tsr_type **out) TSR_MT_CONTEXT;

/*
 * The border of a region of local types: each value must be what is declared for it, axis by axis
 * and dimension by dimension; where it varies without a dimension, one may be declared and is
 * believed. A declaration that is NULL takes the value's own type. One that leaves out an axis
 * along which the value has a type, or one for something that has no type, is an error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_local_map_check(
    tsr_context *ctx, tsr_arena *arena, TSR_NULLABLE TSR_ARRAY(count) const tsr_type *const *values,
    TSR_NULLABLE TSR_ARRAY(count) const tsr_type *const *declared, size_t count) TSR_MT_CONTEXT;

/*
 * The set of axes that a region is local in. They must be the outer ones of the mesh, each named
 * once: an inner axis is cut within the outer, so what is global there has no meaning without them.
 */
TSR_API TSR_NODISCARD tsr_status tsr_local_axes(tsr_context *ctx, const tsr_mesh *mesh,
                                                TSR_ARRAY(num_axes) const size_t *axes,
                                                size_t num_axes, tsr_axis_set *out) TSR_MT_CONTEXT;

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

/*
 * A change of type along one axis: what is called. A plain V is stacked on dimension `gather_dim`
 * where it becomes whole and unstacked on `scatter_dim` where it is made; negative ones count from
 * the last. `divide`: the result is divided by the size of the group, as the gradient of an average
 * is.
 */
typedef struct tsr_transition {
    tsr_transition_op op;
    tsr_end src;
    tsr_end dst;
    int64_t gather_dim;
    int64_t scatter_dim;
    bool divide;
} tsr_transition;

/* "R", "P(avg)", "S(1)" to an end, in both directions; what is printed is the arena's. */
TSR_API TSR_NODISCARD tsr_status tsr_end_parse(tsr_context *ctx, const char *text,
                                               tsr_end *out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_end_print(tsr_context *ctx, tsr_arena *arena, tsr_end end,
                                               const char **out) TSR_MT_CONTEXT;

/*
 * Names the dimensions of a call as calls have them, beside its ends: TSR_NO_DIM is not named. For
 * S(i) they must equal i; for V they are where it is stacked or unstacked.
 */
TSR_API TSR_NODISCARD tsr_status tsr_transition_set_dims(tsr_context *ctx,
                                                         tsr_transition *transition, size_t rank,
                                                         int64_t gather_dim,
                                                         int64_t scatter_dim) TSR_MT_CONTEXT;

/*
 * How strictly reinterpret and convert are checked: guarded requires an expert scope for
 * error-prone uses.
 */
typedef enum tsr_guard { TSR_UNGUARDED, TSR_GUARDED, TSR_GUARDED_EXPERT } tsr_guard;

/*
 * Whether there is such a call for a local value of this rank: by the table in typed.h. An error
 * names the call, the axis, both ends and, where there is one, the call that was probably meant.
 */
TSR_API TSR_NODISCARD tsr_status tsr_transition_check(tsr_context *ctx, const char *axis,
                                                      const tsr_transition *transition, size_t rank,
                                                      tsr_guard guard) TSR_MT_CONTEXT;

/*
 * Whether a call may be given the rows of each member: `counts` those of S(i), in all_to_all those
 * that it has before, `sent` those that all_to_all leaves; NULL for none. They are for S(i) only: a
 * plain V is stacked, one entry for each member. all_to_all takes both lists or none.
 */
TSR_API TSR_NODISCARD tsr_status tsr_transition_check_counts(
    tsr_context *ctx, const char *axis, const tsr_transition *transition,
    TSR_NULLABLE const int64_t *counts, TSR_NULLABLE const int64_t *sent) TSR_MT_CONTEXT;

/*
 * The shape that rank `index` of a group of `size` has after a call, from the one before; `after`
 * has room for one dimension more. `sizes`, unless NULL, are those of the shards of S(i), one for
 * each rank; without them whole dimensions are cut by ceil. An extent that cannot be cut so is an
 * error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_transition_shape(
    tsr_context *ctx, const tsr_transition *transition, int64_t size, int64_t index,
    TSR_NULLABLE const int64_t *sizes, size_t rank, TSR_ARRAY(rank) const int64_t *before,
    size_t *rank_after, int64_t *after) TSR_MT_CONTEXT;

/* Its backward: one or two calls, the first applied first. A pending max or min has none. */
TSR_API TSR_NODISCARD tsr_status tsr_transition_backward(tsr_context *ctx,
                                                         const tsr_transition *transition,
                                                         tsr_transition *steps,
                                                         size_t *num_steps) TSR_MT_CONTEXT;

/* The call that a redistribution along one axis is; *num_calls is 0 when both ends are the same. */
TSR_API TSR_NODISCARD tsr_status tsr_transition_route(tsr_context *ctx, tsr_end src, tsr_end dst,
                                                      tsr_transition *call,
                                                      size_t *num_calls) TSR_MT_CONTEXT;

/* A change of one operand that was tried, and lets the call type-check. */
typedef struct tsr_fix {
    size_t operand; /* the first that is changed */
    bool all;       /* all operands of that type are */
    size_t axis;
    const tsr_mesh *mesh; /* of that axis: the call's, cut where operands are on parts of axes */
    tsr_transition call;  /* what to do to it */
    const char *cost;     /* forward and backward, in words */
} tsr_fix;

/*
 * The fixes of a call that does not type-check because of one axis, the arena's: each was tried
 * through tsr_type_infer and gives the type that the other operands have by themselves. None when
 * the call is fine.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_fixes(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_typed_call *call, const tsr_fix **fixes,
                                                size_t *num_fixes) TSR_MT_CONTEXT;

/*
 * The type after a call along axes that are one communicator (several are flattened, major to
 * minor; they must all be of the source's kind). On a global axis only S variants and the others
 * that keep the whole value are allowed, and of several axes on a dimension only the innermost.
 * Where the value is untyped along one of them nothing is checked and the type stays; that is an
 * error when strict.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_transition(
    tsr_context *ctx, tsr_arena *arena, const tsr_typed_shape *value,
    TSR_ARRAY(num_axes) const size_t *axes, size_t num_axes, const tsr_transition *transition,
    tsr_axis_set global, tsr_guard guard, bool strict, const tsr_type **out) TSR_MT_CONTEXT;

/*
 * The same for a collective that writes into a place which has a type already, or (NULL) into the
 * value itself: the place's type must be the result's, and typed along the axes; the value must be
 * of the source's kind as it is, a V is not taken for P.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_collective_into(
    tsr_context *ctx, tsr_arena *arena, const tsr_typed_shape *value,
    TSR_ARRAY(num_axes) const size_t *axes, size_t num_axes, const tsr_transition *transition,
    TSR_NULLABLE const tsr_type *place, const tsr_type **out) TSR_MT_CONTEXT;

/*
 * Whether a backward may start from a value of a type: I and a pending sum may; for R and V the
 * error names both remedies.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_check_loss(tsr_context *ctx,
                                                     const tsr_type *type) TSR_MT_CONTEXT;

/*
 * A claim about a value: axes that the claim leaves untyped are not checked, unless `rest` says
 * what they must be. What the claim adds (a type of an untyped axis, a dimension of a V axis) is
 * added; a contradiction is an error that names both. A V without a dimension may be claimed to be
 * P: a reinterpret, as in all_reduce and reduce_scatter.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_assert(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_type *value, const tsr_type *claim,
                                                 tsr_local_type rest,
                                                 const tsr_type **out) TSR_MT_CONTEXT;

/*
 * An unchecked change of type, for what the rules cannot prove: each axis named must be of the kind
 * `from` now. Its entry in the spec is lost with V.
 */
typedef struct tsr_mutation {
    size_t axis;
    tsr_axis_type from;
    tsr_axis_type to;
} tsr_mutation;
TSR_API TSR_NODISCARD tsr_status tsr_type_mutate(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_type *type,
                                                 TSR_ARRAY(num_mutations)
                                                     const tsr_mutation *mutations,
                                                 size_t num_mutations,
                                                 const tsr_type **out) TSR_MT_CONTEXT;

/* ---- partition specs ---- */

/*
 * A type from one end for each axis of the mesh, for a value of a rank. Where several axes cut one
 * dimension `order`, axes from major to minor, must name all of them.
 */
TSR_API TSR_NODISCARD tsr_status
tsr_type_of_ends(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                 TSR_ARRAY(tsr_mesh_num_axes(mesh)) const tsr_end *ends, size_t rank,
                 TSR_ARRAY(num_order) const size_t *order, size_t num_order,
                 const tsr_type **out) TSR_MT_CONTEXT;

/*
 * Moves an axis to another dimension, as its innermost axis, or removes it from the spec (`dim`
 * TSR_NO_DIM; the axis stays V). Only the innermost axis of a dimension can be moved: the others
 * are cut within it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_move_axis(tsr_context *ctx, tsr_arena *arena,
                                                    const tsr_type *type, size_t rank, size_t axis,
                                                    int64_t dim,
                                                    const tsr_type **out) TSR_MT_CONTEXT;

/*
 * An order of all axes in the specs of some types that agrees with each dimension of each, and
 * with the first use where that leaves a choice. `order` has room for all axes of the mesh. Types
 * that contradict each other are an error that names the axes.
 */
TSR_API TSR_NODISCARD tsr_status tsr_types_order(tsr_context *ctx, tsr_arena *arena,
                                                 TSR_ARRAY(num_types) const tsr_type *const *types,
                                                 size_t num_types, size_t *order,
                                                 size_t *count) TSR_MT_CONTEXT;

/* An axis as (size, stride) pairs over ranks, with a type along it. */
typedef struct tsr_strided_axis {
    TSR_ARRAY(num_pairs) const tsr_stride *pairs;
    size_t num_pairs;
    tsr_axis_type type; /* untyped: not known, or to be found */
} tsr_strided_axis;

/* The axes of a dimension, by their indices in a list of such axes, major to minor. */
typedef struct tsr_strided_dim {
    TSR_ARRAY(num_axes) const size_t *axes;
    size_t num_axes;
} tsr_strided_dim;

/* Types along a set of axes, and a spec. */
typedef struct tsr_strided_type {
    size_t num_axes;
    TSR_ARRAY(num_axes) const tsr_strided_axis *axes;
    size_t rank; /* of the spec; 0 for none */
    TSR_ARRAY(rank) const tsr_strided_dim *dims;
} tsr_strided_type;

/*
 * The same type along other axes over the same ranks: axes flattened to one must have one type, and
 * be adjacent in the spec if at all; an axis split gives its type to the parts. `axes` are the new
 * ones; one that is typed must agree with that. Each axis of the type must be among them, whole or
 * in parts; those that the type is not about stay untyped. The result is the arena's, its axes by
 * stride, largest first, those of size 1 left out.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_reaxis(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_strided_type *type,
                                                 TSR_ARRAY(num_axes) const tsr_strided_axis *axes,
                                                 size_t num_axes,
                                                 tsr_strided_type *out) TSR_MT_CONTEXT;

/* Whether the axes of a spec are disjoint; an error names the ranks that two of them share. */
TSR_API TSR_NODISCARD tsr_status
tsr_strided_spec_check(tsr_context *ctx, const tsr_strided_type *type) TSR_MT_CONTEXT;

/* ---- notations and element types ---- */

/*
 * The end that a DTensor placement means, `Replicate`, `Shard(1)`, `Partial` or `Partial(avg)`,
 * with the placement of its gradient or NULL. Replicate is I; with a gradient that is Partial it is
 * R. A pending reduction other than a sum, and a gradient that is not the dual of its value, are
 * errors.
 */
TSR_API TSR_NODISCARD tsr_status tsr_end_of_placement(tsr_context *ctx, const char *placement,
                                                      TSR_NULLABLE const char *gradient,
                                                      tsr_end *out) TSR_MT_CONTEXT;

/*
 * The DTensor placement of an end, the arena's: R and I are `Replicate()`, S(i) is `Shard(i)`, P is
 * `Partial(sum)`. A plain V and other reductions have none: an error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_end_placement(tsr_context *ctx, tsr_arena *arena, tsr_end end,
                                                   const char **out) TSR_MT_CONTEXT;

/*
 * The element types of a collective. What a caller asks for: `wire` to communicate (and reduce) in,
 * `result` to get; each may be left out. In place, the buffer has one type throughout.
 */
typedef struct tsr_wire_request {
    tsr_dtype input;
    bool has_wire;
    tsr_dtype wire;
    bool has_result;
    tsr_dtype result;
    bool reduces;
    bool in_place;
} tsr_wire_request;
typedef struct tsr_wire_dtypes {
    tsr_dtype wire;
    tsr_dtype result;
} tsr_wire_dtypes;

/* Sets a field by the name that callers of collectives know: "op_dtype" is the wire's, "out_dtype"
 * the result's. Another name is an error. */
TSR_API TSR_NODISCARD tsr_status tsr_wire_request_set(tsr_context *ctx, tsr_wire_request *request,
                                                      const char *name,
                                                      tsr_dtype dtype) TSR_MT_CONTEXT;

/*
 * Without a wire type a reduction is done in the input's. What only moves elements does so in the
 * smaller of the input's and the result's, which gives the same. The result is of the wire's type
 * unless said otherwise.
 */
TSR_API TSR_NODISCARD tsr_status tsr_wire_resolve(tsr_context *ctx, const tsr_wire_request *request,
                                                  tsr_wire_dtypes *out) TSR_MT_CONTEXT;

/*
 * Whether the element types of a backward follow from the forward. They do not where it reduces and
 * any type of the forward has less precision than f32: then the caller must choose
 * (`backward`, NULL when not chosen).
 */
TSR_API TSR_NODISCARD tsr_status tsr_wire_check_backward(
    tsr_context *ctx, const tsr_wire_request *forward,
    TSR_NULLABLE const tsr_wire_request *backward, bool backward_reduces) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
