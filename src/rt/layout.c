#include "rt/layout.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/map.h"
#include "kernel/copy.h"
#include "rt/symbols.h"
#include "rt/tensor.h"

static uint64_t hash_of(const tsr_tensor_spec *spec, const int64_t *strides)
{
    uint64_t hash = sharding_hash(spec->sharding, (uint64_t)spec->dtype);
    hash = hash_bytes(spec->shape, spec->rank * sizeof *spec->shape, hash);
    return strides != NULL ? hash_bytes(strides, spec->rank * sizeof *strides, hash) : hash;
}

static bool is_of(const tensor_layout *l, const tsr_tensor_spec *spec, const int64_t *strides)
{
    const size_t bytes = spec->rank * sizeof *spec->shape;
    return l->plain == NULL && l->dtype == spec->dtype && l->geometry->rank == spec->rank &&
           (bytes == 0 || memcmp(l->geometry->shape, spec->shape, bytes) == 0) &&
           (strides == NULL ? l->row_major : memcmp(l->strides, strides, bytes) == 0) &&
           tsr_sharding_equal(l->geometry->sharding, spec->sharding);
}

/* Whether the strides of a shape can be counted; for them an extent of 0 is one of 1. */
static bool has_strides(const int64_t *shape, size_t rank, tsr_dtype dtype)
{
    int64_t bytes = tsr_dtype_item_bytes(dtype);
    bool fits = true;
    for (size_t i = 0; fits && i < rank; i++) {
        fits = checked_mul(bytes, max_i64(shape[i], 1), &bytes);
    }
    return fits;
}

/* Both the whole tensor and what this rank stores of it must be countable in bytes. */
static tsr_status check_bytes(tsr_context *ctx, const tensor_layout *l)
{
    const tsr_geometry *g = l->geometry;
    if (has_strides(g->shape, g->rank, l->dtype) &&
        has_strides(l->local_shape, g->rank, l->dtype)) {
        return TSR_OK;
    }
    return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION, "the tensor has more than 2^63-1 bytes");
}

/* Whether the storage has padding rows; those are zero. */
static bool has_padding(const int64_t *box, const int64_t *stored, size_t rank)
{
    return rank > 0 && memcmp(box, stored, rank * sizeof *box) != 0;
}

/* Fills in a layout that has its arena; on failure the caller destroys that. */
static tsr_status fill_in(tsr_comm *world, tensor_layout *l, const tsr_tensor_spec *spec,
                          const int64_t *strides)
{
    const tsr_sharding *sharding = NULL;
    int64_t size[KERNEL_MAX_RANK];
    TSR_TRY(sharding_copy(world->ctx, l->arena, spec->sharding, &sharding));
    TSR_TRY(geometry_create(world->ctx, l->arena, sharding, spec->rank, spec->shape,
                            world->team->abstract, &l->geometry));
    int64_t *numbers = ARENA_ARRAY(l->arena, int64_t, 3 * spec->rank);
    if (numbers == NULL) {
        return diag_nomem(world->ctx);
    }
    int64_t *local_shape = numbers + spec->rank;
    int64_t *own = numbers + 2 * spec->rank;
    l->start = numbers;
    l->local_shape = local_shape;
    l->strides = own;
    (void)tsr_geometry_box(l->geometry, world->rank, numbers, size);
    (void)tsr_geometry_stored_size(l->geometry, world->rank, local_shape);
    TSR_TRY(check_bytes(world->ctx, l));
    const int64_t bytes = stored_strides(l->geometry, world->rank, spec->dtype, own);
    const bool known = geometry_is_bound(l->geometry);
    l->bytes = known && bytes > 0 ? (size_t)bytes : 1;
    l->elements = known ? bytes / tsr_dtype_item_bytes(spec->dtype) : TSR_UNKNOWN;
    l->padded = has_padding(size, local_shape, spec->rank);
    l->row_major = strides == NULL || memcmp(strides, own, spec->rank * sizeof *own) == 0;
    if (!l->row_major) {
        memcpy(own, strides, spec->rank * sizeof *own);
    }
    return TSR_OK;
}

static tsr_status make(tsr_comm *world, const tsr_tensor_spec *spec, const int64_t *strides,
                       tensor_layout **out)
{
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(world->ctx, &arena));
    tensor_layout *l = ARENA_NEW(arena, tensor_layout);
    if (l == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(world->ctx);
    }
    *l = (tensor_layout){
        .arena = arena, .references = 1, .dtype = spec->dtype, .pending = spec->dtype};
    const tsr_status status = fill_in(world, l, spec, strides);
    if (status < 0) {
        tsr_arena_destroy(arena);
        return status;
    }
    *out = l;
    return TSR_OK;
}

/* The layout of a spec without symbols that are bound. */
static tsr_status find(tsr_comm *world, const tsr_tensor_spec *spec, const int64_t *strides,
                       tensor_layout **out)
{
    const uint64_t hash = hash_of(spec, strides);
    tensor_layout **bucket = &world->state->layouts.buckets[hash % LAYOUT_BUCKETS];
    for (tensor_layout *l = *bucket; l != NULL; l = l->next) {
        if (l->hash == hash && is_of(l, spec, strides)) {
            *out = layout_retain(&world->state->layouts, l);
            return TSR_OK;
        }
    }
    TSR_TRY(make(world, spec, strides, out));
    (*out)->hash = hash;
    (*out)->next = *bucket;
    *bucket = *out;
    return TSR_OK;
}

tsr_status layout_get(tsr_comm *world, const tsr_tensor_spec *spec, const int64_t *strides,
                      tensor_layout **out)
{
    if (world->state->symbols == NULL ||
        sharding_unbound_dim(spec->sharding, 0) == spec->sharding->rank) {
        return find(world, spec, strides, out);
    }
    tsr_arena *scratch = NULL;
    tsr_tensor_spec bound = *spec;
    TSR_TRY(tsr_arena_create(world->ctx, &scratch));
    tsr_status status = symbols_resolve(world, scratch, spec->sharding, &bound.sharding);
    status = status == TSR_OK ? find(world, &bound, strides, out) : status;
    tsr_arena_destroy(scratch);
    return status;
}

/* Shares what describes the parts with the plain layout, which lives as long. */
static tsr_status make_pending(tsr_comm *world, tensor_layout *plain, tsr_dtype pending,
                               tensor_layout **out)
{
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(world->ctx, &arena));
    tensor_layout *l = ARENA_NEW(arena, tensor_layout);
    if (l == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(world->ctx);
    }
    *l = *plain;
    l->arena = arena;
    l->references = 1;
    l->pending = pending;
    l->plain = layout_retain(&world->state->layouts, plain);
    *out = l;
    return TSR_OK;
}

tsr_status layout_get_pending(tsr_comm *world, tensor_layout *plain, tsr_dtype pending,
                              tensor_layout **out)
{
    tensor_layout **bucket = &world->state->layouts.buckets[plain->hash % LAYOUT_BUCKETS];
    for (tensor_layout *l = *bucket; l != NULL; l = l->next) {
        if (l->plain == plain && l->pending == pending) {
            *out = layout_retain(&world->state->layouts, l);
            return TSR_OK;
        }
    }
    TSR_TRY(make_pending(world, plain, pending, out));
    (*out)->next = *bucket;
    *bucket = *out;
    return TSR_OK;
}

tensor_layout *layout_retain(layout_table *table, tensor_layout *layout)
{
    table->unused -= layout->references == 0;
    layout->references++;
    return layout;
}

/* Frees layouts that no tensor has, or all: those with a plain one, or the plain ones. */
static void drop_some(layout_table *table, bool all, bool plain)
{
    for (size_t i = 0; i < LAYOUT_BUCKETS; i++) {
        for (tensor_layout **link = &table->buckets[i]; *link != NULL;) {
            tensor_layout *l = *link;
            if ((l->plain == NULL) == plain && (all || l->references == 0)) {
                *link = l->next;
                if (l->plain != NULL) {
                    l->plain->references--;
                }
                tsr_arena_destroy(l->arena);
            } else {
                link = &l->next;
            }
        }
    }
}

static void drop(layout_table *table, bool all)
{
    drop_some(table, all, false);
    drop_some(table, all, true);
    table->unused = 0;
}

void layout_release(layout_table *table, tensor_layout *layout)
{
    layout->references--;
    table->unused += layout->references == 0;
    if (table->unused > LAYOUT_MAX_UNUSED) {
        drop(table, false);
    }
}

void layout_table_clear(layout_table *table)
{
    drop(table, true);
}
