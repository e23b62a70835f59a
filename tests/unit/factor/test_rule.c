/* Rules: text, templates, and what is refused. */
#include <string.h>

#include "support.h"

static const tsr_rule *rule_of(fixture *f, const char *text)
{
    const tsr_rule *rule = NULL;
    if (tsr_rule_parse(f->ctx, f->arena, text, &rule) != TSR_OK) {
        fail_msg("%s: %s", text, tsr_context_diagnostics(f->ctx)->text);
    }
    return rule;
}

static const char *text_of(fixture *f, const tsr_rule *rule)
{
    const char *text = NULL;
    assert_int_equal(tsr_rule_print(f->ctx, f->arena, rule, TSR_RULE_BARE, &text), TSR_OK);
    return text;
}

static void texts_round_trip(void **state)
{
    static const char *const texts[] = {
        "([i, k], [k, j])->([i, j]) {i=4, j=8, k=16} reduction={k}",
        "([ij])->([i, j]) {i=2, j=4}",
        "([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2}",
        "([], [])->([])",
        "([i])->() {i=3} need_replication={i}",
        "([i, j])->([i, j]) {i=3, j=4} permutation={j} blocked_propagation={i}",
        "([i])->([i]) {i=0}, custom",
        "([i])->([i])",
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const tsr_rule *rule = rule_of(f, texts[i]);
        assert_string_equal(text_of(f, rule), texts[i]);
        const char *full = NULL;
        assert_int_equal(tsr_rule_print(f->ctx, f->arena, rule, TSR_RULE_FULL, &full), TSR_OK);
        assert_true(tsr_rule_equal(rule, rule_of(f, full)));
    }
}

/* Names are only names: factors are numbered by the sizes, or by their first use. */
static void names_do_not_matter(void **state)
{
    fixture *f = *state;
    assert_string_equal(text_of(f, rule_of(f, "([m,k],[k,n])->([m,n])")),
                        "([i, j], [j, k])->([i, k])");
    assert_string_equal(
        text_of(f, rule_of(f, "<([m,k],[k,n])->([m,n]) {m=2,n=3,k=4} reduction={k}>")),
        "([i, k], [k, j])->([i, j]) {i=2, j=3, k=4} reduction={k}");
    assert_string_equal(text_of(f, rule_of(f, "([az_3])->([a, z_3]) {a=2, z_3=3}")),
                        "([ij])->([i, j]) {i=2, j=3}");
}

static void many_factors(void **state)
{
    fixture *f = *state;
    int64_t sizes[20];
    for (size_t i = 0; i < 20; i++) {
        sizes[i] = (int64_t)i + 1;
    }
    const tsr_rule *rule = NULL;
    assert_int_equal(tsr_rule_elementwise(f->ctx, f->arena, 1, (tsr_extents){20, sizes}, &rule),
                     TSR_OK);
    const char *text = text_of(f, rule);
    assert_non_null(strstr(text, "y, z, z_1, z_2])->"));
    assert_true(tsr_rule_equal(rule, rule_of(f, text)));
}

static void wrong_texts(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "expected '('"},
        {"([i])", "expected '->'"},
        {"([i])->([i]", "expected ')'"},
        {"([I])->([i])", "a factor is a letter from a to z, or z_1, z_2 and so on"},
        {"([i])->([i]) {j=2}", "no dimension has this factor"},
        {"([i])->([i]) {i=2, i=2}", "the size of this factor is given twice"},
        {"([i])->([i]) {i=-2}", "the size of a factor is negative"},
        {"([i])->([i]) {i=2} reduction={i} permutation={i}",
         "this factor already has a kind; a factor has at most 1"},
        {"([i])->([i]) {i=2} x", "expected the end of the rule"},
        {"([ii])->([i]) {i=2}", "factor 0 occurs twice in operand 0"},
        {"([i, i])->([i]) {i=2}", "factor 0 occurs twice in operand 0"},
        {"([ij])->([i, j])", "dimension 0 of operand 0 has several factors: give the size of all "
                             "but the last"},
        {"#sdy.op_sharding_rule([i])->([i])", "expected '<'"},
        {"<([i])->([i])", "expected '>'"},
        {"([i])->([i]), custm", "expected 'custom'"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_rule *rule = NULL;
        assert_true(tsr_rule_parse(f->ctx, f->arena, cases[i].text, &rule) < 0);
        assert_null(rule);
        expect_message(f, cases[i].message);
    }
}

#define SHAPE(...) ((tsr_extents){sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__}})
#define DIMS(...) ((size_t[]){__VA_ARGS__})

/* Expects a template's rule. */
#define EXPECT(call, wanted)                                                                       \
    do {                                                                                           \
        const tsr_rule *rule = NULL;                                                               \
        if ((call) != TSR_OK) {                                                                    \
            fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);                                 \
        }                                                                                          \
        assert_string_equal(text_of(f, rule), wanted);                                             \
    } while (0)

#define REFUSE(call, message)                                                                      \
    do {                                                                                           \
        const tsr_rule *rule = NULL;                                                               \
        assert_true((call) < 0);                                                                   \
        assert_null(rule);                                                                         \
        expect_message(f, message);                                                                \
    } while (0)

static void products(void **state)
{
    fixture *f = *state;
    EXPECT(tsr_rule_matmul(f->ctx, f->arena, SHAPE(4, 8), SHAPE(8, 6), &rule),
           "([i, k], [k, j])->([i, j]) {i=4, j=6, k=8} reduction={k}");
    EXPECT(tsr_rule_matmul(f->ctx, f->arena, SHAPE(2, 4, 8), SHAPE(2, 8, 6), &rule),
           "([i, j, l], [i, l, k])->([i, j, k]) {i=2, j=4, k=6, l=8} reduction={l}");
    EXPECT(tsr_rule_matmul(f->ctx, f->arena, SHAPE(2, 4, 8), SHAPE(8, 6), &rule),
           "([i, j, l], [l, k])->([i, j, k]) {i=2, j=4, k=6, l=8} reduction={l}");
    EXPECT(tsr_rule_matmul(f->ctx, f->arena, SHAPE(8), SHAPE(8, 6), &rule),
           "([j], [j, i])->([i]) {i=6, j=8} reduction={j}");
    EXPECT(tsr_rule_matmul(f->ctx, f->arena, SHAPE(8), SHAPE(8), &rule),
           "([i], [i])->([]) {i=8} reduction={i}");
    EXPECT(tsr_rule_einsum(f->ctx, f->arena, "bij, bjk -> bik",
                           ((tsr_extents[]){SHAPE(2, 3, 4), SHAPE(2, 4, 5)}), 2, &rule),
           "([i, j, k], [i, k, l])->([i, j, l]) {i=2, j=3, k=4, l=5} reduction={k}");
    EXPECT(tsr_rule_einsum(f->ctx, f->arena, "ji,jk", ((tsr_extents[]){SHAPE(3, 4), SHAPE(3, 5)}),
                           2, &rule),
           "([i, j], [i, k])->([j, k]) {i=3, j=4, k=5} reduction={i}");
    EXPECT(tsr_rule_einsum(f->ctx, f->arena, "a,b,c->cab",
                           ((tsr_extents[]){SHAPE(2), SHAPE(3), SHAPE(4)}), 3, &rule),
           "([i], [j], [k])->([k, i, j]) {i=2, j=3, k=4}");
    REFUSE(tsr_rule_matmul(f->ctx, f->arena, SHAPE(4, 8), SHAPE(7, 6), &rule),
           "dot_general: contracting dimension sizes must match for lhs/rhs");
    REFUSE(tsr_rule_matmul(f->ctx, f->arena, SHAPE(2, 4, 8), SHAPE(2, 2, 8, 6), &rule),
           "broadcast one of them first");
    static const int64_t ones[64] = {1};
    REFUSE(tsr_rule_dot_general(f->ctx, f->arena, (tsr_extents){64, ones}, SHAPE(2),
                                &(tsr_dot_dims){0}, &rule),
           "dot_general: the product has rank 65; the maximum is 32");
    REFUSE(tsr_rule_einsum(f->ctx, f->arena, "ii->i", ((tsr_extents[]){SHAPE(2, 2)}), 1, &rule),
           "take the diagonal first");
    REFUSE(tsr_rule_einsum(f->ctx, f->arena, "ij->ik", ((tsr_extents[]){SHAPE(2, 2)}), 1, &rule),
           "'k' of the result does not occur in any operand");
    REFUSE(tsr_rule_einsum(f->ctx, f->arena, "ij,jk->ik", ((tsr_extents[]){SHAPE(2, 2)}), 1, &rule),
           "has more operands than the 1 tensors");
    REFUSE(tsr_rule_einsum(f->ctx, f->arena, "ij->i", ((tsr_extents[]){SHAPE(2, 2), SHAPE(2, 2)}),
                           2, &rule),
           "has 1 operands, got 2 tensors");
}

#define EINSUM(equation, ...)                                                                      \
    tsr_rule_einsum(f->ctx, f->arena, equation, ((tsr_extents[]){__VA_ARGS__}),                    \
                    sizeof((tsr_extents[]){__VA_ARGS__}) / sizeof(tsr_extents), &rule)

/* `...` as NumPy has it. */
static void ellipses(void **state)
{
    fixture *f = *state;
    EXPECT(EINSUM("...ij,jk->...ik", SHAPE(2, 3, 4, 5), SHAPE(5, 6)),
           "([i, j, k, l], [l, m])->([i, j, k, m]) {i=2, j=3, k=4, l=5, m=6} reduction={l}");
    EXPECT(EINSUM("...ij, ...jk", SHAPE(2, 4, 5), SHAPE(2, 5, 6)),
           "([i, j, k], [i, k, l])->([i, j, l]) {i=2, j=4, k=5, l=6} reduction={k}");
    EXPECT(EINSUM("i...->...i", SHAPE(2, 3, 4)), "([i, j, k])->([j, k, i]) {i=2, j=3, k=4}");
    EXPECT(EINSUM("b...a", SHAPE(2, 3, 4)), "([i, j, k])->([j, k, i]) {i=2, j=3, k=4}");
    EXPECT(EINSUM("...,...->...", SHAPE(2, 3), SHAPE(3)), "([i, j], [j])->([i, j]) {i=2, j=3}");
    EXPECT(EINSUM("...i,...i->...", SHAPE(1, 3, 4), SHAPE(2, 1, 4)),
           "([l, i, j], [k, m, j])->([k, i]) {i=3, j=4, k=2, l=1, m=1} reduction={j}");
    EXPECT(EINSUM("...ij->ij", SHAPE(3, 4)), "([i, j])->([i, j]) {i=3, j=4}");
    EXPECT(EINSUM("ij->...ji", SHAPE(3, 4)), "([i, j])->([j, i]) {i=3, j=4}");
    REFUSE(EINSUM("...i->i", SHAPE(2, 3)), "'...' stands for 1 dimensions of the operands");
    REFUSE(EINSUM("...i,...i->...", SHAPE(2, 3), SHAPE(4, 3)),
           "dimension 0 from the end of '...' has size 4 in operand 1 and 2 before");
    REFUSE(EINSUM("...i...->i", SHAPE(2, 3)), "dots are allowed only as '...'");
    REFUSE(EINSUM("..i->i", SHAPE(2, 3)), "dots are allowed only as '...'");
    REFUSE(EINSUM("...ijk->...", SHAPE(2, 3)), "operand 0 has 3 subscripts and rank 2");
    REFUSE(EINSUM("...i->...i.", SHAPE(2, 3)), "dots are allowed only as '...'");
}

static void simple_templates(void **state)
{
    fixture *f = *state;
    EXPECT(tsr_rule_elementwise(f->ctx, f->arena, 2, SHAPE(3, 4), &rule),
           "([i, j], [i, j])->([i, j]) {i=3, j=4}");
    EXPECT(tsr_rule_reduce(f->ctx, f->arena, SHAPE(4, 8, 2), DIMS(1), 1, &rule),
           "([i, j, k])->([i, k]) {i=4, j=8, k=2} reduction={j}");
    EXPECT(tsr_rule_transpose(f->ctx, f->arena, SHAPE(2, 3, 4), DIMS(2, 0, 1), &rule),
           "([j, k, i])->([i, j, k]) {i=4, j=2, k=3}");
    EXPECT(tsr_rule_broadcast(f->ctx, f->arena, SHAPE(4), SHAPE(3, 4), NULL, &rule),
           "([j])->([i, j]) {i=3, j=4}");
    EXPECT(tsr_rule_broadcast(f->ctx, f->arena, SHAPE(1, 4), SHAPE(3, 4), NULL, &rule),
           "([i, k])->([j, k]) {i=1, j=3, k=4}");
    EXPECT(tsr_rule_concatenate(f->ctx, f->arena, ((tsr_extents[]){SHAPE(2, 3), SHAPE(5, 3)}), 2, 0,
                                &rule),
           "([i, j], [i, j])->([i, j]) {i=7, j=3} need_replication={i}");
    EXPECT(tsr_rule_slice(f->ctx, f->arena, SHAPE(8, 4), SHAPE(3, 4), &rule),
           "([i, j])->([i, j]) {i=8, j=4} permutation={i}");
    EXPECT(tsr_rule_sort(f->ctx, f->arena, 2, SHAPE(3, 4), 1, &rule),
           "([i, j], [i, j])->([i, j], [i, j]) {i=3, j=4} need_replication={j}");
    EXPECT(tsr_rule_sort(f->ctx, f->arena, 1, SHAPE(1, 4), 1, &rule),
           "([i, j])->([i, j]) {i=1, j=4} need_replication={j} blocked_propagation={j}");
    EXPECT(tsr_rule_cumulative(f->ctx, f->arena, SHAPE(3, 4), 0, &rule),
           "([i, j])->([i, j]) {i=3, j=4} permutation={i}");
    EXPECT(tsr_rule_embedding(f->ctx, f->arena, SHAPE(100, 16), SHAPE(2, 5), &rule),
           "([l, k], [i, j])->([i, j, k]) {i=2, j=5, k=16, l=100} reduction={l}");
    EXPECT(tsr_rule_attention(f->ctx, f->arena, SHAPE(2, 8, 5, 16), SHAPE(2, 8, 7, 16),
                              SHAPE(2, 8, 7, 4), &rule),
           "([i, j, k, n], [i, j, m, n], [i, j, m, l])->([i, j, k, l]) {i=2, j=8, k=5, l=4, m=7, "
           "n=16} need_replication={m, n}");
    REFUSE(tsr_rule_reduce(f->ctx, f->arena, SHAPE(4, 8), DIMS(2), 1, &rule),
           "Out-of-bounds dimension 2, expected to be in range [0, 2)");
    REFUSE(tsr_rule_transpose(f->ctx, f->arena, SHAPE(4, 8), DIMS(1, 1), &rule),
           "attribute permutation must be a permutation of [0, 1] but got 1, 1");
    REFUSE(tsr_rule_broadcast(f->ctx, f->arena, SHAPE(2), SHAPE(3), NULL, &rule),
           "is not equal to 1 or size of result dimension");
    REFUSE(tsr_rule_concatenate(f->ctx, f->arena, ((tsr_extents[]){SHAPE(2, 3), SHAPE(5, 4)}), 2, 0,
                                &rule),
           "concatenate: shapes of operand (0) and (1) are not compatible at non-concat index 1: "
           "(2, 3) != (5, 4)");
}

static void reshapes(void **state)
{
    fixture *f = *state;
    EXPECT(tsr_rule_reshape(f->ctx, f->arena, SHAPE(8), SHAPE(2, 4), &rule),
           "([ij])->([i, j]) {i=2, j=4}");
    EXPECT(tsr_rule_reshape(f->ctx, f->arena, SHAPE(6, 4), SHAPE(4, 6), &rule),
           "([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2}");
    EXPECT(tsr_rule_reshape(f->ctx, f->arena, SHAPE(2, 3, 8), SHAPE(3, 4, 4), &rule),
           "([i, k, mn])->([j, lm, n]) {i=2, j=3, k=3, l=2, m=2, n=4}");
    EXPECT(tsr_rule_reshape(f->ctx, f->arena, SHAPE(32), SHAPE(8, 1, 4), &rule),
           "([ik])->([i, j, k]) {i=8, j=1, k=4}");
    REFUSE(tsr_rule_reshape(f->ctx, f->arena, SHAPE(6), SHAPE(5), &rule),
           "reshape: number of output elements (5) doesn't match expected number of elements (6)");
    REFUSE(tsr_rule_reshape(f->ctx, f->arena, SHAPE(0, 6), SHAPE(0), &rule),
           "reshape: no sharding rule exists for these shapes");
    REFUSE(tsr_rule_reshape(f->ctx, f->arena, SHAPE(-2, -3), SHAPE(6), &rule),
           "reshape: dimension 0 of shape 0 has size -2; the minimum is 0");
}

static void extents_at_the_limits(void **state)
{
    fixture *f = *state;
    REFUSE(tsr_rule_pad(f->ctx, f->arena, SHAPE(INT64_MAX), SHAPE(INT64_MIN), &rule),
           "pad: dimension 0 of shape 1 has size -9223372036854775808; the minimum is 0");
    REFUSE(tsr_rule_pad(f->ctx, f->arena, SHAPE(TSR_UNKNOWN), SHAPE(INT64_MAX), &rule),
           "pad: no sharding rule exists for these shapes");
    REFUSE(tsr_rule_pad(f->ctx, f->arena, SHAPE(INT64_MAX), SHAPE(TSR_UNKNOWN), &rule),
           "Padding result in negative size for dimension 0");
    REFUSE(tsr_rule_matmul(f->ctx, f->arena, SHAPE(4, -8), SHAPE(-8, 6), &rule),
           "dot_general: dimension 1 of shape 0 has size -8");
    REFUSE(tsr_rule_matmul(f->ctx, f->arena, SHAPE(4, TSR_UNKNOWN), SHAPE(8, 6), &rule),
           "dot_general: no sharding rule exists for these shapes");
}

static void gathers_and_convolutions(void **state)
{
    fixture *f = *state;
    /* Rows of a table by a list of indices. */
    const tsr_gather_dims rows = {.num_offset = 1,
                                  .offset_dims = DIMS(1),
                                  .num_collapsed = 1,
                                  .collapsed_dims = DIMS(0),
                                  .index_vector_dim = 1};
    EXPECT(tsr_rule_gather(f->ctx, f->arena, SHAPE(100, 16), SHAPE(5), SHAPE(5, 16), &rows, &rule),
           "([k, j], [i])->([i, j]) {i=5, j=16, k=100} reduction={k}");
    EXPECT(tsr_rule_scatter(f->ctx, f->arena, 1, SHAPE(100, 16), SHAPE(5), SHAPE(5, 16), &rows,
                            true, &rule),
           "([k, j], [i], [i, j])->([k, j]) {i=5, j=16, k=100} reduction={i}");
    EXPECT(tsr_rule_scatter(f->ctx, f->arena, 1, SHAPE(100, 16), SHAPE(5), SHAPE(5, 16), &rows,
                            false, &rule),
           "([k, j], [i], [i, j])->([k, j]) {i=5, j=16, k=100} need_replication={i}");
    REFUSE(
        tsr_rule_gather(f->ctx, f->arena, SHAPE(100, 16, 2), SHAPE(5), SHAPE(5, 16), &rows, &rule),
        "gather: offset_dims size (1) plus collapse_slice_dims size (1) plus operand_batching_dims "
        "size (0) is not equal to operand rank (3)");
    const tsr_convolution_dims conv = {.num_spatial = 1,
                                       .input_batch = 0,
                                       .input_feature = 2,
                                       .input_spatial = DIMS(1),
                                       .kernel_input_feature = 1,
                                       .kernel_output_feature = 2,
                                       .kernel_spatial = DIMS(0),
                                       .output_batch = 0,
                                       .output_feature = 2,
                                       .output_spatial = DIMS(1),
                                       .feature_group_count = 1,
                                       .batch_group_count = 1};
    EXPECT(tsr_rule_convolution(f->ctx, f->arena, SHAPE(8, 12, 3), SHAPE(5, 3, 7), SHAPE(8, 8, 7),
                                &conv, &rule),
           "([i, j, k], [m, k, l])->([i, j, l]) {i=8, j=8, k=3, l=7, m=1} reduction={k} "
           "permutation={j}");
    /* As the reference has it, windows that lie across too: those cannot run in parts all the same.
     */
    EXPECT(tsr_rule_convolution(f->ctx, f->arena, SHAPE(8, 4, 3), SHAPE(4, 3, 7), SHAPE(8, 1, 7),
                                &conv, &rule),
           "([i, j, k], [j, k, l])->([i, m, l]) {i=8, j=4, k=3, l=7, m=1} reduction={j, k}");
    EXPECT(tsr_rule_convolution(f->ctx, f->arena, SHAPE(8, 5, 3), SHAPE(4, 3, 7), SHAPE(8, 2, 7),
                                &conv, &rule),
           "([i, j, k], [j, k, l])->([i, m, l]) {i=8, j=4, k=3, l=7, m=1} reduction={j, k}");
    EXPECT(tsr_rule_convolution(f->ctx, f->arena, SHAPE(8, 6, 3), SHAPE(3, 3, 7), SHAPE(8, 2, 7),
                                &conv, &rule),
           "([i, jk, l], [j, l, m])->([i, k, m]) {i=8, j=3, k=2, l=3, m=7} reduction={j, l} "
           "permutation={k}");
    REFUSE(tsr_rule_convolution(f->ctx, f->arena, SHAPE(8, 12), SHAPE(5, 3, 7), SHAPE(8, 8, 7),
                                &conv, &rule),
           "convolution: 1 spatial dimensions of the input, which has rank 2: the rank must be two "
           "more");
    REFUSE(tsr_rule_convolution(f->ctx, f->arena, SHAPE(8, TSR_UNKNOWN, 3), SHAPE(5, 3, 7),
                                SHAPE(8, 8, 7), &conv, &rule),
           "convolution: no sharding rule exists for these shapes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(texts_round_trip),
        TEST(names_do_not_matter),
        TEST(many_factors),
        TEST(wrong_texts),
        TEST(products),
        TEST(ellipses),
        TEST(simple_templates),
        TEST(reshapes),
        TEST(gathers_and_convolutions),
        TEST(extents_at_the_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
