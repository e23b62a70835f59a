/*
 * LAPACK's Fortran, as OpenBLAS has it: 32-bit integers, everything by address, the length of each
 * string at the end. Elements are passed as void, so that one type fits all four element types.
 */
#ifndef KERNEL_LAPACK_SYMBOLS_H
#define KERNEL_LAPACK_SYMBOLS_H

#include <stddef.h>

typedef const char *choice;
typedef const int *count;

typedef void fortran_potrf(choice uplo, count n, void *a, count lda, int *info, size_t);
typedef void fortran_getrf(count m, count n, void *a, count lda, int *pivots, int *info);
typedef void fortran_geqrf(count m, count n, void *a, count lda, void *tau, void *work, count lwork,
                           int *info);
typedef void fortran_orgqr(count m, count n, count k, void *a, count lda, const void *tau,
                           void *work, count lwork, int *info);
typedef void fortran_ormqr(choice side, choice trans, count m, count n, count k, const void *a,
                           count lda, const void *tau, void *c, count ldc, void *work, count lwork,
                           int *info, size_t, size_t);
typedef void fortran_gehrd(count n, count low, count high, void *a, count lda, void *tau,
                           void *work, count lwork, int *info);
typedef void fortran_sytrd(choice uplo, count n, void *a, count lda, void *d, void *e, void *tau,
                           void *work, count lwork, int *info, size_t);
typedef void fortran_gtsv(count n, count rhs, void *dl, void *d, void *du, void *b, count ldb,
                          int *info);
typedef void fortran_trsm(choice side, choice uplo, choice trans, choice diag, count m, count n,
                          const void *alpha, const void *a, count lda, void *b, count ldb, size_t,
                          size_t, size_t, size_t);

/* Those whose complex forms take other arguments. */
typedef void real_geqp3(count m, count n, void *a, count lda, int *jpvt, void *tau, void *work,
                        count lwork, int *info);
typedef void complex_geqp3(count m, count n, void *a, count lda, int *jpvt, void *tau, void *work,
                           count lwork, void *rwork, int *info);
typedef void real_gesdd(choice jobz, count m, count n, void *a, count lda, void *s, void *u,
                        count ldu, void *vt, count ldvt, void *work, count lwork, int *iwork,
                        int *info, size_t);
typedef void complex_gesdd(choice jobz, count m, count n, void *a, count lda, void *s, void *u,
                           count ldu, void *vt, count ldvt, void *work, count lwork, void *rwork,
                           int *iwork, int *info, size_t);
typedef void real_gesvd(choice jobu, choice jobvt, count m, count n, void *a, count lda, void *s,
                        void *u, count ldu, void *vt, count ldvt, void *work, count lwork,
                        int *info, size_t, size_t);
typedef void complex_gesvd(choice jobu, choice jobvt, count m, count n, void *a, count lda, void *s,
                           void *u, count ldu, void *vt, count ldvt, void *work, count lwork,
                           void *rwork, int *info, size_t, size_t);
typedef void real_syevd(choice jobz, choice uplo, count n, void *a, count lda, void *w, void *work,
                        count lwork, int *iwork, count liwork, int *info, size_t, size_t);
typedef void complex_heevd(choice jobz, choice uplo, count n, void *a, count lda, void *w,
                           void *work, count lwork, void *rwork, count lrwork, int *iwork,
                           count liwork, int *info, size_t, size_t);
typedef void real_geev(choice left, choice right, count n, void *a, count lda, void *wr, void *wi,
                       void *vl, count ldvl, void *vr, count ldvr, void *work, count lwork,
                       int *info, size_t, size_t);
typedef void complex_geev(choice left, choice right, count n, void *a, count lda, void *w, void *vl,
                          count ldvl, void *vr, count ldvr, void *work, count lwork, void *rwork,
                          int *info, size_t, size_t);
typedef void real_gees(choice jobvs, choice sort, void *select, count n, void *a, count lda,
                       int *sdim, void *wr, void *wi, void *vs, count ldvs, void *work, count lwork,
                       int *bwork, int *info, size_t, size_t);
typedef void complex_gees(choice jobvs, choice sort, void *select, count n, void *a, count lda,
                          int *sdim, void *w, void *vs, count ldvs, void *work, count lwork,
                          void *rwork, int *bwork, int *info, size_t, size_t);

/*
 * Weak, so that a program that is linked statically with OpenBLAS alone is linked without them:
 * they would need Fortran's library. lapack_is_linked says whether they are linked.
 */
#define WEAK __attribute__((weak))
extern WEAK fortran_potrf spotrf_, dpotrf_, cpotrf_, zpotrf_;
extern WEAK fortran_getrf sgetrf_, dgetrf_, cgetrf_, zgetrf_;
extern WEAK fortran_geqrf sgeqrf_, dgeqrf_, cgeqrf_, zgeqrf_;
extern WEAK fortran_orgqr sorgqr_, dorgqr_, cungqr_, zungqr_;
extern WEAK fortran_ormqr sormqr_, dormqr_, cunmqr_, zunmqr_;
extern WEAK fortran_gehrd sgehrd_, dgehrd_, cgehrd_, zgehrd_;
extern WEAK fortran_sytrd ssytrd_, dsytrd_, chetrd_, zhetrd_;
extern WEAK fortran_gtsv sgtsv_, dgtsv_, cgtsv_, zgtsv_;
extern WEAK fortran_trsm strsm_, dtrsm_, ctrsm_, ztrsm_;
extern WEAK real_geqp3 sgeqp3_, dgeqp3_;
extern WEAK complex_geqp3 cgeqp3_, zgeqp3_;
extern WEAK real_gesdd sgesdd_, dgesdd_;
extern WEAK complex_gesdd cgesdd_, zgesdd_;
extern WEAK real_gesvd sgesvd_, dgesvd_;
extern WEAK complex_gesvd cgesvd_, zgesvd_;
extern WEAK real_syevd ssyevd_, dsyevd_;
extern WEAK complex_heevd cheevd_, zheevd_;
extern WEAK real_geev sgeev_, dgeev_;
extern WEAK complex_geev cgeev_, zgeev_;
extern WEAK real_gees sgees_, dgees_;
extern WEAK complex_gees cgees_, zgees_;
#undef WEAK

#endif
