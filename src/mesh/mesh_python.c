/*
 * Meshes as Python programs write and print them: JAX's Mesh, AbstractMesh and make_mesh, torch's
 * DeviceMesh and init_device_mesh, in the forms of their versions; and `x=2, y=4`.
 *
 *   Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto))
 *   Mesh(axis_sizes=(2, 4), axis_names=('x', 'y'))
 *   Mesh(device_ids=array([[0, 1], [2, 3]]), axis_names=('x', 'y'))
 *   AbstractMesh((('x', 2), ('y', 4)))
 *   DeviceMesh('cuda', [[0, 1], [2, 3]], mesh_dim_names=('dp', 'tp'))
 *   DeviceMesh((dp=2, tp=2), device: 'cuda', stride: (2, 1))
 *
 * The arguments are told apart by what they look like, so that one reader serves all of them: names
 * are strings, sizes are numbers in parentheses, devices are numbers in brackets. What says nothing
 * of the layout (kinds of devices, types of axes) is skipped.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "mesh/mesh.h"

/* Arrays nest no deeper than a mesh may have axes that cut anything. */
enum { MAX_DEPTH = MAX_DIGITS };

/* A list of names or of numbers that grows. */
typedef struct names {
    const char **list;
    size_t count;
    size_t capacity;
} names;

typedef struct numbers {
    int64_t *list;
    size_t count;
    size_t capacity;
} numbers;

/* What the arguments said. */
typedef struct mesh_call {
    names names;
    numbers sizes;
    numbers strides;
    numbers ids;
    int64_t dims[MAX_DEPTH]; /* of the array of ids */
    size_t num_dims;
} mesh_call;

static tsr_status add_name(lexer *lex, names *out)
{
    const location where = lex_here(lex);
    slice name = lex_slice(lex);
    if (lex_is(lex, TOKEN_WORD)) {
        lex_next(lex);
    } else {
        TSR_TRY(lex_string(lex, &name));
    }
    const char *copy;
    TSR_TRY(mesh_name_copy(lex, name, where, &copy));
    return LEX_PUSH(lex, out->list, out->count, out->capacity, copy);
}

static tsr_status add_number(lexer *lex, numbers *out)
{
    int64_t value;
    TSR_TRY(lex_integer(lex, &value));
    return LEX_PUSH(lex, out->list, out->count, out->capacity, value);
}

/* The closing mark of an opening one; 0 of any other token. */
static int closing_of(int kind)
{
    return kind == '(' ? ')' : kind == '[' ? ']' : kind == '{' ? '}' : 0;
}

tsr_status python_skip(lexer *lex)
{
    int64_t depth = 0;
    while (!lex_is(lex, TOKEN_END)) {
        const int kind = lex->current.kind;
        const bool closes = kind == ')' || kind == ']' || kind == '}';
        if (depth == 0 && (closes || kind == ',')) {
            return TSR_OK;
        }
        depth += closing_of(kind) != 0;
        depth -= closes;
        if (kind == TOKEN_BAD) {
            lex_move(lex, lex->current.at + 1);
        } else {
            lex_next(lex);
        }
    }
    return lex_error(lex, lex_here(lex), "expected ')': the text is cut short");
}

/* The character after the current token. */
static char after(const lexer *lex)
{
    return lex_char_after(lex, lex->current.at + lex->current.size);
}

/* `CpuDevice(id=3, ..)`: the id of a device that is printed whole. */
static tsr_status read_device(lexer *lex, numbers *out)
{
    lex_next(lex);
    TSR_TRY(lex_expect(lex, '('));
    TSR_TRY(lex_expect_word(lex, "id"));
    TSR_TRY(lex_expect(lex, '='));
    TSR_TRY(add_number(lex, out));
    while (lex_accept(lex, ',')) {
        TSR_TRY(python_skip(lex));
    }
    return lex_expect(lex, ')');
}

static tsr_status read_array(lexer *lex, mesh_call *call, size_t depth);

/* One entry of an array: an array, a number or a device. */
static tsr_status read_array_entry(lexer *lex, mesh_call *call, size_t depth)
{
    if (lex_is(lex, '[')) {
        return read_array(lex, call, depth + 1);
    }
    if (lex_is(lex, TOKEN_ELLIPSIS)) {
        (void)diag_error(lex->ctx, TSR_ERR_SYNTAX, lex_here(lex),
                         "the printed list of devices is truncated");
        return diag_note(
            lex->ctx, NO_LOCATION,
            "if the devices are in order, write the mesh by its sizes, such as x=2,y=4");
    }
    call->num_dims = depth + 1 > call->num_dims ? depth + 1 : call->num_dims;
    return lex_is(lex, TOKEN_WORD) ? read_device(lex, &call->ids) : add_number(lex, &call->ids);
}

/* `[[0, 1], [2, 3]]`, also without commas as numpy prints it; every row of one length. */
static tsr_status read_array(lexer *lex, mesh_call *call, size_t depth)
{
    const location where = lex_here(lex);
    int64_t count = 0;
    if (depth >= MAX_DEPTH) {
        return lex_error(lex, where, "the array of devices is nested too deeply");
    }
    TSR_TRY(lex_expect(lex, '['));
    while (!lex_is(lex, ']')) {
        TSR_TRY(read_array_entry(lex, call, depth));
        count++;
        (void)lex_accept(lex, ',');
    }
    TSR_TRY(lex_expect(lex, ']'));
    if (call->dims[depth] != 0 && call->dims[depth] != count) {
        return diag_error(lex->ctx, TSR_ERR_INVALID, lex_span(lex, where.at),
                          "a row of the array of devices has %lld entries, one before it %lld",
                          (long long)count, (long long)call->dims[depth]);
    }
    call->dims[depth] = count;
    return TSR_OK;
}

/* `'x': 2`, `dp=2` or `('x', 2)`, the name and then the size. */
static tsr_status read_axis(lexer *lex, int between, mesh_call *call)
{
    TSR_TRY(add_name(lex, &call->names));
    TSR_TRY(lex_expect(lex, between));
    return add_number(lex, &call->sizes);
}

/* One entry of what stands in parentheses. */
static tsr_status read_entry(lexer *lex, numbers *out, mesh_call *call)
{
    if (lex_is(lex, TOKEN_INTEGER) || lex_is(lex, '-')) {
        return add_number(lex, out);
    }
    if (lex_accept(lex, '(')) {
        TSR_TRY(read_axis(lex, ',', call));
        return lex_expect(lex, ')');
    }
    if ((lex_is(lex, TOKEN_WORD) || lex_is(lex, TOKEN_STRING)) && after(lex) == '=') {
        return read_axis(lex, '=', call);
    }
    return add_name(lex, &call->names);
}

/* `(2, 4)`, `('x', 'y')`, `(dp=2, tp=4)` or `(('x', 2), ('y', 4))`, in brackets too. */
static tsr_status read_group(lexer *lex, numbers *out, mesh_call *call)
{
    const int closing = closing_of(lex->current.kind);
    lex_next(lex);
    while (!lex_is(lex, closing)) {
        TSR_TRY(read_entry(lex, out, call));
        if (!lex_accept(lex, ',')) {
            break;
        }
    }
    return lex_expect(lex, closing);
}

/* The names of axes: a group, a single string or None. */
static tsr_status read_names(lexer *lex, mesh_call *call)
{
    if (lex_is(lex, '(') || lex_is(lex, '[')) {
        return read_group(lex, &call->sizes, call);
    }
    return lex_is(lex, TOKEN_STRING) ? add_name(lex, &call->names) : python_skip(lex);
}

static tsr_status read_sizes(lexer *lex, mesh_call *call)
{
    const bool group = lex_is(lex, '(') || lex_is(lex, '[');
    return group ? read_group(lex, &call->sizes, call) : python_skip(lex);
}

static tsr_status read_strides(lexer *lex, mesh_call *call)
{
    const bool group = lex_is(lex, '(') || lex_is(lex, '[');
    return group ? read_group(lex, &call->strides, call) : python_skip(lex);
}

/* `array([[0, 1], [2, 3]], dtype=int32)`, or a name or call that says nothing here. */
static tsr_status read_made(lexer *lex, mesh_call *call)
{
    const bool makes = after(lex) == '(';
    const size_t open = lex_skip_space(lex, lex->current.at + lex->current.size);
    if (!makes || lex_char_after(lex, open + 1) != '[') {
        return python_skip(lex);
    }
    lex_next(lex);
    lex_next(lex);
    TSR_TRY(read_array(lex, call, 0));
    while (lex_accept(lex, ',') && !lex_is(lex, ')')) {
        TSR_TRY(python_skip(lex));
    }
    return lex_expect(lex, ')');
}

static tsr_status read_ids(lexer *lex, mesh_call *call)
{
    return lex_is(lex, '[') ? read_array(lex, call, 0)
                            : (lex_is(lex, TOKEN_WORD) ? read_made(lex, call) : python_skip(lex));
}

/* The arguments that matter, by their names. */
typedef struct keyword_row {
    const char *name;
    tsr_status (*read)(lexer *lex, mesh_call *call);
} keyword_row;

static const keyword_row keywords[] = {
    {"axis_names", read_names},  {"mesh_dim_names", read_names}, {"axis_sizes", read_sizes},
    {"axis_shapes", read_sizes}, {"mesh_shape", read_sizes},     {"shape_tuple", read_sizes},
    {"device_ids", read_ids},    {"devices", read_ids},          {"mesh", read_ids},
    {"stride", read_strides},    {"strides", read_strides},
};

/* `name=value` or `name: value`. */
static tsr_status read_keyword(lexer *lex, mesh_call *call)
{
    const slice name = lex_slice(lex);
    lex_next(lex);
    lex_next(lex);
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (slice_is(name, keywords[i].name)) {
            return keywords[i].read(lex, call);
        }
    }
    return python_skip(lex);
}

static tsr_status read_argument(lexer *lex, mesh_call *call)
{
    const char next = after(lex);
    if (lex_is(lex, TOKEN_STRING) && next == ':') {
        return read_axis(lex, ':', call);
    }
    if (lex_is(lex, TOKEN_WORD) && (next == '=' || next == ':')) {
        return read_keyword(lex, call);
    }
    if (lex_is(lex, '(')) {
        return read_group(lex, &call->sizes, call);
    }
    return lex_is(lex, TOKEN_STRING) ? python_skip(lex) : read_ids(lex, call);
}

static tsr_status read_call(lexer *lex, mesh_call *call)
{
    lex_next(lex);
    (void)lex_accept(lex, ':'); /* torch has printed DeviceMesh:([0, 1]) */
    TSR_TRY(lex_expect(lex, '('));
    while (!lex_is(lex, ')')) {
        TSR_TRY(read_argument(lex, call));
        if (!lex_accept(lex, ',')) {
            break;
        }
    }
    return lex_expect(lex, ')');
}

/* Sizes from the array of devices, names "d0", "d1", .. where there are none. */
static tsr_status complete(lexer *lex, location where, mesh_call *call)
{
    if (call->sizes.count == 0) {
        call->sizes = (numbers){call->dims, call->num_dims, 0};
    }
    if (call->sizes.count == 0) {
        (void)diag_error(lex->ctx, TSR_ERR_SYNTAX, where,
                         "the text has neither the sizes nor the devices of the mesh");
        return diag_note(lex->ctx, NO_LOCATION, "write it as Mesh('x': 2, 'y': 4) or x=2,y=4");
    }
    for (size_t i = 0; call->names.count < call->sizes.count && (i > 0 || call->names.count == 0);
         i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "d%zu", i);
        const char *copy = arena_string(lex->arena, name, strlen(name));
        if (copy == NULL) {
            return diag_nomem(lex->ctx);
        }
        TSR_TRY(LEX_PUSH(lex, call->names.list, call->names.count, call->names.capacity, copy));
    }
    if (call->names.count != call->sizes.count) {
        return diag_error(lex->ctx, TSR_ERR_INVALID, where,
                          "the mesh has %zu sizes, but %zu axis names", call->sizes.count,
                          call->names.count);
    }
    return TSR_OK;
}

/*
 * Strides as a transposed iota: sorted by stride, each is the product of the sizes after it. An
 * axis of size 1 may have any.
 */
static tsr_status order_by_strides(lexer *lex, location where, const mesh_call *call,
                                   tsr_mesh_spec *spec)
{
    const size_t count = call->sizes.count;
    int64_t *dims = ARENA_ARRAY(lex->arena, int64_t, count);
    int64_t *perm = ARENA_ARRAY(lex->arena, int64_t, count);
    if (dims == NULL || perm == NULL) {
        return diag_nomem(lex->ctx);
    }
    if (call->strides.count != count) {
        return diag_error(lex->ctx, TSR_ERR_INVALID, where,
                          "the mesh has %zu sizes, but %zu strides", count, call->strides.count);
    }
    const int64_t *strides = call->strides.list;
    for (size_t i = 0; i < count; i++) {
        size_t rank = 0;
        int64_t inner = 1;
        for (size_t j = 0; j < count; j++) {
            const bool outer = strides[j] > strides[i] || (j < i && strides[j] == strides[i]);
            rank += outer;
            const bool overflows =
                !outer && j != i && !checked_mul(inner, call->sizes.list[j], &inner);
            inner = overflows ? -1 : inner;
        }
        dims[rank] = call->sizes.list[i];
        perm[i] = (int64_t)rank;
        if (call->sizes.list[i] > 1 && strides[i] != inner) {
            (void)diag_error(lex->ctx, TSR_ERR_INVALID, where,
                             "the strides do not number the devices of the mesh from 0: axis "
                             "\"%s\" has stride %lld, expected %lld",
                             call->names.list[i], (long long)strides[i], (long long)inner);
            return diag_note(lex->ctx, NO_LOCATION, "give the mesh of all devices, not a submesh");
        }
    }
    spec->num_iota_dims = count;
    spec->iota_dims = dims;
    spec->iota_perm = perm;
    return TSR_OK;
}

bool mesh_python_follows(const lexer *lex)
{
    static const char *const heads[] = {"Mesh", "AbstractMesh", "make_mesh", "DeviceMesh",
                                        "init_device_mesh"};
    const char next = after(lex);
    if (next == '=' && (lex_is(lex, TOKEN_WORD) || lex_is(lex, TOKEN_STRING))) {
        return true;
    }
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        if (lex_is(lex, TOKEN_WORD) && (next == '(' || next == ':') &&
            python_name_is(lex_slice(lex), heads[i])) {
            return true;
        }
    }
    return false;
}

slice python_last_part(slice name)
{
    size_t start = name.size;
    while (start > 0 && name.data[start - 1] != '.') {
        start--;
    }
    return (slice){name.data + start, name.size - start};
}

bool python_name_is(slice name, const char *word)
{
    return slice_is(python_last_part(name), word);
}

/* `x=2, y=4` */
static tsr_status read_pairs(lexer *lex, mesh_call *call)
{
    do {
        TSR_TRY(read_axis(lex, '=', call));
    } while (lex_accept(lex, ','));
    return TSR_OK;
}

tsr_status mesh_python_read(lexer *lex, const char *name, const tsr_mesh **out, bool *knows_devices)
{
    const bool quotes = lex->single_quotes;
    const size_t from = lex->current.at;
    mesh_call call = {0};
    lex->single_quotes = true;
    const tsr_status status = after(lex) == '=' ? read_pairs(lex, &call) : read_call(lex, &call);
    lex->single_quotes = quotes;
    TSR_TRY(status);
    const location where = lex_span(lex, from);
    TSR_TRY(complete(lex, where, &call));
    tsr_mesh_spec spec = {.name = name,
                          .num_axes = call.names.count,
                          .axis_names = call.names.list,
                          .axis_sizes = call.sizes.list,
                          .num_device_ids = call.ids.count,
                          .device_ids = call.ids.list};
    *knows_devices = call.ids.count > 0 || call.strides.count > 0;
    if (call.strides.count > 0) {
        TSR_TRY(order_by_strides(lex, where, &call, &spec));
    }
    return mesh_build(lex->ctx, lex->arena, &spec, where, out);
}
