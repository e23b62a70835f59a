#include "plan/exchange.h"

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "plan/lattice_walk.h"
#include "plan/line.h"

/* The places of devices that have the same of a layout: along no axis that shards or is pending. */
static tsr_status find_copies(const plan_maker *m, const tsr_sharding *s, places *out)
{
    tsr_axis_list used;
    TSR_TRY(sharding_axes(m->ctx, m->scratch, s, true, &used));
    return places_beside(m->ctx, m->arena, s->mesh, used.refs, used.count, out);
}

static tsr_status make_side(const plan_maker *m, const tsr_geometry *of, const tsr_axis_ref *kept,
                            size_t num_kept, exchange_side *out)
{
    plan_dim *dims = ARENA_ARRAY(m->arena, plan_dim, of->rank);
    if (dims == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < of->rank; i++) {
        TSR_TRY(plan_dim_create(m, &of->dims[i], &dims[i]));
    }
    *out = (exchange_side){.of = of, .mesh = of->sharding->mesh, .dims = dims};
    return places_along(m->ctx, m->arena, out->mesh, kept, num_kept, &out->kept);
}

/* Whether the lines of all shards can be counted. */
static bool can_count(const plan_exchange *x)
{
    bool can = x->lattice.exists && x->removed.size == 1;
    for (size_t i = 0; i < x->rank; i++) {
        can = can && x->src.dims[i].of->ragged == NULL && dim_is_even(x->dst.dims[i].of);
    }
    return can;
}

/* The product of factors and of the extents of a tensor, none of which counts as 0, fits. */
static bool size_fits(const tsr_geometry *g, int64_t a, int64_t b)
{
    int64_t size = a;
    bool fits = checked_mul(size, b, &size);
    for (size_t i = 0; i < g->rank; i++) {
        fits = fits && checked_mul(size, max_i64(1, g->shape[i]), &size);
    }
    return fits;
}

/* Every count of elements that is made of an exchange is at most this product. */
static tsr_status check_size(tsr_context *ctx, const tsr_geometry *g, int64_t devices)
{
    if (size_fits(g, devices, 1)) {
        return TSR_OK;
    }
    return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                      "the tensor times %lld devices has more than 2^63-1 elements, the maximum of "
                      "a plan; use a smaller tensor or fewer devices",
                      (long long)devices);
}

/* A device sends a part to all that get it, and receives as many parts as are folded. */
static tsr_status check_bytes(tsr_context *ctx, const plan_exchange *x)
{
    enum { LARGEST_ITEM = 16 };
    const int64_t receivers = x->copies.size * x->dst.kept.size;
    const int64_t parts = max_i64(receivers, x->removed.size);
    if (size_fits(x->src.of, parts, LARGEST_ITEM)) {
        return TSR_OK;
    }
    return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                      "%lld devices receive or reduce the same part of this tensor: one device "
                      "would send or receive more than 2^63-1 bytes",
                      (long long)parts);
}

/* Where devices, or combinations of digits, must be enumerated, there is a limit. */
static tsr_status check_devices(tsr_context *ctx, const plan_exchange *x)
{
    const int64_t count = x->lattice.exists ? lattice_combinations(&x->lattice) : x->devices;
    if (count <= PLAN_MAX_ENUMERATED) {
        return TSR_OK;
    }
    return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                      "the two layouts cut a mesh of %lld devices so differently that a plan would "
                      "enumerate %lld devices; the maximum is %d",
                      (long long)x->devices, (long long)count, PLAN_MAX_ENUMERATED);
}

/* The elements that all devices have after the step, and had before. */
static tsr_status sum_devices(const plan_maker *m, plan_exchange *x)
{
    x->all_after = x->copies.size * x->dst.kept.size;
    for (size_t i = 0; i < x->rank; i++) {
        x->all_after *= x->src.of->shape[i];
    }
    if (x->lattice.exists) {
        const walk_layouts layouts = {&x->lattice, x->rank, x->src.dims, x->dst.dims};
        return lattice_held(m, &layouts, &x->all_held);
    }
    for (int64_t place = 0; place < x->devices; place++) {
        const int64_t device = tsr_mesh_device_at(x->src.mesh, place);
        x->all_held += exchange_wanted(x, place, tsr_mesh_place_of(x->dst.mesh, device));
    }
    return TSR_OK;
}

tsr_status plan_exchange_create(const plan_maker *m, const tsr_geometry *src,
                                const tsr_geometry *dst, const pending_axes *pending,
                                plan_exchange *out)
{
    const tsr_sharding *to = dst->sharding;
    plan_exchange x = {.rank = src->rank, .devices = tsr_mesh_num_devices(src->sharding->mesh)};
    TSR_TRY(check_size(m->ctx, src, x.devices));
    TSR_TRY(make_side(m, src, pending->kept.refs, pending->kept.count, &x.src));
    TSR_TRY(make_side(m, dst, to->unreduced, to->num_unreduced, &x.dst));
    TSR_TRY(places_along(m->ctx, m->arena, x.src.mesh, pending->removed.refs,
                         pending->removed.count, &x.removed));
    TSR_TRY(find_copies(m, src->sharding, &x.replicas));
    TSR_TRY(find_copies(m, to, &x.copies));
    TSR_TRY(check_bytes(m->ctx, &x));
    const places none = {.size = 1};
    const lattice_layout before = {src, &x.src.kept, &x.removed};
    const lattice_layout after = {dst, &x.dst.kept, &none};
    TSR_TRY(plan_lattice_create(m, &before, &after, &x.copies, &x.lattice));
    x.counted = can_count(&x);
    TSR_TRY(check_devices(m->ctx, &x));
    TSR_TRY(sum_devices(m, &x));
    *out = x;
    return TSR_OK;
}

int64_t exchange_place(const plan_exchange *x, int64_t base, int64_t replica, int64_t part)
{
    return base + places_at(&x->replicas, replica) + places_at(&x->removed, part);
}

int64_t exchange_device(const plan_exchange *x, int64_t base, int64_t replica, int64_t part)
{
    return tsr_mesh_device_at(x->src.mesh, exchange_place(x, base, replica, part));
}

int64_t exchange_base(const plan_exchange *x, int64_t place)
{
    int64_t base = places_at(&x->src.kept, places_index(&x->src.kept, place));
    for (size_t i = 0; i < x->rank; i++) {
        const places *along = &x->src.dims[i].of->along;
        base += places_at(along, places_index(along, place));
    }
    return base;
}

int64_t exchange_wanted(const plan_exchange *x, int64_t base, int64_t place)
{
    int64_t elements = 1;
    for (size_t i = 0; i < x->rank && elements > 0; i++) {
        const plan_dim *src = &x->src.dims[i];
        const plan_dim *dst = &x->dst.dims[i];
        elements *= plan_common_rows(src, places_index(&src->of->along, base), dst,
                                     places_index(&dst->of->along, place));
    }
    return elements;
}

/* The elements that the device at a place gets. */
static int64_t elements_after(const plan_exchange *x, int64_t place)
{
    int64_t elements = 1;
    for (size_t i = 0; i < x->rank; i++) {
        const dim_geometry *dim = x->dst.dims[i].of;
        elements *= dim_box(dim, places_index(&dim->along, place)).size;
    }
    return elements;
}

int64_t exchange_received(const plan_exchange *x, int64_t device)
{
    const int64_t before = tsr_mesh_place_of(x->src.mesh, device);
    const int64_t after = tsr_mesh_place_of(x->dst.mesh, device);
    if (before < 0 || after < 0) {
        return 0;
    }
    return x->removed.size * elements_after(x, after) - exchange_wanted(x, before, after);
}

int64_t exchange_sent(const plan_exchange *x, int64_t device)
{
    const int64_t place = tsr_mesh_place_of(x->src.mesh, device);
    if (place < 0) {
        return 0;
    }
    return line_sent(x, exchange_base(x, place), places_index(&x->replicas, place),
                     places_index(&x->removed, place));
}

int64_t exchange_moved(const plan_exchange *x)
{
    int64_t all = 0;
    return checked_mul(x->removed.size, x->all_after, &all) ? all - x->all_held : INT64_MAX;
}

void exchange_add_received(const plan_exchange *x, const device_sums *to)
{
    for (int64_t place = 0; place < x->devices; place++) {
        to->elements[place] += exchange_received(x, tsr_mesh_device_at(to->mesh, place));
    }
}

void exchange_add_sent(const plan_exchange *x, const device_sums *to)
{
    for (int64_t place = 0; place < x->devices; place++) {
        if (exchange_base(x, place) == place) {
            line_add_sent(x, place, to);
        }
    }
}
