/*
 * Visits of the engine on random uses of every op: what comes out is what the public call gives and
 * keeps every rule of shardings, nothing is lost, the answer is the same each time, and visits come
 * to a fixed point at once.
 */
#include <string.h>

#include "factor/engine.h"
#include "use.h"

typedef struct visited {
    const tsr_sharding *before[USE_TENSORS];
    const tsr_sharding *after[USE_TENSORS];
} visited;

static visit_op op_of(const sharded_use *u, tsr_strategy strategy)
{
    const tsr_propagation op = use_propagation(u, strategy);
    return (visit_op){.rule = op.rule,
                      .strategy = op.strategy,
                      .conservative = op.conservative,
                      .elementwise = op.elementwise};
}

/* Whether all sizes of a mesh are powers of 2, so that of two parts one divides the other. */
static bool has_powers_of_2(const tsr_mesh *mesh)
{
    bool powers = true;
    for (size_t a = 0; a < tsr_mesh_num_axes(mesh); a++) {
        const int64_t size = tsr_mesh_axis_size(mesh, a);
        powers = powers && (size & (size - 1)) == 0;
    }
    return powers;
}

/*
 * A second visit changes nothing; where parts of an axis start together and none divides the other,
 * "x":(1)2 and "x":(1)3, a third.
 */
static void expect_fixed_point(engine *e, const sharded_use *u, const visit_op *op,
                               const tsr_sharding *const *after)
{
    const tsr_sharding *again[USE_TENSORS];
    engine_changes changes;
    memcpy(again, after, sizeof again);
    assert_int_equal(engine_visit(e, op, again, &changes), TSR_OK);
    assert_true(changes.count == 0 || !has_powers_of_2(u->mesh));
    for (size_t c = 0; c < changes.count; c++) {
        again[changes.list[c].tensor] = changes.list[c].after;
    }
    assert_int_equal(engine_visit(e, op, again, &changes), TSR_OK);
    assert_int_equal(changes.count, 0);
}

static void visit_use(engine *e, const sharded_use *u, tsr_strategy strategy, visited *v)
{
    const visit_op op = op_of(u, strategy);
    engine_changes changes;
    for (size_t t = 0; t < u->num_tensors; t++) {
        v->before[t] = NULL;
        if (u->before[t] != NULL) {
            assert_int_equal(engine_intern(e, u->before[t], &v->before[t]), TSR_OK);
        }
        v->after[t] = v->before[t];
    }
    assert_int_equal(engine_visit(e, &op, v->before, &changes), TSR_OK);
    for (size_t c = 0; c < changes.count; c++) {
        const engine_change *change = &changes.list[c];
        assert_true(c == 0 || change->tensor > changes.list[c - 1].tensor);
        assert_ptr_equal(change->before, v->before[change->tensor]);
        assert_ptr_not_equal(change->before, change->after);
        v->after[change->tensor] = change->after;
    }
    expect_fixed_point(e, u, &op, v->after);
}

static bool same_axes(const tsr_axis_ref *a, size_t count_a, const tsr_axis_ref *b, size_t count_b)
{
    return tsr_axes_equal(a, count_a, b, count_b);
}

/* Axes are only added, to open dimensions; openness and the lists stay. */
static void expect_growth(const tsr_sharding *before, const tsr_sharding *after)
{
    for (size_t d = 0; d < before->rank; d++) {
        const tsr_dim *was = &before->dims[d];
        const tsr_dim *is = &after->dims[d];
        const bool same = same_axes(was->axes, was->num_axes, is->axes, is->num_axes);
        assert_int_equal(was->open, is->open);
        assert_true(same || (was->open && tsr_axes_is_strict_prefix(was->axes, was->num_axes,
                                                                    is->axes, is->num_axes)));
    }
    assert_true(same_axes(before->replicated, before->num_replicated, after->replicated,
                          after->num_replicated));
    assert_true(same_axes(before->unreduced, before->num_unreduced, after->unreduced,
                          after->num_unreduced));
    assert_int_equal(before->reduction, after->reduction);
}

/* A sharding that was built without verification passes it. */
static void expect_valid(fixture *f, const tsr_sharding *s)
{
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = s->dims,
                                    .num_replicated = s->num_replicated,
                                    .replicated = s->replicated,
                                    .num_unreduced = s->num_unreduced,
                                    .unreduced = s->unreduced,
                                    .reduction = s->reduction};
    const tsr_sharding *verified = NULL;
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_DEFAULT, &verified),
                     TSR_OK);
    assert_true(tsr_sharding_equal(verified, s));
}

static void expect_public(fixture *f, const sharded_use *u, tsr_strategy strategy, const visited *v)
{
    const tsr_propagation op = use_propagation(u, strategy);
    const tsr_sharding *after[USE_TENSORS];
    assert_int_equal(tsr_propagate(f->ctx, f->arena, &op, after, after + u->num_operands), TSR_OK);
    for (size_t t = 0; t < u->num_tensors; t++) {
        assert_int_equal(after[t] == NULL, v->after[t] == NULL);
        assert_int_equal(after[t] == u->before[t], v->after[t] == v->before[t]);
        assert_true(after[t] == NULL || tsr_sharding_equal(after[t], v->after[t]));
    }
}

static void check_use(fixture *f, engine *const *engines, const sharded_use *u,
                      tsr_strategy strategy, size_t *changed)
{
    visited v[2];
    for (size_t k = 0; k < 2; k++) {
        visit_use(engines[k], u, strategy, &v[k]);
    }
    expect_public(f, u, strategy, &v[0]);
    for (size_t t = 0; t < u->num_tensors; t++) {
        const tsr_sharding *after = v[0].after[t];
        assert_int_equal(after == NULL, v[1].after[t] == NULL);
        if (after != NULL) {
            assert_true(tsr_sharding_equal(after, v[1].after[t]));
            expect_valid(f, after);
        }
        if (v[0].before[t] != NULL) {
            expect_growth(v[0].before[t], after);
        }
        *changed += after != v[0].before[t] ? 1 : 0;
    }
}

static void visits_of_every_op(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("visits_of_every_op");
    engine *engines[2] = {NULL};
    size_t changed = 0;
    size_t uses = 0;
    uint64_t drawn = 0;
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(engine_create(f->ctx, &engines[k]), TSR_OK);
    }
    for (int64_t n = 0; n < prop_cases(40); n++) {
        for (size_t k = 0; k < op_count(); k++) {
            rng r = rng_case(&base, drawn++);
            const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
            sharded_use u;
            const use_limits limits = {.conservative = rng_chance(&r, 25)};
            if (use_draw(f, op_at(k), limits, &r, &u)) {
                check_use(f, engines, &u, (tsr_strategy)rng_below(&r, 3), &changed);
                uses++;
            }
            tsr_context_clear(f->ctx);
            tsr_arena_reset(f->arena, mark);
        }
    }
    assert_true(uses > 1000 && changed > uses / 4);
    for (size_t k = 0; k < 2; k++) {
        engine_destroy(engines[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(visits_of_every_op)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
