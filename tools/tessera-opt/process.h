/* One program after another: read, verified, changed by the passes, printed. */
#ifndef OPT_PROCESS_H
#define OPT_PROCESS_H

#include "input.h"
#include "output.h"
#include "settings.h"

/* Processes the whole input, piece by piece when it is split. The exit status of the command. */
int process_input(const settings *s, const input *in, output *out);

#endif
