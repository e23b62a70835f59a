/* Reading dense<..>. */
#include <string.h>

#include "base/arena.h"
#include "ir/elements.h"
#include "number/float_format.h"
#include "text/parser.h"

/* More elements than this, and not all the same, print as hex digits. */
/* A number as written. */
typedef struct literal {
    uint32_t at;
    uint32_t size;
    int kind;
    bool negative;
    bool in_pair;
} literal;

/* What stands between the angles, before the type is known. */
typedef struct literals {
    literal *items;
    size_t count;
    size_t room;
    int64_t *shape; /* of the lists */
    size_t rank;
    size_t shape_room;
    bool is_list;
    slice hex; /* the inside of a string */
    bool is_hex;
} literals;

static tsr_status read_literal(parser *ps, bool in_pair, literals *all)
{
    literal item = {.at = (uint32_t)ps->lex.current.at, .in_pair = in_pair};
    item.negative = accept(ps, '-');
    item.kind = ps->lex.current.kind;
    const slice word = token_text(ps);
    const bool is_bool =
        item.kind == TOKEN_WORD && (slice_is(word, "true") || slice_is(word, "false"));
    if (item.kind != TOKEN_INTEGER && item.kind != TOKEN_FLOAT && (!is_bool || item.negative)) {
        return error_here(ps, item.negative ? "expected integer or floating point literal"
                                            : "expected element literal of primitive type");
    }
    item.at = (uint32_t)ps->lex.current.at;
    item.size = (uint32_t)word.size;
    lex_next(&ps->lex);
    return PUSH(ps, all->items, all->count, all->room, item);
}

/* A number, or `(re, im)`. */
static tsr_status read_element(parser *ps, literals *all)
{
    if (!accept(ps, '(')) {
        return read_literal(ps, false, all);
    }
    TSR_TRY(read_literal(ps, true, all));
    TSR_TRY(expect(ps, ',', "expected ',' between complex elements"));
    TSR_TRY(read_literal(ps, true, all));
    return expect(ps, ')', "expected ')' after complex elements");
}

/* The extent of a list at a depth: all lists there have the same. */
static tsr_status note_extent(parser *ps, literals *all, size_t depth, int64_t extent)
{
    while (all->rank <= depth) {
        const int64_t none = TSR_UNKNOWN;
        TSR_TRY(PUSH(ps, all->shape, all->rank, all->shape_room, none));
    }
    if (all->shape[depth] != TSR_UNKNOWN && all->shape[depth] != extent) {
        return error_here(ps, "tensor literal is invalid; ranks are not consistent between "
                              "elements");
    }
    all->shape[depth] = extent;
    return TSR_OK;
}

static tsr_status read_list(parser *ps, literals *all, size_t depth)
{
    int64_t extent = 0;
    bool has_lists = false;
    TSR_TRY(parser_enter(ps));
    lex_next(&ps->lex);
    if (!at_kind(ps, ']')) {
        do {
            const bool is_list = at_kind(ps, '[');
            if (extent > 0 && is_list != has_lists) {
                return error_here(ps, "tensor literal is invalid; ranks are not consistent "
                                      "between elements");
            }
            has_lists = is_list;
            TSR_TRY(is_list ? read_list(ps, all, depth + 1) : read_element(ps, all));
            extent++;
        } while (accept(ps, ','));
    }
    TSR_TRY(expect(ps, ']', "expected ']'"));
    parser_leave(ps);
    if (!has_lists && all->rank > depth + 1) {
        return error_here(ps, "tensor literal is invalid; ranks are not consistent between "
                              "elements");
    }
    return note_extent(ps, all, depth, extent);
}

static tsr_status read_literals(parser *ps, literals *all)
{
    if (at_kind(ps, TOKEN_STRING)) {
        const slice quoted = token_text(ps);
        all->hex = (slice){quoted.data + 1, quoted.size - 2};
        all->is_hex = true;
        lex_next(&ps->lex);
        return TSR_OK;
    }
    all->is_list = at_kind(ps, '[');
    return all->is_list ? read_list(ps, all, 0) : read_element(ps, all);
}

/* ---- values by type ---- */

size_t element_bytes(const tsr_program *p, uint32_t element)
{
    const type_head *head = program_type(p, element);
    switch (head->kind) {
    case TYPE_INDEX:
        return 8;
    case TYPE_INTEGER:
        return head->width <= 64 ? (head->width + 7U) / 8 : 0;
    case TYPE_FLOAT:
        return (float_format_bits((float_format)head->width) + 7U) / 8;
    case TYPE_COMPLEX:
        return 2 * element_bytes(p, head->element);
    default:
        return 0;
    }
}

static tsr_status integer_literal(parser *ps, const type_head *type, const literal *item,
                                  uint64_t *out)
{
    const slice text = {ps->text.data + item->at, item->size};
    if (item->kind == TOKEN_WORD) {
        if (type->width != 1) {
            return error_at(ps, item->at, "expected i1 type for 'true' or 'false' values");
        }
        *out = text.data[0] == 't';
        return TSR_OK;
    }
    if (item->kind == TOKEN_FLOAT) {
        return error_at(ps, item->at, "expected integer elements, but parsed floating-point");
    }
    if (item->negative && type->sign == UNSIGNED) {
        return error_at(ps, item->at,
                        "expected unsigned integer elements, but parsed negative "
                        "value");
    }
    if (!integer_bits(type, text, item->negative, out)) {
        return error_at(ps, item->at, "integer constant out of range for type");
    }
    return TSR_OK;
}

static tsr_status float_literal(parser *ps, const type_head *type, const literal *item,
                                uint64_t *out)
{
    const slice text = {ps->text.data + item->at, item->size};
    const float_format format = (float_format)type->width;
    if (item->kind == TOKEN_WORD) {
        return error_at(ps, item->at, "expected floating-point elements, but parsed integer");
    }
    if (item->kind == TOKEN_INTEGER) {
        if (item->negative) {
            return error_at(ps, item->at,
                            "hexadecimal float literal should not have a leading minus");
        }
        if (text.size > 2 && text.data[1] == 'x') {
            return float_bits_of_hex(type, text, out)
                       ? TSR_OK
                       : error_at(ps, item->at, "hexadecimal float constant out of range for type");
        }
        (void)error_at(ps, item->at,
                       "unexpected decimal integer literal for a floating point value");
        return diag_note(ps->ctx, (location){&ps->text, item->at, item->size, true},
                         "add a trailing dot to make the literal a float");
    }
    if (!float_from_text(format, text.data, text.size, item->negative, out)) {
        return error_at(ps, item->at, "floating point value too large for type");
    }
    return TSR_OK;
}

static tsr_status put_literal(parser *ps, uint32_t element, const literal *item, char *out)
{
    const type_head *type = program_type(ps->program, element);
    uint64_t bits = 0;
    if (type->kind == TYPE_FLOAT) {
        TSR_TRY(float_literal(ps, type, item, &bits));
    } else {
        TSR_TRY(integer_literal(ps, type, item, &bits));
    }
    memcpy(out, &bits, element_bytes(ps->program, element));
    return TSR_OK;
}

/* Whether all elements have the same bytes. */
static bool all_same(const char *bytes, size_t item, size_t count)
{
    return count > 0 && memcmp(bytes, bytes + item, (count - 1) * item) == 0;
}

/* The parts of a complex, or the element itself. */
static uint32_t part_type(const tsr_program *p, uint32_t element)
{
    return type_is(p, element, TYPE_COMPLEX) ? program_type(p, element)->element : element;
}

static tsr_status check_shape(parser *ps, const literals *all, uint32_t type, size_t at)
{
    const type_head *head = program_type(ps->program, type);
    bool same = head->count == all->rank;
    for (size_t i = 0; same && i < all->rank; i++) {
        same = type_extents(head)[i] == all->shape[i];
    }
    if (same) {
        return TSR_OK;
    }
    buffer inferred = buffer_new(ps->scratch);
    buffer wanted = buffer_new(ps->scratch);
    const char *texts[2] = {"", ""};
    buffer_ints(&inferred, all->shape, all->rank);
    buffer_ints(&wanted, type_extents(head), head->count);
    TSR_TRY(buffer_finish(ps->ctx, &inferred, &texts[0]));
    TSR_TRY(buffer_finish(ps->ctx, &wanted, &texts[1]));
    return error_at(ps, at, "inferred shape of elements literal ([%s]) does not match type ([%s])",
                    texts[0], texts[1]);
}

static tsr_status from_list(parser *ps, const literals *all, uint32_t type, size_t at,
                            uint32_t *out)
{
    const uint32_t element = type_element(ps->program, type);
    const uint32_t part = part_type(ps->program, element);
    const size_t item = element_bytes(ps->program, element);
    const size_t step = element_bytes(ps->program, part);
    if (item == 0) {
        return error_at(ps, at, "expected element type to be a type with a known storage size");
    }
    if (all->is_list) {
        TSR_TRY(check_shape(ps, all, type, at));
    }
    const size_t size = all->count * step;
    char *bytes = tsr_arena_alloc(ps->scratch, size + 1);
    if (bytes == NULL) {
        return diag_nomem(ps->ctx);
    }
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i].in_pair != (part != element)) {
            return error_at(ps, all->items[i].at,
                            part != element ? "expected a pair of numbers for a complex element"
                                            : "expected a number, but parsed a pair of them");
        }
        TSR_TRY(put_literal(ps, part, &all->items[i], bytes + i * step));
    }
    const size_t count = size / item;
    if (all->is_list && count == 0) {
        return attr_elements(ps->program, type, "", 0, false, out);
    }
    const bool splat = !all->is_list || all_same(bytes, item, count);
    return attr_elements(ps->program, type, bytes, splat ? item : size, splat, out);
}

/* ---- hex digits ---- */

static int digit_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* Whether digits are all hex, and all as they print. In blocks, which compilers vectorise. */
static bool check_digits(slice digits, bool *canonical)
{
    enum { BLOCK = 64 };
    uint8_t bad = 0;
    uint8_t small = 0;
    size_t i = 0;
    for (; i + BLOCK <= digits.size; i += BLOCK) {
        uint8_t bads[BLOCK];
        uint8_t smalls[BLOCK];
        for (size_t k = 0; k < BLOCK; k++) {
            const uint8_t c = (uint8_t)digits.data[i + k];
            smalls[k] = (uint8_t)(c - 'a') < 6;
            bads[k] = ((uint8_t)(c - '0') >= 10) & ((uint8_t)(c - 'A') >= 6) & !smalls[k];
        }
        for (size_t k = 0; k < BLOCK; k++) {
            bad |= bads[k];
            small |= smalls[k];
        }
    }
    for (; i < digits.size; i++) {
        bad |= digit_value(digits.data[i]) < 0;
        small |= digits.data[i] >= 'a';
    }
    *canonical = small == 0;
    return bad == 0;
}

static void decode(slice digits, char *out)
{
    for (size_t i = 0; i < digits.size / 2; i++) {
        out[i] = (char)(digit_value(digits.data[2 * i]) * 16 + digit_value(digits.data[2 * i + 1]));
    }
}

tsr_status elements_bytes(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t attr,
                          const void **bytes, size_t *size, bool *is_splat)
{
    const attr_head *head = program_attr(p, attr);
    if (head->kind == ATTR_ELEMENTS) {
        *bytes = attr_text(head);
        *size = head->count;
        *is_splat = head->is_splat;
        return TSR_OK;
    }
    const slice digits = attr_digits(p, attr);
    char *decoded = tsr_arena_alloc(arena, digits.size / 2 + 1);
    if (decoded == NULL) {
        return diag_nomem(ctx);
    }
    decode(digits, decoded);
    *bytes = decoded;
    *size = digits.size / 2;
    *is_splat = false;
    return TSR_OK;
}

bool hex_digits(slice text, slice *digits, bool *canonical)
{
    if (text.size < 2 || text.size % 2 != 0 || memcmp(text.data, "0x", 2) != 0) {
        return false;
    }
    *digits = (slice){text.data + 2, text.size - 2};
    return check_digits(*digits, canonical);
}

static tsr_status from_hex(parser *ps, slice text, uint32_t type, size_t at, uint32_t *out)
{
    int64_t count = 0;
    bool canonical = false;
    const size_t item = element_bytes(ps->program, type_element(ps->program, type));
    slice digits;
    if (!hex_digits(text, &digits, &canonical)) {
        return error_at(ps, at,
                        "elements hex string should start with '0x' and have an even "
                        "number of hex digits");
    }
    if (!type_num_elements(ps->program, type, &count) || item == 0 ||
        (digits.size / 2 != item &&
         (digits.size / 2 % item != 0 || (int64_t)(digits.size / 2 / item) != count))) {
        return error_at(ps, at, "elements hex data size is invalid for provided type: %.*s",
                        (int)(ps->lex.last_end - at), ps->text.data + at);
    }
    const bool splat = digits.size / 2 == item ||
                       memcmp(digits.data, digits.data + 2 * item, digits.size - 2 * item) == 0;
    if (canonical && !splat && count > MAX_LISTED && digits.size > 0) {
        return attr_hex(ps->program, type, digits, out);
    }
    const size_t size = splat && digits.size > 0 ? item : digits.size / 2;
    char *bytes = tsr_arena_alloc(ps->scratch, size + 1);
    if (bytes == NULL) {
        return diag_nomem(ps->ctx);
    }
    decode((slice){digits.data, 2 * size}, bytes);
    return attr_elements(ps->program, type, bytes, size, splat && size > 0, out);
}

/* The type of the elements, which must be all known. */
static tsr_status read_elements_type(parser *ps, size_t at, uint32_t *type)
{
    if (*type == 0) {
        TSR_TRY(expect(ps, ':', "expected ':'"));
        const size_t type_at = ps->lex.current.at;
        TSR_TRY(read_type(ps, type));
        if (!type_is(ps->program, *type, TYPE_TENSOR) &&
            !type_is(ps->program, *type, TYPE_VECTOR)) {
            return error_at(ps, type_at, "elements literal must be a shaped type");
        }
    }
    if (!type_is(ps->program, *type, TYPE_VECTOR) && !type_is_static(ps->program, *type)) {
        return error_at(ps, at, "elements literal type must have static shape");
    }
    return TSR_OK;
}

tsr_status read_elements(parser *ps, uint32_t type, uint32_t *out)
{
    literals all = {0};
    const size_t at = ps->lex.current.at;
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, '<', "expected '<' after 'dense'"));
    const bool is_empty = at_kind(ps, '>');
    if (!is_empty) {
        TSR_TRY(read_literals(ps, &all));
    }
    TSR_TRY(expect(ps, '>', "expected '>'"));
    TSR_TRY(read_elements_type(ps, at, &type));
    if (is_empty) {
        int64_t count = 0;
        if (!type_num_elements(ps->program, type, &count) || count != 0) {
            const char *text = "?";
            TSR_TRY(tsr_ir_type_to_text(ps->ctx, ps->scratch, ps->program, type, &text));
            return error_at(ps, at, "parsed zero elements, but type ('%s') expected at least 1",
                            text);
        }
        return attr_elements(ps->program, type, "", 0, false, out);
    }
    return all.is_hex ? from_hex(ps, all.hex, type, at, out) : from_list(ps, &all, type, at, out);
}
