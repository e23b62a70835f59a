/*
 * Progress of long copies and folds. A rank that is inside a call raises a counter that its
 * peers see, every few megabytes, so that they can tell slow from stopped.
 */
#ifndef KERNEL_PROGRESS_H
#define KERNEL_PROGRESS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* After so many bytes the counter is raised. */
enum { PROGRESS_BYTES = 4 << 20 };

/* What a thread shows its peers: a counter, and what is called whenever it is raised; or NULL. */
typedef struct progress_target {
    _Atomic uint64_t *counter;
    void (*raised)(void *state);
    void *state;
} progress_target;

/* Those of the calling thread from now on; zeros for none. */
void progress_set(progress_target target);
progress_target progress_get(void);

/* Raises the counter. */
void progress_raise(void);

/* Adds to what was done since the counter was raised, and raises it when that is enough. */
static inline void progress_add(size_t *since, size_t bytes)
{
    *since += bytes;
    if (*since >= PROGRESS_BYTES) {
        *since = 0;
        progress_raise();
    }
}

#endif
