#include "layout_input.h"

#include <ctype.h>
#include <string.h>

#include "command.h"
#include "mesh_name.h"

/* Whether a message or one of its notes says something; the library knows no options. */
static bool says(const tsr_diagnostic *diagnostic, const char *words)
{
    for (; diagnostic != NULL; diagnostic = diagnostic->next) {
        if (strstr(diagnostic->text, words) != NULL || says(diagnostic->notes, words)) {
            return true;
        }
    }
    return false;
}

int layout_fail(const struct layout_input *input, bool has_shape, tsr_status status)
{
    const int code = session_fail(input->session, status);
    const tsr_diagnostic *messages = tsr_context_diagnostics(input->session->ctx);
    if (!has_shape && input->has_shape_option && says(messages, "give the shape")) {
        fputs("note: give it with --shape, such as --shape 4x8\n", stderr);
    }
    if (input->mesh == NULL &&
        (says(messages, "does not name a mesh") || says(messages, "give a mesh"))) {
        fprintf(stderr, "note: %s: add --mesh x=2,y=4\n",
                input->no_mesh != NULL ? input->no_mesh : "it needs a mesh");
    }
    return code;
}

/*
 * Moves a text past `@name =` and gives the name, NULL when it does not start with one. Programs
 * name their meshes outside of the attribute that the strict reading takes; the lenient one reads
 * the name, before a mesh that stands for the real one.
 */
static tsr_status take_name(struct session *session, tsr_text *text, const char **out)
{
    const size_t end = mesh_name_end(text->data);
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
static tsr_status read_named(const struct layout_input *input, tsr_text *text, const tsr_mesh **out)
{
    struct session *session = input->session;
    const char *name = NULL;
    tsr_status status = input->strict ? take_name(session, text, &name) : TSR_OK;
    if (status == TSR_OK) {
        status = tsr_mesh_read(session->ctx, session->arena, text,
                               input->strict ? TSR_READ_PROGRAM : TSR_READ_LENIENT, out);
    }
    if (status != TSR_OK || name == NULL) {
        return status;
    }
    return tsr_mesh_rename(session->ctx, session->arena, *out, name, out);
}

/* Reads a mesh and refuses what follows it. */
static int read_mesh(const struct layout_input *input, const char *string, const tsr_mesh **out)
{
    tsr_text text = tsr_text_of("<mesh>", string);
    const tsr_status status = read_named(input, &text, out);
    if (status != TSR_OK) {
        return session_fail(input->session, status);
    }
    while (isspace((unsigned char)text.data[text.at])) {
        text.at++;
    }
    return text.at >= text.size
               ? EXIT_FINE
               : session_fail_at(input->session, &text, text.at, text.size - text.at,
                                 "unexpected text after the mesh");
}

int layout_mesh(struct layout_input *input, const char *text)
{
    return text != NULL ? read_mesh(input, text, &input->mesh) : EXIT_FINE;
}

/* Adds a mesh to the table; one without a name is called "mesh". */
static int add_mesh(struct layout_input *input, const tsr_mesh *mesh)
{
    struct session *session = input->session;
    tsr_status status = TSR_OK;
    if (tsr_mesh_name(mesh) == NULL) {
        status = tsr_mesh_rename(session->ctx, session->arena, mesh, "mesh", &mesh);
    }
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    const char *name = tsr_mesh_name(mesh);
    const bool taken = tsr_mesh_table_find(input->meshes, name, strlen(name)) != NULL;
    status = tsr_mesh_table_add(session->ctx, input->meshes, mesh);
    if (status == TSR_OK) {
        input->mesh = input->mesh == NULL ? mesh : input->mesh;
        return EXIT_FINE;
    }
    const int code = session_fail(session, status);
    if (taken) { /* two of one name are most often two without one */
        fputs("note: give each mesh its own name: --mesh '@other = <[\"x\"=2]>'; the default name "
              "is mesh\n",
              stderr);
    }
    return code;
}

/* One mesh without a name goes by any, unless the reading is strict. */
static bool goes_by_any_name(const struct layout_input *input, const tsr_mesh *mesh, size_t count)
{
    return count == 1 && tsr_mesh_name(mesh) == NULL && !input->strict;
}

int layout_meshes(struct layout_input *input, const char *const *texts, size_t count)
{
    struct session *session = input->session;
    bool any_name = false;
    const tsr_status status = tsr_mesh_table_create(session->ctx, session->arena, &input->meshes);
    int code = status == TSR_OK ? EXIT_FINE : session_fail(session, status);
    for (size_t i = 0; i < count && code == EXIT_FINE; i++) {
        const tsr_mesh *mesh = NULL;
        code = read_mesh(input, texts[i], &mesh);
        if (code == EXIT_FINE) {
            any_name = goes_by_any_name(input, mesh, count);
            code = add_mesh(input, mesh);
        }
    }
    input->meshes = any_name ? NULL : input->meshes;
    return code;
}

int layouts_read(const struct layout_input *input, const char *text, const tsr_shape *shape,
                 const tsr_layout **out, size_t *count)
{
    struct session *session = input->session;
    tsr_dialect dialect = TSR_DIALECT_SDY;
    tsr_text pasted = tsr_text_of("<sharding>", text);
    tsr_layout_reader reader = {
        .sharding = {.meshes = input->meshes,
                     .mesh = input->mesh,
                     .reading = input->strict ? TSR_READ_PROGRAM : TSR_READ_LENIENT,
                     .flags = input->no_sub_axes ? TSR_SHARDING_NO_SUB_AXES : TSR_SHARDING_DEFAULT,
                     .rank = shape != NULL ? (int64_t)shape->rank : -1,
                     .shape = shape != NULL ? shape->extents : NULL}};
    tsr_status status = TSR_OK;
    if (input->dialect != NULL) {
        reader.dialect = &dialect;
        status = tsr_dialect_parse(session->ctx, input->dialect, &dialect);
    }
    if (status == TSR_OK) {
        status = tsr_layouts_read(session->ctx, session->arena, &pasted, &reader, out, count);
    }
    return status == TSR_OK ? EXIT_FINE : layout_fail(input, shape != NULL, status);
}

/* Whether a type in the text says another shape than the one that is known. */
static bool differs(const tsr_layout *layout, const tsr_shape *shape)
{
    return layout->has_shape && shape != NULL &&
           (layout->shape.rank != shape->rank || memcmp(layout->shape.extents, shape->extents,
                                                        shape->rank * sizeof *shape->extents) != 0);
}

int layout_read(struct layout_input *input, const char *option, const char *text,
                const tsr_shape *shape, const tsr_sharding **out)
{
    const tsr_layout *list = NULL;
    size_t count = 0;
    const int code = layouts_read(input, text, shape, &list, &count);
    if (code != EXIT_FINE) {
        return code;
    }
    if (count != 1) {
        return complain("%s: the text has %zu shardings: give one of them; `tessera show' shows "
                        "them all, or one with --value",
                        option, count);
    }
    if (differs(&list[0], shape)) {
        return complain("%s: the shapes of the type in the text and of the tensor differ", option);
    }
    *out = list[0].sharding;
    input->mesh = input->mesh == NULL ? tsr_sharding_mesh(*out) : input->mesh;
    return EXIT_FINE;
}
