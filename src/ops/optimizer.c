#include "ops/optimizer.h"

#include <math.h>

static op_value *times(op_builder *b, op_value *x, double by)
{
    return by == 1 ? x : build_binary(b, BINARY_MULTIPLY, x, build_number(b, x, by));
}

/* x + by * y; the second term is left out where it is nothing. */
static op_value *plus_scaled(op_builder *b, op_value *x, double by, op_value *y)
{
    return by == 0 ? x : build_binary(b, BINARY_ADD, x, times(b, y, by));
}

void compose_sgd(op_builder *b, const tsr_sgd_options *o, op_value *gradient, op_value **values)
{
    op_value *g = plus_scaled(b, gradient, o->weight_decay, values[0]);
    op_value *along = g;
    if (values[1] != NULL) {
        values[1] = plus_scaled(b, g, o->momentum, values[1]);
        along = o->nesterov ? plus_scaled(b, g, o->momentum, values[1]) : values[1];
    }
    values[0] = plus_scaled(b, values[0], -o->learning_rate, along);
}

/* beta * kept + (1 - beta) * fresh */
static op_value *average(op_builder *b, double beta, op_value *kept, op_value *fresh)
{
    return plus_scaled(b, times(b, fresh, 1 - beta), beta, kept);
}

void compose_adam(op_builder *b, const tsr_adam_options *o, int64_t step, op_value *gradient,
                  op_value **values)
{
    const double t = (double)step;
    const double decay = o->decoupled ? o->learning_rate * o->weight_decay : 0;
    op_value *g = plus_scaled(b, gradient, o->decoupled ? 0 : o->weight_decay, values[0]);
    values[1] = average(b, o->beta1, values[1], g);
    values[2] = average(b, o->beta2, values[2], build_binary(b, BINARY_MULTIPLY, g, g));
    op_value *square = times(b, values[2], 1 / (1 - pow(o->beta2, t)));
    op_value *root = build_unary(b, UNARY_SQRT, square);
    op_value *below = build_binary(b, BINARY_ADD, root, build_number(b, root, o->epsilon));
    op_value *along = build_binary(b, BINARY_DIVIDE, values[1], below);
    op_value *shrunk = times(b, values[0], 1 - decay);
    values[0] = plus_scaled(b, shrunk, -o->learning_rate / (1 - pow(o->beta1, t)), along);
}
