/* The walk over a program: which functions, and how each op is looked at. */
#include "check/check.h"
#include "base/guard.h"
#include "ir/edit.h"
#include "ir/message.h"

/* ---- ops ---- */

/* What is not computed by a row of ops. All others are. */
static op_visit *const visits[OP_KIND_COUNT] = {
    [OP_STABLEHLO_WHILE] = visit_while,
    [OP_STABLEHLO_CASE] = visit_branches,
    [OP_STABLEHLO_IF] = visit_branches,
    [OP_FUNC_CALL] = visit_call,
    [OP_STABLEHLO_COMPOSITE] = visit_call,
    [OP_SDY_NAMED_COMPUTATION] = visit_named,
    [OP_SDY_MANUAL_COMPUTATION] = visit_manual,
    [OP_STABLEHLO_CONSTANT] = visit_constant,
    [OP_SDY_CONSTANT] = visit_constant,
    [OP_STABLEHLO_PARTITION_ID] = visit_device_id,
    [OP_STABLEHLO_REPLICA_ID] = visit_device_id,
    [OP_STABLEHLO_DIVIDE] = visit_digit,
    [OP_STABLEHLO_REMAINDER] = visit_digit,
    [OP_STABLEHLO_DYNAMIC_SLICE] = visit_table,
    [OP_STABLEHLO_RNG] = visit_unknown,
    [OP_STABLEHLO_INFEED] = visit_unknown,
    [OP_STABLEHLO_RECV] = visit_unknown,
    [OP_STABLEHLO_OPTIMIZATION_BARRIER] = pass_op,
    [OP_SDY_SHARDING_CONSTRAINT] = pass_op,
    [OP_SDY_RESHARD] = pass_op,
    [OP_SDY_PROPAGATION_BARRIER] = pass_op,
    [OP_SDY_DATA_FLOW_EDGE] = pass_op,
    [OP_SDY_ALL_GATHER] = pass_op,
    [OP_SDY_ALL_SLICE] = pass_op,
    [OP_SDY_ALL_TO_ALL] = pass_op,
    [OP_SDY_ALL_REDUCE] = pass_op,
    [OP_SDY_REDUCE_SCATTER] = pass_op,
    [OP_SDY_COLLECTIVE_PERMUTE] = pass_op,
    [OP_SDY_SHARDED_TO_UNREDUCED] = pass_op,
    [OP_SDY_REPLICATED_TO_UNREDUCED] = pass_op,
};

static op_visit *find_visit(const checker *c, uint32_t op)
{
    const op_kind kind = op_kind_of(c->p, op);
    if (visits[kind] != NULL) {
        return visits[kind];
    }
    return is_collective(c->p, op) ? visit_collective : infer_op;
}

/* Along automatic axes, what the program says of a result counts. */
static tsr_status apply_own_shardings(checker *c, uint32_t op)
{
    const ir_op record = *program_op(c->p, op);
    for (uint32_t i = 0; i < record.num_results; i++) {
        const tsr_sharding *sharding = NULL;
        TSR_TRY(value_sharding(c->ctx, c->p, record.results + i, &sharding));
        if (sharding != NULL) {
            TSR_TRY(apply_sharding(c, op, record.results + i, sharding));
        }
        TSR_TRY(keep_single_uses(c, record.results + i));
    }
    return TSR_OK;
}

static tsr_status visit_op(checker *c, uint32_t op)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(c->scratch);
    c->budget--;
    TSR_TRY(find_visit(c, op)(c, op));
    TSR_TRY(apply_own_shardings(c, op));
    tsr_arena_reset(c->scratch, mark);
    return TSR_OK;
}

tsr_status visit_block(checker *c, uint32_t block)
{
    const uint32_t last = block != 0 ? program_block(c->p, block)->last_op : 0;
    uint32_t op = block != 0 ? program_block(c->p, block)->first_op : 0;
    for (; op != 0 && op != last; op = program_op(c->p, op)->next) {
        TSR_TRY(visit_op(c, op));
    }
    return TSR_OK;
}

/* ---- functions ---- */

/* What is known of each function before it is walked, by op. */
typedef struct func_facts {
    bool *is_called;
    bool *is_local; /* it reaches a collective outside of manual computations */
} func_facts;

static bool is_function(const tsr_program *p, uint32_t op)
{
    return program_op(p, op)->block != 0 && op_is(p, op, OP_FUNC_FUNC);
}

/* Whether an op is in a manual computation, and the function around it. */
static bool is_in_manual(const checker *c, uint32_t op)
{
    return enclosing(c->p, op, OP_SDY_MANUAL_COMPUTATION) != 0;
}

/* Passes what is local from functions to those that call them, until nothing changes. */
static tsr_status find_facts(checker *c, func_facts *facts)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t op = 1; op < c->p->ops.count; op++) {
            uint32_t callee = 0;
            if (program_op(c->p, op)->block == 0) {
                continue;
            }
            TSR_TRY(check_callee(c, op, &callee));
            facts->is_called[callee] = true;
            if ((callee == 0 || !facts->is_local[callee]) && !is_collective(c->p, op)) {
                continue;
            }
            const uint32_t func = is_in_manual(c, op) ? 0 : enclosing(c->p, op, OP_FUNC_FUNC);
            changed = changed || (func != 0 && !facts->is_local[func]);
            facts->is_local[func] = true;
        }
    }
    facts->is_local[0] = false;
    return TSR_OK;
}

static bool is_private(const tsr_program *p, uint32_t func)
{
    slice visibility = {0};
    return attr_as_string(p, op_property(p, func, "sym_visibility"), &visibility) &&
           slice_is(visibility, "private");
}

static tsr_status argument_sharding(checker *c, uint32_t func, size_t i, const tsr_sharding **out)
{
    const ir_block *b = program_block(c->p, op_entry_block(c->p, func, 0));
    return value_sharding(c->ctx, c->p, program_pool(c->p, b->arguments)[i], out);
}

static tsr_status result_sharding(checker *c, uint32_t func, size_t i, const tsr_sharding **out)
{
    const uint32_t list = op_property(c->p, func, "res_attrs");
    *out = NULL;
    if (!attr_is(c->p, list, ATTR_ARRAY) || i >= program_attr(c->p, list)->count) {
        return TSR_OK;
    }
    const uint32_t dict = attr_list(program_attr(c->p, list))[i];
    const uint32_t attr = dict_get(c->p, dict, "sdy.sharding");
    return attr == 0 ? TSR_OK
                     : sharding_of_attr(c->ctx, c->p, func, attr, NO_LOCATION, "", NULL, out);
}

/* How a function is entered from outside. */
typedef struct entry {
    uint32_t func;
    uint32_t block;
    uint32_t last;     /* its return; 0: none */
    bool is_annotated; /* some argument or result has a sharding: others are replicated */
} entry;

static uint32_t num_returned(const checker *c, const entry *e)
{
    return e->last != 0 ? program_op(c->p, e->last)->num_operands : 0;
}

static tsr_status open_entry(checker *c, uint32_t func, entry *out)
{
    const tsr_sharding *sharding = NULL;
    *out = (entry){.func = func, .block = op_entry_block(c->p, func, 0)};
    out->last = program_block(c->p, out->block)->last_op;
    for (uint32_t i = 0; i < program_block(c->p, out->block)->num_arguments; i++) {
        TSR_TRY(argument_sharding(c, func, i, &sharding));
        out->is_annotated = out->is_annotated || is_scope_mesh(c, sharding);
    }
    for (uint32_t i = 0; i < num_returned(c, out); i++) {
        TSR_TRY(result_sharding(c, func, i, &sharding));
        out->is_annotated = out->is_annotated || is_scope_mesh(c, sharding);
    }
    return TSR_OK;
}

static tsr_status enter_function(checker *c, const entry *e)
{
    for (uint32_t i = 0; i < program_block(c->p, e->block)->num_arguments; i++) {
        const uint32_t argument = program_pool(c->p, program_block(c->p, e->block)->arguments)[i];
        const tsr_sharding *sharding = NULL;
        cell *cells = cells_of(c, argument);
        TSR_TRY(argument_sharding(c, e->func, i, &sharding));
        if (cells == NULL) {
            return diag_nomem(c->ctx);
        }
        for (size_t a = 0; a < c->s->count; a++) {
            cells[a] = cell_unknown(c, a, e->func);
            if (e->is_annotated) {
                TSR_TRY(enter_cell(c, e->func, argument, sharding, a, &cells[a]));
            }
        }
    }
    return TSR_OK;
}

/* What a function returns, against the shardings of its results. */
static tsr_status leave_function(checker *c, const entry *e)
{
    for (uint32_t i = 0; e->is_annotated && i < num_returned(c, e); i++) {
        declared_result r = {.op = e->last,
                             .value = op_operand(c->p, e->last, i),
                             .index = i,
                             .axes = c->manual,
                             .block = e->block};
        TSR_TRY(result_sharding(c, e->func, i, &r.sharding));
        if (r.sharding == NULL || is_scope_mesh(c, r.sharding)) {
            TSR_TRY(check_declared(c, &r));
        }
        TSR_TRY(apply_sharding(c, e->last, r.value, r.sharding));
    }
    return TSR_OK;
}

static tsr_status check_function(checker *c, uint32_t func, bool is_local)
{
    entry e;
    c->manual = 0;
    for (size_t a = 0; is_local && a < c->s->count; a++) {
        c->manual |= axis_bit(a);
    }
    TSR_TRY(open_entry(c, func, &e));
    TSR_TRY(enter_function(c, &e));
    TSR_TRY(visit_function(c, func));
    return leave_function(c, &e);
}

static tsr_status check_functions(checker *c)
{
    const size_t room = (size_t)c->p->ops.count + 1;
    func_facts facts = {ARENA_ARRAY(c->arena, bool, room), ARENA_ARRAY(c->arena, bool, room)};
    if (facts.is_called == NULL || facts.is_local == NULL) {
        return diag_nomem(c->ctx);
    }
    memset(facts.is_called, 0, room);
    memset(facts.is_local, 0, room);
    TSR_TRY(find_facts(c, &facts));
    for (uint32_t op = 1; op < c->p->ops.count; op++) {
        if (is_function(c->p, op) && op_entry_block(c->p, op, 0) != 0 && !facts.is_called[op] &&
            !is_private(c->p, op)) {
            TSR_TRY(check_function(c, op, c->local || facts.is_local[op]));
        }
    }
    return TSR_OK;
}

/* ---- the program ---- */

/* The first mesh of the module with several devices, or one that is made up. */
static tsr_status open_scope(checker *c)
{
    const tsr_mesh *found = NULL;
    for (uint32_t op = 1; found == NULL && op < c->p->ops.count; op++) {
        slice name = {0};
        if (program_op(c->p, op)->block == 0 || !op_is(c->p, op, OP_SDY_MESH) ||
            !attr_as_string(c->p, op_property(c->p, op, "sym_name"), &name)) {
            continue;
        }
        TSR_TRY(program_mesh(c->ctx, c->p, op, name, &found));
        found = found != NULL && tsr_mesh_num_devices(found) > 1 ? found : NULL;
    }
    if (found == NULL) {
        TSR_TRY(scope_default_mesh(c, &found));
    }
    return scope_find(c, found, &c->s);
}

static tsr_status prepare(checker *c)
{
    c->known = map_new(c->arena);
    c->budget = 64 * (int64_t)c->p->ops.count + (1 << 16);
    TSR_TRY(op_rules_create(c->ctx, &c->rules));
    return open_scope(c);
}

static tsr_status run(checker *c, tsr_findings *out)
{
    TSR_TRY(prepare(c));
    TSR_TRY(check_functions(c));
    return report_finish(c, out);
}

tsr_status tsr_check_program(tsr_context *ctx, tsr_arena *arena, tsr_program *program,
                             const tsr_check_options *options, tsr_findings *out)
{
    GUARD(tsr_check_program);
    checker c = {.ctx = ctx,
                 .p = program,
                 .results = arena,
                 .notes = options != NULL && options->notes,
                 .local = options != NULL && options->local};
    tsr_status status = tsr_arena_create(ctx, &c.arena);
    if (status >= 0) {
        status = tsr_arena_create(ctx, &c.scratch);
    }
    if (status >= 0) {
        status = run(&c, out);
    }
    op_rules_destroy(c.rules);
    tsr_arena_destroy(c.scratch);
    tsr_arena_destroy(c.arena);
    return status;
}
