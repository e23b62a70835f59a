/* Calls that save lines: meshes and tensors out of texts, numbers, shapes and sums left open. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

typedef struct site {
    tsr_comm *world;
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_mesh *mesh;
} site;

/* 0, 1, 2 .. over all elements, with a layout. */
static tsr_status counted(const site *s, const char *type, const char *layout, tsr_tensor **out)
{
    tsr_tensor_spec spec;
    int64_t shape[] = {1};
    TSR_TRY(tsr_tensor_spec_parse(s->ctx, s->arena, s->mesh, type, NULL, &spec));
    const size_t rank = spec.rank;
    const int64_t *extents = spec.shape;
    for (size_t d = 0; d < rank; d++) {
        shape[0] *= extents[d];
    }
    TSR_TRY(tsr_sharding_replicated_over(s->ctx, s->arena, s->mesh, 1, false, &spec.sharding));
    const tsr_tensor_spec flat = {spec.sharding, TSR_I64, 1, shape};
    TSR_TRY(tsr_iota(s->world, &flat, 0, out));
    TSR_TRY(tsr_convert(*out, spec.dtype, out));
    TSR_TRY(tsr_reshape(*out, extents, rank, out));
    TSR_TRY(tsr_tensor_spec_parse(s->ctx, s->arena, s->mesh, type, layout, &spec));
    return tsr_with_sharding(*out, spec.sharding, out);
}

static tsr_status meshes(const site *s)
{
    const long long ranks = (long long)tsr_comm_size(s->world);
    const tsr_mesh *mesh = NULL;
    const tsr_mesh *before = s->mesh;
    char text[64];
    TSR_TRY(tsr_mesh_of_world(s->world, s->arena, "dp=1, tp=-1", &mesh));
    WANT(s->world, tsr_mesh_num_axes(mesh) == 2 && tsr_mesh_axis_size(mesh, 1) == ranks);
    WANT(s->world, strcmp(tsr_mesh_axis_name(mesh, 1), "tp") == 0);
    (void)snprintf(text, sizeof text, "<[\"tp\"=-1, \"dp\"=%lld]>", ranks);
    TSR_TRY(tsr_mesh_of_world(s->world, s->arena, text, &mesh));
    WANT(s->world, tsr_mesh_axis_size(mesh, 0) == 1 && tsr_mesh_axis_size(mesh, 1) == ranks);
    (void)snprintf(text, sizeof text, "dp=%lld,tp=1", ranks);
    TSR_TRY(tsr_mesh_of_world(s->world, s->arena, text, &mesh));
    WANT(s->world, tsr_mesh_axis_size(mesh, 0) == ranks);
    mesh = before;
    (void)snprintf(text, sizeof text, "dp=%lld", ranks + 1);
    WANT(s->world, tsr_mesh_of_world(s->world, s->arena, text, &mesh) == TSR_ERR_INVALID);
    (void)snprintf(text, sizeof text, "has %lld devices, the world %lld ranks", ranks + 1, ranks);
    WANT(s->world, heard(s->world, text));
    (void)snprintf(text, sizeof text, "dp=%lld, tp=-1", ranks + 1);
    WANT(s->world, tsr_mesh_of_world(s->world, s->arena, text, &mesh) == TSR_ERR_INVALID);
    WANT(s->world, heard(s->world, "does not divide"));
    WANT(s->world, tsr_mesh_of_world(s->world, s->arena, "a=-1,b=-1", &mesh) == TSR_ERR_INVALID);
    WANT(s->world, heard(s->world, "several sizes of -1"));
    WANT(s->world, tsr_mesh_of_world(s->world, s->arena, "a=-12", &mesh) < 0);
    WANT(s->world, tsr_mesh_of_world(s->world, s->arena, "a=", &mesh) < 0);
    WANT(s->world, tsr_mesh_of_world(s->world, s->arena, "a=-1,a=1", &mesh) < 0);
    WANT(s->world, mesh == before);
    tsr_context_clear(s->ctx);
    return TSR_OK;
}

/* Whether two tensors have the same elements, of up to 512 bytes. */
static tsr_status same_elements(tsr_tensor *a, tsr_tensor *b, bool *out)
{
    char full[2][2048];
    int64_t bytes[2] = {tsr_dtype_item_bytes(tsr_tensor_dtype(a)),
                        tsr_dtype_item_bytes(tsr_tensor_dtype(b))};
    tsr_tensor *const both[] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        for (size_t d = 0; d < tsr_tensor_rank(both[i]); d++) {
            bytes[i] *= tsr_tensor_shape(both[i])[d];
        }
        TSR_TRY(tsr_tensor_to_full(both[i], -1, full[i]));
    }
    *out = bytes[0] == bytes[1] && memcmp(full[0], full[1], (size_t)bytes[0]) == 0;
    return TSR_OK;
}

/* Every numeric type against the same with tensors of one number. */
static tsr_status numbers_of(const site *s, const char *dtype)
{
    char type[32];
    tsr_tensor *x = NULL;
    tsr_tensor *two = NULL;
    tsr_tensor *got = NULL;
    tsr_tensor *wanted = NULL;
    bool same = false;
    (void)snprintf(type, sizeof type, "%s[5,3]", dtype);
    TSR_TRY(counted(s, type, "P('x')", &x));
    TSR_TRY(tsr_scalar_like(x, 2, &two));
    TSR_TRY(tsr_mul_number(x, 2, &got));
    TSR_TRY(tsr_mul(x, two, &wanted));
    TSR_TRY(same_elements(got, wanted, &same));
    WANT(s->world, same);
    TSR_TRY(tsr_add_number(x, 2, &got));
    TSR_TRY(tsr_add(x, two, &wanted));
    TSR_TRY(same_elements(got, wanted, &same));
    WANT(s->world, same && tsr_tensor_dtype(got) == tsr_tensor_dtype(x));
    return TSR_OK;
}

static tsr_status numbers(const site *s)
{
    static const char *const types[] = {"i8",  "i16", "i32", "i64",  "u8",  "u16",
                                        "u32", "u64", "f16", "bf16", "f32", "f64"};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        TSR_TRY(numbers_of(s, types[i]));
    }
    TSR_TRY(counted(s, "i8[5]", "P('x')", &x));
    WANT(s->world, tsr_mul_number(x, 0.5, &y) == TSR_ERR_INVALID && y == NULL);
    WANT(
        s->world,
        heard(s->world, "tsr_mul_number: 0.5 is not a value of i8; convert i8[5] to floats first"));
    WANT(s->world, tsr_add_number(x, 128, &y) == TSR_ERR_INVALID);
    WANT(s->world, tsr_add_number(x, -129, &y) == TSR_ERR_INVALID);
    TSR_TRY(tsr_add_number(x, -128, &y));
    TSR_TRY(tsr_convert(x, TSR_U8, &x));
    WANT(s->world, tsr_mul_number(x, -1, &y) == TSR_ERR_INVALID);
    TSR_TRY(tsr_mul_number(x, 255, &y));
    TSR_TRY(tsr_convert(x, TSR_I1, &x));
    WANT(s->world, tsr_mul_number(x, 1, &y) == TSR_ERR_INVALID);
    WANT(s->world, heard(s->world, "has element type i1"));
    tsr_context_clear(s->ctx);
    return TSR_OK;
}

/* A pending sum stays pending under a factor; a summand is added once. */
static tsr_status pending_numbers(const site *s)
{
    const size_t dim = 0;
    const char *text = NULL;
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    float sum;
    TSR_TRY(counted(s, "f32[8]", "P('x')", &x));
    TSR_TRY(tsr_sum(x, &dim, 1, &x));
    TSR_TRY(tsr_mul_number(x, 0.5, &y));
    TSR_TRY(tsr_sharding_print(s->ctx, s->arena, tsr_tensor_sharding(y), TSR_PRINT_BARE, &text));
    WANT(s->world, strstr(text, "unreduced={\"x\"}") != NULL);
    TSR_TRY(tsr_tensor_to_full(y, -1, &sum));
    WANT(s->world, sum == 14);
    TSR_TRY(tsr_add_number(x, 0.5, &y));
    TSR_TRY(tsr_tensor_to_full(y, -1, &sum));
    WANT(s->world, sum == 28.5F);
    return TSR_OK;
}

/* The slope of (3 x + 2)^2 is 6 (3 x + 2). */
static tsr_status gradients_of_numbers(const site *s)
{
    const size_t dim = 0;
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *g = NULL;
    double full[6];
    TSR_TRY(counted(s, "f64[6]", "P('x')", &x));
    TSR_TRY(tsr_tape_begin(s->world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_mul_number(x, 3, &y));
    TSR_TRY(tsr_add_number(y, 2, &y));
    TSR_TRY(tsr_mul(y, y, &y));
    TSR_TRY(tsr_sum(y, &dim, 1, &y));
    TSR_TRY(tsr_backward(y));
    TSR_TRY(tsr_gradient(x, &g));
    TSR_TRY(tsr_tensor_to_full(g, -1, full));
    tsr_tape_end(s->world);
    for (int i = 0; i < 6; i++) {
        WANT(s->world, full[i] == 6 * (3 * i + 2));
    }
    return TSR_OK;
}

/* In typed code: P times a number is P, plus a number is an error; others keep their type. */
static tsr_status typed_numbers(const site *s)
{
    static const char *const types[] = {"{x:R}", "{x:I}", "{x:V}", "{x:P}"};
    const int64_t shape[] = {2};
    float elements[] = {1, 2};
    const tsr_view view = {elements, TSR_F32, 1, shape, NULL};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(tsr_spmd_open(s->world, &(tsr_spmd_scope){.mesh = s->mesh}));
    for (size_t i = 0; i < 4; i++) {
        const bool pending = i == 3;
        TSR_TRY(tsr_typed_value(s->world, &view, types[i], &x));
        TSR_TRY(tsr_mul_number(x, 3, &y));
        TSR_TRY(tsr_assert_type(y, types[i], &y));
        WANT(s->world, ((const float *)tsr_tensor_data(y))[1] == 6);
        WANT(s->world, (tsr_add_number(x, 3, &y) < 0) == pending);
        WANT(s->world, !pending || heard(s->world, "tsr_add_number"));
        TSR_TRY(pending ? TSR_OK : tsr_assert_type(y, types[i], &y));
    }
    tsr_spmd_close(s->world);
    return TSR_OK;
}

/* One extent of a shape is left open. */
static tsr_status reshapes(const site *s)
{
    const int64_t matrix[] = {-1, 4};
    const int64_t vector[] = {-1};
    const int64_t two[] = {-1, -1};
    const int64_t odd[] = {5, -1};
    const int64_t none[] = {0, -1};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(counted(s, "i32[6,2,4]", "P('x')", &x));
    TSR_TRY(tsr_reshape(x, matrix, 2, &y));
    WANT(s->world, tsr_tensor_shape(y)[0] == 12 && tsr_tensor_shape(y)[1] == 4);
    TSR_TRY(tsr_reshape(x, vector, 1, &y));
    WANT(s->world, tsr_tensor_rank(y) == 1 && tsr_tensor_shape(y)[0] == 48);
    WANT(s->world, tsr_reshape(x, two, 2, &y) == TSR_ERR_INVALID);
    WANT(s->world, heard(s->world, "tsr_reshape: 2 extents are -1"));
    WANT(s->world, tsr_reshape(x, odd, 2, &y) == TSR_ERR_INVALID);
    WANT(s->world, heard(s->world, "i32[6,2,4] has 48 elements, not divisible by 5"));
    WANT(s->world, tsr_reshape(x, none, 2, &y) == TSR_ERR_INVALID);
    tsr_context_clear(s->ctx);
    TSR_TRY(counted(s, "i32[0,4]", "P('x')", &x));
    TSR_TRY(tsr_reshape(x, matrix, 2, &y));
    WANT(s->world, tsr_tensor_shape(y)[0] == 0);
    return TSR_OK;
}

/* An equation with `...` against one that spells everything, on operands that were broadcast. */
static tsr_status ellipses(const site *s)
{
    const int64_t a[] = {2, 3, 4, 5};
    const int64_t b[] = {2, 3, 5, 2};
    static const char *const layouts[] = {NULL, "P('x')", "P(None, 'x')",
                                          "P(None, None, None, 'x')"};
    for (size_t i = 0; i < 4; i++) {
        tsr_tensor *x[2];
        tsr_tensor *spread[2];
        tsr_tensor *got = NULL;
        tsr_tensor *wanted = NULL;
        bool same = false;
        TSR_TRY(counted(s, "i32[2,1,4,5]", layouts[i], &x[0]));
        TSR_TRY(counted(s, "i32[3,5,2]", i < 2 ? layouts[i] : NULL, &x[1]));
        TSR_TRY(tsr_broadcast_to(x[0], a, 4, &spread[0]));
        TSR_TRY(tsr_broadcast_to(x[1], b, 4, &spread[1]));
        TSR_TRY(tsr_einsum("...ij,...jk->...ki", x, 2, &got));
        TSR_TRY(tsr_einsum("abij,abjk->abki", spread, 2, &wanted));
        WANT(s->world, tsr_tensor_rank(got) == 4);
        TSR_TRY(same_elements(got, wanted, &same));
        WANT(s->world, same);
    }
    return TSR_OK;
}

/* The sum that tsr_einsum_partial leaves is of what was contracted, not of what repeats. */
static tsr_status partial_ellipses(const site *s)
{
    const int64_t left[] = {1, 2, 3};
    const int64_t right[] = {4, 3, 2};
    float numbers[24];
    tsr_tensor *x[2];
    tsr_tensor *y = NULL;
    for (int i = 0; i < 24; i++) {
        numbers[i] = (float)i;
    }
    const tsr_view views[] = {{numbers, TSR_F32, 3, left, NULL},
                              {numbers, TSR_F32, 3, right, NULL}};
    TSR_TRY(tsr_spmd_open(s->world, &(tsr_spmd_scope){.mesh = s->mesh}));
    TSR_TRY(tsr_typed_value(s->world, &views[0], "{x:V}", &x[0]));
    TSR_TRY(tsr_typed_value(s->world, &views[1], "{x:V}", &x[1]));
    TSR_TRY(tsr_einsum_partial("...ij,...jk->...ik", x, 2, "x", &y));
    TSR_TRY(tsr_assert_type(y, "{x:P}", &y));
    WANT(s->world, tsr_tensor_shape(y)[0] == 4 && ((const float *)tsr_tensor_data(y))[0] == 10);
    tsr_spmd_close(s->world);
    return TSR_OK;
}

static tsr_status run(tsr_comm *world, void *state)
{
    site s = {.world = world, .ctx = tsr_comm_context(world)};
    (void)state;
    TSR_TRY(tsr_arena_create(s.ctx, &s.arena));
    TSR_TRY(tsr_mesh_of_world(world, s.arena, "x=-1", &s.mesh));
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(meshes(&s));
    TSR_TRY(numbers(&s));
    TSR_TRY(pending_numbers(&s));
    TSR_TRY(gradients_of_numbers(&s));
    TSR_TRY(typed_numbers(&s));
    TSR_TRY(reshapes(&s));
    TSR_TRY(ellipses(&s));
    TSR_TRY(partial_ellipses(&s));
    tsr_scope_close(world);
    tsr_arena_destroy(s.arena);
    return TSR_OK;
}

static void helpers_help(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 4, &ranks);) {
        const tsr_launch_spec spec = {.num_ranks = ranks,
                                      .ranks = kinds_chosen(),
                                      .checked = true,
                                      .segment_bytes = (size_t)1 << 24};
        expect_ranks(*state, &spec, run, NULL);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(helpers_help)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
