/* Collectives between processes. */
#include "interp/steps_collective.h"

#include <string.h>

#include "base/arena.h"
#include "interp/groups.h"
#include "interp/world.h"
#include "kernel/elementwise.h"
#include "number/element.h"
#include "ops/run_window.h"

typedef enum collective_kind {
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BROADCAST,
    PERMUTE,
    REDUCE_SCATTER,
    ASSEMBLE /* the results of a manual computation */
} collective_kind;

typedef struct collective_step {
    collective_kind kind;
    interp_groups groups; /* of a permutation, pairs */
    int64_t channel;
    size_t dim;           /* gathered, scattered or concatenated along */
    size_t split_dim;     /* of all_to_all */
    bool has_root;        /* of a broadcast: the last operand says from whom */
    interp_region region; /* of a reduction */
    op_region body;
    const tsr_geometry *const *cuts; /* of what is assembled */
} collective_step;

/* ---- what each collective gives ---- */

/* The operands of a collective, of all members. */
typedef struct rendezvous {
    interp_machine *m; /* the one that came last */
    const interp_world *world;
    const collective_step *c;
    const code_step *step;
    interp_members members;
} rendezvous;

static interp_array *operand_of(const rendezvous *t, size_t member, size_t i)
{
    const size_t process = t->members.list[member];
    return interp_operand(&t->world->machines[process], t->world->arrivals[process].step, i);
}

/* Copies `rows` rows along a dimension from one array to another. */
static void copy_rows(const interp_array *to, int64_t at, const interp_array *from, int64_t first,
                      int64_t rows, size_t dim)
{
    int64_t shape[OP_MAX_RANK];
    memcpy(shape, from->shape, from->rank * sizeof *shape);
    shape[dim] = rows;
    kernel_copy(to->data + at * to->strides[dim], to->strides,
                from->data + first * from->strides[dim], from->strides, shape, from->rank,
                (size_t)tsr_dtype_item_bytes(from->dtype), false);
}

static tsr_status new_result(const rendezvous *t, size_t i, interp_array **out)
{
    return interp_array_new(t->m->pool, t->step->types[t->step->num_operands + i], out);
}

static tsr_status gather_all(const rendezvous *t, size_t i, interp_array **out)
{
    int64_t at = 0;
    TSR_TRY(new_result(t, i, out));
    for (size_t k = 0; k < t->members.count; k++) {
        const interp_array *from = operand_of(t, k, i);
        const int64_t rows = from->shape[t->c->dim];
        if (at + rows <= (*out)->shape[t->c->dim]) {
            copy_rows(*out, at, from, 0, rows, t->c->dim);
        }
        at += rows;
    }
    return TSR_OK;
}

/* Combines an array with the next one, element by element. */
static void combine(const rendezvous *t, const interp_array *sum, const interp_array *next)
{
    const collective_step *c = t->c;
    const tsr_view to = interp_array_view(sum);
    const tsr_view from = interp_array_view(next);
    const int64_t item = tsr_dtype_item_bytes(sum->dtype);
    binary_op op = BINARY_ADD;
    if (c->body.body != OP_BODY_OPAQUE && region_binary(&c->body, &op) &&
        binary_supports(op, sum->dtype)) {
        kernel_binary(op, &to, &to, &from);
        return;
    }
    interp_region region = {c->region.block, t->m};
    for (int64_t at = 0; at < sum->bytes; at += item) {
        char made[16] = {0};
        const void *arguments[] = {sum->data + at, next->data + at};
        void *results[] = {made};
        interp_region_call(&region, arguments, results);
        memcpy(sum->data + at, made, (size_t)item);
    }
}

/* A copy of a member's operand in the type of the result. */
static tsr_status promoted(const rendezvous *t, size_t member, size_t i, interp_array **out)
{
    const interp_array *from = operand_of(t, member, i);
    const tsr_dtype dtype = t->step->types[t->step->num_operands + i]->tensor.dtype;
    TSR_TRY(interp_array_shaped(t->m->pool, dtype, from->rank, from->shape, out));
    if (dtype == from->dtype) {
        memcpy((*out)->data, from->data, (size_t)from->bytes);
    } else {
        kernel_convert_any(dtype, (*out)->data, from->dtype, from->data,
                           interp_array_elements(from));
    }
    return TSR_OK;
}

static tsr_status reduce_all(const rendezvous *t, size_t i, interp_array **out)
{
    TSR_TRY(promoted(t, 0, i, out));
    for (size_t k = 1; k < t->members.count; k++) {
        interp_array *next = NULL;
        TSR_TRY(promoted(t, k, i, &next));
        combine(t, *out, next);
        interp_array_drop(t->m->pool, next);
    }
    return t->m->failed;
}

/* Result i of each member. */
static tsr_status scatter_sum(const rendezvous *t, size_t i, interp_array **results, size_t stride)
{
    interp_array *sum = NULL;
    tsr_status status = reduce_all(t, i, &sum);
    for (size_t k = 0; k < t->members.count && status == TSR_OK; k++) {
        status = new_result(t, i, &results[k * stride]);
        if (status == TSR_OK) {
            const int64_t rows = results[k * stride]->shape[t->c->dim];
            copy_rows(results[k * stride], 0, sum, (int64_t)k * rows, rows, t->c->dim);
        }
    }
    interp_array_drop(t->m->pool, sum);
    return status;
}

static tsr_status all_to_all(const rendezvous *t, size_t i, size_t member, interp_array **out)
{
    const size_t split = t->c->split_dim;
    const size_t concat = t->c->dim;
    int64_t shape[OP_MAX_RANK];
    TSR_TRY(new_result(t, i, out));
    for (size_t k = 0; k < t->members.count; k++) {
        const interp_array *from = operand_of(t, k, i);
        const int64_t rows = from->shape[split] / (int64_t)t->members.count;
        memcpy(shape, from->shape, from->rank * sizeof *shape);
        shape[split] = rows;
        kernel_copy((*out)->data + (int64_t)k * shape[concat] * (*out)->strides[concat],
                    (*out)->strides, from->data + (int64_t)member * rows * from->strides[split],
                    from->strides, shape, from->rank, (size_t)tsr_dtype_item_bytes(from->dtype),
                    false);
    }
    return TSR_OK;
}

static tsr_status zeros(const rendezvous *t, size_t i, interp_array **out)
{
    TSR_TRY(new_result(t, i, out));
    memset((*out)->data, 0, (size_t)(*out)->bytes);
    return TSR_OK;
}

/* What comes to a member by the pairs. */
static tsr_status permute(const rendezvous *t, size_t i, size_t member, interp_array **out)
{
    const collective_step *c = t->c;
    for (size_t k = 0; k < c->groups.count; k++) {
        interp_members from = {.list = (size_t[1]){0}};
        interp_members to = {.list = (size_t[1]){0}};
        const size_t process = t->members.list[member];
        interp_add_members(&c->groups, t->world, c->groups.numbers[2 * k], process, &from);
        interp_add_members(&c->groups, t->world, c->groups.numbers[2 * k + 1], process, &to);
        if (from.count == 1 && to.count == 1 && to.list[0] == process) {
            const interp_machine *source = &t->world->machines[from.list[0]];
            const code_step *step = t->world->arrivals[from.list[0]].step;
            *out = interp_array_keep(interp_operand(source, step, i));
            return TSR_OK;
        }
    }
    return zeros(t, i, out);
}

static tsr_status assemble(const rendezvous *t, size_t i, interp_array **out)
{
    TSR_TRY(new_result(t, i, out));
    for (size_t k = 0; k < t->members.count; k++) {
        interp_copy_box(*out, operand_of(t, k, i), t->c->cuts[i], (int64_t)t->members.list[k],
                        false);
    }
    return TSR_OK;
}

/* The first member's operand, or that of the process that a further operand names. */
static tsr_status broadcast(const rendezvous *t, size_t i, interp_array **out)
{
    if (!t->c->has_root) {
        *out = interp_array_keep(operand_of(t, 0, i));
        return TSR_OK;
    }
    const interp_array *roots = operand_of(t, 0, t->step->num_results);
    const int64_t item = tsr_dtype_item_bytes(roots->dtype);
    const int64_t at = roots->bytes > (int64_t)i * item ? (int64_t)i * item : 0;
    const int64_t root = element_index(roots->dtype, roots->data + at);
    interp_members from = {.list = (size_t[1]){0}};
    interp_add_members(&t->c->groups, t->world, root, t->members.list[0], &from);
    if (from.count == 0 || !interp_has_member(&t->members, from.list[0])) {
        return INTERP_RUN_ERROR(t->m, t->step, TSR_ERR_INVALID,
                                "the root %lld is not a member of the group", (long long)root);
    }
    const interp_machine *source = &t->world->machines[from.list[0]];
    *out = interp_array_keep(interp_operand(source, t->world->arrivals[from.list[0]].step, i));
    return TSR_OK;
}

/* The results of all members, `stride` apart for each. */
static tsr_status compute(const rendezvous *t, size_t i, interp_array **results, size_t stride)
{
    const collective_kind kind = t->c->kind;
    if (kind == REDUCE_SCATTER) {
        return scatter_sum(t, i, results, stride);
    }
    for (size_t k = 0; k < t->members.count; k++) {
        interp_array **out = &results[k * stride];
        if (k > 0 && kind != ALL_TO_ALL && kind != PERMUTE) {
            *out = interp_array_keep(results[0]);
            continue;
        }
        tsr_status status = TSR_OK;
        switch (kind) {
        case ALL_GATHER:
            status = gather_all(t, i, out);
            break;
        case ALL_REDUCE:
            status = reduce_all(t, i, out);
            break;
        case ALL_TO_ALL:
            status = all_to_all(t, i, k, out);
            break;
        case ASSEMBLE:
            status = assemble(t, i, out);
            break;
        case PERMUTE:
            status = permute(t, i, k, out);
            break;
        default:
            status = broadcast(t, i, out);
            break;
        }
        TSR_TRY(status);
    }
    return TSR_OK;
}

/* ---- rendezvous ---- */

/* Whether a process is at the same collective, with operands of the same types. */
static bool is_there(const interp_world *world, size_t process, const code_step *step)
{
    const interp_arrival *a = &world->arrivals[process];
    if (a->step == NULL || a->done) {
        return false;
    }
    if (a->step == step) {
        return true;
    }
    const collective_step *mine = step->data;
    const collective_step *other = a->step->data;
    if (a->step->action != step->action || mine->kind != other->kind ||
        mine->channel != other->channel || a->step->num_operands != step->num_operands) {
        return false;
    }
    for (size_t i = 0; i < step->num_operands; i++) {
        const op_type *x = &a->step->types[i]->tensor;
        const op_type *y = &step->types[i]->tensor;
        if (x->dtype != y->dtype || !op_shapes_agree(x, y)) {
            return false;
        }
    }
    return true;
}

static void take_results(interp_machine *m, const code_step *step, interp_arrival *a)
{
    for (size_t i = 0; i < step->num_results; i++) {
        interp_set_result(m, step, i, a->results[i]);
    }
    (void)context_resize(m->ctx, a->results, step->num_results * sizeof *a->results, 0);
    *a = (interp_arrival){0};
}

/* Whether the results have the extents that a group of this size gives. */
static bool sizes_fit(const rendezvous *t, size_t i)
{
    const int64_t n = (int64_t)t->members.count;
    const size_t dim = t->c->dim;
    const size_t split = t->c->split_dim;
    const op_type *from = &t->step->types[i]->tensor;
    const op_type *to = &t->step->types[t->step->num_operands + i]->tensor;
    int64_t rows = 0;
    switch (t->c->kind) {
    case ALL_GATHER:
        return checked_mul(from->shape[dim], n, &rows) && rows == to->shape[dim];
    case REDUCE_SCATTER:
        return checked_mul(to->shape[dim], n, &rows) && rows == from->shape[dim];
    case ALL_TO_ALL:
        return split == dim
                   ? from->shape[dim] == to->shape[dim] && n > 0 && from->shape[dim] % n == 0
                   : checked_mul(from->shape[dim], n, &rows) && rows == to->shape[dim] &&
                         checked_mul(to->shape[split], n, &rows) && rows == from->shape[split];
    default:
        return true;
    }
}

static tsr_status check_sizes(const rendezvous *t)
{
    for (size_t i = 0; i < t->step->num_results; i++) {
        if (!sizes_fit(t, i)) {
            return INTERP_RUN_ERROR(
                t->m, t->step, TSR_ERR_INVALID,
                "a group of %zu processes does not fit %s and its result %s", t->members.count,
                op_type_text(&t->step->types[i]->tensor).text,
                op_type_text(&t->step->types[t->step->num_operands + i]->tensor).text);
        }
    }
    return TSR_OK;
}

/* Computes the results of all members and leaves them for each to take. */
static tsr_status finish(const rendezvous *t, interp_world *world)
{
    const size_t n = t->step->num_results;
    const size_t total = n * t->members.count;
    TSR_TRY(check_sizes(t));
    interp_array **all = context_resize(t->m->ctx, NULL, 0, total * sizeof *all);
    if (all == NULL) {
        return diag_nomem(t->m->ctx);
    }
    memset(all, 0, total * sizeof *all);
    tsr_status status = TSR_OK;
    for (size_t i = 0; i < n && status == TSR_OK; i++) {
        status = compute(t, i, all + i, n);
    }
    for (size_t k = 0; k < t->members.count && status == TSR_OK; k++) {
        interp_array **results = context_resize(t->m->ctx, NULL, 0, n * sizeof *results);
        if (results == NULL) {
            status = diag_nomem(t->m->ctx);
            break;
        }
        interp_arrival *a = &world->arrivals[t->members.list[k]];
        memcpy(results, all + k * n, n * sizeof *results);
        memset(all + k * n, 0, n * sizeof *results);
        a->results = results;
        a->done = true;
    }
    for (size_t i = 0; i < total; i++) {
        interp_array_drop(t->m->pool, all[i]);
    }
    (void)context_resize(t->m->ctx, all, total * sizeof *all, 0);
    return status;
}

/* An error when a group, or a pair, names a process that the world does not have. */
static tsr_status check_groups(const interp_machine *m, const code_step *step)
{
    const interp_groups *g = &((const collective_step *)step->data)->groups;
    const interp_world *world = m->world;
    const bool by_replica = g->by == BY_REPLICA || g->by == BY_REPLICA_AND_PARTITION;
    const size_t count = by_replica              ? world->replicas
                         : g->by == BY_PARTITION ? world->partitions
                                                 : world->count;
    for (size_t i = 0; i < g->count * g->size; i++) {
        if (g->numbers[i] >= 0 && (uint64_t)g->numbers[i] >= count) {
            return INTERP_RUN_ERROR(
                m, step, TSR_ERR_INVALID, "it names %s %lld, but the run has %zu; %s",
                by_replica              ? "replica"
                : g->by == BY_PARTITION ? "partition"
                                        : "device",
                (long long)g->numbers[i], count,
                g->by == BY_REPLICA ? "without a channel_handle of at least 1 the numbers are "
                                      "replica ids, and mhlo.num_replicas is their count"
                                    : "a module has mhlo.num_replicas x mhlo.num_partitions "
                                      "devices, a manual computation the devices of its mesh");
        }
    }
    return TSR_OK;
}

static tsr_status run_collective(interp_machine *m, const code_step *step)
{
    const collective_step *c = step->data;
    interp_world *world = m->world;
    interp_arrival *arrival = &world->arrivals[m->process];
    if (arrival->done) {
        take_results(m, step, arrival);
        return TSR_OK;
    }
    if (world->is_strict) {
        TSR_TRY(check_groups(m, step));
    }
    const size_t room = world->count * sizeof(size_t);
    rendezvous t = {.m = m, .world = world, .c = c, .step = step};
    t.members.list = context_resize(m->ctx, NULL, 0, room);
    if (t.members.list == NULL) {
        return diag_nomem(m->ctx);
    }
    tsr_status status = TSR_OK;
    arrival->step = step;
    if (!interp_find_group(&c->groups, world, m->process, c->kind == PERMUTE, &t.members)) {
        t.members.list[0] = m->process;
        t.members.count = 1;
        for (size_t i = 0; i < step->num_results && status == TSR_OK; i++) {
            interp_array *none = NULL;
            status = zeros(&t, i, &none);
            if (status == TSR_OK) {
                interp_set_result(m, step, i, none);
            }
        }
        *arrival = (interp_arrival){0};
    } else {
        bool all = true;
        for (size_t k = 0; k < t.members.count; k++) {
            all = all && is_there(world, t.members.list[k], step);
        }
        status = all ? finish(&t, world) : (tsr_status)INTERP_WAITING;
        if (status == TSR_OK) {
            take_results(m, step, arrival);
        }
    }
    (void)context_resize(m->ctx, t.members.list, room, 0);
    return status;
}

/* ---- decoding ---- */

static bool is_scalar_of(const code_type *t)
{
    return t->kind == CODE_TENSOR && t->tensor.rank == 0;
}

/* The region of a reduction: of two scalars of the type of the operands. */
static tsr_status read_region(code_decoder *d, const code_step *step, collective_step *c)
{
    const code_block *block = step->blocks[0];
    if (block->num_arguments != 2 || block->end.num_operands != 1 ||
        !is_scalar_of(block->argument_types[0]) || !is_scalar_of(block->argument_types[1]) ||
        !is_scalar_of(block->end.types[0])) {
        return TSR_NOT_APPLICABLE;
    }
    for (size_t i = 0; i < step->num_results; i++) {
        const tsr_dtype dtype = step->types[step->num_operands + i]->tensor.dtype;
        if (block->argument_types[0]->tensor.dtype != dtype ||
            block->argument_types[1]->tensor.dtype != dtype ||
            block->end.types[0]->tensor.dtype != dtype) {
            return TSR_NOT_APPLICABLE;
        }
    }
    c->region.block = block;
    c->body = known_region(
        ir_region_combiner(d->code->program, op_region_at(d->code->program, step->op, 0)));
    return TSR_OK;
}

/* A sum, of an op that has no region. */
static tsr_status sum_region(const code_step *step, collective_step *c)
{
    c->body = known_region(OP_BODY_SUM);
    return code_is_static(step) &&
                   binary_supports(BINARY_ADD, step->types[step->num_operands]->tensor.dtype)
               ? TSR_OK
               : TSR_NOT_APPLICABLE;
}

static size_t read_dim(const tsr_program *p, uint32_t op, const char *name)
{
    int64_t dim = 0;
    (void)attr_as_integer(p, op_property(p, op, name), &dim);
    return (size_t)dim;
}

/* Whether results follow from operands, whatever the size of a group. */
static bool shapes_fit(const code_step *step, const collective_step *c)
{
    if (!code_is_static(step) || step->num_results + c->has_root != step->num_operands) {
        return false;
    }
    if (c->has_root && (!dtype_is_integer(step->types[step->num_results]->tensor.dtype) ||
                        step->types[step->num_results]->bytes == 0)) {
        return false;
    }
    for (size_t i = 0; i < step->num_results; i++) {
        const op_type *from = &step->types[i]->tensor;
        const op_type *to = &step->types[step->num_operands + i]->tensor;
        const bool promotes = c->kind == ALL_REDUCE || c->kind == REDUCE_SCATTER;
        if ((from->dtype != to->dtype && !promotes) || from->rank != to->rank) {
            return false;
        }
        const bool moves =
            c->kind == ALL_GATHER || c->kind == ALL_TO_ALL || c->kind == REDUCE_SCATTER;
        if (moves && (c->dim >= from->rank || c->split_dim >= from->rank)) {
            return false;
        }
        for (size_t e = 0; e < from->rank; e++) {
            const bool changes =
                moves && (e == c->dim || (c->kind == ALL_TO_ALL && e == c->split_dim));
            if (!changes && from->shape[e] != to->shape[e]) {
                return false;
            }
        }
    }
    return true;
}

/* Collectives of StableHLO: what they are, and the property with their dimension. */
typedef struct collective_row {
    collective_kind kind;
    const char *dim;
} collective_row;

static const collective_row collective_rows[OP_KIND_COUNT] = {
    [OP_STABLEHLO_ALL_GATHER] = {ALL_GATHER, "all_gather_dim"},
    [OP_STABLEHLO_ALL_REDUCE] = {ALL_REDUCE, NULL},
    [OP_STABLEHLO_ALL_TO_ALL] = {ALL_TO_ALL, "concat_dimension"},
    [OP_STABLEHLO_COLLECTIVE_BROADCAST] = {BROADCAST, NULL},
    [OP_STABLEHLO_COLLECTIVE_PERMUTE] = {PERMUTE, NULL},
    [OP_STABLEHLO_CROSS_REPLICA_SUM] = {ALL_REDUCE, NULL},
    [OP_STABLEHLO_REDUCE_SCATTER] = {REDUCE_SCATTER, "scatter_dimension"},
};

static interp_group_kind numbering_of(const tsr_program *p, uint32_t op, const collective_step *c)
{
    const bool global = op_property(p, op, "use_global_device_ids") != 0;
    if (c->channel <= 0) {
        return BY_REPLICA;
    }
    if (c->kind == ALL_TO_ALL || c->kind == BROADCAST || c->kind == PERMUTE) {
        return BY_PARTITION;
    }
    return global ? BY_ID : BY_REPLICA_AND_PARTITION;
}

static tsr_status prepare_collective(code_decoder *d, code_step *step)
{
    const tsr_program *p = d->code->program;
    const collective_row *row = &collective_rows[op_kind_of(p, step->op)];
    collective_step *c = CODE_NEW(d, collective_step);
    if (c == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *c = (collective_step){.kind = row->kind, .channel = interp_channel_of(p, step->op)};
    c->groups.by = numbering_of(p, step->op, c);
    c->dim = row->dim != NULL ? read_dim(p, step->op, row->dim) : 0;
    c->has_root = tsr_ir_op_attribute(p, step->op, "has_dynamic_root") != 0;
    c->split_dim = row->kind == ALL_TO_ALL ? read_dim(p, step->op, "split_dimension") : 0;
    const tsr_status status = interp_read_groups(
        d, step->op, row->kind == PERMUTE ? "source_target_pairs" : "replica_groups", &c->groups);
    if (status != TSR_OK) {
        return status;
    }
    if (row->kind == ALL_REDUCE || row->kind == REDUCE_SCATTER) {
        const bool has_region = program_op(p, step->op)->num_regions > 0;
        const tsr_status region = has_region ? read_region(d, step, c) : sum_region(step, c);
        if (region != TSR_OK) {
            return region;
        }
    }
    step->action = run_collective;
    step->devices = CODE_NEEDS_DEVICES;
    step->data = c;
    return shapes_fit(step, c) ? TSR_OK : TSR_NOT_APPLICABLE;
}

static tsr_status run_assembly(interp_machine *m, const code_step *step)
{
    if (m->world != NULL) {
        return run_collective(m, step);
    }
    for (size_t i = 0; i < step->num_results; i++) {
        interp_set_result(m, step, i, interp_array_keep(interp_operand(m, step, i)));
    }
    return TSR_OK;
}

tsr_status interp_prepare_assembly(code_decoder *d, code_step *step, const int64_t *groups,
                                   size_t num_groups, size_t group_size,
                                   const tsr_geometry *const *cuts)
{
    collective_step *c = CODE_NEW(d, collective_step);
    if (c == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *c = (collective_step){
        .kind = ASSEMBLE, .groups = {BY_ID, groups, num_groups, group_size}, .cuts = cuts};
    step->action = run_assembly;
    step->data = c;
    return TSR_OK;
}

const code_op interp_ops_collective[OP_KIND_COUNT] = {
    [OP_SDY_MANUAL_COMPUTATION] = {interp_prepare_manual, interp_prepare_manual_end},
    [OP_STABLEHLO_ALL_GATHER] = {.prepare = prepare_collective},
    [OP_STABLEHLO_ALL_REDUCE] = {.prepare = prepare_collective},
    [OP_STABLEHLO_ALL_TO_ALL] = {.prepare = prepare_collective},
    [OP_STABLEHLO_COLLECTIVE_BROADCAST] = {.prepare = prepare_collective},
    [OP_STABLEHLO_COLLECTIVE_PERMUTE] = {.prepare = prepare_collective},
    [OP_STABLEHLO_CROSS_REPLICA_SUM] = {.prepare = prepare_collective},
    [OP_STABLEHLO_REDUCE_SCATTER] = {.prepare = prepare_collective},
};
