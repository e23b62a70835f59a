/* Sets of devices as short texts: `0-3`, `0,4`, `0-6:2`. */
#ifndef PICTURE_ID_SET_H
#define PICTURE_ID_SET_H

#include <tessera/geometry.h>

/* The ids first, first + step, .., count of them. */
typedef struct id_run {
    int64_t first;
    int64_t step;
    int64_t count;
} id_run;

/* How many runs a set keeps; no text shows as many. */
enum { ID_RUNS = 24 };

/*
 * A set of ids in ascending order; `more` when there are runs after the last one kept. No runs at
 * all mean all devices, whose number an empty mesh leaves open.
 */
typedef struct id_set {
    id_run runs[ID_RUNS];
    size_t num_runs;
    bool more;
    int64_t count; /* of all ids */
} id_set;

/* The largest number of devices that is tried one by one. */
enum { ID_SET_TRIED = 65536 };

/*
 * The differences between the devices that hold the same part of a tensor, the same for every part:
 * as (size, stride) pairs, largest stride first. `known` is false on a mesh of arbitrary ids.
 */
typedef struct spread {
    bool known;
    size_t count;
    tsr_stride *pairs;
} spread;

/* The spread of a sharding; its pairs are allocated in the arena. */
tsr_status spread_of(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding, spread *out);

/* The devices that hold an element. Leaves nothing in the arena. */
tsr_status id_set_of_holders(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *geometry,
                             const spread *between, const int64_t *index, id_set *out);

/* The set of ids that are given in any order, each once. Sorts them. */
void id_set_make(int64_t *ids, size_t count, id_set *out);

/*
 * The text of a set in at most `width` characters, ended by `ellipsis` when it is longer. `text`
 * has room for width + 4 bytes. Returns how many characters it has.
 */
size_t id_set_format(const id_set *set, size_t width, const char *ellipsis, char *text);

#endif
