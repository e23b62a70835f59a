/*
 * Explicit reshards: where an op needs its tensors in other shardings than they have, a reshard or
 * an all-reduce is put between. Without the full version only calls, concatenates and pending
 * reductions get any.
 */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "factor/rule.h"
#include "mesh/mesh.h"
#include "propagate/call_graph.h"
#include "propagate/passes.h"
#include "propagate/state.h"

typedef struct resharding {
    propagation *s; /* for its rules */
    workspace *w;
    bool full;
    symbols table;
} resharding;

/* ---- lists of axes ---- */

static tsr_status new_list(workspace *w, size_t capacity, tsr_axis_list *out)
{
    *out = (tsr_axis_list){.refs = ARENA_ARRAY(w->scratch, tsr_axis_ref, capacity + 1),
                           .capacity = capacity};
    return out->refs != NULL ? TSR_OK : diag_nomem(w->ctx);
}

static size_t room_of(const tsr_sharding *s)
{
    size_t room = s->num_replicated + s->num_unreduced;
    for (size_t d = 0; d < s->rank; d++) {
        room += s->dims[d].num_axes;
    }
    return 4 * room + 16;
}

/* The unreduced axes of one sharding that another lacks. */
static tsr_status lost_unreduced(workspace *w, const tsr_sharding *from, const tsr_sharding *to,
                                 tsr_axis_list *out)
{
    TSR_TRY(new_list(w, from != NULL ? room_of(from) + (to != NULL ? room_of(to) : 0) : 0, out));
    if (from == NULL) {
        return TSR_OK;
    }
    return tsr_axes_difference(from->unreduced, from->num_unreduced,
                               to != NULL ? to->unreduced : NULL,
                               to != NULL ? to->num_unreduced : 0, out);
}

/* ---- shardings ---- */

static tsr_status sharding_of_use(workspace *w, uint32_t value, const tsr_sharding **out)
{
    const tsr_sharding *found = NULL;
    *out = NULL;
    TSR_TRY(value_sharding(w->ctx, w->p, value, &found));
    return found != NULL ? engine_intern(w->engine, found, out) : TSR_OK;
}

/* ---- new ops ---- */

/* A unary op of the value's type, in no block yet. */
static tsr_status make_unary(workspace *w, const char *name, uint32_t value, uint32_t properties,
                             uint32_t like, uint32_t *out)
{
    const uint32_t type = value_type(w->p, value);
    const op_spec spec = {.name = name,
                          .operands = &value,
                          .num_operands = 1,
                          .types = &type,
                          .num_results = 1,
                          .properties = properties,
                          .like = like};
    return op_create(w->p, &spec, out);
}

static tsr_status make_reshard(workspace *w, uint32_t value, const tsr_sharding *to, uint32_t like,
                               uint32_t *out)
{
    uint32_t attr = 0;
    uint32_t dict = 0;
    TSR_TRY(sharding_attr(w, to, &attr));
    TSR_TRY(dict_set(w->p, 0, "sharding", attr, &dict));
    return make_unary(w, "sdy.reshard", value, dict, like, out);
}

/* `{"x", "y":(1)2}` as an attribute, or `[{..}, {}]` for a list of lists. */
static tsr_status axes_attr(workspace *w, const tsr_mesh *mesh, const tsr_axis_list *lists,
                            size_t count, bool nested, uint32_t *out)
{
    buffer text = buffer_new(w->scratch);
    const char *string = NULL;
    buffer_string(&text, nested ? "[" : "");
    for (size_t i = 0; i < count; i++) {
        buffer_string(&text, i > 0 ? ", {" : "{");
        if (lists[i].count > 0) {
            const char *axes = NULL;
            TSR_TRY(tsr_axes_print(w->ctx, w->scratch, mesh, lists[i].refs, lists[i].count, &axes));
            const size_t size = strlen(axes);
            const bool braces = size >= 2 && axes[0] == '{';
            buffer_bytes(&text, axes + braces, size - 2 * (size_t)braces);
        }
        buffer_char(&text, '}');
    }
    buffer_string(&text, nested ? "]" : "");
    TSR_TRY(buffer_finish(w->ctx, &text, &string));
    return attr_of_text(w->p, ATTR_SDY, nested ? SDY_AXIS_REF_LISTS : SDY_AXIS_REF_LIST, 0, string,
                        text.size, out);
}

/* A collective that takes one list of axes, and the sharding that comes out. */
static tsr_status make_collective(workspace *w, const char *name, const char *axes_name,
                                  uint32_t axes, uint32_t value, const tsr_sharding *to,
                                  tsr_reduction reduction, uint32_t like, uint32_t *out)
{
    tsr_program *p = w->p;
    uint32_t attr = 0;
    uint32_t dict = 0;
    TSR_TRY(sharding_attr(w, to, &attr));
    TSR_TRY(dict_set(p, 0, "out_sharding", attr, &dict));
    TSR_TRY(dict_set(p, dict, axes_name, axes, &dict));
    if (reduction != TSR_SUM) {
        uint32_t type = 0;
        TSR_TRY(type_integer(p, 32, SIGNLESS, &type));
        TSR_TRY(attr_integer(p, type, (uint64_t)reduction, &attr));
        TSR_TRY(dict_set(p, dict, "reduction_op", attr, &dict));
    }
    return make_unary(w, name, value, dict, like, out);
}

/* An all-reduce of some unreduced axes of a value's sharding. */
static tsr_status make_all_reduce(workspace *w, uint32_t value, const tsr_sharding *from,
                                  const tsr_axis_list *axes, uint32_t like, uint32_t *out)
{
    tsr_axis_list rest;
    uint32_t attr = 0;
    const tsr_sharding *to = NULL;
    TSR_TRY(new_list(w, room_of(from) + axes->count, &rest));
    TSR_TRY(
        tsr_axes_difference(from->unreduced, from->num_unreduced, axes->refs, axes->count, &rest));
    tsr_sharding copy = *from;
    copy.unreduced = rest.refs;
    copy.num_unreduced = rest.count;
    copy.reduction = rest.count > 0 ? from->reduction : TSR_SUM;
    TSR_TRY(engine_intern(w->engine, &copy, &to));
    TSR_TRY(axes_attr(w, from->mesh, axes, 1, false, &attr));
    return make_collective(w, "sdy.all_reduce", "reduction_axes", attr, value, to, from->reduction,
                           like, out);
}

/* ---- becoming unreduced ---- */

/* What leads from one sharding to one with more unreduced axes. */
typedef struct unreducing {
    tsr_axis_list gained;
    tsr_axis_list *cut; /* by dimension: axes that were sharded and become unreduced */
    tsr_dim *middle;    /* dimensions before axes become unreduced */
    bool needs_reshard;
    bool has_cut;
} unreducing;

static bool is_subset(const tsr_axis_ref *axes, size_t count, const tsr_axis_list *of)
{
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t k = 0; k < of->count; k++) {
            found = found || tsr_axis_contains(of->refs[k], axes[i]);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static tsr_status plan_dim(workspace *w, const tsr_dim *in, const tsr_dim *out, unreducing *u,
                           size_t d)
{
    TSR_TRY(new_list(w, in->num_axes + out->num_axes, &u->cut[d]));
    u->middle[d] = *out;
    if (!tsr_axes_is_strict_prefix(out->axes, out->num_axes, in->axes, in->num_axes)) {
        u->needs_reshard =
            u->needs_reshard || !tsr_axes_equal(out->axes, out->num_axes, in->axes, in->num_axes);
        return TSR_OK;
    }
    TSR_TRY(tsr_axes_difference(in->axes, in->num_axes, out->axes, out->num_axes, &u->cut[d]));
    if (is_subset(u->cut[d].refs, u->cut[d].count, &u->gained)) {
        u->middle[d] = *in;
        u->has_cut = true;
    } else {
        u->cut[d].count = 0;
        u->needs_reshard = true;
    }
    return TSR_OK;
}

static tsr_status plan_unreducing(workspace *w, const tsr_sharding *in, const tsr_sharding *out,
                                  unreducing *u)
{
    *u = (unreducing){.cut = ARENA_ARRAY(w->scratch, tsr_axis_list, out->rank + 1),
                      .middle = ARENA_ARRAY(w->scratch, tsr_dim, out->rank + 1)};
    if (u->cut == NULL || u->middle == NULL) {
        return diag_nomem(w->ctx);
    }
    TSR_TRY(lost_unreduced(w, out, in, &u->gained));
    for (size_t d = 0; d < out->rank && u->gained.count > 0; d++) {
        TSR_TRY(plan_dim(w, &in->dims[d], &out->dims[d], u, d));
    }
    return TSR_OK;
}

/* Appends an op to a chain that starts after, or before, some place. */
typedef struct chain {
    uint32_t value; /* what comes out so far */
    uint32_t last;  /* the op to insert after; 0: before `before` */
    uint32_t before;
    uint32_t first; /* the first op of the chain; 0: none */
} chain;

static void chain_add(tsr_program *p, chain *c, uint32_t op)
{
    if (c->first != 0) {
        op_insert_after(p, op, c->last);
    } else if (c->before != 0) {
        op_insert_before(p, op, c->before);
    } else {
        op_insert_after_value(p, op, c->value);
    }
    c->first = c->first != 0 ? c->first : op;
    c->last = op;
    c->value = op_result(p, op, 0);
}

static tsr_status add_unreducing(workspace *w, chain *c, const tsr_sharding *in,
                                 const tsr_sharding *out, unreducing *u, uint32_t like)
{
    tsr_sharding middle = *in;
    const tsr_sharding *one = NULL;
    tsr_axis_list rest;
    uint32_t attr = 0;
    uint32_t op = 0;
    middle.dims = u->middle;
    if (u->needs_reshard) {
        TSR_TRY(engine_intern(w->engine, &middle, &one));
        TSR_TRY(make_reshard(w, c->value, one, like, &op));
        chain_add(w->p, c, op);
    }
    tsr_axis_list cut;
    TSR_TRY(new_list(w, room_of(in) + room_of(out), &cut));
    for (size_t d = 0; d < out->rank; d++) {
        for (size_t i = 0; i < u->cut[d].count; i++) {
            cut.refs[cut.count++] = u->cut[d].refs[i];
        }
    }
    TSR_TRY(new_list(w, room_of(in) + room_of(out), &rest));
    TSR_TRY(tsr_axes_difference(u->gained.refs, u->gained.count, cut.refs, cut.count, &rest));
    if (rest.count > 0) {
        tsr_axis_list pending;
        TSR_TRY(new_list(w, room_of(in) + room_of(out), &pending));
        for (size_t i = 0; i < in->num_unreduced + rest.count; i++) {
            pending.refs[pending.count++] =
                i < in->num_unreduced ? in->unreduced[i] : rest.refs[i - in->num_unreduced];
        }
        tsr_axes_sort_and_merge(in->mesh, &pending);
        middle.replicated = out->replicated;
        middle.num_replicated = out->num_replicated;
        middle.unreduced = pending.refs;
        middle.num_unreduced = pending.count;
        middle.reduction = out->reduction;
        TSR_TRY(engine_intern(w->engine, &middle, &one));
        TSR_TRY(axes_attr(w, in->mesh, &rest, 1, false, &attr));
        TSR_TRY(make_collective(w, "sdy.replicated_to_unreduced", "axes", attr, c->value, one,
                                TSR_SUM, like, &op));
        chain_add(w->p, c, op);
    }
    if (u->has_cut) {
        TSR_TRY(axes_attr(w, in->mesh, u->cut, out->rank, true, &attr));
        TSR_TRY(make_collective(w, "sdy.sharded_to_unreduced", "axes", attr, c->value, out, TSR_SUM,
                                like, &op));
        chain_add(w->p, c, op);
    }
    return TSR_OK;
}

static bool may_unreduce(const tsr_sharding *in, const tsr_sharding *out)
{
    return in != NULL && out != NULL && in->rank == out->rank &&
           tsr_mesh_equal(in->mesh, out->mesh);
}

/* ---- to a target ---- */

/*
 * Makes one use see a value in a target sharding: pending reductions that the target lacks are
 * done, those that it has come about, and with `full` a reshard does the rest.
 */
static tsr_status to_target(resharding *r, uint32_t use, const tsr_sharding *target, bool full,
                            uint32_t before)
{
    workspace *w = r->w;
    tsr_program *p = w->p;
    chain c = {.value = *program_pool(p, use), .before = before};
    const uint32_t like = use_op(p, use);
    const tsr_sharding *from = NULL;
    tsr_axis_list done;
    uint32_t op = 0;
    TSR_TRY(sharding_of_use(w, c.value, &from));
    TSR_TRY(lost_unreduced(w, from, target, &done));
    if (done.count > 0) {
        TSR_TRY(make_all_reduce(w, c.value, from, &done, like, &op));
        chain_add(p, &c, op);
        TSR_TRY(sharding_of_use(w, c.value, &from));
    }
    if (may_unreduce(from, target)) {
        unreducing u;
        TSR_TRY(plan_unreducing(w, from, target, &u));
        if (u.gained.count > 0) {
            TSR_TRY(add_unreducing(w, &c, from, target, &u, like));
            TSR_TRY(sharding_of_use(w, c.value, &from));
        }
    }
    if (full && !is_equivalent(from, target)) {
        const tsr_sharding *wanted = target;
        if (wanted == NULL) {
            TSR_TRY(closed_sharding(w, from->mesh, value_type(p, c.value), &wanted));
        }
        TSR_TRY(make_reshard(w, c.value, wanted, like, &op));
        chain_add(p, &c, op);
    }
    if (c.first != 0) {
        use_set(p, use, c.value);
    }
    return TSR_OK;
}

/* ---- ops that data flows around ---- */

static uint32_t operand_use(const tsr_program *p, uint32_t op, size_t i)
{
    return program_op(p, op)->operands + (uint32_t)i;
}

static tsr_status flow_to_result(resharding *r, uint32_t op, uint32_t index)
{
    const tsr_program *p = r->w->p;
    const bool is_loop = op_is(p, op, "stablehlo.while");
    const bool is_barrier = op_is(p, op, "stablehlo.optimization_barrier");
    const tsr_sharding *target = NULL;
    TSR_TRY(sharding_of_use(r->w, op_result(p, op, index), &target));
    if (op_is(p, op, "sdy.manual_computation")) {
        TSR_TRY(result_inside(r->w, op_result(p, op, index), target, &target));
    }
    if (is_loop || is_barrier) {
        TSR_TRY(to_target(r, operand_use(p, op, index), target, r->full, 0));
    }
    for (uint32_t i = is_loop ? 1 : 0; i < program_op(p, op)->num_regions; i++) {
        const uint32_t last = terminator_of(p, op, i);
        if (last != 0 && index < program_op(p, last)->num_operands) {
            TSR_TRY(to_target(r, operand_use(p, last, index), target, r->full, 0));
        }
    }
    return TSR_OK;
}

static tsr_status reshard_flow(resharding *r, uint32_t op)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    const ir_row *row = program_row(p, op);
    for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
        TSR_TRY(flow_to_result(r, op, i));
    }
    if (row->argument_shardings == NULL) {
        return TSR_OK;
    }
    const uint32_t count = program_op(p, op)->num_operands;
    const tsr_sharding **targets = NULL;
    TSR_TRY(sharding_list_at(w, op_property(p, op, row->argument_shardings), count, &targets));
    for (uint32_t i = 0; i < count; i++) {
        TSR_TRY(to_target(r, operand_use(p, op, i), targets[i], r->full, 0));
    }
    return TSR_OK;
}

/* ---- calls ---- */

static tsr_status reshard_call(resharding *r, uint32_t op)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    const uint32_t func = called_function(p, &r->table, op);
    const uint32_t count = program_op(p, op)->num_operands;
    const tsr_sharding **targets = NULL;
    const tsr_mesh *mesh = NULL;
    uint32_t attr = 0;
    if (func == 0) {
        return TSR_OK;
    }
    TSR_TRY(func_shardings(w, func, "arg_attrs", &attr));
    TSR_TRY(sharding_list_at(w, attr, count, &targets));
    for (uint32_t i = 0; attr == 0 && i < count && mesh == NULL; i++) {
        const tsr_sharding *sharding = NULL;
        TSR_TRY(sharding_of_use(w, op_operand(p, op, i), &sharding));
        mesh = sharding != NULL && !tsr_mesh_is_maximal(sharding->mesh) ? sharding->mesh : NULL;
    }
    if (attr == 0 && mesh == NULL) {
        return TSR_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (attr == 0) {
            TSR_TRY(closed_sharding(w, mesh, value_type(p, op_operand(p, op, i)), &targets[i]));
        }
        TSR_TRY(to_target(r, operand_use(p, op, i), targets[i], true, 0));
    }
    return TSR_OK;
}

/* ---- other ops ---- */

/* The shardings of an op's operands and results, and their projection to factors. */
typedef struct op_tensors {
    const tsr_sharding **shardings;
    size_t num_operands;
    size_t count;
    const tsr_mesh *mesh;
    projection x;
} op_tensors;

static uint32_t through_barriers(const tsr_program *p, uint32_t value)
{
    uint32_t op = value_op(p, value);
    while (op != 0 && op_is(p, op, "sdy.propagation_barrier")) {
        value = op_operand(p, op, 0);
        op = value_op(p, value);
    }
    return value;
}

static tsr_status list_tensors(resharding *r, uint32_t op, op_tensors *t)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    const ir_op *o = program_op(p, op);
    t->num_operands = o->num_operands;
    t->count = (size_t)o->num_operands + o->num_results;
    t->shardings = ARENA_ARRAY(w->scratch, const tsr_sharding *, t->count + 1);
    if (t->shardings == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < t->count; i++) {
        const uint32_t value = i < t->num_operands ? through_barriers(p, op_operand(p, op, i))
                                                   : op_result(p, op, i - t->num_operands);
        TSR_TRY(sharding_of_use(w, value, &t->shardings[i]));
    }
    return TSR_OK;
}

/* Unreduced axes of operands that the first result does not keep. */
static tsr_status reduce_operands(resharding *r, uint32_t op)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    const ir_op *o = program_op(p, op);
    const tsr_sharding *result = NULL;
    if (o->num_results == 0) {
        return TSR_OK;
    }
    TSR_TRY(sharding_of_use(w, o->results, &result));
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        const uint32_t value = op_operand(p, op, i);
        const tsr_sharding *from = NULL;
        tsr_axis_list done;
        uint32_t reduced = 0;
        TSR_TRY(sharding_of_use(w, value, &from));
        TSR_TRY(lost_unreduced(w, from, result, &done));
        if (done.count > 0) {
            TSR_TRY(make_all_reduce(w, value, from, &done, op, &reduced));
            op_insert_before(w->p, reduced, op);
            op_set_operand(w->p, op, i, op_result(p, reduced, 0));
        }
    }
    return TSR_OK;
}

/* The mesh that most sharded tensors are on. */
static const tsr_mesh *frequent_mesh(const op_tensors *t, const tsr_mesh *common)
{
    const tsr_mesh *best = common;
    size_t most = 0;
    for (size_t i = 0; i < t->count; i++) {
        size_t count = 0;
        for (size_t k = 0; k <= i && !is_replicated(t->shardings[i]); k++) {
            count +=
                !is_replicated(t->shardings[k]) && t->shardings[k]->mesh == t->shardings[i]->mesh;
        }
        if (count > most) {
            most = count;
            best = t->shardings[i]->mesh;
        }
    }
    return best;
}

static axis_view axes_of(const op_tensors *t, size_t tensor, size_t factor)
{
    return t->x.tensors[tensor].factors[factor].axes;
}

static bool has_factor(const op_tensors *t, size_t tensor, size_t factor)
{
    return t->x.tensors[tensor].factors[factor].present;
}

static bool views_overlap(axis_view a, axis_view b)
{
    return tsr_axes_overlap(a.refs, a.count, b.refs, b.count);
}

/* Whether all tensors agree, so that nothing needs to move. */
static bool is_compatible(const op_tensors *t, const tsr_rule *rule, axis_view *common)
{
    for (size_t f = 0; f < rule->num_factors; f++) {
        bool seen = false;
        common[f] = (axis_view){0};
        for (size_t i = 0; i < t->count; i++) {
            if (!has_factor(t, i, f)) {
                continue;
            }
            if (t->x.tensors[i].factors[f].overflow.count > 0 ||
                (seen && !is_same_list(common[f], axes_of(t, i, f)))) {
                return false;
            }
            common[f] = axes_of(t, i, f);
            seen = true;
        }
        if (rule->factors[f].kind == TSR_FACTOR_NEED_REPLICATION && common[f].count > 0) {
            return false;
        }
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        for (size_t g = f + 1; g < rule->num_factors; g++) {
            if (views_overlap(common[f], common[g])) {
                return false;
            }
        }
    }
    return true;
}

static int64_t num_elements(const tsr_program *p, uint32_t value)
{
    int64_t count = 0;
    return type_is_static(p, value_type(p, value)) &&
                   type_num_elements(p, value_type(p, value), &count)
               ? count
               : 0;
}

static uint32_t value_at(const tsr_program *p, uint32_t op, const op_tensors *t, size_t i)
{
    return i < t->num_operands ? op_operand(p, op, i) : op_result(p, op, i - t->num_operands);
}

/* ---- one tensor in, one out ---- */

static bool is_unary(const op_tensors *t, const tsr_rule *rule, size_t pair[2])
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        const tsr_rule_tensor *tensor = &rule->tensors[i];
        if (tensor->rank > 0) {
            if (count == 2) {
                return false;
            }
            pair[count++] = i;
        }
        for (size_t d = 0; d < tensor->rank; d++) {
            if (tensor->dims[d].num_factors > 1) {
                return false;
            }
        }
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (rule->factors[f].kind == TSR_FACTOR_NEED_REPLICATION) {
            return false;
        }
    }
    return count == 2;
}

static bool shards_permutation(const op_tensors *t, const tsr_rule *rule, size_t tensor)
{
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (rule->factors[f].kind == TSR_FACTOR_PERMUTATION && has_factor(t, tensor, f) &&
            axes_of(t, tensor, f).count > 0) {
            return true;
        }
    }
    return false;
}

static int64_t sharded_size(const op_tensors *t, const tsr_rule *rule, size_t tensor)
{
    int64_t size = 1;
    for (size_t f = 0; f < rule->num_factors; f++) {
        size *= has_factor(t, tensor, f) ? view_size(axes_of(t, tensor, f)) : 1;
    }
    return size;
}

/* A list cut at its first axis that overlaps another list, of which the prefix is kept. */
static tsr_status cut_at_overlap(workspace *w, axis_view list, axis_view other, axis_view *out)
{
    tsr_axis_list copy;
    TSR_TRY(new_list(w, list.count + 1, &copy));
    for (size_t i = 0; i < list.count; i++) {
        copy.refs[copy.count++] = list.refs[i];
    }
    tsr_axes_truncate(&copy, other.refs, other.count);
    *out = (axis_view){copy.refs, copy.count};
    return TSR_OK;
}

static tsr_status common_of_unary(workspace *w, uint32_t op, const op_tensors *t,
                                  const tsr_rule *rule, const size_t pair[2], axis_view *common)
{
    const tsr_program *p = w->p;
    bool better = false; /* the second */
    const bool permutes[2] = {shards_permutation(t, rule, pair[0]),
                              shards_permutation(t, rule, pair[1])};
    const int64_t elements[2] = {num_elements(p, value_at(p, op, t, pair[0])),
                                 num_elements(p, value_at(p, op, t, pair[1]))};
    const int64_t sizes[2] = {sharded_size(t, rule, pair[0]), sharded_size(t, rule, pair[1])};
    if (permutes[0] != permutes[1]) {
        better = permutes[0];
    } else if (elements[0] != elements[1]) {
        better = elements[1] > elements[0];
    } else {
        better = sizes[1] > sizes[0];
    }
    const size_t chosen = pair[better];
    const size_t other = pair[!better];
    for (size_t f = 0; f < rule->num_factors; f++) {
        common[f] = has_factor(t, chosen, f) ? axes_of(t, chosen, f) : (axis_view){0};
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (has_factor(t, chosen, f) || !has_factor(t, other, f)) {
            continue;
        }
        common[f] = axes_of(t, other, f);
        for (size_t g = 0; g < rule->num_factors; g++) {
            if (has_factor(t, chosen, g)) {
                TSR_TRY(cut_at_overlap(w, common[f], axes_of(t, chosen, g), &common[f]));
            }
        }
    }
    return TSR_OK;
}

/* ---- the greedy choice ---- */

typedef struct candidate {
    size_t factor;
    axis_view axes;
    int64_t weight;
    int64_t extra;
    bool dropped;
} candidate;

typedef struct greedy {
    workspace *w;
    const op_tensors *t;
    const tsr_rule *rule;
    candidate *list;
    size_t count;
    axis_view *common;
} greedy;

static void add_candidate(greedy *g, size_t factor, axis_view axes)
{
    for (size_t i = 0; i < g->count; i++) {
        if (g->list[i].factor == factor && is_same_list(g->list[i].axes, axes)) {
            return;
        }
    }
    g->list[g->count++] = (candidate){.factor = factor, .axes = axes, .extra = view_size(axes)};
}

static tsr_status list_candidates(greedy *g, uint32_t op)
{
    const op_tensors *t = g->t;
    size_t room = 1;
    for (size_t i = 0; i < t->count; i++) {
        for (size_t f = 0; f < g->rule->num_factors; f++) {
            room += has_factor(t, i, f) ? axes_of(t, i, f).count : 0;
        }
    }
    g->list = ARENA_ARRAY(g->w->scratch, candidate, room);
    if (g->list == NULL) {
        return diag_nomem(g->w->ctx);
    }
    for (size_t i = 0; i < t->count; i++) {
        for (size_t f = 0; f < g->rule->num_factors; f++) {
            const axis_view axes = has_factor(t, i, f) ? axes_of(t, i, f) : (axis_view){0};
            for (size_t n = axes.count; n > 0; n--) {
                add_candidate(g, f, (axis_view){axes.refs, n});
            }
        }
    }
    for (size_t c = 0; c < g->count; c++) {
        for (size_t i = 0; i < t->count; i++) {
            if (has_factor(t, i, g->list[c].factor) &&
                is_prefix_or_equal(g->list[c].axes, axes_of(t, i, g->list[c].factor))) {
                g->list[c].weight += num_elements(g->w->p, value_at(g->w->p, op, t, i));
            }
        }
    }
    return TSR_OK;
}

/* Whether the factor before this one in some dimension is not sharded in full yet. */
static bool is_blocked(const greedy *g, size_t factor)
{
    for (size_t i = 0; i < g->t->count; i++) {
        const tsr_rule_tensor *tensor = &g->rule->tensors[i];
        for (size_t d = 0; d < tensor->rank; d++) {
            for (size_t k = 1; k < tensor->dims[d].num_factors; k++) {
                const size_t before = tensor->dims[d].factors[k - 1];
                if (tensor->dims[d].factors[k] == factor &&
                    view_size(g->common[before]) != g->rule->factors[before].size) {
                    return true;
                }
            }
        }
    }
    return false;
}

static int kind_rank(tsr_factor_kind kind)
{
    static const int ranks[] = {[TSR_FACTOR_PASS_THROUGH] = 3,
                                [TSR_FACTOR_REDUCTION] = 2,
                                [TSR_FACTOR_PERMUTATION] = 1,
                                [TSR_FACTOR_NEED_REPLICATION] = 0};
    return ranks[kind];
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_candidates(const greedy *g, const candidate *a, const candidate *b)
{
    const tsr_factor *factors = g->rule->factors;
    int order = compare_numbers(a->weight, b->weight);
    if (order == 0) {
        order =
            compare_numbers(kind_rank(factors[a->factor].kind), kind_rank(factors[b->factor].kind));
    }
    if (order == 0) {
        order = compare_numbers(a->extra, b->extra);
    }
    if (order == 0) {
        order = compare_numbers((int64_t)a->factor, (int64_t)b->factor);
    }
    return order != 0 ? order
                      : tsr_axes_compare(g->t->mesh, a->axes.refs, a->axes.count, b->axes.refs,
                                         b->axes.count);
}

static tsr_status update_candidates(greedy *g, const candidate *best)
{
    for (size_t i = 0; i < g->count; i++) {
        candidate *c = &g->list[i];
        if (c->dropped) {
            continue;
        }
        if (c->factor == best->factor) {
            c->dropped = !is_strict_prefix(best->axes, c->axes);
            c->extra = view_size(c->axes) / view_size(best->axes);
            continue;
        }
        axis_view cut;
        TSR_TRY(cut_at_overlap(g->w, c->axes, best->axes, &cut));
        if (is_same_list(cut, c->axes)) {
            c->extra = view_size(c->axes);
            continue;
        }
        c->axes = cut;
        c->dropped = cut.count == 0 || is_same_list(cut, g->common[c->factor]);
        c->extra = view_size(cut) / view_size(g->common[c->factor]);
    }
    return TSR_OK;
}

static tsr_status choose_greedily(greedy *g)
{
    for (;;) {
        candidate *best = NULL;
        for (size_t i = 0; i < g->count; i++) {
            candidate *c = &g->list[i];
            if (!c->dropped && !is_blocked(g, c->factor) &&
                (best == NULL || compare_candidates(g, c, best) > 0)) {
                best = c;
            }
        }
        if (best == NULL) {
            return TSR_OK;
        }
        const candidate chosen = *best;
        g->common[chosen.factor] = chosen.axes;
        TSR_TRY(update_candidates(g, &chosen));
    }
}

/* Whether a factor is in all tensors that have dimensions. */
static bool is_everywhere(const op_tensors *t, const tsr_rule *rule, size_t factor)
{
    for (size_t i = 0; i < t->count; i++) {
        if (rule->tensors[i].rank > 0 && !has_factor(t, i, factor)) {
            return false;
        }
    }
    return true;
}

/* Gives the axes of a factor that must not be cut to batching factors, as far as they fit. */
static tsr_status move_replicated(workspace *w, const op_tensors *t, const tsr_rule *rule,
                                  size_t factor, axis_view *common)
{
    axis_view axes = common[factor];
    common[factor] = (axis_view){0};
    if (axes.count == 0 || !is_everywhere(t, rule, factor)) {
        return TSR_OK;
    }
    for (size_t f = 0; f < rule->num_factors && axes.count > 0; f++) {
        const int64_t size = rule->factors[f].size;
        const int64_t sharded = view_size(common[f]);
        if (rule->factors[f].kind != TSR_FACTOR_PASS_THROUGH || !is_everywhere(t, rule, f) ||
            size == 0 || size % sharded != 0) {
            continue;
        }
        tsr_axis_list list;
        int64_t room = size / sharded;
        TSR_TRY(new_list(w, common[f].count + axes.count, &list));
        for (size_t i = 0; i < common[f].count; i++) {
            list.refs[list.count++] = common[f].refs[i];
        }
        while (axes.count > 0 && room % axes.refs[0].size == 0) {
            room /= axes.refs[0].size;
            TSR_TRY(tsr_axes_add(t->mesh, &list, axes.refs[0]));
            axes.refs++;
            axes.count--;
        }
        common[f] = (axis_view){list.refs, list.count};
    }
    return TSR_OK;
}

/* What each factor is sharded by in all tensors. */
static tsr_status find_common(resharding *r, uint32_t op, const op_tensors *t, const tsr_rule *rule,
                              axis_view *common, bool *moves)
{
    workspace *w = r->w;
    size_t pair[2];
    *moves = false;
    if (is_compatible(t, rule, common)) {
        return TSR_OK;
    }
    *moves = true;
    if (is_unary(t, rule, pair)) {
        return common_of_unary(w, op, t, rule, pair, common);
    }
    memset(common, 0, rule->num_factors * sizeof *common);
    greedy g = {.w = w, .t = t, .rule = rule, .common = common};
    TSR_TRY(list_candidates(&g, op));
    TSR_TRY(choose_greedily(&g));
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (rule->factors[f].kind == TSR_FACTOR_NEED_REPLICATION) {
            TSR_TRY(move_replicated(w, t, rule, f, common));
        }
    }
    return TSR_OK;
}

/* ---- moving the tensors ---- */

/* The sharding of a tensor when its factors are sharded as all agree; *changed: it is another. */
static tsr_status sharding_by_factors(workspace *w, op_tensors *t, const tsr_rule *rule, size_t i,
                                      const axis_view *common, bool *changed,
                                      const tsr_sharding **out)
{
    tsr_sharding now;
    *changed = t->shardings[i] != NULL && !is_replicated(t->shardings[i]) &&
               !tsr_mesh_equal(t->shardings[i]->mesh, t->mesh);
    for (size_t f = 0; f < rule->num_factors; f++) {
        factor_state *state = &t->x.tensors[i].factors[f];
        if (state->present) {
            *changed =
                *changed || state->overflow.count > 0 || !is_same_list(state->axes, common[f]);
            state->axes = common[f];
            state->grown = true;
            state->overflow = (axis_view){0};
        }
    }
    if (!*changed) {
        *out = t->shardings[i];
        return TSR_OK;
    }
    TSR_TRY(project_back(&t->x, i, &now));
    tsr_dim *dims = arena_copy(w->scratch, now.dims, now.rank, sizeof *dims);
    if (dims == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t d = 0; d < now.rank; d++) {
        dims[d].open = false;
        dims[d].priority = TSR_NO_PRIORITY;
    }
    now.dims = dims;
    now.mesh = t->mesh;
    return engine_intern(w->engine, &now, out);
}

static tsr_status move_operand(resharding *r, uint32_t op, size_t i, const tsr_sharding *to)
{
    tsr_program *p = r->w->p;
    uint32_t reshard = 0;
    TSR_TRY(make_reshard(r->w, op_operand(p, op, i), to, op, &reshard));
    op_insert_before(p, reshard, op);
    op_set_operand(p, op, i, op_result(p, reshard, 0));
    return TSR_OK;
}

/* The result comes out in another sharding; a reshard after the op gives the one it had. */
static tsr_status move_result(resharding *r, uint32_t op, size_t i, const tsr_sharding *to,
                              const tsr_sharding *had, const tsr_mesh *mesh, uint32_t *after)
{
    workspace *w = r->w;
    tsr_program *p = w->p;
    const uint32_t value = op_result(p, op, i);
    uint32_t attr = 0;
    uint32_t reshard = 0;
    if (had == NULL) {
        TSR_TRY(closed_sharding(w, mesh, value_type(p, value), &had));
    }
    TSR_TRY(sharding_attr(w, to, &attr));
    TSR_TRY(value_set_sharding(w, value, attr));
    TSR_TRY(make_reshard(w, value, had, op, &reshard));
    value_replace_uses(p, value, op_result(p, reshard, 0), reshard);
    op_insert_after(p, reshard, *after);
    *after = reshard;
    return TSR_OK;
}

static tsr_status move_tensors(resharding *r, uint32_t op, op_tensors *t, const tsr_rule *rule,
                               const axis_view *common)
{
    uint32_t after = op;
    for (size_t i = 0; i < t->count; i++) {
        bool changed = false;
        const tsr_sharding *had = t->shardings[i];
        const tsr_sharding *to = NULL;
        TSR_TRY(sharding_by_factors(r->w, t, rule, i, common, &changed, &to));
        if (!changed) {
            continue;
        }
        TSR_TRY(i < t->num_operands
                    ? move_operand(r, op, i, to)
                    : move_result(r, op, i - t->num_operands, to, had, t->mesh, &after));
    }
    return TSR_OK;
}

/* ---- reductions over cut factors ---- */

static tsr_status all_reduce_results(resharding *r, uint32_t op, const op_tensors *t,
                                     const tsr_rule *rule, const axis_view *common)
{
    workspace *w = r->w;
    tsr_program *p = w->p;
    tsr_axis_list axes;
    tsr_axis_list rest;
    size_t room = 16;
    const tsr_sharding *first = NULL;
    for (size_t f = 0; f < rule->num_factors; f++) {
        room += 4 * common[f].count;
    }
    TSR_TRY(sharding_of_use(w, op_result(p, op, 0), &first));
    TSR_TRY(new_list(w, room, &axes));
    for (size_t f = 0; f < rule->num_factors; f++) {
        for (size_t i = 0; rule->factors[f].kind == TSR_FACTOR_REDUCTION && i < common[f].count;
             i++) {
            axes.refs[axes.count++] = common[f].refs[i];
        }
    }
    TSR_TRY(new_list(w, room + (first != NULL ? room_of(first) : 0), &rest));
    TSR_TRY(tsr_axes_difference(axes.refs, axes.count, first != NULL ? first->unreduced : NULL,
                                first != NULL ? first->num_unreduced : 0, &rest));
    if (rest.count == 0) {
        return TSR_OK;
    }
    tsr_axes_sort_and_merge(t->mesh, &rest);
    uint32_t after = op;
    for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
        const uint32_t value = op_result(p, op, i);
        const tsr_sharding *sharding = NULL;
        uint32_t attr = 0;
        uint32_t reduced = 0;
        TSR_TRY(sharding_of_use(w, value, &sharding));
        if (sharding == NULL) {
            TSR_TRY(closed_sharding(w, t->mesh, value_type(p, value), &sharding));
        }
        TSR_TRY(axes_attr(w, t->mesh, &rest, 1, false, &attr));
        TSR_TRY(make_collective(w, "sdy.all_reduce", "reduction_axes", attr, value, sharding,
                                sharding->num_unreduced > 0 ? sharding->reduction : TSR_SUM, op,
                                &reduced));
        value_replace_uses(p, value, op_result(p, reduced, 0), reduced);
        op_insert_after(p, reduced, after);
        after = reduced;
    }
    return TSR_OK;
}

/* ---- ops with a rule ---- */

static bool is_full(const resharding *r, uint32_t op, const op_tensors *t)
{
    const tsr_program *p = r->w->p;
    if (r->full || op_is(p, op, "mhlo.ragged_dot")) {
        return true;
    }
    if (!op_is(p, op, "stablehlo.concatenate")) {
        return false;
    }
    for (size_t i = 0; i < t->num_operands; i++) {
        if (t->shardings[i] != t->shardings[t->num_operands]) {
            return true;
        }
    }
    return false;
}

/* Without the full version: pending sums of reduction factors whose tensors agree. */
static tsr_status reduce_only(resharding *r, uint32_t op, const op_tensors *t, const tsr_rule *rule,
                              axis_view *common)
{
    const tsr_sharding *first = t->shardings[t->num_operands];
    if (first == NULL || first->num_unreduced == 0) {
        return TSR_OK;
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        bool seen = false;
        common[f] = (axis_view){0};
        for (size_t i = 0; i < t->count && rule->factors[f].kind == TSR_FACTOR_REDUCTION; i++) {
            if (has_factor(t, i, f)) {
                if (seen && !is_same_list(common[f], axes_of(t, i, f))) {
                    return TSR_OK;
                }
                common[f] = axes_of(t, i, f);
                seen = true;
            }
        }
    }
    return all_reduce_results(r, op, t, rule, common);
}

/* ---- products, without the full version ---- */

/* The axes of the contracting factors, one after the other. */
static tsr_status contracting_axes(workspace *w, const op_tensors *t, const tsr_rule *rule,
                                   axis_view *out)
{
    tsr_axis_list list;
    size_t room = 1;
    for (size_t f = 0; f < rule->num_factors; f++) {
        room += has_factor(t, 0, f) ? axes_of(t, 0, f).count : 0;
    }
    TSR_TRY(new_list(w, room, &list));
    for (size_t f = 0; f < rule->num_factors; f++) {
        const bool reduces = rule->factors[f].kind == TSR_FACTOR_REDUCTION;
        for (size_t i = 0; reduces && i < axes_of(t, 0, f).count; i++) {
            list.refs[list.count++] = axes_of(t, 0, f).refs[i];
        }
    }
    *out = (axis_view){list.refs, list.count};
    return TSR_OK;
}

/* Whether the operands of a product agree where they share factors, and nowhere else overlap. */
static bool operands_agree(const op_tensors *t, const tsr_rule *rule)
{
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (!has_factor(t, 0, f)) {
            continue;
        }
        if (has_factor(t, 1, f) && !is_same_list(axes_of(t, 0, f), axes_of(t, 1, f))) {
            return false;
        }
        for (size_t g = 0; g < rule->num_factors; g++) {
            if (!has_factor(t, 1, f) && has_factor(t, 1, g) && !has_factor(t, 0, g) &&
                views_overlap(axes_of(t, 0, f), axes_of(t, 1, g))) {
                return false;
            }
        }
    }
    return true;
}

/*
 * A product whose result is sharded, in one factor, by the contracting axes instead of by those
 * of its operand: it comes out as its operand is, and is resharded, which becomes a
 * reduce-scatter.
 */
static tsr_status reshard_product(resharding *r, uint32_t op, op_tensors *t, const tsr_rule *rule)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    axis_view contracting;
    size_t found = SIZE_MAX;
    axis_view wanted = {0};
    if (t->shardings[2] == NULL || !operands_agree(t, rule)) {
        return TSR_OK;
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        if (!has_factor(t, 2, f)) {
            continue;
        }
        const size_t operand = has_factor(t, 0, f) ? 0 : 1;
        if (!is_same_list(axes_of(t, operand, f), axes_of(t, 2, f))) {
            if (found != SIZE_MAX) {
                return TSR_OK;
            }
            found = f;
            wanted = axes_of(t, operand, f);
        }
    }
    if (found == SIZE_MAX || wanted.count == 0 || axes_of(t, 2, found).count == 0) {
        return TSR_OK;
    }
    int64_t operand_size = 0;
    for (size_t i = 0; i < 2; i++) {
        const int64_t size = has_factor(t, i, found) ? num_elements(p, op_operand(p, op, i)) : 0;
        operand_size = size > operand_size ? size : operand_size;
    }
    TSR_TRY(contracting_axes(w, t, rule, &contracting));
    if (num_elements(p, op_result(p, op, 0)) > operand_size ||
        !is_same_list(contracting, axes_of(t, 2, found))) {
        return TSR_OK;
    }
    tsr_sharding now;
    const tsr_sharding *to = NULL;
    uint32_t after = op;
    t->x.tensors[2].factors[found].axes = wanted;
    t->x.tensors[2].factors[found].grown = true;
    TSR_TRY(project_back(&t->x, 2, &now));
    TSR_TRY(engine_intern(w->engine, &now, &to));
    return move_result(r, op, 0, to, t->shardings[2], t->mesh, &after);
}

/* Fills `t` with the projection of an op's shardings; *rule NULL: there is nothing to do. */
static tsr_status project_op(resharding *r, uint32_t op, op_tensors *t, const tsr_rule **rule)
{
    workspace *w = r->w;
    TSR_TRY(list_tensors(r, op, t));
    TSR_TRY(rule_of_op(r->s, op, rule));
    if (*rule == NULL || (*rule)->custom) {
        *rule = NULL;
        return TSR_OK;
    }
    t->mesh = tsr_sharding_common_mesh(t->shardings, t->count, true);
    if (t->mesh == NULL || tsr_mesh_is_maximal(t->mesh)) {
        *rule = NULL;
        return TSR_OK;
    }
    t->mesh = frequent_mesh(t, t->mesh);
    const visit_op *how = ARENA_NEW(w->scratch, visit_op);
    if (how == NULL) {
        return diag_nomem(w->ctx);
    }
    memcpy((visit_op *)(uintptr_t)how, &(visit_op){.rule = *rule}, sizeof *how);
    return project(w->ctx, w->scratch, how, t->mesh, t->shardings, &t->x);
}

static tsr_status reshard_op(resharding *r, uint32_t op)
{
    workspace *w = r->w;
    const tsr_rule *rule = NULL;
    op_tensors t = {0};
    bool moves = false;
    TSR_TRY(reduce_operands(r, op));
    TSR_TRY(project_op(r, op, &t, &rule));
    if (rule == NULL || t.count == t.num_operands) {
        return TSR_OK;
    }
    axis_view *common = ARENA_ARRAY(w->scratch, axis_view, rule->num_factors + 1);
    if (common == NULL) {
        return diag_nomem(w->ctx);
    }
    if (!is_full(r, op, &t)) {
        if (op_is(w->p, op, "stablehlo.dot") || op_is(w->p, op, "stablehlo.dot_general")) {
            TSR_TRY(reshard_product(r, op, &t, rule));
        }
        return reduce_only(r, op, &t, rule, common);
    }
    TSR_TRY(find_common(r, op, &t, rule, common, &moves));
    if (moves) {
        TSR_TRY(move_tensors(r, op, &t, rule, common));
    }
    return all_reduce_results(r, op, &t, rule, common);
}

/* A reshard whose target has more unreduced axes becomes what brings them about; one whose target
 * has fewer starts from an all-reduce. */
static tsr_status reshard_reshard(resharding *r, uint32_t op)
{
    workspace *w = r->w;
    tsr_program *p = w->p;
    const tsr_sharding *in = NULL;
    const tsr_sharding *out = NULL;
    unreducing u;
    TSR_TRY(sharding_of_use(w, op_operand(p, op, 0), &in));
    TSR_TRY(sharding_of_use(w, op_result(p, op, 0), &out));
    if (!may_unreduce(in, out)) {
        return reduce_operands(r, op);
    }
    TSR_TRY(plan_unreducing(w, in, out, &u));
    if (u.gained.count == 0) {
        return reduce_operands(r, op);
    }
    chain c = {.value = op_operand(p, op, 0), .before = op};
    TSR_TRY(add_unreducing(w, &c, in, out, &u, op));
    value_replace_uses(p, op_result(p, op, 0), c.value, 0);
    op_erase(p, op);
    return TSR_OK;
}

/* ---- the walk ---- */

static tsr_status reshard_any(resharding *r, uint32_t op)
{
    const tsr_program *p = r->w->p;
    if (op_has_trait(p, op, IR_TERMINATOR | IR_SYMBOL)) {
        return TSR_OK;
    }
    if (op_has_trait(p, op, IR_HAS_EDGES)) {
        return reshard_flow(r, op);
    }
    if (op_is(p, op, "func.call")) {
        return reshard_call(r, op);
    }
    return op_is(p, op, "sdy.reshard") ? reshard_reshard(r, op) : reshard_op(r, op);
}

static tsr_status reshard_returns(resharding *r, uint32_t func)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    const uint32_t last = terminator_of(p, func, 0);
    for (uint32_t i = 0; last != 0 && i < program_op(p, last)->num_operands; i++) {
        const tsr_sharding *target = NULL;
        const uint32_t attr = dict_get(p, func_dict(p, func, "res_attrs", i), "sdy.sharding");
        TSR_TRY(sharding_at(w, attr, &target));
        TSR_TRY(to_target(r, operand_use(p, last, i), target, r->full, last));
    }
    return TSR_OK;
}

static tsr_status refuse_maximal(resharding *r, uint32_t func, const char *list, const char *what,
                                 size_t count)
{
    workspace *w = r->w;
    for (size_t i = 0; i < count; i++) {
        const tsr_sharding *sharding = NULL;
        const uint32_t attr = dict_get(w->p, func_dict(w->p, func, list, i), "sdy.sharding");
        TSR_TRY(sharding_at(w, attr, &sharding));
        if (sharding != NULL && tsr_mesh_is_maximal(sharding->mesh)) {
            return op_error(w->ctx, w->p, func,
                            "function %s %zu cannot have a single-device (maximal) sharding "
                            "attribute",
                            what, i);
        }
    }
    return TSR_OK;
}

static tsr_status reshard_func(resharding *r, uint32_t func)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    op_list ops = {0};
    TSR_TRY(refuse_maximal(r, func, "arg_attrs", "argument", func_num_arguments(p, func)));
    TSR_TRY(refuse_maximal(r, func, "res_attrs", "result", func_num_results(p, func)));
    if (op_entry_block(p, func, 0) == 0) {
        return TSR_OK;
    }
    for (uint32_t op = op_post_first(p, func); op != func; op = op_post_next(p, func, op)) {
        TSR_TRY(op_list_add(w, &ops, op));
    }
    for (size_t i = 0; i < ops.count; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
        TSR_TRY(reshard_any(r, ops.ops[i]));
        tsr_arena_reset(w->scratch, mark);
    }
    return reshard_returns(r, func);
}

tsr_status pass_explicit_reshards(tsr_context *ctx, tsr_program *p, const tsr_pass_options *options)
{
    const prop_options none = {0};
    propagation s;
    resharding r = {.s = &s, .full = tsr_option_bool(options, "enable-full-version")};
    TSR_TRY(rules_start(ctx, p, &none, &s));
    r.w = &s.w;
    tsr_status status = symbols_load(r.w, &r.table);
    for (uint32_t f = first_function(p); f != 0 && status >= 0; f = next_function(p, f)) {
        status = reshard_func(&r, f);
    }
    propagation_end(&s);
    return status;
}
