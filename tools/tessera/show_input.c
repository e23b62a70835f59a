/*
 * What `tessera show` reads: the meshes, the sharding, and the shape, from --shape or from a type.
 */
#include <ctype.h>
#include <string.h>

#include "command.h"
#include "mesh_name.h"
#include "show.h"

static const char type_start[] = "tensor<";

/* The argument `%name : SHARDING : tensor<4x8xf32>`, of which only the sharding is required. */
struct argument {
    tsr_text text; /* at the sharding */
    size_t end;    /* of the sharding */
    bool typed;    /* the rest is only set with a type */
    size_t type;   /* where it starts */
    size_t type_end;
};

static size_t skip_spaces(const char *text, size_t at)
{
    while (isspace((unsigned char)text[at])) {
        at++;
    }
    return at;
}

/* Where the sharding starts: after `%name :`, if present. */
static size_t skip_value(const char *text)
{
    size_t at = skip_spaces(text, 0);
    if (text[at] != '%') {
        return 0;
    }
    do {
        at++;
    } while (isalnum((unsigned char)text[at]) ||
             (text[at] != '\0' && strchr("$._-#", text[at]) != NULL));
    at = skip_spaces(text, at);
    return text[at] == ':' ? at + 1 : 0;
}

/*
 * The offset after the string that opens at an offset, or the end of the text when it is not
 * closed.
 */
static size_t skip_string(const char *text, size_t at)
{
    char quote = text[at++];
    while (text[at] != '\0' && text[at] != quote) {
        at += text[at] == '\\' && text[at + 1] != '\0' ? 2 : 1;
    }
    return text[at] == quote ? at + 1 : at;
}

/* Whether `: tensor<` is at an offset. */
static bool type_follows(const char *text, size_t at)
{
    return text[at] == ':' &&
           strncmp(text + skip_spaces(text, at + 1), type_start, strlen(type_start)) == 0;
}

/* The colon before a type, or the end of the text. */
static size_t find_type(const char *text, size_t at)
{
    while (text[at] != '\0' && !type_follows(text, at)) {
        at = text[at] == '"' || text[at] == '\'' ? skip_string(text, at) : at + 1;
    }
    return at;
}

/* The offset after the angle bracket that closes a type, or where it starts when none does. */
static size_t find_type_end(const char *text, size_t type)
{
    int64_t depth = 0;
    for (size_t at = type; text[at] != '\0'; at++) {
        depth += text[at] == '<';
        depth -= text[at] == '>';
        if (text[at] == '>' && depth == 0) {
            return at + 1;
        }
    }
    return type;
}

static struct argument take_apart(const char *string)
{
    struct argument argument = {.text = tsr_text_of("<sharding>", string)};
    argument.text.at = skip_value(string);
    argument.end = find_type(string, argument.text.at);
    argument.typed = string[argument.end] == ':';
    if (argument.typed) {
        argument.type = skip_spaces(string, argument.end + 1);
        argument.type_end = find_type_end(string, argument.type);
    }
    while (argument.end > 0 && isspace((unsigned char)string[argument.end - 1])) {
        argument.end--;
    }
    return argument;
}

bool show_is_typed(const char *sharding)
{
    return take_apart(sharding).typed;
}

/* Refuses what follows a text that has been read. */
static int check_end(struct session *session, const tsr_text *text, size_t end, const char *message)
{
    size_t at = skip_spaces(text->data, text->at);
    return at >= end ? EXIT_FINE : session_fail_at(session, text, at, end - at, message);
}

static tsr_reading reading_of(const struct options *options)
{
    return options->strict ? TSR_READ_PROGRAM : TSR_READ_LENIENT;
}

/*
 * Moves a text past `@name =` and gives the name, NULL when it does not start with one. Programs
 * name their meshes outside of the attribute that the strict reading takes; the lenient one reads
 * the name, before a mesh that stands for the real one.
 */
static tsr_status take_name(struct session *session, tsr_text *text, const char **out)
{
    size_t end = mesh_name_end(text->data);
    *out = NULL;
    if (end == 0) {
        return TSR_OK;
    }
    const char *stand_in = session_format(session, "%.*s<[]>", (int)end, text->data);
    tsr_text head = tsr_text_of(text->name, stand_in);
    const tsr_mesh *mesh = NULL;
    tsr_status status = tsr_mesh_read(session->ctx, session->arena, &head, TSR_READ_LENIENT, &mesh);
    if (status == TSR_OK) {
        *out = tsr_mesh_name(mesh);
        text->at = end;
    }
    return status;
}

/* Reads a mesh with its name, if it has one. */
static tsr_status read_named(struct session *session, const struct options *options, tsr_text *text,
                             const tsr_mesh **out)
{
    const char *name = NULL;
    tsr_status status = options->strict ? take_name(session, text, &name) : TSR_OK;
    if (status == TSR_OK) {
        status = tsr_mesh_read(session->ctx, session->arena, text, reading_of(options), out);
    }
    if (status != TSR_OK || name == NULL) {
        return status;
    }
    return tsr_mesh_rename(session->ctx, session->arena, *out, name, out);
}

/* Reads a mesh; one without a name is called "mesh". */
static int read_mesh(struct session *session, const struct options *options, const char *string,
                     const tsr_mesh **out)
{
    tsr_text text = tsr_text_of("<mesh>", string);
    tsr_status status = read_named(session, options, &text, out);
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    int code = check_end(session, &text, text.size, "nothing may follow the mesh");
    if (code != EXIT_FINE) {
        return code;
    }
    if (tsr_mesh_name(*out) == NULL) {
        status = tsr_mesh_rename(session->ctx, session->arena, *out, "mesh", out);
    }
    return status == TSR_OK ? EXIT_FINE : session_fail(session, status);
}

/* Adds a mesh to the table; two of one name are most often two without one. */
static int add_mesh(struct session *session, tsr_mesh_table *table, const tsr_mesh *mesh)
{
    const char *name = tsr_mesh_name(mesh);
    bool taken = tsr_mesh_table_find(table, name, strlen(name)) != NULL;
    tsr_status status = tsr_mesh_table_add(session->ctx, table, mesh);
    if (status == TSR_OK) {
        return EXIT_FINE;
    }
    int code = session_fail(session, status);
    if (taken) {
        fputs("note: give each mesh its own name: --mesh '@other = <[\"x\"=2]>'; without one it is "
              "called mesh\n",
              stderr);
    }
    return code;
}

/* Reads all meshes; the first is the default, NULL without any. */
static int read_meshes(struct session *session, const struct options *options,
                       tsr_mesh_table *table, const tsr_mesh **first)
{
    *first = NULL;
    for (size_t i = 0; i < options->num_meshes; i++) {
        const tsr_mesh *mesh = NULL;
        int code = read_mesh(session, options, options->meshes[i], &mesh);
        if (code != EXIT_FINE) {
            return code;
        }
        code = add_mesh(session, table, mesh);
        if (code != EXIT_FINE) {
            return code;
        }
        *first = i == 0 ? mesh : *first;
    }
    return EXIT_FINE;
}

/* The dialect that was asked for, or that a text looks like. */
static int choose_dialect(struct session *session, const struct options *options,
                          const tsr_text *text, tsr_dialect *out)
{
    *out = tsr_dialect_guess(text);
    if (options->from == NULL) {
        return EXIT_FINE;
    }
    tsr_status status = tsr_dialect_parse(session->ctx, options->from, out);
    return status == TSR_OK ? EXIT_FINE : session_fail(session, status);
}

static bool needs_mesh(tsr_dialect dialect)
{
    return dialect == TSR_DIALECT_JAX || dialect == TSR_DIALECT_DTENSOR;
}

/* Whether a message or one of its notes asks for the shape; the library knows no options. */
static bool asks_for_shape(const tsr_diagnostic *diagnostic)
{
    for (; diagnostic != NULL; diagnostic = diagnostic->next) {
        if (strstr(diagnostic->text, "give the shape") != NULL ||
            asks_for_shape(diagnostic->notes)) {
            return true;
        }
    }
    return false;
}

int show_fail(struct session *session, const struct facts *facts, tsr_status status)
{
    int code = session_fail(session, status);
    if (!facts->has_shape && asks_for_shape(tsr_context_diagnostics(session->ctx))) {
        fputs("note: give it with --shape, such as --shape 4x8\n", stderr);
    }
    return code;
}

/* Reads the sharding in a dialect, and refuses what follows it. */
static int read_dialect(struct session *session, const tsr_sharding_reader *reader,
                        tsr_dialect dialect, struct argument *argument, struct facts *facts)
{
    if (reader->mesh == NULL && needs_mesh(dialect)) {
        return complain("a %s sharding needs a mesh: add --mesh '<[\"x\"=2, \"y\"=4]>'",
                        tsr_dialect_name(dialect));
    }
    tsr_status status =
        tsr_dialect_read(session->ctx, session->arena, dialect, &argument->text, reader,
                         facts->shape.rank, reader->shape, &facts->sharding);
    if (status == TSR_OK) {
        return check_end(session, &argument->text, argument->end,
                         "nothing may follow the sharding");
    }
    int code = show_fail(session, facts, status);
    if (reader->mesh == NULL && dialect == TSR_DIALECT_SDY) {
        fputs("note: no mesh was given: add --mesh '<[\"x\"=2, \"y\"=4]>'\n", stderr);
    }
    return code;
}

static int read_sharding(struct session *session, const struct options *options,
                         struct argument *argument, struct facts *facts)
{
    tsr_mesh_table *table = NULL;
    tsr_dialect dialect;
    tsr_sharding_reader reader = {.reading = reading_of(options), .rank = -1};
    reader.flags = options->no_sub_axes ? TSR_SHARDING_NO_SUB_AXES : TSR_SHARDING_DEFAULT;
    if (facts->has_shape) {
        reader.rank = (int64_t)facts->shape.rank;
        reader.shape = facts->shape.extents;
    }
    tsr_status status = tsr_mesh_table_create(session->ctx, session->arena, &table);
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    int code = read_meshes(session, options, table, &reader.mesh);
    if (code == EXIT_FINE) {
        code = choose_dialect(session, options, &argument->text, &dialect);
    }
    reader.meshes = table;
    return code == EXIT_FINE ? read_dialect(session, &reader, dialect, argument, facts) : code;
}

/* Reads the type after the sharding. */
static int read_type(struct session *session, const struct argument *argument, struct shape *out)
{
    tsr_text text = argument->text;
    size_t width = argument->type_end - argument->type;
    if (width == 0) {
        return session_fail_at(session, &text, argument->type, strlen(type_start),
                               "this type is not closed: write tensor<4x8xf32>");
    }
    text.at = argument->type_end;
    int code = check_end(session, &text, text.size, "nothing may follow the type");
    if (code != EXIT_FINE) {
        return code;
    }
    const char *type = session_format(session, "%.*s", (int)width, text.data + argument->type);
    const char *problem = shape_parse(session, type, out);
    return problem == NULL ? EXIT_FINE
                           : session_fail_at(session, &text, argument->type, width, problem);
}

/* Adds an element type to a shape that may have one; `first` and `second` name their sources. */
static int add_dtype(struct shape *shape, const char *first, tsr_dtype dtype, const char *second)
{
    if (shape->has_dtype && shape->dtype != dtype) {
        return complain("%s says %s and %s says %s: leave out one", first,
                        tsr_dtype_name(shape->dtype), second, tsr_dtype_name(dtype));
    }
    shape->dtype = dtype;
    shape->has_dtype = true;
    return EXIT_FINE;
}

/* Adds what the type after the sharding says to what --shape says. */
static int add_type(struct session *session, const struct shape *type, struct shape *shape)
{
    if (type->rank != shape->rank ||
        (type->rank > 0 &&
         memcmp(type->extents, shape->extents, type->rank * sizeof *type->extents) != 0)) {
        return complain("--shape says %s and the type after the sharding says %s: leave out one",
                        facts_format_shape(session, shape->rank, shape->extents),
                        facts_format_shape(session, type->rank, type->extents));
    }
    return type->has_dtype ? add_dtype(shape, "--shape", type->dtype, "the type after the sharding")
                           : EXIT_FINE;
}

/* The shape from --shape and from the type after the sharding, which must agree. */
static int read_shape(struct session *session, const struct options *options,
                      const struct argument *argument, struct shape *shape)
{
    struct shape type = {0};
    const char *problem =
        options->shape != NULL ? shape_parse(session, options->shape, shape) : NULL;
    if (problem != NULL) {
        return complain("--shape '%s': %s", options->shape, problem);
    }
    int code = argument->typed ? read_type(session, argument, &type) : EXIT_FINE;
    if (code != EXIT_FINE || !argument->typed) {
        return code;
    }
    if (options->shape == NULL) {
        *shape = type;
        return EXIT_FINE;
    }
    return add_type(session, &type, shape);
}

static int read_dtype(struct session *session, const struct options *options, struct shape *shape)
{
    tsr_dtype dtype;
    tsr_status status = tsr_dtype_parse(session->ctx, options->dtype, &dtype);
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    const char *first = options->shape != NULL ? "--shape" : "the type after the sharding";
    return add_dtype(shape, first, dtype, "--dtype");
}

int show_input(struct session *session, const struct options *options, struct facts *facts)
{
    struct argument argument = take_apart(options->sharding);
    facts->has_shape = options->shape != NULL || argument.typed;
    int code = read_shape(session, options, &argument, &facts->shape);
    if (code == EXIT_FINE && options->dtype != NULL) {
        code = read_dtype(session, options, &facts->shape);
    }
    return code == EXIT_FINE ? read_sharding(session, options, &argument, facts) : code;
}
