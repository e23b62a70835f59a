/*
 * Programs that are run: whatever the text, a run ends within its limits, with outputs or with a
 * diagnostic, and twice with the same bytes.
 */
#include <tessera/interpret.h>

#include "fuzz.h"

enum { MAX_OPS = 2000, MAX_BYTES = 1 << 22 };

static tsr_outputs *run_once(const workbench *b, tsr_interpreter *in, tsr_status *status)
{
    tsr_outputs *outputs = NULL;
    *status = tsr_interpreter_run(b->ctx, in, NULL, 0, &outputs);
    INSIST((outputs != NULL) == worked(b, *status));
    return outputs;
}

static void insist_same(const tsr_outputs *first, const tsr_outputs *second)
{
    for (size_t i = 0; first != NULL && i < tsr_outputs_count(first); i++) {
        const tsr_view a = tsr_outputs_get(first, i);
        const tsr_view c = tsr_outputs_get(second, i);
        size_t bytes = (size_t)tsr_dtype_item_bytes(a.dtype);
        INSIST(a.rank == c.rank);
        for (size_t d = 0; d < a.rank; d++) {
            INSIST(a.shape[d] == c.shape[d]);
            bytes *= (size_t)a.shape[d];
        }
        INSIST(a.data == NULL || memcmp(a.data, c.data, bytes) == 0);
    }
}

static void run_program(const workbench *b, const tsr_program *program)
{
    const tsr_interpreter_options options = {.max_ops = MAX_OPS, .max_bytes = MAX_BYTES};
    tsr_interpreter *in = NULL;
    tsr_status first = TSR_OK;
    tsr_status second = TSR_OK;
    const tsr_status status = tsr_interpreter_create(b->ctx, program, &options, &in);
    INSIST((in != NULL) == worked(b, status));
    if (in == NULL) {
        return;
    }
    tsr_outputs *one = run_once(b, in, &first);
    tsr_outputs *two = run_once(b, in, &second);
    INSIST(first == second);
    insist_same(one, two);
    tsr_outputs_destroy(one);
    tsr_outputs_destroy(two);
    tsr_interpreter_destroy(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    workbench b = workbench_open();
    const tsr_text text = {.name = "fuzz", .data = (const char *)data, .size = size};
    tsr_program *program = NULL;
    const tsr_status status = tsr_program_read(b.ctx, &text, 0, &program);
    INSIST((program != NULL) == worked(&b, status));
    if (program != NULL) {
        run_program(&b, program);
    }
    tsr_program_destroy(program);
    workbench_close(&b);
    return 0;
}
