/* The checks of the ops of sdy, but for its collectives. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "verify/verify.h"

enum { MAX_PREFIX = 256 };

tsr_status verify_sdy_mesh(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    return op_is(p, op_parent(p, op), OP_BUILTIN_MODULE)
               ? TSR_OK
               : op_error(ctx, p, op, "expects parent op 'builtin.module'");
}

tsr_status verify_barrier(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    int64_t direction = 0;
    if (!attr_as_integer(p, op_property(p, op, "allowed_direction"), &direction) ||
        direction != 3) {
        return TSR_OK;
    }
    return op_error(ctx, p, op,
                    "cannot specify `BOTH` as the direction. Not blocking propagation "
                    "direction makes the op redundant.");
}

/* ---- unreduced axes ---- */

static tsr_status minus(tsr_context *ctx, tsr_program *p, const tsr_sharding *a,
                        const tsr_sharding *b, tsr_axis_list *out)
{
    const size_t na = a != NULL ? a->num_unreduced : 0;
    const size_t nb = b != NULL ? b->num_unreduced : 0;
    const size_t room = (na + 1) * (nb + 2) * 2;
    *out = (tsr_axis_list){.refs = ARENA_ARRAY(p->scratch, tsr_axis_ref, room), .capacity = room};
    if (out->refs == NULL) {
        return diag_nomem(ctx);
    }
    return tsr_axes_difference(na > 0 ? a->unreduced : NULL, na, nb > 0 ? b->unreduced : NULL, nb,
                               out);
}

static bool same_mesh_name(const tsr_sharding *a, const tsr_sharding *b)
{
    const char *x = tsr_mesh_name(a->mesh);
    const char *y = tsr_mesh_name(b->mesh);
    return x == NULL || y == NULL ? tsr_mesh_equal(a->mesh, b->mesh) : strcmp(x, y) == 0;
}

tsr_status verify_unreduced(tsr_context *ctx, tsr_program *p, uint32_t op, const tsr_sharding *from,
                            const tsr_sharding *to, unreduced_rule rule)
{
    tsr_axis_list introduced;
    tsr_axis_list removed;
    if (from != NULL && to != NULL && !same_mesh_name(from, to)) {
        return TSR_OK;
    }
    TSR_TRY(minus(ctx, p, to, from, &introduced));
    TSR_TRY(minus(ctx, p, from, to, &removed));
    if (introduced.count > 0 && rule.introduces == NO_KIND) {
        return op_error(ctx, p, op, "cannot add new unreduced axis '%s'.",
                        tsr_mesh_axis_name(to->mesh, (size_t)introduced.refs[0].axis));
    }
    if (introduced.count > 0 && (int)to->reduction != rule.introduces) {
        return op_error(ctx, p, op, "cannot introduce '%s' unreduced axes. Expected '%s'.",
                        reduction_name(to->reduction),
                        reduction_name((tsr_reduction)rule.introduces));
    }
    if (removed.count > 0 && rule.removes == NO_KIND) {
        return op_error(ctx, p, op,
                        "dropped unreduced axis '%s' without a blessed operation (e.g., "
                        "sdy.reshard). This is an invalid transition from unreduced to reduced.",
                        tsr_mesh_axis_name(from->mesh, (size_t)removed.refs[0].axis));
    }
    if (removed.count > 0 && (int)from->reduction != rule.removes) {
        return op_error(ctx, p, op, "cannot reduce '%s' unreduced axes. Expected '%s'.",
                        reduction_name(from->reduction),
                        reduction_name((tsr_reduction)rule.removes));
    }
    if (from != NULL && to != NULL && from->reduction != to->reduction &&
        tsr_axes_overlap(from->unreduced, from->num_unreduced, to->unreduced, to->num_unreduced)) {
        return op_error(ctx, p, op,
                        "cannot change the reduction operator of kept unreduced axes from %s to "
                        "%s.",
                        reduction_name(from->reduction), reduction_name(to->reduction));
    }
    return TSR_OK;
}

/* The operand of an op, seen through propagation barriers; at module level these may be a cycle. */
static uint32_t source_value(const tsr_program *p, uint32_t op)
{
    uint32_t value = op_operand(p, op, 0);
    for (uint32_t steps = 0; steps < p->ops.count; steps++) {
        const uint32_t owner = program_value(p, value)->owner;
        if ((owner & IR_IS_ARGUMENT) != 0 || !op_is(p, owner, OP_SDY_PROPAGATION_BARRIER)) {
            break;
        }
        value = op_operand(p, owner, 0);
    }
    return value;
}

tsr_status verify_constraint(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    char prefix[MAX_PREFIX];
    const tsr_sharding *from = NULL;
    const tsr_sharding *to = NULL;
    snprintf(prefix, sizeof prefix, "'%s' op ", op_name(p, op));
    TSR_TRY(verify_sharding(ctx, p, op, prefix, op_property(p, op, "sharding"),
                            value_type(p, program_op(p, op)->results)));
    TSR_TRY(value_sharding(ctx, p, source_value(p, op), &from));
    TSR_TRY(value_sharding(ctx, p, program_op(p, op)->results, &to));
    if (from == NULL || to == NULL) {
        return TSR_OK;
    }
    return verify_unreduced(
        ctx, p, op, from, to,
        (unreduced_rule){.introduces = TSR_SUM, .removes = (int)from->reduction});
}

/* ---- edges ---- */

tsr_status verify_data_flow_edge(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    char prefix[MAX_PREFIX];
    const uint32_t value = op_operand(p, op, 0);
    const uint32_t type = value_type(p, program_op(p, op)->results);
    const uint32_t attr = op_property(p, op, "sharding");
    const uint32_t owner = program_value(p, value)->owner;
    uint32_t count = 0;
    uint32_t user = 0;
    if (!type_is_static(p, type)) {
        return op_error(ctx, p, op,
                        "expected sdy.data_flow_edge to have a static-shaped result. type: '%s'",
                        type_string(ctx, p, type));
    }
    TSR_TRY(value_uses(ctx, p, value, &count, &user));
    if (count != 1) {
        return op_error(ctx, p, op, "expected input of sdy.data_flow_edge to have a single user");
    }
    if ((owner & IR_IS_ARGUMENT) == 0 && op_kind_is_sdy(op_kind_of(p, owner)) &&
        !op_is(p, owner, OP_SDY_MANUAL_COMPUTATION) && !op_is(p, owner, OP_SDY_NAMED_COMPUTATION)) {
        (void)op_error(ctx, p, op,
                       "expected input of sdy.data_flow_edge to not be defined by an SdyDialect op "
                       "(other than an sdy.named_computation).");
        return note_at_op(ctx, p, owner, "sdy op defining the input of the sdy.data_flow_edge");
    }
    snprintf(prefix, sizeof prefix, "'%s' op ", op_name(p, op));
    return attr != 0 ? verify_sharding(ctx, p, op, prefix, attr, type) : TSR_OK;
}

tsr_status verify_func_data_flow_edge(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    const uint32_t value = op_operand(p, op, 0);
    const uint32_t type = value_type(p, program_op(p, op)->results);
    const uint32_t owner = program_value(p, value)->owner;
    uint32_t count = 0;
    uint32_t user = 0;
    if (!type_is_static(p, type)) {
        return op_error(
            ctx, p, op,
            "expected sdy.func_data_flow_edge to have a static-shaped result. type: '%s'",
            type_string(ctx, p, type));
    }
    TSR_TRY(value_uses(ctx, p, value, &count, &user));
    if (count != 1) {
        return op_error(ctx, p, op,
                        "expected operand of sdy.func_data_flow_edge to have a single user");
    }
    if ((owner & IR_IS_ARGUMENT) != 0) {
        return op_is(p, block_parent(p, owner & ~IR_IS_ARGUMENT), OP_FUNC_FUNC)
                   ? TSR_OK
                   : op_error(ctx, p, op,
                              "expected operand of sdy.func_data_flow_edge to be a "
                              "block argument of a func op.");
    }
    return op_is(p, owner, OP_FUNC_CALL)
               ? TSR_OK
               : op_error(ctx, p, op,
                          "expected operand of sdy.func_data_flow_edge to be a result "
                          "of call op.");
}

/* ---- computations ---- */

/* Types of a list of values, and how many. */
typedef struct types_of {
    uint32_t *types;
    size_t count;
} types_of;

static tsr_status collect(tsr_context *ctx, tsr_program *p, const uint32_t *values, size_t count,
                          types_of *out)
{
    out->types = ARENA_ARRAY(p->scratch, uint32_t, count + 1);
    out->count = count;
    if (out->types == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < count; i++) {
        out->types[i] = value_type(p, values[i]);
    }
    return TSR_OK;
}

/* The four lists of a computation: operands and arguments, results and what is returned. */
typedef struct sides {
    types_of operands;
    types_of arguments;
    types_of results;
    types_of returned;
} sides;

static tsr_status collect_sides(tsr_context *ctx, tsr_program *p, uint32_t op, sides *out)
{
    const ir_op *record = program_op(p, op);
    const uint32_t body = op_entry_block(p, op, 0);
    const ir_block *block = program_block(p, body);
    const uint32_t last = block->last_op;
    *out = (sides){0};
    TSR_TRY(
        collect(ctx, p, program_pool(p, record->operands), record->num_operands, &out->operands));
    TSR_TRY(
        collect(ctx, p, program_pool(p, block->arguments), block->num_arguments, &out->arguments));
    out->results.types = ARENA_ARRAY(p->scratch, uint32_t, record->num_results + 1);
    if (out->results.types == NULL) {
        return diag_nomem(ctx);
    }
    for (uint32_t i = 0; i < record->num_results; i++) {
        out->results.types[out->results.count++] = value_type(p, record->results + i);
    }
    return last == 0 ? TSR_OK
                     : collect(ctx, p, program_pool(p, program_op(p, last)->operands),
                               program_op(p, last)->num_operands, &out->returned);
}

static const char *types_string(tsr_context *ctx, tsr_program *p, const types_of *list)
{
    buffer text = buffer_new(p->scratch);
    const char *out = "?";
    for (size_t i = 0; i < list->count; i++) {
        buffer_format(&text, "%s'%s'", i > 0 ? ", " : "", type_string(ctx, p, list->types[i]));
    }
    return buffer_finish(ctx, &text, &out) < 0 ? "?" : out;
}

static bool same_types(const types_of *a, const types_of *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->types, b->types, a->count * sizeof *a->types) == 0);
}

/* The results are what the body returns. */
tsr_status verify_named_types(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    sides all;
    if (op_entry_block(p, op, 0) == 0) {
        return TSR_OK;
    }
    TSR_TRY(collect_sides(ctx, p, op, &all));
    if (same_types(&all.returned, &all.results)) {
        return TSR_OK;
    }
    (void)op_error(ctx, p, op,
                   "inferred type(s) %s are incompatible with return type(s) of operation %s",
                   types_string(ctx, p, &all.returned), types_string(ctx, p, &all.results));
    return diag_follow_up(ctx, op_location(p, op), "'%s' op failed to infer returned types",
                          op_name(p, op));
}

tsr_status verify_named_computation(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    sides all;
    const uint32_t in = op_property(p, op, "in_shardings");
    const uint32_t out = op_property(p, op, "out_shardings");
    TSR_TRY(collect_sides(ctx, p, op, &all));
    if (all.arguments.count != all.operands.count) {
        return error_at_op(ctx, p, op,
                           "number of block arguments must match the number of operands: %zu != "
                           "%zu",
                           all.arguments.count, all.operands.count);
    }
    for (size_t i = 0; i < all.arguments.count; i++) {
        if (all.arguments.types[i] != all.operands.types[i]) {
            return error_at_op(ctx, p, op,
                               "expected the type of the %zu'th block argument to match the type "
                               "of the corresponding operand: '%s' vs '%s'",
                               i, type_string(ctx, p, all.arguments.types[i]),
                               type_string(ctx, p, all.operands.types[i]));
        }
    }
    if (in != 0) {
        TSR_TRY(verify_shardings(ctx, p, op, "in_shardings", in, all.operands.types,
                                 all.operands.count));
    }
    return out == 0 ? TSR_OK
                    : verify_shardings(ctx, p, op, "out_shardings", out, all.results.types,
                                       all.results.count);
}

tsr_status verify_manual_axes(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    char prefix[MAX_PREFIX];
    name_list manual;
    TSR_TRY(manual_axes(ctx, p, op, &manual));
    snprintf(prefix, sizeof prefix, "'%s' op ", op_name(p, op));
    for (size_t i = 0; i < manual.count; i++) {
        TSR_TRY(verify_not_bound(ctx, p, op, prefix, manual.names[i]));
    }
    return TSR_OK;
}

/* One side of a manual computation: "operand" or "result". */
typedef struct manual_side {
    const char *word;
    uint32_t shardings;
    const types_of *global;
    const types_of *local;
} manual_side;

static bool is_manual(const named_axis *axis, const name_list *manual)
{
    return name_list_has(manual, axis->name);
}

/* Manual axes come before free ones in every dimension. */
static tsr_status verify_manual_order(tsr_context *ctx, tsr_program *p, uint32_t op,
                                      const manual_side *side, size_t index,
                                      const sharding_text *text, const name_list *manual)
{
    for (size_t d = 0; d < text->rank; d++) {
        const named_axes axes = text->dims[d].axes;
        for (size_t i = 1; i < axes.count; i++) {
            if (is_manual(&axes.axes[i], manual) && !is_manual(&axes.axes[i - 1], manual)) {
                return op_error(ctx, p, op,
                                "%s sharding at index %zu must have all manual axes come before "
                                "free axes in its dimension sharding at index %zu. Saw manual axis "
                                "%s after free axis %s",
                                side->word, index, d, named_axis_text(p->scratch, &axes.axes[i]),
                                named_axis_text(p->scratch, &axes.axes[i - 1]));
            }
        }
    }
    return TSR_OK;
}

/* The product of the sizes of the manual axes of a dimension. */
static int64_t manual_size(const tsr_mesh *mesh, const dim_text *dim, const name_list *manual)
{
    int64_t size = 1;
    for (size_t i = 0; i < dim->axes.count; i++) {
        const named_axis *axis = &dim->axes.axes[i];
        if (is_manual(axis, manual)) {
            const int32_t number = tsr_mesh_find_axis(mesh, axis->name.data, axis->name.size);
            size *= axis->ref.is_sub ? axis->ref.size : tsr_mesh_axis_size(mesh, (size_t)number);
        }
    }
    return size;
}

static tsr_status verify_local_type(tsr_context *ctx, tsr_program *p, uint32_t op,
                                    const manual_side *side, size_t index, uint32_t attr,
                                    const sharding_text *text, const name_list *manual)
{
    const type_head *global = program_type(p, side->global->types[index]);
    const tsr_mesh *mesh = NULL;
    uint32_t expected = 0;
    if (global->kind != TYPE_TENSOR || text->rank != global->count) {
        return TSR_OK;
    }
    TSR_TRY(sharding_mesh(ctx, p, op, attr, &mesh));
    int64_t *extents = ARENA_ARRAY(p->scratch, int64_t, global->count + 1);
    if (extents == NULL) {
        return diag_nomem(ctx);
    }
    for (uint32_t d = 0; d < global->count; d++) {
        const int64_t size = manual_size(mesh, &text->dims[d], manual);
        const int64_t extent = type_extents(global)[d];
        if (extent != TSR_UNKNOWN && extent % size != 0) {
            return op_error(ctx, p, op,
                            "%s dimension size %lld is not divisible by the manual axes size %lld",
                            side->word, (long long)extent, (long long)size);
        }
        extents[d] = extent == TSR_UNKNOWN ? extent : extent / size;
    }
    TSR_TRY(type_tensor(p, extents, global->count, global->element, global->encoding, &expected));
    if (expected == side->local->types[index]) {
        return TSR_OK;
    }
    return op_error(ctx, p, op,
                    "%s shape, corresponding sharding, and region %s shape at index %zu must "
                    "match. Expected local shape '%s', actual local shape '%s'",
                    side->word, side->word, index, type_string(ctx, p, expected),
                    type_string(ctx, p, side->local->types[index]));
}

static tsr_status verify_side(tsr_context *ctx, tsr_program *p, uint32_t op,
                              const manual_side *side, const name_list *manual)
{
    const attr_head *list = program_attr(p, side->shardings);
    if (side->global->count == 0 && side->local->count == 0 && list->count == 0) {
        return TSR_OK;
    }
    TSR_TRY(verify_shardings(ctx, p, op, side->word, side->shardings, side->global->types,
                             side->global->count));
    if (side->global->count != side->local->count) {
        return op_error(ctx, p, op,
                        "number of op %ss and region %ss must match. Op has %zu op %ss and %zu "
                        "region %ss",
                        side->word, side->word, side->global->count, side->word, side->local->count,
                        side->word);
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const sharding_text *text = NULL;
        TSR_TRY(sharding_written(ctx, p, op, attr_list(list)[i], &text));
        TSR_TRY(verify_manual_order(ctx, p, op, side, i, text, manual));
        TSR_TRY(verify_local_type(ctx, p, op, side, i, attr_list(list)[i], text, manual));
    }
    return TSR_OK;
}

/* The mesh that all shardings of both sides have in common; NULL: none. */
static tsr_status common_mesh(tsr_context *ctx, tsr_program *p, uint32_t op,
                              const manual_side *both, const tsr_mesh **out, bool *any)
{
    *out = NULL;
    *any = false;
    bool differ = false;
    for (size_t s = 0; s < 2; s++) {
        const attr_head *list = program_attr(p, both[s].shardings);
        for (uint32_t i = 0; i < list->count; i++) {
            const tsr_mesh *mesh = NULL;
            *any = true;
            TSR_TRY(sharding_mesh(ctx, p, op, attr_list(list)[i], &mesh));
            if (*out == NULL || tsr_mesh_is_empty(*out)) {
                *out = mesh;
            } else if (!tsr_mesh_is_empty(mesh) && !tsr_mesh_equal(mesh, *out)) {
                differ = true;
            }
        }
    }
    if (differ) {
        *out = NULL;
    }
    return TSR_OK;
}

tsr_status verify_manual_computation(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    sides all;
    name_list manual;
    const tsr_mesh *mesh = NULL;
    bool any = false;
    if (op_entry_block(p, op, 0) == 0) {
        return TSR_OK;
    }
    TSR_TRY(collect_sides(ctx, p, op, &all));
    TSR_TRY(manual_axes(ctx, p, op, &manual));
    const manual_side both[2] = {
        {"operand", op_property(p, op, "in_shardings"), &all.operands, &all.arguments},
        {"result", op_property(p, op, "out_shardings"), &all.results, &all.returned}};
    TSR_TRY(verify_side(ctx, p, op, &both[0], &manual));
    TSR_TRY(verify_side(ctx, p, op, &both[1], &manual));
    TSR_TRY(common_mesh(ctx, p, op, both, &mesh, &any));
    if (!any) {
        return TSR_OK;
    }
    if (mesh == NULL && manual.count > 0) {
        return op_error(ctx, p, op,
                        "all in and out shardings must be bound to the same mesh or an "
                        "empty mesh.");
    }
    for (size_t i = 0; i < manual.count; i++) {
        if (tsr_mesh_find_axis(mesh, manual.names[i].data, manual.names[i].size) < 0) {
            return op_error(ctx, p, op, "unknown manual axis: \"%.*s\"", (int)manual.names[i].size,
                            manual.names[i].data);
        }
    }
    return TSR_OK;
}
