/* Elementwise loops over strided arrays: runs of packed elements, each by one function. */
#ifndef KERNEL_MAP_H
#define KERNEL_MAP_H

#include <tessera/view.h>

#include "kernel/element_types.h"
#include "kernel/vector.h"

/* The length of a run is a multiple of this: gcc vectorises loops of a constant length. */
enum { MAP_CHUNK = 64 };

enum { MAP_MAX_SOURCES = 3 };

/* Computes n elements, a multiple of MAP_CHUNK. All arrays are packed; dst may be a source. */
typedef void (*map_run)(char *dst, const char *const *src, int64_t n);

/* The forms of a run, by vector_form. */
typedef struct map_forms {
    map_run run[VECTOR_COUNT];
} map_forms;

/*
 * Computes all elements of dst from those of up to MAP_MAX_SOURCES sources, whatever the strides. A
 * run may be padded with zeros, whose results are dropped.
 */
void kernel_map(const map_forms *forms, const tsr_view *dst, const tsr_view *const *src,
                size_t num_src);

/*
 * The forms of a run: `loop` is an inline function that takes what a run does and then f, which the
 * compiler puts into each form.
 */
#define DEFINE_RUNS(name, loop, f)                                                                 \
    static void name(char *dst, const char *const *src, int64_t n)                                 \
    {                                                                                              \
        loop(dst, src, n, f);                                                                      \
    }                                                                                              \
    AVX2 static void JOIN(name, _avx2)(char *dst, const char *const *src, int64_t n)               \
    {                                                                                              \
        loop(dst, src, n, f);                                                                      \
    }                                                                                              \
    AVX512 static void JOIN(name, _avx512)(char *dst, const char *const *src, int64_t n)           \
    {                                                                                              \
        loop(dst, src, n, f);                                                                      \
    }

#define RUNS(name)                                                                                 \
    {                                                                                              \
        {                                                                                          \
            name, JOIN(name, _avx2), JOIN(name, _avx512)                                           \
        }                                                                                          \
    }

/*
 * In a template, for one element type: the runs of an op in a list such as UNARY_OPS, named
 * OF_TYPE(op), and their entry in a table, if the list says that this type has the op.
 */
#define DEFINE_OP(NAME, op, floats, integers, truth)                                               \
    JOIN(DEFINE_IF_, COLUMN(floats, integers, truth))(op)
#define DEFINE_IF_YES(op) DEFINE_RUNS(OF_TYPE(op), OF_TYPE(map), FORM(op))
#define DEFINE_IF_NO(op)

#define OP_ENTRY(index, op, column) JOIN(ENTRY_IF_, column)(index, op)
#define ENTRY_IF_YES(index, op) [index] = RUNS(OF_TYPE(op)),
#define ENTRY_IF_NO(index, op)

#endif
