/* What the system says of processes and memory. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/proc.h"
#include "support.h"

static void files(void **state)
{
    char text[8];
    (void)state;
    assert_true(proc_read("/proc/version", text, sizeof text));
    assert_string_equal(text, "Linux v");
    assert_false(proc_read("/proc/no such file", text, sizeof text));
    assert_string_equal(text, "");
    assert_true(proc_available_bytes() > 0);
}

static void stopped_processes(void **state)
{
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    while (child == 0) {
        (void)pause();
    }
    int status = 0;
    assert_false(proc_is_stopped((int)child));
    assert_int_equal(kill(child, SIGSTOP), 0);
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(proc_is_stopped((int)child));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(proc_is_stopped((int)child));
    assert_false(proc_is_stopped(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(files), TEST(stopped_processes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
