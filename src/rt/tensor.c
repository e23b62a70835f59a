#include "rt/tensor.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/map.h"
#include "kernel/copy.h"

bool tensor_is_shared(const tsr_tensor *tensor)
{
    return tensor->row_major && (tensor->bytes > 0 || tensor->world->team->threads);
}

int64_t stored_strides(const tsr_geometry *geometry, int64_t device, tsr_dtype dtype,
                       int64_t *strides)
{
    int64_t stride = tsr_dtype_item_bytes(dtype);
    (void)tsr_geometry_stored_size(geometry, device, strides);
    for (size_t i = geometry->rank; i-- > 0;) {
        const int64_t size = strides[i];
        strides[i] = stride;
        stride *= size;
    }
    return stride;
}

static tsr_status check_spec(tsr_comm *world, const tsr_tensor_spec *spec)
{
    TSR_TRY(comm_check_world(world));
    if (spec->rank > KERNEL_MAX_RANK) {
        return diag_error(world->ctx, TSR_ERR_LIMIT, NO_PLACE,
                          "a tensor can have %d dimensions, got: %zu", KERNEL_MAX_RANK, spec->rank);
    }
    const tsr_mesh *mesh = tsr_sharding_mesh(spec->sharding);
    if (tsr_mesh_num_devices(mesh) != world->size || tsr_mesh_place_of(mesh, world->rank) < 0) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_PLACE,
                          "the mesh of the sharding has %lld devices, the world %lld ranks",
                          (long long)tsr_mesh_num_devices(mesh), (long long)world->size);
    }
    return TSR_OK;
}

tsr_status sharding_copy(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                         const tsr_sharding **out)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
    const tsr_mesh *kept = NULL;
    TSR_TRY(tsr_mesh_rename(ctx, arena, mesh, tsr_mesh_name(mesh), &kept));
    tsr_sharding_spec spec = {.mesh = kept,
                              .rank = tsr_sharding_rank(sharding),
                              .dims = sharding->dims,
                              .reduction = tsr_sharding_reduction(sharding)};
    spec.replicated = tsr_sharding_replicated(sharding, &spec.num_replicated);
    spec.unreduced = tsr_sharding_unreduced(sharding, &spec.num_unreduced);
    return tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_DEFAULT, out);
}

/* Whether the storage has rows that are no part of the tensor: those are zero. */
static bool has_padding(const tsr_tensor *t)
{
    int64_t start[KERNEL_MAX_RANK];
    int64_t size[KERNEL_MAX_RANK];
    (void)tsr_geometry_box(t->geometry, t->world->rank, start, size);
    for (size_t i = 0; i < t->geometry->rank; i++) {
        if (size[i] != t->local_shape[i]) {
            return true;
        }
    }
    return false;
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
static tsr_status check_bytes(const tsr_tensor *t)
{
    const tsr_geometry *g = t->geometry;
    if (has_strides(g->shape, g->rank, t->dtype) &&
        has_strides(t->local_shape, g->rank, t->dtype)) {
        return TSR_OK;
    }
    return diag_error(t->world->ctx, TSR_ERR_OVERFLOW, NO_PLACE,
                      "the tensor has more than 2^63-1 bytes");
}

/* Fills in a tensor that has its arena; on failure the caller destroys that. */
static tsr_status fill_in(tsr_tensor *t, const tsr_tensor_spec *spec, void *data,
                          const int64_t *strides)
{
    tsr_context *ctx = t->world->ctx;
    const tsr_sharding *sharding = NULL;
    TSR_TRY(sharding_copy(ctx, t->arena, spec->sharding, &sharding));
    TSR_TRY(tsr_geometry_create(ctx, t->arena, sharding, spec->rank, spec->shape, &t->geometry));
    int64_t *own = ARENA_ARRAY(t->arena, int64_t, spec->rank);
    t->local_shape = ARENA_ARRAY(t->arena, int64_t, spec->rank);
    t->strides = own;
    if (own == NULL || t->local_shape == NULL) {
        return diag_nomem(ctx);
    }
    (void)tsr_geometry_stored_size(t->geometry, t->world->rank, t->local_shape);
    TSR_TRY(check_bytes(t));
    const int64_t bytes = stored_strides(t->geometry, t->world->rank, spec->dtype, own);
    t->row_major = strides == NULL || memcmp(strides, own, spec->rank * sizeof *own) == 0;
    if (!t->row_major) {
        memcpy(own, strides, spec->rank * sizeof *own);
    }
    if (data != NULL) {
        t->data = data;
        return TSR_OK;
    }
    t->bytes = bytes > 0 ? (size_t)bytes : 1;
    t->data = segment_alloc(t->world->own, t->bytes);
    if (t->data == NULL) {
        return TSR_ERR_NOMEM;
    }
    if (has_padding(t)) {
        memset(t->data, 0, t->bytes);
    }
    return TSR_OK;
}

tsr_status tensor_make(tsr_comm *world, const tsr_tensor_spec *spec, void *data,
                       const int64_t *strides, tsr_tensor **out)
{
    TSR_TRY(check_spec(world, spec));
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(world->ctx, &arena));
    tsr_tensor *t = ARENA_NEW(arena, tsr_tensor);
    if (t == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(world->ctx);
    }
    *t = (tsr_tensor){.world = world, .arena = arena, .references = 1, .dtype = spec->dtype};
    const tsr_status status = fill_in(t, spec, data, strides);
    if (status < 0) {
        tsr_arena_destroy(arena);
        return status;
    }
    *out = t;
    return TSR_OK;
}

/* What tells one call to make a tensor from another. */
static uint64_t spec_hash(const tsr_tensor_spec *spec, uint64_t seed)
{
    uint64_t hash = hash_bytes(&spec->dtype, sizeof spec->dtype, seed);
    return hash_bytes(spec->shape, spec->rank * sizeof *spec->shape, hash);
}

/* A tensor over the caller's memory, which is there unless the part is empty. */
static tsr_status wrap_part(tsr_comm *world, const tsr_tensor_spec *spec, void *data,
                            const int64_t *strides, tsr_tensor **out)
{
    static char nothing[1];
    TSR_TRY(tensor_make(world, spec, data != NULL ? data : nothing, strides, out));
    if (data == NULL && tensor_elements(*out) > 0) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_PLACE,
                          "rank %lld has no memory for its part of %lld elements",
                          (long long)world->rank, (long long)tensor_elements(*out));
    }
    return TSR_OK;
}

/* Agrees with the others that all of them could make a tensor. */
static tsr_status agree(tsr_comm *world, const char *name, const tsr_tensor_spec *spec,
                        tsr_status made, tsr_tensor *t, tsr_tensor **out)
{
    const call what = {.name = name, .hash = spec_hash(spec, 2), .status = made};
    const tsr_status agreed = comm_enter(world, &what);
    if (agreed < 0) {
        tsr_tensor_release(t);
        return agreed;
    }
    *out = t;
    return TSR_OK;
}

tsr_status tsr_tensor_create(tsr_comm *world, const tsr_tensor_spec *spec, tsr_tensor **out)
{
    tsr_tensor *fresh = NULL;
    const tsr_status made = tensor_make(world, spec, NULL, NULL, &fresh);
    TSR_TRY(agree(world, "tsr_tensor_create", spec, made, fresh, &fresh));
    if (fresh != NULL) {
        memset(fresh->data, 0, fresh->bytes);
    }
    *out = fresh;
    return TSR_OK;
}

tsr_status tsr_tensor_wrap(tsr_comm *world, const tsr_tensor_spec *spec, void *data,
                           const int64_t *strides, tsr_tensor **out)
{
    tsr_tensor *t = NULL;
    const tsr_status made = wrap_part(world, spec, data, strides, &t);
    return agree(world, "tsr_tensor_wrap", spec, made, t, out);
}

int64_t tensor_elements(const tsr_tensor *tensor)
{
    int64_t elements = 1;
    for (size_t i = 0; i < tensor->geometry->rank; i++) {
        elements *= tensor->local_shape[i];
    }
    return elements;
}

void tensor_span(const tsr_tensor *tensor, uintptr_t *low, uintptr_t *high)
{
    *low = (uintptr_t)tensor->data;
    *high = *low;
    if (tensor_elements(tensor) == 0) {
        return;
    }
    for (size_t i = 0; i < tensor->geometry->rank; i++) {
        const int64_t reach = (tensor->local_shape[i] - 1) * tensor->strides[i];
        *low += reach < 0 ? (uintptr_t)reach : 0;
        *high += reach > 0 ? (uintptr_t)reach : 0;
    }
    *high += (uintptr_t)tsr_dtype_item_bytes(tensor->dtype);
}

void tsr_tensor_release(tsr_tensor *tensor)
{
    if (tensor == NULL || --tensor->references > 0) {
        return;
    }
    void (*const on_release)(void *) = tensor->on_release;
    void *state = tensor->release_state;
    if (tensor->bytes > 0 && on_release == NULL) {
        segment_free(tensor->world->own, tensor->data, tensor->bytes);
    }
    tsr_arena_destroy(tensor->arena);
    if (on_release != NULL) {
        on_release(state);
    }
}

tsr_tensor *tsr_tensor_retain(tsr_tensor *tensor)
{
    tensor->references++;
    return tensor;
}

const tsr_sharding *tsr_tensor_sharding(const tsr_tensor *tensor)
{
    return tensor->geometry->sharding;
}

const tsr_geometry *tsr_tensor_geometry(const tsr_tensor *tensor)
{
    return tensor->geometry;
}

tsr_dtype tsr_tensor_dtype(const tsr_tensor *tensor)
{
    return tensor->dtype;
}

size_t tsr_tensor_rank(const tsr_tensor *tensor)
{
    return tensor->geometry->rank;
}

void *tsr_tensor_data(const tsr_tensor *tensor)
{
    return tensor->data;
}

const int64_t *tsr_tensor_local_shape(const tsr_tensor *tensor)
{
    return tensor->local_shape;
}

const int64_t *tsr_tensor_strides(const tsr_tensor *tensor)
{
    return tensor->strides;
}

/* A walk over the elements of this rank's part. */
typedef struct walk {
    const tsr_tensor *tensor;
    tsr_element_function function;
    void *state;
    int64_t *index;
} walk;

/* Walks dimension `dim` and those behind it, from `data` on. */
static void walk_dim(const walk *w, size_t dim, char *data)
{
    const tsr_geometry *g = w->tensor->geometry;
    if (dim == g->rank) {
        w->function(w->index, data, w->state);
        return;
    }
    const dim_geometry *of = &g->dims[dim];
    const int64_t place = tsr_mesh_place_of(g->sharding->mesh, w->tensor->world->rank);
    const int64_t shard = places_index(&of->along, place);
    int64_t at = 0;
    int64_t local = 0;
    int64_t where;
    tsr_interval piece;
    while (dim_next_stored(of, shard, &at, &local, &piece, &where)) {
        for (int64_t i = 0; i < piece.size; i++) {
            w->index[dim] = piece.start + i;
            walk_dim(w, dim + 1, data + (where + i) * w->tensor->strides[dim]);
        }
    }
}

void tsr_tensor_visit(const tsr_tensor *tensor, tsr_element_function function, void *state)
{
    int64_t index[KERNEL_MAX_RANK];
    const walk w = {tensor, function, state, index};
    walk_dim(&w, 0, tensor->data);
}

void tsr_tensor_fill(tsr_tensor *tensor, tsr_element_function function, void *state)
{
    tsr_tensor_visit(tensor, function, state);
}
