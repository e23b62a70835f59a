/* Elementwise loops over strided arrays: runs of packed elements, by functions made for them. */
#ifndef KERNEL_MAP_H
#define KERNEL_MAP_H

#include <tessera/view.h>

#include "kernel/vector.h"

/* Runs have a multiple of as many elements: loops of a constant length are what gcc vectorises. */
enum { MAP_CHUNK = 64 };

enum { MAP_MAX_SOURCES = 3 };

/* Computes n elements, a multiple of MAP_CHUNK. All arrays are packed; dst may be a source. */
typedef void (*map_run)(char *dst, const char *const *src, int64_t n);

/* The forms of a run, by vector_form. */
typedef struct map_forms {
    map_run run[VECTOR_COUNT];
} map_forms;

#define FORMS(name)                                                                                \
    {                                                                                              \
        {                                                                                          \
            name, name##_avx2, name##_avx512                                                       \
        }                                                                                          \
    }

/*
 * Computes all elements of dst from those of up to MAP_MAX_SOURCES sources, whatever the strides. A
 * run may be given elements that are not there, as zeros, whose results are dropped.
 */
void kernel_map(const map_forms *forms, const tsr_view *dst, const tsr_view *const *src,
                size_t num_src);

/*
 * Defines the forms of a run out of name##_chunk(dst, src, at), which computes the MAP_CHUNK
 * elements from index `at` on.
 */
#define DEFINE_RUN(name)                                                                           \
    static void name(char *dst, const char *const *src, int64_t n)                                 \
    {                                                                                              \
        for (int64_t at = 0; at < n; at += MAP_CHUNK) {                                            \
            name##_chunk(dst, src, at);                                                            \
        }                                                                                          \
    }                                                                                              \
    AVX2 static void name##_avx2(char *dst, const char *const *src, int64_t n)                     \
    {                                                                                              \
        for (int64_t at = 0; at < n; at += MAP_CHUNK) {                                            \
            name##_chunk(dst, src, at);                                                            \
        }                                                                                          \
    }                                                                                              \
    AVX512 static void name##_avx512(char *dst, const char *const *src, int64_t n)                 \
    {                                                                                              \
        for (int64_t at = 0; at < n; at += MAP_CHUNK) {                                            \
            name##_chunk(dst, src, at);                                                            \
        }                                                                                          \
    }

/*
 * The run dst[i] = store(f(load(src[0][i]))), by way of an array of its own: dst may be a source,
 * which a loop that loads and stores at once could not be vectorised for.
 */
#define DEFINE_MAP(name, to, middle, from, load, f, store)                                         \
    INLINE void name##_chunk(char *dst, const char *const *src, int64_t at)                        \
    {                                                                                              \
        to y[MAP_CHUNK];                                                                           \
        const char *a = src[0] + at * (int64_t)sizeof(from);                                       \
        for (int64_t i = 0; i < MAP_CHUNK; i++) {                                                  \
            from x;                                                                                \
            memcpy(&x, a + i * (int64_t)sizeof x, sizeof x);                                       \
            const middle z = (middle)f((middle)load(x));                                           \
            y[i] = (to)store(z);                                                                   \
        }                                                                                          \
        memcpy(dst + at * (int64_t)sizeof(to), y, sizeof y);                                       \
    }                                                                                              \
    DEFINE_RUN(name)

/* The run dst[i] = store(f(load(src[0][i]), load(src[1][i]))). */
#define DEFINE_MAP2(name, to, middle, from, load, f, store)                                        \
    INLINE void name##_chunk(char *dst, const char *const *src, int64_t at)                        \
    {                                                                                              \
        to y[MAP_CHUNK];                                                                           \
        const char *a = src[0] + at * (int64_t)sizeof(from);                                       \
        const char *b = src[1] + at * (int64_t)sizeof(from);                                       \
        for (int64_t i = 0; i < MAP_CHUNK; i++) {                                                  \
            from v;                                                                                \
            from w;                                                                                \
            memcpy(&v, a + i * (int64_t)sizeof v, sizeof v);                                       \
            memcpy(&w, b + i * (int64_t)sizeof w, sizeof w);                                       \
            const middle p = (middle)load(v);                                                      \
            const middle q = (middle)load(w);                                                      \
            y[i] = (to)store(f(p, q));                                                             \
        }                                                                                          \
        memcpy(dst + at * (int64_t)sizeof(to), y, sizeof y);                                       \
    }                                                                                              \
    DEFINE_RUN(name)

/* For types that are computed as they are. */
#define AS_IS(x) (x)

#endif
