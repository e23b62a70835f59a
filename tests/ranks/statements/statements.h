/*
 * Statements about numbers that calls on sharded tensors must make true, each a function that ranks
 * run. Their names are those of the public facts where there is one.
 */
#ifndef STATEMENTS_H
#define STATEMENTS_H

#include "support.h"

typedef struct statement {
    const char *name;
    int64_t ranks;
    tsr_rank_function check;
} statement;

extern const statement statements[];
extern const size_t num_statements;

#endif
