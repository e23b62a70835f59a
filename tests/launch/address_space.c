/* A launch under a limit of address space in which OpenBLAS would look for buffers without end. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#include "kernel/dot.h"

enum { MARGIN = 40 << 20, SEGMENT = 1 << 20, TIMEOUT = 60 };

/* Bytes of address space that this process has. */
static size_t address_space(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu", &pages), 1);
    assert_int_equal(fclose(file), 0);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static tsr_status nothing(tsr_comm *world, void *state)
{
    (void)world;
    (void)state;
    return TSR_OK;
}

/* 0 when the launch is refused for want of room, with a message that names limit and remedy. */
static int launch_within(tsr_context *ctx, size_t bytes)
{
    const struct rlimit limit = {bytes, bytes};
    const tsr_launch_spec spec = {
        .num_ranks = 1, .ranks = TSR_RANKS_THREADS, .segment_bytes = SEGMENT};
    (void)alarm(TIMEOUT);
    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        return 2;
    }
    if (tsr_launch(ctx, &spec, nothing, NULL) != TSR_ERR_NOMEM) {
        return 1;
    }
    const char *text = tsr_context_diagnostics(ctx)->text;
    return strstr(text, "the address space limit") != NULL && strstr(text, "ulimit -v") != NULL ? 0
                                                                                                : 3;
}

/* What a child says that launches with so much more address space than it has. */
static int with_more(tsr_context *ctx, size_t bytes)
{
    int status = -1;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(launch_within(ctx, address_space() + bytes));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void small_limits_are_refused(void **state)
{
    fixture *f = *state;
    const size_t room = blas_room(1);
    if (address_space() > (size_t)1 << 40 || room == 0) { /* a sanitizer's, or another CBLAS */
        skip();
    }
    assert_int_equal(with_more(f->ctx, MARGIN), 0);
    assert_int_equal(with_more(f->ctx, room + ((size_t)256 << 20)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(small_limits_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
