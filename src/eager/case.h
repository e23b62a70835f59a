/*
 * How an op runs on operands of some layouts: which of them are redistributed first, and the
 * layouts of its results. Worked out once for each op, parameters and layouts, and kept.
 */
#ifndef EAGER_CASE_H
#define EAGER_CASE_H

#include "eager/typed.h"

struct op_case {
    op_case *next;
    tsr_arena *arena;
    uint64_t hash;
    uint64_t call_hash; /* the same on all ranks: agree.h */
    const op_row *row;
    const void *params; /* the arena's */
    tsr_strategy strategy;
    size_t num_operands;
    size_t num_results;
    tensor_layout **given;   /* of the operands */
    tensor_layout **run;     /* that they need */
    bool *moves;             /* whether an element has to move for that */
    tensor_layout **results; /* how the op leaves its results */
    tensor_layout **finals;  /* how they are handed out */
    bool any_moves;
    bool fallback;      /* the op has no rule for this: operands are gathered, results resharded */
    bool first;         /* op_call.first */
    uint64_t typed_key; /* 0 when types are not looked at */
    const typed_record **given_types; /* of the operands */
    const typed_record **result_types;
};

/* The case of a call, found or made; the request's operands are not looked at. `types` are
 * the operands', NULL for plain numbers. It stays until the next one is asked for. */
tsr_status case_get(eager *e, const op_request *r, tensor_layout *const *given,
                    const typed_record *const *types, const op_case **out);

/* Forgets all cases. */
void cases_clear(eager *e);

#endif
