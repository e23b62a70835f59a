/*
 * Interned rules: the rule of equal row, parameters, types and facts is worked out once. So a rule
 * is a pointer, and a program with many equal layers has few of them.
 */
#ifndef OPS_RULES_H
#define OPS_RULES_H

#include "ops/op.h"

typedef struct op_rules op_rules;

tsr_status op_rules_create(tsr_context *ctx, op_rules **out);

/* Frees it with every rule that it gave. NULL is fine. */
void op_rules_destroy(op_rules *rules);

/*
 * As op_find_rule, for a request that `types` accepted; TSR_NOT_APPLICABLE is kept too. The rule is
 * owned by the table. Does not allocate when the use is known.
 */
tsr_status op_rules_find(op_rules *rules, const op_request *r, const op_type *results,
                         const tsr_rule **out);

#endif
