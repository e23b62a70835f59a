/*
 * SPMD types: the meaning of a mesh axis for a value and for its gradient.
 *
 * Along each axis a value is replicated (R), invariant (I), varying (V) or partial (P). R and I
 * both mean that every rank has the same value; the gradient of R is P, so that each rank may
 * contribute to it, that of I is I. V differs between ranks, and so does its gradient. P is a
 * reduction that has not happened yet; its gradient is R. A partition spec states, for axes along
 * which a value varies, how the parts make a whole: which dimension they cut. S(i) is short for V
 * along an axis that cuts dimension i.
 *
 * The functions of this header compute with types only: nothing runs and nothing is communicated.
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
    TSR_UNTYPED, /* unknown and unchecked */
    TSR_R,
    TSR_I,
    TSR_V,
    TSR_P
} tsr_local_type;

/* The type along one axis. `partial` is the pending reduction: SUM unless the kind is P. */
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

/* The description of a type. `axes` has one entry for each axis of the mesh. */
typedef struct tsr_type_spec {
    const tsr_mesh *mesh;
    TSR_ARRAY(tsr_mesh_num_axes(mesh)) const tsr_axis_type *axes;
    bool has_spec;
    size_t rank; /* of the spec */
    TSR_ARRAY(has_spec ? rank : 0) const tsr_spec_dim *dims;
} tsr_type_spec;

/* A type: const once built, allocated in an arena, over a mesh that must outlive it. */
typedef struct tsr_type tsr_type;

/*
 * Builds a type; everything except the mesh is copied. Untyped axes in the spec become V; an axis
 * of the spec that is R, I or P is an error, and so is an axis twice in the spec.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_create(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_type_spec *spec,
                                                 const tsr_type **out) TSR_MT_CONTEXT;

TSR_API const tsr_mesh *tsr_type_mesh(const tsr_type *type) TSR_MT_SAFE;
TSR_API tsr_axis_type tsr_type_axis(const tsr_type *type, size_t axis) TSR_MT_SAFE;
/* Return whether the type has a spec, its rank, and its dimensions. */
TSR_API bool tsr_type_has_spec(const tsr_type *type) TSR_MT_SAFE;
TSR_API size_t tsr_type_rank(const tsr_type *type) TSR_MT_SAFE;
TSR_API const tsr_spec_dim *tsr_type_dim(const tsr_type *type, size_t dim) TSR_MT_SAFE;
/* Returns the dimension that an axis cuts, or -1. */
TSR_API int64_t tsr_type_dim_of(const tsr_type *type, size_t axis) TSR_MT_SAFE;
TSR_API bool tsr_type_equal(const tsr_type *a, const tsr_type *b) TSR_MT_SAFE;

/*
 * Return "R", "I", "V", "P" or "?"; and "P", "P(avg)", "P(max)", "P(min)" for a pending reduction.
 * Static.
 */
TSR_API const char *tsr_local_type_name(tsr_local_type type) TSR_MT_SAFE;
TSR_API const char *tsr_axis_type_name(tsr_axis_type type) TSR_MT_SAFE;

/*
 * A value as its type describes it. `shape` is that of the whole value: the concatenation of the
 * parts that the axes of the spec cut; `local` is the shape of this rank's part. They are equal
 * without a spec.
 */
typedef struct tsr_typed_shape {
    TSR_NULLABLE const tsr_type *type;
    tsr_dtype dtype;
    size_t rank;
    TSR_ARRAY(rank) const int64_t *shape;
    TSR_NULLABLE const int64_t *local; /* NULL if only the type is checked */
} tsr_typed_shape;

/*
 * Read and print `f32[8,16@tp]`, `f32[8@(dp,tp)]{pp:R, ep:P(max)}`: axes are written at the
 * dimensions that they cut, the types of the others at the end; explicit sizes as `8@tp:[3,0,5]`,
 * unbound ones as `8@tp:[?rows]`. Several axes may also be read without parentheses:
 * `f32[8@dp,tp]`. In a text without any `@` and with `{tp:V}` the type has no spec for tp;
 * `{tp:S(0)}` is read as `@tp` at dimension 0, if it is the only axis and the text has no `@`. Axes
 * that are not named are untyped. A printed type reads back equal.
 *
 * `x:(1)2` is a part of an axis, as in shardings: `f32[8@x:(1)2]{x:(2)2:R}` with an axis x of size
 * 4. The mesh of such a type is the given one with its axes cut there, so that each part is an axis
 * with that name; neighbouring parts with one type and one place are joined. Axes and parts of one
 * type must not overlap.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_read(tsr_context *ctx, tsr_arena *arena, tsr_text *text,
                                               const tsr_mesh *mesh,
                                               tsr_typed_shape *out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_type_print(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_typed_shape *typed,
                                                const char **out) TSR_MT_CONTEXT;

/*
 * Checks that a type is valid for a value: the spec has its rank, explicit sizes sum to their
 * extent, and `local`, if given, fits. An error names the mismatch.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_check(tsr_context *ctx,
                                                const tsr_typed_shape *typed) TSR_MT_CONTEXT;

/*
 * Computes the shape of each rank's part of a whole value, for the rank at `coordinates` of the
 * mesh, one for each axis. Even chunks have ceil(extent / shards) rows, so the last ones may be
 * smaller or empty.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_local_shape(
    tsr_context *ctx, const tsr_typed_shape *typed,
    TSR_ARRAY(tsr_mesh_num_axes(tsr_type_mesh(typed->type))) const int64_t *coordinates,
    TSR_ARRAY(typed->rank) int64_t *local) TSR_MT_CONTEXT;

/*
 * Converts a type to another mesh over the same ranks. Each axis of the type must correspond to an
 * axis, to several (V on the whole is V on each part), or to a part of an axis all of whose parts
 * have one type: a type along dp_cp under a mesh with dp and cp, and back. An untyped axis stays
 * untyped. Groups that overlap otherwise, parts that differ in type, and a spec with parts in
 * another order are errors that name the axes and their ranks. The result types whole axes of
 * `mesh` only; a type on parts requires a mesh that is cut (tsr_type_read).
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_on_mesh(tsr_context *ctx, tsr_arena *arena,
                                                  const tsr_type *type, const tsr_mesh *mesh,
                                                  const tsr_type **out) TSR_MT_CONTEXT;

/*
 * Builds the type that is the same along every axis of a mesh, without a spec: R is the type of a
 * constant.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_uniform(tsr_context *ctx, tsr_arena *arena,
                                                  const tsr_mesh *mesh, tsr_axis_type type,
                                                  const tsr_type **out) TSR_MT_CONTEXT;

/*
 * Computes the type of a gradient: R gives P, P gives R, I gives I, V gives V with the same spec. A
 * pending max or min has no gradient: an error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_gradient(tsr_context *ctx, tsr_arena *arena,
                                                   const tsr_type *type,
                                                   const tsr_type **out) TSR_MT_CONTEXT;

/*
 * Convert between types and shardings. A sharding's axes are V at their dimensions, its unreduced
 * axes P, the other axes `other` (R or I); the mesh of the type is the sharding's, cut where it
 * uses parts of axes (tsr_type_read). In the other direction R and I are replicated; a V without an
 * entry in the spec has no sharding: an error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_of_sharding(tsr_context *ctx, tsr_arena *arena,
                                                      const tsr_sharding *sharding,
                                                      tsr_local_type other,
                                                      const tsr_type **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_type_sharding(tsr_context *ctx, tsr_arena *arena,
                                                   const tsr_type *type, size_t rank,
                                                   const tsr_sharding **out) TSR_MT_CONTEXT;

/* ---- ops ---- */

/* What an op does with a pending sum of an argument; src/spmd/class.h documents the classes. */
typedef enum tsr_op_class { TSR_NONLINEAR, TSR_LINEAR, TSR_MULTILINEAR } tsr_op_class;

/*
 * The axes that are checked globally, as those of a whole value, by their indices in the mesh; the
 * others are checked locally.
 */
typedef struct tsr_axis_set {
    uint64_t bits; /* of the first 64 axes */
} tsr_axis_set;

/*
 * An op to be typed. An operand whose type is NULL is a plain number; an operand that is untyped
 * along an axis is ignored there, and rejected in strict mode. `class_of` returns the class of an
 * operand with regard to a pending reduction; NULL marks an unknown op: its results are untyped,
 * and it is rejected in strict mode. With global axes, `rule` is the op's rule, with an operand for
 * each operand of the call (plain numbers have rank 0); an op without a rule is rejected there. The
 * rule is on the shapes of one rank's parts, with which the op is called; sharded factors are
 * larger by the number of shards in the whole. A dimension that is cut and then split is ambiguous
 * (which part grows?) and rejected; with `whole_rule` the rule is on the shapes of whole values,
 * and a split is allowed if the shards divide its major part.
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
    tsr_reduction reduction;  /* that a sharded reduction factor leaves pending: SUM, MAX, MIN */
    bool implicit_partial;    /* a sharded contracted dimension gives P without being requested */
    bool strict;              /* all operands must be typed on every axis on which one of them is */
    tsr_axis_set required;    /* strict: and on these */
    bool no_fixes;            /* errors have no suggestions */
    bool mix_invariant;       /* no gradient is needed: I combined with R, V or P counts as R */
    /* for messages, one for each operand; NULL: operand 0, operand 1 .. */
    TSR_NULLABLE const char *const *operand_names;
} tsr_typed_call;

/*
 * Infers the types of the results (one for each result of the rule, one without a rule), axis by
 * axis. Operands may be typed on other meshes over the same ranks: they are read under the call's
 * mesh by tsr_type_on_mesh. If operands are on parts of its axes, the call is checked on the mesh
 * with these axes cut, and parts of a result that agree are joined again. The table of one axis:
 *
 *     operands                nonlinear   linear    multilinear
 *     all R, or all I         R, I        R, I      R, I          numbers are ignored
 *     V, or R with V          V           V         V
 *     I with R, V or P        error       error     error
 *     P with V                error       error     error
 *     P alone                 error       P         P
 *     P with P                error       P         error
 *     P with R or a number    error       error     P             a / b: only a is linear
 *
 * With mix_invariant an I combined with R, V or P counts as R; operands that are all I still give
 * I.
 *
 * The partition specs are inferred after the kinds. An error names the axis, the operands with
 * their types and the reason in one line. Its notes are fixes that were tested through this checker
 * and keep the type of the result, each with its cost forward and backward.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_infer(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_typed_call *call,
                                                const tsr_type **results) TSR_MT_CONTEXT;

/*
 * Checks that a value is part of a whole along global axes: an axis along which it varies has an
 * entry in the spec.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_check_global(tsr_context *ctx, const tsr_type *type,
                                                       tsr_axis_set global) TSR_MT_CONTEXT;

/* The existing value that receives a result. */
typedef enum tsr_place {
    TSR_PLACE_WATCHED, /* a gradient flows through it: its type must not change */
    TSR_PLACE_UPDATED, /* an operand of the call, updated in place */
    TSR_PLACE_OUT      /* overwritten */
} tsr_place;

/*
 * Decides whether a result may be written to a slot with a type, and computes the type of the slot
 * after the write: that of the result. An untyped slot accepts any type. A watched one keeps its
 * type: another type is an error. One that is updated gets the result's type. One that is only
 * overwritten may change between R and V; I, P and another dimension are errors, because values
 * read from it earlier would have had another meaning.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_store(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_type *slot, const tsr_type *result,
                                                tsr_place place,
                                                const tsr_type **out) TSR_MT_CONTEXT;

/*
 * Checks the border of a region of local types: each value must have the type declared for it, axis
 * by axis and dimension by dimension; if it varies without a dimension, the declaration may add
 * one, which is not checked. A declaration that is NULL takes the value's own type. A declaration
 * that omits an axis along which the value has a type, or that types an untyped value, is an error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_local_map_check(
    tsr_context *ctx, tsr_arena *arena, TSR_NULLABLE TSR_ARRAY(count) const tsr_type *const *values,
    TSR_NULLABLE TSR_ARRAY(count) const tsr_type *const *declared, size_t count) TSR_MT_CONTEXT;

/*
 * Computes the set of axes that a region is local in. They must be the outer ones of the mesh, each
 * named once: an inner axis is cut within the outer ones, so a global spec has no meaning without
 * them.
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

/* Returns "all_reduce" ..; static. */
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
 * A change of type along one axis: the collective to call. A plain V is stacked on dimension
 * `gather_dim` where it becomes whole and unstacked on `scatter_dim` where it is created; negative
 * numbers count from the last. `divide`: the result is divided by the size of the group, as the
 * gradient of an average requires.
 */
typedef struct tsr_transition {
    tsr_transition_op op;
    tsr_end src;
    tsr_end dst;
    int64_t gather_dim;
    int64_t scatter_dim;
    bool divide;
} tsr_transition;

/* Convert "R", "P(avg)", "S(1)" to an end and back; a printed text is allocated in the arena. */
TSR_API TSR_NODISCARD tsr_status tsr_end_parse(tsr_context *ctx, const char *text,
                                               tsr_end *out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_end_print(tsr_context *ctx, tsr_arena *arena, tsr_end end,
                                               const char **out) TSR_MT_CONTEXT;

/*
 * Sets the dimensions of a call, in addition to its ends: TSR_NO_DIM is unset. For S(i) they must
 * equal i; for V they are the dimension where it is stacked or unstacked.
 */
TSR_API TSR_NODISCARD tsr_status tsr_transition_set_dims(tsr_context *ctx,
                                                         tsr_transition *transition, size_t rank,
                                                         int64_t gather_dim,
                                                         int64_t scatter_dim) TSR_MT_CONTEXT;

/*
 * How strictly reinterpret and convert are checked: guarded mode requires an expert scope for
 * error-prone uses.
 */
typedef enum tsr_guard { TSR_UNGUARDED, TSR_GUARDED, TSR_GUARDED_EXPERT } tsr_guard;

/*
 * Checks that the call exists for a local value of this rank: by the table in typed.h. An error
 * names the call, the axis, both ends and, if one exists, the call that was probably intended.
 */
TSR_API TSR_NODISCARD tsr_status tsr_transition_check(tsr_context *ctx, const char *axis,
                                                      const tsr_transition *transition, size_t rank,
                                                      tsr_guard guard) TSR_MT_CONTEXT;

/*
 * Checks that a call may have a row count for each member: `counts` those of S(i), in all_to_all
 * those before the call, `sent` those after all_to_all; NULL for none. Counts are for S(i) only: a
 * plain V is stacked, one entry for each member. all_to_all needs both lists or none.
 */
TSR_API TSR_NODISCARD tsr_status tsr_transition_check_counts(
    tsr_context *ctx, const char *axis, const tsr_transition *transition,
    TSR_NULLABLE const int64_t *counts, TSR_NULLABLE const int64_t *sent) TSR_MT_CONTEXT;

/*
 * Computes the shape that rank `index` of a group of `size` has after a call, from the one before;
 * `after` has room for one dimension more. `sizes`, unless NULL, are those of the shards of S(i),
 * one for each rank; without them whole dimensions are cut by ceil. An extent that cannot be cut so
 * is an error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_transition_shape(
    tsr_context *ctx, const tsr_transition *transition, int64_t size, int64_t index,
    TSR_NULLABLE const int64_t *sizes, size_t rank, TSR_ARRAY(rank) const int64_t *before,
    size_t *rank_after, int64_t *after) TSR_MT_CONTEXT;

/*
 * Computes the backward of a call: one or two calls, the first applied first. A pending max or min
 * has none.
 */
TSR_API TSR_NODISCARD tsr_status tsr_transition_backward(tsr_context *ctx,
                                                         const tsr_transition *transition,
                                                         tsr_transition *steps,
                                                         size_t *num_steps) TSR_MT_CONTEXT;

/*
 * Finds the call that performs a redistribution along one axis; *num_calls is 0 if both ends are
 * the same.
 */
TSR_API TSR_NODISCARD tsr_status tsr_transition_route(tsr_context *ctx, tsr_end src, tsr_end dst,
                                                      tsr_transition *call,
                                                      size_t *num_calls) TSR_MT_CONTEXT;

/* A change of one operand that was tested and lets the call type-check. */
typedef struct tsr_fix {
    size_t operand; /* the first operand that is changed */
    bool all;       /* whether all operands of that type are */
    size_t axis;
    const tsr_mesh *mesh; /* of that axis: the call's, cut where operands are on parts of axes */
    tsr_transition call;  /* the call to apply to it */
    const char *cost;     /* its cost, forward and backward, as text */
} tsr_fix;

/*
 * Finds the fixes of a call that does not type-check because of one axis, allocated in the arena.
 * Each was tested through tsr_type_infer and gives the type that the other operands have without
 * it. None if the call type-checks.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_fixes(tsr_context *ctx, tsr_arena *arena,
                                                const tsr_typed_call *call, const tsr_fix **fixes,
                                                size_t *num_fixes) TSR_MT_CONTEXT;

/*
 * Computes the type after a call along axes that are one communicator (several are flattened, major
 * to minor; they must all be of the source's kind). On a global axis only S variants and the other
 * ends that keep the value whole are allowed, and of several axes on a dimension only the
 * innermost. If the value is untyped along one of the axes nothing is checked and the type stays;
 * in strict mode that is an error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_transition(
    tsr_context *ctx, tsr_arena *arena, const tsr_typed_shape *value,
    TSR_ARRAY(num_axes) const size_t *axes, size_t num_axes, const tsr_transition *transition,
    tsr_axis_set global, tsr_guard guard, bool strict, const tsr_type **out) TSR_MT_CONTEXT;

/*
 * The same for a collective that writes into a slot that already has a type, or (NULL) into the
 * value itself: the slot's type must be the result's, and typed along the axes; the value must be
 * of the source's kind: a V does not count as P.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_collective_into(
    tsr_context *ctx, tsr_arena *arena, const tsr_typed_shape *value,
    TSR_ARRAY(num_axes) const size_t *axes, size_t num_axes, const tsr_transition *transition,
    TSR_NULLABLE const tsr_type *place, const tsr_type **out) TSR_MT_CONTEXT;

/*
 * Checks that a backward may start from a value with a type: I and a pending sum may; for R and V
 * the error names both remedies.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_check_loss(tsr_context *ctx,
                                                     const tsr_type *type) TSR_MT_CONTEXT;

/*
 * Checks a claim about a value: axes that the claim leaves untyped are not checked, unless `rest`
 * states their type. New information in the claim (a type of an untyped axis, a dimension of a V
 * axis) is added; a contradiction is an error that names both. A V without a dimension may be
 * claimed to be P: a reinterpret, as in all_reduce and reduce_scatter.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_assert(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_type *value, const tsr_type *claim,
                                                 tsr_local_type rest,
                                                 const tsr_type **out) TSR_MT_CONTEXT;

/*
 * Changes a type without a check, for facts that the rules cannot prove: each axis named must be of
 * the kind `from`. A V that changes loses its entry in the spec.
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
 * Builds a type from one end for each axis of the mesh, for a value of a rank. If several axes cut
 * one dimension, `order`, axes from major to minor, must name all of them.
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
 * Computes an order of all axes in the specs of some types that agrees with each dimension of each,
 * and with the first use where that leaves a choice. `order` has room for all axes of the mesh.
 * Types that contradict each other are an error that names the axes.
 */
TSR_API TSR_NODISCARD tsr_status tsr_types_order(tsr_context *ctx, tsr_arena *arena,
                                                 TSR_ARRAY(num_types) const tsr_type *const *types,
                                                 size_t num_types, size_t *order,
                                                 size_t *count) TSR_MT_CONTEXT;

/* An axis as (size, stride) pairs over ranks, with a type along it. */
typedef struct tsr_strided_axis {
    TSR_ARRAY(num_pairs) const tsr_stride *pairs;
    size_t num_pairs;
    tsr_axis_type type; /* untyped: unknown, or to be computed */
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
 * Converts a type to other axes over the same ranks: axes flattened to one must have one type, and
 * be adjacent if they are in the spec; an axis that is split gives its type to the parts. `axes`
 * are the new ones; the type of one that is typed must agree. Each axis of the type must be among
 * them, whole or in parts; axes that the type does not mention stay untyped. The result is
 * allocated in the arena, its axes by stride, largest first, without those of size 1.
 */
TSR_API TSR_NODISCARD tsr_status tsr_type_reaxis(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_strided_type *type,
                                                 TSR_ARRAY(num_axes) const tsr_strided_axis *axes,
                                                 size_t num_axes,
                                                 tsr_strided_type *out) TSR_MT_CONTEXT;

/* Checks that the axes of a spec are disjoint; an error names the ranks that two of them share. */
TSR_API TSR_NODISCARD tsr_status
tsr_strided_spec_check(tsr_context *ctx, const tsr_strided_type *type) TSR_MT_CONTEXT;

/* ---- notations and element types ---- */

/*
 * Converts a DTensor placement, `Replicate`, `Shard(1)`, `Partial` or `Partial(avg)`, to an end,
 * given the placement of its gradient or NULL. Replicate is I; with a gradient that is Partial it
 * is R. A pending reduction other than a sum, and a gradient that is not the dual of its value, are
 * errors.
 */
TSR_API TSR_NODISCARD tsr_status tsr_end_of_placement(tsr_context *ctx, const char *placement,
                                                      TSR_NULLABLE const char *gradient,
                                                      tsr_end *out) TSR_MT_CONTEXT;

/*
 * Converts an end to a DTensor placement, allocated in the arena: R and I are `Replicate()`, S(i)
 * is `Shard(i)`, P is `Partial(sum)`. A plain V and other reductions have no placement: an error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_end_placement(tsr_context *ctx, tsr_arena *arena, tsr_end end,
                                                   const char **out) TSR_MT_CONTEXT;

/*
 * The element types of a collective, as requested: `wire` to communicate (and reduce) in, `result`
 * of the output; each is optional. In place, the buffer has one type throughout.
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

/*
 * Sets a field by the name that callers of collectives know: "op_dtype" is the wire's, "out_dtype"
 * that of the result. Another name is an error.
 */
TSR_API TSR_NODISCARD tsr_status tsr_wire_request_set(tsr_context *ctx, tsr_wire_request *request,
                                                      const char *name,
                                                      tsr_dtype dtype) TSR_MT_CONTEXT;

/*
 * Computes the element types of a call. Without a wire type a reduction uses that of the input. A
 * call that only moves elements uses the smaller of the input's and the result's, which gives the
 * same elements. The result has the wire's type by default.
 */
TSR_API TSR_NODISCARD tsr_status tsr_wire_resolve(tsr_context *ctx, const tsr_wire_request *request,
                                                  tsr_wire_dtypes *out) TSR_MT_CONTEXT;

/*
 * Checks that the element types of a backward follow from the forward. They do not if it reduces
 * and any type of the forward has less precision than f32: then the caller must choose (`backward`,
 * NULL if not chosen).
 */
TSR_API TSR_NODISCARD tsr_status tsr_wire_check_backward(
    tsr_context *ctx, const tsr_wire_request *forward,
    TSR_NULLABLE const tsr_wire_request *backward, bool backward_reduces) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
