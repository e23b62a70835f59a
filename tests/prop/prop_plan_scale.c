/*
 * Plans of many devices: the parts of sampled devices against the boxes of all of them, what is
 * said of the whole against sums over boxes. All shards are boxes here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "random.h"

enum { MAX_DEVICES = 65536, MAX_ELEMENTS = 1 << 18, RANK = 3 };

typedef struct box {
    int64_t start[RANK];
    int64_t size[RANK];
} box;

/* One pair of layouts and what every device has of them. */
typedef struct pair {
    size_t rank;
    int64_t shape[RANK];
    int64_t devices;
    const tsr_geometry *src;
    const tsr_geometry *dst;
    const tsr_plan *plan;
    int64_t parts;
    box *before;
    box *after;
} pair;

static int64_t volume(const pair *p, const box *b)
{
    int64_t elements = 1;
    for (size_t i = 0; i < p->rank; i++) {
        elements *= b->size[i];
    }
    return elements;
}

static int64_t common(const pair *p, const box *a, const box *b)
{
    int64_t elements = 1;
    for (size_t i = 0; i < p->rank; i++) {
        const int64_t end_a = a->start[i] + a->size[i];
        const int64_t end_b = b->start[i] + b->size[i];
        const int64_t start = a->start[i] > b->start[i] ? a->start[i] : b->start[i];
        const int64_t size = (end_a < end_b ? end_a : end_b) - start;
        elements *= size > 0 ? size : 0;
    }
    return elements;
}

/* What a move takes, in the tensor. Checks that both sides mean the same rows. */
static box box_of(const pair *p, const plan_move *move, int64_t from, int64_t to)
{
    box out;
    for (size_t i = 0; i < p->rank; i++) {
        const plan_overlap *overlap = move->overlaps[i];
        assert_int_equal(overlap->count, 1);
        const plan_rows *rows = overlap->rows;
        out.start[i] = p->before[from].start[i] + rows->src;
        out.size[i] = rows->size;
        assert_int_equal(p->after[to].start[i] + rows->dst, out.start[i]);
        assert_true(rows->src >= 0 && rows->src + rows->size <= p->before[from].size[i]);
        assert_true(rows->dst >= 0 && rows->dst + rows->size <= p->after[to].size[i]);
    }
    assert_int_equal(volume(p, &out), move->elements);
    assert_true(move->elements > 0);
    return out;
}

static const int64_t *sources_of(const plan_move *move)
{
    return move->sources != NULL ? move->sources : &move->peer;
}

/* One more for each element of a box of a device's part. */
static void mark(const pair *p, const box *part, const box *b, unsigned char *marks)
{
    int64_t at[RANK] = {0};
    for (;;) {
        int64_t place = 0;
        for (size_t i = 0; i < p->rank; i++) {
            place = place * part->size[i] + b->start[i] - part->start[i] + at[i];
        }
        marks[place]++;
        size_t i = p->rank;
        while (i > 0 && ++at[i - 1] == b->size[i - 1]) {
            at[--i] = 0;
        }
        if (i == 0) {
            return;
        }
    }
}

/* Whether boxes cover a part, each element once; of a large part whether their sizes sum up. */
static void check_cover(const pair *p, const box *part, const box *boxes, size_t count)
{
    static unsigned char marks[MAX_ELEMENTS];
    const int64_t elements = volume(p, part);
    int64_t sum = 0;
    memset(marks, 0, sizeof marks);
    for (size_t i = 0; i < count; i++) {
        sum += volume(p, &boxes[i]);
        if (elements <= MAX_ELEMENTS) {
            mark(p, part, &boxes[i], marks);
        }
        for (size_t k = 0; elements > MAX_ELEMENTS && count <= 512 && k < i; k++) {
            assert_int_equal(common(p, &boxes[i], &boxes[k]), 0);
        }
    }
    assert_int_equal(sum, elements);
    for (int64_t i = 0; elements <= MAX_ELEMENTS && i < elements; i++) {
        assert_int_equal(marks[i], 1);
    }
}

/* Every element once, from devices that hold it, and from itself where it does. */
static int64_t check_receives(const pair *p, int64_t device, const plan_moves *receives)
{
    const box *part = &p->after[device];
    int64_t received = 0;
    box *boxes = malloc((receives->count + 1) * sizeof *boxes);
    assert_non_null(boxes);
    for (size_t i = 0; i < receives->count; i++) {
        const plan_move *move = &receives->list[i];
        const int64_t *sources = sources_of(move);
        bool own = false;
        for (int64_t q = 0; q < p->parts; q++) {
            assert_true(sources[q] >= 0 && sources[q] < p->devices);
            boxes[i] = box_of(p, move, sources[q], device);
            own = own || sources[q] == device;
            received += sources[q] != device ? move->elements : 0;
        }
        assert_true(own || common(p, &boxes[i], &p->before[device]) == 0);
    }
    check_cover(p, part, boxes, receives->count);
    free(boxes);
    return received;
}

static plan_part part_of(fixture *f, const pair *p, int64_t device)
{
    plan_part part;
    assert_int_equal(plan_part_create(f->ctx, f->arena, p->plan, device, PART_BOTH, &part), TSR_OK);
    return part;
}

static bool comes_from(const pair *p, const plan_move *move, int64_t device)
{
    bool from = false;
    for (int64_t q = 0; q < p->parts; q++) {
        from = from || sources_of(move)[q] == device;
    }
    return from;
}

/* What one device sends to another is what the other receives from it, in the same order. */
static void check_between(fixture *f, const pair *p, int64_t from, int64_t to)
{
    const tsr_arena_mark kept = tsr_arena_get_mark(f->arena);
    const plan_moves sends = part_of(f, p, from).sends[0];
    const plan_moves receives = part_of(f, p, to).receives[0];
    size_t next = 0;
    size_t found = 0;
    for (size_t i = 0; i < sends.count; i++) {
        if (sends.list[i].peer != to) {
            continue;
        }
        found++;
        while (next < receives.count && !comes_from(p, &receives.list[next], from)) {
            next++;
        }
        assert_true(next < receives.count);
        const box a = box_of(p, &sends.list[i], from, to);
        const box b = box_of(p, &receives.list[next++], from, to);
        assert_true(p->rank == 0 || (memcmp(a.start, b.start, p->rank * sizeof *a.start) == 0 &&
                                     memcmp(a.size, b.size, p->rank * sizeof *a.size) == 0));
    }
    for (; next < receives.count; next++) {
        assert_false(comes_from(p, &receives.list[next], from));
    }
    assert_true(found > 0);
    tsr_arena_reset(f->arena, kept);
}

/* How much was seen. */
static struct {
    int64_t pairs;
    int64_t devices; /* sampled */
    int64_t moves;
    int64_t peers;
    int64_t counted;
    int64_t listed;
    int64_t folds;
} seen;

/* The part of one device, and those of some that it names. */
static void check_device(fixture *f, rng *r, const pair *p, int64_t device)
{
    enum { PEERS = 2 };
    const tsr_arena_mark kept = tsr_arena_get_mark(f->arena);
    const plan_part part = part_of(f, p, device);
    const plan_moves *in = &part.receives[0];
    const plan_moves *out = &part.sends[0];
    int64_t sent = 0;
    assert_int_equal(tsr_plan_bytes_received(p->plan, device), check_receives(p, device, in));
    for (size_t i = 0; i < out->count; i++) {
        sent += out->list[i].peer != device ? out->list[i].elements : 0;
    }
    assert_int_equal(tsr_plan_bytes_sent(p->plan, device), sent);
    for (int i = 0; i < PEERS && in->count > 0; i++) {
        const plan_move *move = &in->list[rng_below(r, (int64_t)in->count)];
        check_between(f, p, sources_of(move)[rng_below(r, p->parts)], device);
    }
    for (int i = 0; i < PEERS && out->count > 0; i++) {
        check_between(f, p, device, out->list[rng_below(r, (int64_t)out->count)].peer);
    }
    seen.devices++;
    seen.moves += (int64_t)(in->count + out->count);
    seen.peers += PEERS * ((in->count > 0) + (out->count > 0));
    tsr_arena_reset(f->arena, kept);
}

/* What the devices that hold one shard have in common with what they want. */
typedef struct held_shard {
    int64_t key;
    int64_t elements;
    int64_t held;
} held_shard;

static int by_key(const void *a, const void *b)
{
    const held_shard *x = a;
    const held_shard *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/*
 * The least that the busiest device can send when nothing is folded: the replicas of a shard send
 * all that is lacking of it.
 */
static int64_t least_sent(const pair *p, int64_t copies)
{
    held_shard *shards = malloc((size_t)p->devices * sizeof *shards);
    int64_t least = 0;
    assert_non_null(shards);
    for (int64_t i = 0; i < p->devices; i++) {
        const box *b = &p->before[i];
        shards[i] = (held_shard){.elements = volume(p, b), .held = common(p, b, &p->after[i])};
        for (size_t k = 0; k < p->rank; k++) {
            shards[i].key = shards[i].key * (p->shape[k] + 1) + b->start[k];
        }
    }
    qsort(shards, (size_t)p->devices, sizeof *shards, by_key);
    for (int64_t i = 0; i < p->devices;) {
        int64_t replicas = 0;
        int64_t lacking = 0;
        const int64_t key = shards[i].key;
        for (; i < p->devices && shards[i].key == key; i++) {
            replicas += shards[i].elements > 0;
            lacking = shards[i].elements > 0 ? lacking - shards[i].held : lacking;
            lacking += replicas == 1 && shards[i].elements > 0 ? shards[i].elements * copies : 0;
        }
        const int64_t each = replicas > 0 ? (lacking + replicas - 1) / replicas : 0;
        least = each > least ? each : least;
    }
    free(shards);
    return least;
}

static int64_t copies_of(const tsr_geometry *g, int64_t devices)
{
    const tsr_sharding *s = tsr_geometry_sharding(g);
    for (size_t i = 0; i < tsr_sharding_rank(s); i++) {
        const tsr_dim *dim = tsr_sharding_dim(s, i);
        devices /= tsr_axes_size(dim->axes, dim->num_axes);
    }
    return devices;
}

static void check_totals(fixture *f, const pair *p)
{
    tsr_plan_totals total;
    int64_t moved = 0;
    int64_t most = 0;
    for (int64_t i = 0; i < p->devices; i++) {
        const int64_t lacking =
            p->parts * volume(p, &p->after[i]) - common(p, &p->after[i], &p->before[i]);
        assert_int_equal(tsr_plan_bytes_received(p->plan, i), lacking);
        moved += lacking;
        most = lacking > most ? lacking : most;
    }
    assert_int_equal(tsr_plan_total(f->ctx, p->plan, &total), TSR_OK);
    assert_int_equal(total.moved, moved);
    assert_int_equal(plan_bytes_moved(p->plan), moved);
    assert_int_equal(total.most_received, most);
    if (p->parts == 1) {
        assert_int_equal(total.most_sent, least_sent(p, copies_of(p->dst, p->devices)));
    }
}

static void look_at_boxes(const tsr_geometry *g, int64_t devices, box *out)
{
    for (int64_t i = 0; i < devices; i++) {
        out[i] = (box){{0}, {0}};
        assert_true(tsr_geometry_box(g, i, out[i].start, out[i].size));
    }
}

/*
 * Extents whose product is at most MAX_ELEMENTS: multiples of the devices, or any. Some are then
 * made so large that elements cannot be listed.
 */
static void choose_shape(rng *r, pair *p)
{
    int64_t left = MAX_ELEMENTS;
    const int64_t times = rng_chance(r, 25) ? 1 + rng_below(r, 150) : 1;
    p->rank = (size_t)rng_below(r, RANK + 1);
    for (size_t i = 0; i < p->rank; i++) {
        static const int64_t some[] = {1, 2, 3, 7, 16, 60, 64, 127, 210, 256, 512};
        int64_t extent = some[rng_below(r, 11)];
        if (rng_chance(r, 30)) {
            extent = rng_below(r, 3 * p->devices);
        } else if (rng_chance(r, 50)) {
            extent = p->devices * (1 + rng_below(r, 3));
        }
        p->shape[i] = extent < left ? extent : left;
        left /= p->shape[i] > 0 ? p->shape[i] : 1;
        p->shape[i] *= times;
    }
}

/* Cuts one sharded dimension at random rows. */
static const tsr_sharding *cut_at_random(fixture *f, rng *r, const pair *p, const tsr_sharding *s)
{
    tsr_dim dims[RANK];
    tsr_ragged ragged = {.kind = TSR_RAGGED_DYNAMIC, .rows = 1, .alignment = 1};
    for (size_t i = 0; i < p->rank; i++) {
        dims[i] = *tsr_sharding_dim(s, i);
        if (ragged.sizes == NULL && dims[i].num_axes > 0) {
            const int64_t shards = tsr_axes_size(dims[i].axes, dims[i].num_axes);
            int64_t *sizes = tsr_arena_alloc(f->arena, (size_t)shards * sizeof *sizes);
            memset(sizes, 0, (size_t)shards * sizeof *sizes);
            int64_t left = p->shape[i];
            while (left > 0) {
                const int64_t rows = 1 + rng_below(r, 1 + 2 * p->shape[i] / shards);
                sizes[rng_below(r, shards)] += rows < left ? rows : left;
                left -= rows < left ? rows : left;
            }
            ragged.sizes = sizes;
            dims[i] = tsr_dim_closed(dims[i].axes, dims[i].num_axes);
            dims[i].ragged = &ragged;
        }
    }
    size_t count;
    const tsr_axis_ref *pending = tsr_sharding_unreduced(s, &count);
    const tsr_sharding_spec spec = {.mesh = tsr_sharding_mesh(s),
                                    .rank = p->rank,
                                    .dims = dims,
                                    .num_unreduced = count,
                                    .unreduced = pending,
                                    .reduction = tsr_sharding_reduction(s)};
    const tsr_sharding *out = NULL;
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE, &out),
                     TSR_OK);
    return out;
}

/* A mesh of 1 to 4 axes; of few devices also with their ids in any order. */
static const tsr_mesh *choose_mesh(fixture *f, rng *r, int64_t devices)
{
    const mesh_limits limits = {devices, rng_chance(r, 50), false};
    const tsr_mesh *mesh = random_mesh_of(f, r, devices, limits);
    if (devices > 4096 || !rng_chance(r, 15)) {
        return mesh;
    }
    int64_t *ids = tsr_arena_alloc(f->arena, (size_t)devices * sizeof *ids);
    const char *names[MAX_AXES];
    int64_t sizes[MAX_AXES];
    tsr_mesh_spec spec = {.name = "listed", .axis_names = names, .axis_sizes = sizes};
    for (int64_t i = 0; i < devices; i++) {
        const int64_t j = rng_below(r, i + 1);
        ids[i] = ids[j];
        ids[j] = i;
    }
    for (size_t i = 0; i < tsr_mesh_num_axes(mesh); i++) {
        names[i] = tsr_mesh_axis_name(mesh, i);
        sizes[i] = tsr_mesh_axis_size(mesh, i);
    }
    spec.num_axes = tsr_mesh_num_axes(mesh);
    spec.device_ids = ids;
    spec.num_device_ids = (size_t)devices;
    assert_int_equal(tsr_mesh_create(f->ctx, f->arena, &spec, &mesh), TSR_OK);
    return mesh;
}

static const tsr_sharding *choose_layout(fixture *f, rng *r, const pair *p, const tsr_mesh *mesh,
                                         bool pending)
{
    const sharding_limits limits = {rng_chance(r, 60), pending, false};
    const tsr_sharding *s = random_sharding(f, r, mesh, p->rank, p->shape, limits);
    return p->devices <= 4096 && rng_chance(r, 20) ? cut_at_random(f, r, p, s) : s;
}

static void choose_pair(fixture *f, rng *r, int64_t devices, pair *p)
{
    p->devices = devices;
    choose_shape(r, p);
    const bool pending = devices <= 4096 && rng_chance(r, 25);
    const tsr_mesh *mesh = choose_mesh(f, r, devices);
    const tsr_mesh *other = rng_chance(r, 60) ? mesh : choose_mesh(f, r, devices);
    const tsr_sharding *from = choose_layout(f, r, p, mesh, pending);
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(from, &count);
    p->parts = tsr_axes_size(axes, count);
    p->src = geometry_of(f, from, p->rank, p->shape);
    p->dst = geometry_of(f, choose_layout(f, r, p, other, false), p->rank, p->shape);
    const tsr_step_spec one = {TSR_STEP_DIRECT, p->dst};
    assert_int_equal(tsr_plan_from_steps(f->ctx, f->arena, p->src, 1, &one, TSR_I8, &p->plan),
                     TSR_OK);
    look_at_boxes(p->src, devices, p->before);
    look_at_boxes(p->dst, devices, p->after);
    const plan_exchange *x = &p->plan->steps[0].exchange;
    seen.pairs++;
    seen.counted += x->counted && x->replicas.size > 1;
    seen.listed += !x->counted && x->replicas.size > 1;
    seen.folds += p->parts > 1;
}

static void check_pairs(fixture *f, const char *name, int64_t devices, int64_t cases)
{
    enum { SAMPLES = 4 };
    const rng base = rng_start(name);
    pair p = {.before = malloc(MAX_DEVICES * sizeof *p.before),
              .after = malloc(MAX_DEVICES * sizeof *p.after)};
    assert_non_null(p.before);
    assert_non_null(p.after);
    memset(&seen, 0, sizeof seen);
    for (int64_t i = 0; i < prop_cases(cases); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark kept = tsr_arena_get_mark(f->arena);
        choose_pair(f, &r, devices, &p);
        check_totals(f, &p);
        for (int k = 0; k < SAMPLES; k++) {
            check_device(f, &r, &p, rng_below(&r, devices));
        }
        tsr_arena_reset(f->arena, kept);
    }
    free(p.before);
    free(p.after);
    printf("%lld devices: %lld pairs (%lld lines counted, %lld listed, %lld folds), %lld parts of "
           "%lld moves, %lld peers\n",
           (long long)devices, (long long)seen.pairs, (long long)seen.counted,
           (long long)seen.listed, (long long)seen.folds, (long long)seen.devices,
           (long long)seen.moves, (long long)seen.peers);
}

#define SCALE(name, devices, cases)                                                                \
    static void name(void **state)                                                                 \
    {                                                                                              \
        check_pairs(*state, #name, devices, cases);                                                \
    }

/* Odd numbers, products of many primes and primes among them. */
SCALE(of_64, 64, 200)
SCALE(of_105, 3 * 5 * 7, 120)
SCALE(of_509, 509, 60)
SCALE(of_512, 512, 100)
SCALE(of_3465, 3 * 3 * 5 * 7 * 11, 40)
SCALE(of_4096, 4096, 40)
SCALE(of_8192, 8192, 30)
SCALE(of_45045, 3 * 3 * 5 * 7 * 11 * 13, 8)
SCALE(of_65521, 65521, 4)
SCALE(of_65536, 65536, 12)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(of_64),   TEST(of_105),  TEST(of_509),   TEST(of_512),   TEST(of_3465),
        TEST(of_4096), TEST(of_8192), TEST(of_45045), TEST(of_65521), TEST(of_65536),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
