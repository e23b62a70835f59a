/* Calls, branches and loops. */
#include <string.h>

#include "base/arena.h"
#include "exec/machine.h"
#include "exec/number.h"

/* ---- calls ---- */

static bool same_type(const exec_type *a, const exec_type *b)
{
    if (a == b) {
        return true;
    }
    return a->kind == b->kind &&
           (a->kind != EXEC_TENSOR ||
            (a->tensor.dtype == b->tensor.dtype && op_shapes_agree(&a->tensor, &b->tensor)));
}

/* Whether a block takes and gives values of these types. */
static bool block_fits(const exec_block *block, const exec_type *const *arguments,
                       size_t num_arguments, const exec_type *const *results, size_t num_results)
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
static exec_array **keep_operands(exec_machine *m, const exec_step *step)
{
    exec_array **arrays = exec_scratch(m, step->num_operands * sizeof *arrays);
    for (size_t i = 0; arrays != NULL && i < step->num_operands; i++) {
        arrays[i] = exec_array_keep(exec_operand(m, step, i));
    }
    return arrays;
}

static tsr_status resume_results(exec_machine *m, const exec_step *step, size_t which)
{
    (void)which;
    return exec_take_returned(m, step);
}

static tsr_status run_call(exec_machine *m, const exec_step *step)
{
    exec_array **arguments = keep_operands(m, step);
    if (arguments == NULL) {
        return diag_nomem(m->ctx);
    }
    exec_release(m, step->released, step->num_early);
    TSR_TRY(exec_enter_function(m, step->data, arguments, step));
    return (tsr_status)EXEC_ENTERED;
}

static tsr_status prepare_call_of(exec_decoder *d, exec_step *step, const char *attribute)
{
    const exec_function *f = NULL;
    TSR_TRY(
        exec_find_function(d, step->op, op_property(d->code->program, step->op, attribute), &f));
    if (!block_fits(f->body, step->types, step->num_operands, step->types + step->num_operands,
                    step->num_results)) {
        return TSR_NOT_APPLICABLE;
    }
    step->action = run_call;
    step->resume = resume_results;
    step->data = without_const(f);
    return TSR_OK;
}

static tsr_status prepare_call(exec_decoder *d, exec_step *step)
{
    return prepare_call_of(d, step, "callee");
}

static tsr_status prepare_composite(exec_decoder *d, exec_step *step)
{
    return prepare_call_of(d, step, "decomposition");
}

/* A region that is entered once with the operands. */
static tsr_status run_body(exec_machine *m, const exec_step *step)
{
    exec_array **arguments = keep_operands(m, step);
    if (arguments == NULL) {
        return diag_nomem(m->ctx);
    }
    TSR_TRY(exec_enter_block(m, step->blocks[0], arguments, step, 0));
    return (tsr_status)EXEC_ENTERED;
}

static tsr_status prepare_body(exec_decoder *d, exec_step *step)
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
static tsr_status resume_start(exec_machine *m, const exec_step *step, size_t which)
{
    exec_array *future;
    (void)which;
    TSR_TRY(exec_array_tuple(m->pool, m->returned, m->num_returned, &future));
    m->num_returned = 0;
    exec_set_result(m, step, 0, future);
    return TSR_OK;
}

/* Whether a type of the program is a future of values of these types. */
static tsr_status is_future_of(exec_decoder *d, const exec_type *future,
                               const exec_type *const *types, size_t count)
{
    const type_head *head = program_type(d->code->program, future->type);
    if (head->kind != TYPE_FUTURE || head->count != count) {
        return TSR_NOT_APPLICABLE;
    }
    for (size_t i = 0; i < count; i++) {
        const exec_type *type = NULL;
        TSR_TRY(exec_code_type(d->code, type_list(head)[i], &type));
        if (!same_type(type, types[i])) {
            return TSR_NOT_APPLICABLE;
        }
    }
    return TSR_OK;
}

static tsr_status prepare_async_start(exec_decoder *d, exec_step *step)
{
    const exec_block *block = step->blocks[0];
    step->action = run_body;
    step->resume = resume_start;
    if (step->num_results != 1 || !block_fits(block, step->types, step->num_operands,
                                              block->end.types, block->end.num_operands)) {
        return TSR_NOT_APPLICABLE;
    }
    return is_future_of(d, step->types[step->num_operands], block->end.types,
                        block->end.num_operands);
}

static tsr_status run_async_done(exec_machine *m, const exec_step *step)
{
    exec_array **members = exec_tuple_members(exec_operand(m, step, 0));
    for (size_t i = 0; i < step->num_results; i++) {
        exec_set_result(m, step, i, exec_array_keep(members[i]));
    }
    return TSR_OK;
}

static tsr_status prepare_async_done(exec_decoder *d, exec_step *step)
{
    step->action = run_async_done;
    return is_future_of(d, step->types[0], step->types + 1, step->num_results);
}

/* ---- branches ---- */

static tsr_status enter_branch(exec_machine *m, const exec_step *step, size_t which)
{
    TSR_TRY(exec_enter_block(m, step->blocks[which], NULL, step, which));
    return (tsr_status)EXEC_ENTERED;
}

static tsr_status run_if(exec_machine *m, const exec_step *step)
{
    return enter_branch(m, step, *exec_operand(m, step, 0)->data != 0 ? 0 : 1);
}

/* An index outside of the branches means the last one. */
static tsr_status run_case(exec_machine *m, const exec_step *step)
{
    const exec_array *index = exec_operand(m, step, 0);
    const int64_t value = exec_index(index->dtype, index->data);
    const int64_t count = step->number;
    return enter_branch(m, step, (size_t)(value < 0 || value >= count ? count - 1 : value));
}

static tsr_status prepare_branches(exec_decoder *d, exec_step *step, tsr_dtype dtype,
                                   exec_action action)
{
    const uint32_t count = program_op(d->code->program, step->op)->num_regions;
    const exec_type *index = step->types[0];
    if (count == 0 || index->kind != EXEC_TENSOR || index->tensor.rank != 0 ||
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

static tsr_status prepare_if(exec_decoder *d, exec_step *step)
{
    return prepare_branches(d, step, TSR_I1, run_if);
}

static tsr_status prepare_case(exec_decoder *d, exec_step *step)
{
    return prepare_branches(d, step, TSR_I32, run_case);
}

/* ---- loops ---- */

/* The values that a loop carries are kept in the slots of its results. */
enum { CONDITION, BODY };

static tsr_status enter_loop(exec_machine *m, const exec_step *step, size_t which)
{
    exec_array **arguments = exec_scratch(m, step->num_results * sizeof *arguments);
    if (arguments == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < step->num_results; i++) {
        arguments[i] = m->slots[step->results[i]];
        if (which == CONDITION) {
            (void)exec_array_keep(arguments[i]);
        } else {
            m->slots[step->results[i]] = NULL;
        }
    }
    TSR_TRY(exec_enter_block(m, step->blocks[which], arguments, step, which));
    return (tsr_status)EXEC_ENTERED;
}

static tsr_status run_while(exec_machine *m, const exec_step *step)
{
    for (size_t i = 0; i < step->num_results; i++) {
        exec_set_result(m, step, i, exec_array_keep(exec_operand(m, step, i)));
    }
    exec_release(m, step->released, step->num_early);
    return enter_loop(m, step, CONDITION);
}

static tsr_status resume_while(exec_machine *m, const exec_step *step, size_t which)
{
    if (which == BODY) {
        TSR_TRY(exec_take_returned(m, step));
        return enter_loop(m, step, CONDITION);
    }
    return *m->returned[0]->data != 0 ? enter_loop(m, step, BODY) : TSR_OK;
}

static tsr_status prepare_while(exec_decoder *d, exec_step *step)
{
    static const int64_t no_extents[1] = {0};
    const exec_type truth = {.kind = EXEC_TENSOR, .tensor = {TSR_I1, 0, no_extents}};
    const exec_type *const condition = &truth;
    const exec_type *const *results = step->types + step->num_operands;
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

const exec_op exec_ops_control[OP_KIND_COUNT] = {
    [OP_FUNC_CALL] = {.prepare = prepare_call},
    [OP_STABLEHLO_COMPOSITE] = {.prepare = prepare_composite},
    [OP_SDY_NAMED_COMPUTATION] = {.prepare = prepare_body},
    [OP_STABLEHLO_ASYNC_START] = {.prepare = prepare_async_start},
    [OP_STABLEHLO_ASYNC_DONE] = {.prepare = prepare_async_done},
    [OP_STABLEHLO_IF] = {.prepare = prepare_if},
    [OP_STABLEHLO_CASE] = {.prepare = prepare_case},
    [OP_STABLEHLO_WHILE] = {.prepare = prepare_while},
};
