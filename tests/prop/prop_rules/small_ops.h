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

/* ---- for the table ---- */

#define SMALL_RULE(name)                                                                           \
    tsr_status small_##name##_rule(fixture *f, const small_op *o, const tsr_rule **out)
#define SMALL_APPLY(name)                                                                          \
    bool small_##name##_apply(const small_op *o, const small_array *const *in, small_array *out,   \
                              bool first)
SMALL_RULE(matmul);
SMALL_RULE(dot);
SMALL_RULE(einsum);
SMALL_RULE(elementwise);
SMALL_RULE(broadcasting);
SMALL_RULE(reduce);
SMALL_RULE(cumulative);
SMALL_RULE(sort);
SMALL_RULE(transpose);
SMALL_RULE(broadcast);
SMALL_RULE(reshape);
SMALL_RULE(concatenate);
SMALL_RULE(slice);
SMALL_RULE(pad);
SMALL_RULE(gather);
SMALL_RULE(embedding);
SMALL_RULE(scatter);
SMALL_RULE(convolution);
SMALL_RULE(attention);
SMALL_APPLY(einsum);
SMALL_APPLY(multiply_add);
SMALL_APPLY(reduce);
SMALL_APPLY(running_sum);
SMALL_APPLY(sort);
SMALL_APPLY(transpose);
SMALL_APPLY(broadcast);
SMALL_APPLY(reshape);
SMALL_APPLY(concatenate);
SMALL_APPLY(slice);
SMALL_APPLY(pad);
SMALL_APPLY(attention);
SMALL_APPLY(gather);
SMALL_APPLY(scatter);
SMALL_APPLY(convolution);

#endif
