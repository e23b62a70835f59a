/* Constants, tuples, tokens, and ops that only pass values on or name their elements anew. */
#include <string.h>

#include "base/arena.h"
#include "exec/machine.h"
#include "exec/number.h"
#include "ir/elements.h"
#include "kernel/elementwise.h"

/* ---- constants ---- */

enum { MAX_KEPT = 4096 }; /* bytes of a repeated element that are kept while the code lives */

static tsr_status run_constant(exec_machine *m, const exec_step *step)
{
    exec_set_result(m, step, 0, exec_array_keep(step->data));
    return TSR_OK;
}

static void fill(exec_array *array, const void *element)
{
    const int64_t item = tsr_dtype_item_bytes(array->dtype);
    const int64_t count = array->bytes / item;
    const tsr_view all = {array->data, array->dtype, 1, &count, &item};
    kernel_fill(&all, element);
}

static tsr_status run_splat(exec_machine *m, const exec_step *step)
{
    exec_array *array;
    TSR_TRY(exec_array_new(m->pool, step->types[0], &array));
    fill(array, step->data);
    exec_set_result(m, step, 0, array);
    return TSR_OK;
}

/* A constant of an attribute, as a step that gives it. */
static tsr_status set_constant(exec_decoder *d, exec_step *step, uint32_t attr)
{
    const exec_type *type = step->types[0];
    const void *bytes = NULL;
    size_t size = 0;
    bool is_splat = false;
    exec_array *array = NULL;
    if (!attr_is_elements(d->code->program, attr) || type->strides == NULL) {
        return TSR_NOT_APPLICABLE;
    }
    const tsr_status status = elements_bytes(d->code->ctx, d->code->arena, d->code->program, attr,
                                             &bytes, &size, &is_splat);
    if (status != TSR_OK) {
        return status;
    }
    if (is_splat && type->bytes > MAX_KEPT) {
        step->action = run_splat;
        step->data = without_const(bytes);
        return TSR_OK;
    }
    if (!is_splat && size < (size_t)type->bytes) {
        return TSR_NOT_APPLICABLE;
    }
    if (is_splat) {
        TSR_TRY(exec_array_new(d->code->pool, type, &array));
        fill(array, bytes);
    } else {
        TSR_TRY(exec_array_borrow(d->code->pool, type, bytes, &array));
    }
    step->action = run_constant;
    step->data = array;
    return exec_code_keep(d->code, array);
}

static tsr_status prepare_constant(exec_decoder *d, exec_step *step)
{
    return set_constant(d, step, op_property(d->code->program, step->op, "value"));
}

/* ---- values passed on ---- */

static tsr_status run_pass(exec_machine *m, const exec_step *step)
{
    for (size_t i = 0; i < step->num_results; i++) {
        exec_set_result(m, step, i, exec_array_keep(exec_operand(m, step, i)));
    }
    return TSR_OK;
}

static tsr_status prepare_pass(exec_decoder *d, exec_step *step)
{
    (void)d;
    step->action = run_pass;
    return step->num_results <= step->num_operands ? TSR_OK : TSR_NOT_APPLICABLE;
}

/* The same elements in another shape. */
static tsr_status run_recast(exec_machine *m, const exec_step *step)
{
    exec_array *from = exec_operand(m, step, 0);
    const exec_type *to = step->types[1];
    exec_array *result;
    if (from->bytes != to->bytes) {
        const op_type type = exec_array_type(from);
        return EXEC_ERROR(m->code, step->op, TSR_ERR_INVALID, "%s cannot be converted to %s",
                          op_type_text(&type).text, op_type_text(&to->tensor).text);
    }
    TSR_TRY(exec_array_borrow(m->pool, to, from->data, &result));
    result->base = exec_array_keep(from);
    exec_set_result(m, step, 0, result);
    return TSR_OK;
}

static tsr_status prepare_reshape(exec_decoder *d, exec_step *step)
{
    (void)d;
    step->action = run_recast;
    return step->types[0]->kind == EXEC_TENSOR && step->types[1]->strides != NULL &&
                   step->types[0]->tensor.dtype == step->types[1]->tensor.dtype
               ? TSR_OK
               : TSR_NOT_APPLICABLE;
}

/* The bits of elements, one after the other, the lowest first; narrow types take a byte each here.
 */
static tsr_status run_bit_copy(exec_machine *m, const exec_step *step)
{
    const exec_array *from = exec_operand(m, step, 0);
    exec_array *result;
    TSR_TRY(exec_array_new(m->pool, step->types[1], &result));
    exec_set_result(m, step, 0, result);
    const int64_t bits = tsr_dtype_bits(from->dtype);
    const int64_t item = tsr_dtype_item_bytes(from->dtype);
    const int64_t to_bits = tsr_dtype_bits(result->dtype);
    const int64_t to_item = tsr_dtype_item_bytes(result->dtype);
    memset(result->data, 0, (size_t)result->bytes);
    for (int64_t b = 0; b < exec_array_elements(from) * bits; b++) {
        const int64_t within = b % bits;
        const int64_t to = b % to_bits;
        const int bit = from->data[b / bits * item + within / 8] >> (within % 8) & 1;
        result->data[b / to_bits * to_item + to / 8] |= (char)(bit << (to % 8));
    }
    exec_convert(result->dtype, result->data, result->dtype, result->data,
                 exec_array_elements(result));
    return TSR_OK;
}

static bool same_bits(const exec_step *step)
{
    int64_t bits[2];
    for (size_t i = 0; i < 2; i++) {
        const exec_type *t = step->types[i];
        const int64_t count = t->bytes / tsr_dtype_item_bytes(t->tensor.dtype);
        if (!checked_mul(count, tsr_dtype_bits(t->tensor.dtype), &bits[i])) {
            return false;
        }
    }
    return bits[0] == bits[1];
}

static tsr_status prepare_bitcast(exec_decoder *d, exec_step *step)
{
    (void)d;
    if (!exec_is_static(step)) {
        return TSR_NOT_APPLICABLE;
    }
    const tsr_dtype from = step->types[0]->tensor.dtype;
    const tsr_dtype to = step->types[1]->tensor.dtype;
    const bool whole = tsr_dtype_bits(from) >= 8 && tsr_dtype_bits(to) >= 8;
    step->action = whole || from == to ? run_recast : run_bit_copy;
    return same_bits(step) ? TSR_OK : TSR_NOT_APPLICABLE;
}

/* ---- conversions ---- */

static tsr_status run_convert(exec_machine *m, const exec_step *step)
{
    const exec_array *from = exec_operand(m, step, 0);
    exec_array *result;
    TSR_TRY(
        exec_array_shaped(m->pool, step->types[1]->tensor.dtype, from->rank, from->shape, &result));
    exec_convert(result->dtype, result->data, from->dtype, from->data, exec_array_elements(from));
    exec_set_result(m, step, 0, result);
    return TSR_OK;
}

static tsr_status prepare_convert(exec_decoder *d, exec_step *step)
{
    (void)d;
    if (step->types[0]->kind != EXEC_TENSOR || step->types[1]->kind != EXEC_TENSOR ||
        !op_shapes_agree(&step->types[0]->tensor, &step->types[1]->tensor)) {
        return TSR_NOT_APPLICABLE;
    }
    step->action =
        step->types[0]->tensor.dtype == step->types[1]->tensor.dtype ? run_pass : run_convert;
    return TSR_OK;
}

/* ---- tuples and tokens ---- */

static tsr_status run_tuple(exec_machine *m, const exec_step *step)
{
    exec_array **members = exec_scratch(m, step->num_operands * sizeof *members);
    exec_array *tuple;
    if (members == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < step->num_operands; i++) {
        members[i] = exec_operand(m, step, i);
    }
    TSR_TRY(exec_array_tuple(m->pool, members, step->num_operands, &tuple));
    for (size_t i = 0; i < step->num_operands; i++) {
        (void)exec_array_keep(members[i]);
    }
    exec_set_result(m, step, 0, tuple);
    return TSR_OK;
}

static tsr_status prepare_tuple(exec_decoder *d, exec_step *step)
{
    (void)d;
    step->action = run_tuple;
    return TSR_OK;
}

static tsr_status run_member(exec_machine *m, const exec_step *step)
{
    const exec_array *tuple = exec_operand(m, step, 0);
    const size_t index = (size_t)step->number;
    if (index >= tuple->rank) {
        return EXEC_ERROR(m->code, step->op, TSR_ERR_INVALID,
                          "a tuple of %zu elements has no element %zu", tuple->rank, index);
    }
    exec_set_result(m, step, 0, exec_array_keep(exec_tuple_members(tuple)[index]));
    return TSR_OK;
}

static tsr_status prepare_member(exec_decoder *d, exec_step *step)
{
    int64_t index = 0;
    step->action = run_member;
    if (!attr_as_integer(d->code->program, op_property(d->code->program, step->op, "index"),
                         &index) ||
        index < 0 || step->types[0]->kind != EXEC_TUPLE) {
        return TSR_NOT_APPLICABLE;
    }
    step->number = index;
    return TSR_OK;
}

static tsr_status run_token(exec_machine *m, const exec_step *step)
{
    exec_array *made;
    TSR_TRY(exec_array_token(m->pool, &made));
    exec_set_result(m, step, 0, made);
    return TSR_OK;
}

static tsr_status prepare_token(exec_decoder *d, exec_step *step)
{
    (void)d;
    step->action = run_token;
    return TSR_OK;
}

static tsr_status run_nothing(exec_machine *m, const exec_step *step)
{
    (void)m;
    (void)step;
    return TSR_OK;
}

static tsr_status prepare_nothing(exec_decoder *d, exec_step *step)
{
    (void)d;
    step->action = run_nothing;
    return TSR_OK;
}

const exec_op exec_ops_basic[OP_KIND_COUNT] = {
    [OP_STABLEHLO_CONSTANT] = {.prepare = prepare_constant},
    [OP_CHLO_CONSTANT] = {.prepare = prepare_constant},
    [OP_SDY_CONSTANT] = {.prepare = prepare_constant},
    [OP_ARITH_CONSTANT] = {.prepare = prepare_constant},
    [OP_STABLEHLO_RESHAPE] = {.prepare = prepare_reshape},
    [OP_STABLEHLO_BITCAST_CONVERT] = {.prepare = prepare_bitcast},
    [OP_STABLEHLO_CONVERT] = {.prepare = prepare_convert},
    [OP_STABLEHLO_OPTIMIZATION_BARRIER] = {.prepare = prepare_pass},
    [OP_SDY_SHARDING_CONSTRAINT] = {.prepare = prepare_pass},
    [OP_SDY_RESHARD] = {.prepare = prepare_pass},
    [OP_SDY_DATA_FLOW_EDGE] = {.prepare = prepare_pass},
    [OP_SDY_FUNC_DATA_FLOW_EDGE] = {.prepare = prepare_pass},
    [OP_SDY_PROPAGATION_BARRIER] = {.prepare = prepare_pass},
    [OP_SDY_ALL_GATHER] = {.prepare = prepare_pass},
    [OP_SDY_ALL_SLICE] = {.prepare = prepare_pass},
    [OP_SDY_ALL_TO_ALL] = {.prepare = prepare_pass},
    [OP_SDY_COLLECTIVE_PERMUTE] = {.prepare = prepare_pass},
    [OP_SDY_ALL_REDUCE] = {.prepare = prepare_pass},
    [OP_SDY_REDUCE_SCATTER] = {.prepare = prepare_pass},
    [OP_SDY_SHARDED_TO_UNREDUCED] = {.prepare = prepare_pass},
    [OP_SDY_REPLICATED_TO_UNREDUCED] = {.prepare = prepare_pass},
    [OP_SDY_SHARDING_GROUP] = {.prepare = prepare_nothing},
    [OP_STABLEHLO_TUPLE] = {.prepare = prepare_tuple},
    [OP_STABLEHLO_GET_TUPLE_ELEMENT] = {.prepare = prepare_member},
    [OP_STABLEHLO_AFTER_ALL] = {.prepare = prepare_token},
    [OP_STABLEHLO_CREATE_TOKEN] = {.prepare = prepare_token},
};
