/* Messages on stderr: those of the library as compilers print them, and the command's own. */
#ifndef OPT_REPORT_H
#define OPT_REPORT_H

#include <tessera/context.h>

/* Prints a message of the library with its notes. */
void report_print(tsr_context *ctx, const tsr_diagnostic *diagnostic);
/* Prints all messages of a context. */
void report_print_all(tsr_context *ctx);
/* `tessera-opt: ` and a text. Returns false. */
bool complain(const char *format, ...) TSR_PRINTF(1, 2);

/* "error", "warning" or "note". */
const char *severity_name(tsr_severity severity);

#endif
