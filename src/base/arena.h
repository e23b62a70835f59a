/*
 * Arenas: a list of blocks, filled from the front. Resetting to a mark keeps the blocks for the
 * next user, so a loop that marks and resets stops asking the allocator after its first round.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <string.h>

#include <tessera/context.h>

/* The context's allocator. */
void *context_resize(tsr_context *ctx, void *old, size_t old_size, size_t new_size);

/*
 * From now on every allocation of the context's new arenas, and of its messages, is a block of its
 * own, so that each one reaches the allocator. For tests that make each of them fail.
 */
tsr_status context_make_hostile(tsr_context *ctx);

/* A context of its own on the same allocator: for messages that are to be looked at first. */
tsr_status context_create_like(tsr_context *ctx, tsr_context **out);

/*
 * From now on uses another allocator, which can free what the one before gave. For tests that make
 * an allocation of one rank fail.
 */
void context_set_allocator(tsr_context *ctx, const tsr_allocator *allocator);

/* The size of the first block of a new arena; 0 in a hostile context. */
size_t context_block_size(const tsr_context *ctx);

/* An array of `count` items of `size` bytes; NULL when there is no memory or it overflows. */
void *arena_array(tsr_arena *arena, size_t count, size_t size);

/* Copies; an empty array gives a valid pointer. NULL when there is no memory. */
void *arena_copy(tsr_arena *arena, const void *data, size_t count, size_t size);

/* A zero-terminated copy of `length` bytes. */
char *arena_string(tsr_arena *arena, const char *string, size_t length);

#define ARENA_NEW(arena, type) ((type *)tsr_arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_array((arena), (count), sizeof(type)))

#endif
