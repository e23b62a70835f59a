/* The rules of custom calls, tuples, tokens, and of attributes that must be of one length. */
#include <string.h>

#include "base/arena.h"
#include "verify/check.h"
#include "verify/check_ops.h"

/* ---- lists of one length ---- */

static bool lengths_agree(const ir_check *k, const char *const *names)
{
    const size_t first = op_numbers(k, names[0]).count;
    return op_numbers(k, names[1]).count == first && op_numbers(k, names[2]).count == first;
}

tsr_status same_slice(const ir_check *k)
{
    static const char *const names[] = {"start_indices", "limit_indices", "strides"};
    return lengths_agree(k, names)
               ? TSR_OK
               : refuse_sameness(k, "start_indices, limit_indices, strides", "size");
}

tsr_status same_pad(const ir_check *k)
{
    static const char *const names[] = {"edge_padding_low", "edge_padding_high",
                                        "interior_padding"};
    return lengths_agree(k, names)
               ? TSR_OK
               : refuse_sameness(k, "edge_padding_low, edge_padding_high, interior_padding",
                                 "size");
}

/* ---- tuples and tokens ---- */

tsr_status infer_tuple(const ir_check *k, inferred_types *out)
{
    inferred_types inner = {0};
    uint32_t type = 0;
    TSR_TRY(infer_operands(k, &inner));
    TSR_TRY(type_of_types(k->p, TYPE_TUPLE, inner.types, inner.count, &type));
    return infer_one(k, type, out);
}

tsr_status infer_tuple_element(const ir_check *k, inferred_types *out)
{
    const type_head *type = operand(k, 0);
    const int64_t index = op_integer(k, "index", 0);
    if (index < 0 || index >= type->count) {
        return refuse(k, "index %lld is out of bounds of operand with size %u", (long long)index,
                      type->count);
    }
    return infer_one(k, type_list(type)[index], out);
}

tsr_status infer_token(const ir_check *k, inferred_types *out)
{
    uint32_t type = 0;
    TSR_TRY(type_simple(k->p, TYPE_TOKEN, &type));
    return infer_one(k, type, out);
}

tsr_status infer_identity(const ir_check *k, inferred_types *out)
{
    uint32_t element = 0;
    TSR_TRY(type_integer(k->p, 32, UNSIGNED, &element));
    return infer_tensor(k, NULL, 0, element, out);
}

tsr_status infer_constant(const ir_check *k, inferred_types *out)
{
    return infer_one(k, program_attr(k->p, op_property(k->p, k->op, "value"))->type, out);
}

/* ---- layouts ---- */

static bool is_permutation(numbers list, size_t rank)
{
    for (size_t d = 0; d < rank; d++) {
        if (!op_ints_have((op_ints){list.count, list.values}, d)) {
            return false;
        }
    }
    return list.count == rank;
}

static tsr_status check_layout(const ir_check *k, const char *what, size_t i, uint32_t type,
                               uint32_t layout)
{
    const type_head *head = program_type(k->p, type);
    const numbers order = attr_as_numbers(k, layout);
    if (head->kind == TYPE_TUPLE) {
        return op_error(k->ctx, k->p, k->op,
                        "Tuple types are not fully supported with layout constraints yet");
    }
    if (head->kind != TYPE_TENSOR) {
        return order.count == 0
                   ? TSR_OK
                   : op_error(k->ctx, k->p, k->op,
                              "Only tensor types can have non-empty layout: %s #%zu of type '%s' "
                              "has layout %s",
                              what, i, type_words(k, type), attr_string_of(k->ctx, k->p, layout));
    }
    return is_permutation(order, head->count)
               ? TSR_OK
               : op_error(k->ctx, k->p, k->op,
                          "incorrect layout %s for type '%s', layout must be a permutation of [0, "
                          "%u)",
                          attr_string_of(k->ctx, k->p, layout), type_words(k, type), head->count);
}

static tsr_status check_layouts(const ir_check *k, const char *what, uint32_t attr,
                                const uint32_t *types, size_t count)
{
    const attr_head *list = program_attr(k->p, attr);
    if (list->count != count) {
        return op_error(k->ctx, k->p, k->op,
                        "Number of %ss must match the number of %s layouts, %zu != %u", what, what,
                        count, list->count);
    }
    for (size_t i = 0; i < count; i++) {
        TSR_TRY(check_layout(k, what, i, types[i], attr_list(list)[i]));
    }
    return TSR_OK;
}

static tsr_status check_all_layouts(const ir_check *k)
{
    const uint32_t of_operands = op_property(k->p, k->op, "operand_layouts");
    const uint32_t of_results = op_property(k->p, k->op, "result_layouts");
    inferred_types types = {0};
    if (of_operands == 0 && of_results == 0) {
        return TSR_OK;
    }
    if (of_operands == 0 || of_results == 0) {
        return op_error(k->ctx, k->p, k->op,
                        "Layout attributes should be specified for either both operands and "
                        "results or none.");
    }
    if (!attr_is(k->p, of_operands, ATTR_ARRAY) || !attr_is(k->p, of_results, ATTR_ARRAY)) {
        return TSR_OK;
    }
    TSR_TRY(infer_operands(k, &types));
    TSR_TRY(check_layouts(k, "operand", of_operands, types.types, types.count));
    if (num_results(k) == 1 && result(k, 0)->kind == TYPE_TUPLE) {
        return check_layouts(k, "result", of_results, type_list(result(k, 0)), result(k, 0)->count);
    }
    types = (inferred_types){0};
    for (size_t i = 0; i < num_results(k); i++) {
        TSR_TRY(infer_one(k, result_type(k, i), &types));
    }
    return check_layouts(k, "result", of_results, types.types, types.count);
}

/* ---- aliases ---- */

/* The part of a type that indices name; 0 when there is none. */
static uint32_t part_of(const ir_check *k, uint32_t type, numbers indices)
{
    for (size_t i = 0; i < indices.count && type != 0; i++) {
        const type_head *head = program_type(k->p, type);
        const int64_t at = indices.values[i];
        type = head->kind == TYPE_TUPLE && at >= 0 && at < head->count ? type_list(head)[at] : 0;
    }
    return type;
}

static tsr_status type_of_output(const ir_check *k, uint32_t *out)
{
    inferred_types types = {0};
    if (num_results(k) == 1) {
        *out = result_type(k, 0);
        return TSR_OK;
    }
    for (size_t i = 0; i < num_results(k); i++) {
        TSR_TRY(infer_one(k, result_type(k, i), &types));
    }
    return type_of_types(k->p, TYPE_TUPLE, types.types, types.count, out);
}

static tsr_status check_alias(const ir_check *k, const attr_head *alias)
{
    int64_t index = 0;
    uint32_t output = 0;
    (void)attr_as_integer(k->p, attr_list(alias)[1], &index);
    if (index < 0 || (uint64_t)index >= num_operands(k)) {
        return op_error(k->ctx, k->p, k->op,
                        "expects operandIndex in the output_operand_alias attribute to be in range "
                        "[0, %zu); got: %lld.",
                        num_operands(k), (long long)index);
    }
    const uint32_t from =
        part_of(k, operand_type(k, (size_t)index), attr_as_numbers(k, attr_list(alias)[2]));
    if (from == 0) {
        return op_error(k->ctx, k->p, k->op,
                        "operand_tuple_indices in the output_operand_alias attribute out of "
                        "bounds");
    }
    TSR_TRY(type_of_output(k, &output));
    const uint32_t to = part_of(k, output, attr_as_numbers(k, attr_list(alias)[0]));
    if (to == 0) {
        return op_error(k->ctx, k->p, k->op,
                        "output_tuple_indices in the output_operand_alias attribute out of bounds");
    }
    return from == to ? TSR_OK
                      : op_error(k->ctx, k->p, k->op,
                                 "shapes mismatch in the output_operand_alias attribute: operand "
                                 "part has type '%s' and output part has type '%s'",
                                 type_words(k, from), type_words(k, to));
}

static tsr_status check_config(const ir_check *k)
{
    static const char *const versions[] = {
        "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
    const int64_t version = op_integer(k, "api_version", 1);
    const uint32_t config = op_property(k->p, k->op, "backend_config");
    if (config == 0 || version < 0 || version > 4) {
        return TSR_OK;
    }
    return attr_is(k->p, config, version == 4 ? ATTR_DICT : ATTR_STRING)
               ? TSR_OK
               : op_error(k->ctx, k->p, k->op,
                          "backend_config for api_version %s must be a %s attribute.",
                          versions[version], version == 4 ? "dictionary" : "string");
}

tsr_status check_custom_call(const ir_check *k)
{
    const uint32_t aliases = op_property(k->p, k->op, "output_operand_aliases");
    TSR_TRY(check_all_layouts(k));
    for (uint32_t i = 0;
         attr_is(k->p, aliases, ATTR_ARRAY) && i < program_attr(k->p, aliases)->count; i++) {
        const attr_head *alias = program_attr(k->p, attr_list(program_attr(k->p, aliases))[i]);
        if (alias->kind == ATTR_STRUCT && alias->row == STRUCT_ALIAS) {
            TSR_TRY(check_alias(k, alias));
        }
    }
    return check_config(k);
}
