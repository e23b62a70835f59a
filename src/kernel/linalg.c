#include "kernel/linalg.h"

#include <math.h>

#include "base/base.h"
#include "kernel/copy.h"
#include "kernel/element_complex.h"

bool linalg_supports(tsr_dtype dtype)
{
    return is_float(dtype) || is_complex(dtype);
}

/* ---- batches of matrices ---- */

static bool next_matrix(const tsr_view *v, int64_t *index)
{
    for (size_t d = v->rank - 2; d-- > 0;) {
        if (++index[d] < v->shape[d]) {
            return true;
        }
        index[d] = 0;
    }
    return false;
}

static bool is_empty(const tsr_view *v)
{
    for (size_t d = 0; d < v->rank; d++) {
        if (v->shape[d] == 0) {
            return true;
        }
    }
    return false;
}

static char *matrix_at(const tsr_view *v, const int64_t *index)
{
    char *at = v->data;
    for (size_t d = 0; d + 2 < v->rank; d++) {
        at += index[d] * v->strides[d];
    }
    return at;
}

/* Copies a matrix to a packed one of numbers, or back. */
static void load_matrix(const tsr_view *v, const char *at, number *out)
{
    const size_t m = v->rank - 2;
    const size_t n = v->rank - 1;
    for (int64_t i = 0; i < v->shape[m]; i++) {
        for (int64_t k = 0; k < v->shape[n]; k++) {
            *out++ = load_number(v->dtype, at + i * v->strides[m] + k * v->strides[n]);
        }
    }
}

static void store_matrix(const tsr_view *v, char *at, const number *in)
{
    const size_t m = v->rank - 2;
    const size_t n = v->rank - 1;
    for (int64_t i = 0; i < v->shape[m]; i++) {
        for (int64_t k = 0; k < v->shape[n]; k++) {
            store_number(v->dtype, *in++, at + i * v->strides[m] + k * v->strides[n]);
        }
    }
}

/* The conjugate transpose of a square matrix, in place. */
static void adjoin(number *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k <= i; k++) {
            const number below = a[i * n + k];
            a[i * n + k] = conj(a[k * n + i]);
            a[k * n + i] = conj(below);
        }
    }
}

/* ---- cholesky ---- */

/* Row by row, by the lower triangle; false when a diagonal element is not positive. */
static bool decompose(number *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k <= i; k++) {
            number sum = a[i * n + k];
            for (int64_t j = 0; j < k; j++) {
                sum -= a[i * n + j] * conj(a[k * n + j]);
            }
            if (k < i) {
                a[i * n + k] = sum / creal(a[k * n + k]);
            } else if (creal(sum) > 0) {
                a[i * n + i] = make_number(sqrt(creal(sum)), 0);
            } else {
                return false;
            }
        }
        for (int64_t k = i + 1; k < n; k++) {
            a[i * n + k] = 0;
        }
    }
    return true;
}

static size_t square_bytes(const tsr_view *a)
{
    const size_t n = (size_t)a->shape[a->rank - 1];
    return n * n * sizeof(number);
}

size_t kernel_cholesky_scratch(const tsr_view *a)
{
    return square_bytes(a);
}

void kernel_cholesky(const tsr_view *dst, const tsr_view *a, bool lower, void *scratch)
{
    number *matrix = scratch;
    const int64_t n = a->shape[a->rank - 1];
    int64_t index[KERNEL_MAX_RANK] = {0};
    if (is_empty(a)) {
        return;
    }
    do {
        load_matrix(a, matrix_at(a, index), matrix);
        if (!lower) {
            adjoin(matrix, n);
        }
        const bool fine = decompose(matrix, n);
        for (int64_t i = 0; !fine && i < n * n; i++) {
            matrix[i] = make_number(NAN, is_complex(a->dtype) ? NAN : 0);
        }
        if (!lower) {
            adjoin(matrix, n);
        }
        store_matrix(dst, matrix_at(dst, index), matrix);
    } while (next_matrix(a, index));
}

/* ---- triangular solve ---- */

/* x of m x = c for many c: c is a row for each row of m, or (by_rows) a column for each. */
typedef struct substitution {
    const number *m; /* packed, n by n */
    int64_t n;
    bool lower;
    bool unit_diagonal;
    number *x; /* what is solved, in place */
    int64_t count;
    int64_t step;  /* from one element of a vector to the next */
    int64_t apart; /* from one vector to the next */
} substitution;

static void substitute(const substitution *s)
{
    for (int64_t t = 0; t < s->n; t++) {
        const int64_t i = s->lower ? t : s->n - 1 - t;
        for (int64_t v = 0; v < s->count; v++) {
            number *x = s->x + v * s->apart;
            number sum = x[i * s->step];
            for (int64_t u = 0; u < t; u++) {
                const int64_t k = s->lower ? u : s->n - 1 - u;
                sum -= s->m[i * s->n + k] * x[k * s->step];
            }
            x[i * s->step] = s->unit_diagonal ? sum : sum / s->m[i * s->n + i];
        }
    }
}

static void transpose(number *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++) {
            const number below = a[i * n + k];
            a[i * n + k] = a[k * n + i];
            a[k * n + i] = below;
        }
    }
}

size_t kernel_solve_scratch(const tsr_view *a, const tsr_view *b)
{
    const size_t rows = (size_t)b->shape[b->rank - 2];
    const size_t columns = (size_t)b->shape[b->rank - 1];
    return square_bytes(a) + rows * columns * sizeof(number);
}

/* x op(a) = b is op(a)^T x^T = b^T: the rows of b are the vectors then. */
void kernel_triangular_solve(const solve_job *job, const tsr_view *dst, const tsr_view *a,
                             const tsr_view *b, void *scratch)
{
    const int64_t n = a->shape[a->rank - 1];
    const int64_t columns = b->shape[b->rank - 1];
    number *matrix = scratch;
    number *x = matrix + n * n;
    int64_t index[KERNEL_MAX_RANK] = {0};
    if (is_empty(b)) {
        return;
    }
    const bool turned = job->transposed != !job->left_side;
    const substitution s = {.m = matrix,
                            .n = n,
                            .lower = job->lower != turned,
                            .unit_diagonal = job->unit_diagonal,
                            .x = x,
                            .count = job->left_side ? columns : b->shape[b->rank - 2],
                            .step = job->left_side ? columns : 1,
                            .apart = job->left_side ? 1 : columns};
    do {
        load_matrix(a, matrix_at(a, index), matrix);
        load_matrix(b, matrix_at(b, index), x);
        for (int64_t i = 0; job->conjugated && i < n * n; i++) {
            matrix[i] = conj(matrix[i]);
        }
        if (turned) {
            transpose(matrix, n);
        }
        substitute(&s);
        store_matrix(dst, matrix_at(dst, index), x);
    } while (next_matrix(b, index));
}
