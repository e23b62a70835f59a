/* PartitionedShard by its arguments: what a rank knows of the counts. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/diag.h"
#include "base/guard.h"
#include "rt/placement.h"

tsr_context *guard_partitioned_context(const tsr_partitioned *partitioned)
{
    return partitioned != NULL ? partitioned->world->ctx : NULL;
}

void tsr_partitioned_release(tsr_partitioned *partitioned)
{
    GUARD(tsr_partitioned_release);
    if (partitioned != NULL) {
        tsr_arena_destroy(partitioned->arena);
    }
}

tsr_counts_scope tsr_partitioned_counts_scope(const tsr_partitioned *partitioned)
{
    GUARD(tsr_partitioned_counts_scope);
    return partitioned->counts_scope;
}

const char *tsr_partitioned_derivation(const tsr_partitioned *partitioned)
{
    GUARD(tsr_partitioned_derivation);
    return partitioned->how;
}

const int64_t *tsr_partitioned_row(const tsr_partitioned *partitioned)
{
    GUARD(tsr_partitioned_row);
    return partitioned->row;
}

const int64_t *tsr_partitioned_columns(const tsr_partitioned *partitioned, int64_t *owned)
{
    GUARD(tsr_partitioned_columns);
    *owned = partitioned->owned;
    return partitioned->columns;
}

bool tsr_partitioned_is_aligned(const tsr_partitioned *partitioned)
{
    GUARD(tsr_partitioned_is_aligned);
    return partitioned->aligned;
}

static int64_t owner(const tsr_partitioned *p, int64_t shard)
{
    return ragged_owner_start(&p->ragged, p->shards, shard);
}

/* Rows of an owned partition. */
static int64_t partition_rows(const tsr_partitioned *p, int64_t index)
{
    int64_t rows = 0;
    for (int64_t s = 0; s < p->shards; s++) {
        rows += p->columns[s * p->owned + index];
    }
    return rows;
}

int64_t partition_stored_rows(const tsr_partitioned *p, int64_t index)
{
    return ceil_div(partition_rows(p, index), p->ragged.alignment) * p->ragged.alignment;
}

int64_t tsr_partitioned_rows(const tsr_partitioned *partitioned, bool aligned)
{
    GUARD(tsr_partitioned_rows);
    const tsr_partitioned *p = partitioned;
    int64_t rows = 0;
    for (int64_t i = 0; !aligned && i < p->ragged.partitions; i++) {
        rows += p->row[i];
    }
    for (int64_t i = 0; aligned && i < p->owned; i++) {
        rows += partition_stored_rows(p, i);
    }
    return rows;
}

tsr_status tsr_partitioned_sharding(const tsr_partitioned *partitioned, bool aligned,
                                    const tsr_sharding **out, int64_t *extent)
{
    GUARD(tsr_partitioned_sharding);
    const tsr_partitioned *p = partitioned;
    const tsr_sharding *bound = p->bound[aligned];
    if (bound == NULL) {
        (void)diag_error(p->world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                         "dim %zu: this needs all counts of %lld partitions over %lld shards, and "
                         "rank %lld has a slice of them: its own row and %lld columns",
                         p->dim, (long long)p->ragged.partitions, (long long)p->shards,
                         (long long)p->world->rank, (long long)p->owned);
        return diag_note(p->world->ctx, NO_LOCATION,
                         "make the placement with TSR_COUNTS_FULL, or use tsr_partitioned_align "
                         "and tsr_partitioned_unalign, for which a slice is enough");
    }
    *out = bound;
    if (extent != NULL) {
        *extent = 0;
        for (int64_t i = 0; i < p->shards * p->ragged.partitions; i++) {
            *extent += bound->dims[p->dim].ragged->counts[i];
        }
    }
    return TSR_OK;
}

static tsr_status check_spec(tsr_comm *world, const tsr_partitioned_spec *spec)
{
    const tsr_sharding *s = spec->sharding;
    if (tsr_mesh_num_devices(s->mesh) != world->size) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the mesh of the placement has %lld devices, the world %lld ranks",
                          (long long)tsr_mesh_num_devices(s->mesh), (long long)world->size);
    }
    if (spec->dim >= s->rank) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu is out of range: the sharding has %zu dimensions", spec->dim,
                          s->rank);
    }
    if (spec->num_partitions < 1) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu: the number of partitions must be at least 1, got: %lld",
                          spec->dim, (long long)spec->num_partitions);
    }
    const int64_t shards = tsr_sharding_num_shards(s, spec->dim);
    if (spec->owner_start != NULL && (int64_t)spec->num_owners != shards + 1) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu: owners of %lld shards are %lld numbers, got: %zu", spec->dim,
                          (long long)shards, (long long)shards + 1, spec->num_owners);
    }
    return TSR_OK;
}

/* The sharding of the spec with these explicit sizes for the dimension. */
static tsr_status with_ragged(const tsr_partitioned *p, const tsr_sharding *s,
                              const tsr_ragged *ragged, const tsr_sharding **out)
{
    tsr_context *ctx = p->world->ctx;
    tsr_dim *dims = arena_copy(p->arena, s->dims, s->rank, sizeof *dims);
    if (dims == NULL) {
        return diag_nomem(ctx);
    }
    dims[p->dim].ragged = ragged;
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = dims,
                                    .num_replicated = s->num_replicated,
                                    .replicated = s->replicated};
    return tsr_sharding_create(ctx, p->arena, &spec, TSR_SHARDING_DEFAULT, out);
}

/* Fills in what is known before counts are communicated. */
static tsr_status prepare(tsr_partitioned *p, const tsr_partitioned_spec *spec, bind_target *to)
{
    const tsr_sharding *own = NULL;
    TSR_TRY(check_spec(p->world, spec));
    TSR_TRY(sharding_copy(p->world->ctx, p->arena, spec->sharding, &own));
    p->dim = spec->dim;
    p->shards = tsr_sharding_num_shards(own, spec->dim);
    p->aligned = spec->aligned;
    p->ragged = (tsr_ragged){.kind = TSR_RAGGED_UNALIGNED,
                             .rows = 1,
                             .partitions = spec->num_partitions,
                             .owner_start = spec->owner_start,
                             .alignment = spec->alignment != 0 ? spec->alignment : 1};
    TSR_TRY(with_ragged(p, own, &p->ragged, &p->sharding));
    p->ragged = *p->sharding->dims[p->dim].ragged;
    *to = (bind_target){.world = p->world,
                        .arena = p->arena,
                        .sharding = p->sharding,
                        .dim = p->dim,
                        .kind = TSR_RAGGED_UNALIGNED,
                        .shards = p->shards,
                        .partitions = spec->num_partitions};
    return amounts_check(to, &spec->splits);
}

/* The shard of this rank. */
static void find_shard(tsr_partitioned *p)
{
    p->shard = p->group->rank;
    p->first = owner(p, p->shard);
    p->owned = owner(p, p->shard + 1) - p->first;
}

/* The row and the columns of this rank, out of all counts. */
static tsr_status cut_slice(tsr_partitioned *p, const int64_t *counts)
{
    const int64_t n = p->ragged.partitions;
    int64_t *columns = ARENA_ARRAY(p->arena, int64_t, (size_t)(p->shards * p->owned));
    p->row = counts + p->shard * n;
    p->columns = columns;
    if (columns == NULL) {
        return diag_nomem(p->world->ctx);
    }
    for (int64_t s = 0; s < p->shards; s++) {
        memcpy(columns + s * p->owned, counts + s * n + p->first,
               (size_t)p->owned * sizeof *columns);
    }
    return TSR_OK;
}

static tsr_status bind_both(tsr_partitioned *p, const int64_t *counts)
{
    for (int aligned = 0; aligned < 2; aligned++) {
        tsr_ragged ragged = p->ragged;
        ragged.kind = aligned ? TSR_RAGGED_ALIGNED : TSR_RAGGED_UNALIGNED;
        ragged.counts = counts;
        TSR_TRY(with_ragged(p, p->sharding, &ragged, &p->bound[aligned]));
    }
    return TSR_OK;
}

/* All counts: gathered, given or derived. */
static tsr_status learn_all(tsr_partitioned *p, const bind_target *to, const tsr_amounts *splits,
                            bool *known_to_all)
{
    const int64_t *counts = NULL;
    TSR_TRY(amounts_fetch(to, splits, &counts, &p->how, known_to_all));
    p->counts_scope = TSR_COUNTS_FULL;
    TSR_TRY(cut_slice(p, counts));
    return bind_both(p, counts);
}

/* The counts of the partitions of each shard: what it is sent, and what this one gets. */
static tsr_status all_to_all_columns(tsr_partitioned *p, const int64_t *row, void *columns)
{
    int64_t *send = ARENA_ARRAY(p->arena, int64_t, (size_t)p->shards);
    int64_t *receive = ARENA_ARRAY(p->arena, int64_t, (size_t)p->shards);
    const int64_t all[] = {p->ragged.partitions};
    const int64_t owned[] = {p->shards * p->owned};
    for (int64_t d = 0; send != NULL && receive != NULL && d < p->shards; d++) {
        send[d] = owner(p, d + 1) - owner(p, d);
        receive[d] = p->owned;
    }
    int64_t *copy = row != NULL ? arena_copy(p->arena, row, (size_t)all[0], sizeof *row) : NULL;
    const bool ready = send != NULL && receive != NULL && copy != NULL && columns != NULL;
    if (!ready) {
        const comm_call what = {.name = "tsr_partitioned_create",
                                .status = diag_nomem(p->world->ctx)};
        return comm_enter(p->group, &what);
    }
    const tsr_view src = {copy, TSR_I64, 1, all, NULL};
    const tsr_view dst = {columns, TSR_I64, 1, owned, NULL};
    p->row = copy;
    p->columns = columns;
    return tsr_comm_all_to_all_v(p->group, &src, 0, send, receive, &dst);
}

/* The row that this rank has and the columns that it will need. */
static tsr_status learn_slice(tsr_partitioned *p, const bind_target *to, const tsr_amounts *splits)
{
    const int64_t *row = NULL;
    size_t count = 0;
    int64_t *columns = ARENA_ARRAY(p->arena, int64_t, (size_t)(p->shards * p->owned) + 1);
    (void)!amounts_own(to, splits, &row, &count);
    TSR_TRY(all_to_all_columns(p, row, columns));
    p->counts_scope = TSR_COUNTS_SLICE;
    buffer buf = buffer_new(p->arena);
    buffer_format(&buf,
                  "C[%lld][%lld]: this shard's own row, and from an all-to-all its columns %lld to "
                  "%lld; the rest is unknown on this rank",
                  (long long)p->shards, (long long)p->ragged.partitions, (long long)p->first,
                  (long long)(p->first + p->owned) - 1);
    return buffer_finish(p->world->ctx, &buf, &p->how);
}

/* Refuses counts whose sums do not fit. */
static tsr_status check_sums(const tsr_partitioned *p)
{
    int64_t sum = 0;
    bool fits = true;
    for (int64_t i = 0; i < p->ragged.partitions; i++) {
        fits = fits && checked_add(sum, p->row[i], &sum);
    }
    sum = 0;
    for (int64_t i = 0; i < p->shards * p->owned; i++) {
        fits = fits && checked_add(sum, p->columns[i], &sum);
    }
    return fits ? TSR_OK
                : diag_error(p->world->ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                             "dim %zu: its counts sum to more than 2^63-1", p->dim);
}

/* Gets the counts; `known_to_all` when a failure is known to every rank. */
static tsr_status learn(tsr_partitioned *p, const bind_target *to, const tsr_partitioned_spec *spec,
                        bool *known_to_all)
{
    const tsr_dim *dim = &p->sharding->dims[p->dim];
    *known_to_all = true;
    TSR_TRY(tsr_comm_along(p->world, p->sharding->mesh, dim->axes, dim->num_axes, &p->group));
    *known_to_all = false;
    find_shard(p);
    const bool partly =
        spec->counts_scope == TSR_COUNTS_SLICE && spec->splits.kind == TSR_AMOUNTS_OWN;
    TSR_TRY(partly ? learn_slice(p, to, &spec->splits)
                   : learn_all(p, to, &spec->splits, known_to_all));
    return check_sums(p);
}

/* Fills in a placement that has its arena. Fails on every rank alike. */
static tsr_status fill_in(tsr_partitioned *p, const tsr_partitioned_spec *spec)
{
    bind_target to = {0};
    bool known_to_all = false;
    tsr_status status = prepare(p, spec, &to);
    if (status == TSR_OK) {
        status = learn(p, &to, spec, &known_to_all);
    }
    if (known_to_all) {
        return status;
    }
    const tsr_sharding *agreed = p->bound[0] != NULL ? p->bound[0] : p->sharding;
    return placement_agree(p->world, "tsr_partitioned_create", status, agreed, NULL);
}

tsr_status tsr_partitioned_create(tsr_comm *world, const tsr_partitioned_spec *spec,
                                  tsr_partitioned **out)
{
    GUARD(tsr_partitioned_create);
    tsr_arena *arena = NULL;
    tsr_status status = tsr_arena_create(world->ctx, &arena);
    tsr_partitioned *p = status == TSR_OK ? ARENA_NEW(arena, tsr_partitioned) : NULL;
    if (p == NULL) {
        const comm_call what = {.name = "tsr_partitioned_create", .status = diag_nomem(world->ctx)};
        tsr_arena_destroy(arena);
        return comm_enter(world, &what);
    }
    *p = (tsr_partitioned){.world = world, .arena = arena};
    status = fill_in(p, spec);
    if (status < 0) {
        tsr_arena_destroy(arena);
        return status;
    }
    *out = p;
    return TSR_OK;
}
