#include "plan/lattice_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "plan/exchange.h"

/*
 * The facts on which a step of the walk relies are inequalities between the rows of two shards, `a`
 * before and `b` after: margin + sum of slope times step >= 0, where a step is one value more of a
 * digit. Those with the same slopes are kept as the smallest margin. Shards only move on, so what
 * is past the extent stays there.
 */
typedef enum slope_class { A_PAST_B, B_PAST_A, A_FALLS, B_FALLS, SLOPES } slope_class;

#define NO_MARGIN INT64_MAX

/* What is relied on in one dimension. */
typedef struct reliance {
    int64_t margins[SLOPES];
    bool fixed_before; /* the shard before stays the same */
    bool fixed_after;
} reliance;

/* A dimension: its shards, and the digit that decides them last. */
typedef struct walk_dim {
    size_t dim;
    const plan_dim *src;
    const plan_dim *dst;
    bool is_even; /* both layouts are: shards are chunks */
    int64_t src_shard;
    int64_t dst_shard;
    size_t last;
} walk_dim;

/* Digits whose dimensions belong together, outermost first. */
typedef struct walk {
    const plan_maker *m;
    const walk_layouts *layouts;
    const walk_query *query;
    size_t num_atoms;
    lattice_atom atoms[MAX_DIGITS];
    size_t num_dims;
    walk_dim dims[2 * MAX_DIGITS];
    bool joins;                       /* values of outer digits are taken at once too */
    reliance *reliances;              /* for each depth and dimension */
    walk_pairs found[MAX_DIGITS + 1]; /* for each depth */
    int64_t visits;
} walk;

/* ---- pairs ---- */

static tsr_status add_pair(const plan_maker *m, walk_pairs *to, walk_pair pair)
{
    if (to->count == to->room) {
        const size_t room = to->room > 0 ? 2 * to->room : 4;
        walk_pair *grown = ARENA_ARRAY(m->scratch, walk_pair, room);
        if (grown == NULL) {
            return diag_nomem(m->ctx);
        }
        if (to->count > 0) {
            memcpy(grown, to->list, to->count * sizeof *grown);
        }
        to->list = grown;
        to->room = room;
    }
    to->list[to->count++] = pair;
    return TSR_OK;
}

/* Adds a pair unless one is at least as good, and removes those that it is as good as. */
static tsr_status add_best(const plan_maker *m, walk_pairs *to, walk_pair pair)
{
    size_t kept = 0;
    for (size_t i = 0; i < to->count; i++) {
        if (to->list[i].size >= pair.size && to->list[i].held <= pair.held) {
            return TSR_OK;
        }
    }
    for (size_t i = 0; i < to->count; i++) {
        if (to->list[i].size > pair.size || to->list[i].held < pair.held) {
            to->list[kept++] = to->list[i];
        }
    }
    to->count = kept;
    return add_pair(m, to, pair);
}

static int64_t fold(walk_fold how, int64_t sum, int64_t value, int64_t times)
{
    return how == WALK_SUM ? sum + value * times : min_i64(sum, value);
}

/* Adds the pairs of `times` values of a digit. */
static tsr_status add_values(walk *w, size_t depth, walk_pair pair, int64_t times)
{
    const lattice_role role = w->atoms[depth].role;
    walk_pairs *to = &w->found[depth];
    if (w->query->helds[role] == WALK_BEST) {
        return add_best(w->m, to, pair);
    }
    if (to->count == 0) {
        const walk_pair start = {w->query->sizes[role] == WALK_SUM ? 0 : INT64_MAX,
                                 w->query->helds[role] == WALK_SUM ? 0 : INT64_MAX};
        TSR_TRY(add_pair(w->m, to, start));
    }
    to->list[0].size = fold(w->query->sizes[role], to->list[0].size, pair.size, times);
    to->list[0].held = fold(w->query->helds[role], to->list[0].held, pair.held, times);
    return TSR_OK;
}

/* ---- what stays true ---- */

/* The slope of each class along a digit. */
static void slopes_of(const walk_dim *d, const lattice_atom *atom, int64_t *out)
{
    const int64_t a = atom->src_dim == d->dim ? atom->src_weight * d->src->of->chunk : 0;
    const int64_t b = atom->dst_dim == d->dim ? atom->dst_weight * d->dst->of->chunk : 0;
    out[A_PAST_B] = a - b;
    out[B_PAST_A] = b - a;
    out[A_FALLS] = -a;
    out[B_FALLS] = -b;
}

/* For how many values of a digit, from the present one on, what is relied on holds; at least 1. */
static int64_t values_of(const walk_dim *d, const lattice_atom *atom, const reliance *r)
{
    int64_t slopes[SLOPES];
    int64_t values = INT64_MAX;
    slopes_of(d, atom, slopes);
    if ((r->fixed_before && atom->src_dim == d->dim) ||
        (r->fixed_after && atom->dst_dim == d->dim)) {
        return 1;
    }
    for (int i = 0; i < SLOPES; i++) {
        if (r->margins[i] != NO_MARGIN && slopes[i] < 0) {
            values = min_i64(values, r->margins[i] / -slopes[i] + 1);
        }
    }
    return values;
}

static reliance reliance_none(void)
{
    reliance none = {.fixed_before = false};
    for (int i = 0; i < SLOPES; i++) {
        none.margins[i] = NO_MARGIN;
    }
    return none;
}

static void rely(reliance *r, slope_class slope, int64_t margin)
{
    r->margins[slope] = min_i64(r->margins[slope], margin);
}

static void merge(reliance *to, const reliance *from)
{
    for (int i = 0; i < SLOPES; i++) {
        to->margins[i] = min_i64(to->margins[i], from->margins[i]);
    }
    to->fixed_before = to->fixed_before || from->fixed_before;
    to->fixed_after = to->fixed_after || from->fixed_after;
}

/* Makes the smallest margins those of a range of values of a digit; slopes are linear. */
static void spread(const walk_dim *d, const lattice_atom *atom, int64_t values, reliance *r)
{
    int64_t slopes[SLOPES];
    slopes_of(d, atom, slopes);
    for (int i = 0; i < SLOPES; i++) {
        if (r->margins[i] != NO_MARGIN && slopes[i] < 0) {
            r->margins[i] += slopes[i] * (values - 1);
        }
    }
}

/* ---- one dimension ---- */

/* The rows of the two shards of a dimension in even chunks, before the last is cut to the extent.
 */
typedef struct two_shards {
    int64_t a;
    int64_t b;
    int64_t a_end;
    int64_t b_end;
    int64_t extent;
} two_shards;

static two_shards shards_of(const walk_dim *d)
{
    const dim_geometry *src = d->src->of;
    const dim_geometry *dst = d->dst->of;
    const int64_t a = d->src_shard * src->chunk;
    const int64_t b = d->dst_shard * dst->chunk;
    return (two_shards){a, b, a + src->chunk, b + dst->chunk, src->extent};
}

/*
 * What makes the number of common rows stay: neither shard has rows in common with the other, or
 * all rows of one are in the other. Else both shards are fixed.
 */
static void rely_on_rows(const two_shards *s, reliance *r)
{
    if (s->a >= s->extent || s->b >= s->extent) {
        return;
    }
    if (s->b >= s->a_end) {
        rely(r, B_PAST_A, s->b - s->a_end);
    } else if (s->a >= s->b_end) {
        rely(r, A_PAST_B, s->a - s->b_end);
    } else if (s->a >= s->b && s->a_end <= s->b_end && s->a_end <= s->extent) {
        rely(r, A_PAST_B, s->a - s->b);
        rely(r, B_PAST_A, s->b_end - s->a_end);
        rely(r, A_FALLS, s->extent - s->a_end);
    } else if (s->b >= s->a && s->b_end <= s->a_end && s->b_end <= s->extent) {
        rely(r, B_PAST_A, s->b - s->a);
        rely(r, A_PAST_B, s->a_end - s->b_end);
        rely(r, B_FALLS, s->extent - s->b_end);
    } else {
        r->fixed_before = true;
        r->fixed_after = true;
    }
}

static int64_t common_rows(const two_shards *s)
{
    const int64_t end = min_i64(min_i64(s->a_end, s->b_end), s->extent);
    return max_i64(0, end - max_i64(s->a, s->b));
}

/* The rows of a shard, which stay as many while it is whole, or empty. */
static int64_t rely_on_shard(const two_shards *s, bool after, reliance *r)
{
    const int64_t start = after ? s->b : s->a;
    const int64_t end = after ? s->b_end : s->a_end;
    if (end <= s->extent) {
        rely(r, after ? B_FALLS : A_FALLS, s->extent - end);
    } else if (start < s->extent) {
        r->fixed_after = r->fixed_after || after;
        r->fixed_before = r->fixed_before || !after;
    }
    return max_i64(0, min_i64(end, s->extent) - start);
}

static bool has_shard_size(const walk *w)
{
    return w->query->size == WALK_SHARD_BEFORE || w->query->size == WALK_SHARD_AFTER;
}

/* The pair of a dimension in even chunks, and what it relies on. */
static walk_pair look_at_chunks(const walk *w, const walk_dim *d, bool rows_matter, reliance *r)
{
    const two_shards s = shards_of(d);
    walk_pair pair = {0, 0};
    if (rows_matter) {
        rely_on_rows(&s, r);
        pair.held = common_rows(&s);
    }
    if (has_shard_size(w)) {
        pair.size = rely_on_shard(&s, w->query->size == WALK_SHARD_AFTER, r);
    }
    return pair;
}

/* The pair of a dimension of which each shard is looked at. */
static walk_pair look_at_shards(const walk *w, const walk_dim *d, bool rows_matter, reliance *r)
{
    walk_pair pair = {0, 0};
    r->fixed_before = true;
    r->fixed_after = true;
    if (rows_matter) {
        pair.held = plan_common_rows(d->src, d->src_shard, d->dst, d->dst_shard);
    }
    if (has_shard_size(w)) {
        pair.size = w->query->size == WALK_SHARD_AFTER ? dim_box(d->dst->of, d->dst_shard).size
                                                       : dim_box(d->src->of, d->src_shard).size;
    }
    return pair;
}

/* Rows in common are looked at only where they matter: where all dimensions before have some. */
static walk_pair look(const walk *w, const walk_dim *d, bool rows_matter, reliance *r)
{
    walk_pair pair =
        d->is_even ? look_at_chunks(w, d, rows_matter, r) : look_at_shards(w, d, rows_matter, r);
    if (w->query->size == WALK_COMMON) {
        pair.size = pair.held;
    }
    return pair;
}

/* ---- the walk ---- */

static reliance *reliances_at(const walk *w, size_t depth)
{
    return &w->reliances[depth * w->num_dims];
}

static void forget(const walk *w, size_t depth)
{
    for (size_t i = 0; i < w->num_dims; i++) {
        reliances_at(w, depth)[i] = reliance_none();
    }
}

/* Adds steps of a digit to the shards that it is part of. */
static void advance(walk *w, size_t depth, int64_t steps)
{
    const lattice_atom *atom = &w->atoms[depth];
    for (size_t i = 0; i < w->num_dims; i++) {
        walk_dim *d = &w->dims[i];
        d->src_shard += atom->src_dim == d->dim ? steps * atom->src_weight : 0;
        d->dst_shard += atom->dst_dim == d->dim ? steps * atom->dst_weight : 0;
    }
}

/* The product of the dimensions that a digit decides. */
static walk_pair decide(const walk *w, size_t depth, bool rows_matter, reliance *now)
{
    walk_pair product = {1, rows_matter};
    for (size_t i = 0; i < w->num_dims; i++) {
        if (w->dims[i].last == depth) {
            const walk_pair one = look(w, &w->dims[i], product.held > 0, &now[i]);
            product.size *= one.size;
            product.held *= one.held;
        }
    }
    return product;
}

/* Joins what values of a digit rely on to what the digits outside of it see. */
static void keep_reliances(const walk *w, size_t depth, int64_t values)
{
    for (size_t i = 0; i < w->num_dims; i++) {
        reliance r = reliances_at(w, depth + 1)[i];
        spread(&w->dims[i], &w->atoms[depth], values, &r);
        merge(&reliances_at(w, depth)[i], &r);
    }
}

static int64_t values_at_once(const walk *w, size_t depth)
{
    int64_t values = INT64_MAX;
    for (size_t i = 0; i < w->num_dims; i++) {
        values = min_i64(values,
                         values_of(&w->dims[i], &w->atoms[depth], &reliances_at(w, depth + 1)[i]));
    }
    return values;
}

static tsr_status check_visits(walk *w)
{
    const int64_t limit = PLAN_MAX_ENUMERATED;
    if (++w->visits <= limit) {
        return TSR_OK;
    }
    return diag_error(w->m->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                      "the two layouts cut the mesh so differently that finding the busiest device "
                      "would take more than %lld steps",
                      (long long)limit);
}

static tsr_status walk_from(walk *w, size_t depth, bool rows_matter);

/* The pairs of one value of a digit, into those of the depth after it. */
static tsr_status walk_value(walk *w, size_t depth,
                             bool rows_matter, /* NOLINT(misc-no-recursion) */
                             bool *ends)
{
    walk_pairs *found = &w->found[depth + 1];
    TSR_TRY(check_visits(w));
    forget(w, depth + 1);
    const walk_pair own = decide(w, depth, rows_matter, reliances_at(w, depth + 1));
    *ends = depth + 1 == w->num_atoms || (own.held == 0 && !has_shard_size(w));
    if (*ends) {
        found->count = 0;
        return add_pair(w->m, found, own);
    }
    TSR_TRY(walk_from(w, depth + 1, own.held > 0));
    for (size_t i = 0; i < found->count; i++) {
        found->list[i].size *= own.size;
        found->list[i].held *= own.held;
    }
    return TSR_OK;
}

/*
 * The pairs of all values of the digits from one on; what they rely on is added to that of the
 * depth. As deep as there are digits, at most 63.
 */
static tsr_status walk_from(walk *w, size_t depth, bool rows_matter) /* NOLINT(misc-no-recursion) */
{
    const int64_t size = w->atoms[depth].size;
    w->found[depth].count = 0;
    for (int64_t value = 0; value < size;) {
        bool ends = false;
        TSR_TRY(walk_value(w, depth, rows_matter, &ends));
        const int64_t most = ends || w->joins ? values_at_once(w, depth) : 1;
        const int64_t times = min_i64(most, size - value);
        const walk_pairs *found = &w->found[depth + 1];
        for (size_t i = 0; i < found->count; i++) {
            TSR_TRY(add_values(w, depth, found->list[i], times));
        }
        if (depth > 0 && w->joins) {
            keep_reliances(w, depth, times);
        }
        advance(w, depth, times);
        value += times;
    }
    advance(w, depth, -size);
    return TSR_OK;
}

/* ---- dimensions that belong together ---- */

static bool share_dim(const lattice_atom *a, const lattice_atom *b)
{
    return (a->src_dim != NO_DIM && (a->src_dim == b->src_dim || a->src_dim == b->dst_dim)) ||
           (a->dst_dim != NO_DIM && (a->dst_dim == b->src_dim || a->dst_dim == b->dst_dim));
}

static void add_dim(walk *w, size_t dim, size_t last)
{
    const walk_layouts *l = w->layouts;
    size_t i = 0;
    while (i < w->num_dims && w->dims[i].dim != dim) {
        i++;
    }
    if (dim == NO_DIM) {
        return;
    }
    if (i == w->num_dims) {
        const plan_dim *src = &l->src[dim];
        const plan_dim *dst = &l->dst[dim];
        w->dims[w->num_dims++] =
            (walk_dim){.dim = dim,
                       .src = src,
                       .dst = dst,
                       .is_even = dim_is_even(src->of) && dim_is_even(dst->of)};
    }
    w->dims[i].last = last;
}

static int by_size(const void *a, const void *b)
{
    const int64_t x = ((const lattice_atom *)a)->size;
    const int64_t y = ((const lattice_atom *)b)->size;
    return (x > y) - (x < y);
}

static int by_role(const void *a, const void *b)
{
    const int x = (int)((const lattice_atom *)a)->role;
    const int y = (int)((const lattice_atom *)b)->role;
    return x != y ? x - y : by_size(a, b);
}

/* Whether all digits are folded alike, in any order. */
static bool is_uniform(const walk_query *q)
{
    bool uniform = true;
    for (int i = 1; i < LATTICE_ROLES; i++) {
        uniform = uniform && q->sizes[i] == q->sizes[0] && q->helds[i] == q->helds[0];
    }
    return uniform;
}

/* Moves a digit, and all that belong to its dimensions, into a walk; the largest last. */
static void take_component(walk *w, size_t first, bool *taken)
{
    const plan_lattice *l = w->layouts->lattice;
    w->num_atoms = 0;
    w->num_dims = 0;
    taken[first] = true;
    w->atoms[w->num_atoms++] = l->atoms[first];
    for (size_t i = 0; i < w->num_atoms; i++) {
        for (size_t k = 0; k < l->num_atoms; k++) {
            if (!taken[k] && share_dim(&w->atoms[i], &l->atoms[k])) {
                taken[k] = true;
                w->atoms[w->num_atoms++] = l->atoms[k];
            }
        }
    }
    if (w->num_atoms > 1) {
        qsort(w->atoms, w->num_atoms, sizeof *w->atoms, is_uniform(w->query) ? by_size : by_role);
    }
    for (size_t i = 0; i < w->num_atoms; i++) {
        add_dim(w, w->atoms[i].src_dim, i);
        add_dim(w, w->atoms[i].dst_dim, i);
    }
}

/* Whether outer digits have so many values that taking some at once is worth looking for them. */
static bool is_deep(const walk *w)
{
    enum { FEW = 32 };
    int64_t values = 1;
    for (size_t i = 0; i + 1 < w->num_atoms; i++) {
        values *= w->atoms[i].size;
    }
    return values > FEW;
}

/* Multiplies all pairs with those of dimensions that share no digit with them. */
static tsr_status multiply(const walk *w, const walk_pairs *with, walk_pairs *all)
{
    walk_pairs product = {0};
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < with->count; k++) {
            const walk_pair pair = {all->list[i].size * with->list[k].size,
                                    all->list[i].held * with->list[k].held};
            TSR_TRY(add_best(w->m, &product, pair));
        }
    }
    *all = product;
    return TSR_OK;
}

/* The pair of the dimensions that no digit cuts. */
static walk_pair whole_dims(const walk_layouts *layouts, walk_size size)
{
    walk_pair pair = {size != WALK_NO_SIZE, 1};
    for (size_t i = 0; i < layouts->rank; i++) {
        if (layouts->src[i].of->along.size == 1 && layouts->dst[i].of->along.size == 1) {
            pair.size *= layouts->src[i].of->extent;
            pair.held *= layouts->src[i].of->extent;
        }
    }
    return pair;
}

static tsr_status walk_component(walk *w, size_t first, bool *taken, walk_pairs *all)
{
    take_component(w, first, taken);
    w->joins = is_deep(w);
    w->reliances = ARENA_ARRAY(w->m->scratch, reliance, (w->num_atoms + 1) * w->num_dims);
    if (w->reliances == NULL) {
        return diag_nomem(w->m->ctx);
    }
    for (size_t i = 0; i <= w->num_atoms; i++) {
        w->found[i] = (walk_pairs){0};
    }
    TSR_TRY(walk_from(w, 0, true));
    return multiply(w, &w->found[0], all);
}

tsr_status lattice_walk(const plan_maker *m, const walk_layouts *layouts, const walk_query *query,
                        walk_pairs *out)
{
    bool taken[MAX_DIGITS] = {false};
    walk w; /* large: what a component needs is set with it */
    w.m = m;
    w.layouts = layouts;
    w.query = query;
    w.visits = 0;
    walk_pairs all = {0};
    TSR_TRY(add_pair(m, &all, whole_dims(layouts, query->size)));
    for (size_t i = 0; i < layouts->lattice->num_atoms; i++) {
        if (!taken[i]) {
            TSR_TRY(walk_component(&w, i, taken, &all));
        }
    }
    *out = all;
    return TSR_OK;
}

tsr_status lattice_held(const plan_maker *m, const walk_layouts *layouts, int64_t *out)
{
    static const walk_query sum = {.size = WALK_NO_SIZE};
    const tsr_arena_mark mark = tsr_arena_get_mark(m->scratch);
    walk_pairs pairs = {0};
    const tsr_status status = lattice_walk(m, layouts, &sum, &pairs);
    if (status == TSR_OK && pairs.count > 0) { /* one pair: nothing keeps the best */
        *out = pairs.list[0].held * layouts->lattice->rest;
    }
    tsr_arena_reset(m->scratch, mark);
    return status;
}
