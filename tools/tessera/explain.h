/* `tessera explain`: what its parts share. */
#ifndef TOOL_EXPLAIN_H
#define TOOL_EXPLAIN_H

#include <tessera/explain.h>

#include "annotations.h"
#include "program_input.h"

/* A program that was propagated with reasons. */
struct explained {
    struct session *session;
    tsr_program *program;
    tsr_program *original; /* as it was read */
    tsr_ir_op main;        /* its main function; 0: none */
    struct text_values values;
    tsr_provenance why;
    const uint32_t *first_conflict; /* by value: 1 + its number; 0: none */
    const uint32_t *next_conflict;  /* by conflict */
    int64_t until;
    int trials;   /* of suggestions so far */
    bool details; /* all conflicts of a tensor, and whole paths */
};

/* Reads a program and propagates it with reasons. The caller closes it, also after a failure. */
int explained_open(struct session *session, const char *file, const struct annotations *annotations,
                   int64_t until, struct explained *out);
void explained_close(struct explained *e);

/* The name of an op as the text has it: calls become computations. */
const char *op_name_of(const struct explained *e, tsr_ir_op op);
/* The name of a tensor: `%3`, `%3 of @relu`, `result 0 of @main`. */
const char *tensor_name(const struct explained *e, tsr_ir_tensor tensor);
/* The line of the text that it is defined on; 0: none. */
int64_t tensor_line(const struct explained *e, tsr_ir_tensor tensor);
/* Its sharding without the mesh, `[{"x"}, {?}]`; "none". */
int tensor_sharding_text(const struct explained *e, tsr_ir_tensor tensor, const char **out);
/* What an annotation is, as `argument 0 of @main`; "?" for number 0. */
const char *annotation_name(const struct explained *e, uint32_t number);
int64_t annotation_line(const struct explained *e, uint32_t number);
/* `"x"`, `"x":(1)2`; the mesh is that of a step's annotation. */
const char *axis_label(const struct explained *e, uint32_t step, tsr_axis_ref axis);

/* The conflicts of a tensor in turn: 1 + the number of the first and of the next; 0: no more. Of
 * those about one dimension and axis only the first, unless all details are wanted. */
uint32_t first_conflict(const struct explained *e, tsr_ir_tensor tensor);
uint32_t next_conflict(const struct explained *e, uint32_t after);

/* Why the winner of a conflict won, in words. */
const char *rule_text(tsr_conflict_rule rule);

/* An annotation to add. */
struct suggestion {
    const char *tensor; /* NULL: there is none */
    const char *sharding;
};
/*
 * The annotation after which a conflict no longer leaves its dimension replicated: tried, and found
 * to help.
 */
void suggestion_for(struct explained *e, const tsr_conflict *conflict, struct suggestion *out);

/* One tensor, as text and as JSON. */
int explain_as_text(struct explained *e, tsr_ir_tensor tensor);
int explain_as_json(struct explained *e, tsr_ir_tensor tensor, bool first);

#endif
