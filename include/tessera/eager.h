/*
 * Eager calls on distributed tensors: their layouts, the redistributions that they need, and the
 * trace of these.
 *
 * Every rank runs the same C code. A call returns a new tensor and does not change its operands;
 * with one rank it works as in any tensor library. The layout of every result follows from those of
 * the operands by the op's factors (rule.h). Operands that disagree are redistributed by the
 * world's strategy, so that few bytes move; a sum over a sharded dimension stays pending until an
 * op needs it that is not linear in it. Shards may be uneven or empty.
 *
 * A pending sum is multiplied and divided part by part: an infinity, a NaN or a divisor of zero may
 * then give a NaN where the whole sum would not. Call tsr_reduce_pending first where that matters.
 *
 * An op that leaves a pending sum of f16 or bf16 keeps it in f32, which its layout shows
 * (tsr_tensor_pending_dtype): ops that keep the sum pending compute with f32; the op that completes
 * the sum reduces it in f32 (4 bytes an element) and converts once, so partial sums cannot overflow
 * the narrow type. The elements of a rank's part (tsr_tensor_data) are rounded values; change them
 * by tsr_tensor_fill, on all ranks, after which the sum is pending in its own type.
 * tsr_redistribute_by, with a given plan, moves the rounded elements.
 *
 * The caller owns results and releases them, unless a scope is open. A call with invalid arguments
 * fails on every rank alike, with a message that names the call and its operands. A rank that alone
 * runs out of memory reports that to the others: their call fails too, or, if nothing moves in it,
 * their next one.
 *
 * All ranks make the same calls, with the same parameters and operands. Each rank maintains a hash
 * of the calls that it has made on tensors of a world; ranks compare the hash, and the data that
 * they are about to move, whenever they communicate over that world. A call that differs therefore
 * fails on all ranks, at the latest in the next communication, and is named. With checks on
 * (tsr_launch_spec.checked) ranks compare every call before they make it. Not compared: calls in
 * typed code, and elements that a rank writes itself.
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
 * are laid out for the first time, tsr_with_sharding states the layout of a value at this point;
 * both do the same. The trace records both as requested. Pending sums that the layout does not have
 * are reduced.
 */
TSR_API TSR_NODISCARD tsr_status tsr_shard(tsr_tensor *tensor, const tsr_sharding *sharding,
                                           tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_with_sharding(tsr_tensor *tensor, const tsr_sharding *sharding,
                                                   tsr_tensor **out) TSR_MT_CONTEXT;

/* Replicates the tensor on every rank and completes its pending reductions. */
TSR_API TSR_NODISCARD tsr_status tsr_replicate(tsr_tensor *tensor, tsr_tensor **out) TSR_MT_CONTEXT;

/* Replicates one dimension on every rank; other dimensions and pending reductions stay. */
TSR_API TSR_NODISCARD tsr_status tsr_gather(tsr_tensor *tensor, size_t dim,
                                            tsr_tensor **out) TSR_MT_CONTEXT;

/* Completes the pending reductions; the dimensions stay as they are. */
TSR_API TSR_NODISCARD tsr_status tsr_reduce_pending(tsr_tensor *tensor,
                                                    tsr_tensor **out) TSR_MT_CONTEXT;

/* Returns whether a dimension of one of the tensors is sharded, or a reduction is pending in it. */
TSR_API bool tsr_any_sharded(TSR_ARRAY(count) tsr_tensor *const *tensors, size_t count) TSR_MT_SAFE;

/* Returns the mesh of the first tensor; NULL if the tensors are on different devices. */
TSR_API const tsr_mesh *tsr_tensors_mesh(TSR_ARRAY(count) tsr_tensor *const *tensors,
                                         size_t count) TSR_MT_SAFE;

/*
 * Returns the slice of a full array that a device holds: a view of that part of `full`, whose
 * strides it shares. `shape` and `strides` have room for the rank and are used by the view. The
 * rows of the device must be adjacent; those of an unaligned dimension are not:
 * TSR_ERR_UNSUPPORTED.
 */
TSR_API TSR_NODISCARD tsr_status tsr_slice_for_device(
    tsr_context *ctx, const tsr_geometry *geometry, int64_t device, const tsr_view *full,
    TSR_ARRAY(tsr_geometry_rank(geometry)) int64_t *shape,
    TSR_ARRAY(tsr_geometry_rank(geometry)) int64_t *strides, tsr_view *out) TSR_MT_CONTEXT;

/* Returns the shape of the whole tensor; tsr_tensor_rank returns its rank. */
TSR_API const int64_t *tsr_tensor_shape(const tsr_tensor *tensor) TSR_MT_SAFE;

/* ---- tensors from something else ---- */

/*
 * Creates a tensor with every element set to one number, rounded or wrapped as a conversion from
 * f64.
 */
TSR_API TSR_NODISCARD tsr_status tsr_fill(tsr_comm *world, const tsr_tensor_spec *spec,
                                          double number, tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_zeros(tsr_comm *world, const tsr_tensor_spec *spec,
                                           tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_ones(tsr_comm *world, const tsr_tensor_spec *spec,
                                          tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Returns a number as a tensor without dimensions, with the element type and on the mesh of a
 * tensor, as an operand for calls with that tensor.
 */
TSR_API TSR_NODISCARD tsr_status tsr_scalar_like(tsr_tensor *tensor, double number,
                                                 tsr_tensor **out) TSR_MT_CONTEXT;

/* Creates a tensor with the elements 0, 1, 2 .. along a dimension. */
TSR_API TSR_NODISCARD tsr_status tsr_iota(tsr_comm *world, const tsr_tensor_spec *spec, size_t dim,
                                          tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Create random numbers by counter (Philox4x32-10): an element depends on the seed, the stream and
 * its index in the whole tensor, so the numbers are the same for every layout and number of ranks.
 * Bits are integers; uniform floats are in [0, 1); normal floats have mean 0 and variance 1.
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
 * tsr_from_local creates a tensor from copies of each rank's own part; tsr_to_local copies a part
 * into memory of the caller. The view has the shape that the rank stores (tsr_tensor_local_shape).
 * tsr_tensor_wrap takes memory without a copy; tsr_tensor_from_full and tsr_tensor_load_npy take
 * whole arrays.
 */
TSR_API TSR_NODISCARD tsr_status tsr_from_local(tsr_comm *world, const tsr_tensor_spec *spec,
                                                const tsr_view *part,
                                                tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_to_local(const tsr_tensor *tensor,
                                              const tsr_view *part) TSR_MT_CONTEXT;

/*
 * Returns a tensor without elements: a type and a layout. Every call accepts it. Results are
 * abstract too, except plain numbers; nothing is moved or computed, and the trace lists what would
 * be moved. This gives the layout of a call's result before it runs.
 */
TSR_API TSR_NODISCARD tsr_status tsr_abstract(tsr_comm *world, const tsr_tensor_spec *spec,
                                              tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_abstract_like(const tsr_tensor *tensor,
                                                   tsr_tensor **out) TSR_MT_CONTEXT;
TSR_API bool tsr_tensor_is_abstract(const tsr_tensor *tensor) TSR_MT_SAFE;

/*
 * Copies the full array as tsr_tensor_to_full does, on behalf of a caller whose name the trace
 * shows: `call`. If elements move, this is an event of the trace; in strict mode it is an error if
 * it is implicit.
 */
typedef struct tsr_full_request {
    const char *call;
    bool implicit; /* the program requested something else, which needs the array */
} tsr_full_request;
TSR_API TSR_NODISCARD tsr_status tsr_take_full(tsr_tensor *tensor, const tsr_full_request *request,
                                               int64_t root,
                                               TSR_NULLABLE void *full) TSR_MT_CONTEXT;

/* ---- scopes ---- */

/*
 * Open and close a scope. Tensors that calls return in between belong to the scope and are released
 * when it is closed; tsr_tensor_retain keeps one. Scopes may be nested. Objects created by
 * functions of other headers do not belong to the scope.
 */
TSR_API TSR_NODISCARD tsr_status tsr_scope_open(tsr_comm *world) TSR_MT_CONTEXT;
TSR_API void tsr_scope_close(tsr_comm *world) TSR_MT_CONTEXT;

/* ---- settings ---- */

/*
 * Sets the layout that operands get if they disagree; the default is AGGRESSIVE. The same on every
 * rank. CHEAPEST compares the layouts of the other strategies, and every way to give each factor of
 * the op the axes of one operand, by modelled cost: of what moves (plan.h) over the world's links
 * (tsr_comm_set_link), of computing on the parts (gamma for each byte of an element at each point
 * of the op's loops), and of completing the reductions that are pending in the results.
 */
TSR_API TSR_NODISCARD tsr_status tsr_set_strategy(tsr_comm *world,
                                                  tsr_strategy strategy) TSR_MT_CONTEXT;

/*
 * Sets strict mode. In strict mode a call that would have to move elements implicitly fails; the
 * message names the operand, both layouts, the collective, and the call that requests it. Slicing
 * the local part does not count as a move. A move of an unknown number of bytes fails too.
 */
TSR_API TSR_NODISCARD tsr_status tsr_set_strict(tsr_comm *world, bool strict) TSR_MT_CONTEXT;

/* ---- the trace ---- */

/* A redistribution. Texts are owned by the trace and valid until it ends. */
typedef struct tsr_trace_event {
    const char *call;       /* "tsr_add" */
    int64_t operand;        /* of the call; -1: its result, or the tensor that it received */
    const char *tensor;     /* "f32[4,8]"; "bf16[4,8] pending in f32" if a sum is kept in f32 */
    const char *collective; /* the equivalent collective: the name of a kind of step (plan.h) */
    const char *axes;       /* the axes of the mesh along which it communicates */
    const char *from;       /* the layouts */
    const char *to;
    int64_t bytes_received; /* by this rank; TSR_UNKNOWN where sizes are unbound (placement.h) */
    int64_t bytes_moved;    /* by all; TSR_UNKNOWN where sizes are unbound, 0 if nothing moves */
    bool implicit;          /* not requested by a call of its own */
    bool fallback;          /* the op has no rule for the layouts: it gathers, computes, reshards */
    const char *convert;    /* "f32 to bf16", if it completes a sum pending in f32; else NULL */
} tsr_trace_event;

/*
 * tsr_trace_begin starts recording the redistributions of this rank; tsr_trace_end discards the
 * record. A redistribution is anything that moves elements of a tensor: for an op, on request, in a
 * backward, from and to full arrays and files, by the calls of tensor.h, placement.h and typed.h.
 * The bytes of the events are those that tsr_comm_traffic counts. Not recorded: tsr_comm_* calls,
 * and the sizes that bind a placement.
 */
TSR_API TSR_NODISCARD tsr_status tsr_trace_begin(tsr_comm *world) TSR_MT_CONTEXT;
TSR_API void tsr_trace_end(tsr_comm *world) TSR_MT_CONTEXT;

/* Returns the recorded events in order, valid until the next call; NULL if there are none. */
TSR_API const tsr_trace_event *tsr_trace_events(const tsr_comm *world,
                                                size_t *count) TSR_MT_CONTEXT;

/* Prints the events, one per line. The text is allocated in the arena. */
TSR_API TSR_NODISCARD tsr_status tsr_trace_print(const tsr_comm *world, tsr_arena *arena,
                                                 const char **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
