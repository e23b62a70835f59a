#include "kernel/lapack.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "kernel/lapack_symbols.h"
#include "kernel/product.h"

/* A job with its work space; of a query the lengths are -1, and the answers come first in each. */
typedef struct call {
    const lapack_job *job;
    void *work;
    int lwork;
    void *rwork;
    int lrwork;
    int *iwork;
    int liwork;
    int type; /* s, d, c, z */
    int info;
} call;

static int type_of(tsr_dtype dtype)
{
    return dtype == TSR_F32 ? 0 : dtype == TSR_F64 ? 1 : dtype == TSR_C64 ? 2 : 3;
}

bool lapack_is_linked(void)
{
    typedef void any_function(void);
    any_function *const all[] = {
        (any_function *)spotrf_, (any_function *)dpotrf_, (any_function *)cpotrf_,
        (any_function *)zpotrf_, (any_function *)sgetrf_, (any_function *)dgetrf_,
        (any_function *)cgetrf_, (any_function *)zgetrf_, (any_function *)sgeqrf_,
        (any_function *)dgeqrf_, (any_function *)cgeqrf_, (any_function *)zgeqrf_,
        (any_function *)sorgqr_, (any_function *)dorgqr_, (any_function *)cungqr_,
        (any_function *)zungqr_, (any_function *)sormqr_, (any_function *)dormqr_,
        (any_function *)cunmqr_, (any_function *)zunmqr_, (any_function *)sgehrd_,
        (any_function *)dgehrd_, (any_function *)cgehrd_, (any_function *)zgehrd_,
        (any_function *)ssytrd_, (any_function *)dsytrd_, (any_function *)chetrd_,
        (any_function *)zhetrd_, (any_function *)sgtsv_,  (any_function *)dgtsv_,
        (any_function *)cgtsv_,  (any_function *)zgtsv_,  (any_function *)strsm_,
        (any_function *)dtrsm_,  (any_function *)ctrsm_,  (any_function *)ztrsm_,
        (any_function *)sgeqp3_, (any_function *)dgeqp3_, (any_function *)cgeqp3_,
        (any_function *)zgeqp3_, (any_function *)sgesdd_, (any_function *)dgesdd_,
        (any_function *)cgesdd_, (any_function *)zgesdd_, (any_function *)sgesvd_,
        (any_function *)dgesvd_, (any_function *)cgesvd_, (any_function *)zgesvd_,
        (any_function *)ssyevd_, (any_function *)dsyevd_, (any_function *)cheevd_,
        (any_function *)zheevd_, (any_function *)sgeev_,  (any_function *)dgeev_,
        (any_function *)cgeev_,  (any_function *)zgeev_,  (any_function *)sgees_,
        (any_function *)dgees_,  (any_function *)cgees_,  (any_function *)zgees_};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i] == NULL) {
            return false;
        }
    }
    return true;
}

static bool is_complex(const call *c)
{
    return c->type >= 2;
}

static size_t part_bytes(int type)
{
    return type % 2 == 0 ? sizeof(float) : sizeof(double);
}

static size_t item_bytes(int type)
{
    return part_bytes(type) * (type >= 2 ? 2 : 1);
}

/* Leading dimensions are at least 1. */
static int leading(int rows)
{
    return rows > 1 ? rows : 1;
}

#define DIM(c, which) (&(c)->job->dims[LAPACK_##which])
#define OPTION(c, which) (&(c)->job->options[LAPACK_##which])
#define VALUE(c, i) ((c)->job->values[i])

/* ---- decompositions without work space ---- */

static void run_potrf(call *c)
{
    static fortran_potrf *const forms[] = {spotrf_, dpotrf_, cpotrf_, zpotrf_};
    const int lda = leading(*DIM(c, N));
    forms[c->type](OPTION(c, UPLO), DIM(c, N), VALUE(c, 0), &lda, &c->info, 1);
}

static void run_getrf(call *c)
{
    static fortran_getrf *const forms[] = {sgetrf_, dgetrf_, cgetrf_, zgetrf_};
    const int lda = leading(*DIM(c, M));
    forms[c->type](DIM(c, M), DIM(c, N), VALUE(c, 0), &lda, VALUE(c, 1), &c->info);
}

/* JAX's lower diagonal starts with an element that is not used. */
static void run_gtsv(call *c)
{
    static fortran_gtsv *const forms[] = {sgtsv_, dgtsv_, cgtsv_, zgtsv_};
    const int ldb = leading(*DIM(c, N));
    char *below = VALUE(c, 0);
    forms[c->type](DIM(c, N), DIM(c, R), below + item_bytes(c->type), VALUE(c, 1), VALUE(c, 2),
                   VALUE(c, 3), &ldb, &c->info);
}

static void run_trsm(call *c)
{
    static fortran_trsm *const forms[] = {strsm_, dtrsm_, ctrsm_, ztrsm_};
    static const float one_f32[2] = {1, 0};
    static const double one_f64[2] = {1, 0};
    const void *one = c->type % 2 == 0 ? (const void *)one_f32 : (const void *)one_f64;
    const int lda = leading(*DIM(c, P));
    const int ldb = leading(*DIM(c, M));
    forms[c->type](OPTION(c, SIDE), OPTION(c, UPLO), OPTION(c, TRANS), OPTION(c, DIAG), DIM(c, M),
                   DIM(c, R), one, VALUE(c, 0), &lda, VALUE(c, 1), &ldb, 1, 1, 1, 1);
}

/* ---- reflections ---- */

static void run_geqrf(call *c)
{
    static fortran_geqrf *const forms[] = {sgeqrf_, dgeqrf_, cgeqrf_, zgeqrf_};
    const int lda = leading(*DIM(c, M));
    forms[c->type](DIM(c, M), DIM(c, N), VALUE(c, 0), &lda, VALUE(c, 1), c->work, &c->lwork,
                   &c->info);
}

static void run_orgqr(call *c)
{
    static fortran_orgqr *const forms[] = {sorgqr_, dorgqr_, cungqr_, zungqr_};
    const int lda = leading(*DIM(c, M));
    forms[c->type](DIM(c, M), DIM(c, N), DIM(c, T), VALUE(c, 0), &lda, VALUE(c, 1), c->work,
                   &c->lwork, &c->info);
}

static void run_ormqr(call *c)
{
    static fortran_ormqr *const forms[] = {sormqr_, dormqr_, cunmqr_, zunmqr_};
    const int lda = leading(*DIM(c, P));
    const int ldc = leading(*DIM(c, M));
    forms[c->type](OPTION(c, SIDE), OPTION(c, TRANS), DIM(c, M), DIM(c, R), DIM(c, T), VALUE(c, 0),
                   &lda, VALUE(c, 1), VALUE(c, 2), &ldc, c->work, &c->lwork, &c->info, 1, 1);
}

static void run_gehrd(call *c)
{
    static fortran_gehrd *const forms[] = {sgehrd_, dgehrd_, cgehrd_, zgehrd_};
    const int lda = leading(*DIM(c, N));
    forms[c->type](DIM(c, N), &c->job->low, &c->job->high, VALUE(c, 0), &lda, VALUE(c, 1), c->work,
                   &c->lwork, &c->info);
}

static void run_sytrd(call *c)
{
    static fortran_sytrd *const forms[] = {ssytrd_, dsytrd_, chetrd_, zhetrd_};
    const int lda = leading(*DIM(c, N));
    forms[c->type](OPTION(c, UPLO), DIM(c, N), VALUE(c, 0), &lda, VALUE(c, 1), VALUE(c, 2),
                   VALUE(c, 3), c->work, &c->lwork, &c->info, 1);
}

static void run_geqp3(call *c)
{
    static real_geqp3 *const reals[] = {sgeqp3_, dgeqp3_};
    static complex_geqp3 *const complexes[] = {cgeqp3_, zgeqp3_};
    const int lda = leading(*DIM(c, M));
    if (is_complex(c)) {
        complexes[c->type - 2](DIM(c, M), DIM(c, N), VALUE(c, 0), &lda, VALUE(c, 1), VALUE(c, 2),
                               c->work, &c->lwork, c->rwork, &c->info);
    } else {
        reals[c->type](DIM(c, M), DIM(c, N), VALUE(c, 0), &lda, VALUE(c, 1), VALUE(c, 2), c->work,
                       &c->lwork, &c->info);
    }
}

/* ---- singular values ---- */

static void run_gesdd(call *c)
{
    static real_gesdd *const reals[] = {sgesdd_, dgesdd_};
    static complex_gesdd *const complexes[] = {cgesdd_, zgesdd_};
    const int lda = leading(*DIM(c, M));
    const int ldvt = leading(*DIM(c, V));
    if (is_complex(c)) {
        complexes[c->type - 2](OPTION(c, MODE), DIM(c, M), DIM(c, N), VALUE(c, 0), &lda,
                               VALUE(c, 1), VALUE(c, 2), &lda, VALUE(c, 3), &ldvt, c->work,
                               &c->lwork, c->rwork, c->iwork, &c->info, 1);
    } else {
        reals[c->type](OPTION(c, MODE), DIM(c, M), DIM(c, N), VALUE(c, 0), &lda, VALUE(c, 1),
                       VALUE(c, 2), &lda, VALUE(c, 3), &ldvt, c->work, &c->lwork, c->iwork,
                       &c->info, 1);
    }
}

static void run_gesvd(call *c)
{
    static real_gesvd *const reals[] = {sgesvd_, dgesvd_};
    static complex_gesvd *const complexes[] = {cgesvd_, zgesvd_};
    const int lda = leading(*DIM(c, M));
    const int ldvt = leading(*DIM(c, V));
    if (is_complex(c)) {
        complexes[c->type - 2](OPTION(c, MODE), OPTION(c, MODE), DIM(c, M), DIM(c, N), VALUE(c, 0),
                               &lda, VALUE(c, 1), VALUE(c, 2), &lda, VALUE(c, 3), &ldvt, c->work,
                               &c->lwork, c->rwork, &c->info, 1, 1);
    } else {
        reals[c->type](OPTION(c, MODE), OPTION(c, MODE), DIM(c, M), DIM(c, N), VALUE(c, 0), &lda,
                       VALUE(c, 1), VALUE(c, 2), &lda, VALUE(c, 3), &ldvt, c->work, &c->lwork,
                       &c->info, 1, 1);
    }
}

/* ---- eigenvalues ---- */

static void run_syevd(call *c)
{
    static real_syevd *const reals[] = {ssyevd_, dsyevd_};
    static complex_heevd *const complexes[] = {cheevd_, zheevd_};
    const int lda = leading(*DIM(c, N));
    if (is_complex(c)) {
        complexes[c->type - 2](OPTION(c, MODE), OPTION(c, UPLO), DIM(c, N), VALUE(c, 0), &lda,
                               VALUE(c, 1), c->work, &c->lwork, c->rwork, &c->lrwork, c->iwork,
                               &c->liwork, &c->info, 1, 1);
    } else {
        reals[c->type](OPTION(c, MODE), OPTION(c, UPLO), DIM(c, N), VALUE(c, 0), &lda, VALUE(c, 1),
                       c->work, &c->lwork, c->iwork, &c->liwork, &c->info, 1, 1);
    }
}

static double part_at(int type, const void *parts, size_t i)
{
    return type % 2 == 0 ? (double)((const float *)parts)[i] : ((const double *)parts)[i];
}

static void set_part(int type, void *parts, size_t i, double value)
{
    if (type % 2 == 0) {
        ((float *)parts)[i] = (float)value;
    } else {
        ((double *)parts)[i] = value;
    }
}

/* Vectors of pairs of conjugate values are stored as the real and the imaginary part of the first.
 */
static void unpack_vectors(const call *c, const void *packed, void *out)
{
    const size_t n = (size_t)*DIM(c, N);
    for (size_t k = 0; k < n; k++) {
        const double imaginary = part_at(c->type, VALUE(c, 2), k);
        const bool is_pair = imaginary > 0 && k + 1 < n;
        for (size_t i = 0; i < n; i++) {
            const size_t at = k * n + i;
            const double re = part_at(c->type, packed, at);
            const double im = is_pair ? part_at(c->type, packed, at + n) : 0;
            set_part(c->type, out, 2 * at, re);
            set_part(c->type, out, 2 * at + 1, im);
            if (is_pair) {
                set_part(c->type, out, 2 * (at + n), re);
                set_part(c->type, out, 2 * (at + n) + 1, -im);
            }
        }
        k += is_pair ? 1 : 0;
    }
}

static void run_real_geev(call *c)
{
    static real_geev *const forms[] = {sgeev_, dgeev_};
    const int n = *DIM(c, N);
    const int ld = leading(n);
    char *left = c->rwork;
    char *right = left + (c->lwork < 0 ? 0 : (size_t)n * (size_t)n * part_bytes(c->type));
    forms[c->type](OPTION(c, LEFT), OPTION(c, RIGHT), &n, VALUE(c, 0), &ld, VALUE(c, 1),
                   VALUE(c, 2), left, &ld, right, &ld, c->work, &c->lwork, &c->info, 1, 1);
    if (c->lwork >= 0 && *OPTION(c, LEFT) == 'V') {
        unpack_vectors(c, left, VALUE(c, 3));
    }
    if (c->lwork >= 0 && *OPTION(c, RIGHT) == 'V') {
        unpack_vectors(c, right, VALUE(c, 4));
    }
}

static bool is_finite(const call *c)
{
    const size_t n = (size_t)*DIM(c, N);
    for (size_t i = 0; i < n * n * (is_complex(c) ? 2 : 1); i++) {
        if (!isfinite(part_at(c->type, VALUE(c, 0), i))) {
            return false;
        }
    }
    return true;
}

/* LAPACK may not end with numbers that are not finite; JAX refuses them with the same info. */
static void run_geev(call *c)
{
    static complex_geev *const forms[] = {cgeev_, zgeev_};
    const int ld = leading(*DIM(c, N));
    if (c->lwork >= 0 && !is_finite(c)) {
        c->info = -4;
    } else if (!is_complex(c)) {
        run_real_geev(c);
    } else {
        forms[c->type - 2](OPTION(c, LEFT), OPTION(c, RIGHT), DIM(c, N), VALUE(c, 0), &ld,
                           VALUE(c, 1), VALUE(c, 2), &ld, VALUE(c, 3), &ld, c->work, &c->lwork,
                           c->rwork, &c->info, 1, 1);
    }
}

static void run_gees(call *c)
{
    static real_gees *const reals[] = {sgees_, dgees_};
    static complex_gees *const complexes[] = {cgees_, zgees_};
    static const char sort = 'N';
    const int ld = leading(*DIM(c, N));
    if (c->lwork >= 0 && !is_finite(c)) {
        c->info = -4;
    } else if (is_complex(c)) {
        complexes[c->type - 2](OPTION(c, MODE), &sort, NULL, DIM(c, N), VALUE(c, 0), &ld,
                               VALUE(c, 3), VALUE(c, 2), VALUE(c, 1), &ld, c->work, &c->lwork,
                               c->rwork, c->iwork, &c->info, 1, 1);
    } else {
        reals[c->type](OPTION(c, MODE), &sort, NULL, DIM(c, N), VALUE(c, 0), &ld, VALUE(c, 4),
                       VALUE(c, 2), VALUE(c, 3), VALUE(c, 1), &ld, c->work, &c->lwork, c->iwork,
                       &c->info, 1, 1);
    }
}

/* ---- work space ---- */

typedef struct routine {
    void (*run)(call *c);
    int info;     /* which value it is, of reals; -1: none */
    bool asks;    /* its work space is asked for with a length of -1 */
    bool of_pair; /* complex ones have one value less before it */
} routine;

static const routine routines[LAPACK_NUM_ROUTINES] = {
    [LAPACK_POTRF] = {run_potrf, 1, false, false}, [LAPACK_GETRF] = {run_getrf, 2, false, false},
    [LAPACK_GEQRF] = {run_geqrf, -1, true, false}, [LAPACK_ORGQR] = {run_orgqr, -1, true, false},
    [LAPACK_ORMQR] = {run_ormqr, -1, true, false}, [LAPACK_GEQP3] = {run_geqp3, -1, true, false},
    [LAPACK_GESDD] = {run_gesdd, 4, true, false},  [LAPACK_GESVD] = {run_gesvd, 4, true, false},
    [LAPACK_SYEVD] = {run_syevd, 2, true, false},  [LAPACK_GEEV] = {run_geev, 5, true, true},
    [LAPACK_GEES] = {run_gees, 5, true, true},     [LAPACK_GEHRD] = {run_gehrd, 2, true, false},
    [LAPACK_SYTRD] = {run_sytrd, 4, true, false},  [LAPACK_GTSV] = {run_gtsv, 4, false, false},
    [LAPACK_TRSM] = {run_trsm, -1, false, false},
};

/* A length that LAPACK gave as a float, which may be rounded down. */
static int length_of(int type, const void *answer)
{
    const double asked = part_at(type, answer, 0) * (type % 2 == 0 ? 1 + 0x1p-22 : 1);
    return asked < INT_MAX - 1 ? (int)ceil(asked > 1 ? asked : 1) : INT_MAX;
}

/* Real parts that are not asked for, by LAPACK's documentation. */
static int64_t least_rwork(const call *c)
{
    const int64_t n = *DIM(c, N);
    const int64_t k = *DIM(c, K);
    const int64_t most = *DIM(c, M) > n ? *DIM(c, M) : n;
    const int64_t both = 2 * most * k + 2 * k * k + k;
    const int64_t square = 5 * k * k + 5 * k;
    switch (c->job->routine) {
    case LAPACK_GEQP3:
        return 2 * n;
    case LAPACK_GESVD:
        return 5 * k;
    case LAPACK_GESDD:
        return *OPTION(c, MODE) == 'N' ? 7 * k : both > square ? both : square;
    case LAPACK_GEEV:
        return is_complex(c) ? 2 * n : 2 * n * n;
    case LAPACK_GEES:
        return n;
    default:
        return 1;
    }
}

static int at_least(int64_t least, int asked)
{
    return least > INT_MAX ? INT_MAX : least > asked ? (int)least : asked;
}

/* OpenBLAS without threads is not asked by several callers either. */
static void enter(call *c)
{
    const bool alone = blas_enter();
    routines[c->job->routine].run(c);
    blas_leave(alone);
}

lapack_space lapack_space_of(const lapack_job *job)
{
    double work[2] = {0};
    double rwork[2] = {0};
    int iwork[2] = {0};
    call c = {job, work, -1, rwork, -1, iwork, -1, type_of(job->dtype), 0};
    if (!routines[job->routine].asks) {
        return (lapack_space){1, 1, 1};
    }
    enter(&c);
    const int64_t integers = job->routine == LAPACK_GESDD ? 8 * (int64_t)*DIM(&c, K) : 1;
    return (lapack_space){length_of(c.type, work),
                          at_least(least_rwork(&c), length_of(c.type, rwork)),
                          at_least(integers, iwork[0])};
}

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

size_t lapack_space_bytes(const lapack_job *job, lapack_space space)
{
    const int type = type_of(job->dtype);
    return aligned((size_t)space.work * item_bytes(type)) +
           aligned((size_t)space.rwork * part_bytes(type)) + (size_t)space.iwork * sizeof(int);
}

void kernel_lapack(const lapack_job *job, lapack_space space, void *scratch)
{
    const routine *r = &routines[job->routine];
    call c = {.job = job, .type = type_of(job->dtype)};
    char *at = scratch;
    c.work = at;
    c.lwork = space.work;
    at += aligned((size_t)space.work * item_bytes(c.type));
    c.rwork = at;
    c.lrwork = space.rwork;
    at += aligned((size_t)space.rwork * part_bytes(c.type));
    c.iwork = (int *)(void *)at;
    c.liwork = space.iwork;
    enter(&c);
    if (r->info >= 0) {
        memcpy(VALUE(&c, r->info - (r->of_pair && is_complex(&c) ? 1 : 0)), &c.info, sizeof c.info);
    }
}
