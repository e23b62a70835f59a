/* Algorithms: their results, what they send, what a world may be told, and the same bits anywhere.
 */
#include <stdlib.h>
#include <string.h>

#include "kinds.h"
#include "scenario.h"
#include "want.h"

#include "base/map.h"
#include "coll/algorithm.h"
#include "kernel/fold.h"
#include "rt/comm.h"

enum { GUILTY = 1, MOST = 11, EACH = 24 };

static tsr_status launch(fixture *f, tsr_ranks kind, int64_t ranks, bool checked,
                         tsr_rank_function function, void *state)
{
    const tsr_launch_spec spec = {.num_ranks = kind == TSR_RANKS_MPI ? 0 : ranks,
                                  .ranks = kind,
                                  .timeout = 30,
                                  .checked = checked,
                                  .segment_bytes = (size_t)1 << 24};
    return launch_ranks(f->ctx, &spec, function, state);
}

static void expect_success(fixture *f, int64_t ranks, bool checked, tsr_rank_function function)
{
    if (launch(f, kinds_chosen(), ranks, checked, function, NULL) != TSR_OK) {
        fail_msg("%lld ranks: %s", (long long)ranks, tsr_context_diagnostics(f->ctx)->text);
    }
}

static bool shares_memory(const tsr_comm *world)
{
    bool shared;
    (void)tsr_comm_transport(world, &shared);
    return shared;
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

static void results_on(fixture *f, int64_t ranks)
{
    const rng base = rng_start("check_algorithms");
    rng r = rng_case(&base, (uint64_t)ranks);
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kinds_chosen(),
                                  .timeout = 60,
                                  .checked = ranks % 2 == 0,
                                  .segment_bytes = (size_t)1 << 26};
    expect_ranks(f, &spec, force_algorithms, &r);
}

static void results(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, MOST, &ranks);) {
        results_on(*state, ranks);
    }
}

/* A call of any collective on f32[24] for each member, or on as many times the members. */
typedef struct plain_call {
    float in[MOST * EACH];
    float out[MOST * EACH];
    int64_t few;
    int64_t many;
    int64_t counts[MOST];
    int64_t destinations[MOST];
    tsr_view src;
    tsr_view dst;
    any_call call;
} plain_call;

/* Sets up a call; returns what n is in its formula, in bytes. */
static int64_t set_up(plain_call *c, const tsr_comm *world, coll_kind kind)
{
    const coll_row *row = coll_row_of(kind);
    const int64_t p = tsr_comm_size(world);
    const bool whole = kind == COLL_ALL_REDUCE;
    memset(c, 0, sizeof *c);
    c->few = EACH;
    c->many = EACH * p;
    for (int64_t i = 0; i < p; i++) {
        c->counts[i] = EACH;
        c->destinations[i] = (i + 1) % p;
    }
    const bool cut_src = coll_has(row, COLL_CUTS_SRC) || whole;
    const bool cut_dst = coll_has(row, COLL_CUTS_DST) || whole;
    c->src = (tsr_view){c->in, TSR_F32, 1, cut_src ? &c->many : &c->few, NULL};
    c->dst = (tsr_view){c->out, TSR_F32, 1, cut_dst ? &c->many : &c->few, NULL};
    c->call = (any_call){.kind = kind,
                         .src = &c->src,
                         .dst = &c->dst,
                         .root = p - 1,
                         .counts = c->counts,
                         .receive_counts = c->counts,
                         .destinations = c->destinations};
    return (cut_src || cut_dst ? c->many : c->few) * (int64_t)sizeof(float);
}

static tsr_status largest(tsr_comm *world, int64_t *value)
{
    int64_t mine = *value;
    const tsr_view view = {&mine, TSR_I64, 0, NULL, NULL};
    const tsr_status status = tsr_comm_all_reduce(world, TSR_REDUCE_MAX, &view, &view);
    *value = mine;
    return status;
}

/* What the transport had to do in a row, by one algorithm, against its formula. */
static tsr_status count_one(tsr_comm *world, const coll_algorithm *a)
{
    static _Thread_local plain_call c;
    const int64_t p = tsr_comm_size(world);
    const double n = (double)set_up(&c, world, a->kind);
    const bool tells = a->kind == COLL_ALL_TO_ALL_V; /* the counts go first */
    const int64_t told = tells ? p - 1 : 0;
    WANT(world, tsr_comm_set_algorithm(world, a->shown.collective, a->shown.name) == TSR_OK);
    (void)memory_transport_critical_path(tsr_comm_rank(world));
    WANT(world, tsr_barrier(world) == TSR_OK);
    WANT(world, make_call(world, &c.call) == TSR_OK);
    critical_path busy = memory_transport_critical_path(tsr_comm_rank(world));
    WANT(world, largest(world, &busy.messages) == TSR_OK);
    WANT(world, largest(world, &busy.bytes) == TSR_OK);
    const double messages = a->cost(n, p).messages + (double)told;
    const double bytes = a->cost(n, p).bytes + (double)(told * 16 * (p + 1));
    if ((double)busy.messages != messages || (double)busy.bytes != bytes) {
        return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION,
                          "%s by %s: %lld messages, wanted %g; %lld bytes, wanted %g",
                          a->shown.collective, a->shown.name, (long long)busy.messages, messages,
                          (long long)busy.bytes, bytes);
    }
    return tsr_comm_set_algorithm(world, a->shown.collective, "auto");
}

static tsr_status count_all(tsr_comm *world, void *state)
{
    size_t count;
    const coll_algorithm *all = coll_algorithms(&count);
    (void)state;
    WANT(world, tsr_comm_allow_unordered(world, true) == TSR_OK);
    for (size_t i = 0; i < count; i++) {
        if (all[i].shown.messages) {
            const tsr_status status = count_one(world, &all[i]);
            if (status < 0) {
                return status;
            }
        }
    }
    return TSR_OK;
}

static void costs(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, MOST, &ranks);) {
        if (kinds_chosen() == RANKS_BY_MESSAGES) {
            expect_success(*state, ranks, false, count_all);
        }
    }
}

static bool takes(tsr_comm *world, const char *collective, double bytes, const char *name)
{
    const tsr_algorithm *a = NULL;
    return tsr_comm_algorithm(world, collective, bytes, &a) == TSR_OK && strcmp(a->name, name) == 0;
}

/* What one rank says wrongly every rank hears, and what was chosen stays. */
static tsr_status set_wrongly(tsr_comm *world, void *state)
{
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    const tsr_link link = {.alpha = guilty ? -1 : 1};
    const tsr_link other = {.alpha = guilty ? 2 : 1};
    tsr_request request;
    int64_t number = 0;
    const tsr_view view = {&number, TSR_I64, 0, NULL, NULL};
    (void)state;
    WANT(world, tsr_comm_set_algorithm(world, guilty ? "all_reduce" : "all-reduce", "shares") ==
                    TSR_ERR_INVALID);
    WANT(world, heard(world, guilty ? "unknown collective" : "rank 1 refuses: unknown"));
    WANT(world,
         tsr_comm_set_algorithm(world, "all-reduce", guilty ? NULL : "shares") == TSR_ERR_INVALID);
    WANT(world, heard(world, "the name of the algorithm is missing"));
    WANT(world,
         tsr_comm_set_algorithm(world, "all-reduce", guilty ? "auto" : "shares") == TSR_ERR_PEER);
    tsr_context_clear(tsr_comm_context(world));
    WANT(world, tsr_comm_set_link(world, &link) == TSR_ERR_INVALID);
    WANT(world, heard(world, "alpha of a link must be finite and not negative, got: -1"));
    WANT(world, tsr_comm_set_link(world, &other) == TSR_ERR_PEER);
    WANT(world, tsr_comm_allow_unordered(world, guilty) == TSR_ERR_PEER);
    tsr_context_clear(tsr_comm_context(world));
    WANT(world, tsr_comm_set_algorithm(world, "all-reduce", "doubling") == TSR_ERR_INVALID);
    WANT(world, heard(world, shares_memory(world) ? "unknown algorithm 'doubling'"
                                                  : "does not reduce in group order"));
    WANT(world, tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &view, &view, &request) < 0 ||
                    tsr_comm_set_algorithm(world, "all-reduce", "shares") == TSR_ERR_INVALID);
    WANT(world, heard(world, "a request is pending"));
    WANT(world, tsr_wait(world, request) == TSR_OK);
    WANT(world, takes(world, "all-reduce", 100, shares_memory(world) ? "shares" : "direct"));
    return TSR_OK;
}

/* What all ranks say is done, in their groups too. */
static tsr_status set_rightly(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    tsr_comm *group = NULL;
    tsr_context *ctx = tsr_comm_context(world);
    const bool shared = shares_memory(world);
    (void)state;
    WANT(world, tsr_arena_create(ctx, &arena) == TSR_OK);
    WANT(world, tsr_mesh_parse(ctx, arena, "<[\"x\"=3]>", &mesh) == TSR_OK);
    const tsr_axis_ref axis = tsr_axis_full(mesh, 0);
    WANT(world, tsr_comm_along(world, mesh, &axis, 1, &group) == TSR_OK);
    tsr_arena_destroy(arena);
    WANT(world, tsr_comm_set_algorithm(world, "all-gather", "direct") == TSR_OK);
    WANT(world, takes(group, "all-gather", 1, "direct"));
    WANT(world, tsr_comm_set_algorithm(group, "all-gather", "auto") == TSR_ERR_INVALID);
    WANT(world, heard(world, "algorithms are chosen for the whole world"));
    WANT(world, tsr_comm_set_algorithm(world, "all-gather", "auto") == TSR_OK);
    WANT(world, shared || takes(group, "all-reduce", 1e6, "shares"));
    WANT(world, tsr_comm_set_link(world, &(tsr_link){.alpha = 1}) == TSR_OK);
    WANT(world, shared || takes(group, "all-reduce", 1e6, "direct"));
    WANT(world, tsr_comm_allow_unordered(world, true) == TSR_OK);
    WANT(world, tsr_comm_allow_unordered(world, false) == TSR_OK);
    if (!shared) {
        WANT(world, tsr_comm_allow_unordered(world, true) == TSR_OK);
        WANT(world, tsr_comm_set_algorithm(world, "all-reduce", "doubling") == TSR_OK);
        WANT(world, tsr_comm_allow_unordered(world, false) == TSR_ERR_INVALID);
        WANT(world, heard(world, "all-reduce is set to doubling"));
    }
    return TSR_OK;
}

/* Ranks whose environments differ: a call that would go different ways fails on all of them. */
static tsr_status differ(tsr_comm *world, void *state)
{
    static _Thread_local plain_call c;
    tsr_context *ctx = tsr_comm_context(world);
    (void)state;
    if (shares_memory(world)) {
        return TSR_OK;
    }
    (void)set_up(&c, world, COLL_ALL_GATHER);
    if (tsr_comm_rank(world) == GUILTY) {
        WANT(world, coll_choices_set(ctx, &world->state->choices, "all-gather", "ring") == TSR_OK);
    }
    WANT(world, make_call(world, &c.call) == TSR_ERR_PEER);
    WANT(world, heard(world, "rank 1 calls tsr_comm_all_gather(f32[24], dim 0) by ring"));
    WANT(world, coll_choices_set(ctx, &world->state->choices, "all-gather", "ring") == TSR_OK);
    WANT(world, make_call(world, &c.call) == TSR_OK);
    return TSR_OK;
}

static void settings(void **state)
{
    expect_success(*state, 3, false, set_wrongly);
    expect_success(*state, 3, true, set_wrongly);
    expect_success(*state, 3, true, set_rightly);
    expect_success(*state, 3, false, differ);
    expect_success(*state, 3, true, differ);
}

static tsr_status look_at_environment(tsr_comm *world, void *state)
{
    (void)state;
    WANT(world, takes(world, "all-gather", 1, "direct"));
    WANT(world, world->state->choices.set[COLL_ALL_GATHER] != NULL);
    WANT(world, world->state->choices.unordered);
    return TSR_OK;
}

static tsr_status do_nothing(tsr_comm *world, void *state)
{
    (void)world;
    (void)state;
    return TSR_OK;
}

static void environment(void **state)
{
    fixture *f = *state;
    (void)setenv("TSR_ALGORITHMS", "all-gather = direct", 1);
    (void)setenv("TSR_UNORDERED", "1", 1);
    expect_success(f, 3, false, look_at_environment);
    (void)unsetenv("TSR_UNORDERED");
    (void)setenv("TSR_ALGORITHMS", "all-gather=direct,all-reduce=fast", 1);
    if (kinds_chosen() != TSR_RANKS_MPI) {
        assert_true(launch(f, kinds_chosen(), 3, false, do_nothing, NULL) < 0);
        if (kinds_chosen() == TSR_RANKS_THREADS || kinds_chosen() == TSR_RANKS_PROCESSES) {
            expect_message(f, "ranks 0-2 failed: unknown algorithm 'fast' for all-reduce");
        }
    }
    (void)unsetenv("TSR_ALGORITHMS");
}

/* What the bits of many sums came to, in memory that forked processes share. */
typedef struct bits {
    uint64_t ordered;
    uint64_t unordered;
} bits;

/* Numbers of many sizes, so that their sums depend on the order. */
static void fill(void *data, tsr_dtype dtype, int64_t count, int64_t rank)
{
    uint64_t luck = (uint64_t)rank * 977 + 12345;
    for (int64_t i = 0; i < count; i++) {
        luck = luck * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double x = ((double)(luck >> 40) + 1) * 1e-6 * ((luck & 1024) != 0 ? -1 : 1);
        if (dtype == TSR_F64) {
            ((double *)data)[i] = x * x * x;
        } else if (dtype == TSR_F32) {
            ((float *)data)[i] = (float)(x * x);
        } else {
            /* Exponents from 2^-3 on, a few bits of them, whatever the format of 16 bits. */
            const uint64_t mask = dtype == TSR_F16 ? 0x9fff : 0x81ff;
            const uint64_t least = dtype == TSR_F16 ? 0x3000 : 0x3e00;
            ((uint16_t *)data)[i] = (uint16_t)((luck >> 33 & mask) + least);
        }
    }
}

/* Sums of one type and size, all-reduced and reduce-scattered; chained into the hash. */
static tsr_status hash_sums(tsr_comm *world, tsr_dtype dtype, int64_t rows, uint64_t *hash)
{
    const int64_t p = tsr_comm_size(world);
    const int64_t count = rows * p;
    const size_t item = (size_t)tsr_dtype_item_bytes(dtype);
    char *memory = malloc((2 * (size_t)count + (size_t)rows) * item);
    WANT(world, memory != NULL);
    const tsr_view src = {memory, dtype, 1, &count, NULL};
    const tsr_view all = {memory + (size_t)count * item, dtype, 1, &count, NULL};
    const tsr_view own = {memory + 2 * (size_t)count * item, dtype, 1, &rows, NULL};
    fill(memory, dtype, count, tsr_comm_rank(world));
    tsr_status status = tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &src, &all);
    status = status < 0 ? status : tsr_comm_reduce_scatter(world, TSR_REDUCE_SUM, &src, 0, &own);
    *hash = hash_bytes(all.data, (size_t)(count + rows) * item, *hash);
    free(memory);
    return status;
}

/* The hash of all ranks' hashes, over types and sizes. */
static tsr_status hash_all(tsr_comm *world, uint64_t *out)
{
    static const tsr_dtype dtypes[] = {TSR_F16, TSR_BF16, TSR_F32, TSR_F64};
    static const int64_t rows[] = {1, 50, 4000};
    uint64_t mine = 0;
    uint64_t each[MOST];
    const int64_t one = 1;
    const int64_t p = tsr_comm_size(world);
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            const tsr_status status = hash_sums(world, dtypes[d], rows[r], &mine);
            if (status < 0) {
                return status;
            }
        }
    }
    const tsr_view src = {&mine, TSR_U64, 1, &one, NULL};
    const tsr_view dst = {each, TSR_U64, 1, &p, NULL};
    const tsr_status status = tsr_comm_all_gather(world, &src, 0, &dst);
    *out = hash_bytes(each, (size_t)p * sizeof *each, 0);
    return status;
}

static tsr_status sum_both_ways(tsr_comm *world, void *state)
{
    bits *out = state;
    bits b;
    WANT(world, hash_all(world, &b.ordered) == TSR_OK);
    WANT(world, tsr_comm_allow_unordered(world, true) == TSR_OK);
    WANT(world, hash_all(world, &b.unordered) == TSR_OK);
    if (tsr_comm_rank(world) == 0) {
        *out = b;
    }
    return TSR_OK;
}

static bits bits_of(fixture *f, tsr_ranks kind, int64_t ranks)
{
    bits *shared = shared_new(sizeof *shared);
    if (launch(f, kind, ranks, false, sum_both_ways, shared) != TSR_OK) {
        fail_msg("%lld ranks: %s", (long long)ranks, tsr_context_diagnostics(f->ctx)->text);
    }
    const bits b = *shared;
    shared_free(shared, sizeof *shared);
    return b;
}

/*
 * In order, the bits are those of threads. Out of it they are the same each time, and others when
 * there are enough members for another algorithm to be cheaper.
 */
static void same_bits(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, MOST, &ranks);) {
        const bits threads = bits_of(*state, TSR_RANKS_THREADS, ranks);
        const bits here = bits_of(*state, kinds_chosen(), ranks);
        const bits again = bits_of(*state, kinds_chosen(), ranks);
        if (kinds_chosen() == TSR_RANKS_MPI && here.ordered == 0) {
            continue; /* another process has them */
        }
        assert_int_equal(here.ordered, threads.ordered);
        assert_int_equal(again.ordered, here.ordered);
        assert_int_equal(again.unordered, here.unordered);
        assert_int_equal(threads.unordered, threads.ordered);
        if (kinds_chosen() == RANKS_BY_MESSAGES && ranks > 3) {
            assert_true(here.unordered != here.ordered);
        }
    }
}

/*
 * Member 4 of a tree of 8 starts a broadcast and ends. All members learn of it, those of its
 * subtree and those that wait for no ended member.
 */
static tsr_status leave_the_tree(tsr_comm *world, void *state)
{
    enum { COUNT = 5000 };
    float numbers[COUNT] = {0};
    tsr_request request;
    const int64_t count = COUNT;
    const int64_t me = tsr_comm_rank(world);
    const tsr_view view = {numbers, TSR_F32, 1, &count, NULL};
    (void)state;
    WANT(world, tsr_comm_set_algorithm(world, "broadcast", "tree") == TSR_OK);
    WANT(world, tsr_comm_broadcast_start(world, &view, 0, &request) == TSR_OK);
    if (me == 4) {
        return TSR_OK;
    }
    const tsr_status status = tsr_wait(world, request);
    WANT(world, me < 5 || status == TSR_ERR_PEER);
    WANT(world, me != 7 || heard(world, "rank 4"));
    WANT(world, tsr_barrier(world) < 0);
    return TSR_OK;
}

static void a_branch_that_breaks(void **state)
{
    fixture *f = *state;
    if (kinds_chosen() == RANKS_BY_MESSAGES) {
        assert_true(launch(f, kinds_chosen(), 8, false, leave_the_tree, NULL) < 0);
        const tsr_diagnostic *only = tsr_context_diagnostics(f->ctx);
        if (only->next != NULL) {
            fail_msg("%s; %s", only->text, only->next->text);
        }
        expect_message(f, "rank 4 failed: request 1, of tsr_comm_broadcast, was never waited for");
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(results),     TEST(costs),     TEST(settings),
        TEST(environment), TEST(same_bits), TEST(a_branch_that_breaks),
    };
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
