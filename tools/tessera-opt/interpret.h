/* `--interpret`: runs programs on one device, with their checks. */
#ifndef OPT_INTERPRET_H
#define OPT_INTERPRET_H

#include <tessera/program.h>

/* Exit statuses beside EXIT_SUCCESS and EXIT_FAILURE, which is that of a check that fails. */
enum { EXIT_BAD_INPUT = 2, EXIT_UNSUPPORTED = 3 };

/* Runs @main; where there is none, all functions in their order. They take no inputs. */
tsr_status interpret_program(tsr_context *ctx, const tsr_program *program);

int interpret_exit_status(tsr_status status);

#endif
