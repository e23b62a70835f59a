#include "plan/search.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"

/* The source and the destination are the first states of a set. */
enum { SOURCE = 0, TARGET = 1 };

/* How many steps without enumeration take as long as one coordinate does. */
enum { EFFORT = 4 };

/*
 * How many coordinates are enumerated for a step, but for the one from source to destination. Large
 * meshes only have steps that need next to none.
 */
enum { MAX_CASES = 1 << 12, LARGE_MESH = 1 << 12, LARGE_MESH_CASES = 16 };

/* What is known of a state. */
typedef struct node {
    plan_cost cost; /* of the cheapest sequence so far */
    state_view view;
    int64_t copy; /* nanoseconds of the slice that leads to it */
    int64_t rest; /* the lower bound to the destination; -1: not computed */
    size_t parent;
    bool reached;
    bool final;
} node;

/* An open state, ordered by what a whole sequence through it takes at least. */
typedef struct entry {
    plan_cost least;
    size_t state;
} entry;

typedef struct search {
    tsr_context *ctx;
    tsr_arena *arena;
    tsr_arena *scratch;
    const plan_space *space;
    const search_rules *rules;
    state_set set;
    node *nodes;
    entry *heap;
    size_t heap_count;
    size_t heap_capacity;
    int64_t priced;
    int64_t latency;  /* nanoseconds of the fastest round */
    plan_space quick; /* the space with a maximum of coordinates */
    bool skipped;     /* a step or a bound took more coordinates */
} search;

int plan_cost_compare(const plan_cost *a, const plan_cost *b)
{
    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    for (size_t l = 0; l < TSR_MAX_LEVELS; l++) {
        if (a->bytes[l] != b->bytes[l]) {
            return a->bytes[l] < b->bytes[l] ? -1 : 1;
        }
    }
    return (a->steps > b->steps) - (a->steps < b->steps);
}

static int64_t saturating_add(int64_t a, int64_t b)
{
    int64_t sum = INT64_MAX;
    (void)checked_add(a, b, &sum);
    return sum;
}

plan_cost plan_cost_add(const plan_cost *cost, const state_step *step)
{
    plan_cost out = *cost;
    out.time = saturating_add(out.time, step->time);
    for (size_t l = 0; l < TSR_MAX_LEVELS; l++) {
        out.bytes[l] = saturating_add(out.bytes[l], step->work.bytes[l]);
    }
    out.steps++;
    return out;
}

static int64_t pages(int64_t bytes)
{
    const int64_t whole = ceil_div(bytes, SEARCH_PAGE);
    return whole <= INT64_MAX / SEARCH_PAGE ? whole * SEARCH_PAGE : INT64_MAX;
}

int64_t search_live_bytes(const search_rules *rules, int64_t source, int64_t from, int64_t to,
                          const state_step *step, bool first)
{
    const int64_t kept = first || rules->donated ? 0 : pages(source);
    const int64_t both = saturating_add(pages(from), pages(to));
    return saturating_add(saturating_add(kept, both), pages(step->workspace));
}

/* ---- the heap ---- */

static bool is_before(const entry *a, const entry *b)
{
    const int order = plan_cost_compare(&a->least, &b->least);
    return order != 0 ? order < 0 : a->state < b->state;
}

static bool heap_reserve(search *s)
{
    if (s->heap_count < s->heap_capacity) {
        return true;
    }
    const size_t capacity = s->heap_capacity > 0 ? 2 * s->heap_capacity : 64;
    entry *larger = ARENA_ARRAY(s->arena, entry, capacity);
    if (larger == NULL) {
        return false;
    }
    if (s->heap_count > 0) {
        memcpy(larger, s->heap, s->heap_count * sizeof *larger);
    }
    s->heap = larger;
    s->heap_capacity = capacity;
    return true;
}

static void heap_push(search *s, const entry *e)
{
    size_t at = s->heap_count++;
    while (at > 0 && is_before(e, &s->heap[(at - 1) / 2])) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = *e;
}

static entry heap_pop(search *s)
{
    const entry first = s->heap[0];
    const entry last = s->heap[--s->heap_count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= s->heap_count) {
            break;
        }
        if (child + 1 < s->heap_count && is_before(&s->heap[child + 1], &s->heap[child])) {
            child++;
        }
        if (!is_before(&s->heap[child], &last)) {
            break;
        }
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    return first;
}

/* ---- the search ---- */

/* The lower bound from a state, computed once. */
static tsr_status rest_of(search *s, size_t state, int64_t *out)
{
    node *n = &s->nodes[state];
    if (n->rest < 0) {
        const plan_space *space = state == SOURCE ? s->space : &s->quick;
        bool counted = true;
        TSR_TRY(lacking_bound(s->ctx, s->scratch, space, &n->view, &s->nodes[TARGET].view, &n->rest,
                              &counted));
        s->skipped = s->skipped || !counted;
    }
    *out = n->rest;
    return TSR_OK;
}

/* Records a cheaper sequence to a state. */
static tsr_status reach(search *s, size_t from, size_t to, const plan_cost *cost)
{
    node *n = &s->nodes[to];
    entry e = {.least = *cost, .state = to};
    int64_t rest = 0;
    if (n->reached && plan_cost_compare(cost, &n->cost) >= 0) {
        return TSR_OK;
    }
    TSR_TRY(rest_of(s, to, &rest));
    n->cost = *cost;
    n->parent = from;
    n->reached = true;
    e.least.time = saturating_add(e.least.time, rest);
    if (!heap_reserve(s)) {
        return diag_nomem(s->ctx);
    }
    heap_push(s, &e);
    return TSR_OK;
}

/* Whether a sequence through a state can be as cheap as the one to the destination so far. */
static tsr_status may_lead(search *s, const plan_cost *before, size_t state, bool *out)
{
    const node *target = &s->nodes[TARGET];
    int64_t rest = 0;
    *out = !target->reached || before->time <= target->cost.time;
    if (*out && target->reached && state != TARGET) {
        TSR_TRY(rest_of(s, state, &rest));
        *out = saturating_add(before->time, rest) <= target->cost.time;
    }
    return TSR_OK;
}

/* The longest time of a step by which a state can be reached as cheaply as it is. */
static int64_t longest_step(const search *s, const node *from, const node *to)
{
    const node *target = &s->nodes[TARGET];
    int64_t limit = to->reached ? to->cost.time : INT64_MAX;
    if (target->reached && to->rest >= 0) {
        limit = min_i64(limit, target->cost.time - to->rest);
    }
    return limit < INT64_MAX ? limit - from->cost.time : INT64_MAX;
}

static tsr_status try_step(search *s, size_t from, size_t to)
{
    const node *a = &s->nodes[from];
    const node *b = &s->nodes[to];
    state_step step;
    bool found = false;
    TSR_TRY(may_lead(s, &a->cost, to, &found));
    const int64_t limit = longest_step(s, a, b);
    s->priced++;
    if (!found || limit < min_i64(s->latency, b->copy)) {
        return TSR_OK;
    }
    const plan_space *space = from == SOURCE && to == TARGET ? s->space : &s->quick;
    TSR_TRY(state_step_find(s->ctx, s->scratch, space, &a->view, &b->view, limit, &step, &found));
    s->skipped = s->skipped || step.skipped;
    s->priced += EFFORT * step.effort;
    if (!found) {
        return TSR_OK;
    }
    const int64_t live = search_live_bytes(s->rules, s->nodes[SOURCE].view.bytes, a->view.bytes,
                                           b->view.bytes, &step, from == SOURCE);
    if (s->rules->memory >= 0 && live > s->rules->memory) {
        return TSR_OK;
    }
    const plan_cost cost = plan_cost_add(&a->cost, &step);
    TSR_TRY(may_lead(s, &cost, to, &found));
    return found ? reach(s, from, to, &cost) : TSR_OK;
}

/* Takes up the steps from a state; the one to the destination first, which limits the others. */
static tsr_status expand(search *s, size_t from)
{
    TSR_TRY(try_step(s, from, TARGET));
    for (size_t to = 0; to < s->set.count && s->priced < s->rules->quota; to++) {
        if (to != TARGET && to != from && !s->nodes[to].final) {
            TSR_TRY(try_step(s, from, to));
        }
    }
    return TSR_OK;
}

static tsr_status follow(search *s, search_result *out)
{
    size_t count = 0;
    for (size_t at = TARGET; at != SOURCE; at = s->nodes[at].parent) {
        count++;
    }
    out->num_steps = count;
    out->states = ARENA_ARRAY(s->arena, plan_state, count + 1);
    out->steps = ARENA_ARRAY(s->arena, state_step, count + 1);
    if (out->states == NULL || out->steps == NULL) {
        return diag_nomem(s->ctx);
    }
    for (size_t at = TARGET, i = count; i > 0; i--) {
        bool found = false;
        out->states[i] = s->set.states[at];
        TSR_TRY(state_step_find(s->ctx, s->scratch, s->space, &s->nodes[s->nodes[at].parent].view,
                                &s->nodes[at].view, INT64_MAX, &out->steps[i - 1], &found));
        at = s->nodes[at].parent;
    }
    out->states[0] = s->set.states[SOURCE];
    out->cost = s->nodes[TARGET].cost;
    return TSR_OK;
}

/* Takes up states until the destination is the next one, or the quota is used up. */
static tsr_status take_up(search *s, search_result *out)
{
    while (s->heap_count > 0) {
        const entry e = heap_pop(s);
        node *n = &s->nodes[e.state];
        if (n->final) {
            continue;
        }
        n->final = true;
        out->bound = max_i64(out->bound, e.least.time);
        if (e.state == TARGET) {
            out->proven = s->set.complete && !s->skipped;
            return TSR_OK;
        }
        TSR_TRY(expand(s, e.state));
        if (s->priced >= s->rules->quota) {
            return TSR_OK;
        }
    }
    return TSR_OK;
}

static tsr_status prepare(search *s)
{
    const plan_space *space = s->space;
    plan_state ends[2];
    TSR_TRY(state_of_geometry(s->ctx, space, space->src, NULL, &ends[0]));
    TSR_TRY(state_of_geometry(s->ctx, space, space->dst, &ends[0], &ends[1]));
    const int64_t larger = max_i64(state_bytes(space, &ends[0]), state_bytes(space, &ends[1]));
    TSR_TRY(states_list(s->ctx, s->arena, space, s->rules->any_layout ? -1 : larger,
                        s->rules->max_states, &s->set));
    s->nodes = ARENA_ARRAY(s->arena, node, s->set.count);
    state_dim *dims = ARENA_ARRAY(s->arena, state_dim, s->set.count * space->rank + 1);
    if (s->nodes == NULL || dims == NULL) {
        return diag_nomem(s->ctx);
    }
    for (size_t i = 0; i < s->set.count; i++) {
        node *n = &s->nodes[i];
        *n = (node){.rest = -1,
                    .view = state_view_of(space, &s->set.states[i], dims + i * space->rank)};
        n->copy = level_nanoseconds(&space->topology, &(level_work){.copied = n->view.bytes});
    }
    s->latency = INT64_MAX;
    for (size_t l = 0; l < space->topology.num_levels; l++) {
        s->latency = min_i64(s->latency, space->topology.levels[l].latency / 1000);
    }
    return TSR_OK;
}

static tsr_status run(search *s, search_result *out)
{
    const plan_cost nothing = {.time = 0};
    *out = (search_result){.found = false};
    s->quick = *s->space;
    const uint32_t all = (1u << s->space->num_atoms) - 1;
    const bool large = atoms_product(s->space, all) > LARGE_MESH;
    s->quick.max_cases = large ? LARGE_MESH_CASES : MAX_CASES;
    TSR_TRY(prepare(s));
    out->num_states = s->set.count;
    TSR_TRY(rest_of(s, SOURCE, &out->lower));
    s->nodes[SOURCE].reached = true;
    if (state_equal(&s->set.states[SOURCE], &s->set.states[TARGET])) {
        out->found = true;
        out->proven = true;
        out->states = arena_copy(s->arena, s->set.states, 1, sizeof *out->states);
        return out->states != NULL ? TSR_OK : diag_nomem(s->ctx);
    }
    s->nodes[SOURCE].reached = false;
    TSR_TRY(reach(s, SOURCE, SOURCE, &nothing));
    TSR_TRY(take_up(s, out));
    out->found = s->nodes[TARGET].reached;
    if (!s->set.complete || s->skipped) {
        out->bound = out->lower;
    }
    return out->found ? follow(s, out) : TSR_OK;
}

tsr_status search_run(tsr_context *ctx, tsr_arena *arena, const plan_space *space,
                      const search_rules *rules, search_result *out)
{
    search s = {.ctx = ctx, .arena = arena, .space = space, .rules = rules};
    TSR_TRY(tsr_arena_create(ctx, &s.scratch));
    const tsr_status status = run(&s, out);
    tsr_arena_destroy(s.scratch);
    return status;
}
