/*
 * Overlaps by positions: how much of what a device wants is at hand, without listing shards.
 *
 * Where extents divide, a row number is a sequence of digits, and the atoms of a list are its
 * leading ones. The cuts of the lists before and after, and of the atoms that they share with other
 * dimensions, refine all of them to common *positions*. At a position a device wants one digit (of
 * the atom after) and has one (of the atom before). It has a fixed share of what it wants if all
 * compared digits are equal, and nothing otherwise; so the device that lacks the most is found by
 * which digits can differ, whatever their sizes and the number of devices.
 */
#ifndef PLAN_POSITION_H
#define PLAN_POSITION_H

#include "plan/state.h"

enum { POSITION_MAX_CUTS = 24, POSITION_MAX_DIGITS = 32, POSITION_MAX = 64 };

/* A part of the coordinate of an atom. */
typedef struct position_digit {
    size_t level;
    int64_t size;
} position_digit;

/* One digit of a row number; -1: none, or one that is held. */
typedef struct position {
    int64_t size;
    int before;
    int after;
    bool shards; /* it is part of the list before */
} position;

typedef struct position_set {
    size_t num_digits;
    position_digit digits[POSITION_MAX_DIGITS];
    size_t num_positions;
    position positions[POSITION_MAX];
    int64_t rest; /* rows that no list cuts, over all dimensions */
} position_set;

/*
 * Refines some dimensions of two states; all of them divide. False where the cuts have no common
 * refinement or are too many.
 */
bool positions_make(const plan_space *space, const state_view *from, const state_view *to,
                    uint32_t dims, position_set *out);

/*
 * The elements of what the devices that agree on `wanting` levels want that those which agree on
 * `holding` levels have, and the shards that have these, while all compared digits are equal. A
 * device by itself agrees on all levels.
 */
void positions_count(const position_set *set, size_t wanting, size_t holding, int64_t *elements,
                     int64_t *shards);

/*
 * Whether the digits that are compared on the levels from `first` to before `holding` can differ
 * while those compared on the levels before `first` are equal.
 */
bool positions_may_differ(const position_set *set, size_t wanting, size_t first, size_t holding);

#endif
