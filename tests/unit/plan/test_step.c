/* Steps: what they are called, along which axes, what they cost, and lists that are refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

/* A geometry of a layout by its texts. */
static const tsr_geometry *layout(fixture *f, const char *mesh, const char *text, size_t rank,
                                  const int64_t *shape)
{
    return geometry_of(f, sharding_of(f, mesh_of(f, mesh), text), rank, shape);
}

static tsr_step step_between(fixture *f, const tsr_geometry *src, const tsr_geometry *dst,
                             const tsr_link *link)
{
    const tsr_step_spec one = {TSR_STEP_DIRECT, dst};
    const tsr_plan *plan = NULL;
    tsr_step step = {0};
    assert_int_equal(tsr_plan_from_steps(f->ctx, f->arena, src, 1, &one, TSR_F32, &plan), TSR_OK);
    assert_int_equal(tsr_plan_num_steps(plan), 1);
    assert_int_equal(tsr_plan_step(f->ctx, plan, 0, link, &step), TSR_OK);
    assert_ptr_equal(step.src, src);
    assert_ptr_equal(step.dst, dst);
    return step;
}

#define LINE "<[\"x\"=4]>"
#define BACK "<[\"x\"=4], device_ids=[3, 2, 1, 0]>"
#define GRID "<[\"x\"=2, \"y\"=4]>"
#define SIX "<[\"x\"=6, \"y\"=2]>"
#define X "\"x\""
#define Y "\"y\""

/* Of shape 24 x 16, which all of them divide. The axes are as step_axes writes them. */
static const struct kind_row {
    const char *before;
    const char *from;
    const char *after;
    const char *to;
    tsr_step_kind kind;
    const char *axes;
} kind_rows[] = {
    {LINE, "[{}, {}]", LINE, "[{" X "}, {}]", TSR_STEP_SLICE, "x"},
    {LINE, "[{" X "}, {}]", LINE, "[{" X "}, {}]", TSR_STEP_SLICE, ""},
    {GRID, "[{" X "}, {}]", GRID, "[{" X "}, {" Y "}]", TSR_STEP_SLICE, "y"},
    {GRID, "[{}, {}]", GRID, "[{" Y "}, {" X "}]", TSR_STEP_SLICE, "x y"},
    {LINE, "[{" X "}, {}]", BACK, "[{}, {}]", TSR_STEP_DIRECT, ""},
    {LINE, "[{}, {}]", BACK, "[{" X "}, {}]", TSR_STEP_SLICE, ""},
    {LINE, "[{" X "}, {}]", LINE, "[{}, {}]", TSR_STEP_ALL_GATHER, "x"},
    {LINE, "[{" X "}, {}]", LINE, "[{" X ":(1)2}, {}]", TSR_STEP_ALL_GATHER, "x:(2)2"},
    {GRID, "[{" X ", " Y "}, {}]", GRID, "[{" X "}, {}]", TSR_STEP_ALL_GATHER, "y"},
    {GRID, "[{" X "}, {" Y "}]", GRID, "[{}, {}]", TSR_STEP_ALL_GATHER, "x y"},
    {LINE, "[{" X "}, {}]", LINE, "[{}, {" X "}]", TSR_STEP_ALL_TO_ALL, "x"},
    {GRID, "[{" X "}, {" Y "}]", GRID, "[{" X ", " Y "}, {}]", TSR_STEP_ALL_TO_ALL, "y"},
    {GRID, "[{" X ", " Y "}, {}]", GRID, "[{}, {" X ", " Y "}]", TSR_STEP_ALL_TO_ALL, "x y"},
    {LINE, "[{" X ":(1)2}, {" X ":(2)2}]", LINE, "[{}, {" X "}]", TSR_STEP_ALL_TO_ALL, "x:(1)2"},
    {LINE, "[{}, {}], unreduced={" X "}", LINE, "[{" X "}, {}]", TSR_STEP_REDUCE_SCATTER, "x"},
    {LINE, "[{}, {}], unreduced={" X "}", LINE, "[{" X ":(1)2}, {" X ":(2)2}]",
     TSR_STEP_REDUCE_SCATTER, "x"},
    {GRID, "[{" X "}, {}], unreduced={" Y "}", GRID, "[{" X ", " Y "}, {}]",
     TSR_STEP_REDUCE_SCATTER, "y"},
    {GRID, "[{}, {}], unreduced={" X ", " Y "}", GRID, "[{}, {" Y "}], unreduced={" X "}",
     TSR_STEP_REDUCE_SCATTER, "y"},
    {LINE, "[{}, {}], unreduced={" X "}", LINE, "[{}, {}]", TSR_STEP_ALL_REDUCE, "x"},
    {GRID, "[{" X "}, {}], unreduced={" Y "}", GRID, "[{" X "}, {}]", TSR_STEP_ALL_REDUCE, "y"},
    {GRID, "[{}, {}], unreduced={" X ", " Y "}", GRID, "[{}, {}], unreduced={" Y "}",
     TSR_STEP_ALL_REDUCE, "x"},
    {LINE, "[{" X "}, {}]", BACK, "[{" X "}, {}]", TSR_STEP_PERMUTE, ""},
    {GRID, "[{" X ", " Y "}, {}]", GRID, "[{" Y ", " X "}, {}]", TSR_STEP_PERMUTE, ""},
    {LINE, "[{" X ":(1)2}, {}]", LINE, "[{" X ":(2)2}, {}]", TSR_STEP_PERMUTE, "x"},
    /* More than one at once. */
    {GRID, "[{" X "}, {}]", GRID, "[{}, {" Y "}]", TSR_STEP_DIRECT, "x y"},
    {GRID, "[{" X "}, {}], unreduced={" Y "}", GRID, "[{}, {}]", TSR_STEP_DIRECT, "x y"},
    {GRID, "[{}, {}], unreduced={" X "}", GRID, "[{" Y "}, {}]", TSR_STEP_DIRECT, "x y"},
    {GRID, "[{}, {}], unreduced={" X "}", GRID, "[{" X "}, {" Y "}]", TSR_STEP_DIRECT, "x y"},
    {"<[\"x\"=2, \"y\"=2, \"z\"=2]>", "[{" X ", " Y "}, {}], unreduced={\"z\"}",
     "<[\"x\"=2, \"y\"=2, \"z\"=2]>", "[{" Y ", " X "}, {}]", TSR_STEP_DIRECT, "z"},
    {LINE, "[{}, {}], unreduced={" X "}", BACK, "[{}, {}]", TSR_STEP_DIRECT, ""},
    /* Halves and thirds of an axis have no digits in common. */
    {SIX, "[{" X ":(1)2}, {}]", SIX, "[{" X ":(1)3}, {}]", TSR_STEP_DIRECT, "x:(1)2"},
    {SIX, "[{" X ":(1)2}, {" Y "}]", SIX, "[{" X ":(1)3}, {}]", TSR_STEP_DIRECT, "x:(1)2 y"},
};

/* The axes of a step without quotes, a space between. */
static void step_axes(const tsr_step *step, char *text, size_t size)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(tsr_geometry_sharding(step->src));
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < step->num_axes && used < size; i++) {
        const tsr_axis_ref a = step->axes[i];
        const size_t axis = (size_t)a.axis;
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " " : "",
                                 tsr_mesh_axis_name(mesh, axis));
        if (a.size != tsr_mesh_axis_size(mesh, axis) && used < size) {
            used += (size_t)snprintf(text + used, size - used, ":(%lld)%lld", (long long)a.pre,
                                     (long long)a.size);
        }
    }
}

static void kinds_of_steps(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {24, 16};
    for (size_t i = 0; i < sizeof kind_rows / sizeof kind_rows[0]; i++) {
        const struct kind_row *row = &kind_rows[i];
        const tsr_geometry *src = layout(f, row->before, row->from, 2, shape);
        const tsr_geometry *dst = layout(f, row->after, row->to, 2, shape);
        const tsr_step step = step_between(f, src, dst, NULL);
        char axes[64];
        step_axes(&step, axes, sizeof axes);
        if (step.kind != row->kind || strcmp(axes, row->axes) != 0) {
            fail_msg("%s to %s is %s along \"%s\"", row->from, row->to,
                     tsr_step_kind_name(step.kind), axes);
        }
        const tsr_step_spec said = {row->kind, dst};
        const tsr_plan *plan = NULL;
        assert_int_equal(tsr_plan_from_steps(f->ctx, f->arena, src, 1, &said, TSR_F32, &plan),
                         TSR_OK);
    }
}

static void names_of_kinds(void **state)
{
    static const char *const names[] = {"slice",      "all-gather", "all-to-all", "reduce-scatter",
                                        "all-reduce", "permute",    "direct"};
    (void)state;
    for (int kind = 0; kind <= TSR_STEP_DIRECT; kind++) {
        assert_string_equal(tsr_step_kind_name((tsr_step_kind)kind), names[kind]);
    }
}

static double cost_by_table(const char *collective, const char *name, const tsr_link *link,
                            double bytes, int64_t ranks)
{
    for (size_t i = 0; i < tsr_algorithm_count(); i++) {
        const tsr_algorithm *a = tsr_algorithm_at(i);
        if (strcmp(a->collective, collective) == 0 && strcmp(a->name, name) == 0) {
            return tsr_algorithm_cost(a, link, bytes, ranks);
        }
    }
    fail_msg("there is no %s by %s", collective, name);
    return 0;
}

/* One row of the collectives that a step does: layouts of one axis, even. */
static const struct cost_row {
    const char *from;
    const char *to;
    const char *collective;
    const char *algorithm;
    bool of_one; /* the bytes of the formula are those of one device */
} cost_rows[] = {
    {"[{" X "}, {}]", "[{}, {}]", "all-gather", "ring", false},
    {"[{}, {}], unreduced={" X "}", "[{" X "}, {}]", "reduce-scatter", "pairwise", false},
    {"[{}, {}], unreduced={" X "}", "[{}, {}]", "all-reduce", "direct", false},
    {"[{" X "}, {}]", "[{}, {" X "}]", "all-to-all", "pairwise", true},
};

static void costs_of_steps(void **state)
{
    fixture *f = *state;
    const tsr_link links[] = {
        {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {7e-6, 3e-9, 2e-10, 5e-10}};
    static const int64_t sizes[] = {2, 3, 8, 60};
    for (size_t i = 0; i < 4 * 5 * 4; i++) {
        const struct cost_row *row = &cost_rows[i % 4];
        const tsr_link *link = &links[i / 4 % 5];
        const int64_t n = sizes[i / 20];
        const int64_t shape[] = {2 * n, 3 * n};
        char mesh[64];
        (void)snprintf(mesh, sizeof mesh, "<[\"x\"=%lld]>", (long long)n);
        const tsr_step step = step_between(f, layout(f, mesh, row->from, 2, shape),
                                           layout(f, mesh, row->to, 2, shape), link);
        const double whole = (double)(shape[0] * shape[1] * 4);
        const double wanted = cost_by_table(row->collective, row->algorithm, link,
                                            row->of_one ? whole / (double)n : whole, n);
        assert_string_equal(tsr_step_kind_name(step.kind), row->collective);
        assert_true(fabs(step.seconds - wanted) <= 1e-12 * fabs(wanted));
        assert_true(wanted > 0 || link->delta > 0 || link->gamma > 0);
    }
}

/* A permutation is one message of a shard; a slice copies what it keeps; NULL is shared memory. */
static void costs_of_the_others(void **state)
{
    fixture *f = *state;
    const tsr_link link = {7e-6, 3e-9, 2e-10, 5e-10};
    const int64_t shape[] = {12, 8};
    const tsr_geometry *rows = layout(f, LINE, "[{" X "}, {}]", 2, shape);
    const tsr_geometry *back = layout(f, BACK, "[{" X "}, {}]", 2, shape);
    const tsr_geometry *whole = layout(f, LINE, "[{}, {}]", 2, shape);
    const double shard = 3 * 8 * 4;
    const tsr_step permute = step_between(f, rows, back, &link);
    const tsr_step slice = step_between(f, whole, rows, &link);
    assert_true(fabs(permute.seconds - (link.alpha + shard * link.beta)) < 1e-15);
    assert_true(fabs(slice.seconds - shard * link.delta) < 1e-15);
    assert_int_equal(slice.bytes.moved, 0);
    const tsr_link usual = tsr_link_default(TSR_MEDIUM_SHARED);
    assert_true(step_between(f, rows, back, NULL).seconds ==
                step_between(f, rows, back, &usual).seconds);
}

static void lists_that_are_refused(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {12, 8};
    const int64_t other_shape[] = {12, 9};
    const tsr_geometry *rows = layout(f, LINE, "[{" X "}, {}]", 2, shape);
    const tsr_geometry *columns = layout(f, LINE, "[{}, {" X "}]", 2, shape);
    const tsr_geometry *whole = layout(f, LINE, "[{}, {}]", 2, shape);
    const tsr_geometry *larger = layout(f, LINE, "[{}, {}]", 2, other_shape);
    const tsr_step_spec steps[] = {{TSR_STEP_ALL_GATHER, whole}, {TSR_STEP_ALL_GATHER, columns}};
    const tsr_step_spec grows[] = {{TSR_STEP_DIRECT, larger}};
    const tsr_plan *plan = NULL;
    tsr_step step = {.seconds = -1};
    assert_int_equal(tsr_plan_from_steps(f->ctx, f->arena, rows, 0, steps, TSR_F32, &plan),
                     TSR_ERR_INVALID);
    expect_error(f, "a plan must have at least 1 step");
    assert_int_equal(tsr_plan_from_steps(f->ctx, f->arena, rows, 2, steps, TSR_F32, &plan),
                     TSR_ERR_INVALID);
    expect_error(f, "step 1 of the plan has kind all-gather, but its layouts need kind slice");
    assert_int_equal(tsr_plan_from_steps(f->ctx, f->arena, rows, 1, grows, TSR_F32, &plan),
                     TSR_ERR_INVALID);
    expect_error(f, "a redistribution keeps the shape, but those of source and destination differ");
    assert_null(plan);
    assert_int_equal(tsr_plan_from_steps(f->ctx, f->arena, rows, 1, steps, TSR_F32, &plan), TSR_OK);
    assert_int_equal(tsr_plan_step(f->ctx, plan, 1, NULL, &step), TSR_ERR_INVALID);
    expect_error(f, "the plan has 1 steps; step 1 is out of range");
    assert_true(step.seconds == -1);
}

/*
 * A destination that cuts dimensions along axes of which the source is replicated: each device
 * reduces its part alone, and receives what reduce-scatter and all-gather of that part need, for p
 * parts 2 (p - 1) / p of its bytes.
 */
static void reductions_are_cut_first(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {48, 80};
    static const struct {
        const char *mesh;
        const char *from;
        const char *to;
        int64_t parts;
        int64_t cuts;
    } rows[] = {
        {GRID, "[{}, {}], unreduced={" Y "}", "[{" X "}, {}]", 4, 2},
        {"<[\"x\"=4, \"y\"=4]>", "[{}, {}], unreduced={" Y "}", "[{}, {" X "}]", 4, 4},
        {"<[\"x\"=8, \"y\"=4]>", "[{}, {}], unreduced={" Y "}", "[{" X "}, {}]", 4, 8},
        {"<[\"x\"=2, \"y\"=4, \"z\"=2]>", "[{\"z\"}, {}], unreduced={" Y "}",
         "[{\"z\", " X "}, {}]", 4, 4},
        {"<[\"x\"=2, \"y\"=4, \"z\"=2]>", "[{}, {}], unreduced={" Y "}", "[{" X "}, {\"z\"}]", 4,
         4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tsr_geometry *from = layout(f, rows[i].mesh, rows[i].from, 2, shape);
        const tsr_geometry *to = layout(f, rows[i].mesh, rows[i].to, 2, shape);
        const tsr_plan *plan = NULL;
        tsr_plan_totals totals;
        assert_int_equal(tsr_plan_create(f->ctx, f->arena, from, to, TSR_F32, &plan), TSR_OK);
        assert_int_equal(tsr_plan_total(f->ctx, plan, &totals), TSR_OK);
        const int64_t part = 48 * 80 * 4 / rows[i].cuts;
        const int64_t least = 2 * (rows[i].parts - 1) * part / rows[i].parts;
        assert_int_equal(totals.most_received, least);
        assert_int_equal(totals.moved, least * tsr_mesh_num_devices(mesh_of(f, rows[i].mesh)));
    }
}

/*
 * The destination has parts of an axis that cannot be in one sharding with the pending part, so
 * that nothing can be cut first: the plan reduces without.
 */
static void parts_that_cannot_coexist(void **state)
{
    fixture *f = *state;
    static const char mesh[] = "<[\"x\"=6]>";
    static const char *const to[] = {"[{\"x\":(3)2}, {}]", "[{\"x\":(1)3}, {\"x\":(3)2}]",
                                     "[{}, {\"x\":(3)2}]"};
    const int64_t shape[] = {12, 18};
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++) {
        const tsr_geometry *src = layout(f, mesh, "[{}, {}], unreduced={\"x\":(1)2}", 2, shape);
        const tsr_geometry *dst = layout(f, mesh, to[i], 2, shape);
        const tsr_plan *plan = NULL;
        tsr_plan_totals totals;
        assert_int_equal(tsr_plan_create(f->ctx, f->arena, src, dst, TSR_F32, &plan), TSR_OK);
        assert_int_equal(tsr_plan_total(f->ctx, plan, &totals), TSR_OK);
        assert_true(totals.moved > 0);
    }
}

/*
 * The bytes and the cost of a step follow from the axes alone: of 2^28 devices none is looked at.
 * Along each of the two axes of n devices a collective has n members.
 */
static void steps_of_many_devices(void **state)
{
    static const int64_t sizes[] = {4, 1 << 8, 1 << 14};
    fixture *f = *state;
    const tsr_link link = {7e-6, 3e-9, 2e-10, 5e-10};
    for (size_t i = 0; i < 4 * 3; i++) {
        const struct cost_row *row = &cost_rows[i % 4];
        const int64_t n = sizes[i / 4];
        const int64_t shape[] = {2 * n, 3 * n};
        char mesh[64];
        (void)snprintf(mesh, sizeof mesh, "<[\"x\"=%lld, \"y\"=%lld]>", (long long)n, (long long)n);
        const tsr_step step = step_between(f, layout(f, mesh, row->from, 2, shape),
                                           layout(f, mesh, row->to, 2, shape), &link);
        const double whole = (double)(shape[0] * shape[1] * 4);
        const double wanted = cost_by_table(row->collective, row->algorithm, &link,
                                            row->of_one ? whole / (double)n : whole, n);
        assert_true(fabs(step.seconds - wanted) <= 1e-12 * fabs(wanted));
        assert_true(step.bytes.moved == INT64_MAX ||
                    step.bytes.most_received * n * n == step.bytes.moved);
        assert_int_equal(step.bytes.most_sent, step.bytes.most_received);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(kinds_of_steps),
        TEST(names_of_kinds),
        TEST(costs_of_steps),
        TEST(costs_of_the_others),
        TEST(lists_that_are_refused),
        TEST(reductions_are_cut_first),
        TEST(parts_that_cannot_coexist),
        TEST(steps_of_many_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
