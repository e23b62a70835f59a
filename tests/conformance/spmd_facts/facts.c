#include "facts.h"

#include <string.h>

#include "base/base.h"
#include "base/diag.h"

static const char *const axis_names[] = {"pp", "dp", "cp", "tp", "ep"};
enum { NUM_AXES = sizeof axis_names / sizeof axis_names[0] };

const char *fact_text(const fact *f, const char *key)
{
    return json_string_value(json_object_get(f->json, key));
}

json_t *fact_input(const fact *f, size_t index)
{
    return json_array_get(json_object_get(f->json, "inputs"), index);
}

size_t fact_num_inputs(const fact *f)
{
    const size_t count = json_array_size(json_object_get(f->json, "inputs"));
    return count < FACT_MOST ? count : FACT_MOST;
}

bool fact_wants_error(const fact *f)
{
    const char *text = fact_text(f, "expect");
    return text != NULL && strcmp(text, "error") == 0;
}

size_t fact_numbers(json_t *list, int64_t *out)
{
    const size_t count = json_array_size(list);
    for (size_t i = 0; i < count && i < FACT_MOST; i++) {
        out[i] = json_integer_value(json_array_get(list, i));
    }
    return count < FACT_MOST ? count : FACT_MOST;
}

/* ---- axes ---- */

tsr_status fact_make_mesh(fact *f, int64_t size)
{
    int64_t sizes[NUM_AXES];
    for (size_t i = 0; i < NUM_AXES; i++) {
        sizes[i] = size;
    }
    const tsr_mesh_spec spec = {
        .num_axes = NUM_AXES, .axis_names = axis_names, .axis_sizes = sizes};
    return tsr_mesh_create(f->ctx, f->arena, &spec, &f->mesh);
}

size_t fact_axes(const fact *f, const char *name, size_t *out)
{
    size_t count = 0;
    while (*name != '\0') {
        const size_t length = strcspn(name, "_");
        const int32_t axis = tsr_mesh_find_axis(f->mesh, name, length);
        if (axis < 0 || count == NUM_AXES) {
            return 0;
        }
        out[count++] = (size_t)axis;
        name += length + (name[length] == '_' ? 1 : 0);
    }
    return count;
}

tsr_axis_set fact_axis_set(const fact *f, json_t *names)
{
    tsr_axis_set set = {0};
    for (size_t i = 0; i < json_array_size(names); i++) {
        size_t axes[NUM_AXES];
        const size_t count = fact_axes(f, json_string_value(json_array_get(names, i)), axes);
        for (size_t k = 0; k < count; k++) {
            set.bits |= UINT64_C(1) << axes[k];
        }
    }
    return set;
}

tsr_axis_set fact_all_axes(const fact *f)
{
    return (tsr_axis_set){(UINT64_C(1) << tsr_mesh_num_axes(f->mesh)) - 1};
}

/* ---- types ---- */

/* The axes at one dimension of a spec: null, a name, or a list of them. */
static size_t axes_at(const fact *f, json_t *at, size_t *out)
{
    size_t count = 0;
    if (json_is_string(at)) {
        return fact_axes(f, json_string_value(at), out);
    }
    for (size_t i = 0; i < json_array_size(at); i++) {
        count += fact_axes(f, json_string_value(json_array_get(at, i)), out + count);
    }
    return count;
}

static tsr_status read_ends(const fact *f, json_t *types, tsr_end *ends)
{
    const char *name;
    json_t *value;
    for (size_t a = 0; a < NUM_AXES; a++) {
        ends[a] = (tsr_end){.kind = TSR_UNTYPED, .dim = TSR_NO_DIM};
    }
    json_object_foreach(types, name, value)
    {
        size_t axes[NUM_AXES];
        const char *axis = strcmp(name, "type") == 0 ? "tp" : name;
        const size_t count = json_is_string(value) ? fact_axes(f, axis, axes) : 0;
        for (size_t k = 0; k < count; k++) {
            TSR_TRY(tsr_end_parse(f->ctx, json_string_value(value), &ends[axes[k]]));
        }
    }
    return TSR_OK;
}

/* Both what the ends say and what the spec says. */
static tsr_status type_of_spec(const fact *f, const tsr_end *ends, json_t *spec,
                               const tsr_type **out)
{
    const size_t dims = json_array_size(spec);
    size_t axes[FACT_MOST][2 * NUM_AXES];
    tsr_spec_dim list[FACT_MOST];
    tsr_axis_type types[NUM_AXES];
    for (size_t a = 0; a < NUM_AXES; a++) {
        types[a] = (tsr_axis_type){ends[a].kind, ends[a].partial};
    }
    for (size_t d = 0; d < dims; d++) {
        list[d] = (tsr_spec_dim){axes_at(f, json_array_get(spec, d), axes[d]), axes[d], NULL};
    }
    const tsr_type_spec made = {f->mesh, types, true, dims, list};
    return tsr_type_create(f->ctx, f->arena, &made, out);
}

static json_t *spec_of(json_t *json)
{
    json_t *spec = json_object_get(json, "spec");
    return json_is_array(spec) ? spec : NULL;
}

tsr_status fact_type(const fact *f, json_t *json, size_t rank, const tsr_type **out)
{
    json_t *types = json_object_get(json, "types");
    json_t *spec = spec_of(json);
    tsr_end ends[NUM_AXES];
    TSR_TRY(read_ends(f, types != NULL ? types : json, ends));
    for (size_t a = 0; f->fill && a < NUM_AXES; a++) {
        bool placed = false;
        for (size_t d = 0; d < json_array_size(spec); d++) {
            size_t axes[2 * NUM_AXES];
            const size_t count = axes_at(f, json_array_get(spec, d), axes);
            for (size_t k = 0; k < count; k++) {
                placed = placed || axes[k] == a;
            }
        }
        if (ends[a].kind == TSR_UNTYPED && !placed) {
            ends[a].kind = TSR_R;
        }
    }
    if (spec != NULL) {
        return type_of_spec(f, ends, spec, out);
    }
    return tsr_type_of_ends(f->ctx, f->arena, f->mesh, ends, rank, NULL, 0, out);
}

/* ---- operands ---- */

/* The whole extent of a dimension of which a rank has `local`. */
static int64_t whole_of(const tsr_type *type, size_t dim, int64_t local)
{
    if (tsr_type_has_spec(type)) {
        const tsr_spec_dim *d = tsr_type_dim(type, dim);
        for (size_t k = 0; k < d->num_axes; k++) {
            local *= tsr_mesh_axis_size(tsr_type_mesh(type), d->axes[k]);
        }
    }
    return local;
}

tsr_status fact_operand(const fact *f, json_t *json, tsr_typed_shape *out)
{
    json_t *scalar = json_object_get(json, "typed_scalar");
    json_t *local = json_object_get(json, "local_shape");
    json_t *whole = json_object_get(json, "global_shape");
    int64_t *shapes = tsr_arena_alloc(f->arena, 2 * FACT_MOST * sizeof(int64_t));
    int64_t *shape = shapes;
    int64_t *part = shapes + FACT_MOST;
    tsr_typed_shape typed = {.dtype = TSR_F32, .rank = 2, .shape = shape, .local = part};
    if (shapes == NULL) {
        return diag_nomem(f->ctx);
    }
    if (!json_is_object(json)) {
        *out = (tsr_typed_shape){.shape = shape, .local = part};
        return TSR_OK;
    }
    shape[0] = shape[1] = part[0] = part[1] = 4;
    if (scalar != NULL) {
        typed.rank = 0;
        TSR_TRY(fact_type(f, scalar, 0, &typed.type));
        *out = typed;
        return TSR_OK;
    }
    if (json_object_get(json, "shape") != NULL) {
        whole = json_object_get(json, "shape");
    }
    if (local != NULL || whole != NULL) {
        typed.rank = fact_numbers(local != NULL ? local : whole, part);
    } else if (spec_of(json) != NULL) {
        typed.rank = json_array_size(spec_of(json));
    }
    for (size_t d = 2; local == NULL && whole == NULL && d < typed.rank; d++) {
        part[d] = 4;
    }
    TSR_TRY(fact_type(f, json, typed.rank, &typed.type));
    for (size_t d = 0; d < typed.rank; d++) {
        shape[d] = local == NULL && whole != NULL ? part[d] : whole_of(typed.type, d, part[d]);
    }
    if (local == NULL && whole != NULL) {
        const int64_t first[NUM_AXES] = {0};
        TSR_TRY(tsr_type_local_shape(f->ctx, &typed, first, part));
    }
    *out = typed;
    return TSR_OK;
}

/* ---- comparing ---- */

bool fact_is_spec(const fact *f, const tsr_type *type, json_t *spec)
{
    const size_t dims = json_is_array(spec) ? json_array_size(spec) : 0;
    bool any = false;
    for (size_t d = 0; d < dims; d++) {
        size_t axes[2 * NUM_AXES];
        const size_t count = axes_at(f, json_array_get(spec, d), axes);
        any = any || count > 0;
        if (!tsr_type_has_spec(type)) {
            continue;
        }
        if (d >= tsr_type_rank(type) || tsr_type_dim(type, d)->num_axes != count ||
            (count > 0 && memcmp(tsr_type_dim(type, d)->axes, axes, count * sizeof axes[0]) != 0)) {
            return false;
        }
    }
    return tsr_type_has_spec(type) ? tsr_type_rank(type) == dims : !any;
}

static bool is_end(const tsr_type *type, size_t axis, tsr_end want)
{
    const tsr_axis_type is = tsr_type_axis(type, axis);
    return is.kind == want.kind && is.partial == want.partial &&
           (want.dim == TSR_NO_DIM || tsr_type_dim_of(type, axis) == want.dim);
}

bool fact_is_type(const fact *f, const tsr_type *type, json_t *expect, bool all)
{
    json_t *types = json_object_get(expect, "types");
    json_t *spec = json_object_get(expect, "spec");
    json_t *partial = json_object_get(expect, "partial");
    tsr_end ends[NUM_AXES];
    if (!json_is_object(expect) || read_ends(f, types != NULL ? types : expect, ends) < 0) {
        return false;
    }
    for (size_t a = 0; a < NUM_AXES; a++) {
        if ((ends[a].kind != TSR_UNTYPED || all) && !is_end(type, a, ends[a])) {
            return false;
        }
        const bool pends = (fact_axis_set(f, partial).bits >> a & 1) != 0;
        if (partial != NULL && pends != (tsr_type_axis(type, a).kind == TSR_P)) {
            return false;
        }
    }
    return spec == NULL || fact_is_spec(f, type, spec);
}
