/* Attributes of dialects: enums and structs, read and printed by their rows. */
#include "text/attr_struct.h"

#include <string.h>

#include "base/arena.h"
#include "number/float_format.h"

/* Structs with a syntax or a check of their own. */
typedef struct struct_spelling {
    tsr_status (*read)(parser *ps, uint32_t *fields); /* after the `<` */
    void (*print)(printer *pr, const attr_head *attr);
    /* What must hold of the fields; `at` is where they start. */
    tsr_status (*check)(parser *ps, size_t at, const uint32_t *fields);
} struct_spelling;

static const struct_spelling spellings[STRUCT_COUNT] = {
    [STRUCT_CONV] = {.read = conv_read, .print = conv_print},
    [STRUCT_ACCURACY] = {.check = accuracy_check},
    [STRUCT_REPLICA_MESH_AXES] = {.check = replica_mesh_axes_check},
    [STRUCT_SUB_AXIS] = {.read = sub_axis_read, .print = sub_axis_print},
    [STRUCT_MESH] = {.read = mesh_struct_read, .print = mesh_struct_print},
    [STRUCT_BOUNDS] = {.read = bounds_read, .print = bounds_print},
};

tsr_status read_ints(parser *ps, uint32_t *out)
{
    int64_t *values = NULL;
    size_t count = 0;
    if (!at_kind(ps, '[')) {
        return expect(ps, '[', "expected '['");
    }
    TSR_TRY(lex_integers(&ps->lex, true, &values, &count));
    return attr_ints(ps->program, values, count, out);
}

tsr_status read_bracketed(parser *ps, item_reader read, int row, uint32_t **items, size_t *count)
{
    size_t room = 0;
    TSR_TRY(expect(ps, '[', "expected '['"));
    if (!at_kind(ps, ']')) {
        do {
            uint32_t item = 0;
            TSR_TRY(read(ps, row, &item));
            TSR_TRY(PUSH(ps, *items, *count, room, item));
        } while (accept(ps, ','));
    }
    return expect(ps, ']', "expected ']'");
}

static tsr_status read_int(parser *ps, uint32_t *out)
{
    int64_t value = 0;
    TSR_TRY(lex_integer(&ps->lex, &value));
    return attr_i64(ps->program, value, out);
}

tsr_status read_bool_word(parser *ps, const char *message, uint32_t *out)
{
    const slice word = token_text(ps);
    if (!at_kind(ps, TOKEN_WORD) || (!slice_is(word, "true") && !slice_is(word, "false"))) {
        return error_here(ps, "%s", message);
    }
    lex_next(&ps->lex);
    return attr_bool(ps->program, word.data[0] == 't', out);
}

tsr_status read_enum_value(parser *ps, int row, uint32_t *out)
{
    const enum_row *e = &ir_enums[row];
    if (at_kind(ps, TOKEN_WORD)) {
        for (int i = 0; e->values[i] != NULL; i++) {
            if (slice_is(token_text(ps), e->values[i])) {
                lex_next(&ps->lex);
                return attr_enum(ps->program, row, i, out);
            }
        }
    }
    buffer names = buffer_new(ps->scratch);
    const char *list = "";
    for (int i = 0; e->values[i] != NULL; i++) {
        buffer_format(&names, "%s%s", i > 0 ? ", " : "", e->values[i]);
    }
    TSR_TRY(buffer_finish(ps->ctx, &names, &list));
    if (!at_kind(ps, TOKEN_WORD)) {
        return error_here(ps, "expected keyword for %s", e->type_name);
    }
    return error_here(ps, "expected %s to be one of: %s", e->type_name, list);
}

/* ---- fields ---- */

static tsr_status read_field(parser *ps, field_kind kind, uint32_t *out)
{
    uint32_t type = 0;
    slice text;
    switch (kind) {
    case FIELD_INT:
    case FIELD_INT_SHOWN:
        return read_int(ps, out);
    case FIELD_INTS:
    case FIELD_INTS_SHOWN:
        return read_ints(ps, out);
    case FIELD_BOOL_SHOWN:
        return read_bool_word(ps, "expected 'true' or 'false'", out);
    case FIELD_FLOAT:
        TSR_TRY(type_float(ps->program, FLOAT_F64, &type));
        return read_attr_typed(ps, type, out);
    case FIELD_TYPE:
        TSR_TRY(read_type(ps, &type));
        return attr_type(ps->program, type, out);
    case FIELD_STRING:
        TSR_TRY(read_string(ps, &text));
        return attr_string(ps->program, text.data, text.size, 0, out);
    case FIELD_SUB_AXIS:
        return read_struct(ps, STRUCT_SUB_AXIS, out);
    case FIELD_ATTR:
    case FIELD_OPTIONAL_ATTR:
        return read_attr(ps, out);
    }
    return TSR_OK;
}

static bool is_required(field_kind kind)
{
    return kind != FIELD_INT && kind != FIELD_INTS && kind != FIELD_FLOAT &&
           kind != FIELD_OPTIONAL_ATTR && kind != FIELD_SUB_AXIS;
}

static size_t field_count(const struct_row *row)
{
    size_t count = 0;
    while (count < MAX_FIELDS && row->fields[count].name != NULL) {
        count++;
    }
    return count;
}

static tsr_status unknown_field(parser *ps, const struct_row *row)
{
    buffer names = buffer_new(ps->scratch);
    const char *list = "";
    for (size_t i = 0; i < field_count(row); i++) {
        buffer_format(&names, "%s`%s`", i > 0 ? ", " : "", row->fields[i].name);
    }
    TSR_TRY(buffer_finish(ps->ctx, &names, &list));
    return error_here(ps, "expected one of: %s", list);
}

/* `a = 1, b = [2]` in any order; some structs allow a comma at the end. */
static tsr_status read_fields(parser *ps, const struct_row *row, uint32_t *fields)
{
    const size_t count = field_count(row);
    if (at_kind(ps, '>')) {
        return TSR_OK;
    }
    do {
        size_t i = 0;
        while (i < count &&
               !(at_kind(ps, TOKEN_WORD) && slice_is(token_text(ps), row->fields[i].name))) {
            i++;
        }
        if (i == count) {
            return unknown_field(ps, row);
        }
        if (fields[i] != 0) {
            return error_here(ps, "duplicated `%s` entry", row->fields[i].name);
        }
        lex_next(&ps->lex);
        TSR_TRY(expect(ps, '=', "expected '='"));
        TSR_TRY(read_field(ps, row->fields[i].kind, &fields[i]));
    } while (accept(ps, ',') && !(row->what != NULL && at_kind(ps, '>')));
    return TSR_OK;
}

/* `a = 1, b = [2]` in order; optional ones are present if their names are next. */
static tsr_status read_ordered_fields(parser *ps, const struct_row *row, uint32_t *fields)
{
    const size_t count = field_count(row);
    for (size_t i = 0; i < count; i++) {
        const field_row *field = &row->fields[i];
        const bool is_next = at_kind(ps, TOKEN_WORD) && slice_is(token_text(ps), field->name);
        if (!is_next && !is_required(field->kind)) {
            continue;
        }
        TSR_TRY(lex_expect_word(&ps->lex, field->name));
        TSR_TRY(expect(ps, '=', "expected '='"));
        TSR_TRY(read_field(ps, field->kind, &fields[i]));
        if (i + 1 < count) {
            TSR_TRY(expect(ps, ',', "expected ','"));
        }
    }
    return TSR_OK;
}

/* What was not written: empty lists and zeros, which are the same as written ones. */
static tsr_status fill_fields(parser *ps, const struct_row *row, uint32_t *fields)
{
    uint32_t f64 = 0;
    TSR_TRY(type_float(ps->program, FLOAT_F64, &f64));
    for (size_t i = 0; i < field_count(row); i++) {
        if (fields[i] != 0) {
            continue;
        }
        if (is_required(row->fields[i].kind)) {
            return error_here(ps, "struct is missing required parameter: %s", row->fields[i].name);
        }
        switch (row->fields[i].kind) {
        case FIELD_INT:
            TSR_TRY(attr_i64(ps->program, 0, &fields[i]));
            break;
        case FIELD_INTS:
            TSR_TRY(attr_ints(ps->program, NULL, 0, &fields[i]));
            break;
        case FIELD_FLOAT:
            TSR_TRY(attr_float(ps->program, f64, 0, &fields[i]));
            break;
        default:
            break;
        }
    }
    return TSR_OK;
}

tsr_status read_struct(parser *ps, int row, uint32_t *out)
{
    const struct_row *s = &ir_structs[row];
    const struct_spelling *own = &spellings[row];
    uint32_t fields[MAX_FIELDS] = {0};
    const bool has_angles = !s->unwrapped;
    const size_t at = ps->lex.current.at;
    if (has_angles) {
        TSR_TRY(expect(ps, '<', "expected '<'"));
    }
    tsr_status status = own->read != NULL ? own->read(ps, fields)
                        : s->ordered      ? read_ordered_fields(ps, s, fields)
                                          : read_fields(ps, s, fields);
    if (status >= 0 && own->read == NULL) {
        status = fill_fields(ps, s, fields);
    }
    if (status < 0) {
        return s->what != NULL ? diag_follow_up(ps->ctx, lex_here(&ps->lex),
                                                "failed parsing %s attribute", s->what)
                               : status;
    }
    if (has_angles) {
        TSR_TRY(expect(ps, '>', "expected '>'"));
    }
    if (own->check != NULL) {
        TSR_TRY(own->check(ps, at, fields));
    }
    return attr_struct(ps->program, row, fields, field_count(s), out);
}

tsr_status read_stripped_struct(parser *ps, int row, uint32_t *out)
{
    if (!at_kind(ps, TOKEN_HASH)) {
        return read_struct(ps, row, out);
    }
    const size_t at = ps->lex.current.at;
    TSR_TRY(read_attr(ps, out));
    if (!attr_is(ps->program, *out, ATTR_STRUCT) || program_attr(ps->program, *out)->row != row) {
        return error_at(ps, at, "invalid kind of attribute specified");
    }
    return TSR_OK;
}

/* ---- what must hold ---- */

static bool is_struct(const parser *ps, uint32_t attr, int row)
{
    return attr_is(ps->program, attr, ATTR_STRUCT) && program_attr(ps->program, attr)->row == row;
}

/* The name of an axis or of a reference to one: the first field of its struct. */
static slice axis_name(const parser *ps, uint32_t attr)
{
    slice name = {"", 0};
    (void)attr_as_string(ps->program, attr_list(program_attr(ps->program, attr))[0], &name);
    return name;
}

static bool mesh_has(const parser *ps, uint32_t mesh, slice name)
{
    const attr_head *axes =
        program_attr(ps->program, attr_list(program_attr(ps->program, mesh))[0]);
    for (uint32_t i = 0; i < axes->count; i++) {
        if (slice_equal(axis_name(ps, attr_list(axes)[i]), name)) {
            return true;
        }
    }
    return false;
}

/* References to axes of sdy, which passes make, are taken as they are. */
static tsr_status check_axis(parser *ps, size_t at, uint32_t mesh, uint32_t axis)
{
    if (attr_is(ps->program, axis, ATTR_SDY)) {
        return TSR_OK;
    }
    if (!is_struct(ps, axis, STRUCT_AXIS_REF)) {
        return error_at(ps, at, "expected AxisRefAttr in axes list");
    }
    const slice name = axis_name(ps, axis);
    if (is_struct(ps, mesh, STRUCT_MESH) && !mesh_has(ps, mesh, name)) {
        return error_at(ps, at, "axis '%.*s' not found in mesh definition", (int)name.size,
                        name.data);
    }
    return TSR_OK;
}

tsr_status replica_mesh_axes_check(parser *ps, size_t at, const uint32_t *fields)
{
    const attr_head *axes = program_attr(ps->program, fields[1]);
    if (!is_struct(ps, fields[0], STRUCT_MESH) &&
        !(attr_is(ps->program, fields[0], ATTR_SYMBOL) &&
          program_attr(ps->program, fields[0])->count == 1)) {
        return error_at(ps, at, "mesh must be a FlatSymbolRefAttr or MeshAttr");
    }
    for (uint32_t i = 0; attr_is(ps->program, fields[1], ATTR_ARRAY) && i < axes->count; i++) {
        TSR_TRY(check_axis(ps, at, fields[0], attr_list(axes)[i]));
    }
    return TSR_OK;
}

/* Tolerances are those of the mode TOLERANCE. */
tsr_status accuracy_check(parser *ps, size_t at, const uint32_t *fields)
{
    const attr_head *mode = program_attr(ps->program, fields[3]);
    if (mode->kind != ATTR_ENUM || mode->row != ENUM_RESULT_ACCURACY_MODE) {
        return TSR_OK;
    }
    const char *name = ir_enums[ENUM_RESULT_ACCURACY_MODE].values[mode->bits];
    for (size_t i = 0; strcmp(name, "TOLERANCE") != 0 && i < 3; i++) {
        if (program_attr(ps->program, fields[i])->bits != 0) {
            return error_at(ps, at,
                            "Invalid tolerances for ResultAccuracyAttr with mode %s, must be all "
                            "zero.",
                            name);
        }
    }
    return TSR_OK;
}

/* ---- printing ---- */

static bool is_left_out(const printer *pr, field_kind kind, uint32_t field)
{
    if (field == 0) {
        return true;
    }
    const attr_head *attr = program_attr(pr->program, field);
    switch (kind) {
    case FIELD_INT:
    case FIELD_FLOAT:
        return attr->bits == 0;
    case FIELD_INTS:
        return attr->count == 0;
    default:
        return false;
    }
}

static void print_field(printer *pr, field_kind kind, uint32_t field)
{
    const attr_head *attr = program_attr(pr->program, field);
    switch (kind) {
    case FIELD_INTS:
    case FIELD_INTS_SHOWN:
        print_ints(pr, attr);
        break;
    case FIELD_SUB_AXIS:
        sub_axis_print(pr, attr);
        break;
    default:
        print_attr_bare(pr, field);
        break;
    }
}

void print_struct(printer *pr, const attr_head *attr)
{
    const struct_row *row = &ir_structs[attr->row];
    put_char(pr, '#');
    put(pr, row->dialect);
    put_char(pr, row->unwrapped ? '<' : '.');
    put(pr, row->mnemonic);
    if (row->unwrapped) {
        spellings[attr->row].print(pr, attr);
        put_char(pr, '>');
    } else {
        print_struct_body(pr, attr);
    }
}

void print_struct_body(printer *pr, const attr_head *attr)
{
    const struct_row *row = &ir_structs[attr->row];
    put_char(pr, '<');
    if (spellings[attr->row].print != NULL) {
        spellings[attr->row].print(pr, attr);
        put_char(pr, '>');
        return;
    }
    const char *before = "";
    for (uint32_t i = 0; i < attr->count; i++) {
        const uint32_t field = attr_list(attr)[i];
        if (!is_left_out(pr, row->fields[i].kind, field)) {
            put(pr, before);
            put(pr, row->fields[i].name);
            put(pr, " = ");
            print_field(pr, row->fields[i].kind, field);
            before = ", ";
        }
    }
    put_char(pr, '>');
}

/* ---- the structs with a text of their own ---- */

tsr_status sub_axis_read(parser *ps, uint32_t *fields)
{
    TSR_TRY(expect(ps, '(', "expected '('"));
    TSR_TRY(read_int(ps, &fields[0]));
    TSR_TRY(expect(ps, ')', "expected ')'"));
    return read_int(ps, &fields[1]);
}

void sub_axis_print(printer *pr, const attr_head *attr)
{
    put_char(pr, '(');
    print_attr_bare(pr, attr_list(attr)[0]);
    put_char(pr, ')');
    print_attr_bare(pr, attr_list(attr)[1]);
}

/* `axes=[<name = "x", size = 2>], device_ids=dense<..>` */
tsr_status mesh_struct_read(parser *ps, uint32_t *fields)
{
    uint32_t *axes = NULL;
    size_t count = 0;
    TSR_TRY(lex_expect_word(&ps->lex, "axes"));
    TSR_TRY(expect(ps, '=', "expected '='"));
    TSR_TRY(read_bracketed(ps, read_stripped_struct, STRUCT_MESH_AXIS, &axes, &count));
    if (count == 0) {
        return error_after(ps, "expected '<'");
    }
    TSR_TRY(attr_array(ps->program, axes, count, &fields[0]));
    if (accept(ps, ',')) {
        TSR_TRY(lex_expect_word(&ps->lex, "device_ids"));
        TSR_TRY(expect(ps, '=', "expected '='"));
        TSR_TRY(read_attr(ps, &fields[1]));
    }
    return TSR_OK;
}

void mesh_struct_print(printer *pr, const attr_head *attr)
{
    const attr_head *axes = program_attr(pr->program, attr_list(attr)[0]);
    put(pr, "axes=[");
    for (uint32_t i = 0; i < axes->count; i++) {
        put(pr, i > 0 ? ", " : "");
        print_struct_body(pr, program_attr(pr->program, attr_list(axes)[i]));
    }
    put_char(pr, ']');
    if (attr_list(attr)[1] != 0) {
        put(pr, ", device_ids=");
        print_attr(pr, attr_list(attr)[1]);
    }
}

/* `3, ?` */
tsr_status bounds_read(parser *ps, uint32_t *fields)
{
    int64_t *values = NULL;
    size_t count = 0;
    size_t room = 0;
    if (at_kind(ps, '>')) {
        return attr_ints(ps->program, NULL, 0, &fields[0]);
    }
    do {
        int64_t value = TSR_UNKNOWN;
        if (!accept(ps, '?')) {
            TSR_TRY(lex_integer(&ps->lex, &value));
        }
        TSR_TRY(PUSH(ps, values, count, room, value));
    } while (accept(ps, ','));
    return attr_ints(ps->program, values, count, &fields[0]);
}

void bounds_print(printer *pr, const attr_head *attr)
{
    const attr_head *bounds = program_attr(pr->program, attr_list(attr)[0]);
    for (uint32_t i = 0; i < bounds->count; i++) {
        put(pr, i > 0 ? ", " : "");
        if (attr_numbers(bounds)[i] == TSR_UNKNOWN) {
            put_char(pr, '?');
        } else {
            put_int(pr, attr_numbers(bounds)[i]);
        }
    }
}

/* ---- by name ---- */

tsr_status read_alias(parser *ps, uint32_t *out)
{
    const slice name = token_text(ps);
    const alias *found = find_alias(ps, name);
    if (found == NULL) {
        return error_here(ps, "undefined symbol alias id '%.*s'", (int)name.size - 1,
                          name.data + 1);
    }
    TSR_TRY(parser_reach(ps, found->depth));
    *out = found->value;
    lex_next(&ps->lex);
    return TSR_OK;
}

static bool is_named(slice dialect, slice mnemonic, const char *its_dialect, const char *its_name)
{
    return its_dialect != NULL && slice_is(dialect, its_dialect) && slice_is(mnemonic, its_name);
}

/* The body of an attribute, after its mnemonic; TSR_NOT_APPLICABLE when it is not known. */
static tsr_status read_known(parser *ps, slice dialect, slice mnemonic, bool wrapped, uint32_t *out)
{
    for (int i = 0; i < ENUM_COUNT; i++) {
        if (is_named(dialect, mnemonic, ir_enums[i].dialect, ir_enums[i].mnemonic)) {
            if (wrapped) {
                TSR_TRY(expect(ps, '<', "expected '<'"));
            }
            TSR_TRY(read_enum_value(ps, i, out));
            return wrapped ? expect(ps, '>', "expected '>'") : TSR_OK;
        }
    }
    for (int i = 0; i < STRUCT_COUNT; i++) {
        if (is_named(dialect, mnemonic, ir_structs[i].dialect, ir_structs[i].mnemonic)) {
            return read_struct(ps, i, out);
        }
    }
    if (slice_is(dialect, "stablehlo") && slice_is(mnemonic, "type_extensions")) {
        uint32_t bounds = 0;
        TSR_TRY(expect(ps, '<', "expected '<'"));
        TSR_TRY(lex_expect_word(&ps->lex, "bounds"));
        TSR_TRY(expect(ps, '=', "expected '='"));
        TSR_TRY(expect(ps, '[', "expected '['"));
        TSR_TRY(bounds_read(ps, &bounds));
        TSR_TRY(expect(ps, ']', "expected ']'"));
        TSR_TRY(attr_struct(ps->program, STRUCT_BOUNDS, &bounds, 1, out));
        return expect(ps, '>', "expected '>'");
    }
    if (slice_is(dialect, "sdy")) {
        for (int i = 0; i < SDY_ATTR_COUNT; i++) {
            if (slice_is(mnemonic, sdy_attr_name((sdy_attr)i))) {
                return read_sdy_body(ps, (sdy_attr)i, out);
            }
        }
    }
    return TSR_NOT_APPLICABLE;
}

static tsr_status read_unknown(parser *ps, size_t start, slice dialect, slice mnemonic,
                               uint32_t *out)
{
    if (slice_is(dialect, "sdy")) {
        return error_at(ps, start, "unknown attribute `%.*s` in dialect `%.*s`", (int)mnemonic.size,
                        mnemonic.data, (int)dialect.size, dialect.data);
    }
    if (slice_is(dialect, "stablehlo") || slice_is(dialect, "chlo")) {
        return error_at(ps, start, "unknown %s attribute",
                        dialect.data[0] == 's' ? "StableHLO" : "chlo");
    }
    if (slice_is(dialect, "builtin") || slice_is(dialect, "func") || slice_is(dialect, "tensor")) {
        return error_at(ps, start, "dialect '%.*s' provides no attribute parsing hook",
                        (int)dialect.size, dialect.data);
    }
    if ((ps->program->flags & TSR_PROGRAM_ALLOW_UNREGISTERED) == 0 &&
        !ir_dialect_has_attributes(dialect.data, dialect.size)) {
        return error_at(ps, start,
                        "#dialect<\"%.*s\"> attribute created with unregistered dialect. If this "
                        "is intended, please call allowUnregisteredDialects() on the MLIRContext, "
                        "or use -allow-unregistered-dialect with the MLIR opt tool used",
                        (int)dialect.size, dialect.data);
    }
    slice text;
    lex_move(&ps->lex, start);
    TSR_TRY(skip_balanced(ps, &text));
    return attr_of_text(ps->program, ATTR_OPAQUE, 0, 0, text.data, text.size, out);
}

/*
 * `#dialect.mnemonic<..>` or `#dialect<mnemonic ..>`. Brackets are balanced before anything is
 * read; what a reader leaves of the text between them is passed over.
 */
static tsr_status read_named(parser *ps, slice name, uint32_t *out)
{
    const size_t start = ps->lex.current.at;
    const char *dot = memchr(name.data, '.', name.size);
    slice dialect = {name.data + 1, name.size - 1};
    slice mnemonic = {NULL, 0};
    slice whole;
    TSR_TRY(skip_balanced(ps, &whole));
    const size_t end = start + whole.size;
    lex_move(&ps->lex, start + name.size);
    if (dot != NULL) {
        dialect.size = (size_t)(dot - dialect.data);
        mnemonic = (slice){dot + 1, (size_t)(name.data + name.size - dot) - 1};
    } else {
        lex_next(&ps->lex);
        mnemonic = token_text(ps);
        if (!at_kind(ps, TOKEN_WORD)) {
            return read_unknown(ps, start, dialect, mnemonic, out);
        }
        lex_next(&ps->lex);
    }
    const tsr_status status = read_known(ps, dialect, mnemonic, dot != NULL, out);
    if (status == TSR_NOT_APPLICABLE) {
        return read_unknown(ps, start, dialect, mnemonic, out);
    }
    TSR_TRY(status);
    lex_move(&ps->lex, end);
    return TSR_OK;
}

tsr_status read_dialect_attr(parser *ps, uint32_t type, uint32_t *out)
{
    const slice name = token_text(ps);
    const size_t end = ps->lex.current.at + name.size;
    const bool is_named_attr = memchr(name.data, '.', name.size) != NULL ||
                               (end < ps->text.size && ps->text.data[end] == '<');
    if (!is_named_attr) {
        return read_alias(ps, out);
    }
    TSR_TRY(read_named(ps, name, out));
    if (type == 0 && accept(ps, ':')) {
        TSR_TRY(read_type(ps, &type));
    }
    const attr_head *head = program_attr(ps->program, *out);
    return head->kind == ATTR_OPAQUE && type != 0
               ? attr_of_text(ps->program, ATTR_OPAQUE, 0, type, attr_text(head), head->count, out)
               : TSR_OK;
}
