/* Which pass establishes which contracts, and which ones it ends. */
#ifndef PASS_CONTRACTS_H
#define PASS_CONTRACTS_H

#include <tessera/pass.h>

#include "verify/contract.h"

enum { MAX_PASS_CONTRACTS = 4 };

typedef struct pass_contracts {
    const char *pass;
    const char *option;                              /* that must be set; NULL: whatever is set */
    const contract *establishes[MAX_PASS_CONTRACTS]; /* ended by NULL, as is the next */
    const contract *ends[MAX_PASS_CONTRACTS];        /* programs after it may break these */
} pass_contracts;

/* All rows; a pass may have several. */
const pass_contracts *pass_contracts_rows(size_t *count);
/* Whether a row is about a use of a pass. */
bool pass_contracts_apply(const pass_contracts *row, const char *pass,
                          const tsr_pass_options *options);
/* Verifies what a pass that has run establishes. */
tsr_status pass_contracts_verify(tsr_context *ctx, tsr_program *p, const char *pass,
                                 const tsr_pass_options *options);

#endif
