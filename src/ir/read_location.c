/* Reading loc(..). */
#include <string.h>

#include "ir/location.h"
#include "ir/parser.h"

static tsr_status intern_location(parser *ps, location_kind kind, const uint32_t *numbers,
                                  size_t count, uint32_t *out)
{
    uint32_t *record = NULL;
    size_t used = 0;
    size_t room = 0;
    const uint32_t first = (uint32_t)kind;
    TSR_TRY(PUSH(ps, record, used, room, first));
    for (size_t i = 0; i < count; i++) {
        TSR_TRY(PUSH(ps, record, used, room, numbers[i]));
    }
    return intern_bytes(&ps->program->locations, record, used * sizeof *record, out);
}

static tsr_status read_inner(parser *ps, uint32_t *out);

static tsr_status read_number_32(parser *ps, const char *message, uint32_t *out)
{
    uint64_t value = 0;
    if (!at_kind(ps, TOKEN_INTEGER) || !lex_digits(token_text(ps), &value) || value > UINT32_MAX) {
        return error_here(ps, "%s", message);
    }
    *out = (uint32_t)value;
    lex_next(&ps->lex);
    return TSR_OK;
}

/* Leaves out what an end has in common with its start, so that equal ranges are one location. */
static void shorten_range(uint32_t *numbers)
{
    const bool is_one_line = numbers[3] == numbers[1];
    const bool is_one_place = is_one_line && numbers[4] == numbers[2];
    numbers[5] = is_one_place ? NO_END : is_one_line ? END_COLUMN : END_LINE;
    if (is_one_line) {
        numbers[3] = 0;
    }
    if (is_one_place) {
        numbers[4] = 0;
    }
}

/* `:1:2`, perhaps ` to 3:4` or ` to :5`, after the name of a file. */
static tsr_status read_file_location(parser *ps, uint32_t name, uint32_t *out)
{
    uint32_t numbers[6] = {name};
    static const char line[] = "expected integer line number in FileLineColRange";
    static const char column[] = "expected integer column number in FileLineColRange";
    lex_next(&ps->lex);
    TSR_TRY(read_number_32(ps, line, &numbers[1]));
    if (accept(ps, ':')) {
        TSR_TRY(read_number_32(ps, column, &numbers[2]));
        if (at_kind(ps, TOKEN_WORD) && slice_is(token_text(ps), "to")) {
            lex_next(&ps->lex);
            numbers[3] = numbers[1];
            if (at_kind(ps, TOKEN_INTEGER)) {
                TSR_TRY(read_number_32(ps, line, &numbers[3]));
            }
            TSR_TRY(expect(ps, ':', "expected ':' in FileLineColRange"));
            TSR_TRY(read_number_32(ps, column, &numbers[4]));
            shorten_range(numbers);
        }
    }
    return intern_location(ps, LOCATION_FILE, numbers, 6, out);
}

static tsr_status read_named_location(parser *ps, uint32_t *out)
{
    slice text;
    uint32_t numbers[2] = {0};
    TSR_TRY(read_string(ps, &text));
    TSR_TRY(program_string(ps->program, text.data, text.size, &numbers[0]));
    if (at_kind(ps, ':')) {
        return read_file_location(ps, numbers[0], out);
    }
    if (accept(ps, '(')) {
        TSR_TRY(read_inner(ps, &numbers[1]));
        TSR_TRY(expect(ps, ')', "expected ')' after child location of NameLoc"));
    }
    return intern_location(ps, LOCATION_NAME, numbers, 2, out);
}

static tsr_status read_callsite(parser *ps, uint32_t *out)
{
    uint32_t numbers[2] = {0};
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, '(', "expected '(' in callsite location"));
    TSR_TRY(read_inner(ps, &numbers[0]));
    TSR_TRY(lex_expect_word(&ps->lex, "at"));
    TSR_TRY(read_inner(ps, &numbers[1]));
    TSR_TRY(expect(ps, ')', "expected ')' in callsite location"));
    return intern_location(ps, LOCATION_CALLSITE, numbers, 2, out);
}

static tsr_status read_fused(parser *ps, uint32_t *out)
{
    uint32_t *numbers = NULL;
    size_t count = 0;
    size_t room = 0;
    uint32_t number = 0;
    lex_next(&ps->lex);
    if (accept(ps, '<')) {
        TSR_TRY(read_attr(ps, &number));
        TSR_TRY(expect(ps, '>', "expected '>' after fused location metadata"));
    }
    TSR_TRY(PUSH(ps, numbers, count, room, number));
    TSR_TRY(expect(ps, '[', "expected '[' in fused location"));
    if (!at_kind(ps, ']')) {
        do {
            TSR_TRY(read_inner(ps, &number));
            TSR_TRY(PUSH(ps, numbers, count, room, number));
        } while (accept(ps, ','));
    }
    TSR_TRY(expect(ps, ']', "expected ']' in fused location"));
    return intern_location(ps, LOCATION_FUSED, numbers, count, out);
}

/* The location that an alias stands for; 0 while it is not defined. */
static uint32_t alias_target(const parser *ps, uint32_t string)
{
    const uint32_t *targets = ps->location_aliases.items;
    return string < ps->location_aliases.count ? targets[string] : 0;
}

/* `#name`; only one that is the whole location of an op or a value may be defined later. */
static tsr_status read_location_alias(parser *ps, bool may_be_later, uint32_t *out)
{
    const slice text = token_text(ps);
    uint32_t name = 0;
    TSR_TRY(program_string(ps->program, text.data, text.size, &name));
    if (!may_be_later && alias_target(ps, name) == 0) {
        return error_here(ps, "undefined symbol alias id '%.*s'", (int)text.size - 1,
                          text.data + 1);
    }
    lex_next(&ps->lex);
    return intern_location(ps, LOCATION_ALIAS, &name, 1, out);
}

static tsr_status read_inner(parser *ps, uint32_t *out)
{
    tsr_status status = TSR_OK;
    const slice text = token_text(ps);
    TSR_TRY(parser_enter(ps));
    if (at_kind(ps, TOKEN_STRING)) {
        status = read_named_location(ps, out);
    } else if (at_kind(ps, TOKEN_HASH)) {
        status = read_location_alias(ps, false, out);
    } else if (at_kind(ps, TOKEN_WORD) && slice_is(text, "unknown")) {
        lex_next(&ps->lex);
        status = intern_location(ps, LOCATION_UNKNOWN, NULL, 0, out);
    } else if (at_kind(ps, TOKEN_WORD) && slice_is(text, "callsite")) {
        status = read_callsite(ps, out);
    } else if (at_kind(ps, TOKEN_WORD) && slice_is(text, "fused")) {
        status = read_fused(ps, out);
    } else {
        status = error_here(ps, "expected location instance");
    }
    parser_leave(ps);
    return status;
}

static tsr_status read_parenthesized(parser *ps, bool may_be_later, uint32_t *given)
{
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, '(', "expected '(' in location"));
    TSR_TRY(may_be_later && at_kind(ps, TOKEN_HASH) ? read_location_alias(ps, true, given)
                                                    : read_inner(ps, given));
    return expect(ps, ')', "expected ')' in location");
}

tsr_status read_optional_location(parser *ps, uint32_t *out)
{
    uint32_t given = 0;
    if (!at_kind(ps, TOKEN_WORD) || !slice_is(token_text(ps), "loc")) {
        return TSR_OK;
    }
    TSR_TRY(read_parenthesized(ps, true, &given));
    *out = given | IR_IS_GIVEN;
    return TSR_OK;
}

/* ---- aliases, which may be defined at the end ---- */

/* The definition `#loc1 = loc(..)`; the current token is `loc`. */
tsr_status define_location_alias(parser *ps, slice name)
{
    uint32_t string = 0;
    uint32_t given = 0;
    TSR_TRY(program_string(ps->program, name.data, name.size, &string));
    TSR_TRY(read_parenthesized(ps, false, &given));
    if (alias_target(ps, string) != 0) {
        return error_here(ps, "redefinition of attribute alias id '%.*s'", (int)name.size - 1,
                          name.data + 1);
    }
    ir_array *targets = &ps->location_aliases;
    if (string >= targets->count) {
        const uint32_t extra = string + 1 - targets->count;
        TSR_TRY(ir_array_reserve(ps->ctx, targets, sizeof given, extra));
        memset((uint32_t *)targets->items + targets->count, 0, extra * sizeof given);
        targets->count += extra;
    }
    ((uint32_t *)targets->items)[string] = given;
    return TSR_OK;
}

/* What each location is once aliases are followed; filled as far as it is known. */
typedef struct location_map {
    uint32_t *resolved; /* by location; 0: not yet */
    uint16_t *depths;   /* by location: how many are nested in it, the deepest way */
    int depth;          /* of what is being resolved */
} location_map;

static tsr_status resolve(parser *ps, location_map *map, uint32_t given, uint32_t *out);

static tsr_status resolve_alias(parser *ps, location_map *map, uint32_t given, uint32_t string,
                                uint32_t *out)
{
    const slice name = string_at(ps->program, string);
    if (alias_target(ps, string) == 0) {
        return diag_error(ps->ctx, TSR_ERR_SYNTAX, NO_LOCATION,
                          "operation location alias was never defined: '%.*s'", (int)name.size,
                          name.data);
    }
    TSR_TRY(resolve(ps, map, alias_target(ps, string), out));
    map->depths[given] = map->depths[alias_target(ps, string)];
    return TSR_OK;
}

static bool is_child(location_kind kind, size_t index)
{
    return kind == LOCATION_CALLSITE || index > 0;
}

static location_kind kind_of(const parser *ps, uint32_t given)
{
    location_kind kind;
    size_t count = 0;
    given_location(ps->program, given, &kind, &count);
    return kind;
}

/* Parts of a location, in order and each once. */
typedef struct part_list {
    uint32_t *items;
    size_t count;
    size_t room;
} part_list;

static tsr_status add_part(parser *ps, part_list *list, uint32_t part)
{
    for (size_t i = 1; i < list->count; i++) {
        if (list->items[i] == part) {
            return TSR_OK;
        }
    }
    return PUSH(ps, list->items, list->count, list->room, part);
}

/*
 * A fused location holds each part once, no unknown ones, and the parts of fused ones with the
 * same metadata instead of those. Without metadata, one part is that part, and none is unknown.
 */
static tsr_status fuse(parser *ps, const uint32_t *parts, size_t count, uint32_t *out)
{
    part_list list = {0};
    uint32_t unknown = 0;
    TSR_TRY(intern_location(ps, LOCATION_UNKNOWN, NULL, 0, &unknown));
    TSR_TRY(PUSH(ps, list.items, list.count, list.room, parts[0]));
    for (size_t i = 1; i < count; i++) {
        location_kind kind;
        size_t inner_count = 0;
        const uint32_t *inner = given_location(ps->program, parts[i], &kind, &inner_count);
        const bool is_like = kind == LOCATION_FUSED && inner[0] == parts[0];
        for (size_t k = 1; is_like && k < inner_count; k++) {
            TSR_TRY(add_part(ps, &list, inner[k]));
        }
        if (!is_like && parts[i] != unknown) {
            TSR_TRY(add_part(ps, &list, parts[i]));
        }
    }
    if (parts[0] == 0 && list.count <= 2) {
        *out = list.count == 2 ? list.items[1] : unknown;
        return TSR_OK;
    }
    if (list.count == 1) {
        TSR_TRY(PUSH(ps, list.items, list.count, list.room, unknown));
    }
    return intern_location(ps, LOCATION_FUSED, list.items, list.count, out);
}

static tsr_status resolve_parts(parser *ps, location_map *map, uint32_t given, uint32_t *out)
{
    location_kind kind;
    size_t count = 0;
    const uint32_t *numbers = given_location(ps->program, given, &kind, &count);
    if (kind == LOCATION_ALIAS) {
        return resolve_alias(ps, map, given, numbers[0], out);
    }
    if (kind == LOCATION_UNKNOWN || kind == LOCATION_FILE) {
        *out = given;
        return TSR_OK;
    }
    uint32_t *parts = NULL;
    size_t used = 0;
    size_t room = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t part = numbers[i];
        if (is_child(kind, i) && part != 0) {
            TSR_TRY(resolve(ps, map, numbers[i], &part));
            const uint16_t depth = (uint16_t)(map->depths[numbers[i]] + 1);
            map->depths[given] = depth > map->depths[given] ? depth : map->depths[given];
        }
        TSR_TRY(PUSH(ps, parts, used, room, part));
    }
    if (kind == LOCATION_FUSED) {
        return fuse(ps, parts, used, out);
    }
    if (kind == LOCATION_NAME && parts[1] != 0 && kind_of(ps, parts[1]) == LOCATION_UNKNOWN) {
        parts[1] = 0;
    }
    return intern_location(ps, kind, parts, used, out);
}

static tsr_status too_deep(parser *ps)
{
    return diag_error(ps->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                      "locations are nested in more than %d others, or in themselves",
                      PARSER_MAX_DEPTH);
}

static tsr_status resolve(parser *ps, location_map *map, uint32_t given, uint32_t *out)
{
    if (map->resolved[given] != 0) {
        *out = map->resolved[given];
        return TSR_OK;
    }
    if (++map->depth > PARSER_MAX_DEPTH) {
        return too_deep(ps);
    }
    TSR_TRY(resolve_parts(ps, map, given, out));
    map->depth--;
    if (map->depths[given] > PARSER_MAX_DEPTH) {
        return too_deep(ps);
    }
    map->resolved[given] = *out;
    return TSR_OK;
}

static tsr_status replace(parser *ps, location_map *map, uint32_t *where)
{
    uint32_t given = 0;
    if ((*where & IR_IS_GIVEN) != 0) {
        TSR_TRY(resolve(ps, map, *where & ~IR_IS_GIVEN, &given));
        *where = given | IR_IS_GIVEN;
    }
    return TSR_OK;
}

tsr_status resolve_location_aliases(parser *ps)
{
    tsr_program *p = ps->program;
    const size_t count = p->locations.count;
    if (count == 1) {
        return TSR_OK;
    }
    location_map map = {0};
    map.resolved = tsr_arena_alloc(ps->scratch, count * sizeof *map.resolved);
    map.depths = tsr_arena_alloc(ps->scratch, count * sizeof *map.depths);
    if (map.resolved == NULL || map.depths == NULL) {
        return diag_nomem(ps->ctx);
    }
    memset(map.resolved, 0, count * sizeof *map.resolved);
    memset(map.depths, 0, count * sizeof *map.depths);
    for (uint32_t op = 1; op < p->ops.count; op++) {
        TSR_TRY(replace(ps, &map, &program_op(p, op)->location));
    }
    for (uint32_t value = 1; value < p->values.count; value++) {
        TSR_TRY(replace(ps, &map, &program_value(p, value)->location));
    }
    return TSR_OK;
}
