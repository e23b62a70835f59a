/* The rules of shardings, in the order of the reference: the first one broken is reported. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "shard/sharding.h"

/* The state of building a sharding from its text. */
typedef struct resolver {
    tsr_context *ctx;
    tsr_arena *arena;
    sharding_text *text;
    const tsr_mesh *mesh;
    const resolve_options *options;
    const char *prefix;
    axis_verifier verifier;
} resolver;

static void look_up(const resolver *r, named_axes list)
{
    for (size_t i = 0; i < list.count; i++) {
        named_axis_resolve(&list.axes[i], r->mesh);
    }
}

static size_t look_up_all(const resolver *r)
{
    size_t count = r->text->replicated.count + r->text->unreduced.count;
    for (size_t i = 0; i < r->text->rank; i++) {
        look_up(r, r->text->dims[i].axes);
        count += r->text->dims[i].axes.count;
    }
    look_up(r, r->text->replicated);
    look_up(r, r->text->unreduced);
    return count;
}

/* Whether the algebra accepts an axis: it is valid in a sharding. */
static bool is_sound(const resolver *r, const named_axis *axis)
{
    int64_t next;
    if (axis->ref.axis < 0) {
        return false;
    }
    return !axis->ref.is_sub || (axis->ref.pre >= 1 && axis->ref.size > 1 &&
                                 checked_mul(axis->ref.pre, axis->ref.size, &next) &&
                                 tsr_mesh_axis_size(r->mesh, (size_t)axis->ref.axis) % next == 0);
}

/* Joins neighbours that continue each other. */
static void merge(const resolver *r, named_axes *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        named_axis *last = kept > 0 ? &list->axes[kept - 1] : NULL;
        const named_axis axis = list->axes[i];
        const bool joined = last != NULL && is_sound(r, last) && is_sound(r, &axis) &&
                            tsr_axis_merge(r->mesh, last->ref, axis.ref, &last->ref);
        if (!joined) {
            list->axes[kept++] = axis;
        }
    }
    list->count = kept;
}

static int compare_axes(const void *a, const void *b)
{
    return tsr_axis_compare(((const named_axis *)a)->ref, ((const named_axis *)b)->ref);
}

static void sort(named_axes list)
{
    if (list.count > 1) {
        qsort(list.axes, list.count, sizeof *list.axes, compare_axes);
    }
}

static void canonicalize(const resolver *r)
{
    for (size_t i = 0; i < r->text->rank; i++) {
        merge(r, &r->text->dims[i].axes);
    }
    sort(r->text->replicated);
    merge(r, &r->text->replicated);
    sort(r->text->unreduced);
    merge(r, &r->text->unreduced);
}

static tsr_status check_maximal(const resolver *r)
{
    const sharding_text *text = r->text;
    if (!tsr_mesh_is_maximal(r->mesh) ||
        (text->rank == 0 && text->replicated.count == 0 && text->unreduced.count == 0)) {
        return TSR_OK;
    }
    (void)diag_error(
        r->ctx, TSR_ERR_INVALID, text->where,
        "%sa maximal sharding can only have a sharding with rank 0 and no replicated or "
        "unreduced axes.",
        r->prefix);
    return diag_note(r->ctx, NO_LOCATION,
                     "the mesh is one device without axes: write [] for a tensor of any rank");
}

static tsr_status check_rank(const resolver *r)
{
    const int64_t rank = r->options->rank;
    if (rank < 0 || (int64_t)r->text->rank == rank || tsr_mesh_is_maximal(r->mesh)) {
        return TSR_OK;
    }
    (void)diag_error(r->ctx, TSR_ERR_INVALID, r->text->where,
                     "%ssharding doesn't match tensor rank: %zu != %lld", r->prefix, r->text->rank,
                     (long long)rank);
    return diag_note(
        r->ctx, NO_LOCATION,
        "write one {} for each dimension of the tensor, %lld in total; {} is not sharded",
        (long long)rank);
}

static tsr_status check_dims(resolver *r)
{
    for (size_t i = 0; i < r->text->rank; i++) {
        const dim_text *dim = &r->text->dims[i];
        if (dim->priority < 0 && dim->priority != TSR_NO_PRIORITY) {
            return diag_error(r->ctx, TSR_ERR_INVALID, dim->where,
                              "%sdim %zu: a priority must be at least 0, got: %lld", r->prefix, i,
                              (long long)dim->priority);
        }
        if (dim->axes.count == 0 && !dim->open && dim->priority != TSR_NO_PRIORITY) {
            (void)diag_error(r->ctx, TSR_ERR_INVALID, dim->where,
                             "%sdim %zu is empty and closed but has a priority", r->prefix, i);
            return diag_note(r->ctx, NO_LOCATION,
                             "a closed, empty dimension does not propagate: remove the p%lld, or "
                             "open the dimension with {?}",
                             (long long)dim->priority);
        }
        TSR_TRY(axis_verify_list(&r->verifier, dim->axes));
    }
    return TSR_OK;
}

static tsr_status check_list(resolver *r, named_axes list, location where, const char *word)
{
    bool known = true;
    for (size_t i = 0; i < list.count; i++) {
        known = known && list.axes[i].ref.axis >= 0;
    }
    if (known && !named_axes_ordered(list)) {
        (void)diag_error(r->ctx, TSR_ERR_INVALID, where, "%s%s axes are not ordered w.r.t. mesh",
                         r->prefix, word);
        return diag_note(r->ctx, NO_LOCATION,
                         "list them in the order of the mesh's axes, sub-axes of one by pre-size");
    }
    return axis_verify_list(&r->verifier, list);
}

static tsr_status refuse_sub_axes(const resolver *r, named_axes list)
{
    for (size_t i = 0; i < list.count; i++) {
        const named_axis *axis = &list.axes[i];
        if (axis->ref.is_sub) {
            (void)diag_error(r->ctx, TSR_ERR_INVALID, axis->where,
                             "%ssub-axes are not allowed here: %s", r->prefix,
                             named_axis_text(r->arena, axis));
            return diag_note(r->ctx, NO_LOCATION,
                             "use a mesh in which this part is an axis of its own");
        }
    }
    return TSR_OK;
}

/* Of the text as written: what is merged later to a full axis was sub-axes all the same. */
static tsr_status check_no_sub_axes(const resolver *r)
{
    if ((r->options->flags & TSR_SHARDING_NO_SUB_AXES) == 0) {
        return TSR_OK;
    }
    for (size_t i = 0; i < r->text->rank; i++) {
        TSR_TRY(refuse_sub_axes(r, r->text->dims[i].axes));
    }
    TSR_TRY(refuse_sub_axes(r, r->text->replicated));
    return refuse_sub_axes(r, r->text->unreduced);
}

static tsr_status check_all(resolver *r)
{
    TSR_TRY(check_maximal(r));
    TSR_TRY(check_rank(r));
    TSR_TRY(check_dims(r));
    TSR_TRY(check_list(r, r->text->replicated, r->text->replicated_where, "replicated"));
    TSR_TRY(check_list(r, r->text->unreduced, r->text->unreduced_where, "unreduced"));
    return axis_verify_subs(&r->verifier);
}

static const tsr_axis_ref *build_axes(const resolver *r, named_axes list)
{
    tsr_axis_ref *refs = ARENA_ARRAY(r->arena, tsr_axis_ref, list.count);
    for (size_t i = 0; refs != NULL && i < list.count; i++) {
        refs[i] = list.axes[i].ref;
    }
    return refs;
}

static tsr_status build_dim(const resolver *r, size_t index, tsr_dim *out)
{
    const dim_text *text = &r->text->dims[index];
    *out = (tsr_dim){.axes = build_axes(r, text->axes),
                     .num_axes = text->axes.count,
                     .open = text->open,
                     .priority = text->priority};
    if (out->axes == NULL) {
        return diag_nomem(r->ctx);
    }
    if (!text->has_ragged) {
        return TSR_OK;
    }
    TSR_TRY(ragged_resolve(r->ctx, r->arena, text, index, r->prefix, &out->ragged));
    const int64_t extent = r->options->shape != NULL ? r->options->shape[index] : TSR_UNKNOWN;
    return ragged_check_extent(r->ctx, text->where, r->prefix, index, out->ragged,
                               tsr_axes_size(out->axes, out->num_axes), extent);
}

static tsr_status build(const resolver *r, const tsr_sharding **out)
{
    tsr_sharding *sharding = ARENA_NEW(r->arena, tsr_sharding);
    tsr_dim *dims = ARENA_ARRAY(r->arena, tsr_dim, r->text->rank);
    if (sharding == NULL || dims == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t i = 0; i < r->text->rank; i++) {
        TSR_TRY(build_dim(r, i, &dims[i]));
    }
    *sharding =
        (tsr_sharding){.mesh = r->mesh,
                       .rank = r->text->rank,
                       .dims = dims,
                       .num_replicated = r->text->replicated.count,
                       .replicated = build_axes(r, r->text->replicated),
                       .num_unreduced = r->text->unreduced.count,
                       .unreduced = build_axes(r, r->text->unreduced),
                       .reduction = r->text->unreduced.count > 0 ? r->text->reduction : TSR_SUM};
    if (sharding->replicated == NULL || sharding->unreduced == NULL) {
        return diag_nomem(r->ctx);
    }
    *out = sharding;
    return TSR_OK;
}

tsr_status sharding_resolve(tsr_context *ctx, tsr_arena *arena, sharding_text *text,
                            const tsr_mesh *mesh, const resolve_options *options,
                            const tsr_sharding **out)
{
    resolver r = {ctx, arena, text, mesh, options, options->prefix, {0}};
    const size_t count = look_up_all(&r);
    TSR_TRY(check_no_sub_axes(&r));
    if ((options->flags & TSR_SHARDING_CANONICALIZE) != 0) {
        canonicalize(&r);
    }
    TSR_TRY(axis_verifier_init(&r.verifier, ctx, arena, mesh, options->prefix, count));
    TSR_TRY(check_all(&r));
    return build(&r, out);
}

/* A list of references in the form of a text. */
static bool write_axes(tsr_arena *arena, const tsr_mesh *mesh, const tsr_axis_ref *refs,
                       size_t count, named_axes *out)
{
    out->axes = ARENA_ARRAY(arena, named_axis, count);
    out->count = count;
    for (size_t i = 0; out->axes != NULL && i < count; i++) {
        out->axes[i] = named_axis_of(mesh, refs[i]);
    }
    return out->axes != NULL;
}

/* A builder's sizes and counts are as many as its axes require. */
static void write_ragged(const tsr_ragged *ragged, dim_text *out)
{
    int64_t shards = 1;
    for (size_t i = 0; i < out->axes.count; i++) {
        if (!checked_mul(shards, out->axes.axes[i].ref.size, &shards)) {
            shards = 0;
        }
    }
    int64_t numbers = shards;
    if (ragged->kind != TSR_RAGGED_DYNAMIC && !checked_mul(shards, ragged->partitions, &numbers)) {
        numbers = 0;
    }
    out->has_ragged = true;
    out->ragged = *ragged;
    out->num_sizes = (size_t)numbers;
    out->num_owners = (size_t)shards + 1;
}

static bool write_dim(tsr_arena *arena, const tsr_mesh *mesh, const tsr_dim *dim, dim_text *out)
{
    *out = (dim_text){.open = dim->open, .priority = dim->priority};
    if (!write_axes(arena, mesh, dim->axes, dim->num_axes, &out->axes)) {
        return false;
    }
    if (dim->ragged != NULL) {
        write_ragged(dim->ragged, out);
    }
    return true;
}

tsr_status tsr_sharding_create(tsr_context *ctx, tsr_arena *arena, const tsr_sharding_spec *spec,
                               int flags, const tsr_sharding **out)
{
    GUARD(tsr_sharding_create);
    sharding_text text = {.rank = spec->rank, .reduction = spec->reduction};
    text.dims = ARENA_ARRAY(arena, dim_text, spec->rank);
    bool fine = text.dims != NULL;
    for (size_t i = 0; fine && i < spec->rank; i++) {
        fine = write_dim(arena, spec->mesh, &spec->dims[i], &text.dims[i]);
    }
    if (!fine ||
        !write_axes(arena, spec->mesh, spec->replicated, spec->num_replicated, &text.replicated) ||
        !write_axes(arena, spec->mesh, spec->unreduced, spec->num_unreduced, &text.unreduced)) {
        return diag_nomem(ctx);
    }
    const resolve_options options = {.flags = flags, .rank = -1, .prefix = ""};
    return sharding_resolve(ctx, arena, &text, spec->mesh, &options, out);
}
