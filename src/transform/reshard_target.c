/* One value, from one sharding to another: reshards, all-reduces, axes that become unreduced. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "transform/reshard.h"

/* ---- lists of axes ---- */

bool reshard_is_replicated(const tsr_sharding *s)
{
    for (size_t d = 0; s != NULL && d < s->rank; d++) {
        if (s->dims[d].num_axes > 0) {
            return false;
        }
    }
    return true;
}

bool reshard_is_equivalent(const tsr_sharding *a, const tsr_sharding *b)
{
    const bool plain_a = reshard_is_replicated(a) && (a == NULL || a->num_unreduced == 0);
    const bool plain_b = reshard_is_replicated(b) && (b == NULL || b->num_unreduced == 0);
    if (plain_a || plain_b) {
        return plain_a && plain_b;
    }
    return tsr_sharding_equivalent(a, b, false);
}

tsr_status reshard_new_list(workspace *w, size_t capacity, tsr_axis_list *out)
{
    *out = (tsr_axis_list){.refs = ARENA_ARRAY(w->scratch, tsr_axis_ref, capacity + 1),
                           .capacity = capacity};
    return out->refs != NULL ? TSR_OK : diag_nomem(w->ctx);
}

size_t reshard_list_room(const tsr_sharding *s)
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
    TSR_TRY(reshard_new_list(
        w, from != NULL ? reshard_list_room(from) + (to != NULL ? reshard_list_room(to) : 0) : 0,
        out));
    if (from == NULL) {
        return TSR_OK;
    }
    return tsr_axes_difference(from->unreduced, from->num_unreduced,
                               to != NULL ? to->unreduced : NULL,
                               to != NULL ? to->num_unreduced : 0, out);
}

/* ---- shardings ---- */

tsr_status reshard_sharding_of(workspace *w, uint32_t value, const tsr_sharding **out)
{
    const tsr_sharding *found = NULL;
    *out = NULL;
    TSR_TRY(value_sharding(w->ctx, w->p, value, &found));
    return found != NULL ? engine_intern(w->engine, found, out) : TSR_OK;
}

/* ---- new ops ---- */

/* A unary op of the value's type, in no block yet. */
static tsr_status make_unary(workspace *w, op_kind kind, uint32_t value, uint32_t properties,
                             uint32_t like, uint32_t *out)
{
    const uint32_t type = value_type(w->p, value);
    const op_spec spec = {.kind = kind,
                          .operands = &value,
                          .num_operands = 1,
                          .types = &type,
                          .num_results = 1,
                          .properties = properties,
                          .like = like};
    return op_create(w->p, &spec, out);
}

tsr_status reshard_make(workspace *w, uint32_t value, const tsr_sharding *to, uint32_t like,
                        uint32_t *out)
{
    uint32_t attr = 0;
    uint32_t dict = 0;
    TSR_TRY(sharding_attr(w, to, &attr));
    TSR_TRY(dict_set(w->p, 0, "sharding", attr, &dict));
    return make_unary(w, OP_SDY_RESHARD, value, dict, like, out);
}

/* `{"x", "y":(1)2}` as an attribute, or `[{..}, {}]` for a list of lists. */
tsr_status reshard_axes_attr(workspace *w, const tsr_mesh *mesh, const tsr_axis_list *lists,
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
tsr_status reshard_make_collective(workspace *w, op_kind kind, const char *axes_name, uint32_t axes,
                                   uint32_t value, const tsr_sharding *to, tsr_reduction reduction,
                                   uint32_t like, uint32_t *out)
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
    return make_unary(w, kind, value, dict, like, out);
}

/* An all-reduce of some unreduced axes of a value's sharding. */
static tsr_status make_all_reduce(workspace *w, uint32_t value, const tsr_sharding *from,
                                  const tsr_axis_list *axes, uint32_t like, uint32_t *out)
{
    tsr_axis_list rest;
    uint32_t attr = 0;
    const tsr_sharding *to = NULL;
    TSR_TRY(reshard_new_list(w, reshard_list_room(from) + axes->count, &rest));
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): only a sharding has unreduced axes */
    const tsr_axis_ref *unreduced = from->unreduced;
    TSR_TRY(tsr_axes_difference(unreduced, from->num_unreduced, axes->refs, axes->count, &rest));
    tsr_sharding copy = *from;
    copy.unreduced = rest.refs;
    copy.num_unreduced = rest.count;
    copy.reduction = rest.count > 0 ? from->reduction : TSR_SUM;
    TSR_TRY(engine_intern(w->engine, &copy, &to));
    TSR_TRY(reshard_axes_attr(w, from->mesh, axes, 1, false, &attr));
    return reshard_make_collective(w, OP_SDY_ALL_REDUCE, "reduction_axes", attr, value, to,
                                   from->reduction, like, out);
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
    TSR_TRY(reshard_new_list(w, in->num_axes + out->num_axes, &u->cut[d]));
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
        TSR_TRY(reshard_make(w, c->value, one, like, &op));
        chain_add(w->p, c, op);
    }
    tsr_axis_list cut;
    TSR_TRY(reshard_new_list(w, reshard_list_room(in) + reshard_list_room(out), &cut));
    for (size_t d = 0; d < out->rank; d++) {
        for (size_t i = 0; i < u->cut[d].count; i++) {
            cut.refs[cut.count++] = u->cut[d].refs[i];
        }
    }
    TSR_TRY(reshard_new_list(w, reshard_list_room(in) + reshard_list_room(out), &rest));
    TSR_TRY(tsr_axes_difference(u->gained.refs, u->gained.count, cut.refs, cut.count, &rest));
    if (rest.count > 0) {
        tsr_axis_list pending;
        TSR_TRY(reshard_new_list(w, reshard_list_room(in) + reshard_list_room(out), &pending));
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
        TSR_TRY(reshard_axes_attr(w, in->mesh, &rest, 1, false, &attr));
        TSR_TRY(reshard_make_collective(w, OP_SDY_REPLICATED_TO_UNREDUCED, "axes", attr, c->value,
                                        one, TSR_SUM, like, &op));
        chain_add(w->p, c, op);
    }
    if (u->has_cut) {
        TSR_TRY(reshard_axes_attr(w, in->mesh, u->cut, out->rank, true, &attr));
        TSR_TRY(reshard_make_collective(w, OP_SDY_SHARDED_TO_UNREDUCED, "axes", attr, c->value, out,
                                        TSR_SUM, like, &op));
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

static const char *sharding_string(workspace *w, const tsr_sharding *sharding)
{
    const char *text = "none";
    if (sharding != NULL && tsr_sharding_print(w->ctx, w->scratch, sharding, 0, &text) < 0) {
        text = "?";
    }
    return text;
}

tsr_status reshard_is_missing(resharding *r, uint32_t op, size_t operand, const tsr_sharding *from,
                              const tsr_sharding *to)
{
    workspace *w = r->w;
    return op_error(w->ctx, w->p, op, "needs a reshard of operand %zu: from %s to %s", operand,
                    sharding_string(w, from), sharding_string(w, to));
}

/*
 * Makes one use see a value in a target sharding: pending reductions that the target lacks are
 * done, those that it has come about, and with `full` a reshard does the rest.
 */
tsr_status reshard_to_target(resharding *r, uint32_t use, const tsr_sharding *target, bool full,
                             uint32_t before)
{
    workspace *w = r->w;
    tsr_program *p = w->p;
    chain c = {.value = *program_pool(p, use), .before = before};
    const uint32_t like = use_op(p, use);
    const tsr_sharding *from = NULL;
    tsr_axis_list done;
    uint32_t op = 0;
    TSR_TRY(reshard_sharding_of(w, c.value, &from));
    TSR_TRY(lost_unreduced(w, from, target, &done));
    if (r->only_checks) {
        const bool fits = done.count == 0 && (!full || reshard_is_equivalent(from, target));
        return fits ? TSR_OK : reshard_is_missing(r, like, use_index(p, use), from, target);
    }
    if (done.count > 0) {
        TSR_TRY(make_all_reduce(w, c.value, from, &done, like, &op));
        chain_add(p, &c, op);
        TSR_TRY(reshard_sharding_of(w, c.value, &from));
    }
    if (may_unreduce(from, target)) {
        unreducing u;
        TSR_TRY(plan_unreducing(w, from, target, &u));
        if (u.gained.count > 0) {
            TSR_TRY(add_unreducing(w, &c, from, target, &u, like));
            TSR_TRY(reshard_sharding_of(w, c.value, &from));
        }
    }
    if (full && !reshard_is_equivalent(from, target)) {
        const tsr_sharding *wanted = target;
        if (wanted == NULL) {
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): without both they are equal */
            TSR_TRY(closed_sharding(w, from->mesh, value_type(p, c.value), &wanted));
        }
        TSR_TRY(reshard_make(w, c.value, wanted, like, &op));
        chain_add(p, &c, op);
    }
    if (c.first != 0) {
        use_set(p, use, c.value);
    }
    return TSR_OK;
}

/* Unreduced axes of operands that the first result does not keep. */
tsr_status reshard_reduce_operands(resharding *r, uint32_t op)
{
    workspace *w = r->w;
    const tsr_program *p = w->p;
    const ir_op *o = program_op(p, op);
    const tsr_sharding *result = NULL;
    if (o->num_results == 0) {
        return TSR_OK;
    }
    TSR_TRY(reshard_sharding_of(w, o->results, &result));
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        const uint32_t value = op_operand(p, op, i);
        const tsr_sharding *from = NULL;
        tsr_axis_list done;
        uint32_t reduced = 0;
        TSR_TRY(reshard_sharding_of(w, value, &from));
        TSR_TRY(lost_unreduced(w, from, result, &done));
        if (done.count > 0 && r->only_checks) {
            return reshard_is_missing(r, op, i, from, result);
        }
        if (done.count > 0) {
            TSR_TRY(make_all_reduce(w, value, from, &done, op, &reduced));
            op_insert_before(w->p, reduced, op);
            op_set_operand(w->p, op, i, op_result(p, reduced, 0));
        }
    }
    return TSR_OK;
}

/* A reshard whose target has more unreduced axes becomes what brings them about; one whose target
 * has fewer starts from an all-reduce. */
tsr_status reshard_reshard(resharding *r, uint32_t op)
{
    workspace *w = r->w;
    tsr_program *p = w->p;
    const tsr_sharding *in = NULL;
    const tsr_sharding *out = NULL;
    unreducing u;
    TSR_TRY(reshard_sharding_of(w, op_operand(p, op, 0), &in));
    TSR_TRY(reshard_sharding_of(w, op_result(p, op, 0), &out));
    if (!may_unreduce(in, out)) {
        return reshard_reduce_operands(r, op);
    }
    TSR_TRY(plan_unreducing(w, in, out, &u));
    if (u.gained.count == 0) {
        return reshard_reduce_operands(r, op);
    }
    chain c = {.value = op_operand(p, op, 0), .before = op};
    TSR_TRY(add_unreducing(w, &c, in, out, &u, op));
    value_replace_uses(p, op_result(p, op, 0), c.value, 0);
    op_erase(p, op);
    return TSR_OK;
}
