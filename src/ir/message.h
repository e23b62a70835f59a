/* Messages about ops of a program. */
#ifndef IR_MESSAGE_H
#define IR_MESSAGE_H

#include "ir/program.h"

/* An error at an op: `'name' op `, then the text. */
tsr_status op_error(tsr_context *ctx, const tsr_program *p, uint32_t op, const char *format, ...)
    TSR_PRINTF(4, 5);
/* The same without the prefix. */
tsr_status error_at_op(tsr_context *ctx, const tsr_program *p, uint32_t op, const char *format, ...)
    TSR_PRINTF(4, 5);
tsr_status note_at_op(tsr_context *ctx, const tsr_program *p, uint32_t op, const char *format, ...)
    TSR_PRINTF(4, 5);

#endif
