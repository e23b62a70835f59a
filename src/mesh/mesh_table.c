/* Meshes by name. */
#include "base/arena.h"
#include "base/guard.h"
#include "base/intern.h"
#include "mesh/mesh.h"

/* The number of an interned name is the index of its mesh. */
struct tsr_mesh_table {
    interner names;
    const tsr_mesh **meshes;
    size_t capacity;
};

tsr_status tsr_mesh_table_create(tsr_context *ctx, tsr_arena *arena, tsr_mesh_table **out)
{
    GUARD(tsr_mesh_table_create);
    tsr_mesh_table *table = ARENA_NEW(arena, tsr_mesh_table);
    if (table == NULL) {
        return diag_nomem(ctx);
    }
    *table = (tsr_mesh_table){.names = interner_new(arena)};
    *out = table;
    return TSR_OK;
}

static bool reserve(tsr_mesh_table *table)
{
    const size_t count = table->names.count;
    if (count < table->capacity) {
        return true;
    }
    const size_t capacity = count < 4 ? 4 : count * 2;
    const tsr_mesh **grown = ARENA_ARRAY(table->names.arena, const tsr_mesh *, capacity);
    if (grown == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(grown, table->meshes, count * sizeof *grown);
    }
    table->meshes = grown;
    table->capacity = capacity;
    return true;
}

tsr_status tsr_mesh_table_add(tsr_context *ctx, tsr_mesh_table *table, const tsr_mesh *mesh)
{
    GUARD(tsr_mesh_table_add);
    if (mesh->name == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "a mesh in a table needs a name");
    }
    const size_t length = strlen(mesh->name);
    size_t id;
    if (intern_find(&table->names, mesh->name, length, &id)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "redefinition of symbol named '%s'",
                          mesh->name);
    }
    if (!reserve(table) || !intern(&table->names, mesh->name, length, &id)) {
        return diag_nomem(ctx);
    }
    table->meshes[id] = mesh;
    return TSR_OK;
}

const tsr_mesh *tsr_mesh_table_find(const tsr_mesh_table *table, const char *name, size_t length)
{
    GUARD(tsr_mesh_table_find);
    size_t id;
    return intern_find(&table->names, name, length, &id) ? table->meshes[id] : NULL;
}

size_t tsr_mesh_table_count(const tsr_mesh_table *table)
{
    GUARD(tsr_mesh_table_count);
    return table->names.count;
}

const tsr_mesh *tsr_mesh_table_at(const tsr_mesh_table *table, size_t index)
{
    GUARD(tsr_mesh_table_at);
    return index < table->names.count ? table->meshes[index] : NULL;
}
