#include "propagate/workspace.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"

static tsr_status make(workspace *w)
{
    TSR_TRY(tsr_arena_create(w->ctx, &w->arena));
    TSR_TRY(tsr_arena_create(w->ctx, &w->scratch));
    return interned_engine(w->ctx, w->p, &w->engine);
}

tsr_status workspace_start(tsr_context *ctx, tsr_program *p, workspace *out)
{
    *out = (workspace){.ctx = ctx, .p = p};
    const tsr_status status = make(out);
    if (status < 0) {
        workspace_end(out);
    }
    return status;
}

void workspace_end(workspace *w)
{
    tsr_arena_destroy(w->scratch);
    tsr_arena_destroy(w->arena);
}

tsr_status workspace_do(tsr_context *ctx, tsr_program *p, tsr_status (*work)(workspace *w))
{
    workspace w;
    TSR_TRY(workspace_start(ctx, p, &w));
    const tsr_status status = work(&w);
    workspace_end(&w);
    return status;
}

uint64_t *workspace_entry(workspace *w, map *table, const void *key, size_t size)
{
    uint64_t *known = map_find(table, key, size);
    if (known == NULL) {
        const char *kept = arena_copy(w->arena, key, 1, size);
        known = kept != NULL ? map_insert(table, kept, size) : NULL;
    }
    return known;
}

/* ---- shardings and attributes ---- */

static tsr_status empty_sharding(workspace *w, const tsr_mesh *mesh, uint32_t type, bool open,
                                 const tsr_sharding **out)
{
    const type_head *head = program_type(w->p, type);
    const size_t rank = head->kind == TYPE_TENSOR ? head->count : 0;
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    tsr_dim *dims = ARENA_ARRAY(w->scratch, tsr_dim, rank + 1);
    if (dims == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < rank; i++) {
        dims[i] = tsr_dim_closed(NULL, 0);
        dims[i].open = open;
    }
    const tsr_sharding empty = {.mesh = mesh, .rank = rank, .dims = dims};
    const tsr_status status = engine_intern(w->engine, &empty, out);
    tsr_arena_reset(w->scratch, mark);
    return status;
}

tsr_status open_sharding(workspace *w, const tsr_mesh *mesh, uint32_t type,
                         const tsr_sharding **out)
{
    return empty_sharding(w, mesh, type, true, out);
}

tsr_status closed_sharding(workspace *w, const tsr_mesh *mesh, uint32_t type,
                           const tsr_sharding **out)
{
    return empty_sharding(w, mesh, type, false, out);
}

tsr_status sharding_list_attr(workspace *w, const tsr_sharding *const *shardings,
                              const uint32_t *types, size_t count, uint32_t *out)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    uint32_t *attrs = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    const tsr_mesh *mesh = NULL;
    if (attrs == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        if (shardings[i] != NULL && (mesh == NULL || tsr_mesh_is_maximal(mesh))) {
            mesh = shardings[i]->mesh;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const tsr_sharding *sharding = shardings[i];
        if (sharding == NULL) {
            TSR_TRY(open_sharding(w, mesh, types[i], &sharding));
        }
        TSR_TRY(sharding_attr(w, sharding, &attrs[i]));
    }
    const tsr_status status = attr_sharding_list(w->p, attrs, count, out);
    tsr_arena_reset(w->scratch, mark);
    return status;
}

tsr_status sharding_list_at(workspace *w, uint32_t attr, size_t count, const tsr_sharding ***out)
{
    *out = ARENA_ARRAY(w->scratch, const tsr_sharding *, count + 1);
    if (*out == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        (*out)[i] = NULL;
        if (attr_is(w->p, attr, ATTR_SDY) && i < program_attr(w->p, attr)->count) {
            TSR_TRY(sharding_at(w, attr_list(program_attr(w->p, attr))[i], &(*out)[i]));
        }
    }
    return TSR_OK;
}

tsr_status function_shardings(workspace *w, uint32_t func, const char *list, uint32_t *out)
{
    const tsr_program *p = w->p;
    const type_head *type = function_type(p, func);
    const bool results = list[0] == 'r';
    const size_t count = results ? type->count - type->inputs : type->inputs;
    const uint32_t *types = type_list(type) + (results ? type->inputs : 0);
    const tsr_sharding **shardings = ARENA_ARRAY(w->scratch, const tsr_sharding *, count + 1);
    bool any = false;
    *out = 0;
    if (shardings == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t attr = dict_get(p, function_dict(p, func, list, i), "sdy.sharding");
        TSR_TRY(sharding_at(w, attr, &shardings[i]));
        any = any || (shardings[i] != NULL && !tsr_mesh_is_maximal(shardings[i]->mesh));
    }
    return any ? sharding_list_attr(w, shardings, types, count, out) : TSR_OK;
}

/* ---- writing ---- */

static tsr_status set_result(workspace *w, uint32_t op, uint32_t index, uint32_t attr)
{
    tsr_program *p = w->p;
    const ir_row *row = program_row(p, op);
    const char *property = row != NULL ? row->result_sharding : NULL;
    const uint32_t had =
        property != NULL ? op_property(p, op, property) : op_attribute(p, op, "sdy.sharding");
    const uint32_t count = program_op(p, op)->num_results;
    if (property != NULL &&
        row_prop(row, (slice){property, strlen(property)})->row == SDY_SHARDING) {
        return op_set_property(p, op, property, attr);
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    const tsr_sharding **shardings = NULL;
    uint32_t *types = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    uint32_t list = 0;
    if (types == NULL) {
        return diag_nomem(w->ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        types[i] = value_type(p, op_result(p, op, i));
    }
    TSR_TRY(sharding_list_at(w, had, count, &shardings));
    TSR_TRY(sharding_at(w, attr, &shardings[index]));
    TSR_TRY(sharding_list_attr(w, shardings, types, count, &list));
    tsr_arena_reset(w->scratch, mark);
    return property != NULL ? op_set_property(p, op, property, list)
                            : op_set_attribute(p, op, "sdy.sharding", list);
}

tsr_status value_set_sharding(workspace *w, uint32_t value, uint32_t attr)
{
    return set_result(w, value_op(w->p, value), program_value(w->p, value)->index, attr);
}
