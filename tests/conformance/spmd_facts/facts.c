#include "facts.h"

#include <string.h>

#include "base/base.h"
#include "base/buffer.h"
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

/* All axes of the current mesh: those that the fact names for it, or that its values have. */
static size_t world_axes(const fact *f, size_t *out)
{
    size_t count = 0;
    json_t *names = json_object_get(f->json, "current_mesh");
    names = json_is_array(names) ? names : json_object_get(f->json, "mesh");
    for (size_t a = 0; a < NUM_AXES; a++) {
        bool has = false;
        for (size_t i = 0; i < json_array_size(names); i++) {
            size_t axes[NUM_AXES];
            const size_t parts = fact_axes(f, json_string_value(json_array_get(names, i)), axes);
            for (size_t k = 0; k < parts; k++) {
                has = has || axes[k] == a;
            }
        }
        for (size_t i = 0; !json_is_array(names) && i < fact_num_inputs(f); i++) {
            json_t *in = fact_input(f, i);
            json_t *types = json_object_get(in, "types");
            has = has || json_object_get(types != NULL ? types : in, axis_names[a]) != NULL;
        }
        if (has) {
            out[count++] = a;
        }
    }
    return count;
}

size_t fact_axes(const fact *f, const char *name, size_t *out)
{
    size_t count = 0;
    if (name == NULL) {
        return 0;
    }
    if (strcmp(name, "world") == 0) {
        return world_axes(f, out);
    }
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

/* An axis of a type as pairs, named as the fact does. */
static tsr_status pairs_of(const fact *f, const size_t *axes, size_t count, tsr_strided_axis *out)
{
    tsr_stride *pairs = tsr_arena_alloc(f->arena, FACT_MOST * sizeof *pairs);
    size_t used = 0;
    if (pairs == NULL) {
        return diag_nomem(f->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        size_t made;
        TSR_TRY(tsr_mesh_axis_strides(f->mesh, tsr_axis_full(f->mesh, axes[i]), FACT_MOST - used,
                                      pairs + used, &made));
        used += made;
    }
    *out = (tsr_strided_axis){pairs, used, {TSR_R, TSR_SUM}};
    return TSR_OK;
}

/* An axis and a part of it, `dp_cp` beside `dp`, are not axes of one set. */
static tsr_status check_apart(const fact *f, json_t *types)
{
    tsr_strided_axis named[FACT_MOST];
    tsr_strided_type none = {0};
    size_t count = 0;
    const char *name;
    json_t *value;
    json_object_foreach(types, name, value)
    {
        size_t axes[NUM_AXES];
        const size_t parts = json_is_string(value) ? fact_axes(f, name, axes) : 0;
        if (parts > 0 && count < FACT_MOST) {
            TSR_TRY(pairs_of(f, axes, parts, &named[count]));
            named[count++].type.kind = TSR_UNTYPED;
        }
    }
    return tsr_type_reaxis(f->ctx, f->arena, &none, named, count, &none);
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

static void print_names(const fact *f, buffer *text, const size_t *axes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_format(text, "%s%s", i > 0 ? "," : "", tsr_mesh_axis_name(f->mesh, axes[i]));
    }
}

/* The one axis, by its name in the fact, that is said to cut a dimension; its parts. */
static size_t only_cut(const fact *f, json_t *types, size_t rank, size_t dim, size_t *axes)
{
    size_t found = 0;
    const char *name;
    json_t *value;
    json_object_foreach(types, name, value)
    {
        tsr_end end;
        size_t parts[NUM_AXES];
        const char *said = json_string_value(value);
        if (said == NULL || said[0] != 'S' || tsr_end_parse(f->ctx, said, &end) < 0) {
            continue;
        }
        const int64_t at = end.dim < 0 ? end.dim + (int64_t)rank : end.dim;
        const size_t count = fact_axes(f, strcmp(name, "type") == 0 ? "tp" : name, parts);
        if (at == (int64_t)dim && count > 1) {
            memcpy(axes, parts, count * sizeof *axes);
            found = found == 0 ? count : NUM_AXES + 1;
        } else if (at == (int64_t)dim) {
            found = NUM_AXES + 1;
        }
    }
    return found <= NUM_AXES ? found : 0;
}

/* The types of axes in braces, as a type has them; those in `written` are at their dimensions. */
static void print_types(const fact *f, buffer *text, const tsr_end *ends, const bool *written)
{
    bool any = false;
    for (size_t a = 0; a < NUM_AXES; a++) {
        if (ends[a].kind != TSR_UNTYPED && !written[a]) {
            buffer_format(text, "%s%s:%s", any ? ", " : "{", tsr_mesh_axis_name(f->mesh, a),
                          ends[a].dim != TSR_NO_DIM
                              ? ""
                              : tsr_axis_type_name((tsr_axis_type){ends[a].kind, ends[a].partial}));
            if (ends[a].dim != TSR_NO_DIM) {
                buffer_format(text, "S(%lld)", (long long)ends[a].dim);
            }
            any = true;
        }
    }
    buffer_string(text, any ? "}" : "");
}

/* The text of a type, `f32[1@tp,1]{dp:R}`: what it may be is for its reader to say. */
static tsr_status type_text(const fact *f, json_t *types, const tsr_end *ends, json_t *spec,
                            size_t rank, const char **out)
{
    buffer text = buffer_new(f->arena);
    bool written[NUM_AXES] = {false};
    buffer_string(&text, "f32[");
    for (size_t d = 0; d < rank; d++) {
        size_t axes[2 * NUM_AXES];
        json_t *at = json_array_get(spec, d);
        const size_t count =
            spec != NULL ? axes_at(f, at, axes) : only_cut(f, types, rank, d, axes);
        buffer_string(&text, d > 0 ? ",1" : "1");
        if (spec != NULL ? !json_is_null(at) : count > 0) {
            buffer_string(&text, "@(");
            print_names(f, &text, axes, count);
            buffer_char(&text, ')');
        }
        for (size_t k = 0; spec == NULL && k < count; k++) {
            written[axes[k]] = true;
        }
    }
    buffer_char(&text, ']');
    for (size_t a = 0; spec != NULL && a < NUM_AXES; a++) {
        written[a] = ends[a].kind == TSR_UNTYPED;
    }
    print_types(f, &text, ends, written);
    return buffer_finish(f->ctx, &text, out);
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
    const char *text = NULL;
    tsr_typed_shape typed;
    TSR_TRY(check_apart(f, types != NULL ? types : json));
    TSR_TRY(type_text(f, types != NULL ? types : json, ends, spec,
                      spec != NULL ? json_array_size(spec) : rank, &text));
    tsr_text source = tsr_text_of("<fact>", text);
    TSR_TRY(tsr_type_read(f->ctx, f->arena, &source, f->mesh, &typed));
    *out = typed.type;
    return TSR_OK;
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
