/* Tensors from full arrays and back. */
#include <string.h>

#include <tessera/collective.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "kernel/copy.h"
#include "rt/box_walk.h"
#include "rt/tensor.h"

void full_strides(const tsr_geometry *geometry, tsr_dtype dtype, bool column_major,
                  int64_t *strides)
{
    int64_t stride = tsr_dtype_item_bytes(dtype);
    for (size_t i = 0; i < geometry->rank; i++) {
        const size_t dim = column_major ? i : geometry->rank - 1 - i;
        strides[dim] = stride;
        stride *= geometry->shape[dim];
    }
}

int64_t copy_part(const tsr_tensor *t, int64_t rank, const void *full, const int64_t *strides,
                  char *part)
{
    const tsr_geometry *g = t->geometry;
    const size_t item = (size_t)tsr_dtype_item_bytes(t->dtype);
    int64_t part_strides[KERNEL_MAX_RANK];
    int64_t bytes = 0;
    box_walk w;
    (void)stored_strides(g, rank, t->dtype, part_strides);
    for (bool more = box_walk_first(&w, g, rank, false); more; more = box_walk_next(&w)) {
        const char *src = full;
        int64_t box_bytes = (int64_t)item;
        for (size_t i = 0; i < g->rank; i++) {
            src += w.start[i] * strides[i];
            box_bytes *= w.size[i];
        }
        kernel_copy(part + box_walk_offset(&w, part_strides), part_strides, src, strides, w.size,
                    g->rank, item, false);
        bytes += box_bytes;
    }
    return bytes;
}

static tsr_status check_root(tsr_comm *world, int64_t root, const void *full)
{
    if (root < -1 || root >= world->size) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "root must be a rank from 0 to %lld, or -1 for all, got: %lld",
                          (long long)world->size - 1, (long long)root);
    }
    if (full == NULL && (root == -1 || root == world->rank)) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "this rank is a root, but its array is NULL");
    }
    return TSR_OK;
}

static tsr_status check_not_pending(tsr_comm *world, const tsr_sharding *sharding)
{
    if (sharding->num_unreduced == 0) {
        return TSR_OK;
    }
    return diag_error(world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                      "a tensor from a full array cannot have a pending reduction");
}

/* The layout in which one rank has all rows of the first dimension. */
static tsr_status sharding_of_root(tsr_comm *world, tsr_arena *arena, const tsr_geometry *g,
                                   int64_t root, const tsr_sharding **out)
{
    const char *const name = "rank";
    const tsr_mesh_spec spec = {.num_axes = 1, .axis_names = &name, .axis_sizes = &world->size};
    const tsr_mesh *mesh = NULL;
    TSR_TRY(tsr_mesh_create(world->ctx, arena, &spec, &mesh));
    int64_t *sizes = ARENA_ARRAY(arena, int64_t, (size_t)world->size);
    tsr_dim *dims = ARENA_ARRAY(arena, tsr_dim, g->rank);
    if (sizes == NULL || dims == NULL) {
        return diag_nomem(world->ctx);
    }
    for (int64_t i = 0; i < world->size; i++) {
        sizes[i] = i == root ? g->shape[0] : 0;
    }
    const tsr_axis_ref axis = tsr_axis_full(mesh, 0);
    const tsr_ragged ragged = {.kind = TSR_RAGGED_DYNAMIC, .rows = 1, .sizes = sizes};
    for (size_t i = 0; i < g->rank; i++) {
        dims[i] = tsr_dim_closed(i == 0 ? &axis : NULL, i == 0 ? 1 : 0);
    }
    dims[0].ragged = &ragged;
    const tsr_sharding_spec all = {.mesh = mesh, .rank = g->rank, .dims = dims};
    return tsr_sharding_create(world->ctx, arena, &all, TSR_SHARDING_DEFAULT, out);
}

/* The array of the root as a tensor of which that rank has everything; NULL for a scalar. */
static tsr_status wrap_root(const tsr_tensor *t, int64_t root, const void *full, tsr_tensor **out)
{
    static char nothing[1];
    const tsr_geometry *g = t->geometry;
    tsr_arena *arena = NULL;
    const tsr_sharding *sharding = NULL;
    if (g->rank == 0) {
        *out = NULL;
        return TSR_OK;
    }
    TSR_TRY(tsr_arena_create(t->world->ctx, &arena));
    tsr_status status = sharding_of_root(t->world, arena, g, root, &sharding);
    if (status == TSR_OK) {
        /* Only read, although a tensor has no const memory. */
        void *data = full != NULL ? (void *)(uintptr_t)full : nothing; /* NOLINT */
        const tsr_tensor_spec spec = {sharding, t->dtype, g->rank, g->shape};
        status = tensor_make(t->world, &spec, data, NULL, out);
    }
    tsr_arena_destroy(arena);
    return status;
}

/* This rank's input of the call: a tensor and the root's array, or the reason why it has none. */
static tsr_status prepare(tsr_comm *world, const tsr_tensor_spec *spec, int64_t root,
                          const void *full, tsr_tensor **out, tsr_tensor **src)
{
    TSR_TRY(check_root(world, root, full));
    TSR_TRY(check_not_pending(world, spec->sharding));
    TSR_TRY(tensor_make(world, spec, NULL, NULL, out));
    return root >= 0 ? wrap_root(*out, root, full, src) : TSR_OK;
}

/* Each rank takes its part of its own array. */
static void take_own_part(const tsr_tensor *t, const void *full)
{
    const int64_t rank = t->world->rank;
    int64_t strides[KERNEL_MAX_RANK];
    full_strides(t->geometry, t->dtype, false, strides);
    comm_count(t->world, rank, rank, copy_part(t, rank, full, strides, t->data));
}

static tsr_status send_scalar(const tsr_tensor *t, int64_t root, const void *full)
{
    const tsr_view view = {.data = t->data, .dtype = t->dtype};
    if (t->data != NULL && t->world->rank == root) {
        memcpy(t->data, full, (size_t)tsr_dtype_item_bytes(t->dtype));
    }
    if (t->data != NULL) {
        TSR_TRY(tsr_comm_broadcast(t->world, &view, root));
    }
    return redistribution_ran("tsr_tensor_from_full", t, NULL, NULL, root);
}

/* Fills a tensor that all ranks have agreed on. */
static tsr_status distribute(tsr_tensor *t, tsr_tensor *src, int64_t root, const void *full)
{
    if (root < 0) {
        if (t->data != NULL) {
            take_own_part(t, full);
        }
        return TSR_OK;
    }
    if (src == NULL) {
        return send_scalar(t, root, full);
    }
    return t->data != NULL ? redistribute_to("tsr_tensor_from_full", t, src, -1)
                           : redistribution_ran("tsr_tensor_from_full", t, src, NULL, -1);
}

static size_t bytes_of(const tsr_tensor_spec *spec)
{
    size_t bytes = (size_t)tsr_dtype_item_bytes(spec->dtype);
    for (size_t d = 0; d < spec->rank; d++) {
        bytes *= (size_t)spec->shape[d];
    }
    return bytes;
}

tsr_status tsr_tensor_from_full(tsr_comm *world, const tsr_tensor_spec *spec, int64_t root,
                                const void *full, tsr_tensor **out)
{
    GUARD(tsr_tensor_from_full);
    tsr_tensor *t = NULL;
    tsr_tensor *src = NULL;
    spec_call call = {
        .ctx = world->ctx, .name = "tsr_tensor_from_full", .spec = *spec, .root = root};
    const tsr_status ready = prepare(world, spec, root, full, &t, &src);
    if (ready == TSR_OK && root < 0) {
        call.elements = hash_elements(world, full, bytes_of(spec));
    }
    const comm_call what = spec_call_record(&call, ready);
    tsr_status status = comm_enter(world, &what);
    if (status == TSR_OK && t != NULL) {
        tensor_note_call(t, &what);
        status = distribute(t, src, root, full);
    }
    tsr_tensor_release(src);
    if (status < 0) {
        tsr_tensor_release(t);
        return status;
    }
    *out = t;
    return TSR_OK;
}

/* A tensor over the array, replicated on every rank; a rank without an array never touches it. */
static tsr_status wrap_full(const tsr_tensor *tensor, void *full, tsr_tensor **out)
{
    static char nothing[1];
    const tsr_geometry *g = tensor->geometry;
    tsr_comm *world = tensor->world;
    tsr_arena *arena = NULL;
    const tsr_sharding *whole = NULL;
    TSR_TRY(tsr_arena_create(world->ctx, &arena));
    const size_t rank = tsr_mesh_is_maximal(g->sharding->mesh) ? 0 : g->rank;
    tsr_status status =
        tsr_sharding_replicated_over(world->ctx, arena, g->sharding->mesh, rank, false, &whole);
    if (status == TSR_OK) {
        const tsr_tensor_spec spec = {whole, tensor->dtype, g->rank, g->shape};
        status = tensor_make(world, &spec, full != NULL ? full : nothing, NULL, out);
    }
    tsr_arena_destroy(arena);
    return status;
}

tsr_status tsr_tensor_to_full(tsr_tensor *tensor, int64_t root, void *full)
{
    GUARD(tsr_tensor_to_full);
    tsr_comm *world = tensor->world;
    tsr_tensor *dst = NULL;
    const tsr_geometry *g = tensor->geometry;
    const spec_call call = {.ctx = world->ctx,
                            .name = "tsr_tensor_to_full",
                            .spec = {g->sharding, tensor->dtype, g->rank, g->shape},
                            .root = root};
    tsr_status status = check_root(world, root, full);
    status = status == TSR_OK ? wrap_full(tensor, full, &dst) : status;
    const comm_call what = spec_call_record(&call, status);
    status = comm_enter(world, &what);
    if (status == TSR_OK) {
        status = redistribute_to("tsr_tensor_to_full", dst, tensor, root);
    }
    tsr_tensor_release(dst);
    return status;
}
