/* What `tessera explain` and `tessera diff` share: a program that was propagated with reasons. */
#ifndef TOOL_EXPLAIN_H
#define TOOL_EXPLAIN_H

#include <tessera/explain.h>

#include "annotations.h"
#include "program_input.h"

struct explained {
    struct session *session;
    tsr_program *program; /* as it was read and annotated */
    tsr_explanation *explanation;
};

/* Reads a program and propagates it with reasons. The caller closes it, also after a failure. */
int explained_open(struct session *session, const char *file, const struct annotations *annotations,
                   int64_t until, struct explained *out);
void explained_close(struct explained *e);

/* One tensor as JSON, on standard output. */
void explain_as_json(const tsr_tensor_reasons *reasons, bool first);

#endif
