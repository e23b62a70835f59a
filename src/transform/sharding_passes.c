/* Passes that rewrite shardings one by one, and passes that only take ops or attributes away. */
#include <string.h>

#include "base/arena.h"
#include "mesh/mesh.h"
#include "propagate/workspace.h"
#include "transform/passes.h"
#include "transform/rewrite.h"

/* A sharding to be changed: dimensions of its own, in the scratch. */
static tsr_status open_copy(workspace *w, uint32_t attr, tsr_sharding *out, tsr_dim **dims)
{
    const tsr_sharding *sharding = NULL;
    TSR_TRY(sharding_at(w, attr, &sharding));
    *dims = arena_copy(w->scratch, sharding->dims, sharding->rank, sizeof **dims);
    if (*dims == NULL) {
        return diag_nomem(w->ctx);
    }
    *out = *sharding;
    out->dims = *dims;
    return TSR_OK;
}

static tsr_status finish_copy(workspace *w, const tsr_sharding *sharding, uint32_t *out)
{
    const tsr_sharding *one = NULL;
    TSR_TRY(engine_intern(w->engine, sharding, &one));
    return sharding_attr(w, one, out);
}

/* ---- closing ---- */

static tsr_status close_one(workspace *w, void *state, uint32_t attr, uint32_t *out)
{
    tsr_sharding sharding;
    tsr_dim *dims = NULL;
    (void)state;
    TSR_TRY(open_copy(w, attr, &sharding, &dims));
    for (size_t d = 0; d < sharding.rank; d++) {
        dims[d].open = false;
    }
    sharding.num_replicated = 0;
    return finish_copy(w, &sharding, out);
}

static tsr_status close_shardings(workspace *w)
{
    return rewrite_shardings(w, close_one, NULL);
}

/* ---- axes of size 1 ---- */

static size_t drop_ones(const tsr_mesh *mesh, const tsr_axis_ref *axes, size_t count,
                        tsr_axis_ref *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (tsr_mesh_axis_size(mesh, (size_t)axes[i].axis) != 1) {
            out[kept++] = axes[i];
        }
    }
    return kept;
}

static tsr_status keep_larger(workspace *w, const tsr_mesh *mesh, const tsr_axis_ref **axes,
                              size_t *count)
{
    tsr_axis_ref *kept = ARENA_ARRAY(w->scratch, tsr_axis_ref, *count + 1);
    if (kept == NULL) {
        return diag_nomem(w->ctx);
    }
    *count = drop_ones(mesh, *axes, *count, kept);
    *axes = kept;
    return TSR_OK;
}

static tsr_status remove_ones_from(workspace *w, void *state, uint32_t attr, uint32_t *out)
{
    tsr_sharding sharding;
    tsr_dim *dims = NULL;
    (void)state;
    TSR_TRY(open_copy(w, attr, &sharding, &dims));
    for (size_t d = 0; d < sharding.rank; d++) {
        TSR_TRY(keep_larger(w, sharding.mesh, &dims[d].axes, &dims[d].num_axes));
        if (dims[d].num_axes == 0 && !dims[d].open) {
            dims[d].priority = TSR_NO_PRIORITY;
        }
    }
    TSR_TRY(keep_larger(w, sharding.mesh, &sharding.replicated, &sharding.num_replicated));
    TSR_TRY(keep_larger(w, sharding.mesh, &sharding.unreduced, &sharding.num_unreduced));
    return finish_copy(w, &sharding, out);
}

/* Whether a mesh of the module has an axis of size 1. */
static tsr_status has_one(workspace *w, bool *out)
{
    tsr_program *p = w->p;
    *out = false;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        slice name;
        const tsr_mesh *mesh = NULL;
        if (!op_is(p, op, OP_SDY_MESH) ||
            !attr_as_string(p, op_property(p, op, "sym_name"), &name)) {
            continue;
        }
        TSR_TRY(program_mesh(w->ctx, p, op, name, &mesh));
        for (size_t i = 0; mesh != NULL && i < tsr_mesh_num_axes(mesh); i++) {
            *out = *out || tsr_mesh_axis_size(mesh, i) == 1;
        }
    }
    return TSR_OK;
}

static tsr_status remove_ones(workspace *w)
{
    bool found = false;
    TSR_TRY(has_one(w, &found));
    return found ? rewrite_shardings(w, remove_ones_from, NULL) : TSR_OK;
}

/* ---- inputs and outputs ---- */

/* What a pass makes of a sharding of a value of some type. */
typedef tsr_status (*value_rewrite)(workspace *w, const tsr_sharding *sharding, uint32_t type,
                                    const tsr_sharding **out);

static tsr_status rewrite_list(workspace *w, uint32_t attr, const uint32_t *types, size_t count,
                               value_rewrite rewrite, uint32_t *out)
{
    const tsr_sharding **shardings = NULL;
    TSR_TRY(sharding_list_at(w, attr, count, &shardings));
    for (size_t i = 0; i < count; i++) {
        if (shardings[i] != NULL) {
            TSR_TRY(rewrite(w, shardings[i], types[i], &shardings[i]));
        }
    }
    return sharding_list_attr(w, shardings, types, count, out);
}

static tsr_status rewrite_func_list(workspace *w, uint32_t func, const char *list,
                                    const uint32_t *types, size_t count, value_rewrite rewrite)
{
    const tsr_program *p = w->p;
    uint32_t *attrs = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    bool any = false;
    if (attrs == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        const tsr_sharding *sharding = NULL;
        attrs[i] = dict_get(p, function_dict(p, func, list, i), "sdy.sharding");
        if (attrs[i] != 0) {
            TSR_TRY(sharding_at(w, attrs[i], &sharding));
            TSR_TRY(rewrite(w, sharding, types[i], &sharding));
            TSR_TRY(sharding_attr(w, sharding, &attrs[i]));
            any = true;
        }
    }
    return any ? function_set_dicts(w->ctx, w->p, func, list, "sdy.sharding", attrs, count)
               : TSR_OK;
}

static tsr_status rewrite_signature(workspace *w, uint32_t func, value_rewrite rewrite)
{
    const type_head *type = function_type(w->p, func);
    const uint32_t *types = type_list(type);
    TSR_TRY(rewrite_func_list(w, func, "arg_attrs", types, type->inputs, rewrite));
    return rewrite_func_list(w, func, "res_attrs", types + type->inputs, type->count - type->inputs,
                             rewrite);
}

/* Before the first sub-axis, where the dimension is open. */
static tsr_status without_sub_axes(workspace *w, const tsr_sharding *sharding, uint32_t type,
                                   const tsr_sharding **out)
{
    tsr_sharding copy = *sharding;
    tsr_dim *dims = arena_copy(w->scratch, sharding->dims, sharding->rank, sizeof *dims);
    (void)type;
    if (dims == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t d = 0; d < copy.rank; d++) {
        size_t count = 0;
        while (count < dims[d].num_axes && dims[d].axes[count].is_sub == 0) {
            count++;
        }
        dims[d].num_axes = dims[d].open ? count : dims[d].num_axes;
    }
    copy.dims = dims;
    return engine_intern(w->engine, &copy, out);
}

static tsr_status remove_sub_axes(workspace *w)
{
    const uint32_t func = function_main(w->p);
    return func != 0 ? rewrite_signature(w, func, without_sub_axes) : TSR_OK;
}

/* Leaves a dimension only the axes, or the part of one, that divide its size. */
static tsr_status divide_dim(workspace *w, tsr_dim *dim, int64_t size)
{
    tsr_axis_ref *axes = ARENA_ARRAY(w->scratch, tsr_axis_ref, dim->num_axes + 1);
    const int64_t shards = tsr_axes_size(dim->axes, dim->num_axes);
    int64_t rest = size;
    size_t count = 0;
    if (axes == NULL) {
        return diag_nomem(w->ctx);
    }
    if (shards == 0 || size % shards == 0 || dim->ragged != NULL) {
        return TSR_OK;
    }
    for (size_t i = 0; i < dim->num_axes; i++) {
        const int64_t part = gcd_i64(dim->axes[i].size, rest);
        if (part == 1) {
            break;
        }
        axes[count++] = part == dim->axes[i].size
                            ? dim->axes[i]
                            : tsr_axis_sub((size_t)dim->axes[i].axis, dim->axes[i].pre, part);
        if (part != dim->axes[i].size) {
            break;
        }
        rest /= part;
    }
    dim->axes = axes;
    dim->num_axes = count;
    dim->priority = TSR_NO_PRIORITY;
    return TSR_OK;
}

static tsr_status divide(workspace *w, const tsr_sharding *sharding, uint32_t type,
                         const tsr_sharding **out)
{
    *out = sharding;
    if (!type_is_static(w->p, type) || program_type(w->p, type)->count != sharding->rank) {
        return TSR_OK;
    }
    const int64_t *extents = type_extents(program_type(w->p, type));
    tsr_sharding copy = *sharding;
    tsr_dim *dims = arena_copy(w->scratch, sharding->dims, sharding->rank, sizeof *dims);
    if (dims == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t d = 0; d < copy.rank; d++) {
        TSR_TRY(divide_dim(w, &dims[d], extents[d]));
    }
    copy.dims = dims;
    return engine_intern(w->engine, &copy, out);
}

static tsr_status divide_results(workspace *w, uint32_t op, const char *property)
{
    tsr_program *p = w->p;
    const uint32_t attr =
        property != NULL ? op_property(p, op, property) : op_attribute(p, op, "sdy.sharding");
    const uint32_t count = program_op(p, op)->num_results;
    uint32_t *types = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    uint32_t list = 0;
    if (types == NULL) {
        return diag_nomem(w->ctx);
    }
    if (attr == 0) {
        return TSR_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        types[i] = value_type(p, op_result(p, op, i));
    }
    TSR_TRY(rewrite_list(w, attr, types, count, divide, &list));
    return property != NULL ? op_set_property(p, op, property, list)
                            : op_set_attribute(p, op, "sdy.sharding", list);
}

/* Arguments of the body: what they see of their sharding, against their own shape. */
static tsr_status divide_arguments(workspace *w, uint32_t op)
{
    tsr_program *p = w->p;
    const uint32_t block = op_entry_block(p, op, 0);
    const uint32_t count = block != 0 ? program_block(p, block)->num_arguments : 0;
    const tsr_sharding **shardings = NULL;
    uint32_t *types = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    uint32_t list = 0;
    if (types == NULL) {
        return diag_nomem(w->ctx);
    }
    TSR_TRY(sharding_list_at(w, op_property(p, op, "in_shardings"), count, &shardings));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t argument = block_argument(p, block, i);
        const tsr_sharding *inside = NULL;
        types[i] = value_type(p, argument);
        if (shardings[i] != NULL) {
            TSR_TRY(edge_argument_inside(w, argument, shardings[i], &inside));
            TSR_TRY(divide(w, inside, types[i], &inside));
            TSR_TRY(edge_argument_outside(w, argument, inside, &shardings[i]));
        }
    }
    if (count == 0) {
        return TSR_OK;
    }
    TSR_TRY(sharding_list_attr(w, shardings, types, count, &list));
    return op_set_property(p, op, "in_shardings", list);
}

static tsr_status divide_all(workspace *w)
{
    tsr_program *p = w->p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
        if (op_is(p, op, OP_FUNC_FUNC)) {
            TSR_TRY(rewrite_signature(w, op, divide));
        } else if (op_is(p, op, OP_FUNC_CALL)) {
            TSR_TRY(divide_results(w, op, NULL));
        } else if (op_is(p, op, OP_SDY_MANUAL_COMPUTATION)) {
            TSR_TRY(divide_arguments(w, op));
            TSR_TRY(divide_results(w, op, "out_shardings"));
        }
        tsr_arena_reset(w->scratch, mark);
    }
    return TSR_OK;
}

/* ---- ops and attributes that go ---- */

static tsr_status remove_groups(workspace *w)
{
    tsr_program *p = w->p;
    uint32_t next = 0;
    for (uint32_t op = p->module; op != 0; op = next) {
        next = op_walk_next(p, p->module, op);
        if (op_is(p, op, OP_SDY_SHARDING_GROUP)) {
            op_erase(p, op);
        }
    }
    return TSR_OK;
}

static tsr_status constraints_to_reshards(workspace *w)
{
    tsr_program *p = w->p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, OP_SDY_SHARDING_CONSTRAINT)) {
            TSR_TRY(op_set_kind(p, op, OP_SDY_RESHARD));
        }
    }
    return TSR_OK;
}

/* Whether a rule was written by the user: its text ends in `, custom>`. */
static bool is_custom(const tsr_program *p, uint32_t attr)
{
    static const char end[] = ", custom>";
    const attr_head *head = program_attr(p, attr);
    return head->count >= sizeof end - 1 &&
           memcmp(attr_text(head) + head->count - (sizeof end - 1), end, sizeof end - 1) == 0;
}

static tsr_status drop_rules(workspace *w)
{
    tsr_program *p = w->p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        const uint32_t rule = op_attribute(p, op, "sdy.sharding_rule");
        if (rule != 0 && !is_custom(p, rule)) {
            TSR_TRY(op_set_attribute(p, op, "sdy.sharding_rule", 0));
        }
    }
    return TSR_OK;
}

static const char *const debug_names[] = {
    "sdy.sharding_origins",           "sdy.propagation_edges",
    "sdy.block_arg_sharding_origins", "sdy.block_arg_propagation_edges",
    "sdy.result_sharding_origins",    "sdy.result_propagation_edges"};

/* Takes an entry out of all dictionaries of a list. */
static tsr_status drop_from_list(workspace *w, uint32_t func, const char *list, size_t count,
                                 const char *name)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        any = any || dict_get(w->p, function_dict(w->p, func, list, i), name) != 0;
    }
    uint32_t *none = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    if (none == NULL) {
        return diag_nomem(w->ctx);
    }
    memset(none, 0, count * sizeof *none);
    return any ? function_set_dicts(w->ctx, w->p, func, list, name, none, count) : TSR_OK;
}

static tsr_status remove_debug_info(workspace *w)
{
    tsr_program *p = w->p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        for (size_t i = 0; i < sizeof debug_names / sizeof debug_names[0]; i++) {
            if (op_attribute(p, op, debug_names[i]) != 0) {
                TSR_TRY(op_set_attribute(p, op, debug_names[i], 0));
            }
            if (op_is(p, op, OP_FUNC_FUNC)) {
                TSR_TRY(drop_from_list(w, op, "arg_attrs", function_num_arguments(p, op),
                                       debug_names[i]));
                TSR_TRY(drop_from_list(w, op, "res_attrs", function_num_results(p, op),
                                       debug_names[i]));
            }
        }
    }
    return TSR_OK;
}

/* ---- passes ---- */

WORKSPACE_PASS(pass_close_shardings, close_shardings)
WORKSPACE_PASS(pass_remove_size_one_axes, remove_ones)
WORKSPACE_PASS(pass_remove_sub_axes, remove_sub_axes)
WORKSPACE_PASS(pass_update_non_divisible, divide_all)
WORKSPACE_PASS(pass_remove_groups, remove_groups)
WORKSPACE_PASS(pass_constraint_to_reshard, constraints_to_reshards)
WORKSPACE_PASS(pass_drop_rules, drop_rules)
WORKSPACE_PASS(pass_remove_debug_info, remove_debug_info)
