/* One program after another: read, verified, changed by the passes, printed. */
#ifndef OPT_PROCESS_H
#define OPT_PROCESS_H

#include "input.h"
#include "output.h"
#include "settings.h"

/* Processes the whole input, piece by piece when it is split. Whether all went well. */
bool process_input(const settings *s, const input *in, output *out);

#endif
