#include "catalogue.h"

#include <stdio.h>
#include <string.h>

/*
 * Meshes over n devices. $n is their number; $a is the largest divisor of n with a * a <= n and $b
 * = n / a; $c and $d are the same of $b. So 8 devices are 2 x 4 and 2 x 2 x 2, and 7 are 1 x 7 and
 * 1 x 1 x 7. Quotes are single ones.
 */
typedef struct mesh_row {
    const char *name;
    const char *text;
} mesh_row;

static const mesh_row meshes[] = {
    {"line", "<['x'=$n]>"},
    {"back", "<['x'=$n], device_ids=[$reversed]>"},
    {"grid", "<['x'=$a, 'y'=$b]>"},
    {"tall", "<['x'=$b, 'y'=$a]>"},
    {"turned", "<['x'=$a, 'y'=$b], device_ids<=[$b, $a]T(1, 0)>"},
    {"mixed", "<['x'=$b, 'y'=$a], device_ids=[$shuffled]>"},
    {"cube", "<['x'=$a, 'y'=$c, 'z'=$d]>"},
    {"twisted", "<['x'=$a, 'y'=$c, 'z'=$d], device_ids<=[$d, $c, $a]T(2, 1, 0)>"},
    {"single", "<[], device_ids=[0]>"},
};

/* How the sizes of a `[?]` are made. */
typedef enum cut {
    NO_CUT,
    RAGGED, /* all different */
    HOLLOW, /* every third is empty */
    ALONE,  /* the last has everything */
    NESTED, /* ragged within the even chunks of the first axis */
    UNFAIR  /* ragged; the first shards own two partitions each, the others none */
} cut;

/* For which numbers of ranks a layout is there. */
typedef enum when {
    ALWAYS,
    QUARTERS, /* multiples of 4 */
    EIGHTHS,
    ONE
} when;

typedef struct layout_row {
    const char *mesh;
    const char *text;
    cut cut;
    when when;
} layout_row;

static const layout_row scalars[] = {
    {"line", "[]", NO_CUT, ALWAYS},
    {"line", "[], unreduced={'x'}", NO_CUT, ALWAYS},
    {"grid", "[], replicated={'x'}, unreduced={'y'}", NO_CUT, ALWAYS},
    {"mixed", "[], unreduced=max{'x'}", NO_CUT, ALWAYS},
    {"turned", "[]", NO_CUT, ALWAYS},
    {"single", "[]", NO_CUT, ONE},
};

/* 37 rows: uneven over everything. */
static const layout_row vectors[] = {
    {"line", "[{}]", NO_CUT, ALWAYS},
    {"line", "[{'x'}]", NO_CUT, ALWAYS},
    {"back", "[{'x'}]", NO_CUT, ALWAYS},
    {"line", "[{'x':(1)2}]", NO_CUT, QUARTERS},
    {"line", "[{'x':(2)2}]", NO_CUT, QUARTERS},
    {"line", "[{'x':(2)4}]", NO_CUT, EIGHTHS},
    {"line", "[{'x':(4)2, 'x':(1)2}]", NO_CUT, EIGHTHS},
    {"grid", "[{'x'}]", NO_CUT, ALWAYS},
    {"grid", "[{'y'}]", NO_CUT, ALWAYS},
    {"grid", "[{'y', 'x'}]", NO_CUT, ALWAYS},
    {"turned", "[{'x', 'y'}]", NO_CUT, ALWAYS},
    {"mixed", "[{'x'}]", NO_CUT, ALWAYS},
    {"cube", "[{'z', 'x'}]", NO_CUT, ALWAYS},
    {"line", "[{'x'}:dynamic[?]]", RAGGED, ALWAYS},
    {"line", "[{'x'}:dynamic[?]]", HOLLOW, ALWAYS},
    {"back", "[{'x'}:dynamic[?]]", ALONE, ALWAYS},
    {"grid", "[{'x', 'y'}:dynamic[?]]", NESTED, ALWAYS},
    {"line", "[{'x'}:partitioned[?](partitions=5)]", RAGGED, ALWAYS},
    {"mixed", "[{'x'}:partitioned[?](partitions=3)]", HOLLOW, ALWAYS},
    {"line", "[{'x'}:partitioned[?](aligned, partitions=11)]", RAGGED, ALWAYS},
    {"line", "[{'x'}:partitioned[?](aligned, partitions=3)]", HOLLOW, ALWAYS},
    {"back", "[{'x'}:partitioned[?](aligned, align=4, partitions=9)]", UNFAIR, ALWAYS},
    {"line", "[{}], unreduced={'x'}", NO_CUT, ALWAYS},
    {"grid", "[{'x'}], unreduced={'y'}", NO_CUT, ALWAYS},
    {"grid", "[{}], unreduced={'y'}", NO_CUT, ALWAYS},
    {"turned", "[{'y'}], unreduced=max{'x'}", NO_CUT, ALWAYS},
    {"cube", "[{'z'}], unreduced=min{'x', 'y'}", NO_CUT, ALWAYS},
    {"tall", "[{'y'}:dynamic[?]], unreduced=avg{'x'}", RAGGED, ALWAYS},
    {"line", "[{'x':(1)2}], unreduced=avg{'x':(2)2}", NO_CUT, QUARTERS},
    {"single", "[]", NO_CUT, ONE},
};

/* 5 rows: over more than 5 shards some are empty. */
static const layout_row few_rows[] = {
    {"line", "[{}]", NO_CUT, ALWAYS},
    {"line", "[{'x'}]", NO_CUT, ALWAYS},
    {"back", "[{'x'}]", NO_CUT, ALWAYS},
    {"grid", "[{'x'}]", NO_CUT, ALWAYS},
    {"grid", "[{'x', 'y'}]", NO_CUT, ALWAYS},
    {"turned", "[{'y'}]", NO_CUT, ALWAYS},
    {"line", "[{'x'}:dynamic[?]]", ALONE, ALWAYS},
    {"mixed", "[{'y', 'x'}:dynamic[?]]", HOLLOW, ALWAYS},
    {"line", "[{'x'}:partitioned[?](partitions=2)]", RAGGED, ALWAYS},
    {"line", "[{'x'}:partitioned[?](aligned, align=8, partitions=2)]", RAGGED, ALWAYS},
    {"line", "[{}], unreduced=max{'x'}", NO_CUT, ALWAYS},
    {"cube", "[{'y', 'z'}], unreduced={'x'}", NO_CUT, ALWAYS},
};

static const layout_row matrices[] = {
    {"line", "[{}, {}]", NO_CUT, ALWAYS},
    {"line", "[{'x'}, {}]", NO_CUT, ALWAYS},
    {"line", "[{}, {'x'}]", NO_CUT, ALWAYS},
    {"back", "[{}, {'x'}]", NO_CUT, ALWAYS},
    {"line", "[{'x':(1)2}, {'x':(2)2}]", NO_CUT, QUARTERS},
    {"line", "[{'x':(4)2}, {'x':(1)4}]", NO_CUT, EIGHTHS},
    {"line", "[{'x':(2)2}, {}]", NO_CUT, QUARTERS},
    {"grid", "[{'x'}, {'y'}]", NO_CUT, ALWAYS},
    {"grid", "[{'y'}, {'x'}]", NO_CUT, ALWAYS},
    {"grid", "[{'x'}, {}]", NO_CUT, ALWAYS},
    {"grid", "[{}, {'y', 'x'}]", NO_CUT, ALWAYS},
    {"turned", "[{'x'}, {'y'}]", NO_CUT, ALWAYS},
    {"mixed", "[{'y'}, {'x'}]", NO_CUT, ALWAYS},
    {"mixed", "[{}, {'y'}], replicated={'x'}", NO_CUT, ALWAYS},
    {"cube", "[{'x'}, {'z', 'y'}]", NO_CUT, ALWAYS},
    {"twisted", "[{'z'}, {'x'}]", NO_CUT, ALWAYS},
    {"line", "[{'x'}:dynamic[?], {}]", HOLLOW, ALWAYS},
    {"grid", "[{'x'}:dynamic[?], {'y'}:dynamic[?]]", RAGGED, ALWAYS},
    {"tall", "[{'y'}:partitioned[?](partitions=4), {'x'}]", RAGGED, ALWAYS},
    {"line", "[{}, {'x'}:partitioned[?](aligned, partitions=5)]", RAGGED, ALWAYS},
    {"line", "[{}, {}], unreduced={'x'}", NO_CUT, ALWAYS},
    {"grid", "[{'x'}, {}], unreduced={'y'}", NO_CUT, ALWAYS},
    {"grid", "[{}, {'x'}], unreduced={'y'}", NO_CUT, ALWAYS},
    {"cube", "[{}, {'z'}], unreduced=avg{'x', 'y'}", NO_CUT, ALWAYS},
    {"mixed", "[{'x'}, {}], unreduced=min{'y'}", NO_CUT, ALWAYS},
    {"twisted", "[{'y'}, {}], unreduced=prod{'x'}", NO_CUT, ALWAYS},
    {"single", "[]", NO_CUT, ONE},
};

/* Tokens by experts. */
static const layout_row tokens[] = {
    {"line", "[{}, {}]", NO_CUT, ALWAYS},
    {"line", "[{'x'}, {}]", NO_CUT, ALWAYS},
    {"line", "[{'x'}:partitioned[?](partitions=4), {}]", RAGGED, ALWAYS},
    {"line", "[{'x'}:partitioned[?](aligned, partitions=4), {}]", RAGGED, ALWAYS},
    {"line", "[{'x'}:partitioned[?](aligned, align=8, partitions=4), {}]", RAGGED, ALWAYS},
    {"line", "[{'x'}:partitioned[?](aligned, partitions=4), {}]", UNFAIR, ALWAYS},
    {"line", "[{'x'}:partitioned[?](partitions=13), {}]", HOLLOW, ALWAYS},
    {"line", "[{'x'}:partitioned[?](aligned, align=4, partitions=13), {}]", HOLLOW, ALWAYS},
    {"line", "[{'x'}:partitioned[?](partitions=1), {}]", ALONE, ALWAYS},
    {"grid", "[{'y'}:partitioned[?](partitions=6), {'x'}]", HOLLOW, ALWAYS},
    {"grid", "[{'y'}:partitioned[?](aligned, align=2, partitions=6), {'x'}]", RAGGED, ALWAYS},
    {"mixed", "[{'x', 'y'}:partitioned[?](aligned, partitions=7), {}]", RAGGED, ALWAYS},
    {"line", "[{'x'}:dynamic[?], {}]", HOLLOW, ALWAYS},
    {"line", "[{'x':(1)2}:partitioned[?](partitions=3), {}]", RAGGED, QUARTERS},
    {"grid", "[{'y'}:partitioned[?](partitions=5), {}], unreduced={'x'}", RAGGED, ALWAYS},
    {"grid", "[{'y'}:partitioned[?](aligned, align=4, partitions=5), {}], unreduced={'x'}", RAGGED,
     ALWAYS},
};

static const layout_row blocks[] = {
    {"line", "[{}, {}, {}]", NO_CUT, ALWAYS},
    {"line", "[{'x'}, {}, {}]", NO_CUT, ALWAYS},
    {"line", "[{}, {}, {'x'}]", NO_CUT, ALWAYS},
    {"line", "[{'x':(4)2}, {'x':(2)2}, {'x':(1)2}]", NO_CUT, EIGHTHS},
    {"line", "[{}, {'x':(1)2}, {'x':(2)2}]", NO_CUT, QUARTERS},
    {"grid", "[{'y'}, {}, {'x'}]", NO_CUT, ALWAYS},
    {"turned", "[{}, {'y'}, {'x'}]", NO_CUT, ALWAYS},
    {"cube", "[{'x'}, {'y'}, {'z'}]", NO_CUT, ALWAYS},
    {"cube", "[{'z'}, {'x', 'y'}, {}]", NO_CUT, ALWAYS},
    {"cube", "[{}, {'y'}, {}]", NO_CUT, ALWAYS},
    {"twisted", "[{'x'}, {'y'}, {'z'}]", NO_CUT, ALWAYS},
    {"mixed", "[{'y'}, {'x'}, {}]", NO_CUT, ALWAYS},
    {"cube", "[{'x'}, {'y'}:dynamic[?], {'z'}]", RAGGED, ALWAYS},
    {"grid", "[{}, {'x'}, {'y'}:partitioned[?](partitions=3)]", RAGGED, ALWAYS},
    {"tall", "[{'x'}:partitioned[?](aligned, align=4, partitions=5), {'y'}, {}]", HOLLOW, ALWAYS},
    {"cube", "[{'x'}, {}, {}], unreduced={'y', 'z'}", NO_CUT, ALWAYS},
    {"cube", "[{}, {'x'}, {}], unreduced={'y', 'z'}", NO_CUT, ALWAYS},
    {"twisted", "[{}, {}, {'z'}], unreduced=max{'x'}", NO_CUT, ALWAYS},
    {"grid", "[{'y'}, {}, {}], unreduced=avg{'x'}", NO_CUT, ALWAYS},
};

static const layout_row hyper_blocks[] = {
    {"line", "[{}, {}, {}, {}]", NO_CUT, ALWAYS},
    {"line", "[{}, {'x'}, {}, {}]", NO_CUT, ALWAYS},
    {"line", "[{'x':(1)2}, {}, {}, {'x':(2)2}]", NO_CUT, QUARTERS},
    {"grid", "[{}, {'x'}, {}, {'y'}]", NO_CUT, ALWAYS},
    {"grid", "[{'y', 'x'}, {}, {}, {}]", NO_CUT, ALWAYS},
    {"cube", "[{'z'}, {}, {'y'}, {'x'}]", NO_CUT, ALWAYS},
    {"cube", "[{}, {'x'}, {'z'}, {}]", NO_CUT, ALWAYS},
    {"twisted", "[{'x'}, {}, {'y'}, {'z'}]", NO_CUT, ALWAYS},
    {"mixed", "[{}, {}, {'x'}, {'y'}]", NO_CUT, ALWAYS},
    {"cube", "[{'x'}, {}, {'z'}:dynamic[?], {'y'}]", HOLLOW, ALWAYS},
    {"tall", "[{}, {'y'}, {}, {'x'}:partitioned[?](partitions=4)]", RAGGED, ALWAYS},
    {"grid", "[{'x'}, {}, {'y'}:partitioned[?](aligned, align=2, partitions=3), {}]", RAGGED,
     ALWAYS},
    {"cube", "[{}, {'z'}, {}, {'x'}], unreduced={'y'}", NO_CUT, ALWAYS},
    {"mixed", "[{}, {}, {'y'}, {}], unreduced=min{'x'}", NO_CUT, ALWAYS},
};

/* Nothing to move. */
static const layout_row empty_arrays[] = {
    {"line", "[{}, {}]", NO_CUT, ALWAYS},
    {"grid", "[{'x'}, {'y'}]", NO_CUT, ALWAYS},
    {"line", "[{'x'}:dynamic[?], {}]", RAGGED, ALWAYS},
    {"line", "[{}, {}], unreduced={'x'}", NO_CUT, ALWAYS},
};

typedef struct family_row {
    const char *name;
    size_t rank;
    int64_t shape[MAX_DIMS];
    const layout_row *layouts;
    size_t count;
} family_row;

#define LAYOUTS(table) table, sizeof(table) / sizeof(table)[0]

static const family_row family_rows[] = {
    {"a scalar", 0, {0}, LAYOUTS(scalars)},
    {"37", 1, {37}, LAYOUTS(vectors)},
    {"5", 1, {5}, LAYOUTS(few_rows)},
    {"12 x 10", 2, {12, 10}, LAYOUTS(matrices)},
    {"40 x 3", 2, {40, 3}, LAYOUTS(tokens)},
    {"6 x 5 x 8", 3, {6, 5, 8}, LAYOUTS(blocks)},
    {"4 x 3 x 5 x 6", 4, {4, 3, 5, 6}, LAYOUTS(hyper_blocks)},
    {"0 x 6", 2, {0, 6}, LAYOUTS(empty_arrays)},
};

/* The largest divisor of n that is no larger than what it leaves. */
static int64_t smaller_half(int64_t n)
{
    int64_t best = 1;
    for (int64_t i = 1; i * i <= n; i++) {
        best = n % i == 0 ? i : best;
    }
    return best;
}

enum { TEXT = 512 };

/* Text that is written piece by piece. */
typedef struct writer {
    char text[TEXT];
    size_t used;
} writer;

static void write_number(writer *w, int64_t number)
{
    w->used += (size_t)snprintf(w->text + w->used, TEXT - w->used, "%lld", (long long)number);
    assert_true(w->used < TEXT);
}

/* All device ids: n-1, n-2, .. or in an order without a pattern, always the same. */
static void write_ids(writer *w, int64_t n, bool reversed)
{
    int64_t ids[64];
    rng r = {(uint64_t)n};
    assert_true(n <= 64);
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = reversed ? 0 : rng_below(&r, i + 1);
        memmove(ids + j + 1, ids + j, (size_t)(i - j) * sizeof *ids);
        ids[j] = i;
    }
    for (int64_t i = 0; i < n; i++) {
        if (i > 0) {
            w->text[w->used++] = ',';
        }
        write_number(w, ids[i]);
    }
}

/* Writes what replaces a $ and the word after it; returns the length of the word. */
static size_t write_variable(writer *w, const char *word, int64_t n)
{
    const int64_t a = smaller_half(n);
    const int64_t c = smaller_half(n / a);
    const struct {
        char name;
        int64_t value;
    } values[] = {{'n', n}, {'a', a}, {'b', n / a}, {'c', c}, {'d', n / a / c}};
    if (strncmp(word, "reversed", 8) == 0) {
        write_ids(w, n, true);
        return 8;
    }
    if (strncmp(word, "shuffled", 8) == 0) {
        write_ids(w, n, false);
        return 8;
    }
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (values[i].name == *word) {
            write_number(w, values[i].value);
            return 1;
        }
    }
    fail_msg("no variable at $%s", word);
    return 0;
}

/* A text of the tables as the library reads it. */
static void expand(const char *row, int64_t n, writer *w)
{
    *w = (writer){.used = 0};
    for (const char *at = row; *at != '\0'; at++) {
        if (*at == '$') {
            at += write_variable(w, at + 1, n);
        } else {
            w->text[w->used++] = *at;
            w->text[w->used - 1] = *at == '\'' ? '"' : *at;
        }
        assert_true(w->used < TEXT);
    }
    w->text[w->used] = '\0';
}

static const tsr_mesh *mesh_named(fixture *f, const char *name, int64_t n)
{
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++) {
        if (strcmp(meshes[i].name, name) == 0) {
            writer w;
            expand(meshes[i].text, n, &w);
            return mesh_of(f, w.text);
        }
    }
    fail_msg("no mesh is named %s", name);
    return NULL;
}

static int64_t weight(cut how, int64_t i, int64_t count)
{
    switch (how) {
    case HOLLOW:
        return i % 3 == 1 ? 0 : 1 + i % 4;
    case ALONE:
        return i + 1 == count ? 1 : 0;
    default:
        return 1 + (5 * i + 2) % 7;
    }
}

/* `count` sizes that sum to the extent. */
static void cut_up(cut how, int64_t extent, int64_t count, int64_t *sizes)
{
    int64_t total = 0;
    int64_t before = 0;
    for (int64_t i = 0; i < count; i++) {
        total += weight(how, i, count);
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t after = before + weight(how, i, count);
        sizes[i] = extent * after / total - extent * before / total;
        before = after;
    }
}

static int64_t *numbers(fixture *f, int64_t count)
{
    int64_t *array = tsr_arena_alloc(f->arena, (size_t)count * sizeof *array);
    assert_non_null(array);
    return array;
}

/* Sizes within the even chunks of the first axis. */
static void cut_nested(int64_t extent, int64_t outer, int64_t inner, int64_t *sizes)
{
    const int64_t chunk = (extent + outer - 1) / outer;
    for (int64_t i = 0; i < outer; i++) {
        const int64_t left = extent - i * chunk;
        cut_up(RAGGED, left < 0 ? 0 : left < chunk ? left : chunk, inner, sizes + i * inner);
    }
}

static tsr_ragged cut_dynamic(fixture *f, cut how, const tsr_dim *dim, int64_t extent)
{
    const int64_t shards = tsr_axes_size(dim->axes, dim->num_axes);
    const int64_t outer = how == NESTED ? tsr_axes_size(dim->axes, 1) : 1;
    int64_t *sizes = numbers(f, shards);
    if (how == NESTED) {
        cut_nested(extent, outer, shards / outer, sizes);
    } else {
        cut_up(how, extent, shards, sizes);
    }
    return (tsr_ragged){.kind = TSR_RAGGED_DYNAMIC, .rows = outer, .sizes = sizes, .alignment = 1};
}

static tsr_ragged cut_partitioned(fixture *f, cut how, const tsr_dim *dim, int64_t extent)
{
    const int64_t shards = tsr_axes_size(dim->axes, dim->num_axes);
    const int64_t partitions = dim->ragged->partitions;
    int64_t *counts = numbers(f, shards * partitions);
    int64_t *owners = numbers(f, shards + 1);
    cut_up(how, extent, shards * partitions, counts);
    for (int64_t i = 0; i <= shards; i++) {
        owners[i] = i == shards || 2 * i > partitions ? partitions : 2 * i;
    }
    return (tsr_ragged){.kind = dim->ragged->kind,
                        .rows = 1,
                        .partitions = partitions,
                        .counts = counts,
                        .owner_start = how == UNFAIR ? owners : NULL,
                        .alignment = 1};
}

/* The sharding with all its sizes. */
static const tsr_sharding *bind_all(fixture *f, const tsr_sharding *sharding, cut how,
                                    const int64_t *shape)
{
    for (size_t i = 0; i < tsr_sharding_rank(sharding); i++) {
        const tsr_dim *dim = tsr_sharding_dim(sharding, i);
        if (dim->ragged == NULL) {
            continue;
        }
        const tsr_ragged ragged = dim->ragged->kind == TSR_RAGGED_DYNAMIC
                                      ? cut_dynamic(f, how, dim, shape[i])
                                      : cut_partitioned(f, how, dim, shape[i]);
        const tsr_sharding *bound = NULL;
        if (tsr_sharding_bind(f->ctx, f->arena, sharding, i, &ragged, &bound) != TSR_OK) {
            fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
        }
        sharding = bound;
    }
    return sharding;
}

static bool is_there(when w, int64_t ranks)
{
    static const int64_t multiples[] = {[ALWAYS] = 1, [QUARTERS] = 4, [EIGHTHS] = 8};
    return w == ONE ? ranks == 1 : ranks % multiples[w] == 0;
}

const tsr_sharding *catalogue_layout(fixture *f, int64_t ranks, const char *mesh, const char *text)
{
    writer w;
    expand(text, ranks, &w);
    return sharding_of(f, mesh_named(f, mesh, ranks), w.text);
}

static void fill_family(fixture *f, int64_t ranks, const family_row *row, family *out)
{
    *out = (family){.name = row->name, .rank = row->rank};
    memcpy(out->shape, row->shape, sizeof out->shape);
    for (size_t i = 0; i < row->count; i++) {
        const layout_row *layout = &row->layouts[i];
        if (is_there(layout->when, ranks)) {
            const tsr_sharding *s = catalogue_layout(f, ranks, layout->mesh, layout->text);
            assert_true(out->count < MAX_LAYOUTS);
            out->layouts[out->count++] = bind_all(f, s, layout->cut, row->shape);
        }
    }
}

void catalogue_fill(fixture *f, int64_t ranks, catalogue *out)
{
    *out = (catalogue){.num_families = sizeof family_rows / sizeof family_rows[0]};
    assert_true(out->num_families <= MAX_FAMILIES);
    for (size_t i = 0; i < out->num_families; i++) {
        fill_family(f, ranks, &family_rows[i], &out->families[i]);
        out->num_layouts += out->families[i].count;
    }
}

void check_catalogue(fixture *f, int64_t ranks, tsr_ranks kind, size_t sample)
{
    static catalogue c;
    catalogue_fill(f, ranks, &c);
    const size_t all = pairs_of(f, c.families, c.num_families, 0).count;
    pair_list pairs = pairs_of(f, c.families, c.num_families, sample);
    launch_pairs(f, ranks, kind, &pairs);
    printf("%lld ranks: %zu of %zu pairs of %zu layouts in %zu families\n", (long long)ranks,
           pairs.count, all, c.num_layouts, c.num_families);
    assert_true(ranks != 8 || c.num_layouts >= 60);
}
