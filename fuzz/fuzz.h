/* What the fuzz targets share. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

/* Ends the run as a finding. */
#define INSIST(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                  \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A context and an arena for one input. */
typedef struct workbench {
    tsr_context *ctx;
    tsr_arena *arena;
} workbench;

static inline workbench workbench_open(void)
{
    workbench b = {0};
    INSIST(tsr_context_create(NULL, &b.ctx) == TSR_OK);
    INSIST(tsr_arena_create(b.ctx, &b.arena) == TSR_OK);
    return b;
}

/* Also renders the diagnostics, since that reads the input too. */
static inline void workbench_close(workbench *b)
{
    for (const tsr_diagnostic *d = tsr_context_diagnostics(b->ctx); d != NULL; d = d->next) {
        const char *text;
        INSIST(tsr_diagnostic_format(b->ctx, b->arena, d, true, &text) == TSR_OK);
    }
    tsr_arena_destroy(b->arena);
    tsr_context_destroy(b->ctx);
}

/* A failure always leaves a diagnostic. */
static inline bool worked(const workbench *b, tsr_status status)
{
    INSIST(status >= 0 || tsr_context_diagnostics(b->ctx) != NULL);
    return status >= 0;
}

#endif
