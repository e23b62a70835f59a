/*
 * Manual computations: the body runs once for every device of the mesh, each on its own parts.
 *
 * It takes two steps. The first cuts the operands and runs the body; outside of any world it makes
 * one, a process for each device, and puts the whole results together at their end. The second
 * puts them together inside of a world, from the devices that differ in manual axes only: a
 * rendezvous, as at a collective.
 */
#include <string.h>

#include "base/arena.h"
#include "interp/steps_collective.h"
#include "interp/world.h"
#include "ir/message.h"
#include "ir/shardings.h"

enum { MAX_DEVICES = 4096 };

typedef struct manual_step {
    const tsr_mesh *mesh;
    int64_t devices;
    code_function body;
    const tsr_geometry **cuts; /* of operands, then of results: by manual axes alone */
    const bool *manual;        /* by axis */
    uint32_t *hidden;          /* slots of what the first step leaves for the second */
} manual_step;

/* ---- boxes ---- */

void interp_copy_box(const interp_array *whole, const interp_array *part, const tsr_geometry *cut,
                     int64_t device, bool to_part)
{
    int64_t start[OP_MAX_RANK];
    int64_t size[OP_MAX_RANK];
    char *at = whole->data;
    const size_t item = (size_t)tsr_dtype_item_bytes(whole->dtype);
    if (!tsr_geometry_box(cut, device, start, size)) {
        return;
    }
    for (size_t d = 0; d < whole->rank; d++) {
        at += start[d] * whole->strides[d];
    }
    if (to_part) {
        kernel_copy(part->data, part->strides, at, whole->strides, size, whole->rank, item, false);
    } else {
        kernel_copy(at, whole->strides, part->data, part->strides, size, whole->rank, item, false);
    }
}

/* The parts of the operands that a device has, a reference each. */
static tsr_status cut_operands(interp_machine *m, const code_step *step, interp_machine *to,
                               int64_t device, interp_array ***out)
{
    const manual_step *s = step->data;
    interp_array **parts = interp_scratch(to, step->num_operands * sizeof *parts);
    if (parts == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < step->num_operands; i++) {
        const tsr_status status =
            interp_array_new(m->pool, s->body.body->argument_types[i], &parts[i]);
        if (status != TSR_OK) {
            while (i-- > 0) {
                interp_array_drop(m->pool, parts[i]);
            }
            return status;
        }
        interp_copy_box(interp_operand(m, step, i), parts[i], s->cuts[i], device, true);
    }
    *out = parts;
    return TSR_OK;
}

/* ---- the first step ---- */

static tsr_status enter_device(interp_machine *m, const code_step *step, interp_machine *to,
                               int64_t device, const code_step *owner)
{
    const manual_step *s = step->data;
    interp_array **parts = NULL;
    TSR_TRY(cut_operands(m, step, to, device, &parts));
    return interp_enter_function(to, &s->body, parts, owner);
}

/* Puts result i together from what all machines of a world have returned. */
static tsr_status join_result(interp_machine *m, const code_step *step, const interp_world *world,
                              size_t i)
{
    const manual_step *s = step->data;
    interp_array *whole;
    TSR_TRY(interp_array_new(m->pool, step->types[step->num_operands + i], &whole));
    m->slots[s->hidden[i]] = whole;
    for (size_t k = 0; k < world->count; k++) {
        interp_copy_box(whole, world->machines[k].returned[i], s->cuts[step->num_operands + i],
                        (int64_t)k, false);
    }
    return TSR_OK;
}

static tsr_status run_world(interp_machine *m, const code_step *step)
{
    const manual_step *s = step->data;
    interp_world world;
    TSR_TRY(interp_world_init(&world, m, 1, (size_t)s->devices));
    world.is_strict = true;
    tsr_status status = TSR_OK;
    for (size_t k = 0; k < world.count && status == TSR_OK; k++) {
        status = enter_device(m, step, &world.machines[k], (int64_t)k, NULL);
    }
    if (status == TSR_OK) {
        status = interp_world_run(&world, m);
    }
    for (size_t i = 0; i < step->num_results && status == TSR_OK; i++) {
        status = join_result(m, step, &world, i);
    }
    interp_world_clear(&world, m);
    return status;
}

static tsr_status run_manual(interp_machine *m, const code_step *step)
{
    const manual_step *s = step->data;
    if (m->world == NULL) {
        return run_world(m, step);
    }
    if (m->world->count != (size_t)s->devices) {
        return INTERP_RUN_ERROR(m, step, TSR_ERR_INVALID,
                                "its mesh has %lld devices, but %zu processes are simulated",
                                (long long)s->devices, m->world->count);
    }
    TSR_TRY(enter_device(m, step, m, (int64_t)m->process, step));
    return (tsr_status)INTERP_ENTERED;
}

static tsr_status resume_manual(interp_machine *m, const code_step *step, size_t which)
{
    const manual_step *s = step->data;
    (void)which;
    for (size_t i = 0; i < m->num_returned; i++) {
        m->slots[s->hidden[i]] = m->returned[i];
    }
    m->num_returned = 0;
    return TSR_OK;
}

/* ---- decoding ---- */

/* The geometry of a value cut along the manual axes of its dimensions alone. */
static tsr_status make_cut(code_decoder *d, const code_step *step, uint32_t attr,
                           const op_type *type, manual_step *s, const tsr_geometry **out)
{
    program_code *code = d->code;
    tsr_program *p = without_const(code->program);
    const tsr_sharding *sharding = NULL;
    TSR_TRY(sharding_of_attr(code->ctx, p, step->op, attr, NO_LOCATION, "", NULL, &sharding));
    if (s->mesh == NULL) {
        s->mesh = sharding->mesh;
        s->devices = tsr_mesh_num_devices(s->mesh);
        TSR_TRY(manual_flags(code->ctx, p, code->arena, step->op, s->mesh, &s->manual));
    }
    if (!tsr_mesh_equal(s->mesh, sharding->mesh) || sharding->rank != type->rank) {
        return TSR_NOT_APPLICABLE;
    }
    tsr_sharding *cut = ARENA_NEW(code->arena, tsr_sharding);
    tsr_dim *dims = ARENA_ARRAY(code->arena, tsr_dim, type->rank + 1);
    if (cut == NULL || dims == NULL) {
        return diag_nomem(code->ctx);
    }
    for (size_t i = 0; i < type->rank; i++) {
        dims[i] =
            tsr_dim_closed(sharding->dims[i].axes, manual_prefix(&sharding->dims[i], s->manual));
    }
    *cut = (tsr_sharding){.mesh = s->mesh, .rank = type->rank, .dims = dims};
    return tsr_geometry_create(code->ctx, code->arena, cut, type->rank, type->shape, out);
}

/* Whether every device has a part of the type that the body says. */
static bool parts_fit(const manual_step *s, const tsr_geometry *cut, const op_type *part)
{
    for (int64_t k = 0; k < s->devices; k++) {
        int64_t start[OP_MAX_RANK];
        int64_t size[OP_MAX_RANK];
        if (!tsr_geometry_box(cut, k, start, size)) {
            return false;
        }
        for (size_t i = 0; i < part->rank; i++) {
            if (size[i] != part->shape[i]) {
                return false;
            }
        }
    }
    return true;
}

static bool sides_match(const code_step *step, const code_block *body)
{
    if (!code_is_static(step) || body->num_arguments != step->num_operands ||
        body->end.num_operands != step->num_results) {
        return false;
    }
    for (size_t i = 0; i < step->num_operands + step->num_results; i++) {
        const code_type *part = i < step->num_operands ? body->argument_types[i]
                                                       : body->end.types[i - step->num_operands];
        if (part->strides == NULL || part->tensor.dtype != step->types[i]->tensor.dtype ||
            part->tensor.rank != step->types[i]->tensor.rank) {
            return false;
        }
    }
    return true;
}

static tsr_status make_cuts(code_decoder *d, const code_step *step, manual_step *s)
{
    const tsr_program *p = d->code->program;
    const attr_head *lists[] = {program_attr(p, op_property(p, step->op, "in_shardings")),
                                program_attr(p, op_property(p, step->op, "out_shardings"))};
    const code_block *body = step->blocks[0];
    const size_t n = step->num_operands;
    if (lists[0]->count != n || lists[1]->count != step->num_results) {
        return TSR_NOT_APPLICABLE;
    }
    for (size_t i = 0; i < n + step->num_results; i++) {
        const uint32_t attr = i < n ? attr_list(lists[0])[i] : attr_list(lists[1])[i - n];
        const op_type *part =
            i < n ? &body->argument_types[i]->tensor : &body->end.types[i - n]->tensor;
        const tsr_status status = make_cut(d, step, attr, &step->types[i]->tensor, s, &s->cuts[i]);
        if (status != TSR_OK) {
            return status;
        }
        if (s->devices > MAX_DEVICES || !parts_fit(s, s->cuts[i], part)) {
            return TSR_NOT_APPLICABLE;
        }
    }
    return TSR_OK;
}

tsr_status interp_prepare_manual(code_decoder *d, code_step *step)
{
    manual_step *s = CODE_NEW(d, manual_step);
    const size_t count = step->num_operands + step->num_results;
    if (s == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *s = (manual_step){.devices = 1};
    s->cuts = ARENA_ARRAY(d->code->arena, const tsr_geometry *, count);
    s->hidden = ARENA_ARRAY(d->code->arena, uint32_t, step->num_results);
    if (s->cuts == NULL || s->hidden == NULL) {
        return diag_nomem(d->code->ctx);
    }
    if (!sides_match(step, step->blocks[0])) {
        return TSR_NOT_APPLICABLE;
    }
    const tsr_status status = make_cuts(d, step, s);
    if (status != TSR_OK) {
        return status;
    }
    for (size_t i = 0; i < step->num_results; i++) {
        s->hidden[i] = d->function->num_slots++;
    }
    s->body = (code_function){
        .op = step->op, .body = step->blocks[0], .num_slots = d->function->num_slots};
    step->action = run_manual;
    step->resume = resume_manual;
    step->devices = CODE_MAKES_DEVICES;
    step->data = s;
    return TSR_OK;
}

/* ---- the second step ---- */

/* Devices that differ in manual axes only, in groups of ids. */
static tsr_status make_groups(code_decoder *d, const manual_step *s, int64_t **out, size_t *count,
                              size_t *size)
{
    const size_t num_axes = s->mesh != NULL ? tsr_mesh_num_axes(s->mesh) : 0;
    tsr_axis_ref *axes = ARENA_ARRAY(d->code->arena, tsr_axis_ref, num_axes + 1);
    const tsr_groups *groups = NULL;
    size_t used = 0;
    *count = 0;
    *size = 0;
    if (axes == NULL) {
        return diag_nomem(d->code->ctx);
    }
    for (size_t i = 0; i < num_axes; i++) {
        if (s->manual[i]) {
            axes[used++] = tsr_axis_full(s->mesh, i);
        }
    }
    if (s->mesh == NULL) {
        return TSR_OK;
    }
    TSR_TRY(tsr_groups_create(d->code->ctx, d->code->arena, s->mesh, axes, used, &groups));
    *count = (size_t)tsr_groups_count(groups);
    *size = (size_t)tsr_groups_size(groups);
    int64_t *ids = ARENA_ARRAY(d->code->arena, int64_t, *count * *size + 1);
    if (ids == NULL) {
        return diag_nomem(d->code->ctx);
    }
    for (size_t g = 0; g < *count; g++) {
        for (size_t k = 0; k < *size; k++) {
            ids[g * *size + k] = tsr_groups_device(groups, (int64_t)g, (int64_t)k);
        }
    }
    *out = ids;
    return TSR_OK;
}

tsr_status interp_prepare_manual_end(code_decoder *d, code_step *step, code_step *next)
{
    const manual_step *s = step->data;
    const code_type **types =
        ARENA_ARRAY(d->code->arena, const code_type *, 2 * (size_t)step->num_results);
    const uint32_t count = step->num_released - step->num_early + step->num_results;
    uint32_t *released = ARENA_ARRAY(d->code->arena, uint32_t, count);
    int64_t *groups = NULL;
    size_t num_groups = 0;
    size_t group_size = 0;
    if (types == NULL || released == NULL) {
        return diag_nomem(d->code->ctx);
    }
    for (size_t i = 0; i < step->num_results; i++) {
        types[i] = step->blocks[0]->end.types[i];
        types[step->num_results + i] = step->types[step->num_operands + i];
        released[i] = s->hidden[i];
    }
    memcpy(released + step->num_results, step->released + step->num_early,
           (step->num_released - step->num_early) * sizeof *released);
    *next = (code_step){.op = step->op,
                        .num_operands = step->num_results,
                        .num_results = step->num_results,
                        .operands = s->hidden,
                        .results = step->results,
                        .types = types,
                        .released = released,
                        .num_released = count};
    step->num_released = step->num_early;
    TSR_TRY(make_groups(d, s, &groups, &num_groups, &group_size));
    return interp_prepare_assembly(d, next, groups, num_groups, group_size,
                                   s->cuts + step->num_operands);
}
