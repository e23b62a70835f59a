/* Redistribution between all pairs of a catalogue of layouts, checked element by element. */
#ifndef PAIRS_H
#define PAIRS_H

#include "random.h"

/* Runs the catalogues of one number of ranks; fails the test with the pair that is wrong. */
void check_pairs(fixture *f, int64_t ranks, tsr_ranks kind);

#endif
