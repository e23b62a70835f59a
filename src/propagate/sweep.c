/*
 * A sweep: every op is visited in the order of the program, and again whenever a sharding around
 * it changes. Ops that nothing uses and that have no effect are erased on the way.
 */
#include <string.h>

#include "base/arena.h"
#include "ir/message.h"
#include "ir/row.h"
#include "propagate/state.h"

/* ---- the stack ---- */

static tsr_status push(propagation *s, uint32_t op)
{
    if (op == s->visiting || op == 0 || s->in_stack[op]) {
        return TSR_OK;
    }
    s->in_stack[op] = 1;
    s->stack[s->stack_size++] = op;
    return TSR_OK;
}

/* Fills the stack so that ops come off in the order of the program, outer ones first. */
static tsr_status fill(propagation *s)
{
    const tsr_program *p = s->w.p;
    size_t count = 0;
    if (s->stack == NULL) {
        s->stack_room = p->ops.count;
        s->stack = ARENA_ARRAY(s->w.arena, uint32_t, s->stack_room);
        s->in_stack = ARENA_ARRAY(s->w.arena, uint8_t, s->stack_room);
        s->gone = ARENA_ARRAY(s->w.arena, uint8_t, s->stack_room);
        s->notifying = ARENA_ARRAY(s->w.arena, uint8_t, p->values.count);
        if (s->stack == NULL || s->in_stack == NULL || s->gone == NULL || s->notifying == NULL) {
            return diag_nomem(s->w.ctx);
        }
        memset(s->in_stack, 0, s->stack_room);
        memset(s->gone, 0, s->stack_room);
        memset(s->notifying, 0, p->values.count);
    }
    for (uint32_t op = op_walk_next(p, p->module, p->module); op != 0;
         op = op_walk_next(p, p->module, op)) {
        s->stack[count++] = op;
        s->in_stack[op] = 1;
    }
    for (size_t i = 0; i < count / 2; i++) {
        const uint32_t op = s->stack[i];
        s->stack[i] = s->stack[count - 1 - i];
        s->stack[count - 1 - i] = op;
    }
    s->stack_size = count;
    return TSR_OK;
}

/* ---- what a change concerns ---- */

static tsr_status notify_users(propagation *s, uint32_t value);

/* A value that a function returns: users of the results of its calls. */
static tsr_status notify_callers(propagation *s, uint32_t func, uint32_t index)
{
    uint32_t call = calls_first(s, func);
    if (call == 0) {
        return push(s, func);
    }
    for (; call != 0; call = calls_next(s, call)) {
        if (!op_is_erased(s->w.p, call)) {
            TSR_TRY(notify_users(s, op_result(s->w.p, call, index)));
        }
    }
    return TSR_OK;
}

static tsr_status notify_callee(propagation *s, uint32_t call, uint32_t index)
{
    const uint32_t func = calls_callee(s, call);
    const uint32_t block = func != 0 ? op_entry_block(s->w.p, func, 0) : 0;
    return block != 0 ? notify_users(s, block_argument(s->w.p, block, index)) : TSR_OK;
}

static tsr_status notify_use(propagation *s, uint32_t use)
{
    const tsr_program *p = s->w.p;
    const uint32_t user = use_op(p, use);
    const uint32_t edge = edge_of_use(p, use);
    if (edge != 0) {
        return push(s, edge);
    }
    if (op_has_trait(p, user, IR_TERMINATOR)) {
        return op_is(p, user, OP_FUNC_RETURN)
                   ? notify_callers(s, op_parent(p, user), use_index(p, use))
                   : push(s, op_parent(p, user));
    }
    return s->calls != NULL && op_is(p, user, OP_FUNC_CALL)
               ? notify_callee(s, user, use_index(p, use))
               : push(s, user);
}

/*
 * Through a function that returns its argument the users of a value are its own: what is under way
 * is not begun again.
 */
static tsr_status notify_users(propagation *s, uint32_t value)
{
    enum { MAX_CALLS = 4096 };
    const tsr_program *p = s->w.p;
    if (s->notifying[value]) {
        return TSR_OK;
    }
    if (s->notify_depth == MAX_CALLS) {
        return diag_error(s->w.ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "functions call each other more than %d levels deep", MAX_CALLS);
    }
    s->notifying[value] = 1;
    s->notify_depth++;
    tsr_status status = TSR_OK;
    for (uint32_t use = value_first_use(p, value); use != 0 && status >= 0;
         use = use_next(p, use)) {
        status = notify_use(s, use);
    }
    s->notify_depth--;
    s->notifying[value] = 0;
    return status;
}

tsr_status sweep_notify(propagation *s, uint32_t place)
{
    const tsr_program *p = s->w.p;
    if (place == 0 || place >= s->num_values) {
        return TSR_OK;
    }
    const uint32_t op = value_op(p, place);
    const name_info *info = NULL;
    if (op != 0) {
        TSR_TRY(rule_name_of_op(s, op, &info));
    }
    if (info != NULL && info->visit == VISIT_EDGE) {
        uint32_t targets[2];
        const size_t count = edge_targets(s, op, targets);
        for (size_t i = 0; i < count; i++) {
            TSR_TRY(notify_users(s, targets[i]));
        }
    }
    TSR_TRY(push(s, op != 0 ? op : block_parent(p, value_block(p, place))));
    return notify_users(s, place);
}

/* ---- ops that nothing needs ---- */

/* Whether more than one op beside `op` uses a value. */
static bool has_other_users(const tsr_program *p, uint32_t value, uint32_t op)
{
    uint32_t other = 0;
    for (uint32_t use = value_first_use(p, value); use != 0; use = use_next(p, use)) {
        const uint32_t user = use_op(p, use);
        if (user != op && user != other) {
            if (other != 0) {
                return true;
            }
            other = user;
        }
    }
    return false;
}

/* Takes one op away that has no regions left; what defines its operands may go next. */
static tsr_status erase_single(propagation *s, uint32_t op)
{
    tsr_program *p = s->w.p;
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        const uint32_t value = op_operand(p, op, i);
        if (value_op(p, value) != 0 && !has_other_users(p, value, op)) {
            TSR_TRY(push(s, value_op(p, value)));
        }
    }
    TSR_TRY(debug_erase(s, op));
    s->gone[op] = 1;
    op_erase(p, op);
    return TSR_OK;
}

/* The last op inside another, itself when there is none. */
static uint32_t last_inside(const tsr_program *p, uint32_t op)
{
    for (uint32_t r = program_op(p, op)->num_regions; r > 0; r--) {
        uint32_t block = program_region(p, op_region_at(p, op, r - 1))->last_block;
        for (; block != 0; block = program_block(p, block)->prev) {
            if (program_block(p, block)->last_op != 0) {
                return last_inside(p, program_block(p, block)->last_op);
            }
        }
    }
    return op;
}

/* Takes an op away, what is inside it first, from the last on. */
static tsr_status erase(propagation *s, uint32_t op)
{
    for (uint32_t inside = last_inside(s->w.p, op); inside != op;
         inside = last_inside(s->w.p, op)) {
        TSR_TRY(erase_single(s, inside));
    }
    return erase_single(s, op);
}

static tsr_status run_stack(propagation *s)
{
    while (s->stack_size > 0) {
        const uint32_t op = s->stack[--s->stack_size];
        s->in_stack[op] = 0;
        if (s->gone[op]) {
            continue;
        }
        s->visiting = op;
        TSR_TRY(op_is_unused(s->w.p, op) ? erase(s, op) : visit_one(s, op));
    }
    s->visiting = 0;
    return TSR_OK;
}

tsr_status sweep(propagation *s)
{
    TSR_TRY(visit_results(s));
    TSR_TRY(fill(s));
    TSR_TRY(run_stack(s));
    return visit_results(s);
}
