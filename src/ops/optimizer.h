/* The steps of optimizers, against the builder: values of one float type in, new values out. */
#ifndef OPS_OPTIMIZER_H
#define OPS_OPTIMIZER_H

#include <tessera/optimizer.h>

#include "ops/builder.h"

/* What is kept for a parameter at most: the parameter itself, then its state. */
enum { OPTIMIZER_VALUES = 3 };

/* values: the parameter and the velocity, NULL without momentum; replaced by the new ones. */
void compose_sgd(op_builder *b, const tsr_sgd_options *o, op_value *gradient, op_value **values);

/* values: the parameter, the mean and the mean square; replaced by the new ones. */
void compose_adam(op_builder *b, const tsr_adam_options *o, int64_t step, op_value *gradient,
                  op_value **values);

#endif
