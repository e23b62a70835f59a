/*
 * Ranks laid over the levels of invented machines: at each level the transport counts what the
 * boxes of two layouts say that ranks which differ there first send each other.
 */
#include <stdio.h>
#include <string.h>

#include <tessera/tensor.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

enum { MAX_RANKS = 12, MAX_SIZES = 3, ROWS = 29, COLUMNS = 26 };

/* A machine, by the sizes of its levels. */
typedef struct machine {
    size_t num_levels;
    int64_t sizes[MAX_SIZES];
} machine;

static const machine machines[] = {
    {1, {1}}, {1, {2}},    {1, {3}},       {2, {2, 2}}, {1, {5}},    {2, {2, 3}}, {2, {3, 2}},
    {1, {7}}, {2, {2, 4}}, {3, {2, 2, 2}}, {2, {3, 3}}, {2, {5, 2}}, {1, {11}},   {3, {2, 3, 2}},
};

static int64_t num_ranks(const machine *m)
{
    int64_t ranks = 1;
    for (size_t l = 0; l < m->num_levels; l++) {
        ranks *= m->sizes[l];
    }
    return ranks;
}

/* The coordinate of a rank at a level, the innermost one fastest. */
static int64_t coordinate(const machine *m, size_t level, int64_t rank)
{
    for (size_t l = m->num_levels; l-- > level + 1;) {
        rank /= m->sizes[l];
    }
    return rank % m->sizes[level];
}

/* The outermost level at which two ranks differ. */
static size_t level_between(const machine *m, int64_t a, int64_t b)
{
    size_t l = 0;
    while (coordinate(m, l, a) == coordinate(m, l, b)) {
        l++;
    }
    return l;
}

static tsr_status invent(tsr_comm *world, tsr_arena *arena, const machine *m,
                         const tsr_topology **out)
{
    static const char *const names[MAX_SIZES] = {"a", "b", "c"};
    tsr_level levels[MAX_SIZES];
    for (size_t l = 0; l < m->num_levels; l++) {
        levels[l] = (tsr_level){names[l], m->sizes[l], 1000000, 1000000000};
    }
    const tsr_topology_spec spec = {.num_levels = m->num_levels,
                                    .levels = levels,
                                    .copy_bandwidth = 1000000000,
                                    .reduce_bandwidth = 1000000000};
    return tsr_topology_create(tsr_comm_context(world), arena, &spec, out);
}

/* What a rank gets of another, in bytes. */
typedef int64_t (*part_between)(int64_t ranks, int64_t from, int64_t to);

/* How many rows of `extent` a rank has. */
static int64_t chunk(int64_t extent, int64_t ranks, int64_t rank)
{
    const int64_t rows = (extent + ranks - 1) / ranks;
    const int64_t left = extent - rank * rows;
    return left < 0 ? 0 : left < rows ? left : rows;
}

static int64_t of_gather(int64_t ranks, int64_t from, int64_t to)
{
    (void)to;
    return 4 * chunk(ROWS, ranks, from) * COLUMNS;
}

static int64_t of_exchange(int64_t ranks, int64_t from, int64_t to)
{
    return 4 * chunk(ROWS, ranks, from) * chunk(COLUMNS, ranks, to);
}

static int64_t of_scatter(int64_t ranks, int64_t from, int64_t to)
{
    (void)from;
    return 4 * chunk(ROWS, ranks, to) * COLUMNS;
}

static int64_t of_reversal(int64_t ranks, int64_t from, int64_t to)
{
    return from == ranks - 1 - to ? 4 * chunk(ROWS, ranks, to) * COLUMNS : 0;
}

/* Compares what was counted with what each rank sends each. */
static bool is_counted(const tsr_comm *world, const machine *m, part_between part)
{
    const int64_t me = tsr_comm_rank(world);
    const int64_t ranks = tsr_comm_size(world);
    tsr_traffic wanted[MAX_SIZES] = {{0}};
    for (int64_t r = 0; r < ranks; r++) {
        if (r != me) {
            const size_t l = level_between(m, me, r);
            wanted[l].bytes_received += part(ranks, r, me);
            wanted[l].bytes_sent += part(ranks, me, r);
        }
    }
    bool same = true;
    for (size_t l = 0; l < m->num_levels; l++) {
        const tsr_traffic got = tsr_comm_traffic_at(world, l);
        same = same && got.bytes_received == wanted[l].bytes_received &&
               got.bytes_sent == wanted[l].bytes_sent && got.bytes_local == 0;
    }
    return same;
}

typedef struct scene {
    tsr_comm *world;
    tsr_arena *arena;
    const machine *m;
    const tsr_topology *topology;
    const tsr_mesh *mesh;
    const tsr_mesh *reversed;
} scene;

/* A redistribution between two layouts, counted from zeros. */
static tsr_status move(const scene *s, const tsr_mesh *from_mesh, const char *from, const char *to)
{
    static const int64_t shape[] = {ROWS, COLUMNS};
    tsr_context *ctx = tsr_comm_context(s->world);
    const tsr_sharding *before = NULL;
    const tsr_sharding *after = NULL;
    tsr_tensor *src = NULL;
    tsr_tensor *dst = NULL;
    TSR_TRY(tsr_sharding_parse(ctx, s->arena, from_mesh, from, &before));
    TSR_TRY(tsr_sharding_parse(ctx, s->arena, s->mesh, to, &after));
    const tsr_tensor_spec spec = {before, TSR_F32, 2, shape};
    TSR_TRY(tsr_tensor_create(s->world, &spec, &src));
    tsr_status status = tsr_comm_set_topology(s->world, s->topology);
    status = status == TSR_OK ? tsr_redistribute(src, after, &dst) : status;
    tsr_tensor_release(dst);
    tsr_tensor_release(src);
    return status;
}

/* Collectives of the world: whatever the algorithm, all that moves is counted at some level. */
static tsr_status call(const scene *s, int64_t elements)
{
    tsr_context *ctx = tsr_comm_context(s->world);
    const int64_t ranks = tsr_comm_size(s->world);
    float *memory = tsr_arena_alloc(s->arena, (size_t)(elements * (ranks + 1)) * sizeof *memory);
    if (memory == NULL) {
        return diag_nomem(ctx);
    }
    memset(memory, 0, (size_t)(elements * (ranks + 1)) * sizeof *memory);
    const int64_t all = elements * ranks;
    const tsr_view one = {memory, TSR_F32, 1, &elements, NULL};
    const tsr_view whole = {memory + elements, TSR_F32, 1, &all, NULL};
    TSR_TRY(tsr_comm_all_gather(s->world, &one, 0, &whole));
    TSR_TRY(tsr_comm_all_reduce(s->world, TSR_REDUCE_SUM, &one, &one));
    return tsr_comm_broadcast(s->world, &one, ranks - 1);
}

static tsr_status check_calls(const scene *s, int64_t elements)
{
    TSR_TRY(tsr_comm_set_topology(s->world, s->topology));
    const tsr_traffic before = tsr_comm_traffic(s->world);
    TSR_TRY(call(s, elements));
    TSR_TRY(tsr_barrier(s->world));
    const tsr_traffic after = tsr_comm_traffic(s->world);
    tsr_traffic sum = {0};
    for (size_t l = 0; l < s->m->num_levels; l++) {
        sum.bytes_sent += tsr_comm_traffic_at(s->world, l).bytes_sent;
        sum.bytes_received += tsr_comm_traffic_at(s->world, l).bytes_received;
    }
    WANT(s->world, sum.bytes_sent == after.bytes_sent - before.bytes_sent);
    WANT(s->world, sum.bytes_received == after.bytes_received - before.bytes_received);
    WANT(s->world, tsr_comm_size(s->world) == 1 || sum.bytes_received + sum.bytes_sent > 0);
    return TSR_OK;
}

static tsr_status check_machine(const scene *s)
{
    TSR_TRY(move(s, s->mesh, "[{\"x\"}, {}]", "[{}, {}]"));
    WANT(s->world, is_counted(s->world, s->m, of_gather));
    TSR_TRY(move(s, s->mesh, "[{\"x\"}, {}]", "[{}, {\"x\"}]"));
    WANT(s->world, is_counted(s->world, s->m, of_exchange));
    TSR_TRY(move(s, s->mesh, "[{}, {}], unreduced={\"x\"}", "[{\"x\"}, {}]"));
    WANT(s->world, is_counted(s->world, s->m, of_scatter));
    TSR_TRY(move(s, s->reversed, "[{\"x\"}, {}]", "[{\"x\"}, {}]"));
    WANT(s->world, is_counted(s->world, s->m, of_reversal));
    TSR_TRY(check_calls(s, 1));
    TSR_TRY(check_calls(s, 4099));
    TSR_TRY(tsr_comm_set_topology(s->world, NULL));
    TSR_TRY(call(s, 1));
    WANT(s->world, tsr_comm_traffic_at(s->world, 0).bytes_received == 0);
    return TSR_OK;
}

static tsr_status run_machine(tsr_comm *world, void *state)
{
    scene s = {.world = world, .m = state};
    tsr_context *ctx = tsr_comm_context(world);
    char text[256];
    const int64_t ranks = tsr_comm_size(world);
    TSR_TRY(tsr_arena_create(ctx, &s.arena));
    tsr_status status = invent(world, s.arena, s.m, &s.topology);
    (void)snprintf(text, sizeof text, "<[\"x\"=%lld]>", (long long)ranks);
    status = status == TSR_OK ? tsr_mesh_parse(ctx, s.arena, text, &s.mesh) : status;
    int length = snprintf(text, sizeof text, "<[\"x\"=%lld], device_ids=[", (long long)ranks);
    for (int64_t r = ranks; r-- > 0;) {
        length += snprintf(text + length, sizeof text - (size_t)length, "%lld%s", (long long)r,
                           r > 0 ? ", " : "]>");
    }
    status = status == TSR_OK ? tsr_mesh_parse(ctx, s.arena, text, &s.reversed) : status;
    status = status == TSR_OK ? check_machine(&s) : status;
    tsr_arena_destroy(s.arena);
    return status;
}

static tsr_status launch(fixture *f, int64_t ranks, tsr_rank_function function, void *state)
{
    const tsr_launch_spec spec = {
        .num_ranks = ranks, .ranks = kinds_chosen(), .segment_bytes = (size_t)1 << 22};
    return launch_ranks(f->ctx, &spec, function, state);
}

static void levels_are_counted(void **state)
{
    fixture *f = *state;
    int64_t ranks = 0;
    for (size_t at = 0; kinds_next_count(&at, MAX_RANKS, &ranks);) {
        for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
            machine m = machines[i];
            if (num_ranks(&m) == ranks && launch(f, ranks, run_machine, &m) != TSR_OK) {
                fail_msg("machine %zu: %s", i, tsr_context_diagnostics(f->ctx)->text);
            }
        }
    }
}

/* Ranks that set different topologies, one that fits none of them, a group, a pending request. */
static tsr_status refuse(tsr_comm *world, void *state)
{
    (void)state;
    static const machine machine_of[] = {{2, {2, 2}}, {1, {4}}, {2, {2, 3}}};
    const tsr_topology *t[3] = {NULL};
    const tsr_mesh *mesh = NULL;
    tsr_comm *group = NULL;
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    for (size_t i = 0; i < 3; i++) {
        TSR_TRY(invent(world, arena, &machine_of[i], &t[i]));
    }
    WANT(world, tsr_comm_set_topology(world, t[tsr_comm_rank(world) == 1]) < 0);
    WANT(world, heard(world, "the ranks make different calls"));
    WANT(world, tsr_comm_set_topology(world, t[2]) < 0);
    WANT(world, heard(world, "6"));
    TSR_TRY(tsr_mesh_parse(tsr_comm_context(world), arena, "<[\"x\"=2, \"y\"=2]>", &mesh));
    const tsr_axis_ref axis = tsr_axis_full(mesh, 1);
    TSR_TRY(tsr_comm_along(world, mesh, &axis, 1, &group));
    WANT(world, tsr_comm_set_topology(group, t[0]) < 0);
    WANT(world, heard(world, "pass the communicator of the world"));

    float sum = 1;
    tsr_request request;
    const tsr_view view = {&sum, TSR_F32, 0, NULL, NULL};
    TSR_TRY(tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &view, &view, &request));
    WANT(world, tsr_comm_set_topology(world, t[0]) < 0);
    WANT(world, heard(world, "wait for all requests before setting a topology"));
    TSR_TRY(tsr_wait(world, request));
    TSR_TRY(tsr_comm_set_topology(world, t[0]));
    WANT(world, tsr_comm_traffic_at(world, 2).bytes_sent == 0);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void faults_are_refused(void **state)
{
    fixture *f = *state;
    int64_t ranks = 0;
    for (size_t at = 0; kinds_next_count(&at, 4, &ranks);) {
        if (ranks == 4 && launch(f, ranks, refuse, NULL) != TSR_OK) {
            fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
        }
    }
}

static tsr_status ask_abstract(tsr_comm *world, void *state)
{
    (void)state;
    WANT(world, tsr_comm_set_topology(world, NULL) == TSR_ERR_UNSUPPORTED);
    WANT(world, heard(world, "this world is abstract"));
    WANT(world, tsr_comm_traffic_at(world, 0).bytes_sent == 0);
    return TSR_OK;
}

static void abstract_worlds_move_nothing(void **state)
{
    fixture *f = *state;
    if (tsr_launch_abstract(f->ctx, 4, 0, ask_abstract, NULL) != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
}

int main(int argc, char **argv)
{
    kinds_choose(argc, argv);
    const struct CMUnitTest tests[] = {TEST(levels_are_counted), TEST(faults_are_refused),
                                       TEST(abstract_worlds_move_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
