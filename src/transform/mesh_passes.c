/* Passes over meshes: written in place or by name, and the manual axes of computations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "mesh/mesh.h"
#include "propagate/workspace.h"
#include "transform/passes.h"
#include "transform/rewrite.h"

/* ---- lifting ---- */

/* A mesh that has, or gets, a name. */
typedef struct lifted {
    const tsr_mesh *mesh;
    const char *name;
} lifted;

typedef struct lifting {
    lifted *meshes;
    size_t count;
    size_t room;
    uint32_t last_op; /* new meshes go after it; 0: to the start of the module */
} lifting;

static const lifted *find_lifted(const lifting *l, const tsr_mesh *mesh)
{
    for (size_t i = 0; i < l->count; i++) {
        if (tsr_mesh_equal(l->meshes[i].mesh, mesh)) {
            return &l->meshes[i];
        }
    }
    return NULL;
}

static tsr_status add_lifted(workspace *w, lifting *l, lifted item)
{
    if (l->count == l->room) {
        const size_t room = l->room > 0 ? 2 * l->room : 8;
        lifted *meshes = ARENA_ARRAY(w->arena, lifted, room);
        if (meshes == NULL) {
            return diag_nomem(w->ctx);
        }
        for (size_t i = 0; i < l->count; i++) {
            meshes[i] = l->meshes[i];
        }
        l->meshes = meshes;
        l->room = room;
    }
    l->meshes[l->count++] = item;
    return TSR_OK;
}

static bool is_symbol(const tsr_program *p, const char *name)
{
    return tsr_program_symbol(p, name) != 0;
}

/* A name for a mesh that no symbol has. */
static tsr_status new_name(workspace *w, const tsr_mesh *mesh, const char **out)
{
    char base[48];
    const size_t size = sizeof base + 24;
    char *name = tsr_arena_alloc(w->arena, size);
    if (name == NULL) {
        return diag_nomem(w->ctx);
    }
    if (tsr_mesh_is_maximal(mesh)) {
        (void)snprintf(base, sizeof base, "maximal_mesh_%lld",
                       (long long)tsr_mesh_device_at(mesh, 0));
    } else {
        (void)snprintf(base, sizeof base, "%s", tsr_mesh_is_empty(mesh) ? "empty_mesh" : "mesh");
    }
    (void)snprintf(name, size, "%s", base);
    for (int i = 0; is_symbol(w->p, name); i++) {
        (void)snprintf(name, size, "%s_%d", base, i);
    }
    *out = name;
    return TSR_OK;
}

/* The op that defines a mesh. */
static tsr_status make_mesh_op(workspace *w, lifting *l, const tsr_mesh *mesh, const char *name)
{
    tsr_program *p = w->p;
    const char *text = NULL;
    uint32_t attr = 0;
    uint32_t dict = 0;
    uint32_t op = 0;
    TSR_TRY(tsr_mesh_print(w->ctx, w->scratch, mesh, &text));
    const char *body = strchr(text, '<');
    TSR_TRY(attr_of_text(p, ATTR_SDY, SDY_MESH, 0, body, strlen(body), &attr));
    TSR_TRY(dict_set(p, 0, "mesh", attr, &dict));
    TSR_TRY(attr_string(p, name, strlen(name), 0, &attr));
    TSR_TRY(dict_set(p, dict, "sym_name", attr, &dict));
    const op_spec spec = {.kind = OP_SDY_MESH, .properties = dict};
    TSR_TRY(op_create(p, &spec, &op));
    if (l->last_op != 0) {
        op_insert_after(p, op, l->last_op);
    } else {
        block_prepend(p, op_entry_block(p, p->module, 0), op);
    }
    l->last_op = op;
    return TSR_OK;
}

/* The name of a mesh, which gets an op if no equal one has. */
static tsr_status lift(workspace *w, lifting *l, const tsr_mesh *mesh, const char **out)
{
    const lifted *known = find_lifted(l, mesh);
    if (known != NULL) {
        *out = known->name;
        return TSR_OK;
    }
    TSR_TRY(new_name(w, mesh, out));
    TSR_TRY(make_mesh_op(w, l, mesh, *out));
    return add_lifted(w, l, (lifted){mesh, *out});
}

static tsr_status lift_sharding(workspace *w, void *state, uint32_t attr, uint32_t *out)
{
    const tsr_sharding *sharding = NULL;
    const char *name = NULL;
    TSR_TRY(sharding_at(w, attr, &sharding));
    TSR_TRY(lift(w, state, sharding->mesh, &name));
    const char *had = tsr_mesh_name(sharding->mesh);
    if (had != NULL && strcmp(had, name) == 0) {
        *out = attr;
        return TSR_OK;
    }
    tsr_sharding renamed = *sharding;
    const tsr_sharding *one = NULL;
    TSR_TRY(tsr_mesh_rename(w->ctx, w->arena, sharding->mesh, name, &renamed.mesh));
    TSR_TRY(engine_intern(w->engine, &renamed, &one));
    return sharding_attr(w, one, out);
}

/* Keeps the first of equal meshes. */
static tsr_status merge_meshes(workspace *w, lifting *l)
{
    tsr_program *p = w->p;
    uint32_t next = 0;
    uint32_t op = program_block(p, op_entry_block(p, p->module, 0))->first_op;
    for (; op != 0; op = next) {
        slice name;
        const tsr_mesh *mesh = NULL;
        next = program_op(p, op)->next;
        if (!op_is(p, op, OP_SDY_MESH) ||
            !attr_as_string(p, op_property(p, op, "sym_name"), &name)) {
            continue;
        }
        TSR_TRY(program_mesh(w->ctx, p, op, name, &mesh));
        if (find_lifted(l, mesh) != NULL) {
            op_erase(p, op);
        } else {
            TSR_TRY(add_lifted(w, l, (lifted){mesh, tsr_mesh_name(mesh)}));
            l->last_op = op;
        }
    }
    return TSR_OK;
}

/* ---- replica groups by axes of a mesh ---- */

/* The mesh that a struct of StableHLO describes. */
static tsr_status mesh_of_struct(workspace *w, const attr_head *attr, const tsr_mesh **out)
{
    const tsr_program *p = w->p;
    const attr_head *axes = program_attr(p, attr_list(attr)[0]);
    const uint32_t ids = attr->count > 1 ? attr_list(attr)[1] : 0;
    buffer text = buffer_new(w->scratch);
    const char *string = NULL;
    buffer_string(&text, "<[");
    for (uint32_t i = 0; i < axes->count; i++) {
        const attr_head *axis = program_attr(p, attr_list(axes)[i]);
        slice name = {0};
        int64_t size = 0;
        (void)attr_as_string(p, attr_list(axis)[0], &name);
        (void)attr_as_integer(p, attr_list(axis)[1], &size);
        buffer_string(&text, i > 0 ? ", " : "");
        buffer_quoted_bytes(&text, name.data, name.size);
        buffer_format(&text, "=%lld", (long long)size);
    }
    buffer_char(&text, ']');
    if (attr_is(p, ids, ATTR_ELEMENTS)) {
        const attr_head *list = program_attr(p, ids);
        int64_t count = 0;
        (void)type_num_elements(p, list->type, &count);
        buffer_string(&text, ", device_ids=[");
        for (int64_t i = 0; i < count; i++) {
            int64_t id = 0;
            memcpy(&id, attr_text(list) + (list->is_splat ? 0 : 8 * i), sizeof id);
            buffer_format(&text, "%s%lld", i > 0 ? ", " : "", (long long)id);
        }
        buffer_char(&text, ']');
    }
    buffer_char(&text, '>');
    TSR_TRY(buffer_finish(w->ctx, &text, &string));
    return tsr_mesh_parse(w->ctx, w->arena, string, out);
}

static tsr_status lift_groups(workspace *w, lifting *l, uint32_t op)
{
    tsr_program *p = w->p;
    const uint32_t groups = op_property(p, op, "replica_groups");
    if (!attr_is(p, groups, ATTR_STRUCT) ||
        program_attr(p, groups)->row != STRUCT_REPLICA_MESH_AXES) {
        return TSR_OK;
    }
    const uint32_t mesh = attr_list(program_attr(p, groups))[0];
    const tsr_mesh *resolved = NULL;
    const char *name = NULL;
    slice symbol;
    if (attr_as_symbol(p, mesh, &symbol)) {
        TSR_TRY(program_mesh(w->ctx, p, op, symbol, &resolved));
    } else if (attr_is(p, mesh, ATTR_STRUCT)) {
        TSR_TRY(mesh_of_struct(w, program_attr(p, mesh), &resolved));
    }
    if (resolved == NULL) {
        return TSR_OK;
    }
    TSR_TRY(lift(w, l, resolved, &name));
    uint32_t string = 0;
    uint32_t attr = 0;
    TSR_TRY(program_string(p, name, strlen(name), &string));
    TSR_TRY(attr_symbol(p, &string, 1, &attr));
    const uint32_t fields[] = {attr, attr_list(program_attr(p, groups))[1]};
    TSR_TRY(attr_struct(p, STRUCT_REPLICA_MESH_AXES, fields, 2, &attr));
    return op_set_property(p, op, "replica_groups", attr);
}

static tsr_status lift_all_groups(workspace *w, lifting *l)
{
    static const op_kind kinds[] = {OP_STABLEHLO_ALL_GATHER, OP_STABLEHLO_ALL_REDUCE,
                                    OP_STABLEHLO_REDUCE_SCATTER, OP_STABLEHLO_ALL_TO_ALL,
                                    OP_STABLEHLO_COLLECTIVE_BROADCAST};
    const tsr_program *p = w->p;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
            if (op_is(p, op, kinds[i])) {
                TSR_TRY(lift_groups(w, l, op));
            }
        }
    }
    return TSR_OK;
}

/* ---- the mesh as StableHLO writes it ---- */

static tsr_status describe_axis(workspace *w, const tsr_mesh *mesh, size_t axis, uint32_t *out)
{
    tsr_program *p = w->p;
    const char *name = tsr_mesh_axis_name(mesh, axis);
    uint32_t attr = 0;
    TSR_TRY(attr_string(p, name, strlen(name), 0, &attr));
    TSR_TRY(dict_set(p, 0, "name", attr, out));
    TSR_TRY(attr_i64(p, tsr_mesh_axis_size(mesh, axis), &attr));
    return dict_set(p, *out, "size", attr, out);
}

static tsr_status describe_ids(workspace *w, const tsr_mesh *mesh, uint32_t *out)
{
    tsr_program *p = w->p;
    const int64_t count = tsr_mesh_num_devices(mesh);
    int64_t *ids = ARENA_ARRAY(w->scratch, int64_t, (size_t)count);
    uint32_t element = 0;
    uint32_t type = 0;
    if (ids == NULL) {
        return diag_nomem(w->ctx);
    }
    for (int64_t i = 0; i < count; i++) {
        ids[i] = tsr_mesh_device_at(mesh, i);
    }
    TSR_TRY(type_integer(p, 64, SIGNLESS, &element));
    TSR_TRY(type_tensor(p, &count, 1, element, 0, &type));
    return attr_elements(p, type, ids, (size_t)(count == 1 ? 1 : count) * sizeof *ids, count == 1,
                         out);
}

static tsr_status describe_mesh(workspace *w, uint32_t op)
{
    tsr_program *p = w->p;
    const tsr_mesh *mesh = NULL;
    const attr_head *head = program_attr(p, op_property(p, op, "mesh"));
    tsr_text text = {.name = "<attribute>", .data = attr_text(head), .size = head->count};
    uint32_t attr = 0;
    uint32_t dict = 0;
    TSR_TRY(tsr_mesh_read(w->ctx, w->arena, &text, TSR_READ_PROGRAM, &mesh));
    const size_t count = tsr_mesh_num_axes(mesh);
    uint32_t *axes = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    if (axes == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        TSR_TRY(describe_axis(w, mesh, i, &axes[i]));
    }
    TSR_TRY(attr_array(p, axes, count, &attr));
    TSR_TRY(dict_set(p, 0, "axes", attr, &dict));
    if (!tsr_mesh_is_empty(mesh) && !tsr_mesh_is_iota(mesh)) {
        TSR_TRY(describe_ids(w, mesh, &attr));
        TSR_TRY(dict_set(p, dict, "device_ids", attr, &dict));
    } else if (tsr_mesh_is_maximal(mesh)) {
        TSR_TRY(describe_ids(w, mesh, &attr));
        TSR_TRY(dict_set(p, dict, "device_ids", attr, &dict));
    }
    return op_set_attribute(p, op, "stablehlo.mesh", dict);
}

static tsr_status lift_meshes(workspace *w)
{
    tsr_program *p = w->p;
    lifting l = {0};
    TSR_TRY(merge_meshes(w, &l));
    TSR_TRY(rewrite_shardings(w, lift_sharding, &l));
    TSR_TRY(lift_all_groups(w, &l));
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, OP_SDY_MESH) && op_attribute(p, op, "stablehlo.mesh") == 0) {
            TSR_TRY(describe_mesh(w, op));
        }
    }
    return TSR_OK;
}

/* ---- inlining ---- */

static tsr_status inline_sharding(workspace *w, void *state, uint32_t attr, uint32_t *out)
{
    const tsr_sharding *sharding = NULL;
    const tsr_sharding *one = NULL;
    (void)state;
    TSR_TRY(sharding_at(w, attr, &sharding));
    tsr_sharding copy = *sharding;
    TSR_TRY(tsr_mesh_rename(w->ctx, w->arena, sharding->mesh, NULL, &copy.mesh));
    TSR_TRY(engine_intern(w->engine, &copy, &one));
    return sharding_attr(w, one, out);
}

static tsr_status inline_meshes(workspace *w)
{
    tsr_program *p = w->p;
    uint32_t next = 0;
    TSR_TRY(rewrite_shardings(w, inline_sharding, NULL));
    for (uint32_t op = p->module; op != 0; op = next) {
        next = op_walk_next(p, p->module, op);
        if (op_is(p, op, OP_SDY_MESH)) {
            op_erase(p, op);
        }
    }
    return TSR_OK;
}

/* ---- manual axes ---- */

/* All shardings of a manual computation: of its operands, then of its results. */
typedef struct manual_shardings {
    const tsr_sharding **all;
    uint32_t *types;
    size_t num_operands;
    size_t count;
} manual_shardings;

static tsr_status list_shardings(workspace *w, uint32_t op, manual_shardings *out)
{
    const tsr_program *p = w->p;
    const ir_op *o = program_op(p, op);
    const tsr_sharding **part = NULL;
    out->num_operands = o->num_operands;
    out->count = (size_t)o->num_operands + o->num_results;
    out->all = ARENA_ARRAY(w->scratch, const tsr_sharding *, out->count + 1);
    out->types = ARENA_ARRAY(w->scratch, uint32_t, out->count + 1);
    if (out->all == NULL || out->types == NULL) {
        return diag_nomem(w->ctx);
    }
    TSR_TRY(sharding_list_at(w, op_property(p, op, "in_shardings"), o->num_operands, &part));
    for (uint32_t i = 0; i < o->num_operands; i++) {
        out->all[i] = part[i];
        out->types[i] = value_type(p, op_operand(p, op, i));
    }
    TSR_TRY(sharding_list_at(w, op_property(p, op, "out_shardings"), o->num_results, &part));
    for (uint32_t i = 0; i < o->num_results; i++) {
        out->all[o->num_operands + i] = part[i];
        out->types[o->num_operands + i] = value_type(p, op_result(p, op, i));
    }
    return TSR_OK;
}

static int compare_axes(const void *a, const void *b)
{
    return tsr_axis_compare(*(const tsr_axis_ref *)a, *(const tsr_axis_ref *)b);
}

/* The manual axes of a computation, in the order of the mesh. */
static tsr_status sorted_manual(workspace *w, uint32_t op, const tsr_mesh *mesh, tsr_axis_ref **out,
                                size_t *count)
{
    name_list names;
    TSR_TRY(manual_axes(w->ctx, w->p, op, &names));
    *count = 0;
    *out = ARENA_ARRAY(w->scratch, tsr_axis_ref, names.count + 1);
    if (*out == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < names.count; i++) {
        const int32_t axis = tsr_mesh_find_axis(mesh, names.names[i].data, names.names[i].size);
        if (axis >= 0) {
            (*out)[(*count)++] = tsr_axis_full(mesh, (size_t)axis);
        }
    }
    qsort(*out, *count, sizeof **out, compare_axes);
    return TSR_OK;
}

/* All axes that a sharding uses, sorted. */
static tsr_status used_axes(workspace *w, const tsr_sharding *sharding, tsr_axis_ref **out,
                            size_t *count)
{
    size_t room = sharding->num_replicated + sharding->num_unreduced;
    for (size_t d = 0; d < sharding->rank; d++) {
        room += sharding->dims[d].num_axes;
    }
    *out = ARENA_ARRAY(w->scratch, tsr_axis_ref, room + 1);
    *count = 0;
    if (*out == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t d = 0; d < sharding->rank; d++) {
        for (size_t i = 0; i < sharding->dims[d].num_axes; i++) {
            (*out)[(*count)++] = sharding->dims[d].axes[i];
        }
    }
    for (size_t i = 0; i < sharding->num_replicated; i++) {
        (*out)[(*count)++] = sharding->replicated[i];
    }
    for (size_t i = 0; i < sharding->num_unreduced; i++) {
        (*out)[(*count)++] = sharding->unreduced[i];
    }
    qsort(*out, *count, sizeof **out, compare_axes);
    return TSR_OK;
}

/* Says of the manual axes that a sharding does not use that they replicate. */
static tsr_status replicate_unused(workspace *w, const tsr_mesh *mesh, const tsr_axis_ref *manual,
                                   size_t num_manual, const tsr_sharding *sharding,
                                   const tsr_sharding **out)
{
    tsr_axis_ref *used = NULL;
    size_t num_used = 0;
    TSR_TRY(used_axes(w, sharding, &used, &num_used));
    const size_t room = sharding->num_replicated + num_manual + num_used + 1;
    tsr_axis_list axes = {ARENA_ARRAY(w->scratch, tsr_axis_ref, room), 0, room};
    if (axes.refs == NULL) {
        return diag_nomem(w->ctx);
    }
    TSR_TRY(tsr_axes_difference(manual, num_manual, used, num_used, &axes));
    if (axes.count == 0) {
        *out = sharding;
        return TSR_OK;
    }
    for (size_t i = 0; i < sharding->num_replicated; i++) {
        axes.refs[axes.count++] = sharding->replicated[i];
    }
    tsr_axes_sort_and_merge(mesh, &axes);
    tsr_sharding copy = *sharding;
    copy.mesh = mesh;
    copy.replicated = axes.refs;
    copy.num_replicated = axes.count;
    return engine_intern(w->engine, &copy, out);
}

/* `{"a", "b"}` */
static tsr_status manual_attr(workspace *w, const tsr_mesh *mesh, const tsr_axis_ref *axes,
                              size_t count, uint32_t *out)
{
    buffer text = buffer_new(w->scratch);
    const char *string = NULL;
    buffer_char(&text, '{');
    for (size_t i = 0; i < count; i++) {
        buffer_string(&text, i > 0 ? ", " : "");
        buffer_quoted(&text, tsr_mesh_axis_name(mesh, (size_t)axes[i].axis));
    }
    buffer_char(&text, '}');
    TSR_TRY(buffer_finish(w->ctx, &text, &string));
    return attr_of_text(w->p, ATTR_SDY, SDY_MANUAL_AXES, 0, string, text.size, out);
}

static tsr_status check_empty(workspace *w, uint32_t op)
{
    const tsr_program *p = w->p;
    name_list names;
    TSR_TRY(manual_axes(w->ctx, w->p, op, &names));
    const uint32_t block = op_entry_block(p, op, 0);
    const bool has_ops =
        block != 0 && program_block(p, block)->first_op != program_block(p, block)->last_op;
    return names.count == 0 || !has_ops
               ? TSR_OK
               : error_at_op(
                     w->ctx, p, op,
                     "op has manual_axes when there are no in/out shardings and the body is not "
                     "empty. This isn't allowed at this stage, please contact the Shardy team "
                     "or file a bug.");
}

static tsr_status clean_manual(workspace *w, uint32_t op)
{
    tsr_program *p = w->p;
    manual_shardings m;
    tsr_axis_ref *manual = NULL;
    size_t num_manual = 0;
    uint32_t attr = 0;
    TSR_TRY(list_shardings(w, op, &m));
    if (m.count == 0) {
        return check_empty(w, op);
    }
    const tsr_mesh *mesh = tsr_sharding_common_mesh(m.all, m.count, false);
    if (mesh == NULL) {
        return TSR_OK;
    }
    TSR_TRY(sorted_manual(w, op, mesh, &manual, &num_manual));
    TSR_TRY(manual_attr(w, mesh, manual, num_manual, &attr));
    TSR_TRY(op_set_property(p, op, "manual_axes", attr));
    for (size_t i = 0; i < m.count; i++) {
        if (m.all[i] != NULL && type_is(p, m.types[i], TYPE_TENSOR)) {
            TSR_TRY(replicate_unused(w, mesh, manual, num_manual, m.all[i], &m.all[i]));
        }
    }
    TSR_TRY(sharding_list_attr(w, m.all, m.types, m.num_operands, &attr));
    TSR_TRY(op_set_property(p, op, "in_shardings", attr));
    TSR_TRY(sharding_list_attr(w, m.all + m.num_operands, m.types + m.num_operands,
                               m.count - m.num_operands, &attr));
    return op_set_property(p, op, "out_shardings", attr);
}

static tsr_status clean_all(workspace *w)
{
    const tsr_program *p = w->p;
    for (uint32_t op = op_post_first(p, p->module); op != 0; op = op_post_next(p, p->module, op)) {
        if (op_is(p, op, OP_SDY_MANUAL_COMPUTATION)) {
            const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
            TSR_TRY(clean_manual(w, op));
            tsr_arena_reset(w->scratch, mark);
        }
    }
    return TSR_OK;
}

/* ---- passes ---- */

WORKSPACE_PASS(pass_lift_meshes, lift_meshes)
WORKSPACE_PASS(pass_inline_meshes, inline_meshes)
WORKSPACE_PASS(pass_manual_axes_cleanup, clean_all)
