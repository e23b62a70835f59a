/*
 * The rules of rows, each derived by hand from the registry's table: factors in the order in which
 * the construction makes them, kinds, and what is blocked.
 */
#include <string.h>

#include "base/arena.h"
#include "ops/op_convolution.h"
#include "ops/op_dot.h"
#include "ops/op_index.h"
#include "ops/op_reduce.h"
#include "ops/op_shape.h"
#include "ops/op_slice.h"
#include "ops/op_sort.h"
#include "support.h"

enum { MOST = 7 };

/* A use of a row and its rule; extents of a shape end at 0 from `rank` on. */
typedef struct rule_case {
    const char *row;
    const void *params;
    size_t num_operands;
    struct {
        tsr_dtype dtype;
        size_t rank;
        int64_t shape[4];
    } operands[MOST];
    bool conservative;
    const op_operand_fact *facts;
    const char *rule;
} rule_case;

#define LIST(...)                                                                                  \
    {                                                                                              \
        sizeof((int64_t[]){__VA_ARGS__}) / 8, (const int64_t[])                                    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define F2(a, b)                                                                                   \
    {                                                                                              \
        TSR_F32, 2,                                                                                \
        {                                                                                          \
            a, b                                                                                   \
        }                                                                                          \
    }
#define F1(a)                                                                                      \
    {                                                                                              \
        TSR_F32, 1,                                                                                \
        {                                                                                          \
            a                                                                                      \
        }                                                                                          \
    }
#define F0                                                                                         \
    {                                                                                              \
        TSR_F32, 0,                                                                                \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

static const dot_params batched = {.lhs_batching_dimensions = LIST(1),
                                   .rhs_batching_dimensions = LIST(0),
                                   .lhs_contracting_dimensions = LIST(0),
                                   .rhs_contracting_dimensions = LIST(1)};
static const dot_params plain_dot = {.lhs_contracting_dimensions = LIST(1),
                                     .rhs_contracting_dimensions = LIST(0)};
static const reduce_params last_sum = {.dimensions = LIST(1), .body = {.body = OP_BODY_SUM}};
static const reduce_params last_and = {.dimensions = LIST(1), .body = {.body = OP_BODY_AND}};
static const int64_t two_by_four[] = {2, 4};
static const int64_t five_by_four[] = {5, 4};
static const reshape_params to_rows = {.result = {TSR_F32, 2, two_by_four}};
static const broadcast_params grow = {.broadcast_dimensions = LIST(0, 1),
                                      .result = {TSR_F32, 2, five_by_four}};
static const transpose_params turn = {.permutation = LIST(1, 0)};
static const slice_params first_three = {
    .start_indices = LIST(0, 0), .limit_indices = LIST(3, 4), .strides = LIST(1, 1)};
static const pad_params shifted = {.edge_padding_low = LIST(1, 0),
                                   .edge_padding_high = LIST(-1, 0),
                                   .interior_padding = LIST(0, 0)};
static const pad_params longer = {.edge_padding_low = LIST(1, 0),
                                  .edge_padding_high = LIST(0, 0),
                                  .interior_padding = LIST(0, 0)};
static const concatenate_params first_dim = {.dimension = 0};
static const sort_params by_rows = {.dimension = 0, .comparator = {.body = OP_BODY_LESS}};
static const sort_params by_last = {.dimension = -1, .comparator = {.body = OP_BODY_LESS}};
static const gather_params rows_of = {.offset_dims = LIST(1),
                                      .collapsed_slice_dims = LIST(0),
                                      .start_index_map = LIST(0),
                                      .index_vector_dim = 1,
                                      .slice_sizes = LIST(1, 4)};
static const gather_params windows_of = {.offset_dims = LIST(1, 2),
                                         .start_index_map = LIST(0),
                                         .index_vector_dim = 1,
                                         .slice_sizes = LIST(2, 4)};
static const gather_params kept_rows = {.offset_dims = LIST(1, 2),
                                        .start_index_map = LIST(0),
                                        .index_vector_dim = 1,
                                        .slice_sizes = LIST(1, 4)};
static const scatter_params add_rows = {.update_window_dims = LIST(1),
                                        .inserted_window_dims = LIST(0),
                                        .scatter_dims_to_operand_dims = LIST(0),
                                        .index_vector_dim = 1,
                                        .body = {.body = OP_BODY_SUM}};
static const scatter_params set_rows = {.update_window_dims = LIST(1),
                                        .inserted_window_dims = LIST(0),
                                        .scatter_dims_to_operand_dims = LIST(0),
                                        .index_vector_dim = 1,
                                        .body = {.body = OP_BODY_SECOND}};
static const scatter_params and_rows = {.update_window_dims = LIST(1),
                                        .inserted_window_dims = LIST(0),
                                        .scatter_dims_to_operand_dims = LIST(0),
                                        .index_vector_dim = 1,
                                        .body = {.body = OP_BODY_AND}};
static const scatter_params whole_windows = {.update_window_dims = LIST(1, 2),
                                             .scatter_dims_to_operand_dims = LIST(0),
                                             .index_vector_dim = 1,
                                             .body = {.body = OP_BODY_SUM}};
#define CONVOLUTION(stride)                                                                        \
    {                                                                                              \
        .window_strides = LIST(stride), .input_batch_dimension = 0, .input_feature_dimension = 1,  \
        .input_spatial_dimensions = LIST(2), .kernel_output_feature_dimension = 0,                 \
        .kernel_input_feature_dimension = 1, .kernel_spatial_dimensions = LIST(2),                 \
        .output_batch_dimension = 0, .output_feature_dimension = 1,                                \
        .output_spatial_dimensions = LIST(2), .feature_group_count = 1, .batch_group_count = 1     \
    }
static const convolution_params conv = CONVOLUTION(1);
static const convolution_params tiled = CONVOLUTION(3);

static const op_operand_fact two_slices[] = {{.is_slice = true, .source = 1},
                                             {.is_slice = true, .source = 2}};
static const op_operand_fact one_value[] = {{.is_slice = true, .source = 1}, {.source = 1}};
static const op_operand_fact two_values[] = {{.is_slice = true, .source = 1}, {.source = 2}};

static const rule_case cases[] = {
    /* elementwise: a factor a dimension; scalars have none */
    {"add", NULL, 2, {F2(4, 1), F2(4, 1)}, .rule = "([i, j], [i, j])->([i, j]) {i=4, j=1}"},
    {"tanh", NULL, 1, {F2(0, 4)}, .rule = "([i, j])->([i, j]) {i=0, j=4}"},
    {"select", NULL, 3, {{TSR_I1, 0, {0}}, F1(4), F1(4)}, .rule = "([], [i], [i])->([i]) {i=4}"},
    {"clamp", NULL, 3, {F0, F1(4), F0}, .rule = "([], [i], [])->([i]) {i=4}"},
    {"cbrt", NULL, 1, {F0}, .rule = "([])->([])"},
    /* products: batches, free on the left, free on the right, contracted */
    {"dot_general",
     &plain_dot,
     2,
     {F2(2, 4), F2(4, 8)},
     .rule = "([i, k], [k, j])->([i, j]) {i=2, j=8, k=4} reduction={k}"},
    {"dot_general",
     &batched,
     2,
     {{TSR_F32, 3, {4, 2, 6}}, {TSR_F32, 3, {2, 4, 3}}},
     .rule = "([l, i, j], [i, l, k])->([i, j, k]) {i=2, j=6, k=3, l=4} reduction={l}"},
    /* reductions, of several inputs with their initial values, of bits too */
    {"reduce",
     &last_sum,
     2,
     {F2(4, 2), F0},
     .rule = "([i, j], [])->([i]) {i=4, j=2} reduction={j}"},
    {"reduce",
     &last_sum,
     4,
     {F2(4, 2), F2(4, 2), F0, F0},
     .rule = "([i, j], [i, j], [], [])->([i], [i]) {i=4, j=2} reduction={j}"},
    {"reduce",
     &last_and,
     2,
     {{TSR_I32, 2, {4, 2}}, {TSR_I32, 0, {0}}},
     .rule = "([i, j], [])->([i]) {i=4, j=2} reduction={j}"},
    /* shapes */
    {"reshape", &to_rows, 1, {F1(8)}, .rule = "([ij])->([i, j]) {i=2, j=4}"},
    {"reshape", &to_rows, 1, {F2(4, 2)}, .rule = "([ij, k])->([i, jk]) {i=2, j=2, k=2}"},
    {"transpose", &turn, 1, {F2(2, 4)}, .rule = "([j, i])->([i, j]) {i=4, j=2}"},
    {"broadcast_in_dim", &grow, 1, {F2(1, 4)}, .rule = "([i, k])->([j, k]) {i=1, j=5, k=4}"},
    {"slice", &first_three, 1, {F2(8, 4)}, .rule = "([i, j])->([i, j]) {i=8, j=4} permutation={i}"},
    {"slice",
     &first_three,
     1,
     {F2(8, 4)},
     .conservative = true,
     .rule = "([i, j])->([i, j]) {i=8, j=4} permutation={i} blocked_propagation={i}"},
    {"pad",
     &longer,
     2,
     {F2(4, 2), F0},
     .rule = "([i, j], [])->([i, j]) {i=4, j=2} permutation={i}"},
    {"pad", &shifted, 2, {F2(4, 2), F0}, .rule = "([i, j], [])->([i, j]) {i=4, j=2}"},
    /* concatenation: what is known of the operands decides */
    {"concatenate",
     &first_dim,
     2,
     {F2(4, 2), F2(3, 2)},
     .rule = "([i, j], [i, j])->([i, j]) {i=7, j=2} need_replication={i}"},
    {"concatenate",
     &first_dim,
     2,
     {F2(4, 2), F2(3, 2)},
     .facts = two_slices,
     .rule = "([i, j], [i, j])->([i, j]) {i=7, j=2} permutation={i}"},
    {"concatenate",
     &first_dim,
     2,
     {F2(4, 2), F2(3, 2)},
     .facts = one_value,
     .rule = "([i, j], [i, j])->([i, j]) {i=7, j=2} permutation={i}"},
    {"concatenate",
     &first_dim,
     2,
     {F2(4, 2), F2(3, 2)},
     .facts = two_values,
     .rule = "([i, j], [i, j])->([i, j]) {i=7, j=2} need_replication={i}"},
    {"concatenate",
     &first_dim,
     2,
     {F2(4, 2), F2(3, 2)},
     .conservative = true,
     .rule = "([j, i], [k, i])->([l, i]) {i=2, j=1, k=1, l=1}"},
    /* sorts: blocked where nothing else could be sharded; a negative dimension marks none */
    {"sort",
     &by_rows,
     2,
     {F2(4, 2), F2(4, 2)},
     .rule = "([i, j], [i, j])->([i, j], [i, j]) {i=4, j=2} need_replication={i}"},
    {"sort",
     &by_rows,
     1,
     {F2(4, 1)},
     .rule = "([i, j])->([i, j]) {i=4, j=1} need_replication={i} blocked_propagation={i}"},
    {"sort", &by_last, 1, {F2(4, 2)}, .rule = "([i, j])->([i, j]) {i=4, j=2}"},
    /* gather and scatter */
    {"gather",
     &rows_of,
     2,
     {F2(100, 4), {TSR_I32, 1, {5}}},
     .rule = "([k, j], [i])->([i, j]) {i=5, j=4, k=100} reduction={k}"},
    {"gather",
     &windows_of,
     2,
     {F2(100, 4), {TSR_I32, 1, {5}}},
     .rule = "([j, k], [i])->([i, j, k]) {i=5, j=100, k=4} need_replication={j} "
             "blocked_propagation={j}"},
    {"gather",
     &kept_rows,
     2,
     {F2(100, 4), {TSR_I32, 1, {5}}},
     .rule = "([j, l], [i])->([i, k, l]) {i=5, j=100, k=1, l=4} reduction={j} "
             "need_replication={k}"},
    {"scatter",
     &add_rows,
     3,
     {F2(100, 4), {TSR_I32, 1, {5}}, F2(5, 4)},
     .rule = "([k, j], [i], [i, j])->([k, j]) {i=5, j=4, k=100} reduction={i}"},
    {"scatter",
     &set_rows,
     3,
     {F2(100, 4), {TSR_I32, 1, {5}}, F2(5, 4)},
     .rule = "([k, j], [i], [i, j])->([k, j]) {i=5, j=4, k=100} need_replication={i}"},
    {"scatter",
     &and_rows,
     3,
     {{TSR_I32, 2, {100, 4}}, {TSR_I32, 1, {5}}, {TSR_I32, 2, {5, 4}}},
     .rule = "([k, j], [i], [i, j])->([k, j]) {i=5, j=4, k=100} need_replication={i}"},
    {"scatter",
     &and_rows,
     3,
     {{TSR_I1, 2, {100, 4}}, {TSR_I32, 1, {5}}, {TSR_I1, 2, {5, 4}}},
     .rule = "([k, j], [i], [i, j])->([k, j]) {i=5, j=4, k=100} reduction={i}"},
    {"scatter",
     &whole_windows,
     3,
     {F2(6, 4), {TSR_I32, 1, {5}}, {TSR_F32, 3, {5, 6, 4}}},
     .rule = "([j, k], [i], [i, j, k])->([j, k]) {i=5, j=6, k=4} reduction={i}"},
    /* convolution: the windows and what is in one share a spatial dimension */
    {"convolution",
     &conv,
     2,
     {{TSR_F32, 3, {4, 3, 8}}, {TSR_F32, 3, {6, 3, 3}}},
     .rule = "([i, k, j], [l, k, m])->([i, l, j]) {i=4, j=6, k=3, l=6, m=1} reduction={k} "
             "permutation={j}"},
    {"convolution",
     &tiled,
     2,
     {{TSR_F32, 3, {4, 3, 12}}, {TSR_F32, 3, {6, 3, 3}}},
     .rule = "([i, l, jk], [m, l, k])->([i, m, j]) {i=4, j=4, k=3, l=3, m=6} reduction={k, l} "
             "permutation={j}"},
    {"convolution",
     &conv,
     2,
     {{TSR_F32, 3, {4, 3, 8}}, {TSR_F32, 3, {6, 3, 3}}},
     .conservative = true,
     .rule = "([i, j, l], [k, j, m])->([i, k, n]) {i=4, j=3, k=6, l=1, m=1, n=1} reduction={j}"},
};

/* The rule of a case, and that for running on parts. */
static void make_rules(fixture *f, const rule_case *c, const tsr_rule **rule,
                       const tsr_rule **local)
{
    const op_facts facts = {.conservative = c->conservative, .operands = c->facts};
    op_type operands[MOST];
    op_type results[2];
    for (size_t k = 0; k < c->num_operands; k++) {
        operands[k] = (op_type){c->operands[k].dtype, c->operands[k].rank, c->operands[k].shape};
    }
    const op_request r = {.ctx = f->ctx,
                          .arena = f->arena,
                          .call = c->row,
                          .row = op_find(c->row),
                          .params = c->params,
                          .num_operands = c->num_operands,
                          .operands = operands,
                          .facts = &facts};
    assert_non_null(r.row);
    assert_int_equal(r.row->types(&r, results), TSR_OK);
    assert_int_equal(op_find_rule(&r, results, f->arena, rule), TSR_OK);
    assert_int_equal(op_local_rule(&r, results, *rule, f->arena, local), TSR_OK);
}

static const char *text_of(fixture *f, const tsr_rule *rule)
{
    const char *text = NULL;
    assert_int_equal(tsr_rule_print(f->ctx, f->arena, rule, TSR_RULE_BARE, &text), TSR_OK);
    return text;
}

static void rules_are_the_registrys(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_rule *rule = NULL;
        const tsr_rule *local = NULL;
        make_rules(f, &cases[i], &rule, &local);
        assert_string_equal(text_of(f, rule), cases[i].rule);
    }
}

/* What the kernel cannot do on parts is said apart from the rule. */
static void local_marks_are_apart(void **state)
{
    fixture *f = *state;
    static const struct {
        const void *params; /* those of a rule_case */
        const char *local;
    } marks[] = {{&shifted, "need_replication={i}"},
                 {&last_and, "need_replication={j}"},
                 {&whole_windows, "need_replication={j}"},
                 {&by_last, "need_replication={j}"},
                 {&conv, "reduction={k}"},
                 {&tiled, "reduction={k, l}"}};
    for (size_t m = 0; m < sizeof marks / sizeof marks[0]; m++) {
        size_t i = 0;
        while (cases[i].params != marks[m].params) {
            i++;
        }
        const tsr_rule *rule = NULL;
        const tsr_rule *local = NULL;
        make_rules(f, &cases[i], &rule, &local);
        assert_non_null(strstr(text_of(f, local), marks[m].local));
    }
}

/* Truth values beside integers, in either order: what holds of one input does not of the other. */
static void inputs_of_two_types(void **state)
{
    fixture *f = *state;
    for (size_t k = 0; k < 2; k++) {
        const tsr_dtype a = k == 0 ? TSR_I1 : TSR_I32;
        const tsr_dtype b = k == 0 ? TSR_I32 : TSR_I1;
        const rule_case ands = {"reduce",
                                &last_and,
                                4,
                                {{a, 2, {4, 8}}, {b, 2, {4, 8}}, {a, 0, {0}}, {b, 0, {0}}},
                                .rule = NULL};
        const op_type x[] = {{k == 0 ? TSR_F32 : TSR_I32, 0, NULL},
                             {k == 0 ? TSR_I32 : TSR_F32, 0, NULL}};
        const op_type operands[] = {x[0], x[1], x[0], x[1]};
        const op_request r = {
            .row = op_find("reduce"), .params = &last_sum, .num_operands = 4, .operands = operands};
        const tsr_rule *rule = NULL;
        const tsr_rule *local = NULL;
        make_rules(f, &ands, &rule, &local);
        assert_non_null(strstr(text_of(f, local), "need_replication={j}"));
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(r.row->class_of(&r, i, TSR_SUM), SPMD_LINEAR);
            assert_int_equal(r.row->class_of(&r, i, TSR_AVG),
                             operands[i].dtype == TSR_F32 ? SPMD_LINEAR : SPMD_NONLINEAR);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(rules_are_the_registrys), TEST(local_marks_are_apart),
                                       TEST(inputs_of_two_types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
