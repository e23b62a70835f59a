/* What the shards of a dimension have in common under two layouts. */
#ifndef PLAN_OVERLAP_H
#define PLAN_OVERLAP_H

#include "plan/plan.h"

tsr_status plan_dim_create(tsr_context *ctx, tsr_arena *arena, const dim_geometry *src,
                           const dim_geometry *dst, plan_dim *out);

#endif
