/* Collectives: their results on many layouts, their errors, what they move. */
#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "kinds.h"
#include "scenario.h"

#include "kernel/fold.h"
#include "rt/comm.h"

static tsr_status run_one(tsr_comm *comm, const rng *base, uint64_t number, coll_kind kind,
                          tsr_dtype dtype, tsr_reduce_op op)
{
    rng r = rng_case(base, number);
    scenario s = {.seed = r.state, .kind = kind, .op = op, .dtype = dtype};
    scenario_choose_shape(&s, &r);
    scenario_choose_rest(&s, &r, comm->size);
    return scenario_run(comm, &s);
}

/* Every collective with every type, and every reduction that a type has. */
static tsr_status run_all(tsr_comm *comm, const rng *base, uint64_t round)
{
    uint64_t number = round << 32;
    for (int kind = 0; kind < COLL_CALLS; kind++) {
        const bool reduces = coll_has(coll_row_of((coll_kind)kind), COLL_HAS_OP);
        for (int dtype = 0; dtype < tsr_dtype_count(); dtype++) {
            for (int op = 0; op < (reduces ? FOLD_COUNT : 1); op++, number++) {
                if (reduces && !tsr_reduce_op_supports((tsr_reduce_op)op, (tsr_dtype)dtype)) {
                    continue;
                }
                const tsr_status status = run_one(comm, base, number, (coll_kind)kind,
                                                  (tsr_dtype)dtype, (tsr_reduce_op)op);
                if (status < 0) {
                    return status;
                }
            }
        }
    }
    return TSR_OK;
}

/* A mesh over n ranks in another order than theirs, and the axes to go along. */
static const char *mesh_over(int64_t n, const char **axes, char *text, size_t size)
{
    if (n == 8) {
        *axes = "ca";
        return "<[\"a\"=2, \"b\"=2, \"c\"=2]>";
    }
    if (n == 4) {
        *axes = "b";
        return "<[\"a\"=2, \"b\"=2], device_ids=[0, 3, 1, 2]>";
    }
    *axes = "a";
    (void)snprintf(text, size, "<[\"a\"=%lld], device_ids=[", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        const size_t used = strlen(text);
        (void)snprintf(text + used, size - used, "%lld%s", (long long)(n - 1 - i),
                       i + 1 < n ? ", " : "]>");
    }
    return text;
}

static tsr_status make_group(tsr_comm *world, tsr_arena *arena, tsr_comm **out)
{
    char text[200];
    const char *names;
    const tsr_mesh *mesh = NULL;
    tsr_axis_ref axes[2];
    tsr_context *ctx = tsr_comm_context(world);
    const char *form = mesh_over(world->size, &names, text, sizeof text);
    const tsr_status status = tsr_mesh_parse(ctx, arena, form, &mesh);
    if (status < 0) {
        return status;
    }
    for (size_t i = 0; names[i] != '\0'; i++) {
        const int32_t axis = tsr_mesh_find_axis(mesh, &names[i], 1);
        axes[i] =
            (tsr_axis_ref){.axis = axis, .pre = 1, .size = tsr_mesh_axis_size(mesh, (size_t)axis)};
    }
    return tsr_comm_along(world, mesh, axes, strlen(names), out);
}

static tsr_status run_rank(tsr_comm *world, void *state)
{
    const rng *base = state;
    tsr_arena *arena = NULL;
    tsr_comm *group = NULL;
    tsr_status status = tsr_arena_create(tsr_comm_context(world), &arena);
    if (status == TSR_OK) {
        status = run_all(world, base, 0);
    }
    if (status == TSR_OK) {
        status = make_group(world, arena, &group);
    }
    if (status == TSR_OK) {
        status = run_all(group, base, 1);
    }
    tsr_arena_destroy(arena);
    return status;
}

static void check_on(fixture *f, int64_t ranks)
{
    const rng base = rng_start("check_collectives");
    rng r = rng_case(&base, (uint64_t)ranks);
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kinds_chosen(),
                                  .timeout = 60,
                                  .checked = ranks % 2 == 1,
                                  .segment_bytes = (size_t)1 << 26};
    expect_ranks(f, &spec, run_rank, &r);
}

static void everything(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 11, &ranks);) {
        check_on(*state, ranks);
    }
}

static void faults(void **state)
{
    check_collective_faults(*state, kinds_chosen());
}

static void differences(void **state)
{
    check_collective_differences(*state, kinds_chosen());
}

static void traffic(void **state)
{
    check_collective_traffic(*state, kinds_chosen());
}

static void repeats(void **state)
{
    check_collective_repeats(*state, kinds_chosen());
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(everything), TEST(faults), TEST(differences), TEST(traffic), TEST(repeats),
    };
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
