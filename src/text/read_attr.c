/* Reading attributes that are not of a dialect. */
#include <string.h>

#include "base/arena.h"
#include "ir/elements.h"
#include "number/float_format.h"
#include "text/attr_struct.h"
#include "text/parser.h"

tsr_status read_string(parser *ps, slice *out)
{
    return lex_string(&ps->lex, out);
}

/* The type after a colon, if there is one. */
static tsr_status read_optional_type(parser *ps, uint32_t *type)
{
    return accept(ps, ':') ? read_type(ps, type) : TSR_OK;
}

/* ---- numbers ---- */

bool integer_bits(const type_head *type, slice digits, bool negative, uint64_t *out)
{
    const unsigned width = type->kind == TYPE_INDEX ? 64 : type->width;
    uint64_t value = 0;
    if (!lex_digits(digits, &value) || width > 64) {
        return false;
    }
    if (width < 64 && value >> width != 0) {
        return false;
    }
    const uint64_t sign_bit = UINT64_C(1) << (width - 1);
    if (negative) {
        value = (0 - value) & (width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX);
        if ((value & sign_bit) == 0) {
            return false;
        }
    } else if ((type->kind == TYPE_INDEX || type->sign == SIGNED) && (value & sign_bit) != 0) {
        return false;
    }
    if (type->sign != UNSIGNED && width > 1 && (value & sign_bit) != 0) {
        value |= ~(sign_bit - 1);
    }
    *out = value;
    return true;
}

bool float_bits_of_hex(const type_head *type, slice digits, uint64_t *out)
{
    const unsigned width = float_format_bits((float_format)type->width);
    return digits.size > 2 && digits.data[1] == 'x' && lex_digits(digits, out) &&
           (width >= 64 || *out >> width == 0);
}

static tsr_status integer_attr(parser *ps, slice digits, size_t at, bool negative, uint32_t type,
                               uint32_t *out)
{
    uint64_t bits = 0;
    if (type == 0) {
        TSR_TRY(type_integer(ps->program, 64, SIGNLESS, &type));
    }
    const type_head *head = program_type(ps->program, type);
    if (head->kind == TYPE_FLOAT) {
        if (negative) {
            return error_at(ps, at, "hexadecimal float literal should not have a leading minus");
        }
        if (digits.size < 2 || digits.data[1] != 'x') {
            (void)error_at(ps, at, "unexpected decimal integer literal for a floating point value");
            return diag_note(ps->ctx, (location){&ps->text, at, digits.size, true},
                             "add a trailing dot to make the literal a float");
        }
        if (!float_bits_of_hex(head, digits, &bits)) {
            return error_at(ps, at, "hexadecimal float constant out of range for type");
        }
        return attr_float(ps->program, type, bits, out);
    }
    if (head->kind != TYPE_INTEGER && head->kind != TYPE_INDEX) {
        return error_at(ps, at, "integer literal not valid for specified type");
    }
    if (negative && head->sign == UNSIGNED) {
        return error_at(ps, at, "negative integer literal not valid for unsigned integer type");
    }
    if (!integer_bits(head, digits, negative, &bits)) {
        return error_at(ps, at, "integer constant out of range for attribute");
    }
    return attr_integer(ps->program, type, bits, out);
}

static tsr_status float_attr(parser *ps, slice digits, size_t at, bool negative, uint32_t type,
                             uint32_t *out)
{
    uint64_t bits = 0;
    if (type == 0) {
        TSR_TRY(type_float(ps->program, FLOAT_F64, &type));
    }
    const type_head *head = program_type(ps->program, type);
    if (head->kind != TYPE_FLOAT) {
        return error_at(ps, at, "floating point value not valid for specified type");
    }
    if (!float_from_text((float_format)head->width, digits.data, digits.size, negative, &bits)) {
        return error_at(ps, at, "floating point value too large for attribute");
    }
    return attr_float(ps->program, type, bits, out);
}

static tsr_status read_number(parser *ps, uint32_t type, uint32_t *out)
{
    const size_t at = ps->lex.current.at;
    const bool negative = accept(ps, '-');
    const bool is_float = at_kind(ps, TOKEN_FLOAT);
    if (!is_float && !at_kind(ps, TOKEN_INTEGER)) {
        return error_here(ps, "expected constant integer or floating point value");
    }
    const slice digits = token_text(ps);
    lex_next(&ps->lex);
    if (type == 0) {
        TSR_TRY(read_optional_type(ps, &type));
    }
    return is_float ? float_attr(ps, digits, at, negative, type, out)
                    : integer_attr(ps, digits, at, negative, type, out);
}

/* ---- lists ---- */

static tsr_status read_item(parser *ps, int row, uint32_t *out)
{
    (void)row;
    return read_attr(ps, out);
}

static tsr_status read_array(parser *ps, uint32_t *out)
{
    uint32_t *items = NULL;
    size_t count = 0;
    TSR_TRY(read_bracketed(ps, read_item, 0, &items, &count));
    return attr_array(ps->program, items, count, out);
}

static tsr_status read_entry(parser *ps, attr_entry *out)
{
    slice name = token_text(ps);
    if (at_kind(ps, TOKEN_STRING)) {
        TSR_TRY(lex_unquote(&ps->lex, name, &name));
        if (name.size == 0) {
            return error_here(ps, "expected valid attribute name");
        }
    } else if (!at_kind(ps, TOKEN_WORD)) {
        return error_here(ps, "expected attribute name");
    }
    TSR_TRY(program_string(ps->program, name.data, name.size, &out->name));
    lex_next(&ps->lex);
    if (!accept(ps, '=')) {
        return attr_unit(ps->program, &out->value);
    }
    return read_attr(ps, &out->value);
}

/* Whether a name is among the entries from `first` on; beyond a few, by a table of their names. */
static tsr_status find_key(parser *ps, intern_table *keys, const attr_entry *entries, size_t first,
                           size_t count, uint32_t name, bool *found)
{
    uint32_t id = 0;
    *found = false;
    if (count - first < FEW_ENTRIES) {
        for (size_t i = first; i < count && !*found; i++) {
            *found = entries[i].name == name;
        }
        return TSR_OK;
    }
    if (keys->count == 0) {
        TSR_TRY(intern_table_init(keys, ps->ctx, ps->scratch));
        for (size_t i = first; i < count; i++) {
            TSR_TRY(intern_bytes(keys, &entries[i].name, sizeof name, &id));
        }
    }
    const uint32_t before = keys->count;
    TSR_TRY(intern_bytes(keys, &name, sizeof name, &id));
    *found = keys->count == before;
    return TSR_OK;
}

static tsr_status read_entries(parser *ps, intern_table *keys, attr_entry **entries, size_t *count,
                               size_t *room)
{
    const size_t first = *count;
    do {
        attr_entry entry = {0};
        bool found = false;
        const size_t at = ps->lex.current.at;
        TSR_TRY(read_entry(ps, &entry));
        TSR_TRY(find_key(ps, keys, *entries, first, *count, entry.name, &found));
        if (found) {
            const slice name = string_at(ps->program, entry.name);
            return error_at(ps, at, "duplicate key '%.*s' in dictionary attribute", (int)name.size,
                            name.data);
        }
        TSR_TRY(PUSH(ps, *entries, *count, *room, entry));
    } while (accept(ps, ','));
    return TSR_OK;
}

tsr_status read_dict_entries(parser *ps, attr_entry **entries, size_t *count, size_t *room)
{
    intern_table keys = {0};
    TSR_TRY(expect(ps, '{', "expected '{' in attribute dictionary"));
    if (accept(ps, '}')) {
        return TSR_OK;
    }
    const tsr_status status = read_entries(ps, &keys, entries, count, room);
    intern_table_free(&keys);
    TSR_TRY(status);
    return expect(ps, '}', "expected '}' in attribute dictionary");
}

tsr_status read_optional_dict(parser *ps, attr_entry **entries, size_t *count, size_t *room)
{
    return at_kind(ps, '{') ? read_dict_entries(ps, entries, count, room) : TSR_OK;
}

/* As a value the empty dictionary is a record of its own. */
static tsr_status read_dict_attr(parser *ps, uint32_t *out)
{
    attr_entry *entries = NULL;
    size_t count = 0;
    size_t room = 0;
    TSR_TRY(read_dict_entries(ps, &entries, &count, &room));
    return count == 0 ? attr_of_text(ps->program, ATTR_DICT, 0, 0, "", 0, out)
                      : attr_dict(ps->program, entries, count, out);
}

tsr_status read_symbol(parser *ps, uint32_t *out)
{
    uint32_t *names = NULL;
    size_t count = 0;
    size_t room = 0;
    do {
        slice name;
        uint32_t id = 0;
        if (!at_kind(ps, TOKEN_AT)) {
            return error_here(ps, "expected valid '@'-identifier for symbol name");
        }
        TSR_TRY(lex_at_name(&ps->lex, &name));
        TSR_TRY(program_string(ps->program, name.data, name.size, &id));
        TSR_TRY(PUSH(ps, names, count, room, id));
        const size_t at = ps->lex.current.at;
        if (!at_kind(ps, ':') || at + 2 >= ps->text.size || ps->text.data[at + 1] != ':' ||
            ps->text.data[at + 2] != '@') {
            break;
        }
        lex_next(&ps->lex);
        lex_next(&ps->lex);
    } while (true);
    return attr_symbol(ps->program, names, count, out);
}

tsr_status read_symbol_name(parser *ps, uint32_t *out)
{
    slice name;
    if (!at_kind(ps, TOKEN_AT)) {
        return error_here(ps, "expected valid '@'-identifier for symbol name");
    }
    TSR_TRY(lex_at_name(&ps->lex, &name));
    return attr_string(ps->program, name.data, name.size, 0, out);
}

/* ---- array<i64: 1, 2> ---- */

static tsr_status read_dense_item(parser *ps, uint32_t type, int64_t *out)
{
    uint32_t attr = 0;
    const size_t at = ps->lex.current.at;
    const type_head *head = program_type(ps->program, type);
    if (head->kind == TYPE_INTEGER && head->width == 1) {
        const slice word = token_text(ps);
        if (!at_kind(ps, TOKEN_WORD) || (!slice_is(word, "true") && !slice_is(word, "false"))) {
            return error_here(ps, "expected 'true' or 'false' values for i1 type");
        }
        *out = word.data[0] == 't';
        lex_next(&ps->lex);
        return TSR_OK;
    }
    if (!at_kind(ps, TOKEN_INTEGER) && !at_kind(ps, TOKEN_FLOAT) && !at_kind(ps, '-')) {
        return error_here(ps, head->kind == TYPE_FLOAT ? "expected floating point literal"
                                                       : "expected integer value");
    }
    TSR_TRY(read_number(ps, type, &attr));
    if (attr_is(ps->program, attr, ATTR_FLOAT) != (head->kind == TYPE_FLOAT)) {
        return error_at(ps, at, "expected integer value");
    }
    *out = (int64_t)program_attr(ps->program, attr)->bits;
    return TSR_OK;
}

static tsr_status read_dense_array(parser *ps, uint32_t *out)
{
    int64_t *values = NULL;
    size_t count = 0;
    size_t room = 0;
    uint32_t type = 0;
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, '<', "expected '<' after 'array'"));
    const size_t at = ps->lex.current.at;
    if (!at_kind(ps, TOKEN_WORD)) {
        return error_here(ps, "expected integer or float type");
    }
    TSR_TRY(read_type(ps, &type));
    const type_head *head = program_type(ps->program, type);
    if (head->kind != TYPE_INTEGER && head->kind != TYPE_FLOAT) {
        return error_at(ps, at, "expected integer or float type, got: %.*s",
                        (int)(ps->lex.last_end - at), ps->text.data + at);
    }
    if (accept(ps, '>')) {
        return attr_dense_array(ps->program, type, NULL, 0, out);
    }
    TSR_TRY(expect(ps, ':', "expected ':' after dense array type"));
    do {
        int64_t value = 0;
        TSR_TRY(read_dense_item(ps, type, &value));
        TSR_TRY(PUSH(ps, values, count, room, value));
    } while (accept(ps, ','));
    TSR_TRY(expect(ps, '>', "expected '>' to close an array attribute"));
    return attr_dense_array(ps->program, type, values, count, out);
}

/* `dense_resource<name> : type` */
static tsr_status read_resource(parser *ps, uint32_t type, uint32_t *out)
{
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, '<', "expected '<' after 'dense_resource'"));
    slice name = token_text(ps);
    if (at_kind(ps, TOKEN_STRING)) {
        TSR_TRY(lex_unquote(&ps->lex, name, &name));
    } else if (!at_kind(ps, TOKEN_WORD)) {
        return error_here(ps, "expected identifier key for 'resource' entry");
    }
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, '>', "expected '>'"));
    if (type == 0) {
        TSR_TRY(expect(ps, ':', "expected ':'"));
        TSR_TRY(read_type(ps, &type));
    }
    const type_kind kind = (type_kind)program_type(ps->program, type)->kind;
    if (kind != TYPE_TENSOR && kind != TYPE_VECTOR && kind != TYPE_UNRANKED) {
        return error_here(ps, "`dense_resource` expected a shaped type");
    }
    return attr_of_text(ps->program, ATTR_RESOURCE, 0, type, name.data, name.size, out);
}

/* ---- by the first token ---- */

static tsr_status read_word_attr(parser *ps, uint32_t type, uint32_t *out)
{
    const slice word = token_text(ps);
    if (slice_is(word, "true") || slice_is(word, "false")) {
        lex_next(&ps->lex);
        return attr_bool(ps->program, word.data[0] == 't', out);
    }
    if (slice_is(word, "unit")) {
        lex_next(&ps->lex);
        return attr_unit(ps->program, out);
    }
    if (slice_is(word, "dense")) {
        return read_elements(ps, type, out);
    }
    if (slice_is(word, "array")) {
        return read_dense_array(ps, out);
    }
    if (slice_is(word, "dense_resource")) {
        return read_resource(ps, type, out);
    }
    if (slice_is(word, "loc")) {
        return read_location_attr(ps, out);
    }
    if (slice_is(word, "affine_map") || slice_is(word, "affine_set") ||
        slice_is(word, "distinct") || slice_is(word, "sparse") || slice_is(word, "strided")) {
        slice text;
        TSR_TRY(skip_balanced(ps, &text));
        return attr_of_text(ps->program, ATTR_OPAQUE, 0, 0, text.data, text.size, out);
    }
    return TSR_NOT_APPLICABLE;
}

static tsr_status read_type_attr(parser *ps, uint32_t *out)
{
    uint32_t type = 0;
    TSR_TRY(read_type(ps, &type));
    return attr_type(ps->program, type, out);
}

/* Whether a word can start a type. */
static bool starts_type(const parser *ps)
{
    static const char *const words[] = {"tensor", "vector", "complex", "tuple", "index",
                                        "none",   "memref", "f80",     "f128"};
    const slice word = token_text(ps);
    float_format format;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (slice_is(word, words[i])) {
            return true;
        }
    }
    const size_t digits = word.data[0] == 'i' ? 1 : 2;
    const bool is_integer =
        word.size > digits && word.data[digits] >= '0' && word.data[digits] <= '9' &&
        (word.data[0] == 'i' || (strchr("su", word.data[0]) != NULL && word.data[1] == 'i'));
    return is_integer || float_format_find(word.data, word.size, &format);
}

static tsr_status read_any(parser *ps, uint32_t type, uint32_t *out)
{
    slice text;
    switch (ps->lex.current.kind) {
    case '-':
    case TOKEN_INTEGER:
    case TOKEN_FLOAT:
        return read_number(ps, type, out);
    case TOKEN_STRING:
        TSR_TRY(read_string(ps, &text));
        if (type == 0) {
            TSR_TRY(read_optional_type(ps, &type));
        }
        return attr_string(ps->program, text.data, text.size, type, out);
    case '[':
        return read_array(ps, out);
    case '{':
        return read_dict_attr(ps, out);
    case TOKEN_AT:
        return read_symbol(ps, out);
    case TOKEN_HASH:
        return read_dialect_attr(ps, type, out);
    case '(':
    case TOKEN_BANG:
        return read_type_attr(ps, out);
    case TOKEN_WORD: {
        const tsr_status status = read_word_attr(ps, type, out);
        if (status != TSR_NOT_APPLICABLE) {
            return status;
        }
        return starts_type(ps) ? read_type_attr(ps, out)
                               : error_here(ps, "expected attribute value");
    }
    default:
        return error_here(ps, "expected attribute value");
    }
}

tsr_status read_attr_typed(parser *ps, uint32_t type, uint32_t *out)
{
    TSR_TRY(parser_enter(ps));
    const tsr_status status = read_any(ps, type, out);
    parser_leave(ps);
    return status;
}

tsr_status read_attr(parser *ps, uint32_t *out)
{
    return read_attr_typed(ps, 0, out);
}

/* ---- text that is kept ---- */

static char closing(char c)
{
    return c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : c == '<' ? '>' : '\0';
}

/*
 * Takes one word or sign and the brackets directly after it, as they are. Strings in it are
 * skipped as a whole; `->` closes nothing. An error stands at the first bracket or the last string.
 */
tsr_status skip_balanced(parser *ps, slice *out)
{
    const char *data = ps->text.data;
    const size_t start = ps->lex.current.at;
    size_t at = start;
    char *open = NULL;
    size_t count = 0;
    size_t room = 0;
    if (closing(data[at]) == '\0') {
        at += ps->lex.current.size;
    }
    if (at >= ps->text.size || closing(data[at]) == '\0') {
        *out = (slice){data + start, at - start};
        lex_move(&ps->lex, at);
        return TSR_OK;
    }
    size_t here = at;
    do {
        const char c = at < ps->text.size ? data[at] : '\0';
        /* NOLINTBEGIN(clang-analyzer-core.NullDereference): the first character has opened one */
        if (c == '\0' || (strchr(")]}>", c) != NULL && c != closing(open[count - 1]))) {
            return error_at(ps, here, "unbalanced '%c' character in pretty dialect name",
                            open[count - 1]);
        }
        /* NOLINTEND(clang-analyzer-core.NullDereference) */
        if (c == '"') {
            lex_move(&ps->lex, at);
            if (!at_kind(ps, TOKEN_STRING)) {
                return error_here(ps, "expected string");
            }
            here = at;
            at += ps->lex.current.size;
            continue;
        }
        if (closing(c) != '\0') {
            TSR_TRY(PUSH(ps, open, count, room, c));
        } else if (c == '-' && at + 1 < ps->text.size && data[at + 1] == '>') {
            at++;
        } else if (strchr(")]}>", c) != NULL) {
            count--;
        }
        at++;
    } while (count > 0);
    *out = (slice){data + start, at - start};
    lex_move(&ps->lex, at);
    return TSR_OK;
}
