/* What the shards of a dimension have in common under two layouts. */
#ifndef PLAN_OVERLAP_H
#define PLAN_OVERLAP_H

#include "plan/plan.h"

/* `scratch` is for what is needed only meanwhile. */
tsr_status plan_dim_create(tsr_context *ctx, tsr_arena *arena, tsr_arena *scratch,
                           const dim_geometry *src, const dim_geometry *dst, plan_dim *out);

#endif
