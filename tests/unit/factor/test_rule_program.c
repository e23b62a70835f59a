/* Rules as programs have them: canonical text, errors of reading, checks against an op. */
#include <string.h>

#include "base/buffer.h"
#include "factor/rule.h"
#include "support.h"

#define MAPS_FAILED(which)                                                                         \
    "failed to parse Sdy_OpShardingRule parameter '" which "_mappings' which is to be a "          \
    "`::llvm::ArrayRef<TensorMappingAttr>`"
#define DIMS_FAILED                                                                                \
    "failed to parse Sdy_TensorMapping parameter 'dim_mappings' which is to be a "                 \
    "`::llvm::ArrayRef<DimMappingAttr>`"
#define NOT_IOTA(wanted, got)                                                                      \
    "expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. {i=#, j=#, ...}). "    \
    "Expecting factor index symbol '" wanted "', received: '" got "'"

static tsr_status read(fixture *f, const char *given, rule_text *out)
{
    tsr_text text = tsr_text_of("p.mlir", given);
    lexer lex = lex_start(f->ctx, f->arena, &text);
    return rule_text_read(&lex, out);
}

static const char *printed(fixture *f, const rule_text *rule)
{
    buffer buf = buffer_new(f->arena);
    const char *text = NULL;
    rule_text_print(&buf, rule);
    assert_int_equal(buffer_finish(f->ctx, &buf, &text), TSR_OK);
    return text;
}

static void rules_print_in_canonical_form(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *given;
        const char *wanted;
    } cases[] = {
        {"#sdy.op_sharding_rule< ( [ i,kj ] )->([i , k]){i = 2,j=4,k=0x8} reduction = { j }, "
         "custom>",
         "<([i, kj])->([i, k]) {i=2, j=4, k=8} reduction={j}, custom>"},
        {"<([])->([])>", "<([])->([])>"},
        {"<([], [i])->([i]) {i=1} reduction={} blocked_propagation={i}>",
         "<([], [i])->([i]) {i=1} blocked_propagation={i}>"},
        {"<([zz_1], [z_20z_3])->([i]) {i=5}>", "<([zz_1], [z_20z_3])->([i]) {i=5}>"},
        {"<([i])->([i]) {}>", "<([i])->([i])>"},
        {"<([ij])->([]) {i=2, j=2} need_replication={ij} permutation={j}>",
         "<([ij])->([]) {i=2, j=2} need_replication={i} permutation={j}>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rule_text rule;
        assert_int_equal(read(f, cases[i].given, &rule), TSR_OK);
        assert_string_equal(printed(f, &rule), cases[i].wanted);
    }
}

static void parse_errors_come_in_the_order_of_the_reference(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *given;
        const char *wanted[4];
    } cases[] = {
        {"<([b])->([i])>",
         {"expecting symbol from 'i' to 'z'. Received: 'b'", DIMS_FAILED, MAPS_FAILED("operand")}},
        {"<([i])->([j_])>",
         {"expecting symbol from 'i' to 'z'. Received: '_'", DIMS_FAILED, MAPS_FAILED("result")}},
        {"<([jz_k])->([i])>",
         {"expecting integer after 'z_'. Received: 'z_k'", DIMS_FAILED, MAPS_FAILED("operand")}},
        {"<([z_007])->([i])>",
         {"expecting positive integer without leading zeros. Received: '007'", DIMS_FAILED,
          MAPS_FAILED("operand")}},
        {"<([i])->([j k])>", {"expected ']'", MAPS_FAILED("result")}},
        {"<()->([i])>", {"expected '['", MAPS_FAILED("operand")}},
        {"<([i])->()>", {"expected '['", MAPS_FAILED("result")}},
        {"<([i]), ([i])>", {"expected '->'"}},
        {"<([i])->([i]) {j=1}>", {NOT_IOTA("i", "j")}},
        {"<([i])->([i]) {i=1, i=2}>", {NOT_IOTA("j", "i")}},
        {"<([i])->([i]) {i=1, ik=2}>", {NOT_IOTA("j", "i")}},
        {"<([i])->([i]) {ikl=1}>", {"expecting single factor symbol: kl"}},
        {"<([i])->([i]) {i 1}>", {"expected '='"}},
        {"<([i])->([i]) {i=i}>", {"expected integer value"}},
        {"<([i])->([i]) {i=1,}>", {"expected valid keyword"}},
        {"<([i])->([i]) {i=1} permutation {i}>", {"expected '='"}},
        {"<([i])->([i]) {i=1} permutation={h}>",
         {"expecting symbol from 'i' to 'z'. Received: 'h'"}},
        {"<([i])->([i]) {i=1} permutation={i} reduction={i}>", {"expected '>'"}},
        {"<([i])->([i]) {i=1} other={i}>", {"expected '>'"}},
        {"<([i])->([i]) {i=1}, >", {"expected 'custom'"}},
        {"<([i])->([i]) {i=1}, customs>", {"expected 'custom'"}},
        {"<([i])->([i;])>", {"unexpected character"}},
        {"<([z_9223372036854775808])->([i]) {j=1}>",
         {"expecting symbol index <=2^63-1. Received: '9223372036854775808'", NOT_IOTA("i", "j")}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rule_text rule;
        assert_int_equal(read(f, cases[i].given, &rule), TSR_ERR_SYNTAX);
        const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
        for (size_t k = 0; cases[i].wanted[k] != NULL; k++, d = d->next) {
            assert_non_null(d);
            assert_string_equal(d->text, cases[i].wanted[k]);
        }
        assert_null(d);
        tsr_context_clear(f->ctx);
    }
}

/* Two operands of rank 2 and a result of rank 1. */
static tsr_status verify(fixture *f, const char *given, const int64_t *ranks)
{
    static const char *const types[] = {"tensor<4x8xf32>", "tensor<8x?xf32>", "tensor<4xf32>"};
    rule_text rule;
    assert_int_equal(read(f, given, &rule), TSR_OK);
    return rule_text_verify(f->ctx, NO_LOCATION, "'a.b' op ", &rule, ranks, 2, 1, types);
}

static void every_check_has_its_message(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *given;
        const char *message;
    } cases[] = {
        {"<([i, j])->([i]) {i=4, j=8}>", "number of operands and mappings must match: 2 != 1"},
        {"<([i, j], [j, k])->([i], [i]) {i=4, j=8, k=2}>",
         "number of results and mappings must match: 1 != 2"},
        {"<([i, j], [j])->([i]) {i=4, j=8}>", "operand 1 - mapping rank must match: 1 != 2"},
        {"<([i, j], [j, k])->([]) {i=4, j=8, k=2}>", "result - mapping rank must match: 0 != 1"},
        {"<([i, ], [i, j])->([i]) {i=4, j=8}>",
         "operand 0 - dim mapping must have at least one factor"},
        {"<([i, k], [i, j])->([i]) {i=4, j=8}>",
         "operand 0 - expecting factor indices to be within 0<=...<num_factors; received: 2, "
         "num_factors: 2"},
        {"<([i, j], [j, ij])->([i]) {i=4, j=8}>",
         "operand 1 - cannot reuse factors for the same tensor value"},
        {"<([i, j], [j, ki])->([i]) {i=4, j=8, k=1}>",
         "operand 1 - dim mapping can't have a factor of size 1 if there are multiple factors"},
        {"<([i, j], [j, i])->([i]) {i=4, j=8, k=3}>",
         "has factor k=3 that isn't used in operand and result mappings"},
        {"<([i, j], [j, k])->([i]) {i=4, j=8, k=3} need_replication={k, j}>",
         "indices of special factors must be sorted"},
        {"<([i, j], [j, k])->([i]) {i=4, j=8, k=3} permutation={j, j}>",
         "indices of special factors must be unique"},
        {"<([i, j], [j, k])->([i]) {i=4, j=8, k=3} reduction={j, m}>",
         "index must be less than 3, got: 4"},
        {"<([i, j], [j, k])->([i]) {i=4, j=8, k=3} blocked_propagation={l}>",
         "index must be less than 3, got: 3"},
        {"<([i, j], [j, k])->([i]) {i=4, j=8, k=3} reduction={j} permutation={j}>",
         "a factor can only be in one of the reduction, need replication, or permutation factor "
         "sets"},
        {"<([i, j], [j, k])->([i]) {i=4, j=8, k=3} reduction={i}>",
         "reduction factor cannot be in result mappings"},
    };
    const int64_t ranks[] = {2, 2, 1};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(verify(f, cases[i].given, ranks), TSR_ERR_INVALID);
        const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
        assert_memory_equal(d->text, "'a.b' op ", 9);
        assert_string_equal(d->text + 9, cases[i].message);
        tsr_context_clear(f->ctx);
    }
    assert_int_equal(verify(f, "<([i, j], [j, k])->([i]) {i=4, j=8, k=3} reduction={j}>", ranks),
                     TSR_OK);
    const int64_t scalars[] = {0, 0, 0};
    assert_int_equal(verify(f, "<([], [])->([]), custom>", scalars), TSR_OK);
}

static void only_static_tensors_have_rules(void **state)
{
    fixture *f = *state;
    const int64_t ranks[] = {2, -1, 1};
    assert_int_equal(verify(f, "<([i, j], [j, k])->([i]) {i=4, j=8, k=3}>", ranks),
                     TSR_ERR_INVALID);
    expect_error(f, "'a.b' op operand 1 - expected a ranked tensor with a static shape. type: "
                    "'tensor<8x?xf32>'");
}

/* A number above 2^63-1 is an error that does not stop the reading; the check fails in any case. */
static void a_number_too_large_fails_late(void **state)
{
    fixture *f = *state;
    static const char *const types[] = {"tensor<4xf32>", "tensor<4xf32>"};
    const int64_t ranks[] = {1, 1};
    rule_text rule;
    assert_int_equal(
        read(f, "<([i])->([i]) {i=4} blocked_propagation={z_9223372036854775808}>", &rule), TSR_OK);
    assert_true(rule.too_large);
    rule.lists[RULE_BLOCKED].count = 0;
    assert_int_equal(rule_text_verify(f->ctx, NO_LOCATION, "", &rule, ranks, 1, 1, types),
                     TSR_ERR_SYNTAX);
    expect_error(f, "expecting symbol index <=2^63-1. Received: '9223372036854775808'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rules_print_in_canonical_form), TEST(parse_errors_come_in_the_order_of_the_reference),
        TEST(every_check_has_its_message),   TEST(only_static_tensors_have_rules),
        TEST(a_number_too_large_fails_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
