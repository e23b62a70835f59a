/* Collectives: along which axes they are, what they make of a value, whether all devices enter. */
#include "check/check.h"
#include "ir/edit.h"
#include "ir/message.h"

typedef enum collective_kind {
    ALL_REDUCE,
    ALL_GATHER,
    REDUCE_SCATTER,
    ALL_TO_ALL,
    PERMUTE,
    BROADCAST
} collective_kind;

/* What each is to a value that is the same on all devices of a group. */
typedef struct collective_row {
    collective_kind kind;
    const char *needless; /* NULL: the op is not a collective */
} collective_row;

static const collective_row rows[OP_KIND_COUNT] = {
    [OP_STABLEHLO_ALL_REDUCE] = {ALL_REDUCE, "every device has the same value"},
    [OP_STABLEHLO_CROSS_REPLICA_SUM] = {ALL_REDUCE, "every device has the same value"},
    [OP_STABLEHLO_ALL_GATHER] = {ALL_GATHER, "every device has the same part"},
    [OP_STABLEHLO_REDUCE_SCATTER] = {REDUCE_SCATTER, "every device has the same value"},
    [OP_STABLEHLO_ALL_TO_ALL] = {ALL_TO_ALL, "every device sends the same parts"},
    [OP_STABLEHLO_COLLECTIVE_PERMUTE] = {PERMUTE, "every device sends the same value"},
    [OP_STABLEHLO_COLLECTIVE_BROADCAST] = {BROADCAST, "every device has the same value"},
};

bool is_collective(const tsr_program *p, uint32_t op)
{
    return rows[op_kind_of(p, op)].needless != NULL;
}

/* A collective that is looked at. */
typedef struct collective_use {
    checker *c;
    const collective_row *row;
    uint32_t op;
    axis_bits axes;
    bool is_regular; /* its groups are along axes */
    bool is_whole;   /* a permutation of all devices */
    bool is_sum;
} collective_use;

/* The value that a region returns, without constraints around it. */
static uint32_t region_result(const tsr_program *p, uint32_t region)
{
    const uint32_t block = program_region(p, region)->first_block;
    const uint32_t last = block != 0 ? program_block(p, block)->last_op : 0;
    uint32_t value =
        last != 0 && program_op(p, last)->num_operands == 1 ? op_operand(p, last, 0) : 0;
    while (value != 0 && value_op(p, value) != 0 &&
           op_is(p, value_op(p, value), OP_SDY_SHARDING_CONSTRAINT)) {
        value = op_operand(p, value_op(p, value), 0);
    }
    return value;
}

/* Whether a reduction adds. */
static bool adds(const collective_use *u)
{
    const tsr_program *p = u->c->p;
    if (u->row->kind != ALL_REDUCE && u->row->kind != REDUCE_SCATTER) {
        return false;
    }
    if (program_op(p, u->op)->num_regions == 0) {
        return true;
    }
    const uint32_t value = region_result(p, op_region_at(p, u->op, 0));
    return value != 0 && value_op(p, value) != 0 && op_is(p, value_op(p, value), OP_STABLEHLO_ADD);
}

static tsr_status look_at(checker *c, uint32_t op, collective_use *out)
{
    device_groups groups;
    *out = (collective_use){.c = c, .row = &rows[op_kind_of(c->p, op)], .op = op, .is_whole = true};
    TSR_TRY(groups_of(c, op, &groups));
    out->is_regular = out->row->kind == PERMUTE
                          ? pairs_cover(c->s, &groups, &out->axes, &out->is_whole)
                          : groups_cover(c->s, &groups, &out->axes);
    out->axes &= c->manual;
    out->is_sum = adds(out);
    return TSR_OK;
}

/* ---- deadlocks ---- */

static tsr_status check_guards(const collective_use *u)
{
    checker *c = u->c;
    for (size_t a = 0; a < c->s->count; a++) {
        if ((u->axes & c->guards & axis_bit(a)) == 0) {
            continue;
        }
        const char *name = axis_name(c, a);
        const report r = {
            .rule = RULE_DIVERGENT_COLLECTIVE,
            .op = u->op,
            .axis = a,
            .message = report_text(
                c,
                "'%s' over \"%s\" runs only on the devices that a condition selects, and the "
                "condition varies along \"%s\": the other devices never enter it (deadlock)",
                op_name(c->p, u->op), name, name),
            .remedy = report_text(c,
                                  "reduce the condition over \"%s\", or run the collective on "
                                  "all devices and select its result",
                                  name),
            .notes = {{c->guard_ops[a], "the condition of this op varies"},
                      {c->guard_origins[a], "differs between devices since here"}},
            .num_notes = 2};
        TSR_TRY(report_add(c, &r));
    }
    return TSR_OK;
}

/* ---- collectives of what does not vary ---- */

static int64_t group_size(const collective_use *u, axis_bits axes)
{
    int64_t size = 1;
    for (size_t a = 0; a < u->c->s->count; a++) {
        size *= (axes & axis_bit(a)) != 0 ? u->c->s->axes[a].ref.size : 1;
    }
    return size;
}

static tsr_status report_needless(const collective_use *u, uint32_t value, size_t axis,
                                  axis_bits shared)
{
    checker *c = u->c;
    const char *name = axis_name(c, axis);
    const long long times = group_size(u, shared);
    const report r = {
        .rule = shared == u->axes ? RULE_NEEDLESS_COLLECTIVE : RULE_PARTLY_NEEDLESS_COLLECTIVE,
        .op = u->op,
        .value = value,
        .axis = axis,
        .message =
            u->is_sum
                ? report_text(c,
                              "'%s' over \"%s\" of a value that does not vary along it: it is "
                              "multiplied by %lld",
                              op_name(c->p, u->op), name, times)
                : report_text(c, "'%s' over \"%s\" of a value that does not vary along it: %s",
                              op_name(c->p, u->op), name, u->row->needless),
        .remedy = report_text(c, "remove it, or name the axis along which the value varies")};
    return report_add(c, &r);
}

/* What a collective gives is summed again: a mean does not make that right. */
static bool is_summed_again(const checker *c, uint32_t value)
{
    const uint32_t op = source_op(c->p, value);
    return op != 0 && is_collective(c->p, op);
}

static tsr_status check_needless(const collective_use *u, uint32_t value, uint32_t result,
                                 const cell *cells)
{
    checker *c = u->c;
    axis_bits shared = 0;
    bool is_scaled = false;
    for (size_t a = 0; a < c->s->count; a++) {
        shared |= (u->axes & axis_bit(a)) != 0 && cell_is_shared(cells[a]) ? axis_bit(a) : 0;
    }
    if (shared == 0 || c->quiet || is_constant_value(c, value)) {
        return TSR_OK;
    }
    if (u->is_sum && !is_summed_again(c, value)) {
        TSR_TRY(is_scaled_down(c, value, result, group_size(u, shared), &is_scaled));
    }
    for (size_t a = 0; a < c->s->count && !is_scaled; a++) {
        if ((shared & axis_bit(a)) != 0) {
            TSR_TRY(report_needless(u, value, a, shared));
        }
    }
    return TSR_OK;
}

/* ---- other reductions of pending sums ---- */

static bool reduces(const collective_use *u)
{
    return u->row->kind == ALL_REDUCE || u->row->kind == REDUCE_SCATTER;
}

static tsr_status check_pending(const collective_use *u, uint32_t value, const cell *cells)
{
    checker *c = u->c;
    for (size_t a = 0; a < c->s->count && reduces(u) && !u->is_sum; a++) {
        if (cells[a].kind != CELL_PENDING || !cells[a].contracted) {
            continue;
        }
        const char *name = axis_name(c, a);
        const report r = {
            .rule = RULE_PENDING_IN_NONLINEAR,
            .op = u->op,
            .value = value,
            .axis = a,
            .message =
                report_text(c, "'%s' is not linear, and its operand is a sum pending along \"%s\"",
                            op_name(c->p, u->op), name),
            .remedy = report_text(c, "complete the sum over \"%s\" first: psum, all_reduce", name),
            .notes = {{cells[a].origin,
                       "pending since here: each device has the sum over its own part"}},
            .num_notes = 1};
        TSR_TRY(report_add(c, &r));
    }
    return TSR_OK;
}

/* ---- results ---- */

static int32_t dim_property(const collective_use *u, const char *name)
{
    int64_t dim = NO_DIM;
    const uint32_t attr = op_property(u->c->p, u->op, name);
    return attr_as_integer(u->c->p, attr, &dim) && dim >= 0 && dim < INT32_MAX ? (int32_t)dim
                                                                               : NO_DIM;
}

/* A value that is sent: where it was a part, which part is not followed. */
static cell sent(const collective_use *u, cell before)
{
    return (cell){.kind = CELL_VARYING,
                  .exchanged = true,
                  .dim = NO_DIM,
                  .origin = before.origin != 0 ? before.origin : u->op};
}

/* Along an axis of the collective. */
static cell after(const collective_use *u, cell before)
{
    cell made = sent(u, before);
    switch (u->row->kind) {
    case ALL_REDUCE:
    case ALL_GATHER:
    case BROADCAST:
        return before.kind == CELL_ZERO ? before : cell_same();
    case REDUCE_SCATTER:
        return cell_varying(dim_property(u, "scatter_dimension"), u->op);
    case PERMUTE:
        return cell_is_shared(before) && u->is_whole ? before : made;
    case ALL_TO_ALL:
        if (before.kind == CELL_VARYING && before.major == 0 &&
            before.dim == dim_property(u, "concat_dimension")) {
            made.dim = dim_property(u, "split_dimension");
        }
        return made;
    }
    return made;
}

/* Along another axis: what is moved stays what it is; only sums pass pending sums on. */
static cell beside(const collective_use *u, cell before)
{
    if (before.kind == CELL_PENDING && reduces(u) && !u->is_sum) {
        return cell_varying(NO_DIM, before.origin);
    }
    if (cell_is_shared(before) && u->row->kind == PERMUTE && !u->is_whole && !u->is_regular) {
        return sent(u, before);
    }
    return before;
}

static tsr_status set_result(const collective_use *u, uint32_t operand, uint32_t result)
{
    checker *c = u->c;
    const cell *from = cells_of(c, operand);
    cell *cells = cells_of(c, result);
    if (from == NULL || cells == NULL) {
        return diag_nomem(c->ctx);
    }
    TSR_TRY(check_pending(u, operand, from));
    TSR_TRY(statistic_merge(c, operand, u->axes));
    TSR_TRY(u->is_regular ? check_needless(u, operand, result, from) : TSR_OK);
    for (size_t a = 0; a < c->s->count; a++) {
        if (!u->is_regular && is_manual(c, a)) {
            cells[a] = sent(u, from[a]);
        } else {
            cells[a] = (u->axes & axis_bit(a)) != 0 ? after(u, from[a]) : beside(u, from[a]);
        }
    }
    return TSR_OK;
}

tsr_status visit_collective(checker *c, uint32_t op)
{
    collective_use u;
    const ir_op record = *program_op(c->p, op);
    TSR_TRY(look_at(c, op, &u));
    TSR_TRY(check_guards(&u));
    for (uint32_t i = 0; i < record.num_results && i < record.num_operands; i++) {
        TSR_TRY(set_result(&u, op_operand(c->p, op, i), record.results + i));
    }
    return TSR_OK;
}
