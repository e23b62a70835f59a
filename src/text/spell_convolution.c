/* The dimensions of a convolution, and the syntax of the op. */
#include <string.h>

#include "base/arena.h"
#include "ir/elements.h"
#include "text/spell.h"

/* What the dimensions of one tensor are called: two marks and the fields they go to. */
typedef struct side_row {
    char marks[2];
    int fields[2];
    int spatial;
} side_row;

static const side_row sides[3] = {
    {{'b', 'f'}, {CONV_INPUT_BATCH, CONV_INPUT_FEATURE}, CONV_INPUT_SPATIAL},
    {{'i', 'o'}, {CONV_KERNEL_INPUT, CONV_KERNEL_OUTPUT}, CONV_KERNEL_SPATIAL},
    {{'b', 'f'}, {CONV_OUTPUT_BATCH, CONV_OUTPUT_FEATURE}, CONV_OUTPUT_SPATIAL},
};

/* Numbers of spatial dimensions, by what is written. */
typedef struct spatial_dims {
    int64_t *places; /* of dimension 0, 1, ..; -1 where there is none */
    size_t count;
    size_t room;
    size_t seen;
} spatial_dims;

static tsr_status put_spatial(parser *ps, spatial_dims *dims, int64_t place)
{
    enum { MOST = 64 };
    int64_t number = 0;
    const size_t at = ps->lex.current.at;
    TSR_TRY(lex_integer(&ps->lex, &number));
    if (number < 0 || number >= MOST) {
        return error_at(ps, at, "Unexpected dimension %lld", (long long)number);
    }
    while (dims->count <= (size_t)number) {
        const int64_t none = -1;
        TSR_TRY(PUSH(ps, dims->places, dims->count, dims->room, none));
    }
    if (dims->places[number] != -1) {
        return error_at(ps, at, "Duplicate entries for spatial dimension %lld", (long long)number);
    }
    dims->places[number] = place;
    dims->seen++;
    return TSR_OK;
}

/* A mark: which of the two; an error for any other word. */
static tsr_status find_mark(parser *ps, const side_row *side, int *out)
{
    const slice word = token_text(ps);
    for (int i = 0; i < 2; i++) {
        if (word.size == 1 && word.data[0] == side->marks[i]) {
            lex_next(&ps->lex);
            *out = i;
            return TSR_OK;
        }
    }
    return error_here(ps, "Unexpected dimension %.*s, expecting %c, %c", (int)word.size, word.data,
                      side->marks[0], side->marks[1]);
}

/* `[b, 0, 1, f]` */
static tsr_status read_side(parser *ps, const side_row *side, uint32_t *fields)
{
    spatial_dims dims = {0};
    int64_t place = 0;
    TSR_TRY(expect(ps, '[', "expected '['"));
    do {
        int mark = 0;
        if (accept(ps, '?')) {
            place++;
            continue;
        }
        if (at_kind(ps, TOKEN_INTEGER)) {
            TSR_TRY(put_spatial(ps, &dims, place++));
            continue;
        }
        TSR_TRY(find_mark(ps, side, &mark));
        TSR_TRY(attr_i64(ps->program, place++, &fields[side->fields[mark]]));
    } while (accept(ps, ','));
    if (fields[side->fields[0]] == 0 || fields[side->fields[1]] == 0) {
        return error_here(ps, "Expected dimensions %c, %c not specified", side->marks[0],
                          side->marks[1]);
    }
    if (dims.seen != dims.count) {
        return error_here(ps, "Expected spatial dimensions 0 to %zu not specified", dims.count - 1);
    }
    TSR_TRY(attr_ints(ps->program, dims.places, dims.count, &fields[side->spatial]));
    return expect(ps, ']', "expected ']'");
}

tsr_status conv_dims_read(parser *ps, uint32_t *fields)
{
    TSR_TRY(read_side(ps, &sides[0], fields));
    TSR_TRY(lex_expect_word(&ps->lex, "x"));
    TSR_TRY(read_side(ps, &sides[1], fields));
    TSR_TRY(expect_arrow(ps, "expected '->'"));
    return read_side(ps, &sides[2], fields);
}

/* `raw input_batch_dimension = 0, ..`: every field by name. */
static tsr_status read_raw(parser *ps, uint32_t *fields)
{
    const struct_row *row = &ir_structs[STRUCT_CONV];
    do {
        size_t i = 0;
        while (i < MAX_FIELDS && row->fields[i].name != NULL &&
               !slice_is(token_text(ps), row->fields[i].name)) {
            i++;
        }
        if (i == MAX_FIELDS || row->fields[i].name == NULL || !at_kind(ps, TOKEN_WORD)) {
            return error_here(ps, "Unexpected keyword %.*s", (int)token_text(ps).size,
                              token_text(ps).data);
        }
        lex_next(&ps->lex);
        TSR_TRY(expect(ps, '=', "expected '='"));
        if (row->fields[i].kind == FIELD_INTS_SHOWN) {
            TSR_TRY(read_ints(ps, &fields[i]));
        } else {
            int64_t value = 0;
            TSR_TRY(lex_integer(&ps->lex, &value));
            TSR_TRY(attr_i64(ps->program, value, &fields[i]));
        }
    } while (accept(ps, ','));
    for (size_t i = 0; i <= CONV_OUTPUT_SPATIAL; i++) {
        if (fields[i] == 0 && row->fields[i].kind == FIELD_INTS_SHOWN) {
            TSR_TRY(attr_ints(ps->program, NULL, 0, &fields[i]));
        } else if (fields[i] == 0) {
            TSR_TRY(attr_i64(ps->program, 0, &fields[i]));
        }
    }
    return TSR_OK;
}

tsr_status conv_read(parser *ps, uint32_t *fields)
{
    if (lex_accept_word(&ps->lex, "raw")) {
        return read_raw(ps, fields);
    }
    return conv_dims_read(ps, fields);
}

/* What a dimension of a tensor is: a mark, a spatial number, or neither. */
static void print_place(printer *pr, const attr_head *attr, const side_row *side, int64_t place)
{
    const attr_head *spatial = program_attr(pr->program, attr_list(attr)[side->spatial]);
    for (int i = 0; i < 2; i++) {
        if ((int64_t)program_attr(pr->program, attr_list(attr)[side->fields[i]])->bits == place) {
            put_char(pr, side->marks[i]);
            return;
        }
    }
    for (uint32_t i = 0; i < spatial->count; i++) {
        if (attr_numbers(spatial)[i] == place) {
            put_uint(pr, i);
            return;
        }
    }
    put_char(pr, '?');
}

/* One more than the greatest place that a field names. */
static int64_t num_places(const printer *pr, const attr_head *attr, const side_row *side)
{
    const attr_head *spatial = program_attr(pr->program, attr_list(attr)[side->spatial]);
    int64_t most = -1;
    for (int i = 0; i < 2; i++) {
        most = max_i64(most,
                       (int64_t)program_attr(pr->program, attr_list(attr)[side->fields[i]])->bits);
    }
    for (uint32_t i = 0; i < spatial->count; i++) {
        most = max_i64(most, attr_numbers(spatial)[i]);
    }
    return most + 1;
}

/* Dimensions that the marks and numbers cannot say are printed field by field. */
static bool is_raw(const printer *pr, const attr_head *attr)
{
    for (size_t s = 0; s < 3; s++) {
        const attr_head *spatial = program_attr(pr->program, attr_list(attr)[sides[s].spatial]);
        uint64_t seen = 0;
        for (uint32_t i = 0; i < spatial->count + 2; i++) {
            const int64_t place =
                i < spatial->count
                    ? attr_numbers(spatial)[i]
                    : (int64_t)program_attr(pr->program,
                                            attr_list(attr)[sides[s].fields[i - spatial->count]])
                          ->bits;
            if (place < 0 || place >= 64 || (seen >> place & 1) != 0) {
                return true;
            }
            seen |= UINT64_C(1) << place;
        }
    }
    return false;
}

static void print_raw(printer *pr, const attr_head *attr)
{
    const struct_row *row = &ir_structs[STRUCT_CONV];
    put(pr, "raw ");
    for (uint32_t i = 0; i < attr->count; i++) {
        const attr_head *field = program_attr(pr->program, attr_list(attr)[i]);
        put(pr, i > 0 ? ", " : "");
        put(pr, row->fields[i].name);
        put(pr, " = ");
        if (row->fields[i].kind == FIELD_INTS_SHOWN) {
            print_ints(pr, field);
        } else {
            put_int(pr, (int64_t)field->bits);
        }
    }
}

static void print_sides(printer *pr, const attr_head *attr)
{
    static const char *const before[3] = {"[", "]x[", "]->["};
    for (size_t s = 0; s < 3; s++) {
        put(pr, before[s]);
        for (int64_t place = 0; place < num_places(pr, attr, &sides[s]); place++) {
            put(pr, place > 0 ? ", " : "");
            print_place(pr, attr, &sides[s], place);
        }
    }
    put_char(pr, ']');
}

void conv_print(printer *pr, const attr_head *attr)
{
    if (is_raw(pr, attr)) {
        print_raw(pr, attr);
    } else {
        print_sides(pr, attr);
    }
}

/* ---- the window ---- */

/* The parts of a window in the order they print, and the properties they are. */
static const struct {
    const char *word;
    const char *property;
} parts[] = {{"stride", "window_strides"},
             {"pad", "padding"},
             {"lhs_dilate", "lhs_dilation"},
             {"rhs_dilate", "rhs_dilation"},
             {"reverse", "window_reversal"}};

enum { NUM_PARTS = sizeof parts / sizeof parts[0], PART_PAD = 1, PART_REVERSE = 4 };

/* `[[0, 0], [1, 1]]` as dense<..> : tensor<2x2xi64>. */
static tsr_status read_pads(parser *ps, uint32_t *out)
{
    int64_t *values = NULL;
    size_t count = 0;
    size_t room = 0;
    uint32_t i64 = 0;
    uint32_t type = 0;
    TSR_TRY(expect(ps, '[', "expected '['"));
    if (!at_kind(ps, ']')) {
        do {
            int64_t *pair = NULL;
            size_t size = 0;
            const size_t at = ps->lex.current.at;
            TSR_TRY(lex_integers(&ps->lex, true, &pair, &size));
            if (size != 2) {
                return error_at(ps, at, "Expected array with 2 elements, got %zu elements instead",
                                size);
            }
            TSR_TRY(PUSH(ps, values, count, room, pair[0]));
            TSR_TRY(PUSH(ps, values, count, room, pair[1]));
        } while (accept(ps, ','));
    }
    TSR_TRY(expect(ps, ']', "expected ']'"));
    TSR_TRY(type_integer(ps->program, 64, SIGNLESS, &i64));
    const int64_t shape[2] = {(int64_t)count / 2, 2};
    TSR_TRY(type_tensor(ps->program, shape, 2, i64, 0, &type));
    bool same = count > 0;
    for (size_t i = 1; i < count; i++) {
        same = same && values[i] == values[0];
    }
    return attr_elements(ps->program, type, values != NULL ? (const void *)values : "",
                         (same ? 1 : count) * sizeof *values, same, out);
}

/* `[false, true]` or `[0, 1]` */
static tsr_status read_flags(parser *ps, uint32_t *out)
{
    int64_t *values = NULL;
    size_t count = 0;
    size_t room = 0;
    uint32_t type = 0;
    TSR_TRY(expect(ps, '[', "expected '['"));
    if (!at_kind(ps, ']')) {
        do {
            int64_t value = 0;
            if (at_kind(ps, TOKEN_WORD)) {
                const slice word = token_text(ps);
                if (!slice_is(word, "true") && !slice_is(word, "false")) {
                    return error_here(ps, "expected integer value");
                }
                value = word.data[0] == 't';
                lex_next(&ps->lex);
            } else {
                TSR_TRY(lex_integer(&ps->lex, &value));
            }
            value = value != 0;
            TSR_TRY(PUSH(ps, values, count, room, value));
        } while (accept(ps, ','));
    }
    TSR_TRY(expect(ps, ']', "expected ']'"));
    TSR_TRY(type_integer(ps->program, 1, SIGNLESS, &type));
    return attr_dense_array(ps->program, type, values, count, out);
}

static tsr_status read_window(parser *ps, op_reader *op)
{
    TSR_TRY(form_read(ps, op, ", window = {"));
    if (accept(ps, '}')) {
        return TSR_OK;
    }
    do {
        uint32_t attr = 0;
        size_t i = 0;
        while (i < NUM_PARTS && !slice_is(token_text(ps), parts[i].word)) {
            i++;
        }
        if (i == NUM_PARTS || !at_kind(ps, TOKEN_WORD)) {
            return error_here(ps, "Unexpected keyword %.*s", (int)token_text(ps).size,
                              token_text(ps).data);
        }
        lex_next(&ps->lex);
        TSR_TRY(expect(ps, '=', "expected '='"));
        TSR_TRY(i == PART_PAD       ? read_pads(ps, &attr)
                : i == PART_REVERSE ? read_flags(ps, &attr)
                                    : read_ints(ps, &attr));
        TSR_TRY(set_property(ps, op, parts[i].property, attr));
    } while (accept(ps, ','));
    return expect(ps, '}', "expected '}'");
}

tsr_status convolution_read(parser *ps, op_reader *op)
{
    uint32_t fields[MAX_FIELDS] = {0};
    uint32_t dims = 0;
    TSR_TRY(form_read(ps, op, "($v) dim_numbers ="));
    TSR_TRY(conv_dims_read(ps, fields));
    TSR_TRY(attr_struct(ps->program, STRUCT_CONV, fields, CONV_OUTPUT_SPATIAL + 1, &dims));
    TSR_TRY(set_property(ps, op, "dimension_numbers", dims));
    TSR_TRY(read_window(ps, op));
    return form_read(ps, op, "$D : $F");
}

static void print_pads(printer *pr, uint32_t attr)
{
    const attr_head *head = program_attr(pr->program, attr);
    const type_head *type = program_type(pr->program, head->type);
    const int64_t rows = type_extents(type)[0];
    put_char(pr, '[');
    for (int64_t i = 0; i < rows; i++) {
        int64_t pair[2];
        for (int64_t k = 0; k < 2; k++) {
            memcpy(&pair[k], attr_text(head) + (head->is_splat ? 0 : 2 * i + k) * 8, 8);
        }
        put(pr, i > 0 ? ", [" : "[");
        put_int(pr, pair[0]);
        put(pr, ", ");
        put_int(pr, pair[1]);
        put_char(pr, ']');
    }
    put_char(pr, ']');
}

bool convolution_fits(const printer *pr, uint32_t op)
{
    const tsr_program *p = pr->program;
    const uint32_t pads = op_property(p, op, "padding");
    if (pads == 0) {
        return true;
    }
    if (!attr_is(p, pads, ATTR_ELEMENTS)) {
        return false;
    }
    const type_head *type = program_type(p, program_attr(p, pads)->type);
    const type_head *element = program_type(p, type->element);
    return type->kind == TYPE_TENSOR && type->count == 2 && type_extents(type)[1] == 2 &&
           element->kind == TYPE_INTEGER && element->width == 64;
}

void convolution_print(printer *pr, uint32_t op)
{
    const char *before = "";
    form_print(pr, op, "($v) dim_numbers = ");
    conv_print(pr, program_attr(pr->program, op_property(pr->program, op, "dimension_numbers")));
    put(pr, ", window = {");
    for (size_t i = 0; i < NUM_PARTS; i++) {
        const uint32_t attr = op_property(pr->program, op, parts[i].property);
        if (attr == 0) {
            continue;
        }
        put(pr, before);
        put(pr, parts[i].word);
        put(pr, " = ");
        if (i == PART_PAD) {
            print_pads(pr, attr);
        } else {
            print_ints(pr, program_attr(pr->program, attr));
        }
        before = ", ";
    }
    put_char(pr, '}');
    form_print(pr, op, "$D : $F");
}
