/* Calls, branches and loops. */
#include <string.h>

#include "base/arena.h"
#include "interp/machine.h"
#include "number/element.h"

/* ---- calls ---- */

static bool same_type(const code_type *a, const code_type *b)
{
    if (a == b) {
        return true;
    }
    return a->kind == b->kind &&
           (a->kind != CODE_TENSOR ||
            (a->tensor.dtype == b->tensor.dtype && op_shapes_agree(&a->tensor, &b->tensor)));
}

/* Whether a block takes and gives values of these types. */
static bool block_fits(const code_block *block, const code_type *const *arguments,
                       size_t num_arguments, const code_type *const *results, size_t num_results)
{
    if (block->num_arguments != num_arguments || block->end.num_operands != num_results) {
        return false;
    }
    for (size_t i = 0; i < num_arguments; i++) {
        if (!same_type(block->argument_types[i], arguments[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < num_results; i++) {
        if (!same_type(block->end.types[i], results[i])) {
            return false;
        }
    }
    return true;
}

/* The operands of a step, a reference each, in scratch memory. */
static interp_array **keep_operands(interp_machine *m, const code_step *step)
{
    interp_array **arrays = interp_scratch(m, step->num_operands * sizeof *arrays);
    for (size_t i = 0; arrays != NULL && i < step->num_operands; i++) {
        arrays[i] = interp_array_keep(interp_operand(m, step, i));
    }
    return arrays;
}

static tsr_status resume_results(interp_machine *m, const code_step *step, size_t which)
{
    (void)which;
    return interp_take_returned(m, step);
}

static tsr_status run_call(interp_machine *m, const code_step *step)
{
    interp_array **arguments = keep_operands(m, step);
    if (arguments == NULL) {
        return diag_nomem(m->ctx);
    }
    interp_release(m, step->released, step->num_early);
    TSR_TRY(interp_enter_function(m, step->data, arguments, step));
    return (tsr_status)INTERP_ENTERED;
}

static tsr_status prepare_call_of(code_decoder *d, code_step *step, const char *attribute)
{
    const code_function *f = NULL;
    TSR_TRY(
        code_find_function(d, step->op, op_property(d->code->program, step->op, attribute), &f));
    if (!block_fits(f->body, step->types, step->num_operands, step->types + step->num_operands,
                    step->num_results)) {
        return TSR_NOT_APPLICABLE;
    }
    step->action = run_call;
    step->resume = resume_results;
    step->data = without_const(f);
    return TSR_OK;
}

static tsr_status prepare_call(code_decoder *d, code_step *step)
{
    return prepare_call_of(d, step, "callee");
}

static tsr_status prepare_composite(code_decoder *d, code_step *step)
{
    return prepare_call_of(d, step, "decomposition");
}

/* A region that is entered once with the operands. */
static tsr_status run_body(interp_machine *m, const code_step *step)
{
    interp_array **arguments = keep_operands(m, step);
    if (arguments == NULL) {
        return diag_nomem(m->ctx);
    }
    TSR_TRY(interp_enter_block(m, step->blocks[0], arguments, step, 0));
    return (tsr_status)INTERP_ENTERED;
}

static tsr_status prepare_body(code_decoder *d, code_step *step)
{
    (void)d;
    step->action = run_body;
    step->resume = resume_results;
    return block_fits(step->blocks[0], step->types, step->num_operands,
                      step->types + step->num_operands, step->num_results)
               ? TSR_OK
               : TSR_NOT_APPLICABLE;
}

/* ---- futures ---- */

/* A future is the tuple of its values: what starts has ended at once. */
static tsr_status resume_start(interp_machine *m, const code_step *step, size_t which)
{
    interp_array *future;
    (void)which;
    TSR_TRY(interp_array_tuple(m->pool, m->returned, m->num_returned, &future));
    m->num_returned = 0;
    interp_set_result(m, step, 0, future);
    return TSR_OK;
}

/* Whether a type of the program is a future of values of these types. */
static tsr_status is_future_of(code_decoder *d, const code_type *future,
                               const code_type *const *types, size_t count)
{
    const type_head *head = program_type(d->code->program, future->type);
    if (head->kind != TYPE_FUTURE || head->count != count) {
        return TSR_NOT_APPLICABLE;
    }
    for (size_t i = 0; i < count; i++) {
        const code_type *type = NULL;
        TSR_TRY(code_type_of(d->code, type_list(head)[i], &type));
        if (!same_type(type, types[i])) {
            return TSR_NOT_APPLICABLE;
        }
    }
    return TSR_OK;
}

static tsr_status prepare_async_start(code_decoder *d, code_step *step)
{
    const code_block *block = step->blocks[0];
    step->action = run_body;
    step->resume = resume_start;
    if (step->num_results != 1 || !block_fits(block, step->types, step->num_operands,
                                              block->end.types, block->end.num_operands)) {
        return TSR_NOT_APPLICABLE;
    }
    return is_future_of(d, step->types[step->num_operands], block->end.types,
                        block->end.num_operands);
}

static tsr_status run_async_done(interp_machine *m, const code_step *step)
{
    interp_array **members = interp_tuple_members(interp_operand(m, step, 0));
    for (size_t i = 0; i < step->num_results; i++) {
        interp_set_result(m, step, i, interp_array_keep(members[i]));
    }
    return TSR_OK;
}

static tsr_status prepare_async_done(code_decoder *d, code_step *step)
{
    step->action = run_async_done;
    return is_future_of(d, step->types[0], step->types + 1, step->num_results);
}

/* ---- branches ---- */

static tsr_status enter_branch(interp_machine *m, const code_step *step, size_t which)
{
    TSR_TRY(interp_enter_block(m, step->blocks[which], NULL, step, which));
    return (tsr_status)INTERP_ENTERED;
}

static tsr_status run_if(interp_machine *m, const code_step *step)
{
    return enter_branch(m, step, *interp_operand(m, step, 0)->data != 0 ? 0 : 1);
}

/* An index outside of the branches means the last one. */
static tsr_status run_case(interp_machine *m, const code_step *step)
{
    const interp_array *index = interp_operand(m, step, 0);
    const int64_t value = element_index(index->dtype, index->data);
    const int64_t count = step->number;
    return enter_branch(m, step, (size_t)(value < 0 || value >= count ? count - 1 : value));
}

static tsr_status prepare_branches(code_decoder *d, code_step *step, tsr_dtype dtype,
                                   code_action action)
{
    const uint32_t count = program_op(d->code->program, step->op)->num_regions;
    const code_type *index = step->types[0];
    if (count == 0 || index->kind != CODE_TENSOR || index->tensor.rank != 0 ||
        index->tensor.dtype != dtype) {
        return TSR_NOT_APPLICABLE;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!block_fits(step->blocks[i], NULL, 0, step->types + 1, step->num_results)) {
            return TSR_NOT_APPLICABLE;
        }
    }
    step->action = action;
    step->resume = resume_results;
    step->number = count;
    return TSR_OK;
}

static tsr_status prepare_if(code_decoder *d, code_step *step)
{
    return prepare_branches(d, step, TSR_I1, run_if);
}

static tsr_status prepare_case(code_decoder *d, code_step *step)
{
    return prepare_branches(d, step, TSR_I32, run_case);
}

/* ---- loops ---- */

/* The values that a loop carries are kept in the slots of its results. */
enum { CONDITION, BODY };

static tsr_status enter_loop(interp_machine *m, const code_step *step, size_t which)
{
    interp_array **arguments = interp_scratch(m, step->num_results * sizeof *arguments);
    if (arguments == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < step->num_results; i++) {
        arguments[i] = m->slots[step->results[i]];
        if (which == CONDITION) {
            (void)interp_array_keep(arguments[i]);
        } else {
            m->slots[step->results[i]] = NULL;
        }
    }
    TSR_TRY(interp_enter_block(m, step->blocks[which], arguments, step, which));
    return (tsr_status)INTERP_ENTERED;
}

static tsr_status run_while(interp_machine *m, const code_step *step)
{
    for (size_t i = 0; i < step->num_results; i++) {
        interp_set_result(m, step, i, interp_array_keep(interp_operand(m, step, i)));
    }
    interp_release(m, step->released, step->num_early);
    return enter_loop(m, step, CONDITION);
}

static tsr_status resume_while(interp_machine *m, const code_step *step, size_t which)
{
    if (which == BODY) {
        TSR_TRY(interp_take_returned(m, step));
        return enter_loop(m, step, CONDITION);
    }
    return *m->returned[0]->data != 0 ? enter_loop(m, step, BODY) : TSR_OK;
}

static tsr_status prepare_while(code_decoder *d, code_step *step)
{
    static const int64_t no_extents[1] = {0};
    const code_type truth = {.kind = CODE_TENSOR, .tensor = {TSR_I1, 0, no_extents}};
    const code_type *const condition = &truth;
    const code_type *const *results = step->types + step->num_operands;
    (void)d;
    step->action = run_while;
    step->resume = resume_while;
    return step->num_results == step->num_operands &&
                   block_fits(step->blocks[CONDITION], step->types, step->num_operands, &condition,
                              1) &&
                   block_fits(step->blocks[BODY], step->types, step->num_operands, results,
                              step->num_results)
               ? TSR_OK
               : TSR_NOT_APPLICABLE;
}

const code_op interp_ops_control[OP_KIND_COUNT] = {
    [OP_FUNC_CALL] = {.prepare = prepare_call},
    [OP_STABLEHLO_COMPOSITE] = {.prepare = prepare_composite},
    [OP_SDY_NAMED_COMPUTATION] = {.prepare = prepare_body},
    [OP_STABLEHLO_ASYNC_START] = {.prepare = prepare_async_start},
    [OP_STABLEHLO_ASYNC_DONE] = {.prepare = prepare_async_done},
    [OP_STABLEHLO_IF] = {.prepare = prepare_if},
    [OP_STABLEHLO_CASE] = {.prepare = prepare_case},
    [OP_STABLEHLO_WHILE] = {.prepare = prepare_while},
};
