/* Propagation that says why: the pipeline up to the end of propagation proper. */
#include <string.h>

#include <tessera/explain.h>
#include <tessera/pass.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "ir/edit.h"
#include "ir/shardings.h"
#include "propagate/passes.h"

/* The pipeline under way. */
typedef struct explaining {
    tsr_context *ctx;
    tsr_program *program;
    int64_t until;
    provenance_request request;
    tsr_status status;
} explaining;

/* Notes which values have a sharding of their own, before constraints are written to others. */
static tsr_status note_annotated(explaining *e)
{
    const uint32_t count = e->program->values.count;
    uint8_t *annotated = ARENA_ARRAY(e->request.arena, uint8_t, count);
    if (annotated == NULL) {
        return diag_nomem(e->ctx);
    }
    for (uint32_t value = 1; value < count; value++) {
        const tsr_sharding *sharding = NULL;
        if (program_value(e->program, value)->owner != 0) {
            TSR_TRY(tsr_ir_value_sharding(e->ctx, e->program, value, &sharding));
        }
        annotated[value] = sharding != NULL;
    }
    e->request.annotated = annotated;
    e->request.num_annotated = count;
    return TSR_OK;
}

static tsr_status propagate(explaining *e)
{
    TSR_TRY(edit_begin(e->program));
    const tsr_status status = propagate_with_reasons(e->ctx, e->program, e->until, &e->request);
    ir_shardings_refresh(e->program);
    return status;
}

/* Runs the next pass, and none after propagation. */
static bool run_next(void *state, const char *name, const tsr_pass_options *options)
{
    explaining *e = state;
    (void)options; /* of passes before propagation none has any */
    if (strcmp(name, "sdy-user-priority-propagate") == 0) {
        e->status = propagate(e);
        if (e->status >= 0) {
            e->status =
                tsr_pass_run(e->ctx, e->program, tsr_pass_find("sdy-sink-data-flow-edges"), NULL);
        }
        return false;
    }
    if (strcmp(name, "sdy-apply-sharding-constraints") == 0) {
        e->status = note_annotated(e);
    }
    if (e->status >= 0) {
        e->status = tsr_pass_run(e->ctx, e->program, tsr_pass_find(name), NULL);
    }
    return e->status >= 0;
}

enum { MAX_OPTIONS = 16 };

tsr_status tsr_program_explain(tsr_context *ctx, tsr_arena *arena, tsr_program *program,
                               int64_t until, tsr_provenance *out)
{
    GUARD(tsr_program_explain);
    const tsr_pass *pipeline = tsr_pass_find("sdy-propagation-pipeline");
    tsr_option_value values[MAX_OPTIONS] = {0};
    for (size_t i = 0; i < pipeline->num_options && i < MAX_OPTIONS; i++) {
        values[i].is_given = strcmp(pipeline->options[i].name, "as-xla") == 0;
        values[i].number = 1;
    }
    const tsr_pass_options chosen = {pipeline->options, pipeline->num_options, values};
    explaining e = {.ctx = ctx,
                    .program = program,
                    .until = until,
                    .request = {.arena = arena, .out = out},
                    .status = TSR_OK};
    (void)pipeline->expand(&chosen, run_next, &e);
    return e.status;
}

const char *tsr_conflict_name(tsr_conflict_kind kind)
{
    GUARD(tsr_conflict_name);
    static const char *const names[] = {[TSR_CONFLICT_TAKEN] = "taken",
                                        [TSR_CONFLICT_DISAGREE] = "disagree",
                                        [TSR_CONFLICT_UNDECIDED] = "undecided",
                                        [TSR_CONFLICT_CLOSED] = "closed",
                                        [TSR_CONFLICT_REPLICATED] = "replicated",
                                        [TSR_CONFLICT_INDIVISIBLE] = "indivisible",
                                        [TSR_CONFLICT_RAGGED] = "ragged",
                                        [TSR_CONFLICT_SIZES] = "sizes",
                                        [TSR_CONFLICT_HELD] = "held",
                                        [TSR_CONFLICT_BLOCKED] = "blocked",
                                        [TSR_CONFLICT_MESHES] = "meshes",
                                        [TSR_CONFLICT_ANNOTATED] = "annotated"};
    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "?";
}
