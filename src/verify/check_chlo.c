/* The rules of chlo: broadcasts by NumPy's rules or by dimensions, top-k, ragged products. */
#include <string.h>

#include "base/arena.h"
#include "verify/check.h"
#include "verify/check_ops.h"

/* ---- broadcasts ---- */

static const int64_t ILLEGAL = -7;

/* One extent of two that broadcast; ILLEGAL where they do not. */
static int64_t broadcast_extent(int64_t a, int64_t b)
{
    if (a == b || b == 1) {
        return a;
    }
    if (a == 1) {
        return b;
    }
    if (a == TSR_UNKNOWN || b == TSR_UNKNOWN) {
        return known_extent(a, b);
    }
    return ILLEGAL;
}

/* The shape of two operands; unranked where they do not broadcast. */
static tsr_status broadcast_types(const ir_check *k, uint32_t x, uint32_t y, uint32_t element,
                                  numbers dims, uint32_t *out)
{
    const type_head *a = program_type(k->p, x);
    const type_head *b = program_type(k->p, y);
    if (a->kind != TYPE_TENSOR || b->kind != TYPE_TENSOR) {
        return type_unranked(k->p, element, out);
    }
    const type_head *large = a->count > b->count ? a : b;
    const type_head *small = a->count > b->count ? b : a;
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, large->count + 1);
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    memcpy(extents, type_extents(large), large->count * sizeof *extents);
    const bool by_dims = dims.given;
    if (by_dims && dims.count != small->count) {
        return type_unranked(k->p, element, out);
    }
    for (uint32_t i = 0; i < small->count; i++) {
        const int64_t at = by_dims ? dims.values[i] : (int64_t)(large->count - small->count + i);
        const int64_t size = type_extents(small)[i];
        if (at < 0 || at >= large->count) {
            return type_unranked(k->p, element, out);
        }
        const int64_t both = broadcast_extent(extents[at], size);
        extents[at] = by_dims && size != 1 ? size : both;
        if (extents[at] == ILLEGAL) {
            return type_unranked(k->p, element, out);
        }
    }
    return type_tensor(k->p, extents, large->count, element, 0, out);
}

static tsr_status infer_pair(const ir_check *k, uint32_t element, inferred_types *out)
{
    uint32_t type = 0;
    if (type_element(k->p, operand_type(k, 0)) != type_element(k->p, operand_type(k, 1))) {
        return refuse(k, "mismatched operand types");
    }
    TSR_TRY(broadcast_types(k, operand_type(k, 0), operand_type(k, 1), element,
                            op_numbers(k, "broadcast_dimensions"), &type));
    return infer_one(k, type, out);
}

tsr_status infer_chlo_broadcast(const ir_check *k, inferred_types *out)
{
    return infer_pair(k, type_element(k->p, operand_type(k, 0)), out);
}

tsr_status infer_chlo_compare(const ir_check *k, inferred_types *out)
{
    uint32_t element = 0;
    TSR_TRY(type_integer(k->p, 1, SIGNLESS, &element));
    return infer_pair(k, element, out);
}

tsr_status infer_chlo_complex(const ir_check *k, inferred_types *out)
{
    uint32_t element = 0;
    TSR_TRY(type_complex(k->p, type_element(k->p, operand_type(k, 0)), &element));
    return infer_pair(k, element, out);
}

tsr_status infer_chlo_select(const ir_check *k, inferred_types *out)
{
    const uint32_t element = type_element(k->p, operand_type(k, 1));
    uint32_t type = 0;
    if (element != type_element(k->p, operand_type(k, 2))) {
        return refuse(k, "mismatched operand types");
    }
    TSR_TRY(
        broadcast_types(k, operand_type(k, 1), operand_type(k, 2), element, (numbers){0}, &type));
    TSR_TRY(broadcast_types(k, type, operand_type(k, 0), element, (numbers){0}, &type));
    return infer_one(k, type, out);
}

/* ---- others ---- */

tsr_status check_constant_like(const ir_check *k)
{
    const uint32_t value = op_property(k->p, k->op, "value");
    const attr_head *head = program_attr(k->p, value);
    const uint32_t element = type_element(k->p, result_type(k, 0));
    return head->type == element
               ? TSR_OK
               : op_error(k->ctx, k->p, k->op, "value's type doesn't match element return type");
}

tsr_status infer_top_k(const ir_check *k, inferred_types *out)
{
    const type_head *type = operand(k, 0);
    const int64_t count = op_integer(k, "k", 0);
    uint32_t index = 0;
    if (type->kind != TYPE_TENSOR) {
        return TSR_NOT_APPLICABLE;
    }
    if (type->count < 1) {
        return refuse(k, "operand's rank must be at least 1");
    }
    const int64_t last = type_extents(type)[type->count - 1];
    if (last != TSR_UNKNOWN && last < count) {
        return refuse(k, "operand's last dimension must be at least %lld", (long long)count);
    }
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, type->count);
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    memcpy(extents, type_extents(type), type->count * sizeof *extents);
    extents[type->count - 1] = count;
    TSR_TRY(type_integer(k->p, 32, SIGNLESS, &index));
    TSR_TRY(infer_tensor(k, extents, type->count, type->element, out));
    return infer_tensor(k, extents, type->count, index, out);
}

/* ---- scans ---- */

/* How many values each of two groups has. */
static tsr_status read_groups(const ir_check *k, const char *name, const char *what, size_t count,
                              numbers *out)
{
    int64_t total = 0;
    *out = op_numbers(k, name);
    for (size_t i = 0; i < out->count; i++) {
        if (out->values[i] < 0) {
            return op_error(k->ctx, k->p, k->op, "'%s' attribute cannot have negative elements",
                            name);
        }
        total += out->values[i];
    }
    return total == (int64_t)count
               ? TSR_OK
               : op_error(k->ctx, k->p, k->op,
                          "%s count (%zu) does not match with the total size (%lld) specified in "
                          "attribute '%s'",
                          what, count, (long long)total, name);
}

tsr_status same_scan(const ir_check *k)
{
    numbers groups;
    TSR_TRY(read_groups(k, "operandSegmentSizes", "operand", num_operands(k), &groups));
    return read_groups(k, "resultSegmentSizes", "result", num_results(k), &groups);
}

/* A type without the scanned dimension. */
static tsr_status without_dimension(const ir_check *k, const type_head *type, int64_t dim,
                                    uint32_t *out)
{
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, type->count + 1);
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    for (uint32_t i = 0, n = 0; i < type->count; i++) {
        if (i != dim) {
            extents[n++] = type_extents(type)[i];
        }
    }
    return type_tensor(k->p, extents, type->count - 1, type->element, 0, out);
}

tsr_status check_scan(const ir_check *k)
{
    const numbers groups = op_numbers(k, "operandSegmentSizes");
    const int64_t dim = op_integer(k, "dimension", 0);
    region_parts parts;
    TSR_TRY(region_parts_of(k, 0, &parts));
    if (parts.num_arguments != num_operands(k)) {
        return op_error(k->ctx, k->p, k->op, "expects %zu arguments in the body, but got %zu",
                        num_operands(k), parts.num_arguments);
    }
    for (size_t i = 0; i < num_operands(k); i++) {
        uint32_t wanted = operand_type(k, i);
        const type_head *type = operand(k, i);
        const bool is_scanned = groups.count > 0 && (int64_t)i < groups.values[0];
        if (is_scanned && type->kind == TYPE_TENSOR && dim >= type->count) {
            return op_error(k->ctx, k->p, k->op, "scan dimension of operand %zu is out of bounds",
                            i);
        }
        if (is_scanned && type->kind == TYPE_TENSOR) {
            TSR_TRY(without_dimension(k, type, dim, &wanted));
        }
        if (!types_compatible(k->p, wanted, parts.arguments[i])) {
            return op_error(k->ctx, k->p, k->op, "operand and body argument %zu are incompatible",
                            i);
        }
    }
    return TSR_OK;
}

/* What the body returns: outputs with the scanned dimension, then what is carried. */
tsr_status infer_scan(const ir_check *k, inferred_types *out)
{
    const numbers groups = op_numbers(k, "operandSegmentSizes");
    const int64_t dim = op_integer(k, "dimension", 0);
    const size_t carried = groups.count > 1 ? (size_t)groups.values[1] : 0;
    region_parts parts;
    TSR_TRY(region_parts_of(k, 0, &parts));
    for (size_t i = 0; i < parts.num_returned; i++) {
        const type_head *type = program_type(k->p, parts.returned[i]);
        if (i + carried >= parts.num_returned || type->kind != TYPE_TENSOR || dim > type->count ||
            num_operands(k) == carried || operand(k, 0)->kind != TYPE_TENSOR) {
            TSR_TRY(infer_one(k, parts.returned[i], out));
            continue;
        }
        int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, type->count + 1);
        if (extents == NULL) {
            return diag_nomem(k->ctx);
        }
        for (uint32_t d = 0; d <= type->count; d++) {
            extents[d] = d == dim ? type_extents(operand(k, 0))[dim]
                                  : type_extents(type)[d > dim ? d - 1 : d];
        }
        TSR_TRY(infer_tensor(k, extents, type->count + 1, type->element, out));
    }
    return TSR_OK;
}
