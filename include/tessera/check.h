/*
 * Checks of programs: finds mistakes in SPMD code that no verifier detects, before anything runs.
 *
 * Inside sdy.manual_computation (shard_map) and in local programs every device runs the same code
 * on its own part. The meaning of the code then depends on which values all devices share, which
 * values differ and which values are pending sums. The checker infers that for each axis and
 * reports code that cannot be intended: each finding has a rule, a location, a reason and a remedy.
 * The checker prints nothing and does not change the program.
 */
#ifndef TESSERA_CHECK_H
#define TESSERA_CHECK_H

#include <tessera/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A rule: a kind of mistake. Ids and names are stable. Static. */
typedef struct tsr_check_rule {
    const char *id;        /* "TSR-C001" */
    const char *name;      /* "pending-in-nonlinear" */
    tsr_severity severity; /* a note marks legal code that is probably unintended */
    const char *title;     /* one line */
    const char *help;      /* why it is a mistake, and what to do */
} tsr_check_rule;

/* Returns all rules, ordered by id. */
TSR_API const tsr_check_rule *tsr_check_rules(size_t *count) TSR_MT_SAFE;

/* A location that contributes to a finding: an op, and what happens there. */
typedef struct tsr_finding_note {
    tsr_ir_op op;
    const char *text;
} tsr_finding_note;

typedef struct tsr_finding {
    const tsr_check_rule *rule;
    tsr_ir_op op;        /* the location */
    tsr_ir_value value;  /* the value concerned; 0: none */
    const char *axis;    /* the name of the mesh axis */
    const char *message; /* one line, without the location */
    const char *remedy;  /* what to do, in one line */
    size_t num_notes;
    const tsr_finding_note *notes;
} tsr_finding;

typedef struct tsr_check_options {
    bool notes; /* report rules of severity TSR_NOTE too */
    bool local; /* treat the program as local, even if it has no collectives */
} tsr_check_options;

/* The findings, in the order of the program. */
typedef struct tsr_findings {
    size_t count;
    const tsr_finding *list;
} tsr_findings;

/*
 * Checks a verified program. `options` may be NULL. The findings are allocated in the arena and
 * refer to ops of the program. Findings do not make the call fail.
 *
 * A manual computation is checked where it is reached from a public function that no other function
 * calls, with the calls in it. A program is local if such a function reaches a StableHLO collective
 * outside of manual computations: each device then runs all of it. Its arguments and results follow
 * their shardings; if any of them has a sharding, those without one are replicated, otherwise
 * nothing is assumed about them. A loop or a chain of calls that would take too long is assumed to
 * change every value that it carries. The check may then miss a mistake; it never reports a false
 * one.
 */
TSR_API TSR_NODISCARD tsr_status tsr_check_program(tsr_context *ctx, tsr_arena *arena,
                                                   tsr_program *program,
                                                   TSR_NULLABLE const tsr_check_options *options,
                                                   tsr_findings *out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
