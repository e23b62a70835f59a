#include "rt/tensor.h"
#include "kernel/elementwise.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/map.h"
#include "kernel/copy.h"
#include "kernel/progress.h"
#include "rt/box_walk.h"
#include "rt/collective.h"

tsr_status tensor_check_elements(const tsr_tensor *t)
{
    return t->data != NULL
               ? TSR_OK
               : diag_error(t->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                            "cannot move the elements of an abstract tensor: tsr_abstract made it, "
                            "or one of the tensors it was computed from");
}

tsr_status tensor_check_whole(const char *call, const tsr_tensor *tensor)
{
    const world_state *state = tensor->world->state;
    return tensor->typed != NULL ? state->check_whole(state->above, call, tensor->typed) : TSR_OK;
}

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
        stride = stride == TSR_UNKNOWN || size == TSR_UNKNOWN ? TSR_UNKNOWN : stride * size;
    }
    return stride;
}

tsr_status tensor_check_spec(tsr_comm *world, const tsr_tensor_spec *spec)
{
    TSR_TRY(comm_check_world(world));
    if (spec->rank > KERNEL_MAX_RANK) {
        return diag_error(world->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "the maximum rank of a tensor is %d, got: %zu", KERNEL_MAX_RANK,
                          spec->rank);
    }
    const tsr_mesh *mesh = tsr_sharding_mesh(spec->sharding);
    if (tsr_mesh_num_devices(mesh) != world->size || tsr_mesh_place_of(mesh, world->rank) < 0) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the mesh of the sharding has %lld devices, the world %lld ranks",
                          (long long)tsr_mesh_num_devices(mesh), (long long)world->size);
    }
    return TSR_OK;
}

/* Copies what a tensor has of its layout. */
static void take_layout(tsr_tensor *t, tensor_layout *layout)
{
    t->layout = layout_retain(&t->world->state->layouts, layout);
    t->geometry = layout->geometry;
    t->dtype = layout->dtype;
    t->local_shape = layout->local_shape;
    t->strides = layout->strides;
    t->row_major = layout->row_major;
}

void tensor_set_layout(tsr_tensor *t, tensor_layout *layout)
{
    tensor_layout *old = t->layout;
    take_layout(t, layout);
    layout_release(&t->world->state->layouts, old);
}

static void link_tensor(tsr_tensor *t)
{
    tsr_tensor **first = &t->world->state->tensors;
    t->next = *first;
    if (t->next != NULL) {
        t->next->previous = t;
    }
    *first = t;
}

/* Frees what describes a tensor. */
static void free_tensor(tsr_tensor *t)
{
    if (t->next != NULL) {
        t->next->previous = t->previous;
    }
    *(t->previous != NULL ? &t->previous->next : &t->world->state->tensors) = t->next;
    (void)context_resize(t->world->ctx, t, sizeof *t, 0);
}

void tensors_free_left(tsr_comm *world)
{
    while (world->state->tensors != NULL) {
        free_tensor(world->state->tensors);
    }
}

tsr_status tensor_of_layout(tsr_comm *world, tensor_layout *layout, void *data, tsr_tensor **out)
{
    tsr_tensor *t = context_resize(world->ctx, NULL, 0, sizeof *t);
    if (t == NULL) {
        return diag_nomem(world->ctx);
    }
    *t = (tsr_tensor){.world = world, .references = 1, .data = data};
    if (world->team->abstract) {
        t->data = NULL;
    } else if (data == NULL) {
        t->bytes = layout->bytes;
        t->data = segment_alloc(world->own, t->bytes);
        if (t->data == NULL) {
            (void)context_resize(world->ctx, t, sizeof *t, 0);
            return TSR_ERR_NOMEM;
        }
        if (layout->padded) {
            memset(t->data, 0, t->bytes);
        }
    }
    take_layout(t, layout_plain(layout));
    link_tensor(t);
    *out = t;
    return TSR_OK;
}

tsr_status tensor_make(tsr_comm *world, const tsr_tensor_spec *spec, void *data,
                       const int64_t *strides, tsr_tensor **out)
{
    tensor_layout *layout = NULL;
    TSR_TRY(tensor_check_spec(world, spec));
    TSR_TRY(layout_get(world, spec, strides, &layout));
    const tsr_status status = tensor_of_layout(world, layout, data, out);
    layout_release(&world->state->layouts, layout);
    return status;
}

void describe_tensor(tsr_context *ctx, const tsr_tensor_spec *spec, char *text, size_t size)
{
    tsr_arena *scratch = NULL;
    const char *layout = NULL;
    describe_type(spec->dtype, spec->shape, spec->rank, text, size);
    const size_t used = strlen(text);
    if (tsr_arena_create(ctx, &scratch) == TSR_OK &&
        tsr_sharding_print(ctx, scratch, spec->sharding, TSR_PRINT_BARE, &layout) == TSR_OK) {
        (void)snprintf(text + used, size - used, " as %s", layout);
    }
    tsr_arena_destroy(scratch);
}

static void describe_call(const void *of, char *text, size_t size)
{
    const spec_call *call = of;
    char tensor[CALL_TEXT];
    char root[32] = "";
    char elements[32] = "";
    describe_tensor(call->ctx, &call->spec, tensor, sizeof tensor);
    if (call->root >= 0) {
        (void)snprintf(root, sizeof root, ", root %lld", (long long)call->root);
    }
    if (call->elements != 0) {
        (void)snprintf(elements, sizeof elements, ", elements of hash %08x",
                       (unsigned)(call->elements >> 32));
    }
    (void)snprintf(text, size, "calls %s(%s%s%s)", call->name, tensor, root, elements);
}

uint64_t hash_elements(const tsr_comm *world, const void *elements, size_t bytes)
{
    const size_t few = 64;
    return elements != NULL && !world->state->own_values && (bytes <= few || world->team->checked)
               ? hash_bytes(elements, bytes, 5)
               : 0;
}

comm_call spec_call_record(const spec_call *call, tsr_status status)
{
    const tsr_tensor_spec *spec = &call->spec;
    comm_call what = {.name = call->name, .status = status};
    if (status == TSR_OK) {
        const int64_t words[] = {spec->dtype, call->root, (int64_t)spec->rank};
        what.hash = hash_bytes(words, sizeof words, sharding_hash(spec->sharding, 2));
        what.hash = hash_bytes(spec->shape, spec->rank * sizeof *spec->shape, what.hash);
        what.hash = history_mix(what.hash, call->elements);
        what.describe = describe_call;
        what.of = call;
    }
    return what;
}

void tensor_note_call(tsr_tensor *t, const comm_call *what)
{
    t->made_by = made_by_call(history_add(&t->world->state->history, what->name, what->hash), 0);
}

/* Whether what a part spans, from its element 0 in either direction, stays an address. */
static tsr_status check_reach(const tsr_tensor *t)
{
    const int64_t most = INT64_C(1) << 56; /* no machine has so much address space */
    for (size_t i = 0; i < t->geometry->rank && tensor_elements(t) > 0; i++) {
        int64_t reach = 0;
        if (!checked_mul(t->local_shape[i] - 1, t->strides[i], &reach) || reach > most ||
            reach < -most) {
            return diag_error(t->world->ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "the stride of dim %zu, %lld bytes over %lld elements, leaves the "
                              "address space",
                              i, (long long)t->strides[i], (long long)t->local_shape[i]);
        }
    }
    return TSR_OK;
}

/* A tensor over the caller's memory, which is not NULL unless the part is empty. */
static tsr_status wrap_part(tsr_comm *world, const tsr_tensor_spec *spec, void *data,
                            const int64_t *strides, tsr_tensor **out)
{
    static char nothing[1];
    TSR_TRY(tensor_make(world, spec, data != NULL ? data : nothing, strides, out));
    if (data == NULL && tensor_elements(*out) > 0) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "rank %lld passed no memory (NULL) for its part of %lld elements",
                          (long long)world->rank, (long long)tensor_elements(*out));
    }
    return strides != NULL && data != NULL ? check_reach(*out) : TSR_OK;
}

/* Agrees with the others that all of them could make a tensor. */
static tsr_status agree(tsr_comm *world, const char *name, const tsr_tensor_spec *spec,
                        tsr_status made, tsr_tensor *t, tsr_tensor **out)
{
    const spec_call call = {.ctx = world->ctx, .name = name, .spec = *spec, .root = -1};
    const comm_call what = spec_call_record(&call, made);
    const tsr_status agreed = comm_enter(world, &what);
    if (agreed < 0) {
        tsr_tensor_release(t);
        return agreed;
    }
    if (t != NULL) {
        tensor_note_call(t, &what);
    }
    *out = t;
    return TSR_OK;
}

tsr_status tsr_tensor_create(tsr_comm *world, const tsr_tensor_spec *spec, tsr_tensor **out)
{
    GUARD(tsr_tensor_create);
    tsr_tensor *fresh = NULL;
    const tsr_status made = tensor_make(world, spec, NULL, NULL, &fresh);
    TSR_TRY(agree(world, "tsr_tensor_create", spec, made, fresh, &fresh));
    if (fresh != NULL && fresh->data != NULL) {
        memset(fresh->data, 0, fresh->bytes);
    }
    *out = fresh;
    return TSR_OK;
}

tsr_status tsr_tensor_wrap(tsr_comm *world, const tsr_tensor_spec *spec, void *data,
                           const int64_t *strides, tsr_tensor **out)
{
    GUARD(tsr_tensor_wrap);
    tsr_tensor *t = NULL;
    const tsr_status made = wrap_part(world, spec, data, strides, &t);
    return agree(world, "tsr_tensor_wrap", spec, made, t, out);
}

int64_t tensor_elements(const tsr_tensor *tensor)
{
    return tensor->layout->elements;
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

/* Layouts that differ in what is pending share what a tensor has copies of. */
static void swap_sums(tsr_tensor *tensor, tsr_tensor *sums, tensor_layout *layout)
{
    layout_release(&tensor->world->state->layouts, tensor->layout);
    tsr_tensor_release(tensor->sums);
    tensor->layout = layout;
    tensor->sums = sums;
}

void tensor_keep_sums(tsr_tensor *tensor, tsr_tensor *sums, tensor_layout *pending)
{
    swap_sums(tensor, sums, pending);
}

void tensor_drop_sums(tsr_tensor *tensor)
{
    if (tensor->sums != NULL) {
        layout_table *layouts = &tensor->world->state->layouts;
        swap_sums(tensor, NULL, layout_retain(layouts, layout_plain(tensor->layout)));
    }
}

tsr_dtype tsr_tensor_pending_dtype(const tsr_tensor *tensor)
{
    GUARD(tsr_tensor_pending_dtype);
    return tensor->layout->pending;
}

void tensor_round(const tsr_tensor *to, const tsr_tensor *from)
{
    const size_t rank = to->geometry->rank;
    const tsr_view dst = {to->data, to->dtype, rank, to->local_shape, to->strides};
    const tsr_view src = {from->data, from->dtype, rank, from->local_shape, from->strides};
    if (to->data != NULL) {
        kernel_convert(&dst, &src);
    }
}

void tsr_tensor_release(tsr_tensor *tensor)
{
    GUARD(tsr_tensor_release);
    if (tensor == NULL || --tensor->references > 0) {
        return;
    }
    tensor_drop_sums(tensor);
    void (*const on_release)(void *) = tensor->on_release;
    void *state = tensor->release_state;
    if (tensor->bytes > 0 && on_release == NULL) {
        segment_free(tensor->world->own, tensor->data);
    }
    layout_release(&tensor->world->state->layouts, tensor->layout);
    if (tensor->typed != NULL) {
        tensor->world->state->release_typed(tensor->world->state->above, tensor->typed);
    }
    free_tensor(tensor);
    if (on_release != NULL) {
        on_release(state);
    }
}

tsr_tensor *tsr_tensor_retain(tsr_tensor *tensor)
{
    GUARD(tsr_tensor_retain);
    tensor->references++;
    return tensor;
}

tsr_comm *tsr_tensor_world(const tsr_tensor *tensor)
{
    GUARD(tsr_tensor_world);
    return tensor->world;
}

const tsr_sharding *tsr_tensor_sharding(const tsr_tensor *tensor)
{
    GUARD(tsr_tensor_sharding);
    return tensor->geometry->sharding;
}

const tsr_geometry *tsr_tensor_geometry(const tsr_tensor *tensor)
{
    GUARD(tsr_tensor_geometry);
    return tensor->geometry;
}

tsr_dtype tsr_tensor_dtype(const tsr_tensor *tensor)
{
    GUARD(tsr_tensor_dtype);
    return tensor->dtype;
}

size_t tsr_tensor_rank(const tsr_tensor *tensor)
{
    GUARD(tsr_tensor_rank);
    return tensor->geometry->rank;
}

void *tsr_tensor_data(const tsr_tensor *tensor)
{
    GUARD(tsr_tensor_data);
    return tensor->data;
}

const int64_t *tsr_tensor_local_shape(const tsr_tensor *tensor)
{
    GUARD(tsr_tensor_local_shape);
    return tensor->local_shape;
}

const int64_t *tsr_tensor_strides(const tsr_tensor *tensor)
{
    GUARD(tsr_tensor_strides);
    return tensor->strides;
}

void tsr_tensor_visit(const tsr_tensor *tensor, tsr_element_function function, void *state)
{
    GUARD(tsr_tensor_visit);
    box_walk w;
    bool more =
        tensor->data != NULL && box_walk_first(&w, tensor->geometry, tensor->world->rank, true);
    size_t since = 0;
    for (; more; more = box_walk_next(&w)) {
        function(w.start, tensor->data + box_walk_offset(&w, tensor->strides), state);
        progress_add(&since, (size_t)tsr_dtype_item_bytes(tensor->dtype));
    }
}

void tsr_tensor_fill(tsr_tensor *tensor, tsr_element_function function, void *state)
{
    GUARD(tsr_tensor_fill);
    tensor_drop_sums(tensor);
    tsr_tensor_visit(tensor, function, state);
}
