/*
 * Redistribution plans: a list of steps from one layout to the next, and what one device sends and
 * receives in each.
 *
 * A plan says what all devices do and is as small as the two layouts: it lists no pairs of devices.
 * A part is what one device moves, worked out by that device alone in time and memory proportional
 * to it; the parts of all devices agree because the plan decides everything.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include <tessera/plan.h>

#include "plan/exchange.h"

typedef struct plan_step {
    tsr_step_kind kind;
    const tsr_axis_ref *axes; /* of the mesh before, along which something changes */
    size_t num_axes;
    plan_exchange exchange;
} plan_step;

struct tsr_plan {
    size_t num_steps;
    const plan_step *steps;
    tsr_step_kind kind; /* of all steps as one */
    tsr_dtype dtype;
    tsr_reduction reduction; /* of the folds */
};

/* Refuses two geometries of different shapes or on different devices. */
tsr_status plan_check_pair(tsr_context *ctx, const tsr_geometry *src, const tsr_geometry *dst);

/* What one device moves in each step of a plan. */
typedef struct plan_part {
    const plan_moves *receives; /* one list for each step */
    const plan_moves *sends;
    size_t num_moves; /* in all of them */
} plan_part;

/* Which lists of a part are made: where memory is shared, a fold only receives. */
typedef enum part_lists { PART_RECEIVES, PART_BOTH } part_lists;

/*
 * The part of a device that both meshes have. `of_folds` is for the steps that fold, the others get
 * both lists. The plan must outlive the part, which is allocated in the arena.
 */
tsr_status plan_part_create(tsr_context *ctx, tsr_arena *arena, const tsr_plan *plan,
                            int64_t device, part_lists of_folds, plan_part *out);

/* The seconds of all steps on a link, as tsr_plan_step has them. */
tsr_status plan_price(const plan_maker *m, const tsr_plan *plan, const tsr_link *link,
                      double *seconds);

/* The bytes that all devices receive, in all steps. */
int64_t plan_bytes_moved(const tsr_plan *plan);

/* The largest part that a device has of a layout, in elements. */
int64_t plan_largest_part(const tsr_geometry *g);

/* What the kind of a step follows from. */
typedef struct step_facts {
    const tsr_geometry *src;
    const tsr_geometry *dst;
    bool folds;
    bool holds;    /* every device has all that it gets, or of a fold its own part of it */
    bool is_empty; /* the tensor has no elements */
} step_facts;

tsr_step_kind step_kind_of(const step_facts *s);

/* The kind of a step. */
tsr_step_kind plan_kind(const plan_exchange *x);

/* What is known of a redistribution where the sizes of some dimension are unbound. */
typedef struct plan_sketch {
    tsr_step_kind kind;
    bool may_move;      /* false: no device lacks anything, whatever the sizes are */
    tsr_axis_list axes; /* as plan_changed_axes; none when the meshes differ */
} plan_sketch;

/* Checks a redistribution as tsr_plan_create does, and sketches it. The axes are allocated in the
 * arena. */
tsr_status plan_sketch_create(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *src,
                              const tsr_geometry *dst, plan_sketch *out);

/*
 * The axes that a tensor has before and not at the same position after, or the other way; none when
 * the meshes differ.
 */
tsr_status plan_changed_axes(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *from,
                             const tsr_sharding *to, tsr_axis_list *out);

#endif
