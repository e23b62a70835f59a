/* Views: descriptions of arrays in memory, which they do not own. */
#ifndef TESSERA_VIEW_H
#define TESSERA_VIEW_H

#include <tessera/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An array in memory: at most 32 dimensions, elements of tsr_dtype_item_bytes each. `strides` are
 * in bytes, of either sign; NULL is row-major. `data` is the element at index 0 in every dimension;
 * it may be NULL if the array has no elements. The caller must keep all of it until the call
 * returns.
 */
typedef struct tsr_view {
    TSR_NULLABLE void *data;
    tsr_dtype dtype;
    size_t rank;
    TSR_ARRAY(rank) const int64_t *shape;
    TSR_NULLABLE const int64_t *strides;
} tsr_view;

#ifdef __cplusplus
}
#endif

#endif
