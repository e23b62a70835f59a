#include "progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 1000, STEP_MS = 250 };

/* The one line there is. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    const char *what; /* NULL: none is under way */
    struct timespec since;
    bool runs;
    bool shown;
} line = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int64_t ms_since(const struct timespec *start)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
}

static void clear_line(void)
{
    if (line.shown) {
        fputs("\r\033[K", stderr);
        line.shown = false;
    }
}

/* Shows the stage under way every now and then, until there is none. */
static void *show(void *unused)
{
    (void)unused;
    (void)pthread_mutex_lock(&line.lock);
    while (line.what != NULL) {
        struct timespec next;
        (void)clock_gettime(CLOCK_REALTIME, &next);
        const int64_t elapsed = ms_since(&line.since);
        if (elapsed >= FIRST_MS) {
            fprintf(stderr, "\r\033[K%s, %.1f s", line.what, (double)elapsed / 1000);
            line.shown = true;
        }
        next.tv_nsec += STEP_MS * 1000000L;
        next.tv_sec += next.tv_nsec / 1000000000L;
        next.tv_nsec %= 1000000000L;
        (void)pthread_cond_timedwait(&line.changed, &line.lock, &next);
    }
    clear_line();
    (void)pthread_mutex_unlock(&line.lock);
    return NULL;
}

static void stop(void)
{
    progress_stage(NULL);
}

void progress_stage(const char *what)
{
    if (!line.runs && (what == NULL || isatty(STDERR_FILENO) == 0)) {
        return;
    }
    (void)pthread_mutex_lock(&line.lock);
    if (line.what == NULL) {
        (void)clock_gettime(CLOCK_REALTIME, &line.since);
    }
    line.what = what;
    (void)pthread_cond_signal(&line.changed);
    (void)pthread_mutex_unlock(&line.lock);
    if (what == NULL) {
        (void)pthread_join(line.thread, NULL);
        line.runs = false;
    } else if (!line.runs) {
        static bool registered;
        line.runs = pthread_create(&line.thread, NULL, show, NULL) == 0;
        if (line.runs && !registered) {
            registered = atexit(stop) == 0;
        }
    }
}
