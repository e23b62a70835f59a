/* Control flow: blocks, loops, branches, calls. */
#include "check/check.h"
#include "ir/edit.h"
#include "ir/message.h"

/* ---- conditions ---- */

typedef struct guard_state {
    axis_bits guards;
    uint32_t ops[MAX_SUB_AXES];
    uint32_t origins[MAX_SUB_AXES];
} guard_state;

static void save_guards(const checker *c, guard_state *out)
{
    out->guards = c->guards;
    memcpy(out->ops, c->guard_ops, sizeof out->ops);
    memcpy(out->origins, c->guard_origins, sizeof out->origins);
}

static void restore_guards(checker *c, const guard_state *saved)
{
    c->guards = saved->guards;
    memcpy(c->guard_ops, saved->ops, sizeof saved->ops);
    memcpy(c->guard_origins, saved->origins, sizeof saved->origins);
}

/* From here on what runs depends on a value. Returns the axes along which that varies. */
static axis_bits guard_by(checker *c, uint32_t op, const cell *condition)
{
    axis_bits varying = 0;
    for (size_t a = 0; a < c->s->count; a++) {
        if (is_manual(c, a) && !cell_is_shared(condition[a])) {
            varying |= axis_bit(a);
            if ((c->guards & axis_bit(a)) == 0) {
                c->guard_ops[a] = op;
                c->guard_origins[a] = condition[a].origin;
            }
        }
    }
    c->guards |= varying;
    return varying;
}

/* ---- what blocks end with ---- */

static uint32_t returned_value(const tsr_program *p, uint32_t block, size_t i)
{
    const uint32_t last = program_block(p, block)->last_op;
    return last != 0 && i < program_op(p, last)->num_operands ? op_operand(p, last, i) : 0;
}

tsr_status copy_returned(checker *c, uint32_t block, uint32_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t value = returned_value(c->p, block, i);
        const cell *from = cells_of(c, value);
        if (from == NULL) {
            return diag_nomem(c->ctx);
        }
        TSR_TRY(cells_set(c, first + (uint32_t)i, from));
    }
    return TSR_OK;
}

static tsr_status set_unknown(checker *c, uint32_t op, uint32_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cell *cells = cells_of(c, first + (uint32_t)i);
        if (cells == NULL) {
            return diag_nomem(c->ctx);
        }
        for (size_t a = 0; a < c->s->count; a++) {
            cells[a] = cell_unknown(c, a, op);
        }
    }
    return TSR_OK;
}

/* ---- loops ---- */

/* A loop under way: what it carries, as arguments of both regions. */
typedef struct loop {
    uint32_t op;
    uint32_t condition; /* blocks */
    uint32_t body;
    size_t count;
} loop;

static uint32_t carried(const checker *c, uint32_t block, size_t i)
{
    return program_pool(c->p, program_block(c->p, block)->arguments)[i];
}

/* Whether iteration leaves a carried value as it is. */
static bool is_invariant(const checker *c, const loop *l, size_t i)
{
    return returned_value(c->p, l->body, i) == carried(c, l->body, i);
}

/* Sets what is carried to what it is on entry. */
static tsr_status enter_loop(checker *c, const loop *l, bool is_known)
{
    for (size_t i = 0; i < l->count; i++) {
        const uint32_t value = carried(c, l->body, i);
        const cell *from = cells_of(c, op_operand(c->p, l->op, i));
        if (from == NULL) {
            return diag_nomem(c->ctx);
        }
        TSR_TRY(cells_set(c, value, from));
        if (!is_known && !is_invariant(c, l, i)) {
            TSR_TRY(set_unknown(c, l->op, value, 1));
        }
        from = cells_of(c, value);
        TSR_TRY(cells_set(c, carried(c, l->condition, i), from));
    }
    return TSR_OK;
}

/* A value that is carried on as many times as devices differ in differs. */
static tsr_status join_iteration(checker *c, const loop *l, size_t i, axis_bits varying,
                                 bool *changed)
{
    cell *at = cells_of(c, carried(c, l->body, i));
    const cell *next = cells_of(c, returned_value(c->p, l->body, i));
    if (at == NULL || next == NULL) {
        return diag_nomem(c->ctx);
    }
    for (size_t a = 0; a < c->s->count; a++) {
        cell joined = cell_join(c, a, at[a], next[a]);
        if ((varying & axis_bit(a)) != 0 && !is_invariant(c, l, i) && joined.kind != CELL_VARYING) {
            joined = cell_varying(NO_DIM, l->op);
        }
        *changed = *changed || !cell_equal(joined, at[a]);
        at[a] = joined;
    }
    return cells_set(c, carried(c, l->condition, i), at);
}

/* Both regions once, guarded by the condition. Returns the axes along which that varies. */
static tsr_status run_loop(checker *c, const loop *l, axis_bits *varying)
{
    guard_state saved;
    save_guards(c, &saved);
    const bool quiet = c->quiet;
    c->quiet = true;
    tsr_status status = visit_block(c, l->condition);
    const cell *condition = cells_of(c, returned_value(c->p, l->condition, 0));
    c->quiet = quiet;
    if (status >= 0 && condition == NULL) {
        status = diag_nomem(c->ctx);
    }
    if (status >= 0) {
        *varying = guard_by(c, l->op, condition);
        status = c->quiet ? TSR_OK : visit_block(c, l->condition);
    }
    if (status >= 0) {
        status = visit_block(c, l->body);
    }
    restore_guards(c, &saved);
    return status;
}

/* Iterates until nothing changes. */
static tsr_status settle_loop(checker *c, const loop *l)
{
    const bool quiet = c->quiet;
    bool changed = true;
    tsr_status status = TSR_OK;
    c->quiet = true;
    while (status >= 0 && changed && c->budget > 0) {
        axis_bits varying = 0;
        changed = false;
        status = run_loop(c, l, &varying);
        for (size_t i = 0; status >= 0 && i < l->count; i++) {
            status = join_iteration(c, l, i, varying, &changed);
        }
    }
    c->quiet = quiet;
    return status < 0 || c->budget > 0 ? status : enter_loop(c, l, false);
}

tsr_status visit_while(checker *c, uint32_t op)
{
    const loop l = {op, op_entry_block(c->p, op, 0), op_entry_block(c->p, op, 1),
                    program_op(c->p, op)->num_results};
    axis_bits varying = 0;
    TSR_TRY(enter_loop(c, &l, c->budget > 0));
    TSR_TRY(settle_loop(c, &l));
    if (!c->quiet) {
        TSR_TRY(run_loop(c, &l, &varying));
    }
    for (size_t i = 0; i < l.count; i++) {
        const cell *from = cells_of(c, carried(c, l.body, i));
        TSR_TRY(cells_set(c, program_op(c->p, op)->results + (uint32_t)i, from));
    }
    return TSR_OK;
}

/* ---- branches ---- */

static bool returns_one_value(const checker *c, uint32_t op, size_t i)
{
    const uint32_t first = returned_value(c->p, op_entry_block(c->p, op, 0), i);
    for (uint32_t r = 1; r < program_op(c->p, op)->num_regions; r++) {
        if (returned_value(c->p, op_entry_block(c->p, op, r), i) != first) {
            return false;
        }
    }
    return true;
}

static tsr_status join_branches(checker *c, uint32_t op, size_t i, axis_bits varying)
{
    const ir_op *record = program_op(c->p, op);
    cell *out = cells_of(c, record->results + (uint32_t)i);
    for (uint32_t r = 0; r < record->num_regions; r++) {
        const cell *from = cells_of(c, returned_value(c->p, op_entry_block(c->p, op, r), i));
        if (out == NULL || from == NULL) {
            return diag_nomem(c->ctx);
        }
        for (size_t a = 0; a < c->s->count; a++) {
            out[a] = r == 0 ? from[a] : cell_join(c, a, out[a], from[a]);
        }
    }
    for (size_t a = 0; a < c->s->count; a++) {
        if ((varying & axis_bit(a)) != 0 && cell_is_shared(out[a]) &&
            !returns_one_value(c, op, i)) {
            out[a] = cell_varying(NO_DIM, op);
        }
    }
    return TSR_OK;
}

tsr_status visit_branches(checker *c, uint32_t op)
{
    guard_state saved;
    const ir_op record = *program_op(c->p, op);
    const cell *condition = cells_of(c, op_operand(c->p, op, 0));
    tsr_status status = TSR_OK;
    if (condition == NULL) {
        return diag_nomem(c->ctx);
    }
    save_guards(c, &saved);
    const axis_bits varying = guard_by(c, op, condition);
    for (uint32_t r = 0; status >= 0 && r < record.num_regions; r++) {
        status = visit_block(c, op_entry_block(c->p, op, r));
    }
    restore_guards(c, &saved);
    for (uint32_t i = 0; status >= 0 && i < record.num_results; i++) {
        status = join_branches(c, op, i, varying);
    }
    return status;
}

/* ---- calls ---- */

enum { MAX_CALLS = 256 };

/* Whether a function is walked already, or too many are. */
static bool is_active(const checker *c, uint32_t func)
{
    size_t depth = 0;
    for (const active_call *call = c->calls; call != NULL; call = call->outer) {
        depth++;
        if (call->func == func) {
            return true;
        }
    }
    return depth >= MAX_CALLS;
}

/* The operands of an op become the arguments of a block. */
static tsr_status pass_arguments(checker *c, uint32_t op, uint32_t block)
{
    const ir_block *b = program_block(c->p, block);
    for (uint32_t i = 0; i < b->num_arguments && i < program_op(c->p, op)->num_operands; i++) {
        const cell *from = cells_of(c, op_operand(c->p, op, i));
        if (from == NULL) {
            return diag_nomem(c->ctx);
        }
        TSR_TRY(cells_set(c, program_pool(c->p, b->arguments)[i], from));
    }
    return TSR_OK;
}

tsr_status visit_function(checker *c, uint32_t func)
{
    const active_call call = {c->calls, func};
    c->calls = &call;
    const tsr_status status = visit_block(c, op_entry_block(c->p, func, 0));
    c->calls = call.outer;
    return status;
}

tsr_status check_callee(checker *c, uint32_t op, uint32_t *out)
{
    slice name = {0};
    const bool is_composite = op_is(c->p, op, OP_STABLEHLO_COMPOSITE);
    *out = 0;
    if ((is_composite || op_is(c->p, op, OP_FUNC_CALL)) &&
        attr_as_symbol(c->p, op_property(c->p, op, is_composite ? "decomposition" : "callee"),
                       &name)) {
        TSR_TRY(program_symbol(c->ctx, c->p, op, name, out));
    }
    return TSR_OK;
}

tsr_status visit_call(checker *c, uint32_t op)
{
    const ir_op record = *program_op(c->p, op);
    uint32_t func = 0;
    TSR_TRY(check_callee(c, op, &func));
    const uint32_t block = func != 0 ? op_entry_block(c->p, func, 0) : 0;
    if (block == 0 || is_active(c, func) || c->budget <= 0) {
        return set_unknown(c, op, record.results, record.num_results);
    }
    TSR_TRY(pass_arguments(c, op, block));
    TSR_TRY(visit_function(c, func));
    return copy_returned(c, block, record.results, record.num_results);
}

tsr_status visit_named(checker *c, uint32_t op)
{
    const uint32_t block = op_entry_block(c->p, op, 0);
    const ir_op record = *program_op(c->p, op);
    TSR_TRY(pass_arguments(c, op, block));
    TSR_TRY(visit_block(c, block));
    return copy_returned(c, block, record.results, record.num_results);
}
