#include "kernel/fold.h"

#include "kernel/loops.h"
#include "kernel/progress.h"
#include "kernel/vector.h"

/* How many bytes of an array are folded at a time; they stay in the first cache. */
enum { CHUNK = 512 };

/* How many bytes of results are collected before they are copied to dst. */
enum { BLOCK = 2048 };

/* Folds n items, `stride` bytes apart, from `at` bytes into each source; dst is contiguous. */
typedef void (*fold_items)(char *dst, const void *const *src, size_t count, int64_t at,
                           int64_t stride, int64_t n);

/* How a fold ends; FOLD_OPS says which. */
typedef enum fold_ending { ENDING_KEEPS, ENDING_CLEANS, ENDING_DIVIDES } fold_ending;

/* The two forms of a fold. */
typedef struct fold_forms {
    fold_items portable;
    fold_items avx2;
} fold_forms;

/* The forms of a fold, of the inline functions of fold_walk.inc. */
#define DEFINE_FOLD(name, loop, combine, ending)                                                   \
    static void name(char *dst, const void *const *src, size_t count, int64_t at, int64_t stride,  \
                     int64_t n)                                                                    \
    {                                                                                              \
        JOIN(loop, _row)(dst, src, count, at, stride, n, combine, ending);                         \
    }                                                                                              \
    AVX2 static void JOIN(name, _avx2)(char *dst, const void *const *src, size_t count,            \
                                       int64_t at, int64_t stride, int64_t n)                      \
    {                                                                                              \
        JOIN(loop, _wide_row)(dst, src, count, at, stride, n, name, combine, ending);              \
    }

/* In a template: the forms of an operation, and their entry in the table, if this type has it. */
#define DEFINE_OP(NAME, op, combine, identity, ending, floats, integers, truth, complex)           \
    JOIN(DEFINE_IF_, COLUMN(floats, integers, truth))(op, combine, ending)
#define DEFINE_IF_YES(op, combine, ending) DEFINE_##ending(op, combine)
#define DEFINE_IF_NO(op, combine, ending)
#define DEFINE_KEEPS(op, combine)                                                                  \
    DEFINE_FOLD(OF_TYPE(op), OF_TYPE(fold), FORM(combine), ENDING_KEEPS)
#define DEFINE_CLEANS(op, combine)                                                                 \
    DEFINE_FOLD(OF_TYPE(op), OF_TYPE(fold), FORM(combine), ENDING_CLEANS)
#define DEFINE_DIVIDES(op, combine)                                                                \
    DEFINE_FOLD(OF_TYPE(op), OF_TYPE(mean), JOIN3(combine, _, MEAN_KIND), ENDING_DIVIDES)

#define FOLD_ENTRY(NAME, op, combine, identity, ending, floats, integers, truth, complex)          \
    JOIN(ENTRY_IF_, COLUMN(floats, integers, truth))(FOLD_##NAME, op)
#define COMPLEX_ENTRY(NAME, op, combine, identity, ending, floats, integers, truth, complex)       \
    JOIN(ENTRY_IF_, complex)(FOLD_##NAME, op)
#define ENTRY_IF_YES(index, op) [index] = {OF_TYPE(op), JOIN(OF_TYPE(op), _avx2)},
#define ENTRY_IF_NO(index, op)

#define TEMPLATE "kernel/fold_type.inc"
#include "kernel/element_types.inc"

#define TYPE c64
#define PART float
#include "kernel/fold_complex.inc"
#define TYPE c128
#define PART double
#include "kernel/fold_complex.inc"

#define ROW(NAME, type) [TSR_##NAME] = type##_folds,
static const fold_forms *const folds[NUM_ELEMENT_TYPES] = {
    ELEMENT_TYPES(ROW)[TSR_C64] = c64_folds,
    [TSR_C128] = c128_folds,
};

const char *fold_name(fold_op op)
{
#define FOLD_TEXT(NAME, text, ...) #text,
    static const char *const names[] = {FOLD_OPS(FOLD_TEXT)};
    return names[op];
}

bool fold_supports(tsr_dtype dtype, fold_op op)
{
    return folds[dtype] != NULL && folds[dtype][op].portable != NULL;
}

/* What is the same for all rows of a fold. */
typedef struct fold_job {
    fold_items fold;
    char *dst;
    const void *const *src;
    size_t count;
    size_t item;
    bool stream;
} fold_job;

/* One row in blocks, each folded in the cache and then copied to dst. */
static void fold_by_blocks(const fold_job *job, const loop *inner, char *dst, int64_t at,
                           size_t *since)
{
    _Alignas(64) char block[BLOCK];
    const int64_t most = BLOCK / (int64_t)job->item;
    const int64_t packed = (int64_t)job->item;
    for (int64_t from = 0; from < inner->size; from += most) {
        const int64_t n = inner->size - from < most ? inner->size - from : most;
        job->fold(block, job->src, job->count, at + from * inner->strides[1], inner->strides[1], n);
        if (inner->strides[0] == packed) {
            kernel_copy_run(dst + from * packed, block, (size_t)(n * packed), job->stream);
        } else {
            kernel_copy(dst + from * inner->strides[0], inner->strides, block, &packed, &n, 1,
                        job->item, false);
        }
        progress_add(since, (size_t)(n * packed) * job->count);
    }
}

static void fold_row(const fold_job *job, const loop *inner, const int64_t *offsets, size_t *since)
{
    char *dst = job->dst + offsets[0];
    if (inner->strides[0] == (int64_t)job->item && !job->stream) {
        job->fold(dst, job->src, job->count, offsets[1], inner->strides[1], inner->size);
        progress_add(since, (size_t)inner->size * job->item * job->count);
    } else {
        fold_by_blocks(job, inner, dst, offsets[1], since);
    }
}

/* All rows of a job. */
static void fold_rows(const fold_job *job, const int64_t *dst_strides, const int64_t *src_strides,
                      const int64_t *shape, size_t rank)
{
    const int64_t *strides[] = {dst_strides, src_strides};
    loops nest;
    if (!loops_init_sorted(&nest, shape, rank, strides, 2, (int64_t)job->item)) {
        return;
    }
    size_t since = 0;
    do {
        fold_row(job, &nest.loops[nest.count - 1], nest.offsets, &since);
    } while (loops_next(&nest));
}

void kernel_fold(void *dst, const int64_t *dst_strides, const void *const *src, size_t count,
                 const int64_t *src_strides, const int64_t *shape, size_t rank, tsr_dtype dtype,
                 fold_op op, bool stream)
{
    const fold_forms *forms = &folds[dtype][op];
    const size_t item = (size_t)tsr_dtype_bytes(dtype, 1);
    const fold_items fold = vector_best() >= VECTOR_AVX2 ? forms->avx2 : forms->portable;
    const fold_job job = {fold, dst, src, count, item, stream};
    fold_rows(&job, dst_strides, src_strides, shape, rank);
}

void kernel_fold_portable(void *dst, const int64_t *dst_strides, const void *const *src,
                          size_t count, const int64_t *src_strides, const int64_t *shape,
                          size_t rank, tsr_dtype dtype, fold_op op, bool stream)
{
    const size_t item = (size_t)tsr_dtype_bytes(dtype, 1);
    const fold_job job = {folds[dtype][op].portable, dst, src, count, item, stream};
    fold_rows(&job, dst_strides, src_strides, shape, rank);
}
