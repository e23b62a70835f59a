/*
 * Lists of steps made by hand, of every kind: run on ranks, compared element by element with slices
 * of the full array, byte by byte with what each rank lacks, and with the memory that it counts.
 */
#ifndef STEPS_H
#define STEPS_H

#include "pairs.h"

/* What was run, all numbers of ranks together. */
typedef struct step_counts {
    int64_t kinds[TSR_STEP_DIRECT + 1]; /* steps, by the kind that was insisted on */
    int64_t lists;
    int64_t long_lists; /* of three and more steps */
    int64_t exact;      /* lists whose memory between steps is whole blocks */
} step_counts;

/* Runs all lists that a number of ranks allows, and counts them. */
void check_steps(fixture *f, int64_t ranks, tsr_ranks kind, step_counts *counts);

/* Plans that do not belong to the tensors are refused on every rank. */
void check_refused_steps(fixture *f, int64_t ranks, tsr_ranks kind);

void print_step_counts(const step_counts *counts);

#endif
