#include "base/map.h"

#include "base/arena.h"

map map_new(tsr_arena *arena)
{
    return (map){.arena = arena};
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    return x;
}

uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
    const unsigned char *at = bytes;
    uint64_t hash = mix(seed ^ (uint64_t)size);
    for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        hash = mix(hash + word) + UINT64_C(0x9e3779b97f4a7c15);
    }
    uint64_t tail = 0;
    if (size > 0) {
        memcpy(&tail, at, size);
    }
    return mix(hash + tail);
}

/* The entry of a key, or the free one where it belongs. The table has a free entry. */
static map_entry *probe(map_entry *entries, size_t capacity, const char *key, size_t size,
                        uint64_t hash)
{
    for (size_t i = (size_t)hash & (capacity - 1);; i = (i + 1) & (capacity - 1)) {
        map_entry *entry = &entries[i];
        if (entry->key == NULL ||
            (entry->hash == hash && entry->size == size && memcmp(entry->key, key, size) == 0)) {
            return entry;
        }
    }
}

bool map_reserve(map *m, size_t count)
{
    if (count <= m->capacity / 4 * 3) {
        return true;
    }
    size_t capacity = 16;
    while (capacity / 4 * 3 < count) {
        if (capacity > SIZE_MAX / 2) {
            return false;
        }
        capacity *= 2;
    }
    map_entry *entries = ARENA_ARRAY(m->arena, map_entry, capacity);
    if (entries == NULL) {
        return false;
    }
    memset(entries, 0, capacity * sizeof *entries);
    for (size_t i = 0; i < m->capacity; i++) {
        const map_entry *old = &m->entries[i];
        if (old->key != NULL) {
            *probe(entries, capacity, old->key, old->size, old->hash) = *old;
        }
    }
    m->entries = entries;
    m->capacity = capacity;
    return true;
}

uint64_t *map_find(const map *m, const char *key, size_t size)
{
    if (m->capacity == 0) {
        return NULL;
    }
    map_entry *entry = probe(m->entries, m->capacity, key, size, hash_bytes(key, size, 0));
    return entry->key != NULL ? &entry->value : NULL;
}

uint64_t *map_insert(map *m, const char *key, size_t size)
{
    if (!map_reserve(m, m->count + 1)) {
        return NULL;
    }
    const uint64_t hash = hash_bytes(key, size, 0);
    map_entry *entry = probe(m->entries, m->capacity, key, size, hash);
    if (entry->key == NULL) {
        *entry = (map_entry){.key = key, .size = size, .hash = hash};
        m->count++;
    }
    return &entry->value;
}
