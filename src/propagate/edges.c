/*
 * Data-flow edges: what must agree around ops with regions, barriers and calls. The owner of an
 * edge is a target that has an edge op as its only user; the edge op keeps the sharding of all.
 */
#include <string.h>

#include "base/arena.h"
#include "ir/message.h"
#include "ir/row.h"
#include "ir/shardings.h"
#include "propagate/state.h"
#include "shard/sharding.h"

/* Where the sources of an edge are: numbers of operands, terminators of regions. */
typedef struct edge_row {
    bool is_known;
    bool operands;      /* operand k is a source of the edge of result k */
    int first_region;   /* terminators of these regions return sources of results */
    int end_region;     /* -1: all of them */
    bool body_operands; /* operand k is the source of the edge of argument k of the body */
    bool carries;       /* argument k of all regions belongs to the edge of result k */
} edge_row;

static const edge_row rows[OP_KIND_COUNT] = {
    [OP_STABLEHLO_WHILE] =
        {.is_known = true, .operands = true, .first_region = 1, .end_region = 2, .carries = true},
    [OP_STABLEHLO_CASE] = {.is_known = true, .end_region = -1},
    [OP_STABLEHLO_OPTIMIZATION_BARRIER] = {.is_known = true, .operands = true},
    [OP_SDY_MANUAL_COMPUTATION] = {.is_known = true, .end_region = 1, .body_operands = true},
    [OP_SDY_NAMED_COMPUTATION] = {.is_known = true, .end_region = 1, .body_operands = true},
};

static const edge_row *row_of(const tsr_program *p, uint32_t op)
{
    const ir_row *row = program_row(p, op);
    if (row == NULL || (row->traits & IR_HAS_EDGES) == 0) {
        return NULL;
    }
    const edge_row *edges = &rows[op_kind_of(p, op)];
    return edges->is_known ? edges : NULL;
}

uint32_t edge_of_owner(const tsr_program *p, uint32_t owner)
{
    const uint32_t use = value_first_use(p, owner);
    if (use == 0 || use_next(p, use) != 0) {
        return 0;
    }
    const uint32_t op = use_op(p, use);
    return op_is(p, op, OP_SDY_DATA_FLOW_EDGE) ? op : 0;
}

/* The edge of result k of an op; 0: it has none. */
static uint32_t edge_of_result(const tsr_program *p, uint32_t op, uint32_t index)
{
    return index < program_op(p, op)->num_results ? edge_of_owner(p, op_result(p, op, index)) : 0;
}

uint32_t edge_of_use(const tsr_program *p, uint32_t use)
{
    const uint32_t user = use_op(p, use);
    const uint32_t index = use_index(p, use);
    if (op_has_trait(p, user, IR_TERMINATOR)) {
        const uint32_t parent = op_parent(p, user);
        return parent != 0 && row_of(p, parent) != NULL ? edge_of_result(p, parent, index) : 0;
    }
    const edge_row *row = row_of(p, user);
    return row != NULL && !row->body_operands ? edge_of_result(p, user, index) : 0;
}

size_t edge_targets(const propagation *s, uint32_t edge, uint32_t targets[2])
{
    const tsr_program *p = s->w.p;
    const uint32_t owner = op_operand(p, edge, 0);
    const uint32_t op = value_op(p, owner);
    const edge_row *row = op != 0 ? row_of(p, op) : NULL;
    size_t count = 0;
    for (size_t r = 0; row != NULL && row->carries && r < 2; r++) {
        const uint32_t block = op_entry_block(p, op, r);
        const uint32_t index = program_value(p, owner)->index;
        if (block != 0 && index < program_block(p, block)->num_arguments) {
            targets[count++] = block_argument(p, block, index);
        }
    }
    return count;
}

/* ---- sources ---- */

/* Appends operand `index` of an op, if it has one. */
static void add_operand(const tsr_program *p, uint32_t op, uint32_t index, uint32_t *list,
                        size_t *count)
{
    if (op != 0 && index < program_op(p, op)->num_operands) {
        list[(*count)++] = op_operand(p, op, index);
    }
}

static tsr_status sources_of_result(propagation *s, uint32_t op, uint32_t index, uint32_t **out,
                                    size_t *count)
{
    const tsr_program *p = s->w.p;
    const edge_row *row = row_of(p, op);
    *count = 0;
    if (row == NULL) {
        return TSR_OK;
    }
    const size_t regions = program_op(p, op)->num_regions;
    *out = ARENA_ARRAY(s->w.scratch, uint32_t, regions + 2);
    if (*out == NULL) {
        return diag_nomem(s->w.ctx);
    }
    if (row->operands) {
        add_operand(p, op, index, *out, count);
    }
    const size_t end = row->end_region < 0 ? regions : (size_t)row->end_region;
    for (size_t r = (size_t)row->first_region; r < end && r < regions; r++) {
        add_operand(p, op_terminator(p, op, r), index, *out, count);
    }
    return TSR_OK;
}

/* Operand k of every call of a function, in the order of the program. */
static tsr_status sources_of_argument(propagation *s, uint32_t func, uint32_t index, uint32_t **out,
                                      size_t *count)
{
    size_t num_calls = 0;
    for (uint32_t call = calls_first(s, func); call != 0; call = calls_next(s, call)) {
        num_calls++;
    }
    *count = 0;
    *out = ARENA_ARRAY(s->w.scratch, uint32_t, num_calls + 1);
    if (*out == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (uint32_t call = calls_first(s, func); call != 0; call = calls_next(s, call)) {
        add_operand(s->w.p, call, index, *out, count);
    }
    return TSR_OK;
}

/* A list of at most one source: operand `index` of an op, or none when that is 0. */
static tsr_status single_source(propagation *s, uint32_t op, uint32_t index, uint32_t **out,
                                size_t *count)
{
    *count = 0;
    *out = ARENA_ARRAY(s->w.scratch, uint32_t, 1);
    if (*out == NULL) {
        return diag_nomem(s->w.ctx);
    }
    add_operand(s->w.p, op, index, *out, count);
    return TSR_OK;
}

/* What a function returns; 0 where it has no body. */
static uint32_t return_of(const tsr_program *p, uint32_t func)
{
    return func != 0 && op_entry_block(p, func, 0) != 0 ? op_terminator(p, func, 0) : 0;
}

tsr_status edge_sources(propagation *s, uint32_t edge, uint32_t **out, size_t *count)
{
    const tsr_program *p = s->w.p;
    const uint32_t owner = op_operand(p, edge, 0);
    const uint32_t index = program_value(p, owner)->index;
    const uint32_t op = value_op(p, owner);
    if (op != 0) {
        return op_is(p, op, OP_FUNC_CALL)
                   ? single_source(s, return_of(p, calls_callee(s, op)), index, out, count)
                   : sources_of_result(s, op, index, out, count);
    }
    const uint32_t parent = block_parent(p, value_block(p, owner));
    return op_is(p, parent, OP_FUNC_FUNC) ? sources_of_argument(s, parent, index, out, count)
                                          : single_source(s, parent, index, out, count);
}

/* ---- manual computations ---- */

/* The manual computation of an edge, or 0; which list of it, and where in that. */
typedef struct manual_edge {
    uint32_t op;
    const char *list;
    uint32_t index;
    bool stores_inside; /* the edge keeps what the body sees */
} manual_edge;

static manual_edge manual_of(const tsr_program *p, uint32_t owner)
{
    const uint32_t op = value_op(p, owner);
    const uint32_t parent = op == 0 ? block_parent(p, value_block(p, owner)) : op;
    if (!op_is(p, parent, OP_SDY_MANUAL_COMPUTATION)) {
        return (manual_edge){0};
    }
    return (manual_edge){.op = parent,
                         .list = op == 0 ? "in_shardings" : "out_shardings",
                         .index = program_value(p, owner)->index,
                         .stores_inside = op == 0};
}

static tsr_status remove_manual(workspace *w, const manual_edge *m, const tsr_sharding *sharding,
                                const tsr_sharding **out)
{
    tsr_sharding inner;
    const bool *manual = NULL;
    TSR_TRY(interned_manual_flags(w->ctx, w->p, m->op, sharding->mesh, &manual));
    TSR_TRY(sharding_inside(w->ctx, w->scratch, manual, sharding, &inner));
    return engine_intern(w->engine, &inner, out);
}

/* Axes of two lists, one after the other. */
static const tsr_axis_ref *join(workspace *w, const tsr_axis_ref *a, size_t num_a,
                                const tsr_axis_ref *b, size_t num_b)
{
    tsr_axis_ref *joined = ARENA_ARRAY(w->scratch, tsr_axis_ref, num_a + num_b + 1);
    if (joined == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < num_a + num_b; i++) {
        joined[i] = i < num_a ? a[i] : b[i - num_a];
    }
    return joined;
}

static tsr_status add_manual(workspace *w, const manual_edge *m, const tsr_sharding *sharding,
                             const tsr_sharding **out)
{
    const uint32_t list = op_property(w->p, m->op, m->list);
    const attr_head *head = program_attr(w->p, list);
    const tsr_sharding *full = NULL;
    const bool *manual = NULL;
    if (m->index < head->count) {
        TSR_TRY(sharding_at(w, attr_list(head)[m->index], &full));
    }
    if (full == NULL || full->rank != sharding->rank) {
        *out = sharding;
        return TSR_OK;
    }
    tsr_sharding outer = *sharding;
    tsr_dim *dims = arena_copy(w->scratch, sharding->dims, sharding->rank, sizeof *dims);
    if (dims == NULL) {
        return diag_nomem(w->ctx);
    }
    TSR_TRY(interned_manual_flags(w->ctx, w->p, m->op, full->mesh, &manual));
    for (size_t d = 0; d < outer.rank; d++) {
        const size_t count = manual_prefix(&full->dims[d], manual);
        const tsr_axis_ref *axes =
            join(w, full->dims[d].axes, count, dims[d].axes, dims[d].num_axes);
        if (axes == NULL) {
            return diag_nomem(w->ctx);
        }
        dims[d].axes = axes;
        dims[d].num_axes += count;
    }
    outer.mesh = full->mesh;
    outer.dims = dims;
    outer.replicated = full->replicated;
    outer.num_replicated = full->num_replicated;
    outer.unreduced = full->unreduced;
    outer.num_unreduced = full->num_unreduced;
    outer.reduction = TSR_SUM;
    return engine_intern(w->engine, &outer, out);
}

/* Adds manual axes, or removes them. */
static tsr_status transform(workspace *w, const manual_edge *m, bool add,
                            const tsr_sharding *sharding, const tsr_sharding **out)
{
    *out = sharding;
    if (m->op == 0 || sharding == NULL) {
        return TSR_OK;
    }
    return add ? add_manual(w, m, sharding, out) : remove_manual(w, m, sharding, out);
}

tsr_status edge_outside(workspace *w, uint32_t edge, const tsr_sharding *sharding,
                        const tsr_sharding **out)
{
    const manual_edge m = manual_of(w->p, op_operand(w->p, edge, 0));
    return transform(w, &m, m.stores_inside, sharding, out);
}

tsr_status edge_inside(workspace *w, uint32_t edge, const tsr_sharding *sharding,
                       const tsr_sharding **out)
{
    const manual_edge m = manual_of(w->p, op_operand(w->p, edge, 0));
    return transform(w, &m, !m.stores_inside, sharding, out);
}

tsr_status edge_argument_outside(workspace *w, uint32_t argument, const tsr_sharding *sharding,
                                 const tsr_sharding **out)
{
    const manual_edge m = manual_of(w->p, argument);
    return transform(w, &m, true, sharding, out);
}

tsr_status edge_argument_inside(workspace *w, uint32_t argument, const tsr_sharding *sharding,
                                const tsr_sharding **out)
{
    const manual_edge m = manual_of(w->p, argument);
    return transform(w, &m, false, sharding, out);
}

tsr_status edge_result_inside(workspace *w, uint32_t result, const tsr_sharding *sharding,
                              const tsr_sharding **out)
{
    const manual_edge m = manual_of(w->p, result);
    return transform(w, &m, false, sharding, out);
}
