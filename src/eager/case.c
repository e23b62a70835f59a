#include "eager/case.h"

#include "eager/agree.h"

#include <string.h>

#include <tessera/propagate.h>

#include "base/arena.h"
#include "base/map.h"
#include "factor/rule.h"
#include "mesh/groups.h"
#include "mesh/mesh.h"
#include "ops/pending.h"

/* A case that is being worked out. Lists are by operand or by result. */
typedef struct planning {
    eager *e;
    tsr_context *ctx;
    tsr_arena *arena;
    const op_request *r;
    tensor_layout *const *given;
    size_t num_results;
    op_type *results;
    const tsr_mesh *mesh;           /* the first operand's */
    const tsr_rule *rule;           /* of the registry, or NULL */
    const tsr_rule *local_rule;     /* the same, with factors marked that must be whole */
    const tsr_sharding **shardings; /* of the operands, over the mesh */
    const tsr_sharding **stripped;  /* without what is pending */
    const tsr_sharding **aligned;   /* stripped, as the op wants them */
    kept_axes *kept;
    tsr_reduction kept_kind;
    const tsr_sharding **locals; /* as the op leaves its results */
    const tsr_sharding **finals;
    bool fallback;
} planning;

op_type type_of_layout(const tensor_layout *layout)
{
    const tsr_geometry *g = layout->geometry;
    return (op_type){.dtype = layout->dtype, .rank = g->rank, .shape = g->shape};
}

/* ---- shardings ---- */

/* The dimensions of a sharding with these axes pending. */
static tsr_status with_pending(const planning *p, const tsr_sharding *s, const tsr_axis_ref *axes,
                               size_t count, tsr_reduction kind, const tsr_sharding **out)
{
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = s->dims,
                                    .num_unreduced = count,
                                    .unreduced = axes,
                                    .reduction = count > 0 ? kind : TSR_SUM};
    return tsr_sharding_create(p->ctx, p->arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

/* Operands on another view of the devices, in terms of the first one's mesh. */
static tsr_status to_common_mesh(planning *p)
{
    p->mesh = p->given[0]->geometry->sharding->mesh;
    for (size_t i = 0; i < p->r->num_operands; i++) {
        const tsr_sharding *s = p->given[i]->geometry->sharding;
        p->shardings[i] = s;
        if (i == 0 || tsr_mesh_equal(s->mesh, p->mesh)) {
            continue;
        }
        if (!tsr_mesh_same_devices(s->mesh, p->mesh)) {
            return OP_ERROR(p->r,
                            "operand 0, %s, and operand %zu, %s, are on different sets of devices; "
                            "redistribute one of them first",
                            op_type_text(&p->r->operands[0]).text, i,
                            op_type_text(&p->r->operands[i]).text);
        }
        tsr_context *quiet = NULL;
        TSR_TRY(tsr_context_create(NULL, &quiet));
        const tsr_status status =
            tsr_sharding_translate(quiet, p->arena, s, p->mesh, &p->shardings[i]);
        tsr_context_destroy(quiet);
        if (status != TSR_OK) {
            TSR_TRY(tsr_sharding_replicated_over(p->ctx, p->arena, p->mesh, s->rank, false,
                                                 &p->shardings[i]));
        }
    }
    return TSR_OK;
}

/* Takes out of every operand what is pending; what of it stays goes to the results. */
static tsr_status strip_pending(planning *p, bool keep)
{
    if (keep) {
        choose_pending(p->r, p->shardings, p->kept, &p->kept_kind);
    }
    for (size_t i = 0; i < p->r->num_operands; i++) {
        p->kept[i].count = keep ? p->kept[i].count : 0;
        p->stripped[i] = p->shardings[i];
        if (p->shardings[i]->num_unreduced > 0) {
            TSR_TRY(with_pending(p, p->shardings[i], NULL, 0, TSR_SUM, &p->stripped[i]));
        }
    }
    return TSR_OK;
}

/* Whether each rank's part of an operand is one box of the whole. */
static bool is_contiguous_box(const planning *p, size_t operand)
{
    const tsr_sharding *s = p->stripped[operand];
    for (size_t d = 0; d < s->rank; d++) {
        if (s->dims[d].ragged != NULL && s->dims[d].ragged->kind == TSR_RAGGED_UNALIGNED) {
            return false;
        }
    }
    return true;
}

static bool can_run_on_parts(const planning *p)
{
    for (size_t i = 0; (p->r->row->traits & OP_POSITIONAL) != 0 && i < p->r->num_operands; i++) {
        if (!is_contiguous_box(p, i)) {
            return false;
        }
    }
    return true;
}

static int64_t bytes_of(const op_type *type)
{
    int64_t bytes;
    return op_elements(type, &bytes) &&
                   checked_mul(bytes, tsr_dtype_item_bytes(type->dtype), &bytes)
               ? bytes
               : INT64_MAX / 4;
}

static tsr_status align(planning *p)
{
    const size_t count = p->r->num_operands + p->num_results;
    int64_t *bytes = ARENA_ARRAY(p->arena, int64_t, count);
    if (bytes == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        bytes[i] = bytes_of(i < p->r->num_operands ? &p->r->operands[i]
                                                   : &p->results[i - p->r->num_operands]);
    }
    const tsr_alignment op = {.rule = p->local_rule,
                              .mesh = p->mesh,
                              .strategy = p->e->strategy,
                              .operands = p->stripped,
                              .bytes = bytes};
    return tsr_propagate_align(p->ctx, p->arena, &op, p->aligned);
}

static tsr_status replicate_all(planning *p)
{
    for (size_t i = 0; i < p->r->num_operands; i++) {
        TSR_TRY(tsr_sharding_replicated_over(p->ctx, p->arena, p->mesh, p->r->operands[i].rank,
                                             false, &p->aligned[i]));
    }
    for (size_t k = 0; k < p->num_results; k++) {
        TSR_TRY(tsr_sharding_replicated_over(p->ctx, p->arena, p->mesh, p->results[k].rank, false,
                                             &p->locals[k]));
    }
    p->fallback = true;
    return TSR_OK;
}

static tsr_reduction reduction_of(const planning *p)
{
    return p->r->row->reduces != NULL ? p->r->row->reduces(p->r) : TSR_SUM;
}

static tsr_status run_in_layout(planning *p, const tsr_sharding *const *operands)
{
    return tsr_propagate_local(p->ctx, p->arena, p->local_rule, p->mesh, operands, reduction_of(p),
                               p->locals);
}

/* The axes of a sharding so far: of its dimensions before `dims`, and pending. */
static bool is_used(const tsr_sharding *s, const tsr_dim *dims, size_t count, const tsr_dim *wanted)
{
    bool used = tsr_axes_overlap(wanted->axes, wanted->num_axes, s->unreduced, s->num_unreduced);
    for (size_t d = 0; !used && d < s->rank; d++) {
        const tsr_dim *dim = d < count ? &dims[d] : &s->dims[d];
        used = tsr_axes_overlap(wanted->axes, wanted->num_axes, dim->axes, dim->num_axes);
    }
    return used;
}

/* Gives dimensions that had to be whole for the op the axes that propagation wants for them. */
static tsr_status reshard_result(planning *p, size_t result, const tsr_sharding *wanted)
{
    const tsr_sharding *local = p->locals[result];
    tsr_dim *dims = arena_copy(p->arena, local->dims, local->rank, sizeof *dims);
    bool changed = false;
    if (dims == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t d = 0; wanted != NULL && d < local->rank; d++) {
        const tsr_dim *to = &wanted->dims[d];
        if (dims[d].num_axes == 0 && to->num_axes > 0 && to->ragged == NULL &&
            !is_used(local, dims, d, to)) {
            dims[d] = tsr_dim_closed(to->axes, to->num_axes);
            changed = true;
        }
    }
    if (!changed) {
        return TSR_OK;
    }
    p->fallback = true;
    const tsr_sharding_spec spec = {.mesh = local->mesh,
                                    .rank = local->rank,
                                    .dims = dims,
                                    .num_unreduced = local->num_unreduced,
                                    .unreduced = local->unreduced,
                                    .reduction = local->reduction};
    return tsr_sharding_create(p->ctx, p->arena, &spec, TSR_SHARDING_CANONICALIZE,
                               &p->finals[result]);
}

static tsr_status reshard_results(planning *p)
{
    const tsr_sharding **wanted = ARENA_ARRAY(p->arena, const tsr_sharding *, p->num_results);
    const tsr_sharding **same = ARENA_ARRAY(p->arena, const tsr_sharding *, p->r->num_operands);
    const tsr_propagation op = {.rule = p->rule,
                                .mesh = p->mesh,
                                .strategy = p->e->strategy,
                                .direction = TSR_DIRECTION_FORWARD,
                                .elementwise = (p->r->row->traits & OP_ELEMENTWISE) != 0,
                                .operands = p->stripped};
    if (same == NULL || wanted == NULL) {
        return diag_nomem(p->ctx);
    }
    TSR_TRY(tsr_propagate(p->ctx, p->arena, &op, same, wanted));
    for (size_t k = 0; k < p->num_results; k++) {
        TSR_TRY(reshard_result(p, k, wanted[k]));
    }
    return TSR_OK;
}

enum { MAX_JOINED = 2 * MAX_PENDING };

/* What stays pending joins what the op leaves pending; false when the two are of different kinds.
 */
static tsr_status add_kept(planning *p, bool *fits)
{
    *fits = true;
    for (size_t k = 0; k < p->num_results; k++) {
        const tsr_sharding *s = p->locals[k];
        size_t count = 0;
        tsr_axis_ref axes[MAX_JOINED];
        for (size_t i = 0; i < s->num_unreduced && i < MAX_PENDING; i++) {
            axes[count++] = s->unreduced[i];
        }
        const size_t own = count;
        for (size_t i = 0; i < p->r->num_operands; i++) {
            for (size_t n = 0; n < p->kept[i].count; n++) {
                if (!tsr_axes_overlap(&p->kept[i].axes[n], 1, axes, count) && count < MAX_JOINED) {
                    axes[count++] = p->kept[i].axes[n];
                }
            }
        }
        if (count == own) {
            continue;
        }
        *fits = own == 0 || s->reduction == p->kept_kind;
        if (!*fits) {
            return TSR_OK;
        }
        TSR_TRY(with_pending(p, s, axes, count, p->kept_kind, &p->locals[k]));
    }
    return TSR_OK;
}

/* Finds layouts in which the op can run, with or without what might stay pending. */
static tsr_status lay_out(planning *p, bool keep, bool *fits)
{
    const size_t n = p->r->num_operands;
    p->fallback = false;
    TSR_TRY(strip_pending(p, keep));
    bool aligned = false;
    tsr_status status = p->rule == NULL ? replicate_all(p) : TSR_NOT_APPLICABLE;
    if (p->rule != NULL && can_run_on_parts(p)) {
        memcpy(p->aligned, p->stripped, n * sizeof(const tsr_sharding *));
        status = run_in_layout(p, p->stripped);
    }
    if (status == TSR_NOT_APPLICABLE) {
        TSR_TRY(align(p));
        status = run_in_layout(p, p->aligned);
        aligned = true;
    }
    if (status == TSR_NOT_APPLICABLE) {
        status = replicate_all(p);
    }
    TSR_TRY(status);
    TSR_TRY(add_kept(p, fits));
    memcpy((void *)p->finals, (const void *)p->locals, p->num_results * sizeof *p->finals);
    return *fits && aligned ? reshard_results(p) : TSR_OK;
}

/* ---- the case ---- */

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
    const tsr_sharding *run = p->aligned[i];
    const bool as_it_is = run == p->stripped[i] &&
                          p->shardings[i] == p->given[i]->geometry->sharding &&
                          p->kept[i].count == p->shardings[i]->num_unreduced;
    if (as_it_is) {
        c->run[i] = layout_retain(&p->e->world->state->layouts, p->given[i]);
        return TSR_OK;
    }
    if (p->kept[i].count > 0) {
        TSR_TRY(with_pending(p, run, p->kept[i].axes, p->kept[i].count, p->kept_kind, &run));
    }
    bool same = false;
    TSR_TRY(layout_for(p, run, &p->r->operands[i], &c->run[i]));
    TSR_TRY(tsr_geometry_same(p->ctx, p->given[i]->geometry, c->run[i]->geometry, &same));
    c->moves[i] = !same || may_pad(p->given[i]->geometry->sharding);
    c->any_moves = c->any_moves || c->moves[i];
    return TSR_OK;
}

/* Whether this rank is the first of those along the axes that the op itself leaves pending. */
static tsr_status find_first(const planning *p, op_case *c)
{
    const tsr_sharding *s = p->locals[0];
    tsr_axis_ref own[MAX_PENDING];
    size_t count = 0;
    for (size_t i = 0; i < s->num_unreduced && count < MAX_PENDING; i++) {
        bool kept = false;
        for (size_t k = 0; k < p->r->num_operands; k++) {
            kept = kept || tsr_axes_overlap(&s->unreduced[i], 1, p->kept[k].axes, p->kept[k].count);
        }
        if (!kept) {
            own[count++] = s->unreduced[i];
        }
    }
    places along;
    TSR_TRY(places_along(p->ctx, p->arena, s->mesh, own, count, &along));
    c->first = places_index(&along, tsr_mesh_place_of(s->mesh, p->e->world->rank)) == 0;
    return TSR_OK;
}

static tsr_status finish_case(const planning *p, op_case *c)
{
    for (size_t i = 0; i < p->r->num_operands; i++) {
        TSR_TRY(finish_operand(p, c, i));
    }
    for (size_t k = 0; k < p->num_results; k++) {
        TSR_TRY(layout_for(p, p->locals[k], &p->results[k], &c->results[k]));
        TSR_TRY(layout_for(p, p->finals[k], &p->results[k], &c->finals[k]));
    }
    c->fallback = p->fallback && c->any_moves;
    return find_first(p, c);
}

/* On a single device there is nothing to lay out. */
static tsr_status finish_maximal(const planning *p, op_case *c)
{
    const tsr_sharding *s = p->given[0]->geometry->sharding;
    for (size_t i = 0; i < p->r->num_operands; i++) {
        c->run[i] = layout_retain(&p->e->world->state->layouts, p->given[i]);
    }
    for (size_t k = 0; k < p->num_results; k++) {
        TSR_TRY(layout_for(p, s, &p->results[k], &c->results[k]));
        TSR_TRY(layout_for(p, s, &p->results[k], &c->finals[k]));
    }
    c->first = true;
    return TSR_OK;
}

static tsr_status find_rule(planning *p)
{
    const tsr_status status = op_find_rule(p->r, p->results, p->arena, &p->rule);
    if (status == TSR_NOT_APPLICABLE) {
        p->rule = NULL;
        return TSR_OK;
    }
    TSR_TRY(status);
    return op_local_rule(p->r, p->results, p->rule, p->arena, &p->local_rule);
}

/* Where an operand has a factor as an unbound dimension of its own; NULL: nowhere. */
static const tsr_ragged *unbound_factor(const planning *p, size_t operand, size_t factor,
                                        size_t *dim)
{
    const tsr_rule_tensor *of = &p->rule->tensors[operand];
    const tsr_sharding *s = p->shardings[operand];
    for (size_t d = 0; d < of->rank && d < s->rank; d++) {
        const tsr_ragged *ragged = s->dims[d].ragged;
        if (ragged != NULL && !ragged_is_bound(ragged) && of->dims[d].num_factors == 1 &&
            of->dims[d].factors[0] == factor) {
            *dim = d;
            return ragged;
        }
    }
    return NULL;
}

static tsr_status refuse_unbound(const planning *p, const size_t *operands, const size_t *dims)
{
    const char *texts[2] = {NULL, NULL};
    for (size_t i = 0; i < 2; i++) {
        TSR_TRY(tsr_sharding_print(p->ctx, p->arena, p->shardings[operands[i]], TSR_PRINT_BARE,
                                   &texts[i]));
    }
    (void)OP_ERROR(p->r,
                   "dimension %zu of operand %zu, %s, and dimension %zu of operand %zu, %s, are "
                   "both unbound and are not the same placement: their shards may differ",
                   dims[0], operands[0], texts[0], dims[1], operands[1], texts[1]);
    return diag_note(p->ctx, NO_LOCATION,
                     "give both the same symbol if their sizes are the same, bind them, by "
                     "tsr_symbol_bind, or redistribute one to the placement of the other");
}

/*
 * Operands that share an unbound dimension have it as the same placement: equal sizes stay where
 * they are once they are bound, and whether others have to move is not known before.
 */
static tsr_status check_unbound(const planning *p)
{
    for (size_t f = 0; p->rule != NULL && f < p->rule->num_factors; f++) {
        const tsr_ragged *first = NULL;
        size_t operands[2] = {0, 0};
        size_t dims[2] = {0, 0};
        for (size_t i = 0; i < p->r->num_operands; i++) {
            const tsr_ragged *ragged = unbound_factor(p, i, f, &dims[first != NULL]);
            if (ragged == NULL) {
                continue;
            }
            operands[first != NULL] = i;
            if (first == NULL) {
                first = ragged;
                continue;
            }
            const int64_t shards[] = {tsr_sharding_num_shards(p->shardings[operands[0]], dims[0]),
                                      tsr_sharding_num_shards(p->shardings[i], dims[1])};
            if (shards[0] != shards[1] || !ragged_equal(first, ragged, shards[0])) {
                return refuse_unbound(p, operands, dims);
            }
        }
    }
    return TSR_OK;
}

/* The types of the results, in a scope of typed code. */
static tsr_status find_types(planning *p, op_case *c)
{
    return c->typed_key == 0
               ? TSR_OK
               : typed_infer(p->e, p->r, c->given_types, p->rule, p->results, c->result_types);
}

static tsr_status work_out(planning *p, op_case *c)
{
    TSR_TRY(p->r->row->types(p->r, p->results));
    TSR_TRY(op_check_supported(p->r, p->results));
    if (tsr_mesh_is_maximal(p->given[0]->geometry->sharding->mesh)) {
        return finish_maximal(p, c);
    }
    TSR_TRY(to_common_mesh(p));
    TSR_TRY(find_rule(p));
    TSR_TRY(find_types(p, c));
    TSR_TRY(check_unbound(p));
    bool fits = false;
    TSR_TRY(lay_out(p, true, &fits));
    if (!fits) {
        TSR_TRY(lay_out(p, false, &fits));
    }
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
    const size_t m = c->num_results;
    op_request r = *asked;
    op_type *types = ARENA_ARRAY(e->arena, op_type, n + m);
    planning p = {
        .e = e, .ctx = r.ctx, .arena = e->arena, .r = &r, .given = given, .num_results = m};
    const tsr_sharding **lists = ARENA_ARRAY(e->arena, const tsr_sharding *, 3 * n + 2 * m);
    p.kept = ARENA_ARRAY(e->arena, kept_axes, n);
    if (lists == NULL || p.kept == NULL || types == NULL) {
        return diag_nomem(r.ctx);
    }
    for (size_t i = 0; i < n; i++) {
        p.kept[i].count = 0;
        types[i] = type_of_layout(given[i]);
    }
    r.operands = types;
    r.arena = e->arena;
    p.results = types + n;
    p.locals = lists + 3 * n;
    p.finals = lists + 3 * n + m;
    memset((void *)p.locals, 0, 2 * m * sizeof *p.locals);
    p.shardings = lists;
    p.stripped = lists + n;
    p.aligned = lists + 2 * n;
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
