/* What tapes do: what is noted, what is refused, what is given back. */
#ifndef TAPES_H
#define TAPES_H

#include "support.h"

/* All of it on so many ranks. */
void check_tapes(fixture *f, int64_t ranks, tsr_ranks kind);

#endif
