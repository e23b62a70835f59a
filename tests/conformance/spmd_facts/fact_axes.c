#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "facts.h"

/* ---- pairs ---- */

/* `[[2, 8], [2, 4]]`, or one pair `[2, 8]`. */
static size_t read_pairs(json_t *json, tsr_stride *out)
{
    const size_t count = json_array_size(json);
    if (json_is_integer(json_array_get(json, 0))) {
        *out = (tsr_stride){json_integer_value(json_array_get(json, 0)),
                            json_integer_value(json_array_get(json, 1))};
        return 1;
    }
    for (size_t i = 0; i < count && i < FACT_MOST; i++) {
        (void)read_pairs(json_array_get(json, i), &out[i]);
    }
    return count < FACT_MOST ? count : FACT_MOST;
}

static bool check_equal(const fact *f)
{
    tsr_stride a[FACT_MOST];
    tsr_stride b[FACT_MOST];
    const size_t count_a = read_pairs(fact_input(f, 0), a);
    const size_t count_b = read_pairs(fact_input(f, 1), b);
    return tsr_strides_equal(a, count_a, b, count_b) ==
           json_is_true(json_object_get(f->json, "expect"));
}

/* All pairs of all inputs. */
static size_t all_pairs(const fact *f, tsr_stride *out)
{
    size_t count = 0;
    for (size_t i = 0; i < fact_num_inputs(f); i++) {
        count += read_pairs(fact_input(f, i), out + count);
    }
    return count;
}

static bool check_orthogonal(const fact *f)
{
    tsr_stride pairs[FACT_MOST * FACT_MOST];
    return tsr_strides_orthogonal(pairs, all_pairs(f, pairs)) ==
           json_is_true(json_object_get(f->json, "expect"));
}

static bool check_flatten(const fact *f)
{
    tsr_stride pairs[FACT_MOST * FACT_MOST];
    tsr_stride want[FACT_MOST];
    size_t count = all_pairs(f, pairs);
    const tsr_status status = tsr_strides_flatten(f->ctx, pairs, count, &count);
    if (fact_wants_error(f)) {
        return status < 0;
    }
    return status >= 0 && read_pairs(json_object_get(f->json, "expect"), want) == count &&
           memcmp(pairs, want, count * sizeof pairs[0]) == 0;
}

static bool check_sub_axis(const fact *f)
{
    json_t *expect = json_object_get(f->json, "expect");
    tsr_stride a[FACT_MOST];
    tsr_stride b[FACT_MOST];
    const size_t count_a = read_pairs(fact_input(f, 0), a);
    const size_t count_b = read_pairs(fact_input(f, 1), b);
    bool within = false;
    const bool done = tsr_strides_within(f->ctx, a, count_a, b, count_b, &within) >= 0;
    const bool less = within && !tsr_strides_equal(a, count_a, b, count_b);
    return done && within == json_is_true(json_object_get(expect, "le")) &&
           less == json_is_true(json_object_get(expect, "lt"));
}

static bool check_size(const fact *f)
{
    tsr_stride pairs[FACT_MOST * FACT_MOST];
    return tsr_strides_size(pairs, all_pairs(f, pairs)) ==
           json_integer_value(json_object_get(f->json, "expect"));
}

/* ---- types along pairs ---- */

/* A type along such axes, with room for all of it. */
typedef struct strided {
    tsr_stride pairs[FACT_MOST][FACT_MOST];
    tsr_strided_axis axes[FACT_MOST];
    size_t places[FACT_MOST][FACT_MOST];
    tsr_strided_dim dims[FACT_MOST];
    tsr_strided_type type;
} strided;

/* An axis, `[[2, 8]]`, or one with its type, `[[[2, 8]], "R"]`. */
static bool read_axis(const fact *f, json_t *json, strided *s, size_t at)
{
    const char *kind = json_string_value(json_array_get(json, 1));
    tsr_end end = {.kind = TSR_UNTYPED};
    if (kind != NULL && tsr_end_parse(f->ctx, kind, &end) < 0) {
        return false;
    }
    const size_t count = read_pairs(kind != NULL ? json_array_get(json, 0) : json, s->pairs[at]);
    s->axes[at] = (tsr_strided_axis){s->pairs[at], count, {end.kind, end.partial}};
    return true;
}

static bool read_axes(const fact *f, json_t *json, strided *s)
{
    const size_t count = json_array_size(json);
    for (size_t i = 0; i < count; i++) {
        if (i == FACT_MOST || !read_axis(f, json_array_get(json, i), s, i)) {
            return false;
        }
    }
    s->type = (tsr_strided_type){.num_axes = count, .axes = s->axes};
    return true;
}

/* The axis of a list that is the same pairs. */
static size_t find_axis(const tsr_strided_type *type, json_t *json)
{
    tsr_stride pairs[FACT_MOST];
    const size_t count = read_pairs(json, pairs);
    size_t i = 0;
    while (i < type->num_axes &&
           !tsr_strides_equal(type->axes[i].pairs, type->axes[i].num_pairs, pairs, count)) {
        i++;
    }
    return i;
}

/* A spec of a list of axes for each dimension. */
static bool read_spec(json_t *json, strided *s)
{
    for (size_t d = 0; d < json_array_size(json); d++) {
        json_t *at = json_array_get(json, d);
        for (size_t k = 0; k < json_array_size(at); k++) {
            s->places[d][k] = find_axis(&s->type, json_array_get(at, k));
            if (s->places[d][k] == s->type.num_axes) {
                return false;
            }
        }
        s->dims[d] = (tsr_strided_dim){s->places[d], json_array_size(at)};
    }
    s->type.rank = json_array_size(json);
    s->type.dims = s->dims;
    return true;
}

static size_t num_typed(const tsr_strided_type *type)
{
    size_t count = 0;
    for (size_t i = 0; i < type->num_axes; i++) {
        count += type->axes[i].type.kind != TSR_UNTYPED ? 1 : 0;
    }
    return count;
}

/* Axes that the type says nothing about may be left out of what is expected. */
static bool same_strided(const fact *f, const tsr_strided_type *is)
{
    json_t *expect = json_object_get(f->json, "expect");
    strided want = {0};
    if (!read_axes(f, json_object_get(expect, "types"), &want) ||
        num_typed(&want.type) != num_typed(is)) {
        return false;
    }
    for (size_t i = 0; i < want.type.num_axes; i++) {
        const size_t k =
            find_axis(is, json_array_get(json_array_get(json_object_get(expect, "types"), i), 0));
        if (k == is->num_axes || is->axes[k].type.kind != want.axes[i].type.kind) {
            return false;
        }
    }
    if (!read_spec(json_object_get(expect, "spec"), &want) || want.type.rank != is->rank) {
        return false;
    }
    for (size_t d = 0; d < is->rank; d++) {
        if (want.dims[d].num_axes != is->dims[d].num_axes) {
            return false;
        }
        for (size_t k = 0; k < is->dims[d].num_axes; k++) {
            const tsr_strided_axis *a = &want.axes[want.dims[d].axes[k]];
            const tsr_strided_axis *b = &is->axes[is->dims[d].axes[k]];
            if (!tsr_strides_equal(a->pairs, a->num_pairs, b->pairs, b->num_pairs)) {
                return false;
            }
        }
    }
    return true;
}

static bool check_reaxis(const fact *f)
{
    strided from = {0};
    strided to = {0};
    tsr_strided_type out = {0};
    if (!read_axes(f, fact_input(f, 0), &from) || !read_axes(f, fact_input(f, 1), &to) ||
        !read_spec(fact_input(f, 2), &from)) {
        return false;
    }
    const tsr_status status =
        tsr_type_reaxis(f->ctx, f->arena, &from.type, to.axes, to.type.num_axes, &out);
    return fact_wants_error(f) ? status < 0 : status >= 0 && same_strided(f, &out);
}

/* A mesh in its normal form: `axes` of one input, or one axis for each. */
static bool check_normal_mesh(const fact *f)
{
    json_t *list = json_object_get(f->json, "inputs");
    json_t *expect = json_object_get(f->json, "expect");
    json_t *first = json_array_get(json_array_get(list, 0), 0);
    strided to = {0};
    const tsr_strided_type none = {0};
    tsr_strided_type out = {0};
    if (json_array_size(list) == 1 && json_is_array(json_array_get(first, 0))) {
        list = json_array_get(list, 0);
    }
    if (!read_axes(f, list, &to)) {
        return false;
    }
    const tsr_status status =
        tsr_type_reaxis(f->ctx, f->arena, &none, to.axes, to.type.num_axes, &out);
    if (fact_wants_error(f)) {
        return status < 0;
    }
    bool right = status >= 0 && json_array_size(expect) == out.num_axes;
    for (size_t i = 0; right && i < out.num_axes; i++) {
        tsr_stride pairs[FACT_MOST];
        const size_t count = read_pairs(json_array_get(expect, i), pairs);
        right = tsr_strides_equal(pairs, count, out.axes[i].pairs, out.axes[i].num_pairs);
    }
    return right;
}

/* ---- places ---- */

/* The mesh of a list of names, outermost first. */
static tsr_status mesh_of_names(fact *f, json_t *list)
{
    const char *names[FACT_MOST];
    int64_t sizes[FACT_MOST];
    const size_t count = json_array_size(list);
    for (size_t i = 0; i < count && i < FACT_MOST; i++) {
        names[i] = json_string_value(json_array_get(list, i));
        sizes[i] = 2;
    }
    const tsr_mesh_spec spec = {.num_axes = count, .axis_names = names, .axis_sizes = sizes};
    return tsr_mesh_create(f->ctx, f->arena, &spec, &f->mesh);
}

static bool check_local_axes(const fact *of)
{
    fact f = *of;
    json_t *named = fact_input(&f, 1);
    size_t axes[FACT_MOST];
    tsr_axis_set set;
    tsr_status status = mesh_of_names(&f, fact_input(&f, 0));
    for (size_t i = 0; status >= 0 && i < json_array_size(named); i++) {
        const char *name = json_string_value(json_array_get(named, i));
        axes[i] = (size_t)tsr_mesh_find_axis(f.mesh, name, strlen(name));
    }
    if (status >= 0) {
        status = tsr_local_axes(f.ctx, f.mesh, axes, json_array_size(named), &set);
    }
    if (fact_wants_error(&f)) {
        return status < 0;
    }
    return status >= 0 && set.bits == fact_axis_set(&f, json_object_get(f.json, "expect")).bits;
}

static bool check_shards(const fact *f)
{
    const size_t rank = (size_t)json_integer_value(fact_input(f, 1));
    json_t *order = fact_input(f, 2);
    json_t *types = fact_input(f, 0);
    tsr_end ends[FACT_MOST];
    size_t list[FACT_MOST];
    size_t count = 0;
    const tsr_type *type = NULL;
    tsr_status status = TSR_OK;
    for (size_t a = 0; a < tsr_mesh_num_axes(f->mesh) && status >= 0; a++) {
        const char *text =
            json_string_value(json_object_get(types, tsr_mesh_axis_name(f->mesh, a)));
        ends[a] = (tsr_end){.kind = TSR_UNTYPED, .dim = TSR_NO_DIM};
        status = text != NULL ? tsr_end_parse(f->ctx, text, &ends[a]) : TSR_OK;
    }
    for (size_t i = 0; i < json_array_size(order); i++) {
        count += fact_axes(f, json_string_value(json_array_get(order, i)), list + count);
    }
    if (status >= 0) {
        status = count > 0
                     ? tsr_type_of_ends(f->ctx, f->arena, f->mesh, ends, rank, list, count, &type)
                     : fact_type(f, types, rank, &type);
    }
    return fact_wants_error(f)
               ? status < 0
               : status >= 0 && fact_is_spec(f, type, json_object_get(f->json, "expect"));
}

/* A spec read is one of a type: each axis once, also where one is part of another. */
static bool check_normalize(const fact *f)
{
    json_t *spec = fact_input(f, 0);
    json_t *typed = json_pack("{s:O}", "spec", spec);
    const tsr_type *type = NULL;
    const tsr_status status = fact_type(f, typed, json_array_size(spec), &type);
    json_decref(typed);
    return fact_wants_error(f)
               ? status < 0
               : status >= 0 && fact_is_spec(f, type, json_object_get(f->json, "expect"));
}

static bool check_order(const fact *f)
{
    const tsr_type *types[FACT_MOST];
    size_t order[FACT_MOST];
    size_t count = 0;
    json_t *expect = json_object_get(f->json, "expect");
    tsr_status status = TSR_OK;
    for (size_t i = 0; status >= 0 && i < fact_num_inputs(f); i++) {
        json_t *spec = fact_input(f, i);
        json_t *typed = json_pack("{s:O}", "spec", spec);
        status = fact_type(f, typed, json_array_size(spec), &types[i]);
        json_decref(typed);
    }
    if (status >= 0) {
        status = tsr_types_order(f->ctx, f->arena, types, fact_num_inputs(f), order, &count);
    }
    if (fact_wants_error(f)) {
        return status < 0;
    }
    bool right = status >= 0 && json_array_size(expect) == count;
    for (size_t i = 0; right && i < count; i++) {
        right = strcmp(json_string_value(json_array_get(expect, i)),
                       tsr_mesh_axis_name(f->mesh, order[i])) == 0;
    }
    return right;
}

bool fact_check_mesh_axis(const fact *f)
{
    static const struct {
        const char *op;
        bool (*check)(const fact *f);
    } rows[] = {{"equal", check_equal},
                {"orthogonal", check_orthogonal},
                {"flatten", check_flatten},
                {"sub_axis", check_sub_axis},
                {"size", check_size},
                {"reinterpret_mesh", check_reaxis},
                {"local_axes must be an outer prefix", check_local_axes},
                {"shards_to_spec", check_shards},
                {"normalize_spec", check_normalize},
                {"topological order of shard axes", check_order}};
    const char *op = fact_text(f, "op");
    for (size_t i = 0; op != NULL && i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(op, rows[i].op) == 0) {
            return rows[i].check(f);
        }
    }
    const bool normal = op != NULL && (strstr(op, "mesh") != NULL || strstr(op, "normal") != NULL);
    return normal && check_normal_mesh(f);
}
