#include <string.h>

#include "kernel/product.h"
#include "kernel/vector.h"

/*
 * A strip is as many bytes of a row of dst, two vectors; as many rows are computed at a time, in
 * registers. The strip of b that they take is copied first, so that it lies in the first cache
 * whatever the strides were, filled up with zeros.
 */
enum { VECTOR = 32, STRIP = 2 * VECTOR, ROWS_AT_ONCE = 4 };

typedef void (*multiply_function)(const product *p);

#define MULTIPLY(x, y) ((x) * (y))
#define ADD(x, y) ((x) + (y))
#define AND(x, y) ((x) & (y))
#define OR(x, y) ((x) | (y))

/* Signed integers are multiplied as unsigned ones, which wrap around to the same bits. */
#define DEFINE_MULTIPLY(name, item, times, plus)                                                   \
    typedef item name##_vector __attribute__((__vector_size__(VECTOR)));                           \
    enum { name##_WIDTH = STRIP / sizeof(item) };                                                  \
    INLINE void name##_copy_strip(char *strip, const matrix *b, int64_t col, int64_t n, int64_t k) \
    {                                                                                              \
        memset(strip, 0, (size_t)k *STRIP);                                                        \
        for (int64_t p = 0; p < k; p++) {                                                          \
            const char *from = b->data + p * b->row_stride + col * b->col_stride;                  \
            if (b->col_stride == (int64_t)sizeof(item)) {                                          \
                memcpy(strip + p * STRIP, from, (size_t)n * sizeof(item));                         \
                continue;                                                                          \
            }                                                                                      \
            for (int64_t j = 0; j < n; j++) {                                                      \
                memcpy(strip + p * STRIP + j * (int64_t)sizeof(item), from + j * b->col_stride,    \
                       sizeof(item));                                                              \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    INLINE void name##_store(char *dst, int64_t stride, const item *sums, int64_t n,               \
                             bool accumulate)                                                      \
    {                                                                                              \
        for (int64_t j = 0; j < n; j++) {                                                          \
            item x = 0;                                                                            \
            if (accumulate) {                                                                      \
                memcpy(&x, dst + j * stride, sizeof x);                                            \
            }                                                                                      \
            x = (item)plus(x, sums[j]);                                                            \
            memcpy(dst + j * stride, &x, sizeof x);                                                \
        }                                                                                          \
    }                                                                                              \
    INLINE void name##_rows(const product *p, const char *strip, int64_t row, int64_t rows,        \
                            int64_t col, int64_t n)                                                \
    {                                                                                              \
        name##_vector sums[ROWS_AT_ONCE][2] = {{{0}}};                                             \
        for (int64_t q = 0; q < p->k; q++) {                                                       \
            name##_vector y[2];                                                                    \
            memcpy(y, strip + q * STRIP, sizeof y);                                                \
            for (int64_t i = 0; i < rows; i++) {                                                   \
                item x;                                                                            \
                memcpy(&x, p->a.data + (row + i) * p->a.row_stride + q * p->a.col_stride,          \
                       sizeof x);                                                                  \
                const name##_vector xs = x - (name##_vector){0};                                   \
                sums[i][0] = plus(sums[i][0], times(xs, y[0]));                                    \
                sums[i][1] = plus(sums[i][1], times(xs, y[1]));                                    \
            }                                                                                      \
        }                                                                                          \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            item out[name##_WIDTH];                                                                \
            memcpy(out, sums[i], sizeof out);                                                      \
            name##_store(p->dst.data + (row + i) * p->dst.row_stride + col * p->dst.col_stride,    \
                         p->dst.col_stride, out, n, p->accumulate);                                \
        }                                                                                          \
    }                                                                                              \
    INLINE void name##_strips(const product *p)                                                    \
    {                                                                                              \
        _Alignas(VECTOR) char strip[INTEGER_MOST_K * STRIP];                                       \
        for (int64_t col = 0; col < p->n; col += name##_WIDTH) {                                   \
            const int64_t n = p->n - col < name##_WIDTH ? p->n - col : name##_WIDTH;               \
            name##_copy_strip(strip, &p->b, col, n, p->k);                                         \
            int64_t row = 0;                                                                       \
            for (; row + ROWS_AT_ONCE <= p->m; row += ROWS_AT_ONCE) {                              \
                name##_rows(p, strip, row, ROWS_AT_ONCE, col, n);                                  \
            }                                                                                      \
            for (; row < p->m; row++) {                                                            \
                name##_rows(p, strip, row, 1, col, n);                                             \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void name(const product *p)                                                             \
    {                                                                                              \
        name##_strips(p);                                                                          \
    }                                                                                              \
    AVX2 static void name##_avx2(const product *p)                                                 \
    {                                                                                              \
        name##_strips(p);                                                                          \
    }

DEFINE_MULTIPLY(bits8, uint8_t, MULTIPLY, ADD)
DEFINE_MULTIPLY(bits16, uint16_t, MULTIPLY, ADD)
DEFINE_MULTIPLY(bits32, uint32_t, MULTIPLY, ADD)
DEFINE_MULTIPLY(bits64, uint64_t, MULTIPLY, ADD)
DEFINE_MULTIPLY(truth, uint8_t, AND, OR)

static const multiply_function functions[][2] = {
    [TSR_I1] = {truth, truth_avx2},    [TSR_I8] = {bits8, bits8_avx2},
    [TSR_I16] = {bits16, bits16_avx2}, [TSR_I32] = {bits32, bits32_avx2},
    [TSR_I64] = {bits64, bits64_avx2}, [TSR_U8] = {bits8, bits8_avx2},
    [TSR_U16] = {bits16, bits16_avx2}, [TSR_U32] = {bits32, bits32_avx2},
    [TSR_U64] = {bits64, bits64_avx2},
};

void integer_multiply(tsr_dtype dtype, const product *p)
{
    functions[dtype][(vector_best() >= VECTOR_AVX2) ? 1 : 0](p);
}
