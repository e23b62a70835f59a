/* Comparing, finite or not, selecting, filling. */
#include "kernel/copy.h"
#include "kernel/elementwise.h"
#include "kernel/map.h"

#define TEMPLATE "kernel/compare_type.inc"
#include "kernel/element_types.inc"

#define ROW(NAME, type) [TSR_##NAME] = type##_compares,
static const map_forms *const compares[NUM_ELEMENT_TYPES] = {ELEMENT_TYPES(ROW)};

static const map_forms is_finite[NUM_ELEMENT_TYPES] = {
    [TSR_F16] = RUNS(f16_is_finite),
    [TSR_BF16] = RUNS(bf16_is_finite),
    [TSR_F32] = RUNS(f32_is_finite),
    [TSR_F64] = RUNS(f64_is_finite),
};

bool compare_supports(tsr_dtype dtype)
{
    return compares[dtype] != NULL;
}

bool is_finite_supports(tsr_dtype dtype)
{
    return is_finite[dtype].run[0] != NULL;
}

void kernel_is_finite(const tsr_view *dst, const tsr_view *src)
{
    kernel_map(&is_finite[src->dtype], dst, &src, 1);
}

void kernel_compare(compare_op op, const tsr_view *dst, const tsr_view *a, const tsr_view *b)
{
    const bool swapped = op == COMPARE_GT || op == COMPARE_GE;
    const tsr_view *const sources[] = {swapped ? b : a, swapped ? a : b};
    kernel_map(&compares[a->dtype][op], dst, sources, 2);
}

#define WIDTH 8
#include "kernel/select_width.inc"
#define WIDTH 16
#include "kernel/select_width.inc"
#define WIDTH 32
#include "kernel/select_width.inc"
#define WIDTH 64
#include "kernel/select_width.inc"

static void select_128(char *dst, const char *const *src, int64_t n)
{
    enum { SIZE = 16 };
    for (int64_t i = 0; i < n; i++) {
        char chosen[SIZE];
        memcpy(chosen, (src[0][i] != 0 ? src[1] : src[2]) + i * SIZE, SIZE);
        memcpy(dst + i * SIZE, chosen, SIZE);
    }
}

enum { MAX_ITEM = 16 };

/* A run that is the same in all forms. */
#define SAME_RUN(name)                                                                             \
    {                                                                                              \
        {                                                                                          \
            name, name, name                                                                       \
        }                                                                                          \
    }

/* By the size of an element. */
static const map_forms selects[MAX_ITEM + 1] = {
    [1] = RUNS(select_8),  [2] = RUNS(select_16),       [4] = RUNS(select_32),
    [8] = RUNS(select_64), [16] = SAME_RUN(select_128),
};

void kernel_select(const tsr_view *dst, const tsr_view *predicate, const tsr_view *yes,
                   const tsr_view *no)
{
    const tsr_view *const sources[] = {predicate, yes, no};
    kernel_map(&selects[tsr_dtype_item_bytes(dst->dtype)], dst, sources, 3);
}

/* Copies of a source that repeats an element. */
static void fill_8(char *dst, const char *const *src, int64_t n)
{
    memcpy(dst, src[0], (size_t)n);
}

static void fill_16(char *dst, const char *const *src, int64_t n)
{
    memcpy(dst, src[0], (size_t)n * 2);
}

static void fill_32(char *dst, const char *const *src, int64_t n)
{
    memcpy(dst, src[0], (size_t)n * 4);
}

static void fill_64(char *dst, const char *const *src, int64_t n)
{
    memcpy(dst, src[0], (size_t)n * 8);
}

static void fill_128(char *dst, const char *const *src, int64_t n)
{
    memcpy(dst, src[0], (size_t)n * 16);
}

static const map_forms fills[MAX_ITEM + 1] = {
    [1] = SAME_RUN(fill_8),  [2] = SAME_RUN(fill_16),   [4] = SAME_RUN(fill_32),
    [8] = SAME_RUN(fill_64), [16] = SAME_RUN(fill_128),
};

void kernel_fill(const tsr_view *dst, const void *element)
{
    static const int64_t repeated[KERNEL_MAX_RANK];
    char copy[MAX_ITEM];
    const int64_t item = tsr_dtype_item_bytes(dst->dtype);
    memcpy(copy, element, (size_t)item);
    const tsr_view src = {copy, dst->dtype, dst->rank, dst->shape, repeated};
    const tsr_view *const sources[] = {&src};
    kernel_map(&fills[item], dst, sources, 1);
}
