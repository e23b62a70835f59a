/*
 * A rank's segment: address space that all ranks see, from which its tensors are allocated.
 *
 * Only the owner allocates. Blocks come in size classes, four to each doubling; a freed block goes
 * back to its class and keeps its pages, so that the next tensor of that size finds them mapped.
 */
#ifndef RT_SEGMENT_H
#define RT_SEGMENT_H

#include <stddef.h>

#include <tessera/context.h>

enum { SEGMENT_CLASSES = 4 * 64, SEGMENT_ALIGNMENT = 4096 };

typedef struct segment {
    tsr_context *ctx;
    char *base;
    size_t size;
    size_t used; /* from the start; memory after it was never allocated */
    size_t live; /* bytes allocated and not freed */
    size_t most; /* that `live` ever was; a test may set it back */
    struct free_block *free[SEGMENT_CLASSES];
    struct free_block *spare; /* nodes without a block */
} segment;

/* A segment over address space that is mapped already. */
void segment_init(segment *s, tsr_context *ctx, char *base, size_t size);
/* Frees what describes the segment; the address space is the caller's. */
void segment_destroy(segment *s);

/*
 * `size` bytes, page-aligned, not zeroed. NULL when the segment or the machine has no room for it,
 * with a diagnostic.
 */
void *segment_alloc(segment *s, size_t size);
/* The same, but NULL without a diagnostic. */
void *segment_try(segment *s, size_t size);
void segment_free(segment *s, void *memory, size_t size);

#endif
