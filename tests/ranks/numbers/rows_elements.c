/* Elementwise calls. */
#include <string.h>

#include "case.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- of one ---- */

static void make_one(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, 0, 4, shape);
    (void)add_operand(arena, c, r, c->dtype, rank, shape);
}

static tsr_status run_one(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return c->row->by.one(x[0], out);
}

static void want_one(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_map(arena, &c->x[0], c->row->ref.one);
}

static void want_is_finite(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_is_finite(arena, &c->x[0]);
}

/* ---- of two and three ---- */

/* A shape that broadcasts with another: some leading dimensions less, some of size 1. */
static size_t draw_beside(rng *r, size_t rank, const int64_t *shape, int64_t *out)
{
    const size_t less = rng_chance(r, 60) ? 0 : (size_t)rng_below(r, (int64_t)rank + 1);
    for (size_t d = less; d < rank; d++) {
        out[d - less] = rng_chance(r, 20) ? 1 : shape[d];
    }
    return rank - less;
}

static void add_beside(tsr_arena *arena, number_case *c, rng *r, tsr_dtype dtype, size_t rank,
                       const int64_t *shape)
{
    int64_t own[REF_DIMS];
    const size_t own_rank = draw_beside(r, rank, shape, own);
    (void)add_operand(arena, c, r, dtype, own_rank, own);
}

static void make_two(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, 0, 4, shape);
    add_beside(arena, c, r, c->dtype, rank, shape);
    add_beside(arena, c, r, c->dtype, rank, shape);
}

static tsr_status run_two(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return c->row->by.two(x[0], x[1], out);
}

static void want_two(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_map_2(arena, &c->x[0], &c->x[1], c->row->ref.two);
}

/* By any number of bits, a few too many, or fewer than none. */
static void make_shift(tsr_arena *arena, number_case *c, rng *r)
{
    make_two(arena, c, r);
    ref_array *by = &c->x[1];
    for (int64_t k = 0; k < by->count; k++) {
        const int64_t drawn = rng_below(r, ref_bits(c->dtype) + 8) - 3;
        by->at[k].i = ref_wrap(c->dtype, (uint64_t)drawn);
    }
}

/* Exponents of integers are small and not negative. */
static void make_pow(tsr_arena *arena, number_case *c, rng *r)
{
    make_two(arena, c, r);
    ref_array *by = &c->x[1];
    for (int64_t k = 0; k < by->count; k++) {
        by->at[k].i = rng_below(r, 12);
    }
}

/* A number that every type has. */
static void make_number(tsr_arena *arena, number_case *c, rng *r)
{
    make_one(arena, c, r);
    c->real = (double)rng_below(r, 4);
    if (ref_is_float(c->dtype)) {
        c->real = 0.5 * (double)(rng_below(r, 16) - 8);
    }
}

static ref_array number_array(tsr_arena *arena, const number_case *c)
{
    ref_array y = ref_new(arena, c->dtype, 0, NULL);
    y.at[0] = (ref_number){.f = c->real, .i = (int64_t)c->real};
    return y;
}

static tsr_status run_mul_number(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_mul_number(x[0], c->real, out);
}

static tsr_status run_add_number(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_add_number(x[0], c->real, out);
}

static void want_number(tsr_arena *arena, number_case *c)
{
    const ref_array y = number_array(arena, c);
    c->want[0] = ref_map_2(arena, &c->x[0], &y, c->row->ref.two);
}

static void make_compare(tsr_arena *arena, number_case *c, rng *r)
{
    make_two(arena, c, r);
    c->variant = (int)rng_below(r, 6);
}

static tsr_status run_compare(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_compare(x[0], x[1], (tsr_comparison)c->variant, out);
}

static void want_compare(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_compare(arena, &c->x[0], &c->x[1], (tsr_comparison)c->variant);
}

static void make_three(tsr_arena *arena, number_case *c, rng *r, tsr_dtype first)
{
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, 0, 4, shape);
    add_beside(arena, c, r, first, rank, shape);
    add_beside(arena, c, r, c->dtype, rank, shape);
    add_beside(arena, c, r, c->dtype, rank, shape);
}

static void make_select(tsr_arena *arena, number_case *c, rng *r)
{
    make_three(arena, c, r, TSR_I1);
}

static tsr_status run_select(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    (void)c;
    return tsr_select(x[0], x[1], x[2], out);
}

static void want_select(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_select(arena, &c->x[0], &c->x[1], &c->x[2]);
}

static void make_clamp(tsr_arena *arena, number_case *c, rng *r)
{
    make_three(arena, c, r, c->dtype);
}

static tsr_status run_clamp(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    (void)c;
    return tsr_clamp(x[0], x[1], x[2], out);
}

static void want_clamp(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_clamp(arena, &c->x[0], &c->x[1], &c->x[2]);
}

/* ---- conversions ---- */

/* Now and then a float is just beside the middle of two numbers of a narrower type, or large. */
static void make_convert(tsr_arena *arena, number_case *c, rng *r)
{
    make_one(arena, c, r);
    c->to = draw_type(r, ALL_TYPES);
    ref_array *x = &c->x[0];
    for (int64_t k = 0; ref_is_float(c->dtype) && k < x->count; k++) {
        const double unit = ref_unit(ref_is_float(c->to) ? c->to : TSR_F32);
        const double beside = (double)(rng_below(r, 3) - 1) * 1e-13;
        const double middle = (1 + (2 * (double)rng_below(r, 60) + 1) * unit) * (1 + beside);
        const int64_t turn = rng_below(r, 100);
        const double drawn = turn < 25 ? middle : turn < 40 ? x->at[k].f * 1e9 : x->at[k].f;
        x->at[k].f = ref_round(c->dtype, (long double)drawn);
    }
}

static tsr_status run_convert(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_convert(x[0], c->to, out);
}

static void want_convert(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_convert(arena, &c->x[0], c->to);
}

#define ONE(name, function, kinds, traits_, times, low_, high_)                                    \
    {                                                                                              \
        .call = #name, .types = (kinds), .traits = (traits_), .roundings = (times), .low = (low_), \
        .high = (high_), .make = make_one, .run = run_one, .want = want_one, .by.one = (name),     \
        .ref.one = &(function)                                                                     \
    }
#define TWO(name, function, kinds, traits_, times, maker)                                          \
    {                                                                                              \
        .call = #name, .types = (kinds), .traits = (traits_), .roundings = (times),                \
        .make = (maker), .run = run_two, .want = want_two, .by.two = (name),                       \
        .ref.two = &(function)                                                                     \
    }

static const case_row rows[] = {
    ONE(tsr_negate, ref_negate, NUMBERS, SPECIALS, 0, 0, 0),
    ONE(tsr_abs, ref_abs, NUMBERS, SPECIALS, 0, 0, 0),
    ONE(tsr_sign, ref_sign, NUMBERS, SPECIALS, 0, 0, 0),
    ONE(tsr_exp, ref_exp, FLOATS, SPECIALS, 1, -9, 9),
    ONE(tsr_expm1, ref_expm1, FLOATS, SPECIALS, 1, -9, 9),
    ONE(tsr_log, ref_log, FLOATS, SPECIALS, 1, -1, 9),
    ONE(tsr_log1p, ref_log1p, FLOATS, SPECIALS, 1, -1.5, 9),
    ONE(tsr_sqrt, ref_sqrt, FLOATS, SPECIALS, 1, -1, 99),
    ONE(tsr_rsqrt, ref_rsqrt, FLOATS, SPECIALS, 1, -1, 99),
    ONE(tsr_cbrt, ref_cbrt, FLOATS, SPECIALS, 1, -99, 99),
    ONE(tsr_tanh, ref_tanh, FLOATS, SPECIALS, 1, -9, 9),
    ONE(tsr_asinh, ref_asinh, FLOATS, SPECIALS, 1, -99, 99),
    ONE(tsr_erf, ref_erf, FLOATS, SPECIALS, 1, -6, 6),
    ONE(tsr_erfc, ref_erfc, FLOATS, SPECIALS, 1, -6, 9),
    ONE(tsr_sin, ref_sin, FLOATS, SPECIALS, 1, -30, 30),
    ONE(tsr_cos, ref_cos, FLOATS, SPECIALS, 1, -30, 30),
    ONE(tsr_tan, ref_tan, FLOATS, SPECIALS, 1, -30, 30),
    ONE(tsr_floor, ref_floor, FLOATS, SPECIALS, 0, -99, 99),
    ONE(tsr_ceil, ref_ceil, FLOATS, SPECIALS, 0, -99, 99),
    ONE(tsr_round_nearest_even, ref_round_even, FLOATS, SPECIALS, 0, -20, 20),
    ONE(tsr_round_nearest_afz, ref_round_away, FLOATS, SPECIALS, 0, -20, 20),
    ONE(tsr_sigmoid, ref_sigmoid, FLOATS, SPECIALS, 1, -9, 9),
    ONE(tsr_silu, ref_silu, FLOATS, SPECIALS, 1, -9, 9),
    ONE(tsr_gelu, ref_gelu, FLOATS, SPECIALS, 1, -6, 6),
    ONE(tsr_relu, ref_relu, NUMBERS, SPECIALS, 0, 0, 0),
    ONE(tsr_not, ref_not, INTEGERS | TRUTH, 0, 0, 0, 0),
    ONE(tsr_popcnt, ref_popcnt, INTEGERS, 0, 0, 0, 0),
    ONE(tsr_count_leading_zeros, ref_leading_zeros, INTEGERS, 0, 0, 0, 0),
    {.call = "tsr_is_finite",
     .types = FLOATS,
     .traits = SPECIALS,
     .make = make_one,
     .run = run_one,
     .want = want_is_finite,
     .by.one = tsr_is_finite},
    TWO(tsr_add, ref_add, ALL_TYPES, SPECIALS, 1, make_two),
    {.call = "tsr_mul_number",
     .types = NUMBERS,
     .traits = SPECIALS | MULTILINEAR,
     .roundings = 1,
     .make = make_number,
     .run = run_mul_number,
     .want = want_number,
     .ref.two = &ref_mul},
    {.call = "tsr_add_number",
     .types = NUMBERS,
     .traits = SPECIALS,
     .roundings = 1,
     .make = make_number,
     .run = run_add_number,
     .want = want_number,
     .ref.two = &ref_add},
    TWO(tsr_sub, ref_sub, NUMBERS, SPECIALS, 1, make_two),
    TWO(tsr_mul, ref_mul, ALL_TYPES, SPECIALS | MULTILINEAR, 1, make_two),
    TWO(tsr_div, ref_div, NUMBERS, SPECIALS | MULTILINEAR | DIVIDES, 1, make_two),
    TWO(tsr_maximum, ref_maximum, ALL_TYPES, SPECIALS, 0, make_two),
    TWO(tsr_minimum, ref_minimum, ALL_TYPES, SPECIALS, 0, make_two),
    TWO(tsr_pow, ref_pow, NUMBERS, SPECIALS, 1, make_pow),
    TWO(tsr_rem, ref_rem, NUMBERS, SPECIALS | NO_ZERO, 0, make_two),
    TWO(tsr_and, ref_and, INTEGERS | TRUTH, 0, 0, make_two),
    TWO(tsr_or, ref_or, INTEGERS | TRUTH, 0, 0, make_two),
    TWO(tsr_xor, ref_xor, INTEGERS | TRUTH, 0, 0, make_two),
    TWO(tsr_atan2, ref_atan2, FLOATS, SPECIALS, 1, make_two),
    TWO(tsr_shift_left, ref_shift_left, INTEGERS, 0, 0, make_shift),
    TWO(tsr_shift_right_arithmetic, ref_shift_arithmetic, INTEGERS, 0, 0, make_shift),
    TWO(tsr_shift_right_logical, ref_shift_logical, INTEGERS, 0, 0, make_shift),
    {.call = "tsr_clamp",
     .types = NUMBERS,
     .traits = SPECIALS,
     .make = make_clamp,
     .run = run_clamp,
     .want = want_clamp},
    {.call = "tsr_compare",
     .types = ALL_TYPES,
     .traits = SPECIALS | COARSE,
     .make = make_compare,
     .run = run_compare,
     .want = want_compare},
    {.call = "tsr_select",
     .types = ALL_TYPES,
     .traits = SPECIALS,
     .make = make_select,
     .run = run_select,
     .want = want_select},
    {.call = "tsr_convert",
     .types = ALL_TYPES,
     .traits = SPECIALS,
     .make = make_convert,
     .run = run_convert,
     .want = want_convert},
};

const case_rows rows_of_elements = {rows, COUNT(rows)};
