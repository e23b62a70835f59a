/*
 * Shardings as they are pasted: out of programs, out of what JAX, torch and XLA print. The dialects
 * read the shardings themselves; here is what stands around them: names of values, types,
 * attributes, lists, constructors, and the meshes that come with them.
 *
 * A text is a list of items, or lines of a program. An item starts with something of a sharding and
 * must be read whole. Of lines of a program only the attributes named in `attributes` and the
 * definitions of meshes are read, and types and names beside them.
 */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "number/dtype.h"
#include "shard/dialect.h"
#include "shard/shape_text.h"

/* Lists and constructors nest no deeper than this. */
enum { MAX_NESTING = 16 };

/* The state of reading a text. */
typedef struct paste {
    tsr_context *ctx;
    tsr_arena *arena;
    lexer lex;
    tsr_sharding_reader reader; /* as given, then with the meshes of the text */
    const tsr_dialect *dialect;
    bool has_given; /* meshes */
    int depth;
    const char *name; /* of the value that is next; NULL for none */
    bool typed;
    tsr_shape type;
    bool after_type; /* the last thing read is a type */
    tsr_layout *items;
    size_t count;
    size_t capacity;
} paste;

/* The names of attributes whose values are shardings. */
static const char *const attributes[] = {
    "sdy.sharding",           "sharding",           "mhlo.sharding", "xla.sdy.sharding",
    "sdy.sharding_per_value", "sharding_per_value", "in_shardings",  "out_shardings"};

static bool is_one_of(slice word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_is(word, list[i])) {
            return true;
        }
    }
    return false;
}

/* The offset of the token after the current one, and its first character. */
static size_t next_at(const lexer *lex)
{
    return lex_skip_space(lex, lex->current.at + lex->current.size);
}

static char next_char(const lexer *lex)
{
    return lex_char_after(lex, lex->current.at + lex->current.size);
}

static bool attribute_follows(const lexer *lex)
{
    const size_t count = sizeof attributes / sizeof attributes[0];
    slice word = lex_slice(lex);
    if (lex_is(lex, TOKEN_STRING) && word.size > 2) {
        word = (slice){word.data + 1, word.size - 2};
    } else if (!lex_is(lex, TOKEN_WORD)) {
        return false;
    }
    return next_char(lex) == '=' && is_one_of(word, attributes, count);
}

/* Takes any token, malformed ones byte by byte. */
static void take(lexer *lex)
{
    if (lex_is(lex, TOKEN_BAD)) {
        lex_move(lex, lex->current.at + 1);
    } else {
        lex_next(lex);
    }
}

/* Skips the value of another attribute: up to a comma or a closing mark outside of brackets. */
static void skip_attribute(lexer *lex)
{
    int64_t depth = 0;
    while (!lex_is(lex, TOKEN_END)) {
        const int kind = lex->current.kind;
        const bool closes = kind == ')' || kind == ']' || kind == '}' || kind == '>';
        if (depth == 0 && (closes || kind == ',')) {
            return;
        }
        depth += kind == '(' || kind == '[' || kind == '{' || kind == '<';
        depth -= closes;
        take(lex);
    }
}

/* -- Meshes -- */

static tsr_status print_mesh(const paste *p, const tsr_mesh *mesh, const char **out)
{
    return tsr_mesh_print(p->ctx, p->arena, mesh, out);
}

static bool agree(const tsr_mesh *a, const tsr_mesh *b, bool devices)
{
    return devices ? tsr_mesh_equal(a, b) : tsr_mesh_equal_axes(a, b);
}

/*
 * The mesh to use for one of the text: itself, or the given one that it agrees with, which may say
 * more of its devices.
 */
static tsr_status reconcile(const paste *p, location where, bool devices, const tsr_mesh **mesh)
{
    const tsr_sharding_reader *r = &p->reader;
    const tsr_mesh *given = r->mesh;
    if (!p->has_given) {
        return TSR_OK;
    }
    if (given != NULL && agree(given, *mesh, devices)) {
        *mesh = given;
        return TSR_OK;
    }
    for (size_t i = 0; r->meshes != NULL && i < tsr_mesh_table_count(r->meshes); i++) {
        given = tsr_mesh_table_at(r->meshes, i);
        if (agree(given, *mesh, devices)) {
            *mesh = given;
            return TSR_OK;
        }
    }
    given = r->mesh != NULL ? r->mesh : given;
    const char *here = "?";
    const char *there = "?";
    TSR_TRY(print_mesh(p, *mesh, &here));
    if (given != NULL) {
        TSR_TRY(print_mesh(p, given, &there));
    }
    (void)diag_error(p->ctx, TSR_ERR_INVALID, where,
                     "the text is on the mesh %s, but the mesh that is given is %s", here, there);
    return diag_note(p->ctx, NO_LOCATION, "leave out one of the two");
}

/* Adds a mesh of the text to those that its shardings may name. */
static tsr_status add_mesh(paste *p, const tsr_mesh *mesh)
{
    tsr_mesh_table *table = NULL;
    const char *name = tsr_mesh_name(mesh);
    if (p->has_given && p->reader.meshes == NULL) {
        return TSR_OK; /* every name is the given mesh */
    }
    p->reader.mesh = p->reader.mesh != NULL ? p->reader.mesh : mesh;
    if (name == NULL || (p->reader.meshes != NULL &&
                         tsr_mesh_table_find(p->reader.meshes, name, strlen(name)) == mesh)) {
        return TSR_OK;
    }
    TSR_TRY(tsr_mesh_table_create(p->ctx, p->arena, &table));
    for (size_t i = 0; p->reader.meshes != NULL && i < tsr_mesh_table_count(p->reader.meshes);
         i++) {
        TSR_TRY(tsr_mesh_table_add(p->ctx, table, tsr_mesh_table_at(p->reader.meshes, i)));
    }
    TSR_TRY(tsr_mesh_table_add(p->ctx, table, mesh));
    p->reader.meshes = table;
    return TSR_OK;
}

/* `sdy.mesh @mesh = <["x"=2]> {..}` */
static tsr_status read_definition(paste *p)
{
    const location where = lex_here(&p->lex);
    const tsr_mesh *mesh = NULL;
    TSR_TRY(mesh_read(&p->lex, TSR_READ_LENIENT, &mesh));
    const char *name = tsr_mesh_name(mesh);
    const tsr_mesh *same = mesh;
    TSR_TRY(reconcile(p, lex_span(&p->lex, where.at), true, &same));
    const char *other = tsr_mesh_name(same);
    const bool renamed = name != NULL && (other == NULL || strcmp(name, other) != 0);
    TSR_TRY(add_mesh(p, renamed ? mesh : same));
    if (lex_is(&p->lex, '{')) { /* attributes of the definition */
        take(&p->lex);
        do {
            skip_attribute(&p->lex);
        } while (lex_accept(&p->lex, ','));
        return lex_expect(&p->lex, '}');
    }
    return TSR_OK;
}

/* `Mesh('x': 2)`, `mesh = Mesh('x': 2)` before the sharding. */
static bool python_mesh_follows(const lexer *lex)
{
    lexer ahead = *lex;
    tsr_text text = *lex->text;
    ahead.text = &text;
    if (lex_is(&ahead, TOKEN_WORD) && next_char(&ahead) == '=') {
        lex_next(&ahead);
        lex_next(&ahead);
    }
    return lex_is(&ahead, TOKEN_WORD) && next_char(&ahead) != '=' && mesh_python_follows(&ahead);
}

static tsr_status read_python_mesh(paste *p)
{
    const size_t from = p->lex.current.at;
    const tsr_mesh *mesh = NULL;
    bool devices = false;
    if (next_char(&p->lex) == '=') {
        lex_next(&p->lex);
        lex_next(&p->lex);
    }
    TSR_TRY(mesh_python_read(&p->lex, NULL, &mesh, &devices));
    TSR_TRY(reconcile(p, lex_span(&p->lex, from), devices, &mesh));
    return add_mesh(p, mesh);
}

/* -- Types -- */

/* The offset after what a bracket at an offset encloses; 0 when it is not closed. */
static size_t bracket_end(const tsr_text *text, size_t at, char open, char close)
{
    int64_t depth = 0;
    for (; at < text->size; at++) {
        depth += text->data[at] == open;
        depth -= text->data[at] == close;
        if (depth == 0) {
            return at + 1;
        }
    }
    return 0;
}

/* `tensor<`, or a name and `[` as in `f32[4,8]`: the offset of the bracket; 0 for neither. */
static size_t type_bracket(const lexer *lex, size_t at)
{
    const tsr_text *text = lex->text;
    static const char mlir[] = "tensor<";
    const size_t length = sizeof mlir - 1;
    if (at + length <= text->size && memcmp(text->data + at, mlir, length) == 0) {
        return at + length - 1;
    }
    size_t end = at;
    while (end < text->size && ((text->data[end] >= 'a' && text->data[end] <= 'z') ||
                                (end > at && text->data[end] >= '0' && text->data[end] <= '9'))) {
        end++;
    }
    return end > at && end < text->size && text->data[end] == '[' ? end : 0;
}

/* Reads the type at an offset and moves the offset past it. */
static tsr_status read_type_at(paste *p, size_t *at)
{
    const tsr_text *text = p->lex.text;
    const size_t bracket = type_bracket(&p->lex, *at);
    const bool angle = text->data[bracket] == '<';
    const size_t end = bracket_end(text, bracket, angle ? '<' : '[', angle ? '>' : ']');
    if (end == 0) {
        return diag_error(p->ctx, TSR_ERR_SYNTAX, (location){text, *at, bracket + 1 - *at, true},
                          "this type is not terminated: write %s",
                          angle ? "tensor<4x8xf32>" : "f32[4,8]");
    }
    const location where = {text, *at, end - *at, true};
    TSR_TRY(
        shape_text_read(p->ctx, p->arena, where, (slice){text->data + *at, end - *at}, &p->type));
    p->typed = true;
    *at = end;
    return TSR_OK;
}

/* The offset after the string that opens at an offset. */
static size_t string_end(const tsr_text *text, size_t at)
{
    const char quote = text->data[at++];
    while (at < text->size && text->data[at] != quote) {
        at += text->data[at] == '\\' ? 2 : 1;
    }
    return at < text->size ? at + 1 : text->size;
}

/* The type `: tensor<4x8xf32>` after an item; that of the next value is not its own. */
static tsr_status look_for_type(paste *p)
{
    const tsr_text *text = p->lex.text;
    size_t at = p->lex.current.at;
    int64_t depth = 0;
    while (at < text->size && text->data[at] != '%') {
        const char c = text->data[at];
        size_t type = lex_skip_space(&p->lex, at + 1);
        if (depth == 0 && c == ':' && type_bracket(&p->lex, type) != 0) {
            return read_type_at(p, &type);
        }
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        at = c == '"' || c == '\'' ? string_end(text, at) : at + 1;
    }
    return TSR_OK;
}

/* Moves past `: tensor<4x8xf32>`, which has been read. */
static void skip_type(paste *p)
{
    size_t at = next_at(&p->lex);
    const size_t bracket = lex_is(&p->lex, ':') ? type_bracket(&p->lex, at) : 0;
    p->after_type = bracket != 0;
    if (bracket != 0) {
        const bool angle = p->lex.text->data[bracket] == '<';
        lex_move(&p->lex, bracket_end(p->lex.text, bracket, angle ? '<' : '[', angle ? '>' : ']'));
    }
}

/* -- Shardings -- */

static tsr_status add_layout(paste *p, const tsr_sharding *sharding)
{
    const tsr_layout layout = {
        .sharding = sharding, .name = p->name, .has_shape = p->typed, .shape = p->type};
    return LEX_PUSH(&p->lex, p->items, p->count, p->capacity, layout);
}

/* A reader for the tensor that is next. */
static tsr_sharding_reader reader_here(const paste *p)
{
    tsr_sharding_reader reader = p->reader;
    if (p->typed) {
        reader.rank = (int64_t)p->type.rank;
        reader.shape = p->type.extents;
    }
    return reader;
}

/* Reads a sharding of a dialect at an offset of the text. */
static tsr_status read_dialect(paste *p, tsr_dialect dialect, const tsr_mesh *mesh, size_t at)
{
    tsr_text *text = p->lex.text;
    tsr_sharding_reader reader = reader_here(p);
    const tsr_sharding *sharding = NULL;
    reader.mesh = mesh;
    text->at = at;
    const dialect_reader r = {.ctx = p->ctx,
                              .arena = p->arena,
                              .text = text,
                              .options = &reader,
                              .rank = reader.rank,
                              .shape = reader.shape};
    TSR_TRY(dialect_read(&r, dialect, &sharding));
    const location where = {text, at, text->at - at, true};
    const tsr_mesh *own = sharding->mesh;
    if (dialect == TSR_DIALECT_SDY && own != mesh && tsr_mesh_name(own) == NULL) {
        TSR_TRY(reconcile(p, where, true, &own));
    }
    return add_layout(p, sharding);
}

/* A sharding in one of the dialects and nothing around it. */
static tsr_status read_plain(paste *p)
{
    tsr_text *text = p->lex.text;
    text->at = p->lex.current.at;
    const tsr_dialect dialect = p->dialect != NULL ? *p->dialect : tsr_dialect_guess(text);
    TSR_TRY(read_dialect(p, dialect, p->reader.mesh, text->at));
    lex_move(&p->lex, text->at);
    return TSR_OK;
}

/* `#sdy.sharding_per_value<[<...>, <...>]>`, or from its bracket on. */
static tsr_status read_per_value(paste *p)
{
    tsr_text *text = p->lex.text;
    const tsr_sharding_reader reader = reader_here(p);
    const tsr_sharding *const *list = NULL;
    size_t count = 0;
    if (lex_is(&p->lex, TOKEN_WORD)) {
        lex_next(&p->lex);
    }
    text->at = p->lex.current.at;
    TSR_TRY(tsr_shardings_read(p->ctx, p->arena, text, &reader, &list, &count));
    for (size_t i = 0; i < count; i++) {
        TSR_TRY(add_layout(p, list[i]));
    }
    lex_move(&p->lex, text->at);
    return TSR_OK;
}

static bool per_value_follows(const lexer *lex)
{
    const slice word = lex_slice(lex);
    if (lex_is(lex, TOKEN_HASH)) {
        return slice_is(word, "#sdy.sharding_per_value");
    }
    if (lex_is(lex, TOKEN_WORD)) {
        return python_name_is(word, "sharding_per_value") && next_char(lex) == '<';
    }
    return lex_is(lex, '<') && next_char(lex) == '[' &&
           lex_char_after(lex, next_at(lex) + 1) == '<';
}

/* Constructors of Python around a sharding, or around what has one. */
static const char *const wrappers[] = {"NamedSharding", "GSPMDSharding", "SingleDeviceSharding",
                                       "DTensor",       "DTensorSpec",   "ShapeDtypeStruct",
                                       "TensorMeta"};

static bool wrapper_follows(const lexer *lex)
{
    const size_t count = sizeof wrappers / sizeof wrappers[0];
    return lex_is(lex, TOKEN_WORD) && next_char(lex) == '(' &&
           is_one_of(python_last_part(lex_slice(lex)), wrappers, count);
}

static bool spec_follows(const lexer *lex)
{
    return lex_is(lex, TOKEN_WORD) && next_char(lex) == '(' && jax_is_spec(lex_slice(lex));
}

/* What the arguments of a constructor say. */
typedef struct wrapped {
    const tsr_mesh *mesh; /* NULL: not in the text */
    bool has_inner;
    size_t inner; /* where the sharding is */
    tsr_dialect dialect;
    int64_t device; /* of a sharding on one device; -1 for none */
} wrapped;

/* Notes where the sharding of a constructor is, and skips it. */
static tsr_status note_inner(paste *p, tsr_dialect dialect, wrapped *out)
{
    out->has_inner = true;
    out->inner = p->lex.current.at;
    out->dialect = dialect;
    return python_skip(&p->lex);
}

/* The bytes of an argument, which is skipped. */
static tsr_status take_argument(paste *p, slice *out)
{
    const size_t from = p->lex.current.at;
    TSR_TRY(python_skip(&p->lex));
    *out = (slice){p->lex.text->data + from, p->lex.last_end - from};
    return TSR_OK;
}

static tsr_status read_shape_argument(paste *p)
{
    const size_t from = p->lex.current.at;
    const bool had = p->type.has_dtype;
    const tsr_dtype dtype = p->type.dtype;
    slice text;
    TSR_TRY(take_argument(p, &text));
    TSR_TRY(shape_text_read(p->ctx, p->arena, lex_span(&p->lex, from), text, &p->type));
    p->type.has_dtype = had;
    p->type.dtype = dtype;
    p->typed = true;
    return TSR_OK;
}

/* `float32`, `torch.float32`, `dtype('float32')`. */
static tsr_status read_dtype_argument(paste *p)
{
    const size_t from = p->lex.current.at;
    slice text;
    TSR_TRY(take_argument(p, &text));
    const char *quote = memchr(text.data, '\'', text.size);
    if (quote != NULL) {
        const char *end = memchr(quote + 1, '\'', text.size - (size_t)(quote + 1 - text.data));
        text = (slice){quote + 1, end != NULL ? (size_t)(end - quote - 1) : 0};
    }
    text = python_last_part(text);
    const char *name = arena_string(p->arena, text.data, text.size);
    if (name == NULL) {
        return diag_nomem(p->ctx);
    }
    TSR_TRY(dtype_parse_at(p->ctx, lex_span(&p->lex, from), name, &p->type.dtype));
    p->type.has_dtype = true;
    return TSR_OK;
}

/* `CpuDevice(id=3)` */
static tsr_status read_device_argument(paste *p, wrapped *out)
{
    lexer *lex = &p->lex;
    lex_next(lex);
    TSR_TRY(lex_expect(lex, '('));
    TSR_TRY(lex_expect_word(lex, "id"));
    TSR_TRY(lex_expect(lex, '='));
    TSR_TRY(lex_integer(lex, &out->device));
    while (lex_accept(lex, ',')) {
        TSR_TRY(python_skip(lex));
    }
    return lex_expect(lex, ')');
}

static tsr_status read_wrapped_mesh(paste *p, wrapped *out)
{
    const size_t from = p->lex.current.at;
    bool devices = false;
    TSR_TRY(mesh_python_read(&p->lex, NULL, &out->mesh, &devices));
    return reconcile(p, lex_span(&p->lex, from), devices, &out->mesh);
}

static tsr_status read_arguments(paste *p, wrapped *out);

/* One argument; what it is shows in its name or in how it looks. */
static tsr_status read_argument(paste *p, wrapped *out)
{
    lexer *lex = &p->lex;
    slice key = {0};
    if (lex_is(lex, TOKEN_WORD) && next_char(lex) == '=') {
        key = lex_slice(lex);
        lex_next(lex);
        lex_next(lex);
    }
    if (lex_is(lex, TOKEN_WORD) && next_char(lex) != '=' && mesh_python_follows(lex)) {
        return read_wrapped_mesh(p, out);
    }
    if (spec_follows(lex)) {
        return note_inner(p, TSR_DIALECT_JAX, out);
    }
    if (wrapper_follows(lex)) {
        lex_next(lex);
        return read_arguments(p, out);
    }
    if (slice_is(key, "placements") || (key.size == 0 && dtensor_follows(lex))) {
        return note_inner(p, TSR_DIALECT_DTENSOR, out);
    }
    if (lex_is(lex, '{')) {
        return note_inner(p, TSR_DIALECT_HLO, out);
    }
    if (slice_is(key, "shape") && (lex_is(lex, '(') || lex_is(lex, TOKEN_WORD))) {
        return read_shape_argument(p);
    }
    if (slice_is(key, "dtype")) {
        return read_dtype_argument(p);
    }
    if ((slice_is(key, "device") || key.size == 0) && lex_is(lex, TOKEN_WORD) &&
        next_char(lex) == '(' && lex_char_after(lex, next_at(lex) + 1) == 'i') {
        return read_device_argument(p, out);
    }
    return python_skip(lex);
}

/* `(...)` after the name of a constructor. */
static tsr_status read_arguments(paste *p, wrapped *out)
{
    if (++p->depth > MAX_NESTING) {
        return lex_error(&p->lex, lex_here(&p->lex), "this is nested too deeply");
    }
    TSR_TRY(lex_expect(&p->lex, '('));
    while (!lex_is(&p->lex, ')')) {
        TSR_TRY(read_argument(p, out));
        if (!lex_accept(&p->lex, ',')) {
            break;
        }
    }
    p->depth--;
    return lex_expect(&p->lex, ')');
}

/* The sharding of a tensor that is on one device. */
static tsr_status add_single_device(paste *p, int64_t device)
{
    const tsr_mesh_spec spec = {.num_device_ids = 1, .device_ids = &device};
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *sharding = NULL;
    TSR_TRY(tsr_mesh_create(p->ctx, p->arena, &spec, &mesh));
    TSR_TRY(tsr_sharding_replicated_over(p->ctx, p->arena, mesh, 0, false, &sharding));
    return add_layout(p, sharding);
}

/* `NamedSharding(mesh=Mesh(..), spec=P('x', None))` and its kind. */
static tsr_status read_wrapper(paste *p)
{
    const location where = lex_here(&p->lex);
    wrapped w = {.device = -1};
    lex_next(&p->lex);
    TSR_TRY(read_arguments(p, &w));
    const size_t end = p->lex.last_end;
    if (w.device >= 0) {
        return add_single_device(p, w.device);
    }
    if (!w.has_inner) {
        (void)diag_error(p->ctx, TSR_ERR_SYNTAX, where, "the text contains no sharding");
        return diag_note(p->ctx, NO_LOCATION,
                         "a sharding has a PartitionSpec('x', None) or placements=(Shard(0), ..)");
    }
    TSR_TRY(read_dialect(p, w.dialect, w.mesh != NULL ? w.mesh : p->reader.mesh, w.inner));
    lex_move(&p->lex, end);
    return TSR_OK;
}

static tsr_status read_value(paste *p);

/* A list of shardings in brackets of any kind. */
static tsr_status read_list(paste *p)
{
    lexer *lex = &p->lex;
    const int closing = lex_is(lex, '(') ? ')' : (lex_is(lex, '[') ? ']' : '}');
    if (++p->depth > MAX_NESTING) {
        return lex_error(lex, lex_here(lex), "this is nested too deeply");
    }
    lex_next(lex);
    while (!lex_is(lex, closing)) {
        if (lex_is(lex, '{') && next_char(lex) == '}') { /* keyword arguments, none of them */
            lex_next(lex);
            lex_next(lex);
        } else {
            TSR_TRY(read_value(p));
        }
        if (!lex_accept(lex, ',')) {
            break;
        }
    }
    p->depth--;
    return lex_expect(lex, closing);
}

/* Whether a bracket opens a list of shardings, and not one. */
static bool list_follows(const lexer *lex)
{
    tsr_text text = *lex->text;
    lexer ahead = *lex;
    ahead.text = &text;
    if (lex_is(lex, '{')) {
        return next_char(lex) == '{';
    }
    while (lex_is(&ahead, '(') || lex_is(&ahead, '[')) {
        lex_next(&ahead);
    }
    if (ahead.current.at == lex->current.at) {
        return false;
    }
    const char next = next_char(&ahead);
    const bool hlo = lex_is(&ahead, '{') && next >= 'a' && next <= 'z';
    const bool named = spec_follows(&ahead) && !slice_is(lex_slice(&ahead), "P");
    return hlo || named || wrapper_follows(&ahead) || lex_is(&ahead, '<') ||
           lex_is(&ahead, TOKEN_HASH);
}

/* A sharding within a string, as attributes of mhlo and of HLO's frontend have it. */
static tsr_status read_quoted(paste *p)
{
    lexer outer = p->lex;
    slice inside;
    TSR_TRY(lex_string(&outer, &inside));
    tsr_text text = {.name = p->lex.text->name, .data = inside.data, .size = inside.size};
    p->lex = lex_start(p->ctx, p->arena, &text);
    p->lex.single_quotes = true;
    TSR_TRY(read_value(p));
    if (!lex_is(&p->lex, TOKEN_END)) {
        return lex_error(&p->lex, lex_here(&p->lex), "unexpected text after the sharding");
    }
    p->lex = outer;
    return TSR_OK;
}

static tsr_status read_value(paste *p)
{
    const lexer *lex = &p->lex;
    if (p->dialect != NULL) {
        return read_plain(p);
    }
    if (lex_is(lex, TOKEN_STRING)) {
        return read_quoted(p);
    }
    if (per_value_follows(lex)) {
        return read_per_value(p);
    }
    if (wrapper_follows(lex)) {
        return read_wrapper(p);
    }
    return list_follows(lex) ? read_list(p) : read_plain(p);
}

static tsr_status read_attribute(paste *p)
{
    lex_next(&p->lex);
    lex_next(&p->lex);
    return read_value(p);
}

/* Whether a brace opens attributes: a name and `=`, and not HLO's own. */
static bool dictionary_follows(const lexer *lex)
{
    tsr_text text = *lex->text;
    lexer ahead = *lex;
    ahead.text = &text;
    if (!lex_accept(&ahead, '{')) {
        return false;
    }
    const bool named = lex_is(&ahead, TOKEN_WORD) || lex_is(&ahead, TOKEN_STRING);
    return named && next_char(&ahead) == '=' && !lex_is_word(&ahead, "devices");
}

/* `{jax.result_info = "", sdy.sharding = ...}` */
static tsr_status read_dictionary(paste *p)
{
    const location where = lex_here(&p->lex);
    const size_t before = p->count;
    lexer *lex = &p->lex;
    TSR_TRY(lex_expect(lex, '{'));
    while (!lex_is(lex, '}')) {
        if (attribute_follows(lex)) {
            TSR_TRY(read_attribute(p));
        } else {
            skip_attribute(lex);
        }
        if (!lex_accept(lex, ',')) {
            break;
        }
    }
    TSR_TRY(lex_expect(lex, '}'));
    if (p->count == before) {
        (void)diag_error(p->ctx, TSR_ERR_SYNTAX, where, "these attributes contain no sharding");
        return diag_note(p->ctx, NO_LOCATION,
                         "write it as sdy.sharding = #sdy.sharding<@mesh, [...]>");
    }
    return TSR_OK;
}

static tsr_status take_value_name(paste *p)
{
    const slice name = lex_slice(&p->lex);
    p->name = arena_string(p->arena, name.data, name.size);
    return p->name != NULL ? TSR_OK : diag_nomem(p->ctx);
}

/* The type before the attributes of an argument or a result. */
static tsr_status read_typed(paste *p)
{
    size_t at = p->lex.current.at;
    TSR_TRY(read_type_at(p, &at));
    lex_move(&p->lex, at);
    if (!dictionary_follows(&p->lex)) {
        (void)lex_error(&p->lex, lex_here(&p->lex), "expected the attributes of the type");
        return diag_note(p->ctx, NO_LOCATION, "write them as {sdy.sharding = #sdy.sharding<...>}");
    }
    return read_dictionary(p);
}

/* `%name :` or `%name#1 :` */
static bool names_value(const lexer *lex)
{
    tsr_text text = *lex->text;
    lexer ahead = *lex;
    ahead.text = &text;
    if (!lex_accept(&ahead, TOKEN_PERCENT)) {
        return false;
    }
    (void)lex_accept(&ahead, TOKEN_HASH);
    return lex_is(&ahead, ':');
}

/* `%name :`, a type, and attributes or a sharding; or a sharding and a type. */
static tsr_status read_item(paste *p)
{
    lexer *lex = &p->lex;
    p->name = NULL;
    p->typed = false;
    p->type = (tsr_shape){0};
    if (names_value(lex)) {
        TSR_TRY(take_value_name(p));
        while (!lex_is(lex, ':') && !lex_is(lex, TOKEN_END)) {
            take(lex);
        }
        TSR_TRY(lex_expect(lex, ':'));
    }
    if (lex_is(lex, TOKEN_WORD) && type_bracket(lex, lex->current.at) != 0) {
        return read_typed(p);
    }
    TSR_TRY(look_for_type(p));
    if (p->dialect == NULL && dictionary_follows(lex)) {
        TSR_TRY(read_dictionary(p));
    } else if (attribute_follows(lex)) {
        TSR_TRY(read_attribute(p));
    } else {
        TSR_TRY(read_value(p));
    }
    skip_type(p);
    return TSR_OK;
}

/* Whether a line end is between the last token taken and the next. */
static bool on_next_line(const lexer *lex)
{
    return memchr(lex->text->data + lex->last_end, '\n', lex->current.at - lex->last_end) != NULL;
}

/* Items with commas or line ends between them, and the meshes before them. */
static tsr_status read_items(paste *p)
{
    lexer *lex = &p->lex;
    do {
        while (lex_is_word(lex, "sdy.mesh") || python_mesh_follows(lex)) {
            TSR_TRY(lex_is_word(lex, "sdy.mesh") ? read_definition(p) : read_python_mesh(p));
            (void)lex_accept(lex, ',');
        }
        TSR_TRY(read_item(p));
    } while ((lex_accept(lex, ',') && !lex_is(lex, TOKEN_END)) ||
             (!lex_is(lex, TOKEN_END) && on_next_line(lex)));
    if (!lex_is(lex, TOKEN_END)) {
        return lex_error(lex, lex_here(lex),
                         p->after_type ? "unexpected text after the type"
                                       : "unexpected text after the sharding");
    }
    return TSR_OK;
}

/* -- Lines of programs -- */

static bool constraint_follows(const lexer *lex)
{
    return lex_is_word(lex, "sdy.sharding_constraint") || lex_is_word(lex, "sdy.reshard");
}

/* Whether the text is of a program: it starts with none of an item's heads, and has attributes. */
static bool is_program(const paste *p)
{
    tsr_text text = *p->lex.text;
    lexer ahead = p->lex;
    ahead.text = &text;
    const lexer *lex = &p->lex;
    const bool op = lex_is(lex, TOKEN_PERCENT) && !names_value(lex);
    const bool word = lex_is(lex, TOKEN_WORD) && !attribute_follows(lex) && !wrapper_follows(lex) &&
                      !spec_follows(lex) && type_bracket(lex, lex->current.at) == 0 &&
                      !per_value_follows(lex) && !python_mesh_follows(lex) &&
                      !lex_is_word(lex, "sharding");
    if (p->dialect != NULL || (!op && !word)) {
        return false;
    }
    while (!lex_is(&ahead, TOKEN_END)) {
        if (attribute_follows(&ahead) || constraint_follows(&ahead)) {
            return true;
        }
        take(&ahead);
    }
    return false;
}

/* The result type of an op: after the last arrow of its line, or after the colon. */
static tsr_status find_result_type(paste *p)
{
    const tsr_text *text = p->lex.text;
    size_t type = 0;
    for (size_t at = p->lex.current.at; at < text->size && text->data[at] != '\n'; at++) {
        const bool arrow = text->data[at] == '>' && text->data[at - 1] == '-';
        const size_t next = lex_skip_space(&p->lex, at + 1);
        if ((arrow || text->data[at] == ':') && type_bracket(&p->lex, next) != 0) {
            type = next;
        }
        if (text->data[at] == '"') {
            at = string_end(text, at) - 1;
        }
    }
    return type != 0 ? read_type_at(p, &type) : TSR_OK;
}

/* Reads what an attribute or a constraint says, of the value that was named last. */
static tsr_status read_line_sharding(paste *p, bool is_op)
{
    lexer *lex = &p->lex;
    if (is_op || constraint_follows(lex)) {
        p->typed = false;
        TSR_TRY(find_result_type(p));
    }
    if (!constraint_follows(lex)) {
        return read_attribute(p);
    }
    while (!lex_is(lex, '<') && !lex_is(lex, TOKEN_HASH) && !lex_is(lex, TOKEN_END)) {
        take(lex);
    }
    return read_value(p);
}

/* Goes through the tokens of lines: values and types are kept for the sharding that follows. */
static tsr_status read_program(paste *p)
{
    lexer *lex = &p->lex;
    bool is_op = false;
    while (!lex_is(lex, TOKEN_END)) {
        const size_t at = lex->current.at;
        if (attribute_follows(lex) || constraint_follows(lex)) {
            TSR_TRY(read_line_sharding(p, is_op));
        } else if (lex_is_word(lex, "sdy.mesh")) {
            TSR_TRY(read_definition(p));
        } else if (lex_is(lex, TOKEN_PERCENT) && (next_char(lex) == ':' || next_char(lex) == '=')) {
            TSR_TRY(take_value_name(p));
            is_op = next_char(lex) == '=';
            p->typed = false;
            take(lex);
        } else if (lex_is_word(lex, "tensor") && type_bracket(lex, at) != 0) {
            size_t end = at;
            TSR_TRY(read_type_at(p, &end));
            lex_move(lex, end);
        } else {
            is_op = is_op && !lex_is(lex, TOKEN_ARROW);
            p->name = lex_is(lex, TOKEN_ARROW) ? NULL : p->name;
            take(lex);
        }
    }
    return TSR_OK;
}

tsr_status tsr_layouts_read(tsr_context *ctx, tsr_arena *arena, tsr_text *text,
                            const tsr_layout_reader *reader, const tsr_layout **out, size_t *count)
{
    GUARD(tsr_layouts_read);
    const tsr_mesh_table *table = reader->sharding.meshes;
    paste p = {.ctx = ctx, .arena = arena, .reader = reader->sharding, .dialect = reader->dialect};
    p.has_given = p.reader.mesh != NULL || (table != NULL && tsr_mesh_table_count(table) > 0);
    p.lex = lex_start(ctx, arena, text);
    p.lex.single_quotes = true;
    TSR_TRY(is_program(&p) ? read_program(&p) : read_items(&p));
    if (p.count == 0) {
        (void)lex_error(&p.lex, lex_here(&p.lex), "the text contains no sharding");
        return diag_note(ctx, NO_LOCATION, "write one, such as [{\"x\"}, {}] or P('x', None)");
    }
    *out = p.items;
    *count = p.count;
    return TSR_OK;
}
