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
    } rows[] = {{"f64[]{tp:R}", {"all_reduce P->I", "convert R->P"}},
                {"f64[]{tp:V}", {"reinterpret V->P", "all_reduce V->I"}},
                {"f64[]{tp:P(avg)}", {"all_reduce P(avg)->I", "all_reduce P(avg)->I"}},
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
