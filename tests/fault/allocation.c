/*
 * Every allocation fails once: whatever call is under way returns TSR_ERR_NOMEM with a diagnostic,
 * leaves its output alone, and nothing leaks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_heap.h"

#include "base/arena.h"
#include "factor/engine.h"
#include "plan/plan.h"

/* Runs one step; false when it failed, having checked how. */
static bool passed(tsr_context *ctx, tsr_status status, const void *output)
{
    if (status >= 0) {
        return true;
    }
    assert_int_equal(status, TSR_ERR_NOMEM);
    assert_null(output);
    const tsr_diagnostic *d = tsr_context_diagnostics(ctx);
    while (d != NULL && d->status != TSR_ERR_NOMEM) {
        d = d->next;
    }
    assert_non_null(d);
    return false;
}

typedef struct scene {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_mesh *mesh;
    const tsr_mesh *listed;
    const tsr_sharding *sharding;
    bool describing; /* an error: without memory its text may be poorer, that is all */
} scene;

typedef bool (*step)(scene *s);

static bool parse_meshes(scene *s)
{
    return passed(s->ctx,
                  tsr_mesh_parse(s->ctx, s->arena, "@m = <[\"x\"=2, \"y\\22\"=4]>", &s->mesh),
                  s->mesh) &&
           passed(s->ctx,
                  tsr_mesh_parse(s->ctx, s->arena,
                                 "<[\"x\"=2, \"y\"=4], device_ids=[5, 1, 0, 4, 7, 6, 2, 3]>",
                                 &s->listed),
                  s->listed);
}

static bool parse_sharding(scene *s)
{
    return passed(s->ctx,
                  tsr_sharding_parse(s->ctx, s->arena, s->mesh,
                                     "[{\"y\\22\":(1)2}:dynamic[3, 5]p1, "
                                     "{\"y\\22\":(2)2}:partitioned[[1, 2], [3, 4]](aligned, "
                                     "owners=[0, 0, 2])], replicated={\"x\"}",
                                     &s->sharding),
                  s->sharding);
}

static bool print_all(scene *s)
{
    const char *text = NULL;
    return passed(s->ctx, tsr_mesh_print(s->ctx, s->arena, s->listed, &text), text) &&
           passed(s->ctx, tsr_sharding_print(s->ctx, s->arena, s->sharding, TSR_PRINT_FULL, &text),
                  NULL);
}

static bool use_table(scene *s)
{
    tsr_mesh_table *table = NULL;
    return passed(s->ctx, tsr_mesh_table_create(s->ctx, s->arena, &table), table) &&
           passed(s->ctx, tsr_mesh_table_add(s->ctx, table, s->mesh), NULL);
}

static bool make_geometry(scene *s)
{
    const tsr_geometry *g = NULL;
    const tsr_devices *holders = NULL;
    const int64_t shape[] = {8, 10};
    const int64_t index[] = {4, 9};
    return passed(s->ctx, tsr_geometry_create(s->ctx, s->arena, s->sharding, 2, shape, &g), g) &&
           passed(s->ctx, tsr_geometry_holders(s->ctx, s->arena, g, index, &holders), holders);
}

/* Of ids in any order, so that devices are listed; device 3 holds nothing. */
static bool draw_pictures(scene *s)
{
    const tsr_sharding *sharding = NULL;
    const tsr_geometry *g = NULL;
    const char *texts[3] = {NULL, NULL, NULL};
    const char *const titles[] = {"title"};
    const int64_t shape[] = {3, 4, 5};
    return passed(s->ctx,
                  tsr_sharding_parse(s->ctx, s->arena, s->listed,
                                     "[{\"y\"}, {\"x\"}:dynamic[1, 3], {}]", &sharding),
                  sharding) &&
           passed(s->ctx, tsr_geometry_create(s->ctx, s->arena, sharding, 3, shape, &g), g) &&
           passed(s->ctx, tsr_picture_text(s->ctx, s->arena, g, NULL, &texts[0]), texts[0]) &&
           passed(s->ctx, tsr_picture_svg(s->ctx, s->arena, g, titles, 1, &texts[1]), texts[1]) &&
           passed(s->ctx, tsr_picture_table(s->ctx, s->arena, g, 0, 8, &texts[2]), texts[2]);
}

static bool change_sharding(scene *s)
{
    const tsr_sharding *out = NULL;
    const tsr_axis_ref x = tsr_axis_full(s->mesh, 0);
    const tsr_mesh *view = NULL;
    if (!passed(s->ctx, tsr_mesh_parse(s->ctx, s->arena, "<[\"d\"=8]>", &view), view) ||
        !passed(s->ctx, tsr_sharding_close(s->ctx, s->arena, s->sharding, &out), out)) {
        return false;
    }
    out = NULL;
    if (!passed(s->ctx, tsr_sharding_remove_axes(s->ctx, s->arena, s->sharding, &x, 1, &out),
                out)) {
        return false;
    }
    out = NULL;
    return passed(s->ctx, tsr_sharding_translate(s->ctx, s->arena, s->sharding, view, &out), out);
}

static bool compare_pending(scene *s)
{
    const tsr_mesh *other = NULL;
    const tsr_sharding *shardings[2] = {NULL, NULL};
    const tsr_geometry *g[2] = {NULL, NULL};
    bool same = false;
    const int64_t shape[] = {8};
    if (!passed(s->ctx,
                tsr_mesh_parse(s->ctx, s->arena,
                               "<[\"x\"=2, \"y\"=4], device_ids=[7, 1, 0, 4, 5, 6, 2, 3]>", &other),
                other)) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!passed(s->ctx,
                    tsr_sharding_parse(s->ctx, s->arena, i == 0 ? s->listed : other,
                                       "[{\"y\"}], unreduced={\"x\"}", &shardings[i]),
                    shardings[i]) ||
            !passed(s->ctx, tsr_geometry_create(s->ctx, s->arena, shardings[i], 1, shape, &g[i]),
                    g[i])) {
            return false;
        }
    }
    return passed(s->ctx, tsr_geometry_same(s->ctx, g[0], g[1], &same), NULL);
}

static bool use_dialects(scene *s)
{
    static const struct {
        tsr_dialect dialect;
        const char *text;
    } cases[] = {
        {TSR_DIALECT_JAX, "P('x', ('y',))"},
        {TSR_DIALECT_DTENSOR, "[Shard(0), Shard(1)]"},
        {TSR_DIALECT_HLO, "{devices=[2,4]<=[8]}"},
    };
    const int64_t shape[] = {8, 8};
    const tsr_mesh *mesh = NULL;
    if (!passed(s->ctx, tsr_mesh_parse(s->ctx, s->arena, "<[\"x\"=2, \"y\"=4]>", &mesh), mesh)) {
        return false;
    }
    const tsr_sharding_reader reader = {.mesh = mesh, .reading = TSR_READ_LENIENT, .rank = 2};
    for (size_t i = 0; i < 3; i++) {
        tsr_text text = tsr_text_of(NULL, cases[i].text);
        const tsr_sharding *out = NULL;
        const char *written = NULL;
        if (!passed(s->ctx,
                    tsr_dialect_read(s->ctx, s->arena, cases[i].dialect, &text, &reader, 2, shape,
                                     &out),
                    out) ||
            !passed(s->ctx,
                    tsr_dialect_write(s->ctx, s->arena, cases[i].dialect, out, shape, &written),
                    written)) {
            return false;
        }
    }
    return true;
}

/* Visits of the engine, with a failure that leaves the changes alone and the engine usable. */
static bool visit_with(scene *s, engine *e, const tsr_rule *rule)
{
    tsr_decisions decisions = {0};
    const visit_op op = {.rule = rule, .decisions = &decisions, .record = s->arena};
    const tsr_sharding *given = NULL;
    const tsr_sharding *shardings[2] = {NULL, NULL};
    engine_changes changes = {.count = 77};
    if (!passed(s->ctx,
                tsr_sharding_parse(s->ctx, s->arena, s->mesh, "[{\"y\\22\", \"x\"}]", &given),
                given) ||
        !passed(s->ctx, engine_intern(e, given, &shardings[0]), shardings[0])) {
        return false;
    }
    const tsr_status status = engine_visit(e, &op, shardings, &changes);
    assert_int_equal(changes.count, status == TSR_OK ? 1 : 77);
    return passed(s->ctx, status, NULL);
}

static bool visit_op_of(scene *s)
{
    const tsr_rule *rule = NULL;
    engine *e = NULL;
    if (!passed(s->ctx, tsr_rule_parse(s->ctx, s->arena, "([ij])->([i, j]) {i=2, j=6}", &rule),
                rule) ||
        !passed(s->ctx, engine_create(s->ctx, &e), e)) {
        return false;
    }
    const bool fine = visit_with(s, e, rule);
    engine_destroy(e);
    return fine;
}

/* The public calls, in rounds by priority, with explicit sizes, and for eager calls. */
static bool propagate_by_call(scene *s)
{
    static const char *const texts[] = {"[{\"x\"}p1, {\"y\\22\":(1)2, ?}]",
                                        "[{?}, {\"y\\22\":(1)2}p2]"};
    const tsr_rule *rule = NULL;
    const tsr_sharding *given[2] = {NULL, NULL};
    const tsr_sharding *operands[2] = {NULL, NULL};
    const tsr_sharding *results[1] = {NULL};
    const int64_t bytes[] = {64, 64, 64};
    const tsr_axis_ref *axes = NULL;
    size_t count = 0;
    if (!passed(s->ctx,
                tsr_rule_parse(s->ctx, s->arena, "([i, j], [i, j])->([i, j]) {i=8, j=8}", &rule),
                rule)) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!passed(s->ctx, tsr_sharding_parse(s->ctx, s->arena, s->mesh, texts[i], &given[i]),
                    given[i])) {
            return false;
        }
    }
    const tsr_propagation op = {.rule = rule, .operands = given};
    const tsr_alignment aligned = {
        .rule = rule, .mesh = s->mesh, .operands = given, .bytes = bytes};
    return passed(s->ctx, tsr_propagate(s->ctx, s->arena, &op, operands, results), results[0]) &&
           passed(s->ctx,
                  tsr_propagate_pending(s->ctx, s->arena, rule, s->mesh, given, &axes, &count),
                  axes) &&
           passed(s->ctx, tsr_propagate_align(s->ctx, s->arena, &aligned, operands), NULL) &&
           passed(s->ctx,
                  tsr_propagate_local(s->ctx, s->arena, rule, s->mesh, operands, TSR_SUM, results),
                  NULL);
}

/* An error needs memory for its message: without it, the error is that memory ran out. */
static bool make_an_error(scene *s)
{
    const tsr_sharding *out = NULL;
    s->describing = true;
    const tsr_status status =
        tsr_sharding_parse(s->ctx, s->arena, s->mesh, "[{\"x\"}, {\"q\"}]", &out);
    assert_true(status == TSR_ERR_INVALID || status == TSR_ERR_NOMEM);
    assert_null(out);
    assert_non_null(tsr_context_diagnostics(s->ctx));
    if (status == TSR_ERR_INVALID) {
        const char *shown = NULL;
        return passed(
            s->ctx,
            tsr_diagnostic_format(s->ctx, s->arena, tsr_context_diagnostics(s->ctx), true, &shown),
            shown);
    }
    return false;
}

/* Three layouts: boxes that are cut, since there are replicas, and a fold. */
static bool make_layouts(scene *s, const tsr_geometry **out)
{
    static const char *const texts[] = {"[{\"y\"}, {}], unreduced={\"x\"}", "[{\"y\"}, {}]",
                                        "[{}, {\"y\":(2)2}]"};
    const int64_t shape[] = {7, 5};
    for (size_t i = 0; i < 3; i++) {
        const tsr_sharding *sharding = NULL;
        out[i] = NULL;
        if (!passed(s->ctx, tsr_sharding_parse(s->ctx, s->arena, s->listed, texts[i], &sharding),
                    sharding) ||
            !passed(s->ctx, tsr_geometry_create(s->ctx, s->arena, sharding, 2, shape, &out[i]),
                    out[i])) {
            return false;
        }
    }
    return true;
}

/* A plan that folds and then cuts, what is said of it, and the parts of its devices. */
static bool use_plans(scene *s)
{
    const tsr_geometry *g[3];
    const tsr_plan *plan = NULL;
    if (!make_layouts(s, g)) {
        return false;
    }
    const tsr_step_spec list[] = {{TSR_STEP_ALL_REDUCE, g[1]}, {TSR_STEP_DIRECT, g[2]}};
    if (!passed(s->ctx, tsr_plan_from_steps(s->ctx, s->arena, g[0], 2, list, TSR_F32, &plan),
                plan)) {
        return false;
    }
    tsr_plan_totals total = {.moved = -1};
    const tsr_status summed = tsr_plan_total(s->ctx, plan, &total);
    assert_true(summed == TSR_OK || total.moved == -1);
    if (!passed(s->ctx, summed, NULL)) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        tsr_step told;
        if (!passed(s->ctx, tsr_plan_step(s->ctx, plan, i, NULL, &told), NULL)) {
            return false;
        }
    }
    size_t moves = 0;
    for (int64_t device = 0; device < 8; device++) {
        plan_part part;
        if (!passed(s->ctx, plan_part_create(s->ctx, s->arena, plan, device, PART_BOTH, &part),
                    NULL)) {
            return false;
        }
        moves += part.num_moves;
    }
    const plan_exchange *second = &plan->steps[1].exchange;
    assert_true(moves > 40 && second->replicas.size == 2);
    plan = NULL;
    return passed(s->ctx, tsr_plan_create(s->ctx, s->arena, g[0], g[2], TSR_F32, &plan), plan);
}

/*
 * A topology by name, fitted, and two routes over it whose layouts are uneven: a search, and one
 * whose devices are listed.
 */
static bool find_routes(scene *s)
{
    static const int64_t shape[] = {12, 7};
    static const char *const texts[] = {"[{\"x\"}, {\"y\\22\"}]", "[{\"y\\22\"}, {}]",
                                        "[{\"x\"}:partitioned[[7], [5]], {}]"};
    const tsr_geometry *g[3] = {NULL, NULL, NULL};
    tsr_route_options options = {.topology = NULL};
    const tsr_route *route = NULL;
    for (size_t i = 0; i < 3; i++) {
        const tsr_sharding *sharding = NULL;
        if (!passed(s->ctx, tsr_sharding_parse(s->ctx, s->arena, s->mesh, texts[i], &sharding),
                    sharding) ||
            !passed(s->ctx, tsr_geometry_create(s->ctx, s->arena, sharding, 2, shape, &g[i]),
                    g[i])) {
            return false;
        }
    }
    const tsr_route *listed = NULL;
    return passed(s->ctx, tsr_topology_find(s->ctx, s->arena, "gpu-pod", &options.topology),
                  options.topology) &&
           passed(s->ctx, tsr_route_find(s->ctx, s->arena, g[0], g[1], TSR_F32, &options, &route),
                  route) &&
           passed(s->ctx, tsr_route_find(s->ctx, s->arena, g[2], g[1], TSR_F32, &options, &listed),
                  listed);
}

static const step steps[] = {parse_meshes,  parse_sharding, print_all,         use_table,
                             make_geometry, draw_pictures,  change_sharding,   compare_pending,
                             use_dialects,  visit_op_of,    propagate_by_call, use_plans,
                             find_routes,   make_an_error};

/* Everything, with the n-th allocation failing; returns whether it was reached. */
static bool run(int64_t fail_at)
{
    failing_heap heap = {.fail_at = fail_at};
    const tsr_allocator allocator = {.resize = failing_heap_resize, .state = &heap};
    scene s = {0};
    bool going = false;
    if (tsr_context_create(&allocator, &s.ctx) == TSR_OK) {
        going =
            context_make_hostile(s.ctx) == TSR_OK && tsr_arena_create(s.ctx, &s.arena) == TSR_OK;
        for (size_t i = 0; going && i < sizeof steps / sizeof steps[0]; i++) {
            going = steps[i](&s);
        }
        tsr_arena_destroy(s.arena);
        tsr_context_destroy(s.ctx);
    }
    assert_int_equal(heap.live, 0);
    assert_true(!going || heap.calls <= fail_at || s.describing);
    return heap.calls > fail_at;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(fail_each_allocation(run) > 700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
