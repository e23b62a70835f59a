/* Reading loc(..). */
#include <string.h>

#include "ir/location.h"
#include "ir/records.h"
#include "text/parser.h"

/* The last fused location that a location became a part of; 0: none. */
static uint32_t *fused_with(const parser *ps, uint32_t given)
{
    return (uint32_t *)ps->fused_parts.items + given;
}

static tsr_status intern_location(parser *ps, location_kind kind, const uint32_t *numbers,
                                  size_t count, uint32_t *out)
{
    const uint32_t first = (uint32_t)kind;
    const intern_part parts[] = {{&first, sizeof first}, {numbers, count * sizeof *numbers}};
    return intern_parts(&ps->program->locations, parts, 2, out);
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

static bool is_unknown(const parser *ps, uint32_t given)
{
    location_kind kind;
    size_t count = 0;
    given_location(ps->program, given, &kind, &count);
    return kind == LOCATION_UNKNOWN;
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
        numbers[1] = is_unknown(ps, numbers[1]) ? 0 : numbers[1];
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

/* Parts of a location, in order and each once. */
typedef struct part_list {
    uint32_t *items;
    size_t count;
    size_t room;
} part_list;

static tsr_status add_part(parser *ps, part_list *list, uint32_t part)
{
    if (part >= ps->fused_parts.count) {
        const uint32_t extra = ps->program->locations.count - ps->fused_parts.count;
        TSR_TRY(ir_array_reserve(ps->ctx, &ps->fused_parts, sizeof(uint32_t), extra));
        memset(fused_with(ps, ps->fused_parts.count), 0, extra * sizeof(uint32_t));
        ps->fused_parts.count += extra;
    }
    if (*fused_with(ps, part) == ps->num_fused) {
        return TSR_OK;
    }
    *fused_with(ps, part) = ps->num_fused;
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
    ps->num_fused++;
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
    return fuse(ps, numbers, count, out);
}

/*
 * `#name` of a part of a location: defined before. A location is one level deeper as an attribute
 * than as a part.
 */
static tsr_status read_part_alias(parser *ps, uint32_t *out)
{
    uint32_t attr = 0;
    const char *text = "?";
    ps->depth--;
    const tsr_status status = read_alias(ps, &attr);
    ps->depth++;
    TSR_TRY(status);
    if (attr_is(ps->program, attr, ATTR_LOCATION)) {
        *out = (uint32_t)program_attr(ps->program, attr)->bits;
        return TSR_OK;
    }
    TSR_TRY(tsr_ir_attr_to_text(ps->ctx, ps->scratch, ps->program, attr, &text));
    return error_here(ps, "expected location attribute, but got%s", text);
}

/* The location that an alias stands for; `at`: where it is used. */
static tsr_status alias_location(parser *ps, uint32_t attr, location at, uint32_t *out)
{
    const char *text = "?";
    if (attr_is(ps->program, attr, ATTR_LOCATION)) {
        *out = (uint32_t)program_attr(ps->program, attr)->bits;
        return TSR_OK;
    }
    TSR_TRY(tsr_ir_attr_to_text(ps->ctx, ps->scratch, ps->program, attr, &text));
    return diag_error(ps->ctx, TSR_ERR_SYNTAX, at, "expected location, but found '%s'", text);
}

/* `#name` that is the whole location of an op or a value: it may be defined later. */
static tsr_status read_whole_alias(parser *ps, uint32_t *out)
{
    const slice text = token_text(ps);
    const alias *found = find_alias(ps, text);
    uint32_t name = 0;
    if (found != NULL) {
        TSR_TRY(alias_location(ps, found->value, lex_here(&ps->lex), out));
    } else {
        TSR_TRY(program_string(ps->program, text.data, text.size, &name));
        TSR_TRY(intern_location(ps, LOCATION_ALIAS, &name, 1, out));
        ps->has_late_locations = true;
    }
    lex_next(&ps->lex);
    return TSR_OK;
}

static tsr_status read_inner(parser *ps, uint32_t *out)
{
    tsr_status status = TSR_OK;
    const slice text = token_text(ps);
    TSR_TRY(parser_enter(ps));
    if (at_kind(ps, TOKEN_STRING)) {
        status = read_named_location(ps, out);
    } else if (at_kind(ps, TOKEN_HASH)) {
        status = read_part_alias(ps, out);
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
    TSR_TRY(may_be_later && at_kind(ps, TOKEN_HASH) ? read_whole_alias(ps, given)
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

tsr_status read_location_attr(parser *ps, uint32_t *out)
{
    uint32_t given = 0;
    TSR_TRY(read_parenthesized(ps, false, &given));
    return attr_location(ps->program, given, out);
}

/* ---- aliases that are defined at the end ---- */

static tsr_status settle_location(parser *ps, uint32_t *where)
{
    location_kind kind;
    size_t count = 0;
    uint32_t given = 0;
    if ((*where & IR_IS_GIVEN) == 0) {
        return TSR_OK;
    }
    const uint32_t *numbers = given_location(ps->program, *where & ~IR_IS_GIVEN, &kind, &count);
    if (kind != LOCATION_ALIAS) {
        return TSR_OK;
    }
    const slice name = string_at(ps->program, numbers[0]);
    const alias *found = find_alias(ps, name);
    if (found == NULL) {
        return diag_error(ps->ctx, TSR_ERR_SYNTAX, NO_LOCATION,
                          "operation location alias was never defined: '%.*s'", (int)name.size,
                          name.data);
    }
    TSR_TRY(alias_location(ps, found->value, NO_LOCATION, &given));
    *where = given | IR_IS_GIVEN;
    return TSR_OK;
}

tsr_status settle_locations(parser *ps)
{
    tsr_program *p = ps->program;
    if (!ps->has_late_locations) {
        return TSR_OK;
    }
    for (uint32_t op = 1; op < p->ops.count; op++) {
        TSR_TRY(settle_location(ps, &record_of_op(p, op)->location));
    }
    for (uint32_t value = 1; value < p->values.count; value++) {
        TSR_TRY(settle_location(ps, &record_of_value(p, value)->location));
    }
    return TSR_OK;
}
