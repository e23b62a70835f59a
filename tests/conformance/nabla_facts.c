/*
 * Facts of one-op propagation and layout, from a file of such: nabla_facts FILE. Closes with
 * `N passed, M failed`; statements about numbers need eager tensors and are counted apart.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

#include "statements.h"

enum { MOST = 32 };

/* A fact under way. */
typedef struct fact {
    tsr_context *ctx;
    tsr_arena *arena;
    json_t *json;
    const tsr_mesh *mesh;
} fact;

static const char *text_at(const fact *f, const char *key)
{
    return json_string_value(json_object_get(f->json, key));
}

/* The numbers of a list; how many. */
static size_t numbers(const json_t *list, int64_t *out)
{
    const size_t count = json_array_size(list);
    for (size_t i = 0; i < count && i < MOST; i++) {
        out[i] = json_integer_value(json_array_get(list, i));
    }
    return count < MOST ? count : MOST;
}

static bool make_mesh(fact *f)
{
    const char *names[MOST];
    int64_t sizes[MOST];
    size_t count = 0;
    const char *name;
    json_t *size;
    json_object_foreach(json_object_get(f->json, "mesh"), name, size)
    {
        names[count] = name;
        sizes[count++] = json_integer_value(size);
    }
    const tsr_mesh_spec spec = {.num_axes = count, .axis_names = names, .axis_sizes = sizes};
    return count == 0 || tsr_mesh_create(f->ctx, f->arena, &spec, &f->mesh) == TSR_OK;
}

static const tsr_sharding *sharding_at(const fact *f, const char *text)
{
    const tsr_sharding *s = NULL;
    return text != NULL && tsr_sharding_parse(f->ctx, f->arena, f->mesh, text, &s) == TSR_OK ? s
                                                                                             : NULL;
}

/* A mesh of one axis, and a dimension over all of it. */
static const tsr_geometry *line_of(fact *f, int64_t extent, int64_t shards)
{
    const char *const name = "x";
    const tsr_mesh_spec spec = {.num_axes = 1, .axis_names = &name, .axis_sizes = &shards};
    const tsr_geometry *g = NULL;
    if (tsr_mesh_create(f->ctx, f->arena, &spec, &f->mesh) != TSR_OK) {
        return NULL;
    }
    const tsr_sharding *s = sharding_at(f, "[{\"x\"}]");
    return s != NULL && tsr_geometry_create(f->ctx, f->arena, s, 1, &extent, &g) == TSR_OK ? g
                                                                                           : NULL;
}

static bool check_chunks(fact *f)
{
    int64_t want[MOST];
    const int64_t shards = json_integer_value(json_object_get(f->json, "shards"));
    const tsr_geometry *g =
        line_of(f, json_integer_value(json_object_get(f->json, "extent")), shards);
    bool right = g != NULL && numbers(json_object_get(f->json, "expect"), want) == (size_t)shards;
    for (int64_t i = 0; right && i < shards; i++) {
        int64_t start;
        int64_t size;
        (void)tsr_geometry_box(g, i, &start, &size);
        right = size == want[i];
    }
    return right;
}

/* The coordinate of a device along an axis of a mesh in row-major order. */
static int64_t coordinate(const tsr_mesh *mesh, int64_t device, size_t axis)
{
    for (size_t k = tsr_mesh_num_axes(mesh) - 1; k > axis; k--) {
        device /= tsr_mesh_axis_size(mesh, k);
    }
    return device % tsr_mesh_axis_size(mesh, axis);
}

/* Parts of these sizes, by device, make a dimension of that extent, and are its shards. */
static bool check_global_extent(fact *f)
{
    int64_t local[MOST];
    int64_t sizes[MOST] = {0};
    const int64_t want = json_integer_value(json_object_get(f->json, "expect"));
    const size_t devices = numbers(json_object_get(f->json, "local"), local);
    const char *name = json_string_value(json_array_get(json_object_get(f->json, "axes"), 0));
    size_t axis = 0;
    while (strcmp(tsr_mesh_axis_name(f->mesh, axis), name) != 0) {
        axis++;
    }
    for (size_t i = 0; i < devices; i++) {
        sizes[coordinate(f->mesh, (int64_t)i, axis)] = local[i];
    }
    const tsr_axis_ref ref = tsr_axis_full(f->mesh, axis);
    const tsr_ragged ragged = {.kind = TSR_RAGGED_DYNAMIC, .rows = 1, .sizes = sizes};
    tsr_dim dim = tsr_dim_closed(&ref, 1);
    dim.ragged = &ragged;
    const tsr_sharding_spec spec = {.mesh = f->mesh, .rank = 1, .dims = &dim};
    const tsr_sharding *s = NULL;
    const tsr_geometry *g = NULL;
    bool right = tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_DEFAULT, &s) == TSR_OK &&
                 tsr_geometry_create(f->ctx, f->arena, s, 1, &want, &g) == TSR_OK;
    for (size_t i = 0; right && i < devices; i++) {
        int64_t start;
        int64_t size;
        (void)tsr_geometry_box(g, (int64_t)i, &start, &size);
        right = size == local[i];
    }
    return right;
}

static const tsr_geometry *geometry_at(fact *f, int64_t *shape, size_t *rank)
{
    const tsr_geometry *g = NULL;
    const tsr_sharding *s = sharding_at(f, text_at(f, "sharding"));
    *rank = numbers(json_object_get(f->json, "shape"), shape);
    return s != NULL && tsr_geometry_create(f->ctx, f->arena, s, *rank, shape, &g) == TSR_OK ? g
                                                                                             : NULL;
}

static bool check_local_shape(fact *f)
{
    int64_t shape[MOST];
    int64_t want[MOST];
    int64_t start[MOST];
    int64_t size[MOST];
    size_t rank;
    const tsr_geometry *g = geometry_at(f, shape, &rank);
    if (g == NULL || numbers(json_object_get(f->json, "expect"), want) != rank) {
        return false;
    }
    (void)tsr_geometry_box(g, 0, start, size);
    return memcmp(size, want, rank * sizeof *size) == 0;
}

static bool check_invalid(fact *f)
{
    int64_t shape[MOST];
    size_t rank;
    return geometry_at(f, shape, &rank) == NULL;
}

static bool check_box(fact *f)
{
    int64_t shape[MOST];
    int64_t want_start[MOST];
    int64_t want_size[MOST];
    int64_t start[MOST];
    int64_t size[MOST];
    size_t rank;
    const tsr_geometry *g = geometry_at(f, shape, &rank);
    const json_t *expect = json_object_get(f->json, "expect");
    if (g == NULL || numbers(json_object_get(expect, "start"), want_start) != rank ||
        numbers(json_object_get(expect, "size"), want_size) != rank) {
        return false;
    }
    (void)tsr_geometry_box(g, json_integer_value(json_object_get(f->json, "device")), start, size);
    return memcmp(start, want_start, rank * sizeof *start) == 0 &&
           memcmp(size, want_size, rank * sizeof *size) == 0;
}

/* The operands' shapes of an op. */
typedef struct op_shapes {
    tsr_extents operands[MOST];
    int64_t sizes[MOST][MOST];
    size_t count;
    tsr_extents to;
    int64_t to_sizes[MOST];
    size_t dims[MOST];
    size_t num_dims;
} op_shapes;

static void read_shapes(const fact *f, op_shapes *s)
{
    const json_t *shapes = json_object_get(f->json, "shapes");
    const json_t *dims = json_object_get(f->json, "dims");
    int64_t values[MOST];
    s->count = json_array_size(shapes);
    for (size_t i = 0; i < s->count; i++) {
        s->operands[i] =
            (tsr_extents){numbers(json_array_get(shapes, i), s->sizes[i]), s->sizes[i]};
    }
    s->to = (tsr_extents){numbers(json_object_get(f->json, "to"), s->to_sizes), s->to_sizes};
    dims = dims != NULL ? dims : json_object_get(f->json, "perm");
    s->num_dims = numbers(dims, values);
    for (size_t i = 0; i < s->num_dims; i++) {
        s->dims[i] = (size_t)values[i];
    }
}

static tsr_status rule_at(const fact *f, const op_shapes *s, bool *elementwise,
                          const tsr_rule **out)
{
    const char *op = text_at(f, "op");
    *elementwise = false;
    if (strcmp(op, "matmul") == 0) {
        return tsr_rule_matmul(f->ctx, f->arena, s->operands[0], s->operands[1], out);
    }
    if (strcmp(op, "reduce") == 0 || strcmp(op, "sum") == 0) {
        return tsr_rule_reduce(f->ctx, f->arena, s->operands[0], s->dims, s->num_dims, out);
    }
    if (strcmp(op, "transpose") == 0) {
        return tsr_rule_transpose(f->ctx, f->arena, s->operands[0], s->dims, out);
    }
    if (strcmp(op, "broadcast") == 0) {
        return tsr_rule_broadcast(f->ctx, f->arena, s->operands[0], s->to, NULL, out);
    }
    if (strcmp(op, "reshape") == 0) {
        return tsr_rule_reshape(f->ctx, f->arena, s->operands[0], s->to, out);
    }
    if (strcmp(op, "concatenate") == 0) {
        return tsr_rule_concatenate(f->ctx, f->arena, s->operands, s->count, s->dims[0], out);
    }
    *elementwise = true;
    return tsr_rule_elementwise(f->ctx, f->arena, s->count, s->operands[0], out);
}

/* The same axes in every dimension, open or closed alike. */
static bool same_axes(const tsr_sharding *a, const tsr_sharding *b)
{
    bool same = b != NULL;
    for (size_t d = 0; same && d < tsr_sharding_rank(b); d++) {
        const tsr_dim *y = tsr_sharding_dim(b, d);
        const tsr_dim *x = a != NULL ? tsr_sharding_dim(a, d) : NULL;
        same = x != NULL ? tsr_axes_equal(x->axes, x->num_axes, y->axes, y->num_axes)
                         : y->num_axes == 0;
    }
    return same;
}

static bool check_partial(const fact *f, const tsr_rule *rule, const tsr_sharding *const *operands)
{
    const json_t *expect = json_object_get(f->json, "expect_partial");
    const tsr_axis_ref *axes = NULL;
    size_t count = 0;
    if (expect == NULL) {
        return true;
    }
    bool right =
        tsr_propagate_pending(f->ctx, f->arena, rule, f->mesh, operands, &axes, &count) == TSR_OK &&
        count == json_array_size(expect);
    for (size_t i = 0; right && i < count; i++) {
        const char *name = json_string_value(json_array_get(expect, i));
        right =
            !axes[i].is_sub && strcmp(tsr_mesh_axis_name(f->mesh, (size_t)axes[i].axis), name) == 0;
    }
    return right;
}

static bool check_op(fact *f)
{
    op_shapes shapes;
    const tsr_rule *rule = NULL;
    bool elementwise;
    const tsr_sharding *before[MOST] = {NULL};
    const tsr_sharding *operands[MOST] = {NULL};
    const tsr_sharding *results[1] = {NULL};
    tsr_strategy strategy = TSR_STRATEGY_BASIC;
    const char *named = text_at(f, "strategy");
    read_shapes(f, &shapes);
    if (rule_at(f, &shapes, &elementwise, &rule) != TSR_OK ||
        (named != NULL && !tsr_strategy_find(named, &strategy))) {
        return false;
    }
    for (size_t i = 0; i < shapes.count; i++) {
        const json_t *in = json_array_get(json_object_get(f->json, "in"), i);
        before[i] = sharding_at(f, json_string_value(in));
    }
    const tsr_propagation op = {.rule = rule,
                                .mesh = f->mesh,
                                .strategy = strategy,
                                .elementwise = elementwise,
                                .operands = before};
    if (tsr_propagate(f->ctx, f->arena, &op, operands, results) != TSR_OK) {
        return false;
    }
    const char *out = text_at(f, "expect_out");
    bool right = out == NULL || same_axes(results[0], sharding_at(f, out));
    for (size_t i = 0; i < shapes.count; i++) {
        const json_t *in = json_array_get(json_object_get(f->json, "expect_in"), i);
        right = right && (json_string_value(in) == NULL ||
                          same_axes(operands[i], sharding_at(f, json_string_value(in))));
    }
    return right && check_partial(f, rule, operands);
}

/* A statement that has been turned into a test, by the fact's name. */
static bool check_numbers(fact *f)
{
    const char *id = text_at(f, "id");
    for (size_t i = 0; id != NULL && i < num_statements; i++) {
        if (strcmp(statements[i].name, id) == 0) {
            const tsr_launch_spec spec = {.num_ranks = statements[i].ranks,
                                          .ranks = TSR_RANKS_THREADS};
            return tsr_launch(f->ctx, &spec, statements[i].check, NULL) == TSR_OK;
        }
    }
    printf("%s: a statement that no test has been made of\n", id != NULL ? id : "?");
    return false;
}

static const struct {
    const char *kind;
    bool (*check)(fact *f);
} kinds[] = {
    {"chunks", check_chunks},
    {"global_extent", check_global_extent},
    {"local_shape", check_local_shape},
    {"invalid", check_invalid},
    {"box", check_box},
    {"op", check_op},
    {"numeric", check_numbers},
};

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *facts = argc == 2 ? json_load_file(argv[1], 0, &error) : NULL;
    size_t passed = 0;
    size_t failed = 0;
    size_t not_run = 0;
    size_t index;
    json_t *one;
    if (!json_is_array(facts)) {
        (void)fprintf(stderr, "usage: %s FILE (a JSON array of facts)\n", argv[0]);
        return 2;
    }
    json_array_foreach(facts, index, one)
    {
        fact f = {.json = one};
        bool (*check)(fact *) = NULL;
        const char *kind = text_at(&f, "kind");
        for (size_t i = 0; kind != NULL && i < sizeof kinds / sizeof kinds[0]; i++) {
            check = strcmp(kinds[i].kind, kind) == 0 ? kinds[i].check : check;
        }
        if (check == NULL) {
            not_run++;
            continue;
        }
        const bool right = tsr_context_create(NULL, &f.ctx) == TSR_OK &&
                           tsr_arena_create(f.ctx, &f.arena) == TSR_OK &&
                           (check == check_numbers || make_mesh(&f)) && check(&f);
        if (!right) {
            printf("%s: wrong\n", text_at(&f, "id"));
        }
        passed += right;
        failed += !right;
        tsr_arena_destroy(f.arena);
        tsr_context_destroy(f.ctx);
    }
    json_decref(facts);
    printf("%zu facts of an unknown kind\n%zu passed, %zu failed\n", not_run, passed,
           failed + not_run);
    return failed + not_run == 0 ? 0 : 1;
}
