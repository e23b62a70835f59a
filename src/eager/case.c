#include "eager/case.h"

#include "eager/agree.h"
#include "eager/price.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "layout/inference.h"
#include "mesh/groups.h"
#include "mesh/mesh.h"

op_type type_of_layout(const tensor_layout *layout)
{
    const tsr_geometry *g = layout->geometry;
    return (op_type){.dtype = layout->dtype, .rank = g->rank, .shape = g->shape};
}

/* A case that is being worked out. */
typedef struct planning {
    eager *e;
    tensor_layout *const *given;
    op_type *results;
    inference x;
} planning;

static tsr_status layout_for(const planning *p, const tsr_sharding *s, const op_type *type,
                             tensor_layout **out)
{
    const tsr_tensor_spec spec = {s, type->dtype, type->rank, type->shape};
    return layout_get(p->e->world, &spec, NULL, out);
}

/* Whether some rank may store rows that are not part of the tensor: the same on all of them. */
static bool may_pad(const tsr_sharding *s)
{
    for (size_t d = 0; d < s->rank; d++) {
        if (s->dims[d].ragged != NULL && s->dims[d].ragged->alignment > 1) {
            return true;
        }
    }
    return false;
}

/* The layout that an operand needs, and whether an element moves for it. */
static tsr_status finish_operand(const planning *p, op_case *c, size_t i)
{
    const inference *x = &p->x;
    bool same = false;
    if (x->run[i] == x->given[i]) {
        c->run[i] = layout_retain(&p->e->world->state->layouts, p->given[i]);
        return TSR_OK;
    }
    TSR_TRY(layout_for(p, x->run[i], &x->r->operands[i], &c->run[i]));
    TSR_TRY(tsr_geometry_same(x->r->ctx, p->given[i]->geometry, c->run[i]->geometry, &same));
    c->moves[i] = !same || may_pad(x->given[i]);
    c->any_moves = c->any_moves || c->moves[i];
    return TSR_OK;
}

/* Whether this rank is the first of those along the axes that the op itself leaves pending. */
static tsr_status find_first(const planning *p, op_case *c)
{
    const inference *x = &p->x;
    const tsr_mesh *mesh = x->locals[0]->mesh;
    tsr_axis_ref own[MAX_PENDING];
    const size_t count = inference_own_pending(x, own);
    places along;
    TSR_TRY(places_along(x->r->ctx, x->arena, mesh, own, count, &along));
    c->first = places_index(&along, tsr_mesh_place_of(mesh, p->e->world->rank)) == 0;
    return TSR_OK;
}

static tsr_status finish_case(const planning *p, op_case *c)
{
    const inference *x = &p->x;
    for (size_t i = 0; i < x->r->num_operands; i++) {
        TSR_TRY(finish_operand(p, c, i));
    }
    for (size_t k = 0; k < x->num_results; k++) {
        TSR_TRY(layout_for(p, x->locals[k], &p->results[k], &c->results[k]));
        TSR_TRY(layout_for(p, x->finals[k], &p->results[k], &c->finals[k]));
    }
    c->fallback = x->fallback && c->any_moves;
    return find_first(p, c);
}

/* On a single device there is nothing to lay out. */
static tsr_status finish_maximal(const planning *p, op_case *c)
{
    for (size_t i = 0; i < p->x.r->num_operands; i++) {
        c->run[i] = layout_retain(&p->e->world->state->layouts, p->given[i]);
    }
    for (size_t k = 0; k < p->x.num_results; k++) {
        TSR_TRY(layout_for(p, p->x.given[0], &p->results[k], &c->results[k]));
        TSR_TRY(layout_for(p, p->x.given[0], &p->results[k], &c->finals[k]));
    }
    c->first = true;
    return TSR_OK;
}

/* The types of the results, in a scope of typed code. */
static tsr_status find_types(const planning *p, op_case *c)
{
    return c->typed_key == 0
               ? TSR_OK
               : typed_infer(p->e, p->x.r, c->given_types, p->x.rule, p->results, c->result_types);
}

static tsr_status work_out(planning *p, op_case *c)
{
    const op_request *r = p->x.r;
    TSR_TRY(r->row->types(r, p->results));
    TSR_TRY(op_check_supported(r, p->results));
    if (tsr_mesh_is_maximal(p->x.given[0]->mesh)) {
        return finish_maximal(p, c);
    }
    TSR_TRY(inference_begin(&p->x));
    TSR_TRY(find_types(p, c));
    TSR_TRY(inference_solve(&p->x));
    return finish_case(p, c);
}

static void case_destroy(eager *e, op_case *c)
{
    layout_table *table = &e->world->state->layouts;
    for (size_t i = 0; i < c->num_operands; i++) {
        layout_release(table, c->given[i]);
        if (c->run[i] != NULL) {
            layout_release(table, c->run[i]);
        }
    }
    for (size_t k = 0; k < c->num_results; k++) {
        if (c->results[k] != NULL) {
            layout_release(table, c->results[k]);
        }
        if (c->finals[k] != NULL) {
            layout_release(table, c->finals[k]);
        }
    }
    for (size_t i = 0; i < c->num_operands; i++) {
        typed_release(e, c->given_types[i]);
    }
    for (size_t k = 0; k < c->num_results; k++) {
        typed_release(e, c->result_types[k]);
    }
    tsr_arena_destroy(c->arena);
}

void cases_clear(eager *e)
{
    for (size_t i = 0; i < CASE_BUCKETS; i++) {
        while (e->cases.buckets[i] != NULL) {
            op_case *c = e->cases.buckets[i];
            e->cases.buckets[i] = c->next;
            case_destroy(e, c);
        }
    }
    e->cases.count = 0;
}

/* The lists of a case, empty. */
static tsr_status case_init(eager *e, op_case *c, const op_request *r, tensor_layout *const *given,
                            const typed_record *const *types)
{
    const size_t n = r->num_operands;
    const size_t m = op_num_results(r->row, n);
    tensor_layout **lists = ARENA_ARRAY(c->arena, tensor_layout *, 2 * n + 2 * m);
    c->moves = ARENA_ARRAY(c->arena, bool, n);
    c->given_types = ARENA_ARRAY(c->arena, const typed_record *, n);
    c->result_types = ARENA_ARRAY(c->arena, const typed_record *, m);
    c->typed_key = typed_key(e);
    if (lists == NULL || c->moves == NULL || c->given_types == NULL || c->result_types == NULL) {
        return diag_nomem(r->ctx);
    }
    TSR_TRY(op_params_copy(r->ctx, c->arena, r->row->fields, r->params, &c->params));
    memset((void *)lists, 0, (2 * n + 2 * m) * sizeof *lists);
    memset(c->moves, 0, n * sizeof *c->moves);
    memset((void *)c->result_types, 0, m * sizeof *c->result_types);
    memcpy((void *)c->given_types, (const void *)types, n * sizeof *types);
    c->given = lists;
    c->run = lists + n;
    c->results = lists + 2 * n;
    c->finals = lists + 2 * n + m;
    c->row = r->row;
    c->strategy = e->strategy;
    c->num_operands = n;
    c->num_results = m;
    for (size_t i = 0; i < n; i++) {
        c->given[i] = layout_retain(&e->world->state->layouts, given[i]);
        typed_retain(e, types[i]);
    }
    return TSR_OK;
}

static tsr_status plan_in(eager *e, const op_request *asked, tensor_layout *const *given,
                          op_case *c)
{
    const size_t n = asked->num_operands;
    op_request r = *asked;
    op_type *types = ARENA_ARRAY(e->arena, op_type, n + c->num_results);
    const tsr_sharding **shardings = ARENA_ARRAY(e->arena, const tsr_sharding *, n);
    tsr_dtype *pending = ARENA_ARRAY(e->arena, tsr_dtype, n);
    if (types == NULL || shardings == NULL || pending == NULL) {
        return diag_nomem(r.ctx);
    }
    for (size_t i = 0; i < n; i++) {
        types[i] = type_of_layout(given[i]);
        shardings[i] = given[i]->geometry->sharding;
        pending[i] = given[i]->pending;
    }
    r.operands = types;
    r.arena = e->arena;
    planning p = {.e = e, .given = given, .results = types + n};
    const inference_prices prices = price_table(e);
    p.x = (inference){.r = &r,
                      .results = p.results,
                      .num_results = c->num_results,
                      .given = shardings,
                      .pending = pending,
                      .strategy = e->strategy,
                      .prices = &prices,
                      .arena = e->arena};
    return work_out(&p, c);
}

static tsr_status case_make(eager *e, const op_request *r, tensor_layout *const *given,
                            const typed_record *const *types, op_case **out)
{
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(r->ctx, &arena));
    op_case *c = ARENA_NEW(arena, op_case);
    if (c == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(r->ctx);
    }
    *c = (op_case){.arena = arena};
    tsr_status status = case_init(e, c, r, given, types);
    if (status < 0) {
        tsr_arena_destroy(arena);
        return status;
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    status = plan_in(e, r, given, c);
    tsr_arena_reset(e->arena, mark);
    if (status < 0) {
        memset((void *)c->result_types, 0, c->num_results * sizeof *c->result_types);
        case_destroy(e, c);
        return status;
    }
    for (size_t k = 0; k < c->num_results; k++) {
        typed_retain(e, c->result_types[k]);
    }
    *out = c;
    return TSR_OK;
}

static uint64_t call_hash_of(const op_case *c)
{
    tsr_tensor_spec specs[EAGER_MAX_OPERANDS];
    for (size_t i = 0; i < c->num_operands; i++) {
        specs[i] = spec_of_layout(c->given[i]);
    }
    const local_call what = {.op = c->row->name,
                             .fields = c->row->fields,
                             .params = c->params,
                             .num_tensors = c->num_operands,
                             .tensors = specs};
    return hash_call(&what);
}

static uint64_t hash_of(const eager *e, const op_request *r, tensor_layout *const *given,
                        const typed_record *const *types)
{
    const uint64_t seed = (uint64_t)(uintptr_t)r->row ^ (uint64_t)e->strategy;
    const uint64_t hash = hash_bytes((const void *)given, r->num_operands * sizeof *given,
                                     op_params_hash(r->row->fields, r->params, seed));
    return is_typing(e) ? hash_bytes((const void *)types, r->num_operands * sizeof *types, hash)
                        : hash;
}

static bool is_of(const op_case *c, const eager *e, const op_request *r,
                  tensor_layout *const *given, const typed_record *const *types)
{
    const uint64_t key = typed_key(e);
    return c->typed_key == key && c->num_operands == r->num_operands &&
           (key == 0 || memcmp((const void *)c->given_types, (const void *)types,
                               r->num_operands * sizeof *types) == 0) &&
           c->row == r->row && c->strategy == e->strategy &&
           memcmp((const void *)c->given, (const void *)given, c->num_operands * sizeof *given) ==
               0 &&
           op_params_equal(r->row->fields, c->params, r->params);
}

tsr_status case_get(eager *e, const op_request *r, tensor_layout *const *given,
                    const typed_record *const *types, const op_case **out)
{
    if (e->strategy == TSR_STRATEGY_CHEAPEST) {
        price_refresh(e);
    }
    const uint64_t hash = hash_of(e, r, given, types);
    for (op_case *c = e->cases.buckets[hash % CASE_BUCKETS]; c != NULL; c = c->next) {
        if (c->hash == hash && is_of(c, e, r, given, types)) {
            *out = c;
            return TSR_OK;
        }
    }
    if (e->cases.count >= MAX_CASES) {
        cases_clear(e);
    }
    op_case *fresh = NULL;
    TSR_TRY(case_make(e, r, given, types, &fresh));
    fresh->hash = hash;
    fresh->call_hash = call_hash_of(fresh);
    fresh->next = e->cases.buckets[hash % CASE_BUCKETS];
    e->cases.buckets[hash % CASE_BUCKETS] = fresh;
    e->cases.count++;
    *out = fresh;
    return TSR_OK;
}
