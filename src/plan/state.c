#include "plan/state.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "shard/geometry.h"

bool state_equal(const plan_state *a, const plan_state *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

state_dim state_dim_of(const plan_space *space, const plan_state *s, size_t dim)
{
    state_dim out = {.list = state_list(s, dim), .shards = 1, .cut = 1};
    for (size_t i = 0; i < out.list.count; i++) {
        const size_t atom = out.list.atoms[i];
        out.shards *= space->atoms[atom].size;
        out.cut *= (s->held >> atom & 1) != 0 ? 1 : space->atoms[atom].size;
    }
    if ((s->src_sizes >> dim & 1) != 0) {
        out.sized = space->src;
    } else if ((s->dst_sizes >> dim & 1) != 0) {
        out.sized = space->dst;
    }
    out.largest =
        out.sized != NULL ? out.sized->dims[dim].chunk : ceil_div(space->shape[dim], out.cut);
    return out;
}

bool state_dim_divides(const plan_space *space, const state_dim *dim, size_t index)
{
    return dim->sized == NULL && space->shape[index] % dim->shards == 0;
}

tsr_interval state_rows(const plan_space *space, const state_dim *dim, size_t index, int64_t shard)
{
    if (dim->sized != NULL) {
        return dim_box(&dim->sized->dims[index], shard);
    }
    const int64_t extent = space->shape[index];
    const int64_t chunk = ceil_div(extent, dim->shards);
    const int64_t used = chunk > 0 ? ceil_div(extent, chunk) : 0;
    const int64_t start = shard < used ? shard * chunk : extent;
    return (tsr_interval){start, min_i64(chunk, extent - start)};
}

int64_t state_bytes(const plan_space *space, const plan_state *s)
{
    int64_t bytes = space->item;
    for (size_t d = 0; d < space->rank; d++) {
        bytes *= state_dim_of(space, s, d).largest;
    }
    return bytes;
}

state_view state_view_of(const plan_space *space, const plan_state *s, state_dim *dims)
{
    state_view out = {s, dims, space->item};
    for (size_t d = 0; d < space->rank; d++) {
        dims[d] = state_dim_of(space, s, d);
        out.bytes *= dims[d].largest;
    }
    return out;
}

/* ---- the states of the two ends ---- */

/* Whether a dimension has the list that explicit sizes of an end belong to. */
static bool has_list_of(const plan_state *s, const plan_state *end, uint16_t sizes, size_t dim)
{
    const atom_list a = state_list(s, dim);
    const atom_list b = state_list(end, dim);
    return (sizes >> dim & 1) != 0 && a.count == b.count && memcmp(a.atoms, b.atoms, a.count) == 0;
}

/* Whether two dimensions have the same rows in every shard. */
static bool same_sizes(const dim_geometry *a, const dim_geometry *b)
{
    bool same = a->along.size == b->along.size;
    for (int64_t i = 0; i < a->along.size && same; i++) {
        same = dim_same_rows(a, i, b, i);
    }
    return same;
}

/*
 * Marks a dimension that has explicit sizes: as that of the source if they are the same and stand
 * on the same atoms.
 */
static void mark_sizes(const plan_space *space, const tsr_geometry *of, size_t d,
                       const plan_state *src, plan_state *out)
{
    const dim_geometry *dim = &of->dims[d];
    if (dim_is_even(dim)) {
        return;
    }
    const bool same = of == space->src ||
                      ((src->src_sizes >> d & 1) != 0 && same_sizes(&space->src->dims[d], dim) &&
                       has_list_of(out, src, src->src_sizes, d));
    *(same ? &out->src_sizes : &out->dst_sizes) |= (uint16_t)(1u << d);
}

tsr_status state_of_geometry(tsr_context *ctx, const plan_space *space, const tsr_geometry *of,
                             const plan_state *src, plan_state *out)
{
    const tsr_sharding *s = of->sharding;
    uint8_t pending[ATOMS_MAX];
    size_t count = 0;
    size_t used = 0;
    bool whole = true;
    memset(out, 0, sizeof *out);
    for (size_t d = 0; d < s->rank && whole; d++) {
        whole = atoms_of_axes(space, s->mesh, s->dims[d].axes, s->dims[d].num_axes,
                              out->list + used, &count);
        used += count;
        out->ends[d] = (uint8_t)used;
        mark_sizes(space, of, d, src, out);
    }
    for (size_t d = s->rank; d < ATOMS_MAX_RANK; d++) {
        out->ends[d] = (uint8_t)used;
    }
    whole = whole && atoms_of_axes(space, s->mesh, s->unreduced, s->num_unreduced, pending, &count);
    for (size_t i = 0; i < count && whole; i++) {
        out->pending |= (uint16_t)(1u << pending[i]);
    }
    return whole ? TSR_OK
                 : diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                              "an axis of a layout is not made of whole parts of the plan");
}

/* ---- all states ---- */

typedef struct lister {
    const plan_space *space;
    int64_t limit;
    const plan_state *src;
    const plan_state *dst;
    state_set *set;
} lister;

static void keep(lister *l, const plan_state *s)
{
    if ((l->limit >= 0 && state_bytes(l->space, s) > l->limit) || state_equal(s, l->src) ||
        state_equal(s, l->dst)) {
        return;
    }
    if (l->set->count == l->set->capacity) {
        l->set->complete = false;
        return;
    }
    l->set->states[l->set->count++] = *s;
}

static void list_options(lister *l, plan_state s, size_t dim);

/* Every choice of held atoms of a dimension: any but the last of its list. */
static void list_held(lister *l, const plan_state *s, size_t dim)
{
    const state_dim now = state_dim_of(l->space, s, dim);
    const bool holds = now.list.count > 1 && state_dim_divides(l->space, &now, dim);
    const uint32_t choices = holds ? 1u << (now.list.count - 1) : 1;
    for (uint32_t choice = 0; choice < choices && l->set->complete; choice++) {
        plan_state next = *s;
        for (size_t i = 0; i + 1 < now.list.count; i++) {
            next.held |= (uint16_t)((choice >> i & 1) << now.list.atoms[i]);
        }
        list_options(l, next, dim + 1);
    }
}

/* From a dimension on: in even chunks, and with the explicit sizes of either end. */
static void list_options(lister *l, plan_state s, size_t dim)
{
    if (dim == l->space->rank) {
        keep(l, &s);
        return;
    }
    list_held(l, &s, dim);
    if (has_list_of(&s, l->src, l->src->src_sizes, dim)) {
        plan_state sized = s;
        sized.src_sizes |= (uint16_t)(1u << dim);
        list_options(l, sized, dim + 1);
    }
    if (has_list_of(&s, l->dst, l->dst->dst_sizes, dim)) {
        plan_state sized = s;
        sized.dst_sizes |= (uint16_t)(1u << dim);
        list_options(l, sized, dim + 1);
    }
}

/* The state with an atom inserted in the list of a dimension. */
static plan_state with_atom(const plan_state *s, size_t dim, size_t at, size_t atom)
{
    plan_state out = *s;
    const size_t used = s->ends[ATOMS_MAX_RANK - 1];
    memmove(out.list + at + 1, out.list + at, used - at);
    out.list[at] = (uint8_t)atom;
    for (size_t d = dim; d < ATOMS_MAX_RANK; d++) {
        out.ends[d]++;
    }
    return out;
}

/* Gives the atoms from one on every place that they may have. */
static void place_atoms(lister *l, const plan_state *s, size_t atom)
{
    if (atom == l->space->num_atoms) {
        list_options(l, *s, 0);
        return;
    }
    plan_state pending = *s;
    pending.pending |= (uint16_t)(1u << atom);
    if ((l->dst->pending >> atom & 1) != 0) {
        place_atoms(l, &pending, atom + 1);
        return;
    }
    if ((l->src->pending >> atom & 1) != 0) {
        place_atoms(l, &pending, atom + 1);
    }
    place_atoms(l, s, atom + 1);
    for (size_t d = 0; d < l->space->rank; d++) {
        const size_t begin = d > 0 ? s->ends[d - 1] : 0;
        for (size_t at = begin; at <= s->ends[d] && l->set->complete; at++) {
            const plan_state next = with_atom(s, d, at, atom);
            place_atoms(l, &next, atom + 1);
        }
    }
}

tsr_status states_list(tsr_context *ctx, tsr_arena *arena, const plan_space *space, int64_t limit,
                       size_t capacity, state_set *out)
{
    const plan_state nothing = {.held = 0};
    *out = (state_set){.states = ARENA_ARRAY(arena, plan_state, capacity),
                       .count = 2,
                       .capacity = capacity,
                       .complete = true};
    if (out->states == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(state_of_geometry(ctx, space, space->src, NULL, &out->states[0]));
    TSR_TRY(state_of_geometry(ctx, space, space->dst, &out->states[0], &out->states[1]));
    lister l = {space, limit, &out->states[0], &out->states[1], out};
    place_atoms(&l, &nothing, 0);
    return TSR_OK;
}
