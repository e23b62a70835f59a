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

#endif
