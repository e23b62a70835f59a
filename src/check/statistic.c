/*
 * Statistics of local parts: reductions over a dimension that is cut, which nothing has merged. One
 * that meets the parts themselves normalizes them with what differs from device to device. That is
 * right only where the devices merge their statistics as well, as attention does that is merged by
 * weights, or return them as their own. So uses are recorded, and reported at the end.
 */
#include "check/check.h"
#include "ir/edit.h"
#include "ir/message.h"

/* An op in which a statistic meets parts. */
typedef struct statistic_use {
    struct statistic_use *next;
    scope *s;
    uint32_t op;
    size_t operand;
    size_t axis;
    uint32_t origin;
} statistic_use;

bool is_statistic(cell a)
{
    return a.kind == CELL_PENDING || (a.kind == CELL_VARYING && a.statistic);
}

/* Ops that scale or shift one operand by the other; in others a statistic may be meant. */
static bool normalizes(const tsr_program *p, uint32_t op)
{
    static const bool kinds[OP_KIND_COUNT] = {[OP_STABLEHLO_SUBTRACT] = true,
                                              [OP_STABLEHLO_MULTIPLY] = true,
                                              [OP_STABLEHLO_DIVIDE] = true,
                                              [OP_STABLEHLO_POWER] = true,
                                              [OP_STABLEHLO_DOT_GENERAL] = true};
    return kinds[op_kind_of(p, op)];
}

tsr_status statistic_note_use(checker *c, uint32_t op, size_t operand, size_t axis)
{
    const cell *cells = cells_of(c, op_operand(c->p, op, operand));
    if (cells == NULL) {
        return diag_nomem(c->ctx);
    }
    if (c->quiet || (!c->notes && !normalizes(c->p, op))) {
        return TSR_OK;
    }
    statistic_use *use = ARENA_NEW(c->arena, statistic_use);
    if (use == NULL) {
        return diag_nomem(c->ctx);
    }
    *use = (statistic_use){.next = c->uses,
                           .s = c->s,
                           .op = op,
                           .operand = operand,
                           .axis = axis,
                           .origin = cells[axis].origin};
    c->uses = use;
    return TSR_OK;
}

/* ---- merges ---- */

/* Values whose statistics are merged, and are still to be followed back. */
typedef struct merge_walk {
    checker *c;
    size_t axis;
    uint32_t *values;
    size_t count;
    size_t room;
} merge_walk;

static tsr_status push(merge_walk *m, uint32_t value)
{
    if (m->count == m->room) {
        const size_t room = 2 * m->room + 16;
        uint32_t *values = ARENA_ARRAY(m->c->scratch, uint32_t, room);
        if (values == NULL) {
            return diag_nomem(m->c->ctx);
        }
        if (m->count > 0) {
            memcpy(values, m->values, m->count * sizeof *values);
        }
        m->values = values;
        m->room = room;
    }
    m->values[m->count++] = value;
    return TSR_OK;
}

/* Marks an op, whose operands are followed when it is new. */
static tsr_status mark(merge_walk *m, uint32_t op)
{
    axis_bits *merged = &m->c->s->merged[op];
    if (op == 0 || (*merged & axis_bit(m->axis)) != 0) {
        return TSR_OK;
    }
    *merged |= axis_bit(m->axis);
    for (size_t i = 0; i < program_op(m->c->p, op)->num_operands; i++) {
        TSR_TRY(push(m, op_operand(m->c->p, op, i)));
    }
    return TSR_OK;
}

static tsr_status merge_along(checker *c, uint32_t value, size_t axis)
{
    merge_walk m = {.c = c, .axis = axis};
    TSR_TRY(push(&m, value));
    while (m.count > 0) {
        const uint32_t next = m.values[--m.count];
        const cell *cells = c->s->cells[next];
        if (cells != NULL && is_statistic(cells[axis])) {
            TSR_TRY(mark(&m, value_op(c->p, next)));
            TSR_TRY(mark(&m, cells[axis].origin));
        }
    }
    return TSR_OK;
}

tsr_status statistic_merge(checker *c, uint32_t value, axis_bits axes)
{
    if (c->s->merged == NULL) {
        c->s->merged = ARENA_ARRAY(c->arena, axis_bits, (size_t)c->p->ops.count + 1);
        if (c->s->merged == NULL) {
            return diag_nomem(c->ctx);
        }
        memset(c->s->merged, 0, ((size_t)c->p->ops.count + 1) * sizeof *c->s->merged);
    }
    for (size_t a = 0; a < c->s->count; a++) {
        if ((axes & axis_bit(a)) != 0) {
            TSR_TRY(merge_along(c, value, a));
        }
    }
    return TSR_OK;
}

/* ---- reports ---- */

static bool is_merged(const statistic_use *use)
{
    return use->s->merged != NULL && (use->s->merged[use->origin] & axis_bit(use->axis)) != 0;
}

static tsr_status report_use(checker *c, const statistic_use *use)
{
    const char *axis = axis_name(c, use->axis);
    const bool sure = normalizes(c->p, use->op);
    const report r = {
        .rule = sure ? RULE_LOCAL_STATISTIC : RULE_STATISTIC_BESIDE_PARTS,
        .op = use->op,
        .value = op_operand(c->p, use->op, use->operand),
        .axis = use->axis,
        .message = report_text(c,
                               "'%s' %s parts that are cut along \"%s\" %s a statistic of each "
                               "device's own part",
                               op_name(c->p, use->op), sure ? "normalizes" : "combines", axis,
                               sure ? "by" : "with"),
        .remedy = report_text(c,
                              "reduce the statistic over \"%s\" before it is used: psum, pmean, "
                              "pmax, all_reduce",
                              axis),
        .notes = {{use->origin, "of the local part since here"}},
        .num_notes = 1};
    return report_add(c, &r);
}

tsr_status statistics_report(checker *c)
{
    scope *const own = c->s;
    tsr_status status = TSR_OK;
    for (const statistic_use *use = c->uses; use != NULL && status >= 0; use = use->next) {
        if (!is_merged(use)) {
            c->s = use->s;
            status = report_use(c, use);
        }
    }
    c->s = own;
    return status;
}
