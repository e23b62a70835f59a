/*
 * Which replica of a source shard sends what.
 *
 * The devices that hold a source shard hold nothing else, so the min-max flow from devices to what
 * is lacking decomposes into one problem for each shard. Its boxes, one for each device that wants
 * some of it, are laid end to end by the shard they are for after the step and then by copy; those
 * that their receiver holds are left out. The line is cut evenly: of n replicas, the one numbered j
 * sends elements j L to (j + 1) L - 1, where L is the length of the line over n, rounded up. No
 * choice has a busiest replica that sends less. Where a replica sends something anyway, to fold
 * what its own devices want, it gets so much less of the line.
 *
 * So that a device can find its own boxes without listing those of others, the position of a box is
 * worked out from its indices: all boxes before it by prefix sums for each dimension, those that
 * are held by counting digits (lattice.h). Where the two meshes have no common digits, a
 * destination is ragged, or a fold has replicas, the devices that hold the shard are listed
 * instead.
 */
#ifndef PLAN_LINE_H
#define PLAN_LINE_H

#include "plan/exchange.h"

/* The rows of a source shard, as destination shards cut them. */
typedef struct line_dim {
    int64_t shard;
    int64_t rows;
    int64_t start;         /* of an interval */
    const int64_t *shards; /* of other rows: the destination shards that overlap it; else NULL */
    const int64_t *before; /* rows before each of them */
    size_t count;
} line_dim;

/* Looks at one dimension of a source shard. */
tsr_status line_dim_create(const plan_maker *m, const plan_exchange *x, size_t dim, int64_t shard,
                           line_dim *out);

/* A box that its receiver holds: its position among all boxes. */
typedef struct held_box {
    int64_t first;
    int64_t size;
    int64_t before; /* elements of such boxes before it */
} held_box;

typedef struct plan_line {
    const plan_exchange *x;
    const line_dim *const *dims; /* one for each dimension */
    int64_t base;                /* the place of the shard's first replica */
    int64_t number;              /* that of the device there */
    int64_t length;              /* elements of the open boxes */
    int64_t level;               /* what the busiest replica sends */
    const held_box *held;        /* when the replicas are listed; else NULL */
    size_t num_held;
    const int64_t *starts; /* where each replica's share begins, and the end; NULL: every `level` */
} plan_line;

/*
 * The line of the shard whose first replica is at `base`. What is listed is scratch: the caller
 * resets it. Only for shards with several replicas.
 */
tsr_status plan_line_create(const plan_maker *m, const plan_exchange *x, int64_t base,
                            const line_dim *const *dims, plan_line *out);

/* What is wanted of a shard: the destination shards, and which copy of them. */
typedef struct line_key {
    const int64_t *shards;
    int64_t copy;
} line_key;

/* Elements of open boxes before a box, whether it is open itself or not. */
int64_t line_before(const plan_line *line, const line_key *key);

/* The replica that sends an element of the line, and the positions at which its share ends. */
int64_t line_replica(const plan_line *line, int64_t at, int64_t *end);

/* The positions of a replica's share. */
void line_share(const plan_line *line, int64_t replica, int64_t *first, int64_t *end);

/* The elements that part `part` of replica `replica` sends to other devices. Allocates nothing. */
int64_t line_sent(const plan_exchange *x, int64_t base, int64_t replica, int64_t part);

/* Adds what each device that holds the shard at `base` sends to other devices. */
void line_add_sent(const plan_exchange *x, int64_t base, const device_sums *to);

#endif
