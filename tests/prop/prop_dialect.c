/*
 * Dialects: what is written and read back places everything as before; what is read is placed as
 * the dialect's own rules say, worked out here a second time; no text, however broken, does harm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { NUM_DIALECTS = 4, MAX_TILES = 8, MAX_DEVICES = 64, MAX_PIECES = 512 };

/* One random case. */
typedef struct problem {
    const tsr_mesh *mesh;
    size_t rank;
    int64_t shape[MAX_DIMS];
    const tsr_sharding *sharding;
} problem;

static bool is_sharded(const tsr_sharding *sharding)
{
    for (size_t i = 0; i < tsr_sharding_rank(sharding); i++) {
        if (tsr_sharding_num_shards(sharding, i) > 1) {
            return true;
        }
    }
    return false;
}

/* Most are sharded somehow; some have all that a sharding can have, some little. */
static problem random_problem(fixture *f, rng *r)
{
    problem p = {0};
    const bool plain = rng_chance(r, 50);
    const sharding_limits limits = {rng_chance(r, 50), !plain, !plain && rng_chance(r, 50)};
    do {
        p.mesh = random_mesh(f, r, (mesh_limits){24, true, true});
        p.rank = random_shape(r, p.shape);
        p.sharding = random_sharding(f, r, p.mesh, p.rank, p.shape, limits);
    } while (!is_sharded(p.sharding) && rng_chance(r, 80));
    if (!plain && rng_chance(r, 50)) {
        assert_int_equal(tsr_sharding_close(f->ctx, f->arena, p.sharding, &p.sharding), TSR_OK);
    }
    return p;
}

static tsr_status read_text(fixture *f, tsr_dialect dialect, const tsr_mesh *mesh, const problem *p,
                            const char *string, const tsr_sharding **out)
{
    const tsr_sharding_reader reader = {.mesh = mesh, .reading = TSR_READ_LENIENT, .rank = -1};
    tsr_text text = tsr_text_of(NULL, string);
    const tsr_status status =
        tsr_dialect_read(f->ctx, f->arena, dialect, &text, &reader, p->rank, p->shape, out);
    if (status == TSR_OK) {
        assert_int_equal(text.at, strlen(string));
    }
    return status;
}

/* Every device of the first has the same rows of each dimension in the second, and of no more. */
static bool same_rows(const tsr_geometry *a, const tsr_geometry *b, size_t rank)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(tsr_geometry_sharding(a));
    for (int64_t device = 0; device < tsr_mesh_num_devices(mesh); device++) {
        for (size_t i = 0; i < rank; i++) {
            tsr_interval x[MAX_PIECES];
            tsr_interval y[MAX_PIECES];
            const int64_t count = tsr_geometry_pieces(a, device, i, MAX_PIECES, x);
            assert_true(count >= 0 && count <= MAX_PIECES);
            if (tsr_geometry_pieces(b, device, i, MAX_PIECES, y) != count ||
                memcmp(x, y, (size_t)count * sizeof *x) != 0) {
                return false;
            }
        }
    }
    return true;
}

static void expect_same(fixture *f, const problem *p, const char *text, const tsr_sharding *again)
{
    const tsr_geometry *a = geometry_of(f, p->sharding, p->rank, p->shape);
    const tsr_geometry *b = geometry_of(f, again, p->rank, p->shape);
    bool same = false;
    assert_int_equal(tsr_geometry_same(f->ctx, a, b, &same), TSR_OK);
    if (!same || !same_rows(a, b, p->rank) || !same_by_enumeration(a, b, p->rank)) {
        fail_msg("%s on %s became %s and came back as %s", sharding_bare(f, p->sharding),
                 mesh_text(f, p->mesh), text, sharding_bare(f, again));
    }
}

/* What was not written was refused in so many words. */
static void expect_refusal(fixture *f, tsr_status status, const char *text)
{
    assert_int_equal(status, TSR_ERR_UNSUPPORTED);
    assert_null(text);
    const tsr_diagnostic *error = tsr_context_diagnostics(f->ctx);
    assert_non_null(error);
    assert_null(error->next);
    assert_non_null(strstr(error->text, "cannot be expressed in "));
}

/* HLO text also stands alone; but {replicated} and {unreduced} do not say how many devices. */
static void check_alone(fixture *f, const problem *p, const char *text)
{
    const tsr_sharding *alone = NULL;
    if (strncmp(text, "{devices", 8) == 0) {
        assert_int_equal(read_text(f, TSR_DIALECT_HLO, NULL, p, text, &alone), TSR_OK);
        expect_same(f, p, text, alone);
    }
}

/* Returns whether the dialect could express it. */
static bool round_trip(fixture *f, tsr_dialect dialect, const problem *p)
{
    const char *text = NULL;
    const tsr_status status =
        tsr_dialect_write(f->ctx, f->arena, dialect, p->sharding, p->shape, &text);
    if (status != TSR_OK) {
        expect_refusal(f, status, text);
        return false;
    }
    const tsr_text source = tsr_text_of(NULL, text);
    if (strcmp(text, "[]") != 0) {
        assert_int_equal(tsr_dialect_guess(&source), dialect);
    }
    const tsr_sharding *again = NULL;
    if (read_text(f, dialect, p->mesh, p, text, &again) != TSR_OK) {
        fail_msg("%s on %s became %s: %s", sharding_bare(f, p->sharding), mesh_text(f, p->mesh),
                 text, tsr_context_diagnostics(f->ctx)->text);
    }
    expect_same(f, p, text, again);
    if (dialect == TSR_DIALECT_SDY || dialect == TSR_DIALECT_JAX) {
        assert_string_equal(sharding_bare(f, again), sharding_bare(f, p->sharding));
    }
    if (dialect == TSR_DIALECT_HLO) {
        check_alone(f, p, text);
    }
    const char *second = NULL;
    assert_int_equal(tsr_dialect_write(f->ctx, f->arena, dialect, again, p->shape, &second),
                     TSR_OK);
    assert_string_equal(second, text);
    return true;
}

static void dialects_round_trip(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("dialects_round_trip");
    int64_t expressed[NUM_DIALECTS] = {0};
    for (int64_t i = 0; i < prop_cases(5000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        const problem p = random_problem(f, &r);
        for (int d = 0; d < NUM_DIALECTS; d++) {
            tsr_context_clear(f->ctx);
            expressed[d] += round_trip(f, (tsr_dialect)d, &p);
        }
        tsr_context_clear(f->ctx);
        tsr_arena_reset(f->arena, mark);
    }
    for (int d = 0; d < NUM_DIALECTS; d++) {
        printf("%s %lld, ", tsr_dialect_name((tsr_dialect)d), (long long)expressed[d]);
        assert_true(expressed[d] > prop_cases(500));
    }
    printf("of %lld\n", (long long)prop_cases(5000));
}

/* What a device has of a dimension after DTensor has cut it once for each axis that shards it. */
static tsr_interval cut_by_axes(const tsr_mesh *mesh, const int64_t *coordinates,
                                const int64_t *placed, int64_t dim, int64_t extent)
{
    tsr_interval rows = {0, extent};
    for (size_t i = 0; i < tsr_mesh_num_axes(mesh); i++) {
        if (placed[i] != dim) {
            continue;
        }
        const int64_t size = tsr_mesh_axis_size(mesh, i);
        const int64_t chunk = (rows.size + size - 1) / size;
        const int64_t skipped =
            coordinates[i] * chunk < rows.size ? coordinates[i] * chunk : rows.size;
        const int64_t left = rows.size - skipped;
        rows = (tsr_interval){rows.start + skipped, left < chunk ? left : chunk};
    }
    return rows;
}

static void check_cuts(fixture *f, const problem *p, const int64_t *placed, const char *text)
{
    const tsr_geometry *g = geometry_of(f, p->sharding, p->rank, p->shape);
    for (int64_t device = 0; device < tsr_mesh_num_devices(p->mesh); device++) {
        int64_t coordinates[MAX_AXES];
        int64_t start[MAX_DIMS];
        int64_t size[MAX_DIMS];
        assert_true(tsr_mesh_coordinates(p->mesh, device, coordinates));
        assert_true(tsr_geometry_box(g, device, start, size));
        for (size_t i = 0; i < p->rank; i++) {
            const tsr_interval rows =
                cut_by_axes(p->mesh, coordinates, placed, (int64_t)i, p->shape[i]);
            if (size[i] != rows.size || (rows.size > 0 && start[i] != rows.start)) {
                fail_msg("%s on %s: device %lld has %lld+%lld of dim %zu", text,
                         mesh_text(f, p->mesh), (long long)device, (long long)start[i],
                         (long long)size[i], i);
            }
        }
    }
}

/* Random placements; `placed` is the dimension of each axis, -1 for none. */
static void random_placements(rng *r, const problem *p, int64_t *placed, char *text, size_t room)
{
    size_t at = (size_t)snprintf(text, room, "[");
    for (size_t i = 0; i < tsr_mesh_num_axes(p->mesh); i++) {
        placed[i] = p->rank > 0 && rng_chance(r, 80) ? rng_below(r, (int64_t)p->rank) : -1;
        const int64_t said = placed[i] - (rng_chance(r, 30) ? (int64_t)p->rank : 0);
        at += (size_t)(placed[i] >= 0
                           ? snprintf(text + at, room - at, "Shard(%lld), ", (long long)said)
                           : snprintf(text + at, room - at, "Replicate(), "));
    }
    (void)snprintf(text + at, room - at, "]");
}

static void dtensor_cuts_once_for_each_axis(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("dtensor_cuts_once_for_each_axis");
    int64_t dynamic = 0;
    int64_t even = 0;
    for (int64_t i = 0; i < prop_cases(4000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        int64_t placed[MAX_AXES] = {0};
        char text[256];
        problem p = {0};
        p.mesh = random_mesh(f, &r, (mesh_limits){64, true, true});
        p.rank = random_shape(&r, p.shape);
        for (size_t j = 0; j < p.rank; j++) {
            p.shape[j] = rng_chance(&r, 30) ? rng_below(&r, 100) : p.shape[j];
        }
        random_placements(&r, &p, placed, text, sizeof text);
        assert_int_equal(read_text(f, TSR_DIALECT_DTENSOR, p.mesh, &p, text, &p.sharding), TSR_OK);
        check_cuts(f, &p, placed, text);
        assert_true(round_trip(f, TSR_DIALECT_DTENSOR, &p));
        for (size_t j = 0; j < p.rank; j++) {
            const tsr_dim *dim = tsr_sharding_dim(p.sharding, j);
            dynamic += dim->ragged != NULL;
            even += dim->ragged == NULL && dim->num_axes > 1;
        }
        tsr_arena_reset(f->arena, mark);
    }
    printf("dynamic %lld, even %lld\n", (long long)dynamic, (long long)even);
    assert_true(dynamic > prop_cases(200) && even > prop_cases(200));
}

/* A tile assignment: its sizes, how many of them are the tensor's, and the devices in order. */
typedef struct tiles {
    int64_t sizes[MAX_TILES];
    size_t count;
    size_t rank;
    int64_t ids[MAX_DEVICES];
    int64_t num_devices;
} tiles;

/* iota(n).reshape(dims).transpose(perm), element by element. */
static void fill_iota(tiles *t, const int64_t *dims, const int64_t *perm, size_t count)
{
    for (int64_t place = 0; place < t->num_devices; place++) {
        int64_t index[MAX_TILES];
        int64_t rest = place;
        for (size_t i = count; i-- > 0;) {
            index[perm[i]] = rest % dims[perm[i]];
            rest /= dims[perm[i]];
        }
        t->ids[place] = 0;
        for (size_t i = 0; i < count; i++) {
            t->ids[place] = t->ids[place] * dims[i] + index[i];
        }
    }
}

static size_t print_numbers(char *text, size_t room, const int64_t *values, size_t count,
                            const char *separator)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        at += (size_t)snprintf(text + at, room - at, "%s%lld", i > 0 ? separator : "",
                               (long long)values[i]);
    }
    return at;
}

/* The same devices as an iota or as a list, with or without blanks. */
static size_t print_devices(rng *r, tiles *t, char *text, size_t room)
{
    static const int64_t primes[] = {2, 2, 3};
    const char *separator = rng_chance(r, 30) ? ", " : ",";
    int64_t dims[MAX_TILES];
    int64_t perm[MAX_TILES] = {0};
    size_t count = 0;
    int64_t left = t->num_devices;
    while (left > 1) {
        const int64_t factor = primes[rng_below(r, 3)];
        const bool join = count > 0 && rng_chance(r, 30);
        if (left % factor == 0 && (join || count < MAX_TILES)) {
            dims[join ? count - 1 : count] = join ? dims[count - 1] * factor : factor;
            count += !join;
            left /= factor;
        }
    }
    if (count == 0) {
        dims[count++] = 1;
    }
    for (size_t i = 1; i < count; i++) {
        const size_t j = (size_t)rng_below(r, (int64_t)i + 1);
        perm[i] = perm[j];
        perm[j] = (int64_t)i;
    }
    fill_iota(t, dims, perm, count);
    if (rng_chance(r, 40)) {
        return print_numbers(text, room, t->ids, (size_t)t->num_devices, separator);
    }
    size_t at = (size_t)snprintf(text, room, "<=[");
    at += print_numbers(text + at, room - at, dims, count, separator);
    at += (size_t)snprintf(text + at, room - at, "]T(");
    at += print_numbers(text + at, room - at, perm, count, separator);
    return at + (size_t)snprintf(text + at, room - at, ")");
}

static void random_tiles(rng *r, tiles *t, char *text, size_t room)
{
    static const int64_t sizes[] = {1, 1, 2, 2, 3, 4, 6};
    t->rank = (size_t)rng_below(r, MAX_DIMS);
    const bool replicated = t->rank == 0 || rng_chance(r, 50);
    t->count = t->rank + replicated;
    t->num_devices = 1;
    for (size_t i = 0; i < t->count; i++) {
        do {
            t->sizes[i] = sizes[rng_below(r, 7)];
        } while (t->num_devices * t->sizes[i] > MAX_DEVICES);
        t->num_devices *= t->sizes[i];
    }
    size_t at = (size_t)snprintf(text, room, "{devices=[");
    at += print_numbers(text + at, room - at, t->sizes, t->count, ",");
    at += (size_t)snprintf(text + at, room - at, "]");
    at += print_devices(r, t, text + at, room - at);
    (void)snprintf(text + at, room - at, "%s}", replicated ? " last_tile_dim_replicate" : "");
}

static void check_tiles(fixture *f, const problem *p, const tiles *t, const char *text)
{
    const tsr_geometry *g = geometry_of(f, p->sharding, p->rank, p->shape);
    for (int64_t place = 0; place < t->num_devices; place++) {
        int64_t start[MAX_DIMS];
        int64_t size[MAX_DIMS];
        int64_t rest = place;
        assert_true(tsr_geometry_box(g, t->ids[place], start, size));
        for (size_t i = t->count; i-- > 0; rest /= t->sizes[i]) {
            if (i >= t->rank) {
                continue;
            }
            const int64_t extent = p->shape[i];
            const int64_t chunk = (extent + t->sizes[i] - 1) / t->sizes[i];
            const int64_t first = rest % t->sizes[i] * chunk;
            const int64_t rows =
                first >= extent ? 0 : (first + chunk > extent ? extent - first : chunk);
            if (size[i] != rows || (rows > 0 && start[i] != first)) {
                fail_msg("%s: device %lld has %lld+%lld of dim %zu", text, (long long)t->ids[place],
                         (long long)start[i], (long long)size[i], i);
            }
        }
    }
}

static void hlo_tiles_hold_their_devices(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("hlo_tiles_hold_their_devices");
    int64_t expressed = 0;
    for (int64_t i = 0; i < prop_cases(4000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        char text[1024];
        tiles t = {0};
        problem p = {0};
        random_tiles(&r, &t, text, sizeof text);
        p.rank = t.rank;
        for (size_t j = 0; j < p.rank; j++) {
            p.shape[j] = rng_below(&r, 10);
        }
        assert_int_equal(read_text(f, TSR_DIALECT_HLO, NULL, &p, text, &p.sharding), TSR_OK);
        check_tiles(f, &p, &t, text);
        const tsr_mesh *view = random_view(f, &r, tsr_sharding_mesh(p.sharding));
        const tsr_status status = read_text(f, TSR_DIALECT_HLO, view, &p, text, &p.sharding);
        if (status == TSR_OK) {
            check_tiles(f, &p, &t, text);
            expressed++;
        } else {
            assert_int_equal(status, TSR_ERR_UNSUPPORTED);
            tsr_context_clear(f->ctx);
        }
        tsr_arena_reset(f->arena, mark);
    }
    printf("expressed on another view: %lld\n", (long long)expressed);
    assert_true(expressed > prop_cases(1000));
}

/* -- Strided shards, by following every row -- */

enum { STRIDED_AXES = 4, STRIDED_ROWS = 64 };

/* Placements of one dimension, one for each axis; a factor of 1 is a plain Shard. */
typedef struct strided {
    size_t axes;
    int64_t sizes[STRIDED_AXES];
    int64_t factors[STRIDED_AXES];
    int64_t extent;
    bool regular; /* an order of the axes gives these factors */
} strided;

/* Rows in the order in which a device has them. */
typedef struct row_set {
    int64_t rows[STRIDED_ROWS];
    int64_t count;
} row_set;

/* Part `index` of `count` as torch.chunk cuts rows: all of ceil(rows / count), but the last ones.
 */
static row_set chunk(const row_set *in, int64_t count, int64_t index)
{
    const int64_t size = (in->count + count - 1) / count;
    row_set out = {0};
    for (int64_t i = index * size; i < (index + 1) * size && i < in->count; i++) {
        out.rows[out.count++] = in->rows[i];
    }
    return out;
}

/* What one axis leaves of rows: of every one of `factor` blocks the part of the coordinate. */
static row_set place(const row_set *in, int64_t factor, int64_t size, int64_t coordinate)
{
    row_set out = {0};
    for (int64_t block = 0; block < factor; block++) {
        const row_set whole = chunk(in, factor, block);
        const row_set part = chunk(&whole, size, coordinate);
        memcpy(out.rows + out.count, part.rows, (size_t)part.count * sizeof *part.rows);
        out.count += part.count;
    }
    return out;
}

static row_set rows_of(const strided *s, int64_t device)
{
    row_set rows = {.count = s->extent};
    int64_t inner = 1;
    for (int64_t i = 0; i < s->extent; i++) {
        rows.rows[i] = i;
    }
    for (size_t i = 0; i < s->axes; i++) {
        inner *= s->sizes[i];
    }
    for (size_t i = 0; i < s->axes; i++) {
        inner /= s->sizes[i];
        rows = place(&rows, s->factors[i], s->sizes[i], device / inner % s->sizes[i]);
    }
    return rows;
}

/* Most factors come from an order of the axes, major to minor; others are any products. */
static strided random_strided(rng *r)
{
    strided s = {.axes = (size_t)rng_below(r, STRIDED_AXES) + 1,
                 .extent = rng_below(r, STRIDED_ROWS),
                 .regular = rng_chance(r, 80)};
    int64_t devices = 1;
    int64_t place[STRIDED_AXES];
    for (size_t i = 0; i < s.axes; i++) {
        s.sizes[i] = rng_below(r, 4) + 1;
        devices *= s.sizes[i];
        place[i] = rng_below(r, 1000);
    }
    for (size_t i = 0; i < s.axes; i++) {
        s.factors[i] = 1;
        for (size_t j = i + 1; j < s.axes; j++) {
            const bool major = s.regular ? place[j] < place[i] : rng_chance(r, 50);
            s.factors[i] *= major ? s.sizes[j] : 1;
        }
        s.factors[i] += !s.regular && rng_chance(r, 20);
    }
    s.extent = rng_chance(r, 30) ? s.extent / devices * devices : s.extent;
    return s;
}

static void strided_texts(const strided *s, char *mesh, char *text)
{
    *text++ = '[';
    for (size_t i = 0; i < s->axes; i++) {
        mesh += sprintf(mesh, "%sa%zu=%lld", i > 0 ? "," : "", i, (long long)s->sizes[i]);
        text += s->factors[i] == 1 ? sprintf(text, "%sShard(0)", i > 0 ? ", " : "")
                                   : sprintf(text, "%s_StridedShard(dim=0, sf=%lld)",
                                             i > 0 ? ", " : "", (long long)s->factors[i]);
    }
    (void)strcpy(text, "]");
}

static void expect_rows(fixture *f, const strided *s, const problem *p, const char *text)
{
    const tsr_geometry *geometry = geometry_of(f, p->sharding, 1, p->shape);
    for (int64_t device = 0; device < tsr_mesh_num_devices(p->mesh); device++) {
        const row_set rows = rows_of(s, device);
        int64_t start = 0;
        int64_t size = 0;
        tsr_geometry_box(geometry, device, &start, &size);
        if (size != rows.count || (size > 0 && start != rows.rows[0])) {
            fail_msg("%s of %lld rows on %s is %s: device %lld has %lld rows, not %lld", text,
                     (long long)s->extent, mesh_text(f, p->mesh), sharding_bare(f, p->sharding),
                     (long long)device, (long long)size, (long long)rows.count);
        }
    }
}

/* Rows are where torch has them, or the text is refused; what is read can be written. */
static void strided_shards_hold_the_rows_of_torch(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("strided_shards_hold_the_rows_of_torch");
    int64_t counts[3] = {0}; /* even, uneven, refused */
    for (int64_t i = 0; i < prop_cases(20000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        const strided s = random_strided(&r);
        char mesh[128];
        char text[256];
        problem p = {.rank = 1, .shape = {s.extent}};
        strided_texts(&s, mesh, text);
        assert_int_equal(tsr_mesh_parse(f->ctx, f->arena, mesh, &p.mesh), TSR_OK);
        const tsr_status status = read_text(f, TSR_DIALECT_DTENSOR, p.mesh, &p, text, &p.sharding);
        if (status == TSR_OK) {
            const tsr_dim *dim = tsr_sharding_dim(p.sharding, 0);
            const char *written = NULL;
            const tsr_sharding *again = NULL;
            expect_rows(f, &s, &p, text);
            counts[dim->ragged != NULL]++;
            bool parts = false;
            for (size_t j = 0; j < dim->num_axes; j++) {
                parts = parts || dim->axes[j].is_sub;
            }
            const tsr_status back = tsr_dialect_write(f->ctx, f->arena, TSR_DIALECT_DTENSOR,
                                                      p.sharding, p.shape, &written);
            assert_int_equal(back, parts ? TSR_ERR_UNSUPPORTED : TSR_OK);
            if (back == TSR_OK) {
                assert_int_equal(read_text(f, TSR_DIALECT_DTENSOR, p.mesh, &p, written, &again),
                                 TSR_OK);
                assert_true(tsr_sharding_equal(p.sharding, again));
            }
        } else {
            assert_int_equal(status, TSR_ERR_UNSUPPORTED);
            assert_true(!s.regular || s.extent % tsr_mesh_num_devices(p.mesh) != 0);
            counts[2]++;
        }
        tsr_context_clear(f->ctx);
        tsr_arena_reset(f->arena, mark);
    }
    printf("strided: %lld even, %lld with sizes, %lld refused\n", (long long)counts[0],
           (long long)counts[1], (long long)counts[2]);
    assert_true(counts[0] > counts[2]);
}

static const char *const seeds[] = {
    "P('x', None, ('y', 'z'), P.UNCONSTRAINED, unreduced={'w'})",
    "jax.sharding.PartitionSpec(\"x\", ('it\\'s',), unreduced=frozenset({'y'}))",
    "[Shard(0), Replicate(), Partial('max')]",
    "(S(-1), R, P(sum), _StridedShard(0, split_factor=2))",
    "[DynamicShard(0, [3, 5]), DynamicShard(dim=1, sizes=[0, 1])]",
    ("[PartitionedShard(dim=0, num_partitions=2, counts=[[1, 2], [3, 4]], aligned=True, "
     "owner_start=[0, 1, 2], alignment=8), Replicate()]"),
    "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
    "{devices=[4,2]<=[2,4]T(1,0) last_tile_dims={unreduced, replicated} metadata={a=\"}\" b={c}}}",
    "{devices=[2,2]0,1,2,3}",
    "{maximal device=3}",
    "{{replicated}, {manual}}",
    "#sdy.sharding<@mesh, [{\"x\"}, {\"y\":(1)2, ?}p1], replicated={\"z\"}, unreduced=max{\"w\"}>",
    "[{\"x\"}:dynamic[3, 5], {\"y\"}:partitioned[[1, 2], [3, 4]](aligned, owners=[0, 1, 2])]",
    "%arg0: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}, {a = 1}",
    "#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {}]>, <@mesh, [{}, {?}]>]>",
    "NamedSharding(mesh=Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto)), spec=P('x'), memory_kind=a)",
    "((NamedSharding(Mesh(device_ids=array([[0, 1]]), axis_names=('x', 'y')), P('x')),), {})",
    "DTensor(..., device_mesh=DeviceMesh((x=2, y=4), stride: (4, 1)), placements=(Shard(dim=0), "
    "R))",
    "sharding={{devices=[2,1]<=[2]}, {replicated}}, metadata={op_name=\"a\"}",
    ("sdy.mesh @m = <[\"x\"=2]> {a = {b = [1, 2]}}\n"
     "%0:2 = a.b %c {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}]>]>} : (i1) -> "
     "tensor<8xf32>"),
    "mhlo.sharding = \"{devices=[2,1]<=[2]}\" : f32[8,5]{1,0}",
    "ShapeDtypeStruct(shape=(8, 5), dtype=dtype('float32'), "
    "sharding=SingleDeviceSharding(A(id=3)))",
};

/* A text with a few bytes changed, taken out, put in, or its end cut off. */
static size_t mutate(rng *r, char *text, size_t size, size_t room)
{
    static const char bytes[] = "{}[]()<>=,:'\"\\xyzTPSR0189- .#@\n\0";
    for (int64_t n = rng_below(r, 4); n > 0 && size > 0; n--) {
        const size_t at = (size_t)rng_below(r, (int64_t)size);
        const char byte = bytes[rng_below(r, (int64_t)sizeof bytes)];
        switch (rng_below(r, 5)) {
        case 0:
            text[at] = byte;
            break;
        case 1:
            memmove(text + at, text + at + 1, --size - at);
            break;
        case 2:
            if (size < room) {
                memmove(text + at + 1, text + at, size++ - at);
                text[at] = byte;
            }
            break;
        case 3:
            text[at] = text[rng_below(r, (int64_t)size)];
            break;
        default:
            size = rng_chance(r, 20) ? at : size;
        }
    }
    return size;
}

/* Reads it; what is read is written in every dialect, what is not has left a message. */
static bool survive(fixture *f, tsr_dialect dialect, const problem *p, const char *data,
                    size_t size, bool with_mesh, bool with_shape)
{
    tsr_text text = {.data = data, .size = size};
    const tsr_sharding_reader reader = {
        .mesh = with_mesh ? p->mesh : NULL, .reading = TSR_READ_LENIENT, .rank = -1};
    const tsr_sharding *sharding = NULL;
    const tsr_status status = tsr_dialect_read(f->ctx, f->arena, dialect, &text, &reader, p->rank,
                                               with_shape ? p->shape : NULL, &sharding);
    assert_true(text.at <= size);
    if (status != TSR_OK) {
        assert_null(sharding);
        assert_non_null(tsr_context_diagnostics(f->ctx));
        return false;
    }
    const bool fits = with_shape && tsr_sharding_rank(sharding) == p->rank;
    for (int d = 0; d < NUM_DIALECTS; d++) {
        const char *written = NULL;
        if (tsr_dialect_write(f->ctx, f->arena, (tsr_dialect)d, sharding, fits ? p->shape : NULL,
                              &written) == TSR_OK) {
            assert_non_null(written);
        }
    }
    return true;
}

/* The same text as something pasted: it reads, or an error says why not. */
static int64_t survive_pasted(fixture *f, const problem *p, const char *data, size_t size)
{
    tsr_text text = {.data = data, .size = size};
    const tsr_layout_reader reader = {
        .sharding = {.mesh = p->mesh, .reading = TSR_READ_LENIENT, .rank = -1}};
    const tsr_layout *list = NULL;
    size_t count = 0;
    tsr_context_clear(f->ctx);
    const tsr_status status = tsr_layouts_read(f->ctx, f->arena, &text, &reader, &list, &count);
    assert_int_equal(status == TSR_OK, tsr_context_diagnostics(f->ctx) == NULL);
    assert_int_equal(status == TSR_OK, count > 0);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(list[i].sharding);
    }
    return status == TSR_OK;
}

static void broken_text_does_no_harm(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("broken_text_does_no_harm");
    int64_t read = 0;
    int64_t pasted = 0;
    for (int64_t i = 0; i < prop_cases(20000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        const problem p = random_problem(f, &r);
        const char *seed = seeds[rng_below(&r, (int64_t)(sizeof seeds / sizeof seeds[0]))];
        const tsr_dialect dialect = (tsr_dialect)rng_below(&r, NUM_DIALECTS);
        const char *written = NULL;
        if (rng_chance(&r, 60) &&
            tsr_dialect_write(f->ctx, f->arena, dialect, p.sharding, p.shape, &written) == TSR_OK) {
            seed = written;
        }
        const size_t room = strlen(seed) + 8;
        char *copy = calloc(room, 1);
        assert_non_null(copy);
        memcpy(copy, seed, room - 8);
        const size_t size = mutate(&r, copy, room - 8, room);
        char *exact = malloc(size > 0 ? size : 1); /* so that reading past it is found */
        assert_non_null(exact);
        memcpy(exact, copy, size);
        tsr_context_clear(f->ctx);
        const tsr_text text = {.data = exact, .size = size};
        const tsr_dialect guessed = tsr_dialect_guess(&text);
        assert_null(tsr_context_diagnostics(f->ctx));
        const tsr_dialect chosen = rng_chance(&r, 90) ? guessed : dialect;
        const bool with_mesh = rng_chance(&r, 80);
        const bool with_shape = rng_chance(&r, 80);
        read += survive(f, chosen, &p, exact, size, with_mesh, with_shape);
        pasted += survive_pasted(f, &p, exact, size);
        free(exact);
        free(copy);
        tsr_context_clear(f->ctx);
        tsr_arena_reset(f->arena, mark);
    }
    printf("read all the same: %lld and as pasted %lld of %lld\n", (long long)read,
           (long long)pasted, (long long)prop_cases(20000));
    assert_true(read > prop_cases(1000) && pasted > prop_cases(1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(dialects_round_trip),          TEST(dtensor_cuts_once_for_each_axis),
        TEST(hlo_tiles_hold_their_devices), TEST(strided_shards_hold_the_rows_of_torch),
        TEST(broken_text_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
