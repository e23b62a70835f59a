#include "base/arena.h"

#include <stdalign.h>

#include "base/diag.h"
#include "base/guard.h"

enum { LARGEST_STEP = 1 << 20 };

typedef struct block {
    struct block *next;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
} block;

struct tsr_arena {
    tsr_context *ctx;
    block *first;
    block *current; /* blocks after it are empty */
    size_t used;    /* of the current block */
    size_t next_size;
};

tsr_status tsr_arena_create(tsr_context *ctx, tsr_arena **out)
{
    GUARD(tsr_arena_create);
    tsr_arena *arena = context_resize(ctx, NULL, 0, sizeof *arena);
    if (arena == NULL) {
        return diag_nomem(ctx);
    }
    *arena = (tsr_arena){.ctx = ctx, .next_size = context_block_size(ctx)};
    *out = arena;
    return TSR_OK;
}

void tsr_arena_destroy(tsr_arena *arena)
{
    GUARD(tsr_arena_destroy);
    if (arena == NULL) {
        return;
    }
    for (block *b = arena->first; b != NULL;) {
        block *next = b->next;
        context_resize(arena->ctx, b, sizeof *b + b->size, 0);
        b = next;
    }
    context_resize(arena->ctx, arena, sizeof *arena, 0);
}

/* Makes a block of at least `size` bytes the current one: the next if it is large enough. */
static bool advance(tsr_arena *arena, size_t size)
{
    block *next = arena->current != NULL ? arena->current->next : arena->first;
    if (next == NULL || next->size < size) {
        const size_t wanted = size > arena->next_size ? size : arena->next_size;
        if (wanted > PTRDIFF_MAX - sizeof(block)) {
            return false;
        }
        block *fresh = context_resize(arena->ctx, NULL, 0, sizeof *fresh + wanted);
        if (fresh == NULL) {
            return false;
        }
        fresh->next = next;
        fresh->size = wanted;
        if (arena->current != NULL) {
            arena->current->next = fresh;
        } else {
            arena->first = fresh;
        }
        next = fresh;
        if (arena->next_size < LARGEST_STEP) {
            arena->next_size *= 2;
        }
    }
    arena->current = next;
    arena->used = 0;
    return true;
}

void *tsr_arena_alloc(tsr_arena *arena, size_t size)
{
    GUARD(tsr_arena_alloc);
    const size_t unit = alignof(max_align_t);
    if (size > SIZE_MAX - unit) {
        return NULL;
    }
    const size_t rounded = (size + unit - 1) / unit * unit;
    if (arena->current == NULL || arena->current->size - arena->used < rounded) {
        if (!advance(arena, rounded)) {
            return NULL;
        }
    }
    void *memory = arena->current->bytes + arena->used;
    arena->used += rounded;
    return memory;
}

tsr_arena_mark tsr_arena_get_mark(const tsr_arena *arena)
{
    GUARD(tsr_arena_get_mark);
    return (tsr_arena_mark){.block = arena->current, .used = arena->used};
}

void tsr_arena_reset(tsr_arena *arena, tsr_arena_mark mark)
{
    GUARD(tsr_arena_reset);
    arena->current = mark.block;
    arena->used = mark.used;
}

size_t tsr_arena_used(const tsr_arena *arena)
{
    GUARD(tsr_arena_used);
    size_t used = 0;
    for (const block *b = arena->first; arena->current != NULL && b != arena->current;
         b = b->next) {
        used += b->size;
    }
    return used + arena->used;
}

size_t tsr_arena_reserved(const tsr_arena *arena)
{
    GUARD(tsr_arena_reserved);
    size_t reserved = 0;
    for (const block *b = arena->first; b != NULL; b = b->next) {
        reserved += b->size;
    }
    return reserved;
}

void *arena_array(tsr_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        return NULL;
    }
    return tsr_arena_alloc(arena, bytes);
}

void *arena_copy(tsr_arena *arena, const void *data, size_t count, size_t size)
{
    void *copy = arena_array(arena, count, size);
    if (copy != NULL && count > 0) {
        memcpy(copy, data, count * size);
    }
    return copy;
}

char *arena_string(tsr_arena *arena, const char *string, size_t length)
{
    char *copy = length < SIZE_MAX ? tsr_arena_alloc(arena, length + 1) : NULL;
    if (copy != NULL) {
        if (length > 0) {
            memcpy(copy, string, length);
        }
        copy[length] = '\0';
    }
    return copy;
}
