/* Lists of moves, and boxes that are cut to be part of them. */
#ifndef PLAN_CUT_H
#define PLAN_CUT_H

#include "plan/exchange.h"

/* A list of moves while it grows, for a tensor of some rank. */
typedef struct move_list {
    const plan_maker *m;
    size_t rank;
    plan_move *moves;
    size_t count;
    size_t room;
} move_list;

/* An empty list with room for so many moves at first. */
tsr_status move_list_create(const plan_maker *m, size_t rank, size_t room, move_list *out);

/*
 * Adds elements first .. first+size-1 of a box, numbered row-major, as `how` says: one move for all
 * of it, else at most two for each dimension but one. `how->overlaps` and `how->elements` are those
 * of the whole box; the overlaps are copied.
 */
tsr_status move_list_add(move_list *list, const plan_move *how, int64_t first, int64_t size);

#endif
