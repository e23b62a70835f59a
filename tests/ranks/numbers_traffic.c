/*
 * What a plan says of a pending reduction that goes to uneven shards, in one step or in two, is
 * what moves: received and sent bytes of every rank, and their totals. Two steps are taken just
 * where the busiest rank then receives less than in one, although both together may move more.
 */
#include <stdio.h>
#include <string.h>

#include <tessera/plan.h>

#include "base/base.h"
#include "kinds.h"
#include "random.h"
#include "want.h"

enum { CASES = 60, MAX_RANKS = 6 };

/* A redistribution with its plan, and the plan that would take one step. */
typedef struct trial {
    tsr_tensor_spec src;
    const tsr_sharding *dst;
    const tsr_plan *plan;
    const tsr_plan *one;
    int64_t shape[2];
} trial;

typedef struct trials {
    trial list[CASES];
    int64_t in_two;     /* steps */
    int64_t moves_more; /* of those */
} trials;

static bool is_pending(const tsr_sharding *s)
{
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(s, &count);
    return tsr_axes_size(axes, count) > 1;
}

static bool is_ragged(const tsr_sharding *s)
{
    for (size_t d = 0; d < tsr_sharding_rank(s); d++) {
        if (tsr_sharding_dim(s, d)->ragged != NULL) {
            return true;
        }
    }
    return false;
}

/* A pending layout and one with nothing pending, whose shards have explicit sizes most of the time.
 */
static void draw_layouts(fixture *f, rng *r, const tsr_mesh *mesh, trial *t)
{
    const bool ragged = rng_chance(r, 75);
    const tsr_sharding *s = NULL;
    do {
        s = random_sharding(f, r, mesh, t->src.rank, t->shape, (sharding_limits){.lists = true});
    } while (!is_pending(s));
    t->src.sharding = with_reduction(f, s, false, TSR_SUM);
    do {
        s = random_sharding(f, r, mesh, t->src.rank, t->shape, (sharding_limits){.ragged = ragged});
    } while (is_ragged(s) != ragged);
    t->dst = with_reduction(f, s, true, TSR_SUM);
}

static tsr_plan_totals total_of(fixture *f, const tsr_plan *plan)
{
    tsr_plan_totals total;
    assert_int_equal(tsr_plan_total(f->ctx, plan, &total), TSR_OK);
    return total;
}

static void draw_trial(fixture *f, rng *r, int64_t ranks, trials *all, trial *t)
{
    const tsr_mesh *mesh = random_mesh_of(f, r, ranks, (mesh_limits){ranks, true, true});
    t->src = (tsr_tensor_spec){.dtype = TSR_F32, .rank = 1 + (size_t)rng_below(r, 2)};
    t->src.shape = t->shape;
    t->shape[0] = 5 + rng_below(r, 40);
    t->shape[1] = 1 + rng_below(r, 6);
    draw_layouts(f, r, mesh, t);
    const tsr_geometry *from = geometry_of(f, t->src.sharding, t->src.rank, t->shape);
    const tsr_geometry *to = geometry_of(f, t->dst, t->src.rank, t->shape);
    const tsr_step_spec step = {TSR_STEP_DIRECT, to};
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, from, to, TSR_F32, &t->plan), TSR_OK);
    assert_int_equal(tsr_plan_from_steps(f->ctx, f->arena, from, 1, &step, TSR_F32, &t->one),
                     TSR_OK);
    const tsr_plan_totals got = total_of(f, t->plan);
    const tsr_plan_totals one = total_of(f, t->one);
    if (tsr_plan_num_steps(t->plan) == 1) {
        assert_memory_equal(&got, &one, sizeof got);
        return;
    }
    assert_int_equal(tsr_plan_num_steps(t->plan), 2);
    assert_true(got.most_received < one.most_received);
    all->in_two++;
    all->moves_more += got.moved > one.moved;
}

static tsr_status sum_of_all(tsr_comm *world, int64_t mine, int64_t *out)
{
    const tsr_view view = {out, TSR_I64, 0, NULL, NULL};
    *out = mine;
    return tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &view, &view);
}

static tsr_status run_trial(tsr_comm *world, const trial *t)
{
    const int64_t rank = tsr_comm_rank(world);
    tsr_tensor *src = NULL;
    tsr_tensor *dst = NULL;
    tsr_plan_totals total;
    int64_t moved = 0;
    TSR_TRY(tsr_ones(world, &t->src, &src));
    TSR_TRY(tsr_barrier(world));
    const tsr_traffic before = tsr_comm_traffic(world);
    TSR_TRY(tsr_redistribute(src, t->dst, &dst));
    const tsr_traffic after = tsr_comm_traffic(world);
    const int64_t received = after.bytes_received - before.bytes_received;
    WANT(world, received == tsr_plan_bytes_received(t->plan, rank));
    WANT(world, after.bytes_sent - before.bytes_sent == tsr_plan_bytes_sent(t->plan, rank));
    TSR_TRY(sum_of_all(world, received, &moved));
    TSR_TRY(tsr_plan_total(tsr_comm_context(world), t->plan, &total));
    WANT(world, moved == total.moved);
    tsr_tensor_release(dst);
    tsr_tensor_release(src);
    return TSR_OK;
}

static tsr_status run(tsr_comm *world, void *state)
{
    const trials *all = state;
    for (size_t i = 0; i < CASES; i++) {
        TSR_TRY(run_trial(world, &all->list[i]));
    }
    return TSR_OK;
}

static void what_moves_is_what_the_plan_says(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("traffic");
    trials *all = tsr_arena_alloc(f->arena, sizeof *all);
    int64_t ranks;
    assert_non_null(all);
    memset(all, 0, sizeof *all);
    for (size_t at = 0; kinds_next_count(&at, MAX_RANKS, &ranks);) {
        for (size_t i = 0; ranks > 1 && i < CASES; i++) {
            rng r = rng_case(&base, (uint64_t)ranks * 1000 + i);
            draw_trial(f, &r, ranks, all, &all->list[i]);
        }
        const tsr_launch_spec spec = {.num_ranks = ranks, .ranks = kinds_chosen()};
        if (ranks > 1) {
            expect_ranks(f, &spec, run, all);
        }
    }
    if (tsr_launcher_rank() <= 0) {
        printf("%lld plans of two steps, %lld of which move more than one step would\n",
               (long long)all->in_two, (long long)all->moves_more);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(what_moves_is_what_the_plan_says)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
