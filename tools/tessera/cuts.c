#include "cuts.h"

/* Intervals under construction; `next` is where the next one starts. */
struct builder {
    tsr_interval *list;
    int64_t count;
    int64_t next;
    int64_t last_shard;
};

/* Appends what a shard has next, joined to the interval before when that is the shard's too. */
static void append(struct builder *builder, int64_t shard, int64_t size)
{
    if (size == 0) {
        return;
    }
    if (builder->count > 0 && builder->last_shard == shard) {
        builder->list[builder->count - 1].size += size;
    } else {
        builder->list[builder->count++] = (tsr_interval){builder->next, size};
    }
    builder->last_shard = shard;
    builder->next += size;
}

static int64_t sum_of_row(const tsr_ragged *ragged, int64_t shard)
{
    int64_t sum = 0;
    for (int64_t p = 0; p < ragged->partitions; p++) {
        sum += ragged->counts[shard * ragged->partitions + p];
    }
    return sum;
}

static int64_t sum_of_column(const tsr_ragged *ragged, int64_t shards, int64_t partition)
{
    int64_t sum = 0;
    for (int64_t s = 0; s < shards; s++) {
        sum += ragged->counts[s * ragged->partitions + partition];
    }
    return sum;
}

/*
 * The first partition of a shard of an aligned dimension: floor(shard * N / S) unless it is given.
 */
static int64_t first_owned(const tsr_ragged *ragged, int64_t shards, int64_t shard)
{
    if (ragged->owner_start != NULL) {
        return ragged->owner_start[shard];
    }
    return (int64_t)((__int128)shard * ragged->partitions / shards);
}

static int64_t sum_of_owned(const tsr_ragged *ragged, int64_t shards, int64_t shard)
{
    int64_t sum = 0;
    int64_t end = first_owned(ragged, shards, shard + 1);
    for (int64_t p = first_owned(ragged, shards, shard); p < end; p++) {
        sum += sum_of_column(ragged, shards, p);
    }
    return sum;
}

/* How much a shard holds. */
static int64_t shard_size(const tsr_ragged *ragged, int64_t shards, int64_t shard)
{
    switch (ragged->kind) {
    case TSR_RAGGED_UNALIGNED:
        return sum_of_row(ragged, shard);
    case TSR_RAGGED_ALIGNED:
        return sum_of_owned(ragged, shards, shard);
    case TSR_RAGGED_DYNAMIC:
    default:
        return ragged->sizes[shard];
    }
}

/* The blocks of an unaligned dimension: for each partition, for each shard. */
static void append_blocks(struct builder *builder, const tsr_ragged *ragged, int64_t shards)
{
    for (int64_t p = 0; p < ragged->partitions; p++) {
        for (int64_t s = 0; s < shards; s++) {
            append(builder, s, ragged->counts[s * ragged->partitions + p]);
        }
    }
}

static void cut_by_ragged(struct session *session, const tsr_ragged *ragged, struct cuts *cuts)
{
    bool blocks = ragged->kind == TSR_RAGGED_UNALIGNED;
    size_t most = (size_t)cuts->shards * (blocks ? (size_t)ragged->partitions : 1);
    struct builder builder = {.list = session_alloc(session, most, sizeof(tsr_interval))};
    cuts->smallest = INT64_MAX;
    for (int64_t s = 0; s < cuts->shards; s++) {
        int64_t size = shard_size(ragged, cuts->shards, s);
        cuts->smallest = size < cuts->smallest ? size : cuts->smallest;
        cuts->holding += size > 0;
        if (!blocks) {
            append(&builder, s, size);
        }
    }
    if (blocks) {
        append_blocks(&builder, ragged, cuts->shards);
    }
    cuts->list = builder.list;
    cuts->count = builder.count;
}

static void cut_evenly(struct cuts *cuts)
{
    if (cuts->extent == 0) {
        return;
    }
    cuts->chunk = (cuts->extent - 1) / cuts->shards + 1;
    cuts->count = (cuts->extent - 1) / cuts->chunk + 1;
    cuts->holding = cuts->count;
    bool all_hold = cuts->count == cuts->shards;
    cuts->smallest = all_hold ? cuts->extent - (cuts->count - 1) * cuts->chunk : 0;
}

const tsr_ragged *ragged_of(const tsr_sharding *sharding, size_t dim)
{
    return dim < tsr_sharding_rank(sharding) ? tsr_sharding_dim(sharding, dim)->ragged : NULL;
}

int64_t shards_of(const tsr_sharding *sharding, size_t dim)
{
    return dim < tsr_sharding_rank(sharding) ? tsr_sharding_num_shards(sharding, dim) : 1;
}

const struct cuts *cuts_of(struct session *session, const tsr_geometry *geometry, size_t rank)
{
    const tsr_sharding *sharding = tsr_geometry_sharding(geometry);
    struct cuts *all = session_alloc(session, rank, sizeof *all);
    for (size_t d = 0; d < rank; d++) {
        const tsr_ragged *ragged = ragged_of(sharding, d);
        all[d].extent = tsr_geometry_shape(geometry)[d];
        all[d].shards = shards_of(sharding, d);
        if (ragged != NULL) {
            cut_by_ragged(session, ragged, &all[d]);
        } else {
            cut_evenly(&all[d]);
        }
    }
    return all;
}

tsr_interval cuts_at(const struct cuts *cuts, int64_t i)
{
    if (cuts->list != NULL) {
        return cuts->list[i];
    }
    int64_t start = i * cuts->chunk;
    int64_t left = cuts->extent - start;
    return (tsr_interval){start, left < cuts->chunk ? left : cuts->chunk};
}
