/* An allocator that fails once. */
#ifndef FAILING_HEAP_H
#define FAILING_HEAP_H

#include "support.h"

/* Counts calls, fails the n-th, and knows what is still out. */
typedef struct failing_heap {
    int64_t calls;
    int64_t fail_at;
    int64_t live;
} failing_heap;

/* The function of a tsr_allocator whose state is a failing heap. */
void *failing_heap_resize(void *state, void *old, size_t old_size, size_t new_size);

/* Runs with the first, the second, .. allocation failing, as long as it is reached; how many. */
int64_t fail_each_allocation(bool (*reaches)(int64_t fail_at));

/*
 * Whether a call worked; a failure is one of memory, with a diagnostic.
 */
bool worked_or_no_memory(tsr_context *ctx, tsr_status status);

/*
 * Uses a context of its own with the first, the second, .. allocation failing, as long as it is
 * reached, each arena allocation a block by itself: what fails says so, and nothing is left. How
 * many there were.
 */
int64_t fail_each_allocation_of(bool (*use)(tsr_context *ctx));

#endif
