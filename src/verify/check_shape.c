/* The rules of ops that change shapes, whether by attributes or by operands. */
#include "base/arena.h"
#include "verify/check.h"
#include "verify/check_ops.h"

/* Of an extent in a message: one that is unknown is "?". */
static list_words dim_words(int64_t extent)
{
    return words_of_extents(&extent, 1);
}

tsr_status infer_broadcast(const ir_check *k, inferred_types *out)
{
    const numbers sizes = op_numbers(k, "broadcast_sizes");
    const type_head *type = operand(k, 0);
    for (size_t i = 0; i < sizes.count; i++) {
        if (sizes.values[i] < 0) {
            return refuse(k, "Broadcast with negative dimension size %lld",
                          (long long)sizes.values[i]);
        }
    }
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, sizes.count + type->count + 1);
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    for (size_t i = 0; i < sizes.count + type->count; i++) {
        extents[i] = i < sizes.count ? sizes.values[i] : type_extents(type)[i - sizes.count];
    }
    return infer_tensor(k, extents, sizes.count + type->count, type->element, out);
}

static bool has_duplicates(numbers list)
{
    for (size_t i = 0; i < list.count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (list.values[i] == list.values[j]) {
                return true;
            }
        }
    }
    return false;
}

tsr_status check_reverse(const ir_check *k)
{
    const numbers dims = op_numbers(k, "dimensions");
    if (has_duplicates(dims)) {
        return refuse(k, "dimensions should be unique. Got: %s",
                      words_of(dims.values, dims.count).text);
    }
    for (size_t i = 0; i < dims.count; i++) {
        const int64_t d = dims.values[i];
        if (d < 0) {
            return refuse(k, "all dimensions should be non-negative. Got dimension: %lld.",
                          (long long)d);
        }
        if (d >= operand(k, 0)->count) {
            return refuse(k, "all dimensions should be between [0, %u). Got dimension: %lld.",
                          operand(k, 0)->count, (long long)d);
        }
    }
    return TSR_OK;
}

/* ---- shapes that are computed ---- */

static tsr_status check_elements_of_result(const ir_check *k)
{
    return elements_compatible(k->p, operand_type(k, 0), result_type(k, 0))
               ? TSR_OK
               : refuse(k,
                        "expects operand and result to have compatible element type. Got: '%s' and "
                        "'%s'",
                        type_words(k, operand_type(k, 0)), type_words(k, result_type(k, 0)));
}

/* Hints on dimensions that are known to grow, or not to. */
static tsr_status check_hints(const ir_check *k)
{
    const numbers lists[2] = {op_numbers(k, "known_expanding_dimensions"),
                              op_numbers(k, "known_nonexpanding_dimensions")};
    int64_t *all = ARENA_ARRAY(k->p->scratch, int64_t, lists[0].count + lists[1].count + 1);
    size_t n = 0;
    if (all == NULL) {
        return diag_nomem(k->ctx);
    }
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l].count; i++) {
            all[n++] = lists[l].values[i];
        }
    }
    if (has_duplicates((numbers){true, n, all})) {
        return refuse(k, "duplicate expansion hint for at least one operand dimension");
    }
    for (size_t i = 0; i < n; i++) {
        if (all[i] < 0 || all[i] >= operand(k, 0)->count) {
            return refuse(k,
                          "hint for expanding dimension %lld does not refer to a valid operand "
                          "dimension",
                          (long long)all[i]);
        }
    }
    return TSR_OK;
}

tsr_status check_dynamic_broadcast(const ir_check *k)
{
    const numbers dims = op_numbers(k, "broadcast_dimensions");
    const type_head *from = operand(k, 0);
    const type_head *to = result(k, 0);
    TSR_TRY(check_elements_of_result(k));
    if (dims.count != from->count) {
        return refuse(k, "broadcast_dimensions size (%zu) does not match operand rank (%u)",
                      dims.count, from->count);
    }
    if (to->count < from->count) {
        return refuse(k, "result rank (%u) is less than operand rank (%u)", to->count, from->count);
    }
    if (has_duplicates(dims)) {
        return refuse(k, "broadcast_dimensions should not have duplicates");
    }
    for (size_t i = 0; i < dims.count; i++) {
        const int64_t d = dims.values[i];
        if (d < 0 || d >= to->count) {
            return refuse(k,
                          "broadcast_dimensions contains invalid value %lld for result with rank "
                          "%u",
                          (long long)d, to->count);
        }
        const int64_t size = type_extents(from)[i];
        if (size != 1 && !extents_agree(size, type_extents(to)[d])) {
            return refuse(
                k,
                "size of operand dimension %zu (%s) is not compatible with size of result "
                "dimension %lld (%s)",
                i, dim_words(size).text, (long long)d, dim_words(type_extents(to)[d]).text);
        }
    }
    return check_hints(k);
}

tsr_status check_dynamic_reshape(const ir_check *k)
{
    int64_t from = 0;
    int64_t to = 0;
    TSR_TRY(check_elements_of_result(k));
    if (type_extents(operand(k, 1))[0] != result(k, 0)->count) {
        return refuse(k, "result should have a rank equal to the number of elements in "
                         "output_shape");
    }
    if (type_is_static(k->p, operand_type(k, 0)) && type_is_static(k->p, result_type(k, 0)) &&
        type_num_elements(k->p, operand_type(k, 0), &from) &&
        type_num_elements(k->p, result_type(k, 0), &to) && from != to) {
        return refuse(k,
                      "number of output elements (%lld) doesn't match expected number of elements "
                      "(%lld)",
                      (long long)to, (long long)from);
    }
    return TSR_OK;
}

tsr_status check_dynamic_iota(const ir_check *k)
{
    return op_integer(k, "iota_dimension", 0) < result(k, 0)->count
               ? TSR_OK
               : refuse(k, "iota dimension cannot go beyond the output rank.");
}

static bool same_element(const ir_check *k, uint32_t a, uint32_t b)
{
    return type_element(k->p, a) == type_element(k->p, b);
}

tsr_status same_operand_result(const ir_check *k)
{
    return same_element(k, operand_type(k, 0), result_type(k, 0))
               ? TSR_OK
               : refuse_sameness(k, "operand, result", "element type");
}

tsr_status same_dynamic_pad(const ir_check *k)
{
    if (!same_element(k, operand_type(k, 0), operand_type(k, 1)) ||
        !same_element(k, operand_type(k, 0), result_type(k, 0))) {
        return refuse_sameness(k, "operand, padding_value, result", "element type");
    }
    if (operand(k, 0)->count != result(k, 0)->count) {
        return refuse_sameness(k, "operand, result", "rank");
    }
    return operand_type(k, 2) == operand_type(k, 3) && operand_type(k, 3) == operand_type(k, 4)
               ? TSR_OK
               : refuse_sameness(k, "edge_padding_low, edge_padding_high, interior_padding",
                                 "type");
}

tsr_status check_dynamic_pad(const ir_check *k)
{
    const int64_t size = type_extents(operand(k, 2))[0];
    return size == operand(k, 0)->count
               ? TSR_OK
               : refuse(k, "padding operands size (%lld) must match operand rank (%u)",
                        (long long)size, operand(k, 0)->count);
}

tsr_status same_real_slice(const ir_check *k)
{
    if (!same_element(k, operand_type(k, 0), result_type(k, 0))) {
        return refuse_sameness(k, "operand, result", "element type");
    }
    return operand_type(k, 1) == operand_type(k, 2) && operand_type(k, 2) == operand_type(k, 3)
               ? TSR_OK
               : refuse_sameness(k, "start_indices, limit_indices, strides", "type");
}

tsr_status check_real_slice(const ir_check *k)
{
    const int64_t size = type_extents(operand(k, 1))[0];
    return extents_agree(size, operand(k, 0)->count)
               ? TSR_OK
               : refuse(k,
                        "has mismatched number of operand rank (%u) and start_indices size (%lld)",
                        operand(k, 0)->count, (long long)size);
}

static tsr_status check_dimension(const ir_check *k)
{
    const int64_t dim = op_integer(k, "dimension", 0);
    return dim < operand(k, 0)->count
               ? TSR_OK
               : refuse(k, "requires dimension attribute in range [0, %u); found (%lld)",
                        operand(k, 0)->count, (long long)dim);
}

tsr_status infer_dimension_size(const ir_check *k, inferred_types *out)
{
    uint32_t element = 0;
    TSR_TRY(check_dimension(k));
    TSR_TRY(type_integer(k->p, 32, SIGNLESS, &element));
    return infer_tensor(k, NULL, 0, element, out);
}

/* The type with the bounds of its extents, if any is known. */
static tsr_status bounded_type(const ir_check *k, const int64_t *extents, const int64_t *bounds,
                               size_t rank, uint32_t element, inferred_types *out)
{
    bool any = false;
    uint32_t list = 0;
    uint32_t encoding = 0;
    uint32_t type = 0;
    for (size_t i = 0; i < rank; i++) {
        any = any || bounds[i] != TSR_UNKNOWN;
    }
    if (any) {
        TSR_TRY(attr_ints(k->p, bounds, rank, &list));
        TSR_TRY(attr_struct(k->p, STRUCT_BOUNDS, &list, 1, &encoding));
    }
    TSR_TRY(type_tensor(k->p, extents, rank, element, encoding, &type));
    return infer_one(k, type, out);
}

tsr_status infer_set_dimension_size(const ir_check *k, inferred_types *out)
{
    const type_head *type = operand(k, 0);
    const size_t rank = type->count;
    const int64_t dim = op_integer(k, "dimension", 0);
    if (operand(k, 1)->count != 0) {
        return refuse(k, "size operand should be of rank-0");
    }
    TSR_TRY(check_dimension(k));
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, 2 * rank + 1);
    const int64_t *known = type_bounds(k->p, type);
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    int64_t *bounds = extents + rank;
    for (size_t i = 0; i < rank; i++) {
        extents[i] = type_extents(type)[i];
        bounds[i] = known != NULL ? known[i] : TSR_UNKNOWN;
    }
    if (extents[dim] != TSR_UNKNOWN) {
        bounds[dim] = extents[dim];
    }
    extents[dim] = TSR_UNKNOWN;
    const numbers size = attr_as_numbers(k, constant_of(k, 1));
    if (size.count == 1 && size.values[0] == bounds[dim]) {
        extents[dim] = bounds[dim];
        bounds[dim] = TSR_UNKNOWN;
    }
    return bounded_type(k, extents, bounds, rank, type->element, out);
}

/* ---- slices ---- */

static tsr_status check_starts(const ir_check *k, size_t first)
{
    for (size_t i = first + 1; i < num_operands(k); i++) {
        if (!same_element(k, operand_type(k, first), operand_type(k, i))) {
            return refuse(k, "start indices must have same element type");
        }
    }
    return TSR_OK;
}

tsr_status infer_dynamic_slice(const ir_check *k, inferred_types *out)
{
    const numbers sizes = op_numbers(k, "slice_sizes");
    const size_t starts = num_operands(k) - 1;
    const type_head *type = operand(k, 0);
    if (starts != sizes.count) {
        return refuse(
            k, "has mismatched number of slice sizes (%zu) and number of start indices (%zu)",
            sizes.count, starts);
    }
    if (starts != type->count) {
        return refuse(k,
                      "has mismatched number of start indices (%zu) and the rank of operand (%u)",
                      starts, type->count);
    }
    TSR_TRY(check_starts(k, 1));
    for (size_t i = 0; i < sizes.count; i++) {
        const int64_t extent = type_extents(type)[i];
        if (sizes.values[i] < 0) {
            return refuse(k, "has negative size index to dynamic slice: %lld",
                          (long long)sizes.values[i]);
        }
        if (extent != TSR_UNKNOWN && sizes.values[i] > extent) {
            return refuse(
                k,
                "has slice size %lld greater than dimension size %lld in dimension %zu of "
                "operand",
                (long long)sizes.values[i], (long long)extent, i);
        }
    }
    return infer_tensor(k, sizes.values, sizes.count, type->element, out);
}

tsr_status same_update_slice(const ir_check *k)
{
    return same_element(k, operand_type(k, 0), operand_type(k, 1)) &&
                   same_element(k, operand_type(k, 0), result_type(k, 0))
               ? TSR_OK
               : refuse_sameness(k, "operand, update, result", "element type");
}

tsr_status infer_update_slice(const ir_check *k, inferred_types *out)
{
    const type_head *type = operand(k, 0);
    const type_head *update = operand(k, 1);
    if (update->count != type->count) {
        return refuse(k, "update rank does not match operand rank: %u vs %u.", update->count,
                      type->count);
    }
    if (num_operands(k) - 2 != type->count) {
        return refuse(k, "expects number of start_indices to match operand rank: %zu vs %u.",
                      num_operands(k) - 2, type->count);
    }
    TSR_TRY(check_starts(k, 2));
    for (uint32_t i = 0; i < type->count; i++) {
        const int64_t most = type_extents(type)[i];
        const int64_t size = type_extents(update)[i];
        if (size != TSR_UNKNOWN && most != TSR_UNKNOWN && size > most) {
            return refuse(k,
                          "expects size at dimension %u of update to be in range [0, %lld]. Got: "
                          "%lld.",
                          i, (long long)most, (long long)size);
        }
    }
    return infer_operand(k, out);
}
