/* The facts of `tessera show`, and their output formats. */
#ifndef TOOL_SHOW_H
#define TOOL_SHOW_H

#include "arguments.h"
#include "session.h"

/* The largest number of devices that is listed unasked. */
enum { DEVICES_LISTED = 65536 };

/* What the command line says; a text that is not given is NULL. */
struct options {
    const char *sharding;
    const char **meshes;
    size_t num_meshes;
    const char *shape;
    const char *dtype;
    const char *from;
    const char *to;
    const char *svg;
    const char *devices;
    const char *value;
    bool strict;
    bool no_sub_axes;
    bool json;
    bool ascii;
    enum colour_mode colour;
};

/* The facts; without a shape only the first group is set. */
struct facts {
    const char *label; /* which of several layouts this is; NULL for one alone */
    const tsr_sharding *sharding;
    const tsr_mesh *mesh;
    size_t rank; /* of the tensor; of the sharding without a shape */
    const char *sharding_text;
    const char *mesh_text; /* `@mesh = <["x"=2]>` */

    bool has_shape;
    tsr_shape shape;
    const tsr_geometry *geometry;
    const int64_t *local_shape;
    const int64_t *padded_shape;
    const int64_t *stored_most;  /* rows that a device stores, per dimension: `align` adds some */
    const int64_t *stored_least; /* and the fewest */
    bool stores_more;            /* than it holds, some device */

    bool has_range;
    int64_t first; /* the places of the mesh to list: first .. end - 1 */
    int64_t end;
};

/* Reads the meshes, the shardings and the shape: a list of facts, which have just these. */
int show_input(struct session *session, const struct options *options, struct facts **out,
               size_t *count);

/* session_fail, with a note about --shape when that lacks. */
int show_fail(struct session *session, const struct facts *facts, tsr_status status);

/* The table, without the picture. */
int show_table(struct session *session, const struct facts *facts, bool unicode);

/* A line for each device of the range: its id and its box. */
int show_device_list(struct session *session, const struct facts *facts);

void show_json(struct session *session, const struct facts *facts);

/*
 * The explicit sizes of a dimension, or NULL, and its number of shards. A sharding over one device
 * has no dimensions, whatever the rank of the tensor: each of the tensor's is whole then.
 */
const tsr_ragged *ragged_of(const tsr_sharding *sharding, size_t dim);
int64_t shards_of(const tsr_sharding *sharding, size_t dim);

/* Computes what is stored, once the rest of the geometry is known. */
int facts_find_stored(struct session *session, struct facts *facts);

/* Bytes that the device with the most and the one with the least store; -1 beyond 2^63-1. */
int64_t facts_largest_bytes(const struct facts *facts);
int64_t facts_smallest_bytes(const struct facts *facts);

/* Room for the pieces of any dimension on any device. */
size_t facts_most_pieces(const struct facts *facts);

/* Extents as `4x8`, `?` for one that is not known, `scalar` for none. */
const char *facts_format_shape(struct session *session, size_t rank, const int64_t *extents);

#endif
