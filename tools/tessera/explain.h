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

/* A tensor that may be shown. */
struct candidate {
    tsr_ir_tensor tensor;
    bool has_axis;
    bool lacks;    /* an axis that an op wanted */
    int64_t bytes; /* on a device; -1: not known */
    size_t order;
};

struct shown {
    struct candidate *list;
    size_t count;
    size_t num_found; /* before --top */
    size_t num_with;  /* an axis */
    size_t num_lacking;
};

/* Tensors as JSON, on standard output; each step of their paths once. */
int explain_as_json(struct explained *e, bool full, const struct shown *shown);

#endif
