/* Tensors over the caller's memory, and full arrays in and out. */
#ifndef MEMORY_H
#define MEMORY_H

#include "support.h"

void check_memory(fixture *f, int64_t ranks, tsr_ranks kind);

#endif
