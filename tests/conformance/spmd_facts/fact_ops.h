/* Ops by the names that facts have for them: their classes, their rules, their parts. */
#ifndef FACT_OPS_H
#define FACT_OPS_H

#include "facts.h"

/* A call of such an op. */
typedef struct fact_call {
    char name[48];     /* without arguments, brackets and a trailing _ */
    const char *text;  /* as the fact has it */
    const char *class; /* "nonlinear" .. or NULL: by the name */
    size_t num_operands;
    tsr_typed_shape operands[FACT_MOST];
    tsr_axis_set global;
    tsr_axis_set out_partial;
    tsr_axis_set required;
    bool implicit_partial;
    bool strict;
    bool unknown;         /* an op that nothing is known of */
    const char *equation; /* of einsum */
    json_t *reshape;      /* the local shape that a reshape makes */
    json_t *args;         /* arguments by name, or NULL */
    json_t *number;       /* the last input that is a number, or NULL */
} fact_call;

/* Takes the name apart. */
void fact_call_name(fact_call *call, const char *text);

/* Whether a name is in a list with blanks around each. */
bool is_listed(const char *names, const char *name);

/* A number among the arguments: by its key, or else by its place in the brackets. */
int64_t fact_argument(const fact_call *call, const char *key, size_t index, int64_t otherwise);

/* The rule of a call, on the shapes of one rank. */
tsr_status fact_rule(const fact *f, const fact_call *call, const tsr_rule **out);

/* The type of the first result: through tsr_type_infer, in the steps that the op is made of. */
tsr_status fact_infer(const fact *f, const fact_call *call, const tsr_type **out);

/* The fixes of a call. */
tsr_status fact_fixes(const fact *f, const fact_call *call, const tsr_fix **fixes, size_t *count);

#endif
