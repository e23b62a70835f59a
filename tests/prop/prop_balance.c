/* Plans: the device that sends most sends as little as it can. */
#include <stdio.h>
#include <string.h>

#include "random.h"

enum { DEVICES = 8, SETS = 1 << DEVICES };

/*
 * What is to be sent, element by element. The devices with whom a reduction is pending send
 * together, so groups of them are what can be chosen; with nothing pending each device is a group.
 */
typedef struct sending {
    size_t rank;
    const int64_t *shape;
    int64_t devices;
    const tsr_groups *groups;
    int64_t demands[SETS];    /* by the set of groups of which each could send it */
    int64_t settled[DEVICES]; /* what a device sends to those in its group that want their result */
} sending;

static bool holds_element(const sending *s, const tsr_geometry *g, int64_t device, int64_t element)
{
    bool holds = true;
    for (size_t i = s->rank; i-- > 0;) {
        holds = holds && holds_row(g, device, i, element % s->shape[i]);
        element /= s->shape[i];
    }
    return holds;
}

static int64_t group_of(const sending *s, int64_t device)
{
    int64_t group = -1;
    int64_t member;
    assert_true(tsr_groups_find(s->groups, device, &group, &member));
    return group;
}

/* The others of a device's group send it their parts. */
static void settle(sending *s, int64_t device)
{
    for (int64_t other = 0; other < s->devices; other++) {
        s->settled[other] += other != device && group_of(s, other) == group_of(s, device);
    }
}

static void count_demands(sending *s, const tsr_geometry *src, const tsr_geometry *dst)
{
    int64_t total = 1;
    for (size_t i = 0; i < s->rank; i++) {
        total *= s->shape[i];
    }
    for (int64_t e = 0; e < total; e++) {
        size_t senders = 0;
        int64_t lacking = 0;
        for (int64_t device = 0; device < s->devices; device++) {
            const bool holds = holds_element(s, src, device, e);
            const bool wants = holds_element(s, dst, device, e);
            senders |= holds ? (size_t)1 << group_of(s, device) : 0;
            lacking += wants && !holds;
            if (wants && holds) {
                settle(s, device);
            }
        }
        s->demands[senders] += lacking;
    }
}

/*
 * The least that the busiest can send. A flow that sends at most L from each device exists just
 * when no set of groups has more than L a group to send that no other could.
 */
static int64_t least_possible(const sending *s)
{
    int64_t busiest[DEVICES] = {0};
    int64_t least = 0;
    for (int64_t device = 0; device < s->devices; device++) {
        int64_t *most = &busiest[group_of(s, device)];
        *most = s->settled[device] > *most ? s->settled[device] : *most;
    }
    for (size_t set = 1; set < SETS; set++) {
        int64_t sum = 0;
        int64_t size = 0;
        for (size_t part = set; part > 0; part = (part - 1) & set) {
            sum += s->demands[part];
        }
        for (size_t group = 0; group < DEVICES; group++) {
            sum += (set >> group & 1) != 0 ? busiest[group] : 0;
            size += (set >> group & 1) != 0;
        }
        const int64_t each = (sum + size - 1) / size;
        least = each > least ? each : least;
    }
    return least;
}

/* One random pair. Returns how many sets of several groups had something to send, or -1 when the
 * plan has two steps. */
static int64_t check_pair(fixture *f, rng *r, bool pending)
{
    static sending s;
    int64_t shape[MAX_DIMS];
    const size_t rank = random_shape(r, shape);
    const tsr_mesh *mesh = random_mesh(f, r, (mesh_limits){DEVICES, true, true});
    const int64_t devices = tsr_mesh_num_devices(mesh);
    const tsr_mesh *other = random_mesh_of(f, r, devices, (mesh_limits){DEVICES, true, true});
    const sharding_limits from = {true, pending, rng_chance(r, 40)};
    const sharding_limits to = {true, false, rng_chance(r, 40)};
    const tsr_sharding *sharding = random_sharding(f, r, mesh, rank, shape, from);
    const tsr_geometry *src = geometry_of(f, sharding, rank, shape);
    const tsr_geometry *dst =
        geometry_of(f, random_sharding(f, r, other, rank, shape, to), rank, shape);
    const tsr_plan *plan = NULL;
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, src, dst, TSR_I8, &plan), TSR_OK);
    if (tsr_plan_num_steps(plan) > 1) {
        return -1;
    }
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(sharding, &count);
    s = (sending){.rank = rank, .shape = shape, .devices = devices};
    assert_int_equal(tsr_groups_create(f->ctx, f->arena, mesh, axes, count, &s.groups), TSR_OK);
    count_demands(&s, src, dst);
    int64_t most = 0;
    int64_t shared = 0;
    for (int64_t device = 0; device < devices; device++) {
        const int64_t sent = tsr_plan_bytes_sent(plan, device);
        most = sent > most ? sent : most;
    }
    assert_int_equal(most, least_possible(&s));
    for (size_t set = 0; set < SETS; set++) {
        shared += s.demands[set] > 0 && (set & (set - 1)) != 0;
    }
    return shared;
}

static void check_pairs_of(fixture *f, const char *name, bool pending, int64_t cases)
{
    const rng base = rng_start(name);
    int64_t shared = 0;
    for (int64_t i = 0; i < prop_cases(cases); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        const int64_t sets = check_pair(f, &r, pending);
        shared += sets > 0 ? sets : 0;
        tsr_arena_reset(f->arena, mark);
    }
    printf("sets of devices that shared the sending: %lld\n", (long long)shared);
    assert_true(shared > 100);
}

static void the_busiest_sends_as_little_as_it_can(void **state)
{
    check_pairs_of(*state, "the_busiest_sends_as_little_as_it_can", false, 800);
}

static void so_it_is_with_folds(void **state)
{
    check_pairs_of(*state, "so_it_is_with_folds", true, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_busiest_sends_as_little_as_it_can),
        TEST(so_it_is_with_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
