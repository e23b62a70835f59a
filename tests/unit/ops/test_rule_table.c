/* Interned rules: one for equal row, parameters, types and facts. */
#include <string.h>

#include "failing_heap.h"
#include "instance.h"
#include "ops/rules.h"

static op_rules *new_rules(fixture *f)
{
    op_rules *rules = NULL;
    assert_int_equal(op_rules_create(f->ctx, &rules), TSR_OK);
    return rules;
}

/* The rule of a use, NULL for none. */
static const tsr_rule *rule_of(fixture *f, op_rules *rules, const instance *i)
{
    const op_request r = instance_request(f, i);
    const tsr_rule *rule = NULL;
    const tsr_status status = op_rules_find(rules, &r, i->results, &rule);
    assert_int_equal(status, rule != NULL ? TSR_OK : TSR_NOT_APPLICABLE);
    return rule;
}

/* Every row, random uses: the rule is the row's, and the same object for the same use again. */
static void rules_are_those_of_rows(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("rules_are_those_of_rows");
    op_rules *rules = new_rules(f);
    size_t found = 0;
    for (uint64_t n = 0; n < (uint64_t)prop_cases(3000); n++) {
        rng r = rng_case(&base, n);
        rng again = r;
        instance drawn[2];
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        const op_row *row = op_at((size_t)n % op_count());
        if (instance_draw(f, row, &r, &drawn[0]) && instance_draw(f, row, &again, &drawn[1])) {
            const op_request request = instance_request(f, &drawn[0]);
            const tsr_rule *own = NULL;
            const tsr_rule *rule = rule_of(f, rules, &drawn[0]);
            const tsr_status status = op_find_rule(&request, drawn[0].results, f->arena, &own);
            assert_int_equal(status, rule != NULL ? TSR_OK : TSR_NOT_APPLICABLE);
            assert_true(rule == NULL || tsr_rule_equal(rule, own));
            assert_ptr_equal(rule_of(f, rules, &drawn[1]), rule);
            found += rule != NULL ? 1 : 0;
        }
        tsr_context_clear(f->ctx);
        tsr_arena_reset(f->arena, mark);
    }
    assert_true(found > 1000);
    op_rules_destroy(rules);
}

static const int64_t square[] = {8, 8};
static const int64_t oblong[] = {8, 4};

/* A sum of two arrays, and what may differ in it. */
static const tsr_rule *rule_of_add(fixture *f, op_rules *rules, const char *name,
                                   const int64_t *shape, tsr_dtype dtype, const op_facts *facts)
{
    const op_type types[] = {{dtype, 2, shape}, {dtype, 2, shape}};
    const op_request r = {.ctx = f->ctx,
                          .arena = f->arena,
                          .call = "test",
                          .row = op_find(name),
                          .num_operands = 2,
                          .operands = types,
                          .facts = facts};
    const tsr_rule *rule = NULL;
    assert_int_equal(op_rules_find(rules, &r, types, &rule), TSR_OK);
    return rule;
}

static void what_differs_has_a_rule_of_its_own(void **state)
{
    fixture *f = *state;
    op_rules *rules = new_rules(f);
    const op_facts conservative = {.conservative = true};
    const tsr_rule *all[] = {
        rule_of_add(f, rules, "add", square, TSR_F32, NULL),
        rule_of_add(f, rules, "add", oblong, TSR_F32, NULL),
        rule_of_add(f, rules, "add", square, TSR_F64, NULL),
        rule_of_add(f, rules, "multiply", square, TSR_F32, NULL),
        rule_of_add(f, rules, "add", square, TSR_F32, &conservative),
    };
    enum { COUNT = sizeof all / sizeof all[0] };
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_ptr_not_equal(all[i], all[k]);
        }
    }
    const int64_t same[] = {8, 8};
    assert_ptr_equal(rule_of_add(f, rules, "add", same, TSR_F32, NULL), all[0]);
    op_rules_destroy(rules);
}

/* Of values that operands come from, only which are the same counts. */
static void sources_count_by_equality(void **state)
{
    fixture *f = *state;
    op_rules *rules = new_rules(f);
    const op_operand_fact twice[] = {{.is_slice = true, .source = 3}, {.source = 3}};
    const op_operand_fact other[] = {{.is_slice = true, .source = 9}, {.source = 9}};
    const op_operand_fact apart[] = {{.is_slice = true, .source = 3}, {.source = 4}};
    const op_facts facts[] = {{.operands = twice}, {.operands = other}, {.operands = apart}};
    const tsr_rule *rule[3];
    for (size_t i = 0; i < 3; i++) {
        rule[i] = rule_of_add(f, rules, "add", square, TSR_F32, &facts[i]);
    }
    assert_ptr_equal(rule[0], rule[1]);
    assert_ptr_not_equal(rule[0], rule[2]);
    op_rules_destroy(rules);
}

/* Finds the rule of a use, with an allocation that fails; whether it was reached. */
static bool find_with(const op_row *row, int64_t fail_at)
{
    failing_heap heap = {.fail_at = fail_at};
    const tsr_allocator allocator = {failing_heap_resize, &heap};
    const int64_t shape[] = {8, 8};
    const op_type types[] = {{TSR_F32, 2, shape}, {TSR_F32, 2, shape}};
    fixture f = {0};
    if (tsr_context_create(&allocator, &f.ctx) == TSR_OK) {
        op_rules *rules = NULL;
        const tsr_rule *rule = NULL;
        const op_request r = {
            .ctx = f.ctx, .call = "test", .row = row, .num_operands = 2, .operands = types};
        tsr_status status = op_rules_create(f.ctx, &rules);
        if (status == TSR_OK) {
            status = op_rules_find(rules, &r, types, &rule);
        }
        assert_int_equal(status, heap.calls > fail_at && fail_at >= 0 ? TSR_ERR_NOMEM : TSR_OK);
        assert_int_equal(rule == NULL, status != TSR_OK);
        const int64_t calls = heap.calls;
        if (status == TSR_OK) {
            const tsr_rule *again = NULL;
            assert_int_equal(op_rules_find(rules, &r, types, &again), TSR_OK);
            assert_ptr_equal(again, rule);
            assert_int_equal(heap.calls, calls);
        }
        op_rules_destroy(rules);
        tsr_context_destroy(f.ctx);
    }
    assert_int_equal(heap.live, 0);
    return heap.calls > fail_at;
}

static void a_known_use_allocates_nothing(void **state)
{
    (void)state;
    int64_t n = 0;
    (void)find_with(op_find("add"), -1);
    while (find_with(op_find("add"), n)) {
        n++;
    }
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rules_are_those_of_rows),
        TEST(what_differs_has_a_rule_of_its_own),
        TEST(sources_count_by_equality),
        cmocka_unit_test(a_known_use_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
