/* How much of a tensor one device has. */
#ifndef TOOL_TENSOR_BYTES_H
#define TOOL_TENSOR_BYTES_H

#include <tessera/program.h>

#include "session.h"

/* The bytes of the largest part of a tensor, all of it without a sharding; -1: not known. */
int64_t tensor_bytes(struct session *session, const tsr_program *p, tsr_ir_type type,
                     const tsr_sharding *sharding);

#endif
