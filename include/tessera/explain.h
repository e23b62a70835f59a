/*
 * Explanations: for each axis of a propagated program, the annotation it came from and the ops it
 * came through; for each axis that could not propagate, the reason.
 *
 * An annotation is a sharding that the program had before propagation: of an argument, a result, a
 * constraint, a computation, an op. A step puts an axis, or a part of one, on a dimension of a
 * tensor: it comes from the annotation itself, or from an earlier step through an op. Following
 * `from` leads from any axis back to its annotation.
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
    tsr_ir_tensor tensor; /* the annotated tensor */
    const tsr_sharding *sharding;
} tsr_annotation;

/* How an axis came to a tensor. */
typedef enum tsr_axis_step_kind {
    TSR_AXIS_ANNOTATED, /* from the annotation itself */
    TSR_AXIS_BY_OP,     /* through `op`, by its sharding rule */
    TSR_AXIS_BY_EDGE,   /* between the inputs of `op` or its regions and its results */
    TSR_AXIS_BY_RETURN, /* between a value that a function returns and the function's result */
    TSR_AXIS_BY_GROUP   /* between members of a sharding group */
} tsr_axis_step_kind;

typedef struct tsr_axis_step {
    tsr_axis_step_kind kind;
    tsr_ir_tensor tensor;
    size_t dim;
    tsr_axis_ref axis;
    tsr_ir_op op;
    uint32_t from;       /* number of the step that the axis comes from; 0 for an annotation */
    uint32_t annotation; /* number of the annotation at the beginning of the chain */
    int64_t priority;    /* the user priority during which it happened */
    int level;           /* the op priority during which it happened; -1: ops had none */
    uint32_t visit;      /* number of the visit; steps of one visit happened at once */
    uint32_t next;       /* number of the next step of the same tensor; 0: none */
} tsr_axis_step;

/* Why axes did not propagate to a dimension, or, of two candidates, why one did not. */
typedef enum tsr_conflict_kind {
    TSR_CONFLICT_TAKEN,       /* the tensor has the axis in another dimension: `winner` */
    TSR_CONFLICT_DISAGREE,    /* the tensor has other axes there: `winner` */
    TSR_CONFLICT_UNDECIDED,   /* two tensors differ, so that others get neither: `winner` is one */
    TSR_CONFLICT_CLOSED,      /* `annotation` closes the dimension */
    TSR_CONFLICT_REPLICATED,  /* `annotation` declares the axis replicated, or pending */
    TSR_CONFLICT_INDIVISIBLE, /* the axes do not divide this part of the dimension */
    TSR_CONFLICT_RAGGED,      /* `annotation` gives the dimension explicit sizes */
    TSR_CONFLICT_SIZES,       /* the op does not pass on the explicit sizes of `wanted` */
    TSR_CONFLICT_HELD,    /* operands of elementwise ops get the axes of the result and no others */
    TSR_CONFLICT_BLOCKED, /* the op does not propagate along this dimension */
    TSR_CONFLICT_MESHES,  /* the tensors of the op are on several meshes */
    TSR_CONFLICT_ANNOTATED /* `annotation` takes precedence over constraint `op` */
} tsr_conflict_kind;

/* Why the winner came first. */
typedef enum tsr_conflict_rule {
    TSR_RULE_NONE,          /* nothing won */
    TSR_RULE_ANNOTATION,    /* it is annotated there */
    TSR_RULE_USER_PRIORITY, /* its annotation has an earlier user priority */
    TSR_RULE_OP_PRIORITY,   /* it came through ops of an earlier priority */
    TSR_RULE_LARGER, /* in the same visit: from the larger tensor, or by the order of factors */
    TSR_RULE_FIRST   /* it was there earlier */
} tsr_conflict_rule;

/* An axis that one tensor of an op has and another tensor could have had. */
typedef struct tsr_conflict {
    tsr_conflict_kind kind;
    tsr_conflict_rule rule;
    tsr_ir_op op; /* a function: between a value that it returns and its result */
    tsr_ir_tensor tensor;
    size_t dim;
    tsr_axis_ref axis;   /* the axis that did not propagate */
    uint32_t wanted;     /* number of the step of the tensor that has it; 0: none has */
    uint32_t winner;     /* number of a step; 0: none */
    uint32_t annotation; /* number of an annotation; 0: none */
} tsr_conflict;

/*
 * Numbers of annotations and steps count from 1; entry 0 of the lists is unused. Allocated in the
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
    const uint32_t *result_steps; /* those of results of functions: the first step of each */
    size_t num_result_steps;
} tsr_provenance;

/* Returns the number of the first step of a tensor; 0 if it has none. */
TSR_API uint32_t tsr_provenance_first(const tsr_provenance *why, tsr_ir_tensor tensor) TSR_MT_SAFE;

/*
 * Propagates the shardings of a program as -sdy-propagation-pipeline=as-xla=true does, up to the
 * end of propagation proper, and records provenance. Afterwards calls are inlined, and dimensions
 * are open or closed as propagation left them; value numbers do not change. The shardings are those
 * of the pipeline before it closes dimensions and repairs shardings of arguments and results that
 * do not divide. `until` is the last user priority to propagate, -1 for all. After a failure the
 * program can only be destroyed.
 */
TSR_API TSR_NODISCARD tsr_status tsr_program_explain(tsr_context *ctx, tsr_arena *arena,
                                                     tsr_program *program, int64_t until,
                                                     tsr_provenance *out) TSR_MT_CONTEXT;

/*
 * Annotates a tensor as if the text of the program had the annotation. The sharding replaces that
 * of the argument, result or constraint; any other value gets a constraint, which all its users
 * then use. The mesh of the sharding may have a name that the program defines, or no name.
 */
TSR_API TSR_NODISCARD tsr_status tsr_program_annotate(tsr_context *ctx, tsr_program *program,
                                                      tsr_ir_tensor tensor,
                                                      const tsr_sharding *sharding) TSR_MT_CONTEXT;

/*
 * Finds the mesh with a name, or without a name the only mesh of the program. Owned by the program,
 * valid until the program changes.
 */
TSR_API TSR_NODISCARD tsr_status tsr_program_mesh(tsr_context *ctx, tsr_program *program,
                                                  TSR_NULLABLE const char *name,
                                                  const tsr_mesh **out) TSR_MT_CONTEXT;

/* Returns "taken", "closed", ...; "?" for an unknown value. Static. */
TSR_API const char *tsr_conflict_name(tsr_conflict_kind kind) TSR_MT_SAFE;

/*
 * An explanation: a program propagated with provenance, ready for queries about its tensors.
 * Answers use the names that the text gives values, and lines of the text; the line is 0 for ops
 * that the text does not have.
 */
typedef struct tsr_explanation tsr_explanation;

/*
 * Propagates a copy of a program, as tsr_program_explain does, and stores its provenance. The
 * program itself does not change and may be destroyed; a text that it was read from must outlive
 * the explanation. The caller destroys the explanation, before the context.
 */
TSR_API TSR_NODISCARD tsr_status tsr_explanation_create(tsr_context *ctx,
                                                        const tsr_program *program, int64_t until,
                                                        tsr_explanation **out) TSR_MT_CONTEXT;
TSR_API void tsr_explanation_destroy(TSR_NULLABLE tsr_explanation *explanation) TSR_MT_CONTEXT;

/* Returns the propagated program, owned by the explanation; it must not be changed. */
TSR_API tsr_program *tsr_explanation_program(tsr_explanation *explanation) TSR_MT_CONTEXT;
/* Returns the provenance, owned by the explanation. */
TSR_API const tsr_provenance *
tsr_explanation_provenance(const tsr_explanation *explanation) TSR_MT_CONTEXT;

/*
 * Finds the tensors that a text names: a name of the program (`%12`, `%arg0`), a line number,
 * `FILE.py:LINE` if the program has locations (the end of a path is enough), `result0` for a result
 * of the main function, or the Python name of an argument or result. If nothing matches, *count is
 * 0. A line number, or a name that occurs in several functions, may match several tensors. The list
 * is allocated in the arena, in the order of the text.
 */
TSR_API TSR_NODISCARD tsr_status tsr_explanation_find(tsr_context *ctx, tsr_arena *arena,
                                                      const tsr_explanation *explanation,
                                                      const char *wanted, size_t *count,
                                                      const tsr_ir_tensor **out) TSR_MT_CONTEXT;

/* How detailed an explanation is. */
typedef struct tsr_explain_style {
    bool full; /* whole paths, and all conflicts, including ops that propagate nothing */
    bool skip_suggestions; /* testing one propagates the whole program again */
    bool no_paths; /* records without paths: many tensors share steps, see tsr_explanation_step */
} tsr_explain_style;

/* Lists all tensors that have an axis, or lost one to a conflict, as tsr_explanation_find does. */
TSR_API TSR_NODISCARD tsr_status
tsr_explanation_tensors(tsr_context *ctx, tsr_arena *arena, const tsr_explanation *explanation,
                        TSR_NULLABLE const tsr_explain_style *style, size_t *count,
                        const tsr_ir_tensor **out) TSR_MT_CONTEXT;

/*
 * Describes one tensor as `tessera explain` prints it: its name, type and sharding; for each axis
 * the annotation it came from and the ops it came through; for each conflict the reason. Where a
 * dimension stays replicated because of a conflict, suggests an annotation that helps; it has been
 * tested on a copy of the program. An explanation tests at most 64 suggestions, each once. The text
 * is allocated in the arena. Returns TSR_ERR_INVALID if the program has no such tensor.
 */
TSR_API TSR_NODISCARD tsr_status tsr_explanation_text(tsr_context *ctx, tsr_arena *arena,
                                                      tsr_explanation *explanation,
                                                      tsr_ir_tensor tensor,
                                                      TSR_NULLABLE const tsr_explain_style *style,
                                                      const char **out) TSR_MT_CONTEXT;

/* An annotation as text. */
typedef struct tsr_annotation_words {
    uint32_t number; /* of the annotation in the provenance; 0: no annotation, and no texts */
    tsr_annotation_kind kind;
    size_t index;
    TSR_NULLABLE const char *name;     /* `argument 0 of @main`, `the constraint %c` */
    TSR_NULLABLE const char *sharding; /* `[{"x"}, {}]` */
    int64_t line;
} tsr_annotation_words;

/* A step as text: how an axis came to a dimension of a tensor. */
typedef struct tsr_axis_hop {
    tsr_axis_step_kind kind;
    const char *tensor; /* `%3`, `%3 of @relu`, `result 0 of @main` */
    size_t dim;
    TSR_NULLABLE const char *op; /* `stablehlo.add`; NULL: none */
    int64_t line;                /* of the op */
    uint32_t from;               /* number of the step that the axis comes from; 0: none */
} tsr_axis_hop;

/* An axis of a tensor, and its path. */
typedef struct tsr_axis_reason {
    size_t dim;
    const char *axis; /* `"x"`, `"x":(1)2` */
    tsr_annotation_words annotation;
    TSR_ARRAY(num_hops) const tsr_axis_hop *path; /* back to the annotation, which is last */
    size_t num_hops;
    uint32_t step; /* number of the first step of the path */
} tsr_axis_reason;

/* A tensor that has an axis in a conflict; `tensor` and `axis` are NULL if there is none. */
typedef struct tsr_conflict_side {
    size_t dim;
    TSR_NULLABLE const char *tensor;
    TSR_NULLABLE const char *axis;
    tsr_annotation_words annotation;
} tsr_conflict_side;

/* An axis that a tensor could have had, and the reason why it does not. */
typedef struct tsr_conflict_reason {
    tsr_conflict_kind kind;
    tsr_conflict_rule rule;
    size_t dim;
    const char *axis;            /* `"x"`; `?` if the conflict is not about one axis */
    TSR_NULLABLE const char *op; /* the op whose tensors conflict */
    int64_t line;                /* of the op */
    tsr_conflict_side wanted;    /* the tensor that has the axis */
    tsr_conflict_side winner;
    tsr_annotation_words annotation;             /* the annotation that prevents it */
    const char *reason;                          /* the reason as text */
    TSR_NULLABLE const char *suggested_tensor;   /* the tensor to annotate; NULL: no suggestion */
    TSR_NULLABLE const char *suggested_sharding; /* the suggested sharding */
} tsr_conflict_reason;

/* The explanation of one tensor. */
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
 * Returns the explanation of one tensor as records, with the content of tsr_explanation_text; paths
 * are complete or omitted. Texts and lists are allocated in the arena or owned by the explanation:
 * use them while both exist.
 */
TSR_API TSR_NODISCARD tsr_status tsr_explanation_reasons(
    tsr_context *ctx, tsr_arena *arena, tsr_explanation *explanation, tsr_ir_tensor tensor,
    TSR_NULLABLE const tsr_explain_style *style, tsr_tensor_reasons *out) TSR_MT_CONTEXT;

/*
 * Returns one step as text, by its number in the provenance: the hop that begins the path of a
 * reason with that step; `from` is the next. Texts are allocated in the arena or owned by the
 * explanation. Returns TSR_ERR_INVALID if the step does not exist.
 */
TSR_API TSR_NODISCARD tsr_status tsr_explanation_step(tsr_context *ctx, tsr_arena *arena,
                                                      tsr_explanation *explanation, uint32_t step,
                                                      tsr_axis_hop *out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
