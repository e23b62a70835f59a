#include "failing_heap.h"

#include <stdio.h>
#include <stdlib.h>

void *failing_heap_resize(void *state, void *old, size_t old_size, size_t new_size)
{
    failing_heap *heap = state;
    if (new_size == 0) {
        heap->live -= old != NULL ? (int64_t)old_size : 0;
        free(old);
        return NULL;
    }
    if (heap->calls++ == heap->fail_at) {
        return NULL;
    }
    void *memory = realloc(old, new_size);
    assert_non_null(memory);
    heap->live += (int64_t)new_size - (old != NULL ? (int64_t)old_size : 0);
    return memory;
}

int64_t fail_each_allocation(bool (*reaches)(int64_t fail_at))
{
    int64_t n = 0;
    while (reaches(n)) {
        n++;
    }
    printf("allocations failed one by one: %lld\n", (long long)n);
    return n;
}
