/*
 * Interned records: each distinct byte string gets a number, counted from 1, and one copy that
 * never moves. Types, attributes, strings and locations of a program are such records.
 */
#ifndef IR_INTERN_H
#define IR_INTERN_H

#include <tessera/context.h>

typedef struct interned {
    const void *bytes;
    uint32_t size;
    uint32_t hash;
} interned;

typedef struct intern_table {
    tsr_context *ctx;
    tsr_arena *arena;  /* of the copies */
    interned *records; /* records[0] is none */
    uint32_t count;    /* with records[0] */
    uint32_t capacity;
    uint32_t *slots; /* open addressing; 0: free */
    uint32_t num_slots;
} intern_table;

tsr_status intern_table_init(intern_table *table, tsr_context *ctx, tsr_arena *arena);
void intern_table_free(intern_table *table);
/* Forgets the records; their bytes stay in the arena. */
void intern_table_clear(intern_table *table);

/* The number of a record, new or old. */
tsr_status intern_bytes(intern_table *table, const void *bytes, size_t size, uint32_t *out);
/*
 * The same of a record whose bytes are in several places, of which all but the first may be empty.
 * Small ones need no memory to be found.
 */
typedef struct intern_part {
    const void *bytes;
    size_t size;
} intern_part;
tsr_status intern_parts(intern_table *table, const intern_part *parts, size_t count, uint32_t *out);
/* The number of a record that exists already, or 0. */
uint32_t intern_find_bytes(const intern_table *table, const void *bytes, size_t size);

static inline const void *intern_get(const intern_table *table, uint32_t id)
{
    return table->records[id].bytes;
}

static inline size_t intern_size(const intern_table *table, uint32_t id)
{
    return table->records[id].size;
}

/* Bytes that the table holds, the copies aside. */
size_t intern_table_memory(const intern_table *table);

#endif
