/* The public calls of tessera/route.h: a search, and what other ways would have cost. */
#include <tessera/route.h>

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/guard.h"
#include "plan/greedy.h"
#include "plan/plan.h"
#include "plan/route.h"

enum { DEFAULT_QUOTA = 1000000, MAX_STATES = 50000 };

/* What one route is made from. */
typedef struct route_maker {
    tsr_context *ctx;
    tsr_arena *arena;
    plan_space space;
    search_rules rules;
    search_result found;
    greedy_result greedy;
    tsr_route *route;
} route_maker;

/* Whether the rows of every shard are contiguous. */
static bool is_contiguous(const tsr_geometry *g)
{
    bool all = true;
    for (size_t d = 0; d < g->rank; d++) {
        all = all && g->dims[d].ragged == NULL;
    }
    return all;
}

static search_rules rules_of(const tsr_route_options *o)
{
    return (search_rules){.memory = o->memory > 0 ? o->memory : -1,
                          .donated = o->donated,
                          .any_layout = o->any_layout,
                          .quota = o->quota > 0 ? o->quota : DEFAULT_QUOTA,
                          .max_states = MAX_STATES};
}

/* The fitted topology, and the atoms; TSR_NOT_APPLICABLE where devices have to be listed. */
static tsr_status prepare(route_maker *m, const tsr_geometry *src, const tsr_geometry *dst,
                          tsr_dtype dtype, const tsr_route_options *o, const tsr_topology **fitted)
{
    const tsr_topology *topology = o->topology;
    TSR_TRY(plan_check_pair(m->ctx, src, dst));
    TSR_TRY(geometry_check_bound(m->ctx, src));
    TSR_TRY(geometry_check_bound(m->ctx, dst));
    if (topology == NULL) {
        TSR_TRY(tsr_topology_find(m->ctx, m->arena, NULL, &topology));
    }
    TSR_TRY(tsr_topology_fit(m->ctx, m->arena, topology, tsr_mesh_num_devices(src->sharding->mesh),
                             fitted));
    m->space = (plan_space){.topology = tsr_topology_facts(*fitted),
                            .src = src,
                            .dst = dst,
                            .rank = src->rank,
                            .shape = src->shape,
                            .item = tsr_dtype_item_bytes(dtype),
                            .program = o->vocabulary == TSR_VOCABULARY_PROGRAM};
    m->rules = rules_of(o);
    return is_contiguous(src) && is_contiguous(dst) ? atoms_find(m->ctx, &m->space)
                                                    : TSR_NOT_APPLICABLE;
}

/* The route where there are no atoms, or only some. */
static tsr_status make_listed(route_maker *m, const tsr_topology *fitted, tsr_dtype dtype)
{
    const route_request q = {.ctx = m->ctx,
                             .arena = m->arena,
                             .topology = fitted,
                             .src = m->space.src,
                             .dst = m->space.dst,
                             .dtype = dtype,
                             .rules = m->rules};
    if (m->space.program) {
        return diag_error(m->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "the axes of the two layouts and the levels of the topology have no "
                          "common parts, device ids are an arbitrary list, or a dimension is "
                          "unaligned: only a direct exchange leads there, which programs do not "
                          "have");
    }
    return route_by_devices(&q, &m->route);
}

/* Why no sequence of steps was found. */
static tsr_status fail_route(const route_maker *m)
{
    plan_state src;
    plan_state dst;
    TSR_TRY(state_of_geometry(m->ctx, &m->space, m->space.src, NULL, &src));
    TSR_TRY(state_of_geometry(m->ctx, &m->space, m->space.dst, &src, &dst));
    if ((dst.pending & ~src.pending) != 0) {
        return diag_error(m->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "the destination has a sum pending that the source has not; no step "
                          "makes a sum pending: convert the tensor by name instead");
    }
    if (m->rules.memory >= 0) {
        return diag_error(m->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "no sequence of steps is within %lld live bytes of a device; allow more, "
                          "or donate the source",
                          (long long)m->rules.memory);
    }
    return diag_error(m->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                      "no sequence of %s steps leads to the destination%s",
                      m->space.program ? "program" : "runtime",
                      m->rules.any_layout ? ""
                                          : " without a layout larger than both ends; allow any "
                                            "layout");
}

/* ---- layouts ---- */

static void add_ref(const tsr_mesh *mesh, tsr_axis_ref ref, tsr_axis_ref *refs, size_t *count)
{
    tsr_axis_ref merged;
    if (*count > 0 && tsr_axis_merge(mesh, refs[*count - 1], ref, &merged)) {
        refs[*count - 1] = merged;
    } else {
        refs[(*count)++] = ref;
    }
}

/* A state without held atoms as a sharding of the source mesh. */
static tsr_status make_sharding(const route_maker *m, const plan_state *s, const tsr_sharding **out)
{
    const tsr_mesh *mesh = m->space.src->sharding->mesh;
    tsr_axis_ref refs[ATOMS_MAX];
    tsr_axis_ref pending[ATOMS_MAX];
    tsr_dim dims[ATOMS_MAX_RANK];
    size_t used = 0;
    size_t num_pending = 0;
    for (size_t d = 0; d < m->space.rank; d++) {
        const state_dim dim = state_dim_of(&m->space, s, d);
        size_t count = 0;
        for (size_t i = 0; i < dim.list.count; i++) {
            add_ref(mesh, m->space.atoms[dim.list.atoms[i]].ref, refs + used, &count);
        }
        dims[d] = tsr_dim_closed(refs + used, count);
        /* Axes of size 1 are not atoms: without others the dimension is whole. */
        dims[d].ragged =
            dim.sized != NULL && count > 0 ? dim.sized->sharding->dims[d].ragged : NULL;
        used += count;
    }
    for (size_t i = 0; i < m->space.num_atoms; i++) {
        if ((s->pending >> i & 1) != 0) {
            add_ref(mesh, m->space.atoms[i].ref, pending, &num_pending);
        }
    }
    const tsr_sharding_spec spec = {.mesh = mesh,
                                    .rank = m->space.rank,
                                    .dims = dims,
                                    .num_unreduced = num_pending,
                                    .unreduced = pending,
                                    .reduction = num_pending > 0 ? m->space.src->sharding->reduction
                                                                 : TSR_SUM};
    return tsr_sharding_create(m->ctx, m->arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

/* The text of a state with held atoms, which are in parentheses. */
static tsr_status print_held(const route_maker *m, const plan_state *s, const char **out)
{
    const tsr_mesh *mesh = m->space.src->sharding->mesh;
    buffer buf = buffer_new(m->arena);
    buffer_char(&buf, '[');
    for (size_t d = 0; d < m->space.rank; d++) {
        const atom_list list = state_list(s, d);
        buffer_string(&buf, d > 0 ? ", {" : "{");
        for (size_t i = 0; i < list.count; i++) {
            const bool held = (s->held >> list.atoms[i] & 1) != 0;
            buffer_string(&buf, i > 0 ? ", " : "");
            buffer_string(&buf, held ? "(" : "");
            axis_print(&buf, mesh, m->space.atoms[list.atoms[i]].ref);
            buffer_string(&buf, held ? ")" : "");
        }
        buffer_char(&buf, '}');
    }
    buffer_char(&buf, ']');
    const char *separator = ", unreduced={";
    for (size_t i = 0; i < m->space.num_atoms; i++) {
        if ((s->pending >> i & 1) != 0) {
            buffer_string(&buf, separator);
            axis_print(&buf, mesh, m->space.atoms[i].ref);
            separator = ", ";
        }
    }
    buffer_string(&buf, s->pending != 0 ? "}" : "");
    return buffer_finish(m->ctx, &buf, out);
}

static tsr_status make_layout(const route_maker *m, size_t index, tsr_route_step *out)
{
    const plan_state *s = &m->found.states[index + 1];
    if (s->held != 0) {
        return print_held(m, s, &out->layout);
    }
    if (index + 1 == m->found.num_steps) {
        out->sharding = m->space.dst->sharding;
    } else {
        TSR_TRY(make_sharding(m, s, &out->sharding));
    }
    return tsr_sharding_print(m->ctx, m->arena, out->sharding, TSR_PRINT_BARE, &out->layout);
}

/* ---- steps ---- */

static tsr_status list_axes(const route_maker *m, uint32_t atoms, tsr_route_step *out)
{
    tsr_axis_ref refs[ATOMS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < m->space.num_atoms; i++) {
        if ((atoms >> i & 1) != 0) {
            add_ref(m->space.src->sharding->mesh, m->space.atoms[i].ref, refs, &count);
        }
    }
    out->axes = arena_copy(m->arena, refs, count, sizeof *refs);
    out->num_axes = count;
    return out->axes != NULL ? TSR_OK : diag_nomem(m->ctx);
}

static tsr_status make_step(const route_maker *m, size_t index, tsr_route_step *out)
{
    const state_step *step = &m->found.steps[index];
    const plan_space *space = &m->space;
    const size_t levels = space->topology.num_levels;
    *out = (tsr_route_step){
        .kind = step->kind,
        .algorithm = step->algorithm,
        .padded = step->padded,
        .bytes = arena_copy(m->arena, step->work.bytes, levels, sizeof *out->bytes),
        .rounds = arena_copy(m->arena, step->work.rounds, levels, sizeof *out->rounds),
        .reduced = step->work.reduced,
        .copied = step->work.copied,
        .nanoseconds = step->time,
        .live_bytes =
            search_live_bytes(&m->rules, state_bytes(space, &m->found.states[0]),
                              state_bytes(space, &m->found.states[index]),
                              state_bytes(space, &m->found.states[index + 1]), step, index == 0)};
    if (out->bytes == NULL || out->rounds == NULL) {
        return diag_nomem(m->ctx);
    }
    TSR_TRY(list_axes(m, step->atoms, out));
    return make_layout(m, index, out);
}

static tsr_status make_steps(const route_maker *m)
{
    tsr_route_step *steps = ARENA_ARRAY(m->arena, tsr_route_step, m->found.num_steps + 1);
    tsr_route_facts *facts = &m->route->facts;
    if (steps == NULL) {
        return diag_nomem(m->ctx);
    }
    facts->live_bytes = state_bytes(&m->space, &m->found.states[0]);
    for (size_t i = 0; i < m->found.num_steps; i++) {
        TSR_TRY(make_step(m, i, &steps[i]));
        facts->live_bytes = max_i64(facts->live_bytes, steps[i].live_bytes);
    }
    m->route->steps = steps;
    return TSR_OK;
}

/* ---- other ways ---- */

static tsr_status compare_one_step(const route_maker *m, tsr_arena *scratch, const plan_state *src,
                                   const plan_state *dst)
{
    tsr_route_facts *facts = &m->route->facts;
    plan_space runtime = m->space;
    state_dim dims[2][ATOMS_MAX_RANK];
    const state_view from = state_view_of(&m->space, src, dims[0]);
    const state_view to = state_view_of(&m->space, dst, dims[1]);
    state_step step;
    bool found = false;
    runtime.program = false;
    TSR_TRY(state_step_direct(m->ctx, scratch, &runtime, &from, &to, &step, &found));
    facts->direct = found ? step.time : -1;
    TSR_TRY(state_step_collective(m->ctx, scratch, &m->space, &from, &to, &step, &found));
    facts->collective = found ? step.time : -1;
    return TSR_OK;
}

static tsr_status compare_others(const route_maker *m)
{
    tsr_route_facts *facts = &m->route->facts;
    tsr_arena *scratch = NULL;
    plan_state ends[2];
    TSR_TRY(state_of_geometry(m->ctx, &m->space, m->space.src, NULL, &ends[0]));
    TSR_TRY(state_of_geometry(m->ctx, &m->space, m->space.dst, &ends[0], &ends[1]));
    TSR_TRY(tsr_arena_create(m->ctx, &scratch));
    tsr_status status = TSR_OK;
    if (m->found.num_steps > 0) {
        status = compare_one_step(m, scratch, &ends[0], &ends[1]);
    }
    tsr_arena_destroy(scratch);
    facts->greedy = m->greedy.found ? m->greedy.time : -1;
    facts->greedy_obeys = m->greedy.found && m->greedy.obeys;
    return status;
}

static tsr_status find_greedy(route_maker *m)
{
    tsr_arena *scratch = NULL;
    plan_state ends[2];
    TSR_TRY(state_of_geometry(m->ctx, &m->space, m->space.src, NULL, &ends[0]));
    TSR_TRY(state_of_geometry(m->ctx, &m->space, m->space.dst, &ends[0], &ends[1]));
    TSR_TRY(tsr_arena_create(m->ctx, &scratch));
    const tsr_status status =
        greedy_plan(m->ctx, scratch, &m->space, &m->rules, &ends[0], &ends[1], &m->greedy);
    tsr_arena_destroy(scratch);
    return status;
}

/* A search that did not end takes the greedy plan where that is better than what it has found. */
static void take_greedy(route_maker *m)
{
    search_result *r = &m->found;
    greedy_result *g = &m->greedy;
    if (r->proven || !g->found || !g->obeys || (r->found && r->cost.time <= g->time)) {
        return;
    }
    r->found = true;
    r->num_steps = g->num_steps;
    r->states = g->states;
    r->steps = g->steps;
    r->cost = (plan_cost){.time = 0};
    for (size_t i = 0; i < g->num_steps; i++) {
        r->cost = plan_cost_add(&r->cost, &g->steps[i]);
    }
}

static tsr_status make_route(route_maker *m, const tsr_topology *fitted)
{
    const size_t levels = m->space.topology.num_levels;
    const search_result *r = &m->found;
    TSR_TRY(search_run(m->ctx, m->arena, &m->space, &m->rules, &m->found));
    TSR_TRY(find_greedy(m));
    take_greedy(m);
    if (!r->found) {
        return fail_route(m);
    }
    m->route = ARENA_NEW(m->arena, tsr_route);
    const int64_t *bytes = arena_copy(m->arena, r->cost.bytes, levels, sizeof *bytes);
    if (m->route == NULL || bytes == NULL) {
        return diag_nomem(m->ctx);
    }
    const int64_t rounding = (int64_t)r->num_steps;
    m->route->facts = (tsr_route_facts){.topology = fitted,
                                        .num_steps = r->num_steps,
                                        .nanoseconds = r->cost.time,
                                        .bytes = bytes,
                                        .lower_bound = r->lower,
                                        .bound_met = r->cost.time - r->lower <= rounding,
                                        .proven = r->proven,
                                        .gap = r->proven ? 0 : r->cost.time - r->bound,
                                        .num_layouts = r->num_states};
    TSR_TRY(make_steps(m));
    return compare_others(m);
}

tsr_status tsr_route_find(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *src,
                          const tsr_geometry *dst, tsr_dtype dtype,
                          const tsr_route_options *options, const tsr_route **out)
{
    GUARD(tsr_route_find);
    static const tsr_route_options usual = {.memory = 0};
    route_maker m = {.ctx = ctx, .arena = arena};
    const tsr_topology *fitted = NULL;
    const tsr_route_options *o = options != NULL ? options : &usual;
    if (o->memory < 0 || o->quota < 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the memory and the quota of a route must be at least 0, got: %lld and "
                          "%lld",
                          (long long)o->memory, (long long)o->quota);
    }
    tsr_status status = prepare(&m, src, dst, dtype, o, &fitted);
    if (status == TSR_OK) {
        status = make_route(&m, fitted);
    } else if (status == TSR_NOT_APPLICABLE) {
        status = make_listed(&m, fitted, dtype);
    }
    if (status == TSR_OK) {
        *out = m.route;
    }
    return status;
}

tsr_route_facts tsr_route_describe(const tsr_route *route)
{
    GUARD(tsr_route_describe);
    return route->facts;
}

tsr_route_step tsr_route_step_at(const tsr_route *route, size_t index)
{
    GUARD(tsr_route_step_at);
    return index < route->facts.num_steps ? route->steps[index] : (tsr_route_step){.layout = NULL};
}
