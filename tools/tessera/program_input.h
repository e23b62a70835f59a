/* Programs as sub-commands read them: from a file or standard input. */
#ifndef TOOL_PROGRAM_INPUT_H
#define TOOL_PROGRAM_INPUT_H

#include <tessera/program.h>

#include "session.h"

/* Reads and verifies a program; `-` is standard input. */
int program_read(struct session *session, const char *file, tsr_program **out);

/* What the library warned of, on stderr. */
void print_warnings(struct session *session);

#endif
