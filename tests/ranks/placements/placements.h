/* Checks of ragged placements, run on ranks that are threads or processes. */
#ifndef PLACEMENTS_H
#define PLACEMENTS_H

#include "support.h"

/* The worked example: all its numbers. */
void check_worked_example(fixture *f, tsr_ranks kind);

/* Every conversion with its backward, on random counts, along one and two axes of a mesh. */
void check_conversions(fixture *f, int64_t ranks, tsr_ranks kind);

/* Where sizes and counts come from. */
void check_binding(fixture *f, tsr_ranks kind);

/* What is refused, and what every rank hears of it. */
void check_placement_faults(fixture *f, tsr_ranks kind);

/* Parts to DLPack and back between ranks, and what is refused there. */
void check_dlpack(fixture *f, tsr_ranks kind);

#endif
