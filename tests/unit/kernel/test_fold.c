/* Every fold of every element type against arithmetic one element at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#include "kernel/fold.h"
#include "number/half.h"

enum { MAX_SOURCES = 11, MAX_ITEM = 16, MAX_DIMS_HERE = 3, MARGIN = 64, GUARD = 0x5a };

typedef enum kind { NONE, TRUTH, SIGNED, UNSIGNED, FLOAT, COMPLEX } kind;

static kind kind_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_I1:
        return TRUTH;
    case TSR_I8:
    case TSR_I16:
    case TSR_I32:
    case TSR_I64:
        return SIGNED;
    case TSR_U8:
    case TSR_U16:
    case TSR_U32:
    case TSR_U64:
        return UNSIGNED;
    case TSR_F16:
    case TSR_BF16:
    case TSR_F32:
    case TSR_F64:
        return FLOAT;
    case TSR_C64:
    case TSR_C128:
        return COMPLEX;
    default:
        return NONE;
    }
}

static size_t item_of(tsr_dtype dtype)
{
    return (size_t)tsr_dtype_bytes(dtype, 1);
}

static void support_is_as_documented(void **state)
{
    (void)state;
    for (int i = 0; i < tsr_dtype_count(); i++) {
        for (int op = 0; op < FOLD_COUNT; op++) {
            const kind k = kind_of((tsr_dtype)i);
            const bool ordered = k != COMPLEX || (op != FOLD_MAX && op != FOLD_MIN);
            const bool bitwise = op == FOLD_AND || op == FOLD_OR;
            const bool wanted = k != NONE && ordered &&
                                (!bitwise || (k != FLOAT && k != COMPLEX)) &&
                                (k != TRUTH || op != FOLD_AVG);
            assert_int_equal(fold_supports((tsr_dtype)i, (fold_op)op), wanted);
        }
    }
}

static void folds_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"sum", "max", "min", "avg", "prod", "and", "or"};
    for (int op = 0; op < FOLD_COUNT; op++) {
        assert_string_equal(fold_name((fold_op)op), names[op]);
    }
}

/*
 * One element: `x` holds `count` items in a row, `out` takes the result. A sum, product or quotient
 * of two f32 numbers in double, rounded to f32, is that of f32 arithmetic: 53 bits are more than
 * twice 24.
 */
typedef struct element {
    tsr_dtype dtype;
    fold_op op;
    size_t count;
    size_t item;
    const unsigned char *x;
    unsigned char *out;
} element;

static double rounded(tsr_dtype dtype, double x)
{
    return dtype == TSR_F64 || dtype == TSR_C128 ? x : (double)(float)x;
}

/* Part `part` of item `s`. */
static double load_part(const element *e, size_t s, size_t part)
{
    const unsigned char *at = e->x + s * e->item;
    uint16_t half;
    float single;
    double value;
    switch (e->dtype) {
    case TSR_F16:
        memcpy(&half, at, sizeof half);
        return (double)float_of_f16(half);
    case TSR_BF16:
        memcpy(&half, at, sizeof half);
        return (double)float_of_bf16(half);
    case TSR_F32:
    case TSR_C64:
        memcpy(&single, at + part * sizeof single, sizeof single);
        return (double)single;
    default:
        memcpy(&value, at + part * sizeof value, sizeof value);
        return value;
    }
}

static void store_bits(const element *e, size_t part, uint64_t bits, size_t size)
{
    memcpy(e->out + part * size, &bits, size);
}

static void store_part(const element *e, size_t part, double x)
{
    const float single = (float)x;
    uint64_t bits;
    switch (e->dtype) {
    case TSR_F16:
        store_bits(e, 0, isnan(x) ? 0x7e00 : f16_of_float(single), 2);
        break;
    case TSR_BF16:
        store_bits(e, 0, isnan(x) ? 0x7fc0 : bf16_of_float(single), 2);
        break;
    case TSR_F32:
    case TSR_C64:
        store_bits(e, part, isnan(x) ? 0x7fc00000 : bits_of_float(single), 4);
        break;
    default:
        memcpy(&bits, &x, sizeof bits);
        store_bits(e, part, isnan(x) ? UINT64_C(0x7ff8000000000000) : bits, 8);
    }
}

/* The bits of the chosen item; a half NaN comes back quiet. */
static void store_chosen(const element *e, size_t s)
{
    memcpy(e->out, e->x + s * e->item, e->item);
    uint16_t half;
    if (e->item == sizeof half && isnan(load_part(e, s, 0))) {
        memcpy(&half, e->out, sizeof half);
        half = (uint16_t)(e->dtype == TSR_F16 ? (half & 0x8000) | 0x7e00 : half | 0x40);
        memcpy(e->out, &half, sizeof half);
    }
}

static void fold_extreme(const element *e)
{
    size_t best = 0;
    for (size_t s = 1; s < e->count; s++) {
        const double a = load_part(e, best, 0);
        const double b = load_part(e, s, 0);
        const bool larger = b > a || (b == a && signbit(a) && !signbit(b));
        const bool smaller = b < a || (b == a && signbit(b) && !signbit(a));
        const bool better = e->op == FOLD_MAX ? larger : smaller;
        best = isnan(b) || (!isnan(a) && better) ? s : best;
    }
    store_chosen(e, best);
}

static void fold_real(const element *e)
{
    double x = load_part(e, 0, 0);
    for (size_t s = 1; s < e->count; s++) {
        const double y = load_part(e, s, 0);
        x = rounded(e->dtype, e->op == FOLD_PROD ? x * y : x + y);
    }
    store_part(e, 0, e->op == FOLD_AVG ? rounded(e->dtype, x / (double)e->count) : x);
}

static void fold_complex(const element *e)
{
    double a = load_part(e, 0, 0);
    double b = load_part(e, 0, 1);
    for (size_t s = 1; s < e->count; s++) {
        const double c = load_part(e, s, 0);
        const double d = load_part(e, s, 1);
        const double ac = rounded(e->dtype, a * c);
        const double bd = rounded(e->dtype, b * d);
        const double ad = rounded(e->dtype, a * d);
        const double bc = rounded(e->dtype, b * c);
        const bool product = e->op == FOLD_PROD;
        a = rounded(e->dtype, product ? ac - bd : a + c);
        b = rounded(e->dtype, product ? ad + bc : b + d);
    }
    const double n = e->op == FOLD_AVG ? (double)e->count : 1.0;
    store_part(e, 0, rounded(e->dtype, a / n));
    store_part(e, 1, rounded(e->dtype, b / n));
}

static __int128 load_integer(const element *e, size_t s)
{
    uint64_t bits = 0;
    memcpy(&bits, e->x + s * e->item, e->item);
    const uint64_t sign = UINT64_C(1) << (8 * e->item - 1);
    const bool negative = kind_of(e->dtype) == SIGNED && (bits & sign) != 0;
    return (__int128)bits - (negative ? (__int128)sign * 2 : 0);
}

static unsigned __int128 combine_bits(fold_op op, unsigned __int128 x, unsigned __int128 y)
{
    switch (op) {
    case FOLD_PROD:
        return x * y;
    case FOLD_AND:
        return x & y;
    case FOLD_OR:
        return x | y;
    default:
        return x + y;
    }
}

/* Arithmetic modulo 2^128 has the right low bits, and its sums are exact. */
static void fold_integer(const element *e)
{
    __int128 x = load_integer(e, 0);
    for (size_t s = 1; s < e->count; s++) {
        const __int128 y = load_integer(e, s);
        if (e->op == FOLD_MAX || e->op == FOLD_MIN) {
            x = (e->op == FOLD_MAX) == (y > x) ? y : x;
        } else {
            x = (__int128)combine_bits(e->op, (unsigned __int128)x, (unsigned __int128)y);
        }
    }
    store_bits(e, 0, (uint64_t)(e->op == FOLD_AVG ? x / (__int128)e->count : x), e->item);
}

static void fold_truth(const element *e)
{
    size_t trues = 0;
    for (size_t s = 0; s < e->count; s++) {
        trues += e->x[s];
    }
    const bool all = e->op == FOLD_MIN || e->op == FOLD_PROD || e->op == FOLD_AND;
    e->out[0] = (all ? trues == e->count : trues > 0) ? 1 : 0;
}

static void fold_element(const element *e)
{
    switch (kind_of(e->dtype)) {
    case TRUTH:
        fold_truth(e);
        break;
    case FLOAT:
        (e->op == FOLD_MAX || e->op == FOLD_MIN ? fold_extreme : fold_real)(e);
        break;
    case COMPLEX:
        fold_complex(e);
        break;
    default:
        fold_integer(e);
    }
}

/* A layout of arrays of up to three dimensions, in items. */
typedef struct layout {
    int64_t src[MAX_DIMS_HERE];
    int64_t dst[MAX_DIMS_HERE];
    int64_t shape[MAX_DIMS_HERE];
    size_t rank;
    bool in_place;
} layout;

static const layout layouts[] = {
    {.rank = 0},
    {.rank = 1, .shape = {1300}, .src = {1}, .dst = {1}},
    {.rank = 1, .shape = {1300}, .src = {1}, .dst = {1}, .in_place = true},
    {.rank = 2, .shape = {3, 67}, .src = {70, 1}, .dst = {67, 1}},
    {.rank = 2, .shape = {3, 67}, .src = {134, 2}, .dst = {67, 1}},
    {.rank = 2, .shape = {3, 67}, .src = {67, 1}, .dst = {210, 3}},
    {.rank = 2, .shape = {5, 31}, .src = {1, 5}, .dst = {31, 1}},
    {.rank = 3, .shape = {2, 1, 41}, .src = {-90, 7, -2}, .dst = {-41, 0, -1}},
    {.rank = 3, .shape = {2, 3, 41}, .src = {200, 60, 1}, .dst = {200, 60, 1}, .in_place = true},
    {.rank = 2, .shape = {0, 4}, .src = {4, 1}, .dst = {4, 1}},
};
enum { NUM_LAYOUTS = sizeof layouts / sizeof layouts[0], ROOM_ITEMS = 1700, MIDDLE = 300 };

/* The item of the index-th element. */
static int64_t place_of(const layout *l, const int64_t *strides, int64_t index)
{
    int64_t place = 0;
    for (size_t d = l->rank; d-- > 0;) {
        place += index % l->shape[d] * strides[d];
        index /= l->shape[d];
    }
    return place;
}

static int64_t num_elements(const layout *l)
{
    int64_t count = 1;
    for (size_t d = 0; d < l->rank; d++) {
        count *= l->shape[d];
    }
    return count;
}

enum { ROOM = MARGIN + ROOM_ITEMS * MAX_ITEM };

/* The arrays of one case; `start` is the place of element 0, at any alignment. */
typedef struct arrays {
    unsigned char src[MAX_SOURCES][ROOM];
    unsigned char dst[ROOM];
    unsigned char wanted[ROOM];
    size_t start;
} arrays;

/* Floats are special values and numbers of like size, so that sums round and sometimes overflow. */
static uint64_t random_float(rng *r, int exponent_bits, int fraction_bits)
{
    const uint64_t fraction =
        (uint64_t)rng_below(r, INT64_MAX) & ((UINT64_C(1) << fraction_bits) - 1);
    const uint64_t top = (UINT64_C(1) << exponent_bits) - 1;
    const uint64_t sign = (uint64_t)rng_below(r, 2) << (exponent_bits + fraction_bits);
    const uint64_t like = top / 2 - 2 + (uint64_t)rng_below(r, 5);
    const uint64_t exponents[] = {0, top, top - 1, (uint64_t)rng_below(r, (int64_t)top)};
    const bool special = rng_chance(r, 8);
    const uint64_t exponent = special ? exponents[rng_below(r, 4)] : like;
    return sign | exponent << fraction_bits | (special && rng_chance(r, 40) ? 0 : fraction);
}

static uint64_t random_bits(rng *r, tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_I1:
        return (uint64_t)rng_below(r, 2);
    case TSR_F16:
        return random_float(r, 5, 10);
    case TSR_BF16:
        return random_float(r, 8, 7);
    case TSR_F32:
    case TSR_C64:
        return random_float(r, 8, 23);
    case TSR_F64:
    case TSR_C128:
        return random_float(r, 11, 52);
    default:
        return rng_chance(r, 10) ? (uint64_t)rng_below(r, 5) - 2
                                 : (uint64_t)rng_below(r, INT64_MAX) * 2 + (r->state & 1);
    }
}

static void fill(rng *r, arrays *a, tsr_dtype dtype)
{
    const size_t parts = kind_of(dtype) == COMPLEX ? 2 : 1;
    const size_t size = item_of(dtype) / parts;
    for (size_t s = 0; s < MAX_SOURCES; s++) {
        for (size_t at = a->start % size; at + size <= ROOM; at += size) {
            const uint64_t bits = random_bits(r, dtype);
            memcpy(a->src[s] + at, &bits, size);
        }
    }
}

/* What every byte of the target should be; it starts as `before`. */
static void expect(arrays *a, const layout *l, tsr_dtype dtype, fold_op op, size_t count)
{
    const size_t item = item_of(dtype);
    const int64_t elements = num_elements(l);
    memset(a->wanted, GUARD, ROOM);
    if (l->in_place) {
        memcpy(a->wanted, a->src[0], ROOM);
    }
    for (int64_t i = 0; i < elements; i++) {
        unsigned char x[MAX_SOURCES * MAX_ITEM];
        const int64_t from = (int64_t)a->start + place_of(l, l->src, i) * (int64_t)item;
        const int64_t to = (int64_t)a->start + place_of(l, l->dst, i) * (int64_t)item;
        for (size_t s = 0; s < count; s++) {
            memcpy(x + s * item, a->src[s] + from, item);
        }
        fold_element(&(element){dtype, op, count, item, x, a->wanted + to});
    }
}

typedef void (*fold_function)(void *dst, const int64_t *dst_strides, const void *const *src,
                              size_t count, const int64_t *src_strides, const int64_t *shape,
                              size_t rank, tsr_dtype dtype, fold_op op, bool stream);

static void in_bytes(const int64_t *items, size_t item, int64_t *bytes)
{
    for (size_t d = 0; d < MAX_DIMS_HERE; d++) {
        bytes[d] = items[d] * (int64_t)item;
    }
}

/* Folds into dst, which is source 0 or a copy of it when it should be folded in place. */
static void run(arrays *a, const layout *l, tsr_dtype dtype, fold_op op, size_t count, bool stream,
                fold_function fold)
{
    const void *sources[MAX_SOURCES];
    int64_t src_strides[MAX_DIMS_HERE];
    int64_t dst_strides[MAX_DIMS_HERE];
    in_bytes(l->src, item_of(dtype), src_strides);
    in_bytes(l->dst, item_of(dtype), dst_strides);
    for (size_t s = 0; s < count; s++) {
        sources[s] = a->src[s] + a->start;
    }
    memset(a->dst, GUARD, ROOM);
    if (l->in_place) {
        memcpy(a->dst, a->src[0], ROOM);
        sources[0] = a->dst + a->start;
    }
    fold(a->dst + a->start, dst_strides, sources, count, src_strides, l->shape, l->rank, dtype, op,
         stream);
    kernel_copy_fence();
}

static void check_case(arrays *a, size_t which, tsr_dtype dtype, fold_op op, size_t count)
{
    static const fold_function functions[] = {kernel_fold, kernel_fold_portable};
    const layout *l = &layouts[which];
    expect(a, l, dtype, op, count);
    for (int stream = 0; stream < 2; stream++) {
        for (int f = 0; f < 2; f++) {
            run(a, l, dtype, op, count, stream != 0, functions[f]);
            if (memcmp(a->dst, a->wanted, ROOM) != 0) {
                size_t at = 0;
                for (; a->dst[at] == a->wanted[at]; at++) {
                }
                fail_msg("%s of %zu %s, layout %zu, %s, %s: byte %zd is 0x%02x, wanted 0x%02x",
                         fold_name(op), count, tsr_dtype_name(dtype), which,
                         stream != 0 ? "streamed" : "stored", f == 0 ? "best" : "portable",
                         (ptrdiff_t)(at - a->start), a->dst[at], a->wanted[at]);
            }
        }
    }
}

static void every_fold_gives_the_bits_of_scalar_arithmetic(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 3, 7, MAX_SOURCES};
    const rng start = rng_start("every_fold_gives_the_bits_of_scalar_arithmetic");
    arrays *a = malloc(sizeof *a);
    assert_non_null(a);
    for (int64_t i = 0; i < prop_cases(tsr_dtype_count()); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const tsr_dtype dtype = (tsr_dtype)(i % tsr_dtype_count());
        for (int op = 0; op < FOLD_COUNT; op++) {
            if (!fold_supports(dtype, (fold_op)op)) {
                continue;
            }
            a->start = MIDDLE * item_of(dtype) + (size_t)rng_below(&r, MARGIN);
            fill(&r, a, dtype);
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
                for (size_t l = 0; l < NUM_LAYOUTS; l++) {
                    check_case(a, l, dtype, (fold_op)op, counts[c]);
                }
            }
        }
    }
    free(a);
}

/* +0 is more than -0, in either order. */
static void zeros_have_signs(void **state)
{
    (void)state;
    static const double zeros[] = {0.0, -0.0};
    for (size_t first = 0; first < 2; first++) {
        for (int op = FOLD_MAX; op <= FOLD_MIN; op++) {
            const void *sources[] = {&zeros[first], &zeros[1 - first]};
            double out = 1.0;
            kernel_fold(&out, NULL, sources, 2, NULL, NULL, 0, TSR_F64, (fold_op)op, false);
            assert_memory_equal(&out, &zeros[op == FOLD_MAX ? 0 : 1], sizeof out);
        }
    }
}

/* There is no limit to the sources; f16 is still rounded once. */
static void many_sources_are_folded_in_one_go(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    const uint16_t half_one = f16_of_float(1.0F);
    const int32_t most = INT32_MAX;
    const void *halves[MANY];
    const void *integers[MANY];
    uint16_t half = 0;
    int32_t integer = 0;
    for (size_t s = 0; s < MANY; s++) {
        halves[s] = &half_one;
        integers[s] = &most;
    }
    kernel_fold(&half, NULL, halves, MANY, NULL, NULL, 0, TSR_F16, FOLD_SUM, false);
    kernel_fold(&integer, NULL, integers, MANY, NULL, NULL, 0, TSR_I32, FOLD_AVG, false);
    assert_int_equal(half, f16_of_float((float)MANY));
    assert_int_equal(integer, INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(support_is_as_documented),
        cmocka_unit_test(folds_have_names),
        cmocka_unit_test(every_fold_gives_the_bits_of_scalar_arithmetic),
        cmocka_unit_test(zeros_have_signs),
        cmocka_unit_test(many_sources_are_folded_in_one_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
