/*
 * Why: of a propagated program, the annotation that each axis came from and the ops it came
 * through, and for each axis that stayed out, what kept it out.
 *
 * An annotation is a sharding that the program had before: of an argument, a result, a constraint,
 * a computation, an op. A step puts an axis, or a part of one, on a dimension of a tensor: it is
 * the annotation's own, or comes from a step before through an op. Following `from` leads from any
 * axis back to its annotation.
 */
#ifndef TESSERA_EXPLAIN_H
#define TESSERA_EXPLAIN_H

#include <tessera/program.h>
#include <tessera/propagate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_annotation_kind {
    TSR_ANNOTATION_ARGUMENT,   /* argument `index` of function `op` */
    TSR_ANNOTATION_RESULT,     /* result `index` of function `op` */
    TSR_ANNOTATION_CONSTRAINT, /* constraint `op` */
    TSR_ANNOTATION_INPUT,      /* input `index` of computation `op` */
    TSR_ANNOTATION_OUTPUT,     /* output `index` of computation `op` */
    TSR_ANNOTATION_OP          /* result `index` of `op` */
} tsr_annotation_kind;

typedef struct tsr_annotation {
    tsr_annotation_kind kind;
    tsr_ir_op op;
    size_t index;
    tsr_ir_tensor tensor; /* that has it */
    const tsr_sharding *sharding;
} tsr_annotation;

/* How an axis came to a tensor. */
typedef enum tsr_axis_step_kind {
    TSR_AXIS_ANNOTATED, /* it is the annotation's own */
    TSR_AXIS_BY_OP,     /* through `op`, by its rule */
    TSR_AXIS_BY_EDGE,   /* between what flows into `op` or its regions and what comes out */
    TSR_AXIS_BY_RETURN, /* between what a function returns and its result */
    TSR_AXIS_BY_GROUP   /* between members of a sharding group */
} tsr_axis_step_kind;

typedef struct tsr_axis_step {
    tsr_axis_step_kind kind;
    tsr_ir_tensor tensor;
    size_t dim;
    tsr_axis_ref axis;
    tsr_ir_op op;
    uint32_t from;       /* the step that the axis comes from: its number; 0 for an annotation */
    uint32_t annotation; /* from which it came in the end: its number */
    int64_t priority;    /* the priority of users' shardings that was under way */
    int level;           /* the priority of ops that was under way; -1: ops had none */
    uint32_t visit;      /* which visit this was: those of one visit came at once */
    uint32_t next;       /* the next step of the same tensor: its number; 0: none */
} tsr_axis_step;

/* What kept axes out of a dimension, or, of two that wanted it, one of them. */
typedef enum tsr_conflict_kind {
    TSR_CONFLICT_TAKEN,       /* the tensor has the axis in another dimension: `winner` */
    TSR_CONFLICT_DISAGREE,    /* the tensor has other axes there: `winner` */
    TSR_CONFLICT_UNDECIDED,   /* two tensors differ, so that others get neither: `winner` is one */
    TSR_CONFLICT_CLOSED,      /* `annotation` closes the dimension */
    TSR_CONFLICT_REPLICATED,  /* `annotation` says that the axis is replicated, or pending */
    TSR_CONFLICT_INDIVISIBLE, /* the axes do not divide this part of the dimension */
    TSR_CONFLICT_RAGGED,      /* `annotation` gives the dimension explicit sizes */
    TSR_CONFLICT_SIZES,       /* the op does not hand the explicit sizes of `wanted` on */
    TSR_CONFLICT_HELD,        /* operands of elementwise ops get what the result has, no more */
    TSR_CONFLICT_BLOCKED,     /* the op passes nothing on along this dimension */
    TSR_CONFLICT_MESHES,      /* the tensors of the op are on several meshes */
    TSR_CONFLICT_ANNOTATED    /* `annotation` keeps constraint `op` from being written to it */
} tsr_conflict_kind;

/* Why the winner was first. */
typedef enum tsr_conflict_rule {
    TSR_RULE_NONE,          /* nothing won */
    TSR_RULE_ANNOTATION,    /* it is written there */
    TSR_RULE_USER_PRIORITY, /* its annotation has an earlier priority */
    TSR_RULE_OP_PRIORITY,   /* it came through ops of an earlier priority */
    TSR_RULE_LARGER,        /* at once: from the larger tensor, or by the order of factors */
    TSR_RULE_FIRST          /* it was there before */
} tsr_conflict_rule;

/* An axis that one tensor of an op has and another could have had. */
typedef struct tsr_conflict {
    tsr_conflict_kind kind;
    tsr_conflict_rule rule;
    tsr_ir_op op; /* a function: between what it returns and its result */
    tsr_ir_tensor tensor;
    size_t dim;
    tsr_axis_ref axis;   /* that stayed out */
    uint32_t wanted;     /* the step of the tensor that has it: its number; 0: there is no axis */
    uint32_t winner;     /* a step: its number; 0: none */
    uint32_t annotation; /* its number; 0: none */
} tsr_conflict;

/*
 * Numbers of annotations and steps count from 1; entry 0 of the lists is none. Allocated in the
 * arena.
 */
typedef struct tsr_provenance {
    const tsr_annotation *annotations;
    size_t num_annotations; /* the last number */
    const tsr_axis_step *steps;
    size_t num_steps; /* the last number */
    const tsr_conflict *conflicts;
    size_t num_conflicts;
    const uint32_t *first_steps;  /* by value; 0: none */
    size_t num_first_steps;       /* tsr_program_num_values() + 1 */
    const uint32_t *result_steps; /* those of results of functions: the first of each */
    size_t num_result_steps;
} tsr_provenance;

/* Returns the first step of a tensor: its number; 0: none. */
TSR_API uint32_t tsr_provenance_first(const tsr_provenance *why, tsr_ir_tensor tensor) TSR_MT_SAFE;

/*
 * Propagates the shardings of a program as -sdy-propagation-pipeline=as-xla=true does, up to the
 * end of propagation proper, and records why. The program is left as it is then: calls are in line,
 * shardings open or closed as they came; values keep their numbers. Its shardings are those that
 * the pipeline gives, which goes on to close them and to repair those of
 * arguments and results that do not divide. `until` is the last priority of users' shardings to
 * propagate, -1 for all. On failure the program can only be destroyed.
 */
TSR_API TSR_NODISCARD tsr_status tsr_program_explain(tsr_context *ctx, tsr_arena *arena,
                                                     tsr_program *program, int64_t until,
                                                     tsr_provenance *out) TSR_MT_CONTEXT;

/*
 * Annotates a tensor, as if the program had said so: the sharding becomes that of the argument,
 * result or constraint, in place of what was there; any other value gets a constraint after it,
 * through which all its users go. The mesh of the sharding may have a name of the program, or none.
 */
TSR_API TSR_NODISCARD tsr_status tsr_program_annotate(tsr_context *ctx, tsr_program *program,
                                                      tsr_ir_tensor tensor,
                                                      const tsr_sharding *sharding) TSR_MT_CONTEXT;

/*
 * Returns the mesh of a name, or without one the only mesh of the program. It belongs to the
 * program until that changes.
 */
TSR_API TSR_NODISCARD tsr_status tsr_program_mesh(tsr_context *ctx, tsr_program *program,
                                                  TSR_NULLABLE const char *name,
                                                  const tsr_mesh **out) TSR_MT_CONTEXT;

/* "taken", "closed", ...; "?" for an unknown value. Static. */
TSR_API const char *tsr_conflict_name(tsr_conflict_kind kind) TSR_MT_SAFE;

/*
 * An explanation: a program that was propagated with its provenance, ready for questions about its
 * tensors, whose answers are in the words of its text. Names are those that the text gives values;
 * lines are lines of the text, 0 for what is not in it.
 */
typedef struct tsr_explanation tsr_explanation;

/*
 * Propagates a copy of a program, as tsr_program_explain does, and keeps why. The program itself is
 * left as it is and may be destroyed; a text that it was read from must outlive the explanation.
 * The caller destroys the explanation, before the context.
 */
TSR_API TSR_NODISCARD tsr_status tsr_explanation_create(tsr_context *ctx,
                                                        const tsr_program *program, int64_t until,
                                                        tsr_explanation **out) TSR_MT_CONTEXT;
TSR_API void tsr_explanation_destroy(TSR_NULLABLE tsr_explanation *explanation) TSR_MT_CONTEXT;

/*
 * Returns the program as it is after propagation, owned by the explanation: to be read, not to be
 * changed.
 */
TSR_API tsr_program *tsr_explanation_program(tsr_explanation *explanation) TSR_MT_CONTEXT;
/* Returns its provenance, owned by the explanation. */
TSR_API const tsr_provenance *
tsr_explanation_provenance(const tsr_explanation *explanation) TSR_MT_CONTEXT;

/*
 * Returns the tensors that a text means: a name of the program (`%12`, `%arg0`), the number of a
 * line, `FILE.py:LINE` where the program has locations (the end of a path is enough), `result0` for
 * a result of the main function, or the name that an argument or result has in Python. None is
 * fine: *count is 0 then; a line, or a name that several functions have, may mean several. The list
 * is allocated in the arena, in the order of the text.
 */
TSR_API TSR_NODISCARD tsr_status tsr_explanation_find(tsr_context *ctx, tsr_arena *arena,
                                                      const tsr_explanation *explanation,
                                                      const char *wanted, size_t *count,
                                                      const tsr_ir_tensor **out) TSR_MT_CONTEXT;

/* How much is told of a tensor. */
typedef struct tsr_explain_style {
    bool full;             /* whole paths, and all conflicts, also ops that pass nothing on */
    bool skip_suggestions; /* no suggestions: each takes a propagation of the whole program */
    bool no_paths; /* records have no paths: many tensors share steps, see tsr_explanation_step */
} tsr_explain_style;

/*
 * Returns all tensors that have an axis, or lack one because of a conflict, as
 * tsr_explanation_find.
 */
TSR_API TSR_NODISCARD tsr_status
tsr_explanation_tensors(tsr_context *ctx, tsr_arena *arena, const tsr_explanation *explanation,
                        TSR_NULLABLE const tsr_explain_style *style, size_t *count,
                        const tsr_ir_tensor **out) TSR_MT_CONTEXT;

/*
 * One tensor in words, as `tessera explain` prints it: its name, type and sharding; for each axis
 * the annotation it came from and the ops it came through; for each conflict what kept the axis
 * out. Where a dimension stays replicated because of a conflict, an annotation that helps is
 * suggested: it has been tried, on a copy of the program. An explanation tries at most 64, each
 * once. The text is allocated in the arena. TSR_ERR_INVALID when the program has no such tensor.
 */
TSR_API TSR_NODISCARD tsr_status tsr_explanation_text(tsr_context *ctx, tsr_arena *arena,
                                                      tsr_explanation *explanation,
                                                      tsr_ir_tensor tensor,
                                                      TSR_NULLABLE const tsr_explain_style *style,
                                                      const char **out) TSR_MT_CONTEXT;

/* An annotation in words. */
typedef struct tsr_annotation_words {
    uint32_t number; /* of the annotation in the provenance; 0: there is none, and no texts */
    tsr_annotation_kind kind;
    size_t index;
    TSR_NULLABLE const char *name;     /* `argument 0 of @main`, `the constraint %c` */
    TSR_NULLABLE const char *sharding; /* `[{"x"}, {}]` */
    int64_t line;
} tsr_annotation_words;

/* A step in words: how an axis came to a dimension of a tensor. */
typedef struct tsr_axis_hop {
    tsr_axis_step_kind kind;
    const char *tensor; /* `%3`, `%3 of @relu`, `result 0 of @main` */
    size_t dim;
    TSR_NULLABLE const char *op; /* `stablehlo.add`; NULL: none */
    int64_t line;                /* of the op */
    uint32_t from;               /* the step that the axis comes from: its number; 0: none */
} tsr_axis_hop;

/* An axis that a tensor has, and why. */
typedef struct tsr_axis_reason {
    size_t dim;
    const char *axis; /* `"x"`, `"x":(1)2` */
    tsr_annotation_words annotation;
    TSR_ARRAY(num_hops) const tsr_axis_hop *path; /* back to the annotation, that one last */
    size_t num_hops;
    uint32_t step; /* the first step of the path: its number */
} tsr_axis_reason;

/* A tensor that has an axis in a conflict; without one `tensor` and `axis` are NULL. */
typedef struct tsr_conflict_side {
    size_t dim;
    TSR_NULLABLE const char *tensor;
    TSR_NULLABLE const char *axis;
    tsr_annotation_words annotation;
} tsr_conflict_side;

/* An axis that a tensor could have had, and what kept it out. */
typedef struct tsr_conflict_reason {
    tsr_conflict_kind kind;
    tsr_conflict_rule rule;
    size_t dim;
    const char *axis;            /* `"x"`; `?` where it is not about one axis */
    TSR_NULLABLE const char *op; /* between whose tensors it is */
    int64_t line;                /* of the op */
    tsr_conflict_side wanted;    /* the tensor that has the axis */
    tsr_conflict_side winner;
    tsr_annotation_words annotation;             /* that is in the way */
    const char *reason;                          /* in words */
    TSR_NULLABLE const char *suggested_tensor;   /* to annotate; NULL: nothing is suggested */
    TSR_NULLABLE const char *suggested_sharding; /* with what */
} tsr_conflict_reason;

/* What is known of a tensor. */
typedef struct tsr_tensor_reasons {
    const char *tensor; /* its name */
    int64_t line;
    const char *type;     /* `tensor<8x8xf32>` */
    const char *sharding; /* `[{"x"}, {?}]`; `none` */
    TSR_ARRAY(num_axes) const tsr_axis_reason *axes;
    size_t num_axes;
    TSR_ARRAY(num_conflicts) const tsr_conflict_reason *conflicts;
    size_t num_conflicts;
} tsr_tensor_reasons;

/*
 * One tensor as records: what tsr_explanation_text says, paths always whole or left out. Texts and
 * lists are allocated in the arena or owned by the explanation: use them while both exist.
 */
TSR_API TSR_NODISCARD tsr_status tsr_explanation_reasons(
    tsr_context *ctx, tsr_arena *arena, tsr_explanation *explanation, tsr_ir_tensor tensor,
    TSR_NULLABLE const tsr_explain_style *style, tsr_tensor_reasons *out) TSR_MT_CONTEXT;

/*
 * One step in words, by its number in the provenance: the hop that begins the path of a reason with
 * that step; `from` is the next. Texts are allocated in the arena or owned by the explanation.
 * TSR_ERR_INVALID when there is no such step.
 */
TSR_API TSR_NODISCARD tsr_status tsr_explanation_step(tsr_context *ctx, tsr_arena *arena,
                                                      tsr_explanation *explanation, uint32_t step,
                                                      tsr_axis_hop *out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
