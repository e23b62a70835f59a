/* What gradients of several families share. */
#include "ops/gradient.h"

void gradient_none(op_builder *b, const op_vjp *v, op_value **grads)
{
    (void)b;
    (void)v;
    (void)grads;
}

op_value *unbroadcast(op_builder *b, op_value *g, op_value *operand)
{
    const op_type type = build_type(b, g);
    const op_type to = build_type(b, operand);
    int64_t dims[OP_MAX_RANK];
    size_t count = 0;
    if (g == NULL) {
        return NULL;
    }
    const size_t leading = type.rank - to.rank;
    for (size_t d = 0; d < type.rank; d++) {
        if (d < leading || to.shape[d - leading] != type.shape[d]) {
            dims[count++] = (int64_t)d;
        }
    }
    if (count == 0) {
        return g;
    }
    return build_reshape(b, build_fold(b, OP_BODY_SUM, g, (op_ints){count, dims}), to.shape,
                         to.rank);
}
