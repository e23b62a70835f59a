#include <cblas.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "kernel/dot.h"
#include "kernel/element_types.h"
#include "kernel/product.h"

/* OpenBLAS's own; another CBLAS has none of them. */
#pragma weak openblas_get_parallel
#pragma weak openblas_set_num_threads
#pragma weak openblas_get_num_threads

/* How CBLAS sees a matrix: `ld` items from one row to the next, or from one column to the next. */
typedef struct blas_matrix {
    char *data;
    int ld;
    bool by_columns;
} blas_matrix;

/*
 * Whether the items of `count` lines of `length` are neighbours, and the lines do not overlap. The
 * stride of a single line, or of the items of lines of one, is never used.
 */
static bool has_lines(int64_t count, int64_t length, int64_t stride, int64_t item_stride,
                      int64_t item)
{
    if (length > 1 && item_stride != item) {
        return false;
    }
    return count == 1 ||
           (stride % item == 0 && stride / item >= length && stride / item <= INT_MAX);
}

static bool is_by_rows(const matrix *x, int64_t rows, int64_t cols, int64_t item)
{
    return has_lines(rows, cols, x->row_stride, x->col_stride, item);
}

bool can_blas_take(const matrix *x, int64_t rows, int64_t cols, int64_t item)
{
    return is_by_rows(x, rows, cols, item) ||
           has_lines(cols, rows, x->col_stride, x->row_stride, item);
}

static blas_matrix seen(const matrix *x, int64_t rows, int64_t cols, int64_t item)
{
    const bool by_columns = !is_by_rows(x, rows, cols, item);
    const int64_t count = by_columns ? cols : rows;
    const int64_t length = by_columns ? rows : cols;
    const int64_t stride = by_columns ? x->col_stride : x->row_stride;
    return (blas_matrix){x->data, (int)(count == 1 ? length : stride / item), by_columns};
}

static CBLAS_ORDER order_of(const blas_matrix *x)
{
    return x->by_columns ? CblasColMajor : CblasRowMajor;
}

/* Operands whose layout differs from that of dst are passed as transposed. */
static CBLAS_TRANSPOSE transposed(const blas_matrix *x, const blas_matrix *dst)
{
    return x->by_columns == dst->by_columns ? CblasNoTrans : CblasTrans;
}

/* A product with one row or one column: y = A x or y = A^T x. */
typedef struct vector_product {
    blas_matrix a;
    CBLAS_TRANSPOSE transposition;
    int rows;
    int cols;
    const char *x;
    int x_step;
    char *y;
    int y_step;
    int64_t y_size;
} vector_product;

/* From one item to the next of a matrix that has one row or one column. */
static int step(int64_t size, int64_t stride, int64_t item)
{
    return (int)(size == 1 ? 1 : stride / item);
}

static vector_product column_product(const product *p, int64_t item)
{
    return (vector_product){.a = seen(&p->a, p->m, p->k, item),
                            .transposition = CblasNoTrans,
                            .rows = (int)p->m,
                            .cols = (int)p->k,
                            .x = p->b.data,
                            .x_step = step(p->k, p->b.row_stride, item),
                            .y = p->dst.data,
                            .y_step = step(p->m, p->dst.row_stride, item),
                            .y_size = p->m};
}

static vector_product row_product(const product *p, int64_t item)
{
    return (vector_product){.a = seen(&p->b, p->k, p->n, item),
                            .transposition = CblasTrans,
                            .rows = (int)p->k,
                            .cols = (int)p->n,
                            .x = p->a.data,
                            .x_step = step(p->k, p->a.col_stride, item),
                            .y = p->dst.data,
                            .y_step = step(p->n, p->dst.col_stride, item),
                            .y_size = p->n};
}

/* What y held must not matter, not even NaNs; so it is cleared and then added to. */
static void clear(const vector_product *v, size_t item)
{
    for (int64_t i = 0; i < v->y_size; i++) {
        memset(v->y + i * v->y_step * (int64_t)item, 0, item);
    }
}

/* Numbers are passed to CBLAS as values, complex ones by pointers. */
#define NUMBER(x) ((x)[0])
#define TYPE f32
#define PART float
#define POINTER float
#define GEMM cblas_sgemm
#define GEMV cblas_sgemv
#include "kernel/blas_type.inc"
#define TYPE f64
#define PART double
#define POINTER double
#define GEMM cblas_dgemm
#define GEMV cblas_dgemv
#include "kernel/blas_type.inc"
#undef NUMBER

#define NUMBER(x) (x)
#define TYPE c64
#define PART float
#define POINTER void
#define GEMM cblas_cgemm
#define GEMV cblas_cgemv
#include "kernel/blas_type.inc"
#define TYPE c128
#define PART double
#define POINTER void
#define GEMM cblas_zgemm
#define GEMV cblas_zgemv
#include "kernel/blas_type.inc"
#undef NUMBER

typedef struct blas_type {
    void (*vector)(const vector_product *v);
    void (*matrix)(const product *p, const blas_matrix *dst, const blas_matrix *a,
                   const blas_matrix *b);
} blas_type;

static const blas_type types[] = {
    [TSR_F32] = {f32_vector, f32_matrix},
    [TSR_F64] = {f64_vector, f64_matrix},
    [TSR_C64] = {c64_vector, c64_matrix},
    [TSR_C128] = {c128_vector, c128_matrix},
};

static void multiply(tsr_dtype dtype, const product *p)
{
    const int64_t item = tsr_dtype_item_bytes(dtype);
    if (p->m == 1 || p->n == 1) {
        const vector_product v = p->n == 1 ? column_product(p, item) : row_product(p, item);
        if (!p->accumulate) {
            clear(&v, (size_t)item);
        }
        types[dtype].vector(&v);
    } else {
        const blas_matrix dst = seen(&p->dst, p->m, p->n, item);
        const blas_matrix a = seen(&p->a, p->m, p->k, item);
        const blas_matrix b = seen(&p->b, p->k, p->n, item);
        types[dtype].matrix(p, &dst, &a, &b);
    }
}

/* OpenBLAS without threads uses one buffer for all callers. */
static bool is_for_one_caller(void)
{
    return openblas_get_parallel != NULL && openblas_get_parallel() == 0;
}

static pthread_mutex_t one_caller = PTHREAD_MUTEX_INITIALIZER;

/*
 * Held shared by callers and alone by a fork: OpenBLAS stops its threads before a fork, and never
 * returns when another thread is using them; a child would find its locks held by threads that
 * it does not have. A fork that waits comes before new callers.
 */
static pthread_rwlock_t callers = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void before_fork(void)
{
    (void)pthread_rwlock_wrlock(&callers);
}

static void after_fork(void)
{
    (void)pthread_rwlock_unlock(&callers);
}

/* The lock counts threads that wait for it, which the child does not have: a new one. */
static void in_child(void)
{
    static const pthread_rwlock_t fresh = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
    callers = fresh;
}

/*
 * Registered when the library is loaded, after OpenBLAS, on which it depends, has registered its
 * own: so before a fork it runs first. At the first product it would be too late, since a fork may
 * be under way by then.
 */
__attribute__((__constructor__)) static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, in_child);
}

/*
 * At the end of the process, before OpenBLAS frees its buffers: products that threads of an open
 * world are in come to their end, and those that they would begin wait until the process is gone.
 */
__attribute__((__destructor__)) static void keep_callers_out(void)
{
    (void)pthread_rwlock_wrlock(&callers);
}

static void join_callers(void)
{
    (void)pthread_rwlock_rdlock(&callers);
}

bool blas_enter(void)
{
    join_callers();
    const bool alone = is_for_one_caller();
    if (alone) {
        (void)pthread_mutex_lock(&one_caller);
    }
    return alone;
}

void blas_leave(bool alone)
{
    if (alone) {
        (void)pthread_mutex_unlock(&one_caller);
    }
    (void)pthread_rwlock_unlock(&callers);
}

void blas_multiply(tsr_dtype dtype, const product *p)
{
    const bool alone = blas_enter();
    multiply(dtype, p);
    blas_leave(alone);
}

/* For who changes how CBLAS runs: no fork, and no other that changes it. */
static void lock_settings(void)
{
    join_callers();
    (void)pthread_mutex_lock(&one_caller);
}

static void unlock_settings(void)
{
    (void)pthread_mutex_unlock(&one_caller);
    (void)pthread_rwlock_unlock(&callers);
}

/* Returns how many it took before; nothing changes with 0. */
static int change_threads(int threads)
{
    if (openblas_set_num_threads == NULL || openblas_get_num_threads == NULL) {
        return 1;
    }
    const int before = openblas_get_num_threads();
    if (threads > 0 && threads != before) {
        openblas_set_num_threads(threads);
    }
    return before;
}

static blas_share *shares;
static int threads_without_shares;

static int fewest_threads(void)
{
    int threads = shares != NULL ? shares->threads : threads_without_shares;
    for (const blas_share *s = shares; s != NULL; s = s->next) {
        threads = s->threads < threads ? s->threads : threads;
    }
    return threads;
}

void blas_share_take(blas_share *share, int threads)
{
    lock_settings();
    if (shares == NULL) {
        threads_without_shares = change_threads(0);
    }
    *share = (blas_share){.next = shares, .threads = threads};
    shares = share;
    (void)change_threads(fewest_threads());
    unlock_settings();
}

void blas_share_release(blas_share *share)
{
    lock_settings();
    for (blas_share **at = &shares; *at != NULL; at = &(*at)->next) {
        if (*at == share) {
            *at = share->next;
            (void)change_threads(fewest_threads());
            break;
        }
    }
    unlock_settings();
}

size_t blas_room(int64_t num_callers)
{
    const size_t buffer = (size_t)128 << 20; /* BUFFER_SIZE of OpenBLAS on x86-64 */
    if (openblas_get_num_threads == NULL) {
        return 0;
    }
    const int threads = openblas_get_num_threads();
    return ((size_t)num_callers + (threads > 1 ? (size_t)threads - 1 : 0)) * buffer;
}
