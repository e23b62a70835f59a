/*
 * What a rank has of a tensor whose elements follow from their indices: filled, and compared with
 * slices of the full array.
 */
#ifndef PARTS_H
#define PARTS_H

#include "pairs.h"
#include "slices.h"

/* What a device has of a pending value: its place in the group, or one of one. */
typedef struct filling {
    tsr_reduction reduction;
    int64_t member;
    int64_t members;
} filling;

/* That of a device; and whether anything is pending. */
filling filling_of(const tsr_sharding *sharding, int64_t device);
bool sharding_is_pending(const tsr_sharding *s);

/* A part of a tensor in some memory: a rank's, or the caller's that it wraps. */
typedef struct part {
    const family *of;
    tsr_dtype dtype;
    filling how;
    device_slice rows;
    int64_t strides[MAX_DIMS];
    char *data;
    size_t bytes; /* of memory of our own; 0 when it is the tensor's */
} part;

/* How a tensor's memory is made. */
typedef enum memory { OWNED, WRAPPED, STRIDED } memory;

/* Makes a tensor and what it should hold. */
tsr_status make_part(tsr_comm *world, const tsr_tensor_spec *spec, const family *of, memory how,
                     part *p, tsr_tensor **out);
void drop_part(part *p, tsr_tensor **tensor);

/* Writes what it should hold. */
void part_fill(const part *p);

/* Whether a part is as it should be and nothing around it was touched. */
bool part_is_right(const part *p);

/* The tensor must store what the slice says, before anything is looked at. */
bool same_sizes(const tsr_tensor *t, const part *p);

#endif
