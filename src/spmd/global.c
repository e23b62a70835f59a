/* The partition specs of an op's results: what cuts each factor of its rule. */
#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "factor/rule.h"
#include "spmd/infer.h"
#include "spmd/sizes.h"

/* What cuts a factor, in one operand or in all that have it. */
typedef struct cut {
    bool seen; /* some operand has the factor */
    size_t num_axes;
    const size_t *axes; /* never NULL */
    int64_t shards;
    int64_t extent;       /* of the factor in the whole; not known for one that is not cut */
    const int64_t *sizes; /* of its shards; NULL: even chunks */
    const char *symbol;   /* of sizes that are not bound; else NULL */
} cut;

static const size_t no_axes[] = {SIZE_MAX};

/* The state of checking a call. */
typedef struct global_op {
    inference *inf;
    const tsr_rule *rule;
    cut *cuts; /* by factor */
} global_op;

tsr_status tsr_type_check_global(tsr_context *ctx, const tsr_type *type, tsr_axis_set global)
{
    GUARD(tsr_type_check_global);
    for (size_t a = 0; a < tsr_mesh_num_axes(type->mesh); a++) {
        if (axis_in_set(global, a) && type->axes[a].kind == TSR_V && tsr_type_dim_of(type, a) < 0) {
            return SPMD_ERROR(ctx,
                              "the value varies along axis %s, which is global, but the partition "
                              "spec has no entry for it: state which dimension it cuts",
                              tsr_mesh_axis_name(type->mesh, a));
        }
    }
    return TSR_OK;
}

/* ---- from operands to factors ---- */

/* The global axes of a dimension. */
static tsr_status cut_of_dim(const global_op *g, size_t operand, size_t dim, cut *out)
{
    const tsr_typed_shape *o = &g->inf->call->operands[operand];
    const tsr_type *type = o->type;
    const tsr_spec_dim none = {0};
    const tsr_spec_dim *d = type != NULL && type->has_spec ? &type->dims[dim] : &none;
    size_t *axes = ARENA_ARRAY(g->inf->arena, size_t, d->num_axes);
    if (axes == NULL) {
        return diag_nomem(g->inf->ctx);
    }
    *out = (cut){.seen = true, .axes = axes};
    for (size_t k = 0; k < d->num_axes; k++) {
        if (axis_in_set(g->inf->call->global, d->axes[k])) {
            axes[out->num_axes++] = d->axes[k];
        }
    }
    out->shards = spmd_shards(g->inf->call->mesh, out->axes, out->num_axes);
    out->extent = out->num_axes > 0 ? o->shape[dim] : 0;
    const bool has_sizes = d->sizes != NULL || d->symbol != NULL;
    if (has_sizes && out->num_axes > 0 && out->num_axes < d->num_axes) {
        return infer_error(g->inf, SIZE_MAX,
                           "a dimension with explicit sizes is cut by local and global axes");
    }
    out->sizes = out->num_axes > 0 ? d->sizes : NULL;
    out->symbol = out->num_axes > 0 ? d->symbol : NULL;
    return TSR_OK;
}

static bool same_axes(const cut *a, const cut *b)
{
    bool same = a->num_axes == b->num_axes;
    for (size_t i = 0; same && i < a->num_axes; i++) {
        same = a->axes[i] == b->axes[i]; /* NOLINT: there are as many */
    }
    return same;
}

static bool same_cut(const cut *a, const cut *b)
{
    if (!same_axes(a, b) || a->extent != b->extent || !spmd_same_symbol(a->symbol, b->symbol)) {
        return false;
    }
    if (a->sizes == NULL || b->sizes == NULL) {
        return a->sizes == b->sizes;
    }
    for (int64_t i = 0; i < a->shards; i++) {
        if (a->sizes[i] != b->sizes[i]) {
            return false;
        }
    }
    return true;
}

/* Why two operands conflict along a factor. */
static tsr_status cuts_differ(const global_op *g, const cut *a, const cut *b)
{
    const bool one = (a->num_axes == 0) != (b->num_axes == 0);
    const cut *has = a->num_axes > 0 ? a : b;
    bool same_set = a->num_axes == b->num_axes;
    for (size_t i = 0; same_set && i < a->num_axes; i++) {
        same_set = false;
        for (size_t k = 0; k < b->num_axes; k++) {
            same_set = same_set || a->axes[i] == b->axes[k];
        }
    }
    if (one) {
        return infer_error(g->inf, has->axes[0],
                           "one operand is cut along a dimension that another operand has whole: "
                           "their global shapes differ, or both need the same cut");
    }
    if (!same_set) {
        return infer_error(g->inf, has->axes[0],
                           "operands are cut by different axes along one dimension");
    }
    if (same_axes(a, b) && a->symbol != NULL && b->symbol != NULL) {
        return infer_error(
            g->inf, has->axes[0],
            "operands have shards of unbound sizes along one dimension, by different "
            "symbols: use one symbol if they are the same, or give the sizes");
    }
    return infer_error(g->inf, has->axes[0],
                       !same_axes(a, b)
                           ? "operands are cut by the same axes in different orders"
                           : "operands have shards of different sizes along one dimension");
}

/* A dimension of several factors: its major factor is cut, where the rule is on whole shapes. */
static tsr_status split_cut(const global_op *g, const tsr_rule_dim *dim, cut *c)
{
    const int64_t major = rule_factor_size(g->rule, dim->factors[0]);
    if (!g->inf->call->whole_rule) {
        return infer_error(g->inf, c->axes[0],
                           "a cut dimension is split, and it is ambiguous which part is cut; split "
                           "before the cut, or give the global shapes");
    }
    if (c->sizes != NULL || c->symbol != NULL || major % c->shards != 0) {
        return infer_error(g->inf, c->axes[0],
                           "a cut dimension is split, and its shards do not divide the major part");
    }
    c->extent = major;
    return TSR_OK;
}

static tsr_status take_dim(global_op *g, size_t operand, size_t dim)
{
    const tsr_rule_dim *d = &g->rule->tensors[operand].dims[dim];
    const cut whole = {.seen = true, .axes = no_axes, .shards = 1};
    cut c;
    TSR_TRY(cut_of_dim(g, operand, dim, &c));
    if (d->num_factors > 1 && c.num_axes > 0) {
        TSR_TRY(split_cut(g, d, &c));
    }
    for (size_t i = 0; i < d->num_factors; i++) {
        cut *known = &g->cuts[d->factors[i]];
        const cut *now = i == 0 ? &c : &whole;
        if (known->seen && !same_cut(known, now)) {
            return cuts_differ(g, known, now);
        }
        if (!known->seen) {
            *known = *now;
        }
    }
    return TSR_OK;
}

static tsr_status take_operands(global_op *g)
{
    const tsr_typed_call *call = g->inf->call;
    for (size_t t = 0; t < call->num_operands; t++) {
        const tsr_typed_shape *o = &call->operands[t];
        const size_t rank = g->rule->tensors[t].rank;
        if (o->type == NULL) {
            continue;
        }
        if (o->rank != rank || (o->type->has_spec && o->type->rank != rank)) {
            return infer_error(g->inf, SIZE_MAX, "the rank of an operand differs from the rule");
        }
        for (size_t a = 0; a < tsr_mesh_num_axes(call->mesh); a++) {
            if (axis_in_set(call->global, a) && o->type->axes[a].kind == TSR_V &&
                tsr_type_dim_of(o->type, a) < 0) {
                return infer_error(g->inf, a,
                                   "an operand varies along a global axis that has no entry in its "
                                   "partition spec");
            }
        }
        for (size_t d = 0; d < rank; d++) {
            TSR_TRY(take_dim(g, t, d));
        }
    }
    return TSR_OK;
}

/* ---- what the op can do with it ---- */

/* No axis may cut two factors: a rank would see only the diagonal of their product. */
static tsr_status check_apart(const global_op *g)
{
    for (size_t f = 0; f < g->rule->num_factors; f++) {
        for (size_t h = 0; h < f; h++) {
            for (size_t i = 0; i < g->cuts[f].num_axes; i++) {
                for (size_t k = 0; k < g->cuts[h].num_axes; k++) {
                    if (g->cuts[f].axes[i] == g->cuts[h].axes[k]) {
                        return infer_error(g->inf, g->cuts[f].axes[i],
                                           "it cuts different dimensions of the operands, so a "
                                           "rank would compute only the diagonal of the result");
                    }
                }
            }
        }
    }
    return TSR_OK;
}

static bool tensor_has(const tsr_rule_tensor *t, size_t factor)
{
    for (size_t d = 0; d < t->rank; d++) {
        for (size_t i = 0; i < t->dims[d].num_factors; i++) {
            if (t->dims[d].factors[i] == factor) {
                return true;
            }
        }
    }
    return false;
}

/* Names the call that leaves a partial result, where the op has one. */
static tsr_status refuse_contracted(const global_op *g, size_t axis)
{
    static const char *const with_partial[] = {"tsr_matmul", "tsr_linear", "tsr_einsum",
                                               "tsr_sum",    "tsr_mean",   "tsr_max",
                                               "tsr_min",    "tsr_take",   "tsr_embedding"};
    const char *name = g->inf->call->name;
    const char *axis_name = tsr_mesh_axis_name(g->inf->call->mesh, axis);
    buffer buf = buffer_new(g->inf->arena);
    const char *why;
    buffer_string(&buf,
                  "it cuts a contracted dimension, so each rank has only a part of the sum: ");
    const size_t before = buf.size;
    for (size_t i = 0; name != NULL && i < sizeof with_partial / sizeof with_partial[0]; i++) {
        if (strcmp(name, with_partial[i]) == 0) {
            buffer_format(&buf, "use %s_partial(.., \"%s\", ..)", name, axis_name);
        }
    }
    if (buf.size == before && name != NULL && strstr(name, "_partial") != NULL) {
        buffer_format(&buf, "name \"%s\" among its axes", axis_name);
    } else if (buf.size == before) {
        buffer_string(&buf, "name it in out_partial_axes");
    }
    buffer_string(&buf, ", or gather first");
    TSR_TRY(buffer_finish(g->inf->ctx, &buf, &why));
    return infer_error(g->inf, axis, why);
}

/* A contracted factor: its axes become pending, if that was requested. */
static tsr_status contract(global_op *g, const cut *c)
{
    const tsr_typed_call *call = g->inf->call;
    for (size_t i = 0; i < c->num_axes; i++) {
        if (!axis_in_set(call->out_partial, c->axes[i]) && !call->implicit_partial) {
            return refuse_contracted(g, c->axes[i]);
        }
        if (call->reduction == TSR_AVG &&
            (c->sizes != NULL || c->symbol != NULL || c->extent % c->shards != 0)) {
            return infer_error(g->inf, c->axes[i],
                               "an average of averages is wrong for shards of different sizes: "
                               "sum, then divide by the global count");
        }
        g->inf->axes[c->axes[i]] = (tsr_axis_type){TSR_P, call->reduction};
    }
    return TSR_OK;
}

static tsr_status check_factor(global_op *g, size_t factor)
{
    const cut *c = &g->cuts[factor];
    if (c->num_axes == 0) {
        return TSR_OK;
    }
    switch (g->rule->factors[factor].kind) {
    case TSR_FACTOR_REDUCTION:
        return contract(g, c);
    case TSR_FACTOR_NEED_REPLICATION:
    case TSR_FACTOR_PERMUTATION:
        return infer_error(g->inf, c->axes[0],
                           "it cuts a dimension that the op needs whole; gather it first");
    case TSR_FACTOR_PASS_THROUGH:
        break;
    }
    for (size_t r = g->rule->num_operands; r < rule_num_tensors(g->rule); r++) {
        if (!tensor_has(&g->rule->tensors[r], factor)) {
            return infer_error(g->inf, c->axes[0],
                               "it cuts a dimension that is missing in the result");
        }
    }
    return TSR_OK;
}

/* Axes that were requested to become pending must have cut a contracted factor. */
static tsr_status check_out_partial(const global_op *g)
{
    const tsr_typed_call *call = g->inf->call;
    for (size_t a = 0; a < tsr_mesh_num_axes(call->mesh); a++) {
        bool contracted = false;
        for (size_t f = 0; f < g->rule->num_factors; f++) {
            for (size_t i = 0; i < g->cuts[f].num_axes; i++) {
                contracted = contracted || (g->cuts[f].axes[i] == a &&
                                            g->rule->factors[f].kind == TSR_FACTOR_REDUCTION);
            }
        }
        if (axis_in_set(call->global, a) && axis_in_set(call->out_partial, a) && !contracted) {
            return infer_error(g->inf, a,
                               "it is given as partial, but does not cut a contracted dimension in "
                               "every operand that has the dimension");
        }
    }
    return TSR_OK;
}

/* ---- from factors to results ---- */

static tsr_status lay_dim(const global_op *g, const tsr_rule_dim *dim, tsr_spec_dim *out)
{
    int64_t times = 1;
    const cut *major = &g->cuts[dim->factors[0]];
    *out = (tsr_spec_dim){0};
    for (size_t i = 1; i < dim->num_factors; i++) {
        const cut *c = &g->cuts[dim->factors[i]];
        if (c->num_axes > 0) {
            return infer_error(g->inf, c->axes[0],
                               "dimensions are merged and the minor one is cut, so the shards are "
                               "not chunks of the result");
        }
        if (!checked_mul(times, rule_factor_size(g->rule, dim->factors[i]), &times)) {
            return diag_error(g->inf->ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "an extent exceeds 2^63-1");
        }
    }
    if (major->num_axes == 0) {
        return TSR_OK;
    }
    out->num_axes = major->num_axes;
    out->axes = major->axes;
    out->symbol = major->symbol;
    if (major->symbol != NULL) {
        return times == 1 ? TSR_OK
                          : infer_error(g->inf, major->axes[0],
                                        "dimensions are merged and the major of them has unbound "
                                        "sizes: give the sizes first");
    }
    return sizes_scale(g->inf->ctx, g->inf->arena, major->extent, major->sizes, major->shards,
                       times, &out->sizes);
}

static tsr_status lay_result(const global_op *g, const tsr_rule_tensor *t, const tsr_type **out)
{
    tsr_spec_dim *dims = ARENA_ARRAY(g->inf->arena, tsr_spec_dim, t->rank);
    if (dims == NULL) {
        return diag_nomem(g->inf->ctx);
    }
    for (size_t d = 0; d < t->rank; d++) {
        TSR_TRY(lay_dim(g, &t->dims[d], &dims[d]));
    }
    const tsr_type_spec spec = {g->inf->call->mesh, g->inf->axes, true, t->rank, dims};
    return tsr_type_create(g->inf->ctx, g->inf->arena, &spec, out);
}

tsr_status infer_specs(inference *inf, const tsr_type **results)
{
    const tsr_rule *rule = inf->call->rule;
    if (rule == NULL) {
        return infer_error(
            inf, SIZE_MAX,
            "the op has no sharding rule, so its effect on global values is unknown");
    }
    global_op g = {inf, rule, ARENA_ARRAY(inf->arena, cut, rule->num_factors)};
    if (g.cuts == NULL) {
        return diag_nomem(inf->ctx);
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        g.cuts[f] = (cut){.axes = no_axes, .shards = 1};
    }
    if (rule->num_operands != inf->call->num_operands) {
        return infer_error(inf, SIZE_MAX, "the rule has another number of operands");
    }
    TSR_TRY(take_operands(&g));
    TSR_TRY(check_apart(&g));
    for (size_t f = 0; f < rule->num_factors; f++) {
        TSR_TRY(check_factor(&g, f));
    }
    TSR_TRY(check_out_partial(&g));
    for (size_t r = 0; r < rule->num_results; r++) {
        TSR_TRY(lay_result(&g, &rule->tensors[rule->num_operands + r], &results[r]));
    }
    return TSR_OK;
}
