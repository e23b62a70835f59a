/*
 * DLPack: a rank's part of a tensor to and from other libraries, without a copy.
 *
 * `struct DLManagedTensor` is that of <dlpack/dlpack.h>, which a program that looks inside includes
 * by itself, in any version before 2 that has it.
 */
#ifndef TESSERA_DLPACK_H
#define TESSERA_DLPACK_H

#include <tessera/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensor;

/*
 * This rank's part as a DLManagedTensor over the same memory, pad rows included. It holds a
 * reference to the tensor until its deleter is called, which is once, on this rank and before its
 * function ends. Types of less than a byte, and the f8 types, are TSR_ERR_UNSUPPORTED; so are
 * strides that are no multiple of the element. Truth values have type code 6 (bool) of 8 bits. Not
 * collective.
 */
TSR_API TSR_NODISCARD tsr_status tsr_tensor_to_dlpack(tsr_tensor *tensor,
                                                      struct DLManagedTensor **out) TSR_MT_CONTEXT;

/*
 * Returns a tensor over a DLManagedTensor: this rank's part, with the sizes that
 * tsr_geometry_stored_size gives, on the CPU, of the element type of the spec. Collective, as
 * tsr_tensor_wrap. On success the tensor owns `managed` and calls its deleter when it is released;
 * on failure it stays the caller's.
 */
TSR_API TSR_NODISCARD tsr_status tsr_tensor_from_dlpack(
    tsr_comm *world, const tsr_tensor_spec *spec, TSR_COLLECTIVE struct DLManagedTensor *managed,
    tsr_tensor **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
