#include "kernel/elementwise.h"
#include "kernel/functions.h"
#include "kernel/map.h"

#define NEGATE_BITS(x) (0U - (x))
#define NOT_BITS(x) (~(x))
#define NOT_TRUTH(x) ((x) ^ 1U)
#define ABS_SIGNED(x) ((x) < 0 ? 0U - (unsigned long long)(x) : (unsigned long long)(x))
#define SIGN_SIGNED(x) (((x) > 0) - ((x) < 0))
#define SIGN_UNSIGNED(x) ((x) > 0)

/* One function of every float type: f32 and the halves have the one of f32. */
#define DEFINE_FLOATS(op)                                                                          \
    DEFINE_MAP(f32_##op, float, float, float, AS_IS, op##_float, AS_IS)                            \
    DEFINE_MAP(f64_##op, double, double, double, AS_IS, op##_double, AS_IS)                        \
    DEFINE_MAP(f16_##op, uint16_t, float, uint16_t, float_of_f16, op##_float, f16_of_float)        \
    DEFINE_MAP(bf16_##op, uint16_t, float, uint16_t, float_of_bf16, op##_float, bf16_of_float)

#define FLOAT_FUNCTIONS(X)                                                                         \
    X(negate)                                                                                      \
    X(abs)                                                                                         \
    X(sign)                                                                                        \
    X(exp)                                                                                         \
    X(expm1)                                                                                       \
    X(log)                                                                                         \
    X(log1p)                                                                                       \
    X(sqrt)                                                                                        \
    X(rsqrt)                                                                                       \
    X(tanh)                                                                                        \
    X(erf)                                                                                         \
    X(logistic)                                                                                    \
    X(silu)                                                                                        \
    X(gelu)                                                                                        \
    X(relu)                                                                                        \
    X(sin)                                                                                         \
    X(cos)                                                                                         \
    X(floor)                                                                                       \
    X(ceil)
FLOAT_FUNCTIONS(DEFINE_FLOATS)

/* Integers wrap around, so bits are all the same to those that are negated. */
#define DEFINE_INTEGERS(bits)                                                                      \
    DEFINE_MAP(u##bits##_copy, uint##bits##_t, uint##bits##_t, uint##bits##_t, AS_IS, AS_IS,       \
               AS_IS)                                                                              \
    DEFINE_MAP(u##bits##_negate, uint##bits##_t, uint##bits##_t, uint##bits##_t, AS_IS,            \
               NEGATE_BITS, AS_IS)                                                                 \
    DEFINE_MAP(u##bits##_invert, uint##bits##_t, uint##bits##_t, uint##bits##_t, AS_IS, NOT_BITS,  \
               AS_IS)                                                                              \
    DEFINE_MAP(u##bits##_sign, uint##bits##_t, uint##bits##_t, uint##bits##_t, AS_IS,              \
               SIGN_UNSIGNED, AS_IS)                                                               \
    DEFINE_MAP(i##bits##_abs, int##bits##_t, int##bits##_t, int##bits##_t, AS_IS, ABS_SIGNED,      \
               AS_IS)                                                                              \
    DEFINE_MAP(i##bits##_sign, int##bits##_t, int##bits##_t, int##bits##_t, AS_IS, SIGN_SIGNED,    \
               AS_IS)
DEFINE_INTEGERS(8)
DEFINE_INTEGERS(16)
DEFINE_INTEGERS(32)
DEFINE_INTEGERS(64)

DEFINE_MAP(i1_not, uint8_t, uint8_t, uint8_t, AS_IS, NOT_TRUTH, AS_IS)

#define FLOAT_FORMS(op)                                                                            \
    [TSR_F16] = FORMS(f16_##op), [TSR_BF16] = FORMS(bf16_##op), [TSR_F32] = FORMS(f32_##op),       \
    [TSR_F64] = FORMS(f64_##op)
#define SIGNED_FORMS(letter, op)                                                                   \
    [TSR_I8] = FORMS(letter##8_##op), [TSR_I16] = FORMS(letter##16_##op),                          \
    [TSR_I32] = FORMS(letter##32_##op), [TSR_I64] = FORMS(letter##64_##op)
#define UNSIGNED_FORMS(op)                                                                         \
    [TSR_U8] = FORMS(u8_##op), [TSR_U16] = FORMS(u16_##op), [TSR_U32] = FORMS(u32_##op),           \
    [TSR_U64] = FORMS(u64_##op)

enum { NUM_TYPES = TSR_C128 + 1 };

static const map_forms rows[UNARY_COUNT][NUM_TYPES] = {
    [UNARY_NEGATE] = {FLOAT_FORMS(negate), SIGNED_FORMS(u, negate), UNSIGNED_FORMS(negate)},
    [UNARY_ABS] = {FLOAT_FORMS(abs), SIGNED_FORMS(i, abs), UNSIGNED_FORMS(copy)},
    [UNARY_SIGN] = {FLOAT_FORMS(sign), SIGNED_FORMS(i, sign), UNSIGNED_FORMS(sign)},
    [UNARY_EXP] = {FLOAT_FORMS(exp)},
    [UNARY_EXPM1] = {FLOAT_FORMS(expm1)},
    [UNARY_LOG] = {FLOAT_FORMS(log)},
    [UNARY_LOG1P] = {FLOAT_FORMS(log1p)},
    [UNARY_SQRT] = {FLOAT_FORMS(sqrt)},
    [UNARY_RSQRT] = {FLOAT_FORMS(rsqrt)},
    [UNARY_TANH] = {FLOAT_FORMS(tanh)},
    [UNARY_ERF] = {FLOAT_FORMS(erf)},
    [UNARY_LOGISTIC] = {FLOAT_FORMS(logistic)},
    [UNARY_SILU] = {FLOAT_FORMS(silu)},
    [UNARY_GELU] = {FLOAT_FORMS(gelu)},
    [UNARY_RELU] = {FLOAT_FORMS(relu)},
    [UNARY_SIN] = {FLOAT_FORMS(sin)},
    [UNARY_COS] = {FLOAT_FORMS(cos)},
    [UNARY_FLOOR] = {FLOAT_FORMS(floor)},
    [UNARY_CEIL] = {FLOAT_FORMS(ceil)},
    [UNARY_NOT] = {SIGNED_FORMS(u, invert), UNSIGNED_FORMS(invert), [TSR_I1] = FORMS(i1_not)},
};

bool unary_supports(unary_op op, tsr_dtype dtype)
{
    return rows[op][dtype].run[0] != NULL;
}

void kernel_unary(unary_op op, const tsr_view *dst, const tsr_view *src)
{
    kernel_map(&rows[op][dst->dtype], dst, &src, 1);
}
