/* What `tessera show` knows, and the ways it tells it. */
#ifndef TOOL_SHOW_H
#define TOOL_SHOW_H

#include "arguments.h"
#include "cuts.h"
#include "picture.h"

/* The facts; without a shape only the first group is there. */
struct facts {
    const tsr_sharding *sharding;
    const tsr_mesh *mesh;
    size_t rank; /* of the tensor; of the sharding without a shape */
    const char *sharding_text;
    const char *mesh_text; /* `@mesh = <["x"=2]>` */

    bool has_shape;
    struct shape shape;
    const tsr_geometry *geometry;
    const struct cuts *cuts;
    const int64_t *local_shape;
    const int64_t *padded_shape;

    bool has_range;
    int64_t first; /* the places of the mesh to list: first .. end - 1 */
    int64_t end;
};

/* The table, without the picture. */
int show_table(struct session *session, const struct facts *facts, struct text_style style);

/* A line for each device of the range: its id and its box. */
void show_device_list(struct session *session, const struct facts *facts);

void show_json(struct session *session, const struct facts *facts);

/* Bytes of the largest and of the smallest part that a device holds; -1 beyond 2^63-1. */
int64_t facts_largest_bytes(const struct facts *facts);
int64_t facts_smallest_bytes(const struct facts *facts);

/* Room for the pieces of any dimension on any device. */
size_t facts_most_pieces(const struct facts *facts);

/* Extents as `4x8`, `scalar` for none. */
const char *facts_format_shape(struct session *session, size_t rank, const int64_t *extents);

#endif
