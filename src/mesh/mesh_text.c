/* Meshes as text. */
#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/guard.h"
#include "mesh/mesh.h"

static const char axes_failed[] = "failed to parse Sdy_Mesh parameter 'axes' which is to be a "
                                  "`::llvm::ArrayRef<MeshAxisAttr>`";
static const char name_failed[] =
    "failed to parse Sdy_MeshAxis parameter 'name' which is to be a `::llvm::StringRef`";
static const char size_failed[] =
    "failed to parse Sdy_MeshAxis parameter 'size' which is to be a `int64_t`";
static const char ids_failed[] = "failed to parse Sdy_Mesh parameter 'device_ids' which is to be a "
                                 "`::llvm::ArrayRef<int64_t>`";

/* Ids beyond this many are printed as a transposed iota. */
enum { MAX_LISTED = 1 << 20 };

/* The parts of a mesh while it is read. */
typedef struct mesh_parts {
    const char **names;
    int64_t *sizes;
    size_t num_axes;
    size_t names_capacity;
    size_t sizes_capacity;
    size_t num_sizes;
    int64_t *ids;
    size_t num_ids;
    int64_t *iota_dims;
    size_t num_iota_dims;
    int64_t *iota_perm;
} mesh_parts;

tsr_status mesh_name_copy(lexer *lex, slice name, location where, const char **out)
{
    if (name.size > 0 && memchr(name.data, '\0', name.size) != NULL) {
        return diag_error(lex->ctx, TSR_ERR_SYNTAX, where, "a name cannot contain a zero byte");
    }
    *out = arena_string(lex->arena, name.data, name.size);
    return *out != NULL ? TSR_OK : diag_nomem(lex->ctx);
}

static tsr_status read_axis(lexer *lex, mesh_parts *parts)
{
    const location where = lex_here(lex);
    slice name;
    const char *copy;
    int64_t size;
    if (lex_string(lex, &name) < 0) {
        return lex_follow_up(lex, name_failed);
    }
    TSR_TRY(mesh_name_copy(lex, name, where, &copy));
    TSR_TRY(lex_expect(lex, '='));
    if (lex_integer(lex, &size) < 0) {
        return lex_follow_up(lex, size_failed);
    }
    if (size < 1) {
        return diag_error(lex->ctx, TSR_ERR_INVALID, where,
                          "axis size must be at least 1, got: %lld", (long long)size);
    }
    TSR_TRY(LEX_PUSH(lex, parts->names, parts->num_axes, parts->names_capacity, copy));
    return LEX_PUSH(lex, parts->sizes, parts->num_sizes, parts->sizes_capacity, size);
}

/* `"x"=2, "y"=4` up to the closing mark, which is left. */
static tsr_status read_axes(lexer *lex, int closing, mesh_parts *parts)
{
    if (lex_is(lex, closing)) {
        return TSR_OK;
    }
    do {
        if (read_axis(lex, parts) < 0) {
            return lex_follow_up(lex, axes_failed);
        }
    } while (lex_accept(lex, ','));
    return TSR_OK;
}

/* `T(1, 0)` after the dimensions of an iota, if present. */
static tsr_status read_transposition(lexer *lex, mesh_parts *parts)
{
    if (!lex_accept_word(lex, "T")) {
        return TSR_OK;
    }
    const location where = lex_here(lex);
    int64_t *perm = NULL;
    size_t count = 0;
    size_t capacity = 0;
    TSR_TRY(lex_expect(lex, '('));
    do {
        int64_t value;
        TSR_TRY(lex_integer(lex, &value));
        TSR_TRY(LEX_PUSH(lex, perm, count, capacity, value));
    } while (lex_accept(lex, ','));
    TSR_TRY(lex_expect(lex, ')'));
    if (count != parts->num_iota_dims) {
        return diag_error(lex->ctx, TSR_ERR_SYNTAX, where,
                          "the transposition has %zu entries for an iota of %zu dimensions", count,
                          parts->num_iota_dims);
    }
    parts->iota_perm = perm;
    return TSR_OK;
}

/* `[0, 2, 1, 3]`, with the reference's errors. */
static tsr_status read_id_list(lexer *lex, mesh_parts *parts)
{
    size_t capacity = 0;
    TSR_TRY(lex_expect(lex, '['));
    do {
        int64_t id;
        if (lex_integer(lex, &id) < 0) {
            return lex_follow_up(lex, ids_failed);
        }
        TSR_TRY(LEX_PUSH(lex, parts->ids, parts->num_ids, capacity, id));
    } while (lex_accept(lex, ','));
    return lex_expect(lex, ']');
}

/* `device_ids=[...]`, leniently also `device_ids<=[...]T(...)`. */
static tsr_status read_ids(lexer *lex, tsr_reading reading, mesh_parts *parts)
{
    TSR_TRY(lex_expect_word(lex, "device_ids"));
    if (reading == TSR_READ_LENIENT && lex_accept(lex, '<')) {
        TSR_TRY(lex_expect(lex, '='));
        TSR_TRY(lex_integers(lex, false, &parts->iota_dims, &parts->num_iota_dims));
        return read_transposition(lex, parts);
    }
    TSR_TRY(lex_expect(lex, '='));
    return read_id_list(lex, parts);
}

/* `<[...], device_ids=[...]>`, leniently also `<"devices"=8>`. */
static tsr_status read_angles(lexer *lex, tsr_reading reading, mesh_parts *parts)
{
    TSR_TRY(lex_expect(lex, '<'));
    if (reading == TSR_READ_LENIENT && lex_is(lex, TOKEN_STRING)) {
        TSR_TRY(read_axes(lex, '>', parts));
    } else {
        TSR_TRY(lex_expect(lex, '['));
        TSR_TRY(read_axes(lex, ']', parts));
        TSR_TRY(lex_expect(lex, ']'));
        if (lex_accept(lex, ',')) {
            TSR_TRY(read_ids(lex, reading, parts));
        }
    }
    return lex_expect(lex, '>');
}

/* The document's `{<[...]>, device_ids=[...]}`. */
static tsr_status read_braces(lexer *lex, mesh_parts *parts)
{
    TSR_TRY(lex_expect(lex, '{'));
    TSR_TRY(read_angles(lex, TSR_READ_LENIENT, parts));
    if (lex_accept(lex, ',')) {
        TSR_TRY(read_ids(lex, TSR_READ_LENIENT, parts));
    }
    return lex_expect(lex, '}');
}

/* What may precede the mesh: leniently `sdy.mesh @name =`; then `mesh` or `#sdy.mesh`. */
static tsr_status read_head(lexer *lex, tsr_reading reading, const char **name)
{
    if (reading == TSR_READ_LENIENT) {
        (void)lex_accept_word(lex, "sdy.mesh");
        if (lex_is(lex, TOKEN_AT)) {
            const location where = lex_here(lex);
            slice text;
            TSR_TRY(lex_at_name(lex, &text));
            TSR_TRY(mesh_name_copy(lex, text, where, name));
            TSR_TRY(lex_expect(lex, '='));
        }
    }
    if (reading == TSR_READ_LENIENT && mesh_python_follows(lex)) {
        return TSR_OK;
    }
    if (!lex_accept_hash(lex, "#sdy.mesh")) {
        (void)lex_accept_word(lex, "mesh");
    }
    return TSR_OK;
}

tsr_status mesh_read(lexer *lex, tsr_reading reading, const tsr_mesh **out)
{
    mesh_parts parts = {0};
    const char *name = NULL;
    TSR_TRY(read_head(lex, reading, &name));
    const location where = lex_here(lex);
    if (reading == TSR_READ_LENIENT && mesh_python_follows(lex)) {
        bool knows_devices;
        return mesh_python_read(lex, name, out, &knows_devices);
    }
    if (reading == TSR_READ_LENIENT && lex_is(lex, '{')) {
        TSR_TRY(read_braces(lex, &parts));
    } else {
        TSR_TRY(read_angles(lex, reading, &parts));
    }
    const tsr_mesh_spec spec = {.name = name,
                                .num_axes = parts.num_axes,
                                .axis_names = parts.names,
                                .axis_sizes = parts.sizes,
                                .num_device_ids = parts.num_ids,
                                .device_ids = parts.ids,
                                .num_iota_dims = parts.num_iota_dims,
                                .iota_dims = parts.iota_dims,
                                .iota_perm = parts.iota_perm};
    return mesh_build(lex->ctx, lex->arena, &spec, lex_span(lex, where.at), out);
}

tsr_status tsr_mesh_read(tsr_context *ctx, tsr_arena *arena, tsr_text *text, tsr_reading reading,
                         const tsr_mesh **out)
{
    GUARD(tsr_mesh_read);
    lexer lex = lex_start(ctx, arena, text);
    return mesh_read(&lex, reading, out);
}

tsr_status tsr_mesh_parse(tsr_context *ctx, tsr_arena *arena, const char *string,
                          const tsr_mesh **out)
{
    GUARD(tsr_mesh_parse);
    tsr_text text = tsr_text_of("<mesh>", string);
    lexer lex = lex_start(ctx, arena, &text);
    const tsr_mesh *mesh;
    TSR_TRY(mesh_read(&lex, TSR_READ_LENIENT, &mesh));
    if (!lex_is(&lex, TOKEN_END)) {
        return lex_error(&lex, lex_here(&lex), "expected the end of the mesh");
    }
    *out = mesh;
    return TSR_OK;
}

/* `device_ids<=[4, 2]T(1, 0)`: the digits sorted by what they are worth, and their places. */
static void print_iota(buffer *buf, const tsr_mesh *mesh)
{
    int64_t dims[MAX_DIGITS];
    int64_t perm[MAX_DIGITS];
    const size_t count = mesh->num_digits;
    for (size_t i = 0; i < count; i++) {
        size_t rank = 0;
        for (size_t j = 0; j < count; j++) {
            rank += mesh->digits[j].id_stride > mesh->digits[i].id_stride;
        }
        dims[rank] = mesh->digits[i].size;
        perm[i] = (int64_t)rank;
    }
    buffer_string(buf, "device_ids<=[");
    buffer_ints(buf, dims, count);
    buffer_string(buf, "]T(");
    buffer_ints(buf, perm, count);
    buffer_char(buf, ')');
}

static void print_ids(buffer *buf, const tsr_mesh *mesh)
{
    if (mesh->ids == NULL && mesh->num_devices > MAX_LISTED) {
        print_iota(buf, mesh);
        return;
    }
    buffer_string(buf, "device_ids=[");
    for (int64_t i = 0; i < mesh->num_devices; i++) {
        if (i > 0) {
            buffer_bytes(buf, ", ", 2);
        }
        buffer_int(buf, tsr_mesh_device_at(mesh, i));
    }
    buffer_char(buf, ']');
}

void mesh_print(buffer *buf, const tsr_mesh *mesh)
{
    buffer_bytes(buf, "<[", 2);
    for (size_t i = 0; i < mesh->num_axes; i++) {
        if (i > 0) {
            buffer_bytes(buf, ", ", 2);
        }
        buffer_quoted(buf, mesh->axis_names[i]);
        buffer_char(buf, '=');
        buffer_int(buf, mesh->sizes[i]);
    }
    buffer_char(buf, ']');
    if (mesh->maximal || !tsr_mesh_is_iota(mesh)) {
        buffer_bytes(buf, ", ", 2);
        print_ids(buf, mesh);
    }
    buffer_char(buf, '>');
}

tsr_status tsr_mesh_print(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                          const char **out)
{
    GUARD(tsr_mesh_print);
    buffer buf = buffer_new(arena);
    mesh_print(&buf, mesh);
    return buffer_finish(ctx, &buf, out);
}
