#include "collectives.h"

#include <stdio.h>
#include <string.h>

#include "coll/algorithm.h"
#include "kernel/fold.h"
#include "memory_transport.h"
#include "rt/comm.h"
#include "scenario.h"

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
    for (int kind = 0; kind < COLL_COUNT; kind++) {
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

void check_collectives(fixture *f, int64_t ranks, tsr_ranks kind)
{
    const rng base = rng_start("check_collectives");
    rng r = rng_case(&base, (uint64_t)ranks);
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kind,
                                  .timeout = 60,
                                  .checked = ranks % 2 == 1,
                                  .segment_bytes = (size_t)1 << 26};
    expect_ranks(f, &spec, run_rank, &r);
}

/* Sometimes too large to travel in the records of the rendezvous; always correct. */
static tsr_status run_by(tsr_comm *comm, const rng *base, uint64_t number, const coll_algorithm *a,
                         tsr_dtype dtype, tsr_reduce_op op)
{
    rng r = rng_case(base, number);
    scenario s = {.seed = r.state, .kind = a->kind, .op = op, .dtype = dtype};
    s.exact = !a->shown.ordered;
    scenario_choose_shape(&s, &r);
    if (s.rank > 0 && s.rank < 4 && rng_chance(&r, 80)) {
        s.piece[rng_below(&r, (int64_t)s.rank)] = 20 + rng_below(&r, 40);
    }
    scenario_choose_rest(&s, &r, comm->size);
    return scenario_run(comm, &s);
}

/* All types and reductions by one algorithm. */
static tsr_status run_all_by(tsr_comm *comm, const rng *base, const coll_algorithm *a)
{
    uint64_t number = (uint64_t)coll_algorithm_index(a) << 32;
    for (int dtype = 0; dtype < tsr_dtype_count(); dtype++) {
        for (int op = 0; op < (a->shown.reduces ? FOLD_COUNT : 1); op++, number++) {
            if (a->shown.reduces && !tsr_reduce_op_supports((tsr_reduce_op)op, (tsr_dtype)dtype)) {
                continue;
            }
            const tsr_status status =
                run_by(comm, base, number, a, (tsr_dtype)dtype, (tsr_reduce_op)op);
            if (status < 0) {
                return status;
            }
        }
    }
    return TSR_OK;
}

/* Sets one algorithm after the other, those out of order too, and takes each back. */
static tsr_status force_algorithms(tsr_comm *world, void *state)
{
    bool shared;
    size_t count;
    const coll_algorithm *all = coll_algorithms(&count);
    (void)tsr_comm_transport(world, &shared);
    tsr_status status = tsr_comm_allow_unordered(world, true);
    for (size_t i = 0; i < count && status == TSR_OK; i++) {
        const tsr_algorithm *a = &all[i].shown;
        if (!(shared ? a->shared : a->messages)) {
            continue;
        }
        status = tsr_comm_set_algorithm(world, a->collective, a->name);
        if (status == TSR_OK) {
            status = run_all_by(world, state, &all[i]);
        }
        if (status == TSR_OK) {
            status = tsr_comm_set_algorithm(world, a->collective, "auto");
        }
    }
    return status;
}

void check_algorithms(fixture *f, int64_t ranks, tsr_ranks kind)
{
    const rng base = rng_start("check_algorithms");
    rng r = rng_case(&base, (uint64_t)ranks);
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kind,
                                  .timeout = 60,
                                  .checked = ranks % 2 == 0,
                                  .segment_bytes = (size_t)1 << 26};
    expect_ranks(f, &spec, force_algorithms, &r);
}
