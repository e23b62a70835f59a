/* What is computed from the facts in more than one place. */
#include <inttypes.h>

#include "show.h"

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
    return bytes_of(facts, facts->local_shape);
}

int64_t facts_smallest_bytes(const struct facts *facts)
{
    int64_t count = 1;
    for (size_t d = 0; d < facts->rank; d++) {
        count *= facts->cuts[d].smallest;
    }
    return tsr_dtype_bytes(facts->shape.dtype, count);
}

size_t facts_most_pieces(const struct facts *facts)
{
    int64_t most = 1;
    for (size_t d = 0; d < facts->rank; d++) {
        const tsr_layout *layout = layout_of(facts->sharding, d);
        if (layout != NULL && layout->partitions > most) {
            most = layout->partitions;
        }
    }
    return (size_t)most;
}

const char *facts_format_shape(struct session *session, size_t rank, const int64_t *extents)
{
    const char *text = rank == 0 ? "scalar" : "";
    for (size_t d = 0; d < rank; d++) {
        text = session_format(session, "%s%s%" PRId64, text, d > 0 ? "x" : "", extents[d]);
    }
    return text;
}
