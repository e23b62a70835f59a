#include "base/lex.h"

#include "base/arena.h"
#include "base/base.h"

/* What a byte can be part of. */
enum {
    DIGIT = 1,
    HEX = 2,
    WORD_START = 4,
    WORD = 8,    /* of a bare id */
    SUFFIX = 16, /* of an id after % # ! ^ */
    MARK = 32    /* a token by itself */
};

#define ALPHA (WORD_START | WORD | SUFFIX)
#define AS_DIGIT (DIGIT | HEX | WORD | SUFFIX)

static const uint8_t classes[256] = {
    ['0' ... '9'] = AS_DIGIT,
    ['A' ... 'F'] = ALPHA | HEX,
    ['G' ... 'Z'] = ALPHA,
    ['a' ... 'f'] = ALPHA | HEX,
    ['g' ... 'z'] = ALPHA,
    ['_'] = ALPHA,
    ['$'] = WORD | SUFFIX,
    ['.'] = WORD | SUFFIX,
    ['-'] = SUFFIX | MARK,
    ['('] = MARK,
    [')'] = MARK,
    ['{'] = MARK,
    ['}'] = MARK,
    ['['] = MARK,
    [']'] = MARK,
    ['<'] = MARK,
    ['>'] = MARK,
    [','] = MARK,
    [':'] = MARK,
    ['='] = MARK,
    ['+'] = MARK,
    ['*'] = MARK,
    ['?'] = MARK,
    ['|'] = MARK,
    ['/'] = MARK,
};

static bool is(char c, int class)
{
    return (classes[(unsigned char)c] & class) != 0;
}

static bool is_digit(char c)
{
    return is(c, DIGIT);
}

static bool is_hex(char c)
{
    return is(c, HEX);
}

/* The byte at an offset, 0 after the end. */
static char at(const lexer *lex, size_t offset)
{
    return offset < lex->text->size ? lex->text->data[offset] : '\0';
}

/* Skips blanks, line ends and comments. */
size_t lex_skip_space(const lexer *lex, size_t from)
{
    const tsr_text *text = lex->text;
    while (from < text->size) {
        const char c = text->data[from];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            from++;
        } else if (c == '/' && at(lex, from + 1) == '/') {
            while (from < text->size && text->data[from] != '\n') {
                from++;
            }
        } else {
            break;
        }
    }
    return from;
}

static void set(lexer *lex, int kind, size_t from, size_t to)
{
    lex->current = (token){.kind = kind, .at = from, .size = to - from};
}

/*
 * A malformed token is reported only when it is taken: what follows may belong to another reader.
 */
static void bad(lexer *lex, size_t from, size_t to, const char *problem)
{
    lex->problem = problem;
    set(lex, TOKEN_BAD, from, to);
}

static size_t run(const lexer *lex, size_t from, int class)
{
    const char *data = lex->text->data;
    const size_t size = lex->text->size;
    while (from < size && is(data[from], class)) {
        from++;
    }
    return from;
}

/* The end of a string that opens at `from`, or `from` when it is not closed on its line. */
static size_t string_end(const lexer *lex, size_t from)
{
    const char *data = lex->text->data;
    const char quote = data[from];
    const char *end = memchr(data + from + 1, quote, lex->text->size - from - 1);
    if (end == NULL) {
        return from;
    }
    const size_t inside = (size_t)(end - data) - from - 1;
    if (memchr(data + from + 1, '\\', inside) == NULL) {
        return memchr(data + from + 1, '\n', inside) == NULL ? from + inside + 2 : from;
    }
    for (size_t i = from + 1; i < lex->text->size; i++) {
        const char c = lex->text->data[i];
        if (c == quote) {
            return i + 1;
        }
        if (c == '\n') {
            return from;
        }
        if (c == '\\') {
            i++;
        }
    }
    return from;
}

static void scan_string(lexer *lex, int kind, size_t from, size_t quote)
{
    const size_t end = string_end(lex, quote);
    if (end == quote) {
        bad(lex, from, from + 1, "expected '\"' in string literal");
        return;
    }
    set(lex, kind, from, end);
}

/* The end of an exponent at `from`, or `from` when there is none. */
static size_t exponent_end(const lexer *lex, size_t from)
{
    if (at(lex, from) != 'e' && at(lex, from) != 'E') {
        return from;
    }
    const char sign = at(lex, from + 1);
    const size_t digits = from + (sign == '+' || sign == '-' ? 2 : 1);
    return is_digit(at(lex, digits)) ? run(lex, digits, DIGIT) : from;
}

static void scan_number(lexer *lex, size_t from)
{
    if (at(lex, from) == '0' && at(lex, from + 1) == 'x' && is_hex(at(lex, from + 2))) {
        set(lex, TOKEN_INTEGER, from, run(lex, from + 2, HEX));
        return;
    }
    const size_t end = run(lex, from, DIGIT);
    if (at(lex, end) == '.') {
        set(lex, TOKEN_FLOAT, from, exponent_end(lex, run(lex, end + 1, DIGIT)));
    } else {
        set(lex, TOKEN_INTEGER, from, end);
    }
}

static void scan_at(lexer *lex, size_t from)
{
    if (at(lex, from + 1) == '"') {
        scan_string(lex, TOKEN_AT, from, from + 1);
    } else if (is(at(lex, from + 1), WORD_START)) {
        set(lex, TOKEN_AT, from, run(lex, from + 1, WORD));
    } else {
        bad(lex, from, from + 1, "@ identifier expected to start with letter or '_'");
    }
}

/* An id after a sign: digits, or alphanumerics and some signs. */
static void scan_suffix(lexer *lex, int kind, size_t from, const char *problem)
{
    const char c = at(lex, from + 1);
    if (is_digit(c)) {
        set(lex, kind, from, run(lex, from + 1, DIGIT));
    } else if (is(c, SUFFIX)) {
        set(lex, kind, from, run(lex, from + 1, SUFFIX));
    } else {
        bad(lex, from, from + 1, problem);
    }
}

static bool starts(const lexer *lex, size_t from, const char *mark)
{
    return at(lex, from + 1) == mark[1] && at(lex, from + 2) == mark[2];
}

/* Everything that is not a word: signs, numbers, strings. */
static void scan_other(lexer *lex, char c, size_t from)
{
    switch (c) {
    case '%':
        scan_suffix(lex, TOKEN_PERCENT, from, "invalid SSA name");
        return;
    case '0' ... '9':
        scan_number(lex, from);
        return;
    case '"':
        scan_string(lex, TOKEN_STRING, from, from);
        return;
    case '@':
        scan_at(lex, from);
        return;
    case '#':
        if (starts(lex, from, "#-}")) {
            set(lex, TOKEN_METADATA_END, from, from + 3);
        } else {
            scan_suffix(lex, TOKEN_HASH, from, "invalid attribute name");
        }
        return;
    case '!':
        scan_suffix(lex, TOKEN_BANG, from, "invalid type identifier");
        return;
    case '^':
        scan_suffix(lex, TOKEN_CARET, from, "invalid block name");
        return;
    case '-':
        if (at(lex, from + 1) == '>') {
            set(lex, TOKEN_ARROW, from, from + 2);
            return;
        }
        break;
    case '{':
        if (starts(lex, from, "{-#")) {
            set(lex, TOKEN_METADATA_BEGIN, from, from + 3);
            return;
        }
        break;
    case '.':
        if (starts(lex, from, "...")) {
            set(lex, TOKEN_ELLIPSIS, from, from + 3);
            return;
        }
        break;
    case '\'':
        if (lex->single_quotes) {
            scan_string(lex, TOKEN_STRING, from, from);
            return;
        }
        break;
    default:
        break;
    }
    if (is(c, MARK)) {
        set(lex, c, from, from + 1);
    } else {
        bad(lex, from, from + 1, "unexpected character");
    }
}

static void scan(lexer *lex)
{
    const size_t from = lex_skip_space(lex, lex->text->at);
    if (from >= lex->text->size) {
        set(lex, TOKEN_END, from, from);
        return;
    }
    const char c = lex->text->data[from];
    if (is(c, WORD_START)) {
        set(lex, TOKEN_WORD, from, run(lex, from, WORD));
    } else {
        scan_other(lex, c, from);
    }
}

bool is_bare_id(slice text)
{
    size_t at = 0;
    while (at < text.size && is(text.data[at], at == 0 ? WORD_START : WORD)) {
        at++;
    }
    return at == text.size && at > 0;
}

lexer lex_start(tsr_context *ctx, tsr_arena *arena, tsr_text *text)
{
    lexer lex = {.ctx = ctx, .arena = arena, .text = text, .last_end = text->at};
    scan(&lex);
    return lex;
}

lexer lex_start_program(tsr_context *ctx, tsr_arena *arena, tsr_text *text)
{
    lexer lex = lex_start(ctx, arena, text);
    lex.bool_integers = true;
    return lex;
}

void lex_next(lexer *lex)
{
    lex->last_end = lex->current.at + lex->current.size;
    lex->text->at = lex->last_end;
    scan(lex);
}

char lex_char_after(const lexer *lex, size_t offset)
{
    const size_t after = lex_skip_space(lex, offset);
    return after < lex->text->size ? lex->text->data[after] : '\0';
}

void lex_move(lexer *lex, size_t offset)
{
    lex->last_end = offset;
    lex->text->at = offset;
    scan(lex);
}

slice lex_slice(const lexer *lex)
{
    return (slice){lex->text->data + lex->current.at, lex->current.size};
}

location lex_here(const lexer *lex)
{
    return (location){lex->text, lex->current.at, lex->current.size, false};
}

location lex_after(const lexer *lex)
{
    return (location){lex->text, lex->last_end, 1, false};
}

location lex_span(const lexer *lex, size_t from)
{
    return (location){lex->text, from, lex->last_end > from ? lex->last_end - from : 1, false};
}

bool lex_is(const lexer *lex, int kind)
{
    return lex->current.kind == kind;
}

/* Whether the current token is of that kind and spelled like that. */
static bool is_spelled(const lexer *lex, int kind, const char *spelling)
{
    const slice text = lex_slice(lex);
    return lex->current.kind == kind && text.size == strlen(spelling) &&
           memcmp(text.data, spelling, text.size) == 0;
}

bool lex_is_word(const lexer *lex, const char *word)
{
    return is_spelled(lex, TOKEN_WORD, word);
}

bool lex_accept(lexer *lex, int kind)
{
    if (lex->current.kind != kind) {
        return false;
    }
    lex_next(lex);
    return true;
}

bool lex_accept_word(lexer *lex, const char *word)
{
    if (!lex_is_word(lex, word)) {
        return false;
    }
    lex_next(lex);
    return true;
}

bool lex_accept_hash(lexer *lex, const char *name)
{
    if (!is_spelled(lex, TOKEN_HASH, name)) {
        return false;
    }
    lex_next(lex);
    return true;
}

tsr_status lex_error(lexer *lex, location where, const char *message)
{
    if (lex->current.kind == TOKEN_BAD) {
        where = (location){lex->text, lex->current.at, lex->current.size, true};
        message = lex->problem;
    }
    return diag_error(lex->ctx, TSR_ERR_SYNTAX, where, "%s", message);
}

tsr_status lex_follow_up(lexer *lex, const char *message)
{
    if (lex->current.kind == TOKEN_BAD) {
        return TSR_ERR_SYNTAX;
    }
    return diag_follow_up(lex->ctx, lex_here(lex), "%s", message);
}

tsr_status lex_expect(lexer *lex, int mark)
{
    if (lex_accept(lex, mark)) {
        return TSR_OK;
    }
    char message[] = "expected '?'";
    message[10] = (char)mark;
    location where = lex_after(lex);
    where.bare = true;
    return lex_error(lex, where, message);
}

tsr_status lex_expect_arrow(lexer *lex)
{
    if (lex_accept(lex, TOKEN_ARROW)) {
        return TSR_OK;
    }
    location where = lex_after(lex);
    where.bare = true;
    return lex_error(lex, where, "expected '->'");
}

tsr_status lex_expect_word(lexer *lex, const char *word)
{
    if (lex_accept_word(lex, word)) {
        return TSR_OK;
    }
    if (lex->current.kind == TOKEN_BAD) {
        return lex_error(lex, lex_here(lex), lex->problem);
    }
    return diag_error(lex->ctx, TSR_ERR_SYNTAX, lex_after(lex), "expected '%s'", word);
}

static int hex_value(char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    return (c | 0x20) - 'a' + 10;
}

static bool is_hex_pair(slice text, size_t at)
{
    return at + 1 < text.size && is_hex(text.data[at]) && is_hex(text.data[at + 1]);
}

/* Resolves the escapes of a string's inside; a wrong one is reported at its backslash. */
static tsr_status unescape(lexer *lex, slice raw, slice *out)
{
    char *copy = tsr_arena_alloc(lex->arena, raw.size + 1);
    if (copy == NULL) {
        return diag_nomem(lex->ctx);
    }
    size_t size = 0;
    for (size_t i = 0; i < raw.size; i++) {
        if (raw.data[i] != '\\') {
            copy[size++] = raw.data[i];
            continue;
        }
        const char c = i + 1 < raw.size ? raw.data[i + 1] : '\0';
        if (c == '"' || c == '\\' || c == '\'') {
            copy[size++] = c;
            i += 1;
        } else if (c == 'n' || c == 't') {
            copy[size++] = c == 'n' ? '\n' : '\t';
            i += 1;
        } else if (is_hex_pair(raw, i + (lex->single_quotes && c == 'x' ? 2 : 1))) {
            i += lex->single_quotes && c == 'x' ? 3 : 2;
            copy[size++] = (char)(hex_value(raw.data[i - 1]) * 16 + hex_value(raw.data[i]));
        } else {
            const size_t where = (size_t)(raw.data - lex->text->data) + i;
            return diag_error(lex->ctx, TSR_ERR_SYNTAX, (location){lex->text, where, 2, true},
                              "unknown escape in string literal");
        }
    }
    *out = (slice){copy, size};
    return TSR_OK;
}

tsr_status lex_unquote(lexer *lex, slice raw, slice *out)
{
    const slice inside = {raw.data + 1, raw.size - 2};
    if (inside.size == 0 || memchr(inside.data, '\\', inside.size) == NULL) {
        *out = inside;
        return TSR_OK;
    }
    return unescape(lex, inside, out);
}

tsr_status lex_string(lexer *lex, slice *out)
{
    if (!lex_is(lex, TOKEN_STRING)) {
        return lex_error(lex, lex_here(lex), "expected string");
    }
    TSR_TRY(lex_unquote(lex, lex_slice(lex), out));
    lex_next(lex);
    return TSR_OK;
}

tsr_status lex_at_name(lexer *lex, slice *out)
{
    const slice whole = lex_slice(lex);
    const slice name = {whole.data + 1, whole.size - 1};
    if (name.data[0] == '"') {
        TSR_TRY(lex_unquote(lex, name, out));
    } else {
        *out = name;
    }
    lex_next(lex);
    return TSR_OK;
}

bool lex_digits(slice digits, uint64_t *out)
{
    const bool hex = digits.size > 2 && digits.data[1] == 'x';
    uint64_t value = 0;
    for (size_t i = hex ? 2 : 0; i < digits.size; i++) {
        const uint64_t digit = (uint64_t)hex_value(digits.data[i]);
        if (__builtin_mul_overflow(value, hex ? 16U : 10U, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return false;
        }
    }
    *out = value;
    return true;
}

tsr_status lex_integer(lexer *lex, int64_t *out)
{
    const location start = lex_here(lex);
    if (lex->bool_integers && (lex_is_word(lex, "true") || lex_is_word(lex, "false"))) {
        *out = lex_is_word(lex, "true") ? -1 : 0;
        lex_next(lex);
        return TSR_OK;
    }
    const bool negative = lex_accept(lex, '-');
    if (!lex_is(lex, TOKEN_INTEGER)) {
        return lex_error(lex, lex_here(lex), "expected integer value");
    }
    uint64_t magnitude;
    if (!lex_digits(lex_slice(lex), &magnitude) || magnitude > INT64_MAX) {
        return lex_error(lex, start, "integer value too large");
    }
    lex_next(lex);
    *out = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return TSR_OK;
}

void *lex_grow(lexer *lex, const void *array, size_t item_size, size_t count, size_t *capacity)
{
    const size_t grown = *capacity < 4 ? 8 : *capacity * 2;
    void *fresh = arena_array(lex->arena, grown, item_size);
    if (fresh != NULL) {
        if (count > 0) {
            memcpy(fresh, array, count * item_size);
        }
        *capacity = grown;
    }
    return fresh;
}

tsr_status lex_integers(lexer *lex, bool allow_empty, int64_t **out, size_t *count)
{
    int64_t *values = NULL;
    size_t number = 0;
    size_t capacity = 0;
    TSR_TRY(lex_expect(lex, '['));
    if (!(allow_empty && lex_is(lex, ']'))) {
        do {
            int64_t value = 0;
            TSR_TRY(lex_integer(lex, &value));
            TSR_TRY(LEX_PUSH(lex, values, number, capacity, value));
        } while (lex_accept(lex, ','));
    }
    TSR_TRY(lex_expect(lex, ']'));
    *out = values;
    *count = number;
    return TSR_OK;
}
