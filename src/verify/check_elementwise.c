/* The rules of elementwise ops beyond their traits, and of conversions. */
#include "base/arena.h"
#include "number/float_format.h"
#include "verify/check.h"
#include "verify/check_ops.h"

/* The shape of the first operand, with an element type. */
static tsr_status infer_elements(const ir_check *k, uint32_t element, inferred_types *out)
{
    const type_head *type = operand(k, 0);
    uint32_t made = 0;
    if (type->kind == TYPE_UNRANKED) {
        TSR_TRY(type_unranked(k->p, element, &made));
        return infer_one(k, made, out);
    }
    TSR_TRY(type_tensor(k->p, type_extents(type), type->count, element, type->encoding, &made));
    return infer_one(k, made, out);
}

tsr_status infer_part(const ir_check *k, inferred_types *out)
{
    const uint32_t element = operand(k, 0)->element;
    const type_head *type = program_type(k->p, element);
    return infer_elements(k, type->kind == TYPE_COMPLEX ? type->element : element, out);
}

tsr_status infer_bool(const ir_check *k, inferred_types *out)
{
    uint32_t element = 0;
    TSR_TRY(type_integer(k->p, 1, SIGNLESS, &element));
    return infer_elements(k, element, out);
}

tsr_status infer_complex(const ir_check *k, inferred_types *out)
{
    uint32_t element = 0;
    TSR_TRY(type_complex(k->p, operand(k, 0)->element, &element));
    return infer_elements(k, element, out);
}

tsr_status infer_operand(const ir_check *k, inferred_types *out)
{
    return infer_one(k, operand_type(k, 0), out);
}

tsr_status infer_operands(const ir_check *k, inferred_types *out)
{
    for (size_t i = 0; i < num_operands(k); i++) {
        TSR_TRY(infer_one(k, operand_type(k, i), out));
    }
    return TSR_OK;
}

tsr_status check_add(const ir_check *k)
{
    const uint32_t element = result(k, 0)->element;
    if (operand(k, 0)->element == element && operand(k, 1)->element == element) {
        return TSR_OK;
    }
    return type_is(k->p, element, TYPE_QUANT)
               ? TSR_OK
               : refuse(k, "op requires the same element type for all operands and results");
}

/* Of two types, what either knows. */
static tsr_status most_specific(const ir_check *k, uint32_t a, uint32_t b, inferred_types *out)
{
    const type_head *x = program_type(k->p, a);
    const type_head *y = program_type(k->p, b);
    if (a == b || x->count != y->count) {
        return infer_one(k, a, out);
    }
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, x->count + 1);
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    for (uint32_t i = 0; i < x->count; i++) {
        extents[i] = known_extent(type_extents(x)[i], type_extents(y)[i]);
    }
    return infer_tensor(k, extents, x->count, x->element, out);
}

tsr_status infer_select(const ir_check *k, inferred_types *out)
{
    if (!types_compatible(k->p, operand_type(k, 1), operand_type(k, 2))) {
        return refuse(k, "requires compatible types for non-predicate operands");
    }
    if (operand(k, 0)->count != 0 &&
        !shapes_compatible(k->p, operand_type(k, 0), operand_type(k, 1))) {
        return refuse(k, "requires the same shape for all operands");
    }
    return most_specific(k, operand_type(k, 1), operand_type(k, 2), out);
}

tsr_status infer_clamp(const ir_check *k, inferred_types *out)
{
    static const char *const names[] = {"min", "", "max"};
    for (size_t i = 0; i < 3; i += 2) {
        if (operand(k, i)->count != 0 &&
            !shapes_compatible(k->p, operand_type(k, i), operand_type(k, 1))) {
            return refuse(
                k, "%s shape [%s] is not scalar and is not compatible to operand shape [%s]",
                names[i], words_of_shape(operand(k, i)).text, words_of_shape(operand(k, 1)).text);
        }
    }
    return infer_one(k, operand_type(k, 1), out);
}

/* ---- bitcasts ---- */

static int64_t bits_of(const tsr_program *p, uint32_t element)
{
    const type_head *type = program_type(p, element);
    if (type->kind == TYPE_COMPLEX) {
        return 2 * bits_of(p, type->element);
    }
    if (type->kind == TYPE_FLOAT) {
        return (int64_t)float_format_bits(type->width);
    }
    return type->kind == TYPE_INTEGER ? type->width : 64;
}

int64_t element_bits(const tsr_program *p, uint32_t element)
{
    return bits_of(p, element);
}

/* The two types, the one with the smaller elements first; of equal ones the result. */
static tsr_status check_bitcast_shapes(const ir_check *k, const type_head *small,
                                       int64_t small_bits, const type_head *big, int64_t big_bits)
{
    const uint32_t from = operand_type(k, 0);
    const uint32_t to = result_type(k, 0);
    uint32_t prefix = small->count;
    if (small_bits != big_bits) {
        if (small->count != big->count + 1) {
            return refuse(k,
                          "rank of smaller element type (%u) should be 1 more than rank of larger "
                          "element type (%u), but %u != %u + 1.",
                          small->count, big->count, small->count, big->count);
        }
        const int64_t last = type_extents(small)[small->count - 1];
        if (last != TSR_UNKNOWN && last * small_bits != big_bits) {
            return refuse(k,
                          "requires compatible bit widths. Got: '%s' and '%s', but %lld * %lld != "
                          "%lld.",
                          type_words(k, from), type_words(k, to), (long long)small_bits,
                          (long long)last, (long long)big_bits);
        }
        prefix--;
    }
    for (uint32_t i = 0; i < prefix && i < big->count; i++) {
        if (!extents_agree(type_extents(small)[i], type_extents(big)[i])) {
            return refuse(k,
                          "operand and result shapes must match except for the innermost dimension "
                          "of the shape with the smaller element type. Got: '%s' and '%s'.",
                          type_words(k, from), type_words(k, to));
        }
    }
    return TSR_OK;
}

tsr_status check_bitcast(const ir_check *k)
{
    const type_head *from = operand(k, 0);
    const type_head *to = result(k, 0);
    if (type_is(k->p, from->element, TYPE_COMPLEX) != type_is(k->p, to->element, TYPE_COMPLEX)) {
        return refuse(k, "cannot convert between real and complex types, but got: '%s' and '%s'",
                      type_words(k, operand_type(k, 0)), type_words(k, result_type(k, 0)));
    }
    if (type_is(k->p, from->element, TYPE_QUANT) || type_is(k->p, to->element, TYPE_QUANT)) {
        return TSR_OK;
    }
    const int64_t from_bits = bits_of(k->p, from->element);
    const int64_t to_bits = bits_of(k->p, to->element);
    return from_bits < to_bits ? check_bitcast_shapes(k, from, from_bits, to, to_bits)
                               : check_bitcast_shapes(k, to, to_bits, from, from_bits);
}
