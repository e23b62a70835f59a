#include "base/map.h"

#include "base/arena.h"

map map_new(tsr_arena *arena)
{
    return (map){.arena = arena};
}

#define ODD_A UINT64_C(0x9e3779b97f4a7c15)
#define ODD_B UINT64_C(0xd6e8feb86659fd93)

/* Both halves of a product of 128 bits, folded: every bit of it depends on many of both factors. */
static uint64_t fold(uint64_t a, uint64_t b)
{
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word_at(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Two words of up to 16 bytes, which overlap where there are fewer. */
static uint64_t hash_tail(const unsigned char *at, size_t size, uint64_t hash)
{
    uint64_t first = 0;
    uint64_t second = 0;
    if (size >= sizeof first) {
        first = word_at(at);
        second = word_at(at + size - sizeof second);
    } else if (size > 0) {
        memcpy(&first, at, size);
    }
    return fold(first ^ ODD_A ^ hash, second ^ ODD_B ^ hash);
}

/* Long keys: four lanes, so that the multiplications overlap. */
static uint64_t hash_lanes(const unsigned char **at, size_t *size, uint64_t hash)
{
    enum { LANES = 4, STEP = 2 * (size_t)LANES * sizeof(uint64_t) };
    uint64_t lanes[LANES];
    for (size_t i = 0; i < LANES; i++) {
        lanes[i] = hash + i;
    }
    for (; *size >= STEP; *size -= STEP, *at += STEP) {
        for (size_t i = 0; i < LANES; i++) {
            lanes[i] = fold(word_at(*at + 16 * i) ^ ODD_A ^ lanes[i],
                            word_at(*at + 16 * i + 8) ^ ODD_B ^ lanes[i]);
        }
    }
    for (size_t i = 0; i < LANES; i++) {
        hash = fold(hash ^ ODD_A, lanes[i] ^ ODD_B);
    }
    return hash;
}

uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
    enum { LONG = 256, PAIR = 16 };
    const unsigned char *at = bytes;
    uint64_t hash = fold(seed ^ ODD_A, (uint64_t)size ^ ODD_B);
    if (size >= LONG) {
        hash = hash_lanes(&at, &size, hash);
    }
    for (; size > PAIR; size -= PAIR, at += PAIR) {
        hash = fold(word_at(at) ^ ODD_A ^ hash, word_at(at + 8) ^ ODD_B ^ hash) + ODD_A;
    }
    return hash_tail(at, size, hash);
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
