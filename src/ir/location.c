#include "ir/location.h"

#include <string.h>

#include "base/arena.h"
#include "base/guard.h"

const uint32_t *given_location(const tsr_program *p, uint32_t given, location_kind *kind,
                               size_t *count)
{
    const uint32_t *record = intern_get(&p->locations, given);
    *kind = (location_kind)record[0];
    *count = intern_size(&p->locations, given) / sizeof *record - 1;
    return record + 1;
}

location program_location(const tsr_program *p, uint32_t where)
{
    if ((where & IR_IS_GIVEN) != 0 || where == IR_NOWHERE) {
        return NO_LOCATION;
    }
    return (location){&p->text, where, 1, true};
}

/* ---- the source of an op ---- */

/* Parts of locations may be shared, so that looking at all of them may not end in time. */
enum { MAX_LOOKED_AT = 4096 };

/* The record of the innermost file of a given location; NULL: it has none. */
static const uint32_t *find_file(const tsr_program *p, uint32_t given, unsigned *looked_at)
{
    location_kind kind = LOCATION_UNKNOWN;
    size_t count = 0;
    if (given == 0 || ++*looked_at > MAX_LOOKED_AT) {
        return NULL;
    }
    const uint32_t *record = given_location(p, given, &kind, &count);
    if (kind == LOCATION_FILE || kind == LOCATION_UNKNOWN) {
        return kind == LOCATION_FILE ? record : NULL;
    }
    const uint32_t *found = NULL;
    for (size_t i = kind == LOCATION_CALLSITE ? 0 : 1; found == NULL && i < count; i++) {
        found = find_file(p, record[i], looked_at);
    }
    return found;
}

bool op_source(const tsr_program *p, uint32_t op, slice *file, int64_t *line, int64_t *column)
{
    const uint32_t where = program_op(p, op)->location;
    unsigned looked_at = 0;
    const uint32_t *record =
        (where & IR_IS_GIVEN) != 0 ? find_file(p, where & ~IR_IS_GIVEN, &looked_at) : NULL;
    if (record == NULL) {
        return false;
    }
    *file = string_at(p, record[0]);
    *line = record[1];
    *column = record[2];
    return true;
}

bool tsr_ir_op_source(tsr_context *ctx, tsr_arena *arena, const tsr_program *program, tsr_ir_op op,
                      tsr_source_location *out)
{
    GUARD(tsr_ir_op_source);
    tsr_source_location found = {0};
    slice name;
    if (!op_source(program, op, &name, &found.line, &found.column)) {
        return false;
    }
    found.file = arena_string(arena, name.data, name.size);
    if (found.file == NULL) {
        (void)diag_nomem(ctx);
        return false;
    }
    *out = found;
    return true;
}

/* ---- lines of the text ---- */

tsr_status find_lines(tsr_context *ctx, const tsr_text *text, ir_array *lines)
{
    for (size_t at = 0;;) {
        TSR_TRY(ir_array_reserve(ctx, lines, sizeof(uint32_t), 1));
        ((uint32_t *)lines->items)[lines->count++] = (uint32_t)at;
        const char *end = at < text->size ? memchr(text->data + at, '\n', text->size - at) : NULL;
        if (end == NULL) {
            return TSR_OK;
        }
        at = (size_t)(end - text->data) + 1;
    }
}

text_position position_of(const ir_array *lines, uint32_t offset)
{
    const uint32_t *starts = lines->items;
    uint32_t low = 0;
    uint32_t high = lines->count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (starts[middle] <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (text_position){low + 1, offset - starts[low] + 1};
}
