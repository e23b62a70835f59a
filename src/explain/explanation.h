/* What an explanation is inside: the program before and after propagation, with names and why. */
#ifndef EXPLAIN_EXPLANATION_H
#define EXPLAIN_EXPLANATION_H

#include <tessera/explain.h>

#include "base/buffer.h"

/* Hops of a path that are shown at each end, unless all are wanted. */
enum { SHOWN_HOPS = 4, MAX_HOPS = 2 * SHOWN_HOPS + 2 };

/* Where an op is in the text. */
typedef struct text_op {
    int64_t line; /* 0: it is not in the text */
    int64_t column;
    size_t depth; /* of regions around it */
    tsr_ir_op op;
} text_op;

/* The annotation that resolves a conflict. */
typedef struct suggestion {
    bool known;         /* whether it was looked for */
    const char *tensor; /* NULL: there is none */
    const char *sharding;
} suggestion;

/*
 * Passes copy functions and constants: a copy has the place of its original in the text, by which
 * ops and values of the propagated program get the names that the text has.
 */
struct tsr_explanation {
    tsr_arena *arena;
    tsr_program *original; /* as it was given */
    tsr_program *program;  /* propagated */
    tsr_ir_op main;        /* of the original; 0: none */
    const char **names;    /* by value of the original, as written; NULL: it is not of the text */
    size_t num_names;
    text_op *ops; /* of the original: one for each place of the text, in its order */
    size_t num_ops;
    tsr_provenance why;
    const uint32_t *first_conflict; /* by value: 1 + its number; 0: none; results are at 0 */
    const uint32_t *next_conflict;  /* by conflict */
    const bool *is_repeated; /* by conflict: an earlier one is about its tensor, dimension, axis */
    const uint32_t *depths;  /* by step: how many lead to it, itself counted */
    const uint32_t *heads;   /* by step: the last of the first steps of its path that are shown */
    suggestion *suggestions; /* by conflict */
    int64_t until;
    int trials; /* of suggestions so far */
};

/* One answer under way; texts go to `out`, which remembers when memory runs out. */
typedef struct teller {
    tsr_context *ctx;
    tsr_explanation *e;
    tsr_explain_style style;
    buffer out;
} teller;

/* ---- names.c ---- */

/* The line of the text that has an op, a tensor, an annotation; 0: none. */
int64_t written_line(const tsr_program *program, tsr_ir_op op);
int64_t line_of_tensor(const tsr_explanation *e, tsr_ir_tensor tensor);
int64_t line_of_annotation(const tsr_explanation *e, uint32_t number);

/* The name of an op as the text has it: calls become computations. */
const char *written_op_name(const tsr_explanation *e, tsr_ir_op op);
/* The name of a value: `%3`; of one that the text has not, "a new value". */
const char *written_value_name(const tsr_explanation *e, tsr_ir_value value);

/* Each appends to the text of a teller. Of a tensor: `%3`, `%3 of @relu`, `result 0 of @main`. */
void tell_tensor(teller *t, tsr_ir_tensor tensor);
/* What an annotation is, as `argument 0 of @main`; "?" for number 0. */
void tell_annotation(teller *t, uint32_t number);
/* `"x"`, `"x":(1)2`; the mesh is that of the annotation of a step. */
void tell_axis(teller *t, uint32_t step, tsr_axis_ref axis);
/* A sharding without its mesh; `none` for NULL. */
void tell_sharding(teller *t, const tsr_sharding *sharding);
/* ` (line 3)`; nothing for line 0. */
void tell_line(teller *t, int64_t line);

/* ---- conflicts.c ---- */

/*
 * The conflicts of a tensor in turn: 1 + the number of the first and of the next; 0: no more. Of
 * those about one dimension and axis only the first, unless all are wanted.
 */
uint32_t first_conflict(const tsr_explanation *e, tsr_ir_tensor tensor, bool full);
uint32_t next_conflict(const tsr_explanation *e, uint32_t after, bool full);

/* The annotation after which a conflict no longer leaves its dimension replicated: tried, and found
 * to help. The suggestion is owned by the explanation. */
tsr_status find_suggestion(tsr_context *ctx, tsr_explanation *e, uint32_t conflict,
                           const suggestion **out);

/* ---- text.c ---- */

/* What kept an axis out: all that the text of a tensor says of a conflict, but for the suggestion
 * and which axis it is. */
void tell_reason(teller *t, const tsr_conflict *conflict);

/* TSR_ERR_INVALID unless the program has the tensor. */
tsr_status check_tensor(tsr_context *ctx, const tsr_explanation *e, tsr_ir_tensor tensor);

#endif
