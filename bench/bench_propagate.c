/*
 * Propagation through one op on a mesh of three axes: visits of the engine at the fixed point and
 * where a result gets its sharding, with what they allocate; the public call on the same ops; and
 * how a visit grows with the rank of an op and with the axes of a mesh.
 */
#include <stdarg.h>
#include <string.h>

#include "bench.h"
#include "factor/engine.h"

enum { VISITS = 200000, MAX_TENSORS = 3, MAX_TEXT = 1024 };

/* ---- an allocator that counts ---- */

static int64_t allocations;

static void *count_resize(void *state, void *old, size_t old_size, size_t new_size)
{
    (void)state;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    allocations++;
    return realloc(old, new_size);
}

/* ---- the ops ---- */

typedef struct bench_op {
    const char *name;
    const char *rule;
    const char *fixed[MAX_TENSORS]; /* at the fixed point: operands, then results */
    bool elementwise;
} bench_op;

static const bench_op ops[] = {
    {"dot",
     "([i, k], [k, j])->([i, j]) {i=1024, j=4096, k=1024} reduction={k}",
     {"[{\"x\", ?}, {\"z\", ?}]", "[{\"z\", ?}, {\"y\", ?}]", "[{\"x\", ?}, {\"y\", ?}]"},
     false},
    {"add",
     "([i, j], [i, j])->([i, j]) {i=1024, j=4096}",
     {"[{\"x\", ?}, {\"y\", \"z\", ?}]", "[{\"x\", ?}, {\"y\", \"z\", ?}]",
      "[{\"x\", ?}, {\"y\", \"z\", ?}]"},
     true},
    {"transpose",
     "([j, k, i])->([i, j, k]) {i=64, j=1024, k=4096}",
     {"[{\"x\", ?}, {\"y\", ?}, {\"z\", ?}]", "[{\"z\", ?}, {\"x\", ?}, {\"y\", ?}]"},
     false},
    {"reshape",
     "([ij, k])->([i, j, k]) {i=2, j=512, k=4096}",
     {"[{\"x\", \"y\", ?}, {\"z\", ?}]", "[{\"x\":(1)2, ?}, {\"x\":(2)2, \"y\", ?}, {\"z\", ?}]"},
     false},
};
enum { NUM_OPS = sizeof ops / sizeof ops[0] };

static const char *const strategy_names[] = {"basic", "aggressive"};

/* An op that is ready to be visited. */
typedef struct ready {
    tsr_context *ctx;
    tsr_arena *arena;
    engine *e;
    visit_op op;
    size_t count;
    const tsr_sharding *fixed[MAX_TENSORS];
    const tsr_sharding *before[MAX_TENSORS]; /* the last result has none yet */
} ready;

static ready make_ready(tsr_context *ctx, const char *mesh_text, const char *rule_string,
                        const char *const *texts)
{
    ready r = {.ctx = ctx};
    const tsr_mesh *mesh = NULL;
    INSIST(tsr_arena_create(ctx, &r.arena) == TSR_OK);
    INSIST(engine_create(ctx, &r.e) == TSR_OK);
    INSIST(tsr_mesh_parse(ctx, r.arena, mesh_text, &mesh) == TSR_OK);
    INSIST(tsr_rule_parse(ctx, r.arena, rule_string, &r.op.rule) == TSR_OK);
    r.count = rule_num_tensors(r.op.rule);
    for (size_t t = 0; t < r.count; t++) {
        const tsr_sharding *given = NULL;
        INSIST(tsr_sharding_parse(ctx, r.arena, mesh, texts[t], &given) == TSR_OK);
        INSIST(engine_intern(r.e, given, &r.fixed[t]) == TSR_OK);
        r.before[t] = t + 1 < r.count ? r.fixed[t] : NULL;
    }
    return r;
}

static void end(ready *r)
{
    engine_destroy(r->e);
    tsr_arena_destroy(r->arena);
}

/* ---- the works ---- */

/* The number of changes; the one change must be the sharding of the fixed point. */
static int64_t visit_once(ready *r, const tsr_sharding *const *shardings)
{
    engine_changes changes = {0};
    INSIST(engine_visit(r->e, &r->op, shardings, &changes) == TSR_OK);
    INSIST(changes.count == 0 || changes.list[0].after == r->fixed[r->count - 1]);
    return (int64_t)changes.count;
}

static int64_t visit_fixed(void *state)
{
    ready *r = state;
    return visit_once(r, r->fixed);
}

static int64_t visit_changing(void *state)
{
    ready *r = state;
    return visit_once(r, r->before);
}

static int64_t call_public(ready *r, const tsr_sharding *const *shardings)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(r->arena);
    const size_t operands = r->op.rule->num_operands;
    const tsr_sharding *after[MAX_TENSORS];
    const tsr_propagation op = {.rule = r->op.rule,
                                .strategy = r->op.strategy,
                                .elementwise = r->op.elementwise,
                                .operands = shardings,
                                .results = shardings + operands};
    INSIST(tsr_propagate(r->ctx, r->arena, &op, after, after + operands) == TSR_OK);
    const int64_t changed = after[r->count - 1] != shardings[r->count - 1];
    INSIST(tsr_sharding_equal(after[r->count - 1], r->fixed[r->count - 1]));
    tsr_arena_reset(r->arena, mark);
    return changed;
}

static int64_t call_fixed(void *state)
{
    ready *r = state;
    return call_public(r, r->fixed);
}

static int64_t call_changing(void *state)
{
    ready *r = state;
    return call_public(r, r->before);
}

/* ---- figures ---- */

static double allocations_of(work w, ready *r)
{
    enum { TIMES = 1000 };
    const int64_t before = allocations;
    for (int i = 0; i < TIMES; i++) {
        (void)w(r);
    }
    return (double)(allocations - before) / TIMES;
}

/* One line for a kind of call on an op: at the fixed point, and where a result changes. */
static void print_pair(const char *bench, const char *name, ready *r, work fixed, work changing,
                       const double *wanted)
{
    timing times[2];
    race(fixed, changing, r, VISITS, &times[0], &times[1]);
    INSIST(times[0].answer == 0 && times[1].answer == 1);
    const double none = times[0].median * 1e6;
    const double some = times[1].median * 1e6;
    printf("{\"bench\": \"%s\", \"case\": \"%s\", \"strategy\": \"%s\", "
           "\"fixed_microseconds\": %.3f, \"fixed_allocations\": %g, "
           "\"changing_microseconds\": %.3f, \"changing_allocations\": %g, \"spread\": %.2f",
           bench, name, strategy_names[r->op.strategy], none, allocations_of(fixed, r), some,
           allocations_of(changing, r), times[0].spread);
    if (wanted != NULL) {
        printf(", \"wanted\": [%g, %g], \"met\": %s", wanted[0], wanted[1],
               none <= wanted[0] && some <= wanted[1] ? "true" : "false");
    }
    printf("}\n");
}

static void bench_ops(tsr_context *ctx)
{
    static const double wanted[] = {0.15, 0.5};
    for (size_t i = 0; i < NUM_OPS; i++) {
        ready r = make_ready(ctx, "<[\"x\"=4, \"y\"=2, \"z\"=8]>", ops[i].rule, ops[i].fixed);
        r.op.elementwise = ops[i].elementwise;
        for (int strategy = 0; strategy < 2; strategy++) {
            r.op.strategy = (tsr_strategy)strategy;
            print_pair("visit of an op", ops[i].name, &r, visit_fixed, visit_changing, wanted);
            print_pair("tsr_propagate", ops[i].name, &r, call_fixed, call_changing, NULL);
        }
        end(&r);
    }
}

/* A fixed point at which a conflict keeps an axis from a tensor, so that it is looked for. */
static void bench_conflict(tsr_context *ctx)
{
    static const char *const texts[] = {"[{\"x\"}, {?}]", "[{?}, {\"x\", ?}]", "[{?}, {\"x\", ?}]"};
    ready r = make_ready(ctx, "<[\"x\"=4, \"y\"=2, \"z\"=8]>", ops[0].rule, texts);
    timing times[2];
    race(visit_fixed, visit_fixed, &r, VISITS, &times[0], &times[1]);
    INSIST(times[0].answer == 0);
    printf("{\"bench\": \"visit of an op\", \"case\": \"dot, two factors want one axis\", "
           "\"strategy\": \"basic\", \"fixed_microseconds\": %.3f, \"fixed_allocations\": %g, "
           "\"spread\": %.2f}\n",
           times[0].median * 1e6, allocations_of(visit_fixed, &r), times[0].spread);
    end(&r);
}

enum { SHARDINGS = 4096, AXES = 13 };

/* Interns shardings that differ in their replicated axes. */
static void intern_many(ready *r, const tsr_sharding **out)
{
    const tsr_mesh *mesh = r->fixed[0]->mesh;
    const tsr_dim open = {.open = true, .priority = TSR_NO_PRIORITY};
    for (size_t i = 0; i < SHARDINGS; i++) {
        tsr_axis_ref replicated[AXES];
        size_t count = 0;
        for (size_t axis = 1; axis < AXES; axis++) {
            replicated[count] = tsr_axis_full(mesh, axis);
            count += i >> (axis - 1) & 1;
        }
        const tsr_sharding given = {.mesh = mesh,
                                    .rank = 1,
                                    .dims = &open,
                                    .num_replicated = count,
                                    .replicated = replicated};
        INSIST(engine_intern(r->e, &given, &out[i]) == TSR_OK);
    }
}

/* Gives each of many shardings an axis: every result is new. Seconds for one. */
static double visit_many(tsr_context *ctx)
{
    static const tsr_sharding *many[SHARDINGS];
    static const char *const texts[] = {"[{\"a0\"}]", "[{?}]"};
    ready r = make_ready(ctx,
                         "<[\"a0\"=2, \"a1\"=2, \"a2\"=2, \"a3\"=2, \"a4\"=2, \"a5\"=2, "
                         "\"a6\"=2, \"a7\"=2, \"a8\"=2, \"a9\"=2, \"b\"=2, \"c\"=2, \"d\"=2]>",
                         "([i])->([i]) {i=256}", texts);
    intern_many(&r, many);
    const double start = seconds();
    for (size_t i = 0; i < SHARDINGS; i++) {
        const tsr_sharding *const before[] = {r.fixed[0], many[i]};
        engine_changes changes;
        INSIST(engine_visit(r.e, &r.op, before, &changes) == TSR_OK && changes.count == 1);
    }
    const double taken = (seconds() - start) / SHARDINGS;
    end(&r);
    return taken;
}

static void bench_new(tsr_context *ctx)
{
    double samples[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        samples[i] = visit_many(ctx);
    }
    qsort(samples, ROUNDS, sizeof samples[0], by_value);
    printf("{\"bench\": \"visit of an op\", \"case\": \"identity, its new sharding was not seen "
           "before\", \"strategy\": \"basic\", \"changing_microseconds\": %.3f}\n",
           samples[ROUNDS / 2] * 1e6);
}

/* ---- growth ---- */

typedef struct text {
    char chars[MAX_TEXT];
} text;

static void add(text *t, const char *format, ...)
{
    const size_t used = strlen(t->chars);
    va_list arguments;
    va_start(arguments, format);
    const int more = vsnprintf(t->chars + used, MAX_TEXT - used, format, arguments);
    va_end(arguments);
    INSIST(more >= 0 && used + (size_t)more < MAX_TEXT);
}

/*
 * An elementwise op of a rank, each dimension sharded by `axes` axes. One operand is closed, so
 * that lists are compared: shardings that are the same object have the same lists.
 */
static void grow(tsr_context *ctx, int rank, int axes)
{
    text mesh = {"<["};
    text dims = {""};
    text sizes = {""};
    text open = {"["};
    text closed = {"["};
    text rule = {""};
    text name = {""};
    for (int d = 0; d < rank; d++) {
        const char *comma = d > 0 ? ", " : "";
        add(&dims, "%s%c", comma, 'i' + d);
        add(&sizes, "%s%c=256", comma, 'i' + d);
        add(&open, "%s{", comma);
        add(&closed, "%s{", comma);
        for (int a = 0; a < axes; a++) {
            add(&mesh, "%s\"a%d\"=2", d + a > 0 ? ", " : "", d * axes + a);
            add(&open, "\"a%d\", ", d * axes + a);
            add(&closed, "%s\"a%d\"", a > 0 ? ", " : "", d * axes + a);
        }
        add(&open, "?}");
        add(&closed, "}");
    }
    add(&mesh, "]>");
    add(&open, "]");
    add(&closed, "]");
    add(&rule, "([%s], [%s])->([%s]) {%s}", dims.chars, dims.chars, dims.chars, sizes.chars);
    add(&name, "add of rank %d, axes in each dimension: %d", rank, axes);
    const char *const texts[] = {open.chars, closed.chars, open.chars};
    ready r = make_ready(ctx, mesh.chars, rule.chars, texts);
    r.op.strategy = TSR_STRATEGY_AGGRESSIVE;
    r.op.elementwise = true;
    print_pair("growth of a visit", name.chars, &r, visit_fixed, visit_changing, NULL);
    end(&r);
}

int main(void)
{
    tsr_context *ctx = NULL;
    const tsr_allocator counting = {count_resize, NULL};
    INSIST(tsr_context_create(&counting, &ctx) == TSR_OK);
    bench_ops(ctx);
    bench_conflict(ctx);
    bench_new(ctx);
    for (int rank = 1; rank <= 8; rank *= 2) {
        grow(ctx, rank, 1);
    }
    for (int axes = 2; axes <= 8; axes *= 2) {
        grow(ctx, 2, axes);
    }
    tsr_context_destroy(ctx);
    return 0;
}
