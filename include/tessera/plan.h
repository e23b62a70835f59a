/* Plans: what a redistribution moves, step by step, and what that costs. */
#ifndef TESSERA_PLAN_H
#define TESSERA_PLAN_H

#include <tessera/algorithm.h>
#include <tessera/dtype.h>
#include <tessera/geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_plan tsr_plan;

/*
 * Plans the redistribution from one layout to another of the same shape over the same devices. In
 * one step each device receives the elements that it lacks; the replicas of a shard share the
 * sending so that the busiest device sends as few elements as possible. A pending reduction that
 * the destination does not have is reduced at the destination, in one step; or in even shares,
 * which are then exchanged: two steps, if the busiest device receives less in both together than in
 * one.
 *
 * Two steps are cheaper where several devices receive the same elements, or where destination
 * shards are so uneven that one device would reduce most of the tensor. To uneven shards two steps
 * may move more bytes in total than one, which tsr_plan_from_steps provides. The numbers of a plan
 * are those of its steps. Pending reductions cannot be introduced. The geometries must live as long
 * as the plan, which is allocated in the arena. The plan is the same on every rank.
 *
 * A plan lists no pairs of devices: its size, and the time to make it, do not depend on their
 * number unless a layout is ragged, device ids are arbitrary lists, the axes of the two layouts
 * have no common cuts or many of them are permuted, or a reduction makes the choice between one
 * step and two a close one. Beyond 2^26 devices such a plan is TSR_ERR_LIMIT, and a close choice is
 * one step.
 */
TSR_API TSR_NODISCARD tsr_status tsr_plan_create(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_geometry *src, const tsr_geometry *dst,
                                                 tsr_dtype dtype,
                                                 const tsr_plan **out) TSR_MT_CONTEXT;

/* The kind of a step. */
typedef enum tsr_step_kind {
    TSR_STEP_SLICE,          /* each device keeps some of what it holds: nothing moves */
    TSR_STEP_ALL_GATHER,     /* dimensions lose axes */
    TSR_STEP_ALL_TO_ALL,     /* axes go from dimensions to others */
    TSR_STEP_REDUCE_SCATTER, /* a pending reduction is reduced, and its axes go to dimensions */
    TSR_STEP_ALL_REDUCE,     /* a pending reduction is reduced on every device that has a part */
    TSR_STEP_PERMUTE,        /* each device receives the whole shard of one other */
    TSR_STEP_DIRECT          /* anything else, or several of these at once */
} tsr_step_kind;

/* Returns the name of a kind, such as "all-gather". Static. */
TSR_API const char *tsr_step_kind_name(tsr_step_kind kind) TSR_MT_SAFE;

/* A step to plan: its kind and the layout after it. */
typedef struct tsr_step_spec {
    tsr_step_kind kind; /* TSR_STEP_DIRECT accepts any change of layout */
    const tsr_geometry *dst;
} tsr_step_spec;

/*
 * Plans a redistribution through given layouts. Every step moves only the elements that devices
 * lack, as above; an all-reduce is one step, in which every device receives all parts. A change of
 * layout that does not match the kind of its step is TSR_ERR_INVALID.
 */
TSR_API TSR_NODISCARD tsr_status tsr_plan_from_steps(tsr_context *ctx, tsr_arena *arena,
                                                     const tsr_geometry *src, size_t num_steps,
                                                     TSR_ARRAY(num_steps)
                                                         const tsr_step_spec *steps,
                                                     tsr_dtype dtype,
                                                     const tsr_plan **out) TSR_MT_CONTEXT;

TSR_API size_t tsr_plan_num_steps(const tsr_plan *plan) TSR_MT_SAFE;

/*
 * Bytes that move between devices: in total (INT64_MAX if they are more), and the maximum that one
 * device receives, and sends.
 */
typedef struct tsr_plan_totals {
    int64_t moved;
    int64_t most_received;
    int64_t most_sent;
} tsr_plan_totals;

/* A planned step. The axes are those of the mesh before the step, along which something changes. */
typedef struct tsr_step {
    tsr_step_kind kind;
    const tsr_geometry *src;
    const tsr_geometry *dst;
    size_t num_axes;
    const tsr_axis_ref *axes;
    tsr_plan_totals bytes;
    double seconds;
} tsr_step;

/*
 * Returns a step by its index. Its cost on a link (NULL: tsr_link_default of shared memory) is
 * alpha for each device from which one may receive, beta for each byte that the busiest device
 * receives or sends, gamma for each byte that a reduction reads; for a slice delta for each byte
 * that is kept. The busiest device is found by the axes of the two layouts; if these have no common
 * cuts or device ids are arbitrary lists, every device is visited, at most 2^26 of them:
 * TSR_ERR_LIMIT beyond.
 */
TSR_API TSR_NODISCARD tsr_status tsr_plan_step(tsr_context *ctx, const tsr_plan *plan, size_t index,
                                               TSR_NULLABLE const tsr_link *link,
                                               tsr_step *out) TSR_MT_CONTEXT;

/*
 * Returns the totals of all steps together; the maxima are those of one device over all steps. Cost
 * and limit are those of tsr_plan_step; every device is also visited if two steps treat devices
 * unequally.
 */
TSR_API TSR_NODISCARD tsr_status tsr_plan_total(tsr_context *ctx, const tsr_plan *plan,
                                                tsr_plan_totals *out) TSR_MT_CONTEXT;

/* Return the bytes that a device receives from others and sends to others, in all steps. */
TSR_API int64_t tsr_plan_bytes_received(const tsr_plan *plan, int64_t device) TSR_MT_SAFE;
TSR_API int64_t tsr_plan_bytes_sent(const tsr_plan *plan, int64_t device) TSR_MT_SAFE;

/*
 * Returns the maximum number of bytes of tensors between two steps that a device stores at once
 * while the plan runs: each is created before the step that fills it and freed after the step that
 * reads it.
 */
TSR_API int64_t tsr_plan_bytes_between(const tsr_plan *plan, int64_t device) TSR_MT_SAFE;

#ifdef __cplusplus
}
#endif

#endif
