#include "transform/rewrite.h"

#include "base/arena.h"

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
