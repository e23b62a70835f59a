/* Plans: what a redistribution moves. */
#ifndef TESSERA_PLAN_H
#define TESSERA_PLAN_H

#include <tessera/dtype.h>
#include <tessera/geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_plan tsr_plan;

/*
 * The direct exchange from one layout to another of the same shape over the same devices: in one
 * step each device receives just what it lacks. The replicas of a shard share the sending so that
 * the busiest device sends as little as possible, counted in elements; ties go to the lowest
 * device. A box stays whole when some replica has room for all of it, and is cut between replicas
 * when none has. A pending reduction that the destination does not have is folded at its
 * destination; where several devices receive the same, it is folded once in shares, which are then
 * exchanged. Pending reductions cannot be introduced. The geometries must live as long as the plan,
 * which is the arena's. The same on every rank.
 */
TSR_API TSR_NODISCARD tsr_status tsr_plan_create(tsr_context *ctx, tsr_arena *arena,
                                                 const tsr_geometry *src, const tsr_geometry *dst,
                                                 tsr_dtype dtype,
                                                 const tsr_plan **out) TSR_MT_CONTEXT;

TSR_API size_t tsr_plan_num_steps(const tsr_plan *plan) TSR_MT_SAFE;

/* The bytes that a device receives from others and sends to others, in all steps. */
TSR_API int64_t tsr_plan_bytes_received(const tsr_plan *plan, int64_t device) TSR_MT_SAFE;
TSR_API int64_t tsr_plan_bytes_sent(const tsr_plan *plan, int64_t device) TSR_MT_SAFE;

#ifdef __cplusplus
}
#endif

#endif
