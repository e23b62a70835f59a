/* The direct exchange: each device gets what it lacks from the replica that has sent least. */
#include "plan/plan.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "plan/overlap.h"

/* A step while it is made. Places are of the source mesh. */
typedef struct planner {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_geometry *src;
    const tsr_geometry *dst;
    plan_dim *dims;
    places kept;    /* along what stays pending */
    places removed; /* along what is folded */
    places replicas;
    int64_t *load; /* elements that each device sends */
    plan_move *moves;
    size_t num_moves;
    int64_t *sources;
} planner;

/* The axes of the source mesh along which a reduction stays pending, and is folded. */
typedef struct pending_axes {
    tsr_axis_list kept;
    tsr_axis_list removed;
} pending_axes;

static tsr_status axis_list(tsr_context *ctx, tsr_arena *arena, size_t capacity, tsr_axis_list *out)
{
    *out =
        (tsr_axis_list){.refs = ARENA_ARRAY(arena, tsr_axis_ref, capacity), .capacity = capacity};
    return out->refs != NULL ? TSR_OK : diag_nomem(ctx);
}

/* The unreduced axes of the destination as axes of the source's mesh. */
static tsr_status unreduced_there(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *src,
                                  const tsr_sharding *dst, const tsr_sharding **out)
{
    const tsr_sharding_spec only = {.mesh = dst->mesh,
                                    .num_unreduced = dst->num_unreduced,
                                    .unreduced = dst->unreduced,
                                    .reduction = dst->reduction};
    const tsr_sharding *bare = NULL;
    TSR_TRY(tsr_sharding_create(ctx, arena, &only, TSR_SHARDING_DEFAULT, &bare));
    return tsr_sharding_translate(ctx, arena, bare, src->mesh, out);
}

static tsr_status find_pending(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *src,
                               const tsr_sharding *dst, pending_axes *out)
{
    enum { SPLITS = 128 };
    const tsr_sharding *there = NULL;
    tsr_axis_list introduced = {0};
    TSR_TRY(axis_list(ctx, arena, SPLITS, &out->kept));
    TSR_TRY(axis_list(ctx, arena, SPLITS, &out->removed));
    TSR_TRY(axis_list(ctx, arena, SPLITS, &introduced));
    if (dst->num_unreduced > 0) {
        TSR_TRY(unreduced_there(ctx, arena, src, dst, &there));
        for (size_t i = 0; i < there->num_unreduced; i++) {
            TSR_TRY(tsr_axes_add(src->mesh, &out->kept, there->unreduced[i]));
        }
    }
    TSR_TRY(tsr_axes_difference(out->kept.refs, out->kept.count, src->unreduced, src->num_unreduced,
                                &introduced));
    if (introduced.count > 0) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_PLACE,
                          "a redistribution cannot make a reduction pending: axis \"%s\" is "
                          "unreduced in the destination only",
                          tsr_mesh_axis_name(src->mesh, (size_t)introduced.refs[0].axis));
    }
    if (out->kept.count > 0 && src->reduction != dst->reduction) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_PLACE, "a pending %s cannot become a pending %s",
                          reduction_name(src->reduction), reduction_name(dst->reduction));
    }
    return tsr_axes_difference(src->unreduced, src->num_unreduced, out->kept.refs, out->kept.count,
                               &out->removed);
}

/* The places of devices that hold the same: along no axis that shards or is pending. */
static tsr_status find_replicas(planner *p)
{
    const tsr_sharding *s = p->src->sharding;
    size_t capacity = s->num_unreduced;
    for (size_t i = 0; i < s->rank; i++) {
        capacity += s->dims[i].num_axes;
    }
    tsr_axis_list used = {0};
    TSR_TRY(axis_list(p->ctx, p->arena, capacity, &used));
    for (size_t i = 0; i < s->rank; i++) {
        for (size_t j = 0; j < s->dims[i].num_axes; j++) {
            used.refs[used.count++] = s->dims[i].axes[j];
        }
    }
    for (size_t i = 0; i < s->num_unreduced; i++) {
        used.refs[used.count++] = s->unreduced[i];
    }
    return places_beside(p->ctx, p->arena, s->mesh, used.refs, used.count, &p->replicas);
}

/* How many combinations of overlaps a destination place has. */
static size_t count_moves(const planner *p, int64_t place)
{
    size_t count = 1;
    for (size_t i = 0; i < p->dst->rank; i++) {
        const int64_t shard = places_index(&p->dst->dims[i].along, place);
        count *= p->dims[i].of_dst[shard + 1] - p->dims[i].of_dst[shard];
    }
    return count;
}

/* The place of a source shard's devices with the kept coordinates of this one. */
static int64_t base_place(const planner *p, const plan_overlap *const *overlaps, int64_t own)
{
    int64_t base = places_at(&p->kept, places_index(&p->kept, own));
    for (size_t i = 0; i < p->src->rank; i++) {
        base += places_at(&p->src->dims[i].along, overlaps[i]->src_shard);
    }
    return base;
}

/* Whether the device at a source place holds these shards itself. */
static bool holds(const planner *p, const plan_overlap *const *overlaps, int64_t own)
{
    for (size_t i = 0; i < p->src->rank; i++) {
        if (places_index(&p->src->dims[i].along, own) != overlaps[i]->src_shard) {
            return false;
        }
    }
    return true;
}

/* The replica that has sent least so far; ties go to the first. */
static int64_t least_loaded(const planner *p, int64_t base)
{
    int64_t best = 0;
    int64_t least = INT64_MAX;
    for (int64_t r = 0; r < p->replicas.size && least > 0; r++) {
        const int64_t place = base + places_at(&p->replicas, r);
        const int64_t load = p->load[tsr_mesh_device_at(p->src->sharding->mesh, place)];
        if (load < least) {
            least = load;
            best = r;
        }
    }
    return best;
}

/* Adds the move of one combination of overlaps to device `dst`. */
static void add_move(planner *p, int64_t dst, const plan_overlap *const *overlaps)
{
    const tsr_mesh *mesh = p->src->sharding->mesh;
    const int64_t own = tsr_mesh_place_of(mesh, dst);
    const int64_t base = base_place(p, overlaps, own);
    const int64_t replica =
        holds(p, overlaps, own) ? places_index(&p->replicas, own) : least_loaded(p, base);
    plan_move *move = &p->moves[p->num_moves];
    *move = (plan_move){.dst = dst,
                        .first_source = p->num_moves * (size_t)p->removed.size,
                        .overlaps = overlaps,
                        .elements = 1};
    for (size_t i = 0; i < p->dst->rank; i++) {
        move->elements *= overlaps[i]->size;
    }
    for (int64_t q = 0; q < p->removed.size; q++) {
        const int64_t place = base + places_at(&p->replicas, replica) + places_at(&p->removed, q);
        const int64_t source = tsr_mesh_device_at(mesh, place);
        p->sources[move->first_source + (size_t)q] = source;
        p->load[source] += source != dst ? move->elements : 0;
    }
    p->num_moves++;
}

/* All moves to one device: every combination of overlaps, the last dimension fastest. */
static tsr_status add_moves(planner *p, int64_t dst)
{
    const size_t rank = p->dst->rank;
    const int64_t place = tsr_mesh_place_of(p->dst->sharding->mesh, dst);
    const size_t count = count_moves(p, place);
    const plan_overlap **overlaps = ARENA_ARRAY(p->arena, const plan_overlap *, count *rank + 1);
    if (overlaps == NULL) {
        return diag_nomem(p->ctx);
    }
    for (size_t m = 0; m < count; m++) {
        size_t rest = m;
        for (size_t i = rank; i-- > 0;) {
            const int64_t shard = places_index(&p->dst->dims[i].along, place);
            const size_t first = p->dims[i].of_dst[shard];
            const size_t number = p->dims[i].of_dst[shard + 1] - first;
            overlaps[m * rank + i] = &p->dims[i].overlaps[first + rest % number];
            rest /= number;
        }
        add_move(p, dst, overlaps + m * rank);
    }
    return TSR_OK;
}

static tsr_status make_room(planner *p, int64_t devices)
{
    size_t count = 0;
    for (int64_t place = 0; place < devices; place++) {
        count += count_moves(p, place);
    }
    p->moves = ARENA_ARRAY(p->arena, plan_move, count);
    p->sources = ARENA_ARRAY(p->arena, int64_t, count * (size_t)p->removed.size);
    p->load = ARENA_ARRAY(p->arena, int64_t, (size_t)devices);
    if (p->moves == NULL || p->sources == NULL || p->load == NULL) {
        return diag_nomem(p->ctx);
    }
    memset(p->load, 0, (size_t)devices * sizeof *p->load);
    return TSR_OK;
}

/* One step between two geometries that differ in what is pending by `pending->removed`. */
static tsr_status make_step(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *src,
                            const tsr_geometry *dst, const pending_axes *pending, plan_step *out)
{
    planner p = {.ctx = ctx, .arena = arena, .src = src, .dst = dst};
    const tsr_mesh *mesh = src->sharding->mesh;
    p.dims = ARENA_ARRAY(arena, plan_dim, src->rank);
    if (p.dims == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < src->rank; i++) {
        TSR_TRY(plan_dim_create(ctx, arena, &src->dims[i], &dst->dims[i], &p.dims[i]));
    }
    TSR_TRY(places_along(ctx, arena, mesh, pending->kept.refs, pending->kept.count, &p.kept));
    TSR_TRY(
        places_along(ctx, arena, mesh, pending->removed.refs, pending->removed.count, &p.removed));
    TSR_TRY(find_replicas(&p));
    const int64_t devices = tsr_mesh_num_devices(mesh);
    TSR_TRY(make_room(&p, devices));
    for (int64_t device = 0; device < devices; device++) {
        TSR_TRY(add_moves(&p, device));
    }
    *out = (plan_step){.src = src,
                       .dst = dst,
                       .dims = p.dims,
                       .sources_each = (size_t)p.removed.size,
                       .sources = p.sources,
                       .moves = p.moves,
                       .num_moves = p.num_moves};
    return TSR_OK;
}

static int64_t received(const plan_step *step, int64_t device)
{
    int64_t elements = 0;
    for (size_t i = 0; i < step->num_moves; i++) {
        const plan_move *move = &step->moves[i];
        for (size_t q = 0; move->dst == device && q < step->sources_each; q++) {
            elements += step->sources[move->first_source + q] != device ? move->elements : 0;
        }
    }
    return elements;
}

static int64_t sent(const plan_step *step, int64_t device)
{
    int64_t elements = 0;
    for (size_t i = 0; i < step->num_moves; i++) {
        const plan_move *move = &step->moves[i];
        for (size_t q = 0; move->dst != device && q < step->sources_each; q++) {
            elements += step->sources[move->first_source + q] == device ? move->elements : 0;
        }
    }
    return elements;
}

/* The most elements any device receives in some steps. */
static int64_t worst(const plan_step *steps, size_t count, int64_t devices)
{
    int64_t most = 0;
    for (int64_t device = 0; device < devices; device++) {
        int64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            sum += received(&steps[i], device);
        }
        most = max_i64(most, sum);
    }
    return most;
}

/* The dimension with the longest even chunk, along which shares of a fold are cut; rank if none. */
static size_t dim_to_share(const tsr_geometry *src)
{
    size_t best = src->rank;
    for (size_t i = 0; i < src->rank; i++) {
        const bool even = src->sharding->dims[i].layout == NULL;
        if (even && (best == src->rank || src->dims[i].chunk > src->dims[best].chunk)) {
            best = i;
        }
    }
    return best;
}

/* The layout in which each device of a pending group has its share of the result. */
static tsr_status make_shares(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *src,
                              const pending_axes *pending, size_t dim, const tsr_geometry **out)
{
    const tsr_sharding *s = src->sharding;
    tsr_dim *dims = arena_copy(arena, s->dims, s->rank, sizeof *dims);
    tsr_axis_list axes = {0};
    const size_t count = s->dims[dim].num_axes;
    TSR_TRY(axis_list(ctx, arena, count + pending->removed.count, &axes));
    if (dims == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < count; i++) {
        TSR_TRY(tsr_axes_add(s->mesh, &axes, s->dims[dim].axes[i]));
    }
    for (size_t i = 0; i < pending->removed.count; i++) {
        TSR_TRY(tsr_axes_add(s->mesh, &axes, pending->removed.refs[i]));
    }
    dims[dim] = tsr_dim_closed(axes.refs, axes.count);
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = dims,
                                    .num_unreduced = pending->kept.count,
                                    .unreduced = pending->kept.refs,
                                    .reduction = s->reduction};
    const tsr_sharding *shares = NULL;
    TSR_TRY(tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_CANONICALIZE, &shares));
    return tsr_geometry_create(ctx, arena, shares, src->rank, src->shape, out);
}

/* Folds in shares first, then exchanges, where that is less for the device that gets most. */
static tsr_status consider_shares(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *src,
                                  const tsr_geometry *dst, pending_axes *pending, plan_step *steps,
                                  size_t *num_steps)
{
    const int64_t devices = tsr_mesh_num_devices(src->sharding->mesh);
    if (tsr_axes_size(pending->removed.refs, pending->removed.count) == 1) {
        return TSR_OK;
    }
    const size_t dim = dim_to_share(src);
    if (dim == src->rank) {
        return TSR_OK;
    }
    const tsr_geometry *shares = NULL;
    plan_step two[2];
    pending_axes rest = {.kept = pending->kept};
    TSR_TRY(make_shares(ctx, arena, src, pending, dim, &shares));
    TSR_TRY(make_step(ctx, arena, src, shares, pending, &two[0]));
    TSR_TRY(make_step(ctx, arena, shares, dst, &rest, &two[1]));
    if (worst(two, 2, devices) < worst(steps, 1, devices)) {
        steps[0] = two[0];
        steps[1] = two[1];
        *num_steps = 2;
    }
    return TSR_OK;
}

static tsr_status check_pair(tsr_context *ctx, const tsr_geometry *src, const tsr_geometry *dst)
{
    if (src->rank != dst->rank ||
        (src->rank > 0 && memcmp(src->shape, dst->shape, src->rank * sizeof *src->shape) != 0)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_PLACE,
                          "a redistribution keeps the shape: source and destination differ");
    }
    if (!tsr_mesh_same_devices(src->sharding->mesh, dst->sharding->mesh)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_PLACE,
                          "source and destination are on different devices: meshes of %lld and "
                          "%lld",
                          (long long)tsr_mesh_num_devices(src->sharding->mesh),
                          (long long)tsr_mesh_num_devices(dst->sharding->mesh));
    }
    return TSR_OK;
}

tsr_status tsr_plan_create(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *src,
                           const tsr_geometry *dst, tsr_dtype dtype, const tsr_plan **out)
{
    TSR_TRY(check_pair(ctx, src, dst));
    pending_axes pending;
    TSR_TRY(find_pending(ctx, arena, src->sharding, dst->sharding, &pending));
    tsr_plan *plan = ARENA_NEW(arena, tsr_plan);
    plan_step *steps = ARENA_ARRAY(arena, plan_step, 2);
    if (plan == NULL || steps == NULL) {
        return diag_nomem(ctx);
    }
    size_t num_steps = 1;
    TSR_TRY(make_step(ctx, arena, src, dst, &pending, &steps[0]));
    TSR_TRY(consider_shares(ctx, arena, src, dst, &pending, steps, &num_steps));
    *plan = (tsr_plan){.num_steps = num_steps,
                       .steps = steps,
                       .dtype = dtype,
                       .reduction = src->sharding->reduction};
    *out = plan;
    return TSR_OK;
}

size_t tsr_plan_num_steps(const tsr_plan *plan)
{
    return plan->num_steps;
}

int64_t tsr_plan_bytes_received(const tsr_plan *plan, int64_t device)
{
    int64_t elements = 0;
    for (size_t i = 0; i < plan->num_steps; i++) {
        elements += received(&plan->steps[i], device);
    }
    return elements * tsr_dtype_item_bytes(plan->dtype);
}

int64_t tsr_plan_bytes_sent(const tsr_plan *plan, int64_t device)
{
    int64_t elements = 0;
    for (size_t i = 0; i < plan->num_steps; i++) {
        elements += sent(&plan->steps[i], device);
    }
    return elements * tsr_dtype_item_bytes(plan->dtype);
}
