/*
 * Which of several equal senders sends which boxes.
 *
 * The devices that hold a source shard hold nothing else, so the boxes cut from one shard have the
 * same senders, and other boxes have others: the flow between senders and boxes decomposes into one
 * problem for each shard. A box may be cut between elements; then the busiest of n senders sends at
 * least an n-th of everything, rounded up, or what it sends anyway, and this bound is reached.
 */
#ifndef PLAN_BALANCE_H
#define PLAN_BALANCE_H

#include <stddef.h>
#include <stdint.h>

/* Elements of a box that one sender sends, as they are numbered in the box. */
typedef struct balance_share {
    size_t box;
    size_t sender;
    int64_t first;
    int64_t size;
} balance_share;

/*
 * Shares out `count` boxes of so many elements each (at least 1) among `num_senders`. `loads` is
 * what each sends anyway; on return, what it may still send. A box goes to the first sender that
 * has room for all of it; the few that find none are cut and fill what room is left, from the first
 * sender on. Writes the shares in the order of the boxes and returns how many: at most count +
 * num_senders, for which `out` has room.
 */
size_t balance(const int64_t *boxes, size_t count, int64_t *loads, size_t num_senders,
               balance_share *out);

#endif
