/* What is computed from the facts in more than one place. */
#include <inttypes.h>

#include "buffer.h"
#include "command.h"
#include "show.h"

const tsr_ragged *ragged_of(const tsr_sharding *sharding, size_t dim)
{
    return dim < tsr_sharding_rank(sharding) ? tsr_sharding_dim(sharding, dim)->ragged : NULL;
}

int64_t shards_of(const tsr_sharding *sharding, size_t dim)
{
    return dim < tsr_sharding_rank(sharding) ? tsr_sharding_num_shards(sharding, dim) : 1;
}

/* What the shards of an aligned dimension store, seen at a device for each shard. */
static int find_aligned(struct session *session, struct facts *facts, size_t dim, int64_t *most,
                        int64_t *least)
{
    const tsr_dim *axes = tsr_sharding_dim(facts->sharding, dim);
    const tsr_groups *groups = NULL;
    int64_t *start = session_alloc(session, 3 * facts->rank, sizeof *start);
    int64_t *size = start + facts->rank;
    int64_t *stored = size + facts->rank;
    tsr_status status = tsr_groups_create(session->ctx, session->arena, facts->mesh, axes->axes,
                                          axes->num_axes, &groups);
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    *most = 0;
    *least = INT64_MAX;
    for (int64_t shard = 0; shard < tsr_groups_size(groups); shard++) {
        int64_t device = tsr_groups_device(groups, 0, shard);
        tsr_geometry_box(facts->geometry, device, start, size);
        tsr_geometry_stored_size(facts->geometry, device, stored);
        *most = stored[dim] > *most ? stored[dim] : *most;
        *least = stored[dim] < *least ? stored[dim] : *least;
        facts->stores_more = facts->stores_more || stored[dim] != size[dim];
    }
    return EXIT_FINE;
}

int facts_find_stored(struct session *session, struct facts *facts)
{
    int64_t *most = session_alloc(session, facts->rank, sizeof *most);
    int64_t *least = session_alloc(session, facts->rank, sizeof *least);
    facts->stored_most = most;
    facts->stored_least = least;
    tsr_geometry_least_shape(facts->geometry, least);
    int code = EXIT_FINE;
    for (size_t d = 0; d < facts->rank && code == EXIT_FINE; d++) {
        const tsr_ragged *ragged = ragged_of(facts->sharding, d);
        most[d] = facts->local_shape[d];
        if (ragged != NULL && ragged->kind == TSR_RAGGED_ALIGNED && ragged->alignment > 1) {
            code = find_aligned(session, facts, d, &most[d], &least[d]);
        }
    }
    return code;
}

/* Bytes of that many elements in each dimension. */
static int64_t bytes_of(const struct facts *facts, const int64_t *extents)
{
    int64_t count = 1;
    for (size_t d = 0; d < facts->rank; d++) {
        if (__builtin_mul_overflow(count, extents[d], &count)) {
            return -1;
        }
    }
    return tsr_dtype_bytes(facts->shape.dtype, count);
}

int64_t facts_largest_bytes(const struct facts *facts)
{
    return bytes_of(facts, facts->stored_most);
}

int64_t facts_smallest_bytes(const struct facts *facts)
{
    return bytes_of(facts, facts->stored_least);
}

size_t facts_most_pieces(const struct facts *facts)
{
    int64_t most = 1;
    for (size_t d = 0; d < facts->rank; d++) {
        const tsr_ragged *ragged = ragged_of(facts->sharding, d);
        if (ragged != NULL && ragged->partitions > most) {
            most = ragged->partitions;
        }
    }
    return (size_t)most;
}

const char *facts_format_shape(struct session *session, size_t rank, const int64_t *extents)
{
    struct buffer buffer = {.session = session};
    for (size_t d = 0; d < rank; d++) {
        const char *separator = d > 0 ? "x" : "";
        if (extents[d] == TSR_UNKNOWN) {
            buffer_add(&buffer, "%s?", separator);
        } else {
            buffer_add(&buffer, "%s%" PRId64, separator, extents[d]);
        }
    }
    return rank == 0 ? "scalar" : buffer.data;
}
