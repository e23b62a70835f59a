/* The tensors of random calls, and what the tests of ops and of their gradients share. */
#ifndef OP_OPERANDS_H
#define OP_OPERANDS_H

#include "op_cases.h"

enum { MAX_MAKERS = 160 };

/* Calls to make on so many ranks: one of each row in turn, from the row `first` on. */
typedef struct op_round {
    int64_t ranks;
    tsr_ranks kind;
    size_t first;
    size_t count;
} op_round;

/*
 * A tensor of an operand's numbers, in its layout or the plain one: shares of them where something
 * is pending. The same seed gives the same numbers. With `arena` its memory may be the arena's, and
 * strided.
 */
tsr_status op_case_tensor(tsr_comm *world, tsr_arena *arena, const case_operand *operand,
                          uint64_t seed, bool plain, tsr_tensor **out);
/* The seed of the numbers of an operand. */
uint64_t op_case_seed(const op_case *c, size_t operand);

/* The elements of a whole tensor. */
int64_t elements_of(const tsr_tensor *t);

/* The place of a row in the table of them. */
size_t op_maker_index(const op_maker *op);

/* Fails a rank with a message that names the call. */
tsr_status op_case_complain(tsr_comm *world, const op_case *c, const char *what);

/* Keeps the first case that fails on any rank; `failed` is shared and -1 before. */
void note_failed(_Atomic int64_t *failed, size_t which);

/* Prints a call as C, with its operands and their layouts. */
void op_case_print(fixture *f, const op_case *c);

#endif
