#include "shard/geometry.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"

const tsr_sharding *tsr_geometry_sharding(const tsr_geometry *geometry)
{
    GUARD(tsr_geometry_sharding);
    return geometry->sharding;
}

size_t tsr_geometry_rank(const tsr_geometry *geometry)
{
    GUARD(tsr_geometry_rank);
    return geometry->rank;
}

const int64_t *tsr_geometry_shape(const tsr_geometry *geometry)
{
    GUARD(tsr_geometry_shape);
    return geometry->shape;
}

bool geometry_equal(const tsr_geometry *a, const tsr_geometry *b)
{
    if (a->rank != b->rank || !tsr_sharding_equal(a->sharding, b->sharding)) {
        return false;
    }
    for (size_t i = 0; i < a->rank; i++) {
        if (a->shape[i] != b->shape[i]) {
            return false;
        }
    }
    return true;
}

void tsr_geometry_local_shape(const tsr_geometry *geometry, int64_t *local_shape)
{
    GUARD(tsr_geometry_local_shape);
    for (size_t i = 0; i < geometry->rank; i++) {
        local_shape[i] = geometry->dims[i].chunk;
    }
}

void tsr_geometry_padded_shape(const tsr_geometry *geometry, int64_t *padded_shape)
{
    GUARD(tsr_geometry_padded_shape);
    for (size_t i = 0; i < geometry->rank; i++) {
        const dim_geometry *dim = &geometry->dims[i];
        padded_shape[i] = dim->unbound == NULL ? dim->chunk * dim->along.size : TSR_UNKNOWN;
    }
}

static tsr_status unbound_error(tsr_context *ctx, size_t dim)
{
    (void)diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "dim %zu: its sizes are not bound yet",
                     dim);
    return diag_note(ctx, NO_LOCATION, "give them in the text in place of the ?, or bind them");
}

static size_t first_unbound(const tsr_geometry *geometry)
{
    size_t dim = 0;
    while (dim < geometry->rank && geometry->dims[dim].unbound == NULL) {
        dim++;
    }
    return dim;
}

bool geometry_is_bound(const tsr_geometry *geometry)
{
    return first_unbound(geometry) == geometry->rank;
}

tsr_status geometry_check_bound(tsr_context *ctx, const tsr_geometry *geometry)
{
    const size_t dim = first_unbound(geometry);
    return dim == geometry->rank ? TSR_OK : unbound_error(ctx, dim);
}

bool dim_next_piece(const dim_geometry *dim, int64_t shard, int64_t *at, tsr_interval *piece)
{
    if (dim->ragged == NULL) {
        *piece = dim_box(dim, shard);
        return (*at)++ == 0 && piece->size > 0;
    }
    const int64_t partitions = dim->ragged->partitions;
    const int64_t *rows = dim->ragged->counts + shard * partitions;
    const int64_t *starts = dim->block_rows + shard * partitions;
    while (*at < partitions && rows[*at] == 0) {
        (*at)++;
    }
    if (*at == partitions) {
        return false;
    }
    *piece = (tsr_interval){starts[*at], 0};
    for (; *at < partitions; (*at)++) {
        if (rows[*at] > 0 && starts[*at] != piece->start + piece->size) {
            break;
        }
        piece->size += rows[*at];
    }
    return true;
}

/* The next owned partition of an aligned shard, with its offset in storage. */
static bool next_partition(const dim_geometry *dim, int64_t shard, int64_t *at, int64_t *local,
                           tsr_interval *piece, int64_t *where)
{
    const int64_t shards = dim->along.size;
    const int64_t first = ragged_owner_start(dim->aligned, shards, shard);
    const int64_t end = ragged_owner_start(dim->aligned, shards, shard + 1);
    int64_t start = dim->offsets[shard];
    for (int64_t p = first; p < end; p++) {
        const int64_t rows = dim->totals[p];
        if (p - first >= *at && rows > 0) {
            *piece = (tsr_interval){start, rows};
            *where = *local;
            *local += ceil_div(rows, dim->aligned->alignment) * dim->aligned->alignment;
            *at = p - first + 1;
            return true;
        }
        start += rows;
    }
    return false;
}

bool dim_next_stored(const dim_geometry *dim, int64_t shard, int64_t *at, int64_t *local,
                     tsr_interval *piece, int64_t *where)
{
    if (dim->aligned != NULL && dim->aligned->alignment > 1) {
        return next_partition(dim, shard, at, local, piece, where);
    }
    if (!dim_next_piece(dim, shard, at, piece)) {
        return false;
    }
    *where = *local;
    *local += piece->size;
    return true;
}

bool dim_same_rows(const dim_geometry *a, int64_t shard_a, const dim_geometry *b, int64_t shard_b)
{
    int64_t at_a = 0;
    int64_t at_b = 0;
    for (;;) {
        tsr_interval piece_a;
        tsr_interval piece_b;
        const bool more_a = dim_next_piece(a, shard_a, &at_a, &piece_a);
        const bool more_b = dim_next_piece(b, shard_b, &at_b, &piece_b);
        if (!more_a || !more_b) {
            return more_a == more_b;
        }
        if (piece_a.start != piece_b.start || piece_a.size != piece_b.size) {
            return false;
        }
    }
}

/* The rows a shard of an unaligned dimension holds, and the first of them. */
static tsr_interval unaligned_box(const dim_geometry *dim, int64_t shard)
{
    const int64_t partitions = dim->ragged->partitions;
    tsr_interval box = {0, 0};
    for (int64_t p = 0; p < partitions; p++) {
        const int64_t rows = dim->ragged->counts[shard * partitions + p];
        if (box.size == 0 && rows > 0) {
            box.start = dim->block_rows[shard * partitions + p];
        }
        box.size += rows;
    }
    return box;
}

tsr_interval dim_box(const dim_geometry *dim, int64_t shard)
{
    if (dim->unbound != NULL) {
        return (tsr_interval){TSR_UNKNOWN, TSR_UNKNOWN};
    }
    if (dim->ragged != NULL) {
        return unaligned_box(dim, shard);
    }
    if (dim->offsets != NULL) {
        return (tsr_interval){dim->offsets[shard], dim->offsets[shard + 1] - dim->offsets[shard]};
    }
    if (shard >= dim->used) {
        return (tsr_interval){dim->extent, 0};
    }
    const int64_t start = shard * dim->chunk;
    return (tsr_interval){start, min_i64(dim->chunk, dim->extent - start)};
}

bool dim_has_empty(const dim_geometry *dim)
{
    if (dim_is_even(dim)) {
        return dim->used < dim->along.size;
    }
    for (int64_t i = 0; i < dim->along.size; i++) {
        if (dim_box(dim, i).size == 0) {
            return true;
        }
    }
    return false;
}

/* The rows of the shard that has the fewest. */
static int64_t dim_least(const dim_geometry *dim)
{
    if (dim_is_even(dim)) {
        return dim_box(dim, dim->along.size - 1).size;
    }
    int64_t least = dim->unbound == NULL ? INT64_MAX : TSR_UNKNOWN;
    for (int64_t i = 0; dim->unbound == NULL && i < dim->along.size; i++) {
        least = min_i64(least, dim_box(dim, i).size);
    }
    return least;
}

void tsr_geometry_least_shape(const tsr_geometry *geometry, int64_t *least_shape)
{
    GUARD(tsr_geometry_least_shape);
    for (size_t i = 0; i < geometry->rank; i++) {
        least_shape[i] = dim_least(&geometry->dims[i]);
    }
}

bool tsr_geometry_box(const tsr_geometry *geometry, int64_t device, int64_t *start, int64_t *size)
{
    GUARD(tsr_geometry_box);
    const int64_t place = tsr_mesh_place_of(geometry->sharding->mesh, device);
    if (place < 0) {
        return false;
    }
    for (size_t i = 0; i < geometry->rank; i++) {
        const dim_geometry *dim = &geometry->dims[i];
        const tsr_interval box = dim_box(dim, places_index(&dim->along, place));
        start[i] = box.start;
        size[i] = box.size;
    }
    return true;
}

bool tsr_geometry_stored_size(const tsr_geometry *geometry, int64_t device, int64_t *size)
{
    GUARD(tsr_geometry_stored_size);
    const int64_t place = tsr_mesh_place_of(geometry->sharding->mesh, device);
    if (place < 0) {
        return false;
    }
    for (size_t i = 0; i < geometry->rank; i++) {
        const dim_geometry *dim = &geometry->dims[i];
        const int64_t shard = places_index(&dim->along, place);
        size[i] = dim->stored != NULL ? dim->stored[shard] : dim_box(dim, shard).size;
    }
    return true;
}

int64_t tsr_geometry_pieces(const tsr_geometry *geometry, int64_t device, size_t dim,
                            size_t capacity, tsr_interval *pieces)
{
    GUARD(tsr_geometry_pieces);
    const int64_t place = tsr_mesh_place_of(geometry->sharding->mesh, device);
    if (place < 0 || dim >= geometry->rank || geometry->dims[dim].unbound != NULL) {
        return TSR_UNKNOWN;
    }
    const dim_geometry *of = &geometry->dims[dim];
    const int64_t shard = places_index(&of->along, place);
    int64_t count = 0;
    int64_t at = 0;
    for (tsr_interval piece; dim_next_piece(of, shard, &at, &piece); count++) {
        if (count < (int64_t)capacity) {
            pieces[count] = piece;
        }
    }
    return count;
}

/* The state of building a geometry. */
typedef struct geometry_maker {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_sharding *sharding;
    bool unbound; /* allowed */
} geometry_maker;

/* Prefix sums of `count` sizes; they have been checked not to overflow. */
static int64_t *prefix_sums(const geometry_maker *m, const int64_t *sizes, int64_t count,
                            int64_t *largest)
{
    int64_t *sums = ARENA_ARRAY(m->arena, int64_t, (size_t)count + 1);
    if (sums == NULL) {
        return NULL;
    }
    sums[0] = 0;
    *largest = 0;
    for (int64_t i = 0; i < count; i++) {
        sums[i + 1] = sums[i] + sizes[i];
        *largest = max_i64(*largest, sizes[i]);
    }
    return sums;
}

static tsr_status make_dynamic(const geometry_maker *m, const tsr_ragged *ragged, dim_geometry *dim)
{
    dim->offsets = prefix_sums(m, ragged->sizes, dim->along.size, &dim->chunk);
    return dim->offsets != NULL ? TSR_OK : diag_nomem(m->ctx);
}

/* How many rows each partition has in all. */
static int64_t *partition_totals(const geometry_maker *m, const tsr_ragged *ragged, int64_t shards)
{
    int64_t *totals = ARENA_ARRAY(m->arena, int64_t, (size_t)ragged->partitions);
    if (totals == NULL) {
        return NULL;
    }
    memset(totals, 0, (size_t)ragged->partitions * sizeof *totals);
    for (int64_t s = 0; s < shards; s++) {
        for (int64_t p = 0; p < ragged->partitions; p++) {
            totals[p] += ragged->counts[s * ragged->partitions + p];
        }
    }
    return totals;
}

/* Adds `rows`, rounded up to a multiple of `unit`, to *sum; false when that overflows. */
static bool round_up_to(int64_t rows, int64_t unit, int64_t *sum)
{
    int64_t rounded;
    return checked_mul(ceil_div(rows, unit), unit, &rounded) && checked_add(*sum, rounded, sum);
}

static tsr_status make_aligned(const geometry_maker *m, const tsr_ragged *ragged,
                               const int64_t *totals, dim_geometry *dim)
{
    const int64_t shards = dim->along.size;
    int64_t *sizes = ARENA_ARRAY(m->arena, int64_t, (size_t)shards);
    int64_t *stored = ARENA_ARRAY(m->arena, int64_t, (size_t)shards);
    if (sizes == NULL || stored == NULL) {
        return diag_nomem(m->ctx);
    }
    for (int64_t s = 0; s < shards; s++) {
        const int64_t end = ragged_owner_start(ragged, shards, s + 1);
        sizes[s] = 0;
        stored[s] = 0;
        for (int64_t p = ragged_owner_start(ragged, shards, s); p < end; p++) {
            sizes[s] += totals[p];
            if (!round_up_to(totals[p], ragged->alignment, &stored[s])) {
                return diag_error(m->ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                                  "the partitions of a shard take more than 2^63-1 rows when each "
                                  "is stored in multiples of %lld",
                                  (long long)ragged->alignment);
            }
        }
    }
    dim->stored = stored;
    dim->aligned = ragged;
    dim->totals = totals;
    dim->offsets = prefix_sums(m, sizes, shards, &dim->chunk);
    return dim->offsets != NULL ? TSR_OK : diag_nomem(m->ctx);
}

static tsr_status make_unaligned(const geometry_maker *m, const tsr_ragged *ragged,
                                 dim_geometry *dim)
{
    const int64_t shards = dim->along.size;
    int64_t *rows = ARENA_ARRAY(m->arena, int64_t, (size_t)(shards * ragged->partitions));
    if (rows == NULL) {
        return diag_nomem(m->ctx);
    }
    int64_t next = 0;
    for (int64_t p = 0; p < ragged->partitions; p++) {
        for (int64_t s = 0; s < shards; s++) {
            rows[s * ragged->partitions + p] = next;
            next += ragged->counts[s * ragged->partitions + p];
        }
    }
    dim->ragged = ragged;
    dim->block_rows = rows;
    for (int64_t s = 0; s < shards; s++) {
        dim->chunk = max_i64(dim->chunk, dim_box(dim, s).size);
    }
    return TSR_OK;
}

static tsr_status make_partitioned(const geometry_maker *m, const tsr_ragged *ragged,
                                   dim_geometry *dim)
{
    const int64_t *totals = partition_totals(m, ragged, dim->along.size);
    if (totals == NULL) {
        return diag_nomem(m->ctx);
    }
    return ragged->kind == TSR_RAGGED_ALIGNED ? make_aligned(m, ragged, totals, dim)
                                              : make_unaligned(m, ragged, dim);
}

static tsr_status make_ragged(const geometry_maker *m, size_t index, const tsr_ragged *ragged,
                              dim_geometry *dim)
{
    const bool dynamic = ragged->kind == TSR_RAGGED_DYNAMIC;
    if (!ragged_is_bound(ragged)) {
        dim->unbound = ragged;
        dim->chunk = TSR_UNKNOWN;
        return m->unbound ? TSR_OK : unbound_error(m->ctx, index);
    }
    TSR_TRY(
        ragged_check_extent(m->ctx, NO_LOCATION, "", index, ragged, dim->along.size, dim->extent));
    return dynamic ? make_dynamic(m, ragged, dim) : make_partitioned(m, ragged, dim);
}

static tsr_status make_dim(const geometry_maker *m, size_t index, int64_t extent, dim_geometry *dim)
{
    if (extent < 0) {
        return diag_error(m->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu: the extent must be known and at least 0, got: %lld", index,
                          (long long)extent);
    }
    const bool whole = tsr_mesh_is_maximal(m->sharding->mesh);
    const tsr_dim none = {0};
    const tsr_dim *of = whole ? &none : &m->sharding->dims[index];
    *dim = (dim_geometry){.extent = extent};
    TSR_TRY(places_along(m->ctx, m->arena, m->sharding->mesh, of->axes, of->num_axes, &dim->along));
    if (of->ragged != NULL) {
        TSR_TRY(make_ragged(m, index, of->ragged, dim));
    } else {
        dim->chunk = ceil_div(extent, dim->along.size);
        dim->used = dim->chunk == 0 ? 0 : ceil_div(extent, dim->chunk);
    }
    int64_t padded;
    if (dim->unbound == NULL && !checked_mul(dim->chunk, dim->along.size, &padded)) {
        return diag_error(m->ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                          "dim %zu: %lld shards of %lld rows are more than 2^63-1", index,
                          (long long)dim->along.size, (long long)dim->chunk);
    }
    return TSR_OK;
}

static tsr_status check_rank(const geometry_maker *m, size_t rank)
{
    if (rank == m->sharding->rank || tsr_mesh_is_maximal(m->sharding->mesh)) {
        return TSR_OK;
    }
    return diag_error(m->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "sharding doesn't match tensor rank: %zu != %zu", m->sharding->rank, rank);
}

static tsr_status check_elements(const geometry_maker *m, size_t rank, const int64_t *shape)
{
    int64_t elements = 1;
    bool fits = true;
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] == 0) {
            return TSR_OK;
        }
        fits = fits && checked_mul(elements, shape[i], &elements);
    }
    if (fits) {
        return TSR_OK;
    }
    return diag_error(m->ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                      "the tensor has more than 2^63-1 elements");
}

tsr_status tsr_geometry_create(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                               size_t rank, const int64_t *shape, const tsr_geometry **out)
{
    GUARD(tsr_geometry_create);
    return geometry_create(ctx, arena, sharding, rank, shape, false, out);
}

tsr_status geometry_create(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                           size_t rank, const int64_t *shape, bool unbound,
                           const tsr_geometry **out)
{
    const geometry_maker m = {ctx, arena, sharding, unbound};
    TSR_TRY(check_rank(&m, rank));
    tsr_geometry *geometry = ARENA_NEW(arena, tsr_geometry);
    dim_geometry *dims = ARENA_ARRAY(arena, dim_geometry, rank);
    const int64_t *kept = arena_copy(arena, shape, rank, sizeof *shape);
    if (geometry == NULL || dims == NULL || kept == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < rank; i++) {
        TSR_TRY(make_dim(&m, i, shape[i], &dims[i]));
    }
    TSR_TRY(check_elements(&m, rank, shape));
    *geometry = (tsr_geometry){.sharding = sharding, .rank = rank, .shape = kept, .dims = dims};
    *out = geometry;
    return TSR_OK;
}
