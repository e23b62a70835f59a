/*
 * Typed SPMD code: every rank works on values of its own, types relate the values of the ranks, and
 * every collective is a call.
 *
 * Inside a scope the calls of ops.h compute on each rank's own arrays and never communicate. Along
 * each axis of the scope's mesh a value has a type (spmd.h): R, I, V or P. A call whose operands'
 * types are incompatible fails before it computes, with the reason and possible fixes; so wrong
 * gradients are found before anything runs. Axes are checked locally, or globally: then the whole
 * value is tracked too, by partition specs, and only what computes the same as one device would is
 * accepted. Values may have any strides; results are row-major. Types are erasable: in an unchecked
 * scope the same calls compute the same bits, and no type is checked; a value has the type that the
 * program says it has, by tsr_typed_value, tsr_local_of or tsr_assert_type, and its gradient that
 * type's dual, so that tsr_tensor_of_local works there too.
 */
#ifndef TESSERA_TYPED_H
#define TESSERA_TYPED_H

#include <tessera/gradient.h>
#include <tessera/ops.h>
#include <tessera/spmd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a scope works. Zeros but for the mesh: all axes local, checked, nothing guarded. */
typedef struct tsr_spmd_scope {
    const tsr_mesh *mesh; /* of all ranks; copied */
    tsr_axis_set global;  /* axes that are checked globally */
    tsr_guard guard;
    bool unchecked; /* no checks, and what is computed has no type: the same calls, the same bits */
    tsr_local_type
        rest; /* what tsr_assert_type takes axes for that it does not name; UNTYPED: any */
    bool implicit_partial; /* a contracted sharded dimension gives P without being asked for */
    bool strict;           /* a value without a type along an axis is refused, not passed over */
    bool mix_invariant;    /* I mixes in calls that no tape records: below */
} tsr_spmd_scope;

/*
 * Scopes nest; the innermost one applies. Opening one is collective over the world.
 *
 * A scope may have another mesh over the same ranks than the one around it. Values that were typed
 * there are read under the mesh of the innermost scope, by tsr_type_on_mesh: V along dp_cp is V
 * along dp and along cp, and back where all parts agree. Groups that overlap otherwise are refused,
 * with their axes and ranks.
 *
 * An invariant operand does not mix with R, V or P, because its gradient would need a sum. With
 * mix_invariant a call that needs no gradient takes it as R: a call none of whose operands depends
 * on a watched tensor of a tape that records (tsr_tape_pause stops recording). A call that a tape
 * records is refused as without the mode, and so is every call inside a tsr_recompute whose inputs
 * are recorded, because the backward runs it again. The mode changes no other rule: operands that
 * are all I give I, and an I added to a P is refused, as an R is.
 */
TSR_API TSR_NODISCARD tsr_status tsr_spmd_open(tsr_comm *world,
                                               const tsr_spmd_scope *scope) TSR_MT_CONTEXT;
/*
 * Closes the innermost scope; without one it does nothing. The scope is closed in any case. Values
 * that were started in it (tsr_start_collective) and not waited for are an error that names their
 * calls; they cannot be waited for afterwards, and a rank that ends with one under way has failed.
 */
TSR_API tsr_status tsr_spmd_close(tsr_comm *world) TSR_MT_CONTEXT;

/*
 * A value from this rank's own array, copied, with its type as text over the scope's mesh:
 * `f32[8,16@tp]{dp:R}`. The text has the shape of the whole value; what this rank has must be its
 * part. Types may be on parts of axes, `f32[8@x:(1)2]{x:(2)2:R}` (tsr_type_read).
 */
TSR_API TSR_NODISCARD tsr_status tsr_typed_value(tsr_comm *world, const tsr_view *local,
                                                 const char *type, tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * This rank's part of a sharded tensor as a value: V where an axis shards it, P where it is
 * pending, `other` (R or I) along the rest. It shares the tensor's memory. And back: the tensor
 * whose parts the values are; every axis along which the value varies must be in its spec. No
 * gradient goes through either: they refuse what depends on a watched tensor. Calls about whole
 * tensors (tsr_tensor_to_full, tsr_redistribute, tsr_replicate ..) refuse values that are P or V,
 * whose arrays differ; tsr_local_of refuses what is a value already.
 */
TSR_API TSR_NODISCARD tsr_status tsr_local_of(tsr_tensor *tensor, tsr_local_type other,
                                              tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_tensor_of_local(tsr_tensor *value,
                                                     tsr_tensor **out) TSR_MT_CONTEXT;

/* A value's type as text, the arena's; "untyped" for one that has none. */
TSR_API TSR_NODISCARD tsr_status tsr_type_of(const tsr_tensor *value, tsr_arena *arena,
                                             const char **out) TSR_MT_CONTEXT;

/*
 * Claims a type for a value, as text without the element type and shape, `{tp:S(0), dp:R}`, or with
 * them. A contradiction is an error; what is new is added.
 */
TSR_API TSR_NODISCARD tsr_status tsr_assert_type(tsr_tensor *value, const char *type,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- regions where axes are local ---- */

/* What a region is called with, and the types that are declared for its inputs and outputs. */
typedef struct tsr_local_region {
    tsr_region region;
    TSR_NULLABLE void *state;
    TSR_ARRAY(num_inputs) tsr_tensor *const *inputs;
    /* as for tsr_assert_type; NULL: the value's own */
    TSR_NULLABLE TSR_ARRAY(num_inputs) const char *const *input_types;
    size_t num_inputs;
    TSR_NULLABLE TSR_ARRAY(num_outputs) const char *const *output_types;
    size_t num_outputs;
} tsr_local_region;

/*
 * Runs a region in which the named axes, whole ones, are local, whatever they are outside: the
 * inputs must have the declared types, which name every axis that the value has a type along;
 * inside, they vary along those axes without an entry in a spec; the outputs must be what is
 * declared, and get the spec that it says. The body is checked locally only: a dimension that is
 * declared for a value that varies without one is believed. A scope must be open, to which all
 * values belong.
 */
TSR_API TSR_NODISCARD tsr_status tsr_local_map(tsr_comm *world, const char *axes,
                                               const tsr_local_region *region,
                                               tsr_tensor **outputs) TSR_MT_CONTEXT;

/* ---- control flow ---- */

/*
 * A number read from a value without dimensions, with the axes along which ranks may have read
 * different ones: those of type V. A P is refused: it is not reduced yet. Of a value without
 * elements it is 0.
 */
typedef struct tsr_typed_number {
    double number;
    tsr_axis_set varies;
} tsr_typed_number;
TSR_API TSR_NODISCARD tsr_status tsr_read_number(const tsr_tensor *value,
                                                 tsr_typed_number *out) TSR_MT_CONTEXT;

/*
 * Encloses code that only some ranks may reach, because a number controls it: until it is closed,
 * collectives along the axes along which that number varies are refused, on every rank that reaches
 * them. So a deadlock is found where it is written. Returns whether `condition` holds; they nest,
 * and are closed in any case.
 *
 *     if (tsr_if(world, &loss, loss.number > 1)) { .. }
 *     tsr_end_if(world);
 */
TSR_API bool tsr_if(tsr_comm *world, const tsr_typed_number *number, bool condition) TSR_MT_CONTEXT;
TSR_API void tsr_end_if(tsr_comm *world) TSR_MT_CONTEXT;

/* ---- contractions that leave a partial result ---- */

/* As in ops.h; along `axes`, names of whole axes with commas between, the result is P. */
TSR_API TSR_NODISCARD tsr_status tsr_matmul_partial(tsr_tensor *a, tsr_tensor *b, const char *axes,
                                                    tsr_tensor **out) TSR_MT_CONTEXT;
/* The bias, unless NULL, stays outside the pending sum: it must be P itself, or the call is
 * refused. */
TSR_API TSR_NODISCARD tsr_status tsr_linear_partial(tsr_tensor *x, tsr_tensor *weight,
                                                    TSR_NULLABLE tsr_tensor *bias, const char *axes,
                                                    tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_einsum_partial(const char *equation,
                                                    TSR_ARRAY(num_operands)
                                                        tsr_tensor *const *operands,
                                                    size_t num_operands, const char *axes,
                                                    tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_sum_partial(tsr_tensor *x,
                                                 TSR_ARRAY(num_dims) const size_t *dims,
                                                 size_t num_dims, const char *axes,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * The result is pending by its own kind: P(avg), P(max), P(min). An average of averages is right
 * for even shards only; where the type says that they are not, it is refused.
 */
TSR_API TSR_NODISCARD tsr_status tsr_mean_partial(tsr_tensor *x,
                                                  TSR_ARRAY(num_dims) const size_t *dims,
                                                  size_t num_dims, const char *axes,
                                                  tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_max_partial(tsr_tensor *x,
                                                 TSR_ARRAY(num_dims) const size_t *dims,
                                                 size_t num_dims, const char *axes,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_min_partial(tsr_tensor *x,
                                                 TSR_ARRAY(num_dims) const size_t *dims,
                                                 size_t num_dims, const char *axes,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * Rows of a table whose rows are cut along `axes`: indices count over the whole table, of which
 * this rank's rows begin at `start`. Rows of other ranks are zeros here, and so are rows of no
 * rank.
 */
TSR_API TSR_NODISCARD tsr_status tsr_take_partial(tsr_tensor *x, tsr_tensor *indices, size_t dim,
                                                  int64_t start, const char *axes,
                                                  tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_embedding_partial(tsr_tensor *table, tsr_tensor *indices,
                                                       int64_t start, const char *axes,
                                                       tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * Updates that are cut along `axes`, scattered into x, which is the same on all ranks along them
 * and counts once: P, P(prod), P(max) or P(min), by the op; one that sets is refused.
 */
TSR_API TSR_NODISCARD tsr_status tsr_scatter_partial(tsr_tensor *x, tsr_tensor *indices,
                                                     tsr_tensor *updates, size_t dim,
                                                     tsr_scatter_op op, const char *axes,
                                                     tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- collectives ---- */

/* The ends of a collective: TSR_AS(R), TSR_AS(P), TSR_AS_S(0). */
#ifdef __cplusplus
#define TSR_END(kind, dim, reduction) (tsr_end{(kind), (dim), (reduction)})
#else
#define TSR_END(kind, dim, reduction) ((tsr_end){(kind), (dim), (reduction)})
#endif
#define TSR_AS(kind) TSR_END(TSR_##kind, TSR_NO_DIM, TSR_SUM)
#define TSR_AS_S(dim) TSR_END(TSR_V, (dim), TSR_SUM)
#define TSR_AS_P(reduction) TSR_END(TSR_P, TSR_NO_DIM, (reduction))

/* Options of a collective. Zeros are the defaults; NULL for all of them. */
typedef struct tsr_collective_options {
    int64_t dim; /* plain V: where the axis is stacked or unstacked; 0 */
    /* S: rows of each member, where they differ; NULL: as even chunks are */
    TSR_NULLABLE const int64_t *counts;
    /*
     * all_to_all, with counts, which are of i: S(i)->S(j) those of j; S(i)->S(i) the rows that go
     * to each member, where counts are those that come.
     */
    TSR_NULLABLE const int64_t *sent;
    bool has_wire_dtype;
    tsr_dtype
        wire_dtype; /* of what is sent, where that is not the value's; the result is the value's */
    bool has_backward_dtype;
    tsr_dtype backward_dtype; /* the same for the backward: required where that reduces in less than
                                 f32 */
} tsr_collective_options;

/*
 * Along an axis, a part of one (`x:(1)2`), or several of these as one communicator (`dp,cp`;
 * `world` is all axes of the mesh), a value of type src becomes one of type dst. The communicator
 * along one axis is made with the scope; any other one is made by the first call along it, which is
 * collective over the world. These calls there are, each with its backward, which
 * goes from the gradient's type of dst to that of src; every other pair is an error:
 *
 *     all_reduce      P -> R             all_reduce P -> R
 *                     P -> I             reinterpret I -> R
 *     all_gather      V, S(i) -> R       reduce_scatter P -> V, S(i)
 *                     V, S(i) -> I       convert I -> V, S(i)
 *     reduce_scatter  P -> V, S(i)       all_gather V, S(i) -> R
 *     all_to_all      V -> V             all_to_all V -> V
 *                     S(i) -> S(j)       all_to_all S(j) -> S(i)
 *                     V -> S(j)          all_to_all S(j) -> V
 *                     S(i) -> V          all_to_all V -> S(i)
 *     reinterpret     R -> I (E)         convert I -> P
 *                     R -> V (E)         reinterpret V -> P
 *                     R -> P (E)         reinterpret R -> P
 *                     I -> R (E)         all_reduce P -> I
 *                     I -> V             reinterpret V -> P, then all_reduce P -> I
 *                     I -> P             reinterpret R -> P, then all_reduce P -> I
 *                     V -> P             reinterpret R -> V
 *     convert         R -> I (E)         convert I -> P
 *                     R -> V, S(i)       convert V, S(i) -> P
 *                     R -> P             convert R -> P
 *                     I -> R             all_reduce P -> I
 *                     I -> V, S(i)       all_gather V, S(i) -> I
 *                     I -> P (E)         convert R -> I
 *                     V, S(i) -> P (E)   convert R -> V, S(i)
 *                     V -> S(i)          convert S(i) -> V
 *                     S(i) -> V          convert V -> S(i)
 *     redistribute    V, S -> R, I is all_gather; P -> R, I all_reduce; P -> V, S reduce_scatter;
 *                     S(i) -> S(j) all_to_all; every other pair convert; the same type nothing.
 *
 * E needs TSR_GUARDED_EXPERT where the scope's guard is TSR_GUARDED. On a global axis V is S(i).
 *
 * Where a plain V and S(i) meet, convert leaves the arrays alone: what varies is said to be cut
 * along i, or that is forgotten. all_to_all takes the plain V along `dim`, as if it were S(dim).
 *
 * In all_reduce and reduce_scatter a value that is V may be given where src is P: that is an
 * implicit reinterpret V -> P, whose backward ends with reinterpret R -> V. So a sum over the wrong
 * axis may pass: what is refused later says along which axis a V was taken for P. Write TSR_AS(V)
 * where that is meant.
 *
 * In words, over the list x[0], x[1], x[2] of what three
 * ranks have:
 *
 * all_reduce P->R, P->I: every rank gets the sum.
 *     +[A]
 *     +[B]  =>  [A+B+C]
 *     +[C]
 * all_gather V->R, V->I: every rank gets stack(x) along `dim`; from S(i) concatenate(x, i).
 *     [A]
 *     [B]   =>  [A, B, C]
 *     [C]
 * reduce_scatter P->V: rank r gets sum(x)[r] along `dim`; to S(i) the r-th chunk of sum(x) along i.
 *     +[A0, A1, A2]      [A0+B0+C0]
 *     +[B0, B1, B2]  =>  [A1+B1+C1]
 *     +[C0, C1, C2]      [A2+B2+C2]
 * all_to_all V->V: rank r gets x[s][r] for all s; S(i)->S(j) splits j and concatenates i.
 *     [A0, A1, A2]      [A0, B0, C0]
 *     [B0, B1, B2]  =>  [A1, B1, C1]
 *     [C0, C1, C2]      [A2, B2, C2]
 * reinterpret: the same arrays under another type: no element changes, the meaning may.
 * convert: the same meaning under another type, without communication. R, I -> V takes x[r] along
 * `dim`, -> S(i) the r-th chunk; -> P zeroes all ranks but the first; V, S -> P pads with zeros.
 *     [A, B, C]  =>  [A] | [B] | [C]          [A] | [B] | [C]  =>  +[A, 0, 0] | +[0, B, 0] | +[0,
 * 0, C]
 */
TSR_API TSR_NODISCARD tsr_status tsr_all_reduce(tsr_tensor *x, const char *axis, tsr_end src,
                                                tsr_end dst,
                                                TSR_NULLABLE const tsr_collective_options *options,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_all_gather(tsr_tensor *x, const char *axis, tsr_end src,
                                                tsr_end dst,
                                                TSR_NULLABLE const tsr_collective_options *options,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_reduce_scatter(
    tsr_tensor *x, const char *axis, tsr_end src, tsr_end dst,
    TSR_NULLABLE const tsr_collective_options *options, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_all_to_all(tsr_tensor *x, const char *axis, tsr_end src,
                                                tsr_end dst,
                                                TSR_NULLABLE const tsr_collective_options *options,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_reinterpret(tsr_tensor *x, const char *axis, tsr_end src,
                                                 tsr_end dst,
                                                 TSR_NULLABLE const tsr_collective_options *options,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_convert_type(
    tsr_tensor *x, const char *axis, tsr_end src, tsr_end dst,
    TSR_NULLABLE const tsr_collective_options *options, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_redistribute_type(
    tsr_tensor *x, const char *axis, tsr_end src, tsr_end dst,
    TSR_NULLABLE const tsr_collective_options *options, tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * The same sum written over the value itself, whose type becomes dst: P -> R or I, without another
 * array. What shares its memory (what tsr_reinterpret gave of it, the array that tsr_local_of was
 * given) changes with it, and keeps its type. A V is not taken for P here, the elements are sent as
 * they are, and a tape must not be under way: it may have saved the value.
 */
TSR_API TSR_NODISCARD tsr_status tsr_all_reduce_in_place(tsr_tensor *x, const char *axis,
                                                         tsr_end src, tsr_end dst) TSR_MT_CONTEXT;

/*
 * From one partition spec to another, all axes at once: `f32[8@(dp,tp)]` to `f32[8@(tp,dp)]`, or
 * from a pending sum to shards, in one redistribution by the runtime's plan. Both types are given
 * in full, so that it works without checks too; V must be in the specs. Sums are performed, never
 * introduced. Its gradient is the reverse redistribution, divided by the
 * number of ranks where it averages; a greatest or least element has none.
 */
TSR_API TSR_NODISCARD tsr_status tsr_redistribute_spec(tsr_tensor *x, const char *src,
                                                       const char *dst,
                                                       tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- collectives that are only started ---- */

/* A collective in progress, by number. */
typedef struct tsr_started {
    uint64_t id;
} tsr_started;

/*
 * Starts a collective that communicates (all_reduce, all_gather, reduce_scatter, all_to_all) and
 * returns at once. tsr_wait_value waits for it and gives its value, which has the bits, the type
 * and the gradient that the blocking call gives. Options as above.
 *
 * Each is waited for exactly once, in the scope in which it was started or in one inside it. An
 * error names the call: waiting again, closing the scope without waiting (tsr_spmd_close), and
 * ending a rank without waiting. The value that goes in must not change until then: the library
 * refuses to write over it (tsr_all_reduce_in_place, optimizers), a program must not do so either.
 *
 * A collective makes progress inside calls. When a run of an open world (tsr_world_run) ends, the
 * ranks first finish what it has started, and the value is kept until a later run waits for it; so
 * nothing is under way between runs. A collective that fails there fails the run, and its value is
 * lost; so are values that are still under way on a rank whose function has failed.
 */
TSR_API TSR_NODISCARD tsr_status tsr_start_collective(
    tsr_tensor *x, const char *axis, const tsr_transition *what,
    TSR_NULLABLE const tsr_collective_options *options, tsr_started *started) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_wait_value(tsr_comm *world, tsr_started started,
                                                tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- axes by communicator ---- */

/*
 * The names of the scope's axes that span a communicator's members, as the calls above take them:
 * `tp`, or `dp,tp` for one over several. `names` has room for `size` bytes. An error when no axes
 * of the mesh are that group.
 */
TSR_API TSR_NODISCARD tsr_status tsr_axes_of_comm(tsr_comm *world, const tsr_comm *comm,
                                                  char *names, size_t size) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
