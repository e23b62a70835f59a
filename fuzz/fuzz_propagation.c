/*
 * Propagation: what the pipeline makes of any program that is read is refused with a diagnostic, or
 * can be printed and read again. Reasons come out of all that propagates, and each axis has one.
 */
#include <tessera/explain.h>
#include <tessera/pass.h>

#include "fuzz.h"

enum { LARGEST = 1 << 14 };

static tsr_program *read_program(const workbench *b, const char *data, size_t size)
{
    const tsr_text text = {.name = "fuzz", .data = data, .size = size};
    tsr_program *program = NULL;
    const tsr_status status =
        tsr_program_read(b->ctx, &text, TSR_PROGRAM_ALLOW_UNREGISTERED, &program);
    INSIST((program != NULL) == worked(b, status));
    return program;
}

static void insist_readable(const workbench *b, const tsr_program *program)
{
    const char *text = NULL;
    INSIST(tsr_program_to_text(b->ctx, b->arena, program, TSR_PROGRAM_GENERIC, &text) == TSR_OK);
    tsr_program *again = read_program(b, text, strlen(text));
    if (again == NULL) {
        (void)fprintf(stderr, "refused: %s\n%s", tsr_context_diagnostics(b->ctx)->text, text);
    }
    INSIST(again != NULL);
    tsr_program_destroy(again);
}

/* Propagates a copy with reasons: each step leads to an annotation. */
static void insist_explained(const workbench *b, const tsr_program *program)
{
    tsr_program *copy = NULL;
    tsr_provenance why;
    INSIST(tsr_program_clone(b->ctx, program, &copy) == TSR_OK);
    if (worked(b, tsr_program_explain(b->ctx, b->arena, copy, -1, &why))) {
        for (size_t i = 1; i <= why.num_steps; i++) {
            INSIST(why.steps[i].annotation != 0 && why.steps[i].from < i);
        }
    }
    tsr_program_destroy(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    workbench b = workbench_open();
    tsr_program *program = size <= LARGEST ? read_program(&b, (const char *)data, size) : NULL;
    if (program != NULL) {
        insist_explained(&b, program);
        const tsr_pass *pass = tsr_pass_find("sdy-propagation-pipeline");
        const tsr_status status = tsr_pass_run(b.ctx, program, pass, NULL);
        if (worked(&b, status) && worked(&b, tsr_program_verify(b.ctx, program))) {
            insist_readable(&b, program);
        }
        tsr_program_destroy(program);
    }
    workbench_close(&b);
    return 0;
}
