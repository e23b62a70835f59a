#include "plan/lacking.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "plan/position.h"

enum { LEVELS = TSR_MAX_LEVELS + 1 };

/*
 * The overlap of one dimension. overlap[l] is for the devices that agree on the levels before l: of
 * all devices for l = 0. Either constant, or a table by the coordinates of `set`.
 */
typedef struct dim_overlap {
    uint32_t set; /* atoms whose coordinates matter; 0: constant */
    int64_t size; /* of the table: the product of their sizes */
    int64_t weights[ATOMS_MAX];
    int64_t *rows;   /* num_levels + 1 for each row of the table */
    int64_t *shards; /* as many */
    int64_t constant_rows[LEVELS];
    int64_t constant_shards[LEVELS];
} dim_overlap;

typedef struct counter {
    tsr_context *ctx;
    tsr_arena *scratch;
    const plan_space *space;
    const state_view *from;
    const state_view *to;
    size_t num_levels;
    dim_overlap dims[ATOMS_MAX_RANK];
    uint32_t set; /* of all dimensions */
    int64_t size;
    bool by_position; /* dimensions that are not constant are in `positions`, without tables */
    position_set positions;
} counter;

static uint32_t set_of(atom_list list)
{
    uint32_t set = 0;
    for (size_t i = 0; i < list.count; i++) {
        set |= 1u << list.atoms[i];
    }
    return set;
}

/* The product of a set's atoms that are cut at a level before `level`, or from it on. */
static int64_t product_of(const plan_space *space, uint32_t set, size_t level, bool before)
{
    int64_t product = 1;
    for (size_t i = 0; i < space->num_atoms; i++) {
        const bool counts = (space->atoms[i].level < level) == before;
        product *= (set >> i & 1) != 0 && counts ? space->atoms[i].size : 1;
    }
    return product;
}

/* The coordinates of the atoms of a set, counted through with the last atom fastest. */
typedef struct odometer {
    const plan_space *space;
    uint32_t set;
    int64_t digits[ATOMS_MAX];
} odometer;

/* Moves on; false after the last coordinates. */
static bool odometer_next(odometer *o)
{
    for (size_t i = o->space->num_atoms; i-- > 0;) {
        if ((o->set >> i & 1) == 0) {
            continue;
        }
        if (++o->digits[i] < o->space->atoms[i].size) {
            return true;
        }
        o->digits[i] = 0;
    }
    return false;
}

/* What each digit of ATOMS_MAX counts in an index over a set of atoms; 0 outside of the set. */
static void set_weights(const plan_space *space, uint32_t set, int64_t *weights)
{
    int64_t weight = 1;
    memset(weights, 0, ATOMS_MAX * sizeof *weights);
    for (size_t i = space->num_atoms; i-- > 0;) {
        if ((set >> i & 1) != 0) {
            weights[i] = weight;
            weight *= space->atoms[i].size;
        }
    }
}

static int64_t weighted(const plan_space *space, const int64_t *digits, const int64_t *weights)
{
    int64_t index = 0;
    for (size_t i = 0; i < space->num_atoms; i++) {
        index += digits[i] * weights[i];
    }
    return index;
}

/* The digits of a shard: the coordinate of each atom of its list. */
static void shard_digits(const plan_space *space, atom_list list, int64_t shard, int64_t *digits)
{
    for (size_t i = list.count; i-- > 0;) {
        const int64_t size = space->atoms[list.atoms[i]].size;
        digits[list.atoms[i]] = shard % size;
        shard /= size;
    }
}

static int64_t common_rows(tsr_interval a, tsr_interval b)
{
    const int64_t start = max_i64(a.start, b.start);
    const int64_t end = min_i64(a.start + a.size, b.start + b.size);
    return max_i64(end - start, 0);
}

/* How many atoms two lists have in common at their start. */
static size_t common_prefix(atom_list a, atom_list b)
{
    size_t count = 0;
    while (count < a.count && count < b.count && a.atoms[count] == b.atoms[count]) {
        count++;
    }
    return count;
}

/*
 * Whether an overlap is the same for all devices: the dimension does not change, or extents divide
 * and one list continues the other.
 */
static bool is_constant(const counter *c, size_t d, const state_dim *from, const state_dim *to)
{
    const size_t common = common_prefix(from->list, to->list);
    const bool same = from->list.count == to->list.count && common == to->list.count;
    if (same && from->sized == to->sized && from->cut == to->cut) {
        return true;
    }
    return (common == from->list.count || common == to->list.count) &&
           state_dim_divides(c->space, from, d) && state_dim_divides(c->space, to, d);
}

/* A constant overlap as a table of one row. */
static void set_constant(counter *c, size_t d, const state_dim *from, const state_dim *to)
{
    dim_overlap *o = &c->dims[d];
    const uint32_t cut_before = set_of(from->list) & ~(uint32_t)c->from->state->held;
    const uint32_t more = cut_before & ~(set_of(to->list) & ~(uint32_t)c->to->state->held);
    o->size = 1;
    o->rows = o->constant_rows;
    o->shards = o->constant_shards;
    for (size_t l = 0; l <= c->num_levels; l++) {
        o->rows[l] = to->largest / product_of(c->space, more, l, true);
        o->shards[l] = product_of(c->space, more, l, false);
    }
}

/* The first shard of a dimension that ends after a row. */
static int64_t first_shard_after(const counter *c, const state_dim *dim, size_t d, int64_t row)
{
    int64_t low = 0;
    int64_t high = dim->shards;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const tsr_interval rows = state_rows(c->space, dim, d, middle);
        if (rows.start + rows.size <= row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Adds up a row of a table from the innermost level outwards. */
static void accumulate(const counter *c, int64_t *rows)
{
    for (size_t l = c->num_levels; l-- > 0;) {
        rows[l] += rows[l + 1];
    }
}

/* The shards of a dimension before and after, listed once for a table. */
typedef struct shard_lists {
    const state_dim *from;
    tsr_interval *held;               /* by shard before */
    int64_t *digits;                  /* of each, as many as its list has atoms */
    tsr_interval *wanted;             /* by shard after */
    int64_t *first;                   /* the first shard before that ends after its start */
    int64_t shard_weights[ATOMS_MAX]; /* of the shard after */
} shard_lists;

static tsr_status list_shards(const counter *c, size_t d, shard_lists *out)
{
    const state_dim *from = &c->from->dims[d];
    const state_dim *to = &c->to->dims[d];
    const size_t atoms = from->list.count;
    int64_t digits[ATOMS_MAX] = {0};
    int64_t weight = 1;
    *out =
        (shard_lists){.from = from,
                      .held = ARENA_ARRAY(c->scratch, tsr_interval, (size_t)from->shards),
                      .digits = ARENA_ARRAY(c->scratch, int64_t, (size_t)from->shards * atoms + 1),
                      .wanted = ARENA_ARRAY(c->scratch, tsr_interval, (size_t)to->shards),
                      .first = ARENA_ARRAY(c->scratch, int64_t, (size_t)to->shards)};
    if (out->held == NULL || out->digits == NULL || out->wanted == NULL || out->first == NULL) {
        return diag_nomem(c->ctx);
    }
    for (int64_t j = 0; j < from->shards; j++) {
        out->held[j] = state_rows(c->space, from, d, j);
        shard_digits(c->space, from->list, j, digits);
        for (size_t k = 0; k < atoms; k++) {
            out->digits[(size_t)j * atoms + k] = digits[from->list.atoms[k]];
        }
    }
    for (int64_t i = 0; i < to->shards; i++) {
        out->wanted[i] = state_rows(c->space, to, d, i);
        out->first[i] = first_shard_after(c, from, d, out->wanted[i].start);
    }
    for (size_t k = to->list.count; k-- > 0;) {
        out->shard_weights[to->list.atoms[k]] = weight;
        weight *= c->space->atoms[to->list.atoms[k]].size;
    }
    return TSR_OK;
}

/* The level before which the owner of a shard of the source agrees with a device. */
static size_t agreeing_levels(const counter *c, const shard_lists *s, int64_t shard,
                              const int64_t *device)
{
    const atom_list list = s->from->list;
    const int64_t *owner = s->digits + (size_t)shard * list.count;
    size_t level = c->num_levels;
    for (size_t i = 0; i < list.count; i++) {
        const size_t atom = list.atoms[i];
        const bool held = (c->from->state->held >> atom & 1) != 0;
        if (!held && owner[i] != device[atom] && c->space->atoms[atom].level < level) {
            level = c->space->atoms[atom].level;
        }
    }
    return level;
}

/* The overlaps of what the device with some coordinates wants. */
static void fill_row(const counter *c, const shard_lists *s, const int64_t *device, int64_t *rows,
                     int64_t *shards)
{
    const int64_t shard = weighted(c->space, device, s->shard_weights);
    const tsr_interval wanted = s->wanted[shard];
    const int64_t end = wanted.start + wanted.size;
    memset(rows, 0, (c->num_levels + 1) * sizeof *rows);
    memset(shards, 0, (c->num_levels + 1) * sizeof *shards);
    for (int64_t j = s->first[shard]; j < s->from->shards && s->held[j].start < end; j++) {
        const int64_t common = common_rows(wanted, s->held[j]);
        const size_t level = agreeing_levels(c, s, j, device);
        rows[level] += common;
        shards[level] += common > 0;
    }
    accumulate(c, rows);
    accumulate(c, shards);
}

/* The product of the sizes of a set; false beyond the maximum of the space. */
static bool bounded_product(const plan_space *space, uint32_t set, int64_t *out)
{
    const int64_t limit = space->max_cases > 0 ? space->max_cases : LACKING_MAX;
    *out = 1;
    for (size_t i = 0; i < space->num_atoms; i++) {
        if ((set >> i & 1) != 0 &&
            (!checked_mul(*out, space->atoms[i].size, out) || *out > limit)) {
            return false;
        }
    }
    return true;
}

static tsr_status make_table(counter *c, size_t d)
{
    dim_overlap *o = &c->dims[d];
    odometer at = {.space = c->space, .set = o->set};
    shard_lists shards;
    const size_t width = c->num_levels + 1;
    o->rows = ARENA_ARRAY(c->scratch, int64_t, (size_t)o->size * width);
    o->shards = ARENA_ARRAY(c->scratch, int64_t, (size_t)o->size * width);
    if (o->rows == NULL || o->shards == NULL) {
        return diag_nomem(c->ctx);
    }
    TSR_TRY(list_shards(c, d, &shards));
    for (size_t i = 0; i < (size_t)o->size; i++) {
        fill_row(c, &shards, at.digits, o->rows + i * width, o->shards + i * width);
        (void)odometer_next(&at);
    }
    set_weights(c->space, o->set, o->weights);
    return TSR_OK;
}

/* Whether the dimensions of a set are counted by positions; false leaves them to tables. */
static bool use_positions(const counter *c, uint32_t dims, position_set *out)
{
    for (size_t d = 0; d < c->space->rank; d++) {
        if ((dims >> d & 1) != 0 && (!state_dim_divides(c->space, &c->from->dims[d], d) ||
                                     !state_dim_divides(c->space, &c->to->dims[d], d))) {
            return false;
        }
    }
    return positions_make(c->space, c->from, c->to, dims, out);
}

/* An overlap that changes nothing: the dimension is counted elsewhere. */
static void set_neutral(const counter *c, dim_overlap *o)
{
    o->set = 0;
    o->size = 1;
    o->rows = o->constant_rows;
    o->shards = o->constant_shards;
    for (size_t l = 0; l <= c->num_levels; l++) {
        o->rows[l] = 1;
        o->shards[l] = 1;
    }
}

/* The tables of some dimensions; *counted false if they have too many coordinates together. */
static tsr_status make_tables(counter *c, uint32_t dims, bool *counted)
{
    for (size_t d = 0; d < c->space->rank; d++) {
        if ((dims >> d & 1) != 0) {
            c->dims[d].set = set_of(c->from->dims[d].list) | set_of(c->to->dims[d].list);
            c->set |= c->dims[d].set;
        }
    }
    *counted = bounded_product(c->space, c->set, &c->size);
    for (size_t d = 0; d < c->space->rank && *counted; d++) {
        if ((dims >> d & 1) != 0) {
            (void)bounded_product(c->space, c->dims[d].set, &c->dims[d].size);
            TSR_TRY(make_table(c, d));
        }
    }
    return TSR_OK;
}

/* The overlaps of all dimensions; *counted false if there are too many coordinates. */
static tsr_status make_overlaps(counter *c, bool *counted)
{
    uint32_t varying = 0;
    for (size_t d = 0; d < c->space->rank; d++) {
        const bool constant = is_constant(c, d, &c->from->dims[d], &c->to->dims[d]);
        varying |= constant ? 0 : 1u << d;
        set_neutral(c, &c->dims[d]);
        if (constant) {
            set_constant(c, d, &c->from->dims[d], &c->to->dims[d]);
        }
    }
    c->by_position = varying != 0 && use_positions(c, varying, &c->positions);
    *counted = true;
    return c->by_position ? TSR_OK : make_tables(c, varying, counted);
}

/* The elements, and the shards, that a device has at hand within each level. */
static void at_hand(const counter *c, const int64_t *digits, int64_t *elements, int64_t *shards)
{
    for (size_t l = 0; l <= c->num_levels; l++) {
        elements[l] = 1;
        shards[l] = 1;
    }
    for (size_t d = 0; d < c->space->rank; d++) {
        const dim_overlap *o = &c->dims[d];
        const int64_t row = o->set != 0 ? weighted(c->space, digits, o->weights) : 0;
        const int64_t at = row * (int64_t)(c->num_levels + 1);
        for (size_t l = 0; l <= c->num_levels; l++) {
            elements[l] *= o->rows[at + (int64_t)l];
            shards[l] *= o->shards[at + (int64_t)l];
        }
    }
}

/* Sets all but the dimensions, which are filled one by one: clearing them would take longest. */
static void counter_start(counter *c, tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                          const state_view *from, const state_view *to)
{
    c->ctx = ctx;
    c->scratch = scratch;
    c->space = space;
    c->from = from;
    c->to = to;
    c->num_levels = space->topology.num_levels;
    c->set = 0;
    c->size = 1;
}

/* Keeps the largest of what devices receive at a level. */
static void keep_largest(const counter *c, size_t level, int64_t elements, int64_t shards,
                         level_work *out)
{
    if (elements > 0) {
        out->bytes[level] = max_i64(out->bytes[level], elements * c->space->item);
        out->rounds[level] = max_i64(out->rounds[level], shards);
    }
}

/* By positions: the device that lacks the most has digits that differ, where they can. */
static void count_positions(const counter *c, int64_t *elements, int64_t *shards, level_work *out)
{
    const size_t all = c->num_levels;
    for (size_t l = 0; l <= all; l++) {
        int64_t rows = 0;
        int64_t parts = 0;
        positions_count(&c->positions, all, l, &rows, &parts);
        elements[l] *= rows;
        shards[l] *= parts;
    }
    for (size_t l = 0; l < all; l++) {
        const bool differ = positions_may_differ(&c->positions, all, l, l + 1);
        keep_largest(c, l, elements[l] - (differ ? 0 : elements[l + 1]),
                     shards[l] - (differ ? 0 : shards[l + 1]), out);
    }
}

static tsr_status count(counter *c, level_work *out, bool *counted)
{
    TSR_TRY(make_overlaps(c, counted));
    if (!*counted) {
        return TSR_OK;
    }
    memset(out, 0, sizeof *out);
    odometer at = {.space = c->space, .set = c->set};
    do {
        int64_t elements[LEVELS];
        int64_t shards[LEVELS];
        at_hand(c, at.digits, elements, shards);
        if (c->by_position) {
            count_positions(c, elements, shards, out);
            return TSR_OK;
        }
        for (size_t l = 0; l < c->num_levels; l++) {
            keep_largest(c, l, elements[l] - elements[l + 1], shards[l] - shards[l + 1], out);
        }
    } while (odometer_next(&at));
    return TSR_OK;
}

tsr_status lacking_count(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                         const state_view *from, const state_view *to, level_work *out,
                         bool *counted, int64_t *cases)
{
    counter c;
    counter_start(&c, ctx, scratch, space, from, to);
    const tsr_arena_mark mark = tsr_arena_get_mark(scratch);
    const tsr_status status = count(&c, out, counted);
    *cases = *counted ? c.size : 0;
    tsr_arena_reset(scratch, mark);
    return status;
}

/* ---- the lower bound ---- */

/* What a group wants in one dimension, and has of that. */
typedef struct dim_need {
    uint32_t wanted_set; /* atoms whose coordinates the wants depend on, and the holdings */
    uint32_t set;
    int64_t wanted_weights[ATOMS_MAX];
    int64_t weights[ATOMS_MAX];
    int64_t *wanted;
    int64_t *held;
    int64_t constant[2];
} dim_need;

typedef struct need_counter {
    const counter *c;
    size_t level;    /* groups agree on the levels up to it */
    uint32_t agreed; /* the atoms of these levels */
    dim_need dims[ATOMS_MAX_RANK];
    uint32_t set;
    int64_t size;
    bool by_position;
    position_set positions;
} need_counter;

static bool need_is_constant(const counter *c, size_t d, const state_dim *from, const state_dim *to)
{
    return is_constant(c, d, from, to) && state_dim_divides(c->space, from, d) &&
           state_dim_divides(c->space, to, d);
}

static void set_constant_need(need_counter *n, size_t d, const state_dim *from, const state_dim *to)
{
    const plan_space *space = n->c->space;
    const uint32_t wanted = set_of(to->list) & n->agreed;
    const uint32_t cut = set_of(from->list) & ~(uint32_t)n->c->from->state->held & n->agreed;
    dim_need *need = &n->dims[d];
    set_weights(space, 0, need->wanted_weights);
    set_weights(space, 0, need->weights);
    need->wanted = &need->constant[0];
    need->held = &need->constant[1];
    need->constant[0] = space->shape[d] / atoms_product(space, wanted);
    need->constant[1] = space->shape[d] / atoms_product(space, wanted | cut);
}

/* Adds what the shards of the source have of the rows of one wanted shard. */
static void add_holdings(need_counter *n, size_t d, const state_dim *from, const int64_t *wanting,
                         tsr_interval wanted)
{
    const counter *c = n->c;
    dim_need *need = &n->dims[d];
    for (int64_t j = first_shard_after(c, from, d, wanted.start); j < from->shards; j++) {
        const tsr_interval held = state_rows(c->space, from, d, j);
        int64_t digits[ATOMS_MAX];
        int64_t owner[ATOMS_MAX] = {0};
        bool agrees = true;
        if (held.start >= wanted.start + wanted.size) {
            break;
        }
        memcpy(digits, wanting, sizeof digits);
        shard_digits(c->space, from->list, j, owner);
        for (size_t i = 0; i < from->list.count; i++) {
            const size_t atom = from->list.atoms[i];
            const bool fixed =
                (need->set >> atom & 1) != 0 && (c->from->state->held >> atom & 1) == 0;
            agrees = agrees &&
                     (!fixed || (need->wanted_set >> atom & 1) == 0 || digits[atom] == owner[atom]);
            digits[atom] = (need->wanted_set >> atom & 1) != 0 ? digits[atom] : owner[atom];
        }
        if (agrees) {
            need->held[weighted(c->space, digits, need->weights)] += common_rows(wanted, held);
        }
    }
}

static tsr_status make_need(need_counter *n, size_t d, const state_dim *from, const state_dim *to)
{
    const counter *c = n->c;
    dim_need *need = &n->dims[d];
    const size_t wants = (size_t)atoms_product(c->space, need->wanted_set);
    const size_t holds = (size_t)atoms_product(c->space, need->set);
    need->wanted = ARENA_ARRAY(c->scratch, int64_t, wants);
    need->held = ARENA_ARRAY(c->scratch, int64_t, holds);
    if (need->wanted == NULL || need->held == NULL) {
        return diag_nomem(c->ctx);
    }
    memset(need->wanted, 0, wants * sizeof *need->wanted);
    memset(need->held, 0, holds * sizeof *need->held);
    for (int64_t i = 0; i < to->shards; i++) {
        const tsr_interval rows = state_rows(c->space, to, d, i);
        int64_t digits[ATOMS_MAX] = {0};
        shard_digits(c->space, to->list, i, digits);
        need->wanted[weighted(c->space, digits, need->wanted_weights)] += rows.size;
        if (rows.size > 0) {
            add_holdings(n, d, from, digits, rows);
        }
    }
    return TSR_OK;
}

/* A need that changes nothing: the dimension is counted elsewhere. */
static void set_neutral_need(need_counter *n, size_t d)
{
    dim_need *need = &n->dims[d];
    set_weights(n->c->space, 0, need->wanted_weights);
    set_weights(n->c->space, 0, need->weights);
    need->wanted = &need->constant[0];
    need->held = &need->constant[1];
    need->constant[0] = 1;
    need->constant[1] = 1;
}

/* The tables of some dimensions; *counted false if they have too many coordinates together. */
static tsr_status make_need_tables(need_counter *n, uint32_t dims, bool *counted)
{
    const counter *c = n->c;
    for (size_t d = 0; d < c->space->rank && *counted; d++) {
        const state_dim *from = &c->from->dims[d];
        const state_dim *to = &c->to->dims[d];
        dim_need *need = &n->dims[d];
        if ((dims >> d & 1) == 0) {
            continue;
        }
        const uint32_t cut = set_of(from->list) & ~(uint32_t)c->from->state->held;
        need->wanted_set = set_of(to->list) & n->agreed;
        need->set = need->wanted_set | (cut & n->agreed);
        set_weights(c->space, need->wanted_set, need->wanted_weights);
        set_weights(c->space, need->set, need->weights);
        n->set |= need->set;
        *counted = bounded_product(c->space, n->set, &n->size);
        if (*counted) {
            TSR_TRY(make_need(n, d, from, to));
        }
    }
    return TSR_OK;
}

/* The needs of all dimensions; *counted false if there are too many coordinates. */
static tsr_status make_needs(need_counter *n, bool *counted)
{
    const counter *c = n->c;
    uint32_t varying = 0;
    for (size_t i = 0; i < c->space->num_atoms; i++) {
        n->agreed |= c->space->atoms[i].level <= n->level ? 1u << i : 0;
    }
    for (size_t d = 0; d < c->space->rank; d++) {
        const state_dim *from = &c->from->dims[d];
        const state_dim *to = &c->to->dims[d];
        const bool constant = need_is_constant(c, d, from, to);
        varying |= constant ? 0 : 1u << d;
        set_neutral_need(n, d);
        if (constant) {
            set_constant_need(n, d, from, to);
        }
    }
    n->by_position = varying != 0 && use_positions(c, varying, &n->positions);
    return n->by_position ? TSR_OK : make_need_tables(n, varying, counted);
}

/* The most elements that a group wants and does not have. */
static int64_t largest_need(const need_counter *n)
{
    const plan_space *space = n->c->space;
    odometer at = {.space = space, .set = n->set};
    const size_t levels = n->level + 1;
    int64_t most = 0;
    do {
        int64_t wanted = 1;
        int64_t held = 1;
        int64_t shards = 1;
        if (n->by_position) {
            positions_count(&n->positions, levels, 0, &wanted, &shards);
            positions_count(&n->positions, levels, levels, &held, &shards);
            held = positions_may_differ(&n->positions, levels, 0, levels) ? 0 : held;
        }
        for (size_t d = 0; d < space->rank; d++) {
            const dim_need *need = &n->dims[d];
            wanted *= need->wanted[weighted(space, at.digits, need->wanted_weights)];
            held *= need->held[weighted(space, at.digits, need->weights)];
        }
        most = max_i64(most, wanted - held);
    } while (odometer_next(&at));
    return most;
}

/* The time that the groups of one level need at least, in nanoseconds rounded down. */
static int64_t need_time(const need_counter *n)
{
    const tsr_topology_spec *t = &n->c->space->topology;
    __int128 rate = 0;
    for (size_t l = 0; l < t->num_levels; l++) {
        rate += l <= n->level ? t->levels[l].bandwidth : 0;
    }
    for (size_t l = n->level + 1; l < t->num_levels; l++) {
        rate *= t->levels[l].size;
    }
    const __int128 bytes = (__int128)largest_need(n) * n->c->space->item;
    const __int128 time = bytes * 1000000000 / rate;
    return time < INT64_MAX ? (int64_t)time : INT64_MAX;
}

tsr_status lacking_bound(tsr_context *ctx, tsr_arena *scratch, const plan_space *space,
                         const state_view *from, const state_view *to, int64_t *out, bool *counted)
{
    counter c;
    counter_start(&c, ctx, scratch, space, from, to);
    const tsr_arena_mark mark = tsr_arena_get_mark(scratch);
    tsr_status status = TSR_OK;
    int64_t bound = 0;
    *counted = true;
    for (size_t l = 0; l < c.num_levels && status == TSR_OK; l++) {
        need_counter n;
        bool complete = true;
        n.c = &c;
        n.level = l;
        n.size = 1;
        n.set = 0;
        n.agreed = 0;
        status = make_needs(&n, &complete);
        if (status == TSR_OK && complete) {
            bound = max_i64(bound, need_time(&n));
        }
        *counted = *counted && complete;
    }
    tsr_arena_reset(scratch, mark);
    *out = bound;
    return status;
}
