/* Printing types and attributes. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "ir/elements.h"
#include "number/float_format.h"
#include "text/printer.h"
#include "text/resources.h"

static void print_extents(printer *pr, const type_head *head)
{
    for (uint32_t i = 0; i < head->count; i++) {
        const int64_t extent = type_extents(head)[i];
        if (extent == TSR_UNKNOWN) {
            put_char(pr, '?');
        } else {
            put_int(pr, extent);
        }
        put_char(pr, 'x');
    }
}

static void print_tensor(printer *pr, const type_head *head)
{
    put(pr, head->kind == TYPE_VECTOR ? "vector<" : "tensor<");
    print_extents(pr, head);
    print_type(pr, head->element);
    if (head->encoding != 0) {
        put(pr, ", ");
        print_attr(pr, head->encoding);
    }
    put_char(pr, '>');
}

static void print_listed(printer *pr, const char *open, const type_head *head)
{
    put(pr, open);
    print_type_list(pr, type_list(head), head->count);
    put_char(pr, '>');
}

static void print_new_type(printer *pr, uint32_t type)
{
    static const char *const signs[] = {[SIGNLESS] = "i", [SIGNED] = "si", [UNSIGNED] = "ui"};
    const type_head *head = program_type(pr->program, type);
    switch ((type_kind)head->kind) {
    case TYPE_INTEGER:
        put(pr, signs[head->sign]);
        put_uint(pr, head->width);
        break;
    case TYPE_INDEX:
        put(pr, "index");
        break;
    case TYPE_NONE:
        put(pr, "none");
        break;
    case TYPE_FLOAT:
        put(pr, float_format_name((float_format)head->width));
        break;
    case TYPE_COMPLEX:
        put(pr, "complex<");
        print_type(pr, head->element);
        put_char(pr, '>');
        break;
    case TYPE_TENSOR:
    case TYPE_VECTOR:
        print_tensor(pr, head);
        break;
    case TYPE_UNRANKED:
        put(pr, "tensor<*x");
        print_type(pr, head->element);
        put_char(pr, '>');
        break;
    case TYPE_TUPLE:
        print_listed(pr, "tuple<", head);
        break;
    case TYPE_FUTURE:
        print_listed(pr, "!stablehlo.future<", head);
        break;
    case TYPE_FUNCTION:
        put_char(pr, '(');
        print_type_list(pr, type_list(head), head->inputs);
        put(pr, ") -> ");
        print_results(pr, type_list(head) + head->inputs, head->count - head->inputs);
        break;
    case TYPE_TOKEN:
        put(pr, "!stablehlo.token");
        break;
    case TYPE_QUANT:
    case TYPE_OPAQUE:
        put_bytes(pr, type_text(head), head->count);
        break;
    }
}

/* The text of a type, made when it is printed first; NULL data without memory. */
static slice remembered_text(printer *pr, uint32_t type)
{
    slice *texts = pr->type_texts.items;
    if (texts[type].data == NULL) {
        const char *text = "";
        if (tsr_ir_type_to_text(pr->ctx, pr->scratch, pr->program, type, &text) < 0) {
            pr->no_memory = true;
            return (slice){"", 0};
        }
        texts[type] = (slice){text, strlen(text)};
    }
    return texts[type];
}

void print_type(printer *pr, uint32_t type)
{
    if (type < pr->type_texts.count) {
        put_slice(pr, remembered_text(pr, type));
    } else {
        print_new_type(pr, type);
    }
}

void print_type_list(printer *pr, const uint32_t *types, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(pr, i > 0 ? ", " : "");
        print_type(pr, types[i]);
    }
}

void print_results(printer *pr, const uint32_t *types, size_t count)
{
    if (count == 1 && !type_is(pr->program, types[0], TYPE_FUNCTION)) {
        print_type(pr, types[0]);
        return;
    }
    put_char(pr, '(');
    print_type_list(pr, types, count);
    put_char(pr, ')');
}

/* ---- numbers ---- */

static void print_integer(printer *pr, const type_head *type, uint64_t bits)
{
    if (type->kind == TYPE_INTEGER && type->width == 1) {
        put(pr, bits != 0 ? "true" : "false");
    } else if (type->kind == TYPE_INTEGER && type->sign == UNSIGNED) {
        put_uint(pr, bits);
    } else {
        put_int(pr, (int64_t)bits);
    }
}

/* Whether it is printed as a number, not by its bits. */
static bool print_float(printer *pr, const type_head *type, uint64_t bits)
{
    char text[FLOAT_TEXT_MAX];
    const size_t size = float_to_text((float_format)type->width, bits, text);
    put_bytes(pr, text, size);
    return size < 2 || text[1] != 'x';
}

/* One part of an element: `bytes` of it at an address. */
static void print_part(printer *pr, const type_head *type, const char *at, size_t bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, at, bytes);
    if (type->kind == TYPE_FLOAT) {
        print_float(pr, type, bits);
        return;
    }
    if (type->sign != UNSIGNED && bytes < sizeof bits && type->width > 1 &&
        (bits >> (type->width - 1) & 1) != 0) {
        bits |= ~UINT64_C(0) << (type->width - 1);
    }
    print_integer(pr, type, bits);
}

static void print_element(printer *pr, uint32_t element, const char *at, size_t bytes)
{
    const type_head *type = program_type(pr->program, element);
    if (type->kind != TYPE_COMPLEX) {
        print_part(pr, type, at, bytes);
        return;
    }
    const type_head *part = program_type(pr->program, type->element);
    put_char(pr, '(');
    print_part(pr, part, at, bytes / 2);
    put_char(pr, ',');
    print_part(pr, part, at + bytes / 2, bytes / 2);
    put_char(pr, ')');
}

/* Lists nested as the type's extents are. */
static void print_nested(printer *pr, const type_head *type, uint32_t dim, const char **at,
                         size_t bytes)
{
    if (dim == type->count) {
        print_element(pr, type->element, *at, bytes);
        *at += bytes;
        return;
    }
    put_char(pr, '[');
    for (int64_t i = 0; i < type_extents(type)[dim]; i++) {
        put(pr, i > 0 ? ", " : "");
        print_nested(pr, type, dim + 1, at, bytes);
    }
    put_char(pr, ']');
}

/* What the bytes of an element show: integers of less than a byte only their own bits. */
static unsigned char byte_mask(const type_head *element)
{
    const bool is_short = element->kind == TYPE_INTEGER && element->width < 8;
    return is_short ? (unsigned char)((1U << element->width) - 1) : UCHAR_MAX;
}

static void print_hex(printer *pr, const char *bytes, size_t size, unsigned char mask)
{
    static const char hex[] = "0123456789ABCDEF";
    put(pr, "\"0x");
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)bytes[i] & mask;
        put_char(pr, hex[c >> 4]);
        put_char(pr, hex[c & 15]);
    }
    put_char(pr, '"');
}

void print_elements(printer *pr, const attr_head *attr, uint32_t id)
{
    const type_head *type = program_type(pr->program, attr->type);
    put(pr, "dense<");
    if (attr->kind == ATTR_HEX) {
        put(pr, "\"0x");
        put_slice(pr, attr_digits(pr->program, id));
        put_char(pr, '"');
    } else if (attr->count > 0) {
        const size_t bytes = element_bytes(pr->program, type->element);
        const char *at = attr_text(attr);
        if (attr->is_splat) {
            print_element(pr, type->element, at, bytes);
        } else if (attr->count / bytes > MAX_LISTED) {
            print_hex(pr, at, attr->count, byte_mask(program_type(pr->program, type->element)));
        } else {
            print_nested(pr, type, 0, &at, bytes);
        }
    }
    put(pr, "> : ");
    print_type(pr, attr->type);
}

/* ---- attributes ---- */

static void print_dense_items(printer *pr, const attr_head *attr)
{
    const type_head *type = program_type(pr->program, attr->type);
    for (uint32_t i = 0; i < attr->count; i++) {
        const uint64_t bits = (uint64_t)attr_numbers(attr)[i];
        put(pr, i > 0 ? ", " : "");
        if (type->kind == TYPE_FLOAT) {
            print_float(pr, type, bits);
        } else {
            print_integer(pr, type, bits);
        }
    }
}

void print_ints(printer *pr, const attr_head *attr)
{
    put_char(pr, '[');
    print_dense_items(pr, attr);
    put_char(pr, ']');
}

static void print_dense_array(printer *pr, const attr_head *attr)
{
    put(pr, "array<");
    print_type(pr, attr->type);
    put(pr, attr->count > 0 ? ": " : "");
    print_dense_items(pr, attr);
    put_char(pr, '>');
}

void print_entries(printer *pr, const attr_entry *entries, size_t count)
{
    put_char(pr, '{');
    for (size_t i = 0; i < count; i++) {
        put(pr, i > 0 ? ", " : "");
        put_name(pr, string_at(pr->program, entries[i].name));
        if (!attr_is(pr->program, entries[i].value, ATTR_UNIT)) {
            put(pr, " = ");
            print_attr(pr, entries[i].value);
        }
    }
    put_char(pr, '}');
}

static void print_list(printer *pr, const attr_head *attr)
{
    put_char(pr, '[');
    for (uint32_t i = 0; i < attr->count; i++) {
        put(pr, i > 0 ? ", " : "");
        print_attr_bare(pr, attr_list(attr)[i]);
    }
    put_char(pr, ']');
}

static void print_symbols(printer *pr, const attr_head *attr)
{
    for (uint32_t i = 0; i < attr->count; i++) {
        put(pr, i > 0 ? "::" : "");
        put_symbol(pr, string_at(pr->program, attr_list(attr)[i]));
    }
}

static void print_enum(printer *pr, const attr_head *attr)
{
    const enum_row *row = &ir_enums[attr->row];
    put_char(pr, '#');
    put(pr, row->dialect);
    put(pr, row->wrapped ? "." : "<");
    put(pr, row->mnemonic);
    put(pr, row->wrapped ? "<" : " ");
    put(pr, row->values[attr->bits]);
    put_char(pr, '>');
}

/* The type after a number, unless `bare` and the type is the default one. */
static void print_number_type(printer *pr, const attr_head *attr, bool bare)
{
    const type_head *type = program_type(pr->program, attr->type);
    const bool is_i1 = type->kind == TYPE_INTEGER && type->width == 1 && type->sign == SIGNLESS;
    const bool is_i64 = type->kind == TYPE_INTEGER && type->width == 64 && type->sign == SIGNLESS;
    const bool is_f64 = type->kind == TYPE_FLOAT && type->width == FLOAT_F64;
    if (!is_i1 && !(bare && (is_i64 || is_f64))) {
        put(pr, " : ");
        print_type(pr, attr->type);
    }
}

/* The type after text, if it has one. */
static void print_given_type(printer *pr, const attr_head *attr)
{
    if (attr->type != 0) {
        put(pr, " : ");
        print_type(pr, attr->type);
    }
}

/* In full: aliases of locations may be defined after the attribute, where it could not use them. */
static void print_location_attr(printer *pr, const attr_head *attr)
{
    struct location_names *aliases = pr->locations;
    pr->locations = NULL;
    put(pr, "loc(");
    print_given_location(pr, (uint32_t)attr->bits);
    put_char(pr, ')');
    pr->locations = aliases;
}

static void print_any(printer *pr, uint32_t id, bool bare)
{
    const attr_head *attr = program_attr(pr->program, id);
    switch ((attr_kind)attr->kind) {
    case ATTR_UNIT:
        put(pr, "unit");
        break;
    case ATTR_INTEGER:
        print_integer(pr, program_type(pr->program, attr->type), attr->bits);
        print_number_type(pr, attr, bare);
        break;
    case ATTR_FLOAT:
        bare &= print_float(pr, program_type(pr->program, attr->type), attr->bits);
        print_number_type(pr, attr, bare);
        break;
    case ATTR_STRING:
        put_quoted(pr, (slice){attr_text(attr), attr->count});
        print_given_type(pr, attr);
        break;
    case ATTR_ARRAY:
        print_list(pr, attr);
        break;
    case ATTR_DICT:
        print_entries(pr, attr_entries(attr), attr->count);
        break;
    case ATTR_SYMBOL:
        print_symbols(pr, attr);
        break;
    case ATTR_TYPE:
        print_type(pr, attr->type);
        break;
    case ATTR_DENSE_ARRAY:
        print_dense_array(pr, attr);
        break;
    case ATTR_ELEMENTS:
    case ATTR_HEX:
        print_elements(pr, attr, id);
        break;
    case ATTR_RESOURCE:
        note_resource(pr, id);
        put(pr, "dense_resource<");
        put_name(pr, (slice){attr_text(attr), attr->count});
        put(pr, "> : ");
        print_type(pr, attr->type);
        break;
    case ATTR_ENUM:
        print_enum(pr, attr);
        break;
    case ATTR_STRUCT:
        print_struct(pr, attr);
        break;
    case ATTR_SDY:
        print_sdy_attr(pr, attr);
        break;
    case ATTR_OPAQUE:
        put_bytes(pr, attr_text(attr), attr->count);
        print_given_type(pr, attr);
        break;
    case ATTR_LOCATION:
        print_location_attr(pr, attr);
        break;
    }
}

void print_attr(printer *pr, uint32_t attr)
{
    print_any(pr, attr, false);
}

void print_attr_bare(printer *pr, uint32_t attr)
{
    print_any(pr, attr, true);
}

/* ---- as strings ---- */

typedef void (*print_one)(printer *pr, uint32_t id);

static tsr_status to_text(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t id,
                          print_one print, const char **out)
{
    printer pr;
    buffer text = buffer_new(arena);
    TSR_TRY(printer_init(&pr, ctx, p, 0, write_to_buffer, &text));
    print(&pr, id);
    TSR_TRY(printer_finish(&pr));
    return buffer_finish(ctx, &text, out);
}

tsr_status tsr_ir_type_to_text(tsr_context *ctx, tsr_arena *arena, const tsr_program *program,
                               tsr_ir_type type, const char **out)
{
    GUARD(tsr_ir_type_to_text);
    return to_text(ctx, arena, program, type, print_new_type, out);
}

tsr_status tsr_ir_attr_to_text(tsr_context *ctx, tsr_arena *arena, const tsr_program *program,
                               tsr_ir_attr attr, const char **out)
{
    GUARD(tsr_ir_attr_to_text);
    return to_text(ctx, arena, program, attr, print_attr, out);
}
