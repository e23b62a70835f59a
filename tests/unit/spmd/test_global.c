/* Partition specs through ops: einsum, elementwise, reductions, reshapes. */
#include <string.h>

#include "types.h"

static tsr_op_class class_of(void *state, size_t operand, tsr_reduction pending)
{
    (void)operand;
    (void)pending;
    return *(const tsr_op_class *)state;
}

/* An op with its rule: operands, and what comes out. */
typedef struct global_case {
    const char *rule;
    const char *mode; /* "implicit" pending sums, a rule on "whole" shapes, or "" */
    const char *operands[3];
    const char *out_partial; /* letters of axes: d, t, p */
    const char *result;      /* NULL: an error */
    const char *shape;       /* of the result, as a type without axes */
} global_case;

static tsr_axis_set set_of(const char *letters)
{
    static const char axes[] = "dtp";
    tsr_axis_set set = {0};
    for (; letters != NULL && *letters != '\0'; letters++) {
        set.bits |= UINT64_C(1) << (strchr(axes, *letters) - axes);
    }
    return set;
}

static void run(fixture *f, const global_case *c, tsr_reduction reduction)
{
    const tsr_mesh *mesh = mesh_of(f, "<[\"dp\"=2, \"tp\"=3, \"pp\"=2]>");
    tsr_op_class class = TSR_MULTILINEAR;
    tsr_typed_shape operands[3];
    const tsr_rule *rule = NULL;
    size_t count = 0;
    for (; count < 3 && c->operands[count] != NULL; count++) {
        operands[count] = typed_of(f, mesh, c->operands[count]);
    }
    assert_int_equal(tsr_rule_parse(f->ctx, f->arena, c->rule, &rule), TSR_OK);
    const tsr_typed_call call = {.name = "op",
                                 .mesh = mesh,
                                 .num_operands = count,
                                 .operands = operands,
                                 .class_of = class_of,
                                 .state = &class,
                                 .global = {7},
                                 .rule = rule,
                                 .whole_rule = strcmp(c->mode, "whole") == 0,
                                 .out_partial = set_of(c->out_partial),
                                 .reduction = reduction,
                                 .implicit_partial = strcmp(c->mode, "implicit") == 0};
    const tsr_type *result = NULL;
    const tsr_status status = tsr_type_infer(f->ctx, f->arena, &call, &result);
    if (c->result == NULL) {
        assert_true(status < 0);
    } else if (status < 0) {
        fail_msg("%s %s: %s", c->rule, c->operands[0], tsr_context_diagnostics(f->ctx)->text);
    } else {
        tsr_typed_shape typed = typed_of(f, mesh, c->shape);
        typed.type = result;
        assert_string_equal(typed_text(f, &typed), c->result);
    }
    tsr_context_clear(f->ctx);
}

#define MATMUL "([i, j], [j, k])->([i, k]) {i=4, j=4, k=4} reduction={j}"

static void products(void **state)
{
    static const global_case cases[] = {
        {MATMUL, "", {"f32[12@tp,4]", "f32[4,4]{tp:R}"}, NULL, "f32[12@tp,4]", "f32[12,4]"},
        {MATMUL, "", {"f32[4,4]{tp:R}", "f32[4,12@tp]"}, NULL, "f32[4,12@tp]", "f32[4,12]"},
        {MATMUL, "", {"f32[4,12@tp]", "f32[12@tp,4]"}, NULL, NULL, NULL},
        {MATMUL, "", {"f32[4,12@tp]", "f32[12@tp,4]"}, "t", "f32[4,4]{tp:P}", "f32[4,4]"},
        {MATMUL, "implicit", {"f32[4,12@tp]", "f32[12@tp,4]"}, NULL, "f32[4,4]{tp:P}", "f32[4,4]"},
        {MATMUL, "", {"f32[4,12@tp]", "f32[4,4]{tp:R}"}, "t", NULL, NULL},
        {MATMUL, "", {"f32[12@tp,4]", "f32[4,4]{tp:R}"}, "t", NULL, NULL},
        {MATMUL, "", {"f32[4,4]{tp:R}", "f32[4,4]{tp:R}"}, "t", NULL, NULL},
        {MATMUL, "", {"f32[12@tp,4]", "f32[4,12@tp]"}, NULL, NULL, NULL},
        {MATMUL,
         "",
         {"f32[8@dp,12@tp]{pp:R}", "f32[12@tp,8@pp]{dp:R}"},
         "t",
         "f32[8@dp,8@pp]{tp:P}",
         "f32[8,8]"},
        {MATMUL,
         "",
         {"f32[24@(dp,tp),4]", "f32[4,4]{dp:R, tp:R}"},
         NULL,
         "f32[24@(dp,tp),4]",
         "f32[24,4]"},
        {MATMUL, "", {"f32[4,24@(dp,tp)]", "f32[24@(tp,dp),4]"}, "dt", NULL, NULL},
        {MATMUL,
         "",
         {"f32[4,24@(dp,tp)]", "f32[24@(dp,tp),4]"},
         "dt",
         "f32[4,4]{dp:P, tp:P}",
         "f32[4,4]"},
        {MATMUL, "", {"f32[4,24@(dp,tp)]", "f32[24@(dp,tp),4]"}, "d", NULL, NULL},
        {MATMUL, "", {"f32[4,4]{tp:P}", "f32[4,4]{tp:R}"}, NULL, "f32[4,4]{tp:P}", "f32[4,4]"},
        {MATMUL, "", {"f32[4,4]{tp:V}", "f32[4,4]{tp:R}"}, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run(*state, &cases[i], TSR_SUM);
    }
}

#define SAME "([i, j], [i, j])->([i, j]) {i=4, j=4}"

static void uneven_sizes(void **state)
{
    static const global_case cases[] = {
        {SAME, "", {"f32[11@tp,4]", "f32[11@tp,4]"}, NULL, "f32[11@tp,4]", "f32[11,4]"},
        {SAME, "", {"f32[11@tp,4]", "f32[12@tp,4]"}, NULL, NULL, NULL},
        {SAME,
         "",
         {"f32[8@tp:[4,0,4],4]", "f32[8@tp:[4,0,4],4]"},
         NULL,
         "f32[8@tp:[4,0,4],4]",
         "f32[8,4]"},
        {SAME, "", {"f32[8@tp:[4,0,4],4]", "f32[8@tp:[4,4,0],4]"}, NULL, NULL, NULL},
        {SAME, "", {"f32[12@tp,4]", "f32[4,4]{tp:R}"}, NULL, NULL, NULL},
        {SAME, "", {"f32[8@tp:[?a],4]", "f32[8@tp:[?a],4]"}, NULL, "f32[8@tp:[?a],4]", "f32[8,4]"},
        {SAME, "", {"f32[8@tp:[?a],4]", "f32[8@tp:[?b],4]"}, NULL, NULL, NULL},
        {SAME, "", {"f32[8@tp:[?a],4]", "f32[8@tp:[3,0,5],4]"}, NULL, NULL, NULL},
        {SAME, "", {"f32[8@tp:[?a],4]", "f32[8@tp,4]"}, NULL, NULL, NULL},
        {"([i, j])->([ij]) {i=3, j=4}", "", {"f32[8@tp:[?a],4]"}, NULL, NULL, NULL},
        {"([i, j])->([i]) {i=3, j=4}", "", {"f32[8@tp:[?a],4]"}, NULL, "f32[8@tp:[?a]]", "f32[8]"},
        {"([ij])->([i, j]) {i=9, j=4}", "whole", {"f32[36@tp:[?a]]"}, NULL, NULL, NULL},
        {SAME, "", {"f32[12@tp,4]", "f32[4,12@tp]"}, NULL, NULL, NULL},
        /* chunks of 3, 3, 2 rows of 4 are no even chunks of 32 */
        {"([i, j])->([ij]) {i=3, j=4}",
         "",
         {"f32[8@tp,4]"},
         NULL,
         "f32[32@tp:[12,12,8]]",
         "f32[32]"},
        {"([i, j])->([ij]) {i=3, j=4}", "", {"f32[9@tp,4]"}, NULL, "f32[36@tp]", "f32[36]"},
        {"([i, j])->([ij]) {i=3, j=4}", "", {"f32[3,12@tp]"}, NULL, NULL, NULL},
        {"([ij])->([i, j]) {i=3, j=4}", "", {"f32[36@tp]"}, NULL, NULL, NULL},
        {"([ij])->([i, j]) {i=9, j=4}", "whole", {"f32[36@tp]"}, NULL, "f32[9@tp,4]", "f32[9,4]"},
        {"([ij])->([i, j]) {i=4, j=9}", "whole", {"f32[36@tp]"}, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run(*state, &cases[i], TSR_SUM);
    }
}

static void what_must_be_whole(void **state)
{
    static const global_case cases[] = {
        {"([i, j])->([i, j]) {i=4, j=4} need_replication={j}",
         "",
         {"f32[12@tp,4]"},
         NULL,
         "f32[12@tp,4]",
         "f32[12,4]"},
        {"([i, j])->([i, j]) {i=4, j=4} need_replication={j}",
         "",
         {"f32[4,12@tp]"},
         NULL,
         NULL,
         NULL},
        {"([i, j])->([i, j]) {i=4, j=4} permutation={j}", "", {"f32[4,12@tp]"}, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run(*state, &cases[i], TSR_SUM);
    }
}

static void other_reductions(void **state)
{
    static const char sum[] = "([i, j])->([i]) {i=4, j=4} reduction={j}";
    static const global_case max = {sum, "", {"f32[4,12@tp]"}, "t", "f32[4]{tp:P(max)}", "f32[4]"};
    static const global_case even = {sum, "", {"f32[4,12@tp]"}, "t", "f32[4]{tp:P(avg)}", "f32[4]"};
    static const global_case uneven = {sum, "", {"f32[4,11@tp]"}, "t", NULL, NULL};
    run(*state, &max, TSR_MAX);
    run(*state, &even, TSR_AVG);
    run(*state, &uneven, TSR_AVG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(products), TEST(uneven_sizes), TEST(what_must_be_whole),
                                       TEST(other_reductions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
