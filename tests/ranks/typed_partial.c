/*
 * Calls along a cut dimension whose results are pending by a kind of their own, in global and local
 * typed code, checked and not: after the all-reduce the numbers are those of the whole, by plain
 * loops over it, and so are the gradients.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

enum { ROWS = 3, COLUMNS = 4, INDICES = 5, MOST = 256 };

/* What a run has: its world, how many ranks, and the mode. */
typedef struct setting {
    tsr_comm *world;
    int64_t ranks;
    int64_t rank;
    bool global;
    bool checked;
} setting;

/* Element (i, j) of the whole, of ROWS rows for each rank. */
static double element(int64_t i, int64_t j)
{
    return (double)((i * 7 + j * 5) % 11) - 4;
}

/* Indices over the whole, with repeats. */
static int64_t index_at(const setting *s, int64_t k)
{
    return (k * 4 + 1) % (ROWS * s->ranks);
}

/* The type of a value whose first dimension is cut, or the rank's own in local code. */
static void type_text(const setting *s, char *text, size_t size, const char *dtype, int64_t rows,
                      const char *rest, bool cut)
{
    if (s->global && cut) {
        (void)snprintf(text, size, "%s[%lld@tp%s]", dtype, (long long)(rows * s->ranks), rest);
    } else {
        (void)snprintf(text, size, "%s[%lld%s]{tp:%s}", dtype, (long long)rows, rest,
                       cut ? "V" : "R");
    }
}

static tsr_status make_table(const setting *s, tsr_tensor **out)
{
    const int64_t shape[] = {ROWS, COLUMNS};
    double values[ROWS * COLUMNS];
    char type[64];
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        values[i] = element(s->rank * ROWS + i / COLUMNS, i % COLUMNS);
    }
    type_text(s, type, sizeof type, "f64", ROWS, ",4", true);
    const tsr_view view = {values, TSR_F64, 2, shape, NULL};
    return tsr_typed_value(s->world, &view, type, out);
}

static const double *numbers(const tsr_tensor *t)
{
    return tsr_tensor_data(t);
}

/* The same value on every rank: reduced from what is pending, which must be of that kind. */
static tsr_status settle(const setting *s, tsr_tensor *x, tsr_reduction kind, tsr_tensor **out)
{
    const tsr_status status = tsr_all_reduce(x, "tp", TSR_AS_P(kind), TSR_AS(R), NULL, out);
    if (status < 0) {
        return status;
    }
    WANT(s->world, *out != NULL);
    return TSR_OK;
}

/* ---- reductions ---- */

static tsr_status check_reductions(const setting *s)
{
    const size_t dim = 0;
    tsr_tensor *x = NULL;
    tsr_tensor *results[4] = {NULL};
    static const tsr_reduction kinds[] = {TSR_SUM, TSR_AVG, TSR_MAX, TSR_MIN};
    TSR_TRY(make_table(s, &x));
    TSR_TRY(tsr_sum_partial(x, &dim, 1, "tp", &results[0]));
    TSR_TRY(tsr_mean_partial(x, &dim, 1, "tp", &results[1]));
    TSR_TRY(tsr_max_partial(x, &dim, 1, "tp", &results[2]));
    TSR_TRY(tsr_min_partial(x, &dim, 1, "tp", &results[3]));
    for (int64_t j = 0; j < COLUMNS; j++) {
        double want[] = {0, 0, -1e9, 1e9};
        for (int64_t i = 0; i < ROWS * s->ranks; i++) {
            want[0] += element(i, j);
            want[2] = element(i, j) > want[2] ? element(i, j) : want[2];
            want[3] = element(i, j) < want[3] ? element(i, j) : want[3];
        }
        want[1] = want[0] / (double)(ROWS * s->ranks);
        for (size_t k = 0; k < 4; k++) {
            tsr_tensor *settled = NULL;
            TSR_TRY(settle(s, results[k], kinds[k], &settled));
            const double apart = numbers(settled)[j] - want[k];
            WANT(s->world, apart < 1e-12 && apart > -1e-12);
        }
    }
    return TSR_OK;
}

/* ---- rows of a cut table ---- */

static tsr_status make_indices(const setting *s, int64_t first, int64_t count, bool cut,
                               tsr_tensor **out)
{
    int64_t values[MOST];
    char type[64];
    for (int64_t k = 0; k < count; k++) {
        values[k] = index_at(s, first + k);
    }
    type_text(s, type, sizeof type, "i64", count, "", cut);
    const tsr_view view = {values, TSR_I64, 1, &count, NULL};
    return tsr_typed_value(s->world, &view, type, out);
}

static tsr_status check_rows(const setting *s, bool embedding)
{
    tsr_tensor *table = NULL;
    tsr_tensor *indices = NULL;
    tsr_tensor *rows = NULL;
    tsr_tensor *settled = NULL;
    tsr_tensor *gradient = NULL;
    const int64_t start = s->rank * ROWS;
    const size_t both[] = {0, 1};
    TSR_TRY(make_table(s, &table));
    TSR_TRY(make_indices(s, 0, INDICES, false, &indices));
    TSR_TRY(tsr_tape_begin(s->world));
    TSR_TRY(tsr_watch(table));
    TSR_TRY(embedding ? tsr_embedding_partial(table, indices, start, "tp", &rows)
                      : tsr_take_partial(table, indices, 0, start, "tp", &rows));
    TSR_TRY(settle(s, rows, TSR_SUM, &settled));
    for (int64_t k = 0; k < INDICES; k++) {
        for (int64_t j = 0; j < COLUMNS; j++) {
            WANT(s->world, numbers(settled)[k * COLUMNS + j] == element(index_at(s, k), j));
        }
    }
    /* The gradient of a sum of rows: how often each row is taken. */
    tsr_tensor *loss = NULL;
    TSR_TRY(tsr_sum(settled, both, 2, &loss));
    TSR_TRY(tsr_convert_type(loss, "tp", TSR_AS(R), TSR_AS(P), NULL, &loss));
    TSR_TRY(tsr_backward(loss));
    TSR_TRY(tsr_gradient(table, &gradient));
    for (int64_t i = 0; i < ROWS; i++) {
        double times = 0;
        for (int64_t k = 0; k < INDICES; k++) {
            times += index_at(s, k) == start + i;
        }
        WANT(s->world, numbers(gradient)[i * COLUMNS] == times);
    }
    tsr_tape_end(s->world);
    return TSR_OK;
}

/* ---- updates that are cut ---- */

static double update_at(const setting *s, int64_t k)
{
    (void)s;
    return (double)(k % 3) + 1;
}

static double combine(tsr_scatter_op op, double a, double b)
{
    switch (op) {
    case TSR_SCATTER_ADD:
        return a + b;
    case TSR_SCATTER_MUL:
        return a * b;
    case TSR_SCATTER_MAX:
        return a > b ? a : b;
    default:
        return a < b ? a : b;
    }
}

static tsr_status check_scatter(const setting *s, tsr_scatter_op op, tsr_reduction kind)
{
    const int64_t all = ROWS * s->ranks;
    double values[MOST];
    char type[64];
    tsr_tensor *x = NULL;
    tsr_tensor *indices = NULL;
    tsr_tensor *updates = NULL;
    tsr_tensor *y = NULL;
    for (int64_t i = 0; i < all; i++) {
        values[i] = element(i, 1);
    }
    type_text(s, type, sizeof type, "f64", all, "", false);
    const tsr_view view = {values, TSR_F64, 1, &all, NULL};
    TSR_TRY(tsr_typed_value(s->world, &view, type, &x));
    TSR_TRY(make_indices(s, s->rank * INDICES, INDICES, true, &indices));
    const int64_t count = INDICES;
    for (int64_t k = 0; k < count; k++) {
        values[k] = update_at(s, s->rank * count + k);
    }
    type_text(s, type, sizeof type, "f64", count, "", true);
    const tsr_view mine = {values, TSR_F64, 1, &count, NULL};
    TSR_TRY(tsr_typed_value(s->world, &mine, type, &updates));
    TSR_TRY(tsr_scatter_partial(x, indices, updates, 0, op, "tp", &y));
    TSR_TRY(settle(s, y, kind, &y));
    for (int64_t i = 0; i < all; i++) {
        double want = element(i, 1);
        for (int64_t k = 0; k < count * s->ranks; k++) {
            want = index_at(s, k) == i ? combine(op, want, update_at(s, k)) : want;
        }
        WANT(s->world, numbers(y)[i] == want);
    }
    return TSR_OK;
}

/* ---- what is refused ---- */

static tsr_status check_refusals(const setting *s)
{
    tsr_tensor *table = NULL;
    tsr_tensor *indices = NULL;
    tsr_tensor *y = NULL;
    const size_t dim = 0;
    TSR_TRY(make_table(s, &table));
    TSR_TRY(make_indices(s, 0, ROWS, false, &indices));
    WANT(s->world, tsr_scatter_partial(table, indices, table, 0, TSR_SCATTER_SET, "tp", &y) < 0 &&
                       heard(s->world, "cannot be pending"));
    WANT(s->world, tsr_take_partial(table, indices, 2, 0, "tp", &y) < 0 &&
                       heard(s->world, "dimension 2 is out of range"));
    WANT(s->world, tsr_max_partial(table, &dim, 1, "dp", &y) < 0 && heard(s->world, "dp"));
    WANT(s->world, tsr_embedding_partial(indices, indices, 0, "tp", &y) < 0 &&
                       heard(s->world, "the table must have rank 2"));
    if (!s->checked) {
        return TSR_OK;
    }
    WANT(s->world, tsr_scatter_partial(table, indices, table, 0, TSR_SCATTER_ADD, "tp", &y) < 0 &&
                       heard(s->world, "must be R or I"));
    if (s->global) {
        WANT(s->world, tsr_take_partial(table, indices, 0, s->rank * ROWS + 1, "tp", &y) < 0 &&
                           heard(s->world, "start at"));
        WANT(s->world, tsr_take(table, indices, 0, &y) < 0 &&
                           heard(s->world, "use tsr_take_partial(.., \"tp\", ..)"));
        WANT(s->world, tsr_mean(table, &dim, 1, &y) < 0 &&
                           heard(s->world, "use tsr_mean_partial(.., \"tp\", ..)"));
    }
    return TSR_OK;
}

static tsr_status play(const setting *s)
{
    TSR_TRY(check_reductions(s));
    TSR_TRY(check_rows(s, true));
    TSR_TRY(check_rows(s, false));
    TSR_TRY(check_scatter(s, TSR_SCATTER_ADD, TSR_SUM));
    TSR_TRY(check_scatter(s, TSR_SCATTER_MUL, TSR_PROD));
    TSR_TRY(check_scatter(s, TSR_SCATTER_MAX, TSR_MAX));
    TSR_TRY(check_scatter(s, TSR_SCATTER_MIN, TSR_MIN));
    return check_refusals(s);
}

static tsr_status run(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    char text[32];
    tsr_status status = TSR_OK;
    (void)state;
    (void)snprintf(text, sizeof text, "<[\"tp\"=%lld]>", (long long)tsr_comm_size(world));
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    TSR_TRY(tsr_mesh_parse(tsr_comm_context(world), arena, text, &mesh));
    for (int mode = 0; status == TSR_OK && mode < 3; mode++) {
        const setting s = {world, tsr_comm_size(world), tsr_comm_rank(world), mode == 1, mode < 2};
        TSR_TRY(tsr_scope_open(world));
        TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = mesh,
                                                       .global = {s.global ? 1 : 0},
                                                       .unchecked = !s.checked}));
        status = play(&s);
        tsr_spmd_close(world);
        tsr_scope_close(world);
    }
    tsr_arena_destroy(arena);
    return status;
}

static void partial_results_are_those_of_the_whole(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 8, &ranks);) {
        const tsr_launch_spec spec = {.num_ranks = ranks, .ranks = kinds_chosen()};
        if (ranks > 1) { /* along an axis of one rank nothing varies */
            expect_ranks(*state, &spec, run, NULL);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(partial_results_are_those_of_the_whole)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
