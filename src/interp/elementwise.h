/* Steps of elementwise ops that have no row: a kernel of whole arrays, or a function of elements.
 */
#ifndef INTERP_ELEMENTWISE_H
#define INTERP_ELEMENTWISE_H

#include "code/code.h"

typedef struct interp_map interp_map;
typedef void (*interp_map_call)(const interp_map *map, const tsr_view *dst,
                                const tsr_view *const *src);

/* A kernel and what it is to compute. */
struct interp_map {
    interp_map_call call;
    int kind;
    tsr_dtype computed; /* the type of all arrays when it runs */
};

/* A step that calls a kernel on operands and one result of one type and shape; narrow types are
 * computed in wider ones. */
tsr_status interp_prepare_map(code_decoder *d, code_step *step, interp_map_call call, int kind);

/* Computes an element of up to two elements of a type. */
typedef void (*interp_each_call)(tsr_dtype dtype, const char *a, const char *b, char *out);

/* A step that calls a function on each element of one or two operands of one type; the result has
 * the element type `result`. */
tsr_status interp_prepare_each(code_decoder *d, code_step *step, interp_each_call call,
                               tsr_dtype result);

#endif
