/*
 * Checks of programs: mistakes of SPMD code that no verifier sees, found before anything runs.
 *
 * Inside sdy.manual_computation (shard_map) and in local programs every device runs the same code
 * on its own part. What the code means then depends on which values all devices share, which differ
 * and which are sums that are still pending. The checker infers that, axis by axis, and reports
 * what cannot be meant: each finding has a rule, a place, a reason and a remedy. Nothing is printed
 * and the program is not changed.
 */
#ifndef TESSERA_CHECK_H
#define TESSERA_CHECK_H

#include <tessera/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A rule: what is looked for. Ids and names are stable. Static. */
typedef struct tsr_check_rule {
    const char *id;        /* "TSR-C001" */
    const char *name;      /* "pending-in-nonlinear" */
    tsr_severity severity; /* notes are about what is legal and perhaps not meant */
    const char *title;     /* one line */
    const char *help;      /* why it is a mistake, and what to do */
} tsr_check_rule;

/* Returns all rules, by id. */
TSR_API const tsr_check_rule *tsr_check_rules(size_t *count) TSR_MT_SAFE;

/* A place that a finding follows from: an op, and what happens there. */
typedef struct tsr_finding_note {
    tsr_ir_op op;
    const char *text;
} tsr_finding_note;

typedef struct tsr_finding {
    const tsr_check_rule *rule;
    tsr_ir_op op;        /* where it is */
    tsr_ir_value value;  /* that it is about; 0: none */
    const char *axis;    /* the name of the mesh axis */
    const char *message; /* one line, without the place */
    const char *remedy;  /* what to do, one line */
    size_t num_notes;
    const tsr_finding_note *notes;
} tsr_finding;

typedef struct tsr_check_options {
    bool notes; /* report rules of severity TSR_NOTE too */
    bool local; /* the program is local, whether or not it has collectives */
} tsr_check_options;

/* What was found, in the order of the program. */
typedef struct tsr_findings {
    size_t count;
    const tsr_finding *list;
} tsr_findings;

/*
 * Checks a verified program. `options` may be NULL. The findings are allocated in the arena and
 * name ops of the program; finding something is no failure. A manual computation is checked where
 * it is reached from a public function that nothing calls, with the calls in it. A program is local
 * when such a function reaches a StableHLO collective outside of manual computations: then all of
 * it runs on each device. Its arguments and results are as their shardings say and, where any of
 * them has a sharding, those without one are replicated; otherwise nothing is known of them. A loop
 * or a chain of calls that would take too long is taken to change all it carries: that can hide a
 * mistake and report none that is not there.
 */
TSR_API TSR_NODISCARD tsr_status tsr_check_program(tsr_context *ctx, tsr_arena *arena,
                                                   tsr_program *program,
                                                   TSR_NULLABLE const tsr_check_options *options,
                                                   tsr_findings *out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
