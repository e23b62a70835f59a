/* Layouts of tensors, changed and queried; tensors made from numbers, counts, random bits, parts.
 */
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "eager/agree.h"
#include "eager/compose.h"
#include "eager/trace.h"
#include "kernel/elementwise.h"
#include "ops/op_create.h"

/* To a sharding that may live in the call's arena. */
static tsr_status try_to_move(const char *call, bool implicit, tsr_tensor *t,
                              const tsr_sharding *sharding, tsr_tensor **out)
{
    eager *e = NULL;
    tensor_layout *layout = NULL;
    const tsr_geometry *g = t->geometry;
    const tsr_tensor_spec spec = {sharding, t->dtype, g->rank, g->shape};
    TSR_TRY(eager_of(t->world, &e));
    TSR_TRY(eager_given(call, &t, 1, tensor_check_spec(t->world, &spec)));
    TSR_TRY(eager_given(call, &t, 1, layout_get(t->world, &spec, NULL, &layout)));
    const tsr_status status = eager_move(e, call, implicit, t, layout, out);
    layout_release(&t->world->state->layouts, layout);
    return status;
}

/* The same; a failure that only this rank has is told. */
static tsr_status move_to(const char *call, bool implicit, tsr_tensor *t,
                          const tsr_sharding *sharding, tsr_tensor **out)
{
    eager_begin(t->world);
    TSR_TRY(tensor_check_whole(call, t));
    return eager_tell(t->world, call, try_to_move(call, implicit, t, sharding, out));
}

tsr_status tsr_shard(tsr_tensor *tensor, const tsr_sharding *sharding, tsr_tensor **out)
{
    GUARD(tsr_shard);
    return move_to("tsr_shard", false, tensor, sharding, out);
}

tsr_status tsr_with_sharding(tsr_tensor *tensor, const tsr_sharding *sharding, tsr_tensor **out)
{
    GUARD(tsr_with_sharding);
    return move_to("tsr_with_sharding", false, tensor, sharding, out);
}

/* Moves to the tensor's own sharding with dimensions made whole, and what is pending kept or not.
 */
static tsr_status move_changed(const char *call, bool implicit, tsr_tensor *t, const bool *whole,
                               bool keep, tsr_tensor **out)
{
    const tsr_sharding *s = t->geometry->sharding;
    eager *e = NULL;
    eager_begin(t->world);
    TSR_TRY(eager_of(t->world, &e));
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    tsr_dim *dims = arena_copy(e->arena, s->dims, s->rank, sizeof *dims);
    if (dims == NULL) {
        return eager_tell(t->world, call, diag_nomem(t->world->ctx));
    }
    for (size_t d = 0; d < s->rank; d++) {
        if (whole[d]) {
            dims[d] = tsr_dim_closed(NULL, 0);
        }
    }
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = dims,
                                    .num_replicated = s->num_replicated,
                                    .replicated = s->replicated,
                                    .num_unreduced = keep ? s->num_unreduced : 0,
                                    .unreduced = s->unreduced,
                                    .reduction = keep ? s->reduction : TSR_SUM};
    const tsr_sharding *to = NULL;
    tsr_status status = tsr_sharding_create(t->world->ctx, e->arena, &spec, 0, &to);
    if (status == TSR_OK) {
        status = move_to(call, implicit, t, to, out);
    }
    tsr_arena_reset(e->arena, mark);
    return eager_tell(t->world, call, status);
}

tsr_status tsr_replicate(tsr_tensor *tensor, tsr_tensor **out)
{
    GUARD(tsr_replicate);
    bool whole[OP_MAX_RANK];
    memset(whole, true, sizeof whole);
    return move_changed("tsr_replicate", false, tensor, whole, false, out);
}

tsr_status tsr_gather(tsr_tensor *tensor, size_t dim, tsr_tensor **out)
{
    GUARD(tsr_gather);
    bool whole[OP_MAX_RANK] = {false};
    if (dim >= tensor->geometry->rank) {
        return diag_error(tensor->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_gather: dimension %zu is out of range: the tensor has rank %zu", dim,
                          tensor->geometry->rank);
    }
    whole[dim] = true;
    return move_changed("tsr_gather", false, tensor, whole, true, out);
}

tsr_status tsr_reduce_pending(tsr_tensor *tensor, tsr_tensor **out)
{
    GUARD(tsr_reduce_pending);
    const bool whole[OP_MAX_RANK] = {false};
    return move_changed("tsr_reduce_pending", false, tensor, whole, false, out);
}

tsr_status eager_settle(eager *e, const char *call, bool implicit, tsr_tensor *tensor,
                        tsr_tensor **out)
{
    const bool whole[OP_MAX_RANK] = {false};
    if (tensor->geometry->sharding->num_unreduced > 0) {
        return move_changed(call, implicit, tensor, whole, false, out);
    }
    TSR_TRY(eager_reserve(e, 1));
    *out = tsr_tensor_retain(tensor);
    eager_adopt(e, *out);
    return TSR_OK;
}

bool tsr_any_sharded(tsr_tensor *const *tensors, size_t count)
{
    GUARD(tsr_any_sharded);
    for (size_t i = 0; i < count; i++) {
        const tsr_sharding *s = tensors[i]->geometry->sharding;
        bool sharded = s->num_unreduced > 0;
        for (size_t d = 0; d < s->rank; d++) {
            sharded = sharded || s->dims[d].num_axes > 0;
        }
        if (sharded) {
            return true;
        }
    }
    return false;
}

const tsr_mesh *tsr_tensors_mesh(tsr_tensor *const *tensors, size_t count)
{
    GUARD(tsr_tensors_mesh);
    const tsr_mesh *mesh = count > 0 ? tensors[0]->geometry->sharding->mesh : NULL;
    for (size_t i = 1; i < count; i++) {
        if (!tsr_mesh_same_devices(mesh, tensors[i]->geometry->sharding->mesh)) {
            return NULL;
        }
    }
    return mesh;
}

tsr_status tsr_slice_for_device(tsr_context *ctx, const tsr_geometry *geometry, int64_t device,
                                const tsr_view *full, int64_t *shape, int64_t *strides,
                                tsr_view *out)
{
    GUARD(tsr_slice_for_device);
    int64_t start[OP_MAX_RANK];
    int64_t stride = tsr_dtype_item_bytes(full->dtype);
    const size_t rank = geometry->rank;
    bool fits = full->rank == rank && rank <= OP_MAX_RANK;
    for (size_t d = 0; fits && d < rank; d++) {
        fits = full->shape[d] == geometry->shape[d];
    }
    if (!fits) {
        return diag_error(
            ctx, TSR_ERR_INVALID, NO_LOCATION,
            "tsr_slice_for_device: the shapes of the array and of the geometry differ");
    }
    TSR_TRY(geometry_check_bound(ctx, geometry));
    if (!tsr_geometry_box(geometry, device, start, shape)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_slice_for_device: the mesh has no device %lld", (long long)device);
    }
    for (size_t d = 0; d < rank; d++) {
        if (tsr_geometry_pieces(geometry, device, d, 0, NULL) > 1) {
            return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                              "tsr_slice_for_device: the rows of dimension %zu that device %lld "
                              "holds are not adjacent",
                              d, (long long)device);
        }
    }
    *out = *full;
    for (size_t d = rank; d-- > 0;) {
        strides[d] = full->strides != NULL ? full->strides[d] : stride;
        stride *= full->shape[d];
        if (out->data != NULL && shape[d] > 0) {
            out->data = (char *)out->data + start[d] * strides[d];
        }
    }
    out->shape = shape;
    out->strides = strides;
    return TSR_OK;
}

const int64_t *tsr_tensor_shape(const tsr_tensor *tensor)
{
    GUARD(tsr_tensor_shape);
    return tensor->geometry->shape;
}

/* ---- the full array ---- */

/* What moves, for the trace and strict mode. */
static tsr_status announce_full(eager *e, const tsr_full_request *request, tsr_tensor *t,
                                const int64_t *only)
{
    const tsr_geometry *g = t->geometry;
    const size_t rank = tsr_mesh_is_maximal(g->sharding->mesh) ? 0 : g->rank;
    const tensor_layout *from = t->layout;
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const tsr_sharding *whole = NULL;
    tensor_layout *layout = NULL;
    TSR_TRY(tsr_sharding_replicated_over(e->world->ctx, e->arena, g->sharding->mesh, rank, false,
                                         &whole));
    const tsr_tensor_spec spec = {whole, from->dtype, g->rank, g->shape};
    tsr_status status = layout_get(e->world, &spec, NULL, &layout);
    tsr_arena_reset(e->arena, mark);
    if (status < 0) {
        return status;
    }
    const move_note note = {.call = request->call,
                            .operand = -1,
                            .from = from,
                            .to = layout,
                            .implicit = request->implicit,
                            .only_moves = true,
                            .only = only};
    status = request->implicit ? refuse_move(e, &note) : TSR_OK;
    status = status == TSR_OK ? note_move(e, &note) : status;
    layout_release(&e->world->state->layouts, layout);
    return status;
}

static tsr_status prepare_full(eager *e, const tsr_full_request *request, tsr_tensor *t,
                               int64_t root)
{
    const bool one = root >= 0 && root < t->world->size;
    return e->strict || e->trace.arena != NULL ? announce_full(e, request, t, one ? &root : NULL)
                                               : TSR_OK;
}

tsr_status tsr_take_full(tsr_tensor *tensor, const tsr_full_request *request, int64_t root,
                         void *full)
{
    GUARD(tsr_take_full);
    eager *e = NULL;
    eager_begin(tensor->world);
    TSR_TRY(eager_of(tensor->world, &e));
    TSR_TRY(eager_tell(tensor->world, request->call, prepare_full(e, request, tensor, root)));
    trace_own_begin(e);
    const tsr_status status = tsr_tensor_to_full(tensor, root, full);
    trace_own_end(e);
    return status;
}

/* ---- from something else ---- */

static tsr_status try_to_make(const char *call, tsr_comm *world, const tsr_tensor_spec *spec,
                              const op_number *number, tsr_tensor **out)
{
    eager *e = NULL;
    uint64_t made_by = 0;
    const local_call what = {.call = call, .number = number, .num_tensors = 1, .tensors = spec};
    TSR_TRY(eager_of(world, &e));
    TSR_TRY(tensor_check_spec(world, spec));
    TSR_TRY(eager_agree(e, &what, &made_by));
    TSR_TRY(eager_reserve(e, 1));
    TSR_TRY(tensor_make(world, spec, NULL, NULL, out));
    (*out)->made_by = made_by;
    eager_adopt(e, *out);
    return TSR_OK;
}

/* A fresh tensor of a spec, whose elements the caller sets to a number; NULL: to zeros. */
static tsr_status make_fresh(const char *call, tsr_comm *world, const tsr_tensor_spec *spec,
                             const op_number *number, tsr_tensor **out)
{
    eager_begin(world);
    return eager_tell(world, call, try_to_make(call, world, spec, number, out));
}

tsr_status eager_fill(const char *call, tsr_comm *world, const tsr_tensor_spec *spec,
                      op_number number, tsr_tensor **out)
{
    char element[16];
    tsr_tensor *t = NULL;
    if (!op_number_store(number, spec->dtype, element)) {
        return diag_error(world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "%s: a number cannot be converted to %s", call,
                          tsr_dtype_name(spec->dtype));
    }
    TSR_TRY(make_fresh(call, world, spec, &number, &t));
    const tsr_view view = view_of(t);
    if (!is_abstract(t)) {
        kernel_fill(&view, element);
    }
    *out = t;
    return TSR_OK;
}

tsr_status tsr_fill(tsr_comm *world, const tsr_tensor_spec *spec, double number, tsr_tensor **out)
{
    GUARD(tsr_fill);
    return eager_fill("tsr_fill", world, spec, number_float(number), out);
}

tsr_status tsr_ones(tsr_comm *world, const tsr_tensor_spec *spec, tsr_tensor **out)
{
    GUARD(tsr_ones);
    return eager_fill("tsr_ones", world, spec, number_integer(1), out);
}

tsr_status tsr_zeros(tsr_comm *world, const tsr_tensor_spec *spec, tsr_tensor **out)
{
    GUARD(tsr_zeros);
    TSR_TRY(make_fresh("tsr_zeros", world, spec, NULL, out));
    if (!is_abstract(*out)) {
        memset((*out)->data, 0, (*out)->bytes);
    }
    return TSR_OK;
}

tsr_status tsr_scalar_like(tsr_tensor *tensor, double number, tsr_tensor **out)
{
    GUARD(tsr_scalar_like);
    eager_builder b;
    TSR_TRY(compose_begin("tsr_scalar_like", tensor, &b));
    op_value *scalar = build_number(&b.base, value_of(tensor), number);
    return compose_end(&b, scalar, out);
}

tsr_status tsr_iota(tsr_comm *world, const tsr_tensor_spec *spec, size_t dim, tsr_tensor **out)
{
    GUARD(tsr_iota);
    const iota_params params = {.iota_dimension = (int64_t)dim,
                                .result = {spec->dtype, spec->rank, spec->shape}};
    return eager_make("tsr_iota", &op_iota, &params, world, spec, out);
}

static tsr_status draw(const char *call, random_kind kind, tsr_comm *world,
                       const tsr_tensor_spec *spec, tsr_random_key key, tsr_tensor **out)
{
    const random_params params = {.distribution = (int32_t)kind,
                                  .key = (int64_t)key.seed,
                                  .stream = (int64_t)key.stream,
                                  .result = {spec->dtype, spec->rank, spec->shape}};
    return eager_make(call, &op_random, &params, world, spec, out);
}

tsr_status tsr_random_bits(tsr_comm *world, const tsr_tensor_spec *spec, tsr_random_key key,
                           tsr_tensor **out)
{
    GUARD(tsr_random_bits);
    return draw("tsr_random_bits", RANDOM_BITS, world, spec, key, out);
}

tsr_status tsr_random_uniform(tsr_comm *world, const tsr_tensor_spec *spec, tsr_random_key key,
                              tsr_tensor **out)
{
    GUARD(tsr_random_uniform);
    return draw("tsr_random_uniform", RANDOM_UNIFORM, world, spec, key, out);
}

tsr_status tsr_random_normal(tsr_comm *world, const tsr_tensor_spec *spec, tsr_random_key key,
                             tsr_tensor **out)
{
    GUARD(tsr_random_normal);
    return draw("tsr_random_normal", RANDOM_NORMAL, world, spec, key, out);
}

/* The rank's part must be what the view has. */
static tsr_status check_part(const char *call, const tsr_tensor *t, const tsr_view *part)
{
    bool fits = part->rank == t->geometry->rank && part->dtype == t->dtype;
    for (size_t d = 0; fits && d < part->rank; d++) {
        fits = part->shape[d] == t->local_shape[d] ||
               (t->local_shape[d] == TSR_UNKNOWN && part->shape[d] >= 0);
    }
    if (fits && (part->data != NULL || t->layout->elements == 0)) {
        return TSR_OK;
    }
    const op_type type = type_of_layout(t->layout);
    const op_type mine = {.dtype = type.dtype, .rank = type.rank, .shape = t->local_shape};
    return diag_error(t->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s: the view is not the part of %s that rank %lld stores, %s", call,
                      op_type_text(&type).text, (long long)t->world->rank,
                      op_type_text(&mine).text);
}

void eager_copy_view(const tsr_view *to, const tsr_view *from)
{
    int64_t packed[OP_MAX_RANK];
    int64_t stride = tsr_dtype_item_bytes(to->dtype);
    for (size_t d = to->rank; d-- > 0;) {
        packed[d] = stride;
        stride *= to->shape[d];
    }
    kernel_copy(to->data, to->strides != NULL ? to->strides : packed, from->data,
                from->strides != NULL ? from->strides : packed, to->shape, to->rank,
                (size_t)tsr_dtype_item_bytes(to->dtype), false);
}

/* Makes the tensor and room to adopt it: all that can fail on one rank alone. */
static tsr_status prepare_local(eager *e, const tsr_tensor_spec *spec, const tsr_view *part,
                                tsr_tensor **out)
{
    TSR_TRY(tensor_make(e->world, spec, NULL, NULL, out));
    TSR_TRY(check_part("tsr_from_local", *out, part));
    return eager_reserve(e, 1);
}

tsr_status tsr_from_local(tsr_comm *world, const tsr_tensor_spec *spec, const tsr_view *part,
                          tsr_tensor **out)
{
    GUARD(tsr_from_local);
    tsr_tensor *t = NULL;
    eager *e = NULL;
    TSR_TRY(eager_of(world, &e));
    const spec_call call = {.ctx = world->ctx, .name = "tsr_from_local", .spec = *spec, .root = -1};
    const comm_call what = spec_call_record(&call, prepare_local(e, spec, part, &t));
    const tsr_status status = comm_enter(world, &what);
    if (status < 0 || t == NULL) {
        tsr_tensor_release(t);
        return status;
    }
    const tsr_view view = view_of(t);
    tensor_note_call(t, &what);
    if (!is_abstract(t)) {
        eager_copy_view(&view, part);
    }
    eager_adopt(e, t);
    *out = t;
    return TSR_OK;
}

tsr_status tsr_to_local(const tsr_tensor *tensor, const tsr_view *part)
{
    GUARD(tsr_to_local);
    if (is_abstract(tensor)) {
        return diag_error(tensor->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_to_local: the tensor has no elements: it is abstract");
    }
    TSR_TRY(check_part("tsr_to_local", tensor, part));
    const tsr_view view = view_of(tensor);
    eager_copy_view(part, &view);
    return TSR_OK;
}
