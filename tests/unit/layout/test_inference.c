/* Layout inference: chosen layouts by strategy, prices that decide, allocations that fail. */
#include <string.h>

#include "failing_heap.h"

#include "layout/inference.h"
#include "ops/op_dot.h"

/* A product of two matrices on <["x"=2, "y"=4]>. */
typedef struct product {
    op_type operands[2];
    op_type result;
    op_request request;
    const tsr_sharding *given[2];
} product;

static const int64_t lhs_shape[] = {64, 32};
static const int64_t rhs_shape[] = {32, 16};

static const int64_t last[] = {1};
static const int64_t first[] = {0};
static const dot_params contraction = {.lhs_contracting_dimensions = {1, last},
                                       .rhs_contracting_dimensions = {1, first}};

static void product_of(fixture *f, const char *lhs, const char *rhs, product *out)
{
    static const op_row *row = &op_dot_general;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2, \"y\"=4]>");
    *out = (product){.operands = {{TSR_F32, 2, lhs_shape}, {TSR_F32, 2, rhs_shape}}};
    out->request = (op_request){.ctx = f->ctx,
                                .arena = f->arena,
                                .call = "tsr_matmul",
                                .row = row,
                                .params = &contraction,
                                .num_operands = 2,
                                .operands = out->operands};
    out->given[0] = sharding_of(f, mesh, lhs);
    out->given[1] = sharding_of(f, mesh, rhs);
    assert_int_equal(row->types(&out->request, &out->result), TSR_OK);
}

/* What moving one element costs, and what one point of the loops does. */
typedef struct unit_prices {
    double element;
    double point;
    int64_t moves; /* priced so far */
} unit_prices;

static tsr_status price_move(void *state, const op_type *type, const tsr_sharding *from,
                             const tsr_sharding *to, double *seconds)
{
    unit_prices *p = state;
    int64_t elements = 0;
    assert_true(op_elements(type, &elements));
    p->moves++;
    *seconds = tsr_sharding_equal(from, to) ? 0 : p->element * (double)elements;
    return TSR_OK;
}

static double price_compute(void *state, const op_type *result, double points)
{
    const unit_prices *p = state;
    (void)result;
    return p->point * points;
}

static inference inference_of(const product *p, tsr_strategy strategy,
                              const inference_prices *prices)
{
    return (inference){.r = &p->request,
                       .results = &p->result,
                       .num_results = 1,
                       .given = p->given,
                       .strategy = strategy,
                       .prices = prices,
                       .arena = p->request.arena};
}

#define X "\"x\""
#define Y "\"y\""

static void expect_layouts(fixture *f, const inference *x, const char *lhs, const char *rhs,
                           const char *result)
{
    const char *const wanted[] = {lhs, rhs, result};
    const tsr_sharding *const found[] = {x->run[0], x->run[1], x->finals[0]};
    for (size_t i = 0; i < 3; i++) {
        const char *text = NULL;
        assert_int_equal(tsr_sharding_print(f->ctx, f->arena, found[i], TSR_PRINT_BARE, &text),
                         TSR_OK);
        assert_string_equal(text, wanted[i]);
    }
}

/* What runs as it is stays the very same object; what stays pending of an operand too. */
static void what_can_stays(void **state)
{
    fixture *f = *state;
    tsr_axis_ref own[MAX_PENDING];
    product p;
    product_of(f, "[{" Y "}, {" X "}]", "[{" X "}, {}]", &p);
    inference x = inference_of(&p, TSR_STRATEGY_AGGRESSIVE, NULL);
    assert_int_equal(inference_begin(&x), TSR_OK);
    assert_int_equal(inference_solve(&x), TSR_OK);
    assert_ptr_equal(x.run[0], p.given[0]);
    assert_ptr_equal(x.run[1], p.given[1]);
    assert_false(x.fallback);
    expect_layouts(f, &x, "[{" Y "}, {" X "}]", "[{" X "}, {}]",
                   "[{" Y "}, {}], unreduced={" X "}");
    assert_int_equal(inference_own_pending(&x, own), 1);

    product_of(f, "[{" Y "}, {}], unreduced={" X "}", "[{}, {}]", &p);
    x = inference_of(&p, TSR_STRATEGY_AGGRESSIVE, NULL);
    assert_int_equal(inference_begin(&x), TSR_OK);
    assert_int_equal(inference_solve(&x), TSR_OK);
    assert_ptr_equal(x.run[0], p.given[0]);
    assert_int_equal(x.kept[0].count, 1);
    assert_int_equal(inference_own_pending(&x, own), 0);
}

/* Rows and columns by one axis: prices say whether moving or computing counts. */
static void prices_decide(void **state)
{
    static const struct {
        unit_prices prices;
        const char *from[2];
        const char *lhs;
        const char *rhs;
        const char *result;
    } rows[] = {
        /* The right operand has fewer elements. */
        {{1, 0, 0},
         {"[{" X "}, {}]", "[{}, {" X "}]"},
         "[{" X "}, {}]",
         "[{}, {}]",
         "[{" X "}, {}]"},
        /* Nothing costs anything but points: all axes that operands have are used. */
        {{0, 1, 0},
         {"[{" X "}, {" Y "}]", "[{}, {" Y "}]"},
         "[{" X "}, {}]",
         "[{}, {" Y "}]",
         "[{" X "}, {" Y "}]"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unit_prices prices = rows[i].prices;
        const inference_prices table = {&prices, price_move, price_compute};
        product p;
        double price = -1;
        product_of(f, rows[i].from[0], rows[i].from[1], &p);
        inference x = inference_of(&p, TSR_STRATEGY_CHEAPEST, &table);
        assert_int_equal(inference_begin(&x), TSR_OK);
        assert_int_equal(inference_solve(&x), TSR_OK);
        expect_layouts(f, &x, rows[i].lhs, rows[i].rhs, rows[i].result);
        assert_true(prices.moves > 0);
        assert_int_equal(inference_price(&x, &price), TSR_OK);
        assert_true(price > 0);
    }
}

/* Without prices the cheapest is what the default strategy gives. */
static void no_prices(void **state)
{
    fixture *f = *state;
    product p;
    product_of(f, "[{" X "}, {" Y "}]", "[{" X "}, {" Y "}]", &p);
    inference a = inference_of(&p, TSR_STRATEGY_CHEAPEST, NULL);
    inference b = inference_of(&p, TSR_STRATEGY_AGGRESSIVE, NULL);
    assert_int_equal(inference_begin(&a), TSR_OK);
    assert_int_equal(inference_begin(&b), TSR_OK);
    assert_int_equal(inference_solve(&a), TSR_OK);
    assert_int_equal(inference_solve(&b), TSR_OK);
    assert_true(tsr_sharding_equal(a.run[0], b.run[0]));
    assert_true(tsr_sharding_equal(a.run[1], b.run[1]));
    assert_true(tsr_sharding_equal(a.finals[0], b.finals[0]));
}

/* An inference in a context of which an allocation may fail. */
static bool solve_in(tsr_context *ctx)
{
    unit_prices prices = {1, 1, 0};
    const inference_prices table = {&prices, price_move, price_compute};
    fixture f = {.ctx = ctx};
    const tsr_mesh *mesh = NULL;
    op_type operands[] = {{TSR_F32, 2, lhs_shape}, {TSR_F32, 2, rhs_shape}};
    op_type result;
    const tsr_sharding *given[2] = {NULL, NULL};
    bool worked = worked_or_no_memory(ctx, tsr_arena_create(ctx, &f.arena));
    if (!worked) {
        return false;
    }
    const tsr_mesh_spec spec = {.name = "mesh",
                                .num_axes = 2,
                                .axis_names = (const char *const[]){"x", "y"},
                                .axis_sizes = (const int64_t[]){2, 4}};
    worked = worked_or_no_memory(ctx, tsr_mesh_create(ctx, f.arena, &spec, &mesh));
    for (size_t i = 0; worked && i < 2; i++) {
        const tsr_axis_ref axis = tsr_axis_full(mesh, 0);
        const tsr_dim dims[] = {tsr_dim_closed(&axis, 1), tsr_dim_closed(NULL, 0)};
        const tsr_sharding_spec s = {.mesh = mesh, .rank = 2, .dims = dims};
        worked = worked_or_no_memory(
            ctx, tsr_sharding_create(ctx, f.arena, &s, TSR_SHARDING_DEFAULT, &given[i]));
    }
    const op_request r = {.ctx = ctx,
                          .arena = f.arena,
                          .call = "tsr_matmul",
                          .row = &op_dot_general,
                          .params = &contraction,
                          .num_operands = 2,
                          .operands = operands};
    inference x = {.r = &r,
                   .results = &result,
                   .num_results = 1,
                   .given = given,
                   .strategy = TSR_STRATEGY_CHEAPEST,
                   .prices = &table,
                   .arena = f.arena};
    worked = worked && worked_or_no_memory(ctx, op_dot_general.types(&r, &result));
    worked = worked && worked_or_no_memory(ctx, inference_begin(&x));
    worked = worked && worked_or_no_memory(ctx, inference_solve(&x));
    tsr_arena_destroy(f.arena);
    return worked;
}

static void allocations_fail(void **state)
{
    (void)state;
    assert_true(fail_each_allocation_of(solve_in) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_can_stays),
        TEST(prices_decide),
        TEST(no_prices),
        TEST(allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
