/*
 * How an exchange is planned. First all boxes are listed: one for each destination and each source
 * shard that overlaps it. A box that its destination holds is not sent. The others of a source
 * shard are divided among its replicas. Then boxes, whole or cut, become moves.
 */
#include "plan/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "plan/balance.h"
#include "plan/overlap.h"

/* What a device needs of one source shard. */
typedef struct box {
    int64_t dst;
    int64_t base; /* the place of the shard's first replica */
    const plan_overlap *const *overlaps;
    int64_t elements;
    int64_t replica; /* that sends all of it, or CUT */
    size_t first_share;
    size_t num_shares; /* when it is cut */
} box;

enum { OPEN = -1, CUT = -2 };

/* A step while it is made. Places are of the source mesh. */
typedef struct exchange {
    const step_maker *m;
    const tsr_geometry *src;
    const tsr_geometry *dst;
    int64_t devices;
    plan_dim *dims;
    size_t *num_rows; /* of each dimension, and room for how many: cuts add some */
    size_t *max_rows;
    plan_rows **writable; /* the rows of a dimension, once there is room for more */
    places kept;          /* along what stays pending */
    places removed;       /* along what is folded */
    places replicas;
    box *boxes;
    size_t num_boxes;
    int64_t *load; /* elements that each device sends to those that share a fold with it */
    balance_share *shares;
    size_t num_shares;
    plan_move *moves;
    size_t num_moves;
    int64_t *sources;
} exchange;

tsr_status plan_axis_list(tsr_context *ctx, tsr_arena *arena, size_t capacity, tsr_axis_list *out)
{
    *out =
        (tsr_axis_list){.refs = ARENA_ARRAY(arena, tsr_axis_ref, capacity), .capacity = capacity};
    return out->refs != NULL ? TSR_OK : diag_nomem(ctx);
}

/* The places of devices that hold the same: along no axis that shards or is pending. */
static tsr_status find_replicas(exchange *x)
{
    const tsr_sharding *s = x->src->sharding;
    size_t capacity = s->num_unreduced;
    for (size_t i = 0; i < s->rank; i++) {
        capacity += s->dims[i].num_axes;
    }
    tsr_axis_list used = {0};
    TSR_TRY(plan_axis_list(x->m->ctx, x->m->scratch, capacity, &used));
    for (size_t i = 0; i < s->rank; i++) {
        for (size_t j = 0; j < s->dims[i].num_axes; j++) {
            used.refs[used.count++] = s->dims[i].axes[j];
        }
    }
    for (size_t i = 0; i < s->num_unreduced; i++) {
        used.refs[used.count++] = s->unreduced[i];
    }
    return places_beside(x->m->ctx, x->m->scratch, s->mesh, used.refs, used.count, &x->replicas);
}

/* How many combinations of overlaps a destination place has. */
static size_t count_boxes(const exchange *x, int64_t place)
{
    size_t count = 1;
    for (size_t i = 0; i < x->dst->rank; i++) {
        const int64_t shard = places_index(&x->dst->dims[i].along, place);
        count *= x->dims[i].of_dst[shard + 1] - x->dims[i].of_dst[shard];
    }
    return count;
}

/* What is the same for all boxes of a destination. */
typedef struct receiver {
    int64_t device;
    int64_t base;    /* its place along what stays pending */
    int64_t replica; /* of the source, which it is */
    int64_t *held;   /* for each dimension, the source shard that it holds */
    size_t *first;   /* and the first overlap of its destination shard, */
    size_t *count;   /* and how many there are */
} receiver;

/* The place of a source shard's first replica, for this receiver. */
static int64_t base_place(const exchange *x, const receiver *to,
                          const plan_overlap *const *overlaps)
{
    int64_t base = to->base;
    for (size_t i = 0; i < x->src->rank; i++) {
        base += places_at(&x->src->dims[i].along, overlaps[i]->src_shard);
    }
    return base;
}

/* Whether the receiver holds these shards itself. */
static bool holds(const exchange *x, const receiver *to, const plan_overlap *const *overlaps)
{
    for (size_t i = 0; i < x->src->rank; i++) {
        if (to->held[i] != overlaps[i]->src_shard) {
            return false;
        }
    }
    return true;
}

/* The device of a replica that has part q of a fold. */
static int64_t device_of(const exchange *x, int64_t base, int64_t replica, int64_t q)
{
    const int64_t place = base + places_at(&x->replicas, replica) + places_at(&x->removed, q);
    return tsr_mesh_device_at(x->src->sharding->mesh, place);
}

/* Lists the box of one combination of overlaps; its receiver may hold it, or a part of a fold. */
static void add_box(exchange *x, const receiver *to, const plan_overlap *const *overlaps)
{
    const bool held = holds(x, to, overlaps);
    box *b = &x->boxes[x->num_boxes++];
    *b = (box){.dst = to->device,
               .base = base_place(x, to, overlaps),
               .overlaps = overlaps,
               .elements = 1,
               .replica = held ? to->replica : OPEN};
    for (size_t i = 0; i < x->dst->rank; i++) {
        b->elements *= overlaps[i]->size;
    }
    for (int64_t q = 0; held && x->removed.size > 1 && q < x->removed.size; q++) {
        const int64_t source = device_of(x, b->base, b->replica, q);
        x->load[source] += source != to->device ? b->elements : 0;
    }
}

static void find_receiver(const exchange *x, int64_t device, receiver *to)
{
    const int64_t own = tsr_mesh_place_of(x->src->sharding->mesh, device);
    const int64_t place = tsr_mesh_place_of(x->dst->sharding->mesh, device);
    to->device = device;
    to->base = places_at(&x->kept, places_index(&x->kept, own));
    to->replica = places_index(&x->replicas, own);
    for (size_t i = 0; i < x->dst->rank; i++) {
        const int64_t shard = places_index(&x->dst->dims[i].along, place);
        to->held[i] = places_index(&x->src->dims[i].along, own);
        to->first[i] = x->dims[i].of_dst[shard];
        to->count[i] = x->dims[i].of_dst[shard + 1] - to->first[i];
    }
}

/* All boxes of one receiver: every combination of overlaps, the last dimension fastest. */
static tsr_status add_boxes(exchange *x, const receiver *to)
{
    const size_t rank = x->dst->rank;
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) {
        count *= to->count[i];
    }
    const plan_overlap **overlaps = ARENA_ARRAY(x->m->arena, const plan_overlap *, count *rank + 1);
    if (overlaps == NULL) {
        return diag_nomem(x->m->ctx);
    }
    for (size_t k = 0; k < count; k++) {
        size_t rest = k;
        for (size_t i = rank; i-- > 0;) {
            overlaps[k * rank + i] = &x->dims[i].overlaps[to->first[i] + rest % to->count[i]];
            rest /= to->count[i];
        }
        add_box(x, to, overlaps + k * rank);
    }
    return TSR_OK;
}

static tsr_status list_boxes(exchange *x)
{
    tsr_arena *scratch = x->m->scratch;
    const size_t rank = x->dst->rank;
    receiver to = {.held = ARENA_ARRAY(scratch, int64_t, rank),
                   .first = ARENA_ARRAY(scratch, size_t, rank),
                   .count = ARENA_ARRAY(scratch, size_t, rank)};
    size_t count = 0;
    for (int64_t place = 0; place < x->devices; place++) {
        count += count_boxes(x, place);
    }
    x->boxes = ARENA_ARRAY(scratch, box, count);
    x->load = ARENA_ARRAY(scratch, int64_t, (size_t)x->devices);
    if (x->boxes == NULL || x->load == NULL || to.held == NULL || to.first == NULL ||
        to.count == NULL) {
        return diag_nomem(x->m->ctx);
    }
    memset(x->load, 0, (size_t)x->devices * sizeof *x->load);
    for (int64_t device = 0; device < x->devices; device++) {
        find_receiver(x, device, &to);
        TSR_TRY(add_boxes(x, &to));
    }
    return TSR_OK;
}

/* A replica of a source shard, by its lowest device. */
typedef struct sender {
    int64_t device;
    int64_t replica;
} sender;

static int by_device(const void *a, const void *b)
{
    const int64_t x = ((const sender *)a)->device;
    const int64_t y = ((const sender *)b)->device;
    return (x > y) - (x < y);
}

/* What is needed to share out the boxes of one source shard after the other. */
typedef struct sharing {
    size_t *first;  /* of each base place in `open`, and the end */
    size_t *open;   /* boxes that are to be sent, by base place */
    int64_t *sizes; /* of the open boxes of a shard */
    sender *senders;
    int64_t *loads;
} sharing;

/* Lists the boxes that are to be sent by their source shard, in the order they have. */
static void list_open(const exchange *x, sharing *s)
{
    memset(s->first, 0, ((size_t)x->devices + 2) * sizeof *s->first);
    for (size_t i = 0; i < x->num_boxes; i++) {
        s->first[x->boxes[i].base + 2] += x->boxes[i].replica == OPEN;
    }
    for (int64_t place = 0; place < x->devices; place++) {
        s->first[place + 2] += s->first[place + 1];
    }
    for (size_t i = 0; i < x->num_boxes; i++) {
        if (x->boxes[i].replica == OPEN) {
            s->open[s->first[x->boxes[i].base + 1]++] = i;
        }
    }
}

/* The replicas of a source shard, the one with the lowest device first, and what they send anyway.
 */
static void list_senders(const exchange *x, sharing *s, int64_t base)
{
    for (int64_t r = 0; r < x->replicas.size; r++) {
        s->senders[r] = (sender){INT64_MAX, r};
        for (int64_t q = 0; q < x->removed.size; q++) {
            s->senders[r].device = min_i64(s->senders[r].device, device_of(x, base, r, q));
        }
    }
    qsort(s->senders, (size_t)x->replicas.size, sizeof *s->senders, by_device);
    for (int64_t r = 0; r < x->replicas.size; r++) {
        s->loads[r] = 0;
        for (int64_t q = 0; x->removed.size > 1 && q < x->removed.size; q++) {
            s->loads[r] =
                max_i64(s->loads[r], x->load[device_of(x, base, s->senders[r].replica, q)]);
        }
    }
}

/* Shares out the open boxes of one source shard. */
static void share_out(exchange *x, sharing *s, int64_t base)
{
    const size_t *open = s->open + s->first[base];
    const size_t count = s->first[base + 1] - s->first[base];
    for (size_t i = 0; i < count; i++) {
        s->sizes[i] = x->boxes[open[i]].elements;
    }
    list_senders(x, s, base);
    balance_share *shares = x->shares + x->num_shares;
    const size_t number = balance(s->sizes, count, s->loads, (size_t)x->replicas.size, shares);
    for (size_t i = 0; i < number; i++) {
        box *b = &x->boxes[open[shares[i].box]];
        const bool whole = shares[i].size == b->elements;
        shares[i].sender = (size_t)s->senders[shares[i].sender].replica;
        if (b->num_shares++ == 0) {
            b->first_share = x->num_shares + i;
        }
        b->replica = whole ? (int64_t)shares[i].sender : CUT;
    }
    x->num_shares += number;
}

/* The only replica sends everything. */
static void share_out_to_one(exchange *x)
{
    for (size_t i = 0; i < x->num_boxes; i++) {
        x->boxes[i].replica = 0;
    }
}

static tsr_status share_out_all(exchange *x)
{
    tsr_arena *scratch = x->m->scratch;
    const size_t devices = (size_t)x->devices;
    const size_t replicas = (size_t)x->replicas.size;
    if (replicas == 1) {
        share_out_to_one(x);
        return TSR_OK;
    }
    sharing s = {.first = ARENA_ARRAY(scratch, size_t, devices + 2),
                 .open = ARENA_ARRAY(scratch, size_t, x->num_boxes),
                 .sizes = ARENA_ARRAY(scratch, int64_t, x->num_boxes),
                 .senders = ARENA_ARRAY(scratch, sender, replicas),
                 .loads = ARENA_ARRAY(scratch, int64_t, replicas)};
    x->shares = ARENA_ARRAY(scratch, balance_share, x->num_boxes + devices + replicas);
    if (s.first == NULL || s.open == NULL || s.sizes == NULL || s.senders == NULL ||
        s.loads == NULL || x->shares == NULL) {
        return diag_nomem(x->m->ctx);
    }
    list_open(x, &s);
    for (int64_t base = 0; base < x->devices; base++) {
        if (s.first[base + 1] > s.first[base]) {
            share_out(x, &s, base);
        }
    }
    return TSR_OK;
}

static void add_move(exchange *x, const box *b, const plan_overlap *const *overlaps,
                     int64_t elements, int64_t replica)
{
    plan_move *move = &x->moves[x->num_moves];
    *move = (plan_move){.dst = b->dst,
                        .first_source = x->num_moves * (size_t)x->removed.size,
                        .overlaps = overlaps,
                        .elements = elements};
    for (int64_t q = 0; q < x->removed.size; q++) {
        x->sources[move->first_source + (size_t)q] = device_of(x, b->base, replica, q);
    }
    x->num_moves++;
}

/* Room for more rows of a dimension, after those that it has. */
static tsr_status reserve_rows(exchange *x, size_t dim, size_t more, plan_rows **out)
{
    const size_t count = x->num_rows[dim];
    if (count + more > x->max_rows[dim]) {
        const size_t capacity = 2 * (count + more);
        plan_rows *rows = ARENA_ARRAY(x->m->arena, plan_rows, capacity);
        if (rows == NULL) {
            return diag_nomem(x->m->ctx);
        }
        memcpy(rows, x->dims[dim].rows, count * sizeof *rows);
        x->dims[dim].rows = rows;
        x->writable[dim] = rows;
        x->max_rows[dim] = capacity;
    }
    *out = x->writable[dim] + count;
    return TSR_OK;
}

/* Some of the rows of an overlap, by their number in it. */
static tsr_status trim(exchange *x, size_t dim, const plan_overlap *whole, int64_t first,
                       int64_t size, const plan_overlap **out)
{
    plan_overlap *part = ARENA_NEW(x->m->arena, plan_overlap);
    plan_rows *rows = NULL;
    if (part == NULL) {
        return diag_nomem(x->m->ctx);
    }
    TSR_TRY(reserve_rows(x, dim, whole->count, &rows));
    *part = *whole;
    part->first = x->num_rows[dim];
    part->count = 0;
    part->size = size;
    int64_t at = 0;
    for (size_t i = 0; i < whole->count; i++) {
        const plan_rows *of = &x->dims[dim].rows[whole->first + i];
        const int64_t skipped = max_i64(0, first - at);
        const int64_t end = min_i64(of->size, first + size - at);
        if (end > skipped) {
            rows[part->count++] = (plan_rows){of->src + skipped, of->dst + skipped, end - skipped};
        }
        at += of->size;
    }
    x->num_rows[dim] += part->count;
    *out = part;
    return TSR_OK;
}

/* A box that is being cut, and the sender of the piece. */
typedef struct cutting {
    exchange *x;
    const box *of;
    const plan_overlap **now; /* one for each dimension; decided before the one at hand */
    int64_t replica;
} cutting;

/*
 * A piece of a box: rows first .. first+size-1 of a dimension, all rows of the dimensions after it.
 */
static tsr_status add_piece(const cutting *c, size_t dim, int64_t first, int64_t size)
{
    const size_t rank = c->x->dst->rank;
    int64_t elements = 1;
    TSR_TRY(trim(c->x, dim, c->of->overlaps[dim], first, size, &c->now[dim]));
    for (size_t i = dim + 1; i < rank; i++) {
        c->now[i] = c->of->overlaps[i];
    }
    const plan_overlap **overlaps = arena_copy(c->x->m->arena, c->now, rank, sizeof *overlaps);
    if (overlaps == NULL) {
        return diag_nomem(c->x->m->ctx);
    }
    for (size_t i = 0; i < rank; i++) {
        elements *= overlaps[i]->size;
    }
    add_move(c->x, c->of, overlaps, elements, c->replica);
    return TSR_OK;
}

/*
 * Elements first .. end-1 of what the dimensions from `dim` on span, row-major, as boxes: a row of
 * which only the end is wanted, whole rows, a row of which only the beginning is.
 */
static tsr_status cut_out(const cutting *c, size_t dim, int64_t first, int64_t end)
{
    int64_t inner = 1;
    for (size_t i = dim + 1; i < c->x->dst->rank; i++) {
        inner *= c->of->overlaps[i]->size;
    }
    int64_t row = first / inner;
    if (first % inner != 0) {
        TSR_TRY(trim(c->x, dim, c->of->overlaps[dim], row, 1, &c->now[dim]));
        TSR_TRY(cut_out(c, dim + 1, first % inner, min_i64(inner, end - row * inner)));
        row++;
    }
    if (end / inner > row) {
        TSR_TRY(add_piece(c, dim, row, end / inner - row));
        row = end / inner;
    }
    if (row * inner < end) {
        TSR_TRY(trim(c->x, dim, c->of->overlaps[dim], row, 1, &c->now[dim]));
        TSR_TRY(cut_out(c, dim + 1, 0, end - row * inner));
    }
    return TSR_OK;
}

static tsr_status add_cut_moves(exchange *x, const box *b)
{
    cutting c = {.x = x, .of = b};
    c.now = ARENA_ARRAY(x->m->scratch, const plan_overlap *, x->dst->rank);
    if (c.now == NULL) {
        return diag_nomem(x->m->ctx);
    }
    for (size_t i = 0; i < b->num_shares; i++) {
        const balance_share *share = &x->shares[b->first_share + i];
        c.replica = (int64_t)share->sender;
        TSR_TRY(cut_out(&c, 0, share->first, share->first + share->size));
    }
    return TSR_OK;
}

/* A share of a cut box is at most two boxes a dimension but one. */
static tsr_status make_room(exchange *x)
{
    size_t count = 0;
    for (size_t i = 0; i < x->num_boxes; i++) {
        const box *b = &x->boxes[i];
        count += b->replica == CUT ? b->num_shares * 2 * x->dst->rank : 1;
    }
    x->moves = ARENA_ARRAY(x->m->arena, plan_move, count);
    x->sources = ARENA_ARRAY(x->m->arena, int64_t, count * (size_t)x->removed.size);
    return x->moves != NULL && x->sources != NULL ? TSR_OK : diag_nomem(x->m->ctx);
}

static tsr_status add_moves(exchange *x)
{
    TSR_TRY(make_room(x));
    for (size_t i = 0; i < x->num_boxes; i++) {
        const box *b = &x->boxes[i];
        if (b->replica == CUT) {
            TSR_TRY(add_cut_moves(x, b));
        } else {
            add_move(x, b, b->overlaps, b->elements, b->replica);
        }
    }
    return TSR_OK;
}

static tsr_status make_dims(exchange *x)
{
    const step_maker *m = x->m;
    const size_t rank = x->src->rank;
    x->dims = ARENA_ARRAY(m->arena, plan_dim, rank);
    x->num_rows = ARENA_ARRAY(m->scratch, size_t, rank);
    x->max_rows = ARENA_ARRAY(m->scratch, size_t, rank);
    x->writable = ARENA_ARRAY(m->scratch, plan_rows *, rank);
    if (x->dims == NULL || x->num_rows == NULL || x->max_rows == NULL || x->writable == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < rank; i++) {
        const dim_geometry *src = &x->src->dims[i];
        const dim_geometry *dst = &x->dst->dims[i];
        TSR_TRY(plan_dim_create(m->ctx, m->arena, m->scratch, src, dst, &x->dims[i]));
        const size_t number = x->dims[i].of_dst[dst->along.size];
        const plan_overlap *last = number > 0 ? &x->dims[i].overlaps[number - 1] : NULL;
        x->num_rows[i] = last != NULL ? last->first + last->count : 0;
        x->max_rows[i] = x->num_rows[i];
    }
    return TSR_OK;
}

tsr_status plan_step_create(const step_maker *m, const tsr_geometry *src, const tsr_geometry *dst,
                            const pending_axes *pending, plan_step *out)
{
    const tsr_mesh *mesh = src->sharding->mesh;
    exchange x = {.m = m, .src = src, .dst = dst, .devices = tsr_mesh_num_devices(mesh)};
    TSR_TRY(make_dims(&x));
    TSR_TRY(
        places_along(m->ctx, m->scratch, mesh, pending->kept.refs, pending->kept.count, &x.kept));
    TSR_TRY(places_along(m->ctx, m->scratch, mesh, pending->removed.refs, pending->removed.count,
                         &x.removed));
    TSR_TRY(find_replicas(&x));
    TSR_TRY(list_boxes(&x));
    TSR_TRY(share_out_all(&x));
    TSR_TRY(add_moves(&x));
    *out = (plan_step){.src = src,
                       .dst = dst,
                       .dims = x.dims,
                       .sources_each = (size_t)x.removed.size,
                       .sources = x.sources,
                       .moves = x.moves,
                       .num_moves = x.num_moves};
    return TSR_OK;
}
