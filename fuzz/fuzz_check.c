/*
 * Checks: of any program that is read, local or not, findings name existing ops and rules,
 * and a second check finds the same.
 */
#include <tessera/check.h>

#include "fuzz.h"

enum { LARGEST = 1 << 14 };

static tsr_findings check(const workbench *b, tsr_program *program, bool local)
{
    const tsr_check_options options = {.notes = true, .local = local};
    tsr_findings findings = {0};
    INSIST(worked(b, tsr_check_program(b->ctx, b->arena, program, &options, &findings)));
    return findings;
}

static void insist_sound(const tsr_program *program, const tsr_finding *f)
{
    INSIST(f->op > 0 && f->op <= tsr_program_num_ops(program) && f->rule != NULL);
    INSIST(f->value <= tsr_program_num_values(program));
    INSIST(f->message[0] != '\0' && f->remedy[0] != '\0' && f->axis != NULL);
    for (size_t n = 0; n < f->num_notes; n++) {
        INSIST(f->notes[n].op > 0 && f->notes[n].op <= tsr_program_num_ops(program));
    }
}

static void check_twice(const workbench *b, tsr_program *program, bool local)
{
    const tsr_findings first = check(b, program, local);
    const tsr_findings second = check(b, program, local);
    INSIST(first.count == second.count);
    for (size_t i = 0; i < first.count; i++) {
        insist_sound(program, &first.list[i]);
        INSIST(first.list[i].op == second.list[i].op && first.list[i].rule == second.list[i].rule);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    workbench b = workbench_open();
    const tsr_text text = {.name = "fuzz", .data = (const char *)data, .size = size};
    tsr_program *program = NULL;
    if (size <= LARGEST &&
        worked(&b, tsr_program_read(b.ctx, &text, TSR_PROGRAM_ALLOW_UNREGISTERED, &program))) {
        check_twice(&b, program, false);
        check_twice(&b, program, true);
        tsr_program_destroy(program);
    }
    workbench_close(&b);
    return 0;
}
