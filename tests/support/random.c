#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t scramble(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

rng rng_start(const char *test)
{
    const char *given = getenv("TSR_SEED");
    const uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : UINT64_C(20240607);
    printf("%s: TSR_SEED=%llu\n", test, (unsigned long long)seed);
    return (rng){scramble(seed)};
}

rng rng_case(const rng *r, uint64_t index)
{
    return (rng){scramble(r->state ^ scramble(index))};
}

int64_t rng_below(rng *r, int64_t n)
{
    r->state = scramble(r->state);
    return n > 0 ? (int64_t)(r->state % (uint64_t)n) : 0;
}

bool rng_chance(rng *r, int percent)
{
    return rng_below(r, 100) < percent;
}

int64_t prop_cases(int64_t cases)
{
    const char *scale = getenv("TSR_PROP_SCALE");
    return cases * (scale != NULL ? atoll(scale) : 1);
}

int64_t prop_heavy_cases(int64_t cases)
{
    return tests_are_sampled() ? (cases + 2) / 3 : prop_cases(cases);
}

static void shuffle(rng *r, int64_t *values, int64_t count)
{
    for (int64_t i = count - 1; i > 0; i--) {
        const int64_t j = rng_below(r, i + 1);
        const int64_t kept = values[i];
        values[i] = values[j];
        values[j] = kept;
    }
}

static const char *const axis_names[] = {"x", "y", "z", "w", "u", "v", "s", "t",
                                         "a", "b", "c", "d", "e", "f", "g", "h"};

/* A random factorisation of n into axis sizes, sometimes with a 1 in it. */
static size_t random_factors(rng *r, int64_t n, int64_t *factors, size_t most)
{
    size_t count = 0;
    while (n > 1 && count + 1 < most) {
        int64_t factor = 1 + rng_below(r, n);
        while (factor > 1 && n % factor != 0) {
            factor--;
        }
        factors[count++] = factor;
        n /= factor;
    }
    if (n > 1 || count == 0) {
        factors[count++] = n;
    }
    shuffle(r, factors, (int64_t)count);
    return count;
}

static const tsr_mesh *build(fixture *f, const tsr_mesh_spec *spec)
{
    const tsr_mesh *mesh = NULL;
    assert_int_equal(tsr_mesh_create(f->ctx, f->arena, spec, &mesh), TSR_OK);
    return mesh;
}

const tsr_mesh *random_mesh(fixture *f, rng *r, mesh_limits limits)
{
    static const int64_t counts[] = {1, 2, 3, 4, 6, 8, 9, 12, 16, 18, 24, 32, 36, 48, 64};
    int64_t n;
    do {
        n = counts[rng_below(r, (int64_t)(sizeof counts / sizeof counts[0]))];
    } while (n > limits.most_devices);
    return random_mesh_of(f, r, n, limits);
}

const tsr_mesh *random_mesh_of(fixture *f, rng *r, int64_t n, mesh_limits limits)
{
    int64_t sizes[MAX_AXES] = {0};
    int64_t ids[64] = {0};
    int64_t dims[6] = {0};
    int64_t perm[6] = {0};
    tsr_mesh_spec spec = {.name = "mesh", .axis_names = axis_names, .axis_sizes = sizes};
    spec.num_axes = random_factors(r, n, sizes, MAX_AXES);
    if (limits.arbitrary && rng_chance(r, 30)) {
        for (int64_t i = 0; i < n; i++) {
            ids[i] = i;
        }
        shuffle(r, ids, n);
        spec.device_ids = ids;
        spec.num_device_ids = (size_t)n;
    } else if (limits.permuted && rng_chance(r, 40)) {
        spec.num_iota_dims = random_factors(r, n, dims, 6);
        for (size_t i = 0; i < spec.num_iota_dims; i++) {
            perm[i] = (int64_t)i;
        }
        shuffle(r, perm, (int64_t)spec.num_iota_dims);
        spec.iota_dims = dims;
        spec.iota_perm = perm;
    }
    return build(f, &spec);
}

size_t random_shape(rng *r, int64_t *shape)
{
    static const int64_t extents[] = {0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 11, 12};
    const size_t rank = (size_t)rng_below(r, MAX_DIMS);
    for (size_t i = 0; i < rank; i++) {
        shape[i] = extents[rng_below(r, (int64_t)(sizeof extents / sizeof extents[0]))];
    }
    return rank;
}

enum { MAX_REFS = 32 };

/* The axes of a mesh in random order, some of them cut in two. */
static size_t random_refs(rng *r, const tsr_mesh *mesh, bool sub_axes, tsr_axis_ref *refs)
{
    size_t count = 0;
    for (size_t i = 0; i < tsr_mesh_num_axes(mesh); i++) {
        tsr_axis_ref rest = tsr_axis_full(mesh, i);
        tsr_axis_ref major;
        tsr_axis_ref minor;
        while (sub_axes && rng_chance(r, 50) &&
               tsr_axis_split(rest, 2 + rng_below(r, 3), &major, &minor)) {
            refs[count++] = major;
            rest = minor;
        }
        refs[count++] = rest;
    }
    for (size_t i = count - 1; i > 0; i--) {
        const size_t j = (size_t)rng_below(r, (int64_t)i + 1);
        const tsr_axis_ref kept = refs[i];
        refs[i] = refs[j];
        refs[j] = kept;
    }
    return count;
}

/* Random sizes that sum to an extent, zeros among them. */
static const int64_t *random_sizes(fixture *f, rng *r, int64_t extent, int64_t count)
{
    int64_t *sizes = tsr_arena_alloc(f->arena, (size_t)count * sizeof *sizes);
    memset(sizes, 0, (size_t)count * sizeof *sizes);
    const bool few = rng_chance(r, 50);
    for (int64_t row = 0; row < extent; row++) {
        sizes[rng_below(r, few ? (count + 1) / 2 : count)]++;
    }
    return sizes;
}

static const tsr_ragged *random_ragged(fixture *f, rng *r, int64_t extent, int64_t shards)
{
    tsr_ragged *ragged = tsr_arena_alloc(f->arena, sizeof *ragged);
    *ragged = (tsr_ragged){.kind = (tsr_ragged_kind)rng_below(r, 3), .rows = 1, .alignment = 1};
    if (ragged->kind == TSR_RAGGED_DYNAMIC) {
        ragged->sizes = random_sizes(f, r, extent, shards);
    } else {
        ragged->partitions = 1 + rng_below(r, 5);
        ragged->counts = random_sizes(f, r, extent, shards * ragged->partitions);
        ragged->alignment = rng_chance(r, 30) ? 8 : 1;
    }
    return ragged;
}

static bool usable(const tsr_sharding_spec *spec)
{
    for (size_t i = 0; i < spec->rank; i++) {
        if (spec->dims[i].ragged != NULL && spec->dims[i].num_axes == 0) {
            return false;
        }
    }
    return true;
}

const tsr_sharding *random_sharding(fixture *f, rng *r, const tsr_mesh *mesh, size_t rank,
                                    const int64_t *shape, sharding_limits limits)
{
    tsr_axis_ref pool[MAX_REFS];
    tsr_axis_ref lists[MAX_DIMS + 2][MAX_REFS];
    size_t counts[MAX_DIMS + 2] = {0};
    tsr_dim dims[MAX_DIMS];
    const size_t num_refs = random_refs(r, mesh, limits.sub_axes, pool);
    for (size_t i = 0; i < num_refs; i++) {
        const int64_t places = (int64_t)rank + 1 + (limits.lists ? 2 : 0);
        const size_t place = (size_t)rng_below(r, places);
        const bool listed = place > rank;
        const size_t list = listed ? MAX_DIMS + place - rank - 1 : place;
        if (place != rank) {
            lists[list][counts[list]++] = pool[i];
        }
    }
    for (size_t i = 0; i < rank; i++) {
        const int64_t shards = tsr_axes_size(lists[i], counts[i]);
        const bool laid = limits.ragged && counts[i] > 0 && rng_chance(r, 40);
        const bool open = limits.lists && !laid && rng_chance(r, 30);
        const bool priority = limits.lists && (open || counts[i] > 0) && rng_chance(r, 20);
        dims[i] = (tsr_dim){.axes = lists[i],
                            .num_axes = counts[i],
                            .open = open,
                            .priority = priority ? rng_below(r, 3) : TSR_NO_PRIORITY,
                            .ragged = laid ? random_ragged(f, r, shape[i], shards) : NULL};
    }
    const tsr_sharding_spec spec = {.mesh = mesh,
                                    .rank = rank,
                                    .dims = dims,
                                    .num_replicated = counts[MAX_DIMS],
                                    .replicated = lists[MAX_DIMS],
                                    .num_unreduced = counts[MAX_DIMS + 1],
                                    .unreduced = lists[MAX_DIMS + 1],
                                    .reduction = (tsr_reduction)rng_below(r, 5)};
    assert_true(usable(&spec));
    const tsr_sharding *sharding = NULL;
    const tsr_status status =
        tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE, &sharding);
    if (status != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
    return sharding;
}

const tsr_mesh *random_view(fixture *f, rng *r, const tsr_mesh *mesh)
{
    const int64_t n = tsr_mesh_num_devices(mesh);
    int64_t sizes[8] = {0};
    int64_t ids[64] = {0};
    for (int64_t i = 0; i < n; i++) {
        ids[i] = tsr_mesh_device_at(mesh, i);
    }
    const tsr_mesh_spec spec = {.name = "view",
                                .num_axes = random_factors(r, n, sizes, 8),
                                .axis_names = axis_names + 8,
                                .axis_sizes = sizes,
                                .num_device_ids = (size_t)n,
                                .device_ids = ids};
    return build(f, &spec);
}

/* Whether a device holds nothing. */
static bool holds_nothing(const int64_t *size, size_t rank)
{
    for (size_t i = 0; i < rank; i++) {
        if (size[i] == 0) {
            return true;
        }
    }
    return false;
}

static bool same_pieces(const tsr_geometry *a, const tsr_geometry *b, int64_t device, size_t dim)
{
    enum { MOST = 512 };
    tsr_interval x[MOST];
    tsr_interval y[MOST];
    const int64_t count = tsr_geometry_pieces(a, device, dim, MOST, x);
    assert_true(count <= MOST);
    return count == tsr_geometry_pieces(b, device, dim, MOST, y) &&
           memcmp(x, y, (size_t)count * sizeof *x) == 0;
}

/* The smallest device with which this one has a reduction pending. */
static int64_t pending_label(const tsr_geometry *g, int64_t device)
{
    const tsr_sharding *sharding = tsr_geometry_sharding(g);
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(sharding, &count);
    int64_t label = device;
    int64_t mine[64];
    int64_t theirs[64];
    assert_true(tsr_mesh_coordinates(mesh, device, mine));
    for (int64_t other = 0; other < tsr_mesh_num_devices(mesh); other++) {
        assert_true(tsr_mesh_coordinates(mesh, other, theirs));
        for (size_t i = 0; i < count; i++) {
            const int64_t post =
                tsr_mesh_axis_size(mesh, (size_t)axes[i].axis) / (axes[i].pre * axes[i].size);
            int64_t *theirs_on = &theirs[axes[i].axis];
            const int64_t mine_on = mine[axes[i].axis];
            *theirs_on += (mine_on / post % axes[i].size - *theirs_on / post % axes[i].size) * post;
        }
        const bool together = memcmp(mine, theirs, tsr_mesh_num_axes(mesh) * sizeof *mine) == 0;
        label = together && other < label ? other : label;
    }
    return label;
}

bool same_by_enumeration(const tsr_geometry *a, const tsr_geometry *b, size_t rank)
{
    const tsr_sharding *sharding_a = tsr_geometry_sharding(a);
    const tsr_sharding *sharding_b = tsr_geometry_sharding(b);
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding_a);
    size_t pending_a;
    size_t pending_b;
    const tsr_axis_ref *axes_a = tsr_sharding_unreduced(sharding_a, &pending_a);
    const tsr_axis_ref *axes_b = tsr_sharding_unreduced(sharding_b, &pending_b);
    const bool is_a = tsr_axes_size(axes_a, pending_a) > 1;
    const bool is_b = tsr_axes_size(axes_b, pending_b) > 1;
    for (size_t i = 0; i < rank; i++) {
        if (tsr_geometry_shape(a)[i] == 0) {
            return true;
        }
    }
    if (is_a != is_b ||
        (is_a && tsr_sharding_reduction(sharding_a) != tsr_sharding_reduction(sharding_b))) {
        return false;
    }
    for (int64_t device = 0; device < tsr_mesh_num_devices(mesh); device++) {
        int64_t start[MAX_DIMS];
        int64_t size_a[MAX_DIMS];
        int64_t size_b[MAX_DIMS];
        assert_true(tsr_geometry_box(a, device, start, size_a));
        assert_true(tsr_geometry_box(b, device, start, size_b));
        if (is_a && pending_label(a, device) != pending_label(b, device)) {
            return false;
        }
        if (holds_nothing(size_a, rank) && holds_nothing(size_b, rank)) {
            continue;
        }
        for (size_t i = 0; i < rank; i++) {
            if (!same_pieces(a, b, device, i)) {
                return false;
            }
        }
    }
    return true;
}

bool holds_row(const tsr_geometry *g, int64_t device, size_t dim, int64_t row)
{
    tsr_interval pieces[512];
    const int64_t count = tsr_geometry_pieces(g, device, dim, 512, pieces);
    for (int64_t i = 0; i < count; i++) {
        if (row >= pieces[i].start && row < pieces[i].start + pieces[i].size) {
            return true;
        }
    }
    return false;
}

const tsr_sharding *with_reduction(fixture *f, const tsr_sharding *s, bool settled,
                                   tsr_reduction reduction)
{
    tsr_dim dims[MAX_DIMS];
    size_t num_replicated;
    size_t num_unreduced;
    const tsr_axis_ref *replicated = tsr_sharding_replicated(s, &num_replicated);
    const tsr_axis_ref *unreduced = tsr_sharding_unreduced(s, &num_unreduced);
    for (size_t d = 0; d < tsr_sharding_rank(s); d++) {
        dims[d] = *tsr_sharding_dim(s, d);
    }
    num_unreduced = settled ? 0 : num_unreduced;
    const tsr_sharding_spec spec = {.mesh = tsr_sharding_mesh(s),
                                    .rank = tsr_sharding_rank(s),
                                    .dims = dims,
                                    .num_replicated = num_replicated,
                                    .replicated = replicated,
                                    .num_unreduced = num_unreduced,
                                    .unreduced = unreduced,
                                    .reduction = num_unreduced > 0 ? reduction : TSR_SUM};
    const tsr_sharding *out = NULL;
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE, &out),
                     TSR_OK);
    return out;
}
