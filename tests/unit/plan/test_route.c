/* Routes by hand: hierarchy that is found, rules of memory, extents that do not divide, messages.
 */
#include <stdio.h>
#include <string.h>

#include "support.h"

#define GB INT64_C(1000000000)

/* A search between two layouts of f32. */
typedef struct request {
    const char *mesh;
    const char *from;
    const char *to;
    size_t rank;
    int64_t shape[3];
    const char *topology;
    tsr_route_options options;
} request;

static tsr_status find(fixture *f, const request *q, const tsr_route **out)
{
    const tsr_mesh *mesh = mesh_of(f, q->mesh);
    const tsr_geometry *src = geometry_of(f, sharding_of(f, mesh, q->from), q->rank, q->shape);
    const tsr_geometry *dst = geometry_of(f, sharding_of(f, mesh, q->to), q->rank, q->shape);
    tsr_route_options options = q->options;
    if (q->topology != NULL) {
        assert_int_equal(tsr_topology_find(f->ctx, f->arena, q->topology, &options.topology),
                         TSR_OK);
    }
    return tsr_route_find(f->ctx, f->arena, src, dst, TSR_F32, &options, out);
}

static const tsr_route *route_of(fixture *f, const request *q)
{
    const tsr_route *route = NULL;
    assert_int_equal(find(f, q, &route), TSR_OK);
    return route;
}

/* The steps as text: `all-gather [{}, {"y"}]; ..`. */
static const char *steps_of(const tsr_route *route)
{
    static char text[1024];
    text[0] = '\0';
    for (size_t i = 0; i < tsr_route_describe(route).num_steps; i++) {
        const tsr_route_step step = tsr_route_step_at(route, i);
        const size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%s%s %s", i > 0 ? "; " : "",
                       tsr_step_kind_name(step.kind), step.layout);
    }
    return text;
}

/* Two hosts of eight, bandwidths 1 and 10, no latency: the example of the cost model. */
static const tsr_topology *two_hosts(fixture *f)
{
    static const tsr_level levels[] = {{"net", 2, 0, GB}, {"host", 8, 0, 10 * GB}};
    const tsr_topology_spec spec = {.num_levels = 2,
                                    .levels = levels,
                                    .copy_bandwidth = 1000 * GB,
                                    .reduce_bandwidth = 1000 * GB};
    const tsr_topology *t = NULL;
    assert_int_equal(tsr_topology_create(f->ctx, f->arena, &spec, &t), TSR_OK);
    return t;
}

static void gathers_between_hosts_first(void **state)
{
    fixture *f = *state;
    const request both = {.mesh = "<[\"x\"=2, \"y\"=8]>",
                          .from = "[{\"x\", \"y\"}]",
                          .to = "[{}]",
                          .rank = 1,
                          .shape = {16000000},
                          .options = {.topology = two_hosts(f)}};
    const tsr_route *route = route_of(f, &both);
    const tsr_route_facts facts = tsr_route_describe(route);
    assert_string_equal(steps_of(route), "all-gather [{(\"x\"), \"y\"}]; all-gather [{}]");
    assert_null(tsr_route_step_at(route, 0).sharding);
    assert_int_equal(facts.bytes[0], 4000000);
    assert_int_equal(facts.bytes[1], 56000000);
    assert_int_equal(facts.collective, 32000000);
    /* n/16 between hosts, 7n/8 within, and the copy that restores the order. */
    assert_int_equal(facts.nanoseconds, 4000000 + 5600000 + 64000);
    assert_true(facts.proven && facts.gap == 0);
    request one = both;
    one.mesh = "<[\"x\"=16]>";
    one.from = "[{\"x\"}]";
    assert_string_equal(steps_of(route_of(f, &one)),
                        "all-gather [{(\"x\":(1)2), \"x\":(2)8}]; all-gather [{}]");
}

static void reduces_in_three_steps(void **state)
{
    fixture *f = *state;
    const request q = {.mesh = "<[\"x\"=2, \"y\"=8]>",
                       .from = "[{}], unreduced={\"x\", \"y\"}",
                       .to = "[{}]",
                       .rank = 1,
                       .shape = {16000000},
                       .options = {.topology = two_hosts(f)}};
    assert_string_equal(steps_of(route_of(f, &q)),
                        "reduce-scatter [{\"y\"}], unreduced={\"x\"}; all-reduce [{\"y\"}]; "
                        "all-gather [{}]");
    request small = q;
    small.shape[0] = 16;
    small.mesh = "<[\"x\"=3]>";
    small.from = "[{}], unreduced={\"x\"}";
    small.options.topology = NULL;
    small.topology = "ethernet";
    assert_string_equal(steps_of(route_of(f, &small)), "all-reduce [{}]");
}

static void on_one_level_a_direct_step_meets_the_bound(void **state)
{
    fixture *f = *state;
    static const tsr_level level = {"one", 4, 0, GB};
    const tsr_topology_spec spec = {
        .num_levels = 1, .levels = &level, .copy_bandwidth = INT64_MAX, .reduce_bandwidth = GB};
    request q = {.mesh = "<[\"x\"=2, \"y\"=2]>",
                 .from = "[{\"x\"}, {\"y\"}]",
                 .to = "[{\"y\", \"x\"}, {}]",
                 .rank = 2,
                 .shape = {5, 7}};
    assert_int_equal(tsr_topology_create(f->ctx, f->arena, &spec, &q.options.topology), TSR_OK);
    const tsr_route_facts facts = tsr_route_describe(route_of(f, &q));
    assert_true(facts.bound_met);
    assert_int_equal(facts.num_steps, 1);
}

/* Five rows: the devices of x and y do not hold parts of what those of x hold. */
static void uneven_boxes_are_not_gathered_flat(void **state)
{
    fixture *f = *state;
    request q = {.mesh = "<[\"x\"=2, \"y\"=2]>",
                 .from = "[{\"x\"}]",
                 .to = "[{\"x\", \"y\"}]",
                 .rank = 1,
                 .shape = {5},
                 .topology = "host"};
    const tsr_route *route = route_of(f, &q);
    assert_string_equal(steps_of(route), "direct [{\"x\", \"y\"}]");
    assert_int_equal(tsr_route_describe(route).bytes[0], 4);
    q.options.vocabulary = TSR_VOCABULARY_PROGRAM;
    const tsr_route *none = NULL;
    assert_int_equal(find(f, &q, &none), TSR_ERR_UNSUPPORTED);
    expect_message(f, "no sequence of program steps leads to the destination without a layout "
                      "larger than both ends");
    q.options.any_layout = true;
    route = route_of(f, &q);
    assert_string_equal(steps_of(route), "all-gather [{}]; slice [{\"x\", \"y\"}]");
    assert_true(tsr_route_step_at(route, 0).padded && tsr_route_step_at(route, 1).padded);
    assert_int_equal(tsr_route_describe(route).bytes[0], 12);
}

/* A collective has its rounds whatever it moves; an exchange those of the shards that exist. */
static void nothing_moves_in_no_rounds(void **state)
{
    fixture *f = *state;
    request q = {.mesh = "<[\"x\"=4]>",
                 .from = "[{\"x\"}, {}]",
                 .to = "[{}, {\"x\"}]",
                 .rank = 2,
                 .shape = {0, 8},
                 .topology = "ethernet"};
    const tsr_route_facts empty = tsr_route_describe(route_of(f, &q));
    assert_int_equal(empty.nanoseconds, 0);
    assert_true(empty.proven && empty.collective > 0);
    q.shape[0] = 1;
    assert_int_equal(tsr_route_step_at(route_of(f, &q), 0).rounds[0], 1);
}

static void explicit_sizes_move_as_a_whole(void **state)
{
    fixture *f = *state;
    request q = {.mesh = "<[\"x\"=2, \"y\"=2]>",
                 .from = "[{\"x\", \"y\"}:dynamic[1, 0, 5, 2], {}]",
                 .to = "[{}, {}]",
                 .rank = 2,
                 .shape = {8, 3},
                 .topology = "host"};
    const tsr_route *route = route_of(f, &q);
    assert_string_equal(steps_of(route), "all-gather [{}, {}]");
    assert_int_equal(tsr_route_describe(route).bytes[0], 8 * 3 * 4);
    q.to = "[{\"x\", \"y\"}:dynamic[2, 2, 2, 2], {}]";
    route = route_of(f, &q);
    assert_string_equal(steps_of(route), "direct [{\"x\", \"y\"}:dynamic[2, 2, 2, 2], {}]");
    assert_int_equal(tsr_route_describe(route).bytes[0], 2 * 3 * 4);
    q.to = q.from;
    assert_int_equal(tsr_route_describe(route_of(f, &q)).num_steps, 0);
}

static void memory_limits_choose_other_steps(void **state)
{
    fixture *f = *state;
    const int64_t part = 1 << 20;
    request q = {.mesh = "<[\"x\"=2, \"y\"=2]>",
                 .from = "[{\"x\", \"y\"}]",
                 .to = "[{}]",
                 .rank = 1,
                 .shape = {part},
                 .topology = "host"};
    /* Two gathers of two take fewer rounds than one of four, and keep the source meanwhile. */
    const tsr_route_facts two = tsr_route_describe(route_of(f, &q));
    assert_int_equal(two.num_steps, 2);
    assert_int_equal(two.live_bytes, (1 + 2 + 4) * part);
    q.options.donated = true;
    assert_int_equal(tsr_route_describe(route_of(f, &q)).live_bytes, (2 + 4) * part);
    q.options.donated = false;
    q.options.memory = two.live_bytes - 1;
    const tsr_route_facts one = tsr_route_describe(route_of(f, &q));
    assert_int_equal(one.num_steps, 1);
    assert_int_equal(one.live_bytes, (1 + 4) * part);
    assert_true(one.nanoseconds > two.nanoseconds);
    q.options.memory = one.live_bytes - 1;
    const tsr_route *none = NULL;
    assert_int_equal(find(f, &q, &none), TSR_ERR_UNSUPPORTED);
    expect_message(f, "is within 5242879 live bytes of a device");
}

static void a_quota_leaves_a_proven_gap(void **state)
{
    fixture *f = *state;
    request q = {.mesh = "<[\"x\"=2, \"y\"=8]>",
                 .from = "[{\"x\", \"y\"}, {}]",
                 .to = "[{}, {}]",
                 .rank = 2,
                 .shape = {1024, 1024},
                 .topology = "gpu-pod",
                 .options = {.quota = 1}};
    const tsr_route_facts facts = tsr_route_describe(route_of(f, &q));
    assert_false(facts.proven);
    assert_true(facts.gap > 0 && facts.gap <= facts.nanoseconds - facts.lower_bound);
    q.options.quota = 0;
    const tsr_route_facts best = tsr_route_describe(route_of(f, &q));
    assert_true(best.proven);
    assert_true(best.nanoseconds >= facts.nanoseconds - facts.gap);
}

/* However early a search ends, it returns nothing dearer than the greedy plan. */
static void searches_that_end_early_are_not_dearer_than_greedy(void **state)
{
    fixture *f = *state;
    static const char *const ends[][2] = {
        {"[{\"x\", \"y\"}, {\"z\"}]", "[{\"z\"}, {}]"},
        {"[{\"z\"}, {\"y\"}]", "[{}, {}]"},
        {"[{\"x\"}, {}], unreduced={\"y\", \"z\"}", "[{}, {}]"},
        {"[{}, {\"x\", \"z\"}], unreduced={\"y\"}", "[{}, {\"x\"}]"},
    };
    int64_t unproven = 0;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        for (int64_t quota = 1; quota < 40; quota++) {
            request q = {.mesh = "<[\"x\"=2, \"y\"=4, \"z\"=4]>",
                         .from = ends[i][0],
                         .to = ends[i][1],
                         .rank = 2,
                         .shape = {96, 64},
                         .topology = "gpu-pod",
                         .options = {.quota = quota}};
            const tsr_route *route = NULL;
            assert_int_equal(find(f, &q, &route), TSR_OK);
            const tsr_route_facts facts = tsr_route_describe(route);
            int64_t sum = 0;
            for (size_t k = 0; k < facts.num_steps; k++) {
                sum += tsr_route_step_at(route, k).nanoseconds;
            }
            assert_int_equal(sum, facts.nanoseconds);
            assert_true(!facts.greedy_obeys || facts.nanoseconds <= facts.greedy);
            unproven += !facts.proven;
        }
    }
    assert_true(unproven > 20);
}

static void greedy_and_others_are_priced(void **state)
{
    fixture *f = *state;
    const request q = {.mesh = "<[\"x\"=2, \"y\"=2]>",
                       .from = "[{\"x\"}, {\"y\"}]",
                       .to = "[{\"y\"}, {\"x\"}]",
                       .rank = 2,
                       .shape = {1024, 1024},
                       .topology = "host"};
    const tsr_route_facts facts = tsr_route_describe(route_of(f, &q));
    assert_int_equal(facts.direct, facts.collective);
    assert_true(facts.greedy > facts.nanoseconds && !facts.greedy_obeys);
    assert_null(tsr_route_step_at(route_of(f, &q), 1).layout);
}

/*
 * Device 3 before device 2, over 2 hosts of 2; an axis of 6 over levels of 3 and 2 that it does not
 * fall on; partitions. Counted by hand: the largest part that a device lacks, by the level of its
 * owner.
 */
static void devices_are_listed_where_nothing_aligns(void **state)
{
    fixture *f = *state;
    static const tsr_level square[] = {{"network", 2, 10000, GB}, {"host", 2, 1000, 10 * GB}};
    const tsr_topology_spec spec = {
        .num_levels = 2, .levels = square, .copy_bandwidth = GB, .reduce_bandwidth = GB};
    request q = {.mesh = "<[\"x\"=4], device_ids=[0, 2, 3, 1]>",
                 .from = "[{\"x\"}]",
                 .to = "[{}]",
                 .rank = 1,
                 .shape = {8}};
    assert_int_equal(tsr_topology_create(f->ctx, f->arena, &spec, &q.options.topology), TSR_OK);
    const tsr_route *route = route_of(f, &q);
    tsr_route_facts facts = tsr_route_describe(route);
    assert_string_equal(steps_of(route), "all-gather [{}]");
    assert_false(facts.proven);
    assert_int_equal(facts.bytes[0], 2 * 2 * 4);
    assert_int_equal(facts.bytes[1], 2 * 4);
    assert_int_equal(tsr_route_step_at(route, 0).rounds[0], 2);
    assert_int_equal(tsr_route_step_at(route, 0).rounds[1], 1);
    assert_int_equal(facts.nanoseconds, 10 * 2 + 1 + 16);
    assert_true(facts.lower_bound > 0 && facts.gap == facts.nanoseconds - facts.lower_bound);
    assert_int_equal(facts.direct, facts.nanoseconds);

    q.from = "[{\"x\"}:partitioned[[1, 1], [2, 0], [0, 2], [1, 1]]]";
    route = route_of(f, &q);
    assert_int_equal(tsr_route_describe(route).bytes[0], 2 * 2 * 4);
    q.from = "[{}], unreduced={\"x\"}";
    route = route_of(f, &q);
    assert_int_equal(tsr_route_describe(route).num_steps, 2);
    assert_int_equal(tsr_route_step_at(route, 0).reduced, 3 * 2 * 4);
    assert_int_equal(tsr_route_describe(route).lower_bound, 0);
    q.to = q.from;
    assert_int_equal(tsr_route_describe(route_of(f, &q)).num_steps, 0);
    q.mesh = "<[\"x\"=4]>";
    q.from = "[{\"x\"}]";
    q.to = "[{}]";
    assert_true(tsr_route_describe(route_of(f, &q)).proven);
}

static void refuses(void **state)
{
    fixture *f = *state;
    const tsr_route *none = NULL;
    request q = {.mesh = "<[\"x\"=2, \"y\"=2]>",
                 .from = "[{\"x\"}]",
                 .to = "[{}], unreduced={\"x\"}",
                 .rank = 1,
                 .shape = {4},
                 .topology = "host"};
    assert_int_equal(find(f, &q, &none), TSR_ERR_UNSUPPORTED);
    expect_message(f, "no step makes a sum pending");
    q.to = "[{}]";
    q.options.memory = -1;
    assert_int_equal(find(f, &q, &none), TSR_ERR_INVALID);
    expect_message(f, "must be at least 0, got: -1 and 0");
    q.options.memory = 0;
    q.from = "[{\"x\"}:partitioned[[1, 1], [1, 1]]]";
    q.options.vocabulary = TSR_VOCABULARY_PROGRAM;
    assert_int_equal(find(f, &q, &none), TSR_ERR_UNSUPPORTED);
    expect_message(f, "or a dimension is unaligned: only a direct exchange leads there");
    q.options.vocabulary = TSR_VOCABULARY_RUNTIME;
    q.from = "[{\"x\"}]";
    q.mesh = "<[\"x\"=2, \"y\"=2], device_ids=[0, 1, 3, 2]>";
    q.options.memory = 4;
    assert_int_equal(find(f, &q, &none), TSR_ERR_UNSUPPORTED);
    expect_message(f, "takes 8192 live bytes of a device, the limit is 4");
    q.options.memory = 0;
    q.mesh = "<[\"x\"=12]>";
    q.topology = "gpu-pod";
    assert_int_equal(find(f, &q, &none), TSR_ERR_INVALID);
    expect_message(f, "12 devices do not fill level host");
    q.options.topology = two_hosts(f);
    q.topology = NULL;
    assert_int_equal(find(f, &q, &none), TSR_ERR_INVALID);
    expect_message(f, "has 16 devices, but the mesh has 12");
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gathers_between_hosts_first),
        TEST(reduces_in_three_steps),
        TEST(on_one_level_a_direct_step_meets_the_bound),
        TEST(uneven_boxes_are_not_gathered_flat),
        TEST(explicit_sizes_move_as_a_whole),
        TEST(memory_limits_choose_other_steps),
        TEST(a_quota_leaves_a_proven_gap),
        TEST(greedy_and_others_are_priced),
        TEST(devices_are_listed_where_nothing_aligns),
        TEST(searches_that_end_early_are_not_dearer_than_greedy),
        TEST(nothing_moves_in_no_rounds),
        TEST(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
