/* Sets of devices as short texts: `0-3`, `0,4`, `0-6:2`. */
#ifndef TOOL_DEVICES_H
#define TOOL_DEVICES_H

#include "session.h"

/* The ids first, first + step, .., count of them. */
struct id_run {
    int64_t first;
    int64_t step;
    int64_t count;
};

/* How many runs a set keeps; no text shows as many. */
enum { ID_RUNS = 24 };

/*
 * A set of ids in ascending order; `more` when there are runs after the last one kept. No runs at
 * all mean all devices, whose number an empty mesh leaves open.
 */
struct id_set {
    struct id_run runs[ID_RUNS];
    size_t num_runs;
    bool more;
    int64_t count; /* of all ids */
};

/* The largest number of devices that is listed or tried one by one. */
enum { DEVICES_LISTED = 65536 };

/*
 * The differences between the devices that hold the same part of a tensor, the same for every part:
 * as (size, stride) pairs, largest stride first. `known` is false on a mesh of arbitrary ids.
 */
struct spread {
    bool known;
    size_t count;
    tsr_stride *pairs;
};

struct spread spread_of(struct session *session, const tsr_sharding *sharding);

/* The devices that hold an element. */
int holders_of(struct session *session, const tsr_geometry *geometry, const struct spread *spread,
               const int64_t *index, struct id_set *out);

/* The set of ids that are given in any order, each once. Sorts them. */
void id_set_make(int64_t *ids, size_t count, struct id_set *out);

/*
 * The text of a set in at most `width` characters, ended by `ellipsis` when it is longer. `buffer`
 * has room for width + 4 bytes. Returns how many characters it has.
 */
size_t id_set_format(const struct id_set *set, size_t width, const char *ellipsis, char *buffer);

#endif
