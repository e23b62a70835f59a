/* Plans: the device that sends most sends as little as it can. */
#include <stdio.h>
#include <string.h>

#include "random.h"

enum { DEVICES = 8, SETS = 1 << DEVICES };

/* Elements to be sent, by the set of devices that hold them: each can send them. */
static void count_demands(const tsr_geometry *src, const tsr_geometry *dst, size_t rank,
                          const int64_t *shape, int64_t devices, int64_t *demands)
{
    int64_t total = 1;
    for (size_t i = 0; i < rank; i++) {
        total *= shape[i];
    }
    memset(demands, 0, SETS * sizeof *demands);
    for (int64_t e = 0; e < total; e++) {
        size_t before = 0;
        int64_t lacking = 0;
        for (int64_t device = 0; device < devices; device++) {
            bool holds = true;
            bool wants = true;
            int64_t rest = e;
            for (size_t i = rank; i-- > 0;) {
                holds = holds && holds_row(src, device, i, rest % shape[i]);
                wants = wants && holds_row(dst, device, i, rest % shape[i]);
                rest /= shape[i];
            }
            before |= holds ? (size_t)1 << device : 0;
            lacking += wants && !holds;
        }
        demands[before] += lacking;
    }
}

/*
 * The least that the busiest can send, element by element. A flow that sends at most L from each
 * device exists just when no set of devices must send more than L a device by itself.
 */
static int64_t least_possible(const int64_t *demands)
{
    int64_t least = 0;
    for (size_t set = 1; set < SETS; set++) {
        int64_t demand = 0;
        int64_t size = 0;
        for (size_t part = set; part > 0; part = (part - 1) & set) {
            demand += demands[part];
        }
        for (size_t rest = set; rest > 0; rest &= rest - 1) {
            size++;
        }
        const int64_t each = (demand + size - 1) / size;
        least = each > least ? each : least;
    }
    return least;
}

static void the_busiest_sends_as_little_as_it_can(void **state)
{
    fixture *f = *state;
    static int64_t demands[SETS];
    const rng base = rng_start("the_busiest_sends_as_little_as_it_can");
    int64_t shared = 0;
    for (int64_t i = 0; i < prop_cases(600); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        int64_t shape[MOST_DIMS];
        const size_t rank = random_shape(&r, shape);
        const tsr_mesh *mesh = random_mesh(f, &r, (mesh_limits){DEVICES, true, true});
        const int64_t devices = tsr_mesh_num_devices(mesh);
        const tsr_mesh *other = random_mesh_of(f, &r, devices, (mesh_limits){DEVICES, true, true});
        const sharding_limits limits = {true, false, rng_chance(&r, 40)};
        const tsr_geometry *src =
            geometry_of(f, random_sharding(f, &r, mesh, rank, shape, limits), rank, shape);
        const tsr_geometry *dst =
            geometry_of(f, random_sharding(f, &r, other, rank, shape, limits), rank, shape);
        const tsr_plan *plan = NULL;
        assert_int_equal(tsr_plan_create(f->ctx, f->arena, src, dst, TSR_I8, &plan), TSR_OK);
        int64_t most = 0;
        for (int64_t device = 0; device < devices; device++) {
            const int64_t sent = tsr_plan_bytes_sent(plan, device);
            most = sent > most ? sent : most;
        }
        count_demands(src, dst, rank, shape, devices, demands);
        assert_int_equal(most, least_possible(demands));
        for (size_t set = 0; set < SETS; set++) {
            shared += demands[set] > 0 && (set & (set - 1)) != 0;
        }
        tsr_arena_reset(f->arena, mark);
    }
    printf("sets of devices that shared the sending: %lld\n", (long long)shared);
    assert_true(shared > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(the_busiest_sends_as_little_as_it_can)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
