/*
 * The cheapest plan by exhaustion: all layouts of a small mesh, every step between any two of them
 * priced by listing devices and elements, then relaxation until nothing changes. Shares no code and
 * no data structure with src/plan.
 */
#ifndef PROP_PLANNER_BRUTE_H
#define PROP_PLANNER_BRUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BRUTE_ATOMS = 5, BRUTE_DIMS = 3, BRUTE_LEVELS = 3, BRUTE_DEVICES = 12 };
enum { BRUTE_REPLICATED = -1, BRUTE_PENDING = -2 };

typedef struct brute_problem {
    int num_atoms; /* outermost first; ids are row-major over them */
    int sizes[BRUTE_ATOMS];
    int levels[BRUTE_ATOMS];
    int num_levels;
    int64_t latency[BRUTE_LEVELS];
    int64_t bandwidth[BRUTE_LEVELS];
    int64_t copy;
    int64_t reduce;
    int rank;
    int extents[BRUTE_DIMS];
    int item;
    bool program;
    bool pending; /* atoms may be pending */
} brute_problem;

/* A layout: for each atom the dimension, and how many atoms precede it there. */
typedef struct brute_layout {
    int dim[BRUTE_ATOMS];
    int position[BRUTE_ATOMS];
    bool held[BRUTE_ATOMS];
} brute_layout;

typedef struct brute_cost {
    bool reached;
    int64_t time;
    int64_t bytes[BRUTE_LEVELS];
    int64_t steps;
} brute_cost;

typedef struct brute brute;

brute *brute_create(const brute_problem *problem);
void brute_destroy(brute *b);

/* The layouts without held atoms come first. */
size_t brute_count(const brute *b);
size_t brute_count_plain(const brute *b);
const brute_layout *brute_layout_at(const brute *b, size_t index);

/* The largest part of a device, in bytes. */
int64_t brute_bytes(const brute *b, size_t layout);

/*
 * The cheapest costs from one layout to all others through layouts of at most `limit` bytes; owned
 * by `b`, until the next call.
 */
const brute_cost *brute_from(brute *b, size_t from, int64_t limit);

#endif
