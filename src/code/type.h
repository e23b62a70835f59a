/* Types of values, made once for each type of a program: of tensors with their packed strides. */
#ifndef CODE_TYPE_H
#define CODE_TYPE_H

#include "ops/op.h"

struct code_quantization;

typedef enum code_value_kind { CODE_TENSOR, CODE_TOKEN, CODE_TUPLE } code_value_kind;

/* A type of values. */
typedef struct code_type {
    code_value_kind kind;
    op_type tensor;         /* of a tensor */
    const int64_t *strides; /* packed, in bytes; NULL where an extent is unknown */
    int64_t bytes;          /* of all elements; -1 where an extent is unknown */
    uint32_t type;          /* in the program */
    /* What the elements stand for, which are integers then; NULL: themselves. */
    const struct code_quantization *quantization;
} code_type;

/* Packed strides; the bytes of all elements, or -1 when they exceed int64. */
int64_t code_packed(tsr_dtype dtype, size_t rank, const int64_t *shape, int64_t *strides);

#endif
