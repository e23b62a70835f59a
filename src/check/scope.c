/* Scopes: the sub-axes of a mesh on which all shardings and collectives of a program agree. */
#include "check/check.h"
#include "ir/edit.h"
#include "ir/message.h"
#include "mesh/mesh.h"

/* ---- where axes are cut ---- */

/* Keeps a list of pre-sizes ascending, each once and each a divisor of the next. */
static void add_cut(cut_list *cuts, int64_t size, int64_t pre)
{
    size_t at = 0;
    if (pre <= 1 || pre >= size || size % pre != 0 || cuts->count + 1 >= MAX_SUB_AXES) {
        return;
    }
    while (at < cuts->count && cuts->pre[at] < pre) {
        at++;
    }
    const bool fits_before = at == 0 || pre % cuts->pre[at - 1] == 0;
    const bool fits_after = at == cuts->count || cuts->pre[at] % pre == 0;
    if (!fits_before || !fits_after || (at < cuts->count && cuts->pre[at] == pre)) {
        return;
    }
    memmove(&cuts->pre[at + 1], &cuts->pre[at], (cuts->count - at) * sizeof cuts->pre[0]);
    cuts->pre[at] = pre;
    cuts->count++;
}

static void cut_by_axes(const tsr_mesh *mesh, size_t axis, const tsr_axis_ref *refs, size_t count,
                        cut_list *cuts)
{
    for (size_t i = 0; i < count; i++) {
        if ((size_t)refs[i].axis == axis) {
            add_cut(cuts, mesh->sizes[axis], refs[i].pre);
            add_cut(cuts, mesh->sizes[axis], refs[i].pre * refs[i].size);
        }
    }
}

static void cut_by_sharding(const tsr_mesh *mesh, size_t axis, const tsr_sharding *sharding,
                            cut_list *cuts)
{
    for (size_t d = 0; d < sharding->rank; d++) {
        cut_by_axes(mesh, axis, sharding->dims[d].axes, sharding->dims[d].num_axes, cuts);
    }
    cut_by_axes(mesh, axis, sharding->unreduced, sharding->num_unreduced, cuts);
}

/* The cuts of all axes of a mesh. */
typedef struct mesh_cuts {
    const tsr_mesh *mesh;
    cut_list *axes;
} mesh_cuts;

static tsr_status cut_by_value(checker *c, const mesh_cuts *m, uint32_t value)
{
    const tsr_sharding *sharding = NULL;
    TSR_TRY(value_sharding(c->ctx, c->p, value, &sharding));
    if (sharding != NULL && tsr_mesh_equal(sharding->mesh, m->mesh)) {
        for (size_t a = 0; a < m->mesh->num_axes; a++) {
            cut_by_sharding(m->mesh, a, sharding, &m->axes[a]);
        }
    }
    return TSR_OK;
}

static tsr_status cut_by_collective(checker *c, const mesh_cuts *m, uint32_t op)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(c->scratch);
    device_groups groups;
    TSR_TRY(groups_of(c, op, &groups));
    for (size_t a = 0; a < m->mesh->num_axes; a++) {
        cut_list wanted = {.count = 0};
        TSR_TRY(groups_cuts(c, m->mesh, &groups, a, &wanted));
        for (size_t i = 0; i < wanted.count; i++) {
            add_cut(&m->axes[a], m->mesh->sizes[a], wanted.pre[i]);
        }
    }
    tsr_arena_reset(c->scratch, mark);
    return TSR_OK;
}

static bool is_value(const tsr_program *p, uint32_t value)
{
    const ir_value *v = program_value(p, value);
    return v->type != 0 && v->owner != 0;
}

static tsr_status find_cuts(checker *c, const mesh_cuts *m)
{
    for (uint32_t op = 1; op < c->p->ops.count; op++) {
        if (program_op(c->p, op)->block != 0 && is_collective(c->p, op)) {
            TSR_TRY(cut_by_collective(c, m, op));
        }
    }
    for (uint32_t value = 1; value < c->p->values.count; value++) {
        if (is_value(c->p, value)) {
            TSR_TRY(cut_by_value(c, m, value));
        }
    }
    return TSR_OK;
}

/* ---- scopes ---- */

static void add_sub_axes(scope *s, size_t axis, const cut_list *cuts)
{
    const int64_t size = s->mesh->sizes[axis];
    int64_t pre = 1;
    for (size_t i = 0; size > 1 && i <= cuts->count && s->count < MAX_SUB_AXES; i++) {
        const int64_t end = i < cuts->count ? cuts->pre[i] : size;
        const tsr_axis_ref ref =
            cuts->count == 0 ? tsr_axis_full(s->mesh, axis) : tsr_axis_sub(axis, pre, end / pre);
        s->axes[s->count++] = (sub_axis){ref, s->mesh->strides[axis] * (size / end)};
        pre = end;
    }
}

static tsr_status create(checker *c, const tsr_mesh *mesh, scope **out)
{
    scope *s = ARENA_NEW(c->arena, scope);
    const mesh_cuts m = {mesh, ARENA_ARRAY(c->arena, cut_list, mesh->num_axes + 1)};
    const size_t num_values = c->p->values.count;
    if (s == NULL || m.axes == NULL) {
        return diag_nomem(c->ctx);
    }
    *s = (scope){.mesh = mesh, .cells = ARENA_ARRAY(c->arena, cell *, num_values + 1)};
    if (s->cells == NULL) {
        return diag_nomem(c->ctx);
    }
    memset((void *)s->cells, 0, (num_values + 1) * sizeof *s->cells);
    memset(m.axes, 0, mesh->num_axes * sizeof *m.axes);
    TSR_TRY(find_cuts(c, &m));
    for (size_t a = 0; a < mesh->num_axes; a++) {
        add_sub_axes(s, a, &m.axes[a]);
    }
    *out = s;
    return TSR_OK;
}

tsr_status scope_find(checker *c, const tsr_mesh *mesh, scope **out)
{
    for (scope *s = c->scopes; s != NULL; s = s->next) {
        if (tsr_mesh_equal(s->mesh, mesh)) {
            *out = s;
            return TSR_OK;
        }
    }
    TSR_TRY(create(c, mesh, out));
    (*out)->next = c->scopes;
    c->scopes = *out;
    return TSR_OK;
}

static int64_t module_number(const checker *c, const char *name)
{
    int64_t number = 0;
    const uint32_t attr = op_attribute(c->p, c->p->module, name);
    return attr_as_integer(c->p, attr, &number) && number > 0 ? number : 1;
}

int64_t num_devices_said(const checker *c)
{
    int64_t product = 0;
    return checked_mul(module_number(c, "mhlo.num_partitions"),
                       module_number(c, "mhlo.num_replicas"), &product) &&
                   product > 1
               ? product
               : 0;
}

/* The largest number in the groups of all collectives, and one. */
static tsr_status count_devices(checker *c, int64_t *out)
{
    for (uint32_t op = 1; op < c->p->ops.count; op++) {
        device_groups groups = {0};
        const tsr_arena_mark mark = tsr_arena_get_mark(c->scratch);
        if (program_op(c->p, op)->block != 0 && is_collective(c->p, op)) {
            TSR_TRY(groups_of(c, op, &groups));
        }
        for (size_t i = 0; i < groups.count * groups.size; i++) {
            *out = max_i64(*out, min_i64(groups.ids[i], INT32_MAX) + 1);
        }
        tsr_arena_reset(c->scratch, mark);
    }
    return TSR_OK;
}

tsr_status scope_default_mesh(checker *c, const tsr_mesh **out)
{
    static const char *const names[] = {"devices"};
    int64_t size = num_devices_said(c);
    if (size == 0) {
        size = 1;
        TSR_TRY(count_devices(c, &size));
    }
    const tsr_mesh_spec spec = {.num_axes = 1, .axis_names = names, .axis_sizes = &size};
    return tsr_mesh_create(c->ctx, c->arena, &spec, out);
}

/* ---- axes ---- */

axis_bits axis_cover(const scope *s, tsr_axis_ref axis)
{
    axis_bits bits = 0;
    for (size_t a = 0; a < s->count; a++) {
        const tsr_axis_ref own = s->axes[a].ref;
        if (own.axis == axis.axis && axis.pre <= own.pre &&
            own.pre * own.size <= axis.pre * axis.size) {
            bits |= axis_bit(a);
        }
    }
    return bits;
}

static axis_bits cover(const scope *s, const tsr_axis_ref *axes, size_t count)
{
    axis_bits bits = 0;
    for (size_t i = 0; i < count; i++) {
        bits |= axis_cover(s, axes[i]);
    }
    return bits;
}

axis_bits dim_cover(const scope *s, const tsr_dim *dim)
{
    return cover(s, dim->axes, dim->num_axes);
}

axis_bits unreduced_cover(const scope *s, const tsr_sharding *sharding)
{
    return cover(s, sharding->unreduced, sharding->num_unreduced);
}

int32_t dim_of(const scope *s, const tsr_sharding *sharding, size_t axis)
{
    for (size_t d = 0; d < sharding->rank; d++) {
        if ((dim_cover(s, &sharding->dims[d]) & axis_bit(axis)) != 0) {
            return (int32_t)d;
        }
    }
    return NO_DIM;
}

const char *axis_name(const checker *c, size_t axis)
{
    return c->s->mesh->axis_names[c->s->axes[axis].ref.axis];
}

bool is_scope_mesh(const checker *c, const tsr_sharding *sharding)
{
    return sharding != NULL && tsr_mesh_equal(sharding->mesh, c->s->mesh);
}
