/* Products of matrices, by CBLAS or by loops over integers. */
#ifndef KERNEL_PRODUCT_H
#define KERNEL_PRODUCT_H

#include <tessera/dtype.h>

/* A matrix; strides in bytes. */
typedef struct matrix {
    char *data;
    int64_t row_stride;
    int64_t col_stride;
} matrix;

/* dst (m x n) = a (m x k) b (k x n), or dst += a b; none of m, n and k is 0. */
typedef struct product {
    int64_t m;
    int64_t n;
    int64_t k;
    matrix dst;
    matrix a;
    matrix b;
    bool accumulate;
} product;

/* The largest m, n and k that CBLAS gets at a time; leading dimensions are ints too. */
enum { BLAS_MOST = 1 << 30 };

/*
 * Whether CBLAS can take a matrix in place: the items of its rows, or of its columns, are
 * neighbours, and those do not overlap.
 */
bool can_blas_take(const matrix *x, int64_t rows, int64_t cols, int64_t item);

/* A product of f32, f64 or complex matrices that CBLAS can take, none larger than BLAS_MOST. */
void blas_multiply(tsr_dtype dtype, const product *p);

/*
 * Around calls of CBLAS and LAPACK: the lock where only one caller may be in them, and one that
 * makes a fork wait until no thread is in them. They do not nest.
 */
bool blas_enter(void);
void blas_leave(bool alone);

/*
 * A product of integers, modulo 2^bits, or of truth values: any strides, any alignment. k is at
 * most INTEGER_MAX_K.
 */
enum { INTEGER_MAX_K = 256 };
void integer_multiply(tsr_dtype dtype, const product *p);

#endif
