/*
 * How fast one thread computes on 64 MiB, each beside memcpy of half as many bytes as are read and
 * written: what memory allows. Reductions write next to nothing, so their limit reads as many bytes
 * and writes none: a loop that adds up 64-bit words, in vectors.
 */
#include <math.h>
#include <string.h>

#include "bench.h"

#include "kernel/elementwise.h"
#include "kernel/reduce.h"

enum { MIB = 1 << 20, PAGE = 4096, MAX_MIB = 64, MAX_ARRAYS = 3 };

typedef enum work_kind { UNARY, BINARY, COMPARE, SELECT, CONVERT, REDUCE } work_kind;

/* One line of the bench. */
typedef struct compute_row {
    const char *name;
    work_kind kind;
    int op;
    tsr_dtype dtype; /* of the sources */
    tsr_dtype to;
    int dim; /* which of two a reduction folds; 2 for both */
} compute_row;

typedef struct bench_state {
    const compute_row *row;
    char *from[MAX_ARRAYS];
    char *to;
    int64_t count; /* elements */
    int64_t touched;
} bench_state;

static const compute_row rows[] = {
    {"add_f32", BINARY, BINARY_ADD, TSR_F32, TSR_F32, 0},
    {"multiply_bf16", BINARY, BINARY_MULTIPLY, TSR_BF16, TSR_BF16, 0},
    {"exp_f32", UNARY, UNARY_EXP, TSR_F32, TSR_F32, 0},
    {"log_f32", UNARY, UNARY_LOG, TSR_F32, TSR_F32, 0},
    {"sqrt_f32", UNARY, UNARY_SQRT, TSR_F32, TSR_F32, 0},
    {"rsqrt_f32", UNARY, UNARY_RSQRT, TSR_F32, TSR_F32, 0},
    {"tanh_f32", UNARY, UNARY_TANH, TSR_F32, TSR_F32, 0},
    {"erf_f32", UNARY, UNARY_ERF, TSR_F32, TSR_F32, 0},
    {"logistic_f32", UNARY, UNARY_LOGISTIC, TSR_F32, TSR_F32, 0},
    {"silu_f32", UNARY, UNARY_SILU, TSR_F32, TSR_F32, 0},
    {"gelu_f32", UNARY, UNARY_GELU, TSR_F32, TSR_F32, 0},
    {"gelu_bf16", UNARY, UNARY_GELU, TSR_BF16, TSR_BF16, 0},
    {"convert_f32_bf16", CONVERT, 0, TSR_F32, TSR_BF16, 0},
    {"convert_bf16_f32", CONVERT, 0, TSR_BF16, TSR_F32, 0},
    {"convert_f32_i32", CONVERT, 0, TSR_F32, TSR_I32, 0},
    {"select_f32", SELECT, 0, TSR_F32, TSR_F32, 0},
    {"compare_f32", COMPARE, COMPARE_LT, TSR_F32, TSR_I1, 0},
    {"sum_rows_f32", REDUCE, FOLD_SUM, TSR_F32, TSR_F32, 1},
    {"sum_rows_bf16", REDUCE, FOLD_SUM, TSR_BF16, TSR_BF16, 1},
    {"sum_rows_f64", REDUCE, FOLD_SUM, TSR_F64, TSR_F64, 1},
    {"sum_columns_f32", REDUCE, FOLD_SUM, TSR_F32, TSR_F32, 0},
    {"sum_columns_f64", REDUCE, FOLD_SUM, TSR_F64, TSR_F64, 0},
    {"sum_all_f32", REDUCE, FOLD_SUM, TSR_F32, TSR_F32, 2},
    {"max_rows_f32", REDUCE, FOLD_MAX, TSR_F32, TSR_F32, 1},
    {"max_columns_f64", REDUCE, FOLD_MAX, TSR_F64, TSR_F64, 0},
};

/* Reductions are of matrices with rows of as many elements. */
enum { ROW = 4096 };

static size_t num_sources(const compute_row *row)
{
    static const size_t sources[] = {
        [UNARY] = 1, [BINARY] = 2, [COMPARE] = 2, [SELECT] = 3, [CONVERT] = 1, [REDUCE] = 1};
    return sources[row->kind];
}

static tsr_dtype type_of_source(const compute_row *row, size_t index)
{
    return row->kind == SELECT && index == 0 ? TSR_I1 : row->dtype;
}

static void reduce(const bench_state *s)
{
    const int64_t item = tsr_dtype_item_bytes(s->row->dtype);
    const int64_t shape[] = {s->count / ROW, ROW};
    const int64_t strides[] = {ROW * item, item};
    const bool reduced[] = {s->row->dim != 1, s->row->dim != 0};
    const tsr_view src = {s->from[0], s->row->dtype, 2, shape, strides};
    const size_t rank = s->row->dim == 2 ? 0 : 1;
    const tsr_view dst = {s->to, s->row->dtype, rank, &shape[1 - s->row->dim % 2], &item};
    kernel_reduce((fold_op)s->row->op, &dst, &src, reduced, 1.0);
}

static int64_t compute(void *state)
{
    const bench_state *s = state;
    int64_t items[MAX_ARRAYS];
    tsr_view src[MAX_ARRAYS];
    const int64_t to = tsr_dtype_item_bytes(s->row->to);
    const tsr_view dst = {s->to, s->row->to, 1, &s->count, &to};
    for (size_t i = 0; i < num_sources(s->row); i++) {
        const tsr_dtype dtype = type_of_source(s->row, i);
        items[i] = tsr_dtype_item_bytes(dtype);
        src[i] = (tsr_view){s->from[i], dtype, 1, &s->count, &items[i]};
    }
    switch (s->row->kind) {
    case UNARY:
        kernel_unary((unary_op)s->row->op, &dst, &src[0]);
        break;
    case BINARY:
        kernel_binary((binary_op)s->row->op, &dst, &src[0], &src[1]);
        break;
    case COMPARE:
        kernel_compare((compare_op)s->row->op, &dst, &src[0], &src[1]);
        break;
    case SELECT:
        kernel_select(&dst, &src[0], &src[1], &src[2]);
        break;
    case CONVERT:
        kernel_convert(&dst, &src[0]);
        break;
    default:
        reduce(s);
    }
    return s->touched;
}

static int64_t copy_as_much(void *state)
{
    const bench_state *s = state;
    memcpy(s->to, s->from[0], (size_t)s->touched / 2);
    return s->touched;
}

/* In as many sums as keep the additions from waiting for each other. */
static int64_t read_as_much(void *state)
{
    enum { SUMS = 32 };
    const bench_state *s = state;
    uint64_t sums[SUMS] = {0};
    for (int64_t at = 0; at < s->touched; at += (int64_t)sizeof sums) {
        uint64_t words[SUMS];
        memcpy(words, s->from[0] + at, sizeof words);
        for (size_t i = 0; i < SUMS; i++) {
            sums[i] += words[i];
        }
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < SUMS; i++) {
        sum ^= sums[i];
    }
    return sum == 1 ? 0 : s->touched;
}

static double load(const char *array, tsr_dtype dtype, int64_t index)
{
    double value;
    const int64_t shape = 1;
    const int64_t item = tsr_dtype_item_bytes(dtype);
    char element[8];
    memcpy(element, array + index * item, (size_t)item);
    kernel_convert(&(tsr_view){&value, TSR_F64, 1, &shape, &shape},
                   &(tsr_view){element, dtype, 1, &shape, &shape});
    return value;
}

static double reference(const bench_state *s, int64_t i)
{
    const tsr_dtype dtype = s->row->dtype;
    const double a = load(s->from[0], type_of_source(s->row, 0), i);
    const double b = num_sources(s->row) > 1 ? load(s->from[1], dtype, i) : 0.0;
    switch (s->row->kind) {
    case BINARY:
        return s->row->op == BINARY_ADD ? a + b : a * b;
    case COMPARE:
        return a < b ? 1.0 : 0.0;
    case SELECT:
        return a != 0.0 ? b : load(s->from[2], dtype, i);
    case CONVERT:
        return s->row->to == TSR_I32 ? trunc(a) : a;
    default:
        break;
    }
    switch (s->row->op) {
    case UNARY_EXP:
        return exp(a);
    case UNARY_LOG:
        return log(a);
    case UNARY_SQRT:
        return sqrt(a);
    case UNARY_RSQRT:
        return 1.0 / sqrt(a);
    case UNARY_TANH:
        return tanh(a);
    case UNARY_ERF:
        return erf(a);
    case UNARY_LOGISTIC:
        return 1.0 / (1.0 + exp(-a));
    case UNARY_SILU:
        return a / (1.0 + exp(-a));
    default:
        return 0.5 * a * erfc(-a * M_SQRT1_2);
    }
}

/* Within some units in the last place; rounding errors of long sums add up. */
static void insist_close(const compute_row *row, double got, double wanted)
{
    const double units = row->to == TSR_BF16 ? 0x1p-8 : row->to == TSR_F64 ? 0x1p-48 : 0x1p-21;
    const double most = row->kind == REDUCE ? 0x1p9 * units : units;
    INSIST(got == wanted || fabs(got - wanted) <= most * fabs(wanted));
}

static double reduced_reference(const bench_state *s, int64_t i)
{
    const int64_t height = s->count / ROW;
    const int64_t n = s->row->dim == 2 ? s->count : s->row->dim == 1 ? ROW : height;
    const int64_t start = s->row->dim == 1 ? i * ROW : s->row->dim == 0 ? i : 0;
    const int64_t step = s->row->dim == 0 ? ROW : 1;
    double result = s->row->op == FOLD_MAX ? -INFINITY : 0.0;
    for (int64_t k = 0; k < n; k++) {
        const double x = load(s->from[0], s->row->dtype, start + k * step);
        result = s->row->op == FOLD_SUM ? result + x : x > result ? x : result;
    }
    return result;
}

static void check(bench_state *s)
{
    memset(s->to, 0x5a, MIB);
    (void)compute(s);
    if (s->row->kind != REDUCE) {
        for (int64_t i = 0; i < s->count; i += 61) {
            insist_close(s->row, load(s->to, s->row->to, i), reference(s, i));
        }
        return;
    }
    const int64_t results = s->row->dim == 2 ? 1 : s->row->dim == 1 ? s->count / ROW : ROW;
    for (int64_t i = 0; i < results; i += 97) {
        insist_close(s->row, load(s->to, s->row->to, i), reduced_reference(s, i));
    }
}

static void report(bench_state *s)
{
    timing a = {0};
    timing b = {0};
    const bool reads = s->row->kind == REDUCE;
    race(compute, reads ? read_as_much : copy_as_much, s, 1, &a, &b);
    INSIST(a.answer == b.answer);
    printf("{\"bench\": \"compute_%s\", \"mib\": %d, \"gb_per_second\": %.2f, \"us\": %.1f, "
           "\"spread\": %.2f, \"limit\": \"%s of as many bytes\", \"limit_us\": %.1f, "
           "\"limit_spread\": %.2f, \"ratio\": %.2f, \"wanted\": 1.5}\n",
           s->row->name, MAX_MIB, 1e-9 * (double)a.answer / a.median, 1e6 * a.median, a.spread,
           reads ? "sum" : "memcpy", 1e6 * b.median, b.spread, a.median / b.median);
}

/* Numbers from 0 to 8, of which sums have few errors; the first ones are repeated. */
static void fill(const bench_state *s)
{
    enum { PERIOD = 509 * 64 };
    for (size_t i = 0; i < num_sources(s->row); i++) {
        const tsr_dtype dtype = type_of_source(s->row, i);
        const int64_t item = tsr_dtype_item_bytes(dtype);
        for (int64_t k = 0; k < s->count; k++) {
            const int64_t number = (k * 7 + k / 4096 + (int64_t)i * 31) % 509;
            const double value = dtype == TSR_I1 ? (double)(number % 2) : (double)number / 64.0;
            char element[8];
            if (k < PERIOD) {
                element_of_number(dtype, value, element);
                memcpy(s->from[i] + k * item, element, (size_t)item);
            } else {
                memcpy(s->from[i] + k * item, s->from[i] + (k - PERIOD) * item, (size_t)item);
            }
        }
    }
}

/* The largest array has MAX_MIB. */
static void run(bench_state *s, const compute_row *row)
{
    int64_t most = row->kind == REDUCE ? 1 : tsr_dtype_item_bytes(row->to);
    int64_t each = row->kind == REDUCE ? 0 : most;
    for (size_t i = 0; i < num_sources(row); i++) {
        const int64_t item = tsr_dtype_item_bytes(type_of_source(row, i));
        most = item > most ? item : most;
        each += item;
    }
    s->row = row;
    s->count = (int64_t)MAX_MIB * MIB / most;
    s->touched = each * s->count;
    fill(s);
    check(s);
    report(s);
}

int main(int argc, char **argv)
{
    const size_t room = (size_t)2 * MAX_MIB * MIB;
    bench_state s = {.to = aligned_alloc(PAGE, room)};
    INSIST(s.to != NULL);
    memset(s.to, 1, room);
    for (size_t i = 0; i < MAX_ARRAYS; i++) {
        s.from[i] = aligned_alloc(PAGE, room);
        INSIST(s.from[i] != NULL);
        memset(s.from[i], 1, room);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (argc < 2 || strstr(rows[i].name, argv[1]) != NULL) {
            run(&s, &rows[i]);
        }
    }
    for (size_t i = 0; i < MAX_ARRAYS; i++) {
        free(s.from[i]);
    }
    free(s.to);
    return 0;
}
