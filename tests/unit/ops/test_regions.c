/* Rows with regions and several operands, run: reduce, sort, scatter; a reshape with gaps. */
#include <stdlib.h>
#include <string.h>

#include "kernel/packed.h"
#include "ops/op_index.h"
#include "ops/op_reduce.h"
#include "ops/op_shape.h"
#include "ops/op_sort.h"
#include "random.h"

enum { MOST = 256, ARRAYS = 6 };

/* An array of doubles or 64-bit integers, whole, with strides of its own. */
typedef struct plain_array {
    int64_t shape[3];
    int64_t strides[3];
    int64_t start[3];
    _Alignas(8) char data[MOST * 8];
} plain_array;

static op_array array_of(plain_array *a, tsr_dtype dtype, size_t rank, const int64_t *shape,
                         int64_t gap)
{
    int64_t stride = 8 * gap;
    memset(a, 0, sizeof *a);
    for (size_t d = rank; d-- > 0;) {
        a->shape[d] = shape[d];
        a->strides[d] = stride;
        stride *= shape[d];
    }
    assert_true(stride <= (int64_t)sizeof a->data);
    return (op_array){{a->data, dtype, rank, a->shape, a->strides}, a->start, a->shape};
}

static double *at(const op_array *a, int64_t i, int64_t j)
{
    const int64_t *s = a->view.strides;
    return (double *)(void *)((char *)a->view.data + (a->view.rank > 0 ? i * s[0] : 0) +
                              (a->view.rank > 1 ? j * s[1] : 0));
}

static void run_row(const op_row *row, const void *params, const op_array *operands, size_t n,
                    const op_array *results, bool first)
{
    const op_call c = {.row = row,
                       .params = params,
                       .num_operands = n,
                       .num_results = op_num_results(row, n),
                       .operands = operands,
                       .results = results,
                       .first = first};
    const size_t bytes = row->scratch != NULL ? row->scratch(&c) : 0;
    void *scratch = malloc(bytes + 1);
    assert_non_null(scratch);
    row->run(&c, scratch);
    free(scratch);
}

/* The larger value and its index, the first of equals: argmax as a reduction of two tensors. */
static void larger(void *state, const void *const *arguments, void *const *results)
{
    double a;
    double b;
    int64_t *calls = state;
    memcpy(&a, arguments[0], sizeof a);
    memcpy(&b, arguments[2], sizeof b);
    const size_t from = b > a ? 2 : 0;
    memcpy(results[0], arguments[from], sizeof(double));
    memcpy(results[1], arguments[from + 1], sizeof(double));
    ++*calls;
}

static void reduce_with_an_opaque_body(void **state)
{
    static const int64_t shape[] = {3, 5};
    static const int64_t kept[] = {3};
    static const int64_t dim = 1;
    plain_array memory[ARRAYS];
    int64_t calls = 0;
    const op_array operands[] = {
        array_of(&memory[0], TSR_F64, 2, shape, 1), array_of(&memory[1], TSR_F64, 2, shape, 2),
        array_of(&memory[2], TSR_F64, 0, NULL, 1), array_of(&memory[3], TSR_F64, 0, NULL, 1)};
    const op_array results[] = {array_of(&memory[4], TSR_F64, 1, kept, 1),
                                array_of(&memory[5], TSR_F64, 1, kept, 2)};
    const reduce_params params = {.dimensions = {1, &dim},
                                  .body = {.call = larger, .state = &calls}};
    (void)state;
    for (int64_t i = 0; i < 3; i++) {
        for (int64_t j = 0; j < 5; j++) {
            *at(&operands[0], i, j) = (double)((i * 7 + j * 3) % 5);
            *at(&operands[1], i, j) = (double)j;
        }
    }
    *at(&operands[2], 0, 0) = 2.5;
    *at(&operands[3], 0, 0) = -1;
    run_row(&op_reduce, &params, operands, 4, results, true);
    assert_int_equal(calls, 15);
    for (int64_t i = 0; i < 3; i++) {
        double most = 2.5;
        double index = -1;
        for (int64_t j = 0; j < 5; j++) {
            const double x = (double)((i * 7 + j * 3) % 5);
            index = x > most ? (double)j : index;
            most = x > most ? x : most;
        }
        assert_true(*at(&results[0], i, 0) == most);
        assert_true(*at(&results[1], i, 0) == index);
    }
}

/* Of nothing, the initial value; an initial value counts once among the ranks that sum. */
static void reduce_from_initial_values(void **state)
{
    static const int64_t dim = 0;
    static const struct {
        int64_t rows;
        op_body body;
        bool first;
        double want;
    } cases[] = {{0, OP_BODY_SUM, true, 10},  {3, OP_BODY_SUM, true, 16},
                 {3, OP_BODY_SUM, false, 6},  {3, OP_BODY_PROD, true, 60},
                 {3, OP_BODY_PROD, false, 6}, {3, OP_BODY_MAX, false, 10},
                 {3, OP_BODY_MIN, true, 1},   {0, OP_BODY_MAX, true, 10}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        plain_array memory[3];
        const op_array operands[] = {array_of(&memory[0], TSR_F64, 1, &cases[k].rows, 1),
                                     array_of(&memory[1], TSR_F64, 0, NULL, 1)};
        const op_array result = array_of(&memory[2], TSR_F64, 0, NULL, 1);
        const reduce_params params = {.dimensions = {1, &dim}, .body = {.body = cases[k].body}};
        for (int64_t i = 0; i < cases[k].rows; i++) {
            *at(&operands[0], i, 0) = (double)(i + 1);
        }
        *at(&operands[1], 0, 0) = 10;
        run_row(&op_reduce, &params, operands, 2, &result, cases[k].first);
        assert_true(*at(&result, 0, 0) == cases[k].want);
    }
}

/* By the last digit, so that there are equals. */
static void last_digit_before(void *state, const void *const *arguments, void *const *results)
{
    int64_t a;
    int64_t b;
    (void)state;
    memcpy(&a, arguments[0], sizeof a);
    memcpy(&b, arguments[1], sizeof b);
    *(uint8_t *)results[0] = a % 10 < b % 10;
}

static int64_t *int_at(const op_array *a, int64_t i, int64_t j)
{
    return (int64_t *)(void *)at(a, i, j);
}

/* Two operands sorted together along either dimension, by known and opaque comparators, stably. */
static void sort_several_operands(void **state)
{
    static const struct {
        op_region comparator;
        int64_t (*key)(int64_t value);
        int sign;
    } orders[] = {{{.body = OP_BODY_LESS}, NULL, 1},
                  {{.body = OP_BODY_GREATER}, NULL, -1},
                  {{.call = last_digit_before}, NULL, 0}};
    const rng base = rng_start("sorts");
    (void)state;
    for (uint64_t n = 0; n < 60; n++) {
        rng r = rng_case(&base, n);
        const int64_t shape[] = {1 + rng_below(&r, 7), 1 + rng_below(&r, 7)};
        const size_t dim = n % 2;
        const size_t order = (size_t)(n % 3);
        const bool opaque = orders[order].sign == 0;
        plain_array memory[4];
        const op_array operands[] = {array_of(&memory[0], TSR_I64, 2, shape, 2),
                                     array_of(&memory[1], TSR_I64, 2, shape, 1)};
        const op_array results[] = {array_of(&memory[2], TSR_I64, 2, shape, 1),
                                    array_of(&memory[3], TSR_I64, 2, shape, 2)};
        const sort_params params = {.dimension = (int64_t)dim - (rng_chance(&r, 30) ? 2 : 0),
                                    .comparator = orders[order].comparator};
        for (int64_t i = 0; i < shape[0]; i++) {
            for (int64_t j = 0; j < shape[1]; j++) {
                *int_at(&operands[0], i, j) = rng_below(&r, 25);
                *int_at(&operands[1], i, j) = dim == 0 ? i : j;
            }
        }
        run_row(&op_sort, &params, operands, 2, results, true);
        for (int64_t line = 0; line < shape[1 - dim]; line++) {
            int64_t before = -1;
            int64_t before_id = -1;
            uint64_t ids = 0;
            for (int64_t k = 0; k < shape[dim]; k++) {
                const int64_t i = dim == 0 ? k : line;
                const int64_t j = dim == 0 ? line : k;
                const int64_t id = *int_at(&results[1], i, j);
                const int64_t value = *int_at(&results[0], i, j);
                const int64_t key = opaque ? value % 10 : value;
                assert_true(value == (dim == 0 ? *int_at(&operands[0], id, line)
                                               : *int_at(&operands[0], line, id)));
                if (k > 0) {
                    const int64_t apart = orders[order].sign < 0 ? before - key : key - before;
                    assert_true(apart > 0 || (apart == 0 && before_id < id));
                }
                before = key;
                before_id = id;
                ids |= UINT64_C(1) << id;
            }
            assert_true(ids == (UINT64_C(1) << shape[dim]) - 1);
        }
    }
}

static void scatter_into_several_inputs(void **state)
{
    static const int64_t rows[] = {6};
    static const int64_t updates[] = {4};
    static const int64_t zero = 0;
    static const int64_t where[] = {1, 4, 1, 9};
    plain_array memory[7];
    const op_array operands[] = {
        array_of(&memory[0], TSR_F64, 1, rows, 1), array_of(&memory[1], TSR_F64, 1, rows, 2),
        array_of(&memory[2], TSR_I64, 1, updates, 1), array_of(&memory[3], TSR_F64, 1, updates, 1),
        array_of(&memory[4], TSR_F64, 1, updates, 2)};
    const op_array results[] = {array_of(&memory[5], TSR_F64, 1, rows, 1),
                                array_of(&memory[6], TSR_F64, 1, rows, 1)};
    const scatter_params params = {.inserted_window_dims = {1, &zero},
                                   .scatter_dims_to_operand_dims = {1, &zero},
                                   .index_vector_dim = 1,
                                   .body = {.body = OP_BODY_SUM}};
    (void)state;
    for (int64_t i = 0; i < 6; i++) {
        *at(&operands[0], i, 0) = (double)i;
        *at(&operands[1], i, 0) = (double)(10 * i);
    }
    for (int64_t i = 0; i < 4; i++) {
        *int_at(&operands[2], i, 0) = where[i];
        *at(&operands[3], i, 0) = (double)(100 + i);
        *at(&operands[4], i, 0) = (double)(1000 + i);
    }
    run_row(&op_scatter, &params, operands, 5, results, true);
    static const double want[2][6] = {{0, 203, 2, 3, 105, 5}, {0, 2012, 20, 30, 1041, 50}};
    for (size_t k = 0; k < 2; k++) {
        for (int64_t i = 0; i < 6; i++) {
            assert_true(*at(&results[k], i, 0) == want[k][i]);
        }
    }
}

static void reshape_honours_the_strides_of_its_result(void **state)
{
    static const int64_t shape[] = {3, 4};
    static const int64_t other[] = {2, 6};
    (void)state;
    for (int64_t gap = 1; gap <= 3; gap++) {
        plain_array memory[2];
        const op_array operand = array_of(&memory[0], TSR_F64, 2, shape, 4 - gap);
        const op_array result = array_of(&memory[1], TSR_F64, 2, other, gap);
        const reshape_params params = {.result = {TSR_F64, 2, other}};
        for (int64_t i = 0; i < 12; i++) {
            *at(&operand, i / 4, i % 4) = (double)i;
        }
        run_row(&op_reshape, &params, &operand, 1, &result, true);
        for (int64_t i = 0; i < 12; i++) {
            assert_true(*at(&result, i / 6, i % 6) == (double)i);
            if (gap > 1) { /* what is between the elements stays */
                assert_true(*(at(&result, i / 6, i % 6) + 1) == 0);
            }
        }
    }
}

/* Bodies that no kernel has are legal, and said to have none. */
static void unknown_bodies_have_no_kernel(void **state)
{
    static const int64_t four[] = {4};
    static const int64_t dim = 0;
    static const reduce_params params = {.dimensions = {1, &dim}};
    static const sort_params sort = {.comparator = {.body = OP_BODY_SUM}};
    const op_type operands[] = {{TSR_F64, 1, four}, {.dtype = TSR_F64}};
    const op_request r = {
        .row = &op_reduce, .params = &params, .num_operands = 2, .operands = operands};
    const op_request s = {
        .row = &op_sort, .params = &sort, .num_operands = 1, .operands = operands};
    (void)state;
    assert_false(op_reduce.supports(&r, operands));
    assert_false(op_sort.supports(&s, operands));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(reduce_with_an_opaque_body),
                                       TEST(reduce_from_initial_values),
                                       TEST(sort_several_operands),
                                       TEST(scatter_into_several_inputs),
                                       TEST(reshape_honours_the_strides_of_its_result),
                                       TEST(unknown_bodies_have_no_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
