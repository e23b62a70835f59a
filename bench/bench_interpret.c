/*
 * What the interpreter costs beside its kernels: loops of small ops, beside the same loop in C; a
 * reduction by a region that no kernel knows, beside one that a kernel does.
 */
#include <string.h>

#include "bench.h"

enum { ITERATIONS = 100000, OPS = 4, ELEMENTS = 20000 };

static const char loop_text[] =
    "func.func @main() -> tensor<f32> {\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i64>\n"
    "  %one = stablehlo.constant dense<1> : tensor<i64>\n"
    "  %n = stablehlo.constant dense<100000> : tensor<i64>\n"
    "  %x = stablehlo.constant dense<1.0> : tensor<f32>\n"
    "  %h = stablehlo.constant dense<0.5> : tensor<f32>\n"
    "  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i64>, tensor<f32> cond {\n"
    "    %1 = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
    "    stablehlo.return %1 : tensor<i1>\n"
    "  } do {\n"
    "    %2 = stablehlo.add %i, %one : tensor<i64>\n"
    "    %3 = stablehlo.multiply %y, %h : tensor<f32>\n"
    "    %4 = stablehlo.add %3, %x : tensor<f32>\n"
    "    stablehlo.return %2, %4 : tensor<i64>, tensor<f32>\n"
    "  }\n"
    "  return %0#1 : tensor<f32>\n}";

/* a - (b - a) b: no combiner that is known. */
static const char region_text[] =
    "func.func @main() -> tensor<i32> {\n"
    "  %x = stablehlo.iota dim = 0 : tensor<20000xi32>\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %0 = \"stablehlo.reduce\"(%x, %zero) <{dimensions = array<i64: 0>}> ({\n"
    "  ^bb0(%a: tensor<i32>, %b: tensor<i32>):\n"
    "    %1 = stablehlo.subtract %b, %a : tensor<i32>\n"
    "    %2 = stablehlo.multiply %1, %b : tensor<i32>\n"
    "    %3 = stablehlo.subtract %a, %2 : tensor<i32>\n"
    "    stablehlo.return %3 : tensor<i32>\n"
    "  }) : (tensor<20000xi32>, tensor<i32>) -> tensor<i32>\n"
    "  return %0 : tensor<i32>\n}";

typedef struct bench_state {
    tsr_context *ctx;
    tsr_interpreter *interpreter;
} bench_state;

/* The bits of the only result. */
static int64_t run(void *state)
{
    bench_state *s = state;
    tsr_outputs *outputs = NULL;
    int32_t bits = 0;
    INSIST(tsr_interpreter_run(s->ctx, s->interpreter, NULL, 0, &outputs) == TSR_OK);
    memcpy(&bits, tsr_outputs_get(outputs, 0).data, sizeof bits);
    tsr_outputs_destroy(outputs);
    return bits;
}

static int64_t loop_by_hand(void *state)
{
    (void)state;
    volatile float y = 1;
    int32_t bits = 0;
    for (volatile int64_t i = 0; i < ITERATIONS; i++) {
        const float half = y * 0.5F;
        y = half + 1;
    }
    const float last = y;
    memcpy(&bits, &last, sizeof bits);
    return bits;
}

static int64_t region_by_hand(void *state)
{
    (void)state;
    volatile uint32_t sum = 0;
    for (uint32_t b = 0; b < ELEMENTS; b++) {
        const uint32_t a = sum;
        sum = a - (b - a) * b;
    }
    return (int32_t)sum;
}

static void report(tsr_context *ctx, const char *name, const char *text, work by_hand, int64_t ops)
{
    const tsr_text source = {.name = name, .data = text, .size = strlen(text)};
    bench_state s = {.ctx = ctx};
    tsr_program *program = NULL;
    timing a = {0};
    timing b = {0};
    INSIST(tsr_program_read(ctx, &source, 0, &program) == TSR_OK);
    INSIST(tsr_interpreter_create(ctx, program, NULL, &s.interpreter) == TSR_OK);
    race(run, by_hand, &s, 1, &a, &b);
    INSIST(a.answer == b.answer);
    printf("{\"bench\": \"%s\", \"ns_an_op\": %.1f, \"spread\": %.2f, \"wanted_ns\": 1000, "
           "\"limit\": \"the same in C\", \"limit_ns\": %.1f, \"ratio\": %.1f}\n",
           name, 1e9 * a.median / (double)ops, a.spread, 1e9 * b.median / (double)ops,
           a.median / b.median);
    tsr_interpreter_destroy(s.interpreter);
    tsr_program_destroy(program);
}

int main(void)
{
    tsr_context *ctx = NULL;
    INSIST(tsr_context_create(NULL, &ctx) == TSR_OK);
    report(ctx, "interpret_while", loop_text, loop_by_hand, (int64_t)ITERATIONS * OPS);
    report(ctx, "interpret_region", region_text, region_by_hand, (int64_t)ELEMENTS * 3);
    tsr_context_destroy(ctx);
    return 0;
}
