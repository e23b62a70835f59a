#include <string.h>

#include "job.h"

#include "base/base.h"

int64_t local_elements(const tsr_tensor *t)
{
    int64_t count = 1;
    for (size_t i = 0; i < tsr_tensor_rank(t); i++) {
        count *= tsr_tensor_local_shape(t)[i];
    }
    return count;
}

/* The byte at a place of block (s, p). */
static unsigned char byte_of(int64_t s, int64_t p, int64_t row, int64_t within)
{
    return (unsigned char)(s * 59 + p * 23 + row * 7 + within * 3 + 1);
}

/* The bytes that follow from one row of the dimension; its rows are adjacent when it is the first.
 */
static int64_t row_bytes(const job *j, tsr_dtype dtype)
{
    int64_t bytes = tsr_dtype_item_bytes(dtype);
    for (size_t i = 1; i < j->rank; i++) {
        bytes *= j->shape[i];
    }
    return bytes;
}

static void write_block(unsigned char **at, const job *j, tsr_dtype dtype, int64_t s, int64_t p)
{
    for (int64_t row = 0; row < j->counts[s * j->partitions + p]; row++) {
        for (int64_t b = 0; b < row_bytes(j, dtype); b++) {
            *(*at)++ = byte_of(s, p, row, b);
        }
    }
}

static int64_t first_partition(const job *j, int64_t shard)
{
    return shard * j->partitions / j->shards;
}

/* What this shard holds unaligned, and aligned with its pad rows, written down by the definition.
 */
static int64_t write_parts(const job *j, tsr_dtype dtype, int64_t shard, unsigned char *unaligned,
                           unsigned char *aligned)
{
    unsigned char *start = aligned;
    for (int64_t p = 0; p < j->partitions; p++) {
        write_block(&unaligned, j, dtype, shard, p);
    }
    for (int64_t p = first_partition(j, shard); p < first_partition(j, shard + 1); p++) {
        const unsigned char *begin = aligned;
        for (int64_t s = 0; s < j->shards; s++) {
            write_block(&aligned, j, dtype, s, p);
        }
        const int64_t rows = (aligned - begin) / row_bytes(j, dtype);
        const int64_t pads = (j->alignment - rows % j->alignment) % j->alignment;
        memset(aligned, 0, (size_t)(pads * row_bytes(j, dtype)));
        aligned += pads * row_bytes(j, dtype);
    }
    return aligned - start;
}

static size_t tensor_bytes(const tsr_tensor *t)
{
    return (size_t)(local_elements(t) * tsr_dtype_item_bytes(tsr_tensor_dtype(t)));
}

/* There and back is the identity; and whole is whole whichever way it came about. */
static tsr_status check_round_trip(const job *j, tsr_dtype dtype, int64_t shard)
{
    const tsr_tensor_spec spec = {j->at[UNALIGNED], dtype, j->rank, j->shape};
    tsr_tensor *t[5] = {NULL};
    unsigned char *buffers[2];
    const size_t room = (size_t)(j->shape[0] + 4 * j->partitions) * (size_t)row_bytes(j, dtype) + 1;
    TSR_TRY(tsr_tensor_create(j->world, &spec, &t[0]));
    for (size_t i = 0; i < 2; i++) {
        buffers[i] = tsr_arena_alloc(j->arena, room);
        WANT_JOB(j, buffers[i] != NULL);
    }
    const int64_t bytes = write_parts(j, dtype, shard, buffers[0], buffers[1]);
    memcpy(tsr_tensor_data(t[0]), buffers[0], tensor_bytes(t[0]));
    WANT_JOB(j, tsr_partitioned_unaligned_to_aligned(t[0], j->dim, NULL, &t[1]) == TSR_OK);
    WANT_JOB(j, tensor_bytes(t[1]) == (size_t)bytes);
    WANT_JOB(j, memcmp(tsr_tensor_data(t[1]), buffers[1], tensor_bytes(t[1])) == 0);
    WANT_JOB(j, tsr_partitioned_aligned_to_unaligned(t[1], j->dim, NULL, &t[2]) == TSR_OK);
    WANT_JOB(j, memcmp(tsr_tensor_data(t[2]), buffers[0], tensor_bytes(t[0])) == 0);
    WANT_JOB(j, tsr_partitioned_to_replicate(t[0], j->dim, NULL, &t[3]) == TSR_OK);
    WANT_JOB(j, tsr_partitioned_to_replicate(t[1], j->dim, NULL, &t[4]) == TSR_OK);
    WANT_JOB(j, memcmp(tsr_tensor_data(t[3]), tsr_tensor_data(t[4]), tensor_bytes(t[3])) == 0);
    for (size_t i = 0; i < 5; i++) {
        tsr_tensor_release(t[i]);
    }
    return TSR_OK;
}

/* The same by parts in memory, with a slice of the counts or with all. */
static tsr_status check_parts(const job *j, tsr_dtype dtype, int64_t shard,
                              tsr_counts_scope counts_scope)
{
    tsr_partitioned *p = NULL;
    const tsr_partitioned_spec spec = {.sharding = j->at[EVEN],
                                       .dim = j->dim,
                                       .num_partitions = j->partitions,
                                       .splits = {.kind = TSR_AMOUNTS_OWN,
                                                  .values = j->counts + shard * j->partitions,
                                                  .count = (size_t)j->partitions},
                                       .alignment = j->alignment,
                                       .counts_scope = counts_scope};
    const size_t room = (size_t)(j->shape[0] + 4 * j->partitions) * (size_t)row_bytes(j, dtype) + 1;
    WANT_JOB(j, tsr_partitioned_create(j->world, &spec, &p) == TSR_OK);
    unsigned char *buffers[4];
    for (size_t i = 0; i < 4; i++) {
        buffers[i] = tsr_arena_alloc(j->arena, room);
        WANT_JOB(j, buffers[i] != NULL);
        memset(buffers[i], 0xee, room);
    }
    const int64_t bytes = write_parts(j, dtype, shard, buffers[0], buffers[1]);
    int64_t shapes[2][MAX_RANK];
    memcpy(shapes[0], j->shape, sizeof shapes[0]);
    memcpy(shapes[1], j->shape, sizeof shapes[1]);
    shapes[0][0] = tsr_partitioned_rows(p, false);
    shapes[1][0] = tsr_partitioned_rows(p, true);
    WANT_JOB(j, shapes[1][0] * row_bytes(j, dtype) == bytes);
    const tsr_view from = {buffers[0], dtype, j->rank, shapes[0], NULL};
    const tsr_view there = {buffers[2], dtype, j->rank, shapes[1], NULL};
    const tsr_view back = {buffers[3], dtype, j->rank, shapes[0], NULL};
    WANT_JOB(j, tsr_partitioned_align(p, &from, &there) == TSR_OK);
    WANT_JOB(j, memcmp(buffers[2], buffers[1], (size_t)bytes) == 0);
    WANT_JOB(j, tsr_partitioned_unalign(p, &there, &back) == TSR_OK);
    WANT_JOB(j, memcmp(buffers[3], buffers[0], (size_t)(shapes[0][0] * row_bytes(j, dtype))) == 0);
    const tsr_sharding *sharding = NULL;
    int64_t extent = -1;
    const tsr_status known = tsr_partitioned_sharding(p, true, &sharding, &extent);
    if (counts_scope == TSR_COUNTS_FULL) {
        WANT_JOB(j, known == TSR_OK && extent == j->shape[j->dim]);
        WANT_JOB(j, j->beside != NULL || tsr_sharding_equal(sharding, j->at[ALIGNED]));
    } else {
        WANT_JOB(j, known == TSR_ERR_UNSUPPORTED && sharding == NULL);
        WANT_JOB(j, strstr(last_error_text(tsr_comm_context(j->world)),
                           "has a slice of them: its own row and") != NULL);
        tsr_context_clear(tsr_comm_context(j->world));
    }
    tsr_partitioned_release(p);
    return TSR_OK;
}

tsr_status check_partition_laws(job *j)
{
    static const tsr_dtype dtypes[] = {TSR_U8, TSR_BF16, TSR_F32, TSR_I64, TSR_C128};
    const tsr_groups *groups = NULL;
    int64_t group;
    int64_t shard = 0;
    if (j->dim != 0 || j->beside != NULL) {
        return TSR_OK;
    }
    TSR_TRY(tsr_groups_create(tsr_comm_context(j->world), j->arena, j->mesh, j->axes, j->num_axes,
                              &groups));
    (void)tsr_groups_find(groups, tsr_comm_rank(j->world), &group, &shard);
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        j->what = tsr_dtype_name(dtypes[i]);
        TSR_TRY(check_round_trip(j, dtypes[i], shard));
        TSR_TRY(check_parts(j, dtypes[i], shard, i % 2 == 0 ? TSR_COUNTS_SLICE : TSR_COUNTS_FULL));
    }
    return TSR_OK;
}
