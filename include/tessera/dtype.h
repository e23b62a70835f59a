/* Element types. */
#ifndef TESSERA_DTYPE_H
#define TESSERA_DTYPE_H

#include <tessera/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_dtype {
    TSR_I1,
    TSR_I2,
    TSR_I4,
    TSR_I8,
    TSR_I16,
    TSR_I32,
    TSR_I64,
    TSR_U2,
    TSR_U4,
    TSR_U8,
    TSR_U16,
    TSR_U32,
    TSR_U64,
    TSR_F4E2M1FN,
    TSR_F6E2M3FN,
    TSR_F6E3M2FN,
    TSR_F8E3M4,
    TSR_F8E4M3,
    TSR_F8E4M3FN,
    TSR_F8E4M3FNUZ,
    TSR_F8E4M3B11FNUZ,
    TSR_F8E5M2,
    TSR_F8E5M2FNUZ,
    TSR_F8E8M0FNU,
    TSR_F16,
    TSR_BF16,
    TSR_F32,
    TSR_F64,
    TSR_C64,
    TSR_C128
} tsr_dtype;

/* Returns the number of element types; they are numbered from 0. */
TSR_API int tsr_dtype_count(void) TSR_MT_SAFE;

/* Returns the name that programs use, such as "f32", "ui8" or "complex<f32>". Static. */
TSR_API const char *tsr_dtype_name(tsr_dtype dtype) TSR_MT_SAFE;

/*
 * Returns the bits of one element as tensors count them: 1 for i1, 4 for f4E2M1FN, 128 for
 * complex<f64>.
 */
TSR_API int tsr_dtype_bits(tsr_dtype dtype) TSR_MT_SAFE;

/*
 * Returns the bytes of `count` elements packed to whole bytes; an i1 takes a byte. Returns -1 if
 * the number overflows.
 */
TSR_API int64_t tsr_dtype_bytes(tsr_dtype dtype, int64_t count) TSR_MT_SAFE;

/* Returns the bytes of one element in an array: at least 1. */
TSR_API int64_t tsr_dtype_item_bytes(tsr_dtype dtype) TSR_MT_SAFE;

/*
 * Reads a name: the names of programs, and common aliases (`u8`, `s32`, `pred`, `bool`, `float32`,
 * `bfloat16`, `int64`, `c64`, `complex64`).
 */
TSR_API TSR_NODISCARD tsr_status tsr_dtype_parse(tsr_context *ctx, const char *name,
                                                 tsr_dtype *out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
