/*
 * Explicit reshards: the walk over a program. Without the full version only calls, concatenates and
 * pending reductions get any.
 */
#include "transform/passes.h"
#include "transform/reshard.h"

/* ---- ops that data flows around ---- */

static uint32_t operand_use(const tsr_program *p, uint32_t op, size_t i)
{
    return program_op(p, op)->operands + (uint32_t)i;
}

static tsr_status flow_to_result(resharding *r, uint32_t op, uint32_t index)
{
    const tsr_program *p = r->w->p;
    const bool is_loop = op_is(p, op, OP_STABLEHLO_WHILE);
    const bool is_barrier = op_is(p, op, OP_STABLEHLO_OPTIMIZATION_BARRIER);
    const tsr_sharding *target = NULL;
    TSR_TRY(reshard_sharding_of(r->w, op_result(p, op, index), &target));
    if (op_is(p, op, OP_SDY_MANUAL_COMPUTATION)) {
        TSR_TRY(edge_result_inside(r->w, op_result(p, op, index), target, &target));
    }
    if (is_loop || is_barrier) {
        TSR_TRY(reshard_to_target(r, operand_use(p, op, index), target, r->full, 0));
    }
    for (uint32_t i = is_loop ? 1 : 0; i < program_op(p, op)->num_regions; i++) {
        const uint32_t last = op_terminator(p, op, i);
        if (last != 0 && index < program_op(p, last)->num_operands) {
            TSR_TRY(reshard_to_target(r, operand_use(p, last, index), target, r->full, 0));
        }
    }
    return TSR_OK;
}

static tsr_status reshard_flow(resharding *r, uint32_t op)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    const ir_row *row = program_row(p, op);
    for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
        TSR_TRY(flow_to_result(r, op, i));
    }
    if (row->argument_shardings == NULL) {
        return TSR_OK;
    }
    const uint32_t count = program_op(p, op)->num_operands;
    const tsr_sharding **targets = NULL;
    TSR_TRY(sharding_list_at(w, op_property(p, op, row->argument_shardings), count, &targets));
    for (uint32_t i = 0; i < count; i++) {
        TSR_TRY(reshard_to_target(r, operand_use(p, op, i), targets[i], r->full, 0));
    }
    return TSR_OK;
}

/* ---- calls ---- */

static tsr_status reshard_call(resharding *r, uint32_t op)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    const uint32_t func = symbols_callee(p, &r->table, op);
    const uint32_t count = program_op(p, op)->num_operands;
    const tsr_sharding **targets = NULL;
    const tsr_mesh *mesh = NULL;
    uint32_t attr = 0;
    if (func == 0) {
        return TSR_OK;
    }
    TSR_TRY(function_shardings(w, func, "arg_attrs", &attr));
    TSR_TRY(sharding_list_at(w, attr, count, &targets));
    for (uint32_t i = 0; attr == 0 && i < count && mesh == NULL; i++) {
        const tsr_sharding *sharding = NULL;
        TSR_TRY(reshard_sharding_of(w, op_operand(p, op, i), &sharding));
        mesh = sharding != NULL && !tsr_mesh_is_maximal(sharding->mesh) ? sharding->mesh : NULL;
    }
    if (attr == 0 && mesh == NULL) {
        return TSR_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (attr == 0) {
            TSR_TRY(closed_sharding(w, mesh, value_type(p, op_operand(p, op, i)), &targets[i]));
        }
        TSR_TRY(reshard_to_target(r, operand_use(p, op, i), targets[i], true, 0));
    }
    return TSR_OK;
}

/* ---- the walk ---- */

static tsr_status reshard_any(resharding *r, uint32_t op)
{
    const tsr_program *p = r->w->p;
    if (op_has_trait(p, op, IR_TERMINATOR | IR_SYMBOL)) {
        return TSR_OK;
    }
    if (op_has_trait(p, op, IR_HAS_EDGES)) {
        return reshard_flow(r, op);
    }
    if (op_is(p, op, OP_FUNC_CALL)) {
        return reshard_call(r, op);
    }
    if (r->only_checks && program_row(p, op) != NULL &&
        program_row(p, op)->result_sharding != NULL) {
        return TSR_OK; /* it moves data itself */
    }
    return op_is(p, op, OP_SDY_RESHARD) ? reshard_reshard(r, op) : reshard_op(r, op);
}

static tsr_status reshard_returns(resharding *r, uint32_t func)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    const uint32_t last = op_terminator(p, func, 0);
    for (uint32_t i = 0; last != 0 && i < program_op(p, last)->num_operands; i++) {
        const tsr_sharding *target = NULL;
        const uint32_t attr = dict_get(p, function_dict(p, func, "res_attrs", i), "sdy.sharding");
        TSR_TRY(sharding_at(w, attr, &target));
        TSR_TRY(reshard_to_target(r, operand_use(p, last, i), target, r->full, last));
    }
    return TSR_OK;
}

static tsr_status refuse_maximal(resharding *r, uint32_t func, const char *list, const char *what,
                                 size_t count)
{
    workspace *w = r->w;
    for (size_t i = 0; i < count; i++) {
        const tsr_sharding *sharding = NULL;
        const uint32_t attr = dict_get(w->p, function_dict(w->p, func, list, i), "sdy.sharding");
        TSR_TRY(sharding_at(w, attr, &sharding));
        if (sharding != NULL && tsr_mesh_is_maximal(sharding->mesh)) {
            return op_error(w->ctx, w->p, func,
                            "function %s %zu cannot have a single-device (maximal) sharding "
                            "attribute",
                            what, i);
        }
    }
    return TSR_OK;
}

static tsr_status reshard_func(resharding *r, uint32_t func)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    op_list ops = {0};
    TSR_TRY(refuse_maximal(r, func, "arg_attrs", "argument", function_num_arguments(p, func)));
    TSR_TRY(refuse_maximal(r, func, "res_attrs", "result", function_num_results(p, func)));
    if (op_entry_block(p, func, 0) == 0) {
        return TSR_OK;
    }
    for (uint32_t op = op_post_first(p, func); op != func; op = op_post_next(p, func, op)) {
        TSR_TRY(op_list_add(w, &ops, op));
    }
    for (size_t i = 0; i < ops.count; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
        TSR_TRY(reshard_any(r, ops.ops[i]));
        tsr_arena_reset(w->scratch, mark);
    }
    return reshard_returns(r, func);
}

/* Makes the reshards of all functions explicit, or checks that they are. */
static tsr_status reshard_all(tsr_context *ctx, tsr_program *p, const prop_options *options,
                              resharding r)
{
    propagation s;
    TSR_TRY(rules_start(ctx, p, options, &s));
    /* The pass warns of ops without a rule, its check does not again. */
    s.warned_of_op = s.warned_of_call = r.only_checks;
    r.s = &s;
    r.w = &s.w;
    tsr_status status = symbols_load(r.w, &r.table);
    for (uint32_t f = function_first(p); f != 0 && status >= 0; f = function_next(p, f)) {
        status = reshard_func(&r, f);
    }
    propagation_end(&s);
    return status;
}

tsr_status pass_explicit_reshards(tsr_context *ctx, tsr_program *p, const tsr_pass_options *options)
{
    const prop_options o = {.as_xla = tsr_option_bool(options, "as-xla")};
    return reshard_all(ctx, p, &o,
                       (resharding){.full = tsr_option_bool(options, "enable-full-version")});
}

/* ---- contracts ---- */

static tsr_status verify_reshards(tsr_context *ctx, tsr_program *p)
{
    return reshard_all(ctx, p, &(prop_options){0}, (resharding){.full = true, .only_checks = true});
}

static tsr_status verify_calls(tsr_context *ctx, tsr_program *p)
{
    return reshard_all(ctx, p, &(prop_options){0}, (resharding){.only_checks = true});
}

const contract contract_explicit_reshards = {
    .name = "explicit reshards",
    .remedy = "run -sdy-insert-explicit-reshards='enable-full-version=true' first",
    .verify = verify_reshards};
const contract contract_explicit_calls = {.name = "explicit reshards of calls",
                                          .remedy = "run -sdy-insert-explicit-reshards first",
                                          .verify = verify_calls};
