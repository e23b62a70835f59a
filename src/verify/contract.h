/*
 * Contracts between phases: what holds of a program from a pass on, so that later phases need not
 * allow for the rest. src/pass/contracts.c lists which pass establishes which contract and which
 * one ends it; it is verified after the pass. A phase that relies on one, in a program that may
 * come from elsewhere, calls contract_require.
 */
#ifndef VERIFY_CONTRACT_H
#define VERIFY_CONTRACT_H

#include "ir/program.h"

enum { MAX_ABSENT_KINDS = 2 };

typedef struct contract {
    const char *name;                 /* "closed shardings" */
    const char *remedy;               /* for users: how a program comes to keep it */
    op_kind absent[MAX_ABSENT_KINDS]; /* kinds of ops that no program has then */
    /* What else holds; NULL: nothing. */
    tsr_status (*verify)(tsr_context *ctx, tsr_program *p);
} contract;

extern const contract contract_named_meshes;   /* every sharding names its mesh */
extern const contract contract_inlined_meshes; /* every sharding has its mesh; no op is one */
extern const contract contract_single_calls;   /* functions with a body are called once at most */
extern const contract contract_no_calls;       /* and never */
extern const contract contract_no_composites;
extern const contract contract_no_edges;
extern const contract contract_no_func_edges;
extern const contract contract_no_groups;
extern const contract contract_no_constraints;
extern const contract
    contract_closed_shardings; /* all dimensions, and nothing is replicated by name */

/* Fails with a message about the first op that breaks a contract. */
tsr_status contract_verify(tsr_context *ctx, tsr_program *p, const contract *c);
/* The same before a phase that relies on it: the message names the phase and the remedy. */
tsr_status contract_require(tsr_context *ctx, tsr_program *p, const contract *c, const char *phase);

#endif
