/*
 * Constants and broadcast scalars: a copy for each use, so that each can be sharded as its user
 * needs it, and one for all again.
 */
#include <string.h>

#include "base/arena.h"
#include "ir/params.h"
#include "transform/call_graph.h"
#include "transform/passes.h"

static bool is_scalar(const tsr_program *p, uint32_t value)
{
    const type_head *type = program_type(p, value_type(p, value));
    return type->kind == TYPE_TENSOR && type->count == 0;
}

/* A broadcast of a scalar. */
static bool is_expansion(const tsr_program *p, uint32_t op)
{
    return op_is(p, op, OP_STABLEHLO_BROADCAST_IN_DIM) && is_scalar(p, op_operand(p, op, 0));
}

/* ---- what a constant may flow through ---- */

static bool is_rank_kept(const tsr_program *p, uint32_t op)
{
    return program_type(p, value_type(p, op_operand(p, op, 0)))->count ==
           program_type(p, value_type(p, op_result(p, op, 0)))->count;
}

/* Whether an op of that name is without effects and gives constants for constants. */
static bool name_preserves(const tsr_program *p, uint32_t op)
{
    static const bool kinds[OP_KIND_COUNT] = {
        [OP_STABLEHLO_BROADCAST_IN_DIM] = true,
        [OP_STABLEHLO_RESHAPE] = true,
        [OP_STABLEHLO_SLICE] = true,
        [OP_STABLEHLO_UNIFORM_QUANTIZE] = true,
        [OP_STABLEHLO_UNIFORM_DEQUANTIZE] = true,
        [OP_SDY_RESHARD] = true,
        [OP_SDY_PROPAGATION_BARRIER] = true,
    };
    const op_kind kind = op_kind_of(p, op);
    const ir_row *row = program_row(p, op);
    const op_row *computed = ir_op_row(p, op);
    if (row == NULL || (row->traits & (IR_EFFECTS | IR_TERMINATOR)) != 0) {
        return false;
    }
    if (op_kind_is_chlo(kind)) {
        return op_kind_broadcasts(kind) || (row->num_operands == 1 && row->num_results == 1);
    }
    if (computed != NULL && (computed->traits & OP_ELEMENTWISE) != 0) {
        return true;
    }
    return kinds[kind];
}

/* ---- one copy for each use ---- */

typedef enum constant_kind { NOT_CONSTANT, CONSTANT, EXPANSION } constant_kind;

typedef enum preserving { UNKNOWN, PRESERVES, DOES_NOT } preserving;

typedef struct splitting {
    workspace *w;
    symbols table;
    uint8_t *kinds; /* constant_kind, by op; ops that are made later have none */
    uint32_t num_ops;
    uint8_t *names;          /* preserving, by name of op */
    uint32_t num_names;      /* those at the start */
    map marked_computations; /* by name: not constant, whatever goes in */
    map marked_functions;    /* by original name */
    map groups;              /* by value: an op_list */
    op_list constants;       /* of one walk */
    op_list expansions;      /* likewise */
} splitting;

static constant_kind kind_of(const splitting *s, uint32_t op)
{
    return op < s->num_ops ? (constant_kind)s->kinds[op] : NOT_CONSTANT;
}

static bool is_marked(const map *marks, uint32_t attr)
{
    return map_find(marks, (const char *)&attr, sizeof attr) != NULL;
}

static tsr_status mark(splitting *s, map *marks, uint32_t attr)
{
    return workspace_entry(s->w, marks, &attr, sizeof attr) != NULL ? TSR_OK
                                                                    : diag_nomem(s->w->ctx);
}

static bool preserves(splitting *s, uint32_t op)
{
    const tsr_program *p = s->w->p;
    if (op_is(p, op, OP_FUNC_CALL)) {
        const uint32_t func = symbols_callee(p, &s->table, op);
        return func != 0 && !is_marked(&s->marked_functions, call_graph_original_name(p, func));
    }
    if (op_is(p, op, OP_SDY_NAMED_COMPUTATION)) {
        return !is_marked(&s->marked_computations, op_property(p, op, "name"));
    }
    if (op_is(p, op, OP_STABLEHLO_BITCAST_CONVERT)) {
        return is_rank_kept(p, op);
    }
    const uint32_t name = program_op(p, op)->name;
    if (name >= s->num_names) {
        return name_preserves(p, op);
    }
    if (s->names[name] == UNKNOWN) {
        s->names[name] = name_preserves(p, op) ? PRESERVES : DOES_NOT;
    }
    return s->names[name] == PRESERVES;
}

static bool is_constant(splitting *s, uint32_t op, bool op_preserves)
{
    const tsr_program *p = s->w->p;
    if (op_is(p, op, OP_SDY_CONSTANT) || op_is(p, op, OP_STABLEHLO_IOTA)) {
        return true;
    }
    for (uint32_t i = 0; op_preserves && i < program_op(p, op)->num_operands; i++) {
        const uint32_t from = value_op(p, op_operand(p, op, i));
        if (from == 0 || kind_of(s, from) != CONSTANT) {
            return false;
        }
    }
    return op_preserves;
}

/* The groups that a value is in, in the order of its uses, which other uses do not change. */
static tsr_status groups_of(splitting *s, uint32_t value, const op_list **out)
{
    const tsr_program *p = s->w->p;
    uint64_t *known = workspace_entry(s->w, &s->groups, &value, sizeof value);
    if (known == NULL) {
        return diag_nomem(s->w->ctx);
    }
    if (*known == 0) {
        op_list *list = ARENA_NEW(s->w->arena, op_list);
        if (list == NULL) {
            return diag_nomem(s->w->ctx);
        }
        *list = (op_list){0};
        for (uint32_t use = value_first_use(p, value); use != 0; use = use_next(p, use)) {
            if (op_is(p, use_op(p, use), OP_SDY_SHARDING_GROUP)) {
                TSR_TRY(op_list_add(s->w, list, use_op(p, use)));
            }
        }
        *known = (uint64_t)(uintptr_t)list;
    }
    *out = (const op_list *)(uintptr_t)*known;
    return TSR_OK;
}

/* Copies the groups that a value is in, for its copy. */
static tsr_status clone_groups(splitting *s, uint32_t value, value_map *became)
{
    tsr_program *p = s->w->p;
    const op_list *groups = NULL;
    TSR_TRY(groups_of(s, value, &groups));
    for (size_t i = 0; i < groups->count; i++) {
        uint32_t copy = 0;
        TSR_TRY(op_clone(p, groups->ops[i], became, &copy));
        op_insert_before(p, copy, value_op(p, value));
    }
    return TSR_OK;
}

/* Copies the definition of a value, whose operands have been copied, right before it. */
static tsr_status clone_definition(splitting *s, uint32_t value, value_map *became)
{
    tsr_program *p = s->w->p;
    const uint32_t op = value_op(p, value);
    uint32_t copy = 0;
    TSR_TRY(op_clone(p, op, became, &copy));
    op_insert_before(p, copy, op);
    if (op_is(p, op, OP_FUNC_CALL)) {
        const uint32_t callee = symbols_callee(p, &s->table, op);
        uint32_t func = 0;
        TSR_TRY(call_graph_clone(s->w, &s->table, callee, &func));
        TSR_TRY(symbols_set_callee(p, copy, func));
    }
    return clone_groups(s, value, became);
}

/* Whether a value is to be copied, and has not been yet. */
static bool needs_clone(const splitting *s, uint32_t value, const value_map *became)
{
    const tsr_program *p = s->w->p;
    return value_op(p, value) != 0 && !is_scalar(p, value) && value_map_get(became, value) == value;
}

typedef struct clone_step {
    uint32_t value;
    uint32_t next; /* operand of its definition */
} clone_step;

typedef struct clone_stack {
    clone_step *steps;
    size_t count;
    size_t room;
} clone_stack;

static tsr_status push(workspace *w, clone_stack *stack, uint32_t value)
{
    if (stack->count == stack->room) {
        const size_t room = stack->room > 0 ? 2 * stack->room : 16;
        clone_step *steps = ARENA_ARRAY(w->scratch, clone_step, room);
        if (steps == NULL) {
            return diag_nomem(w->ctx);
        }
        for (size_t i = 0; i < stack->count; i++) {
            steps[i] = stack->steps[i];
        }
        stack->steps = steps;
        stack->room = room;
    }
    stack->steps[stack->count++] = (clone_step){.value = value};
    return TSR_OK;
}

/* Copies all that a value is computed from, operands first, and the value last. */
static tsr_status clone_steps(splitting *s, uint32_t value, value_map *became)
{
    const tsr_program *p = s->w->p;
    clone_stack stack = {0};
    TSR_TRY(push(s->w, &stack, value));
    while (stack.count > 0) {
        clone_step *step = &stack.steps[stack.count - 1];
        const uint32_t op = value_op(p, step->value);
        if (step->next < program_op(p, op)->num_operands) {
            const uint32_t operand = op_operand(p, op, step->next++);
            if (needs_clone(s, operand, became)) {
                TSR_TRY(push(s->w, &stack, operand));
            }
        } else {
            const uint32_t done = step->value;
            stack.count--;
            TSR_TRY(clone_definition(s, done, became));
        }
    }
    return TSR_OK;
}

static tsr_status clone_value(splitting *s, uint32_t value, uint32_t *out)
{
    *out = value;
    if (is_scalar(s->w->p, value)) {
        return TSR_OK;
    }
    value_map became = {.ctx = s->w->p->ctx};
    const tsr_arena_mark mark_of = tsr_arena_get_mark(s->w->scratch);
    const tsr_status status = clone_steps(s, value, &became);
    *out = value_map_get(&became, value);
    value_map_free(&became);
    tsr_arena_reset(s->w->scratch, mark_of);
    return status;
}

static tsr_status split_operands(splitting *s, uint32_t op)
{
    tsr_program *p = s->w->p;
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        const uint32_t value = op_operand(p, op, i);
        const uint32_t from = value_op(p, value);
        uint32_t copy = 0;
        if (from != 0 && kind_of(s, from) != NOT_CONSTANT) {
            TSR_TRY(clone_value(s, value, &copy));
            op_set_operand(p, op, i, copy);
        }
    }
    return TSR_OK;
}

/* What is around an op whose results are not constant is not constant either. */
static tsr_status mark_around(splitting *s, uint32_t op)
{
    const tsr_program *p = s->w->p;
    const uint32_t computation = enclosing(p, op, OP_SDY_NAMED_COMPUTATION);
    const uint32_t func = enclosing(p, op, OP_FUNC_FUNC);
    if (computation != 0) {
        TSR_TRY(mark(s, &s->marked_computations, op_property(p, computation, "name")));
    }
    return func != 0 ? mark(s, &s->marked_functions, call_graph_original_name(p, func)) : TSR_OK;
}

static tsr_status split_op(splitting *s, uint32_t op, bool *marked)
{
    const tsr_program *p = s->w->p;
    const bool op_preserves = preserves(s, op);
    if (is_constant(s, op, op_preserves)) {
        s->kinds[op] = CONSTANT;
        return op_list_add(s->w, &s->constants, op);
    }
    if (!op_preserves && !*marked && !op_has_trait(p, op, IR_TERMINATOR)) {
        *marked = true;
        TSR_TRY(mark_around(s, op));
    }
    if (is_expansion(p, op)) {
        s->kinds[op] = EXPANSION;
        return op_list_add(s->w, &s->expansions, op);
    }
    return split_operands(s, op);
}

static bool is_in_groups_only(const tsr_program *p, uint32_t op)
{
    for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
        for (uint32_t use = value_first_use(p, op_result(p, op, i)); use != 0;
             use = use_next(p, use)) {
            if (!op_is(p, use_op(p, use), OP_SDY_SHARDING_GROUP)) {
                return false;
            }
        }
    }
    return true;
}

/* Erases an op that nothing uses, with the groups that it is in. */
static void erase_unused(tsr_program *p, uint32_t op)
{
    if (!is_in_groups_only(p, op)) {
        return;
    }
    for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
        const uint32_t value = op_result(p, op, i);
        while (value_has_uses(p, value)) {
            op_erase(p, use_op(p, value_first_use(p, value)));
        }
    }
    op_erase(p, op);
}

/* Splits what is in an op, without the named computations in it. */
static tsr_status split_inside(splitting *s, uint32_t root)
{
    tsr_program *p = s->w->p;
    bool marked = false;
    uint32_t next = 0;
    s->constants.count = 0;
    s->expansions.count = 0;
    for (uint32_t op = op_walk_next(p, root, root); op != 0; op = next) {
        if (!op_is(p, op, OP_SDY_SHARDING_GROUP)) {
            TSR_TRY(split_op(s, op, &marked));
        }
        next = op_is(p, op, OP_SDY_NAMED_COMPUTATION) ? op_walk_skip(p, root, op)
                                                      : op_walk_next(p, root, op);
    }
    for (size_t i = 0; i < s->expansions.count; i++) {
        erase_unused(p, s->expansions.ops[i]);
    }
    for (size_t i = s->constants.count; i > 0; i--) {
        erase_unused(p, s->constants.ops[i - 1]);
    }
    return TSR_OK;
}

/* The named computations of a function, inner ones first, then the rest of it. */
static tsr_status split_function(splitting *s, uint32_t func)
{
    const tsr_program *p = s->w->p;
    op_list computations = {0};
    for (uint32_t op = op_post_first(p, func); op != func; op = op_post_next(p, func, op)) {
        if (op_is(p, op, OP_SDY_NAMED_COMPUTATION)) {
            TSR_TRY(op_list_add(s->w, &computations, op));
        }
    }
    for (size_t i = 0; i < computations.count; i++) {
        TSR_TRY(split_inside(s, computations.ops[i]));
    }
    return split_inside(s, func);
}

/* Makes constants those of sdy; their uses count as made anew, from the one made last. */
static tsr_status take_constants(workspace *w)
{
    tsr_program *p = w->p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, OP_STABLEHLO_CONSTANT)) {
            TSR_TRY(op_set_kind(p, op, OP_SDY_CONSTANT));
            value_replace_uses(p, op_result(p, op, 0), op_result(p, op, 0), 0);
        }
    }
    return TSR_OK;
}

static tsr_status split_constants(workspace *w)
{
    tsr_program *p = w->p;
    op_list funcs;
    TSR_TRY(take_constants(w));
    splitting s = {.w = w,
                   .kinds = ARENA_ARRAY(w->arena, uint8_t, p->ops.count),
                   .num_ops = p->ops.count,
                   .names = ARENA_ARRAY(w->arena, uint8_t, p->op_names.count + 1),
                   .num_names = (uint32_t)p->op_names.count,
                   .marked_computations = map_new(w->arena),
                   .marked_functions = map_new(w->arena),
                   .groups = map_new(w->arena)};
    if (s.kinds == NULL || s.names == NULL) {
        return diag_nomem(w->ctx);
    }
    memset(s.kinds, NOT_CONSTANT, s.num_ops);
    memset(s.names, UNKNOWN, s.num_names);
    TSR_TRY(symbols_load(w, &s.table));
    TSR_TRY(call_graph_post_order(w, &s.table, &funcs));
    for (size_t i = 0; i < funcs.count; i++) {
        TSR_TRY(split_function(&s, funcs.ops[i]));
    }
    return TSR_OK;
}

/* ---- one for all ---- */

/* What makes two constants or broadcasts one. */
typedef struct constant_key {
    uint32_t region;
    uint32_t properties;
    uint32_t attributes;
    uint32_t scalar; /* of a broadcast */
    uint32_t type;   /* likewise */
} constant_key;

static bool key_of(const tsr_program *p, uint32_t op, constant_key *out)
{
    static const bool kinds[OP_KIND_COUNT] = {[OP_SDY_CONSTANT] = true,
                                              [OP_STABLEHLO_CONSTANT] = true,
                                              [OP_CHLO_CONSTANT] = true,
                                              [OP_ARITH_CONSTANT] = true};
    const ir_op *o = program_op(p, op);
    *out = (constant_key){.properties = o->properties, .attributes = o->attributes};
    if (o->block == 0 || o->num_results != 1) {
        return false;
    }
    out->region = program_block(p, o->block)->region;
    if (is_expansion(p, op)) {
        out->scalar = op_operand(p, op, 0);
        out->type = value_type(p, o->results);
        return true;
    }
    return kinds[op_kind_of(p, op)];
}

static tsr_status merge_constants(workspace *w)
{
    tsr_program *p = w->p;
    map first = map_new(w->arena);
    uint32_t next = 0;
    for (uint32_t op = p->module; op != 0; op = next) {
        constant_key key;
        next = op_walk_next(p, p->module, op);
        if (!key_of(p, op, &key)) {
            continue;
        }
        uint64_t *entry = workspace_entry(w, &first, &key, sizeof key);
        if (entry == NULL) {
            return diag_nomem(w->ctx);
        }
        if (*entry == 0) {
            *entry = op;
        } else {
            value_replace_uses(p, op_result(p, op, 0), op_result(p, (uint32_t)*entry, 0), 0);
            op_erase(p, op);
        }
    }
    return TSR_OK;
}

/* ---- passes ---- */

WORKSPACE_PASS(pass_split_constants, split_constants)
WORKSPACE_PASS(pass_merge_constants, merge_constants)
