/* Collectives on three ranks: what goes wrong, and what calls move. */
#ifndef FAULTS_H
#define FAULTS_H

#include "support.h"

/* What a rank may do wrong, and what every rank hears of it. */
void check_collective_faults(fixture *f, tsr_ranks kind);
void check_collective_differences(fixture *f, tsr_ranks kind);

/* The bytes that ranks receive against the cost formulas. */
void check_collective_traffic(fixture *f, tsr_ranks kind);

/* Sources whose elements lie on each other. */
void check_collective_repeats(fixture *f, tsr_ranks kind);

#endif
