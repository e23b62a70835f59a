/*
 * Exchanges: one step of a plan, in which each device receives what it lacks and replicas divide
 * the sending among them.
 */
#ifndef PLAN_EXCHANGE_H
#define PLAN_EXCHANGE_H

#include "plan/plan.h"

/* Where steps are made: what lasts goes into `arena`, what does not into `scratch`. */
typedef struct step_maker {
    tsr_context *ctx;
    tsr_arena *arena;
    tsr_arena *scratch;
} step_maker;

/* The axes of the source mesh along which a reduction stays pending, and is folded. */
typedef struct pending_axes {
    tsr_axis_list kept;
    tsr_axis_list removed;
} pending_axes;

/* An empty list with room for so many. */
tsr_status plan_axis_list(tsr_context *ctx, tsr_arena *arena, size_t capacity, tsr_axis_list *out);

/* A step between two geometries that differ in what is pending by `pending->removed`. */
tsr_status plan_step_create(const step_maker *m, const tsr_geometry *src, const tsr_geometry *dst,
                            const pending_axes *pending, plan_step *out);

#endif
