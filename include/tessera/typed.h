/*
 * Typed SPMD code: every rank works on values of its own, types relate the values of the ranks, and
 * every collective is a call.
 *
 * Inside a scope the calls of ops.h compute on each rank's own arrays and never communicate. Along
 * each axis of the scope's mesh a value has a type (spmd.h): R, I, V or P. A call whose operands'
 * types are incompatible fails before it computes, with the reason and possible fixes, so wrong
 * gradients are found before anything runs. Axes are checked locally, or globally: then the whole
 * value is tracked too, by partition specs, and only calls that compute the same as one device
 * would are accepted. Values may have any strides; results are row-major.
 *
 * Types are erasable: in an unchecked scope the same calls compute the same bits without type
 * checks; a value has the type that the program declares, by tsr_typed_value, tsr_local_of or
 * tsr_assert_type, and its gradient the dual of that type, so tsr_tensor_of_local works there too.
 */
#ifndef TESSERA_TYPED_H
#define TESSERA_TYPED_H

#include <tessera/gradient.h>
#include <tessera/ops.h>
#include <tessera/spmd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a scope. Zeros, except for the mesh: all axes local, checked, nothing guarded. */
typedef struct tsr_spmd_scope {
    const tsr_mesh *mesh; /* of all ranks; copied */
    tsr_axis_set global;  /* axes that are checked globally */
    tsr_guard guard;
    bool unchecked; /* no checks, and computed values have no type: the same calls, the same bits */
    tsr_local_type rest;   /* required by tsr_assert_type on axes that it omits; UNTYPED: any */
    bool implicit_partial; /* a contracted sharded dimension gives P without being requested */
    bool strict;           /* reject a value that is untyped along an axis */
    bool mix_invariant;    /* I mixes in calls that no tape records: see below */
} tsr_spmd_scope;

/*
 * Opens a scope. Scopes nest; the innermost one applies. Collective over the world.
 *
 * A scope may have another mesh over the same ranks than the enclosing one. Values that were typed
 * there are read under the mesh of the innermost scope, by tsr_type_on_mesh: V along dp_cp is V
 * along dp and along cp, and back if all parts agree. Groups that overlap otherwise are rejected,
 * with their axes and ranks.
 *
 * An invariant operand does not mix with R, V or P, because its gradient would need a sum. With
 * mix_invariant, a call that needs no gradient treats it as R: a call none of whose operands
 * depends on a watched tensor of a recording tape (tsr_tape_pause stops recording). A call that a
 * tape records is rejected as without the mode, and so is every call inside a tsr_recompute whose
 * inputs are recorded, because the backward runs it again. The mode changes no other rule: operands
 * that are all I give I, and an I added to a P is rejected, as an R is.
 */
TSR_API TSR_NODISCARD tsr_status tsr_spmd_open(tsr_comm *world,
                                               const tsr_spmd_scope *scope) TSR_MT_CONTEXT;
/*
 * Closes the innermost scope; does nothing without one. The scope is closed in any case. Values
 * that were started in it (tsr_start_collective) and not waited for are an error that names their
 * calls; they cannot be waited for afterwards, and a rank that ends with one in progress has
 * failed.
 */
TSR_API tsr_status tsr_spmd_close(tsr_comm *world) TSR_MT_CONTEXT;

/*
 * Creates a value from this rank's own array, copied, with its type as text over the scope's mesh:
 * `f32[8,16@tp]{dp:R}`. The text has the shape of the whole value; the array must be this rank's
 * part of it. Types may be on parts of axes, `f32[8@x:(1)2]{x:(2)2:R}` (tsr_type_read).
 */
TSR_API TSR_NODISCARD tsr_status tsr_typed_value(tsr_comm *world, const tsr_view *local,
                                                 const char *type, tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * tsr_local_of returns this rank's part of a sharded tensor as a value: V where an axis shards it,
 * P where it is pending, `other` (R or I) along the other axes. It shares the tensor's memory.
 * tsr_tensor_of_local returns the tensor whose parts the values are; every axis along which the
 * value varies must be in its spec. No gradient flows through either: they reject values that
 * depend on a watched tensor. Calls about whole tensors (tsr_tensor_to_full, tsr_redistribute,
 * tsr_replicate ..) reject values that are P or V, whose arrays differ; tsr_local_of rejects a
 * value that already is one.
 */
TSR_API TSR_NODISCARD tsr_status tsr_local_of(tsr_tensor *tensor, tsr_local_type other,
                                              tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_tensor_of_local(tsr_tensor *value,
                                                     tsr_tensor **out) TSR_MT_CONTEXT;

/* Prints a value's type, allocated in the arena; "untyped" if it has none. */
TSR_API TSR_NODISCARD tsr_status tsr_type_of(const tsr_tensor *value, tsr_arena *arena,
                                             const char **out) TSR_MT_CONTEXT;

/*
 * Claims a type for a value, as text without the element type and shape, `{tp:S(0), dp:R}`, or with
 * them. A contradiction is an error; new information is added.
 */
TSR_API TSR_NODISCARD tsr_status tsr_assert_type(tsr_tensor *value, const char *type,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- regions where axes are local ---- */

/* The arguments of a region, and the types that are declared for its inputs and outputs. */
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
 * Runs a region in which the named axes, whole ones, are local, whatever they are outside. The
 * inputs must have the declared types, which name every axis along which the value has a type;
 * inside, they vary along those axes without an entry in a spec; the outputs must have the declared
 * types, and get their spec. The body is checked locally only: a dimension declared for a value
 * that varies without one is not checked. A scope must be open, to which all values belong.
 */
TSR_API TSR_NODISCARD tsr_status tsr_local_map(tsr_comm *world, const char *axes,
                                               const tsr_local_region *region,
                                               tsr_tensor **outputs) TSR_MT_CONTEXT;

/* ---- control flow ---- */

/*
 * A number read from a value without dimensions, with the axes along which ranks may have read
 * different ones: those of type V. A P is rejected: it is not reduced yet. For a value without
 * elements it is 0.
 */
typedef struct tsr_typed_number {
    double number;
    tsr_axis_set varies;
} tsr_typed_number;
TSR_API TSR_NODISCARD tsr_status tsr_read_number(const tsr_tensor *value,
                                                 tsr_typed_number *out) TSR_MT_CONTEXT;

/*
 * tsr_if begins and tsr_end_if ends code that only some ranks may reach, because a number controls
 * it. In between, collectives along the axes along which that number varies are rejected on every
 * rank that reaches them, so a deadlock is found where it is written. tsr_if returns `condition`.
 * Pairs may be nested; call tsr_end_if whatever tsr_if returned.
 *
 *     if (tsr_if(world, &loss, loss.number > 1)) { .. }
 *     tsr_end_if(world);
 */
TSR_API bool tsr_if(tsr_comm *world, const tsr_typed_number *number, bool condition) TSR_MT_CONTEXT;
TSR_API void tsr_end_if(tsr_comm *world) TSR_MT_CONTEXT;

/* ---- contractions that leave a partial result ---- */

/*
 * The calls of ops.h with a result that is P along `axes`: names of whole axes, separated by
 * commas.
 */
TSR_API TSR_NODISCARD tsr_status tsr_matmul_partial(tsr_tensor *a, tsr_tensor *b, const char *axes,
                                                    tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * The bias, unless NULL, is added outside the pending sum: it must be P itself, or the call is
 * rejected.
 */
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
 * The result is pending by its own reduction: P(avg), P(max), P(min). An average of averages is
 * correct for even shards only; if the type has uneven shards, it is rejected.
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
 * Take rows of a table whose rows are cut along `axes`: indices count over the whole table, of
 * which this rank's rows begin at `start`. Rows of other ranks, and indices out of range, are zeros
 * here.
 */
TSR_API TSR_NODISCARD tsr_status tsr_take_partial(tsr_tensor *x, tsr_tensor *indices, size_t dim,
                                                  int64_t start, const char *axes,
                                                  tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_embedding_partial(tsr_tensor *table, tsr_tensor *indices,
                                                       int64_t start, const char *axes,
                                                       tsr_tensor **out) TSR_MT_CONTEXT;
/*
 * Scatters updates that are cut along `axes` into x, which is the same on all ranks along them and
 * counts once: the result is P, P(prod), P(max) or P(min), by the op; TSR_SCATTER_SET is rejected.
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

/* Options of a collective. Zero selects the default of each field; NULL: all defaults. */
typedef struct tsr_collective_options {
    int64_t dim; /* plain V: the dimension where the axis is stacked or unstacked; 0 */
    /* S: rows of each member, if they differ; NULL: even chunks */
    TSR_NULLABLE const int64_t *counts;
    /*
     * For all_to_all, with `counts`. S(i)->S(j): the rows of j of each member. S(i)->S(i): the rows
     * sent to each member, while `counts` are the rows received.
     */
    TSR_NULLABLE const int64_t *sent;
    bool has_wire_dtype;
    tsr_dtype wire_dtype; /* of the data sent; the result has that of the value */
    bool has_backward_dtype;
    tsr_dtype backward_dtype; /* of the backward: required if that reduces in less than f32 */
} tsr_collective_options;

/*
 * Each call converts a value of type src to one of type dst along an axis, a part of one
 * (`x:(1)2`), or several of these as one communicator (`dp,cp`; `world` is all axes of the mesh).
 * Opening the scope creates the communicator along each axis; any other one is created by the first
 * call along it, which is collective over the world. The table lists the valid pairs, each with its
 * backward, which goes from the gradient's type of dst to that of src; every other pair is an
 * error:
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
 * E requires TSR_GUARDED_EXPERT if the scope's guard is TSR_GUARDED. On a global axis V is S(i).
 *
 * Between a plain V and S(i), convert does not change the arrays: it adds the information that the
 * value is cut along i, or removes it. all_to_all treats the plain V as S(dim).
 *
 * all_reduce and reduce_scatter accept a value that is V where src is P: an implicit reinterpret
 * V -> P, whose backward ends with reinterpret R -> V. A sum over the wrong axis may therefore
 * pass; later errors state along which axis a V was treated as P. Write TSR_AS(V) to make it
 * explicit.
 *
 * What each call computes, for three ranks that hold x[0], x[1], x[2]:
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
 * Writes the sum over the value itself, whose type becomes dst: P -> R or I, without another array.
 * A tensor that shares its memory (made by tsr_reinterpret, or the array given to tsr_local_of)
 * changes with it, and keeps its type. A V does not count as P here, the elements are sent as they
 * are, and no tape may be running: it may have saved the value.
 */
TSR_API TSR_NODISCARD tsr_status tsr_all_reduce_in_place(tsr_tensor *x, const char *axis,
                                                         tsr_end src, tsr_end dst) TSR_MT_CONTEXT;

/*
 * Redistributes from one partition spec to another, all axes at once: `f32[8@(dp,tp)]` to
 * `f32[8@(tp,dp)]`, or from a pending sum to shards, in one redistribution by the runtime's plan.
 * Both types are given in full, so it works without checks too; V must be in the specs. Sums are
 * performed, never introduced. Its gradient is the reverse redistribution, divided by the number of
 * ranks if it averages; a maximum or minimum has none.
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
 * returns at once. tsr_wait_value waits for it and returns its value, which has the bits, the type
 * and the gradient of the blocking call. Options as above.
 *
 * Each is waited for exactly once, in the scope in which it was started or in one inside it. An
 * error names the call if it is waited for again, if the scope is closed before (tsr_spmd_close),
 * and if a rank ends before. The input value must not change until then: the library does not write
 * over it (tsr_all_reduce_in_place, optimizers), and a program must not either.
 *
 * A collective makes progress inside calls. When a run of an open world (tsr_world_run) ends, the
 * ranks first complete the collectives that it started, and the value is kept until a later run
 * waits for it; between runs none is in progress. A collective that fails there fails the run, and
 * its value is lost; so are values in progress on a rank whose function has failed.
 */
TSR_API TSR_NODISCARD tsr_status tsr_start_collective(
    tsr_tensor *x, const char *axis, const tsr_transition *what,
    TSR_NULLABLE const tsr_collective_options *options, tsr_started *started) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_wait_value(tsr_comm *world, tsr_started started,
                                                tsr_tensor **out) TSR_MT_CONTEXT;

/* ---- axes by communicator ---- */

/*
 * Returns the names of the scope's axes that span a communicator's members, as the calls above take
 * them: `tp`, or `dp,tp` for one over several. `names` has room for `size` bytes. An error if no
 * axes of the mesh are that group.
 */
TSR_API TSR_NODISCARD tsr_status tsr_axes_of_comm(tsr_comm *world, const tsr_comm *comm,
                                                  char *names, size_t size) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
