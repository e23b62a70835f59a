/* What collectives and channels share: their attributes. */
#ifndef EXEC_STEPS_COLLECTIVE_H
#define EXEC_STEPS_COLLECTIVE_H

#include "exec/code.h"

/* The number of the channel of an op; 0 for none. */
int64_t exec_channel_of(const tsr_program *p, uint32_t op);

/* Numbers of an attribute of i64 in two columns; none when it is left out. The code's. */
tsr_status exec_read_pairs(exec_decoder *d, uint32_t op, const char *name, const int64_t **out,
                           size_t *count);

#endif
