/* Packed arrays: one run of memory, the last dimension fastest. */
#ifndef KERNEL_PACKED_H
#define KERNEL_PACKED_H

#include <tessera/base.h>

/* The strides, in bytes, of such an array; returns its bytes. */
static inline int64_t packed_strides(const int64_t *shape, size_t rank, size_t item,
                                     int64_t *strides)
{
    int64_t stride = (int64_t)item;
    for (size_t i = rank; i-- > 0;) {
        strides[i] = stride;
        stride *= shape[i];
    }
    return stride;
}

/* Whether an array with these strides is packed. */
static inline bool is_packed_array(const int64_t *shape, size_t rank, size_t item,
                                   const int64_t *strides)
{
    int64_t stride = (int64_t)item;
    for (size_t i = rank; i-- > 0;) {
        if (shape[i] > 1 && strides[i] != stride) {
            return false;
        }
        stride *= shape[i];
    }
    return true;
}

/* The bytes of an array of some shape. */
static inline int64_t packed_bytes(const int64_t *shape, size_t rank, size_t item)
{
    int64_t bytes = (int64_t)item;
    for (size_t i = 0; i < rank; i++) {
        bytes *= shape[i];
    }
    return bytes;
}

#endif
