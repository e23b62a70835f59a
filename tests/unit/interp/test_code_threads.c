/* Decoded code is immutable: threads run the same code at the same time, each on a machine of its
 * own. */
#include <pthread.h>
#include <string.h>

#include "interp/world.h"
#include "support.h"

enum { NUM_THREADS = 4, NUM_RUNS = 50 };

/*
 * Constants of both kinds, a kernel with scratch, a kernel on other types than the program's, a
 * loop, a call, and a comparator that is called element by element.
 */
static const char program_text[] =
    "func.func private @scaled(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
    "  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>\n"
    "  %two = stablehlo.constant dense<2.0> : tensor<8xf32>\n"
    "  %0 = stablehlo.multiply %x, %c : tensor<8xf32>\n"
    "  %1 = stablehlo.add %0, %two : tensor<8xf32>\n"
    "  return %1 : tensor<8xf32>\n"
    "}\n"
    "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
    "  %0 = func.call @scaled(%x) : (tensor<8xf32>) -> tensor<8xf32>\n"
    "  %1 = \"stablehlo.sort\"(%0) <{dimension = 0 : i64, is_stable = true}> ({\n"
    "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
    "    %s = stablehlo.multiply %a, %a : tensor<f32>\n"
    "    %t = stablehlo.multiply %b, %b : tensor<f32>\n"
    "    %p = stablehlo.compare GT, %s, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
    "    stablehlo.return %p : tensor<i1>\n"
    "  }) : (tensor<8xf32>) -> tensor<8xf32>\n"
    "  %n = stablehlo.constant dense<3> : tensor<i32>\n"
    "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %2:2 = stablehlo.while(%i = %zero, %y = %1) : tensor<i32>, tensor<8xf32> cond {\n"
    "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %p : tensor<i1>\n"
    "  } do {\n"
    "    %h = stablehlo.convert %y : (tensor<8xf32>) -> tensor<8xf8E5M2>\n"
    "    %d = stablehlo.add %h, %h : tensor<8xf8E5M2>\n"
    "    %f = stablehlo.convert %d : (tensor<8xf8E5M2>) -> tensor<8xf32>\n"
    "    %j = stablehlo.add %i, %one : tensor<i32>\n"
    "    stablehlo.return %j, %f : tensor<i32>, tensor<8xf32>\n"
    "  }\n"
    "  return %2#1 : tensor<8xf32>\n"
    "}\n";

typedef struct job {
    const program_code *code;
    const code_function *main;
    float first;
    float results[8];
    bool failed;
} job;

/* Runs the function once: what it returns, in `results`. */
static tsr_status run_once(job *j, tsr_context *ctx, interp_pool *pool)
{
    interp_host host = {.steps_left = INT64_MAX};
    interp_machine m;
    interp_array *x = NULL;
    interp_machine_init(&m, ctx, j->code, pool, &host);
    tsr_status status = interp_array_new(pool, j->main->body->argument_types[0], &x);
    if (status == TSR_OK) {
        for (int i = 0; i < 8; i++) {
            ((float *)(void *)x->data)[i] = j->first - (float)i;
        }
        status = interp_enter_function(&m, j->main, &x, NULL);
    }
    if (status == TSR_OK) {
        status = interp_machine_run(&m, 0);
    }
    if (status == TSR_OK) {
        memcpy(j->results, m.returned[0]->data, sizeof j->results);
    }
    interp_machine_clear(&m);
    return status;
}

static void *run_many(void *state)
{
    job *j = state;
    tsr_context *ctx = NULL;
    float before[8];
    if (tsr_context_create(NULL, &ctx) < 0) {
        j->failed = true;
        return NULL;
    }
    interp_pool pool = interp_pool_new(ctx, 0, 0);
    for (int run = 0; run < NUM_RUNS && !j->failed; run++) {
        j->failed = run_once(j, ctx, &pool) != TSR_OK ||
                    (run > 0 && memcmp(before, j->results, sizeof before) != 0);
        memcpy(before, j->results, sizeof before);
    }
    j->failed = j->failed || pool.live != 0 || pool.arrays != 0;
    interp_pool_clear(&pool);
    tsr_context_destroy(ctx);
    return NULL;
}

/* What the program computes, by hand: sorted by squares, then rounded to f8E5M2 and doubled. */
static void expect_results(const job *j)
{
    float y[8];
    for (int i = 0; i < 8; i++) {
        y[i] = (j->first - (float)i) * (float)(i + 1) + 2;
    }
    for (int i = 0; i < 8; i++) {
        for (int k = i; k > 0 && y[k] * y[k] > y[k - 1] * y[k - 1]; k--) {
            const float moved = y[k];
            y[k] = y[k - 1];
            y[k - 1] = moved;
        }
    }
    for (int i = 0; i < 8; i++) {
        /* Two bits follow the first one; f8E5M2 rounds once, doubling is exact. */
        const float wanted = 8 * y[i];
        const float slack = (wanted < 0 ? -wanted : wanted) / 8;
        assert_true(j->results[i] >= wanted - slack && j->results[i] <= wanted + slack);
    }
}

static void threads_share_code(void **state)
{
    fixture *f = *state;
    const tsr_text source = {.data = program_text, .size = strlen(program_text)};
    tsr_program *program = NULL;
    program_code *code = NULL;
    const code_function *main_function = NULL;
    job jobs[NUM_THREADS];
    pthread_t threads[NUM_THREADS];
    assert_int_equal(tsr_program_read(f->ctx, &source, 0, &program), TSR_OK);
    assert_int_equal(code_create(f->ctx, program, &interp_table, 0, &code), TSR_OK);
    assert_int_equal(code_function_of(code, tsr_program_main(program), 0, &main_function), TSR_OK);
    for (int i = 0; i < NUM_THREADS; i++) {
        jobs[i] = (job){.code = code, .main = main_function, .first = (float)(i - 2)};
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, &jobs[i]), 0);
    }
    for (int i = 0; i < NUM_THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(jobs[i].failed);
        expect_results(&jobs[i]);
    }
    code_destroy(code);
    tsr_program_destroy(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(threads_share_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
