/*
 * Optimizers: one call updates a parameter and its state in place by its gradient.
 *
 * The caller owns the state tensors: initially zeros of the parameter's shape, of any float type
 * and in any layout over the same devices; tsr_zeros with the parameter's spec creates one. The
 * gradient may have any layout over the same devices; a pending sum is reduced. Computes in f32, in
 * f64 if the parameter is f64, and rounds once to the type of the parameter and of the state.
 *
 * A call is collective over the world, as all calls on tensors. A call that fails changes nothing.
 * No tape may be running: values that it saved would change. In typed code the new values must have
 * the types of those that they replace: the gradient of an R parameter is P and must be reduced
 * first.
 */
#ifndef TESSERA_OPTIMIZER_H
#define TESSERA_OPTIMIZER_H

#include <tessera/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stochastic gradient descent. All numbers are at least 0; the momentum is below 1. */
typedef struct tsr_sgd_options {
    double learning_rate;
    double momentum;
    double weight_decay; /* this multiple of the parameter is added to the gradient */
    bool nesterov;       /* look one step ahead along the velocity */
} tsr_sgd_options;

/*
 * Updates velocity = momentum * velocity + g and parameter -= learning_rate * velocity, where g is
 * the gradient with its weight decay; with `nesterov`, parameter -= learning_rate * (g + momentum *
 * velocity). `velocity` may be NULL if the momentum is 0.
 */
TSR_API TSR_NODISCARD tsr_status tsr_sgd_step(tsr_tensor *parameter, tsr_tensor *gradient,
                                              const tsr_sgd_options *options,
                                              TSR_NULLABLE tsr_tensor *velocity) TSR_MT_CONTEXT;

/* Adam and AdamW. All numbers are at least 0; beta1 and beta2 are below 1. */
typedef struct tsr_adam_options {
    double learning_rate;
    double beta1; /* usually 0.9 */
    double beta2; /* usually 0.999 */
    double epsilon;
    double weight_decay;
    bool decoupled; /* AdamW: the decay shrinks the parameter and does not enter the gradient */
} tsr_adam_options;

/*
 * Updates mean = beta1 * mean + (1 - beta1) * g, square = beta2 * square + (1 - beta2) * g * g,
 * and, with both divided by 1 - beta^step, parameter -= learning_rate * mean / (sqrt(square) +
 * epsilon). `step` counts the calls for this parameter from 1.
 */
TSR_API TSR_NODISCARD tsr_status tsr_adam_step(tsr_tensor *parameter, tsr_tensor *gradient,
                                               const tsr_adam_options *options, int64_t step,
                                               tsr_tensor *mean, tsr_tensor *square) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
