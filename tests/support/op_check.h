/*
 * Sharded equals unsharded: calls on tensors in random layouts against the same calls on whole
 * arrays. A call that differs is shrunk and printed as C.
 */
#ifndef OP_CHECK_H
#define OP_CHECK_H

#include "op_cases.h"

enum { MOST_MAKERS = 160 };

/* What became of the calls of each row; in memory that ranks of any kind share. */
typedef struct op_counts {
    int64_t cases[MOST_MAKERS];
    int64_t quiet[MOST_MAKERS]; /* nothing moved */
    int64_t fallbacks[MOST_MAKERS];
    int64_t failed; /* the first case that failed; -1 for none */
    int64_t wrong;  /* a rank says so */
} op_counts;
op_counts *op_counts_new(void);
void op_counts_free(op_counts *counts);

/* Runs `count` calls of each row in turn on so many ranks; fails the test with one that differs. */
void check_ops(fixture *f, int64_t ranks, tsr_ranks kind, int64_t count, op_counts *counts);

/* Fails the test unless every row of the library's table was run; prints the counts. */
void expect_all_rows(const op_counts *counts);

#endif
