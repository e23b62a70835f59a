/* Element types: their kinds, and their names for readers of texts. */
#ifndef NUMBER_DTYPE_H
#define NUMBER_DTYPE_H

#include <tessera/dtype.h>

#include "base/diag.h"

static inline bool dtype_is_float(tsr_dtype dtype)
{
    return dtype >= TSR_F4E2M1FN && dtype <= TSR_F64;
}

static inline bool dtype_is_complex(tsr_dtype dtype)
{
    return dtype == TSR_C64 || dtype == TSR_C128;
}

/* i1 is not one of them. */
static inline bool dtype_is_integer(tsr_dtype dtype)
{
    return dtype > TSR_I1 && dtype <= TSR_U64;
}

/* tsr_dtype_parse with a location for its message. */
tsr_status dtype_parse_at(tsr_context *ctx, location where, const char *name, tsr_dtype *out);

#endif
