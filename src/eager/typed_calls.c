/* The public calls of typed code: values, claims, contractions that leave a sum, collectives. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "eager/tape.h"
#include "eager/transition.h"
#include "eager/typed.h"

tsr_status typed_scope(tsr_comm *world, const char *call, eager **out)
{
    TSR_TRY(eager_of(world, out));
    if ((*out)->spmd != NULL) {
        return TSR_OK;
    }
    return diag_error(world->ctx, TSR_ERR_INVALID, NO_PLACE,
                      "%s: no scope of typed code is open; call tsr_spmd_open first", call);
}

/* ---- axes by name ---- */

tsr_status typed_axes(const eager *e, const char *call, const char *names, axis_names *out)
{
    const tsr_mesh *mesh = e->spmd->settings.mesh;
    const char *at = names;
    out->count = 0;
    while (*at != '\0') {
        const size_t length = strcspn(at, ",");
        const int32_t axis = tsr_mesh_find_axis(mesh, at, length);
        if (axis < 0 || out->count == sizeof out->axes / sizeof out->axes[0]) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_PLACE,
                              "%s: the scope's mesh has no axis \"%.*s\"", call, (int)length, at);
        }
        out->refs[out->count] = tsr_axis_full(mesh, (size_t)axis);
        out->axes[out->count++] = (size_t)axis;
        at += length + (at[length] == ',');
    }
    if (out->count == 0) {
        return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_PLACE, "%s: an axis must be named",
                          call);
    }
    return TSR_OK;
}

/* ---- values ---- */

/* Hands a fresh value out, with its type. */
static tsr_status hand_out(eager *e, tsr_tensor *value, const typed_record *record,
                           tsr_tensor **out)
{
    value->typed = record;
    eager_adopt(e, value);
    *out = value;
    return TSR_OK;
}

/* Reads a type; one that begins with a brace is of the value's own element type and shape. */
static tsr_status read_type(eager *e, const char *type, const tsr_typed_shape *like,
                            tsr_typed_shape *out)
{
    tsr_context *ctx = e->world->ctx;
    const char *whole = type;
    if (type[0] == '{') {
        buffer buf = buffer_new(e->arena);
        buffer_format(&buf, "%s[", tsr_dtype_name(like->dtype));
        for (size_t d = 0; d < like->rank; d++) {
            buffer_format(&buf, "%s%lld", d > 0 ? "," : "", (long long)like->shape[d]);
        }
        buffer_format(&buf, "]%s", type);
        TSR_TRY(buffer_finish(ctx, &buf, &whole));
    }
    tsr_text text = tsr_text_of("<type>", whole);
    TSR_TRY(tsr_type_read(ctx, e->arena, &text, e->spmd->settings.mesh, out));
    if (text.at != text.size) {
        return diag_error(ctx, TSR_ERR_SYNTAX, NO_PLACE, "there is more behind the type: '%s'",
                          text.data + text.at);
    }
    return TSR_OK;
}

/* How the dimensions of a whole value are cut, whatever the other axes are. */
static tsr_status cuts_of(eager *e, const tsr_type *type, size_t rank, const tsr_sharding **out)
{
    tsr_dim *dims = ARENA_ARRAY(e->arena, tsr_dim, rank);
    tsr_layout *layouts = ARENA_ARRAY(e->arena, tsr_layout, rank);
    tsr_axis_ref *refs =
        ARENA_ARRAY(e->arena, tsr_axis_ref, tsr_mesh_num_axes(tsr_type_mesh(type)));
    size_t used = 0;
    if (dims == NULL || layouts == NULL || refs == NULL) {
        return diag_nomem(e->world->ctx);
    }
    for (size_t d = 0; d < rank; d++) {
        const tsr_spec_dim *spec = tsr_type_dim(type, d);
        dims[d] = tsr_dim_closed(refs + used, spec->num_axes);
        for (size_t i = 0; i < spec->num_axes; i++) {
            refs[used++] = tsr_axis_full(tsr_type_mesh(type), spec->axes[i]);
        }
        if (spec->sizes != NULL) {
            layouts[d] = (tsr_layout){
                .kind = TSR_LAYOUT_DYNAMIC, .rows = 1, .sizes = spec->sizes, .alignment = 1};
            dims[d].layout = &layouts[d];
        }
    }
    const tsr_sharding_spec spec = {.mesh = tsr_type_mesh(type), .rank = rank, .dims = dims};
    return tsr_sharding_create(e->world->ctx, e->arena, &spec, 0, out);
}

/* What this rank has of a whole value. */
static tsr_status local_shape_of(eager *e, const tsr_typed_shape *shape, int64_t *local)
{
    const tsr_sharding *sharding = NULL;
    const tsr_geometry *geometry = NULL;
    int64_t start[OP_MAX_RANK];
    if (!tsr_type_has_spec(shape->type)) {
        for (size_t d = 0; d < shape->rank; d++) {
            local[d] = shape->shape[d];
        }
        return TSR_OK;
    }
    TSR_TRY(cuts_of(e, shape->type, shape->rank, &sharding));
    TSR_TRY(tsr_geometry_create(e->world->ctx, e->arena, sharding, shape->rank, shape->shape,
                                &geometry));
    (void)tsr_geometry_box(geometry, e->world->rank, start, local);
    return TSR_OK;
}

static tsr_status make_value(eager *e, const tsr_view *local, const char *type, tsr_tensor **out)
{
    const op_type mine = op_type_of(local->dtype, (op_ints){local->rank, local->shape});
    const tsr_typed_shape like = {.dtype = local->dtype, .rank = local->rank, .shape = mine.shape};
    const typed_record *record = NULL;
    tsr_tensor *value = NULL;
    TSR_TRY(eager_reserve(e, 1));
    if (!e->spmd->settings.unchecked) {
        tsr_typed_shape shape;
        int64_t part[OP_MAX_RANK];
        TSR_TRY(read_type(e, type, &like, &shape));
        TSR_TRY(local_shape_of(e, &shape, part));
        if (shape.dtype != mine.dtype || shape.rank != mine.rank ||
            memcmp(part, mine.shape, mine.rank * sizeof *part) != 0) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_PLACE,
                              "tsr_typed_value: rank %lld has %s, which is not its part of %s",
                              (long long)e->world->rank, op_type_text(&mine).text, type);
        }
        TSR_TRY(typed_intern(e, &shape, &record));
    }
    TSR_TRY(local_value(e, mine.dtype, mine.rank, mine.shape, &value));
    const tsr_view to = {value->data, mine.dtype, mine.rank, value->local_shape, value->strides};
    eager_copy_view(&to, local);
    return hand_out(e, value, record, out);
}

tsr_status tsr_typed_value(tsr_comm *world, const tsr_view *local, const char *type,
                           tsr_tensor **out)
{
    eager *e = NULL;
    TSR_TRY(typed_scope(world, "tsr_typed_value", &e));
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const tsr_status status = make_value(e, local, type, out);
    tsr_arena_reset(e->arena, mark);
    return status;
}

tsr_status tsr_type_of(const tsr_tensor *value, tsr_arena *arena, const char **out)
{
    if (record_of(value) == NULL) {
        *out = "untyped";
        return TSR_OK;
    }
    return tsr_type_print(value->world->ctx, arena, &record_of(value)->of, out);
}

/* ---- between sharded tensors and values ---- */

/* The layout of an array of this rank's own. */
static tsr_status own_layout(eager *e, tsr_dtype dtype, size_t rank, const int64_t *shape,
                             const int64_t *strides, tensor_layout **out)
{
    tsr_tensor_spec spec = {.dtype = dtype, .rank = rank, .shape = shape};
    TSR_TRY(tsr_sharding_replicated_over(e->world->ctx, e->arena, e->local_mesh, rank, false,
                                         &spec.sharding));
    return layout_get(e->world, &spec, strides, out);
}

static tsr_status take_part(eager *e, tsr_tensor *t, tsr_local_type other, tsr_tensor **out)
{
    const tsr_geometry *g = t->geometry;
    const typed_record *record = NULL;
    tensor_layout *layout = NULL;
    tsr_tensor *value = NULL;
    if (!e->spmd->settings.unchecked) {
        tsr_typed_shape shape = {.dtype = t->dtype, .rank = g->rank, .shape = g->shape};
        TSR_TRY(tsr_type_of_sharding(e->world->ctx, e->arena, g->sharding, other, &shape.type));
        TSR_TRY(typed_intern(e, &shape, &record));
    }
    TSR_TRY(eager_reserve(e, 1));
    TSR_TRY(own_layout(e, t->dtype, g->rank, t->local_shape, t->strides, &layout));
    const tsr_status status = alias_tensor(t, layout, &value);
    layout_release(&e->world->layouts, layout);
    return status < 0 ? status : hand_out(e, value, record, out);
}

tsr_status tsr_local_of(tsr_tensor *tensor, tsr_local_type other, tsr_tensor **out)
{
    eager *e = NULL;
    TSR_TRY(typed_scope(tensor->world, "tsr_local_of", &e));
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const tsr_status status = take_part(e, tensor, other, out);
    tsr_arena_reset(e->arena, mark);
    return status;
}

static tsr_status put_together(eager *e, tsr_tensor *value, tsr_tensor **out)
{
    const typed_record *record = record_of(value);
    tsr_tensor_spec spec = {.dtype = value->dtype};
    tensor_layout *layout = NULL;
    if (record == NULL) {
        return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_PLACE,
                          "tsr_tensor_of_local: the value has no type that says how parts belong "
                          "together");
    }
    spec.rank = record->of.rank;
    spec.shape = record->of.shape;
    TSR_TRY(tsr_type_sharding(e->world->ctx, e->arena, record->of.type, spec.rank, &spec.sharding));
    TSR_TRY(eager_reserve(e, 1));
    TSR_TRY(layout_get(e->world, &spec, value->row_major ? NULL : value->strides, &layout));
    tsr_status status = TSR_OK;
    if (layout->elements != value->layout->elements) {
        status = diag_error(e->world->ctx, TSR_ERR_INVALID, NO_PLACE,
                            "tsr_tensor_of_local: rank %lld has another part than its type says",
                            (long long)e->world->rank);
    }
    if (status == TSR_OK) {
        status = alias_tensor(value, layout, out);
    }
    layout_release(&e->world->layouts, layout);
    if (status == TSR_OK) {
        eager_adopt(e, *out);
    }
    return status;
}

tsr_status tsr_tensor_of_local(tsr_tensor *value, tsr_tensor **out)
{
    eager *e = NULL;
    TSR_TRY(typed_scope(value->world, "tsr_tensor_of_local", &e));
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const tsr_status status = put_together(e, value, out);
    tsr_arena_reset(e->arena, mark);
    return status;
}

/* ---- claims ---- */

static tsr_status claim(eager *e, tsr_tensor *value, const char *type, tsr_tensor **out)
{
    const typed_record *record = record_of(value);
    const tsr_typed_shape bare = {
        .dtype = value->dtype, .rank = value->geometry->rank, .shape = value->local_shape};
    tsr_typed_shape claimed;
    tsr_tensor *same = NULL;
    TSR_TRY(eager_reserve(e, 1));
    if (!e->spmd->settings.unchecked) {
        TSR_TRY(read_type(e, type, record != NULL ? &record->of : &bare, &claimed));
        if (record != NULL) {
            TSR_TRY(tsr_type_assert(e->world->ctx, e->arena, record->of.type, claimed.type,
                                    e->spmd->settings.rest, &claimed.type));
        }
        TSR_TRY(typed_intern(e, &claimed, &record));
    }
    TSR_TRY(alias_tensor(value, value->layout, &same));
    same->note = value->note;
    return hand_out(e, same, record, out);
}

tsr_status tsr_assert_type(tsr_tensor *value, const char *type, tsr_tensor **out)
{
    eager *e = NULL;
    TSR_TRY(typed_scope(value->world, "tsr_assert_type", &e));
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const tsr_status status = claim(e, value, type, out);
    tsr_arena_reset(e->arena, mark);
    return status;
}

/* ---- contractions that leave a sum ---- */

/* Sets the axes of out_partial for what is called until they are reset. */
static tsr_status begin_partial(tsr_comm *world, const char *call, const char *names, eager **out)
{
    axis_names axes;
    TSR_TRY(typed_scope(world, call, out));
    TSR_TRY(typed_axes(*out, call, names, &axes));
    for (size_t i = 0; i < axes.count; i++) {
        (*out)->out_partial.bits |= UINT64_C(1) << axes.axes[i];
    }
    return TSR_OK;
}

static tsr_status end_partial(eager *e, tsr_status status)
{
    e->out_partial.bits = 0;
    return status;
}

tsr_status tsr_matmul_partial(tsr_tensor *a, tsr_tensor *b, const char *axes, tsr_tensor **out)
{
    eager *e = NULL;
    TSR_TRY(begin_partial(a->world, "tsr_matmul_partial", axes, &e));
    return end_partial(e, tsr_matmul(a, b, out));
}

tsr_status tsr_einsum_partial(const char *equation, tsr_tensor *const *operands,
                              size_t num_operands, const char *axes, tsr_tensor **out)
{
    eager *e = NULL;
    if (num_operands == 0 || num_operands > 2) {
        return num_operands == 0
                   ? TSR_ERR_INVALID
                   : diag_error(
                         operands[0]->world->ctx, TSR_ERR_UNSUPPORTED, NO_PLACE,
                         "tsr_einsum_partial: of more than two operands it would not be said "
                         "which product leaves the sum; multiply two at a time");
    }
    TSR_TRY(begin_partial(operands[0]->world, "tsr_einsum_partial", axes, &e));
    return end_partial(e, tsr_einsum(equation, operands, num_operands, out));
}

tsr_status tsr_sum_partial(tsr_tensor *x, const size_t *dims, size_t num_dims, const char *axes,
                           tsr_tensor **out)
{
    eager *e = NULL;
    TSR_TRY(begin_partial(x->world, "tsr_sum_partial", axes, &e));
    return end_partial(e, tsr_sum(x, dims, num_dims, out));
}

tsr_status tsr_linear_partial(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias, const char *axes,
                              tsr_tensor **out)
{
    eager *e = NULL;
    tsr_tensor *product = NULL;
    TSR_TRY(begin_partial(x->world, "tsr_linear_partial", axes, &e));
    TSR_TRY(end_partial(e, tsr_linear(x, weight, NULL, &product)));
    if (bias == NULL) {
        *out = product;
        return TSR_OK;
    }
    const tsr_status status = tsr_add(product, bias, out);
    if (e->scope == NULL) {
        tsr_tensor_release(product);
    }
    return status;
}
