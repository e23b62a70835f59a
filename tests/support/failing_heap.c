#include "failing_heap.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

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

bool worked_or_no_memory(tsr_context *ctx, tsr_status status)
{
    if (status >= 0) {
        return true;
    }
    assert_int_equal(status, TSR_ERR_NOMEM);
    assert_non_null(tsr_context_diagnostics(ctx));
    return false;
}

/* With the n-th allocation failing; returns whether it was reached. */
static bool use_with_failure(bool (*use)(tsr_context *ctx), int64_t fail_at)
{
    failing_heap heap = {.fail_at = fail_at};
    const tsr_allocator allocator = {.resize = failing_heap_resize, .state = &heap};
    tsr_context *ctx = NULL;
    bool fine = false;
    if (tsr_context_create(&allocator, &ctx) == TSR_OK) {
        fine = context_make_hostile(ctx) == TSR_OK && use(ctx);
        tsr_context_destroy(ctx);
    }
    assert_int_equal(heap.live, 0);
    assert_true(!fine || heap.calls <= fail_at);
    return heap.calls > fail_at;
}

int64_t fail_each_allocation_of(bool (*use)(tsr_context *ctx))
{
    int64_t n = 0;
    while (use_with_failure(use, n)) {
        n++;
    }
    printf("allocations failed one by one: %lld\n", (long long)n);
    return n;
}
