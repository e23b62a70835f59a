/* Groups of devices along axes. */
#include "mesh/groups.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"

struct tsr_groups {
    const tsr_mesh *mesh;
    places inner;
    places outer;
};

int64_t places_at(const places *set, int64_t index)
{
    int64_t result = set->base;
    for (size_t i = set->count; i-- > 0;) {
        result += index % set->pairs[i].size * set->pairs[i].stride;
        index /= set->pairs[i].size;
    }
    return result;
}

int64_t places_index(const places *set, int64_t place)
{
    int64_t index = 0;
    for (size_t i = 0; i < set->count; i++) {
        index = index * set->pairs[i].size + place / set->pairs[i].stride % set->pairs[i].size;
    }
    return index;
}

tsr_status places_along(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                        const tsr_axis_ref *axes, size_t count, places *out)
{
    tsr_stride *pairs = ARENA_ARRAY(arena, tsr_stride, count);
    if (pairs == NULL) {
        return diag_nomem(ctx);
    }
    int64_t size = 1;
    for (size_t i = 0; i < count; i++) {
        pairs[i] = (tsr_stride){axes[i].size, mesh_place_stride(mesh, axes[i])};
        size *= axes[i].size;
    }
    *out = (places){.pairs = pairs, .count = count, .size = size};
    return TSR_OK;
}

tsr_status places_beside(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                         const tsr_axis_ref *axes, size_t count, places *out)
{
    const size_t capacity = mesh->num_axes + 2 * count;
    tsr_axis_list all = {.refs = ARENA_ARRAY(arena, tsr_axis_ref, capacity), .capacity = capacity};
    if (all.refs == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(tsr_axes_of_mesh(mesh, axes, count, &all));
    size_t kept = 0;
    for (size_t i = 0; i < all.count; i++) {
        if (!tsr_axes_overlap(&all.refs[i], 1, axes, count)) {
            all.refs[kept++] = all.refs[i];
        }
    }
    return places_along(ctx, arena, mesh, all.refs, kept, out);
}

tsr_status tsr_groups_create(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                             const tsr_axis_ref *axes, size_t num_axes, const tsr_groups **out)
{
    GUARD(tsr_groups_create);
    TSR_TRY(tsr_axes_verify(ctx, arena, mesh, axes, num_axes));
    tsr_groups *groups = ARENA_NEW(arena, tsr_groups);
    if (groups == NULL) {
        return diag_nomem(ctx);
    }
    groups->mesh = mesh;
    TSR_TRY(places_along(ctx, arena, mesh, axes, num_axes, &groups->inner));
    TSR_TRY(places_beside(ctx, arena, mesh, axes, num_axes, &groups->outer));
    *out = groups;
    return TSR_OK;
}

int64_t tsr_groups_count(const tsr_groups *groups)
{
    GUARD(tsr_groups_count);
    return groups->outer.size;
}

int64_t tsr_groups_size(const tsr_groups *groups)
{
    GUARD(tsr_groups_size);
    return groups->inner.size;
}

int64_t tsr_groups_device(const tsr_groups *groups, int64_t group, int64_t index)
{
    GUARD(tsr_groups_device);
    const int64_t place = places_at(&groups->outer, group) + places_at(&groups->inner, index);
    return tsr_mesh_device_at(groups->mesh, place);
}

bool tsr_groups_find(const tsr_groups *groups, int64_t device, int64_t *group, int64_t *index)
{
    GUARD(tsr_groups_find);
    const int64_t place = tsr_mesh_place_of(groups->mesh, device);
    if (place < 0) {
        return false;
    }
    *group = places_index(&groups->outer, place);
    *index = places_index(&groups->inner, place);
    return true;
}
