/* Constants, tuples, tokens, and ops that only pass values on or name their elements anew. */
#include <string.h>

#include "base/arena.h"
#include "interp/machine.h"
#include "ir/elements.h"
#include "kernel/elementwise.h"
#include "number/element.h"

/* ---- constants ---- */

enum { MAX_KEPT = 4096 }; /* bytes of a repeated element that are kept while the code lives */

static tsr_status run_constant(interp_machine *m, const code_step *step)
{
    interp_array *array;
    TSR_TRY(interp_array_borrow(m->pool, step->types[0], step->data, &array));
    interp_set_result(m, step, 0, array);
    return TSR_OK;
}

static void fill(void *data, const code_type *type, const void *element)
{
    const int64_t item = tsr_dtype_item_bytes(type->tensor.dtype);
    const int64_t count = type->bytes / item;
    const tsr_view all = {data, type->tensor.dtype, 1, &count, &item};
    kernel_fill(&all, element);
}

static tsr_status run_splat(interp_machine *m, const code_step *step)
{
    interp_array *array;
    TSR_TRY(interp_array_new(m->pool, step->types[0], &array));
    fill(array->data, step->types[0], step->data);
    interp_set_result(m, step, 0, array);
    return TSR_OK;
}

/* A constant of an attribute, as a step that gives it. */
static tsr_status set_constant(code_decoder *d, code_step *step, uint32_t attr)
{
    const code_type *type = step->types[0];
    const void *bytes = NULL;
    size_t size = 0;
    bool is_splat = false;
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
        step->data = bytes;
        return TSR_OK;
    }
    if (!is_splat && size < (size_t)type->bytes) {
        return TSR_NOT_APPLICABLE;
    }
    step->action = run_constant;
    step->data = bytes;
    if (is_splat) {
        void *elements = NULL;
        TSR_TRY(code_elements(d->code, type, &elements));
        fill(elements, type, bytes);
        step->data = elements;
    }
    return TSR_OK;
}

static tsr_status prepare_constant(code_decoder *d, code_step *step)
{
    return set_constant(d, step, op_property(d->code->program, step->op, "value"));
}

/* ---- values passed on ---- */

static tsr_status run_pass(interp_machine *m, const code_step *step)
{
    for (size_t i = 0; i < step->num_results; i++) {
        interp_set_result(m, step, i, interp_array_keep(interp_operand(m, step, i)));
    }
    return TSR_OK;
}

static tsr_status prepare_pass(code_decoder *d, code_step *step)
{
    (void)d;
    step->action = run_pass;
    return step->num_results <= step->num_operands ? TSR_OK : TSR_NOT_APPLICABLE;
}

/* The same elements in another shape. */
static tsr_status run_recast(interp_machine *m, const code_step *step)
{
    interp_array *from = interp_operand(m, step, 0);
    const code_type *to = step->types[1];
    interp_array *result;
    if (from->bytes != to->bytes) {
        const op_type type = interp_array_type(from);
        return INTERP_RUN_ERROR(m, step, TSR_ERR_INVALID, "%s cannot be converted to %s",
                                op_type_text(&type).text, op_type_text(&to->tensor).text);
    }
    TSR_TRY(interp_array_borrow(m->pool, to, from->data, &result));
    result->base = interp_array_keep(from);
    interp_set_result(m, step, 0, result);
    return TSR_OK;
}

static tsr_status prepare_reshape(code_decoder *d, code_step *step)
{
    (void)d;
    step->action = run_recast;
    return step->types[0]->kind == CODE_TENSOR && step->types[1]->strides != NULL &&
                   step->types[0]->tensor.dtype == step->types[1]->tensor.dtype
               ? TSR_OK
               : TSR_NOT_APPLICABLE;
}

/* The bits of elements, one after the other, the lowest first; narrow types take a byte each here.
 */
static tsr_status run_bit_copy(interp_machine *m, const code_step *step)
{
    const interp_array *from = interp_operand(m, step, 0);
    interp_array *result;
    TSR_TRY(interp_array_new(m->pool, step->types[1], &result));
    interp_set_result(m, step, 0, result);
    const int64_t bits = tsr_dtype_bits(from->dtype);
    const int64_t item = tsr_dtype_item_bytes(from->dtype);
    const int64_t to_bits = tsr_dtype_bits(result->dtype);
    const int64_t to_item = tsr_dtype_item_bytes(result->dtype);
    memset(result->data, 0, (size_t)result->bytes);
    for (int64_t b = 0; b < interp_array_elements(from) * bits; b++) {
        const int64_t within = b % bits;
        const int64_t to = b % to_bits;
        const int bit = from->data[b / bits * item + within / 8] >> (within % 8) & 1;
        result->data[b / to_bits * to_item + to / 8] |= (char)(bit << (to % 8));
    }
    kernel_convert_any(result->dtype, result->data, result->dtype, result->data,
                       interp_array_elements(result));
    return TSR_OK;
}

static bool same_bits(const code_step *step)
{
    int64_t bits[2];
    for (size_t i = 0; i < 2; i++) {
        const code_type *t = step->types[i];
        const int64_t count = t->bytes / tsr_dtype_item_bytes(t->tensor.dtype);
        if (!checked_mul(count, tsr_dtype_bits(t->tensor.dtype), &bits[i])) {
            return false;
        }
    }
    return bits[0] == bits[1];
}

static tsr_status prepare_bitcast(code_decoder *d, code_step *step)
{
    (void)d;
    if (!code_is_static(step)) {
        return TSR_NOT_APPLICABLE;
    }
    const tsr_dtype from = step->types[0]->tensor.dtype;
    const tsr_dtype to = step->types[1]->tensor.dtype;
    const bool whole = tsr_dtype_bits(from) >= 8 && tsr_dtype_bits(to) >= 8;
    step->action = whole || from == to ? run_recast : run_bit_copy;
    return same_bits(step) ? TSR_OK : TSR_NOT_APPLICABLE;
}

/* ---- conversions ---- */

static tsr_status run_convert(interp_machine *m, const code_step *step)
{
    const interp_array *from = interp_operand(m, step, 0);
    interp_array *result;
    TSR_TRY(interp_array_shaped(m->pool, step->types[1]->tensor.dtype, from->rank, from->shape,
                                &result));
    kernel_convert_any(result->dtype, result->data, from->dtype, from->data,
                       interp_array_elements(from));
    interp_set_result(m, step, 0, result);
    return TSR_OK;
}

static tsr_status prepare_convert(code_decoder *d, code_step *step)
{
    (void)d;
    if (step->types[0]->kind != CODE_TENSOR || step->types[1]->kind != CODE_TENSOR ||
        !op_shapes_agree(&step->types[0]->tensor, &step->types[1]->tensor)) {
        return TSR_NOT_APPLICABLE;
    }
    step->action =
        step->types[0]->tensor.dtype == step->types[1]->tensor.dtype ? run_pass : run_convert;
    return TSR_OK;
}

/* ---- tuples and tokens ---- */

static tsr_status run_tuple(interp_machine *m, const code_step *step)
{
    interp_array **members = interp_scratch(m, step->num_operands * sizeof *members);
    interp_array *tuple;
    if (members == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < step->num_operands; i++) {
        members[i] = interp_operand(m, step, i);
    }
    TSR_TRY(interp_array_tuple(m->pool, members, step->num_operands, &tuple));
    for (size_t i = 0; i < step->num_operands; i++) {
        (void)interp_array_keep(members[i]);
    }
    interp_set_result(m, step, 0, tuple);
    return TSR_OK;
}

static tsr_status prepare_tuple(code_decoder *d, code_step *step)
{
    (void)d;
    step->action = run_tuple;
    return TSR_OK;
}

static tsr_status run_member(interp_machine *m, const code_step *step)
{
    const interp_array *tuple = interp_operand(m, step, 0);
    const size_t index = (size_t)step->number;
    if (index >= tuple->rank) {
        return INTERP_RUN_ERROR(m, step, TSR_ERR_INVALID,
                                "a tuple of %zu elements has no element %zu", tuple->rank, index);
    }
    interp_set_result(m, step, 0, interp_array_keep(interp_tuple_members(tuple)[index]));
    return TSR_OK;
}

static tsr_status prepare_member(code_decoder *d, code_step *step)
{
    int64_t index = 0;
    step->action = run_member;
    if (!attr_as_integer(d->code->program, op_property(d->code->program, step->op, "index"),
                         &index) ||
        index < 0 || step->types[0]->kind != CODE_TUPLE) {
        return TSR_NOT_APPLICABLE;
    }
    step->number = index;
    return TSR_OK;
}

static tsr_status run_token(interp_machine *m, const code_step *step)
{
    interp_array *made;
    TSR_TRY(interp_array_token(m->pool, &made));
    interp_set_result(m, step, 0, made);
    return TSR_OK;
}

static tsr_status prepare_token(code_decoder *d, code_step *step)
{
    (void)d;
    step->action = run_token;
    return TSR_OK;
}

static tsr_status run_nothing(interp_machine *m, const code_step *step)
{
    (void)m;
    (void)step;
    return TSR_OK;
}

static tsr_status prepare_nothing(code_decoder *d, code_step *step)
{
    (void)d;
    step->action = run_nothing;
    return TSR_OK;
}

const code_op interp_ops_basic[OP_KIND_COUNT] = {
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
