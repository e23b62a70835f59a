#include "eval.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

void read_as(tsr_view *view, tsr_dtype dtype)
{
    const bool is_stored = (view->dtype == TSR_U8 || view->dtype == TSR_I8) &&
                           tsr_dtype_item_bytes(dtype) == 1 && tsr_dtype_bits(dtype) < 9;
    if (is_stored || (view->dtype == TSR_U16 && dtype == TSR_BF16)) {
        view->dtype = dtype;
    }
}

/* ---- output ---- */

static double half_of(uint16_t bits)
{
    const int exponent = bits >> 10 & 0x1f;
    const double fraction = bits & 0x3ff;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 0x1f) {
        return fraction != 0 ? NAN : sign * INFINITY;
    }
    return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

static void print_float(double value, bool json)
{
    if (json && !isfinite(value)) {
        printf("\"%s\"", isnan(value) ? "nan" : (value > 0 ? "inf" : "-inf"));
    } else {
        printf(json ? "%.17g" : "%.6g", value);
    }
}

/* A float at some address; false: the type is none of these. */
static bool float_at(tsr_dtype dtype, const char *at, double *out)
{
    float f32 = 0;
    uint16_t half = 0;
    switch (dtype) {
    case TSR_F32:
        memcpy(&f32, at, sizeof f32);
        *out = (double)f32;
        return true;
    case TSR_F64:
        memcpy(out, at, sizeof *out);
        return true;
    case TSR_F16:
        memcpy(&half, at, sizeof half);
        *out = half_of(half);
        return true;
    case TSR_BF16: {
        memcpy(&half, at, sizeof half);
        const uint32_t bits = (uint32_t)half << 16;
        memcpy(&f32, &bits, sizeof f32);
        *out = (double)f32;
        return true;
    }
    default:
        return false;
    }
}

/* Prints an element; false: its type is not shown. */
static bool print_element(const tsr_view *v, size_t i, bool json)
{
    const size_t item = (size_t)tsr_dtype_item_bytes(v->dtype);
    const char *at = (const char *)v->data + i * item;
    const int bits = tsr_dtype_bits(v->dtype);
    uint64_t integer = 0;
    double value = 0;
    if (float_at(v->dtype, at, &value)) {
        print_float(value, json);
        return true;
    }
    if (v->dtype == TSR_I1) {
        fputs(*at != 0 ? "true" : "false", stdout);
        return true;
    }
    if (v->dtype >= TSR_F4E2M1FN || bits < 8) {
        return false;
    }
    memcpy(&integer, at, item);
    if (v->dtype <= TSR_I64) {
        printf("%" PRId64, (int64_t)(integer << (64 - bits)) >> (64 - bits));
    } else {
        printf("%" PRIu64, integer);
    }
    return true;
}

static void print_type(const tsr_view *v)
{
    fputs("tensor<", stdout);
    for (size_t d = 0; d < v->rank; d++) {
        printf("%" PRId64 "x", v->shape[d]);
    }
    printf("%s>", tsr_dtype_name(v->dtype));
}

const char *view_type_text(struct session *session, const tsr_view *view)
{
    const char *text = "tensor<";
    for (size_t d = 0; d < view->rank; d++) {
        text = view->shape[d] < 0 ? session_format(session, "%s?x", text)
                                  : session_format(session, "%s%" PRId64 "x", text, view->shape[d]);
    }
    return session_format(session, "%s%s>", text, tsr_dtype_name(view->dtype));
}

/* How many elements are shown, all of them or the first. */
static size_t shown_elements(const tsr_view *v, bool json)
{
    enum { FEW = 6, MANY = 1024 };
    const size_t most = json ? MANY : FEW;
    const size_t count = array_bytes(v) / (size_t)tsr_dtype_item_bytes(v->dtype);
    return count < most ? count : most;
}

static void print_one(const struct named_array *a, bool json)
{
    const size_t shown = shown_elements(&a->view, json);
    const size_t count = array_bytes(&a->view) / (size_t)tsr_dtype_item_bytes(a->view.dtype);
    for (size_t i = 0; i < shown; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        if (!print_element(&a->view, i, json)) {
            fputs(json ? "null" : "?", stdout);
            break;
        }
    }
    fputs(!json && shown < count ? ", ..." : "", stdout);
}

void print_arrays(const struct named_array *arrays, size_t count, bool json)
{
    fputs(json ? "[" : "", stdout);
    for (size_t i = 0; i < count; i++) {
        if (json) {
            printf("%s\n  {\"name\": ", i > 0 ? "," : "");
            write_json_string(stdout, arrays[i].name);
            fputs(", \"type\": \"", stdout);
            print_type(&arrays[i].view);
            fputs("\", \"first\": [", stdout);
            print_one(&arrays[i], true);
            fputs("]}", stdout);
        } else {
            printf("%-24s ", arrays[i].name);
            print_type(&arrays[i].view);
            fputs("  ", stdout);
            print_one(&arrays[i], false);
            fputs("\n", stdout);
        }
    }
    fputs(json ? "\n]\n" : "", stdout);
}

/* ---- comparison ---- */

/* How far off a float may be, as a part of the largest of its array; 0: not at all. */
static double tolerance_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F32:
    case TSR_C64:
        return 1e-5;
    case TSR_F64:
    case TSR_C128:
        return 1e-12;
    case TSR_F16:
    case TSR_BF16:
        return 2e-2;
    default:
        return 0;
    }
}

/* The type of the parts of an element: a complex number has two. */
static tsr_dtype part_of(tsr_dtype dtype)
{
    return dtype == TSR_C64 ? TSR_F32 : (dtype == TSR_C128 ? TSR_F64 : dtype);
}

static bool same_type(const tsr_view *a, const tsr_view *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

/* Where an element is, counted row by row; files may have them by columns. */
static const char *element_of(const tsr_view *v, size_t i)
{
    const char *at = v->data;
    if (v->strides == NULL) {
        return at + i * (size_t)tsr_dtype_item_bytes(v->dtype);
    }
    for (size_t d = v->rank; d-- > 0;) {
        at += (int64_t)(i % (size_t)v->shape[d]) * v->strides[d];
        i /= (size_t)v->shape[d];
    }
    return at;
}

/* The largest difference, and the largest number that is expected. */
struct gap {
    double off;
    double largest;
};

static void widen_gap(struct gap *g, double x, double y)
{
    const bool same = x == y || (isnan(x) && isnan(y));
    g->largest = isfinite(y) ? fmax(g->largest, fabs(y)) : g->largest;
    if (!same) {
        g->off = isfinite(x) && isfinite(y) ? fmax(g->off, fabs(x - y)) : INFINITY;
    }
}

/* The largest difference beside the largest element that is expected; infinite for other bits. */
static double distance(const tsr_view *got, const tsr_view *wanted)
{
    const tsr_dtype part = part_of(got->dtype);
    const size_t item = (size_t)tsr_dtype_item_bytes(got->dtype);
    const size_t step = (size_t)tsr_dtype_item_bytes(part);
    const size_t count = array_bytes(got) / item;
    struct gap gap = {0};
    for (size_t i = 0; i < count; i++) {
        const char *a = element_of(got, i);
        const char *b = element_of(wanted, i);
        for (size_t k = 0; k < item; k += step) {
            double x = 0;
            double y = 0;
            if (float_at(part, a + k, &x) && float_at(part, b + k, &y)) {
                widen_gap(&gap, x, y);
            } else if (memcmp(a, b, item) != 0) {
                return INFINITY;
            }
        }
    }
    return gap.off == 0 ? 0 : gap.off / gap.largest;
}

bool compare_arrays(const struct named_array *results, const tsr_view *wanted, size_t count)
{
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        tsr_view expected = wanted[i];
        read_as(&expected, results[i].view.dtype);
        printf("%-24s ", results[i].name);
        print_type(&results[i].view);
        if (!same_type(&results[i].view, &expected)) {
            fputs("  differs: another type is expected, ", stdout);
            print_type(&expected);
            fputs("\n", stdout);
            fine = false;
            continue;
        }
        const double off = distance(&results[i].view, &expected);
        const bool holds = off <= tolerance_of(results[i].view.dtype);
        printf(off == 0 ? "  equal\n" : "  %s by %.1e of the largest element\n",
               holds ? "within rounding," : "differs", off);
        fine = fine && holds;
    }
    return fine;
}
