/* Reading the text of a program, which is not verified. */
#ifndef TEXT_READ_H
#define TEXT_READ_H

#include "ir/program.h"

tsr_status program_read_text(tsr_context *ctx, const tsr_text *text, int flags, tsr_program **out);

#endif
