/*
 * The map: byte strings to 64-bit values, open addressing with linear probing, at most three
 * quarters full. Keys are not copied: they must outlive the map. Lives in an arena; growing leaves
 * the old table in the arena, so size it up front where the count is known.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <tessera/context.h>

typedef struct map_entry {
    const char *key; /* NULL: free */
    size_t size;
    uint64_t hash;
    uint64_t value;
} map_entry;

typedef struct map {
    tsr_arena *arena;
    map_entry *entries;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
} map;

map map_new(tsr_arena *arena);

/* Room for `count` keys in all. False when there is no memory. */
bool map_reserve(map *m, size_t count);

/* The value of a key, to read or write; NULL when the map lacks it. Valid until the next insert. */
uint64_t *map_find(const map *m, const char *key, size_t size);

/* The value of a key, inserted with value 0 if it is new; NULL when there is no memory. */
uint64_t *map_insert(map *m, const char *key, size_t size);

/* A hash of bytes; `seed` chains several. The same on every machine of one byte order. */
uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed);

#endif
