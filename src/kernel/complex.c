#include "kernel/complex.h"

#include <math.h>

#include "kernel/element_complex.h"
#include "kernel/loops.h"

/* ---- loops ---- */

/* What is done to one element of each array, dst first. */
typedef struct element_call {
    void (*run)(const struct element_call *call, char *dst, const char *a, const char *b);
    tsr_dtype dtype;
    number (*complex_unary)(number x);
    number (*complex_binary)(number x, number y);
    double (*real_unary)(double x);
    double (*real_binary)(double x, double y);
    compare_op compare;
} element_call;

static void walk(const element_call *call, const tsr_view *dst, const tsr_view *a,
                 const tsr_view *b)
{
    const int64_t *strides[] = {dst->strides, a->strides, b->strides};
    loops nest;
    if (!loops_init_sorted(&nest, dst->shape, dst->rank, strides, 3,
                           tsr_dtype_item_bytes(dst->dtype))) {
        return;
    }
    const loop *inner = &nest.loops[nest.count - 1];
    do {
        for (int64_t i = 0; i < inner->size; i++) {
            call->run(call, (char *)dst->data + nest.offsets[0] + i * inner->strides[0],
                      (const char *)a->data + nest.offsets[1] + i * inner->strides[1],
                      (const char *)b->data + nest.offsets[2] + i * inner->strides[2]);
        }
    } while (loops_next(&nest));
}

static void run_complex_unary(const element_call *c, char *dst, const char *a, const char *b)
{
    (void)b;
    store_number(c->dtype, c->complex_unary(load_number(c->dtype, a)), dst);
}

static void run_abs(const element_call *c, char *dst, const char *a, const char *b)
{
    (void)b;
    store_float(part_of(c->dtype), cabs(load_number(c->dtype, a)), dst);
}

static void run_complex_binary(const element_call *c, char *dst, const char *a, const char *b)
{
    store_number(c->dtype, c->complex_binary(load_number(c->dtype, a), load_number(c->dtype, b)),
                 dst);
}

static void run_real_unary(const element_call *c, char *dst, const char *a, const char *b)
{
    (void)b;
    store_float(c->dtype, c->real_unary(load_float(c->dtype, a)), dst);
}

static void run_real_binary(const element_call *c, char *dst, const char *a, const char *b)
{
    store_float(c->dtype, c->real_binary(load_float(c->dtype, a), load_float(c->dtype, b)), dst);
}

/* ---- functions of complex numbers ---- */

static number negate(number x)
{
    return make_number(-creal(x), -cimag(x));
}

static number sign(number x)
{
    const double size = cabs(x);
    if (isnan(creal(x)) || isnan(cimag(x))) {
        return make_number(NAN, NAN);
    }
    return size == 0 ? make_number(0, 0) : make_number(creal(x) / size, cimag(x) / size);
}

/* e^x - 1: the real part is expm1(a) cos(b) + (cos(b) - 1), without cancellation near 0. */
static number complex_expm1(number x)
{
    const double a = creal(x);
    const double b = cimag(x);
    const double half = sin(b / 2);
    return make_number(expm1(a) * cos(b) - 2 * half * half, exp(a) * sin(b));
}

static number complex_log1p(number x)
{
    const double a = creal(x);
    const double b = cimag(x);
    return make_number(0.5 * log1p(a * (2 + a) + b * b), atan2(b, 1 + a));
}

static number divide(number x, number y)
{
    return x / y;
}

static number complex_rsqrt(number x)
{
    return 1 / csqrt(x);
}

static number complex_cbrt(number x)
{
    return creal(x) == 0 && cimag(x) == 0 ? x : cpow(x, 1.0 / 3);
}

static number logistic(number x)
{
    return 1 / (1 + cexp(negate(x)));
}

static number add(number x, number y)
{
    return make_number(creal(x) + creal(y), cimag(x) + cimag(y));
}

static number subtract(number x, number y)
{
    return make_number(creal(x) - creal(y), cimag(x) - cimag(y));
}

static number multiply(number x, number y)
{
    return x * y;
}

static number power(number x, number y)
{
    if (creal(y) == 0 && cimag(y) == 0) {
        return 1;
    }
    if (creal(x) == 0 && cimag(x) == 0) {
        return creal(y) > 0 ? 0 : cpow(x, y);
    }
    return cpow(x, y);
}

/* -i log((x + i y) / sqrt(x^2 + y^2)) */
static number complex_atan2(number y, number x)
{
    const number z = clog((x + make_number(0, 1) * y) / csqrt(x * x + y * y));
    return make_number(cimag(z), -creal(z));
}

/* By real parts, then by imaginary ones. */
static bool is_less(number x, number y)
{
    return creal(x) < creal(y) || (creal(x) == creal(y) && cimag(x) < cimag(y));
}

static bool has_nan(number x)
{
    return isnan(creal(x)) || isnan(cimag(x));
}

static number maximum(number x, number y)
{
    return has_nan(x) ? x : has_nan(y) ? y : is_less(x, y) ? y : x;
}

static number minimum(number x, number y)
{
    return has_nan(x) ? x : has_nan(y) ? y : is_less(y, x) ? y : x;
}

static number (*const unary[UNARY_COUNT])(number) = {
    [UNARY_NEGATE] = negate,     [UNARY_SIGN] = sign,
    [UNARY_EXP] = cexp,          [UNARY_EXPM1] = complex_expm1,
    [UNARY_LOG] = clog,          [UNARY_LOG1P] = complex_log1p,
    [UNARY_SQRT] = csqrt,        [UNARY_RSQRT] = complex_rsqrt,
    [UNARY_CBRT] = complex_cbrt, [UNARY_TANH] = ctanh,
    [UNARY_ASINH] = casinh,      [UNARY_LOGISTIC] = logistic,
    [UNARY_SIN] = csin,          [UNARY_COS] = ccos,
    [UNARY_TAN] = ctan,
};

static number (*const binary[BINARY_COUNT])(number, number) = {
    [BINARY_ADD] = add,       [BINARY_SUBTRACT] = subtract, [BINARY_MULTIPLY] = multiply,
    [BINARY_DIVIDE] = divide, [BINARY_POWER] = power,       [BINARY_ATAN2] = complex_atan2,
    [BINARY_MAX] = maximum,   [BINARY_MIN] = minimum,
};

bool complex_unary_supports(unary_op op, tsr_dtype dtype)
{
    return is_complex(dtype) && (op == UNARY_ABS || unary[op] != NULL);
}

void kernel_complex_unary(unary_op op, const tsr_view *dst, const tsr_view *src)
{
    const element_call call = {.run = op == UNARY_ABS ? run_abs : run_complex_unary,
                               .dtype = src->dtype,
                               .complex_unary = unary[op]};
    walk(&call, dst, src, src);
}

bool complex_binary_supports(binary_op op, tsr_dtype dtype)
{
    return is_complex(dtype) && binary[op] != NULL;
}

void kernel_complex_binary(binary_op op, const tsr_view *dst, const tsr_view *a, const tsr_view *b)
{
    const element_call call = {
        .run = run_complex_binary, .dtype = dst->dtype, .complex_binary = binary[op]};
    walk(&call, dst, a, b);
}

static void run_compare(const element_call *c, char *dst, const char *a, const char *b)
{
    const number x = load_number(c->dtype, a);
    const number y = load_number(c->dtype, b);
    const bool same = creal(x) == creal(y) && cimag(x) == cimag(y);
    const bool less = is_less(x, y);
    const bool more = is_less(y, x);
    const bool results[COMPARE_COUNT] = {
        [COMPARE_EQ] = same,         [COMPARE_NE] = !same, [COMPARE_LT] = less,
        [COMPARE_LE] = less || same, [COMPARE_GT] = more,  [COMPARE_GE] = more || same};
    *dst = (char)results[c->compare];
}

void kernel_complex_compare(compare_op op, const tsr_view *dst, const tsr_view *a,
                            const tsr_view *b)
{
    const element_call call = {.run = run_compare, .dtype = a->dtype, .compare = op};
    walk(&call, dst, a, b);
}

/* ---- special functions ---- */

/* lgamma has a global for the sign. */
static double log_gamma(double x)
{
    int its_sign = 0;
    return lgamma_r(x, &its_sign);
}

#define COMPLEX_IF_YES(name) c##name
#define COMPLEX_IF_NO(name) NULL
#define SPECIAL_COMPLEX(NAME, name, has_complex) [SPECIAL_##NAME] = COMPLEX_IF_##has_complex(name),
static number (*const special_complex[SPECIAL_COUNT])(number) = {SPECIAL_OPS(SPECIAL_COMPLEX)};

static double (*const special_real[SPECIAL_COUNT])(double) = {
    [SPECIAL_ACOS] = acos,
    [SPECIAL_ACOSH] = acosh,
    [SPECIAL_ASIN] = asin,
    [SPECIAL_ATAN] = atan,
    [SPECIAL_ATANH] = atanh,
    [SPECIAL_COSH] = cosh,
    [SPECIAL_SINH] = sinh,
    [SPECIAL_TAN] = tan,
    [SPECIAL_BESSEL_I1E] = special_bessel_i1e,
    [SPECIAL_DIGAMMA] = special_digamma,
    [SPECIAL_ERF_INV] = special_erf_inv,
    [SPECIAL_LGAMMA] = log_gamma,
};

bool special_supports(special_op op, tsr_dtype dtype)
{
    return is_float(dtype) || (is_complex(dtype) && special_complex[op] != NULL);
}

void kernel_special(special_op op, const tsr_view *dst, const tsr_view *src)
{
    const element_call call = {.run = is_complex(dst->dtype) ? run_complex_unary : run_real_unary,
                               .dtype = dst->dtype,
                               .complex_unary = special_complex[op],
                               .real_unary = special_real[op]};
    walk(&call, dst, src, src);
}

bool special_pair_supports(tsr_dtype dtype)
{
    return is_float(dtype);
}

void kernel_special_pair(special_pair op, const tsr_view *dst, const tsr_view *a, const tsr_view *b)
{
    const element_call call = {.run = run_real_binary,
                               .dtype = dst->dtype,
                               .real_binary =
                                   op == SPECIAL_ZETA ? special_zeta : special_polygamma};
    walk(&call, dst, a, b);
}
