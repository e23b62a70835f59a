/* A pass that checks where pending reductions come from and go, and one that tidies up. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "ir/params.h"
#include "transform/call_graph.h"
#include "transform/passes.h"
#include "verify/verify.h"

/* ---- unreduced axes ---- */

/* What a combiner leaves pending; a sum for what is not a known one. */
static tsr_reduction reduction_of(const tsr_program *p, uint32_t op)
{
    const op_body body = program_op(p, op)->num_regions > 0
                             ? ir_region_combiner(p, op_region_at(p, op, 0))
                             : OP_BODY_SUM;
    return body == OP_BODY_MAX ? TSR_MAX : body == OP_BODY_MIN ? TSR_MIN : TSR_SUM;
}

/* Reshards and constraints may drop axes: what they define counts as having none. */
static bool is_blessed(const tsr_program *p, uint32_t value)
{
    const uint32_t op = value_op(p, value);
    return op != 0 && (op_is(p, op, OP_SDY_RESHARD) || op_is(p, op, OP_SDY_SHARDING_CONSTRAINT));
}

static tsr_status operand_sharding(workspace *w, uint32_t value, const tsr_sharding **out)
{
    *out = NULL;
    return is_blessed(w->p, value) ? TSR_OK : value_sharding(w->ctx, w->p, value, out);
}

/* All unreduced axes of operands on the mesh of the result, as one sharding. */
static tsr_status unite_operands(workspace *w, uint32_t op, const tsr_sharding *result,
                                 tsr_sharding *out)
{
    const tsr_program *p = w->p;
    size_t room = 1;
    *out = *result;
    out->num_unreduced = 0;
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        const tsr_sharding *from = NULL;
        TSR_TRY(operand_sharding(w, op_operand(p, op, i), &from));
        room += from != NULL ? from->num_unreduced : 0;
    }
    tsr_axis_list list = {ARENA_ARRAY(w->scratch, tsr_axis_ref, room), 0, room};
    if (list.refs == NULL) {
        return diag_nomem(w->ctx);
    }
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        const tsr_sharding *from = NULL;
        TSR_TRY(operand_sharding(w, op_operand(p, op, i), &from));
        for (size_t k = 0;
             from != NULL && tsr_mesh_equal(from->mesh, result->mesh) && k < from->num_unreduced;
             k++) {
            list.refs[list.count++] = from->unreduced[k];
        }
    }
    tsr_axes_sort_and_merge(result->mesh, &list);
    out->unreduced = list.refs;
    out->num_unreduced = list.count;
    return TSR_OK;
}

static tsr_status check_op(workspace *w, uint32_t op)
{
    tsr_program *p = w->p;
    const bool reduces =
        op_is(p, op, OP_STABLEHLO_ALL_REDUCE) || op_is(p, op, OP_STABLEHLO_REDUCE_SCATTER);
    const tsr_reduction kind =
        reduces || op_is(p, op, OP_STABLEHLO_REDUCE) ? reduction_of(p, op) : TSR_SUM;
    const tsr_sharding *result = NULL;
    tsr_sharding all;
    if (program_op(p, op)->num_results == 0) {
        return TSR_OK;
    }
    TSR_TRY(value_sharding(w->ctx, p, op_result(p, op, 0), &result));
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        const tsr_sharding *from = NULL;
        TSR_TRY(operand_sharding(w, op_operand(p, op, i), &from));
        const unreduced_rule rule = {.introduces = result != NULL ? (int)result->reduction : 0,
                                     .removes = reduces ? (int)kind : NO_KIND};
        if (from != NULL && from->num_unreduced > 0) {
            TSR_TRY(verify_unreduced(w->ctx, p, op, from, result, rule));
        }
    }
    if (result == NULL || result->num_unreduced == 0) {
        return TSR_OK;
    }
    TSR_TRY(unite_operands(w, op, result, &all));
    return verify_unreduced(w->ctx, p, op, &all, result,
                            (unreduced_rule){.introduces = reduces ? NO_KIND : (int)kind,
                                             .removes = (int)all.reduction});
}

/* Names of axes that only one of two shardings has unreduced: `a, b`; "" for none. */
static void name_differences(const tsr_sharding *a, const tsr_sharding *b, char *text, size_t size)
{
    const tsr_sharding *either = a != NULL ? a : b;
    size_t used = 0;
    text[0] = '\0';
    for (size_t axis = 0; either != NULL && axis < tsr_mesh_num_axes(either->mesh); axis++) {
        bool in[2] = {false, false};
        const tsr_sharding *const both[2] = {a, b};
        for (size_t k = 0; k < 2; k++) {
            for (size_t i = 0; both[k] != NULL && i < both[k]->num_unreduced; i++) {
                in[k] = in[k] || (size_t)both[k]->unreduced[i].axis == axis;
            }
        }
        if (in[0] != in[1] && used < size) {
            const int added = snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                       tsr_mesh_axis_name(either->mesh, axis));
            used += added > 0 ? (size_t)added : 0;
        }
    }
}

static tsr_status check_pair(workspace *w, uint32_t op, const tsr_sharding *a,
                             const tsr_sharding *b, const char *where, size_t index)
{
    char names[256];
    if (a != NULL && b != NULL && !tsr_mesh_equal(a->mesh, b->mesh)) {
        return TSR_OK;
    }
    name_differences(a, b, names, sizeof names);
    return names[0] == '\0'
               ? TSR_OK
               : op_error(w->ctx, w->p, op, "has unreduced axes mismatch for '%s' at call %s %zu.",
                          names, where, index);
}

static tsr_status check_call(workspace *w, const symbols *table, uint32_t call)
{
    tsr_program *p = w->p;
    const uint32_t func = symbols_callee(p, table, call);
    if (func == 0) {
        return TSR_OK;
    }
    for (uint32_t i = 0; i < program_op(p, call)->num_operands; i++) {
        const tsr_sharding *from = NULL;
        const tsr_sharding *to = NULL;
        TSR_TRY(operand_sharding(w, op_operand(p, call, i), &from));
        TSR_TRY(sharding_at(w, dict_get(p, function_dict(p, func, "arg_attrs", i), "sdy.sharding"),
                            &to));
        if (!is_blessed(p, op_operand(p, call, i))) {
            TSR_TRY(check_pair(w, call, from, to, "argument", i));
        }
    }
    for (uint32_t i = 0; i < program_op(p, call)->num_results; i++) {
        const tsr_sharding *from = NULL;
        const tsr_sharding *to = NULL;
        TSR_TRY(sharding_at(w, dict_get(p, function_dict(p, func, "res_attrs", i), "sdy.sharding"),
                            &from));
        TSR_TRY(value_sharding(w->ctx, p, op_result(p, call, i), &to));
        if (from != NULL && to != NULL) {
            TSR_TRY(check_pair(w, call, from, to, "result", i));
        }
    }
    return TSR_OK;
}

/* The sharding that a returned value must have; NULL: any. */
static tsr_status returned_sharding(workspace *w, uint32_t op, uint32_t index,
                                    const tsr_sharding **out)
{
    tsr_program *p = w->p;
    const uint32_t parent = op_parent(p, op);
    *out = NULL;
    if (op_is(p, parent, OP_FUNC_FUNC)) {
        return sharding_at(
            w, dict_get(p, function_dict(p, parent, "res_attrs", index), "sdy.sharding"), out);
    }
    if (index >= program_op(p, parent)->num_results || !op_has_trait(p, parent, IR_HAS_EDGES)) {
        return TSR_OK;
    }
    TSR_TRY(value_sharding(w->ctx, p, op_result(p, parent, index), out));
    return *out != NULL ? edge_result_inside(w, op_result(p, parent, index), *out, out) : TSR_OK;
}

static tsr_status check_return(workspace *w, uint32_t op)
{
    tsr_program *p = w->p;
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        const uint32_t value = op_operand(p, op, i);
        const tsr_sharding *from = NULL;
        const tsr_sharding *to = NULL;
        char names[256];
        TSR_TRY(returned_sharding(w, op, i, &to));
        if (to == NULL || is_blessed(p, value)) {
            continue;
        }
        TSR_TRY(value_sharding(w->ctx, p, value, &from));
        if (from != NULL && !tsr_mesh_equal(from->mesh, to->mesh)) {
            continue;
        }
        name_differences(from, to, names, sizeof names);
        if (names[0] != '\0') {
            return op_error(w->ctx, p, op,
                            "has unreduced axes mismatch for '%s' at return value %u without a "
                            "blessed operation (e.g., sdy.reshard). This is an invalid transition "
                            "from unreduced to reduced.",
                            names, i);
        }
    }
    return TSR_OK;
}

static tsr_status check_unreduced(workspace *w)
{
    static const bool own[OP_KIND_COUNT] = {
        [OP_SDY_RESHARD] = true,
        [OP_SDY_SHARDING_CONSTRAINT] = true,
        [OP_SDY_ALL_REDUCE] = true,
        [OP_SDY_REDUCE_SCATTER] = true,
        [OP_SDY_REPLICATED_TO_UNREDUCED] = true,
        [OP_SDY_SHARDED_TO_UNREDUCED] = true,
    };
    const tsr_program *p = w->p;
    symbols table;
    TSR_TRY(symbols_load(w, &table));
    for (uint32_t op = op_post_first(p, p->module); op != 0; op = op_post_next(p, p->module, op)) {
        if (op_has_trait(p, op, IR_SYMBOL) || own[op_kind_of(p, op)] || op == p->module) {
            continue;
        }
        const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
        if (op_has_trait(p, op, IR_TERMINATOR)) {
            TSR_TRY(check_return(w, op));
        } else {
            TSR_TRY(op_is(p, op, OP_FUNC_CALL) ? check_call(w, &table, op) : check_op(w, op));
        }
        tsr_arena_reset(w->scratch, mark);
    }
    return TSR_OK;
}

WORKSPACE_PASS(pass_verify_unreduced, check_unreduced)

/* ---- tidying up ---- */

/* Whether a collective moves nothing: its lists of axes are empty. */
static bool moves_nothing(const tsr_program *p, uint32_t op)
{
    static const char *const axes[OP_KIND_COUNT] = {
        [OP_SDY_ALL_GATHER] = "gathering_axes",
        [OP_SDY_ALL_SLICE] = "slicing_axes",
        [OP_SDY_REDUCE_SCATTER] = "reduce_scatter_axes",
        [OP_SDY_ALL_REDUCE] = "reduction_axes",
    };
    const char *name = axes[op_kind_of(p, op)];
    const uint32_t attr = name != NULL ? op_property(p, op, name) : 0;
    return attr_is(p, attr, ATTR_SDY) &&
           memchr(attr_text(program_attr(p, attr)), '"', program_attr(p, attr)->count) == NULL;
}

static bool is_dead(const tsr_program *p, uint32_t op)
{
    static const bool collectives[OP_KIND_COUNT] = {
        [OP_SDY_ALL_GATHER] = true,           [OP_SDY_ALL_SLICE] = true,
        [OP_SDY_ALL_TO_ALL] = true,           [OP_SDY_ALL_REDUCE] = true,
        [OP_SDY_REDUCE_SCATTER] = true,       [OP_SDY_COLLECTIVE_PERMUTE] = true,
        [OP_SDY_SHARDED_TO_UNREDUCED] = true, [OP_SDY_REPLICATED_TO_UNREDUCED] = true,
    };
    return !collectives[op_kind_of(p, op)] && op_is_unused(p, op);
}

/* Whether an op, or one around it, was erased. */
static bool is_gone(const tsr_program *p, uint32_t op)
{
    while (op != p->module && !op_is_erased(p, op)) {
        op = op_parent(p, op);
    }
    return op != p->module;
}

static tsr_status tidy(workspace *w)
{
    tsr_program *p = w->p;
    op_list ops = {0};
    for (uint32_t op = op_post_first(p, p->module); op != 0; op = op_post_next(p, p->module, op)) {
        TSR_TRY(op_list_add(w, &ops, op));
    }
    for (size_t i = ops.count; i > 0; i--) {
        const uint32_t op = ops.ops[i - 1];
        if (op == p->module || is_gone(p, op)) {
            continue;
        }
        if (moves_nothing(p, op)) {
            value_replace_uses(p, op_result(p, op, 0), op_operand(p, op, 0), 0);
            op_erase(p, op);
        } else if (is_dead(p, op)) {
            op_erase(p, op);
        }
    }
    return TSR_OK;
}

WORKSPACE_PASS(pass_canonicalize, tidy)
