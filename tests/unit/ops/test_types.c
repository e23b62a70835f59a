/* Unknown extents through the `types` hook of every row, and what each op refuses. */
#include <string.h>

#include "instance.h"
#include "ops/op_convolution.h"
#include "ops/op_index.h"
#include "ops/op_reduce.h"
#include "ops/op_shape.h"
#include "ops/op_slice.h"

/* The same use with some extents of the operands unknown. */
static void forget_extents(instance *i, rng *r)
{
    for (size_t k = 0; k < i->num_operands; k++) {
        op_type *type = &i->operands[k];
        int64_t *shape = tsr_arena_alloc(i->arena, (type->rank + 1) * sizeof *shape);
        assert_non_null(shape);
        for (size_t d = 0; d < type->rank; d++) {
            shape[d] = rng_chance(r, 40) ? TSR_UNKNOWN : type->shape[d];
        }
        type->shape = shape;
    }
}

/*
 * What is legal with known extents is legal with fewer of them, and the results agree: an extent is
 * the same, or unknown, and never invented.
 */
static void unknown_extents_refine(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("unknown");
    size_t unknown = 0;
    for (size_t k = 0; k < op_count(); k++) {
        for (uint64_t n = 0; op_at(k)->types != NULL && n < 100; n++) {
            rng r = rng_case(&base, 1000 * k + n);
            const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
            op_type results[INSTANCE_RESULTS];
            instance i;
            assert_true(instance_draw(f, op_at(k), &r, &i));
            forget_extents(&i, &r);
            const op_request request = instance_request(f, &i);
            if (i.row->types(&request, results) != TSR_OK) {
                fail_msg("%s with unknown extents: %s", i.row->name,
                         tsr_context_diagnostics(f->ctx)->text);
            }
            for (size_t s = 0; s < op_num_results(i.row, i.num_operands); s++) {
                assert_int_equal(results[s].dtype, i.results[s].dtype);
                assert_int_equal(results[s].rank, i.results[s].rank);
                for (size_t d = 0; d < results[s].rank; d++) {
                    unknown += results[s].shape[d] == TSR_UNKNOWN;
                    if (!extents_agree(results[s].shape[d], i.results[s].shape[d])) {
                        fail_msg("%s: dimension %zu of result %zu is %lld, with all extents known "
                                 "%lld",
                                 i.row->name, d, s, (long long)results[s].shape[d],
                                 (long long)i.results[s].shape[d]);
                    }
                }
            }
            tsr_arena_reset(f->arena, mark);
        }
    }
    assert_true(unknown > 1000);
}

/* The reference shards no op with an unknown extent. */
static void unknown_extents_have_no_rule(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {4, TSR_UNKNOWN};
    const op_type operands[] = {{TSR_F32, 2, shape}, {TSR_F32, 2, shape}};
    const op_request r = {.ctx = f->ctx,
                          .arena = f->arena,
                          .call = "add",
                          .row = op_find("add"),
                          .num_operands = 2,
                          .operands = operands};
    op_type result;
    const tsr_rule *rule = NULL;
    assert_int_equal(r.row->types(&r, &result), TSR_OK);
    assert_int_equal(op_find_rule(&r, &result, f->arena, &rule), TSR_NOT_APPLICABLE);
    assert_string_equal(op_type_text(&result).text, "f32[4,?]");
}

/* Legal types without a kernel pass `types`; `supports` says that there is none. */
static void legality_is_apart_from_kernels(void **state)
{
    fixture *f = *state;
    static const tsr_dtype dtypes[] = {TSR_F8E5M2, TSR_F8E4M3FN, TSR_I4};
    static const char *const names[] = {"tanh", "add", "add"};
    for (size_t i = 0; i < 3; i++) {
        const op_type operands[] = {{.dtype = dtypes[i]}, {.dtype = dtypes[i]}};
        const op_row *row = op_find(names[i]);
        const op_request r = {.ctx = f->ctx,
                              .arena = f->arena,
                              .call = names[i],
                              .row = row,
                              .num_operands = row->num_operands,
                              .operands = operands};
        op_type result;
        assert_int_equal(row->types(&r, &result), TSR_OK);
        assert_int_equal(op_check_supported(&r, &result), TSR_ERR_UNSUPPORTED);
        tsr_context_clear(f->ctx);
    }
}

/* Indices of less than a byte are legal, and no kernel reads them. */
static void narrow_indices_have_no_kernel(void **state)
{
    static const int64_t four[] = {4};
    static const int64_t zero = 0;
    static const int64_t one = 1;
    static const gather_params rows = {.collapsed_slice_dims = {1, &zero},
                                       .start_index_map = {1, &zero},
                                       .index_vector_dim = 1,
                                       .slice_sizes = {1, &one}};
    fixture *f = *state;
    for (size_t k = 0; k < 2; k++) {
        const op_type operands[] = {{TSR_F32, 1, four}, {k == 0 ? TSR_I4 : TSR_I8, 1, four}};
        const op_request r = {.ctx = f->ctx,
                              .arena = f->arena,
                              .call = "gather",
                              .row = &op_gather,
                              .params = &rows,
                              .num_operands = 2,
                              .operands = operands};
        op_type result;
        assert_int_equal(op_gather.types(&r, &result), TSR_OK);
        assert_int_equal(op_check_supported(&r, &result), k == 0 ? TSR_ERR_UNSUPPORTED : TSR_OK);
        tsr_context_clear(f->ctx);
    }
}

/* Programs have operands of one shape; eager calls broadcast. */
static void shapes_must_be_equal_unless_they_broadcast(void **state)
{
    fixture *f = *state;
    const int64_t wide[] = {3, 4};
    const int64_t narrow[] = {4};
    const op_type operands[] = {{TSR_F32, 2, wide}, {TSR_F32, 1, narrow}};
    op_request r = {.ctx = f->ctx,
                    .arena = f->arena,
                    .call = "add",
                    .row = op_find("add"),
                    .num_operands = 2,
                    .operands = operands,
                    .broadcasts = true};
    op_type result;
    assert_int_equal(r.row->types(&r, &result), TSR_OK);
    assert_string_equal(op_type_text(&result).text, "f32[3,4]");
    r.broadcasts = false;
    assert_int_equal(r.row->types(&r, &result), TSR_ERR_INVALID);
    expect_message(f, "operand 0, f32[3,4], and operand 1, f32[4], differ in shape");
}

typedef struct wrong_use {
    const op_row *row;
    const void *params;
    size_t num_operands;
    op_type operands[5];
    const char *message;
} wrong_use;

static void variadic_rows_say_what_is_wrong(void **state)
{
    fixture *f = *state;
    static const int64_t four[] = {4};
    static const int64_t five[] = {5};
    static const int64_t two[] = {2};
    static const int64_t zero = 0;
    static const reduce_params sum = {.dimensions = {1, &zero}, .body = {.body = OP_BODY_SUM}};
    static const reduce_params beyond = {.dimensions = {1, four}, .body = {.body = OP_BODY_SUM}};
    static const scatter_params add = {.inserted_window_dims = {1, &zero},
                                       .scatter_dims_to_operand_dims = {1, &zero},
                                       .index_vector_dim = 1,
                                       .body = {.body = OP_BODY_SUM}};
    const op_type x = {TSR_F32, 1, four};
    const op_type y = {TSR_F32, 1, five};
    const op_type scalar = {.dtype = TSR_F32};
    const op_type whole = {.dtype = TSR_I32};
    const op_type indices = {TSR_I32, 1, two};
    const op_type updates = {TSR_F32, 1, two};
    const wrong_use uses[] = {
        {&op_reduce,
         &sum,
         4,
         {x, y, scalar, scalar},
         "Shape at input-index 1 is not compatible with shape at input-index 0"},
        {&op_reduce, &sum, 2, {x, whole}, "initial value 0, i32[], must be a scalar of the type"},
        {&op_reduce, &sum, 2, {x, x}, "initial value 0, f32[4], must be a scalar"},
        {&op_reduce, &beyond, 2, {x, scalar}, "Out-of-bounds dimension 4"},
        {&op_scatter,
         &add,
         5,
         {x, y, indices, updates, updates},
         "Not all inputs have compatible shapes"},
        {&op_scatter, &add, 3, {x, indices, y}, "updates"},
        {&op_scatter, &add, 3, {x, updates, updates}, "the indices, f32[2], must be integers"}};
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        const wrong_use *u = &uses[i];
        op_type results[2];
        const op_request r = {.ctx = f->ctx,
                              .arena = f->arena,
                              .call = u->row->name,
                              .row = u->row,
                              .params = u->params,
                              .num_operands = u->num_operands,
                              .operands = u->operands};
        assert_true(op_takes(u->row, u->num_operands));
        assert_int_equal(u->row->types(&r, results), TSR_ERR_INVALID);
        expect_message(f, u->message);
    }
    assert_false(op_takes(&op_reduce, 3));
    assert_false(op_takes(&op_scatter, 4));
    assert_false(op_takes(&op_concatenate, 0));
}

/* Groups of more features than there are numbers for. */
static void groups_without_end(void **state)
{
    fixture *f = *state;
    const int64_t input[] = {1, 0, 4};
    const int64_t kernel[] = {0, INT64_C(1) << 62, 3};
    const int64_t spatial = 2;
    const convolution_params params = {.input_feature_dimension = 1,
                                       .input_spatial_dimensions = {1, &spatial},
                                       .kernel_input_feature_dimension = 1,
                                       .kernel_spatial_dimensions = {1, &spatial},
                                       .output_feature_dimension = 1,
                                       .output_spatial_dimensions = {1, &spatial},
                                       .feature_group_count = 4,
                                       .batch_group_count = 1};
    const op_type operands[] = {{TSR_F32, 3, input}, {TSR_F32, 3, kernel}};
    const op_request r = {.ctx = f->ctx,
                          .arena = f->arena,
                          .call = "convolution",
                          .row = &op_convolution,
                          .params = &params,
                          .num_operands = 2,
                          .operands = operands};
    op_type result;
    assert_int_equal(r.row->types(&r, &result), TSR_ERR_INVALID);
    expect_message(f, "does not divide into 4 feature groups");
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(unknown_extents_refine),
                                       TEST(unknown_extents_have_no_rule),
                                       TEST(legality_is_apart_from_kernels),
                                       TEST(narrow_indices_have_no_kernel),
                                       TEST(shapes_must_be_equal_unless_they_broadcast),
                                       TEST(variadic_rows_say_what_is_wrong),
                                       TEST(groups_without_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
