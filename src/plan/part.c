/* What one device receives and sends in an exchange. */
#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "plan/cut.h"
#include "plan/line.h"
#include "plan/plan.h"

/* One device, and how its shards overlap those of the other layout. */
typedef struct participant {
    const plan_maker *m;
    const plan_exchange *x;
    int64_t device;
    int64_t before; /* its places in the two meshes */
    int64_t after;
    int64_t base; /* of the source shard that it holds */
    int64_t replica;
    const plan_overlaps *overlaps; /* for each dimension */
    const plan_overlap **now;      /* one for each dimension: the box at hand */
    size_t *choice;                /* and its number in the list */
} participant;

/* How many combinations of overlaps there are. */
static size_t num_boxes(const participant *p)
{
    size_t count = 1;
    for (size_t i = 0; i < p->x->rank; i++) {
        count *= p->overlaps[i].count;
    }
    return count;
}

static tsr_status find_participant(const plan_maker *m, const plan_exchange *x, plan_side side,
                                   int64_t device, participant *out)
{
    plan_overlaps *overlaps = ARENA_ARRAY(m->scratch, plan_overlaps, x->rank);
    *out = (participant){.m = m,
                         .x = x,
                         .device = device,
                         .before = tsr_mesh_place_of(x->src.mesh, device),
                         .after = tsr_mesh_place_of(x->dst.mesh, device),
                         .overlaps = overlaps,
                         .now = ARENA_ARRAY(m->scratch, const plan_overlap *, x->rank),
                         .choice = ARENA_ARRAY(m->scratch, size_t, x->rank)};
    if (overlaps == NULL || out->now == NULL || out->choice == NULL) {
        return diag_nomem(m->ctx);
    }
    out->base = exchange_base(x, out->before);
    out->replica = places_index(&x->replicas, out->before);
    for (size_t i = 0; i < x->rank; i++) {
        const plan_dim *own = side == PLAN_OF_SRC ? &x->src.dims[i] : &x->dst.dims[i];
        const plan_dim *other = side == PLAN_OF_SRC ? &x->dst.dims[i] : &x->src.dims[i];
        const int64_t place = side == PLAN_OF_SRC ? out->before : out->after;
        TSR_TRY(plan_overlaps_of(m, side, own, places_index(&own->of->along, place), other,
                                 &overlaps[i]));
    }
    return TSR_OK;
}

/* Takes a combination of overlaps by its number, the last dimension fastest. */
static void choose(participant *p, size_t number)
{
    for (size_t i = p->x->rank; i-- > 0;) {
        p->choice[i] = number % p->overlaps[i].count;
        p->now[i] = &p->overlaps[i].list[p->choice[i]];
        number /= p->overlaps[i].count;
    }
}

static int64_t chosen_elements(const participant *p)
{
    int64_t elements = 1;
    for (size_t i = 0; i < p->x->rank; i++) {
        elements *= p->now[i]->size;
    }
    return elements;
}

/* What a receiver knows of the source shards that it overlaps. */
typedef struct receiver {
    participant p;
    int64_t **bases;       /* for each dimension and overlap, its part of the base place */
    line_dim **dims;       /* and how destination shards cut it, where there are replicas */
    const line_dim **line; /* one for each dimension: those of the box at hand */
    line_key key;
    int64_t kept;
    move_list list;
} receiver;

static tsr_status look_at_dim(receiver *r, size_t dim)
{
    const plan_exchange *x = r->p.x;
    const plan_maker *m = r->p.m;
    const plan_overlaps *of = &r->p.overlaps[dim];
    r->bases[dim] = ARENA_ARRAY(m->scratch, int64_t, of->count);
    r->dims[dim] = ARENA_ARRAY(m->scratch, line_dim, of->count);
    if (r->bases[dim] == NULL || r->dims[dim] == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t k = 0; k < of->count; k++) {
        const int64_t shard = of->list[k].shard;
        r->bases[dim][k] = places_at(&x->src.dims[dim].of->along, shard);
        if (x->replicas.size > 1) {
            TSR_TRY(line_dim_create(m, x, dim, shard, &r->dims[dim][k]));
        }
    }
    return TSR_OK;
}

static tsr_status prepare_receiver(receiver *r)
{
    const plan_exchange *x = r->p.x;
    tsr_arena *scratch = r->p.m->scratch;
    int64_t *shards = ARENA_ARRAY(scratch, int64_t, x->rank);
    r->bases = ARENA_ARRAY(scratch, int64_t *, x->rank);
    r->dims = ARENA_ARRAY(scratch, line_dim *, x->rank);
    r->line = ARENA_ARRAY(scratch, const line_dim *, x->rank);
    if (shards == NULL || r->bases == NULL || r->dims == NULL || r->line == NULL) {
        return diag_nomem(r->p.m->ctx);
    }
    for (size_t i = 0; i < x->rank; i++) {
        shards[i] = places_index(&x->dst.dims[i].of->along, r->p.after);
        TSR_TRY(look_at_dim(r, i));
    }
    r->key = (line_key){shards, places_index(&x->copies, r->p.after)};
    r->kept = places_at(&x->src.kept, places_index(&x->src.kept, r->p.before));
    return TSR_OK;
}

/* Elements of the box at hand from one replica. */
static tsr_status receive(receiver *r, int64_t base, int64_t replica, int64_t first, int64_t size)
{
    const plan_exchange *x = r->p.x;
    plan_move how = {.peer = exchange_device(x, base, replica, 0),
                     .overlaps = r->p.now,
                     .elements = chosen_elements(&r->p)};
    if (x->removed.size > 1) {
        int64_t *sources = ARENA_ARRAY(r->p.m->arena, int64_t, (size_t)x->removed.size);
        if (sources == NULL) {
            return diag_nomem(r->p.m->ctx);
        }
        for (int64_t q = 0; q < x->removed.size; q++) {
            sources[q] = exchange_device(x, base, replica, q);
        }
        how.sources = sources;
    }
    return move_list_add(&r->list, &how, first, size);
}

/* An open box from the replicas in whose shares of the line it lies. */
static tsr_status receive_open(receiver *r, int64_t base)
{
    const int64_t elements = chosen_elements(&r->p);
    plan_line line;
    TSR_TRY(plan_line_create(r->p.m, r->p.x, base, r->line, &line));
    const int64_t at = line_before(&line, &r->key);
    for (int64_t done = 0; done < elements;) {
        int64_t end = 0;
        const int64_t replica = line_replica(&line, at + done, &end);
        const int64_t size = min_i64(end - at, elements) - done;
        if (size > 0) {
            TSR_TRY(receive(r, base, replica, done, size));
        }
        done += size;
    }
    return TSR_OK;
}

static tsr_status receive_box(receiver *r, size_t number)
{
    const plan_exchange *x = r->p.x;
    int64_t base = r->kept;
    choose(&r->p, number);
    for (size_t i = 0; i < x->rank; i++) {
        base += r->bases[i][r->p.choice[i]];
        r->line[i] = &r->dims[i][r->p.choice[i]];
    }
    if (base == r->p.base || x->replicas.size == 1) {
        const int64_t replica = base == r->p.base ? r->p.replica : 0;
        return receive(r, base, replica, 0, chosen_elements(&r->p));
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(r->p.m->scratch);
    const tsr_status status = receive_open(r, base);
    tsr_arena_reset(r->p.m->scratch, mark);
    return status;
}

tsr_status plan_receives(const plan_maker *m, const plan_exchange *x, int64_t device,
                         plan_moves *out)
{
    receiver r = {.list = {0}};
    TSR_TRY(find_participant(m, x, PLAN_OF_DST, device, &r.p));
    const size_t count = num_boxes(&r.p);
    TSR_TRY(prepare_receiver(&r));
    TSR_TRY(move_list_create(m, x->rank, count, &r.list));
    for (size_t k = 0; k < count; k++) {
        TSR_TRY(receive_box(&r, k));
    }
    *out = (plan_moves){r.list.moves, r.list.count};
    return TSR_OK;
}

/* What a sender knows of those that want some of its shard. */
typedef struct sender {
    participant p;
    plan_line line;
    int64_t *shards; /* of the box at hand: the key of its receiver */
    size_t boxes;    /* combinations of overlaps; times copies: receivers */
    int64_t kept;    /* its place along what stays pending, in the destination mesh */
    move_list list;
} sender;

/* The place, in the destination mesh, of the receiver with a number; takes its overlaps. */
static int64_t receiver_at(sender *s, int64_t number)
{
    const plan_exchange *x = s->p.x;
    int64_t place = s->kept + places_at(&x->copies, number % x->copies.size);
    choose(&s->p, (size_t)(number / x->copies.size));
    for (size_t i = 0; i < x->rank; i++) {
        s->shards[i] = s->p.now[i]->shard;
        place += places_at(&x->dst.dims[i].of->along, s->shards[i]);
    }
    return place;
}

/* Elements of the box at hand to the device at a place. */
static tsr_status send_to(sender *s, int64_t place, int64_t first, int64_t size)
{
    const plan_move how = {.peer = tsr_mesh_device_at(s->p.x->dst.mesh, place),
                           .overlaps = s->p.now,
                           .elements = chosen_elements(&s->p)};
    return move_list_add(&s->list, &how, first, size);
}

/* The only replica sends everything. */
static tsr_status send_all(sender *s)
{
    const int64_t receivers = (int64_t)s->boxes * s->p.x->copies.size;
    for (int64_t number = 0; number < receivers; number++) {
        const int64_t place = receiver_at(s, number);
        TSR_TRY(send_to(s, place, 0, chosen_elements(&s->p)));
    }
    return TSR_OK;
}

/* Whether the receiver at a place of the destination holds the sender's shard. */
static bool holds(const sender *s, int64_t place)
{
    const plan_exchange *x = s->p.x;
    const int64_t device = tsr_mesh_device_at(x->dst.mesh, place);
    return exchange_base(x, tsr_mesh_place_of(x->src.mesh, device)) == s->p.base;
}

/* The number of the first receiver whose open box ends after a position of the line. */
static int64_t first_after(sender *s, int64_t at)
{
    const int64_t copies = s->p.x->copies.size;
    int64_t low = 0;
    int64_t high = (int64_t)s->boxes * copies;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int64_t place = receiver_at(s, middle);
        const line_key key = {s->shards, middle % copies};
        const int64_t open = holds(s, place) ? 0 : chosen_elements(&s->p);
        if (line_before(&s->line, &key) + open > at) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* The boxes in this replica's share of the line. */
static tsr_status send_share(sender *s)
{
    int64_t first = 0;
    int64_t end = 0;
    line_share(&s->line, s->p.replica, &first, &end);
    if (first >= end) {
        return TSR_OK;
    }
    int64_t number = first_after(s, first);
    (void)receiver_at(s, number);
    const line_key key = {s->shards, number % s->p.x->copies.size};
    for (int64_t at = line_before(&s->line, &key); at < end;) {
        const int64_t place = receiver_at(s, number);
        if (holds(s, place)) {
            number = first_after(s, at);
            continue;
        }
        const int64_t elements = chosen_elements(&s->p);
        const int64_t from = max_i64(first - at, 0);
        TSR_TRY(send_to(s, place, from, min_i64(end - at, elements) - from));
        at += elements;
        number++;
    }
    return TSR_OK;
}

/* The number of a destination shard in a list of overlaps; false when it is not there. */
static bool find_overlap(const plan_overlaps *of, int64_t shard, size_t *out)
{
    if (of->count == 0) {
        return false;
    }
    *out = lower_bound(&of->list->shard, sizeof *of->list, of->count, shard);
    return *out < of->count && of->list[*out].shard == shard;
}

/* Whether the device at a place wants some of the shard; takes the overlaps. */
static bool take_overlaps(sender *s, int64_t place)
{
    for (size_t i = 0; i < s->p.x->rank; i++) {
        size_t k = 0;
        const int64_t shard = places_index(&s->p.x->dst.dims[i].of->along, place);
        if (!find_overlap(&s->p.overlaps[i], shard, &k)) {
            return false;
        }
        s->p.now[i] = &s->p.overlaps[i].list[k];
    }
    return true;
}

/* What the devices of this replica, this one included, want of their own shard. */
static tsr_status send_to_own(sender *s)
{
    const plan_exchange *x = s->p.x;
    for (int64_t q = 0; q < x->removed.size; q++) {
        const int64_t device = exchange_device(x, s->p.base, s->p.replica, q);
        const int64_t place = tsr_mesh_place_of(x->dst.mesh, device);
        if (take_overlaps(s, place)) {
            TSR_TRY(send_to(s, place, 0, chosen_elements(&s->p)));
        }
    }
    return TSR_OK;
}

/* The line of the sender's own shard. */
static tsr_status find_line(sender *s)
{
    const plan_exchange *x = s->p.x;
    const plan_maker *m = s->p.m;
    line_dim *dims = ARENA_ARRAY(m->scratch, line_dim, x->rank);
    const line_dim **line = ARENA_ARRAY(m->scratch, const line_dim *, x->rank);
    if (dims == NULL || line == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < x->rank; i++) {
        const int64_t shard = places_index(&x->src.dims[i].of->along, s->p.before);
        TSR_TRY(line_dim_create(m, x, i, shard, &dims[i]));
        line[i] = &dims[i];
    }
    return plan_line_create(m, x, s->p.base, line, &s->line);
}

tsr_status plan_sends(const plan_maker *m, const plan_exchange *x, int64_t device, plan_moves *out)
{
    sender s = {.list = {0}};
    TSR_TRY(find_participant(m, x, PLAN_OF_SRC, device, &s.p));
    s.shards = ARENA_ARRAY(m->scratch, int64_t, x->rank);
    s.boxes = num_boxes(&s.p);
    s.kept = places_at(&x->dst.kept, places_index(&x->dst.kept, s.p.after));
    const bool all = x->replicas.size == 1;
    const size_t room = all ? s.boxes * (size_t)x->copies.size : 4;
    if (s.shards == NULL) {
        return diag_nomem(m->ctx);
    }
    TSR_TRY(move_list_create(m, x->rank, room, &s.list));
    if (all) {
        TSR_TRY(send_all(&s));
    } else if (s.boxes > 0) {
        TSR_TRY(find_line(&s));
        TSR_TRY(send_to_own(&s));
        TSR_TRY(send_share(&s));
    }
    *out = (plan_moves){s.list.moves, s.list.count};
    return TSR_OK;
}

static tsr_status fill_part(const plan_maker *m, const tsr_plan *plan, int64_t device,
                            part_lists of_folds, plan_part *out)
{
    plan_moves *receives = ARENA_ARRAY(m->arena, plan_moves, plan->num_steps);
    plan_moves *sends = ARENA_ARRAY(m->arena, plan_moves, plan->num_steps);
    if (receives == NULL || sends == NULL) {
        return diag_nomem(m->ctx);
    }
    *out = (plan_part){.receives = receives, .sends = sends};
    for (size_t i = 0; i < plan->num_steps; i++) {
        const plan_exchange *x = &plan->steps[i].exchange;
        const tsr_arena_mark mark = tsr_arena_get_mark(m->scratch);
        sends[i] = (plan_moves){0};
        TSR_TRY(plan_receives(m, x, device, &receives[i]));
        if (exchange_parts(x) == 1 || of_folds == PART_BOTH) {
            TSR_TRY(plan_sends(m, x, device, &sends[i]));
        }
        out->num_moves += receives[i].count + sends[i].count;
        tsr_arena_reset(m->scratch, mark);
    }
    return TSR_OK;
}

tsr_status plan_part_create(tsr_context *ctx, tsr_arena *arena, const tsr_plan *plan,
                            int64_t device, part_lists of_folds, plan_part *out)
{
    plan_maker m = {.ctx = ctx, .arena = arena};
    TSR_TRY(tsr_arena_create(ctx, &m.scratch));
    const tsr_status status = fill_part(&m, plan, device, of_folds, out);
    tsr_arena_destroy(m.scratch);
    return status;
}
