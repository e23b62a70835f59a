/*
 * Gradients of every op: against differences, and of tensors in random layouts against those of
 * whole ones.
 */
#ifndef GRADIENT_CHECK_H
#define GRADIENT_CHECK_H

#include "op_check.h"

/* What became of the calls of each row; in memory that ranks of any kind share. */
typedef struct gradient_counts {
    int64_t against_differences[MOST_MAKERS];
    int64_t sharded[MOST_MAKERS];
    int64_t refused[MOST_MAKERS]; /* by the backward, which says so */
    int64_t pending[MOST_MAKERS]; /* gradients that came with something pending */
    int64_t failed;               /* the first case that failed; -1 for none */
} gradient_counts;
gradient_counts *gradient_counts_new(void);
void gradient_counts_free(gradient_counts *counts);

/* Calls whole, on one rank, against central differences: so many of each row. */
void check_differences(fixture *f, size_t calls, gradient_counts *counts);

/* Calls in random layouts on so many ranks, one of each row in turn, from the row `first` on. */
void check_sharded_gradients(fixture *f, const op_round *round, gradient_counts *counts);

/* Fails the test unless every row of floats was run both ways; prints the counts. */
void expect_all_gradients(const gradient_counts *counts);

#endif
