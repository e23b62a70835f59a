/* What holds of the types of all operands and results of an op together. */
#include "verify/check.h"

/* The type of operand i, or of a result after them. */
static uint32_t type_at(const ir_check *k, size_t i)
{
    return i < num_operands(k) ? operand_type(k, i) : result_type(k, i - num_operands(k));
}

/* Extents that are known are equal, with each other and not only with those of the first. */
static bool all_shapes_agree(const ir_check *k)
{
    const size_t n = num_operands(k) + num_results(k);
    for (size_t i = 1; i < n; i++) {
        const type_head *a = program_type(k->p, type_at(k, i));
        for (size_t j = type_at(k, i) == type_at(k, 0) ? i : 0; j < i; j++) {
            const type_head *b = program_type(k->p, type_at(k, j));
            if (a->kind != TYPE_TENSOR || b->kind != TYPE_TENSOR) {
                continue;
            }
            if (a->count != b->count) {
                return false;
            }
            for (uint32_t d = 0; d < a->count; d++) {
                if (!extents_agree(type_extents(a)[d], type_extents(b)[d])) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool all_of_one_kind(const ir_check *k)
{
    for (size_t i = 1; i < num_operands(k) + num_results(k); i++) {
        if (program_type(k->p, type_at(k, i))->kind != program_type(k->p, type_at(k, 0))->kind) {
            return false;
        }
    }
    return true;
}

static bool all_elements(const ir_check *k, size_t count, bool exactly)
{
    for (size_t i = 1; i < count; i++) {
        const uint32_t a = type_at(k, 0);
        const uint32_t b = type_at(k, i);
        if (a != b && (exactly ? type_element(k->p, a) != type_element(k->p, b)
                               : !elements_compatible(k->p, a, b))) {
            return false;
        }
    }
    return true;
}

static bool all_compatible(const ir_check *k)
{
    for (size_t i = 0; i < num_operands(k); i++) {
        if (!types_compatible(k->p, operand_type(k, i), result_type(k, 0))) {
            return false;
        }
    }
    return true;
}

static tsr_status check_pairs(const ir_check *k, bool elements)
{
    if (num_operands(k) != num_results(k)) {
        return op_error(k->ctx, k->p, k->op, "requires the same number of operands and results");
    }
    for (size_t i = 0; i < num_operands(k); i++) {
        const uint32_t a = operand_type(k, i);
        const uint32_t b = result_type(k, i);
        if (elements ? type_element(k->p, a) != type_element(k->p, b) : a != b) {
            return op_error(k->ctx, k->p, k->op,
                            "requires the same %stype for operand and result at index %zu",
                            elements ? "element " : "", i);
        }
    }
    return TSR_OK;
}

static tsr_status check_elementwise(const ir_check *k)
{
    return all_of_one_kind(k) && all_shapes_agree(k)
               ? TSR_OK
               : op_error(k->ctx, k->p, k->op,
                          "all non-scalar operands/results must have the same shape and base type");
}

/* One type everywhere: no trait is violated. */
static bool is_uniform(const ir_check *k)
{
    for (size_t i = 0; i < num_operands(k); i++) {
        if (operand_type(k, i) != result_type(k, 0)) {
            return false;
        }
    }
    return num_results(k) == 1 && (k->row->traits & (CHECK_PAIRS | CHECK_PAIRED_ELEMENTS)) == 0;
}

tsr_status check_row_traits(const ir_check *k)
{
    const int traits = k->row->traits;
    const size_t all = num_operands(k) + num_results(k);
    if (traits == 0 || is_uniform(k)) {
        return TSR_OK;
    }
    if ((traits & (CHECK_PAIRS | CHECK_PAIRED_ELEMENTS)) != 0) {
        TSR_TRY(check_pairs(k, (traits & CHECK_PAIRED_ELEMENTS) != 0));
    }
    if ((traits & CHECK_ELEMENTWISE_FIRST) != 0) {
        TSR_TRY(check_elementwise(k));
    }
    const struct {
        int trait;
        bool holds;
        const char *text;
    } rows[] = {
        {CHECK_COMPATIBLE, (traits & CHECK_COMPATIBLE) == 0 || all_compatible(k),
         "requires compatible types for all operands and results"},
        {CHECK_SHAPE, (traits & CHECK_SHAPE) == 0 || all_shapes_agree(k),
         "requires the same shape for all operands and results"},
        {CHECK_ELEMENT, (traits & CHECK_ELEMENT) == 0 || all_elements(k, all, true),
         "requires the same element type for all operands and results"},
        {CHECK_OPERAND_ELEMENT,
         (traits & CHECK_OPERAND_ELEMENT) == 0 || all_elements(k, num_operands(k), true),
         "requires the same element type for all operands"},
        {CHECK_COMPATIBLE_ELEMENT,
         (traits & CHECK_COMPATIBLE_ELEMENT) == 0 || all_elements(k, all, false),
         "requires compatible element types for all operands and results"},
        {CHECK_OPERAND_COMPATIBLE_ELEMENT,
         (traits & CHECK_OPERAND_COMPATIBLE_ELEMENT) == 0 ||
             all_elements(k, num_operands(k), false),
         "requires compatible element types for all operands"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i].holds) {
            return op_error(k->ctx, k->p, k->op, "%s", rows[i].text);
        }
    }
    return (traits & CHECK_ELEMENTWISE) != 0 ? check_elementwise(k) : TSR_OK;
}
