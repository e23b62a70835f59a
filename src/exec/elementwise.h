/* Steps of elementwise ops that have no row: a kernel of whole arrays, or a function of elements.
 */
#ifndef EXEC_ELEMENTWISE_H
#define EXEC_ELEMENTWISE_H

#include "exec/code.h"

typedef struct exec_map exec_map;
typedef void (*exec_map_call)(const exec_map *map, const tsr_view *dst, const tsr_view *const *src);

/* A kernel and what it is to compute. */
struct exec_map {
    exec_map_call call;
    int kind;
    tsr_dtype computed; /* the type of all arrays when it runs */
};

/* A step that calls a kernel on operands and one result of one type and shape; narrow types are
 * computed in wider ones. */
tsr_status exec_prepare_map(exec_decoder *d, exec_step *step, exec_map_call call, int kind);

/* Computes an element of up to two elements of a type. */
typedef void (*exec_each_call)(tsr_dtype dtype, const char *a, const char *b, char *out);

/* A step that calls a function on each element of one or two operands of one type; the result has
 * the element type `result`. */
tsr_status exec_prepare_each(exec_decoder *d, exec_step *step, exec_each_call call,
                             tsr_dtype result);

#endif
