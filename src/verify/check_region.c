/* The rules of regions: reducers, comparators, branches and loops. */
#include <string.h>

#include "base/arena.h"
#include "verify/check.h"
#include "verify/check_ops.h"

/* ---- reducers ---- */

/* A number of one kind with as many bits or more; of floats the precision does not count. */
static bool is_promotable(const tsr_program *p, uint32_t from, uint32_t to)
{
    const type_head *a = program_type(p, from);
    const type_head *b = program_type(p, to);
    if (from == to || a->kind == TYPE_QUANT || b->kind == TYPE_QUANT) {
        return true;
    }
    if (a->kind != b->kind) {
        return false;
    }
    return a->kind == TYPE_FLOAT || element_bits(p, from) <= element_bits(p, to);
}

/* Of one shape and element type; floats may differ in precision. */
static bool types_match(const tsr_program *p, uint32_t a, uint32_t b)
{
    if (!type_is_shaped(p, a) || !type_is_shaped(p, b) || !shapes_compatible(p, a, b)) {
        return false;
    }
    return elements_compatible(p, a, b) || (type_is(p, type_element(p, a), TYPE_FLOAT) &&
                                            type_is(p, type_element(p, b), TYPE_FLOAT));
}

/* The extents of an argument are among those of the window, in order. */
static bool is_subshape(const type_head *type, const int64_t *window, size_t rank)
{
    uint32_t found = 0;
    for (size_t i = 0; i < rank && found < type->count; i++) {
        found += extents_agree(window[i], type_extents(type)[found]);
    }
    return found == type->count;
}

static tsr_status check_reducer_argument(const ir_check *k, const reducer *r,
                                         const region_parts *parts, size_t i)
{
    const uint32_t argument = parts->arguments[r->count + i];
    const uint32_t wanted = type_element(k->p, r->inputs[i]);
    const uint32_t element = type_element(k->p, argument);
    if (!is_promotable(k->p, wanted, element)) {
        return refuse(k,
                      "The element-type of reduction-region's argument at index %zu is expected to "
                      "be promotable from '%s', but got '%s'",
                      r->count + i, type_words(k, wanted), type_words(k, element));
    }
    const type_head *type = program_type(k->p, argument);
    if (!r->has_window || type->kind != TYPE_TENSOR || type->count == 0) {
        return TSR_OK;
    }
    if (type->count > r->window_rank) {
        return refuse(k,
                      "The rank of reduction-region's argument at index %zu is expected to be <= "
                      "%zu, got %u",
                      r->count + i, r->window_rank, type->count);
    }
    return is_subshape(type, r->window, r->window_rank)
               ? TSR_OK
               : refuse(k,
                        "The shape of reduction-region's argument at index %zu is not compatible "
                        "with that of reduce-op's input-parameter at index %zu",
                        r->count + i, i);
}

static tsr_status check_reducer_result(const ir_check *k, const reducer *r,
                                       const region_parts *parts, size_t i)
{
    const uint32_t type = parts->returned[i];
    for (size_t a = i; a < 2 * r->count; a += r->count) {
        if (!types_match(k->p, type, parts->arguments[a])) {
            return refuse(k,
                          "The type of reduction-region's parameter at index %zu is different than "
                          "the corresponding result type: '%s' vs '%s'",
                          a, type_words(k, parts->arguments[a]), type_words(k, type));
        }
    }
    if (!shapes_compatible(k->p, type, r->inits[i])) {
        return refuse(k,
                      "The shape of reduction-region's result type at index %zu differs from the "
                      "op's corresponding init-value type: '%s' vs '%s'",
                      i, type_words(k, type), type_words(k, r->inits[i]));
    }
    if (!is_promotable(k->p, type_element(k->p, r->inits[i]), type_element(k->p, type))) {
        return refuse(k,
                      "The element-type of reduction-region's result type at index %zu is expected "
                      "to be promotable from the op's corresponding init-value element-type: '%s' "
                      "vs '%s'",
                      i, type_words(k, type), type_words(k, r->inits[i]));
    }
    return check_reducer_argument(k, r, parts, i);
}

tsr_status check_reducer(const ir_check *k, const reducer *r)
{
    region_parts parts;
    TSR_TRY(region_parts_of(k, r->region, &parts));
    if (parts.num_arguments != 2 * r->count) {
        return refuse(k, "Reduction-region must take %zu parameters, but takes %zu parameter(s)",
                      2 * r->count, parts.num_arguments);
    }
    if (parts.num_returned == 0) {
        return refuse(k, "The reduction-region expected to return some value(s)");
    }
    if (parts.num_returned != r->count) {
        return refuse(k, "Reduction-region here must produce %zu tensors, but produces %zu instead",
                      r->count, parts.num_returned);
    }
    for (size_t i = 0; i < r->count; i++) {
        if (!type_is_shaped(k->p, parts.returned[i])) {
            return refuse(k,
                          "Reduction-region here must produce tensor-typed result(s), but produces "
                          "'%s' instead",
                          type_words(k, parts.returned[i]));
        }
    }
    for (size_t i = 0; i < r->count; i++) {
        TSR_TRY(check_reducer_result(k, r, &parts, i));
    }
    return TSR_OK;
}

/* The types of operands from one on, in the scratch of the program. */
static tsr_status types_of_operands(const ir_check *k, size_t first, size_t count, uint32_t **out)
{
    *out = ARENA_ARRAY(k->p->scratch, uint32_t, count + 1);
    if (*out == NULL) {
        return diag_nomem(k->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        (*out)[i] = operand_type(k, first + i);
    }
    return TSR_OK;
}

static tsr_status check_inputs(const ir_check *k, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (!shapes_compatible(k->p, operand_type(k, 0), operand_type(k, i))) {
            return refuse(k,
                          "expects all inputs to have compatible shapes. Shape at input-index %zu "
                          "is not compatible with shape at input-index 0",
                          i);
        }
    }
    return TSR_OK;
}

tsr_status check_reduce(const ir_check *k)
{
    const size_t count = num_operands(k) / 2;
    const type_head *type = operand(k, 0);
    const numbers dims = op_numbers(k, "dimensions");
    reducer r = {.count = count, .has_window = true};
    TSR_TRY(check_by_hook(k));
    int64_t *left = ARENA_ARRAY(k->p->scratch, int64_t, type->count + 1);
    if (left == NULL) {
        return diag_nomem(k->ctx);
    }
    for (uint32_t i = 0; i < type->count; i++) {
        if (!op_ints_have((op_ints){dims.count, dims.values}, i)) {
            left[r.window_rank++] = type_extents(type)[i];
        }
    }
    r.window = left;
    uint32_t *types = NULL;
    TSR_TRY(types_of_operands(k, 0, 2 * count, &types));
    r.inputs = types;
    r.inits = types + count;
    return check_reducer(k, &r);
}

/* The input without the reduced dimensions, of the element type that the region returns. */
tsr_status infer_reduce(const ir_check *k, inferred_types *out)
{
    const numbers dims = op_numbers(k, "dimensions");
    region_parts parts;
    TSR_TRY(region_parts_of(k, 0, &parts));
    for (size_t i = 0; i < num_operands(k) / 2; i++) {
        const type_head *type = operand(k, i);
        int64_t *left = ARENA_ARRAY(k->p->scratch, int64_t, type->count + 1);
        size_t rank = 0;
        if (left == NULL) {
            return diag_nomem(k->ctx);
        }
        for (uint32_t d = 0; d < type->count; d++) {
            if (!op_ints_have((op_ints){dims.count, dims.values}, d)) {
                left[rank++] = type_extents(type)[d];
            }
        }
        TSR_TRY(infer_tensor(k, left, rank, type_element(k->p, parts.returned[i]), out));
    }
    return TSR_OK;
}

/* Each input, of the element type that the region returns. */
tsr_status infer_scatter(const ir_check *k, inferred_types *out)
{
    region_parts parts;
    TSR_TRY(region_parts_of(k, 0, &parts));
    for (size_t i = 0; i < (num_operands(k) - 1) / 2; i++) {
        const type_head *type = operand(k, i);
        TSR_TRY(infer_tensor(k, type_extents(type), type->count,
                             type_element(k->p, parts.returned[i]), out));
    }
    return TSR_OK;
}

tsr_status check_scatter(const ir_check *k)
{
    const size_t count = (num_operands(k) - 1) / 2;
    const type_head *updates = operand(k, num_operands(k) - 1);
    uint32_t *types = NULL;
    reducer r = {.count = count,
                 .has_window = true,
                 .window = type_extents(updates),
                 .window_rank = updates->count};
    TSR_TRY(check_by_hook(k));
    TSR_TRY(types_of_operands(k, 0, count, &types));
    uint32_t *scalars = ARENA_ARRAY(k->p->scratch, uint32_t, count + 1);
    if (scalars == NULL) {
        return diag_nomem(k->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        TSR_TRY(type_tensor(k->p, NULL, 0, type_element(k->p, operand_type(k, count + 1 + i)), 0,
                            &scalars[i]));
    }
    r.inits = scalars;
    r.inputs = types;
    return check_reducer(k, &r);
}

/* ---- windows ---- */

tsr_status check_reduce_window(const ir_check *k)
{
    const size_t count = num_operands(k) / 2;
    const numbers sizes = op_numbers(k, "window_dimensions");
    window_dim *dims = NULL;
    uint32_t *types = NULL;
    if (count == 0) {
        return refuse(k, "requires at least 1 input value");
    }
    TSR_TRY(check_inputs(k, count));
    for (size_t i = 0; i < count; i++) {
        if (operand(k, i)->count != sizes.count) {
            return refuse(k,
                          "expects window-dimensions size == input rank, but got "
                          "window-dimensions size: %zu and input: '%s' with rank = %u.",
                          sizes.count, type_words(k, operand_type(k, i)), operand(k, i)->count);
        }
    }
    const window_attrs w = {.sizes = sizes.values,
                            .rank = sizes.count,
                            .strides = op_numbers(k, "window_strides"),
                            .base = op_numbers(k, "base_dilations"),
                            .dilation = op_numbers(k, "window_dilations"),
                            .padding = op_property(k->p, k->op, "padding")};
    TSR_TRY(read_window(k, &w, &dims));
    TSR_TRY(types_of_operands(k, 0, 2 * count, &types));
    const reducer r = {.count = count,
                       .inputs = types,
                       .inits = types + count,
                       .has_window = true,
                       .window = sizes.values,
                       .window_rank = sizes.count};
    return check_reducer(k, &r);
}

tsr_status infer_reduce_window(const ir_check *k, inferred_types *out)
{
    const size_t count = num_operands(k) / 2;
    const numbers sizes = op_numbers(k, "window_dimensions");
    region_parts parts;
    window_dim *dims = NULL;
    const window_attrs w = {.sizes = sizes.values,
                            .rank = sizes.count,
                            .strides = op_numbers(k, "window_strides"),
                            .base = op_numbers(k, "base_dilations"),
                            .dilation = op_numbers(k, "window_dilations"),
                            .padding = op_property(k->p, k->op, "padding")};
    TSR_TRY(region_parts_of(k, 0, &parts));
    TSR_TRY(read_window(k, &w, &dims));
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, sizes.count + 1);
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t d = 0; d < sizes.count; d++) {
            extents[d] = window_places(type_extents(operand(k, i))[d], &dims[d]);
        }
        TSR_TRY(infer_tensor(k, extents, sizes.count, type_element(k->p, parts.returned[i]), out));
    }
    return TSR_OK;
}

static tsr_status check_select_region(const ir_check *k)
{
    region_parts parts;
    uint32_t scalar = 0;
    TSR_TRY(region_parts_of(k, 0, &parts));
    if (parts.num_arguments != 2) {
        return refuse(k, "expects the select-region to take 2 parameters, but takes %zu",
                      parts.num_arguments);
    }
    TSR_TRY(type_tensor(k->p, NULL, 0, operand(k, 0)->element, 0, &scalar));
    for (size_t i = 0; i < 2; i++) {
        if (!types_match(k->p, scalar, parts.arguments[i])) {
            return refuse(k,
                          "expects the type of select-region's parameter at index %zu to be '%s', "
                          "but got '%s'",
                          i, type_words(k, scalar), type_words(k, parts.arguments[i]));
        }
    }
    if (parts.num_returned != 1) {
        return refuse(k, "expects select-region to return single value, but got: %zu",
                      parts.num_returned);
    }
    return is_scalar_i1(k->p, parts.returned[0])
               ? TSR_OK
               : refuse(k,
                        "expects the return-type of select-region to be tensor<i1>, but got: '%s'",
                        type_words(k, parts.returned[0]));
}

tsr_status check_select_and_scatter(const ir_check *k)
{
    const type_head *type = operand(k, 0);
    const numbers sizes = op_numbers(k, "window_dimensions");
    uint32_t types[2] = {operand_type(k, 1), operand_type(k, 2)};
    uint32_t source = 0;
    window_dim *dims = NULL;
    TSR_TRY(check_select_region(k));
    TSR_TRY(type_tensor(k->p, NULL, 0, operand(k, 1)->element, 0, &types[0]));
    const reducer r = {
        .region = 1, .count = 1, .inputs = types, .inits = types + 1, .has_window = true};
    TSR_TRY(check_reducer(k, &r));
    if (sizes.given && sizes.count != type->count) {
        return refuse(k,
                      "expects window-dimensions size == operand rank, but got window-dimensions "
                      "size: %zu and operand-type: '%s' with rank = %u.",
                      sizes.count, type_words(k, operand_type(k, 0)), type->count);
    }
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, 2 * (size_t)type->count + 1);
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    int64_t *ones = extents + type->count;
    for (uint32_t i = 0; i < type->count; i++) {
        ones[i] = 1;
    }
    const window_attrs w = {.sizes = sizes.given ? sizes.values : ones,
                            .rank = type->count,
                            .strides = op_numbers(k, "window_strides"),
                            .padding = op_property(k->p, k->op, "padding")};
    TSR_TRY(read_window(k, &w, &dims));
    for (uint32_t i = 0; i < type->count; i++) {
        extents[i] = window_places(type_extents(type)[i], &dims[i]);
    }
    TSR_TRY(type_tensor(k->p, extents, type->count, operand(k, 1)->element, 0, &source));
    return types_compatible(k->p, source, operand_type(k, 1))
               ? TSR_OK
               : refuse(k, "expects source-type to be '%s', but got'%s'", type_words(k, source),
                        type_words(k, operand_type(k, 1)));
}

/* The operand, of the element type that the second region returns. */
tsr_status infer_select_and_scatter(const ir_check *k, inferred_types *out)
{
    region_parts parts;
    const type_head *type = operand(k, 0);
    uint32_t made = 0;
    TSR_TRY(region_parts_of(k, 1, &parts));
    TSR_TRY(type_tensor(k->p, type_extents(type), type->count,
                        type_element(k->p, parts.returned[0]), type->encoding, &made));
    return infer_one(k, made, out);
}

/* ---- sorts ---- */

tsr_status check_sort(const ir_check *k)
{
    region_parts parts;
    TSR_TRY(check_by_hook(k));
    TSR_TRY(region_parts_of(k, 0, &parts));
    const size_t n = num_operands(k);
    if (parts.num_arguments != 2 * n) {
        return refuse(k, "comparator block should have %zu arguments", 2 * n);
    }
    for (size_t i = 0; i < 2 * n; i++) {
        uint32_t scalar = 0;
        TSR_TRY(type_tensor(k->p, NULL, 0, operand(k, i / 2)->element, 0, &scalar));
        if (parts.arguments[i] != scalar) {
            return refuse(k, "comparator block argument #%zu should be of type '%s' but got '%s'",
                          i, type_words(k, scalar), type_words(k, parts.arguments[i]));
        }
    }
    if (parts.num_returned != 1) {
        return refuse(k, "comparator must return single output but got %zu", parts.num_returned);
    }
    return is_scalar_i1(k->p, parts.returned[0])
               ? TSR_OK
               : refuse(k, "comparator must return tensor<i1> but got '%s'",
                        type_words(k, parts.returned[0]));
}
