/*
 * A rank's segment: address space that all ranks see, from which its tensors are allocated.
 *
 * Only the owner allocates. The allocator is a two-level segregated fit (TLSF; Masmano, Ripoll,
 * Crespo, Real, 2004) over pages: free neighbours are joined at once, free blocks are kept in lists
 * by size, eight to each doubling, and a request takes a block of about its size, else the first of
 * the first list in which all are large enough; what is left of it is a free block again. So less
 * than a page of a block is unused, and a request fails only when no free block is large enough.
 * What describes blocks is in the owner's heap, out of the reach of other ranks.
 *
 * A freed block keeps its pages, so that the next tensor finds them mapped. Pages go back to the
 * system when more are held than the segment needed lately: than the largest amount that was live,
 * of which an eighth of every byte that is freed is forgotten, and SEGMENT_SPARE_BYTES. So a loop
 * keeps the pages of what it allocates again and again.
 */
#ifndef RT_SEGMENT_H
#define RT_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include <tessera/context.h>

enum {
    SEGMENT_ALIGNMENT = 4096,
    SEGMENT_SPARE_BYTES = 64 << 20,
    SEGMENT_SPLITS = 8, /* lists for each doubling */
    SEGMENT_LISTS = 52 * SEGMENT_SPLITS
};

typedef struct segment_block segment_block;

typedef struct segment {
    tsr_context *ctx;
    char *base;
    size_t size;
    size_t live;     /* bytes of blocks that are allocated */
    size_t most;     /* the largest that this has been */
    size_t recent;   /* the same, forgotten little by little */
    size_t resident; /* bytes of free blocks that still have pages, at most */
    segment_block *lists[SEGMENT_LISTS];
    uint64_t filled[(SEGMENT_LISTS + 63) / 64]; /* a bit for each list that has a block */
    segment_block **table;                      /* blocks that are allocated, by address */
    size_t table_size;
    size_t num_live;
    segment_block *spare;   /* descriptions that no block has */
    segment_block *retired; /* blocks that are never used again */
    bool made;              /* whether there is a first block */
} segment;

/* A segment over address space that is mapped already. */
void segment_init(segment *s, tsr_context *ctx, char *base, size_t size);
/* Frees what describes the segment; the caller owns the address space. */
void segment_destroy(segment *s);

/*
 * `size` bytes, page-aligned, not zeroed. NULL when the segment or the machine has no room for it,
 * with a diagnostic.
 */
void *segment_alloc(segment *s, size_t size);
/* The same, but NULL without a diagnostic. */
void *segment_try(segment *s, size_t size);
void segment_free(segment *s, void *memory);

/*
 * Never uses again what is allocated now, once it is freed: a rank that was given up may still
 * write into it.
 */
void segment_retire_live(segment *s);

#endif
