/* A process that forks while another of its threads multiplies, and children that multiply. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#include "kernel/dot.h"

enum { SIZE = 192, FORKS = 40, TIMEOUT = 60 };

static double left[SIZE * SIZE];
static double right[SIZE * SIZE];

static void multiply(double *product)
{
    static const int64_t shape[] = {SIZE, SIZE};
    static const int64_t strides[] = {SIZE * (int64_t)sizeof(double), sizeof(double)};
    const tsr_view dst = {product, TSR_F64, 2, shape, strides};
    const tsr_view a = {left, TSR_F64, 2, shape, strides};
    const tsr_view b = {right, TSR_F64, 2, shape, strides};
    const dot_job job = {&dst, &a, &b, 0, 1};
    kernel_dot(&job, NULL);
}

static _Atomic bool stop;

static void *keep_multiplying(void *state)
{
    while (!atomic_load(&stop)) {
        multiply(state);
    }
    return NULL;
}

static void forks_wait_for_products(void **state)
{
    static double products[3][SIZE * SIZE];
    pthread_t threads[2];
    (void)state;
    for (int i = 0; i < SIZE * SIZE; i++) {
        left[i] = 1;
        right[i] = 2;
    }
    (void)alarm(TIMEOUT);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, keep_multiplying, products[i]), 0);
    }
    for (int i = 0; i < FORKS; i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)alarm(TIMEOUT);
            multiply(products[2]);
            _exit(products[2][SIZE] == 2 * SIZE ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    (void)alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(forks_wait_for_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
