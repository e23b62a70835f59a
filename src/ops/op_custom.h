/* Calls of what the library does not know, but for their sharding rules. */
#ifndef OPS_OP_CUSTOM_H
#define OPS_OP_CUSTOM_H

#include "base/lex.h"
#include "ops/op.h"

typedef struct custom_call_params {
    int32_t call_target_name; /* of custom_call_targets */
} custom_call_params;

/* Any operands and results. custom_call_params. */
extern const op_row op_custom_call;

/* What the registry knows: it has a rule for these, or they need none. Ended by NULL; the first is
 * no target. */
extern const char *const custom_call_targets[];

bool custom_call_is_known(slice target);

#endif
