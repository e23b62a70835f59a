/*
 * Eager calls on distributed tensors: their layouts, what moves, and how that is reported.
 *
 * Every rank runs the same C code. A call returns a new tensor and leaves its operands as they are;
 * with one rank it is an ordinary tensor library. The layout of every result follows from those of
 * the operands by the op's factors (rule.h): where operands disagree they are redistributed, by the
 * world's strategy and so that few bytes move; a sum over a sharded dimension stays pending until
 * an op needs it that is not linear in it. Shards may be uneven or empty.
 *
 * A pending sum is multiplied and divided part by part: an infinity, a NaN or a divisor of zero may
 * then give a NaN where the whole sum would not. Where that matters, tsr_reduce_pending first.
 *
 * A pending sum of f16 or bf16 that an op leaves is kept in f32, which its layout says
 * (tsr_tensor_pending_dtype): ops that leave it pending compute with f32, and what completes the
 * sum folds it in f32, four bytes for each element, and converts once, so partial sums cannot
 * overflow the narrow type. The elements of a rank's part (tsr_tensor_data) are roundings; a change
 * to them is made by tsr_tensor_fill, on all ranks, after which the sum is pending in its own type.
 * A plan that is given (tsr_redistribute_by) moves the elements.
 *
 * Results are the caller's to release, unless a scope is open. A call whose arguments are wrong
 * fails on every rank alike, with a message that names the call and its operands. A rank that alone
 * runs out of memory tells the others: their call fails too, or where nothing moves in it their
 * next one.
 *
 * All ranks make the same calls, with the same parameters and operands. Each rank keeps a hash of
 * the calls that it has made on tensors of a world; ranks compare it, and what they move, wherever
 * they communicate over that world, so a call that differs fails at the next of these on all ranks,
 * and is named. With checks on (tsr_launch_spec.checked) ranks compare every call before they make
 * it. Not compared: calls in typed code, and elements that a rank writes itself.
 */
#ifndef TESSERA_EAGER_H
#define TESSERA_EAGER_H

#include <tessera/propagate.h>
#include <tessera/tensor.h>
#include <tessera/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- layouts ---- */

/*
 * Returns the same elements in another layout over the same devices. tsr_shard is for tensors that
 * are laid out for the first time, tsr_with_sharding states the layout of a value at this point:
 * they do the same. The trace has both as asked for. Pending sums that the layout does not have are
 * carried out.
 */
TSR_API TSR_NODISCARD tsr_status tsr_shard(tsr_tensor *tensor, const tsr_sharding *sharding,
                                           tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_with_sharding(tsr_tensor *tensor, const tsr_sharding *sharding,
                                                   tsr_tensor **out) TSR_MT_CONTEXT;

/* Returns all of it on every rank, nothing pending. */
TSR_API TSR_NODISCARD tsr_status tsr_replicate(tsr_tensor *tensor, tsr_tensor **out) TSR_MT_CONTEXT;

/* One dimension whole on every rank, the others as they are; what is pending stays so. */
TSR_API TSR_NODISCARD tsr_status tsr_gather(tsr_tensor *tensor, size_t dim,
                                            tsr_tensor **out) TSR_MT_CONTEXT;

/* Nothing pending; dimensions as they are. */
TSR_API TSR_NODISCARD tsr_status tsr_reduce_pending(tsr_tensor *tensor,
                                                    tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Returns whether some dimension of one of the tensors is sharded, or something is pending in it.
 */
TSR_API bool tsr_any_sharded(TSR_ARRAY(count) tsr_tensor *const *tensors, size_t count) TSR_MT_SAFE;

/* Returns the mesh of all tensors, the first one's; NULL when they are on different devices. */
TSR_API const tsr_mesh *tsr_tensors_mesh(TSR_ARRAY(count) tsr_tensor *const *tensors,
                                         size_t count) TSR_MT_SAFE;

/*
 * Returns the slice of a full array that a device holds: the view of that part of `full`, whose
 * strides it shares. `shape` and `strides` have room for the rank and serve the view. The rows of
 * the device must be adjacent; in an unaligned dimension they are not: TSR_ERR_UNSUPPORTED.
 */
TSR_API TSR_NODISCARD tsr_status tsr_slice_for_device(
    tsr_context *ctx, const tsr_geometry *geometry, int64_t device, const tsr_view *full,
    TSR_ARRAY(tsr_geometry_rank(geometry)) int64_t *shape,
    TSR_ARRAY(tsr_geometry_rank(geometry)) int64_t *strides, tsr_view *out) TSR_MT_CONTEXT;

/* Returns the shape of the whole tensor; its rank is tsr_tensor_rank. */
TSR_API const int64_t *tsr_tensor_shape(const tsr_tensor *tensor) TSR_MT_SAFE;

/* ---- tensors from something else ---- */

/* Sets every element to the same number, rounded or wrapped as a conversion from f64 is. */
TSR_API TSR_NODISCARD tsr_status tsr_fill(tsr_comm *world, const tsr_tensor_spec *spec,
                                          double number, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_zeros(tsr_comm *world, const tsr_tensor_spec *spec,
                                           tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_ones(tsr_comm *world, const tsr_tensor_spec *spec,
                                          tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Returns a number as a tensor without dimensions, of a tensor's type and on its mesh; for use
 * beside it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_scalar_like(tsr_tensor *tensor, double number,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;

/* 0, 1, 2 .. along a dimension. */
TSR_API TSR_NODISCARD tsr_status tsr_iota(tsr_comm *world, const tsr_tensor_spec *spec, size_t dim,
                                          tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Random numbers by counter (Philox4x32-10): an element depends on the seed, the stream and its
 * place in the whole tensor, so the numbers are the same for every layout and number of ranks. Bits
 * of integers; floats in [0, 1); normal floats of mean 0 and variance 1.
 */
typedef struct tsr_random_key {
    uint64_t seed;
    uint64_t stream;
} tsr_random_key;
TSR_API TSR_NODISCARD tsr_status tsr_random_bits(tsr_comm *world, const tsr_tensor_spec *spec,
                                                 tsr_random_key key,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_random_uniform(tsr_comm *world, const tsr_tensor_spec *spec,
                                                    tsr_random_key key,
                                                    tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_random_normal(tsr_comm *world, const tsr_tensor_spec *spec,
                                                   tsr_random_key key,
                                                   tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Returns a tensor from copies of each rank's own part, and a part into memory of the caller's. The
 * view has the shape that the rank stores (tsr_tensor_local_shape). tsr_tensor_wrap takes memory
 * without a copy, tsr_tensor_from_full and tsr_tensor_load_npy take whole arrays.
 */
TSR_API TSR_NODISCARD tsr_status tsr_from_local(tsr_comm *world, const tsr_tensor_spec *spec,
                                                const tsr_view *part,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_to_local(const tsr_tensor *tensor,
                                              const tsr_view *part) TSR_MT_CONTEXT;

/*
 * Returns a tensor without elements: a type and a layout. Any call may be made with it; the results
 * are without elements too (but for numbers), nothing moves and nothing is computed, but the trace
 * has what would. So the layout of a call's result is known before it runs.
 */
TSR_API TSR_NODISCARD tsr_status tsr_abstract(tsr_comm *world, const tsr_tensor_spec *spec,
                                              tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_abstract_like(const tsr_tensor *tensor,
                                                   tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API bool tsr_tensor_is_abstract(const tsr_tensor *tensor) TSR_MT_SAFE;

/*
 * Gives the full array as tsr_tensor_to_full does, for a caller whose name the trace has: `call`.
 * Where elements move this is an event of the trace, and in strict mode an error if it is implicit.
 */
typedef struct tsr_full_request {
    const char *call;
    bool implicit; /* the program asked for something else, which needs the array */
} tsr_full_request;
TSR_API TSR_NODISCARD tsr_status tsr_take_full(tsr_tensor *tensor, const tsr_full_request *request,
                                               int64_t root,
                                               TSR_NULLABLE void *full) TSR_MT_CONTEXT;

/* ---- scopes ---- */

/*
 * Between the two, tensors that calls return belong to the scope and are released when it is
 * closed; tsr_tensor_retain keeps one. Scopes nest. What was made by other headers is not the
 * scope's.
 */
TSR_API TSR_NODISCARD tsr_status tsr_scope_open(tsr_comm *world) TSR_MT_CONTEXT;
TSR_API void tsr_scope_close(tsr_comm *world) TSR_MT_CONTEXT;

/* ---- settings ---- */

/*
 * How operands that disagree are laid out; AGGRESSIVE unless told. The same on every rank. CHEAPEST
 * compares the layouts of the other strategies and every way to give each factor of the op the axes
 * of one operand: by the modelled cost of what moves (plan.h) over the world's links
 * (tsr_comm_set_link), of computing on the parts, gamma for each byte of an element at each point
 * of the op's loops, and of completing what is then pending in the results.
 */
TSR_API TSR_NODISCARD tsr_status tsr_set_strategy(tsr_comm *world,
                                                  tsr_strategy strategy) TSR_MT_CONTEXT;

/*
 * In strict mode a call that would have to move elements by itself fails, and says which operand,
 * from where to where, by which collective, and how to ask for it. What each rank can cut out of
 * what it has is no move. A move of an unknown number of bytes fails too.
 */
TSR_API TSR_NODISCARD tsr_status tsr_set_strict(tsr_comm *world, bool strict) TSR_MT_CONTEXT;

/* ---- the trace ---- */

/* A redistribution. Texts are the trace's, valid until it ends. */
typedef struct tsr_trace_event {
    const char *call;   /* "tsr_add" */
    int64_t operand;    /* which of the call's; -1 for its result, or for the tensor it was given */
    const char *tensor; /* "f32[4,8]"; "bf16[4,8] pending in f32" where a sum is kept in f32 */
    const char *collective; /* what it amounts to: the name of a kind of step (plan.h) */
    const char *axes;       /* those of the mesh along which it is */
    const char *from;       /* the layouts */
    const char *to;
    int64_t bytes_received; /* by this rank; TSR_UNKNOWN where sizes are unbound (placement.h) */
    int64_t bytes_moved;    /* by all; TSR_UNKNOWN where sizes are unbound, 0 if nothing moves */
    bool implicit;          /* not requested by a call of its own */
    bool fallback;          /* the op has no rule for the layouts: it gathers, computes, reshards */
    const char *convert;    /* "f32 to bf16": what completes a sum that is pending in a wider
                               element type; NULL where nothing is converted */
} tsr_trace_event;

/*
 * tsr_trace_begin starts recording the redistributions of this rank, tsr_trace_end discards the
 * record. A redistribution is whatever moves elements of a tensor: for an op, when asked for, in a
 * backward, from and to full arrays and files, by the calls of tensor.h, placement.h and typed.h.
 * The bytes of the events are those that tsr_comm_traffic counts. Not recorded: tsr_comm_* calls,
 * and the sizes that bind a placement.
 */
TSR_API TSR_NODISCARD tsr_status tsr_trace_begin(tsr_comm *world) TSR_MT_CONTEXT;
TSR_API void tsr_trace_end(tsr_comm *world) TSR_MT_CONTEXT;

/* What was noted, in order; valid until the next call. NULL when there is nothing. */
TSR_API const tsr_trace_event *tsr_trace_events(const tsr_comm *world,
                                                size_t *count) TSR_MT_CONTEXT;

/* Returns the same as text, a line each; allocated in the arena. */
TSR_API TSR_NODISCARD tsr_status tsr_trace_print(const tsr_comm *world, tsr_arena *arena,
                                                 const char **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
