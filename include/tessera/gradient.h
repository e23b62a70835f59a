/*
 * Gradients: a tape of calls, and its backward.
 *
 * While a tape runs, each rank records its calls whose operands depend on a watched tensor. A
 * backward visits them from the last to the first and computes the gradient of every watched
 * tensor. Gradients are ordinary tensors: their layout follows from the calls that compute them,
 * and a sum may be pending in one. Values that a call saved are freed as the tape unwinds, so a
 * tape has one backward. A backward is not recorded on an enclosing tape: if another tape that
 * watches the same tensor differentiates a gradient, its backward fails.
 *
 * Calls with integer or boolean results have no gradient; if one would have to flow through a call
 * that has none, the backward fails and names the call.
 */
#ifndef TESSERA_GRADIENT_H
#define TESSERA_GRADIENT_H

#include <tessera/ops.h>
#include <tessera/placement.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts a tape; calls are recorded from now on. Tapes nest: the innermost one records. */
TSR_API TSR_NODISCARD tsr_status tsr_tape_begin(tsr_comm *world) TSR_MT_CONTEXT;

/* Ends the innermost tape and frees everything it owns, including gradients. */
TSR_API void tsr_tape_end(tsr_comm *world) TSR_MT_CONTEXT;

/* Calls between tsr_tape_pause and tsr_tape_resume are not recorded. Pairs may be nested. */
TSR_API void tsr_tape_pause(tsr_comm *world) TSR_MT_CONTEXT;
TSR_API void tsr_tape_resume(tsr_comm *world) TSR_MT_CONTEXT;

/*
 * Returns whether a running tape records calls on the tensor: the tensor is watched, or depends on
 * a watched one and no backward has visited it. Returns false while the innermost tape is paused.
 */
TSR_API bool tsr_tensor_is_recorded(const tsr_tensor *tensor) TSR_MT_CONTEXT;

/* Copies the tensor to one that no tape records: a constant, through which no gradient flows. */
TSR_API TSR_NODISCARD tsr_status tsr_stop_gradient(tsr_tensor *x, tsr_tensor **out) TSR_MT_CONTEXT;

/* Requests the gradient of a tensor of floats: a parameter or an intermediate value. */
TSR_API TSR_NODISCARD tsr_status tsr_watch(tsr_tensor *tensor) TSR_MT_CONTEXT;

/*
 * tsr_backward runs the backward of a loss, a tensor without dimensions. tsr_backward_from runs
 * that of any value, with its cotangent, of the same shape and type.
 */
TSR_API TSR_NODISCARD tsr_status tsr_backward(tsr_tensor *loss) TSR_MT_CONTEXT;
TSR_API TSR_NODISCARD tsr_status tsr_backward_from(tsr_tensor *value,
                                                   tsr_tensor *cotangent) TSR_MT_CONTEXT;

/*
 * Returns the gradient of a watched tensor; zeros if the loss does not depend on it. Owned by the
 * caller, or by the open scope.
 */
TSR_API TSR_NODISCARD tsr_status tsr_gradient(tsr_tensor *tensor, tsr_tensor **out) TSR_MT_CONTEXT;

/*
 * Runs a region that is recomputed in the backward: only its inputs are saved. The function
 * receives tensors in place of the inputs and returns the outputs, the same ones whenever it is
 * called; it must not release them. It is an error if it leaves an output NULL, makes other calls
 * or returns other shapes when it is run again, or begins or ends a tape around itself.
 */
typedef tsr_status (*tsr_region)(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                                 void *state);
TSR_API TSR_NODISCARD tsr_status tsr_recompute(tsr_comm *world, tsr_region function,
                                               TSR_NULLABLE void *state,
                                               TSR_ARRAY(num_inputs) tsr_tensor *const *inputs,
                                               size_t num_inputs,
                                               TSR_ARRAY(num_outputs) tsr_tensor **outputs,
                                               size_t num_outputs) TSR_MT_CONTEXT;

/*
 * A custom op on the tape: the program has computed `outputs` from `inputs` itself and provides the
 * backward. `backward` receives the inputs and the cotangents of the outputs, NULL where there is
 * none; it returns the gradients of the inputs, each a tensor of the input's shape and element
 * type, which the tape then owns, or NULL for none. It may begin tapes; it must end exactly those.
 * `destroy`, unless NULL, frees the state when it is no longer needed, also if this call fails or
 * nothing is recorded.
 */
typedef struct tsr_custom_op {
    const char *name; /* for messages; it outlives the tape */
    tsr_status (*backward)(tsr_comm *world, void *state, tsr_tensor *const *inputs,
                           tsr_tensor *const *cotangents, tsr_tensor **gradients);
    TSR_NULLABLE void (*destroy)(void *state);
    TSR_NULLABLE void *state;
} tsr_custom_op;
TSR_API TSR_NODISCARD tsr_status tsr_tape_custom(const tsr_custom_op *op,
                                                 TSR_ARRAY(num_inputs) tsr_tensor *const *inputs,
                                                 size_t num_inputs,
                                                 TSR_ARRAY(num_outputs) tsr_tensor *const *outputs,
                                                 size_t num_outputs) TSR_MT_CONTEXT;

/*
 * Records a conversion of a ragged placement (placement.h) from one tensor to another. If the call
 * succeeds, the tape owns the record.
 */
TSR_API TSR_NODISCARD tsr_status tsr_tape_conversion(tsr_tensor *from, tsr_tensor *to,
                                                     tsr_conversion *record) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
