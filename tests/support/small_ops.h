/*
 * Ops on small arrays of integers, done plainly on parts: what the rules of ops are proved against.
 * A part knows, as kernels do, where it starts in the whole and how large the whole is.
 */
#ifndef SMALL_OPS_H
#define SMALL_OPS_H

#include "support.h"

enum { SMALL_RANK = 3, SMALL_ELEMENTS = 128, SMALL_OPERANDS = 3 };

/* A small array, or a part of one. */
typedef struct small_array {
    size_t rank;
    int64_t shape[SMALL_RANK];
    int64_t start[SMALL_RANK];
    int64_t full[SMALL_RANK];
    int64_t data[SMALL_ELEMENTS];
} small_array;

int64_t small_count(const small_array *a);
/* The index of an element by its place, and back. */
void small_index(const small_array *a, int64_t place, int64_t *index);
int64_t small_place(const small_array *a, const int64_t *index);
/* The place in a part of an element of the whole; false when the part lacks it. */
bool small_find(const small_array *part, const int64_t *index, int64_t *place);

/* How a gather or scatter reads its indices: the dimension numbers, and what they leave out. */
typedef struct small_gather {
    tsr_gather_dims dims;
    size_t num_indexed;
    const size_t *map;          /* the dimensions of the input that are indexed */
    const int64_t *slice_sizes; /* of the input */
} small_gather;

/*
 * An op: the shapes of its tensors, its rule, and what it does to parts. `apply` gets the result
 * with its place, shape and the whole's, and fills it; false when the op is not defined on these
 * parts. `first`: of the devices that have something pending together, this is the first.
 */
typedef struct small_op {
    const char *name;
    size_t num_operands;
    tsr_extents operands[SMALL_OPERANDS];
    tsr_extents result;
    tsr_status (*rule)(fixture *f, const struct small_op *o, const tsr_rule **out);
    bool (*apply)(const struct small_op *o, const small_array *const *in, small_array *out,
                  bool first);
    bool complete;       /* the rule refuses nothing that would be right */
    const char *letters; /* einsum, and products as one */
    const tsr_dot_dims *dot;
    const size_t *dims; /* transpose, broadcast */
    size_t dim;
    const int64_t *low; /* slice: starts; pad: in front */
    const int64_t *step;
    tsr_reduction reduction;
    const small_gather *gather;
    const tsr_convolution_dims *convolution;
    int64_t most_index; /* the last operand but one of a scatter, the last of a gather */
    size_t result_of_rule;
} small_op;

extern const small_op small_ops[];
extern const size_t num_small_ops;

/* Of small_ops_index.c. */
bool small_gather_apply(const small_op *o, const small_array *const *in, small_array *out,
                        bool first);
bool small_scatter_apply(const small_op *o, const small_array *const *in, small_array *out,
                         bool first);
bool small_convolution_apply(const small_op *o, const small_array *const *in, small_array *out,
                             bool first);

#endif
