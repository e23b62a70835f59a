#include "pairs.h"
#include "post_office.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"

enum { MOST_LAYOUTS = 48, SHAPES = 4 };

/* Layouts of one shape. */
typedef struct catalogue {
    size_t rank;
    int64_t shape[MOST_DIMS];
    const tsr_sharding *layouts[MOST_LAYOUTS];
    size_t count;
} catalogue;

/* What an element is, by its index. */
static double value_at(const int64_t *index, const catalogue *c)
{
    int64_t id = 0;
    for (size_t i = 0; i < c->rank; i++) {
        id = id * c->shape[i] + index[i];
    }
    return (double)(id + 1);
}

/* How a rank's part is filled: the value, or this rank's share of a pending one. */
typedef struct filling {
    const catalogue *of;
    tsr_reduction reduction;
    int64_t member;
    int64_t members;
} filling;

static double share(double value, const filling *how)
{
    const double q = (double)how->member;
    const double n = (double)how->members;
    if (n < 2) {
        return value;
    }
    switch (how->reduction) {
    case TSR_SUM:
        return q + 1 < n ? q + 1 : value - n * (n - 1) / 2;
    case TSR_MAX:
        return value - (q == 1 ? 0 : q + 1);
    case TSR_MIN:
        return value + (q == 1 ? 0 : q + 1);
    case TSR_AVG:
        return value + q - (n - 1) / 2;
    default:
        return q == 0 ? value : 1;
    }
}

static void fill_element(const int64_t *index, void *element, void *state)
{
    const filling *how = state;
    const double value = share(value_at(index, how->of), how);
    memcpy(element, &value, sizeof value);
}

/* Counts elements that are not what they should be. */
typedef struct checking {
    const catalogue *of;
    int64_t wrong;
    int64_t seen;
} checking;

static void check_element(const int64_t *index, void *element, void *state)
{
    checking *check = state;
    double value;
    memcpy(&value, element, sizeof value);
    check->wrong += value != value_at(index, check->of);
    check->seen++;
}

/* One pair under way on one rank. */
typedef struct pair_job {
    tsr_comm *world;
    tsr_arena *arena;
    const catalogue *of;
    const tsr_sharding *from;
    const tsr_sharding *to;
} pair_job;

static tsr_status complain(const pair_job *job, const char *what)
{
    const char *from = "?";
    const char *to = "?";
    tsr_context *ctx = tsr_comm_context(job->world);
    (void)!tsr_sharding_print(ctx, job->arena, job->from, TSR_PRINT_BARE, &from);
    (void)!tsr_sharding_print(ctx, job->arena, job->to, TSR_PRINT_BARE, &to);
    return diag_error(ctx, TSR_ERR_INVALID, NO_PLACE, "%s to %s: %s", from, to, what);
}

static tsr_status filling_of(const pair_job *job, filling *out)
{
    size_t count;
    int64_t group;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(job->from, &count);
    const tsr_groups *groups = NULL;
    const tsr_status status = tsr_groups_create(tsr_comm_context(job->world), job->arena,
                                                tsr_sharding_mesh(job->from), axes, count, &groups);
    if (status < 0) {
        return status;
    }
    *out = (filling){.of = job->of,
                     .reduction = tsr_sharding_reduction(job->from),
                     .members = tsr_groups_size(groups)};
    (void)tsr_groups_find(groups, tsr_comm_rank(job->world), &group, &out->member);
    return TSR_OK;
}

/* How many elements this rank should hold in the end. */
static int64_t elements_of(const tsr_tensor *t, int64_t rank)
{
    int64_t start[MOST_DIMS];
    int64_t size[MOST_DIMS];
    int64_t count = 1;
    (void)tsr_geometry_box(tsr_tensor_geometry(t), rank, start, size);
    for (size_t i = 0; i < tsr_tensor_rank(t); i++) {
        count *= size[i];
    }
    return count;
}

/* Compares the elements, and what moved with what the plan says. */
static tsr_status check_result(const pair_job *job, const tsr_tensor *src, const tsr_tensor *dst,
                               tsr_traffic before)
{
    const int64_t rank = tsr_comm_rank(job->world);
    const tsr_traffic after = tsr_comm_traffic(job->world);
    const tsr_plan *plan = NULL;
    checking check = {.of = job->of};
    tsr_tensor_visit(dst, check_element, &check);
    if (check.wrong > 0 || check.seen != elements_of(dst, rank)) {
        return complain(job, "wrong elements");
    }
    const tsr_status status =
        tsr_plan_create(tsr_comm_context(job->world), job->arena, tsr_tensor_geometry(src),
                        tsr_tensor_geometry(dst), TSR_F64, &plan);
    if (status < 0) {
        return status;
    }
    if (after.bytes_received - before.bytes_received != tsr_plan_bytes_received(plan, rank) ||
        after.bytes_sent - before.bytes_sent != tsr_plan_bytes_sent(plan, rank)) {
        return complain(job, "the transport did not move what the plan says");
    }
    return TSR_OK;
}

static tsr_status run_pair(const pair_job *job)
{
    const catalogue *c = job->of;
    const tsr_tensor_spec spec = {job->from, TSR_F64, c->rank, c->shape};
    tsr_tensor *src = NULL;
    tsr_tensor *dst = NULL;
    filling how;
    tsr_status status = tsr_tensor_create(job->world, &spec, &src);
    if (status < 0) {
        return status;
    }
    status = filling_of(job, &how);
    if (status == TSR_OK) {
        tsr_tensor_fill(src, fill_element, &how);
        const tsr_traffic before = tsr_comm_traffic(job->world);
        status = tsr_barrier(job->world);
        if (status == TSR_OK) {
            status = tsr_redistribute(src, job->to, &dst);
        }
        if (status == TSR_OK) {
            status = check_result(job, src, dst, before);
        }
    }
    tsr_tensor_release(dst);
    tsr_tensor_release(src);
    return status;
}

static bool has_pending(const tsr_sharding *s)
{
    size_t count;
    (void)tsr_sharding_unreduced(s, &count);
    return count > 0;
}

/* All ordered pairs of all catalogues, on one rank. */
static tsr_status run_pairs(tsr_comm *world, void *state)
{
    const catalogue *catalogues = state;
    tsr_arena *arena = NULL;
    tsr_status status = tsr_arena_create(tsr_comm_context(world), &arena);
    for (size_t s = 0; status == TSR_OK && s < SHAPES; s++) {
        const catalogue *c = &catalogues[s];
        for (size_t i = 0; status == TSR_OK && i < c->count * c->count; i++) {
            const tsr_arena_mark mark = tsr_arena_get_mark(arena);
            const pair_job job = {world, arena, c, c->layouts[i / c->count],
                                  c->layouts[i % c->count]};
            if (!has_pending(job.to)) {
                status = run_pair(&job);
            }
            tsr_arena_reset(arena, mark);
        }
    }
    tsr_arena_destroy(arena);
    return status;
}

static void fill_catalogue(fixture *f, rng *r, int64_t ranks, catalogue *c)
{
    do {
        c->rank = random_shape(r, c->shape);
    } while (c->rank == 0 && rng_chance(r, 90));
    const size_t wanted = ranks > 4 ? 14 : 18;
    for (c->count = 0; c->count < wanted; c->count++) {
        const sharding_limits limits = {true, rng_chance(r, 40), rng_chance(r, 50)};
        c->layouts[c->count] =
            random_sharding(f, r, random_mesh_of(f, r, ranks, (mesh_limits){ranks, true, true}),
                            c->rank, c->shape, limits);
    }
}

void check_pairs(fixture *f, int64_t ranks, tsr_ranks kind)
{
    static catalogue catalogues[SHAPES];
    const rng base = rng_start("check_pairs");
    rng r = rng_case(&base, (uint64_t)ranks);
    for (size_t i = 0; i < SHAPES; i++) {
        fill_catalogue(f, &r, ranks, &catalogues[i]);
    }
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kind,
                                  .timeout = 60,
                                  .checked = true,
                                  .segment_bytes = (size_t)1 << 26};
    const tsr_status status = launch_ranks(f->ctx, &spec, run_pairs, catalogues);
    if (status != TSR_OK) {
        fail_msg("%lld ranks: %s", (long long)ranks, tsr_context_diagnostics(f->ctx)->text);
    }
}
