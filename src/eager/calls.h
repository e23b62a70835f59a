/* What the public calls of several files share: arguments as parameters of rows. */
#ifndef EAGER_CALLS_H
#define EAGER_CALLS_H

#include "eager/eager.h"
#include "ops/op_index.h"

/* Dimensions as parameters have them. */
typedef struct dims_list {
    int64_t values[OP_MAX_RANK];
    size_t count;
} dims_list;

tsr_status eager_read_dims(tsr_comm *world, const char *call, const size_t *dims, size_t count,
                           dims_list *out);

static inline op_ints ints_of(const dims_list *list)
{
    return (op_ints){list->count, list->values};
}

/* The gather of rows along a dimension: those of the indices take its place. It points into itself,
 * and so must not be copied. */
typedef struct take_dims {
    int64_t offset[OP_MAX_RANK];
    int64_t sizes[OP_MAX_RANK];
    int64_t dim;
    gather_params params;
} take_dims;

tsr_status eager_check_take(const char *call, const tsr_tensor *x, const tsr_tensor *indices,
                            size_t dim);
void eager_take_dims(const tsr_tensor *x, const tsr_tensor *indices, size_t dim, take_dims *out);

#endif
