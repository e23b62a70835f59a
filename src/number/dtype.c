#include <string.h>

#include <tessera/dtype.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "number/dtype.h"

typedef struct dtype_row {
    const char *name;
    int bits;
    const char *others[3]; /* further names that are read */
} dtype_row;

/* One row for each element type, in the order of tsr_dtype. */
static const dtype_row rows[] = {
    [TSR_I1] = {"i1", 1, {"bool", "pred"}},
    [TSR_I2] = {"i2", 2, {"s2", "int2"}},
    [TSR_I4] = {"i4", 4, {"s4", "int4"}},
    [TSR_I8] = {"i8", 8, {"s8", "int8"}},
    [TSR_I16] = {"i16", 16, {"s16", "int16"}},
    [TSR_I32] = {"i32", 32, {"s32", "int32"}},
    [TSR_I64] = {"i64", 64, {"s64", "int64"}},
    [TSR_U2] = {"ui2", 2, {"u2", "uint2"}},
    [TSR_U4] = {"ui4", 4, {"u4", "uint4"}},
    [TSR_U8] = {"ui8", 8, {"u8", "uint8"}},
    [TSR_U16] = {"ui16", 16, {"u16", "uint16"}},
    [TSR_U32] = {"ui32", 32, {"u32", "uint32"}},
    [TSR_U64] = {"ui64", 64, {"u64", "uint64"}},
    [TSR_F4E2M1FN] = {"f4E2M1FN", 4, {"float4_e2m1fn"}},
    [TSR_F6E2M3FN] = {"f6E2M3FN", 6, {"float6_e2m3fn"}},
    [TSR_F6E3M2FN] = {"f6E3M2FN", 6, {"float6_e3m2fn"}},
    [TSR_F8E3M4] = {"f8E3M4", 8, {"float8_e3m4"}},
    [TSR_F8E4M3] = {"f8E4M3", 8, {"float8_e4m3"}},
    [TSR_F8E4M3FN] = {"f8E4M3FN", 8, {"float8_e4m3fn"}},
    [TSR_F8E4M3FNUZ] = {"f8E4M3FNUZ", 8, {"float8_e4m3fnuz"}},
    [TSR_F8E4M3B11FNUZ] = {"f8E4M3B11FNUZ", 8, {"float8_e4m3b11fnuz"}},
    [TSR_F8E5M2] = {"f8E5M2", 8, {"float8_e5m2"}},
    [TSR_F8E5M2FNUZ] = {"f8E5M2FNUZ", 8, {"float8_e5m2fnuz"}},
    [TSR_F8E8M0FNU] = {"f8E8M0FNU", 8, {"float8_e8m0fnu"}},
    [TSR_F16] = {"f16", 16, {"float16", "half"}},
    [TSR_BF16] = {"bf16", 16, {"bfloat16"}},
    [TSR_F32] = {"f32", 32, {"float32", "float"}},
    [TSR_F64] = {"f64", 64, {"float64", "double"}},
    [TSR_C64] = {"complex<f32>", 64, {"c64", "complex64"}},
    [TSR_C128] = {"complex<f64>", 128, {"c128", "complex128"}},
};

enum { NUM_ROWS = sizeof rows / sizeof rows[0], BITS_PER_BYTE = 8 };

int tsr_dtype_count(void)
{
    GUARD(tsr_dtype_count);
    return NUM_ROWS;
}

const char *tsr_dtype_name(tsr_dtype dtype)
{
    GUARD(tsr_dtype_name);
    return rows[dtype].name;
}

int tsr_dtype_bits(tsr_dtype dtype)
{
    GUARD(tsr_dtype_bits);
    return rows[dtype].bits;
}

int64_t tsr_dtype_bytes(tsr_dtype dtype, int64_t count)
{
    GUARD(tsr_dtype_bytes);
    const int64_t bits = dtype == TSR_I1 ? BITS_PER_BYTE : rows[dtype].bits;
    int64_t bytes;
    if (bits % BITS_PER_BYTE == 0) {
        return checked_mul(count, bits / BITS_PER_BYTE, &bytes) ? bytes : -1;
    }
    int64_t total;
    return checked_mul(count, bits, &total) ? ceil_div(total, BITS_PER_BYTE) : -1;
}

int64_t tsr_dtype_item_bytes(tsr_dtype dtype)
{
    GUARD(tsr_dtype_item_bytes);
    return ceil_div(rows[dtype].bits, BITS_PER_BYTE);
}

static bool is_named(const dtype_row *row, const char *name)
{
    if (strcmp(row->name, name) == 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof row->others / sizeof row->others[0]; i++) {
        if (row->others[i] != NULL && strcmp(row->others[i], name) == 0) {
            return true;
        }
    }
    return false;
}

tsr_status dtype_parse_at(tsr_context *ctx, location where, const char *name, tsr_dtype *out)
{
    for (int i = 0; i < NUM_ROWS; i++) {
        if (is_named(&rows[i], name)) {
            *out = (tsr_dtype)i;
            return TSR_OK;
        }
    }
    (void)diag_error(ctx, TSR_ERR_INVALID, where, "unknown element type '%s'", name);
    return diag_note(ctx, NO_LOCATION,
                     "known ones are i1, i8 to i64, ui8 to ui64, f16, bf16, f32, "
                     "f64, complex<f32>, complex<f64> and the f8, f6, f4 types");
}

tsr_status tsr_dtype_parse(tsr_context *ctx, const char *name, tsr_dtype *out)
{
    GUARD(tsr_dtype_parse);
    return dtype_parse_at(ctx, NO_LOCATION, name, out);
}
