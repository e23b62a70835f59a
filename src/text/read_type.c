/* Reading types. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "number/float_format.h"
#include "text/parser.h"

/* `i32`, `si8`, `ui16`: false for other words. */
static bool integer_word(slice word, unsigned *width, int *sign)
{
    enum { MAX_WIDTH = (1 << 24) - 1, MAX_DIGITS = 8 };
    size_t at = 1;
    *sign = SIGNLESS;
    if (word.size > 1 && (word.data[0] == 's' || word.data[0] == 'u') && word.data[1] == 'i') {
        *sign = word.data[0] == 's' ? SIGNED : UNSIGNED;
        at = 2;
    } else if (word.size == 0 || word.data[0] != 'i') {
        return false;
    }
    if (at == word.size || word.size - at > MAX_DIGITS || word.data[at] == '0') {
        return false;
    }
    unsigned value = 0;
    for (; at < word.size; at++) {
        if (word.data[at] < '0' || word.data[at] > '9') {
            return false;
        }
        value = value * 10 + (unsigned)(word.data[at] - '0');
    }
    *width = value;
    return value <= MAX_WIDTH;
}

/*
 * The extents before the element type: `2x?x`. The lexer would take `0x3` for a hex number and
 * `x3` for a word, so these are read by character.
 */
static tsr_status read_extents(parser *ps, int64_t **extents, size_t *count, size_t *room)
{
    const char *data = ps->text.data;
    size_t at = ps->lex.current.at;
    for (;;) {
        const size_t start = at;
        int64_t extent = TSR_UNKNOWN;
        if (at < ps->text.size && data[at] == '?') {
            at++;
        } else {
            int64_t value = 0;
            for (; at < ps->text.size && data[at] >= '0' && data[at] <= '9'; at++) {
                if (!checked_mul(value, 10, &value) ||
                    !checked_add(value, data[at] - '0', &value)) {
                    return error_at(ps, start, "invalid dimension");
                }
            }
            extent = value;
        }
        if (at == start) {
            lex_move(&ps->lex, at);
            return TSR_OK;
        }
        at = lex_skip_space(&ps->lex, at);
        if (at >= ps->text.size || data[at] != 'x') {
            lex_move(&ps->lex, at);
            return error_here(ps, "expected 'x' in dimension list");
        }
        at = lex_skip_space(&ps->lex, at + 1);
        TSR_TRY(PUSH(ps, *extents, *count, *room, extent));
        if (*count > PARSER_MAX_DEPTH) {
            return diag_error(ps->ctx, TSR_ERR_LIMIT, lex_here(&ps->lex),
                              "types of more than %d dimensions are not supported",
                              PARSER_MAX_DEPTH);
        }
    }
}

/* Bounds, if the encoding is of them, are one a dimension, and none of a static one. */
static tsr_status check_bounds(parser *ps, const int64_t *extents, size_t count, uint32_t encoding)
{
    if (!attr_is(ps->program, encoding, ATTR_STRUCT) ||
        program_attr(ps->program, encoding)->row != STRUCT_BOUNDS) {
        return TSR_OK;
    }
    const attr_head *bounds =
        program_attr(ps->program, attr_list(program_attr(ps->program, encoding))[0]);
    if (bounds->count != count) {
        return error_here(ps,
                          "Bounds length is %u, expected to be equal to rank(%zu) of the tensor",
                          bounds->count, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (extents[i] != TSR_UNKNOWN && attr_numbers(bounds)[i] != TSR_UNKNOWN) {
            return error_here(ps,
                              "Static dimension %zu cannot have a bound, use ShapedType::kDynamic "
                              "to indicate a missing bound",
                              i);
        }
    }
    return TSR_OK;
}

static tsr_status read_shaped(parser *ps, type_kind kind, uint32_t *out)
{
    int64_t *extents = NULL;
    size_t count = 0;
    size_t room = 0;
    uint32_t element = 0;
    uint32_t encoding = 0;
    TSR_TRY(expect(ps, '<', "expected '<'"));
    if (kind == TYPE_TENSOR && at_kind(ps, '*')) {
        const size_t at = ps->lex.current.at;
        if (at + 1 >= ps->text.size || ps->text.data[at + 1] != 'x') {
            return error_here(ps, "expected 'x' in dimension list");
        }
        lex_move(&ps->lex, at + 2);
        TSR_TRY(read_type(ps, &element));
        TSR_TRY(type_unranked(ps->program, element, out));
        return expect(ps, '>', "expected '>'");
    }
    TSR_TRY(read_extents(ps, &extents, &count, &room));
    const size_t element_at = ps->lex.current.at;
    TSR_TRY(read_type(ps, &element));
    const type_kind element_kind = (type_kind)program_type(ps->program, element)->kind;
    if (element_kind == TYPE_TENSOR || element_kind == TYPE_TUPLE ||
        element_kind == TYPE_FUNCTION || element_kind == TYPE_NONE ||
        element_kind == TYPE_UNRANKED) {
        return error_at(ps, element_at, "invalid tensor element type: %.*s",
                        (int)(ps->lex.last_end - element_at), ps->text.data + element_at);
    }
    if (kind == TYPE_TENSOR && accept(ps, ',') && !at_kind(ps, '>')) {
        TSR_TRY(read_attr(ps, &encoding));
        TSR_TRY(check_bounds(ps, extents, count, encoding));
    }
    TSR_TRY(expect(ps, '>', "expected '>'"));
    if (kind == TYPE_VECTOR) {
        return type_vector(ps->program, extents, count, element, out);
    }
    return type_tensor(ps->program, extents, count, element, encoding, out);
}

static tsr_status read_complex(parser *ps, uint32_t *out)
{
    uint32_t element = 0;
    TSR_TRY(expect(ps, '<', "expected '<' in complex type"));
    const size_t at = ps->lex.current.at;
    TSR_TRY(read_type(ps, &element));
    const type_kind kind = (type_kind)program_type(ps->program, element)->kind;
    if (kind != TYPE_FLOAT && kind != TYPE_INTEGER) {
        return error_at(ps, at, "invalid element type for complex");
    }
    TSR_TRY(expect(ps, '>', "expected '>' in complex type"));
    return type_complex(ps->program, element, out);
}

static tsr_status read_tuple(parser *ps, uint32_t *out)
{
    uint32_t *types = NULL;
    size_t count = 0;
    size_t room = 0;
    TSR_TRY(expect(ps, '<', "expected '<' in tuple type"));
    if (!at_kind(ps, '>')) {
        TSR_TRY(read_types(ps, &types, &count, &room));
    }
    TSR_TRY(expect(ps, '>', "expected '>' in tuple type"));
    return type_of_types(ps->program, TYPE_TUPLE, types, count, out);
}

/* `<T, T>` of a future: ranked tensors. */
static tsr_status read_future(parser *ps, uint32_t *out)
{
    uint32_t *types = NULL;
    size_t count = 0;
    size_t room = 0;
    const size_t at = ps->lex.current.at;
    TSR_TRY(expect(ps, '<', "expected '<'"));
    if (!at_kind(ps, '>')) {
        TSR_TRY(read_types(ps, &types, &count, &room));
    }
    TSR_TRY(expect(ps, '>', "expected '>'"));
    for (size_t i = 0; i < count; i++) {
        if (!type_is(ps->program, types[i], TYPE_TENSOR)) {
            const char *text = "";
            TSR_TRY(tsr_ir_type_to_text(ps->ctx, ps->scratch, ps->program, types[i], &text));
            return error_at(ps, at, "future element type must be a ranked tensor, but got '%s'",
                            text);
        }
    }
    return type_of_types(ps->program, TYPE_FUTURE, types, count, out);
}

/* A type that is only kept: its text to the end of its brackets. */
static tsr_status read_kept(parser *ps, uint32_t *out)
{
    slice text;
    TSR_TRY(skip_balanced(ps, &text));
    return type_of_text(ps->program, TYPE_OPAQUE, 0, text.data, text.size, out);
}

static tsr_status read_word(parser *ps, uint32_t *out)
{
    const slice word = token_text(ps);
    unsigned width = 0;
    int sign = 0;
    float_format format;
    if (slice_is(word, "tensor") || slice_is(word, "vector")) {
        lex_next(&ps->lex);
        return read_shaped(ps, word.data[0] == 't' ? TYPE_TENSOR : TYPE_VECTOR, out);
    }
    if (integer_word(word, &width, &sign)) {
        lex_next(&ps->lex);
        if (width > UINT16_MAX) {
            return error_after(ps, "integer types of more than 65535 bits are not supported");
        }
        return type_integer(ps->program, width, sign, out);
    }
    if (float_format_find(word.data, word.size, &format)) {
        lex_next(&ps->lex);
        return type_float(ps->program, (int)format, out);
    }
    if (slice_is(word, "complex")) {
        lex_next(&ps->lex);
        return read_complex(ps, out);
    }
    if (slice_is(word, "tuple")) {
        lex_next(&ps->lex);
        return read_tuple(ps, out);
    }
    if (slice_is(word, "index") || slice_is(word, "none")) {
        lex_next(&ps->lex);
        return type_simple(ps->program, word.data[0] == 'i' ? TYPE_INDEX : TYPE_NONE, out);
    }
    if (slice_is(word, "memref") || slice_is(word, "f80") || slice_is(word, "f128")) {
        return read_kept(ps, out);
    }
    return error_here(ps, "expected non-function type");
}

/* ---- quantized types ---- */

/* `2.0:15` or `2.0`: a scale and, unless it is 0, a zero point. */
static tsr_status read_quant_param(parser *ps, buffer *text)
{
    char number[FLOAT_TEXT_MAX];
    const bool negative = accept(ps, '-');
    if (!at_kind(ps, TOKEN_FLOAT)) {
        return error_here(ps, "expected floating point literal");
    }
    const slice digits = token_text(ps);
    uint64_t bits = 0;
    if (!float_from_text(FLOAT_F64, digits.data, digits.size, negative, &bits)) {
        return error_here(ps, "floating point value too large");
    }
    lex_next(&ps->lex);
    const size_t size = float_to_text(FLOAT_F64, bits, number);
    buffer_bytes(text, number, size);
    if (accept(ps, ':')) {
        int64_t zero = 0;
        TSR_TRY(lex_integer(&ps->lex, &zero));
        if (zero != 0) {
            buffer_format(text, ":%lld", (long long)zero);
        }
    }
    return TSR_OK;
}

static tsr_status read_quant_params(parser *ps, buffer *text)
{
    if (!accept(ps, '{')) {
        return read_quant_param(ps, text);
    }
    buffer_char(text, '{');
    bool first = true;
    do {
        buffer_string(text, first ? "" : ", ");
        first = false;
        if (at_kind(ps, '{')) {
            TSR_TRY(parser_enter(ps));
            TSR_TRY(read_quant_params(ps, text));
            parser_leave(ps);
        } else {
            TSR_TRY(read_quant_param(ps, text));
        }
    } while (accept(ps, ','));
    buffer_char(text, '}');
    return expect(ps, '}', "expected '}'");
}

/* `<-127:127>`, if it is next. */
static tsr_status read_storage_range(parser *ps, buffer *text)
{
    int64_t low = 0;
    int64_t high = 0;
    if (!accept(ps, '<')) {
        return TSR_OK;
    }
    TSR_TRY(lex_integer(&ps->lex, &low));
    TSR_TRY(expect(ps, ':', "expected ':'"));
    TSR_TRY(lex_integer(&ps->lex, &high));
    buffer_format(text, "<%lld:%lld>", (long long)low, (long long)high);
    return expect(ps, '>', "expected '>'");
}

/* The axis, or the axes with block sizes, of a type that is not quantized as a whole. */
static tsr_status read_quant_axes(parser *ps, buffer *text)
{
    if (!accept(ps, ':')) {
        return TSR_OK;
    }
    buffer_char(text, ':');
    if (at_kind(ps, '{')) {
        slice axes;
        TSR_TRY(skip_balanced(ps, &axes));
        buffer_bytes(text, axes.data, axes.size);
        return TSR_OK;
    }
    int64_t axis = 0;
    TSR_TRY(lex_integer(&ps->lex, &axis));
    buffer_int(text, axis);
    return TSR_OK;
}

/* `<i8<-127:127>:f32:0, {1.0:2, 3.0}>` after `!quant.uniform`. */
static tsr_status read_quant(parser *ps, uint32_t *out)
{
    buffer text = buffer_new(ps->scratch);
    const char *whole = NULL;
    uint32_t storage = 0;
    uint32_t expressed = 0;
    const char *type = NULL;
    buffer_string(&text, "!quant.uniform<");
    TSR_TRY(expect(ps, '<', "expected '<'"));
    TSR_TRY(read_type(ps, &storage));
    TSR_TRY(tsr_ir_type_to_text(ps->ctx, ps->scratch, ps->program, storage, &type));
    buffer_string(&text, type[0] == 's' ? type + 1 : type);
    TSR_TRY(read_storage_range(ps, &text));
    TSR_TRY(expect(ps, ':', "expected ':'"));
    TSR_TRY(read_type(ps, &expressed));
    TSR_TRY(tsr_ir_type_to_text(ps->ctx, ps->scratch, ps->program, expressed, &type));
    buffer_format(&text, ":%s", type);
    TSR_TRY(read_quant_axes(ps, &text));
    TSR_TRY(expect(ps, ',', "expected ','"));
    buffer_string(&text, ", ");
    TSR_TRY(read_quant_params(ps, &text));
    TSR_TRY(expect(ps, '>', "expected '>'"));
    buffer_char(&text, '>');
    TSR_TRY(buffer_finish(ps->ctx, &text, &whole));
    return type_of_text(ps->program, TYPE_QUANT, expressed, whole, strlen(whole), out);
}

/* `!stablehlo<token>`, `!stablehlo<future<..>>` */
static tsr_status read_long_type(parser *ps, uint32_t *out)
{
    const size_t at = ps->lex.current.at;
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, '<', "expected '<'"));
    const slice word = token_text(ps);
    if (slice_is(word, "token")) {
        lex_next(&ps->lex);
        TSR_TRY(type_simple(ps->program, TYPE_TOKEN, out));
    } else if (slice_is(word, "future")) {
        lex_next(&ps->lex);
        TSR_TRY(read_future(ps, out));
    } else {
        return error_at(ps, at, "unknown stablehlo type: %.*s", (int)word.size, word.data);
    }
    return expect(ps, '>', "expected '>'");
}

/* `!name`: an alias or a type of a dialect. */
static tsr_status read_bang(parser *ps, uint32_t *out)
{
    const slice name = token_text(ps);
    if (memchr(name.data, '.', name.size) == NULL &&
        (ps->lex.current.at + name.size >= ps->text.size ||
         ps->text.data[ps->lex.current.at + name.size] != '<')) {
        return read_alias(ps, out);
    }
    if (slice_is(name, "!stablehlo")) {
        return read_long_type(ps, out);
    }
    if (slice_is(name, "!stablehlo.token")) {
        lex_next(&ps->lex);
        return type_simple(ps->program, TYPE_TOKEN, out);
    }
    if (slice_is(name, "!stablehlo.future")) {
        lex_next(&ps->lex);
        return read_future(ps, out);
    }
    if (slice_is(name, "!quant.uniform")) {
        lex_next(&ps->lex);
        return read_quant(ps, out);
    }
    const char *dot = memchr(name.data, '.', name.size);
    const size_t size = dot != NULL ? (size_t)(dot - name.data) - 1 : name.size - 1;
    const slice dialect = {name.data + 1, size};
    if (slice_is(dialect, "stablehlo")) {
        const slice rest = {name.data + size + 2, dot != NULL ? name.size - size - 2 : 0};
        return error_here(ps, "unknown stablehlo type: %.*s", (int)rest.size,
                          rest.size > 0 ? rest.data : "");
    }
    if ((ps->program->flags & TSR_PROGRAM_ALLOW_UNREGISTERED) == 0 &&
        !ir_dialect_has_attributes(dialect.data, dialect.size)) {
        return error_here(ps,
                          "!dialect<\"%.*s\"> type created with unregistered dialect. If this is "
                          "intended, please call allowUnregisteredDialects() on the MLIRContext, "
                          "or use -allow-unregistered-dialect with the MLIR opt tool used",
                          (int)dialect.size, dialect.data);
    }
    return read_kept(ps, out);
}

/* Any type but a function type. */
static tsr_status read_plain(parser *ps, uint32_t *out)
{
    if (at_kind(ps, TOKEN_WORD)) {
        return read_word(ps, out);
    }
    if (at_kind(ps, TOKEN_BANG)) {
        return read_bang(ps, out);
    }
    return error_here(ps, "expected non-function type");
}

/* ---- types by their text ---- */

/*
 * The end of a type that starts with a word: the word, or its brackets. 0 when it is not that
 * simple, or not complete.
 */
static size_t simple_end(const parser *ps)
{
    const char *data = ps->text.data;
    size_t at = ps->lex.current.at + ps->lex.current.size;
    if (at >= ps->text.size || data[at] != '<') {
        return at;
    }
    int depth = 0;
    for (; at < ps->text.size; at++) {
        switch (data[at]) {
        case '<':
            depth++;
            break;
        case '>':
            if (--depth == 0) {
                return at + 1;
            }
            break;
        case '"':
        case '-':
        case '/':
        case '#':
        case '!':
        case '\n':
            return 0;
        default:
            break;
        }
    }
    return 0;
}

static tsr_status remember(parser *ps, slice text, uint32_t type)
{
    uint32_t id = 0;
    const uint32_t count = ps->type_texts.count;
    TSR_TRY(intern_bytes(&ps->type_texts, text.data, text.size, &id));
    if (ps->type_texts.count > count) {
        TSR_TRY(ir_array_reserve(ps->ctx, &ps->type_ids, sizeof type, 1));
        ((uint32_t *)ps->type_ids.items)[ps->type_ids.count++] = type;
    }
    return TSR_OK;
}

/* An op mostly has one type several times. */
static bool is_last_type(const parser *ps, size_t start)
{
    return ps->last_type.size > 0 && ps->last_type.size <= ps->text.size - start &&
           memcmp(ps->text.data + start, ps->last_type.data, ps->last_type.size) == 0;
}

/* Programs repeat few types: a type is read once, and found by its text from then on. */
static tsr_status read_remembered(parser *ps, uint32_t *out)
{
    const size_t start = ps->lex.current.at;
    if (is_last_type(ps, start)) {
        lex_move(&ps->lex, start + ps->last_type.size);
        *out = ps->last_type_id;
        return TSR_OK;
    }
    const size_t end = simple_end(ps);
    if (end == 0) {
        return read_word(ps, out);
    }
    const slice text = {ps->text.data + start, end - start};
    const uint32_t known = intern_find_bytes(&ps->type_texts, text.data, text.size);
    if (known != 0) {
        lex_move(&ps->lex, end);
        *out = ((const uint32_t *)ps->type_ids.items)[known];
        if (ps->text.data[end - 1] == '>') {
            ps->last_type = text;
            ps->last_type_id = *out;
        }
        return TSR_OK;
    }
    TSR_TRY(read_word(ps, out));
    return ps->lex.last_end == end ? remember(ps, text, *out) : TSR_OK;
}

tsr_status read_type(parser *ps, uint32_t *out)
{
    tsr_status status = TSR_OK;
    TSR_TRY(parser_enter(ps));
    if (at_kind(ps, TOKEN_WORD)) {
        status = read_remembered(ps, out);
    } else if (at_kind(ps, '(')) {
        status = read_function_type(ps, out);
    } else {
        status = read_plain(ps, out);
    }
    parser_leave(ps);
    return status;
}

tsr_status read_types(parser *ps, uint32_t **types, size_t *count, size_t *room)
{
    do {
        uint32_t type = 0;
        TSR_TRY(read_type(ps, &type));
        TSR_TRY(PUSH(ps, *types, *count, *room, type));
    } while (accept(ps, ','));
    return TSR_OK;
}

tsr_status read_type_or_list(parser *ps, uint32_t **types, size_t *count, size_t *room)
{
    if (!accept(ps, '(')) {
        uint32_t type = 0;
        TSR_TRY(parser_enter(ps));
        const tsr_status status =
            at_kind(ps, TOKEN_WORD) ? read_remembered(ps, &type) : read_plain(ps, &type);
        parser_leave(ps);
        TSR_TRY(status);
        return PUSH(ps, *types, *count, *room, type);
    }
    if (accept(ps, ')')) {
        return TSR_OK;
    }
    TSR_TRY(read_types(ps, types, count, room));
    return expect(ps, ')', "expected ')'");
}

tsr_status read_function_type(parser *ps, uint32_t *out)
{
    uint32_t *inputs = NULL;
    uint32_t *results = NULL;
    size_t num_inputs = 0;
    size_t num_results = 0;
    size_t input_room = 0;
    size_t result_room = 0;
    TSR_TRY(read_type_or_list(ps, &inputs, &num_inputs, &input_room));
    TSR_TRY(expect_arrow(ps, "expected '->' in function type"));
    TSR_TRY(read_type_or_list(ps, &results, &num_results, &result_room));
    return type_function(ps->program, inputs, num_inputs, results, num_results, out);
}
