/*
 * The element types that kernels compute with, one number each: their list, and names for what a
 * template (a .inc file, included once for each type by element_types.inc) defines.
 */
#ifndef KERNEL_ELEMENT_TYPES_H
#define KERNEL_ELEMENT_TYPES_H

#include <tessera/dtype.h>

/* X(name of the tsr_dtype, prefix of what templates define) */
#define ELEMENT_TYPES(X)                                                                           \
    X(I1, i1)                                                                                      \
    X(I8, i8)                                                                                      \
    X(I16, i16)                                                                                    \
    X(I32, i32)                                                                                    \
    X(I64, i64)                                                                                    \
    X(U8, u8)                                                                                      \
    X(U16, u16)                                                                                    \
    X(U32, u32)                                                                                    \
    X(U64, u64)                                                                                    \
    X(F16, f16)                                                                                    \
    X(BF16, bf16)                                                                                  \
    X(F32, f32)                                                                                    \
    X(F64, f64)

/* How many rows a table by tsr_dtype has. */
enum { NUM_ELEMENT_TYPES = TSR_C128 + 1 };

/* Tokens joined after they are expanded. */
#define JOIN_TOKENS(a, b) a##b
#define JOIN(a, b) JOIN_TOKENS(a, b)
#define JOIN3_TOKENS(a, b, c) a##b##c
#define JOIN3(a, b, c) JOIN3_TOKENS(a, b, c)

/* In a template: the name of this type's own function or table, such as f32_map. */
#define OF_TYPE(name) JOIN3(TYPE, _, name)

/* In a template: this type's form of a function of numbers, such as max_float or max_int8. */
#define FORM(op) JOIN3(op, _, KIND)

#endif
