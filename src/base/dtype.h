/* Names of element types, for readers of texts. */
#ifndef BASE_DTYPE_H
#define BASE_DTYPE_H

#include <tessera/dtype.h>

#include "base/diag.h"

/* tsr_dtype_parse with a location for its message. */
tsr_status dtype_parse_at(tsr_context *ctx, location where, const char *name, tsr_dtype *out);

#endif
