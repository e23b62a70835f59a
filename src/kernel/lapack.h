/*
 * Decompositions and solvers by LAPACK, of one matrix: f32, f64, c64 and c128. All values are
 * packed by columns, and changed in place where LAPACK does so.
 */
#ifndef KERNEL_LAPACK_H
#define KERNEL_LAPACK_H

#include <tessera/dtype.h>

typedef enum lapack_routine {
    LAPACK_POTRF, /* a, info */
    LAPACK_GETRF, /* a, pivots, info */
    LAPACK_GEQRF, /* a, tau */
    LAPACK_ORGQR, /* a, tau */
    LAPACK_ORMQR, /* a, tau, c */
    LAPACK_GEQP3, /* a, pivots, tau */
    LAPACK_GESDD, /* a, s, u, vt, info */
    LAPACK_GESVD, /* the same */
    LAPACK_SYEVD, /* a, w, info */
    LAPACK_GEEV,  /* a, real and imaginary parts of w or w, left, right: both complex; info */
    LAPACK_GEES,  /* a, vectors, real and imaginary parts of w or w, how many chosen, info */
    LAPACK_GEHRD, /* a, tau, info */
    LAPACK_SYTRD, /* a, d, e, tau, info */
    LAPACK_GTSV,  /* dl, of which the first is not used, d, du, b, info */
    LAPACK_TRSM,  /* a, b */
    LAPACK_NUM_ROUTINES
} lapack_routine;

typedef enum lapack_dim {
    LAPACK_M, /* rows of a, or of b or c */
    LAPACK_N, /* columns of a */
    LAPACK_K, /* the less of both */
    LAPACK_H, /* n - 1 */
    LAPACK_R, /* columns of b or c */
    LAPACK_T, /* length of tau */
    LAPACK_P, /* rows of a, where M are those of b or c */
    LAPACK_U, /* columns of u */
    LAPACK_V, /* rows of vt */
    LAPACK_NUM_DIMS
} lapack_dim;

typedef enum lapack_option {
    LAPACK_UPLO,
    LAPACK_MODE,
    LAPACK_LEFT,
    LAPACK_RIGHT,
    LAPACK_DIAG,
    LAPACK_SIDE,
    LAPACK_TRANS,
    LAPACK_NUM_OPTIONS
} lapack_option;

enum { LAPACK_MAX_VALUES = 6, LAPACK_MAX_ELEMENTS = 1 << 28 };

/* No value has more than LAPACK_MAX_ELEMENTS, and LAPACK accepts all dims and codes. */
typedef struct lapack_job {
    lapack_routine routine;
    tsr_dtype dtype;
    int dims[LAPACK_NUM_DIMS];
    char options[LAPACK_NUM_OPTIONS]; /* LAPACK's codes */
    int low;                          /* of gehrd */
    int high;
    void *values[LAPACK_MAX_VALUES]; /* as each routine lists them */
} lapack_job;

/* Numbers of elements, of real parts and of integers. */
typedef struct lapack_space {
    int work;
    int rwork;
    int iwork;
} lapack_space;

/* Whether the program is linked with LAPACK: not where it is linked statically with OpenBLAS alone.
 */
bool lapack_is_linked(void);
/* What a job needs beside its values, which are not looked at. */
lapack_space lapack_space_of(const lapack_job *job);
size_t lapack_space_bytes(const lapack_job *job, lapack_space space);
void kernel_lapack(const lapack_job *job, lapack_space space, void *scratch);

#endif
