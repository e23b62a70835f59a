#include "layout/cheapest.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "factor/align.h"
#include "layout/attempt.h"
#include "shard/sharding.h"

/* How many ways to give factors axes are compared, at most. */
enum { MAX_WAYS = 256 };

/* The best so far: the lists that a solved inference has. */
typedef struct search {
    inference *x;
    op_request quiet; /* what is asked, with errors of attempts kept apart */
    bool found;
    double seconds;
    bool fallback;
    tsr_reduction kept_kind;
    kept_axes *kept;
    const tsr_sharding **operands; /* stripped, aligned, run */
    const tsr_sharding **results;  /* locals, finals */
} search;

static tsr_status search_begin(inference *x, search *s)
{
    const size_t n = x->r->num_operands;
    const size_t m = x->num_results;
    const tsr_sharding **lists = ARENA_ARRAY(x->arena, const tsr_sharding *, 3 * n + 2 * m);
    *s = (search){.x = x, .kept = ARENA_ARRAY(x->arena, kept_axes, n), .operands = lists};
    if (lists == NULL || s->kept == NULL) {
        return diag_nomem(x->r->ctx);
    }
    s->results = lists + 3 * n;
    return TSR_OK;
}

static void copy_list(const tsr_sharding **to, const tsr_sharding **from, size_t count)
{
    memcpy((void *)to, (const void *)from, count * sizeof *to);
}

/* Keeps a solution if it costs less than the best. */
static tsr_status offer(search *s)
{
    inference *x = s->x;
    const size_t n = x->r->num_operands;
    const size_t m = x->num_results;
    double seconds = 0;
    TSR_TRY(inference_price(x, &seconds));
    if (s->found && seconds >= s->seconds) {
        return TSR_OK;
    }
    s->found = true;
    s->seconds = seconds;
    s->fallback = x->fallback;
    s->kept_kind = x->kept_kind;
    memcpy(s->kept, x->kept, n * sizeof *s->kept);
    copy_list(s->operands, x->stripped, n);
    copy_list(s->operands + n, x->aligned, n);
    copy_list(s->operands + 2 * n, x->run, n);
    copy_list(s->results, x->locals, m);
    copy_list(s->results + m, x->finals, m);
    return TSR_OK;
}

/* Makes the best the solution. */
static void take_best(const search *s)
{
    inference *x = s->x;
    const size_t n = x->r->num_operands;
    const size_t m = x->num_results;
    x->fallback = s->fallback;
    x->kept_kind = s->kept_kind;
    memcpy(x->kept, s->kept, n * sizeof *x->kept);
    copy_list(x->stripped, s->operands, n);
    copy_list(x->aligned, s->operands + n, n);
    copy_list(x->run, s->operands + 2 * n, n);
    copy_list(x->locals, s->results, m);
    copy_list(x->finals, s->results + m, m);
}

/* An attempt that fails, but for memory, is none. */
static tsr_status forgive(tsr_status status)
{
    return status == TSR_ERR_NOMEM ? status : TSR_OK;
}

/* Tries operands that have been aligned. */
static tsr_status attempt(search *s, bool reshard)
{
    inference *x = s->x;
    bool fits = false;
    x->fallback = false;
    tsr_status status = attempt_run(x);
    if (status == TSR_OK) {
        status = attempt_finish(x, reshard, &fits);
    }
    return status == TSR_OK && fits ? offer(s) : forgive(status);
}

static tsr_status attempt_strategy(search *s, tsr_strategy strategy)
{
    const tsr_status status = inference_solve_by(s->x, strategy);
    return status == TSR_OK ? offer(s) : forgive(status);
}

static tsr_status attempt_way(void *state, const tsr_sharding *const *aligned)
{
    search *s = state;
    memcpy((void *)s->x->aligned, (const void *)aligned,
           s->x->r->num_operands * sizeof *s->x->aligned);
    return attempt(s, true);
}

/* Tries every way to give factors axes, with what may stay pending or without. */
static tsr_status attempt_all_ways(search *s, bool keep)
{
    inference *x = s->x;
    tsr_alignment op;
    TSR_TRY(attempt_strip(x, keep));
    if (attempt_can_stay(x)) {
        TSR_TRY(attempt_way(s, x->stripped));
    }
    TSR_TRY(attempt_alignment(x, &op));
    return align_each(x->r->ctx, x->arena, &op, MAX_WAYS, attempt_way, s);
}

static bool any_pending(const inference *x)
{
    bool any = false;
    for (size_t i = 0; i < x->r->num_operands; i++) {
        any = any || x->on_mesh[i]->num_unreduced > 0;
    }
    return any;
}

static tsr_status search_all(search *s)
{
    static const tsr_strategy others[] = {TSR_STRATEGY_AGGRESSIVE, TSR_STRATEGY_BASIC,
                                          TSR_STRATEGY_MOST_PARALLEL};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        TSR_TRY(attempt_strategy(s, others[i]));
    }
    s->x->strategy = TSR_STRATEGY_AGGRESSIVE;
    if (s->x->rule == NULL) {
        return TSR_OK;
    }
    TSR_TRY(attempt_all_ways(s, true));
    return any_pending(s->x) ? attempt_all_ways(s, false) : TSR_OK;
}

tsr_status cheapest_solve(inference *x)
{
    const op_request *asked = x->r;
    search s;
    TSR_TRY(search_begin(x, &s));
    s.quiet = *asked;
    TSR_TRY(context_create_like(asked->ctx, &s.quiet.ctx));
    x->r = &s.quiet;
    const tsr_status status = search_all(&s);
    x->r = asked;
    tsr_context_destroy(s.quiet.ctx);
    if (status < 0) {
        return status == TSR_ERR_NOMEM ? diag_nomem(asked->ctx) : status;
    }
    if (!s.found) {
        return inference_solve_by(x, TSR_STRATEGY_AGGRESSIVE);
    }
    x->strategy = TSR_STRATEGY_CHEAPEST;
    take_best(&s);
    return TSR_OK;
}
