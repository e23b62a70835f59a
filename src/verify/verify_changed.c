/*
 * Verification of what changed since a program was verified.
 *
 * The checks of an op read the op, the types, definitions and shardings of its operands and
 * results, what is in its regions, and what it is in. So what is to be checked again is
 *   - an op that changed, and all that it is in;
 *   - the users of its results, of the arguments of its regions, and of values whose uses changed
 *     (a value may have its sharding from an edge that uses it), and the op that defines such a
 *     value. The sharding of a barrier's result is that of its operand: its users count too;
 *   - all that is in it, when it moved, has other blocks, or gives what is in it shardings;
 *   - the op before it, which may have to be the last of its block;
 *   - ops that name functions, when symbols changed. Meshes that changed concern everything.
 * tests/prop/prop_changes.c plants edits after every pass and compares with the whole program.
 */
#include <string.h>

#include "base/arena.h"
#include "ir/changes.h"
#include "ir/edit.h"
#include "verify/verify_parts.h"

/* What is to be done with an op. */
enum { LISTED = 1, CLIMBED = 2, ENTERED = 4 };

typedef struct change_walk {
    tsr_context *ctx; /* of messages that are not shown */
    tsr_program *p;
    type_checker *types;
    uint32_t *order;
    uint8_t *flags;   /* by op */
    uint8_t *touched; /* by value */
    uint32_t *ops;    /* to be checked */
    uint32_t num_ops;
    uint32_t *values; /* whose users are to be listed */
    uint32_t num_values;
} change_walk;

/* ---- what is to be checked ---- */

static void list_op(change_walk *w, uint32_t op)
{
    if (op != 0 && (w->flags[op] & LISTED) == 0) {
        w->flags[op] |= LISTED;
        w->ops[w->num_ops++] = op;
    }
}

static void touch_value(change_walk *w, uint32_t value)
{
    if (value != 0 && w->touched[value] == 0) {
        w->touched[value] = 1;
        w->values[w->num_values++] = value;
    }
}

static void touch_arguments(change_walk *w, uint32_t op)
{
    for (uint32_t i = 0; i < program_op(w->p, op)->num_regions; i++) {
        for (uint32_t b = op_entry_block(w->p, op, i); b != 0; b = program_block(w->p, b)->next) {
            for (uint32_t k = 0; k < program_block(w->p, b)->num_arguments; k++) {
                touch_value(w, block_argument(w->p, b, k));
            }
            list_op(w, program_block(w->p, b)->last_op);
        }
    }
}

/* What uses a value, and what those hand on. */
static void list_users(change_walk *w, uint32_t value)
{
    const uint32_t definition = value_op(w->p, value);
    for (uint32_t use = value_first_use(w->p, value); use != 0; use = use_next(w->p, use)) {
        const uint32_t user = use_op(w->p, use);
        if (op_is_erased(w->p, user)) {
            continue;
        }
        list_op(w, user);
        if (op_is(w->p, user, OP_SDY_PROPAGATION_BARRIER) &&
            program_op(w->p, user)->num_results > 0) {
            touch_value(w, op_result(w->p, user, 0));
        }
        touch_arguments(w, user);
    }
    if (definition != 0) {
        touch_arguments(w, definition);
    }
}

/* Whether an op is in the program; lists all that it is in, the outermost first, and the op. */
static bool climb(change_walk *w, uint32_t op)
{
    const uint32_t first = w->num_ops;
    uint32_t at = op;
    while (at != 0 && at != w->p->module && (w->flags[at] & CLIMBED) == 0) {
        at = op_parent(w->p, at);
    }
    if (at == 0) {
        return false;
    }
    for (at = op; at != 0 && (w->flags[at] & CLIMBED) == 0; at = op_parent(w->p, at)) {
        w->flags[at] |= CLIMBED;
        list_op(w, at);
    }
    for (uint32_t i = first, k = w->num_ops; i + 1 < k; i++) {
        const uint32_t inner = w->ops[i];
        w->ops[i] = w->ops[--k];
        w->ops[k] = inner;
    }
    return true;
}

/* Lists all that is inside an op. */
static void enter(change_walk *w, uint32_t op)
{
    const tsr_program *p = w->p;
    uint32_t next = 0;
    for (uint32_t inside = op_walk_next(p, op, op); inside != 0; inside = next) {
        const bool is_entered = (w->flags[inside] & ENTERED) != 0;
        next = is_entered ? op_walk_skip(p, op, inside) : op_walk_next(p, op, inside);
        list_op(w, inside);
    }
    w->flags[op] |= ENTERED;
}

static bool concerns_inside(const tsr_program *p, uint32_t op)
{
    const ir_row *row = program_row(p, op);
    const int kinds = changes_of_op(p, op);
    if ((kinds & CHANGE_REGIONS) != 0) {
        return true;
    }
    if (row != NULL && (row->traits & IR_SYMBOL) != 0) {
        return false;
    }
    return (kinds & CHANGE_PLACE) != 0 || (row != NULL && row->argument_shardings != NULL);
}

/* The op or the argument's op that has a value. */
static uint32_t home_of(const tsr_program *p, uint32_t value)
{
    const uint32_t block = value_block(p, value);
    return block != 0 ? block_parent(p, block) : value_op(p, value);
}

/* What an op that changed has a bearing on, itself aside. */
static void list_around(change_walk *w, uint32_t op)
{
    const ir_op *record = program_op(w->p, op);
    const int kinds = changes_of_op(w->p, op);
    for (uint32_t i = 0; kinds != CHANGE_BODY && i < record->num_results; i++) {
        touch_value(w, record->results + i);
    }
    if ((w->flags[op] & CLIMBED) == 0 || kinds == CHANGE_BODY) {
        return;
    }
    if ((kinds & CHANGE_PLACE) != 0) {
        list_op(w, record->prev);
    }
    if (op_is(w->p, op, OP_SDY_DATA_FLOW_EDGE) && record->num_operands > 0) {
        touch_value(w, op_operand(w->p, op, 0));
        list_op(w, home_of(w->p, op_operand(w->p, op, 0)));
    }
    touch_arguments(w, op);
    if (concerns_inside(w->p, op)) {
        enter(w, op);
    }
}

static void list_changed_value(change_walk *w, uint32_t value)
{
    const uint32_t op = home_of(w->p, value);
    touch_value(w, value);
    if (op != 0 && !op_is_erased(w->p, op)) {
        list_op(w, op);
    }
}

/* Ops that name symbols, by their rows. */
static void list_callers(change_walk *w)
{
    for (uint32_t op = w->p->module; op != 0; op = op_walk_next(w->p, w->p->module, op)) {
        const ir_row *row = program_row(w->p, op);
        if (row != NULL && (row->traits & IR_NAMES_SYMBOLS) != 0) {
            list_op(w, op);
        }
    }
}

static void list_all(change_walk *w)
{
    const ir_changes *c = &w->p->changes;
    const uint32_t *ops = c->ops.items;
    for (uint32_t i = 0; i < c->ops.count; i++) {
        (void)climb(w, ops[i]);
    }
    for (uint32_t i = 0; i < c->ops.count; i++) {
        list_around(w, ops[i]);
    }
    for (uint32_t i = 0; i < c->values.count; i++) {
        list_changed_value(w, ((const uint32_t *)c->values.items)[i]);
    }
    for (uint32_t i = 0; i < w->num_values; i++) {
        list_users(w, w->values[i]);
    }
    if ((c->subjects & CHANGED_SYMBOLS) != 0) {
        list_callers(w);
    }
}

/* ---- checks ---- */

/* The nearest op around one that uses nothing from outside. */
static uint32_t isolated_around(const tsr_program *p, uint32_t op)
{
    do {
        op = op_parent(p, op);
    } while (op != 0 &&
             (program_row(p, op) == NULL || (program_row(p, op)->traits & IR_ISOLATED) == 0));
    return op;
}

static tsr_status check_blocks(change_walk *w, uint32_t op)
{
    for (uint32_t i = 0; i < program_op(w->p, op)->num_regions; i++) {
        for (uint32_t b = op_entry_block(w->p, op, i); b != 0; b = program_block(w->p, b)->next) {
            TSR_TRY(verify_terminator(w->ctx, w->p, op, b));
        }
    }
    return TSR_OK;
}

static tsr_status check_entrance(change_walk *w, uint32_t op)
{
    return verify_entrance(w->ctx, w->p, op, w->types);
}

static tsr_status check_exit(change_walk *w, uint32_t op)
{
    TSR_TRY(check_blocks(w, op));
    return verify_exit(w->ctx, w->p, op, w->types);
}

static tsr_status check_uses(change_walk *w, uint32_t op)
{
    const uint32_t around = isolated_around(w->p, op);
    if ((w->p->changes.subjects & CHANGED_PLACES) == 0 || around == 0) {
        return TSR_OK;
    }
    TSR_TRY(verify_isolation(w->ctx, w->p, around, op));
    return verify_dominance(w->ctx, w->p, w->order, op);
}

static tsr_status check_symbols(change_walk *w, uint32_t op)
{
    return verify_op_symbols(w->ctx, w->p, op);
}

/* Each kind of check relies on those before it, on an op and on what it is in. */
static tsr_status check_listed(change_walk *w)
{
    static tsr_status (*const checks[])(change_walk * w, uint32_t op) = {check_entrance, check_exit,
                                                                         check_uses, check_symbols};
    const tsr_arena_mark mark = tsr_arena_get_mark(w->p->scratch);
    for (size_t k = 0; k < sizeof checks / sizeof checks[0]; k++) {
        for (uint32_t i = 0; i < w->num_ops; i++) {
            TSR_TRY(checks[k](w, w->ops[i]));
            tsr_arena_reset(w->p->scratch, mark);
        }
    }
    return TSR_OK;
}

static tsr_status start(change_walk *w)
{
    tsr_arena *arena = w->p->scratch;
    const size_t ops = w->p->ops.count;
    const size_t values = w->p->values.count;
    w->order = ARENA_ARRAY(arena, uint32_t, ops);
    w->flags = ARENA_ARRAY(arena, uint8_t, ops);
    w->touched = ARENA_ARRAY(arena, uint8_t, values);
    w->ops = ARENA_ARRAY(arena, uint32_t, ops);
    w->values = ARENA_ARRAY(arena, uint32_t, values);
    if (w->order == NULL || w->flags == NULL || w->touched == NULL || w->ops == NULL ||
        w->values == NULL) {
        return TSR_ERR_NOMEM;
    }
    memset(w->order, 0, ops * sizeof *w->order);
    memset(w->flags, 0, ops);
    memset(w->touched, 0, values);
    return type_checker_create(w->ctx, w->p, &w->types);
}

tsr_status verify_changed(tsr_context *ctx, tsr_program *p)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
    change_walk w = {.p = p};
    if (p->changes.ops.count == 0 && p->changes.values.count == 0) {
        return TSR_OK;
    }
    if (p->uses == NULL) {
        return TSR_ERR_INVALID;
    }
    ir_shardings_refresh(p);
    tsr_status status = context_create_like(ctx, &w.ctx);
    if (status >= 0) {
        status = start(&w);
    }
    if (status >= 0) {
        list_all(&w);
        status = check_listed(&w);
    }
    type_checker_destroy(w.types);
    tsr_context_destroy(w.ctx);
    tsr_arena_reset(p->scratch, mark);
    return status == TSR_ERR_NOMEM ? diag_nomem(ctx) : status < 0 ? TSR_ERR_INVALID : TSR_OK;
}
