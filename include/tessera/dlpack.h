/*
 * DLPack: exchanges a rank's part of a tensor with other libraries, without a copy.
 *
 * `struct DLManagedTensor` is that of <dlpack/dlpack.h>; a program that accesses its fields
 * includes that header itself, in any version before 2 that defines it.
 */
#ifndef TESSERA_DLPACK_H
#define TESSERA_DLPACK_H

#include <tessera/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensor;

/*
 * Exports this rank's part as a DLManagedTensor over the same memory, pad rows included. It holds a
 * reference to the tensor until its deleter is called: once, on this rank, before its function
 * ends. Types of less than a byte and the f8 types are TSR_ERR_UNSUPPORTED, as are strides that are
 * not a multiple of the element size. Booleans have type code 6 (bool) with 8 bits. Not collective.
 */
TSR_API TSR_NODISCARD tsr_status tsr_tensor_to_dlpack(tsr_tensor *tensor,
                                                      struct DLManagedTensor **out) TSR_MT_CONTEXT;

/*
 * Creates a tensor over a DLManagedTensor: this rank's part, with the sizes that
 * tsr_geometry_stored_size gives, on the CPU, with the element type of the spec. Collective, as
 * tsr_tensor_wrap. On success the tensor owns `managed` and calls its deleter when it is released;
 * on failure the caller still owns it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_tensor_from_dlpack(
    tsr_comm *world, const tsr_tensor_spec *spec, TSR_COLLECTIVE struct DLManagedTensor *managed,
    tsr_tensor **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
