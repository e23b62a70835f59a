/*
 * Pending sums of f16 and bf16 are those of one device: finite where parts overflow, and rounded
 * once. Sums, means and products along a sharded dimension, what keeps them pending, and what
 * settles them: by a call, by another op, into a full array, into a tensor that is there. Gradients
 * of weights, which are sums over the batch.
 */
#include <math.h>
#include <string.h>

#include <tessera/gradient.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

enum { ROWS = 6, TERMS = 24, COLUMNS = 5 };

typedef struct scene {
    tsr_comm *world;
    const tsr_sharding *terms_cut; /* of [ROWS, TERMS] */
    const tsr_sharding *rows_cut;  /* of [TERMS, COLUMNS] */
    const tsr_sharding *whole;
} scene;

/* Halves of a row are near the greatest f16, with signs that differ: parts overflow, sums do not.
 */
static double term_at(int64_t row, int64_t term)
{
    const double large = term < TERMS / 2 ? 30000 : -30000;
    return large + (double)((row * 7 + term * 5) % 13) * 16;
}

static void fill_term(const int64_t *index, void *element, void *state)
{
    (void)state;
    *(double *)element = term_at(index[0], index[1]);
}

static void fill_factor(const int64_t *index, void *element, void *state)
{
    (void)state;
    *(double *)element = index[1] % 2 == 0 ? 1 : -1;
}

static tsr_status make(const scene *s, const tsr_sharding *layout, int64_t rows, int64_t columns,
                       tsr_dtype dtype, tsr_element_function fill, tsr_tensor **out)
{
    const int64_t shape[] = {rows, columns};
    tsr_tensor *x = NULL;
    TSR_TRY(tsr_tensor_create(s->world, &(tsr_tensor_spec){layout, TSR_F64, 2, shape}, &x));
    tsr_tensor_fill(x, fill, NULL);
    const tsr_status status = tsr_convert(x, dtype, out);
    tsr_tensor_release(x);
    return status;
}

/* A result on all ranks, as f64. */
static tsr_status read_all(tsr_tensor *t, double *full)
{
    tsr_tensor *exact = NULL;
    TSR_TRY(tsr_convert(t, TSR_F64, &exact));
    return tsr_tensor_to_full(exact, -1, full);
}

/* The calls, on operands whose contracted dimension is cut or whole. */
typedef tsr_status (*sum_call)(tsr_tensor *x, tsr_tensor *y, tsr_tensor **out);

static tsr_status sum(tsr_tensor *x, tsr_tensor *y, tsr_tensor **out)
{
    const size_t last = 1;
    (void)y;
    return tsr_sum(x, &last, 1, out);
}

static tsr_status mean(tsr_tensor *x, tsr_tensor *y, tsr_tensor **out)
{
    const size_t last = 1;
    (void)y;
    return tsr_mean(x, &last, 1, out);
}

static tsr_status product(tsr_tensor *x, tsr_tensor *y, tsr_tensor **out)
{
    return tsr_matmul(x, y, out);
}

/* The sum twice, transposed and reshaped, all of which leaves it pending. */
static tsr_status moved(tsr_tensor *x, tsr_tensor *y, tsr_tensor **out)
{
    const int64_t flat = ROWS * COLUMNS;
    const size_t order[] = {1, 0};
    tsr_tensor *z = NULL;
    TSR_TRY(tsr_matmul(x, y, &z));
    TSR_TRY(tsr_transpose(z, order, &z));
    TSR_TRY(tsr_reshape(z, &flat, 1, &z));
    return tsr_add(z, z, out);
}

static const struct {
    sum_call call;
    int64_t count;
} calls[] = {{sum, ROWS}, {mean, ROWS}, {product, ROWS *COLUMNS}, {moved, ROWS *COLUMNS}};

static bool is_pending(const tsr_tensor *t)
{
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(tsr_tensor_sharding(t), &count);
    return tsr_axes_size(axes, count) > 1;
}

/* Within a relative error. */
static bool same(const double *a, const double *b, int64_t count, double unit)
{
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(b[i]) || fabs(a[i] - b[i]) > unit * fabs(b[i])) {
            return false;
        }
    }
    return true;
}

/* Settles a sum; the trace has the bytes that moved. */
static tsr_status settle(tsr_comm *world, tsr_tensor *x, tsr_tensor **out)
{
    size_t count = 0;
    TSR_TRY(tsr_trace_begin(world));
    TSR_TRY(tsr_barrier(world));
    const tsr_traffic before = tsr_comm_traffic(world);
    TSR_TRY(tsr_reduce_pending(x, out));
    const tsr_traffic after = tsr_comm_traffic(world);
    const tsr_trace_event *events = tsr_trace_events(world, &count);
    const int64_t noted = count > 0 ? events[count - 1].bytes_received : 0;
    WANT(world, after.bytes_received - before.bytes_received == noted);
    tsr_trace_end(world);
    return TSR_OK;
}

static tsr_status check_call(const scene *s, size_t which, tsr_dtype dtype)
{
    tsr_comm *world = s->world;
    const int64_t count = calls[which].count;
    double want[ROWS * COLUMNS];
    double got[ROWS * COLUMNS];
    uint16_t bits[2][ROWS * COLUMNS];
    tsr_tensor *x[2];
    tsr_tensor *y[2];
    tsr_tensor *z[2];
    tsr_tensor *t = NULL;
    for (size_t i = 0; i < 2; i++) {
        const tsr_sharding *const layouts[] = {i == 0 ? s->whole : s->terms_cut,
                                               i == 0 ? s->whole : s->rows_cut};
        TSR_TRY(make(s, layouts[0], ROWS, TERMS, dtype, fill_term, &x[i]));
        TSR_TRY(make(s, layouts[1], TERMS, COLUMNS, dtype, fill_factor, &y[i]));
        TSR_TRY(calls[which].call(x[i], y[i], &z[i]));
        WANT(world, tsr_tensor_dtype(z[i]) == dtype);
    }
    WANT(world, is_pending(z[1]) == (tsr_comm_size(world) > 1));
    TSR_TRY(read_all(z[0], want)); /* on one device */
    TSR_TRY(read_all(z[1], got));  /* still pending as f64, and then not rounded */
    WANT(world, same(want, got, count, dtype == TSR_F16 ? 0x1p-11 : 0x1p-8));
    TSR_TRY(settle(world, z[1], &t));
    TSR_TRY(read_all(t, got));
    WANT(world, same(want, got, count, 0));
    TSR_TRY(tsr_tensor_to_full(z[0], -1, bits[0]));
    TSR_TRY(tsr_tensor_to_full(z[1], tsr_comm_size(world) - 1, bits[1]));
    WANT(world, tsr_comm_rank(world) + 1 < tsr_comm_size(world) ||
                    memcmp(bits[0], bits[1], (size_t)count * sizeof bits[0][0]) == 0);
    TSR_TRY(tsr_sub(z[0], z[0], &t));
    TSR_TRY(tsr_redistribute_into(t, z[1]));
    TSR_TRY(read_all(t, got));
    WANT(world, same(want, got, count, 0));
    return TSR_OK;
}

static void fill_column(const int64_t *index, void *element, void *state)
{
    (void)state;
    *(double *)element = term_at(index[1], index[0]);
}

/* The gradient of a weight, a sum over the batch. */
static tsr_status gradient_of(const scene *s, const tsr_sharding *batch, tsr_dtype dtype,
                              tsr_tensor **out)
{
    tsr_tensor *x = NULL;
    tsr_tensor *weight = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *ones = NULL;
    TSR_TRY(make(s, batch, TERMS, ROWS, dtype, fill_column, &x));
    TSR_TRY(make(s, s->whole, ROWS, COLUMNS, dtype, fill_factor, &weight));
    TSR_TRY(tsr_tape_begin(s->world));
    TSR_TRY(tsr_watch(weight));
    TSR_TRY(tsr_matmul(x, weight, &y));
    TSR_TRY(tsr_scalar_like(y, 1, &ones));
    TSR_TRY(tsr_broadcast_to(ones, tsr_tensor_shape(y), 2, &ones));
    TSR_TRY(tsr_backward_from(y, ones));
    TSR_TRY(tsr_gradient(weight, out));
    tsr_tape_end(s->world);
    return TSR_OK;
}

static tsr_status check_gradient(const scene *s, tsr_dtype dtype)
{
    double want[ROWS * COLUMNS];
    double got[ROWS * COLUMNS];
    tsr_tensor *of[2];
    TSR_TRY(gradient_of(s, s->whole, dtype, &of[0]));
    TSR_TRY(gradient_of(s, s->rows_cut, dtype, &of[1]));
    TSR_TRY(tsr_reduce_pending(of[1], &of[1]));
    TSR_TRY(read_all(of[0], want));
    TSR_TRY(read_all(of[1], got));
    WANT(s->world, same(want, got, (int64_t)ROWS * COLUMNS, 0));
    return TSR_OK;
}

static tsr_status run(tsr_comm *world, void *state)
{
    const tsr_dtype dtypes[] = {TSR_F16, TSR_BF16};
    tsr_context *ctx = tsr_comm_context(world);
    tsr_arena *arena = NULL;
    const int64_t ranks = tsr_comm_size(world);
    const char *const name = "x";
    const tsr_mesh_spec of_mesh = {.num_axes = 1, .axis_names = &name, .axis_sizes = &ranks};
    const tsr_mesh *mesh = NULL;
    scene s = {.world = world};
    (void)state;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    TSR_TRY(tsr_mesh_create(ctx, arena, &of_mesh, &mesh));
    TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, "[{}, {\"x\"}]", &s.terms_cut));
    TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, "[{\"x\"}, {}]", &s.rows_cut));
    TSR_TRY(tsr_sharding_parse(ctx, arena, mesh, "[{}, {}]", &s.whole));
    for (size_t i = 0; i < 2 * sizeof calls / sizeof calls[0]; i++) {
        TSR_TRY(tsr_scope_open(world));
        TSR_TRY(check_call(&s, i / 2, dtypes[i % 2]));
        TSR_TRY(check_gradient(&s, dtypes[i % 2]));
        tsr_scope_close(world);
    }
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void pending_sums_are_those_of_one_device(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 4, &ranks);) {
        const tsr_launch_spec spec = {.num_ranks = ranks, .ranks = kinds_chosen()};
        expect_ranks(*state, &spec, run, NULL);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(pending_sums_are_those_of_one_device)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
