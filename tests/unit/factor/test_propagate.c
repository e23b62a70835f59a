/* Propagation through one op: the worked examples of the rules, and what the strategies differ in.
 */
#include <string.h>

#include "support.h"

enum { MOST = 4 };

/* One op: a rule, shardings before ("" for none) and after. */
typedef struct example {
    const char *mesh;
    const char *rule;
    const char *before[MOST]; /* operands, then results */
    tsr_strategy strategy;
    bool elementwise;
    const char *after[MOST]; /* "" for none */
} example;

static const char *const tensor_words[] = {"operand", "result"};

static void run_example(fixture *f, const example *e)
{
    const tsr_mesh *mesh = mesh_of(f, e->mesh);
    const tsr_rule *rule = NULL;
    if (tsr_rule_parse(f->ctx, f->arena, e->rule, &rule) != TSR_OK) {
        fail_msg("%s: %s", e->rule, tsr_context_diagnostics(f->ctx)->text);
    }
    const size_t operands = tsr_rule_num_operands(rule);
    const size_t results = tsr_rule_num_results(rule);
    const tsr_sharding *before[MOST] = {NULL};
    const tsr_sharding *after[MOST] = {NULL};
    for (size_t i = 0; i < operands + results; i++) {
        before[i] = e->before[i][0] != '\0' ? sharding_of(f, mesh, e->before[i]) : NULL;
    }
    const tsr_propagation op = {.rule = rule,
                                .mesh = mesh,
                                .strategy = e->strategy,
                                .elementwise = e->elementwise,
                                .operands = before,
                                .results = before + operands};
    if (tsr_propagate(f->ctx, f->arena, &op, after, after + operands) != TSR_OK) {
        fail_msg("%s: %s", e->rule, tsr_context_diagnostics(f->ctx)->text);
    }
    for (size_t i = 0; i < operands + results; i++) {
        const char *text = after[i] != NULL ? sharding_bare(f, after[i]) : "";
        if (strcmp(text, e->after[i]) != 0) {
            fail_msg("%s: %s %zu is %s, not %s", e->rule, tensor_words[i >= operands],
                     i < operands ? i : i - operands, text, e->after[i]);
        }
    }
}

#define MM "([i, k], [k, j])->([i, j])"
#define ADD "([i, j], [i, j])->([i, j])"
#define BASIC TSR_STRATEGY_BASIC
#define AGGRESSIVE TSR_STRATEGY_AGGRESSIVE
#define PARALLEL TSR_STRATEGY_MOST_PARALLEL

static const example examples[] = {
    /* Openness: inputs keep theirs, what is derived is open. */
    {"<[\"x\"=4, \"y\"=2]>",
     ADD " {i=16, j=8}",
     {"[{\"x\"}, {}]", "", ""},
     BASIC,
     true,
     {"[{\"x\"}, {}]", "[{\"x\", ?}, {?}]", "[{\"x\", ?}, {?}]"}},
    {"<[\"x\"=4, \"y\"=2]>",
     MM " {i=16, j=32, k=8} reduction={k}",
     {"[{\"x\", ?}, {?}]", "[{?}, {\"y\"}]", ""},
     BASIC,
     false,
     {"[{\"x\", ?}, {?}]", "[{?}, {\"y\"}]", "[{\"x\", ?}, {\"y\", ?}]"}},
    /* Sub-axes where a factor is smaller than an axis, and back. */
    {"<[\"x\"=8, \"y\"=3]>",
     "([ij])->([i, j]) {i=4, j=6}",
     {"[{\"x\", \"y\"}]", ""},
     BASIC,
     false,
     {"[{\"x\", \"y\"}]", "[{\"x\":(1)4, ?}, {\"x\":(4)2, \"y\", ?}]"}},
    {"<[\"x\"=8, \"y\"=3]>",
     "([i, j])->([ij]) {i=4, j=6}",
     {"[{\"x\":(1)4}, {\"x\":(4)2, \"y\"}]", ""},
     BASIC,
     false,
     {"[{\"x\":(1)4}, {\"x\":(4)2, \"y\"}]", "[{\"x\", \"y\", ?}]"}},
    {"<[\"a\"=2, \"b\"=2]>",
     "([i, j])->([ij]) {i=4, j=4}",
     {"[{\"a\"}, {\"b\"}]", ""},
     BASIC,
     false,
     {"[{\"a\"}, {\"b\"}]", "[{\"a\", ?}]"}},
    /* Overflow blocks. */
    {"<[\"x\"=2, \"y\"=5]>",
     "([ij])->([i, j]) {i=5, j=6}",
     {"[{\"x\", \"y\", ?}]", "[{\"y\", ?}, {?}]"},
     BASIC,
     false,
     {"[{\"x\", \"y\", ?}]", "[{\"y\", ?}, {?}]"}},
    /* A conflict leaves the common part. */
    {"<[\"a\"=2, \"b\"=2, \"c\"=2]>",
     ADD " {i=8, j=8}",
     {"[{\"a\", \"b\"}, {}]", "[{\"a\", \"c\"}, {?}]", ""},
     BASIC,
     true,
     {"[{\"a\", \"b\"}, {}]", "[{\"a\", \"c\"}, {?}]", "[{\"a\", ?}, {?}]"}},
    {"<[\"a\"=2, \"b\"=2, \"c\"=2]>",
     ADD " {i=8, j=8}",
     {"[{\"a\", \"b\"}, {}]", "[{\"a\", \"c\"}, {?}]", ""},
     AGGRESSIVE,
     true,
     {"[{\"a\", \"b\"}, {}]", "[{\"a\", \"c\"}, {?}]", "[{\"a\", ?}, {?}]"}},
    /* Across factors. */
    {"<[\"a\"=2]>",
     MM " {i=64, j=32, k=16} reduction={k}",
     {"[{\"a\"}, {?}]", "", "[{?}, {\"a\", ?}]"},
     BASIC,
     false,
     {"[{\"a\"}, {?}]", "", "[{?}, {\"a\", ?}]"}},
    {"<[\"a\"=2]>",
     MM " {i=64, j=32, k=16} reduction={k}",
     {"[{\"a\"}, {?}]", "", "[{?}, {\"a\", ?}]"},
     AGGRESSIVE,
     false,
     {"[{\"a\"}, {?}]", "[{?}, {\"a\", ?}]", "[{?}, {\"a\", ?}]"}},
    /* Tie-breaks: the larger source, then the smaller number; for elementwise ops more shards. */
    {"<[\"a\"=2, \"b\"=2]>",
     MM " {i=64, j=16, k=32} reduction={k}",
     {"[{\"a\"}, {?}]", "[{?}, {\"b\", \"a\"}]", ""},
     AGGRESSIVE,
     false,
     {"[{\"a\"}, {?}]", "[{?}, {\"b\", \"a\"}]", "[{\"a\", ?}, {\"b\", ?}]"}},
    {"<[\"a\"=2, \"b\"=2]>",
     MM " {i=16, j=64, k=32} reduction={k}",
     {"[{\"a\"}, {?}]", "[{?}, {\"b\", \"a\"}]", ""},
     AGGRESSIVE,
     false,
     {"[{\"a\"}, {?}]", "[{?}, {\"b\", \"a\"}]", "[{?}, {\"b\", \"a\", ?}]"}},
    {"<[\"a\"=2, \"b\"=2]>",
     MM " {i=32, j=32, k=32} reduction={k}",
     {"[{\"a\"}, {?}]", "[{?}, {\"b\", \"a\"}]", ""},
     AGGRESSIVE,
     false,
     {"[{\"a\"}, {?}]", "[{?}, {\"b\", \"a\"}]", "[{\"a\", ?}, {\"b\", ?}]"}},
    {"<[\"a\"=2, \"b\"=2]>",
     ADD " {i=8, j=8}",
     {"[{}, {\"a\"}]", "[{\"b\", \"a\"}, {}]", ""},
     AGGRESSIVE,
     true,
     {"[{}, {\"a\"}]", "[{\"b\", \"a\"}, {}]", "[{\"b\", \"a\", ?}, {?}]"}},
    /* Priorities: the lower number stands. */
    {"<[\"a\"=2]>",
     ADD " {i=8, j=8}",
     {"[{\"a\"}p1, {?}]", "[{?}, {\"a\"}p0]", ""},
     AGGRESSIVE,
     true,
     {"[{\"a\"}, {?}]", "[{?}, {\"a\"}]", "[{?}, {\"a\", ?}]"}},
    {"<[\"a\"=2]>",
     ADD " {i=8, j=8}",
     {"[{\"a\"}, {?}]", "[{?}, {\"a\"}]", ""},
     AGGRESSIVE,
     true,
     {"[{\"a\"}, {?}]", "[{?}, {\"a\"}]", "[{\"a\", ?}, {?}]"}},
    /* Closed dimensions and explicit replication hold. */
    {"<[\"a\"=2]>",
     ADD " {i=8, j=8}",
     {"[{\"a\", ?}, {?}]", "[{}, {}]", ""},
     BASIC,
     true,
     {"[{\"a\", ?}, {?}]", "[{}, {}]", ""}},
    {"<[\"a\"=2]>",
     ADD " {i=8, j=8}",
     {"[{\"a\", ?}, {?}]", "[{?}, {?}], replicated={\"a\"}", ""},
     AGGRESSIVE,
     true,
     {"[{\"a\", ?}, {?}]", "[{?}, {?}], replicated={\"a\"}", "[{\"a\", ?}, {?}]"}},
    /* Blocked and one-sided factors give nothing. */
    {"<[\"a\"=2]>",
     "([i])->([i]) {i=8} need_replication={i} blocked_propagation={i}",
     {"[{\"a\"}]", ""},
     BASIC,
     false,
     {"[{\"a\"}]", ""}},
    /* On a conflict, more shards. */
    {"<[\"a\"=2, \"b\"=4]>",
     "([i], [i])->([i]) {i=8}",
     {"[{\"a\", ?}]", "[{\"b\", ?}]", ""},
     PARALLEL,
     true,
     {"[{\"a\", ?}]", "[{\"b\", ?}]", "[{\"b\", ?}]"}},
    {"<[\"a\"=2, \"b\"=4]>",
     "([i], [i])->([i]) {i=8}",
     {"[{\"a\", ?}]", "[{\"b\", ?}]", ""},
     BASIC,
     true,
     {"[{\"a\", ?}]", "[{\"b\", ?}]", ""}},
    {"<[\"a\"=2, \"b\"=4]>",
     MM " {i=8, j=8, k=8} reduction={k}",
     {"[{\"a\"}, {}]", "[{}, {\"b\", \"a\"}]", ""},
     PARALLEL,
     false,
     {"[{\"a\"}, {}]", "[{}, {\"b\", \"a\"}]", "[{?}, {\"b\", \"a\", ?}]"}},
    /* A factor without a size, alone in its dimensions. */
    {"<[\"a\"=2]>",
     MM,
     {"[{\"a\"}, {}]", "", ""},
     BASIC,
     false,
     {"[{\"a\"}, {}]", "", "[{\"a\", ?}, {?}]"}},
};

static void worked_examples(void **state)
{
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        run_example(*state, &examples[i]);
    }
}

/* The axes that are pending after an op. */
static void pending_axes(void **state)
{
    static const struct {
        const char *before[2];
        const char *pending;
    } cases[] = {
        {{"[{}, {\"x\"}]", "[{\"x\"}, {}]"}, "\"x\""},
        {{"[{}, {\"x\", \"y\"}]", "[{\"x\"}, {\"y\"}]"}, "\"x\""},
        {{"[{}, {\"x\"}]", "[{\"y\"}, {}]"}, ""},
        {{"[{\"x\"}, {}]", "[{}, {\"y\"}]"}, ""},
        {{"[{}, {\"y\":(1)2}]", "[{\"y\"}, {}]"}, "\"y\":(1)2"},
    };
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2, \"y\"=4]>");
    const tsr_rule *rule = NULL;
    assert_int_equal(tsr_rule_parse(f->ctx, f->arena, MM " {i=8, j=8, k=8} reduction={k}", &rule),
                     TSR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_sharding *before[2] = {sharding_of(f, mesh, cases[i].before[0]),
                                         sharding_of(f, mesh, cases[i].before[1])};
        const tsr_axis_ref *axes = NULL;
        size_t count = 0;
        const char *text = "";
        assert_int_equal(tsr_propagate_pending(f->ctx, f->arena, rule, mesh, before, &axes, &count),
                         TSR_OK);
        if (count > 0) {
            assert_int_equal(tsr_axes_print(f->ctx, f->arena, mesh, axes, count, &text), TSR_OK);
        }
        assert_string_equal(text, cases[i].pending);
    }
}

static void decisions_are_recorded(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"a\"=2, \"b\"=2, \"c\"=2]>");
    const tsr_rule *rule = NULL;
    tsr_decisions decisions = {0};
    assert_int_equal(tsr_rule_parse(f->ctx, f->arena, ADD " {i=8, j=8}", &rule), TSR_OK);
    const tsr_sharding *before[2] = {sharding_of(f, mesh, "[{\"a\", \"b\"}, {}]"),
                                     sharding_of(f, mesh, "[{\"a\", \"c\"}, {?}]")};
    const tsr_sharding *operands[2];
    const tsr_sharding *results[1];
    const tsr_propagation op = {
        .rule = rule, .mesh = mesh, .strategy = BASIC, .operands = before, .decisions = &decisions};
    assert_int_equal(tsr_propagate(f->ctx, f->arena, &op, operands, results), TSR_OK);
    static const char *const wanted[] = {
        "operand 1 and operand 0 disagree, \"a\" is common for i",
        "result 0 gets \"a\" for i from operand 0",
    };
    assert_int_equal(decisions.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const char *text = NULL;
        assert_int_equal(tsr_decision_print(f->ctx, f->arena, &op, &decisions.list[i], &text),
                         TSR_OK);
        assert_string_equal(text, wanted[i]);
    }
}

static void wrong_shardings(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"a\"=2]>");
    const tsr_rule *rule = NULL;
    const tsr_sharding *operands[2];
    const tsr_sharding *results[1];
    assert_int_equal(tsr_rule_parse(f->ctx, f->arena, ADD " {i=8, j=8}", &rule), TSR_OK);
    const tsr_sharding *ranks[2] = {sharding_of(f, mesh, "[{\"a\"}]"), NULL};
    const tsr_propagation first = {.rule = rule, .mesh = mesh, .operands = ranks};
    assert_int_equal(tsr_propagate(f->ctx, f->arena, &first, operands, results), TSR_ERR_INVALID);
    expect_error(f, "the sharding of operand 0 has rank 1, the rule 2");
    const tsr_sharding *meshes[2] = {sharding_of(f, mesh, "[{\"a\"}, {}]"),
                                     sharding_of(f, mesh_of(f, "<[\"a\"=4]>"), "[{\"a\"}, {}]")};
    const tsr_propagation second = {.rule = rule, .mesh = mesh, .operands = meshes};
    assert_int_equal(tsr_propagate(f->ctx, f->arena, &second, operands, results), TSR_ERR_INVALID);
    expect_error(f, "the sharding of operand 1 is on another mesh: reshard it first");
    /* Nothing is sharded at all: nothing to do, and no mesh. */
    const tsr_propagation none = {.rule = rule};
    assert_int_equal(tsr_propagate(f->ctx, f->arena, &none, operands, results), TSR_OK);
    assert_null(results[0]);
}

/* Each factor may have a direction of its own: rows go back, columns forward, sums nowhere. */
static void directions_by_factor(void **state)
{
    static const tsr_direction directions[] = {TSR_DIRECTION_BACKWARD, TSR_DIRECTION_FORWARD,
                                               TSR_DIRECTION_NONE};
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"a\"=2, \"b\"=2, \"c\"=2]>");
    const tsr_rule *rule = NULL;
    const tsr_sharding *operands[2];
    const tsr_sharding *results[1];
    assert_int_equal(tsr_rule_parse(f->ctx, f->arena, MM " {i=16, j=32, k=8} reduction={k}", &rule),
                     TSR_OK);
    const tsr_sharding *given[] = {sharding_of(f, mesh, "[{?}, {\"c\", ?}]"),
                                   sharding_of(f, mesh, "[{?}, {?}]")};
    const tsr_sharding *made[] = {sharding_of(f, mesh, "[{\"a\", ?}, {\"b\", ?}]")};
    const tsr_propagation op = {.rule = rule,
                                .mesh = mesh,
                                .direction = TSR_DIRECTION_BOTH,
                                .directions = directions,
                                .operands = given,
                                .results = made};
    assert_int_equal(tsr_propagate(f->ctx, f->arena, &op, operands, results), TSR_OK);
    assert_string_equal(sharding_bare(f, operands[0]), "[{\"a\", ?}, {\"c\", ?}]");
    assert_string_equal(sharding_bare(f, operands[1]), "[{?}, {?}]");
    assert_string_equal(sharding_bare(f, results[0]), "[{\"a\", ?}, {\"b\", ?}]");
}

/* An axis that would have to be split stays where it is. */
static void conservative_propagation_splits_no_axis(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=8]>");
    const tsr_rule *rule = NULL;
    const tsr_sharding *operands[1];
    const tsr_sharding *results[1];
    assert_int_equal(tsr_rule_parse(f->ctx, f->arena, "([ij])->([i, j]) {i=4, j=6}", &rule),
                     TSR_OK);
    const tsr_sharding *given[] = {sharding_of(f, mesh, "[{\"x\", ?}]")};
    for (int conservative = 0; conservative < 2; conservative++) {
        const tsr_propagation op = {
            .rule = rule, .mesh = mesh, .conservative = conservative == 1, .operands = given};
        assert_int_equal(tsr_propagate(f->ctx, f->arena, &op, operands, results), TSR_OK);
        if (conservative == 1) {
            assert_null(results[0]);
        } else {
            assert_string_equal(sharding_bare(f, results[0]), "[{\"x\":(1)4, ?}, {\"x\":(4)2, ?}]");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(worked_examples),
        TEST(directions_by_factor),
        TEST(conservative_propagation_splits_no_axis),
        TEST(pending_axes),
        TEST(decisions_are_recorded),
        TEST(wrong_shardings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
