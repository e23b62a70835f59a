#include "plan/state_step.h"

#include <string.h>

#include "base/base.h"

/* How the list of one dimension changes. */
typedef enum dim_change { LIST_SAME, LIST_LOSES, LIST_GAINS, LIST_OTHER } dim_change;

/* What changes between two states. */
typedef struct change {
    uint32_t lost; /* atoms that were cut and are not */
    uint32_t gained;
    uint32_t folded;
    bool other;    /* some list neither only loses nor only gains */
    bool restores; /* a held atom leaves: the order of blocks is restored */
    bool uneven;   /* a dimension that changes is not in equal chunks */
} change;

/* Whether chunks of a cut into `more` times as many shards lie inside those of the coarser cut. */
static bool boxes_nest(int64_t extent, int64_t shards, int64_t finer)
{
    const int64_t chunk = ceil_div(extent, shards);
    const int64_t small = ceil_div(extent, finer);
    const int64_t ratio = finer / shards;
    return small * ratio == chunk || (small * ratio >= extent && extent <= chunk);
}

static bool atom_is_held(const plan_state *s, size_t atom)
{
    return (s->held >> atom & 1) != 0;
}

/*
 * The atoms by which `longer` cuts more than `shorter`, into *atoms; false unless its list
 * continues the other's and holds nothing that the other cuts. *held: some of the rest of the list
 * are held.
 */
static bool continues(const state_view *short_view, const state_view *long_view, size_t d,
                      uint32_t *atoms, bool *held)
{
    const plan_state *shorter = short_view->state;
    const plan_state *longer = long_view->state;
    const atom_list a = short_view->dims[d].list;
    const atom_list b = long_view->dims[d].list;
    if (a.count > b.count || memcmp(a.atoms, b.atoms, a.count) != 0) {
        return false;
    }
    for (size_t i = 0; i < b.count; i++) {
        const bool held_now = atom_is_held(longer, b.atoms[i]);
        const bool held_before = i < a.count && atom_is_held(shorter, b.atoms[i]);
        if (i < a.count && held_now && !held_before) {
            return false;
        }
        *held = *held || (i >= a.count && held_now);
        *atoms |= !held_now && (held_before || i >= a.count) ? 1u << b.atoms[i] : 0;
    }
    return true;
}

/* Whether the explicit sizes of two dimensions allow one to continue the other. */
static bool sizes_allow(const state_dim *shorter, const state_dim *longer)
{
    return shorter->sized == NULL && (longer->sized == NULL || shorter->list.count == 0);
}

static dim_change change_of_dim(const plan_space *space, const state_view *from,
                                const state_view *to, size_t d, change *c)
{
    const state_dim *a = &from->dims[d];
    const state_dim *b = &to->dims[d];
    uint32_t gained = 0;
    uint32_t lost = 0;
    bool held_new = false;
    bool leaves = false;
    const bool gains = continues(from, to, d, &gained, &held_new) && !held_new;
    const bool loses = continues(to, from, d, &lost, &leaves);
    if (gains && loses && gained == 0 && lost == 0) {
        return a->sized == b->sized ? LIST_SAME : LIST_OTHER;
    }
    const state_dim *shorter = gains ? a : b;
    const state_dim *longer = gains ? b : a;
    if ((!gains && !loses) || !sizes_allow(shorter, longer)) {
        return LIST_OTHER;
    }
    const bool divides = state_dim_divides(space, longer, d);
    if (!divides && longer->sized == NULL &&
        !boxes_nest(space->shape[d], shorter->shards, longer->shards)) {
        return LIST_OTHER;
    }
    c->uneven = c->uneven || !divides;
    c->gained |= gains ? gained : 0;
    c->lost |= gains ? 0 : lost;
    c->restores = c->restores || (!gains && leaves);
    return gains ? LIST_GAINS : LIST_LOSES;
}

static change change_of(const plan_space *space, const state_view *from, const state_view *to)
{
    change c = {.folded = (uint32_t)(from->state->pending & ~to->state->pending)};
    for (size_t d = 0; d < space->rank && !c.other; d++) {
        c.other = change_of_dim(space, from, to, d, &c) == LIST_OTHER;
    }
    return c;
}

/* The kind of a step by what changes; false: none of the steps over sets of atoms. */
static bool kind_of(const change *c, tsr_step_kind *out)
{
    const bool nothing_folded = c->folded == 0;
    if (c->other) {
        return false;
    }
    if (nothing_folded && c->lost == 0) {
        *out = TSR_STEP_SLICE;
        return c->gained != 0;
    }
    if (nothing_folded && c->gained == 0) {
        *out = TSR_STEP_ALL_GATHER;
        return true;
    }
    if (nothing_folded) {
        *out = TSR_STEP_ALL_TO_ALL;
        return c->lost == c->gained && !c->restores;
    }
    *out = c->gained == 0 ? TSR_STEP_ALL_REDUCE : TSR_STEP_REDUCE_SCATTER;
    return c->lost == 0 && (c->gained == 0 || c->gained == c->folded);
}

static level_group group_of(const plan_space *space, uint32_t atoms)
{
    level_group g;
    for (size_t l = 0; l < TSR_MAX_LEVELS; l++) {
        g.sizes[l] = 1;
    }
    for (size_t i = 0; i < space->num_atoms; i++) {
        g.sizes[space->atoms[i].level] *= (atoms >> i & 1) != 0 ? space->atoms[i].size : 1;
    }
    return g;
}

/*
 * What one member has for another in a collective, in bytes: padded, if its extent does not divide.
 */
static int64_t share_of(const plan_space *space, const state_view *from, const state_view *to,
                        const state_step *step)
{
    int64_t share = space->item;
    if (step->kind == TSR_STEP_ALL_GATHER) {
        return from->bytes;
    }
    if (step->kind == TSR_STEP_ALL_REDUCE) {
        const int64_t elements = from->bytes / space->item;
        return ceil_div(elements, atoms_product(space, step->atoms)) * space->item;
    }
    for (size_t d = 0; d < space->rank; d++) {
        const int64_t before = from->dims[d].largest;
        share *= min_i64(before, to->dims[d].largest);
    }
    return share;
}

/* A collective over the atoms of a step. */
static tsr_status price_collective(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                                   const state_view *from, const state_view *to, const change *c,
                                   state_step *step, bool *found)
{
    const bool reduces = c->folded != 0;
    level_call call = {.kind = coll_of_step(step->kind),
                       .group = group_of(space, step->atoms),
                       .share = share_of(space, from, to, step),
                       .copied = c->restores ? to->bytes : 0};
    level_work known;
    if (c->uneven && !reduces && !space->program) {
        TSR_TRY(lacking_count(ctx, scratch, space, from, to, &known, found, &step->effort));
        step->skipped = !*found;
        call.known = &known;
    }
    step->algorithm = level_cheapest(&space->topology, &call, &step->work);
    step->padded = c->uneven && space->program;
    step->workspace = step->work.copied + (reduces ? call.share : 0);
    return TSR_OK;
}

/* Whether every dimension is in as many shards, so that a device gets the whole shard of one. */
static bool is_permutation(const plan_space *space, const state_view *from, const state_view *to)
{
    for (size_t d = 0; d < space->rank; d++) {
        const state_dim *a = &from->dims[d];
        const state_dim *b = &to->dims[d];
        if (a->shards != b->shards || a->sized != b->sized) {
            return false;
        }
    }
    return true;
}

/* The atoms that do not stand where they stood. */
static uint32_t moved_atoms(const plan_space *space, const state_view *from, const state_view *to)
{
    uint32_t moved = 0;
    for (size_t d = 0; d < space->rank; d++) {
        const atom_list a = from->dims[d].list;
        const atom_list b = to->dims[d].list;
        for (size_t i = 0; i < a.count || i < b.count; i++) {
            if (i < a.count && i < b.count && a.atoms[i] == b.atoms[i]) {
                continue;
            }
            moved |= (i < a.count ? 1u << a.atoms[i] : 0) | (i < b.count ? 1u << b.atoms[i] : 0);
        }
    }
    return moved;
}

/*
 * Nanoseconds that an exchange takes at least: the rounds of the fastest level, and what the device
 * with the largest part lacks even if all that any device has is part of it.
 */
static int64_t least_time(const plan_space *space, const state_view *from, const state_view *to)
{
    const tsr_topology_spec *t = &space->topology;
    int64_t latency = INT64_MAX;
    __int128 rate = 0;
    int64_t common = space->item;
    for (size_t l = 0; l < t->num_levels; l++) {
        latency = min_i64(latency, t->levels[l].latency);
        rate += t->levels[l].bandwidth;
    }
    for (size_t d = 0; d < space->rank; d++) {
        common *= min_i64(from->dims[d].largest, to->dims[d].largest);
    }
    const int64_t bytes = to->bytes - common;
    const int64_t mega = (int64_t)(rate / 1000000) + 1; /* bytes a microsecond, rounded up */
    return bytes > 0 ? latency / 1000 + bytes / mega * 1000 : 0;
}

/*
 * A permutation or a direct exchange: each device gets what it lacks. Where no device lacks
 * anything it is a slice.
 */
static tsr_status price_exchange(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                                 const state_view *from, const state_view *to, int64_t limit,
                                 state_step *step, bool *found)
{
    const bool permutes = is_permutation(space, from, to);
    *found = from->state->held == 0 && to->state->held == 0 &&
             from->state->pending == to->state->pending &&
             (permutes || (!space->program && from->state->pending == 0)) &&
             least_time(space, from, to) <= limit;
    if (!*found) {
        return TSR_OK;
    }
    TSR_TRY(lacking_count(ctx, scratch, space, from, to, &step->work, found, &step->effort));
    step->skipped = !*found;
    step->kind = permutes ? TSR_STEP_PERMUTE : TSR_STEP_DIRECT;
    step->algorithm = "pairwise";
    step->atoms = moved_atoms(space, from, to);
    bool moves = false;
    for (size_t l = 0; l < space->topology.num_levels; l++) {
        moves = moves || step->work.rounds[l] > 0;
        if (space->program && step->work.rounds[l] > 0) {
            step->work.bytes[l] = from->bytes;
        }
    }
    if (!moves) {
        step->kind = TSR_STEP_SLICE;
        step->work.copied = to->bytes;
    }
    return TSR_OK;
}

/*
 * Takes one direct exchange in place of a collective that is dearer: of a tensor without elements
 * no device receives anything. Otherwise the two are the same.
 */
static tsr_status consider_exchange(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                                    const state_view *from, const state_view *to, state_step *step,
                                    bool *found)
{
    state_step direct = {.algorithm = "pairwise"};
    bool also = false;
    TSR_TRY(price_exchange(ctx, scratch, space, from, to, INT64_MAX, &direct, &also));
    if (also && (!*found || level_compare(&space->topology, &direct.work, &step->work) < 0)) {
        direct.effort += step->effort;
        *step = direct;
        *found = true;
    }
    return TSR_OK;
}

static bool has_elements(const plan_space *space)
{
    bool some = true;
    for (size_t d = 0; d < space->rank; d++) {
        some = some && space->shape[d] > 0;
    }
    return some;
}

tsr_status state_step_find(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                           const state_view *from, const state_view *to, int64_t limit,
                           state_step *out, bool *found)
{
    const change c = change_of(space, from, to);
    state_step step = {.algorithm = "copy"};
    *found = (to->state->pending & ~from->state->pending) == 0;
    if (!*found) {
        *out = step;
        return TSR_OK;
    }
    if (kind_of(&c, &step.kind)) {
        step.atoms = c.lost | c.gained | c.folded;
        if (step.kind == TSR_STEP_SLICE) {
            step.work.copied = to->bytes;
            step.padded = space->program && c.uneven;
        } else {
            TSR_TRY(price_collective(ctx, scratch, space, from, to, &c, &step, found));
            if (!space->program && from->state->pending == 0 && !has_elements(space)) {
                TSR_TRY(consider_exchange(ctx, scratch, space, from, to, &step, found));
            }
        }
    } else {
        TSR_TRY(price_exchange(ctx, scratch, space, from, to, limit, &step, found));
    }
    step.time = level_nanoseconds(&space->topology, &step.work);
    *found = *found && !step.skipped;
    *out = step;
    return TSR_OK;
}

tsr_status state_step_collective(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                                 const state_view *from, const state_view *to, state_step *out,
                                 bool *found)
{
    const change c = change_of(space, from, to);
    state_step step = {.algorithm = "copy"};
    *found = (to->state->pending & ~from->state->pending) == 0;
    if (*found && kind_of(&c, &step.kind)) {
        step.atoms = c.lost | c.gained | c.folded;
        *found = step.kind != TSR_STEP_SLICE;
        if (*found) {
            TSR_TRY(price_collective(ctx, scratch, space, from, to, &c, &step, found));
        }
    } else if (*found) {
        TSR_TRY(price_exchange(ctx, scratch, space, from, to, INT64_MAX, &step, found));
        *found = *found && step.kind == TSR_STEP_PERMUTE;
    }
    step.time = level_nanoseconds(&space->topology, &step.work);
    *out = step;
    return TSR_OK;
}

tsr_status state_step_direct(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                             const state_view *from, const state_view *to, state_step *out,
                             bool *found)
{
    state_step step = {.algorithm = "pairwise"};
    TSR_TRY(price_exchange(ctx, scratch, space, from, to, INT64_MAX, &step, found));
    step.time = level_nanoseconds(&space->topology, &step.work);
    *found = *found && from->state->pending == 0;
    *out = step;
    return TSR_OK;
}
