/* DynamicShard and PartitionedShard as layouts: text, rules, binding, geometry. */
#include <string.h>

#include "support.h"

static void text_round_trips(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2, \"y\"=3]>");
    static const struct {
        const char *given;
        const char *printed;
    } cases[] = {
        {"[{\"y\"}:dynamic[3,0,5]]", "[{\"y\"}:dynamic[3, 0, 5]]"},
        {"[{\"x\",\"y\"}:dynamic[[1,1,0],[2,0,0]]p1]",
         "[{\"x\", \"y\"}:dynamic[[1, 1, 0], [2, 0, 0]]p1]"},
        {"[{\"x\"}:dynamic[?], {}]", "[{\"x\"}:dynamic[?], {}]"},
        {"[{\"x\"}:partitioned[[4,6,4,2],[2,4,8,2]]]",
         "[{\"x\"}:partitioned[[4, 6, 4, 2], [2, 4, 8, 2]]]"},
        {"[{\"x\"}:partitioned[[4,6],[2,4]](unaligned)]", "[{\"x\"}:partitioned[[4, 6], [2, 4]]]"},
        {"[{\"x\"}:partitioned[[4,6],[2,4]](align=8, aligned)]",
         "[{\"x\"}:partitioned[[4, 6], [2, 4]](aligned, align=8)]"},
        {"[{\"x\"}:partitioned[[4,6],[2,4]](aligned, owners=[0, 1, 2])]",
         "[{\"x\"}:partitioned[[4, 6], [2, 4]](aligned)]"},
        {"[{\"x\"}:partitioned[[4,6],[2,4]](aligned, owners=[0, 2, 2])]",
         "[{\"x\"}:partitioned[[4, 6], [2, 4]](aligned, owners=[0, 2, 2])]"},
        {"[{\"x\"}:partitioned[?](partitions=4, aligned)]",
         "[{\"x\"}:partitioned[?](aligned, partitions=4)]"},
        {"[{\"x\"}:partitioned[?]]", "[{\"x\"}:partitioned[?]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_sharding *s = sharding_of(f, mesh, cases[i].given);
        assert_string_equal(sharding_bare(f, s), cases[i].printed);
        assert_true(tsr_sharding_equal(s, sharding_of(f, mesh, cases[i].printed)));
    }
    assert_false(tsr_sharding_equal(sharding_of(f, mesh, "[{\"x\"}:dynamic[1, 2]]"),
                                    sharding_of(f, mesh, "[{\"x\"}:dynamic[2, 1]]")));
    assert_false(tsr_sharding_equal(sharding_of(f, mesh, "[{\"x\"}:dynamic[1, 2]]"),
                                    sharding_of(f, mesh, "[{\"x\"}]")));
}

static void every_rule_has_its_message(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2, \"y\"=3]>");
    static const struct {
        const char *given;
        const char *message;
    } cases[] = {
        {"[{\"y\"}:dynamic[3, 5]]",
         "dim 0: a dynamic dimension over 3 shards needs 3 sizes, got: 2"},
        {"[{}, {\"x\"}:dynamic[3, -1]]", "dim 1: explicit size 1 is negative: -1"},
        {"[{\"x\"}:dynamic[9223372036854775807, 1]]", "dim 0: its sizes sum to more than 2^63-1"},
        {"[{\"x\", \"y\"}:dynamic[[1, 1], [1, 1], [1, 1]]]",
         "dim 0: 3 rows of sizes, but no leading axes of the dimension multiply to that"},
        {"[{\"x\", \"y\"}:dynamic[[1, 1, 1], [1, 1]]]",
         "row 1 has 2 numbers, but the first row has 3"},
        {"[{}:dynamic[3]]", "dim 0 has explicit sizes but no axes to split it"},
        {"[{\"x\", ?}:dynamic[3, 1]]", "dim 0 has explicit sizes and is open"},
        {"[{\"x\"}:ragged[3, 1]]", "expected dynamic[...] or partitioned[...]"},
        {"[{\"x\"}:dynamic[]]", "expected integer value"},
        {"[{\"x\"}:partitioned[4, 6]]", "give one row of counts for each shard of the partitioned "
                                        "dimension, as in [[4, 6], [2, 4]]"},
        {"[{\"y\"}:partitioned[[4, 6], [2, 4]]]",
         "dim 0: counts of 2 partitions over 3 shards need 3 rows, got: 2"},
        {"[{\"x\"}:partitioned[[4, 6], [2, -4]]]", "dim 0: explicit size 3 is negative: -4"},
        {"[{\"x\"}:partitioned[[4, 6], [2, 4]](owners=[0, 2])]",
         "dim 0: owners of 2 shards are 3 numbers, got: 2"},
        {"[{\"x\"}:partitioned[[4, 6], [2, 4]](owners=[0, 2, 1])]",
         "dim 0: owners must not decrease, got: 1 after 2"},
        {"[{\"x\"}:partitioned[[4, 6], [2, 4]](owners=[0, 1, 3])]",
         "dim 0: owners must run from 0 to the number of partitions, 2, got: 0 to 3"},
        {"[{\"x\"}:partitioned[[4, 6], [2, 4]](align=0)]",
         "dim 0: align must be at least 1, got: 0"},
        {"[{\"x\"}:partitioned[?](partitions=-1)]",
         "dim 0: the number of partitions must be at least 1, got: -1"},
        {"[{\"x\"}:partitioned[[4], [2]](aligned, unaligned)]",
         "a partitioned dimension is aligned or unaligned: give one of them once"},
        {"[{\"x\"}:partitioned[[4], [2]](align=2, align=4)]", "this option is repeated"},
        {"[{\"x\"}:partitioned[?](partitions=0)]",
         "dim 0: the number of partitions must be at least 1, got: 0"},
        {"[{\"x\"}:partitioned[[4], [2]](sideways)]",
         "expected one of aligned, unaligned, owners=[...], align=N, or after partitioned[?] "
         "partitions=N"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_sharding *s = NULL;
        assert_true(tsr_sharding_parse(f->ctx, f->arena, mesh, cases[i].given, &s) < 0);
        assert_null(s);
        expect_error(f, cases[i].message);
    }
}

static void sums_are_checked_against_the_extent(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2, \"y\"=2]>");
    static const struct {
        const char *given;
        const char *message;
    } cases[] = {
        {"[{\"x\"}:dynamic[3, 5]]", "dim 0: its sizes sum to 8, the extent is 7"},
        {"[{\"x\"}:dynamic[?]]", "dim 0: its sizes are not bound yet"},
        {"[{\"x\"}:partitioned[[1], [2]]]", "dim 0: its counts sum to 3, the extent is 7"},
        {"[{\"x\", \"y\"}:dynamic[[3, 0], [2, 2]]]",
         "dim 0: row 0 of its sizes sums to 3, the outer shard has 4"},
    };
    const int64_t shape[] = {7};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_sharding *s = sharding_of(f, mesh, cases[i].given);
        const tsr_geometry *g = NULL;
        assert_int_equal(tsr_geometry_create(f->ctx, f->arena, s, 1, shape, &g), TSR_ERR_INVALID);
        assert_null(g);
        expect_error(f, cases[i].message);
    }
    (void)geometry_of(f, sharding_of(f, mesh, "[{\"x\", \"y\"}:dynamic[[4, 0], [1, 2]]]"), 1,
                      shape);
}

static void expect_box(const tsr_geometry *g, int64_t device, int64_t start, int64_t size)
{
    int64_t s;
    int64_t n;
    assert_true(tsr_geometry_box(g, device, &s, &n));
    assert_int_equal(s, start);
    assert_int_equal(n, size);
}

static void dynamic_boxes(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=4]>");
    const int64_t shape[] = {8};
    const tsr_geometry *g =
        geometry_of(f, sharding_of(f, mesh, "[{\"x\"}:dynamic[3, 0, 5, 0]]"), 1, shape);
    int64_t local;
    int64_t padded;
    expect_box(g, 0, 0, 3);
    expect_box(g, 1, 3, 0);
    expect_box(g, 2, 3, 5);
    expect_box(g, 3, 8, 0);
    tsr_geometry_local_shape(g, &local);
    tsr_geometry_padded_shape(g, &padded);
    assert_int_equal(local, 5);
    assert_int_equal(padded, 20);
    for (int64_t row = 0; row < 8; row++) {
        const tsr_devices *holders;
        assert_int_equal(tsr_geometry_holders(f->ctx, f->arena, g, &row, &holders), TSR_OK);
        assert_int_equal(tsr_devices_count(holders), 1);
        assert_int_equal(tsr_devices_at(holders, 0), row < 3 ? 0 : 2);
    }
}

/* The worked example of the placements page: S=2, N=4, C = [[4,6,4,2],[2,4,8,2]]. */
static void partitioned_worked_example(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2]>");
    const int64_t shape[] = {32};
    const tsr_geometry *u = geometry_of(
        f, sharding_of(f, mesh, "[{\"x\"}:partitioned[[4, 6, 4, 2], [2, 4, 8, 2]]]"), 1, shape);
    const tsr_geometry *a = geometry_of(
        f, sharding_of(f, mesh, "[{\"x\"}:partitioned[[4, 6, 4, 2], [2, 4, 8, 2]](aligned)]"), 1,
        shape);
    expect_box(a, 0, 0, 16);
    expect_box(a, 1, 16, 16);
    expect_box(u, 0, 0, 16);
    expect_box(u, 1, 4, 16);
    static const tsr_interval pieces[2][4] = {{{0, 4}, {6, 6}, {16, 4}, {28, 2}},
                                              {{4, 2}, {12, 4}, {20, 8}, {30, 2}}};
    for (int64_t device = 0; device < 2; device++) {
        tsr_interval found[4];
        assert_int_equal(tsr_geometry_pieces(u, device, 0, 4, found), 4);
        assert_memory_equal(found, pieces[device], sizeof found);
        assert_int_equal(tsr_geometry_pieces(a, device, 0, 4, found), 1);
    }
    const tsr_geometry *d =
        geometry_of(f, sharding_of(f, mesh, "[{\"x\"}:dynamic[16, 16]]"), 1, shape);
    const tsr_geometry *even = geometry_of(f, sharding_of(f, mesh, "[{\"x\"}]"), 1, shape);
    bool same = false;
    assert_int_equal(tsr_geometry_same(f->ctx, a, d, &same), TSR_OK);
    assert_true(same);
    assert_int_equal(tsr_geometry_same(f->ctx, even, d, &same), TSR_OK);
    assert_true(same);
    assert_int_equal(tsr_geometry_same(f->ctx, u, d, &same), TSR_OK);
    assert_false(same);
}

static void owners_default_to_an_even_share(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=4]>");
    const int64_t shape[] = {6};
    const tsr_geometry *g =
        geometry_of(f,
                    sharding_of(f, mesh,
                                "[{\"x\"}:partitioned[[1, 0, 1], [0, 2, 0], [1, 0, 0], [0, 0, 1]]"
                                "(aligned)]"),
                    1, shape);
    expect_box(g, 0, 0, 0);
    expect_box(g, 1, 0, 2);
    expect_box(g, 2, 2, 2);
    expect_box(g, 3, 4, 2);
}

static void neighbouring_pieces_are_joined(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2]>");
    const int64_t shape[] = {9};
    const tsr_geometry *g = geometry_of(
        f, sharding_of(f, mesh, "[{\"x\"}:partitioned[[2, 3, 0, 1], [0, 1, 2, 0]]]"), 1, shape);
    tsr_interval found[4];
    assert_int_equal(tsr_geometry_pieces(g, 0, 0, 4, found), 2);
    assert_int_equal(found[0].start, 0);
    assert_int_equal(found[0].size, 5);
    assert_int_equal(found[1].start, 8);
    assert_int_equal(tsr_geometry_pieces(g, 1, 0, 0, NULL), 1);
    assert_int_equal(tsr_geometry_pieces(g, 2, 0, 0, NULL), -1);
}

static void unbound_numbers_are_bound_later(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2]>");
    const tsr_sharding *open_ended = sharding_of(f, mesh, "[{\"x\"}:dynamic[?], {}]");
    const int64_t sizes[] = {3, 4};
    const int64_t wrong[] = {3, -4};
    tsr_ragged ragged = {.kind = TSR_RAGGED_DYNAMIC, .rows = 1, .sizes = sizes, .alignment = 1};
    const tsr_sharding *bound = NULL;
    assert_int_equal(tsr_sharding_bind(f->ctx, f->arena, open_ended, 0, &ragged, &bound), TSR_OK);
    assert_string_equal(sharding_bare(f, bound), "[{\"x\"}:dynamic[3, 4], {}]");
    assert_string_equal(sharding_bare(f, open_ended), "[{\"x\"}:dynamic[?], {}]");
    const tsr_sharding *again = NULL;
    assert_int_equal(tsr_sharding_bind(f->ctx, f->arena, bound, 0, &ragged, &again),
                     TSR_ERR_INVALID);
    expect_error(f, "dim 0 has no unbound sizes or counts of that kind");
    ragged.sizes = wrong;
    assert_int_equal(tsr_sharding_bind(f->ctx, f->arena, open_ended, 0, &ragged, &again),
                     TSR_ERR_INVALID);
    expect_error(f, "dim 0: explicit size 1 is negative: -4");
    const tsr_sharding *partitioned =
        sharding_of(f, mesh, "[{\"x\"}:partitioned[?](aligned, partitions=2, align=8)]");
    const int64_t counts[] = {1, 2, 3, 4};
    ragged = (tsr_ragged){
        .kind = TSR_RAGGED_ALIGNED, .rows = 1, .partitions = 2, .counts = counts, .alignment = 1};
    assert_int_equal(tsr_sharding_bind(f->ctx, f->arena, partitioned, 0, &ragged, &bound), TSR_OK);
    assert_string_equal(sharding_bare(f, bound),
                        "[{\"x\"}:partitioned[[1, 2], [3, 4]](aligned, align=8)]");
    ragged.partitions = 1;
    assert_int_equal(tsr_sharding_bind(f->ctx, f->arena, partitioned, 0, &ragged, &again),
                     TSR_ERR_INVALID);
    expect_error(f, "dim 0 must have 2 partitions, got: 1");
    assert_null(again);
}

/* A symbol stands for the numbers: equal symbols are equal numbers, others are not known to be. */
static void symbols_tell_unbound_numbers_apart(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2]>");
    static const char *const texts[] = {
        "[{\"x\"}:dynamic[?], {}]",
        "[{\"x\"}:dynamic[?rows], {}]",
        "[{\"x\"}:dynamic[?rest], {}]",
        "[{\"x\"}:partitioned[?], {}]",
        "[{\"x\"}:partitioned[?rows](aligned, partitions=3, align=8), {}]",
    };
    enum { COUNT = sizeof texts / sizeof texts[0] };
    const tsr_sharding *first[COUNT];
    const tsr_sharding *second[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        first[i] = sharding_of(f, mesh, texts[i]);
        second[i] = sharding_of(f, mesh, texts[i]);
        assert_string_equal(sharding_bare(f, first[i]), texts[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < COUNT; k++) {
            assert_int_equal(tsr_sharding_equal(first[i], second[k]), i == k);
            assert_int_equal(tsr_sharding_equivalent(first[i], second[k], false), i == k);
        }
    }
    const int64_t sizes[] = {3, 4};
    const tsr_ragged ragged = {
        .kind = TSR_RAGGED_DYNAMIC, .rows = 1, .sizes = sizes, .alignment = 1, .symbol = "rows"};
    const tsr_sharding *bound = NULL;
    assert_int_equal(tsr_sharding_bind(f->ctx, f->arena, first[1], 0, &ragged, &bound), TSR_OK);
    assert_string_equal(sharding_bare(f, bound), "[{\"x\"}:dynamic[3, 4], {}]");
    assert_null(tsr_sharding_dim(bound, 0)->ragged->symbol);
}

static void symbols_are_names(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2]>");
    const tsr_axis_ref axes[] = {tsr_axis_full(mesh, 0)};
    const tsr_ragged ragged = {
        .kind = TSR_RAGGED_DYNAMIC, .rows = 1, .alignment = 1, .symbol = "two words"};
    tsr_dim dim = tsr_dim_closed(axes, 1);
    dim.ragged = &ragged;
    const tsr_sharding_spec spec = {.mesh = mesh, .rank = 1, .dims = &dim};
    const tsr_sharding *out = NULL;
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, 0, &out), TSR_ERR_INVALID);
    expect_error(
        f,
        "dim 0: the symbol of unbound sizes must be a bare id, such as rows_2, got: 'two words'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(text_round_trips),
        TEST(every_rule_has_its_message),
        TEST(sums_are_checked_against_the_extent),
        TEST(dynamic_boxes),
        TEST(partitioned_worked_example),
        TEST(owners_default_to_an_even_share),
        TEST(neighbouring_pieces_are_joined),
        TEST(unbound_numbers_are_bound_later),
        TEST(symbols_tell_unbound_numbers_apart),
        TEST(symbols_are_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
