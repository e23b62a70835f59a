#include "base/intern.h"

#include "base/arena.h"

interner interner_new(tsr_arena *arena)
{
    return (interner){.arena = arena, .ids = map_new(arena)};
}

static bool reserve(interner *strings)
{
    if (strings->count < strings->capacity) {
        return true;
    }
    const size_t capacity = strings->capacity < 8 ? 8 : strings->capacity * 2;
    const char **grown = ARENA_ARRAY(strings->arena, const char *, capacity);
    if (grown == NULL) {
        return false;
    }
    if (strings->count > 0) {
        memcpy(grown, strings->strings, strings->count * sizeof *grown);
    }
    strings->strings = grown;
    strings->capacity = capacity;
    return true;
}

bool intern_find(const interner *strings, const char *string, size_t length, size_t *id)
{
    const uint64_t *found = map_find(&strings->ids, string, length);
    if (found == NULL) {
        return false;
    }
    *id = (size_t)*found;
    return true;
}

bool intern(interner *strings, const char *string, size_t length, size_t *id)
{
    if (intern_find(strings, string, length, id)) {
        return true;
    }
    if (!reserve(strings) || !map_reserve(&strings->ids, strings->count + 1)) {
        return false;
    }
    const char *copy = arena_string(strings->arena, string, length);
    if (copy == NULL) {
        return false;
    }
    *map_insert(&strings->ids, copy, length) = strings->count;
    *id = strings->count;
    strings->strings[strings->count++] = copy;
    return true;
}
