#include "large_op.h"

#include <math.h>

void open_program(running *r, const char *text)
{
    const tsr_text source = tsr_text_of("bench.mlir", text);
    INSIST(tsr_context_create(NULL, &r->ctx) == TSR_OK);
    INSIST(tsr_program_read(r->ctx, &source, 0, &r->program) == TSR_OK);
    INSIST(tsr_interpreter_create(r->ctx, r->program, NULL, &r->interpreter) == TSR_OK);
}

void close_program(running *r)
{
    tsr_interpreter_destroy(r->interpreter);
    tsr_program_destroy(r->program);
    tsr_context_destroy(r->ctx);
}

int64_t run_once(void *state)
{
    running *r = state;
    tsr_outputs *outputs = NULL;
    INSIST(tsr_interpreter_run(r->ctx, r->interpreter, r->inputs, r->num_inputs, &outputs) ==
           TSR_OK);
    tsr_outputs_destroy(outputs);
    return tsr_interpreter_get_stats(r->interpreter).ops;
}

float *random_floats(size_t count)
{
    float *data = malloc(count * sizeof *data);
    uint32_t state = 1;
    INSIST(data != NULL);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        data[i] = (float)(state >> 8) / (float)(1 << 23) - 1;
    }
    return data;
}

void report(const char *name, const char *peer, const timing *ours, const timing *theirs)
{
    printf("{\"bench\": \"large_ops\", \"case\": \"%s\", \"ms\": %.3f, \"peer\": \"%s\", "
           "\"peer_ms\": %.3f, \"ratio\": %.2f, \"spread\": %.2f}\n",
           name, 1e3 * ours->median, peer, 1e3 * theirs->median, ours->median / theirs->median,
           ours->spread > theirs->spread ? ours->spread : theirs->spread);
}

void insist_equal(running *r, const float *wanted, size_t count, double tolerance)
{
    tsr_outputs *outputs = NULL;
    double largest = 0;
    double off = 0;
    INSIST(tsr_interpreter_run(r->ctx, r->interpreter, r->inputs, r->num_inputs, &outputs) ==
           TSR_OK);
    const float *got = tsr_outputs_get(outputs, 0).data;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)wanted[i]));
        off = fmax(off, fabs((double)wanted[i] - (double)got[i]));
    }
    INSIST(off <= tolerance * largest);
    tsr_outputs_destroy(outputs);
}
