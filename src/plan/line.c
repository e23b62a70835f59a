#include "plan/line.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"

/* The place in the destination mesh of the device at a place of the source mesh. */
static int64_t place_after(const plan_exchange *x, int64_t place)
{
    return tsr_mesh_place_of(x->dst.mesh, tsr_mesh_device_at(x->src.mesh, place));
}

/* How many elements a shard has. */
static int64_t shard_elements(const plan_exchange *x, int64_t base)
{
    int64_t elements = 1;
    for (size_t i = 0; i < x->rank; i++) {
        const dim_geometry *dim = x->src.dims[i].of;
        elements *= dim_box(dim, places_index(&dim->along, base)).size;
    }
    return elements;
}

/* The rows of a shard that the destination shards below one, with the digits of a number, want. */
static int64_t counted_rows(const plan_exchange *x, size_t dim, int64_t number, tsr_interval rows,
                            int64_t below)
{
    const lattice_index *index = &x->lattice.dst[dim];
    const int64_t chunk = x->dst.dims[dim].of->chunk;
    if (rows.size == 0) {
        return 0;
    }
    const int64_t end = rows.start + rows.size;
    const int64_t first = rows.start / chunk;
    const int64_t last = (end - 1) / chunk;
    if (below <= first) {
        return 0;
    }
    const int64_t limit = min_i64(below, last + 1);
    int64_t sum =
        chunk * (lattice_count(index, number, limit) - lattice_count(index, number, first));
    if (lattice_matches(index, number, first)) {
        sum -= rows.start - first * chunk;
    }
    if (limit == last + 1 && lattice_matches(index, number, last)) {
        sum -= (last + 1) * chunk - end;
    }
    return sum;
}

/* The rows of a dimension of the shard at a base place. */
static tsr_interval rows_of(const plan_exchange *x, size_t dim, int64_t base)
{
    const dim_geometry *of = x->src.dims[dim].of;
    return dim_box(of, places_index(&of->along, base));
}

/* All elements of a shard that devices which hold it want. */
static int64_t counted_held(const plan_exchange *x, int64_t base, int64_t number)
{
    int64_t held = lattice_count(&x->lattice.copies, number, x->copies.size);
    for (size_t i = 0; i < x->rank; i++) {
        held *= counted_rows(x, i, number, rows_of(x, i, base), x->dst.dims[i].of->along.size);
    }
    return held;
}

/* What the devices of one replica want of their own shard, and what one of them must send most. */
typedef struct own_load {
    int64_t wanted;
    int64_t most;
} own_load;

static own_load load_of(const plan_exchange *x, int64_t base, int64_t replica)
{
    own_load load = {0};
    int64_t least = INT64_MAX;
    for (int64_t q = 0; q < x->removed.size; q++) {
        const int64_t place = exchange_place(x, base, replica, q);
        const int64_t wanted = exchange_wanted(x, base, place_after(x, place));
        load.wanted += wanted;
        least = min_i64(least, wanted);
    }
    load.most = load.wanted - least;
    return load;
}

/* What is to be shared out, and the level up to which replicas are filled. */
typedef struct line_level {
    int64_t length;
    int64_t level;
} line_level;

/*
 * The least that the busiest replica can send: an equal share, rounded up, or what it sends anyway.
 */
static line_level level_of(const plan_exchange *x, int64_t base)
{
    const int64_t all = shard_elements(x, base) * x->copies.size;
    const int64_t replicas = x->replicas.size;
    if (x->counted) {
        const int64_t held = counted_held(x, base, lattice_number(&x->lattice, base));
        return (line_level){all - held, ceil_div(all - held, replicas)};
    }
    int64_t length = all;
    int64_t sum = 0;
    int64_t most = 0;
    for (int64_t j = 0; j < replicas; j++) {
        const own_load load = load_of(x, base, j);
        length -= load.wanted;
        sum += load.most;
        most = max_i64(most, load.most);
    }
    return (line_level){length, max_i64(most, ceil_div(length + sum, replicas))};
}

int64_t line_sent(const plan_exchange *x, int64_t base, int64_t replica, int64_t part)
{
    const int64_t own =
        exchange_wanted(x, base, place_after(x, exchange_place(x, base, replica, part)));
    if (x->replicas.size == 1) {
        return shard_elements(x, base) * x->copies.size - own;
    }
    const line_level line = level_of(x, base);
    int64_t first = replica * line.level;
    if (x->counted) {
        return max_i64(0, min_i64(line.level, line.length - first));
    }
    for (int64_t j = 0; j < replica; j++) {
        first -= load_of(x, base, j).most;
    }
    const own_load load = load_of(x, base, replica);
    return max_i64(0, min_i64(line.level - load.most, line.length - first)) + load.wanted - own;
}

void line_add_sent(const plan_exchange *x, int64_t base, const device_sums *to)
{
    const line_level line = x->replicas.size > 1 ? level_of(x, base) : (line_level){0};
    int64_t first = 0;
    for (int64_t j = 0; j < x->replicas.size; j++) {
        const own_load load = load_of(x, base, j);
        const int64_t room = line.level - load.most;
        const int64_t shared = max_i64(0, min_i64(room, line.length - first));
        for (int64_t q = 0; q < x->removed.size; q++) {
            const int64_t device = exchange_device(x, base, j, q);
            const int64_t own = exchange_wanted(x, base, tsr_mesh_place_of(x->dst.mesh, device));
            to->elements[tsr_mesh_place_of(to->mesh, device)] +=
                x->replicas.size == 1 ? shard_elements(x, base) * x->copies.size - own
                                      : shared + load.wanted - own;
        }
        first += room;
    }
}

/* Rows of other shapes than intervals: lists the destination shards that overlap them. */
static tsr_status list_shards(const plan_maker *m, const plan_exchange *x, size_t dim,
                              line_dim *out)
{
    const plan_maker brief = {m->ctx, m->scratch, m->scratch};
    plan_overlaps found;
    TSR_TRY(plan_overlaps_of(&brief, PLAN_OF_SRC, &x->src.dims[dim], out->shard, &x->dst.dims[dim],
                             &found));
    int64_t *shards = ARENA_ARRAY(m->scratch, int64_t, found.count);
    int64_t *before = ARENA_ARRAY(m->scratch, int64_t, found.count + 1);
    if (shards == NULL || before == NULL) {
        return diag_nomem(m->ctx);
    }
    before[0] = 0;
    for (size_t i = 0; i < found.count; i++) {
        shards[i] = found.list[i].shard;
        before[i + 1] = before[i] + found.list[i].size;
    }
    out->shards = shards;
    out->before = before;
    out->count = found.count;
    return TSR_OK;
}

tsr_status line_dim_create(const plan_maker *m, const plan_exchange *x, size_t dim, int64_t shard,
                           line_dim *out)
{
    const tsr_interval box = dim_box(x->src.dims[dim].of, shard);
    *out = (line_dim){.shard = shard, .rows = box.size, .start = box.start};
    if (x->src.dims[dim].of->ragged == NULL && x->dst.dims[dim].of->ragged == NULL) {
        return TSR_OK;
    }
    return list_shards(m, x, dim, out);
}

/* The rows of a source shard before a destination shard, and in it. */
static tsr_interval rows_before(const plan_exchange *x, size_t dim, const line_dim *d,
                                int64_t shard)
{
    if (d->shards == NULL) {
        const tsr_interval box = dim_box(x->dst.dims[dim].of, shard);
        const int64_t start = min_i64(max_i64(box.start - d->start, 0), d->rows);
        const int64_t end = min_i64(max_i64(box.start + box.size - d->start, 0), d->rows);
        return (tsr_interval){start, end - start};
    }
    const size_t at = lower_bound(d->shards, sizeof *d->shards, d->count, shard);
    const bool found = at < d->count && d->shards[at] == shard;
    return (tsr_interval){d->before[at], found ? d->before[at + 1] - d->before[at] : 0};
}

/* The position of a box among all boxes of the shard, and its elements. */
static tsr_interval box_of(const plan_line *line, const line_key *key)
{
    int64_t before = 0;
    int64_t elements = 1;
    for (size_t i = 0; i < line->x->rank; i++) {
        const tsr_interval rows = rows_before(line->x, i, line->dims[i], key->shards[i]);
        before = before * line->dims[i]->rows + elements * rows.start;
        elements *= rows.size;
    }
    return (tsr_interval){before * line->x->copies.size + key->copy * elements, elements};
}

/* The elements of boxes before this one that are held, by counting. */
static int64_t counted_before(const plan_line *line, const line_key *key)
{
    const plan_exchange *x = line->x;
    int64_t before = 0;
    int64_t elements = 1;
    for (size_t i = 0; i < x->rank; i++) {
        const line_dim *d = line->dims[i];
        const tsr_interval rows = {d->start, d->rows};
        const int64_t shards = x->dst.dims[i].of->along.size;
        const int64_t below = counted_rows(x, i, line->number, rows, key->shards[i]);
        const int64_t to = counted_rows(x, i, line->number, rows, key->shards[i] + 1);
        before = before * counted_rows(x, i, line->number, rows, shards) + elements * below;
        elements *= to - below;
    }
    const int64_t copies = lattice_count(&x->lattice.copies, line->number, x->copies.size);
    return before * copies + elements * lattice_count(&x->lattice.copies, line->number, key->copy);
}

/* The elements of held boxes before a position, from the list. */
static int64_t listed_before(const plan_line *line, int64_t position)
{
    if (line->num_held == 0) {
        return 0;
    }
    const size_t count =
        lower_bound(&line->held->first, sizeof *line->held, line->num_held, position);
    return count > 0 ? line->held[count - 1].before + line->held[count - 1].size : 0;
}

int64_t line_before(const plan_line *line, const line_key *key)
{
    const int64_t first = box_of(line, key).start;
    return first - (line->held == NULL ? counted_before(line, key) : listed_before(line, first));
}

int64_t line_replica(const plan_line *line, int64_t at, int64_t *end)
{
    if (line->starts == NULL) {
        const int64_t replica = at / line->level;
        *end = (replica + 1) * line->level;
        return replica;
    }
    const size_t after =
        lower_bound(line->starts, sizeof *line->starts, (size_t)line->x->replicas.size + 1, at + 1);
    *end = line->starts[after];
    return (int64_t)after - 1;
}

void line_share(const plan_line *line, int64_t replica, int64_t *first, int64_t *end)
{
    *first = line->starts != NULL ? line->starts[replica] : replica * line->level;
    *end = line->starts != NULL ? line->starts[replica + 1] : *first + line->level;
    *first = min_i64(*first, line->length);
    *end = min_i64(*end, line->length);
}

static int by_first(const void *a, const void *b)
{
    const int64_t x = ((const held_box *)a)->first;
    const int64_t y = ((const held_box *)b)->first;
    return (x > y) - (x < y);
}

/* Lists the boxes of the devices that hold the shard. `shards` has room for each dimension. */
static size_t list_held(const plan_line *line, int64_t *shards, held_box *out)
{
    const plan_exchange *x = line->x;
    const int64_t holders = x->replicas.size * x->removed.size;
    size_t count = 0;
    for (int64_t k = 0; k < holders; k++) {
        const int64_t from =
            exchange_place(x, line->base, k / x->removed.size, k % x->removed.size);
        const int64_t place = place_after(x, from);
        for (size_t i = 0; i < x->rank; i++) {
            shards[i] = places_index(&x->dst.dims[i].of->along, place);
        }
        const line_key key = {shards, places_index(&x->copies, place)};
        const tsr_interval box = box_of(line, &key);
        if (box.size > 0) {
            out[count++] = (held_box){box.start, box.size, 0};
        }
    }
    return count;
}

static tsr_status make_held(const plan_maker *m, plan_line *line)
{
    const plan_exchange *x = line->x;
    const size_t holders = (size_t)(x->replicas.size * x->removed.size);
    held_box *held = ARENA_ARRAY(m->scratch, held_box, holders);
    int64_t *shards = ARENA_ARRAY(m->scratch, int64_t, x->rank);
    if (held == NULL || shards == NULL) {
        return diag_nomem(m->ctx);
    }
    const size_t count = list_held(line, shards, held);
    if (count > 1) {
        qsort(held, count, sizeof *held, by_first);
    }
    for (size_t i = 1; i < count; i++) {
        held[i].before = held[i - 1].before + held[i - 1].size;
    }
    line->held = held;
    line->num_held = count;
    return TSR_OK;
}

/* What is left of the level for each replica, one after the other. */
static tsr_status make_starts(const plan_maker *m, plan_line *line)
{
    const int64_t replicas = line->x->replicas.size;
    int64_t *starts = ARENA_ARRAY(m->scratch, int64_t, (size_t)replicas + 1);
    if (starts == NULL) {
        return diag_nomem(m->ctx);
    }
    starts[0] = 0;
    for (int64_t j = 0; j < replicas; j++) {
        starts[j + 1] = starts[j] + line->level - load_of(line->x, line->base, j).most;
    }
    line->starts = starts;
    return TSR_OK;
}

tsr_status plan_line_create(const plan_maker *m, const plan_exchange *x, int64_t base,
                            const line_dim *const *dims, plan_line *out)
{
    const line_level level = level_of(x, base);
    *out = (plan_line){
        .x = x, .dims = dims, .base = base, .length = level.length, .level = level.level};
    if (x->counted) {
        out->number = lattice_number(&x->lattice, base);
        return TSR_OK;
    }
    TSR_TRY(make_held(m, out));
    return make_starts(m, out);
}
