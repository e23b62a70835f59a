/* An op as people write it: `matmul 2x4,4x8`. */
#ifndef TOOL_RULE_OP_H
#define TOOL_RULE_OP_H

#include "session.h"

/* The rule of an op, or the rule itself. An exit code; the failure has been said. */
int rule_op_read(struct session *session, const char *op, const tsr_rule **out, bool *elementwise);
/* Whether a text is the line of an op, `%r = stablehlo.abs %a : tensor<4xf32>`; and its rule. */
bool rule_line_is(const char *text);
int rule_line_read(struct session *session, const char *text, const tsr_rule **out);

#endif
