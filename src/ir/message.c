/* Messages about ops. */
#include "ir/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void format_text(char *text, size_t size, const char *format, va_list arguments)
{
    const int length = vsnprintf(text, size, format, arguments);
    if (length >= (int)size) {
        memcpy(text + size - 4, "...", 4);
    }
}

enum { MAX_TEXT = 2048 };

tsr_status op_error(tsr_context *ctx, const tsr_program *p, uint32_t op, const char *format, ...)
{
    char text[MAX_TEXT];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, sizeof text, format, arguments);
    va_end(arguments);
    return diag_error(ctx, TSR_ERR_INVALID, op_location(p, op), "'%s' op %s", op_name(p, op), text);
}

tsr_status error_at_op(tsr_context *ctx, const tsr_program *p, uint32_t op, const char *format, ...)
{
    char text[MAX_TEXT];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, sizeof text, format, arguments);
    va_end(arguments);
    return diag_error(ctx, TSR_ERR_INVALID, op_location(p, op), "%s", text);
}

tsr_status note_at_op(tsr_context *ctx, const tsr_program *p, uint32_t op, const char *format, ...)
{
    char text[MAX_TEXT];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, sizeof text, format, arguments);
    va_end(arguments);
    return diag_note(ctx, op_location(p, op), "%s", text);
}
