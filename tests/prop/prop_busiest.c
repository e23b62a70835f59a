/*
 * The busiest device of a plan, which is found by the structure of two layouts, against a look at
 * every device: on small meshes by the rows that each one stores (slices.h) and by its moves, on
 * larger ones by the bytes of each device.
 */
#include <stdio.h>

#include "plan/busiest.h"
#include "slices.h"

enum { SMALL = 12, LARGE = 720 };

/* One step between two layouts, all devices together. */
typedef struct sample {
    size_t rank;
    int64_t shape[MAX_DIMS];
    int64_t devices;
    const tsr_sharding *from;
    const tsr_sharding *to;
    const tsr_plan *plan;
    int64_t parts;
    device_slice before[SMALL];
    device_slice after[SMALL];
} sample;

/* How much was seen. */
static struct {
    int64_t digits; /* steps with common digits */
    int64_t folds;
    int64_t replicas; /* folds whose parts have replicas */
    int64_t uneven;   /* steps in which some device receives less than another */
} seen;

static int64_t pending_size(const tsr_sharding *s)
{
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(s, &count);
    return tsr_axes_size(axes, count);
}

/* The same dimensions, with some of what is pending in `src` still so; or nothing. */
static const tsr_sharding *choose_to(fixture *f, rng *r, const sample *s, const tsr_mesh *mesh)
{
    const sharding_limits limits = {true, false, rng_chance(r, 20)};
    const tsr_sharding *to = random_sharding(f, r, mesh, s->rank, s->shape, limits);
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(s->from, &count);
    const tsr_sharding *rest = NULL;
    if (count == 0 || mesh != tsr_sharding_mesh(s->from) || !rng_chance(r, 40)) {
        return to;
    }
    if (tsr_sharding_remove_axes(f->ctx, f->arena, to, axes, 1, &rest) != TSR_OK) {
        tsr_context_clear(f->ctx);
        return to;
    }
    tsr_dim dims[MAX_DIMS];
    for (size_t i = 0; i < s->rank; i++) {
        dims[i] = *tsr_sharding_dim(rest, i);
    }
    const tsr_sharding_spec spec = {.mesh = mesh,
                                    .rank = s->rank,
                                    .dims = dims,
                                    .num_unreduced = 1,
                                    .unreduced = axes,
                                    .reduction = tsr_sharding_reduction(s->from)};
    if (tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE, &rest) != TSR_OK) {
        tsr_context_clear(f->ctx);
        return to;
    }
    return rest;
}

static void choose(fixture *f, rng *r, int64_t devices, sample *s)
{
    const mesh_limits limits = {devices, rng_chance(r, 60), devices <= SMALL && rng_chance(r, 20)};
    const tsr_mesh *mesh = random_mesh_of(f, r, devices, limits);
    const tsr_mesh *other = rng_chance(r, 60) ? mesh : random_mesh_of(f, r, devices, limits);
    s->rank = random_shape(r, s->shape);
    for (size_t i = 0; i < s->rank; i++) {
        s->shape[i] = rng_chance(r, 25) ? rng_below(r, 60) : s->shape[i];
    }
    s->devices = devices;
    const sharding_limits from = {true, rng_chance(r, 60), rng_chance(r, 20)};
    s->from = random_sharding(f, r, mesh, s->rank, s->shape, from);
    s->to = choose_to(f, r, s, other);
    s->parts = pending_size(s->from) / pending_size(s->to);
    const tsr_step_spec one = {TSR_STEP_DIRECT, geometry_of(f, s->to, s->rank, s->shape)};
    assert_int_equal(tsr_plan_from_steps(f->ctx, f->arena,
                                         geometry_of(f, s->from, s->rank, s->shape), 1, &one,
                                         TSR_I8, &s->plan),
                     TSR_OK);
    const plan_exchange *x = &s->plan->steps[0].exchange;
    seen.digits += x->lattice.exists;
    seen.folds += s->parts > 1;
    seen.replicas += s->parts > 1 && x->replicas.size > 1;
}

/* Whether two devices have the same part of the same shard before. */
static bool are_replicas(const sample *s, int64_t a, int64_t b)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(s->from);
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(s->from, &count);
    bool same = index_along(mesh, axes, count, a) == index_along(mesh, axes, count, b);
    for (size_t i = 0; i < s->rank; i++) {
        const tsr_dim *d = tsr_sharding_dim(s->from, i);
        same = same && index_along(mesh, d->axes, d->num_axes, a) ==
                           index_along(mesh, d->axes, d->num_axes, b);
    }
    return same;
}

static int64_t received_by(const sample *s, int64_t device)
{
    return s->parts * slice_elements(&s->after[device]) -
           slice_common(&s->after[device], &s->before[device]);
}

/* How many devices want each element of the tensor, over what stays pending with one of them. */
static int64_t wanted_by(const sample *s, int64_t device)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(s->to);
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(s->to, &count);
    const int64_t group = index_along(mesh, axes, count, device);
    int64_t elements = 0;
    for (int64_t i = 0; i < s->devices; i++) {
        elements += index_along(mesh, axes, count, i) == group
                        ? slice_common(&s->before[device], &s->after[i])
                        : 0;
    }
    return elements;
}

/*
 * What the busiest device sends: without a fold an even share of what the replicas of a shard lack
 * together, with one the moves of each device.
 */
static int64_t most_sent(fixture *f, const sample *s)
{
    int64_t most = 0;
    for (int64_t device = 0; device < s->devices; device++) {
        int64_t sent = 0;
        if (s->parts == 1) {
            int64_t replicas = 0;
            sent = wanted_by(s, device);
            for (int64_t i = 0; i < s->devices; i++) {
                const bool same = are_replicas(s, device, i);
                replicas += same;
                sent -= same ? slice_common(&s->before[i], &s->after[i]) : 0;
            }
            sent = replicas > 0 ? (sent + replicas - 1) / replicas : 0;
        } else {
            plan_part part;
            assert_int_equal(plan_part_create(f->ctx, f->arena, s->plan, device, PART_BOTH, &part),
                             TSR_OK);
            for (size_t i = 0; i < part.sends[0].count; i++) {
                const plan_move *move = &part.sends[0].list[i];
                sent += move->peer != device ? move->elements : 0;
            }
        }
        most = sent > most ? sent : most;
    }
    return most;
}

/* The shards before of which one device's rows of a dimension after are. */
static int64_t sources_in(const sample *s, size_t dim, int64_t device)
{
    const tsr_dim *d = tsr_sharding_dim(s->from, dim);
    const device_slice *after = &s->after[device];
    bool is_source[SMALL] = {false};
    int64_t sources = 0;
    for (int64_t i = 0; i < s->devices; i++) {
        const device_slice *before = &s->before[i];
        const int64_t shard = index_along(tsr_sharding_mesh(s->from), d->axes, d->num_axes, i);
        for (int64_t a = 0; a < after->count[dim]; a++) {
            for (int64_t b = 0; b < before->count[dim]; b++) {
                const int64_t row = after->rows[dim][a];
                is_source[shard] = is_source[shard] || (row >= 0 && row == before->rows[dim][b]);
            }
        }
    }
    for (int i = 0; i < SMALL; i++) {
        sources += is_source[i];
    }
    return sources;
}

static int64_t most_sources(const sample *s, bool digits)
{
    int64_t product = s->parts;
    bool all_hold = digits;
    for (size_t i = 0; i < s->rank; i++) {
        int64_t most = 0;
        for (int64_t device = 0; device < s->devices; device++) {
            const int64_t sources = sources_in(s, i, device);
            most = sources > most ? sources : most;
        }
        product *= most;
    }
    for (int64_t i = 0; i < s->devices; i++) {
        all_hold = all_hold && (slice_elements(&s->after[i]) == 0 ||
                                slice_common(&s->after[i], &s->before[i]) > 0);
    }
    return product > 0 && all_hold ? product - 1 : product;
}

static void check_small(fixture *f, sample *s)
{
    const plan_maker m = {f->ctx, f->arena, f->arena};
    const plan_exchange *x = &s->plan->steps[0].exchange;
    int64_t received = 0;
    int64_t least = INT64_MAX;
    int64_t found = -1;
    for (int64_t i = 0; i < s->devices; i++) {
        slice_of(s->from, s->rank, s->shape, i, &s->before[i]);
        slice_of(s->to, s->rank, s->shape, i, &s->after[i]);
    }
    for (int64_t i = 0; i < s->devices; i++) {
        const int64_t mine = received_by(s, i);
        received = mine > received ? mine : received;
        least = mine < least ? mine : least;
    }
    seen.uneven += least < received;
    assert_int_equal(busiest_received(&m, s->plan->steps, 1, &found), TSR_OK);
    assert_int_equal(found, received);
    assert_int_equal(busiest_sent(&m, s->plan->steps, 1, &found), TSR_OK);
    assert_int_equal(found, most_sent(f, s));
    assert_int_equal(busiest_sources(&m, x, &found), TSR_OK);
    assert_int_equal(found, most_sources(s, x->lattice.exists));
}

static void every_device_of_small_meshes(void **state)
{
    fixture *f = *state;
    static sample s;
    const rng base = rng_start("every_device_of_small_meshes");
    for (int64_t i = 0; i < prop_cases(12000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        choose(f, &r, 1 + i % SMALL, &s);
        check_small(f, &s);
        tsr_arena_reset(f->arena, mark);
    }
    printf("%lld with digits, %lld folds, %lld of replicas, %lld uneven\n", (long long)seen.digits,
           (long long)seen.folds, (long long)seen.replicas, (long long)seen.uneven);
    assert_true(seen.digits > 5000 && seen.folds > 1000 && seen.replicas > 100);
    assert_true(seen.uneven > 2000);
}

/* The most of all steps together, by the bytes of each device. */
static void check_large(fixture *f, const tsr_plan *plan, int64_t devices)
{
    tsr_plan_totals totals;
    int64_t received = 0;
    int64_t sent = 0;
    assert_int_equal(tsr_plan_total(f->ctx, plan, &totals), TSR_OK);
    for (int64_t i = 0; i < devices; i++) {
        const int64_t in = tsr_plan_bytes_received(plan, i);
        const int64_t out = tsr_plan_bytes_sent(plan, i);
        received = in > received ? in : received;
        sent = out > sent ? out : sent;
    }
    assert_int_equal(totals.most_received, received);
    assert_int_equal(totals.most_sent, sent);
}

static void bytes_of_larger_meshes(void **state)
{
    static const int64_t numbers[] = {60, 64, 96, 128, 210, 256, 360, LARGE};
    fixture *f = *state;
    static sample s;
    const rng base = rng_start("bytes_of_larger_meshes");
    for (int64_t i = 0; i < prop_heavy_cases(1200); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        const tsr_plan *plan = NULL;
        choose(f, &r, numbers[i % 8], &s);
        check_large(f, s.plan, s.devices);
        assert_int_equal(tsr_plan_create(f->ctx, f->arena, geometry_of(f, s.from, s.rank, s.shape),
                                         geometry_of(f, s.to, s.rank, s.shape), TSR_I8, &plan),
                         TSR_OK);
        check_large(f, plan, s.devices);
        tsr_arena_reset(f->arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_device_of_small_meshes),
        TEST(bytes_of_larger_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
