/* Binding sizes and counts: check them, gather them, build the bound sharding. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/diag.h"
#include "base/guard.h"
#include "rt/placement.h"
#include "rt/symbols.h"

/* The number of amounts that this rank passes. */
static int64_t amounts_count(const tsr_amounts *amounts)
{
    if (amounts->tensor == NULL) {
        return (int64_t)amounts->count;
    }
    const tsr_tensor *t = amounts->tensor;
    const bool own = amounts->kind == TSR_AMOUNTS_OWN;
    int64_t count = 1;
    for (size_t i = 0; i < t->geometry->rank; i++) {
        count *= own ? t->local_shape[i] : t->geometry->shape[i];
    }
    return count;
}

static tsr_status check_source(const bind_target *to, const tsr_amounts *amounts)
{
    tsr_context *ctx = to->world->ctx;
    if (amounts->kind == TSR_AMOUNTS_TOTALS && to->kind == TSR_RAGGED_DYNAMIC) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu: totals belong to partitions, but a dynamic dimension has none",
                          to->dim);
    }
    if (amounts->tensor == NULL && amounts->values == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu: its sizes or counts are unbound and none are given", to->dim);
    }
    if (amounts->tensor == NULL) {
        return TSR_OK;
    }
    if (amounts->tensor->dtype != TSR_I64) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu: sizes and counts must be i64 tensors, got: %s", to->dim,
                          tsr_dtype_name(amounts->tensor->dtype));
    }
    const size_t rank = amounts->tensor->geometry->rank;
    const bool table = amounts->kind == TSR_AMOUNTS_ALL && to->kind != TSR_RAGGED_DYNAMIC;
    if (amounts->kind != TSR_AMOUNTS_OWN && rank != (table ? 2U : 1U)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu: a tensor of %s must have rank %d, got: %zu", to->dim,
                          table ? "all counts" : "sizes or totals", table ? 2 : 1, rank);
    }
    return TSR_OK;
}

static tsr_status check_sizes(const bind_target *to, const tsr_amounts *amounts, int64_t count)
{
    tsr_context *ctx = to->world->ctx;
    if (amounts->kind == TSR_AMOUNTS_OWN && count != 1) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu: the size of one shard must be 1 number, got: %lld", to->dim,
                          (long long)count);
    }
    if (amounts->kind == TSR_AMOUNTS_ALL && count != to->shards) {
        return diag_error(
            ctx, TSR_ERR_INVALID, NO_LOCATION,
            "dim %zu: a dynamic dimension over %lld shards needs %lld sizes, got: %lld", to->dim,
            (long long)to->shards, (long long)to->shards, (long long)count);
    }
    return TSR_OK;
}

static tsr_status check_counts(bind_target *to, const tsr_amounts *amounts, int64_t count)
{
    tsr_context *ctx = to->world->ctx;
    const int64_t rows = amounts->kind == TSR_AMOUNTS_ALL ? to->shards : 1;
    const tsr_tensor *t = amounts->kind == TSR_AMOUNTS_ALL ? amounts->tensor : NULL;
    if (to->partitions == 0) {
        to->partitions = t != NULL ? t->geometry->shape[1] : count / rows;
    }
    int64_t needed = 0;
    if (to->partitions < 1) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu: the number of partitions must be at least 1, got: %lld",
                          to->dim, (long long)to->partitions);
    }
    if (!checked_mul(rows, to->partitions, &needed) || count != needed ||
        (t != NULL && t->geometry->shape[1] != to->partitions)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu: %s of %lld partitions over %lld shards are %lld numbers, got: "
                          "%lld",
                          to->dim,
                          amounts->kind == TSR_AMOUNTS_TOTALS ? "totals"
                          : amounts->kind == TSR_AMOUNTS_OWN  ? "one shard's counts"
                                                              : "counts",
                          (long long)to->partitions, (long long)to->shards, (long long)needed,
                          (long long)count);
    }
    return TSR_OK;
}

/* The rank that has a negative number refuses it before it is sent. */
static tsr_status check_not_negative(const bind_target *to, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i] < 0) {
            return diag_error(to->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "dim %zu: explicit size %zu is negative: %lld", to->dim, i,
                              (long long)values[i]);
        }
    }
    return TSR_OK;
}

tsr_status amounts_check(bind_target *to, const tsr_amounts *amounts)
{
    TSR_TRY(check_source(to, amounts));
    const int64_t count = amounts_count(amounts);
    TSR_TRY(to->kind == TSR_RAGGED_DYNAMIC ? check_sizes(to, amounts, count)
                                           : check_counts(to, amounts, count));
    const int64_t *values = NULL;
    size_t number = 0;
    if (amounts->tensor != NULL && amounts->kind != TSR_AMOUNTS_OWN) {
        return TSR_OK;
    }
    TSR_TRY(amounts_own(to, amounts, &values, &number));
    return check_not_negative(to, values, number);
}

/* Where elements are appended. */
typedef struct collecting {
    int64_t *values;
    size_t count;
} collecting;

static void collect(const int64_t *index, void *element, void *state)
{
    collecting *c = state;
    (void)index;
    memcpy(&c->values[c->count++], element, sizeof *c->values);
}

tsr_status amounts_own(const bind_target *to, const tsr_amounts *amounts, const int64_t **out,
                       size_t *count)
{
    if (amounts->tensor == NULL) {
        *out = amounts->values;
        *count = amounts->count;
        return TSR_OK;
    }
    collecting c = {ARENA_ARRAY(to->arena, int64_t, (size_t)amounts_count(amounts)), 0};
    if (c.values == NULL) {
        return diag_nomem(to->world->ctx);
    }
    tsr_tensor_visit(amounts->tensor, collect, &c);
    *out = c.values;
    *count = c.count;
    return TSR_OK;
}

/* The numbers of each shard: 1, or N. */
static int64_t row_length(const bind_target *to)
{
    return to->kind == TSR_RAGGED_DYNAMIC ? 1 : to->partitions;
}

/* This shard's row from each rank along the axes. */
static tsr_status gather_rows(const bind_target *to, const tsr_amounts *amounts, void *all,
                              bool *known_to_all)
{
    const int64_t length = row_length(to);
    const tsr_dim *dim = &to->sharding->dims[to->dim];
    const int64_t *own = NULL;
    size_t count = 0;
    tsr_comm *group = NULL;
    *known_to_all = true;
    TSR_TRY(tsr_comm_along(to->world, to->sharding->mesh, dim->axes, dim->num_axes, &group));
    *known_to_all = false;
    const tsr_status status = amounts_own(to, amounts, &own, &count);
    int64_t *copy = status < 0 ? NULL : arena_copy(to->arena, own, count, sizeof *own);
    const int64_t one[] = {length};
    const int64_t whole[] = {length * group->size};
    const tsr_view src = {copy, TSR_I64, 1, one, NULL};
    const tsr_view dst = {all, TSR_I64, 1, whole, NULL};
    return tsr_comm_all_gather(group, &src, 0, &dst);
}

/* Each partition's total in even chunks over the shards. */
static void cut_totals(const bind_target *to, const int64_t *totals, int64_t *counts)
{
    for (int64_t p = 0; p < to->partitions; p++) {
        const int64_t chunk = ceil_div(totals[p], to->shards);
        int64_t left = totals[p];
        for (int64_t s = 0; s < to->shards; s++) {
            counts[s * to->partitions + p] = min_i64(chunk, left);
            left -= min_i64(chunk, left);
        }
    }
}

/* The elements of a tensor of all numbers, wherever they are. */
static tsr_status gather_tensor(tsr_tensor *tensor, int64_t *all, bool *known_to_all)
{
    *known_to_all = true;
    TSR_TRY(tsr_tensor_to_full(tensor, -1, all));
    *known_to_all = false;
    return TSR_OK;
}

static tsr_status say_how(const bind_target *to, const tsr_amounts *amounts, const char **out)
{
    const long long shards = (long long)to->shards;
    const long long length = (long long)row_length(to);
    const char *what = amounts->tensor != NULL ? "an i64 tensor" : "an array";
    buffer buf = buffer_new(to->arena);
    if (to->kind == TSR_RAGGED_DYNAMIC) {
        buffer_format(&buf, "sizes[%lld]: ", shards);
    } else {
        buffer_format(&buf, "C[%lld][%lld]: ", shards, length);
    }
    switch (amounts->kind) {
    case TSR_AMOUNTS_ALL:
        buffer_format(&buf, "given for all shards by %s", what);
        break;
    case TSR_AMOUNTS_OWN:
        buffer_format(&buf,
                      "each shard's own %s by %s, all-gathered: %lld from each of %lld shards",
                      to->kind == TSR_RAGGED_DYNAMIC ? "size" : "row", what, length, shards);
        break;
    default:
        buffer_format(&buf,
                      "totals of the partitions by %s, each cut over %lld shards in chunks of "
                      "ceil(total / %lld)",
                      what, shards, shards);
        break;
    }
    return buffer_finish(to->world->ctx, &buf, out);
}

/* The numbers as they were given, before totals are cut. */
static tsr_status fetch_given(const bind_target *to, const tsr_amounts *amounts, int64_t *all,
                              bool *known_to_all)
{
    if (amounts->kind == TSR_AMOUNTS_OWN) {
        return gather_rows(to, amounts, all, known_to_all);
    }
    if (amounts->tensor != NULL) {
        TSR_TRY(gather_tensor(amounts->tensor, all, known_to_all));
        return check_not_negative(to, all, (size_t)amounts_count(amounts));
    }
    memcpy(all, amounts->values, amounts->count * sizeof *all);
    return TSR_OK;
}

tsr_status amounts_fetch(const bind_target *to, const tsr_amounts *amounts, const int64_t **out,
                         const char **how, bool *known_to_all)
{
    const size_t count = (size_t)(to->shards * row_length(to));
    int64_t *all = ARENA_ARRAY(to->arena, int64_t, count);
    int64_t *cut = ARENA_ARRAY(to->arena, int64_t, count);
    *known_to_all = false;
    if (all == NULL || cut == NULL) {
        return diag_nomem(to->world->ctx);
    }
    TSR_TRY(fetch_given(to, amounts, all, known_to_all));
    if (amounts->kind == TSR_AMOUNTS_TOTALS) {
        cut_totals(to, all, cut);
    }
    *out = amounts->kind == TSR_AMOUNTS_TOTALS ? cut : all;
    return how != NULL ? say_how(to, amounts, how) : TSR_OK;
}

/* What is to be bound, or why nothing can be. */
static tsr_status find_target(tsr_comm *world, tsr_arena *arena, const tsr_placement *placement,
                              bind_target *out)
{
    const tsr_sharding *s = placement->sharding;
    const size_t dim = sharding_unbound_dim(s, 0);
    if (dim == s->rank) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "no dimension of the placement is unbound: remove the amounts");
    }
    if (placement->amounts == NULL) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "dim %zu: its sizes or counts are unbound and none are given", dim);
    }
    if (tsr_mesh_num_devices(s->mesh) != world->size) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the mesh of the placement has %lld devices, the world %lld ranks",
                          (long long)tsr_mesh_num_devices(s->mesh), (long long)world->size);
    }
    const tsr_ragged *ragged = s->dims[dim].ragged;
    *out = (bind_target){.world = world,
                         .arena = arena,
                         .sharding = s,
                         .dim = dim,
                         .kind = ragged->kind,
                         .shards = tsr_sharding_num_shards(s, dim),
                         .partitions = ragged->partitions};
    return amounts_check(out, placement->amounts);
}

/* The sharding with these numbers, which must be those of the extent. */
static tsr_status bind_numbers(const bind_target *to, const int64_t *numbers, int64_t extent,
                               const tsr_sharding **out)
{
    const bool dynamic = to->kind == TSR_RAGGED_DYNAMIC;
    const tsr_ragged ragged = {.kind = to->kind,
                               .rows = to->sharding->dims[to->dim].ragged->rows,
                               .partitions = dynamic ? 0 : to->partitions,
                               .sizes = dynamic ? numbers : NULL,
                               .counts = dynamic ? NULL : numbers,
                               .alignment = 1};
    tsr_context *ctx = to->world->ctx;
    TSR_TRY(tsr_sharding_bind(ctx, to->arena, to->sharding, to->dim, &ragged, out));
    return ragged_check_extent(ctx, NO_LOCATION, "", to->dim, (*out)->dims[to->dim].ragged,
                               to->shards, extent);
}

tsr_status placement_bind(tsr_comm *world, const char *name, tsr_arena *arena,
                          const tsr_placement *placement, int64_t extent, const tsr_sharding **out,
                          const char **how)
{
    bind_target to = {0};
    const int64_t *numbers = NULL;
    const char *text = NULL;
    const tsr_sharding *bound = NULL;
    bool known_to_all = false;
    tsr_status status = find_target(world, arena, placement, &to);
    if (status == TSR_OK) {
        status = amounts_fetch(&to, placement->amounts, &numbers, &text, &known_to_all);
    }
    if (known_to_all) {
        return status;
    }
    if (status == TSR_OK) {
        status = bind_numbers(&to, numbers, extent, &bound);
    }
    TSR_TRY(placement_agree(world, name, status, bound, NULL));
    *out = bound;
    if (how != NULL) {
        *how = text;
    }
    return TSR_OK;
}

tsr_status placement_resolve(tsr_comm *world, const char *name, tsr_arena *arena,
                             const tsr_placement *to, const int64_t *shape,
                             const tsr_sharding **out, bool *known_to_all)
{
    const tsr_sharding *s = to->sharding;
    *known_to_all = false;
    if (to->amounts == NULL) {
        TSR_TRY(symbols_resolve(world, arena, s, &s));
    }
    const size_t dim = sharding_unbound_dim(s, 0);
    const bool is_bound = dim == s->rank || world->team->abstract;
    if (to->amounts == NULL && is_bound) {
        *out = s;
        return TSR_OK;
    }
    const tsr_placement rest = {s, to->amounts};
    const int64_t extent = dim < s->rank ? shape[dim] : TSR_UNKNOWN;
    const tsr_status status = placement_bind(world, name, arena, &rest, extent, out, NULL);
    *known_to_all = status < 0;
    return status;
}

tsr_status tsr_placement_bind(tsr_comm *world, tsr_arena *arena, const tsr_placement *placement,
                              int64_t extent, const tsr_sharding **out, const char **how)
{
    GUARD(tsr_placement_bind);
    return placement_bind(world, "tsr_placement_bind", arena, placement, extent, out, how);
}
