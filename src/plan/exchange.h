/*
 * Exchanges: what moves when each device receives just what it lacks, in one step.
 *
 * A box is what one device gets of one source shard. A device that holds the shard has it already;
 * the other boxes of the shard are open, and the devices that hold the shard, its replicas, share
 * the sending. How is decided by the line of the shard (line.h).
 */
#ifndef PLAN_EXCHANGE_H
#define PLAN_EXCHANGE_H

#include "plan/lattice.h"
#include "plan/overlap.h"

/* The axes of the source mesh along which a reduction stays pending, and is folded. */
typedef struct pending_axes {
    tsr_axis_list kept;
    tsr_axis_list removed;
} pending_axes;

/* One side of an exchange: the geometry, and its dimensions ready to be asked. */
typedef struct exchange_side {
    const tsr_geometry *of;
    const tsr_mesh *mesh;
    const plan_dim *dims;
    places kept; /* along what stays pending */
} exchange_side;

typedef struct plan_exchange {
    exchange_side src;
    exchange_side dst;
    size_t rank;
    int64_t devices;
    places removed;  /* of the source mesh: along what is folded */
    places replicas; /* of the source mesh: devices that hold the same */
    places copies;   /* of the destination mesh: devices that get the same */
    plan_lattice lattice;
    bool counted;      /* what devices hold of what they want is counted, not listed (line.h) */
    int64_t all_after; /* elements that all devices together have after the step */
    int64_t all_held;  /* of those, the ones that each had before */
} plan_exchange;

/*
 * An exchange between two geometries of one shape that differ in what is pending by
 * `pending->removed`. The same on every rank: it depends on the two geometries alone.
 */
tsr_status plan_exchange_create(const plan_maker *m, const tsr_geometry *src,
                                const tsr_geometry *dst, const pending_axes *pending,
                                plan_exchange *out);

/* How many parts a fold has; 1 when nothing is folded. */
static inline int64_t exchange_parts(const plan_exchange *x)
{
    return x->removed.size;
}

/* The place of a part of a replica of the shard at `base`, and the device there. */
int64_t exchange_place(const plan_exchange *x, int64_t base, int64_t replica, int64_t part);
int64_t exchange_device(const plan_exchange *x, int64_t base, int64_t replica, int64_t part);

/* The place of the first replica of what the device at a place holds. */
int64_t exchange_base(const plan_exchange *x, int64_t place);

/* The elements of a shard, by its base place, that the device at a place of the destination wants.
 */
int64_t exchange_wanted(const plan_exchange *x, int64_t base, int64_t place);

/*
 * What one device gets or sends: the product of one overlap for each dimension. Of several sources
 * the elements are folded in their order; all sources store them at the same offset.
 */
typedef struct plan_move {
    int64_t peer;           /* the destination, or the first source */
    const int64_t *sources; /* of a fold, what is received: all of them; else NULL */
    const plan_overlap *const *overlaps;
    int64_t elements;
} plan_move;

/*
 * What moves between a device and each other one, itself included. The moves from, or to, one
 * device follow each other, in an order that both know.
 */
typedef struct plan_moves {
    const plan_move *list;
    size_t count;
} plan_moves;

tsr_status plan_receives(const plan_maker *m, const plan_exchange *x, int64_t device,
                         plan_moves *out);
tsr_status plan_sends(const plan_maker *m, const plan_exchange *x, int64_t device, plan_moves *out);

/* The elements that a device receives from others, and sends to others; 0 for unknown devices. */
int64_t exchange_received(const plan_exchange *x, int64_t device);
int64_t exchange_sent(const plan_exchange *x, int64_t device);

/* How many devices, or combinations of digits, are enumerated for a plan at most. */
enum { PLAN_MAX_ENUMERATED = 1 << 26 };

/* The elements that all devices receive; INT64_MAX when they are more. */
int64_t exchange_moved(const plan_exchange *x);

/* Elements by the place of a device in some mesh. */
typedef struct device_sums {
    const tsr_mesh *mesh;
    int64_t *elements;
} device_sums;

/* Adds what each device receives, and sends: a pass over all devices. */
void exchange_add_received(const plan_exchange *x, const device_sums *to);
void exchange_add_sent(const plan_exchange *x, const device_sums *to);

#endif
