/* The engine: visits, what they allocate, meshes, what is recorded. */
#include <string.h>

#include "factor/engine.h"
#include "failing_heap.h"

enum { MOST = 4 };

#define MM "([i, k], [k, j])->([i, j]) {i=16, j=32, k=8} reduction={k}"
#define ADD "([i, j], [i, j])->([i, j]) {i=16, j=32}"
#define RESHAPE "([ij])->([i, j]) {i=4, j=6}"

/* An op with its shardings, interned; "" for none. */
typedef struct op_case {
    engine *e;
    visit_op op;
    size_t count;
    const tsr_sharding *shardings[MOST];
} op_case;

/* Reads a rule, and shardings each on a mesh of its own. */
static op_case case_of(fixture *f, engine *e, const char *rule, const char *const *meshes,
                       const char *const *texts)
{
    op_case c = {.e = e};
    assert_int_equal(tsr_rule_parse(f->ctx, f->arena, rule, &c.op.rule), TSR_OK);
    c.count = rule_num_tensors(c.op.rule);
    for (size_t t = 0; t < c.count; t++) {
        if (texts[t][0] != '\0') {
            const tsr_sharding *given = sharding_of(f, mesh_of(f, meshes[t]), texts[t]);
            assert_int_equal(engine_intern(e, given, &c.shardings[t]), TSR_OK);
        }
    }
    return c;
}

/* Visits, and puts what changed where it belongs; returns how much did. */
static size_t visit_case(op_case *c)
{
    engine_changes changes = {0};
    assert_int_equal(engine_visit(c->e, &c->op, c->shardings, &changes), TSR_OK);
    for (size_t i = 0; i < changes.count; i++) {
        c->shardings[changes.list[i].tensor] = changes.list[i].after;
    }
    return changes.count;
}

static engine *new_engine(fixture *f)
{
    engine *e = NULL;
    assert_int_equal(engine_create(f->ctx, &e), TSR_OK);
    return e;
}

#define MESH "@m = <[\"x\"=8, \"y\"=2, \"z\"=3]>"
static const char *const same_mesh[MOST] = {MESH, MESH, MESH, MESH};

typedef struct example {
    const char *rule;
    const char *before[MOST];
    const char *after[MOST];
    size_t changes;
} example;

static const example examples[] = {
    {MM,
     {"[{\"y\", ?}, {?}]", "[{?}, {\"x\"}]", ""},
     {"[{\"y\", ?}, {?}]", "[{?}, {\"x\"}]", "[{\"y\", ?}, {\"x\", ?}]"},
     1},
    {ADD,
     {"[{\"y\", ?}, {?}]", "[{?}, {\"x\", ?}]", ""},
     {"[{\"y\", ?}, {\"x\", ?}]", "[{\"y\", ?}, {\"x\", ?}]", "[{\"y\", ?}, {\"x\", ?}]"},
     3},
    {RESHAPE,
     {"[{\"x\", \"z\"}]", ""},
     {"[{\"x\", \"z\"}]", "[{\"x\":(1)4, ?}, {\"x\":(4)2, \"z\", ?}]"},
     1},
    /* A sharding that changes loses its priorities; one that does not keeps them. */
    {ADD,
     {"[{\"y\", ?}p1, {}]", "[{?}p2, {?}p0]", ""},
     {"[{\"y\", ?}p1, {}]", "[{\"y\", ?}, {?}]", "[{\"y\", ?}, {?}]"},
     2},
    /* The minor factor is not written where the major one is not full; what got nothing has none.
     */
    {"([i, j])->([ij]) {i=4, j=6}", {"[{?}, {\"z\", ?}]", ""}, {"[{?}, {\"z\", ?}]", ""}, 0},
    {ADD, {"", "", ""}, {"", "", ""}, 0},
};

/* The pointers are those of the same shardings, read and interned. */
static void visits_give_interned_shardings(void **state)
{
    fixture *f = *state;
    engine *e = new_engine(f);
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        op_case c = case_of(f, e, examples[i].rule, same_mesh, examples[i].before);
        const op_case wanted = case_of(f, e, examples[i].rule, same_mesh, examples[i].after);
        assert_int_equal(visit_case(&c), examples[i].changes);
        for (size_t t = 0; t < c.count; t++) {
            assert_ptr_equal(c.shardings[t], wanted.shardings[t]);
        }
        assert_int_equal(visit_case(&c), 0);
    }
    engine_destroy(e);
}

/* Meshes that are equal count as one, whatever their names; the first name is used. */
static void meshes_in_common(void **state)
{
    static const struct {
        const char *meshes[3];
        const char *before[3];
        const char *after[3];
        const char *name; /* of the result's mesh; NULL: it has none */
    } cases[] = {
        {{"@a = <[\"x\"=2]>", "@b = <[\"x\"=2]>", ""},
         {"[{?}, {?}]", "[{\"x\"}, {}]", ""},
         {"[{\"x\", ?}, {?}]", "[{\"x\"}, {}]", "[{\"x\", ?}, {?}]"},
         "a"},
        {{"@a = <[\"x\"=2]>", "@b = <[\"x\"=4]>", ""},
         {"[{\"x\"}, {}]", "[{?}, {?}]", ""},
         {"[{\"x\"}, {}]", "[{?}, {?}]", ""},
         NULL},
        /* The empty mesh gives way; its closed dimensions hold. */
        {{"@e = <[]>", "@b = <[\"x\"=4]>", ""},
         {"[{?}, {}]", "[{\"x\"}, {}]", ""},
         {"[{\"x\", ?}, {}]", "[{\"x\"}, {}]", "[{\"x\", ?}, {?}]"},
         "b"},
        {{"@e = <[]>", "@b = <[\"x\"=4]>", ""},
         {"[{}, {}]", "[{\"x\"}, {}]", ""},
         {"[{}, {}]", "[{\"x\"}, {}]", ""},
         NULL},
        {{"@e = <[]>", "@e = <[]>", ""}, {"[{?}, {}]", "", ""}, {"[{?}, {}]", "", ""}, NULL},
        {{"@d = <[], device_ids=[3]>", "", ""}, {"[]", "", ""}, {"[]", "", ""}, NULL},
        {{"@d = <[], device_ids=[3]>", "@b = <[\"x\"=4]>", ""},
         {"[]", "[{\"x\"}, {}]", ""},
         {"[]", "[{\"x\"}, {}]", ""},
         NULL},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        engine *e = new_engine(f);
        op_case c = case_of(f, e, ADD, cases[i].meshes, cases[i].before);
        (void)visit_case(&c);
        for (size_t t = 0; t < 3; t++) {
            const tsr_sharding *s = c.shardings[t];
            assert_string_equal(s != NULL ? sharding_bare(f, s) : "", cases[i].after[t]);
        }
        assert_int_equal(c.shardings[2] == NULL, cases[i].name == NULL);
        if (c.shardings[2] != NULL) {
            assert_string_equal(tsr_mesh_name(c.shardings[2]->mesh), cases[i].name);
        }
        engine_destroy(e);
    }
}

/* The public call does the same on empty and maximal meshes, and on several. */
static void public_call_on_odd_meshes(void **state)
{
    fixture *f = *state;
    const tsr_rule *rule = NULL;
    assert_int_equal(tsr_rule_parse(f->ctx, f->arena, ADD, &rule), TSR_OK);
    const tsr_mesh *mesh = mesh_of(f, "@m = <[\"x\"=2]>");
    const tsr_sharding *empty[] = {sharding_of(f, mesh_of(f, "@e = <[]>"), "[{?}, {}]"),
                                   sharding_of(f, mesh, "[{\"x\"}, {}]")};
    const tsr_sharding *operands[2];
    const tsr_sharding *results[1];
    for (int given = 0; given < 2; given++) {
        const tsr_propagation op = {
            .rule = rule, .mesh = given == 1 ? mesh : NULL, .operands = empty};
        assert_int_equal(tsr_propagate(f->ctx, f->arena, &op, operands, results), TSR_OK);
        assert_string_equal(sharding_bare(f, operands[0]), "[{\"x\", ?}, {}]");
        assert_ptr_equal(operands[0]->mesh, mesh);
        assert_string_equal(sharding_bare(f, results[0]), "[{\"x\", ?}, {?}]");
    }
    const tsr_sharding *unmoved[][2] = {
        {sharding_of(f, mesh_of(f, "<[], device_ids=[3]>"), "[]"), NULL},
        {sharding_of(f, mesh, "[{\"x\"}p1, {?}]"),
         sharding_of(f, mesh_of(f, "<[\"x\"=4]>"), "[{?}p0, {?}p2]")},
    };
    for (size_t i = 0; i < 2; i++) {
        const tsr_propagation op = {.rule = rule, .operands = unmoved[i]};
        assert_int_equal(tsr_propagate(f->ctx, f->arena, &op, operands, results), TSR_OK);
        assert_ptr_equal(operands[0], unmoved[i][0]);
        assert_ptr_equal(operands[1], unmoved[i][1]);
        assert_null(results[0]);
    }
}

static void directions_and_the_conservative_flag(void **state)
{
    static const tsr_direction directions[] = {TSR_DIRECTION_BACKWARD, TSR_DIRECTION_FORWARD,
                                               TSR_DIRECTION_NONE};
    static const char *const before[] = {"[{?}, {\"z\", ?}]", "[{?}, {?}]",
                                         "[{\"y\", ?}, {\"x\", ?}]"};
    static const char *const split[] = {"[{\"x\", ?}]", ""};
    fixture *f = *state;
    engine *e = new_engine(f);
    op_case c = case_of(f, e, MM, same_mesh, before);
    c.op.directions = directions;
    assert_int_equal(visit_case(&c), 1);
    assert_string_equal(sharding_bare(f, c.shardings[0]), "[{\"y\", ?}, {\"z\", ?}]");
    op_case r = case_of(f, e, RESHAPE, same_mesh, split);
    r.op.conservative = true;
    assert_int_equal(visit_case(&r), 0);
    r.op.conservative = false;
    assert_int_equal(visit_case(&r), 1);
    engine_destroy(e);
}

/* While nothing is recorded no conflict is looked for in vain; both ways give the same. */
static void decisions_are_recorded(void **state)
{
    static const char *const before[] = {"[{\"x\", \"y\"}, {}]", "[{\"x\", \"z\"}, {?}]", ""};
    fixture *f = *state;
    engine *e = new_engine(f);
    tsr_decisions decisions = {0};
    op_case c = case_of(f, e, ADD, same_mesh, before);
    op_case again = c;
    c.op.decisions = &decisions;
    c.op.record = f->arena;
    assert_int_equal(visit_case(&c), 1);
    assert_int_equal(visit_case(&again), 1);
    assert_ptr_equal(c.shardings[2], again.shardings[2]);
    assert_int_equal(decisions.count, 2);
    assert_int_equal(decisions.list[0].kind, TSR_DECISION_DISAGREE);
    assert_int_equal(decisions.list[1].kind, TSR_DECISION_GIVEN);
    assert_int_equal(decisions.list[1].other, 0);
    engine_destroy(e);
}

static void wrong_rank(void **state)
{
    static const char *const before[] = {"[{\"x\"}]", "", ""};
    fixture *f = *state;
    engine *e = new_engine(f);
    op_case c = case_of(f, e, ADD, same_mesh, before);
    engine_changes changes = {.count = 77};
    assert_int_equal(engine_visit(e, &c.op, c.shardings, &changes), TSR_ERR_INVALID);
    assert_int_equal(changes.count, 77);
    expect_error(f, "the sharding of operand 0 has rank 1, the rule 2");
    engine_destroy(e);
}

/* Parts of an axis that no reshape of it has together are refused, as in every sharding. */
static void parts_that_do_not_fit(void **state)
{
    static const char *const meshes[] = {"<[\"a\"=6]>", "<[\"a\"=6]>", "<[\"a\"=6]>"};
    static const char *const before[] = {"[{\"a\":(3)2, ?}, {?}]", "[{\"a\"}]",
                                         "[{?}, {\"a\", ?}]"};
    fixture *f = *state;
    engine *e = new_engine(f);
    op_case c = case_of(f, e, "([i, l], [li])->([i, l]) {i=8, l=8}", meshes, before);
    const tsr_propagation op = {
        .rule = c.op.rule, .operands = c.shardings, .results = c.shardings + 2};
    const tsr_sharding *after[3] = {NULL};
    engine_changes changes = {.count = 77};
    assert_int_equal(engine_visit(e, &c.op, c.shardings, &changes), TSR_ERR_INVALID);
    assert_int_equal(changes.count, 77);
    expect_message(f, "\"a\":(1)2");
    assert_int_equal(tsr_propagate(f->ctx, f->arena, &op, after, after + 2), TSR_ERR_INVALID);
    assert_null(after[0]);
    expect_message(f, "\"a\":(1)2");
    engine_destroy(e);
}

/* ---- memory ---- */

/* At the fixed point nothing is allocated, nor for a sharding that was given before. */
static void visits_do_not_allocate(void **state)
{
    (void)state;
    failing_heap heap = {.fail_at = -1};
    const tsr_allocator allocator = {failing_heap_resize, &heap};
    fixture f = {0};
    assert_int_equal(tsr_context_create(&allocator, &f.ctx), TSR_OK);
    assert_int_equal(tsr_arena_create(f.ctx, &f.arena), TSR_OK);
    engine *e = new_engine(&f);
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        for (int strategy = 0; strategy < 3; strategy++) {
            const op_case start = case_of(&f, e, examples[i].rule, same_mesh, examples[i].before);
            op_case c = start;
            c.op.strategy = (tsr_strategy)strategy;
            const size_t changes = visit_case(&c);
            const int64_t before = heap.calls;
            for (int n = 0; n < 100; n++) {
                assert_int_equal(visit_case(&c), 0);
                op_case again = start;
                again.op.strategy = c.op.strategy;
                assert_int_equal(visit_case(&again), changes);
            }
            assert_int_equal(heap.calls, before);
        }
    }
    engine_destroy(e);
    tsr_arena_destroy(f.arena);
    tsr_context_destroy(f.ctx);
    assert_int_equal(heap.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(visits_give_interned_shardings), TEST(meshes_in_common),
        TEST(public_call_on_odd_meshes),      TEST(directions_and_the_conservative_flag),
        TEST(decisions_are_recorded),         TEST(wrong_rank),
        TEST(parts_that_do_not_fit),          TEST(visits_do_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
