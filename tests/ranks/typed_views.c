/*
 * Typed code on several views of the same ranks, and on parts of axes: types, collectives along
 * parts, gradients, tensors. Each function runs in a scope of its own on `<["x"=4]>`.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

enum { RANKS = 4, MOST = 16 };

/* The scope's mesh, another view of it, and one that overlaps it. */
typedef struct meshes {
    const tsr_mesh *whole;
    const tsr_mesh *parts;
} meshes;

/* A vector whose elements are 1, 2, 3 .., with ten times the rank added unless they are the same.
 */
static tsr_status vector(tsr_comm *world, int64_t rows, bool same, const char *type,
                         tsr_tensor **out)
{
    double elements[MOST];
    for (int64_t i = 0; i < MOST; i++) {
        elements[i] = (double)(i + 1 + (same ? 0 : 10 * tsr_comm_rank(world)));
    }
    const tsr_view view = {elements, TSR_F64, 1, &rows, NULL};
    return tsr_typed_value(world, &view, type, out);
}

static bool has_type(const tsr_tensor *value, const char *type)
{
    tsr_comm *world = tsr_tensor_world(value);
    tsr_arena *arena = NULL;
    const char *text = NULL;
    bool same = false;
    if (tsr_arena_create(tsr_comm_context(world), &arena) == TSR_OK &&
        tsr_type_of(value, arena, &text) == TSR_OK) {
        same = strcmp(text, type) == 0;
        if (!same) {
            (void)fprintf(stderr, "%s where %s is wanted\n", text, type);
        }
    }
    tsr_arena_destroy(arena);
    return same;
}

static const double *numbers(const tsr_tensor *value)
{
    return tsr_tensor_data(value);
}

/* ---- other views ---- */

/* Operands of two views in one call, in the scope of either. */
static tsr_status views_mix(tsr_comm *world, const meshes *m)
{
    tsr_tensor *v = NULL;
    tsr_tensor *r = NULL;
    tsr_tensor *s = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, false, "f64[2]{x:V}", &v));
    TSR_TRY(vector(world, 2, false, "f64[8@x]", &s));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = m->parts, .strict = true}));
    TSR_TRY(vector(world, 2, true, "f64[2]{a:R, b:R}", &r));
    TSR_TRY(tsr_mul(v, r, &y));
    WANT(world, has_type(y, "f64[2]{a:V, b:V}"));
    TSR_TRY(tsr_all_gather(s, "b", TSR_AS_S(0), TSR_AS(R), NULL, &y));
    WANT(world, has_type(y, "f64[8@a]{b:R}"));
    TSR_TRY(tsr_all_reduce(v, "a", TSR_AS(P), TSR_AS(R), NULL, &y)); /* V is taken for P */
    WANT(world, has_type(y, "f64[2]{a:R, b:V}"));
    WANT(world, numbers(y)[0] == 2 + 20 * (double)(tsr_comm_rank(world) % 2) + 20);
    TSR_TRY(tsr_assert_type(s, "{b:S(0)}", &y));
    WANT(world, has_type(y, "f64[8@(a,b)]"));
    TSR_TRY(tsr_spmd_close(world));
    TSR_TRY(tsr_add(v, r, &y));
    WANT(world, has_type(y, "f64[2]{x:V}"));
    TSR_TRY(tsr_reinterpret(r, "x", TSR_AS(R), TSR_AS(P), NULL, &y));
    WANT(world, has_type(y, "f64[2]{x:P}"));
    TSR_TRY(tsr_all_reduce(y, "x", TSR_AS(P), TSR_AS(I), NULL, &y));
    WANT(world, has_type(y, "f64[2]{x:I}") && numbers(y)[1] == 8);
    return TSR_OK;
}

/* Parts that disagree, orders that differ, groups that overlap. */
static tsr_status views_refused(tsr_comm *world, const meshes *m)
{
    tsr_tensor *mixed = NULL;
    tsr_tensor *turned = NULL;
    tsr_tensor *r = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, true, "f64[2]{x:R}", &r));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = m->parts}));
    TSR_TRY(vector(world, 2, true, "f64[2]{a:R, b:V}", &mixed));
    TSR_TRY(vector(world, 2, true, "f64[8@(b,a)]", &turned));
    TSR_TRY(tsr_spmd_close(world));
    WANT(world, tsr_mul(r, mixed, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "R along axis a (ranks 0, 2) and V along axis b (ranks 0, 1), which "
                             "are parts of axis x (ranks 0, 1, 2, 3) of the current mesh"));
    WANT(world, tsr_all_reduce(mixed, "x", TSR_AS(P), TSR_AS(R), NULL, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "are parts of axis x"));
    WANT(world, tsr_assert_type(mixed, "{x:V}", &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "are parts of axis x"));
    WANT(world, tsr_mul(r, turned, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "in that order"));
    return TSR_OK;
}

/* ---- parts of axes ---- */

/* A sum along each part, then along both; started too. */
static tsr_status sums_along_parts(tsr_comm *world, const meshes *m)
{
    const double rank = (double)tsr_comm_rank(world);
    const double other = (double)(tsr_comm_rank(world) ^ 2);
    const tsr_transition reduce = {.op = TSR_ALL_REDUCE, .src = TSR_AS(P), .dst = TSR_AS(R)};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *z = NULL;
    tsr_started under_way;
    (void)m;
    TSR_TRY(vector(world, 2, false, "f64[2]{x:(1)2:P, x:(2)2:P}", &x));
    WANT(world, has_type(x, "f64[2]{x:P}"));
    TSR_TRY(tsr_all_reduce(x, "x:(1)2", TSR_AS(P), TSR_AS(R), NULL, &y));
    WANT(world, has_type(y, "f64[2]{x:(1)2:R, x:(2)2:P}"));
    WANT(world, numbers(y)[0] == 2 + 10 * (rank + other));
    TSR_TRY(tsr_start_collective(x, "x:(1)2", &reduce, NULL, &under_way));
    TSR_TRY(tsr_wait_value(world, under_way, &z));
    WANT(world, has_type(z, "f64[2]{x:(1)2:R, x:(2)2:P}"));
    WANT(world, memcmp(numbers(y), numbers(z), 2 * sizeof(double)) == 0);
    WANT(world, tsr_all_reduce(y, "x", TSR_AS(P), TSR_AS(R), NULL, &z) == TSR_ERR_INVALID);
    tsr_context_clear(tsr_comm_context(world));
    WANT(world, tsr_mul(x, y, &z) == TSR_ERR_INVALID);
    WANT(world, heard(world, "along axis x:(2)2: a product of pending sums"));
    TSR_TRY(tsr_all_reduce(y, "x:(2)2", TSR_AS(P), TSR_AS(R), NULL, &y));
    WANT(world, has_type(y, "f64[2]{x:R}") && numbers(y)[1] == 8 + 60);
    TSR_TRY(tsr_all_reduce(x, "x:(2)2,x:(1)2", TSR_AS(P), TSR_AS(R), NULL, &z));
    WANT(world, has_type(z, "f64[2]{x:R}") && numbers(z)[1] == 8 + 60);
    TSR_TRY(tsr_redistribute_type(x, "x:(2)2", TSR_AS(P), TSR_AS(I), NULL, &z));
    WANT(world, has_type(z, "f64[2]{x:(1)2:P, x:(2)2:I}"));
    TSR_TRY(tsr_all_reduce_in_place(x, "x:(1)2", TSR_AS(P), TSR_AS(R)));
    WANT(world, has_type(x, "f64[2]{x:(1)2:R, x:(2)2:P}"));
    return TSR_OK;
}

/* Names that are no parts, and parts that overlap. */
static tsr_status bad_names(tsr_comm *world, const meshes *m)
{
    static const struct {
        const char *axis;
        const char *message;
    } rows[] = {{"x:(1)3", "\"x\":(1)3"},
                {"y:(1)2", "has no axis \"y:(1)2\""},
                {"x:(1)", "has no axis \"x:(1)\""},
                {"x:1", "has no axis \"x:1\""},
                {"x,x:(1)2", "\"x\""},
                {"x:(1)2,x:(1)2", "\"x\":(1)2"}};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    (void)m;
    TSR_TRY(vector(world, 2, false, "f64[2]{x:P}", &x));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        WANT(world, tsr_all_reduce(x, rows[i].axis, TSR_AS(P), TSR_AS(R), NULL, &y) < 0);
        WANT(world, heard(world, rows[i].message));
    }
    WANT(world, tsr_sum_partial(x, NULL, 0, "x:(1)2", &y) == TSR_ERR_UNSUPPORTED);
    WANT(world, heard(world, "names a part of axis x; this call takes whole axes"));
    return TSR_OK;
}

/* What is cut along a part: gathered, scattered, exchanged, moved to another part. */
static tsr_status cuts_along_parts(tsr_comm *world, const meshes *m)
{
    const int64_t rank = tsr_comm_rank(world);
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    (void)m;
    TSR_TRY(vector(world, 2, false, "f64[4@x:(2)2]{x:(1)2:V}", &x));
    TSR_TRY(tsr_all_gather(x, "x:(2)2", TSR_AS_S(0), TSR_AS(R), NULL, &y));
    WANT(world, has_type(y, "f64[4]{x:(1)2:V, x:(2)2:R}"));
    WANT(world, numbers(y)[2] == (double)(1 + 10 * (rank | 1)));
    TSR_TRY(tsr_reduce_scatter(y, "x:(1)2", TSR_AS(P), TSR_AS_S(0), NULL, &y));
    WANT(world, has_type(y, "f64[4@x:(1)2]{x:(2)2:R}"));
    TSR_TRY(tsr_convert_type(y, "x:(2)2", TSR_AS(R), TSR_AS_S(0), NULL, &y));
    WANT(world, has_type(y, "f64[4@x]")); /* the parts in their order are the axis */
    TSR_TRY(tsr_all_gather(y, "x:(2)2", TSR_AS_S(0), TSR_AS(R), NULL, &y));
    WANT(world, has_type(y, "f64[4@x:(1)2]{x:(2)2:R}"));
    TSR_TRY(tsr_redistribute_spec(y, "f64[4@x:(1)2]{x:(2)2:R}", "f64[4@x:(2)2]{x:(1)2:R}", &y));
    WANT(world, has_type(y, "f64[4@x:(2)2]{x:(1)2:R}"));
    const int64_t row = rank % 2 * 2;
    WANT(world, numbers(y)[1] == (double)(row == 0 ? 2 + 2 + 10 * (0 + 2) : 2 + 2 + 10 * (1 + 3)));
    TSR_TRY(tsr_redistribute_spec(y, "f64[4@x:(2)2]{x:(1)2:R}", "f64[4@x]", &y));
    WANT(world, has_type(y, "f64[4@x]"));
    return TSR_OK;
}

/* The gradient of a sum along one part, against that along the axis of a mesh that has it. */
static tsr_status gradients(tsr_comm *world, const meshes *m)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *gradient = NULL;
    const size_t dim = 0;
    double found[2][2];
    for (int k = 0; k < 2; k++) {
        const char *inner = k == 0 ? "x:(2)2" : "b";
        const char *outer = k == 0 ? "x:(1)2" : "a";
        TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = k == 0 ? m->whole : m->parts}));
        TSR_TRY(vector(world, 2, false, k == 0 ? "f64[2]{x:V}" : "f64[2]{a:V, b:V}", &x));
        TSR_TRY(tsr_tape_begin(world));
        TSR_TRY(tsr_watch(x));
        TSR_TRY(tsr_all_reduce(x, inner, TSR_AS(P), TSR_AS(R), NULL, &y));
        TSR_TRY(tsr_mul(y, y, &y));
        TSR_TRY(tsr_reinterpret(y, outer, TSR_AS(V), TSR_AS(P), NULL, &y));
        TSR_TRY(tsr_reinterpret(y, inner, TSR_AS(R), TSR_AS(P), NULL, &y));
        TSR_TRY(tsr_sum(y, &dim, 1, &y));
        TSR_TRY(tsr_backward(y));
        TSR_TRY(tsr_gradient(x, &gradient));
        WANT(world, has_type(gradient, k == 0 ? "f64[2]{x:V}" : "f64[2]{a:V, b:V}"));
        memcpy(found[k], numbers(gradient), sizeof found[k]);
        tsr_tape_end(world);
        TSR_TRY(tsr_spmd_close(world));
    }
    WANT(world, memcmp(found[0], found[1], sizeof found[0]) == 0 && found[0][0] != 0);
    return TSR_OK;
}

/* Claims on parts, and numbers that vary along one. */
static tsr_status claims(tsr_comm *world, const meshes *m)
{
    const int64_t none = 0;
    double number = (double)tsr_comm_rank(world);
    const tsr_view view = {&number, TSR_F64, 0, &none, NULL};
    tsr_typed_number read;
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    (void)m;
    TSR_TRY(vector(world, 2, false, "f64[2]{x:(1)2:V}", &x));
    TSR_TRY(tsr_assert_type(x, "{x:(2)2:R}", &y));
    WANT(world, has_type(y, "f64[2]{x:(1)2:V, x:(2)2:R}"));
    TSR_TRY(tsr_assert_type(y, "{x:(1)2:S(0)}", &y));
    WANT(world, has_type(y, "f64[4@x:(1)2]{x:(2)2:R}"));
    WANT(world, tsr_assert_type(y, "{x:V}", &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "x:(2)2"));
    TSR_TRY(tsr_assert_type(x, "{x:V}", &y));
    WANT(world, has_type(y, "f64[2]{x:V}"));
    TSR_TRY(tsr_typed_value(world, &view, "f64[]{x:(1)2:R, x:(2)2:V}", &y));
    TSR_TRY(tsr_read_number(y, &read));
    WANT(world, read.varies.bits == 1);
    if (tsr_if(world, &read, true)) {
        WANT(world, tsr_all_reduce(x, "x:(1)2", TSR_AS(P), TSR_AS(R), NULL, &y) < 0);
        WANT(world, heard(world, "inside a condition that varies along it"));
    }
    tsr_end_if(world);
    return TSR_OK;
}

static tsr_status doubled(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                          void *state)
{
    (void)state;
    WANT(world, has_type(inputs[0], "f64[2]{x:(1)2:V, x:(2)2:R}"));
    return tsr_add(inputs[0], inputs[0], &outputs[0]);
}

/* A region in which the whole axis is local, of a value that is cut along a part. */
static tsr_status regions(tsr_comm *world, const meshes *m)
{
    static const char *const type[] = {"f64[4@x:(1)2]{x:(2)2:R}"};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = m->whole, .global.bits = 1}));
    TSR_TRY(vector(world, 2, false, type[0], &x));
    TSR_TRY(tsr_add(x, x, &y));
    WANT(world, has_type(y, type[0]));
    const tsr_local_region region = {.region = doubled,
                                     .inputs = &x,
                                     .input_types = type,
                                     .num_inputs = 1,
                                     .output_types = type,
                                     .num_outputs = 1};
    TSR_TRY(tsr_local_map(world, "x", &region, &y));
    WANT(world, has_type(y, type[0]) && numbers(y)[0] == 2 * numbers(x)[0]);
    return tsr_spmd_close(world);
}

/* A tensor that is cut along a part, as a value and back. */
static tsr_status tensors(tsr_comm *world, const meshes *m)
{
    const int64_t shape[] = {4};
    const double full[] = {1, 2, 3, 4};
    double again[4] = {0};
    tsr_context *ctx = tsr_comm_context(world);
    tsr_arena *arena = NULL;
    tsr_tensor *t = NULL;
    tsr_tensor *x = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    tsr_tensor_spec spec = {.dtype = TSR_F64, .rank = 1, .shape = shape};
    TSR_TRY(tsr_sharding_parse(ctx, arena, m->whole, "[{\"x\":(2)2}]", &spec.sharding));
    TSR_TRY(tsr_tensor_from_full(world, &spec, -1, full, &t));
    TSR_TRY(tsr_local_of(t, TSR_R, &x));
    WANT(world, has_type(x, "f64[4@x:(2)2]{x:(1)2:R}"));
    WANT(world, numbers(x)[0] == (tsr_comm_rank(world) % 2 == 0 ? 1 : 3));
    TSR_TRY(tsr_add(x, x, &x));
    TSR_TRY(tsr_assert_type(x, "{x:(2)2:S(0)}", &x));
    TSR_TRY(tsr_tensor_of_local(x, &x));
    TSR_TRY(tsr_with_sharding(x, spec.sharding, &x));
    tsr_spmd_close(world);
    TSR_TRY(tsr_tensor_to_full(x, -1, again));
    WANT(world, again[0] == 2 && again[1] == 4 && again[2] == 6 && again[3] == 8);
    tsr_tensor_release(t);
    tsr_arena_destroy(arena);
    return tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = m->whole});
}

/* A V taken for P along a part is named where it goes wrong. */
static tsr_status implied(tsr_comm *world, const meshes *m)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    (void)m;
    TSR_TRY(vector(world, 2, false, "f64[2]{x:(1)2:V, x:(2)2:P}", &x));
    TSR_TRY(tsr_all_reduce(x, "x:(1)2", TSR_AS(P), TSR_AS(R), NULL, &y));
    WANT(world, tsr_exp(y, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "comes from a collective along axis x:(1)2 that expected"));
    return TSR_OK;
}

static const struct {
    const char *name;
    tsr_status (*run)(tsr_comm *world, const meshes *m);
} all[] = {{"views mix", views_mix},
           {"views refused", views_refused},
           {"sums along parts", sums_along_parts},
           {"bad names", bad_names},
           {"cuts along parts", cuts_along_parts},
           {"gradients", gradients},
           {"claims", claims},
           {"regions", regions},
           {"tensors", tensors},
           {"implied", implied}};

static tsr_status run_all(tsr_comm *world, void *state)
{
    tsr_context *ctx = tsr_comm_context(world);
    tsr_arena *arena = NULL;
    meshes m = {NULL, NULL};
    (void)state;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    TSR_TRY(tsr_mesh_parse(ctx, arena, "<[\"x\"=4]>", &m.whole));
    TSR_TRY(tsr_mesh_parse(ctx, arena, "<[\"a\"=2, \"b\"=2]>", &m.parts));
    tsr_status status = TSR_OK;
    for (size_t i = 0; status == TSR_OK && i < sizeof all / sizeof all[0]; i++) {
        TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = m.whole}));
        TSR_TRY(tsr_scope_open(world));
        status = all[i].run(world, &m);
        tsr_scope_close(world);
        tsr_spmd_close(world);
        if (tsr_comm_rank(world) == 0) {
            printf("%s: %s\n", all[i].name, status == TSR_OK ? "fine" : "wrong");
        }
    }
    tsr_arena_destroy(arena);
    return status;
}

static void views_and_parts(void **state)
{
    const tsr_launch_spec spec = {.num_ranks = RANKS, .ranks = kinds_chosen()};
    size_t at = 0;
    int64_t count = RANKS;
    if (kinds_chosen() == TSR_RANKS_MPI) {
        (void)kinds_next_count(&at, RANKS, &count);
    }
    if (count == RANKS) {
        expect_ranks(*state, &spec, run_all, NULL);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(views_and_parts)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
