/*
 * Signs of life of long copies and folds. A rank that is inside a call raises a counter that its
 * peers see, every few megabytes, so that they can tell slow from stopped.
 */
#ifndef KERNEL_PROGRESS_H
#define KERNEL_PROGRESS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* After so many bytes the counter is raised. */
enum { PROGRESS_BYTES = 4 << 20 };

/* The counter of the calling thread from now on; NULL for none. */
void progress_set(_Atomic uint64_t *counter);

/* Raises it. */
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
