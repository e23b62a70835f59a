/* Clones of one file: on several threads, each destroyed by another thread than made it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tessera/program.h>

#include "support.h"

enum { THREADS = 4, ROUNDS = 50 };

/* A clone in a context of its own. */
typedef struct owned_clone {
    tsr_context *ctx;
    tsr_program *program;
    size_t printed;
} owned_clone;

static bool count_bytes(void *state, const char *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)state += count;
    return true;
}

/* Uses a clone, which reads the mapped text, and destroys it with its context. */
static void *use_and_destroy(void *argument)
{
    owned_clone *clone = argument;
    if (tsr_program_print(clone->ctx, clone->program, TSR_PROGRAM_PRETTY, count_bytes,
                          &clone->printed) < 0) {
        clone->printed = 0;
    }
    tsr_program_destroy(clone->program);
    tsr_context_destroy(clone->ctx);
    return NULL;
}

/* A large constant, whose digits stay in the file. */
static void write_program(const char *path)
{
    enum { DIGITS = 1024 };
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("func.func @f() {\n  %c = stablehlo.constant dense<\"0x", file);
    for (int i = 0; i < DIGITS; i++) {
        fprintf(file, "%02X", (unsigned)i % 256);
    }
    fputs("\"> : tensor<1024xi8>\n  return\n}\n", file);
    assert_int_equal(fclose(file), 0);
}

static void clones_outlive_their_program(void **state)
{
    fixture *f = *state;
    char path[] = "/tmp/test_clone_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_program(path);
    for (int round = 0; round < ROUNDS; round++) {
        owned_clone clones[THREADS] = {0};
        pthread_t threads[THREADS];
        tsr_program *program = NULL;
        assert_int_equal(tsr_program_load(f->ctx, path, 0, &program), TSR_OK);
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(tsr_context_create(NULL, &clones[i].ctx), TSR_OK);
            assert_int_equal(tsr_program_clone(clones[i].ctx, program, &clones[i].program), TSR_OK);
        }
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, use_and_destroy, &clones[i]), 0);
        }
        tsr_program_destroy(program);
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_true(clones[i].printed > 2048);
        }
    }
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(clones_outlive_their_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
