/*
 * Layout inference: the layouts that are chosen by price against those of the other strategies, and
 * against an enumeration of what the operands could be brought to; what every strategy gives
 * against the rule.
 */
#include <stdio.h>
#include <string.h>

#include "factor/rule.h"
#include "layout/inference.h"
#include "mesh/mesh.h"
#include "shard/sharding.h"
#include "slices.h"
#include "use.h"

enum { STRATEGIES = 3, MAX_FACTORS = 16, MAX_LISTS = 8 };

/* ---- prices ---- */

/* Over a link: what tsr_plan_step says of each step of the plan. */
typedef struct link_prices {
    tsr_context *ctx;
    tsr_link link;
    int64_t asked;
} link_prices;

static tsr_status price_move(void *state, const op_type *type, const tsr_sharding *from,
                             const tsr_sharding *to, double *seconds)
{
    link_prices *p = state;
    tsr_arena *arena = NULL;
    const tsr_geometry *src = NULL;
    const tsr_geometry *dst = NULL;
    const tsr_plan *plan = NULL;
    p->asked++;
    *seconds = 0;
    assert_int_equal(tsr_arena_create(p->ctx, &arena), TSR_OK);
    assert_int_equal(tsr_geometry_create(p->ctx, arena, from, type->rank, type->shape, &src),
                     TSR_OK);
    assert_int_equal(tsr_geometry_create(p->ctx, arena, to, type->rank, type->shape, &dst), TSR_OK);
    assert_int_equal(tsr_plan_create(p->ctx, arena, src, dst, type->dtype, &plan), TSR_OK);
    for (size_t i = 0; i < tsr_plan_num_steps(plan); i++) {
        tsr_step step;
        assert_int_equal(tsr_plan_step(p->ctx, plan, i, &p->link, &step), TSR_OK);
        *seconds += step.seconds;
    }
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static double price_compute(void *state, const op_type *result, double points)
{
    const link_prices *p = state;
    return points * (double)tsr_dtype_item_bytes(result->dtype) * p->link.gamma;
}

/* Whether two devices hold the same shards of all operands and results. */
static bool compute_the_same(const inference *x, int64_t a, int64_t b)
{
    bool same = true;
    for (size_t t = 0; t < x->r->num_operands + x->num_results; t++) {
        const tsr_sharding *s =
            t < x->r->num_operands ? x->aligned[t] : x->locals[t - x->r->num_operands];
        for (size_t d = 0; d < s->rank; d++) {
            const tsr_dim *dim = &s->dims[d];
            same = same && index_along(s->mesh, dim->axes, dim->num_axes, a) ==
                               index_along(s->mesh, dim->axes, dim->num_axes, b);
        }
    }
    return same;
}

/* The points of all factors, over the devices that compute different ones. */
static double points_of(const inference *x)
{
    double points = 1;
    int64_t parts = 0;
    for (int64_t i = 0; i < tsr_mesh_num_devices(x->mesh); i++) {
        bool first = true;
        for (int64_t k = 0; first && k < i; k++) {
            first = !compute_the_same(x, tsr_mesh_device_at(x->mesh, i),
                                      tsr_mesh_device_at(x->mesh, k));
        }
        parts += first;
    }
    for (size_t f = 0; f < x->rule->num_factors; f++) {
        points *= (double)rule_factor_size(x->rule, f);
    }
    return points / (double)parts;
}

static const tsr_sharding *completed(fixture *f, const tsr_sharding *s)
{
    const tsr_sharding_spec spec = {.mesh = s->mesh, .rank = s->rank, .dims = s->dims};
    const tsr_sharding *out = NULL;
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE, &out),
                     TSR_OK);
    return out;
}

/* A result as it is while its sums are pending: those of 16 bits are kept in f32. */
static op_type in_pending_type(const op_type *result, const tsr_sharding *s)
{
    op_type kept = *result;
    const bool narrow = result->dtype == TSR_F16 || result->dtype == TSR_BF16;
    const bool adds = s->reduction == TSR_SUM || s->reduction == TSR_AVG;
    kept.dtype = narrow && adds ? TSR_F32 : result->dtype;
    return kept;
}

/*
 * What a solution costs: all that moves, what is computed, and the completion of what is pending in
 * the results.
 */
static double price_of(fixture *f, link_prices *p, const inference *x)
{
    double one = 0;
    double sum = x->rule != NULL ? price_compute(p, &x->results[0], points_of(x)) : 0;
    for (size_t i = 0; i < x->r->num_operands; i++) {
        (void)price_move(p, &x->r->operands[i], x->given[i], x->run[i], &one);
        sum += tsr_sharding_equal(x->given[i], x->run[i]) ? 0 : one;
    }
    for (size_t k = 0; k < x->num_results; k++) {
        const tsr_sharding *whole = completed(f, x->finals[k]);
        const op_type kept = in_pending_type(&x->results[k], x->finals[k]);
        const bool pends = x->locals[k]->num_unreduced > 0;
        (void)price_move(p, pends ? &kept : &x->results[k], x->locals[k], x->finals[k], &one);
        sum += tsr_sharding_equal(x->locals[k], x->finals[k]) ? 0 : one;
        (void)price_move(p, &kept, x->finals[k], whole, &one);
        sum += x->finals[k]->num_unreduced > 0 ? one : 0;
    }
    return sum;
}

/* ---- uses ---- */

/* A use of an op with a sharding for each operand. */
typedef struct sample {
    sharded_use u;
    op_request request;
    const tsr_sharding *given[USE_TENSORS];
} sample;

/* Operands without a sharding are replicated; all are closed, as those of tensors are. */
static bool draw(fixture *f, rng *r, const op_row *row, sample *s)
{
    if (!use_draw(f, row, (use_limits){false, false}, r, &s->u) || s->u.num_operands == 0) {
        return false;
    }
    s->request = instance_request(f, &s->u.i);
    for (size_t i = 0; i < s->u.num_operands; i++) {
        const tsr_sharding *before = s->u.before[i];
        tsr_dim dims[OP_MAX_RANK];
        for (size_t d = 0; before != NULL && d < before->rank; d++) {
            dims[d] = tsr_dim_closed(before->dims[d].axes, before->dims[d].num_axes);
        }
        const tsr_sharding_spec spec = {.mesh = s->u.mesh,
                                        .rank = s->u.i.operands[i].rank,
                                        .dims = dims,
                                        .num_unreduced = before != NULL ? before->num_unreduced : 0,
                                        .unreduced = before != NULL ? before->unreduced : NULL};
        if (before == NULL) {
            assert_int_equal(tsr_sharding_replicated_over(f->ctx, f->arena, s->u.mesh, spec.rank,
                                                          false, &s->given[i]),
                             TSR_OK);
        } else if (tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE,
                                       &s->given[i]) != TSR_OK) {
            tsr_context_clear(f->ctx);
            return false;
        }
    }
    return tsr_mesh_num_devices(s->u.mesh) <= 64;
}

/*
 * False where operands have parts of an axis that cannot be in one sharding, which is an error of
 * the call.
 */
static bool solve(fixture *f, const sample *s, tsr_strategy strategy,
                  const inference_prices *prices, inference *x)
{
    *x = (inference){.r = &s->request,
                     .results = s->u.i.results,
                     .num_results = s->u.num_tensors - s->u.num_operands,
                     .given = s->given,
                     .strategy = strategy,
                     .prices = prices,
                     .arena = f->arena};
    assert_int_equal(inference_begin(x), TSR_OK);
    const tsr_status status = inference_solve(x);
    if (status != TSR_OK) {
        assert_non_null(strstr(tsr_context_diagnostics(f->ctx)->text, "cannot coexist"));
        tsr_context_clear(f->ctx);
    }
    return status == TSR_OK;
}

/* The rule allows what was chosen, and gives those results. */
static void check_runs(fixture *f, const inference *x)
{
    const tsr_sharding *locals[USE_TENSORS];
    const tsr_reduction kind = x->r->row->reduces != NULL ? x->r->row->reduces(x->r) : TSR_SUM;
    if (x->fallback || x->rule == NULL) {
        return;
    }
    assert_int_equal(
        tsr_propagate_local(f->ctx, f->arena, x->local_rule, x->mesh, x->aligned, kind, locals),
        TSR_OK);
    for (size_t k = 0; k < x->num_results; k++) {
        assert_true(tsr_sharding_equal(completed(f, locals[k]), completed(f, x->locals[k])));
    }
    for (size_t i = 0; i < x->r->num_operands; i++) {
        assert_true(tsr_sharding_equal(completed(f, x->run[i]), completed(f, x->aligned[i])));
    }
}

/* How much was seen. */
static struct {
    int64_t uses;
    int64_t cheaper[STRATEGIES];
    int64_t enumerated;
    int64_t equal; /* to the enumerated least */
    int64_t ways;
} seen;

/* ---- against the other strategies ---- */

static void check_strategies(fixture *f, const sample *s, link_prices *p)
{
    const inference_prices prices = {p, price_move, price_compute};
    inference best;
    if (!solve(f, s, TSR_STRATEGY_CHEAPEST, &prices, &best)) {
        return;
    }
    const double least = price_of(f, p, &best);
    double own = -1;
    assert_int_equal(inference_price(&best, &own), TSR_OK);
    assert_true(own >= least * (1 - 1e-9) - 1e-18 && own <= least * (1 + 1e-9) + 1e-18);
    check_runs(f, &best);
    for (int i = 0; i < STRATEGIES; i++) {
        inference other;
        if (!solve(f, s, (tsr_strategy)i, NULL, &other)) {
            continue;
        }
        const double price = price_of(f, p, &other);
        check_runs(f, &other);
        assert_true(least <= price * (1 + 1e-9) + 1e-18);
        seen.cheaper[i] += least < price * (1 - 1e-9);
    }
    seen.uses++;
}

static void no_strategy_is_cheaper(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("no_strategy_is_cheaper");
    link_prices p = {.ctx = f->ctx};
    static sample s;
    for (int64_t i = 0; i < prop_heavy_cases(24000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        p.link = tsr_link_default(rng_chance(&r, 50) ? TSR_MEDIUM_SHARED : TSR_MEDIUM_MESSAGES);
        if (draw(f, &r, op_at((size_t)i % op_count()), &s)) {
            check_strategies(f, &s, &p);
        }
        tsr_arena_reset(f->arena, mark);
    }
    printf("%lld uses, cheaper than basic %lld, aggressive %lld, most-parallel %lld times\n",
           (long long)seen.uses, (long long)seen.cheaper[0], (long long)seen.cheaper[1],
           (long long)seen.cheaper[2]);
    assert_true(seen.uses > 2000);
    for (int i = 0; i < STRATEGIES; i++) {
        assert_true(seen.cheaper[i] > 20);
    }
}

/* ---- against enumeration ---- */

/* What some operand has for a factor: lists of axes, the first of which is empty. */
typedef struct factor_lists {
    size_t count;
    const tsr_dim *dims[MAX_LISTS];
} factor_lists;

/* Whether every dimension is one factor, so that a factor's axes are those of a dimension. */
static bool is_simple(const tsr_rule *rule, size_t num_tensors)
{
    bool simple = rule->num_factors <= MAX_FACTORS;
    for (size_t t = 0; t < num_tensors; t++) {
        for (size_t d = 0; d < rule->tensors[t].rank; d++) {
            simple = simple && rule->tensors[t].dims[d].num_factors <= 1;
        }
    }
    return simple;
}

static void list_axes(const inference *x, factor_lists *lists)
{
    static const tsr_dim none = {0};
    for (size_t f = 0; f < x->rule->num_factors; f++) {
        lists[f] = (factor_lists){1, {&none}};
    }
    for (size_t t = 0; t < x->r->num_operands; t++) {
        const tsr_rule_tensor *of = &x->rule->tensors[t];
        for (size_t d = 0; d < of->rank; d++) {
            const tsr_dim *dim = &x->given[t]->dims[d];
            if (of->dims[d].num_factors == 1 && dim->num_axes > 0) {
                factor_lists *to = &lists[of->dims[d].factors[0]];
                assert_true(to->count < MAX_LISTS);
                to->dims[to->count++] = dim;
            }
        }
    }
}

/* The layouts of operands where each factor has the axes of one list; false if there are none. */
static bool place(fixture *f, const inference *x, const factor_lists *lists, const size_t *way,
                  const tsr_sharding **out)
{
    for (size_t t = 0; t < x->r->num_operands; t++) {
        const tsr_rule_tensor *of = &x->rule->tensors[t];
        tsr_dim dims[OP_MAX_RANK];
        for (size_t d = 0; d < of->rank; d++) {
            const tsr_dim *dim =
                of->dims[d].num_factors == 1
                    ? lists[of->dims[d].factors[0]].dims[way[of->dims[d].factors[0]]]
                    : lists[0].dims[0];
            dims[d] = tsr_dim_closed(dim->axes, dim->num_axes);
        }
        const tsr_sharding_spec spec = {.mesh = x->mesh, .rank = of->rank, .dims = dims};
        if (tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE, &out[t]) !=
            TSR_OK) {
            tsr_context_clear(f->ctx);
            return false;
        }
    }
    return true;
}

/* The price of a way; negative where the op does not run so. */
static double price_of_way(fixture *f, link_prices *p, const inference *x,
                           const factor_lists *lists, const size_t *way)
{
    const tsr_sharding *operands[USE_TENSORS];
    const tsr_sharding *locals[USE_TENSORS];
    const tsr_reduction kind = x->r->row->reduces != NULL ? x->r->row->reduces(x->r) : TSR_SUM;
    double points = 1;
    double one = 0;
    if (!place(f, x, lists, way, operands) ||
        tsr_propagate_local(f->ctx, f->arena, x->local_rule, x->mesh, operands, kind, locals) !=
            TSR_OK) {
        tsr_context_clear(f->ctx);
        return -1;
    }
    for (size_t k = 0; k < x->rule->num_factors; k++) {
        const tsr_dim *dim = lists[k].dims[way[k]];
        points *=
            (double)rule_factor_size(x->rule, k) / (double)tsr_axes_size(dim->axes, dim->num_axes);
    }
    double sum = price_compute(p, &x->results[0], points);
    for (size_t i = 0; i < x->r->num_operands; i++) {
        if (!tsr_sharding_equal(x->given[i], operands[i])) {
            (void)price_move(p, &x->r->operands[i], x->given[i], operands[i], &one);
            sum += one;
        }
    }
    for (size_t k = 0; k < x->num_results; k++) {
        (void)price_move(p, &x->results[k], locals[k], completed(f, locals[k]), &one);
        sum += locals[k]->num_unreduced > 0 ? one : 0;
    }
    return sum;
}

/* The least of all ways in which each factor has the axes of one operand, or none. */
static double least_of_all(fixture *f, link_prices *p, const inference *x)
{
    static factor_lists lists[MAX_FACTORS];
    size_t way[MAX_FACTORS] = {0};
    const size_t count = x->rule->num_factors;
    double least = -1;
    list_axes(x, lists);
    for (;;) {
        const double price = price_of_way(f, p, x, lists, way);
        seen.ways++;
        least = price >= 0 && (least < 0 || price < least) ? price : least;
        size_t k = count;
        while (k > 0 && ++way[k - 1] == lists[k - 1].count) {
            way[--k] = 0;
        }
        if (k == 0) {
            return least;
        }
    }
}

static bool any_pending(const sample *s)
{
    bool any = false;
    for (size_t i = 0; i < s->u.num_operands; i++) {
        any = any || s->given[i]->num_unreduced > 0;
    }
    return any;
}

/*
 * Ops whose dimensions are one factor each, nothing pending before: no way to bring each operand to
 * a layout made of what operands have costs less. Slices are free here, since results may be cut.
 */
static void nothing_enumerated_is_cheaper(void **state)
{
    static const char *const rows[] = {"dot_general", "add",    "select",
                                       "transpose",   "reduce", "concatenate"};
    fixture *f = *state;
    const rng base = rng_start("nothing_enumerated_is_cheaper");
    link_prices p = {.ctx = f->ctx, .link = {.alpha = 1e-6, .beta = 1e-10, .gamma = 1e-10}};
    const inference_prices prices = {&p, price_move, price_compute};
    static sample s;
    for (int64_t i = 0; i < prop_heavy_cases(12000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        const op_row *row = op_find(rows[i % 6]);
        assert_non_null(row);
        inference best;
        if (draw(f, &r, row, &s) && !any_pending(&s) && is_simple(s.u.rule, s.u.num_tensors) &&
            solve(f, &s, TSR_STRATEGY_CHEAPEST, &prices, &best)) {
            const double least = least_of_all(f, &p, &best);
            const double price = price_of(f, &p, &best);
            assert_true(least < 0 || price <= least * (1 + 1e-9) + 1e-18);
            seen.enumerated++;
            seen.equal += price >= least * (1 - 1e-9);
        }
        tsr_arena_reset(f->arena, mark);
    }
    printf("%lld uses, %lld ways, the least of them %lld times\n", (long long)seen.enumerated,
           (long long)seen.ways, (long long)seen.equal);
    assert_true(seen.enumerated > 500 && seen.ways > 2 * seen.enumerated);
    assert_true(seen.equal > seen.enumerated / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_strategy_is_cheaper),
        TEST(nothing_enumerated_is_cheaper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
