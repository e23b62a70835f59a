/*
 * Typed code by hand: the row-parallel linear layer of the document, losses, claims, guards, the
 * options of collectives; and what others let through that is wrong.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

enum { RANKS = 2, MOST = 64 };

/* This rank's coordinate. */
static int64_t place(tsr_comm *world)
{
    return tsr_comm_rank(world);
}

/* A value whose elements are 1, 2, 3 .., with ten times the rank added unless they are the same. */
static tsr_status make(tsr_comm *world, tsr_dtype dtype, size_t rank, const int64_t *shape,
                       bool same, const char *type, tsr_tensor **out)
{
    double floats[MOST];
    int64_t integers[MOST];
    for (int64_t i = 0; i < MOST; i++) {
        integers[i] = i + 1 + (same ? 0 : 10 * place(world));
        floats[i] = (double)integers[i];
    }
    const tsr_view view = {dtype == TSR_F64 ? (void *)floats : integers, dtype, rank, shape, NULL};
    return tsr_typed_value(world, &view, type, out);
}

static tsr_status matrix(tsr_comm *world, int64_t rows, int64_t columns, bool same,
                         const char *type, tsr_tensor **out)
{
    const int64_t shape[] = {rows, columns};
    return make(world, TSR_F64, 2, shape, same, type, out);
}

static tsr_status vector(tsr_comm *world, int64_t rows, bool same, const char *type,
                         tsr_tensor **out)
{
    return make(world, TSR_F64, 1, &rows, same, type, out);
}

/* Whether a value has a type, as text. */
static bool has_type(const tsr_tensor *value, tsr_comm *world, const char *type)
{
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

/* The sum of a vector or matrix, as P of what varies. */
static tsr_status loss_of(tsr_tensor *x, tsr_tensor **out)
{
    static const size_t dims[] = {0, 1, 2};
    return tsr_sum(x, dims, tsr_tensor_rank(x), out);
}

/* ---- gradients ---- */

/* One cotangent for two types, and none at all: each gradient has the type of its own value. */
static tsr_status types_of_gradients(tsr_comm *world)
{
    tsr_tensor *a = NULL;
    tsr_tensor *b = NULL;
    tsr_tensor *unused = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, true, "f64[2]{tp:R}", &a));
    TSR_TRY(vector(world, 2, false, "f64[2]{tp:V}", &b));
    TSR_TRY(vector(world, 2, true, "f64[2]{tp:R}", &unused));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(a));
    TSR_TRY(tsr_watch(b));
    TSR_TRY(tsr_watch(unused));
    TSR_TRY(tsr_add(a, b, &y));
    TSR_TRY(loss_of(y, &y));
    TSR_TRY(tsr_reinterpret(y, "tp", TSR_AS(V), TSR_AS(P), NULL, &y));
    TSR_TRY(tsr_backward(y));
    TSR_TRY(tsr_gradient(a, &a));
    TSR_TRY(tsr_gradient(b, &b));
    TSR_TRY(tsr_gradient(unused, &unused));
    WANT(world, has_type(a, world, "f64[2]{tp:P}"));
    WANT(world, has_type(b, world, "f64[2]{tp:V}"));
    WANT(world, has_type(unused, world, "f64[2]{tp:P}"));
    WANT(world, numbers(a)[0] == 1 && numbers(b)[1] == 1 && numbers(unused)[0] == 0);
    tsr_tape_end(world);
    return TSR_OK;
}

/* ---- losses ---- */

/* R and V are refused with both remedies, and what is pending must be a sum. */
static tsr_status losses(tsr_comm *world)
{
    static const struct {
        const char *type;
        const char *remedies[2]; /* none: it is a loss */
    } rows[] = {
        {"f64[]{tp:R}",
         {"TSR_AS(P), TSR_AS(I)", "tsr_convert_type(loss, \"tp\", TSR_AS(R), TSR_AS(P)"}},
        {"f64[]{tp:V}",
         {"tsr_reinterpret(loss, \"tp\", TSR_AS(V), TSR_AS(P)",
          "tsr_all_reduce(loss, \"tp\", TSR_AS(V), TSR_AS(I)"}},
        {"f64[]{tp:P(avg)}", {"TSR_AS_P(TSR_AVG) to TSR_AS(I)", "TSR_AS_P(TSR_AVG) to TSR_AS(I)"}},
        {"f64[]{tp:P(max)}", {"has no gradient", "has no gradient"}},
        {"f64[]{tp:P(min)}", {"has no gradient", "has no gradient"}},
        {"f64[]{tp:I}", {NULL, NULL}},
        {"f64[]{tp:P}", {NULL, NULL}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t k = 0; k < 2; k++) {
            tsr_tensor *x = NULL;
            tsr_tensor *y = NULL;
            TSR_TRY(make(world, TSR_F64, 0, NULL, true, rows[i].type, &x));
            TSR_TRY(tsr_tape_begin(world));
            TSR_TRY(tsr_watch(x));
            if (rows[i].remedies[k] == NULL) {
                TSR_TRY(tsr_backward(x));
                TSR_TRY(tsr_gradient(x, &y));
                WANT(world, numbers(y)[0] == 1);
            } else {
                WANT(world, tsr_backward(x) < 0 && heard(world, rows[i].remedies[k]));
            }
            tsr_tape_end(world);
        }
    }
    return TSR_OK;
}

/* An average: each rank's part counts by as much as it is of them. */
static tsr_status averages(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(make(world, TSR_F64, 0, NULL, false, "f64[]{tp:V}", &x));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_reinterpret(x, "tp", TSR_AS(V), TSR_AS_P(TSR_AVG), NULL, &y));
    TSR_TRY(tsr_all_reduce(y, "tp", TSR_AS_P(TSR_AVG), TSR_AS(I), NULL, &y));
    WANT(world, numbers(y)[0] == 6);
    TSR_TRY(tsr_backward(y));
    TSR_TRY(tsr_gradient(x, &x));
    WANT(world, numbers(x)[0] == 0.5);
    tsr_tape_end(world);
    return TSR_OK;
}

/* ---- the row-parallel linear layer ---- */

/* x [2, 4] by weight [3, 4], each rank with half of the contracted dimension; 10 r is added to
 * what rank r has. */
static double product_at(int64_t row, int64_t out, int64_t ranks)
{
    double sum = 0;
    for (int64_t r = 0; r < ranks; r++) {
        for (int64_t i = 0; i < 2; i++) {
            sum += (double)((row * 2 + i + 1 + 10 * r) * (out * 2 + i + 1 + 10 * r));
        }
    }
    return sum;
}

static bool is_product(const tsr_tensor *y, double more)
{
    for (int64_t k = 0; k < 6; k++) {
        if (numbers(y)[k] != product_at(k / 3, k % 3, RANKS) + more) {
            return false;
        }
    }
    return true;
}

/* Locally the product varies, and is said to be a part of a sum. */
static tsr_status linear_local(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *w = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *bias = NULL;
    TSR_TRY(matrix(world, 2, 2, false, "f64[2,2]{tp:V}", &x));
    TSR_TRY(matrix(world, 3, 2, false, "f64[3,2]{tp:V}", &w));
    TSR_TRY(vector(world, 3, true, "f64[3]{tp:R}", &bias));
    TSR_TRY(tsr_linear(x, w, NULL, &y));
    WANT(world, has_type(y, world, "f64[2,3]{tp:V}"));
    TSR_TRY(tsr_reinterpret(y, "tp", TSR_AS(V), TSR_AS(P), NULL, &y));
    WANT(world, has_type(y, world, "f64[2,3]{tp:P}"));
    TSR_TRY(tsr_all_reduce(y, "tp", TSR_AS(P), TSR_AS(R), NULL, &y));
    WANT(world, has_type(y, world, "f64[2,3]{tp:R}") && is_product(y, 0));
    TSR_TRY(tsr_linear_partial(x, w, NULL, "tp", &y));
    WANT(world, has_type(y, world, "f64[2,3]{tp:P}"));
    WANT(world,
         tsr_linear_partial(x, w, bias, "tp", &y) < 0 && heard(world, "added once per rank"));
    return TSR_OK;
}

/* Globally a contracted dimension that is cut must be said to leave a sum. */
static tsr_status linear_global(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *w = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *bias = NULL;
    tsr_tensor *pending = NULL;
    TSR_TRY(matrix(world, 2, 2, false, "f64[2,4@tp]", &x));
    TSR_TRY(matrix(world, 3, 2, false, "f64[3,4@tp]", &w));
    TSR_TRY(vector(world, 3, true, "f64[3]{tp:R}", &bias));
    TSR_TRY(tsr_convert_type(bias, "tp", TSR_AS(R), TSR_AS(P), NULL, &pending));
    WANT(world,
         tsr_linear(x, w, NULL, &y) < 0 && heard(world, "use tsr_linear_partial(.., \"tp\", ..)"));
    TSR_TRY(tsr_linear_partial(x, w, NULL, "tp", &y));
    WANT(world, has_type(y, world, "f64[2,3]{tp:P}"));
    TSR_TRY(tsr_all_reduce(y, "tp", TSR_AS(P), TSR_AS(R), NULL, &y));
    WANT(world, is_product(y, 0));
    WANT(
        world,
        tsr_linear_partial(x, w, bias, "tp", &y) < 0 &&
            heard(world, "tsr_all_reduce(the product, \"tp\", TSR_AS(P), TSR_AS(R), ..) would do"));
    TSR_TRY(tsr_linear_partial(x, w, pending, "tp", &y));
    WANT(world, has_type(y, world, "f64[2,3]{tp:P}"));
    TSR_TRY(tsr_all_reduce(y, "tp", TSR_AS(P), TSR_AS(R), NULL, &y));
    WANT(world, numbers(y)[2] == product_at(0, 2, RANKS) + 3);
    return TSR_OK;
}

/* ---- claims and guards ---- */

static tsr_status claims(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(matrix(world, 2, 3, false, "f64[2,3]{tp:V}", &x));
    TSR_TRY(tsr_assert_type(x, "{tp:V}", &y));
    TSR_TRY(tsr_assert_type(x, "f64[2,3]{tp:V}", &y));
    WANT(world, tsr_assert_type(x, "{tp:R}", &y) < 0 &&
                    heard(world, "along axis tp the value is V, but the assertion says R"));
    TSR_TRY(matrix(world, 2, 3, true, "f64[2,3]", &x));
    TSR_TRY(tsr_assert_type(x, "{tp:I}", &y));
    WANT(world, has_type(y, world, "f64[2,3]{tp:I}"));
    return TSR_OK;
}

/* What is easy to get wrong needs an expert; generated backwards never do. */
static tsr_status guarded(tsr_comm *world)
{
    tsr_tensor *r = NULL;
    tsr_tensor *i = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, true, "f64[2]{tp:R}", &r));
    TSR_TRY(vector(world, 2, true, "f64[2]{tp:I}", &i));
    WANT(world, tsr_reinterpret(r, "tp", TSR_AS(R), TSR_AS(P), NULL, &y) < 0 &&
                    heard(world, "needs an expert scope"));
    WANT(world, tsr_convert_type(i, "tp", TSR_AS(I), TSR_AS(P), NULL, &y) < 0 &&
                    heard(world, "needs an expert scope"));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(r));
    TSR_TRY(tsr_reinterpret(i, "tp", TSR_AS(I), TSR_AS(V), NULL, &y));
    TSR_TRY(tsr_mul(r, y, &y));
    TSR_TRY(loss_of(y, &y));
    TSR_TRY(tsr_all_reduce(y, "tp", TSR_AS(V), TSR_AS(I), NULL, &y));
    TSR_TRY(tsr_backward(y));
    TSR_TRY(tsr_gradient(r, &y));
    WANT(world, has_type(y, world, "f64[2]{tp:P}") && numbers(y)[1] == 2);
    tsr_tape_end(world);
    return TSR_OK;
}

/* ---- options ---- */

/* What is sent is rounded, what comes is of the value's type. */
static tsr_status wire(tsr_comm *world)
{
    const tsr_collective_options half = {.has_wire_dtype = true, .wire_dtype = TSR_BF16};
    double third = 1.0 / 3;
    const tsr_view view = {&third, TSR_F64, 0, NULL, NULL};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(tsr_typed_value(world, &view, "f64[]{tp:P}", &x));
    TSR_TRY(tsr_all_reduce(x, "tp", TSR_AS(P), TSR_AS(R), &half, &y));
    WANT(world, has_type(y, world, "f64[]{tp:R}"));
    WANT(world, numbers(y)[0] == 2 * 0.333984375);
    return TSR_OK;
}

/* Parts of 1 and 3 rows, there and back, with gradients. */
static tsr_status uneven(tsr_comm *world)
{
    static const int64_t counts[] = {1, 3};
    const tsr_collective_options options = {.counts = counts};
    const int64_t rows = counts[place(world)];
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, rows, false, "{tp:V}", &x));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_all_gather(x, "tp", TSR_AS_S(0), TSR_AS(R), &options, &y));
    WANT(world, tsr_tensor_local_shape(y)[0] == 4 && numbers(y)[0] == 1 && numbers(y)[3] == 13);
    TSR_TRY(tsr_mul(y, y, &y));
    TSR_TRY(tsr_convert_type(y, "tp", TSR_AS(R), TSR_AS(P), NULL, &y));
    TSR_TRY(tsr_reduce_scatter(y, "tp", TSR_AS(P), TSR_AS_S(0), &options, &y));
    WANT(world, tsr_tensor_local_shape(y)[0] == rows);
    TSR_TRY(loss_of(y, &y));
    TSR_TRY(tsr_all_reduce(y, "tp", TSR_AS(V), TSR_AS(I), NULL, &y));
    WANT(world, numbers(y)[0] == 1 + 121 + 144 + 169);
    TSR_TRY(tsr_backward(y));
    TSR_TRY(tsr_gradient(x, &y));
    for (int64_t k = 0; k < rows; k++) {
        WANT(world, numbers(y)[k] == 2 * numbers(x)[k]);
    }
    tsr_tape_end(world);
    return TSR_OK;
}

/* A greatest element of all: pending, then known; monotone ops may come between, others not. */
static tsr_status greatest(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, false, "f64[2]{tp:V}", &x));
    TSR_TRY(tsr_reinterpret(x, "tp", TSR_AS(V), TSR_AS_P(TSR_MAX), NULL, &x));
    WANT(world, has_type(x, world, "f64[2]{tp:P(max)}"));
    WANT(world, tsr_negate(x, &y) < 0 && heard(world, "does not commute"));
    TSR_TRY(tsr_relu(x, &x));
    TSR_TRY(tsr_all_reduce(x, "tp", TSR_AS_P(TSR_MAX), TSR_AS(R), NULL, &y));
    WANT(world, has_type(y, world, "f64[2]{tp:R}") && numbers(y)[0] == 11 && numbers(y)[1] == 12);
    WANT(world, tsr_all_reduce(x, "tp", TSR_AS(P), TSR_AS(R), NULL, &y) < 0 &&
                    heard(world, "the pending reduction differs"));
    return TSR_OK;
}

/* ---- defects of others ---- */

/* Whole numbers are not divided, rounded or looked up by parts. */
static tsr_status pending_integers(tsr_comm *world)
{
    static const int64_t two = 2;
    static const size_t dim = 0;
    tsr_tensor *parts = NULL;
    tsr_tensor *average = NULL;
    tsr_tensor *whole = NULL;
    tsr_tensor *floats = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(make(world, TSR_I64, 1, &two, false, "i64[2]{tp:P}", &parts));
    TSR_TRY(make(world, TSR_I64, 1, &two, false, "i64[2]{tp:P(avg)}", &average));
    TSR_TRY(make(world, TSR_I64, 1, &two, true, "i64[2]{tp:R}", &whole));
    TSR_TRY(vector(world, 2, false, "f64[2]{tp:P}", &floats));
    WANT(world, tsr_div(parts, whole, &y) < 0 && heard(world, "does not commute"));
    WANT(world, tsr_convert(floats, TSR_I64, &y) < 0 && heard(world, "does not commute"));
    WANT(world, tsr_convert(parts, TSR_F32, &y) < 0 && heard(world, "does not commute"));
    WANT(world, tsr_floor(floats, &y) < 0 && heard(world, "does not commute"));
    WANT(world, tsr_sum(average, &dim, 1, &y) < 0 && heard(world, "does not commute"));
    WANT(world, tsr_take(floats, parts, 0, &y) < 0 && heard(world, "does not commute"));
    WANT(world, tsr_embedding(floats, parts, &y) < 0);
    tsr_context_clear(tsr_comm_context(world));
    TSR_TRY(tsr_sum(parts, &dim, 1, &y));
    WANT(world, has_type(y, world, "i64[]{tp:P}"));
    return TSR_OK;
}

/* Dimensions from the last one, on both sides. */
static tsr_status negative_dims(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(matrix(world, 2, 3, false, "f64[2,3]{tp:V}", &x));
    TSR_TRY(tsr_all_gather(x, "tp", TSR_AS_S(-1), TSR_AS(R), NULL, &y));
    WANT(world, tsr_tensor_local_shape(y)[1] == 6 && numbers(y)[3] == 11);
    TSR_TRY(tsr_convert_type(y, "tp", TSR_AS(R), TSR_AS_S(-1), NULL, &y));
    WANT(world, tsr_tensor_local_shape(y)[1] == 3 && numbers(y)[5] == numbers(x)[5]);
    return TSR_OK;
}

/* Stacked on dimension 1, a gradient must come back along it. */
static tsr_status gather_dim(tsr_comm *world)
{
    const tsr_collective_options options = {.dim = 1};
    tsr_tensor *x = NULL;
    tsr_tensor *w = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, false, "f64[2]{tp:V}", &x));
    TSR_TRY(matrix(world, 2, 2, true, "f64[2,2]{tp:I}", &w));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_all_gather(x, "tp", TSR_AS(V), TSR_AS(I), &options, &y));
    TSR_TRY(tsr_mul(y, w, &y));
    TSR_TRY(loss_of(y, &y));
    TSR_TRY(tsr_backward(y));
    TSR_TRY(tsr_gradient(x, &y));
    for (int64_t k = 0; k < 2; k++) {
        WANT(world, numbers(y)[k] == (double)(2 * k + place(world) + 1));
    }
    tsr_tape_end(world);
    return TSR_OK;
}

/* ---- how they are run ---- */

/* A function with the scope that it runs in. */
typedef struct golden {
    const char *name;
    tsr_status (*run)(tsr_comm *world);
    bool global;
    tsr_guard guard;
} golden;

static const golden all[] = {
    {"types of gradients", types_of_gradients, false, TSR_UNGUARDED},
    {"losses", losses, false, TSR_UNGUARDED},
    {"averages", averages, false, TSR_UNGUARDED},
    {"linear, local", linear_local, false, TSR_UNGUARDED},
    {"linear, global", linear_global, true, TSR_UNGUARDED},
    {"claims", claims, false, TSR_UNGUARDED},
    {"guarded", guarded, false, TSR_GUARDED},
    {"wire dtype", wire, false, TSR_UNGUARDED},
    {"uneven parts", uneven, false, TSR_UNGUARDED},
    {"a greatest element", greatest, false, TSR_UNGUARDED},
    {"pending integers", pending_integers, false, TSR_UNGUARDED},
    {"negative dimensions", negative_dims, false, TSR_UNGUARDED},
    {"gather dimension", gather_dim, false, TSR_UNGUARDED},
};

static tsr_status run_all(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    (void)state;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    tsr_status status = tsr_mesh_parse(tsr_comm_context(world), arena, "<[\"tp\"=2]>", &mesh);
    for (size_t i = 0; status == TSR_OK && i < sizeof all / sizeof all[0]; i++) {
        const tsr_spmd_scope scope = {
            .mesh = mesh, .global.bits = all[i].global ? 1 : 0, .guard = all[i].guard};
        TSR_TRY(tsr_spmd_open(world, &scope));
        TSR_TRY(tsr_scope_open(world));
        status = all[i].run(world);
        tsr_scope_close(world);
        tsr_spmd_close(world);
        if (tsr_comm_rank(world) == 0) {
            printf("%s: %s\n", all[i].name, status == TSR_OK ? "fine" : "wrong");
        }
    }
    tsr_arena_destroy(arena);
    return status;
}

static void by_hand(void **state)
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
    const struct CMUnitTest tests[] = {TEST(by_hand)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
