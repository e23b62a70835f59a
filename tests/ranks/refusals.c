/*
 * Calls in which one rank alone runs out of memory: every rank hears of it, none is left waiting,
 * and the next call works. A second argument takes a sample of the allocations of each call, at
 * most 12 of them where ranks are slow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/base.h"
#include "kinds.h"
#include "rt/comm.h"
#include "want.h"

enum { RANKS = 3, GUILTY = 1, ROWS = 6 };

/* An allocator whose n-th allocation from now on fails; frees never do. */
typedef struct failing {
    int64_t left; /* negative: none fails */
    bool failed;
    bool for_good; /* all that follow fail, too */
} failing;

static void *resize_or_fail(void *state, void *old, size_t old_size, size_t new_size)
{
    failing *f = state;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    if ((f->failed && f->for_good) || (f->left >= 0 && f->left-- == 0)) {
        f->failed = true;
        return NULL;
    }
    return realloc(old, new_size);
}

/* What the calls work on. */
typedef struct scene {
    tsr_arena *arena;
    const tsr_mesh *mesh;
    const tsr_sharding *rows;
    const tsr_sharding *columns;
    const tsr_sharding *pending;
    const tsr_sharding *list;
    tsr_tensor *x;
    tsr_tensor *y;
    tsr_tensor *sums;
    tsr_tensor *labels; /* i64, each 0 */
    char path[64];      /* an .npy file of x */
} scene;

static const int64_t shape[] = {ROWS, ROWS};

static tsr_tensor_spec spec_of(const tsr_sharding *s)
{
    return (tsr_tensor_spec){s, TSR_F32, 2, shape};
}

/* The number of rank 0's process is in the name, which all ranks have. */
static tsr_status name_file(tsr_comm *world, scene *s)
{
    int64_t process = getpid();
    const int64_t one = 1;
    const tsr_view view = {&process, TSR_I64, 1, &one, NULL};
    TSR_TRY(tsr_comm_broadcast(world, &view, 0));
    (void)snprintf(s->path, sizeof s->path, "/tmp/tessera-refusals-%lld.npy", (long long)process);
    return TSR_OK;
}

static tsr_status set_up(tsr_comm *world, scene *s)
{
    tsr_context *ctx = tsr_comm_context(world);
    TSR_TRY(tsr_arena_create(ctx, &s->arena));
    TSR_TRY(tsr_mesh_parse(ctx, s->arena, "<[\"tp\"=3]>", &s->mesh));
    TSR_TRY(tsr_sharding_parse(ctx, s->arena, s->mesh, "[{\"tp\"}, {}]", &s->rows));
    TSR_TRY(tsr_sharding_parse(ctx, s->arena, s->mesh, "[{}, {\"tp\"}]", &s->columns));
    TSR_TRY(tsr_sharding_parse(ctx, s->arena, s->mesh, "[{}]", &s->list));
    TSR_TRY(
        tsr_sharding_parse(ctx, s->arena, s->mesh, "[{}, {}], unreduced={\"tp\"}", &s->pending));
    const tsr_tensor_spec rows = spec_of(s->rows);
    const tsr_tensor_spec columns = spec_of(s->columns);
    const tsr_tensor_spec sums = spec_of(s->pending);
    const tsr_tensor_spec labels = {s->list, TSR_I64, 1, shape};
    TSR_TRY(tsr_tensor_create(world, &rows, &s->x));
    TSR_TRY(tsr_tensor_create(world, &columns, &s->y));
    TSR_TRY(tsr_tensor_create(world, &labels, &s->labels));
    TSR_TRY(name_file(world, s));
    TSR_TRY(tsr_tensor_save_npy(s->x, s->path));
    return tsr_tensor_create(world, &sums, &s->sums);
}

static void tear_down(scene *s)
{
    (void)unlink(s->path);
    tsr_tensor_release(s->labels);
    tsr_tensor_release(s->x);
    tsr_tensor_release(s->y);
    tsr_tensor_release(s->sums);
    tsr_arena_destroy(s->arena);
}

static tsr_status redistribute(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    const tsr_status status = tsr_redistribute(s->x, s->columns, &out);
    tsr_tensor_release(out);
    return status;
}

static tsr_status with_sharding(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_with_sharding(s->x, s->columns, &out);
}

static tsr_status replicate(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_replicate(s->x, &out);
}

static tsr_status reduce_pending(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_reduce_pending(s->sums, &out);
}

/* An op whose operands must move first. */
static tsr_status add(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_add(s->x, s->y, &out);
}

/* An op that moves nothing: the others hear of the failure in their next call. */
static tsr_status negate(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_negate(s->x, &out);
}

static tsr_status softmax(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_softmax(s->x, 0, &out);
}

static tsr_status create(tsr_comm *world, const scene *s)
{
    const tsr_tensor_spec spec = {s->rows, TSR_F64, 2, shape};
    tsr_tensor *out = NULL;
    const tsr_status status = tsr_tensor_create(world, &spec, &out);
    tsr_tensor_release(out);
    return status;
}

static tsr_status zeros(tsr_comm *world, const scene *s)
{
    const tsr_tensor_spec spec = {s->rows, TSR_F64, 2, shape};
    tsr_tensor *out = NULL;
    return tsr_zeros(world, &spec, &out);
}

static tsr_status from_local(tsr_comm *world, const scene *s)
{
    float mine[2 * ROWS] = {0};
    const int64_t part[] = {2, ROWS};
    const tsr_view view = {mine, TSR_F32, 2, part, NULL};
    const tsr_tensor_spec spec = spec_of(s->rows);
    tsr_tensor *out = NULL;
    return tsr_from_local(world, &spec, &view, &out);
}

static tsr_status from_full(tsr_comm *world, const scene *s)
{
    float full[ROWS * ROWS] = {0};
    const tsr_tensor_spec spec = spec_of(s->columns);
    tsr_tensor *out = NULL;
    const bool root = tsr_comm_rank(world) == 0;
    const tsr_status status = tsr_tensor_from_full(world, &spec, 0, root ? full : NULL, &out);
    tsr_tensor_release(out);
    return status;
}

static tsr_status to_full(tsr_comm *world, const scene *s)
{
    float full[ROWS * ROWS];
    return tsr_tensor_to_full(s->x, 2, tsr_comm_rank(world) == 2 ? full : NULL);
}

static tsr_status along(tsr_comm *world, const scene *s)
{
    const tsr_axis_ref axis = tsr_axis_full(s->mesh, 0);
    tsr_comm *group = NULL;
    return tsr_comm_along(world, s->mesh, &axis, 1, &group);
}

static tsr_status all_gather(tsr_comm *world, const scene *s)
{
    static _Thread_local float full[64 * RANKS];
    static _Thread_local float mine[64];
    const int64_t each = 64;
    const int64_t all = 64 * RANKS;
    const tsr_view src = {mine, TSR_F32, 1, &each, NULL};
    const tsr_view dst = {full, TSR_F32, 1, &all, NULL};
    (void)s;
    return tsr_comm_all_gather(world, &src, 0, &dst);
}

static tsr_status all_reduce_start(tsr_comm *world, const scene *s)
{
    static _Thread_local float numbers[2][512];
    const int64_t count = 512;
    const tsr_view src = {numbers[0], TSR_F32, 1, &count, NULL};
    const tsr_view dst = {numbers[1], TSR_F32, 1, &count, NULL};
    tsr_request request;
    (void)s;
    TSR_TRY(tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &src, &dst, &request));
    return tsr_wait(world, request);
}

static tsr_status save(tsr_comm *world, const scene *s)
{
    (void)world;
    return tsr_tensor_save_npy(s->x, s->path);
}

static tsr_status load(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    const tsr_status status = tsr_tensor_load_npy(world, s->columns, s->path, &out);
    tsr_tensor_release(out);
    return status;
}

static tsr_status sort(tsr_comm *world, const scene *s)
{
    tsr_tensor *values = NULL;
    tsr_tensor *indices = NULL;
    (void)world;
    return tsr_sort(s->x, 0, true, &values, &indices);
}

static tsr_status top_k(tsr_comm *world, const scene *s)
{
    tsr_tensor *values = NULL;
    (void)world;
    return tsr_top_k(s->x, 0, 2, &values, NULL);
}

static tsr_status fill(tsr_comm *world, const scene *s)
{
    const tsr_tensor_spec spec = spec_of(s->columns);
    tsr_tensor *out = NULL;
    return tsr_fill(world, &spec, 2, &out);
}

static tsr_status uniform(tsr_comm *world, const scene *s)
{
    const tsr_tensor_spec spec = spec_of(s->columns);
    tsr_tensor *out = NULL;
    return tsr_random_uniform(world, &spec, (tsr_random_key){7, 0}, &out);
}

static tsr_status cross_entropy(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_cross_entropy(s->x, s->labels, &out);
}

static tsr_status einsum(tsr_comm *world, const scene *s)
{
    tsr_tensor *const operands[] = {s->x, s->y};
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_einsum("ij,jk->ki", operands, 2, &out);
}

static tsr_status concatenate(tsr_comm *world, const scene *s)
{
    tsr_tensor *const operands[] = {s->x, s->y};
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_concatenate(operands, 2, 0, &out);
}

static tsr_status cumsum(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_cumsum(s->x, 0, &out);
}

static tsr_status take(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_take(s->x, s->labels, 0, &out);
}

static tsr_status scatter(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_scatter(s->x, s->labels, s->y, 0, TSR_SCATTER_ADD, &out);
}

static tsr_status pad(tsr_comm *world, const scene *s)
{
    const int64_t ones[] = {1, 1};
    tsr_tensor *out = NULL;
    (void)world;
    return tsr_pad(s->x, 1, ones, ones, NULL, &out);
}

static tsr_status norms(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    TSR_TRY(tsr_layer_norm(s->x, NULL, NULL, 1e-5, &out));
    return tsr_logsumexp(out, 0, &out);
}

static tsr_status narrow_sum(tsr_comm *world, const scene *s)
{
    tsr_tensor *out = NULL;
    (void)world;
    TSR_TRY(tsr_convert(s->x, TSR_BF16, &out));
    TSR_TRY(tsr_sum(out, (const size_t[]){0}, 1, &out));
    return tsr_reduce_pending(out, &out);
}

/* A gradient through a product whose operands move. */
static tsr_status backward(tsr_comm *world, const scene *s)
{
    const size_t both[] = {0, 1};
    tsr_tensor *out = NULL;
    TSR_TRY(tsr_tape_begin(world));
    tsr_status status = tsr_watch(s->x);
    status = status == TSR_OK ? tsr_mul(s->x, s->y, &out) : status;
    status = status == TSR_OK ? tsr_sum(out, both, 2, &out) : status;
    status = status == TSR_OK ? tsr_backward(out) : status;
    tsr_tape_end(world);
    return status;
}

static tsr_status open_typed(tsr_comm *world, const scene *s)
{
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = s->mesh}));
    tsr_spmd_close(world);
    return TSR_OK;
}

/* Typed collectives, one of them with another type on the wire, one only started. */
static tsr_status typed_collective(tsr_comm *world, const scene *s, int which)
{
    float mine[4] = {0};
    const int64_t four = 4;
    const tsr_view view = {mine, TSR_F32, 1, &four, NULL};
    const tsr_collective_options narrow = {.has_wire_dtype = true, .wire_dtype = TSR_BF16};
    const tsr_transition what = {.op = TSR_ALL_REDUCE, .src = TSR_AS(P), .dst = TSR_AS(R)};
    tsr_tensor *x = NULL;
    tsr_started started;
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = s->mesh}));
    tsr_status status = tsr_typed_value(world, &view, "f32[4]{tp:P}", &x);
    if (status == TSR_OK && which == 2) {
        status = tsr_start_collective(x, "tp", &what, NULL, &started);
        status = status == TSR_OK ? tsr_wait_value(world, started, &x) : status;
    } else if (status == TSR_OK) {
        status = tsr_all_reduce(x, "tp", TSR_AS(P), TSR_AS(R), which == 1 ? &narrow : NULL, &x);
    }
    tsr_spmd_close(world);
    return status;
}

static tsr_status typed_all_reduce(tsr_comm *world, const scene *s)
{
    return typed_collective(world, s, 0);
}

static tsr_status typed_wire(tsr_comm *world, const scene *s)
{
    return typed_collective(world, s, 1);
}

static tsr_status typed_started(tsr_comm *world, const scene *s)
{
    return typed_collective(world, s, 2);
}

/* A call, and whether ranks have their values to themselves: then a failure may stay local. */
static const struct {
    const char *name;
    tsr_status (*run)(tsr_comm *world, const scene *s);
    bool own;
} calls[] = {
    {"redistribute", redistribute, false},
    {"with_sharding", with_sharding, false},
    {"replicate", replicate, false},
    {"reduce_pending", reduce_pending, false},
    {"add", add, false},
    {"negate", negate, false},
    {"softmax", softmax, false},
    {"create", create, false},
    {"zeros", zeros, false},
    {"from_local", from_local, false},
    {"from_full", from_full, false},
    {"to_full", to_full, false},
    {"along", along, false},
    {"all_gather", all_gather, false},
    {"all_reduce_start", all_reduce_start, false},
    {"save", save, false},
    {"load", load, false},
    {"sort", sort, false},
    {"top_k", top_k, false},
    {"fill", fill, false},
    {"uniform", uniform, false},
    {"cross_entropy", cross_entropy, false},
    {"einsum", einsum, false},
    {"concatenate", concatenate, false},
    {"cumsum", cumsum, false},
    {"take", take, false},
    {"scatter", scatter, false},
    {"pad", pad, false},
    {"norms", norms, false},
    {"narrow_sum", narrow_sum, false},
    {"backward", backward, false},
    {"open_typed", open_typed, false},
    {"typed_all_reduce", typed_all_reduce, true},
    {"typed_wire", typed_wire, true},
    {"typed_started", typed_started, true},
};

/* Which call, and which allocation fails. Shared by ranks that mpirun did not start. */
typedef struct trial {
    size_t call;
    bool first; /* the call is the first on tensors of its world */
    int64_t nth;
    failing memory; /* of the guilty rank, as long as its context lives */
    int64_t count;  /* of the allocations that the guilty rank asked for */
} trial;

/* No call makes so many allocations. */
enum { NONE_FAILS = 1 << 30 };

/* What the first call on tensors allocates for its world is among so many. */
enum { FIRST = 4 };

/* Of each call, about as many of its allocations fail in turn; 0: all of them. */
static int64_t sample;

/* What took longer than this, in seconds, was waited for. */
#define SOON 5.0

/*
 * The call with the n-th allocation of one rank failing. A rank whose call was fine makes another
 * one, in which it hears of the failure; after that all are in step again. By messages a failure
 * between the two rendezvous of a call breaks the communicator, on all ranks, also on one that has
 * not left the barrier yet.
 */
static tsr_status try_call(tsr_comm *world, void *state)
{
    trial *t = state;
    tsr_context *ctx = tsr_comm_context(world);
    scene s = {0};
    const tsr_allocator allocator = {.resize = resize_or_fail, .state = &t->memory};
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    TSR_TRY(set_up(world, &s));
    if (!t->first) {
        TSR_TRY(tsr_scope_open(world));
    }
    tsr_status status = tsr_barrier(world);
    const double began = clock_seconds();
    if (guilty) {
        context_set_allocator(ctx, &allocator);
        t->memory.left = t->nth;
    }
    status = status == TSR_OK ? calls[t->call].run(world, &s) : status;
    if (guilty) {
        t->count = t->nth - t->memory.left;
        t->memory.left = -1;
    }
    if (!t->first) {
        tsr_scope_close(world);
    }
    if (calls[t->call].own) {
        tear_down(&s);
        return status;
    }
    const tsr_status next = status == TSR_OK ? tsr_barrier(world) : status;
    WANT(world, next == TSR_OK || next == TSR_ERR_NOMEM);
    WANT(world, clock_seconds() - began < SOON);
    tsr_context_clear(ctx);
    if (world->broken < 0) {
        WANT(world, world->team->message && next < 0);
        tear_down(&s);
        return TSR_OK;
    }
    TSR_TRY(tsr_barrier(world));
    WANT(world, redistribute(world, &s) == TSR_OK);
    tear_down(&s);
    return TSR_OK;
}

/* Tells all processes of mpirun what only the guilty one knows. */
static tsr_status share_count(tsr_comm *world, void *state)
{
    trial *t = state;
    int64_t mine = t->count;
    const int64_t one = 1;
    const tsr_view src = {&mine, TSR_I64, 1, &one, NULL};
    const tsr_view dst = {&t->count, TSR_I64, 1, &one, NULL};
    return tsr_comm_all_reduce(world, TSR_REDUCE_MAX, &src, &dst);
}

static tsr_launch_spec launch_spec(void)
{
    return (tsr_launch_spec){
        .num_ranks = RANKS, .ranks = kinds_chosen(), .timeout = 20, .segment_bytes = 1 << 24};
}

/* Runs a call whose n-th allocation fails. */
static void fail_one(fixture *f, trial *t, int64_t n)
{
    const tsr_launch_spec spec = launch_spec();
    t->nth = n;
    t->memory = (failing){.left = -1};
    t->count = 0;
    const tsr_status status = launch_ranks(f->ctx, &spec, try_call, t);
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    const bool may_fail = n < NONE_FAILS && calls[t->call].own;
    if (status == TSR_ERR_TIMEOUT || (status < 0 && !may_fail)) {
        fail_msg("%s, allocation %lld: %s", calls[t->call].name, (long long)n,
                 d != NULL ? d->text : "?");
    }
    tsr_context_clear(f->ctx);
}

/*
 * Runs a call with its allocations failing in turn; returns how many it has. On threads that may
 * be more than at first: a plan that ranks share is made by any of them.
 */
static int64_t fail_each(fixture *f, size_t call, bool first)
{
    trial *t = shared_new(sizeof *t);
    const tsr_launch_spec spec = launch_spec();
    t->call = call;
    t->first = first;
    fail_one(f, t, NONE_FAILS);
    const bool mpi = kinds_chosen() == TSR_RANKS_MPI;
    if (mpi) {
        expect_ranks(f, &spec, share_count, t);
    }
    const int64_t count = first && t->count > FIRST ? FIRST : t->count;
    const int64_t step = sample > 0 && count > sample ? count / sample : 1;
    for (int64_t n = 0; n < count || (!mpi && !first && t->memory.failed); n += step) {
        fail_one(f, t, n);
    }
    shared_free(t, sizeof *t);
    return count;
}

static void failures_of_one_rank_are_told(void **state)
{
    int64_t all = 0;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        for (int first = 0; first < 2; first++) {
            const int64_t count = fail_each(*state, i, first == 1);
            printf("%s: %lld allocations\n", calls[i].name, (long long)count);
            all += count;
        }
    }
    assert_true(all > 100);
}

/* A rank has no memory any more, not even to say so, and ends. */
static tsr_status run_out(tsr_comm *world, void *state)
{
    trial *t = state;
    const tsr_allocator allocator = {.resize = resize_or_fail, .state = &t->memory};
    WANT(world, tsr_barrier(world) == TSR_OK);
    if (tsr_comm_rank(world) == GUILTY) {
        context_set_allocator(tsr_comm_context(world), &allocator);
        return TSR_OK;
    }
    const double began = clock_seconds();
    WANT(world, tsr_barrier(world) < 0);
    WANT(world, clock_seconds() - began < SOON);
    return TSR_OK;
}

static void ends_are_told_without_memory(void **state)
{
    trial *t = shared_new(sizeof *t);
    const tsr_launch_spec spec = launch_spec();
    t->memory = (failing){.for_good = true};
    expect_ranks(*state, &spec, run_out, t);
    shared_free(t, sizeof *t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(failures_of_one_rank_are_told),
                                       TEST(ends_are_told_without_memory)};
    kinds_choose(argc, argv);
    const int64_t few = tests_are_sampled() ? 4 : 12;
    const bool slow = kinds_chosen() == RANKS_BY_MESSAGES ||
                      (kinds_chosen() != TSR_RANKS_THREADS && tests_are_sampled());
    const int64_t asked = argc > 2 ? atoll(argv[2]) : 0;
    sample = slow && (asked == 0 || asked > few) ? few : asked;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
