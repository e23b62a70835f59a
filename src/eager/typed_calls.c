/* The public calls of typed code: values, claims, contractions that leave a sum, collectives. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/guard.h"
#include "eager/tape.h"
#include "eager/transition.h"
#include "eager/typed.h"
#include "kernel/elementwise.h"
#include "mesh/parts.h"
#include "spmd/view.h"

tsr_status typed_scope(tsr_comm *world, const char *call, eager **out)
{
    TSR_TRY(eager_of(world, out));
    if ((*out)->typing.scope != NULL) {
        return TSR_OK;
    }
    return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s: no scope of typed code is open; call tsr_spmd_open first", call);
}

/* ---- axes by name ---- */

/* All axes of the mesh, outermost first. */
static tsr_status all_axes(const eager *e, const char *call, axis_names *out)
{
    const tsr_mesh *mesh = e->typing.scope->settings.mesh;
    if (tsr_mesh_num_axes(mesh) > sizeof out->axes / sizeof out->axes[0]) {
        return diag_error(e->world->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "%s: the scope's mesh has %zu axes; the maximum for a collective along "
                          "\"world\" is %zu",
                          call, tsr_mesh_num_axes(mesh), sizeof out->axes / sizeof out->axes[0]);
    }
    for (out->count = 0; out->count < tsr_mesh_num_axes(mesh); out->count++) {
        out->refs[out->count] = tsr_axis_full(mesh, out->count);
        out->axes[out->count] = out->count;
    }
    return TSR_OK;
}

tsr_status typed_axes(const eager *e, const char *call, const char *names, axis_names *out)
{
    const tsr_mesh *mesh = e->typing.scope->settings.mesh;
    const char *at = names;
    if (strcmp(names, "world") == 0 && tsr_mesh_find_axis(mesh, names, strlen(names)) < 0) {
        return all_axes(e, call, out);
    }
    bool any_part = false;
    out->count = 0;
    while (*at != '\0') {
        const size_t length = strcspn(at, ",");
        tsr_axis_ref ref;
        if (!mesh_find_part(mesh, at, length, &ref) ||
            out->count == sizeof out->axes / sizeof out->axes[0]) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s: the scope's mesh has no axis \"%.*s\"", call, (int)length, at);
        }
        any_part = any_part || ref.is_sub != 0;
        out->axes[out->count] = (size_t)ref.axis;
        out->refs[out->count++] = ref;
        at += length + (at[length] == ',');
    }
    if (out->count == 0) {
        return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the name of an axis is missing", call);
    }
    return any_part ? tsr_axes_verify(e->world->ctx, e->arena, mesh, out->refs, out->count)
                    : TSR_OK;
}

tsr_status typed_whole_axes(const eager *e, const char *call, const char *names, axis_names *out)
{
    TSR_TRY(typed_axes(e, call, names, out));
    for (size_t i = 0; i < out->count; i++) {
        if (out->refs[i].is_sub != 0) {
            return diag_error(e->world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                              "%s: \"%s\" names a part of axis %s; this call takes whole axes: "
                              "open a scope with a mesh that has the part as an axis",
                              call, names,
                              tsr_mesh_axis_name(e->typing.scope->settings.mesh, out->axes[i]));
        }
    }
    return TSR_OK;
}

/* ---- values ---- */

/* Hands a fresh value out, with its type. */
static tsr_status hand_out(eager *e, tsr_tensor *value, const typed_record *record,
                           tsr_tensor **out)
{
    typed_set(e, value, record);
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
    TSR_TRY(tsr_type_read(ctx, e->arena, &text, e->typing.scope->settings.mesh, out));
    if (text.at != text.size) {
        return diag_error(ctx, TSR_ERR_SYNTAX, NO_LOCATION, "unexpected text after the type: '%s'",
                          text.data + text.at);
    }
    if (out->rank > OP_MAX_RANK) {
        return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "the maximum rank of a value is %d, the type has rank %zu", OP_MAX_RANK,
                          out->rank);
    }
    return TSR_OK;
}

/* How the dimensions of a whole value are cut, whatever the other axes are. */
static tsr_status cuts_of(eager *e, const tsr_type *type, size_t rank, const tsr_sharding **out)
{
    tsr_dim *dims = ARENA_ARRAY(e->arena, tsr_dim, rank);
    tsr_ragged *layouts = ARENA_ARRAY(e->arena, tsr_ragged, rank);
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
        if (spec->sizes != NULL || spec->symbol != NULL) {
            layouts[d] = (tsr_ragged){
                .kind = TSR_RAGGED_DYNAMIC, .rows = 1, .sizes = spec->sizes, .alignment = 1};
            dims[d].ragged = &layouts[d];
        }
    }
    const tsr_sharding_spec spec = {.mesh = tsr_type_mesh(type), .rank = rank, .dims = dims};
    return tsr_sharding_create(e->world->ctx, e->arena, &spec, 0, out);
}

tsr_status typed_part(eager *e, const tsr_typed_shape *shape, int64_t *start, int64_t *local)
{
    const tsr_sharding *sharding = NULL;
    const tsr_geometry *geometry = NULL;
    if (!tsr_type_has_spec(shape->type)) {
        for (size_t d = 0; d < shape->rank; d++) {
            start[d] = 0;
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

tsr_status typed_check_part(eager *e, const char *call, const tsr_tensor *value,
                            const tsr_typed_shape *shape, const char *type)
{
    int64_t start[OP_MAX_RANK];
    int64_t part[OP_MAX_RANK];
    const op_type mine = type_of_layout(value->layout);
    TSR_TRY(typed_part(e, shape, start, part));
    if (shape->dtype == mine.dtype && shape->rank == mine.rank &&
        memcmp(part, mine.shape, mine.rank * sizeof *part) == 0) {
        return TSR_OK;
    }
    return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s: rank %lld has %s, which is not its part of %s", call,
                      (long long)e->world->rank, op_type_text(&mine).text, type);
}

tsr_status typed_read(eager *e, const char *type, tsr_typed_shape *out)
{
    if (type[0] == '{') {
        return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the type '%s' must begin with an element type and a shape", type);
    }
    return read_type(e, type, NULL, out);
}

/* Whether a view has memory for its elements, of which there may be none. */
static tsr_status check_elements(const tsr_comm *world, const tsr_view *local)
{
    bool is_empty = tsr_comm_is_abstract(world);
    for (size_t d = 0; d < local->rank; d++) {
        if (local->shape[d] < 0) {
            return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "tsr_typed_value: dimension %zu of the array is %lld", d,
                              (long long)local->shape[d]);
        }
        is_empty = is_empty || local->shape[d] == 0;
    }
    return is_empty || local->data != NULL
               ? TSR_OK
               : diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                            "tsr_typed_value: the array has no memory (local->data is NULL)");
}

static tsr_status make_value(eager *e, const tsr_view *local, const char *type, tsr_tensor **out)
{
    if (local->rank > OP_MAX_RANK) {
        return diag_error(e->world->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "tsr_typed_value: the maximum rank of a value is %d, got: %zu",
                          OP_MAX_RANK, local->rank);
    }
    const op_type mine = {.dtype = local->dtype, .rank = local->rank, .shape = local->shape};
    TSR_TRY(check_elements(e->world, local));
    const tsr_typed_shape like = {.dtype = local->dtype, .rank = local->rank, .shape = mine.shape};
    const typed_record *record = NULL;
    tsr_tensor *value = NULL;
    tsr_typed_shape shape;
    TSR_TRY(eager_reserve(e, 1));
    TSR_TRY(read_type(e, type, &like, &shape));
    if (!e->typing.scope->settings.unchecked) {
        int64_t start[OP_MAX_RANK];
        int64_t part[OP_MAX_RANK];
        TSR_TRY(typed_part(e, &shape, start, part));
        if (shape.dtype != mine.dtype || shape.rank != mine.rank ||
            (mine.rank > 0 && memcmp(part, mine.shape, mine.rank * sizeof *part) != 0)) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "tsr_typed_value: rank %lld has %s, which is not its part of %s",
                              (long long)e->world->rank, op_type_text(&mine).text, type);
        }
    }
    TSR_TRY(typed_intern(e, &shape, &record));
    TSR_TRY(local_value(e, mine.dtype, mine.rank, mine.shape, &value));
    const tsr_view to = {value->data, mine.dtype, mine.rank, value->local_shape, value->strides};
    if (!is_abstract(value)) {
        eager_copy_view(&to, local);
    }
    return hand_out(e, value, record, out);
}

tsr_status tsr_typed_value(tsr_comm *world, const tsr_view *local, const char *type,
                           tsr_tensor **out)
{
    GUARD(tsr_typed_value);
    eager *e = NULL;
    TSR_TRY(typed_scope(world, "tsr_typed_value", &e));
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const tsr_status status = make_value(e, local, type, out);
    tsr_arena_reset(e->arena, mark);
    return status;
}

tsr_status tsr_type_of(const tsr_tensor *value, tsr_arena *arena, const char **out)
{
    GUARD(tsr_type_of);
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
    TSR_TRY(tsr_sharding_replicated_over(e->world->ctx, e->arena, e->typing.mesh, rank, false,
                                         &spec.sharding));
    return layout_get(e->world, &spec, strides, out);
}

/* The tape does not go back between wholes and parts: a gradient would be lost without a word. */
static tsr_status refuse_taped(const eager *e, const char *call, tsr_tensor *t)
{
    if (!tape_wants(e, &t, 1)) {
        return TSR_OK;
    }
    return diag_error(e->world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                      "%s: the tensor depends on a watched tensor, but this call has no gradient; "
                      "watch its result, or pause the tape",
                      call);
}

static tsr_status take_part(eager *e, tsr_tensor *t, tsr_local_type other, tsr_tensor **out)
{
    const tsr_geometry *g = t->geometry;
    const typed_record *record = NULL;
    tensor_layout *layout = NULL;
    tsr_tensor *value = NULL;
    tsr_typed_shape shape = {.dtype = t->dtype, .rank = g->rank, .shape = g->shape};
    TSR_TRY(tsr_type_of_sharding(e->world->ctx, e->arena, g->sharding, other, &shape.type));
    TSR_TRY(typed_intern(e, &shape, &record));
    TSR_TRY(eager_reserve(e, 1));
    TSR_TRY(own_layout(e, t->dtype, g->rank, t->local_shape, t->strides, &layout));
    const tsr_status status = alias_tensor(t, layout, &value);
    layout_release(&e->world->state->layouts, layout);
    return status < 0 ? status : hand_out(e, value, record, out);
}

tsr_status tsr_local_of(tsr_tensor *tensor, tsr_local_type other, tsr_tensor **out)
{
    GUARD(tsr_local_of);
    eager *e = NULL;
    TSR_TRY(typed_scope(tensor->world, "tsr_local_of", &e));
    if (record_of(tensor) != NULL) {
        return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_local_of: the tensor is already a typed value; use it directly, or "
                          "change its type with tsr_reinterpret or tsr_convert_type");
    }
    TSR_TRY(refuse_taped(e, "tsr_local_of", tensor));
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
        return diag_error(
            e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "tsr_tensor_of_local: the value has no type, so the arrangement of its parts is "
            "unknown; state it with tsr_assert_type(value, \"f32[8@axis]\", ..)");
    }
    spec.rank = record->of.rank;
    spec.shape = record->of.shape;
    TSR_TRY(spmd_sharding_on(e->world->ctx, e->arena, record->of.type,
                             e->typing.scope->settings.mesh, spec.rank, &spec.sharding));
    TSR_TRY(eager_reserve(e, 1));
    TSR_TRY(layout_get(e->world, &spec, value->row_major ? NULL : value->strides, &layout));
    tsr_status status = TSR_OK;
    if (layout->elements != value->layout->elements) {
        status = diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                            "tsr_tensor_of_local: the part of rank %lld does not match its type",
                            (long long)e->world->rank);
    }
    if (status == TSR_OK) {
        status = alias_tensor(value, layout, out);
    }
    layout_release(&e->world->state->layouts, layout);
    if (status == TSR_OK) {
        eager_adopt(e, *out);
    }
    return status;
}

tsr_status tsr_tensor_of_local(tsr_tensor *value, tsr_tensor **out)
{
    GUARD(tsr_tensor_of_local);
    eager *e = NULL;
    TSR_TRY(typed_scope(value->world, "tsr_tensor_of_local", &e));
    TSR_TRY(refuse_taped(e, "tsr_tensor_of_local", value));
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const tsr_status status = put_together(e, value, out);
    tsr_arena_reset(e->arena, mark);
    return status;
}

/* ---- claims ---- */

/* The whole shape for a claim that gives none: an axis that is put into a spec makes its dimension
 * larger. */
static void grow_whole(const tsr_typed_shape *before, const tsr_type *type, int64_t *whole)
{
    const tsr_mesh *mesh = tsr_type_mesh(type);
    memcpy(whole, before->shape, before->rank * sizeof *whole);
    for (size_t a = 0; tsr_type_has_spec(type) && a < tsr_mesh_num_axes(mesh); a++) {
        const int64_t dim = tsr_type_dim_of(type, a);
        const bool had = before->type != NULL && tsr_type_dim_of(before->type, a) >= 0;
        if (dim >= 0 && !had) {
            whole[dim] *= tsr_mesh_axis_size(mesh, a);
        }
    }
}

/* The type of a value with what is claimed of it, on a mesh that has all parts of both. */
static tsr_status refine(eager *e, const typed_record *record, const char *type,
                         tsr_typed_shape *before, tsr_typed_shape *claimed)
{
    const bool typed = record != NULL && !e->typing.scope->settings.unchecked;
    const tsr_mesh *mesh = NULL;
    int64_t *whole = ARENA_ARRAY(e->arena, int64_t, before->rank + 1);
    if (whole == NULL) {
        return diag_nomem(e->world->ctx);
    }
    TSR_TRY(read_type(e, type, before, claimed));
    const tsr_type *both[] = {claimed->type, before->type};
    TSR_TRY(typed_meet(e, both, record != NULL ? 2 : 1, NULL, &mesh));
    claimed->type = both[0];
    before->type = record != NULL ? both[1] : NULL;
    if (typed) {
        TSR_TRY(tsr_type_assert(e->world->ctx, e->arena, before->type, claimed->type,
                                e->typing.scope->settings.rest, &claimed->type));
    }
    if (type[0] == '{') {
        grow_whole(before, claimed->type, whole);
        claimed->shape = whole;
    }
    return spmd_join(e->world->ctx, e->arena, e->typing.scope->settings.mesh, claimed->type,
                     &claimed->type);
}

static tsr_status claim(eager *e, tsr_tensor *value, const char *type, tsr_tensor **out)
{
    const typed_record *record = record_of(value);
    tsr_typed_shape before = {
        .dtype = value->dtype, .rank = value->geometry->rank, .shape = value->local_shape};
    tsr_typed_shape claimed;
    tsr_tensor *same = NULL;
    before = record != NULL ? record->of : before;
    TSR_TRY(eager_reserve(e, 1));
    TSR_TRY(refine(e, record, type, &before, &claimed));
    if (!e->typing.scope->settings.unchecked) {
        TSR_TRY(typed_check_part(e, "tsr_assert_type", value, &claimed, type));
    }
    TSR_TRY(typed_intern(e, &claimed, &record));
    TSR_TRY(alias_tensor(value, value->layout, &same));
    same->note = value->note;
    return hand_out(e, same, record, out);
}

tsr_status tsr_assert_type(tsr_tensor *value, const char *type, tsr_tensor **out)
{
    GUARD(tsr_assert_type);
    eager *e = NULL;
    TSR_TRY(typed_scope(value->world, "tsr_assert_type", &e));
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const tsr_status status = claim(e, value, type, out);
    tsr_arena_reset(e->arena, mark);
    return status;
}

/* ---- regions where axes are local ---- */

static int64_t shards_of(const tsr_mesh *mesh, const size_t *axes, size_t count)
{
    int64_t shards = 1;
    for (size_t i = 0; i < count; i++) {
        shards *= tsr_mesh_axis_size(mesh, axes[i]);
    }
    return shards;
}

/*
 * A type without some axes in its spec. A dimension that they cut is as large as the parts that the
 * ranks have along the other axes that cut it.
 */
static tsr_status without_places(eager *e, const axis_names *axes, const tsr_tensor *value,
                                 tsr_typed_shape *shape)
{
    const tsr_mesh *mesh = NULL;
    tsr_axis_set local = {0};
    TSR_TRY(typed_meet(e, &shape->type, 1, NULL, &mesh));
    for (size_t i = 0; i < axes->count; i++) {
        local.bits |= UINT64_C(1) << axes->axes[i];
    }
    local = spmd_map_axes(e->typing.scope->settings.mesh, local, mesh);
    const size_t num_axes = tsr_mesh_num_axes(mesh);
    const size_t rank = tsr_type_has_spec(shape->type) ? shape->rank : 0;
    tsr_axis_type *kinds = ARENA_ARRAY(e->arena, tsr_axis_type, num_axes);
    tsr_spec_dim *dims = ARENA_ARRAY(e->arena, tsr_spec_dim, rank);
    size_t *kept = ARENA_ARRAY(e->arena, size_t, num_axes);
    int64_t *whole = ARENA_ARRAY(e->arena, int64_t, shape->rank);
    size_t used = 0;
    if (kinds == NULL || dims == NULL || kept == NULL || whole == NULL) {
        return diag_nomem(e->world->ctx);
    }
    for (size_t a = 0; a < num_axes; a++) {
        kinds[a] = tsr_type_axis(shape->type, a);
    }
    memcpy(whole, shape->shape, shape->rank * sizeof *whole);
    for (size_t d = 0; d < rank; d++) {
        const tsr_spec_dim *old = tsr_type_dim(shape->type, d);
        dims[d] = (tsr_spec_dim){.axes = kept + used};
        for (size_t i = 0; i < old->num_axes; i++) {
            if (!axis_in_set(local, old->axes[i])) {
                kept[used++] = old->axes[i];
                dims[d].num_axes++;
            }
        }
        if (dims[d].num_axes < old->num_axes) {
            const int64_t rest = shards_of(mesh, dims[d].axes, dims[d].num_axes);
            const int64_t all = shards_of(mesh, old->axes, old->num_axes);
            const bool even =
                old->sizes == NULL && old->symbol == NULL && shape->shape[d] % all == 0;
            whole[d] = value->local_shape[d] * rest;
            if (rest > 1 && !even) {
                return diag_error(
                    e->world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                    "tsr_local_map: dimension %zu, of %lld rows, is cut unevenly by axes that "
                    "become local and by axes that stay global, so its extent would differ between "
                    "ranks of the global axes; make it a multiple of %lld",
                    d, (long long)shape->shape[d], (long long)all);
            }
        }
    }
    const tsr_type_spec spec = {.mesh = mesh,
                                .axes = kinds,
                                .has_spec = tsr_type_has_spec(shape->type),
                                .rank = rank,
                                .dims = dims};
    shape->shape = whole;
    TSR_TRY(tsr_type_create(e->world->ctx, e->arena, &spec, &shape->type));
    return spmd_join(e->world->ctx, e->arena, e->typing.scope->settings.mesh, shape->type,
                     &shape->type);
}

/* The same value without some axes in its spec. */
static tsr_status forget(eager *e, const axis_names *axes, tsr_tensor *value, tsr_tensor **out)
{
    const typed_record *record = record_of(value);
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    tsr_tensor *same = NULL;
    tsr_status status = eager_reserve(e, 1);
    if (status == TSR_OK && record != NULL) {
        tsr_typed_shape shape = record->of;
        status = without_places(e, axes, value, &shape);
        if (status == TSR_OK) {
            status = typed_intern(e, &shape, &record);
        }
    }
    tsr_arena_reset(e->arena, mark);
    TSR_TRY(status);
    TSR_TRY(alias_tensor(value, value->layout, &same));
    same->note = value->note;
    return hand_out(e, same, record, out);
}

/* Refuses a declaration for what has no type, and one that leaves out axes or contradicts. */
static tsr_status check_declared(eager *e, const tsr_tensor *input, const char *type, size_t index)
{
    const typed_record *record = record_of(input);
    const tsr_type *declared[EAGER_MAX_OPERANDS] = {NULL};
    const tsr_type *values[EAGER_MAX_OPERANDS] = {NULL};
    tsr_typed_shape said;
    if (!is_typing(e)) {
        return TSR_OK;
    }
    if (record == NULL) {
        return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_local_map: input %zu has no type, but %s is declared", index, type);
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    tsr_status status = read_type(e, type, &record->of, &said);
    if (status == TSR_OK) {
        const tsr_type *both[] = {record->of.type, said.type};
        const tsr_mesh *mesh = NULL;
        status = typed_meet(e, both, 2, NULL, &mesh);
        values[index] = both[0];
        declared[index] = both[1];
    }
    if (status == TSR_OK) {
        status = tsr_local_map_check(e->world->ctx, e->arena, values, declared, index + 1);
    }
    tsr_arena_reset(e->arena, mark);
    return status;
}

/* Inputs with the types that are declared, as the region sees them. */
static tsr_status enter_region(eager *e, const axis_names *axes, tsr_tensor *const *inputs,
                               const char *const *types, size_t count, tsr_tensor **inner)
{
    for (size_t i = 0; i < count; i++) {
        tsr_tensor *checked = inputs[i];
        if (types[i] != NULL) {
            TSR_TRY(check_declared(e, inputs[i], types[i], i));
            TSR_TRY(tsr_assert_type(inputs[i], types[i], &checked));
        }
        TSR_TRY(forget(e, axes, checked, &inner[i]));
    }
    return TSR_OK;
}

static tsr_status run_region(eager *e, const axis_names *axes, const tsr_local_region *r,
                             tsr_tensor **found)
{
    tsr_tensor *inner[EAGER_MAX_OPERANDS];
    tsr_spmd_scope settings = e->typing.scope->settings;
    TSR_TRY(enter_region(e, axes, r->inputs, r->input_types, r->num_inputs, inner));
    for (size_t i = 0; i < axes->count; i++) {
        settings.global.bits &= ~(UINT64_C(1) << axes->axes[i]);
    }
    TSR_TRY(tsr_spmd_open(e->world, &settings));
    const tsr_status status = r->region(e->world, inner, found, r->state);
    const tsr_status closed = tsr_spmd_close(e->world);
    return status < 0 ? status : closed;
}

tsr_status tsr_local_map(tsr_comm *world, const char *axes, const tsr_local_region *region,
                         tsr_tensor **outputs)
{
    GUARD(tsr_local_map);
    eager *e = NULL;
    axis_names named;
    tsr_tensor *found[EAGER_MAX_OPERANDS] = {NULL};
    TSR_TRY(typed_scope(world, "tsr_local_map", &e));
    TSR_TRY(typed_whole_axes(e, "tsr_local_map", axes, &named));
    if (region->num_inputs > EAGER_MAX_OPERANDS || region->num_outputs > EAGER_MAX_OPERANDS) {
        return diag_error(world->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "tsr_local_map: %zu inputs and %zu outputs; the maximum is %d each",
                          region->num_inputs, region->num_outputs, EAGER_MAX_OPERANDS);
    }
    if (e->scope == NULL) {
        return diag_error(
            world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "tsr_local_map: no scope is open to own its results; call tsr_scope_open first");
    }
    TSR_TRY(run_region(e, &named, region, found));
    for (size_t k = 0; k < region->num_outputs; k++) {
        if (found[k] == NULL) {
            return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "tsr_local_map: the region did not set output %zu", k);
        }
        if (region->output_types[k] == NULL) {
            outputs[k] = found[k];
            continue;
        }
        TSR_TRY(tsr_assert_type(found[k], region->output_types[k], &outputs[k]));
    }
    return TSR_OK;
}

/* ---- numbers that steer ---- */

tsr_status tsr_read_number(const tsr_tensor *value, tsr_typed_number *out)
{
    GUARD(tsr_read_number);
    const typed_record *record = record_of(value);
    tsr_context *ctx = value->world->ctx;
    tsr_typed_number found = {0};
    if (value->geometry->rank != 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_read_number: the value must have rank 0");
    }
    for (size_t a = 0; record != NULL && a < tsr_mesh_num_axes(tsr_type_mesh(record->of.type));
         a++) {
        const tsr_axis_type type = tsr_type_axis(record->of.type, a);
        if (type.kind == TSR_P) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "tsr_read_number: along axis %s the value is %s, not one number; "
                              "all_reduce it first",
                              tsr_mesh_axis_name(tsr_type_mesh(record->of.type), a),
                              tsr_axis_type_name(type));
        }
        found.varies.bits |= type.kind == TSR_V ? UINT64_C(1) << a : 0;
    }
    const eager *e = eager_if_any(value->world);
    if (record != NULL && e != NULL && e->typing.scope != NULL) {
        found.varies = spmd_map_axes(tsr_type_mesh(record->of.type), found.varies,
                                     e->typing.scope->settings.mesh);
    }
    const tsr_view from = {value->data, value->dtype, 0, NULL, NULL};
    const tsr_view to = {&found.number, TSR_F64, 0, NULL, NULL};
    if (!convert_supports(value->dtype, TSR_F64)) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "tsr_read_number: the element type %s is not a real number",
                          tsr_dtype_name(value->dtype));
    }
    if (!is_abstract(value)) {
        kernel_convert(&to, &from);
    }
    *out = found;
    return TSR_OK;
}

bool tsr_if(tsr_comm *world, const tsr_typed_number *number, bool condition)
{
    GUARD(tsr_if);
    eager *e = eager_if_any(world);
    spmd_scope *scope = e != NULL ? e->typing.scope : NULL;
    if (scope != NULL) {
        const size_t most = sizeof scope->steered / sizeof scope->steered[0];
        if (scope->num_steered < most) {
            scope->steered[scope->num_steered] = number->varies;
        } else { /* those that nest deeper share the last entry: more is refused, nothing less */
            scope->steered[most - 1].bits |= number->varies.bits;
        }
        scope->num_steered++;
    }
    return condition;
}

void tsr_end_if(tsr_comm *world)
{
    GUARD(tsr_end_if);
    const eager *e = eager_if_any(world);
    if (e != NULL && e->typing.scope != NULL && e->typing.scope->num_steered > 0) {
        e->typing.scope->num_steered--;
    }
}

/* The axes along which conditions around vary: also those around scopes that were opened since. */
static uint64_t steered_axes(const eager *e)
{
    uint64_t bits = 0;
    for (const spmd_scope *scope = e->typing.scope; scope != NULL; scope = scope->outer) {
        const size_t most = sizeof scope->steered / sizeof scope->steered[0];
        const bool same_mesh = scope->settings.mesh == e->typing.scope->settings.mesh;
        for (size_t i = 0; same_mesh && i < scope->num_steered && i < most; i++) {
            bits |= scope->steered[i].bits;
        }
    }
    return bits;
}

tsr_status typed_check_steered(const eager *e, const char *call, const axis_names *axes)
{
    const uint64_t steered = steered_axes(e);
    for (size_t a = 0; a < axes->count; a++) {
        if (steered >> axes->axes[a] & 1) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s along axis %s is inside a condition that varies along it, so "
                              "some ranks never enter the call; make the condition equal on all "
                              "ranks first, for example with all_reduce",
                              call,
                              tsr_mesh_axis_name(e->typing.scope->settings.mesh, axes->axes[a]));
        }
    }
    return TSR_OK;
}
