/* Sorting along a dimension. */
#ifndef OPS_OP_SORT_H
#define OPS_OP_SORT_H

#include "ops/op.h"

typedef struct sort_params {
    int64_t dimension;
    bool is_stable;
    op_region comparator; /* of two elements of every operand, in pairs: is the first before? */
} sort_params;

typedef struct argsort_params {
    int64_t dimension;
    bool descending;
} argsort_params;

typedef struct top_k_params {
    int64_t dimension;
    int64_t k;
} top_k_params;

/* Operands of one shape, sorted together; as many results. sort_params. */
extern const op_row op_sort;
/* Results: values, and the indices (i64) that they had. argsort_params. */
extern const op_row op_argsort;
/* The same for the first k of the descending order. top_k_params. */
extern const op_row op_top_k;

#endif
