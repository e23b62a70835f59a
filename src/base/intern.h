/* Interned strings: each distinct string gets a small number, counted from 0, and one copy. */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "base/map.h"

typedef struct interner {
    tsr_arena *arena;
    map ids;
    const char **strings;
    size_t count;
    size_t capacity;
} interner;

interner interner_new(tsr_arena *arena);

/* The number of a string, new or old. False when there is no memory; nothing has changed then. */
bool intern(interner *strings, const char *string, size_t length, size_t *id);

/* The number of a string that was interned before; false when it was not. */
bool intern_find(const interner *strings, const char *string, size_t length, size_t *id);

#endif
