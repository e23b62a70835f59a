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
} op_counts;
op_counts *op_counts_new(void);
void op_counts_free(op_counts *counts);

/* Calls to make on so many ranks: one of each row in turn, from the row `first` on. */
typedef struct op_round {
    int64_t ranks;
    tsr_ranks kind;
    size_t first;
    size_t count;
} op_round;

/* Makes them; fails the test with one that differs. */
void check_ops(fixture *f, const op_round *round, op_counts *counts);

/*
 * Fails the test unless every call of ops.h and every row of the library's table was run; prints
 * the counts.
 */
void expect_all_rows(const op_counts *counts);

/*
 * A tensor of an operand's numbers, in its layout or the plain one: shares of them where something
 * is pending. The same seed gives the same numbers. With `arena` its memory may be the arena's, and
 * strided.
 */
tsr_status op_case_tensor(tsr_comm *world, tsr_arena *arena, const case_operand *operand,
                          uint64_t seed, bool plain, tsr_tensor **out);
/* The seed of the numbers of an operand. */
uint64_t op_case_seed(const op_case *c, size_t operand);

/* Prints a call as C, with its operands and their layouts. */
void op_case_print(fixture *f, const op_case *c);

#endif
