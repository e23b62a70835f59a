/* Elementwise ops. */
#include <math.h>

#include "reference.h"

/* ---- of one ---- */

static double f_negate(double x)
{
    return -x;
}

static double f_sign(double x)
{
    return isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0;
}

static double f_rsqrt(double x)
{
    return 1 / sqrt(x);
}

static double f_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double f_silu(double x)
{
    return x * f_sigmoid(x);
}

/* 1 + erf(y) is erfc(-y), which keeps its digits where erf is near -1. */
static double f_gelu(double x)
{
    return x * erfc(-x / sqrt(2.0)) / 2;
}

static double f_relu(double x)
{
    return isnan(x) || x > 0 ? x : 0;
}

/* To the even one of two neighbours, by hand. */
static double f_round_even(double x)
{
    const double below = floor(x);
    const double apart = x - below;
    if (isnan(x) || isinf(x) || apart < 0.5) {
        return isinf(x) ? x : below;
    }
    return apart > 0.5 || fmod(below, 2) != 0 ? below + 1 : below;
}

static double f_round_away(double x)
{
    const double below = floor(fabs(x));
    return isinf(x) ? x : copysign(fabs(x) - below >= 0.5 ? below + 1 : below, x);
}

static int64_t i_negate(tsr_dtype dtype, int64_t x)
{
    return ref_wrap(dtype, 0 - (uint64_t)x);
}

static int64_t i_abs(tsr_dtype dtype, int64_t x)
{
    return x < 0 ? i_negate(dtype, x) : x;
}

static int64_t i_sign(tsr_dtype dtype, int64_t x)
{
    (void)dtype;
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}

static int64_t i_relu(tsr_dtype dtype, int64_t x)
{
    return x < 0 && dtype <= TSR_I64 ? 0 : x;
}

static int64_t i_not(tsr_dtype dtype, int64_t x)
{
    return ref_wrap(dtype, ~(uint64_t)x);
}

static bool bit_of(int64_t x, int bit)
{
    return ((uint64_t)x >> bit & 1) != 0;
}

static int64_t i_popcnt(tsr_dtype dtype, int64_t x)
{
    int64_t count = 0;
    for (int bit = 0; bit < ref_bits(dtype); bit++) {
        count += bit_of(x, bit);
    }
    return count;
}

static int64_t i_leading_zeros(tsr_dtype dtype, int64_t x)
{
    int64_t count = 0;
    for (int bit = ref_bits(dtype) - 1; bit >= 0 && !bit_of(x, bit); bit--) {
        count++;
    }
    return count;
}

const ref_function ref_negate = {f_negate, i_negate};
const ref_function ref_abs = {fabs, i_abs};
const ref_function ref_sign = {f_sign, i_sign};
const ref_function ref_exp = {exp, NULL};
const ref_function ref_expm1 = {expm1, NULL};
const ref_function ref_log = {log, NULL};
const ref_function ref_log1p = {log1p, NULL};
const ref_function ref_sqrt = {sqrt, NULL};
const ref_function ref_rsqrt = {f_rsqrt, NULL};
const ref_function ref_cbrt = {cbrt, NULL};
const ref_function ref_tanh = {tanh, NULL};
const ref_function ref_asinh = {asinh, NULL};
const ref_function ref_erf = {erf, NULL};
const ref_function ref_erfc = {erfc, NULL};
const ref_function ref_sin = {sin, NULL};
const ref_function ref_cos = {cos, NULL};
const ref_function ref_tan = {tan, NULL};
const ref_function ref_floor = {floor, NULL};
const ref_function ref_ceil = {ceil, NULL};
const ref_function ref_round_even = {f_round_even, NULL};
const ref_function ref_round_away = {f_round_away, NULL};
const ref_function ref_sigmoid = {f_sigmoid, NULL};
const ref_function ref_silu = {f_silu, NULL};
const ref_function ref_gelu = {f_gelu, NULL};
const ref_function ref_relu = {f_relu, i_relu};
const ref_function ref_not = {NULL, i_not};
const ref_function ref_popcnt = {NULL, i_popcnt};
const ref_function ref_leading_zeros = {NULL, i_leading_zeros};

ref_array ref_map(tsr_arena *arena, const ref_array *x, const ref_function *function)
{
    ref_array y = ref_new(arena, x->dtype, x->rank, x->shape);
    for (int64_t k = 0; k < y.count; k++) {
        if (ref_is_float(x->dtype)) {
            y.at[k].f = function->f(x->at[k].f);
        } else {
            y.at[k].i = function->i(x->dtype, x->at[k].i);
        }
    }
    return y;
}

ref_array ref_is_finite(tsr_arena *arena, const ref_array *x)
{
    ref_array y = ref_new(arena, TSR_I1, x->rank, x->shape);
    for (int64_t k = 0; k < y.count; k++) {
        y.at[k].i = isnan(x->at[k].f) || isinf(x->at[k].f) ? 0 : 1;
    }
    return y;
}

/* ---- of two ---- */

static double f_add(double x, double y)
{
    return x + y;
}

static double f_sub(double x, double y)
{
    return x - y;
}

static double f_mul(double x, double y)
{
    return x * y;
}

static double f_div(double x, double y)
{
    return x / y;
}

static double f_maximum(double x, double y)
{
    return isnan(x) ? x : isnan(y) ? y : x > y ? x : y;
}

static double f_minimum(double x, double y)
{
    return isnan(x) ? x : isnan(y) ? y : x < y ? x : y;
}

/* Sums and products of truth values are OR and AND. */
static int64_t i_add(tsr_dtype dtype, int64_t x, int64_t y)
{
    return dtype == TSR_I1 ? x | y : ref_wrap(dtype, (uint64_t)x + (uint64_t)y);
}

static int64_t i_sub(tsr_dtype dtype, int64_t x, int64_t y)
{
    return ref_wrap(dtype, (uint64_t)x - (uint64_t)y);
}

static int64_t i_mul(tsr_dtype dtype, int64_t x, int64_t y)
{
    return ref_wrap(dtype, (uint64_t)x * (uint64_t)y);
}

static int64_t i_div(tsr_dtype dtype, int64_t x, int64_t y)
{
    if (y == 0 || y == -1) {
        return y == 0 ? ref_wrap(dtype, UINT64_MAX) : i_negate(dtype, x);
    }
    return x / y;
}

static int64_t i_rem(tsr_dtype dtype, int64_t x, int64_t y)
{
    (void)dtype;
    return y == -1 ? 0 : x % y;
}

static int64_t i_maximum(tsr_dtype dtype, int64_t x, int64_t y)
{
    (void)dtype;
    return x > y ? x : y;
}

static int64_t i_minimum(tsr_dtype dtype, int64_t x, int64_t y)
{
    (void)dtype;
    return x < y ? x : y;
}

/* One factor after the other. */
static int64_t i_pow(tsr_dtype dtype, int64_t x, int64_t y)
{
    int64_t power = 1;
    for (int64_t k = 0; k < y; k++) {
        power = i_mul(dtype, power, x);
    }
    return power;
}

static int64_t i_and(tsr_dtype dtype, int64_t x, int64_t y)
{
    (void)dtype;
    return x & y;
}

static int64_t i_or(tsr_dtype dtype, int64_t x, int64_t y)
{
    (void)dtype;
    return x | y;
}

static int64_t i_xor(tsr_dtype dtype, int64_t x, int64_t y)
{
    (void)dtype;
    return x ^ y;
}

/* The bits of x moved up by `by`, or down when that is negative; `fill` comes in. */
static int64_t moved(tsr_dtype dtype, int64_t x, int by, bool fill)
{
    uint64_t bits = 0;
    for (int bit = 0; bit < ref_bits(dtype); bit++) {
        const int from = bit - by;
        const bool is_inside = from >= 0 && from < ref_bits(dtype);
        bits |= (uint64_t)(is_inside ? bit_of(x, from) : fill) << bit;
    }
    return ref_wrap(dtype, bits);
}

static int amount(tsr_dtype dtype, int64_t by)
{
    return by < 0 || by > ref_bits(dtype) ? ref_bits(dtype) : (int)by;
}

static int64_t i_shift_left(tsr_dtype dtype, int64_t x, int64_t y)
{
    return moved(dtype, x, amount(dtype, y), false);
}

static int64_t i_shift_logical(tsr_dtype dtype, int64_t x, int64_t y)
{
    return moved(dtype, x, -amount(dtype, y), false);
}

static int64_t i_shift_arithmetic(tsr_dtype dtype, int64_t x, int64_t y)
{
    return moved(dtype, x, -amount(dtype, y), bit_of(x, ref_bits(dtype) - 1));
}

const ref_function_2 ref_add = {f_add, i_add};
const ref_function_2 ref_sub = {f_sub, i_sub};
const ref_function_2 ref_mul = {f_mul, i_mul};
const ref_function_2 ref_div = {f_div, i_div};
const ref_function_2 ref_maximum = {f_maximum, i_maximum};
const ref_function_2 ref_minimum = {f_minimum, i_minimum};
const ref_function_2 ref_pow = {pow, i_pow};
const ref_function_2 ref_rem = {fmod, i_rem};
const ref_function_2 ref_and = {NULL, i_and};
const ref_function_2 ref_or = {NULL, i_or};
const ref_function_2 ref_xor = {NULL, i_xor};
const ref_function_2 ref_atan2 = {atan2, NULL};
const ref_function_2 ref_shift_left = {NULL, i_shift_left};
const ref_function_2 ref_shift_arithmetic = {NULL, i_shift_arithmetic};
const ref_function_2 ref_shift_logical = {NULL, i_shift_logical};

/* ---- broadcasting ---- */

/* The shape in which all go together, of elements of a type. */
static ref_array new_common(tsr_arena *arena, tsr_dtype dtype, const ref_array *const *x,
                            size_t count)
{
    int64_t shape[REF_DIMS];
    size_t rank = 0;
    for (size_t i = 0; i < count; i++) {
        rank = x[i]->rank > rank ? x[i]->rank : rank;
    }
    for (size_t d = 0; d < rank; d++) {
        shape[d] = 1;
        for (size_t i = 0; i < count; i++) {
            const size_t leading = rank - x[i]->rank;
            const int64_t size = d < leading ? 1 : x[i]->shape[d - leading];
            shape[d] = size != 1 ? size : shape[d];
        }
    }
    return ref_new(arena, dtype, rank, shape);
}

/* The element of x that goes with a place of the common shape. */
static ref_number beside(const ref_array *common, int64_t place, const ref_array *x)
{
    int64_t index[REF_DIMS];
    int64_t own[REF_DIMS];
    ref_index(common, place, index);
    for (size_t d = 0; d < x->rank; d++) {
        own[d] = x->shape[d] == 1 ? 0 : index[d + common->rank - x->rank];
    }
    return x->at[ref_place(x, own)];
}

ref_array ref_map_2(tsr_arena *arena, const ref_array *x, const ref_array *y,
                    const ref_function_2 *function)
{
    ref_array z = new_common(arena, x->dtype, (const ref_array *const[]){x, y}, 2);
    for (int64_t k = 0; k < z.count; k++) {
        const ref_number a = beside(&z, k, x);
        const ref_number b = beside(&z, k, y);
        if (!ref_is_float(x->dtype)) {
            z.at[k].i = function->i(x->dtype, a.i, b.i);
            continue;
        }
        z.at[k].f = function->f(a.f, b.f);
        z.at[k].scale = function == &ref_add || function == &ref_sub ? fabs(a.f) + fabs(b.f) : 0;
    }
    return z;
}

static bool holds(tsr_comparison comparison, bool less, bool equal, bool greater)
{
    const bool results[] = {
        [TSR_EQ] = equal,         [TSR_NE] = !equal,  [TSR_LT] = less,
        [TSR_LE] = less || equal, [TSR_GT] = greater, [TSR_GE] = greater || equal};
    return results[comparison];
}

ref_array ref_compare(tsr_arena *arena, const ref_array *x, const ref_array *y,
                      tsr_comparison comparison)
{
    ref_array z = new_common(arena, TSR_I1, (const ref_array *const[]){x, y}, 2);
    for (int64_t k = 0; k < z.count; k++) {
        const ref_number a = beside(&z, k, x);
        const ref_number b = beside(&z, k, y);
        z.at[k].i = ref_is_float(x->dtype) ? holds(comparison, a.f<b.f, a.f == b.f, a.f> b.f)
                                           : holds(comparison, a.i<b.i, a.i == b.i, a.i> b.i);
    }
    return z;
}

ref_array ref_select(tsr_arena *arena, const ref_array *p, const ref_array *x, const ref_array *y)
{
    ref_array z = new_common(arena, x->dtype, (const ref_array *const[]){p, x, y}, 3);
    for (int64_t k = 0; k < z.count; k++) {
        z.at[k] = beside(&z, k, beside(&z, k, p).i != 0 ? x : y);
    }
    return z;
}

ref_array ref_clamp(tsr_arena *arena, const ref_array *least, const ref_array *x,
                    const ref_array *greatest)
{
    ref_array raised = ref_map_2(arena, x, least, &ref_maximum);
    return ref_map_2(arena, &raised, greatest, &ref_minimum);
}

/* ---- conversions ---- */

/* Towards zero, and to the ends of the type; a NaN to 0. */
static int64_t integer_of(tsr_dtype dtype, double x)
{
    const double below = (double)ref_least(dtype);
    const double above = ldexp(1, ref_bits(dtype) - (ref_is_unsigned(dtype) ? 0 : 1));
    if (isnan(x)) {
        return 0;
    }
    if (x <= below) {
        return ref_least(dtype);
    }
    return x >= above ? ref_greatest(dtype) : (int64_t)trunc(x);
}

ref_array ref_convert(tsr_arena *arena, const ref_array *x, tsr_dtype dtype)
{
    ref_array y = ref_new(arena, dtype, x->rank, x->shape);
    const bool from_float = ref_is_float(x->dtype);
    for (int64_t k = 0; k < y.count; k++) {
        const ref_number a = x->at[k];
        if (ref_is_float(dtype)) {
            y.at[k].f = ref_round(dtype, from_float ? (long double)a.f : (long double)a.i);
        } else if (dtype == TSR_I1) {
            y.at[k].i = from_float ? a.f != 0 : a.i != 0;
        } else {
            y.at[k].i = from_float ? integer_of(dtype, a.f) : ref_wrap(dtype, (uint64_t)a.i);
        }
    }
    return y;
}
