/* The rules of decompositions, solvers, transforms, norms and random numbers. */
#include <string.h>

#include "base/arena.h"
#include "number/float_format.h"
#include "verify/check.h"
#include "verify/check_ops.h"

tsr_status infer_cholesky(const ir_check *k, inferred_types *out)
{
    const type_head *a = operand(k, 0);
    if (a->count < 2) {
        return refuse(k, "argument 'a' must have rank >= 2, got shape %s.", words_of_shape(a).text);
    }
    if (!extents_agree(type_extents(a)[a->count - 1], type_extents(a)[a->count - 2])) {
        return refuse(k, "minor dimensions of 'a' must have equal size, got shape %s.",
                      words_of_shape(a).text);
    }
    return infer_operand(k, out);
}

tsr_status infer_triangular_solve(const ir_check *k, inferred_types *out)
{
    const type_head *a = operand(k, 0);
    const type_head *b = operand(k, 1);
    const char *a_words = type_words(k, operand_type(k, 0));
    const char *b_words = type_words(k, operand_type(k, 1));
    const uint32_t rank = a->count;
    if (rank < 2) {
        return refuse(k, "operand 'a' must have rank >= 2, but got '%s'", a_words);
    }
    if (!extents_agree(type_extents(a)[rank - 1], type_extents(a)[rank - 2])) {
        return refuse(k, "two minor dimensions of operand 'a' must be compatible, but got '%s'",
                      a_words);
    }
    if (rank != b->count) {
        return refuse(k, "operands must have equal rank, but got '%s' and '%s'", a_words, b_words);
    }
    const int64_t shared = type_extents(b)[rank - (op_bool(k, "left_side") ? 2 : 1)];
    if (!extents_agree(type_extents(a)[rank - 1], shared)) {
        return refuse(k,
                      "shared dimension of operands 'a' and 'b' must be compatible, but got '%s' "
                      "and '%s'",
                      a_words, b_words);
    }
    for (uint32_t i = 0; i + 2 < rank; i++) {
        if (!extents_agree(type_extents(a)[i], type_extents(b)[i])) {
            return refuse(k,
                          "batch dimensions of the operands must be compatible, but got '%s' and "
                          "'%s'",
                          a_words, b_words);
        }
    }
    if (strcmp(op_enum(k, "transpose_a"), "TRANSPOSE_INVALID") == 0) {
        return refuse(k, "Invalid transpose option value for triangular solve");
    }
    return infer_one(k, operand_type(k, 1), out);
}

/* ---- transforms ---- */

static bool is_wide(const tsr_program *p, uint32_t element)
{
    const type_head *type = program_type(p, element);
    return type->kind == TYPE_FLOAT && (type->width == FLOAT_F32 || type->width == FLOAT_F64);
}

static tsr_status check_fft_operand(const ir_check *k, bool is_real, size_t fft_rank)
{
    const type_head *type = operand(k, 0);
    if (fft_rank > 3 || fft_rank < 1) {
        return refuse(k, "rank must be between 1 and 3, but got %zu.", fft_rank);
    }
    if (is_real && !is_wide(k->p, type->element)) {
        return refuse(k, "RFFT requires f32 or f64 input type, but is given '%s'.",
                      type_words(k, type->element));
    }
    if (!is_real && !type_is(k->p, type->element, TYPE_COMPLEX)) {
        return refuse(k, "FFT/IFFT/IRFFT take a complex tensor as input, but is given '%s'.",
                      type_words(k, operand_type(k, 0)));
    }
    if (type->count < fft_rank) {
        return refuse(
            k, "operand rank must not be less than fft rank of %zu for operand of type '%s'.",
            fft_rank, type_words(k, operand_type(k, 0)));
    }
    return TSR_OK;
}

/* Checks the lengths of a real transform, one way or the other. */
static tsr_status check_fft_lengths(const ir_check *k, numbers lengths, bool is_real)
{
    const type_head *type = operand(k, 0);
    const int64_t *back = type_extents(type) + type->count - lengths.count;
    const size_t n = is_real ? lengths.count : lengths.count - 1;
    for (size_t i = 0; i < n; i++) {
        if (!extents_agree(back[i], lengths.values[i])) {
            return is_real ? refuse(k,
                                    "RFFT requires innermost dimensions to be compatible with "
                                    "fft_length. Got: %s but wanted %s.",
                                    words_of(back, n).text,
                                    words_of(lengths.values, lengths.count).text)
                           : refuse(k,
                                    "IRFFT requires non-final dimensions to be compatible with "
                                    "fft_length. Got: %s but wanted %s, and %s.",
                                    words_of(back, n).text,
                                    words_of(lengths.values, lengths.count).text, "-1");
        }
    }
    const int64_t last = type_extents(type)[type->count - 1];
    const int64_t length = lengths.values[lengths.count - 1];
    if (!is_real && last != TSR_UNKNOWN && (last != 0 || length != 0) && last != length / 2 + 1) {
        return refuse(k,
                      "IRFFT requires innermost dimension to be compatible with "
                      "fft_length[-1]/2+1. Got: %lld but fft_length is %s.",
                      (long long)last, words_of(lengths.values, lengths.count).text);
    }
    return TSR_OK;
}

tsr_status infer_fft(const ir_check *k, inferred_types *out)
{
    const type_head *type = operand(k, 0);
    const numbers lengths = op_numbers(k, "fft_length");
    const char *kind = op_enum(k, "fft_type");
    const bool is_real = strcmp(kind, "RFFT") == 0;
    const bool to_real = strcmp(kind, "IRFFT") == 0;
    uint32_t element = type->element;
    TSR_TRY(check_fft_operand(k, is_real, lengths.count));
    if (!is_real && !to_real) {
        return infer_operand(k, out);
    }
    TSR_TRY(check_fft_lengths(k, lengths, is_real));
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, type->count + 1);
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    memcpy(extents, type_extents(type), type->count * sizeof *extents);
    const int64_t length = lengths.values[lengths.count - 1];
    if (to_real) {
        extents[type->count - 1] = length;
        element = program_type(k->p, element)->element;
    } else {
        if (length != 0) {
            extents[type->count - 1] = length / 2 + 1;
        }
        TSR_TRY(type_complex(k->p, element, &element));
    }
    return infer_tensor(k, extents, type->count, element, out);
}

/* ---- norms ---- */

/* Operands of the shape of the first, bit by bit, and those along its features. */
static tsr_status check_batch_norm(const ir_check *k, unsigned whole)
{
    const int64_t feature = op_integer(k, "feature_index", 0);
    const type_head *type = operand(k, 0);
    size_t single = 0;
    for (size_t i = 1; i < num_operands(k); i++) {
        if ((whole >> i & 1U) != 0 &&
            !shapes_compatible(k->p, operand_type(k, i), operand_type(k, 0))) {
            return refuse(k, "expects multi-dimensional operands to have compatible shapes.");
        }
    }
    for (size_t i = 1; i < num_operands(k); i++) {
        if ((whole >> i & 1U) != 0) {
            continue;
        }
        single = single == 0 ? i : single;
        if (!shapes_compatible(k->p, operand_type(k, i), operand_type(k, single))) {
            return refuse(k, "expects single-dimensional operands to have compatible shapes.");
        }
    }
    if (feature >= type->count) {
        return refuse(k,
                      "expects featureIndex to be smaller than the rank of multi-dimensional "
                      "operands; got featureIndex %lld, and rank %u.",
                      (long long)feature, type->count);
    }
    const int64_t count = type_extents(type)[feature];
    const int64_t size = type_extents(operand(k, single))[0];
    if (!extents_agree(size, count)) {
        return refuse(k,
                      "expects the size of single-dimensional operands to be compatible with "
                      "feature count, but the size of single-dimensional operands is %s and the "
                      "feature count is %s.",
                      words_of_extents(&size, 1).text, words_of_extents(&count, 1).text);
    }
    return TSR_OK;
}

static tsr_status infer_features(const ir_check *k, inferred_types *out)
{
    const type_head *type = operand(k, 0);
    const int64_t count = type_extents(type)[op_integer(k, "feature_index", 0)];
    TSR_TRY(infer_operand(k, out));
    TSR_TRY(infer_tensor(k, &count, 1, type->element, out));
    return infer_tensor(k, &count, 1, type->element, out);
}

tsr_status infer_batch_norm_training(const ir_check *k, inferred_types *out)
{
    TSR_TRY(check_batch_norm(k, 1));
    return infer_features(k, out);
}

tsr_status infer_batch_norm_inference(const ir_check *k, inferred_types *out)
{
    TSR_TRY(check_batch_norm(k, 1));
    return infer_operand(k, out);
}

tsr_status infer_batch_norm_grad(const ir_check *k, inferred_types *out)
{
    TSR_TRY(check_batch_norm(k, 1 | 1 << 4));
    return infer_features(k, out);
}

/* ---- random numbers ---- */

uint32_t constant_of(const ir_check *k, size_t i)
{
    const uint32_t owner = program_value(k->p, op_operand(k->p, k->op, i))->owner;
    return (owner & IR_IS_ARGUMENT) == 0 && op_is(k->p, owner, OP_STABLEHLO_CONSTANT)
               ? op_property(k->p, owner, "value")
               : 0;
}

tsr_status same_rng(const ir_check *k)
{
    const uint32_t element = result(k, 0)->element;
    return operand(k, 0)->element == element && operand(k, 1)->element == element
               ? TSR_OK
               : refuse_sameness(k, "a, b, result", "element type");
}

tsr_status infer_rng(const ir_check *k, inferred_types *out)
{
    const type_head *type = operand(k, 0);
    const int64_t rank = type_extents(operand(k, 2))[0];
    if (strcmp(op_enum(k, "rng_distribution"), "NORMAL") == 0 &&
        !type_is(k->p, type->element, TYPE_FLOAT)) {
        return refuse(k, "mu and sigma must be floats");
    }
    const numbers shape = attr_as_numbers(k, constant_of(k, 2));
    if (shape.given && (int64_t)shape.count == rank) {
        return infer_tensor(k, shape.values, shape.count, type->element, out);
    }
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, (size_t)rank + 1);
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    for (int64_t i = 0; i < rank; i++) {
        extents[i] = TSR_UNKNOWN;
    }
    return infer_tensor(k, extents, (size_t)rank, type->element, out);
}

tsr_status check_rng_bits(const ir_check *k)
{
    return shapes_compatible(k->p, operand_type(k, 0), result_type(k, 0))
               ? TSR_OK
               : refuse(k,
                        "output state shape must be compatible with initial state shape. Got: '%s' "
                        "and '%s'",
                        type_words(k, operand_type(k, 0)), type_words(k, result_type(k, 0)));
}
