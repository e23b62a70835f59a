/* What ranks do wrong, and what the others must hear of it. */
#ifndef RANK_FAULTS_H
#define RANK_FAULTS_H

#include "support.h"

/* Runs every fault on ranks of one kind. */
void check_refusal(fixture *f, tsr_ranks kind);
void check_difference(fixture *f, tsr_ranks kind);
void check_absence(fixture *f, tsr_ranks kind);
void check_slowness(fixture *f, tsr_ranks kind);
void check_early_end(fixture *f, tsr_ranks kind);
void check_no_room(fixture *f, tsr_ranks kind);
void check_bad_memory(fixture *f, tsr_ranks kind);
void check_uncountable(fixture *f, tsr_ranks kind);
void check_group_for_world(fixture *f, tsr_ranks kind);

#endif
