#include "rt/segment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "rt/proc.h"

/* A part of the segment. Blocks tile it; no two neighbours are free. */
struct segment_block {
    size_t offset;
    size_t size;
    size_t resident;   /* of a free block: how many bytes may still have pages, at most; */
    size_t pages_from; /* and between which offsets in the segment, if it is not 0 */
    size_t pages_to;
    bool free;
    bool retired;          /* it is not free when it is freed */
    segment_block *before; /* the neighbours */
    segment_block *after;
    segment_block *previous; /* in a list of free blocks */
    segment_block *next;     /* there, in a chain of the table, or among the spare ones */
};

void segment_init(segment *s, tsr_context *ctx, char *base /* NOLINT */, size_t size)
{
    *s = (segment){.ctx = ctx, .base = base, .size = size / SEGMENT_ALIGNMENT * SEGMENT_ALIGNMENT};
}

static void free_chain(segment *s, segment_block *block)
{
    while (block != NULL) {
        segment_block *next = block->next;
        (void)context_resize(s->ctx, block, sizeof *block, 0);
        block = next;
    }
}

void segment_destroy(segment *s)
{
    for (size_t i = 0; i < SEGMENT_LISTS; i++) {
        free_chain(s, s->lists[i]);
    }
    for (size_t i = 0; i < s->table_size; i++) {
        free_chain(s, s->table[i]);
    }
    free_chain(s, s->spare);
    free_chain(s, s->retired);
    (void)context_resize(s->ctx, s->table, s->table_size * sizeof(segment_block *), 0);
}

/* ---- where free blocks have pages ---- */

/* All pages of a block that was in use may be there. */
static void set_pages(segment_block *block)
{
    block->resident = block->size;
    block->pages_from = block->offset;
    block->pages_to = block->offset + block->size;
}

/* How many bytes of a part of a free block may have pages, at most. */
static size_t resident_within(const segment_block *block, size_t from, size_t to)
{
    from = from > block->pages_from ? from : block->pages_from;
    to = to < block->pages_to ? to : block->pages_to;
    const size_t bytes = to > from ? to - from : 0;
    return bytes < block->resident ? bytes : block->resident;
}

/* Adds the pages of the free block after another. */
static void join_pages(segment_block *block, const segment_block *after)
{
    if (after->resident > 0) {
        block->pages_from = block->resident > 0 ? block->pages_from : after->pages_from;
        block->pages_to = after->pages_to;
        block->resident += after->resident;
    }
}

/* Gives a new block the pages that the free block from whose end it was cut may have there. */
static void split_pages(segment_block *rest, const segment_block *block)
{
    const size_t end = rest->offset + rest->size;
    rest->resident = resident_within(block, rest->offset, end);
    rest->pages_from = rest->offset > block->pages_from ? rest->offset : block->pages_from;
    rest->pages_to = block->pages_to;
}

/* ---- lists of free blocks ---- */

/*
 * The list of a size in pages: below SEGMENT_SPLITS one for each size, then so many for each
 * doubling.
 */
static size_t list_of(size_t size)
{
    const size_t pages = size / SEGMENT_ALIGNMENT;
    if (pages < SEGMENT_SPLITS) {
        return pages;
    }
    const size_t top = 63 - (size_t)__builtin_clzll(pages);
    const size_t split = (pages >> (top - 3)) & (SEGMENT_SPLITS - 1);
    return (top - 2) * SEGMENT_SPLITS + split;
}

/* The first list in which every block has at least a size. */
static size_t list_above(size_t size)
{
    const size_t pages = size / SEGMENT_ALIGNMENT;
    if (pages < SEGMENT_SPLITS) {
        return pages;
    }
    const size_t top = 63 - (size_t)__builtin_clzll(pages);
    const size_t unit = (size_t)1 << (top - 3);
    return list_of((pages + unit - 1) / unit * unit * SEGMENT_ALIGNMENT);
}

_Static_assert(SEGMENT_SPLITS == 8, "list_of cuts a doubling by three bits");

static void insert(segment *s, segment_block *block)
{
    const size_t list = list_of(block->size);
    block->free = true;
    block->previous = NULL;
    block->next = s->lists[list];
    if (block->next != NULL) {
        block->next->previous = block;
    }
    s->lists[list] = block;
    s->filled[list / 64] |= UINT64_C(1) << list % 64;
    s->resident += block->resident;
}

static void take_out(segment *s, segment_block *block)
{
    const size_t list = list_of(block->size);
    if (block->next != NULL) {
        block->next->previous = block->previous;
    }
    if (block->previous != NULL) {
        block->previous->next = block->next;
    } else {
        s->lists[list] = block->next;
    }
    if (s->lists[list] == NULL) {
        s->filled[list / 64] &= ~(UINT64_C(1) << list % 64);
    }
    block->free = false;
    s->resident -= block->resident;
}

/* The first list from one on that has a block; SEGMENT_LISTS when there is none. */
static size_t first_filled(const segment *s, size_t from)
{
    for (size_t word = from / 64; word < sizeof s->filled / sizeof s->filled[0]; word++) {
        const uint64_t mask = word == from / 64 ? ~UINT64_C(0) << from % 64 : ~UINT64_C(0);
        if ((s->filled[word] & mask) != 0) {
            return word * 64 + (size_t)__builtin_ctzll(s->filled[word] & mask);
        }
    }
    return SEGMENT_LISTS;
}

/* Among the first `most` blocks of the list that a size belongs to, one that is large enough. */
static segment_block *find_in_own_list(const segment *s, size_t size, size_t most)
{
    segment_block *block = s->lists[list_of(size)];
    for (size_t i = 0; block != NULL && i < most; i++) {
        if (block->size >= size) {
            return block;
        }
        block = block->next;
    }
    return NULL;
}

/*
 * A free block of at least a size; NULL when there is none. First a few of about that size, so that
 * the next tensor like one that was freed gets its block, whose pages are mapped.
 */
static segment_block *find_block(const segment *s, size_t size)
{
    enum { A_FEW = 8 };
    segment_block *block = find_in_own_list(s, size, A_FEW);
    const size_t list = block == NULL ? first_filled(s, list_above(size)) : SEGMENT_LISTS;
    if (list < SEGMENT_LISTS) {
        return s->lists[list];
    }
    return block != NULL ? block : find_in_own_list(s, size, SIZE_MAX);
}

/* ---- what describes blocks ---- */

static segment_block *new_block(segment *s)
{
    segment_block *block = s->spare;
    if (block != NULL) {
        s->spare = block->next;
        return block;
    }
    return context_resize(s->ctx, NULL, 0, sizeof *block);
}

static void drop_block(segment *s, segment_block *block)
{
    block->next = s->spare;
    s->spare = block;
}

/* All of the segment is one free block, once something is allocated. */
static bool make_first(segment *s)
{
    if (s->made) {
        return true;
    }
    segment_block *all = s->size > 0 ? new_block(s) : NULL;
    if (all == NULL) {
        return false;
    }
    *all = (segment_block){.size = s->size};
    insert(s, all);
    s->made = true;
    return true;
}

static segment_block **bucket(const segment *s, size_t offset)
{
    const uint64_t mixed = offset / SEGMENT_ALIGNMENT * UINT64_C(0x9e3779b97f4a7c15);
    return &s->table[(mixed >> 32) & (s->table_size - 1)];
}

/* Room in the table for one more block. A table that cannot grow only gets slower. */
static bool reserve(segment *s)
{
    enum { FIRST = 64 };
    if (s->num_live < s->table_size) {
        return true;
    }
    const size_t old_size = s->table_size;
    const size_t size = old_size > 0 ? 2 * old_size : FIRST;
    segment_block **old = s->table;
    segment_block **table = context_resize(s->ctx, NULL, 0, size * sizeof(segment_block *));
    if (table == NULL) {
        return old != NULL;
    }
    memset(table, 0, size * sizeof(segment_block *));
    s->table = table;
    s->table_size = size;
    for (size_t i = 0; i < old_size; i++) {
        while (old[i] != NULL) {
            segment_block *block = old[i];
            old[i] = block->next;
            segment_block **link = bucket(s, block->offset);
            block->next = *link;
            *link = block;
        }
    }
    (void)context_resize(s->ctx, old, old_size * sizeof(segment_block *), 0);
    return true;
}

/* The block at an address, which is allocated; it leaves the table. */
static segment_block *take_live(segment *s, const void *memory)
{
    const size_t offset = (size_t)((const char *)memory - s->base);
    segment_block **link = bucket(s, offset);
    while ((*link)->offset != offset) {
        link = &(*link)->next;
    }
    segment_block *block = *link;
    *link = block->next;
    s->num_live--;
    s->live -= block->size;
    return block;
}

/* ---- pages ---- */

/* Whether touching so much fresh memory will succeed. Small sizes are not checked. */
static bool machine_has(size_t size)
{
    return size < ((size_t)64 << 20) || size <= proc_available_bytes();
}

/* Gives the pages of a free block back: those of shared memory are removed, others unmapped. */
static void release_pages(segment *s, segment_block *block)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t first = (block->offset + page - 1) / page * page;
    const size_t end = (block->offset + block->size) / page * page;
    if (end > first && madvise(s->base + first, end - first, MADV_REMOVE) != 0) {
        (void)madvise(s->base + first, end - first, MADV_DONTNEED);
    }
    s->resident -= block->resident;
    block->resident = 0;
}

static bool holds_too_much(const segment *s)
{
    return s->live + s->resident > s->recent + SEGMENT_SPARE_BYTES;
}

/*
 * Gives pages back, those of the largest blocks first, while more are held than were needed; those
 * of the block that was freed just now only if that is not enough.
 */
static void trim(segment *s, segment_block *latest)
{
    for (size_t list = SEGMENT_LISTS; list-- > 0;) {
        for (segment_block *b = s->lists[list]; b != NULL && holds_too_much(s); b = b->next) {
            if (b->resident > 0 && b != latest) {
                release_pages(s, b);
            }
        }
    }
    if (holds_too_much(s)) {
        release_pages(s, latest);
    }
}

/* ---- allocating and freeing ---- */

/* Whether there is memory for the description of what is left of a block after a size. */
static bool can_split(segment *s, const segment_block *block, size_t size)
{
    segment_block *rest = block->size > size ? new_block(s) : NULL;
    if (rest != NULL) {
        drop_block(s, rest);
    }
    return rest != NULL || block->size == size;
}

/* Makes what is left of a block after a size a free one; can_split has been asked. */
static void split(segment *s, segment_block *block, size_t size)
{
    if (block->size == size) {
        return;
    }
    segment_block *rest = new_block(s);
    *rest = (segment_block){.offset = block->offset + size,
                            .size = block->size - size,
                            .before = block,
                            .after = block->after};
    if (rest->after != NULL) {
        rest->after->before = rest;
    }
    block->after = rest;
    block->size = size;
    split_pages(rest, block);
    insert(s, rest);
}

/* The size of the block for so many bytes; 0 when there is none. */
static size_t rounded(const segment *s, size_t size)
{
    const size_t unit = SEGMENT_ALIGNMENT;
    return size <= s->size ? ((size > 0 ? size : 1) + unit - 1) / unit * unit : 0;
}

void *segment_try(segment *s, size_t size)
{
    const size_t wanted = rounded(s, size);
    if (wanted == 0 || !make_first(s) || !reserve(s)) {
        return NULL;
    }
    segment_block *block = find_block(s, wanted);
    if (block == NULL || !can_split(s, block, wanted) ||
        !machine_has(wanted - resident_within(block, block->offset, block->offset + wanted))) {
        return NULL;
    }
    take_out(s, block);
    split(s, block, wanted);
    block->resident = 0;
    segment_block **link = bucket(s, block->offset);
    block->next = *link;
    *link = block;
    s->num_live++;
    s->live += block->size;
    s->most = s->live > s->most ? s->live : s->most;
    s->recent = s->live > s->recent ? s->live : s->recent;
    return s->base + block->offset;
}

void *segment_alloc(segment *s, size_t size)
{
    void *memory = segment_try(s, size);
    if (memory != NULL) {
        return memory;
    }
    const size_t wanted = rounded(s, size);
    const segment_block *block = wanted > 0 ? find_block(s, wanted) : NULL;
    if (wanted == 0) {
        (void)diag_error(s->ctx, TSR_ERR_NOMEM, NO_LOCATION,
                         "cannot allocate %zu bytes in a segment of %zu bytes; set a larger "
                         "segment_bytes or TSR_SEGMENT_BYTES",
                         size, s->size);
    } else if (!s->made || s->table == NULL ||
               (block != NULL && block->size > wanted && s->spare == NULL)) {
        (void)diag_nomem(s->ctx);
    } else {
        (void)diag_error(s->ctx, TSR_ERR_NOMEM, NO_LOCATION,
                         block == NULL
                             ? "the segment of %zu bytes has no room for %zu more bytes; set a "
                               "larger segment_bytes or TSR_SEGMENT_BYTES"
                             : "the machine has too little free memory: in a segment of %zu bytes "
                               "a tensor needs %zu; use fewer or smaller tensors",
                         s->size, size);
    }
    return NULL;
}

/* Joins a free block, which is in no list, with the one after it. */
static void join(segment *s, segment_block *block)
{
    segment_block *gone = block->after;
    block->size += gone->size;
    join_pages(block, gone);
    block->after = gone->after;
    if (block->after != NULL) {
        block->after->before = block;
    }
    drop_block(s, gone);
}

void segment_free(segment *s, void *memory)
{
    segment_block *block = take_live(s, memory);
    const size_t forgotten = block->size / 8;
    if (block->retired) {
        block->next = s->retired;
        s->retired = block;
        return;
    }
    set_pages(block);
    if (block->after != NULL && block->after->free) {
        take_out(s, block->after);
        join(s, block);
    }
    if (block->before != NULL && block->before->free) {
        block = block->before;
        take_out(s, block);
        join(s, block);
    }
    insert(s, block);
    s->recent -= forgotten < s->recent ? forgotten : s->recent;
    s->recent = s->live > s->recent ? s->live : s->recent;
    if (holds_too_much(s)) {
        trim(s, block);
    }
}

void segment_retire_live(segment *s)
{
    for (size_t i = 0; i < s->table_size; i++) {
        for (segment_block *b = s->table[i]; b != NULL; b = b->next) {
            b->retired = true;
        }
    }
}
