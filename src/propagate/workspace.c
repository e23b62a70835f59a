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

tsr_status with_workspace(tsr_context *ctx, tsr_program *p, tsr_status (*work)(workspace *w))
{
    workspace w;
    TSR_TRY(workspace_start(ctx, p, &w));
    const tsr_status status = work(&w);
    workspace_end(&w);
    return status;
}

uint64_t *table_entry(workspace *w, map *table, const void *key, size_t size)
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

bool is_replicated(const tsr_sharding *s)
{
    for (size_t d = 0; s != NULL && d < s->rank; d++) {
        if (s->dims[d].num_axes > 0) {
            return false;
        }
    }
    return true;
}

bool is_equivalent(const tsr_sharding *a, const tsr_sharding *b)
{
    const bool plain_a = is_replicated(a) && (a == NULL || a->num_unreduced == 0);
    const bool plain_b = is_replicated(b) && (b == NULL || b->num_unreduced == 0);
    if (plain_a || plain_b) {
        return plain_a && plain_b;
    }
    return tsr_sharding_equivalent(a, b, false);
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

/* ---- rewriting ---- */

static bool is_sdy(const tsr_program *p, uint32_t attr, sdy_attr row)
{
    return attr_is(p, attr, ATTR_SDY) && program_attr(p, attr)->row == row;
}

static tsr_status rewrite_list(workspace *w, sharding_rewrite rewrite, void *state, uint32_t attr,
                               uint32_t *out)
{
    const uint32_t count = program_attr(w->p, attr)->count;
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    uint32_t *attrs = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    if (attrs == NULL) {
        return diag_nomem(w->ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        TSR_TRY(rewrite(w, state, attr_list(program_attr(w->p, attr))[i], &attrs[i]));
    }
    const tsr_status status = attr_sharding_list(w->p, attrs, count, out);
    tsr_arena_reset(w->scratch, mark);
    return status;
}

/* All shardings that are entries of a dictionary. */
static tsr_status rewrite_dict(workspace *w, sharding_rewrite rewrite, void *state, uint32_t *dict)
{
    tsr_program *p = w->p;
    for (size_t i = 0; i < dict_size(p, *dict); i++) {
        const attr_entry entry = attr_entries(program_attr(p, *dict))[i];
        uint32_t attr = entry.value;
        if (is_sdy(p, attr, SDY_SHARDING)) {
            TSR_TRY(rewrite(w, state, attr, &attr));
        } else if (is_sdy(p, attr, SDY_SHARDING_PER_VALUE)) {
            TSR_TRY(rewrite_list(w, rewrite, state, attr, &attr));
        }
        if (attr != entry.value) {
            TSR_TRY(dict_set(p, *dict, string_at(p, entry.name).data, attr, dict));
        }
    }
    return TSR_OK;
}

static tsr_status rewrite_func(workspace *w, sharding_rewrite rewrite, void *state, uint32_t func,
                               const char *list)
{
    tsr_program *p = w->p;
    const uint32_t attr = op_property(p, func, list);
    uint32_t array = 0;
    if (!attr_is(p, attr, ATTR_ARRAY)) {
        return TSR_OK;
    }
    const uint32_t count = program_attr(p, attr)->count;
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    uint32_t *dicts = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    if (dicts == NULL) {
        return diag_nomem(w->ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        dicts[i] = attr_list(program_attr(p, attr))[i];
        TSR_TRY(rewrite_dict(w, rewrite, state, &dicts[i]));
        TSR_TRY(dict_value(p, dicts[i], &dicts[i]));
    }
    TSR_TRY(attr_array(p, dicts, count, &array));
    tsr_arena_reset(w->scratch, mark);
    return array != attr ? op_set_property(p, func, list, array) : TSR_OK;
}

tsr_status rewrite_shardings(workspace *w, sharding_rewrite rewrite, void *state)
{
    tsr_program *p = w->p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, OP_FUNC_FUNC)) {
            TSR_TRY(rewrite_func(w, rewrite, state, op, "arg_attrs"));
            TSR_TRY(rewrite_func(w, rewrite, state, op, "res_attrs"));
        }
        uint32_t properties = program_op(p, op)->properties;
        uint32_t attributes = program_op(p, op)->attributes;
        TSR_TRY(rewrite_dict(w, rewrite, state, &properties));
        TSR_TRY(rewrite_dict(w, rewrite, state, &attributes));
        op_set_dicts(p, op, properties, attributes);
    }
    return TSR_OK;
}

/* ---- ops ---- */

tsr_status replace_op(workspace *w, uint32_t old, op_kind kind, size_t num_regions,
                      uint32_t properties, uint32_t attributes, uint32_t *out)
{
    tsr_program *p = w->p;
    const ir_op *o = program_op(p, old);
    const uint32_t num_operands = o->num_operands;
    const uint32_t num_results = o->num_results;
    uint32_t *list = ARENA_ARRAY(w->scratch, uint32_t, num_operands + num_results + 1);
    if (list == NULL) {
        return diag_nomem(w->ctx);
    }
    for (uint32_t i = 0; i < num_operands; i++) {
        list[i] = op_operand(p, old, i);
    }
    for (uint32_t i = 0; i < num_results; i++) {
        list[num_operands + i] = value_type(p, op_result(p, old, i));
    }
    const op_spec spec = {.kind = kind,
                          .operands = list,
                          .num_operands = num_operands,
                          .types = list + num_operands,
                          .num_results = num_results,
                          .num_regions = num_regions,
                          .properties = properties,
                          .attributes = attributes,
                          .like = old};
    TSR_TRY(op_create(p, &spec, out));
    op_insert_before(p, *out, old);
    return TSR_OK;
}

void take_results(tsr_program *p, uint32_t old, uint32_t now)
{
    for (uint32_t i = 0; i < program_op(p, old)->num_results; i++) {
        value_replace_uses(p, op_result(p, old, i), op_result(p, now, i), 0);
    }
    op_erase(p, old);
}
