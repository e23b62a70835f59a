/* Random inputs: of any type, or of a range that the command line gives. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "eval.h"

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The upper half of a float. */
static uint16_t bf16_of(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static void set_random(char *at, tsr_dtype dtype, uint64_t *seed)
{
    const uint64_t bits = next_random(seed);
    const double real = (double)(bits >> 11) * 0x1p-52 - 1;
    const float single = (float)real;
    const uint64_t small = bits >> 61;
    switch (dtype) {
    case TSR_F64:
        memcpy(at, &real, sizeof real);
        break;
    case TSR_F32:
        memcpy(at, &single, sizeof single);
        break;
    case TSR_BF16: {
        const uint16_t half = bf16_of(single);
        memcpy(at, &half, sizeof half);
        break;
    }
    case TSR_F16: { /* a fraction of 10 bits, from 1 to 2, of either sign */
        const uint16_t half = (uint16_t)(0x3c00 | (bits >> 54) | (bits & 0x8000));
        memcpy(at, &half, sizeof half);
        break;
    }
    case TSR_C64:
        set_random(at, TSR_F32, seed);
        set_random(at + sizeof single, TSR_F32, seed);
        break;
    case TSR_C128:
        set_random(at, TSR_F64, seed);
        set_random(at + sizeof real, TSR_F64, seed);
        break;
    case TSR_I1:
        *at = (char)(small & 1);
        break;
    default: /* integers, of any width, little-endian; of small floats some bits */
        memcpy(at, &small, (size_t)tsr_dtype_item_bytes(dtype));
        break;
    }
}

/* ---- ranges ---- */

/* Numbers from `low` to `high`; integers are below `high`. */
struct random_range {
    bool given;
    double low;
    double high;
};

/* The numbers of an integer type, from `low` below `high`; false for other types. */
static bool integer_limits(tsr_dtype dtype, double *low, double *high)
{
    const bool is_signed = dtype >= TSR_I2 && dtype <= TSR_I64;
    if (!is_signed && !(dtype >= TSR_U2 && dtype <= TSR_U64) && dtype != TSR_I1) {
        return false;
    }
    const int bits = tsr_dtype_bits(dtype);
    *low = is_signed ? -ldexp(1, bits - 1) : 0;
    *high = ldexp(1, is_signed ? bits - 1 : bits);
    return true;
}

/* Why a type has no numbers of a range; NULL: it has. */
static const char *range_refusal(tsr_dtype dtype, const struct random_range *range)
{
    double low = -INFINITY;
    double high = INFINITY;
    const bool is_integer = integer_limits(dtype, &low, &high);
    if (!is_integer && dtype != TSR_F64 && dtype != TSR_F32 && dtype != TSR_BF16 &&
        dtype != TSR_F16) {
        return "--random-range supports i1, integers, f16, bf16, f32 and f64";
    }
    if (!is_integer) {
        return NULL;
    }
    const double exact = 0x1p53;
    if (range->low != floor(range->low) || range->high != floor(range->high) ||
        range->low == range->high || fabs(range->low) > exact || fabs(range->high) > exact) {
        return "LO and HI must be integers up to 2^53, with LO below HI";
    }
    return range->low < low || range->high > high
               ? "the element type cannot represent the whole range"
               : NULL;
}

/* A half of a float: rounded to the nearest, ties to the even one, of 2^-24 at least. */
static uint16_t f16_of(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent = 0;
    (void)frexp(fabs(value), &exponent);
    const int unit = exponent - 11 < -24 ? -24 : exponent - 11;
    const double steps = nearbyint(ldexp(fabs(value), -unit));
    const double bits = steps + (unit > -24 ? ldexp(unit + 24, 10) : 0);
    return bits >= 0x7c00 ? (uint16_t)(sign | 0x7c00) : (uint16_t)(sign | (uint16_t)bits);
}

static void set_in_range(char *at, tsr_dtype dtype, const struct random_range *range,
                         uint64_t *seed)
{
    const uint64_t bits = next_random(seed);
    const double real = range->low + (range->high - range->low) * ((double)(bits >> 11) * 0x1p-53);
    const float single = (float)real;
    const uint64_t span = (uint64_t)(range->high - range->low);
    const int64_t whole = (int64_t)range->low + (int64_t)(span > 0 ? bits % span : 0);
    const uint16_t half = dtype == TSR_BF16 ? bf16_of(single) : f16_of(real);
    switch (dtype) {
    case TSR_F64:
        memcpy(at, &real, sizeof real);
        break;
    case TSR_F32:
        memcpy(at, &single, sizeof single);
        break;
    case TSR_BF16:
    case TSR_F16:
        memcpy(at, &half, sizeof half);
        break;
    default: /* little-endian */
        memcpy(at, &whole, (size_t)tsr_dtype_item_bytes(dtype));
        break;
    }
}

/* An array of a type with random elements. */
static tsr_view random_array(struct session *session, const tsr_view *type,
                             const struct random_range *range, uint64_t *seed)
{
    tsr_view view = *type;
    const size_t item = (size_t)tsr_dtype_item_bytes(type->dtype);
    const size_t bytes = array_bytes(type);
    char *data = session_alloc(session, bytes + 1, 1);
    for (size_t at = 0; at < bytes; at += item) {
        if (range->given) {
            set_in_range(data + at, type->dtype, range, seed);
        } else {
            set_random(data + at, type->dtype, seed);
        }
    }
    view.data = data;
    return view;
}

/* `LO,HI` after a name; what is wrong with it, or NULL. */
static const char *read_range(const char *text, struct random_range *out)
{
    char *end = NULL;
    out->low = strtod(text, &end);
    if (end == text || *end != ',') {
        return "write NAME=LO,HI";
    }
    const char *high = end + 1;
    out->high = strtod(high, &end);
    if (end == high || *end != '\0') {
        return "write NAME=LO,HI";
    }
    return !isfinite(out->low) || !isfinite(out->high) || out->low > out->high
               ? "LO and HI must be finite, with LO at most HI"
               : NULL;
}

/* The range of an argument among those of the command line: the last that names it. */
static int find_ranges(const struct input_request *r, const char *const *texts, size_t num_texts,
                       struct random_range *out)
{
    for (size_t i = 0; i < num_texts; i++) {
        const char *equals = strrchr(texts[i], '=');
        struct random_range range = {.given = true};
        const char *wrong = equals != NULL ? read_range(equals + 1, &range) : "write NAME=LO,HI";
        if (wrong != NULL) {
            return complain("--random-range %s: %s", texts[i], wrong);
        }
        const size_t argument = find_argument(r, texts[i], (size_t)(equals - texts[i]));
        if (argument == SIZE_MAX) {
            return complain(
                "--random-range %s: unknown argument %.*s; the function has %zu arguments",
                texts[i], (int)(equals - texts[i]), texts[i], r->num_arguments);
        }
        const tsr_dtype dtype = r->types[argument].dtype;
        wrong = range_refusal(dtype, &range);
        if (wrong != NULL) {
            return complain("--random-range %s: the argument has elements of %s; %s", texts[i],
                            tsr_dtype_name(dtype), wrong);
        }
        out[argument] = range;
    }
    return EXIT_FINE;
}

int inputs_draw(const struct input_request *r, const char *const *ranges, size_t num_ranges,
                uint64_t seed, tsr_view *out)
{
    struct random_range *of = session_alloc(r->session, r->num_arguments + 1, sizeof *of);
    const int code = find_ranges(r, ranges, num_ranges, of);
    for (size_t i = 0; i < r->num_arguments && code == EXIT_FINE; i++) {
        out[i] = random_array(r->session, &r->types[i], &of[i], &seed);
    }
    return code;
}
