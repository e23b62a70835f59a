/*
 * The cheapest plans against an exhaustive search that is written apart (prop_planner/brute.c): the
 * same time, bytes by level and number of steps, on one, two and three levels, with extents that do
 * not divide and with pending sums, in both vocabularies.
 */
#include <stdio.h>
#include <string.h>

#include "brute.h"
#include "plan/greedy.h"
#include "random.h"

/* An axis of the mesh: which atoms it consists of. */
typedef struct case_axis {
    int first;
    int count;
} case_axis;

typedef struct mesh_case {
    const char *name;
    brute_problem p;
    int num_axes;
    case_axis axes[BRUTE_ATOMS];
} mesh_case;

#define GB INT64_C(1000000000)
#define ONE_LEVEL .num_levels = 1, .latency = {1000}, .bandwidth = {10 * GB}
#define TWO_LEVELS .num_levels = 2, .latency = {5000, 1000}, .bandwidth = {1 * GB, 10 * GB}
#define SLOW_ROUNDS .num_levels = 2, .latency = {100000, 30000}, .bandwidth = {7 * GB, 90 * GB}
#define THREE_LEVELS                                                                               \
    .num_levels = 3, .latency = {9001, 3001, 307}, .bandwidth = {3 * GB, 11 * GB + 1, 47 * GB + 3}
#define RATES .copy = 20 * GB + 7, .reduce = 2 * GB + 1, .item = 4

static const mesh_case cases[] = {
    {"one level of 2x2x2",
     {3, {2, 2, 2}, {0, 0, 0}, ONE_LEVEL, RATES, .rank = 3, .extents = {4, 4, 2}, .pending = false},
     3,
     {{0, 1}, {1, 1}, {2, 1}}},
    {"two levels of 2x(2x2)",
     {3, {2, 2, 2}, {0, 1, 1}, TWO_LEVELS, RATES, .rank = 2, .extents = {8, 8, 1}, .pending = true},
     3,
     {{0, 1}, {1, 1}, {2, 1}}},
    {"an axis of 4 over two levels",
     {3,
      {2, 2, 2},
      {0, 1, 1},
      TWO_LEVELS,
      RATES,
      .rank = 2,
      .extents = {16, 8, 1},
      .pending = true},
     2,
     {{0, 2}, {2, 1}}},
    {"an axis of 8 over three levels",
     {3,
      {2, 2, 2},
      {0, 1, 2},
      THREE_LEVELS,
      RATES,
      .rank = 2,
      .extents = {16, 8, 1},
      .pending = false},
     1,
     {{0, 3}}},
    {"rounds that cost more than bytes",
     {3,
      {2, 2, 2},
      {0, 1, 1},
      SLOW_ROUNDS,
      RATES,
      .rank = 2,
      .extents = {8, 4, 1},
      .pending = true},
     3,
     {{0, 1}, {1, 1}, {2, 1}}},
    {"odd sizes",
     {2, {3, 2}, {0, 1}, TWO_LEVELS, RATES, .rank = 3, .extents = {6, 12, 3}, .pending = true},
     2,
     {{0, 1}, {1, 1}}},
    {"three levels of odd sizes",
     {2, {3, 2}, {0, 2}, THREE_LEVELS, RATES, .rank = 2, .extents = {6, 5, 1}, .pending = true},
     2,
     {{0, 1}, {1, 1}}},
    {"extents that do not divide",
     {3,
      {2, 2, 2},
      {0, 0, 1},
      TWO_LEVELS,
      RATES,
      .rank = 2,
      .extents = {5, 6, 1},
      .pending = false},
     3,
     {{0, 1}, {1, 1}, {2, 1}}},
    {"extents that leave shards empty",
     {2, {2, 4}, {0, 1}, TWO_LEVELS, RATES, .rank = 2, .extents = {3, 7, 1}, .pending = true},
     2,
     {{0, 1}, {1, 1}}},
};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

/* The pieces of a case as the library takes them. */
typedef struct scene {
    const mesh_case *of;
    const tsr_mesh *mesh;
    tsr_level levels[BRUTE_LEVELS];
    int64_t shape[BRUTE_DIMS];
    size_t rank;
    tsr_axis_ref refs[BRUTE_ATOMS]; /* by atom */
} scene;

static const tsr_mesh *make_mesh(fixture *f, const mesh_case *c)
{
    static const char *const names[] = {"x", "y", "z", "w", "v"};
    int64_t sizes[BRUTE_ATOMS];
    const tsr_mesh *mesh = NULL;
    for (int i = 0; i < c->num_axes; i++) {
        sizes[i] = 1;
        for (int k = 0; k < c->axes[i].count; k++) {
            sizes[i] *= c->p.sizes[c->axes[i].first + k];
        }
    }
    const tsr_mesh_spec spec = {
        .num_axes = (size_t)c->num_axes, .axis_names = names, .axis_sizes = sizes};
    assert_int_equal(tsr_mesh_create(f->ctx, f->arena, &spec, &mesh), TSR_OK);
    return mesh;
}

static scene make_scene(fixture *f, const mesh_case *c)
{
    static const char *const names[] = {"outer", "middle", "inner"};
    scene s = {.of = c, .mesh = make_mesh(f, c), .rank = (size_t)c->p.rank};
    for (int l = 0; l < c->p.num_levels; l++) {
        s.levels[l] = (tsr_level){names[l], 1, c->p.latency[l], c->p.bandwidth[l]};
    }
    for (int i = 0; i < c->p.num_atoms; i++) {
        s.levels[c->p.levels[i]].size *= c->p.sizes[i];
    }
    for (size_t d = 0; d < s.rank; d++) {
        s.shape[d] = c->p.extents[d];
    }
    for (int i = 0; i < c->num_axes; i++) {
        int64_t pre = 1;
        for (int k = 0; k < c->axes[i].count; k++) {
            const int atom = c->axes[i].first + k;
            s.refs[atom] = c->axes[i].count == 1 ? tsr_axis_full(s.mesh, (size_t)i)
                                                 : tsr_axis_sub((size_t)i, pre, c->p.sizes[atom]);
            pre *= c->p.sizes[atom];
        }
    }
    return s;
}

static void add_ref(const scene *s, tsr_axis_ref ref, tsr_axis_ref *list, size_t *count)
{
    tsr_axis_ref merged;
    if (*count > 0 && tsr_axis_merge(s->mesh, list[*count - 1], ref, &merged)) {
        list[*count - 1] = merged;
        return;
    }
    list[(*count)++] = ref;
}

/* A layout of the exhaustive search as a geometry. */
static const tsr_geometry *geometry_at(fixture *f, const scene *s, const brute_layout *layout)
{
    tsr_axis_ref refs[BRUTE_DIMS + 1][BRUTE_ATOMS];
    size_t counts[BRUTE_DIMS + 1] = {0};
    tsr_dim dims[BRUTE_DIMS];
    const tsr_sharding *sharding = NULL;
    for (int d = 0; d <= (int)s->rank; d++) {
        const int wanted = d < (int)s->rank ? d : BRUTE_PENDING;
        for (int at = 0; at < BRUTE_ATOMS; at++) {
            for (int i = 0; i < s->of->p.num_atoms; i++) {
                const int position = wanted == BRUTE_PENDING ? i : layout->position[i];
                if (layout->dim[i] == wanted && position == at && s->of->p.sizes[i] > 1) {
                    add_ref(s, s->refs[i], refs[d], &counts[d]);
                }
            }
        }
        if (d < (int)s->rank) {
            dims[d] = tsr_dim_closed(refs[d], counts[d]);
        }
    }
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = dims,
                                    .num_unreduced = counts[s->rank],
                                    .unreduced = refs[s->rank]};
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, 0, &sharding), TSR_OK);
    return geometry_of(f, sharding, s->rank, s->shape);
}

static plan_space space_of(fixture *f, const scene *s, const tsr_geometry *src,
                           const tsr_geometry *dst, bool program)
{
    plan_space space = {
        .topology = {.num_levels = (size_t)s->of->p.num_levels,
                     .levels = s->levels,
                     .copy_bandwidth = s->of->p.copy,
                     .reduce_bandwidth = s->of->p.reduce},
        .src = src,
        .dst = dst,
        .rank = s->rank,
        .shape = s->shape,
        .item = s->of->p.item,
        .program = program,
    };
    assert_int_equal(atoms_find(f->ctx, &space), TSR_OK);
    return space;
}

static const search_rules usual = {
    .memory = -1, .quota = INT64_MAX, .max_states = 100000, .any_layout = false};

static void print_pair(fixture *f, const scene *s, const tsr_geometry *src, const tsr_geometry *dst,
                       const search_result *r, const brute_cost *cost)
{
    print_message("%s: %s to %s\n", s->of->name, sharding_bare(f, tsr_geometry_sharding(src)),
                  sharding_bare(f, tsr_geometry_sharding(dst)));
    print_message("exhaustive: reached %d, %lld ns, bytes %lld %lld %lld, %lld steps\n",
                  cost->reached, (long long)cost->time, (long long)cost->bytes[0],
                  (long long)cost->bytes[1], (long long)cost->bytes[2], (long long)cost->steps);
    print_message("planned: found %d, proven %d, bound %lld, lower %lld, %lld ns, bytes %lld %lld "
                  "%lld, %zu steps\n",
                  r->found, r->proven, (long long)r->bound, (long long)r->lower,
                  (long long)r->cost.time, (long long)r->cost.bytes[0], (long long)r->cost.bytes[1],
                  (long long)r->cost.bytes[2], r->num_steps);
    for (size_t i = 0; i < r->num_steps && r->found; i++) {
        print_message("  %s by %s, %lld ns\n", tsr_step_kind_name(r->steps[i].kind),
                      r->steps[i].algorithm, (long long)r->steps[i].time);
    }
}

/* How many plans of each length there were, and how many met the lower bound. */
static struct {
    int64_t lengths[8];
    int64_t unreachable;
} seen;

static void check_pair(fixture *f, const scene *s, brute *b, size_t from, size_t to, bool program)
{
    const int64_t bytes_from = brute_bytes(b, from);
    const int64_t bytes_to = brute_bytes(b, to);
    const tsr_geometry *src = geometry_at(f, s, brute_layout_at(b, from));
    const tsr_geometry *dst = geometry_at(f, s, brute_layout_at(b, to));
    const plan_space space = space_of(f, s, src, dst, program);
    search_result r;
    const brute_cost *cost =
        &brute_from(b, from, bytes_from > bytes_to ? bytes_from : bytes_to)[to];
    assert_int_equal(search_run(f->ctx, f->arena, &space, &usual, &r), TSR_OK);
    bool same = r.found == cost->reached;
    if (r.found && cost->reached) {
        same = r.cost.time == cost->time && r.cost.steps == cost->steps && r.proven &&
               r.bound == r.cost.time && r.lower <= r.cost.time;
        for (int l = 0; l < s->of->p.num_levels; l++) {
            same = same && r.cost.bytes[l] == cost->bytes[l];
        }
    }
    if (!same) {
        print_pair(f, s, src, dst, &r, cost);
        fail_msg("the plan is not the cheapest, or its cost is not");
    }
    seen.lengths[r.num_steps < 8 ? r.num_steps : 7] += r.found;
    seen.unreachable += !r.found;
}

static void check_case(fixture *f, const mesh_case *c, bool program, int64_t pairs, rng *r)
{
    const tsr_arena_mark start = tsr_arena_get_mark(f->arena);
    const scene s = make_scene(f, c);
    brute_problem p = c->p;
    p.program = program;
    brute *b = brute_create(&p);
    const int64_t plain = (int64_t)brute_count_plain(b);
    for (int64_t i = 0; i < pairs; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        check_pair(f, &s, b, (size_t)rng_below(r, plain), (size_t)rng_below(r, plain), program);
        tsr_arena_reset(f->arena, mark);
    }
    brute_destroy(b);
    tsr_arena_reset(f->arena, start);
}

static void plans_cost_what_exhaustion_finds(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("plans_cost_what_exhaustion_finds");
    for (size_t i = 0; i < 2 * (size_t)NUM_CASES; i++) {
        rng r = rng_case(&base, i);
        check_case(f, &cases[i / 2], i % 2 == 1, prop_heavy_cases(120), &r);
    }
    print_message("plans by steps:");
    for (size_t i = 0; i < 8; i++) {
        print_message(" %lld", (long long)seen.lengths[i]);
    }
    print_message(", unreachable: %lld\n", (long long)seen.unreachable);
    assert_true(seen.lengths[2] > 20 && seen.lengths[3] > 0);
}

/* ---- properties that need no exhaustive search ---- */

/* A random pair of layouts of a case, as the library takes them. */
static plan_space random_pair(fixture *f, const scene *s, brute *b, rng *r, bool program)
{
    const int64_t plain = (int64_t)brute_count_plain(b);
    const size_t from = (size_t)rng_below(r, plain);
    const size_t to = (size_t)rng_below(r, plain);
    return space_of(f, s, geometry_at(f, s, brute_layout_at(b, from)),
                    geometry_at(f, s, brute_layout_at(b, to)), program);
}

static void ends_of(fixture *f, const plan_space *space, plan_state *ends)
{
    assert_int_equal(state_of_geometry(f->ctx, space, space->src, NULL, &ends[0]), TSR_OK);
    assert_int_equal(state_of_geometry(f->ctx, space, space->dst, &ends[0], &ends[1]), TSR_OK);
}

/* Never dearer than the greedy plan where that obeys the rules; every pair without sums is reached.
 */
static void check_against_greedy(fixture *f, const plan_space *space, int64_t *better)
{
    plan_state ends[2];
    greedy_result greedy;
    search_result r;
    ends_of(f, space, ends);
    assert_int_equal(greedy_plan(f->ctx, f->arena, space, &usual, &ends[0], &ends[1], &greedy),
                     TSR_OK);
    assert_int_equal(search_run(f->ctx, f->arena, space, &usual, &r), TSR_OK);
    if (!space->program && ends[0].pending == 0 && ends[1].pending == 0) {
        assert_true(r.found);
    }
    if (greedy.found && greedy.obeys) {
        assert_true(r.found && r.cost.time <= greedy.time);
    }
    *better += greedy.found && r.found && r.cost.time < greedy.time;
}

static void plans_are_never_dearer_than_greedy(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("plans_are_never_dearer_than_greedy");
    int64_t better = 0;
    for (size_t i = 0; i < NUM_CASES; i++) {
        rng r = rng_case(&base, i);
        const scene s = make_scene(f, &cases[i]);
        brute *b = brute_create(&cases[i].p);
        for (int64_t k = 0; k < prop_heavy_cases(100); k++) {
            const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
            const plan_space space = random_pair(f, &s, b, &r, k % 3 == 2);
            check_against_greedy(f, &space, &better);
            tsr_arena_reset(f->arena, mark);
        }
        brute_destroy(b);
    }
    assert_true(better > 50);
}

/* The cost from one layout to another with the atoms of the case, any layout in between. */
static int64_t leg(fixture *f, const scene *s, brute *b, size_t from, size_t to)
{
    const search_rules free_rules = {.memory = -1,
                                     .donated = true,
                                     .any_layout = true,
                                     .quota = INT64_MAX,
                                     .max_states = 100000};
    const plan_space space = space_of(f, s, geometry_at(f, s, brute_layout_at(b, from)),
                                      geometry_at(f, s, brute_layout_at(b, to)), false);
    search_result r;
    assert_int_equal(search_run(f->ctx, f->arena, &space, &free_rules, &r), TSR_OK);
    return r.found ? r.cost.time : -1;
}

static void costs_obey_the_triangle_inequality(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("costs_obey_the_triangle_inequality");
    for (size_t i = 0; i < NUM_CASES; i++) {
        rng r = rng_case(&base, i);
        const scene s = make_scene(f, &cases[i]);
        brute *b = brute_create(&cases[i].p);
        const int64_t plain = (int64_t)brute_count_plain(b);
        for (int64_t k = 0; k < prop_heavy_cases(40); k++) {
            const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
            size_t at[3];
            for (size_t n = 0; n < 3; n++) {
                at[n] = (size_t)rng_below(&r, plain);
            }
            const int64_t whole = leg(f, &s, b, at[0], at[2]);
            const int64_t first = leg(f, &s, b, at[0], at[1]);
            const int64_t second = leg(f, &s, b, at[1], at[2]);
            if (first >= 0 && second >= 0) {
                assert_true(whole >= 0 && whole <= first + second);
            }
            tsr_arena_reset(f->arena, mark);
        }
        brute_destroy(b);
    }
}

/* One level, no latency, free copies: one exchange of what is lacking meets the bound. */
static void free_rounds_meet_the_bound(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("free_rounds_meet_the_bound");
    for (size_t i = 0; i < NUM_CASES; i++) {
        rng r = rng_case(&base, i);
        mesh_case c = cases[i];
        c.p.num_levels = 1;
        c.p.latency[0] = 0;
        c.p.copy = INT64_MAX;
        c.p.pending = false;
        memset(c.p.levels, 0, sizeof c.p.levels);
        const scene s = make_scene(f, &c);
        brute *b = brute_create(&c.p);
        for (int64_t k = 0; k < prop_heavy_cases(60); k++) {
            const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
            const plan_space space = random_pair(f, &s, b, &r, false);
            search_result found;
            assert_int_equal(search_run(f->ctx, f->arena, &space, &usual, &found), TSR_OK);
            assert_true(found.found && found.cost.time - found.lower <= (int64_t)found.num_steps);
            tsr_arena_reset(f->arena, mark);
        }
        brute_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(plans_cost_what_exhaustion_finds),
        TEST(plans_are_never_dearer_than_greedy),
        TEST(costs_obey_the_triangle_inequality),
        TEST(free_rounds_meet_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
