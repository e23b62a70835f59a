/*
 * kernel_dot beside the call of CBLAS that does the same, on the same data; the results are
 * compared first. `wanted` is the most that the ratio may be. Other types, and sorting beside
 * qsort, are for information: their limit does the same work in another way.
 */
#include <cblas.h>
#include <string.h>

#include "bench.h"

#include "kernel/dot.h"
#include "kernel/index.h"
#include "number/half.h"

enum { MAX_ITEMS = 1 << 24, NUM_SORTED = 1 << 20, PAGE = 4096 };

typedef struct bench_state {
    tsr_dtype dtype;
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t k;
    bool a_transposed;
    bool b_transposed;
    bool dst_transposed;
    char *a;
    char *b;
    char *dst;
    char *wanted;
    void *scratch;
} bench_state;

/* The strides of a batch of matrices, each by rows or by columns. */
static void set_strides(int64_t *strides, int64_t rows, int64_t cols, bool transposed, int64_t item)
{
    strides[0] = rows * cols * item;
    strides[1] = transposed ? item : cols * item;
    strides[2] = transposed ? rows * item : item;
}

static int64_t ours(void *state)
{
    const bench_state *s = state;
    const int64_t item = tsr_dtype_item_bytes(s->dtype);
    const int64_t shapes[3][3] = {
        {s->batch, s->m, s->n}, {s->batch, s->m, s->k}, {s->batch, s->k, s->n}};
    int64_t strides[3][3];
    set_strides(strides[0], s->m, s->n, s->dst_transposed, item);
    set_strides(strides[1], s->m, s->k, s->a_transposed, item);
    set_strides(strides[2], s->k, s->n, s->b_transposed, item);
    const tsr_view dst = {s->dst, s->dtype, 3, shapes[0], strides[0]};
    const tsr_view a = {s->a, s->dtype, 3, shapes[1], strides[1]};
    const tsr_view b = {s->b, s->dtype, 3, shapes[2], strides[2]};
    const dot_job job = {&dst, &a, &b, 1, 1};
    INSIST(kernel_dot_scratch(&job) == 0 || s->scratch != NULL);
    kernel_dot(&job, s->scratch);
    return 2 * s->batch * s->m * s->n * s->k;
}

static int64_t cblas(void *state)
{
    const bench_state *s = state;
    const bool across = s->dst_transposed;
    const CBLAS_ORDER order = across ? CblasColMajor : CblasRowMajor;
    const CBLAS_TRANSPOSE ta = s->a_transposed == across ? CblasNoTrans : CblasTrans;
    const CBLAS_TRANSPOSE tb = s->b_transposed == across ? CblasNoTrans : CblasTrans;
    const int m = (int)s->m;
    const int n = (int)s->n;
    const int k = (int)s->k;
    const int lda = s->a_transposed ? m : k;
    const int ldb = s->b_transposed ? k : n;
    const int ldc = across ? m : n;
    for (int64_t i = 0; i < s->batch; i++) {
        if (s->dtype == TSR_F32) {
            cblas_sgemm(order, ta, tb, m, n, k, 1.0F, (const float *)(const void *)s->a + i * m * k,
                        lda, (const float *)(const void *)s->b + i * k * n, ldb, 0.0F,
                        (float *)(void *)s->wanted + i * m * n, ldc);
        } else {
            cblas_dgemm(order, ta, tb, m, n, k, 1.0, (const double *)(const void *)s->a + i * m * k,
                        lda, (const double *)(const void *)s->b + i * k * n, ldb, 0.0,
                        (double *)(void *)s->wanted + i * m * n, ldc);
        }
    }
    return 2 * s->batch * s->m * s->n * s->k;
}

/* Small integers, so that every order of summing gives the same. */
static void fill(const bench_state *s)
{
    for (int64_t i = 0; i < MAX_ITEMS; i++) {
        const double x = (double)(i * 7 % 11 - 5);
        const double y = (double)(i * 5 % 13 - 6);
        const float singles[2] = {(float)x, (float)y};
        const uint16_t halves[2] = {bf16_of_float(singles[0]), bf16_of_float(singles[1])};
        const int32_t integers[2] = {(int32_t)x, (int32_t)y};
        const double doubles[2] = {x, y};
        const void *x_item = s->dtype == TSR_F64    ? (const void *)&doubles[0]
                             : s->dtype == TSR_BF16 ? (const void *)&halves[0]
                             : s->dtype == TSR_I32  ? (const void *)&integers[0]
                                                    : (const void *)&singles[0];
        const size_t item = (size_t)tsr_dtype_item_bytes(s->dtype);
        memcpy(s->a + i * (int64_t)item, x_item, item);
        memcpy(s->b + i * (int64_t)item, (const char *)x_item + item, item);
    }
}

static void report(const char *name, const char *limit, const timing *a, const timing *b,
                   const char *wanted)
{
    printf("{\"bench\": \"%s\", \"gflop_per_second\": %.2f, \"us\": %.1f, \"spread\": %.2f, "
           "\"limit\": \"%s\", \"limit_us\": %.1f, \"limit_spread\": %.2f, \"ratio\": %.3f%s}\n",
           name, 1e-9 * (double)a->answer / a->median, 1e6 * a->median, a->spread, limit,
           1e6 * b->median, b->spread, a->median / b->median, wanted);
}

static void bench_product(const char *name, bench_state s)
{
    timing a = {0};
    timing b = {0};
    const size_t bytes = (size_t)(s.batch * s.m * s.n * tsr_dtype_item_bytes(s.dtype));
    char label[96];
    memset(s.dst, 0xff, bytes);
    (void)ours(&s);
    (void)cblas(&s);
    INSIST(memcmp(s.dst, s.wanted, bytes) == 0);
    race(ours, cblas, &s, 1, &a, &b);
    (void)snprintf(label, sizeof label, "dot_%s_%s_%c%c%c", tsr_dtype_name(s.dtype), name,
                   s.a_transposed ? 't' : 'n', s.b_transposed ? 't' : 'n',
                   s.dst_transposed ? 't' : 'n');
    report(label, "cblas", &a, &b, ", \"wanted\": 1.1");
}

static void bench_type(bench_state s, tsr_dtype dtype)
{
    static const struct {
        const char *name;
        int64_t batch, m, n, k;
    } rows[] = {{"1024", 1, 1024, 1024, 1024},
                {"tall", 1, 8192, 64, 512},
                {"wide", 1, 64, 8192, 512},
                {"deep", 1, 64, 64, 65536},
                {"batch", 64, 128, 128, 128}};
    s.dtype = dtype;
    fill(&s);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (unsigned t = 0; t < (i == 0 ? 8U : 4U); t++) {
            s.batch = rows[i].batch;
            s.m = rows[i].m;
            s.n = rows[i].n;
            s.k = rows[i].k;
            s.a_transposed = (t & 1) != 0;
            s.b_transposed = (t & 2) != 0;
            s.dst_transposed = (t & 4) != 0;
            bench_product(rows[i].name, s);
        }
    }
}

/* A product of another type, and that of the same numbers in f32. */
typedef struct other_state {
    bench_state other;
    bench_state single;
} other_state;

static int64_t ours_of_another(void *state)
{
    other_state *s = state;
    return ours(&s->other);
}

static int64_t cblas_of_floats(void *state)
{
    other_state *s = state;
    return cblas(&s->single);
}

static void check_other(const other_state *s)
{
    for (int64_t i = 0; i < s->other.m * s->other.n; i++) {
        float wanted;
        int32_t integer;
        uint16_t half;
        memcpy(&wanted, s->single.wanted + i * 4, sizeof wanted);
        memcpy(&integer, s->other.dst + i * 4, sizeof integer);
        memcpy(&half, s->other.dst + i * 2, sizeof half);
        INSIST(s->other.dtype == TSR_I32 ? integer == (int32_t)wanted
                                         : half == bf16_of_float(wanted));
    }
}

static void bench_other(bench_state s, tsr_dtype dtype, const char *name)
{
    timing a = {0};
    timing b = {0};
    s.batch = 1;
    s.m = s.n = s.k = 512;
    other_state o = {.other = s, .single = s};
    o.other.dtype = dtype;
    o.single.dtype = TSR_F32;
    o.single.a += MAX_ITEMS * sizeof(float); /* the other half of each */
    o.single.b += MAX_ITEMS * sizeof(float);
    fill(&o.other);
    fill(&o.single);
    (void)ours_of_another(&o);
    (void)cblas_of_floats(&o);
    check_other(&o);
    race(ours_of_another, cblas_of_floats, &o, 1, &a, &b);
    report(name, "cblas of f32", &a, &b, "");
}

typedef struct sort_state {
    const float *src;
    float *sorted;
    void *scratch;
} sort_state;

static int64_t sort_ours(void *state)
{
    const sort_state *s = state;
    const int64_t shape = NUM_SORTED;
    const int64_t stride = sizeof(float);
    union {
        const float *from;
        void *data;
    } src = {s->src};
    const tsr_view from = {src.data, TSR_F32, 1, &shape, &stride};
    const tsr_view to = {s->sorted, TSR_F32, 1, &shape, &stride};
    kernel_sort(&to, NULL, &from, 0, false, s->scratch);
    return NUM_SORTED;
}

static int by_float(const void *a, const void *b)
{
    const float x = *(const float *)a;
    const float y = *(const float *)b;
    return (x > y) - (x < y);
}

static int64_t sort_qsort(void *state)
{
    const sort_state *s = state;
    memcpy(s->sorted, s->src, NUM_SORTED * sizeof(float));
    qsort(s->sorted, NUM_SORTED, sizeof(float), by_float);
    return NUM_SORTED;
}

static void bench_sort(void)
{
    const int64_t shape = NUM_SORTED;
    const int64_t start = 0;
    const int64_t stride = sizeof(float);
    float *src = malloc(NUM_SORTED * sizeof *src);
    float *sorted = malloc(NUM_SORTED * sizeof *sorted);
    float *wanted = malloc(NUM_SORTED * sizeof *wanted);
    INSIST(src != NULL && sorted != NULL && wanted != NULL);
    const tsr_view view = {src, TSR_F32, 1, &shape, &stride};
    kernel_random(RANDOM_NORMAL, &view, 1, 2, &start, &shape);
    sort_state s = {src, sorted, malloc(kernel_sort_scratch(&view, 0))};
    INSIST(s.scratch != NULL);
    (void)sort_ours(&s);
    memcpy(wanted, sorted, NUM_SORTED * sizeof *wanted);
    (void)sort_qsort(&s);
    for (size_t i = 0; i < NUM_SORTED; i++) {
        INSIST(sorted[i] == wanted[i]);
    }
    timing a = {0};
    timing b = {0};
    race(sort_ours, sort_qsort, &s, 1, &a, &b);
    printf("{\"bench\": \"sort_f32\", \"elements\": %d, \"us\": %.1f, \"spread\": %.2f, "
           "\"limit\": \"qsort\", \"limit_us\": %.1f, \"limit_spread\": %.2f, \"ratio\": %.2f}\n",
           (int)NUM_SORTED, 1e6 * a.median, a.spread, 1e6 * b.median, b.spread,
           a.median / b.median);
    free(s.scratch);
    free(wanted);
    free(sorted);
    free(src);
}

int main(void)
{
    const size_t room = (size_t)MAX_ITEMS * sizeof(double);
    bench_state s = {.a = aligned_alloc(PAGE, room),
                     .b = aligned_alloc(PAGE, room),
                     .dst = aligned_alloc(PAGE, room),
                     .wanted = aligned_alloc(PAGE, room)};
    INSIST(s.a != NULL && s.b != NULL && s.dst != NULL && s.wanted != NULL);
    bench_type(s, TSR_F32);
    bench_type(s, TSR_F64);
    s.scratch = malloc(room);
    INSIST(s.scratch != NULL);
    bench_other(s, TSR_BF16, "dot_bf16_512");
    bench_other(s, TSR_I32, "dot_i32_512");
    bench_sort();
    free(s.a);
    free(s.b);
    free(s.dst);
    free(s.wanted);
    free(s.scratch);
    return 0;
}
