#include "ir/intern.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/map.h"

/* What record 0 reads as: a head of zeros. */
static const _Alignas(16) char none[64];

enum { FIRST_RECORDS = 64, FIRST_SLOTS = 128 };

tsr_status intern_table_init(intern_table *table, tsr_context *ctx, tsr_arena *arena)
{
    *table = (intern_table){.ctx = ctx, .arena = arena};
    table->records = context_resize(ctx, NULL, 0, FIRST_RECORDS * sizeof *table->records);
    table->slots = context_resize(ctx, NULL, 0, FIRST_SLOTS * sizeof *table->slots);
    if (table->records == NULL || table->slots == NULL) {
        table->capacity = table->records != NULL ? FIRST_RECORDS : 0;
        table->num_slots = table->slots != NULL ? FIRST_SLOTS : 0;
        return diag_nomem(ctx);
    }
    table->capacity = FIRST_RECORDS;
    table->num_slots = FIRST_SLOTS;
    memset(table->slots, 0, FIRST_SLOTS * sizeof *table->slots);
    table->records[0] = (interned){.bytes = none};
    table->count = 1;
    return TSR_OK;
}

void intern_table_free(intern_table *table)
{
    if (table->records != NULL) {
        context_resize(table->ctx, table->records, table->capacity * sizeof *table->records, 0);
    }
    if (table->slots != NULL) {
        context_resize(table->ctx, table->slots, table->num_slots * sizeof *table->slots, 0);
    }
    *table = (intern_table){0};
}

void intern_table_clear(intern_table *table)
{
    memset(table->slots, 0, table->num_slots * sizeof *table->slots);
    table->count = 1;
}

/* The slot of a record, or the free one where it belongs. */
static uint32_t find_slot(const intern_table *table, const void *bytes, size_t size, uint32_t hash)
{
    uint32_t slot = hash & (table->num_slots - 1);
    for (;;) {
        const uint32_t id = table->slots[slot];
        if (id == 0) {
            return slot;
        }
        const interned *record = &table->records[id];
        if (record->hash == hash && record->size == size &&
            memcmp(record->bytes, bytes, size) == 0) {
            return slot;
        }
        slot = (slot + 1) & (table->num_slots - 1);
    }
}

static uint32_t hash_of(const void *bytes, size_t size)
{
    const uint64_t hash = hash_bytes(bytes, size, 0);
    return (uint32_t)(hash ^ hash >> 32);
}

uint32_t intern_find_bytes(const intern_table *table, const void *bytes, size_t size)
{
    return table->slots[find_slot(table, bytes, size, hash_of(bytes, size))];
}

static tsr_status grow_slots(intern_table *table)
{
    const uint32_t num_slots = table->num_slots * 2;
    uint32_t *slots = context_resize(table->ctx, NULL, 0, num_slots * sizeof *slots);
    if (slots == NULL) {
        return diag_nomem(table->ctx);
    }
    memset(slots, 0, num_slots * sizeof *slots);
    for (uint32_t id = 1; id < table->count; id++) {
        uint32_t slot = table->records[id].hash & (num_slots - 1);
        while (slots[slot] != 0) {
            slot = (slot + 1) & (num_slots - 1);
        }
        slots[slot] = id;
    }
    context_resize(table->ctx, table->slots, table->num_slots * sizeof *slots, 0);
    table->slots = slots;
    table->num_slots = num_slots;
    return TSR_OK;
}

static tsr_status grow_records(intern_table *table)
{
    const uint32_t capacity = table->capacity * 2;
    interned *records = context_resize(
        table->ctx, table->records, table->capacity * sizeof *records, capacity * sizeof *records);
    if (records == NULL) {
        return diag_nomem(table->ctx);
    }
    table->records = records;
    table->capacity = capacity;
    return TSR_OK;
}

static tsr_status add(intern_table *table, const void *bytes, size_t size, uint32_t hash,
                      uint32_t *out)
{
    if (table->count == UINT32_MAX / 4 || size > UINT32_MAX) {
        return diag_error(table->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "the program has too many different types, attributes or strings");
    }
    if (table->count == table->capacity) {
        TSR_TRY(grow_records(table));
    }
    if (table->count * 4 >= table->num_slots * 3) {
        TSR_TRY(grow_slots(table));
    }
    char *copy = arena_string(table->arena, bytes, size);
    if (copy == NULL) {
        return diag_nomem(table->ctx);
    }
    table->records[table->count] = (interned){copy, (uint32_t)size, hash};
    table->slots[find_slot(table, bytes, size, hash)] = table->count;
    *out = table->count++;
    return TSR_OK;
}

tsr_status intern_bytes(intern_table *table, const void *bytes, size_t size, uint32_t *out)
{
    const uint32_t hash = hash_of(bytes, size);
    const uint32_t id = table->slots[find_slot(table, bytes, size, hash)];
    if (id != 0) {
        *out = id;
        return TSR_OK;
    }
    return add(table, bytes, size, hash, out);
}

tsr_status intern_parts(intern_table *table, const intern_part *parts, size_t count, uint32_t *out)
{
    enum { SMALL = 256 };
    _Alignas(max_align_t) char small[SMALL];
    size_t total = 0;
    size_t used = parts[0].size;
    for (size_t i = 0; i < count; i++) {
        total += parts[i].size;
    }
    char *bytes = total <= SMALL ? small : context_resize(table->ctx, NULL, 0, total);
    if (bytes == NULL) {
        return diag_nomem(table->ctx);
    }
    memcpy(bytes, parts[0].bytes, parts[0].size);
    for (size_t i = 1; i < count; i++) {
        if (parts[i].size > 0) {
            memcpy(bytes + used, parts[i].bytes, parts[i].size);
        }
        used += parts[i].size;
    }
    const tsr_status status = intern_bytes(table, bytes, total, out);
    if (bytes != small) {
        context_resize(table->ctx, bytes, total, 0);
    }
    return status;
}

size_t intern_table_memory(const intern_table *table)
{
    return table->capacity * sizeof *table->records + table->num_slots * sizeof *table->slots;
}
