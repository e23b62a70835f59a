/*
 * Optimizers: one call changes a parameter, and what is kept for it, in place by its gradient.
 *
 * State tensors are the caller's: zeros of the parameter's shape at first, of any float type and in
 * any layout over the same devices; tsr_zeros with the parameter's spec makes one. The gradient may
 * lie otherwise too; a pending sum is carried out. Numbers are computed in f32, in f64 where the
 * parameter is of f64, and rounded once to the type of the parameter and of the state.
 *
 * A call is collective over the world, as all calls on tensors. When it fails nothing has changed.
 * No tape may be under way: what it saved would change. In typed code the new values must have the
 * types of those that they replace: the gradient of an R parameter is P, and is reduced first.
 */
#ifndef TESSERA_OPTIMIZER_H
#define TESSERA_OPTIMIZER_H

#include <tessera/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stochastic gradient descent. All are 0 or above; the momentum is below 1. */
typedef struct tsr_sgd_options {
    double learning_rate;
    double momentum;
    double weight_decay; /* so much of the parameter is added to the gradient */
    bool nesterov;       /* looks one step ahead along the velocity */
} tsr_sgd_options;

/*
 * velocity = momentum * velocity + g, parameter -= learning_rate * velocity, where g is the
 * gradient with its weight decay; with `nesterov`, learning_rate * (g + momentum * velocity).
 * `velocity` may be NULL when the momentum is 0.
 */
TSR_API TSR_NODISCARD tsr_status tsr_sgd_step(tsr_tensor *parameter, tsr_tensor *gradient,
                                              const tsr_sgd_options *options,
                                              TSR_NULLABLE tsr_tensor *velocity) TSR_MT_CONTEXT;

/* Adam and AdamW. All are 0 or above; beta1 and beta2 are below 1. */
typedef struct tsr_adam_options {
    double learning_rate;
    double beta1; /* usually 0.9 */
    double beta2; /* usually 0.999 */
    double epsilon;
    double weight_decay;
    bool decoupled; /* AdamW: the decay shrinks the parameter and is not part of the gradient */
} tsr_adam_options;

/*
 * mean = beta1 * mean + (1 - beta1) * g, square = beta2 * square + (1 - beta2) * g * g, and with
 * both divided by 1 - beta^step, parameter -= learning_rate * mean / (sqrt(square) + epsilon).
 * `step` counts the calls for this parameter from 1.
 */
TSR_API TSR_NODISCARD tsr_status tsr_adam_step(tsr_tensor *parameter, tsr_tensor *gradient,
                                               const tsr_adam_options *options, int64_t step,
                                               tsr_tensor *mean, tsr_tensor *square) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
