#include "interp/groups.h"

#include <string.h>

#include "base/arena.h"
#include "interp/steps_collective.h"
#include "ir/elements.h"
#include "ir/row.h"
#include "ir/shardings.h"

enum { MAX_NUMBERS = 1 << 20 };

/* ---- attributes ---- */

int64_t interp_channel_of(const tsr_program *p, uint32_t op)
{
    const uint32_t attr = op_property(p, op, "channel_handle");
    int64_t channel = 0;
    if (attr_is(p, attr, ATTR_STRUCT) && program_attr(p, attr)->count > 0) {
        (void)attr_as_integer(p, attr_list(program_attr(p, attr))[0], &channel);
    }
    return channel;
}

/* Numbers of an attribute of i64, row by row. */
static tsr_status read_table(code_decoder *d, uint32_t op, const char *name, const int64_t **out,
                             size_t *rows, size_t *columns)
{
    const tsr_program *p = d->code->program;
    const uint32_t attr = op_property(p, op, name);
    const void *bytes = NULL;
    size_t size = 0;
    bool is_splat = false;
    op_type type;
    int64_t elements = 0;
    *rows = 0;
    if (attr == 0) {
        return TSR_OK;
    }
    if (!attr_is_elements(p, attr) || !ir_type_of_tensor(p, program_attr(p, attr)->type, &type) ||
        type.dtype != TSR_I64 || type.rank != 2 || !op_elements(&type, &elements) ||
        elements > MAX_NUMBERS) {
        return TSR_NOT_APPLICABLE;
    }
    const size_t count = (size_t)elements;
    int64_t *numbers = ARENA_ARRAY(d->code->arena, int64_t, count);
    if (numbers == NULL) {
        return diag_nomem(d->code->ctx);
    }
    TSR_TRY(elements_bytes(d->code->ctx, d->code->arena, p, attr, &bytes, &size, &is_splat));
    for (size_t i = 0; i < count; i++) {
        memcpy(&numbers[i], (const char *)bytes + (is_splat ? 0 : i * sizeof *numbers),
               sizeof *numbers);
    }
    *out = numbers;
    *rows = (size_t)type.shape[0];
    *columns = (size_t)type.shape[1];
    return TSR_OK;
}

tsr_status interp_read_pairs(code_decoder *d, uint32_t op, const char *name, const int64_t **out,
                             size_t *count)
{
    size_t columns = 2;
    const tsr_status status = read_table(d, op, name, out, count, &columns);
    return status == TSR_OK && columns != 2 ? TSR_NOT_APPLICABLE : status;
}

/* ---- groups along axes of a mesh ---- */

/* The field of a struct of attributes by its place; 0 for none. */
static uint32_t field_at(const tsr_program *p, uint32_t attr, int row, size_t place)
{
    const attr_head *head = program_attr(p, attr);
    return attr_is(p, attr, ATTR_STRUCT) && head->row == row && head->count > place
               ? attr_list(head)[place]
               : 0;
}

/* An axis, or a part of one, that a struct names. */
static bool read_axis(const tsr_program *p, const tsr_mesh *mesh, uint32_t attr, tsr_axis_ref *out)
{
    const uint32_t part = field_at(p, attr, STRUCT_AXIS_REF, 1);
    slice name = {"", 0};
    int64_t pre = 0;
    int64_t size = 0;
    if (!attr_as_string(p, field_at(p, attr, STRUCT_AXIS_REF, 0), &name)) {
        return false;
    }
    const int32_t axis = tsr_mesh_find_axis(mesh, name.data, name.size);
    if (axis < 0) {
        return false;
    }
    *out = tsr_axis_full(mesh, (size_t)axis);
    if (part == 0) {
        return true;
    }
    if (!attr_as_integer(p, field_at(p, part, STRUCT_SUB_AXIS, 0), &pre) ||
        !attr_as_integer(p, field_at(p, part, STRUCT_SUB_AXIS, 1), &size) || pre < 1 || size < 1 ||
        pre > tsr_mesh_axis_size(mesh, (size_t)axis) ||
        tsr_mesh_axis_size(mesh, (size_t)axis) / pre % size != 0) {
        return false;
    }
    *out = (tsr_axis_ref){.axis = axis, .is_sub = 1, .pre = pre, .size = size};
    return true;
}

static tsr_status list_groups(code_decoder *d, const tsr_groups *groups, interp_groups *out)
{
    out->count = (size_t)tsr_groups_count(groups);
    out->size = (size_t)tsr_groups_size(groups);
    if (out->count > MAX_NUMBERS / (out->size + 1)) {
        return TSR_NOT_APPLICABLE;
    }
    int64_t *numbers = ARENA_ARRAY(d->code->arena, int64_t, out->count * out->size + 1);
    if (numbers == NULL) {
        return diag_nomem(d->code->ctx);
    }
    for (size_t i = 0; i < out->count * out->size; i++) {
        numbers[i] = tsr_groups_device(groups, (int64_t)(i / out->size), (int64_t)(i % out->size));
    }
    out->numbers = numbers;
    return TSR_OK;
}

/* The devices that differ in some axes of a mesh only, in groups. */
static tsr_status read_mesh_groups(code_decoder *d, uint32_t op, uint32_t attr, interp_groups *out)
{
    tsr_program *p = without_const(d->code->program);
    const uint32_t axes = field_at(p, attr, STRUCT_REPLICA_MESH_AXES, 1);
    const tsr_mesh *mesh = NULL;
    const tsr_groups *groups = NULL;
    slice name;
    if (!attr_as_symbol(p, field_at(p, attr, STRUCT_REPLICA_MESH_AXES, 0), &name) ||
        !attr_is(p, axes, ATTR_ARRAY)) {
        return TSR_NOT_APPLICABLE;
    }
    TSR_TRY(program_mesh(d->code->ctx, p, op, name, &mesh));
    const size_t count = program_attr(p, axes)->count;
    tsr_axis_ref *refs = ARENA_ARRAY(d->code->arena, tsr_axis_ref, count + 1);
    if (refs == NULL) {
        return diag_nomem(d->code->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        if (mesh == NULL || !read_axis(p, mesh, attr_list(program_attr(p, axes))[i], &refs[i])) {
            return TSR_NOT_APPLICABLE;
        }
    }
    if (mesh == NULL) {
        return TSR_NOT_APPLICABLE;
    }
    TSR_TRY(tsr_groups_create(d->code->ctx, d->code->arena, mesh, refs, count, &groups));
    return list_groups(d, groups, out);
}

tsr_status interp_read_groups(code_decoder *d, uint32_t op, const char *name, interp_groups *out)
{
    const uint32_t attr = op_property(d->code->program, op, name);
    return attr_is(d->code->program, attr, ATTR_STRUCT)
               ? read_mesh_groups(d, op, attr, out)
               : read_table(d, op, name, &out->numbers, &out->count, &out->size);
}

/* ---- groups ---- */

bool interp_has_member(const interp_members *m, size_t process)
{
    for (size_t i = 0; i < m->count; i++) {
        if (m->list[i] == process) {
            return true;
        }
    }
    return false;
}

static void add_member(interp_members *m, size_t process)
{
    if (!interp_has_member(m, process)) {
        m->list[m->count++] = process;
    }
}

/* Puts the processes that a number of a group names into a list; -1 names none. */
void interp_add_members(const interp_groups *c, const interp_world *world, int64_t number,
                        size_t process, interp_members *out)
{
    const size_t n = (size_t)number;
    const size_t replica = process / world->partitions;
    const size_t partition = process % world->partitions;
    if (number < 0) {
        return;
    }
    if (c->by == BY_REPLICA && n < world->replicas) {
        add_member(out, n * world->partitions + partition);
    } else if (c->by == BY_PARTITION && n < world->partitions) {
        add_member(out, replica * world->partitions + n);
    } else if (c->by == BY_ID && n < world->count) {
        add_member(out, n);
    }
}

/* Groups of replicas with all partitions: partition by partition. */
static void add_all_partitions(const interp_groups *c, const interp_world *world,
                               const int64_t *group, interp_members *out)
{
    for (size_t p = 0; p < world->partitions; p++) {
        for (size_t i = 0; i < c->size; i++) {
            if (group[i] >= 0 && (size_t)group[i] < world->replicas) {
                add_member(out, (size_t)group[i] * world->partitions + p);
            }
        }
    }
}

/* All processes that the numbers may name, as one group. */
static void whole_row(const interp_groups *c, const interp_world *world, size_t process,
                      interp_members *out)
{
    out->count = 0;
    if (c->by == BY_ID || c->by == BY_REPLICA_AND_PARTITION) {
        for (size_t i = 0; i < world->count; i++) {
            add_member(out, i);
        }
        return;
    }
    const size_t count = c->by == BY_REPLICA ? world->replicas : world->partitions;
    for (size_t i = 0; i < count; i++) {
        interp_add_members(c, world, (int64_t)i, process, out);
    }
}

bool interp_find_group(const interp_groups *c, const interp_world *world, size_t process,
                       bool whole, interp_members *out)
{
    if (whole || c->count == 0 || c->size == 0) {
        whole_row(c, world, process, out);
        return true;
    }
    for (size_t g = 0; g < c->count; g++) {
        const int64_t *group = c->numbers + g * c->size;
        out->count = 0;
        for (size_t i = 0; i < c->size && c->by != BY_REPLICA_AND_PARTITION; i++) {
            interp_add_members(c, world, group[i], process, out);
        }
        if (c->by == BY_REPLICA_AND_PARTITION) {
            add_all_partitions(c, world, group, out);
        }
        if (interp_has_member(out, process)) {
            return true;
        }
    }
    out->count = 0;
    return false;
}
