/* What ranks do wrong, alike on all kinds of ranks, and what the others must hear of it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel/progress.h"
#include "kinds.h"
#include "want.h"

#include "rt/comm.h"

enum { RANKS = 3, GUILTY = 1 };

typedef struct scene {
    const tsr_sharding *rows;
    const tsr_sharding *columns;
    const tsr_sharding *elsewhere; /* on a mesh of other devices */
    size_t sent;                   /* by a message, and */
    size_t expected;               /* of it */
    bool slow;                     /* after much work */
} scene;

static tsr_status make_tensor(tsr_comm *world, const tsr_sharding *sharding, int64_t extent,
                              tsr_tensor **out)
{
    const int64_t shape[] = {extent, 6};
    const tsr_tensor_spec spec = {sharding, TSR_F32, 2, shape};
    return tsr_tensor_create(world, &spec, out);
}

static void run_lengths(fixture *f, double timeout, tsr_rank_function function, size_t sent,
                        size_t expected)
{
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=3]>");
    scene s = {sharding_of(f, mesh, "[{\"x\"}, {}]"), sharding_of(f, mesh, "[{}, {\"x\"}]"),
               sharding_of(f, mesh_of(f, "<[\"x\"=2]>"), "[{\"x\"}, {}]"), .sent = sent,
               .expected = expected};
    const tsr_launch_spec spec = {.num_ranks = RANKS,
                                  .ranks = kinds_chosen(),
                                  .timeout = timeout,
                                  .checked = true,
                                  .segment_bytes = (size_t)1 << 24};
    expect_ranks(f, &spec, function, &s);
}

static void run(fixture *f, double timeout, tsr_rank_function function)
{
    run_lengths(f, timeout, function, 0, 0);
}

/* One rank asks for what cannot be: all hear its reason, and the tensors live on. */
static tsr_status refuse(tsr_comm *world, void *state)
{
    const scene *s = state;
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    tsr_tensor *t = NULL;
    tsr_tensor *out = NULL;
    WANT(world, make_tensor(world, guilty ? s->elsewhere : s->rows, 5, &t) == TSR_ERR_INVALID);
    WANT(world, t == NULL);
    WANT(world, heard(world, guilty ? "the mesh of the sharding has 2 devices, the world 3 ranks"
                                    : "rank 1 refuses: the mesh of the sharding has 2 devices"));
    WANT(world, make_tensor(world, s->rows, 5, &t) == TSR_OK);
    memset(tsr_tensor_data(t), 7, 1);
    WANT(world, tsr_redistribute(t, guilty ? s->elsewhere : s->columns, &out) == TSR_ERR_INVALID);
    WANT(world, out == NULL && heard(world, "devices"));
    WANT(world, tsr_redistribute(t, s->columns, &out) == TSR_OK);
    tsr_tensor_release(out);
    tsr_tensor_release(t);
    const tsr_mesh *mesh = tsr_sharding_mesh(s->rows);
    const tsr_mesh *other = tsr_sharding_mesh(s->elsewhere);
    const tsr_axis_ref axis = tsr_axis_full(mesh, 0);
    tsr_comm *group = NULL;
    tsr_comm *again = NULL;
    WANT(world, tsr_comm_along(world, guilty ? other : mesh, &axis, 1, &group) == TSR_ERR_INVALID);
    WANT(world, group == NULL && heard(world, "the mesh has 2 devices, the world 3 ranks"));
    WANT(world, tsr_comm_along(world, mesh, &axis, 1, &group) == TSR_OK);
    WANT(world, tsr_comm_along(world, mesh, &axis, 1, &again) == TSR_OK && again == group);
    WANT(world, tsr_comm_along(world, guilty ? other : mesh, &axis, 1, &again) == TSR_ERR_INVALID);
    tsr_context_clear(tsr_comm_context(world));
    return TSR_OK;
}

static void refusal(void **state)
{
    run(*state, 20, refuse);
}

/* Ranks call different things: all hear of both. */
static tsr_status differ(tsr_comm *world, void *state)
{
    const scene *s = state;
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    tsr_tensor *t = NULL;
    tsr_tensor *out = NULL;
    WANT(world, make_tensor(world, s->rows, 5, &t) == TSR_OK);
    if (guilty) {
        WANT(world, tsr_barrier(world) == TSR_ERR_PEER);
    } else {
        WANT(world, tsr_redistribute(t, s->columns, &out) == TSR_ERR_PEER);
    }
    WANT(world, heard(world, "the ranks make different calls: rank 0 redistributes f32[5,6]"));
    const tsr_sharding *other = guilty ? s->rows : s->columns;
    WANT(world, tsr_redistribute(t, other, &out) == TSR_ERR_PEER);
    WANT(world, heard(world, "differ"));
    tsr_tensor *smaller = NULL;
    WANT(world, make_tensor(world, s->rows, guilty ? 4 : 5, &smaller) == TSR_ERR_PEER);
    tsr_context_clear(tsr_comm_context(world));
    tsr_tensor_release(t);
    return TSR_OK;
}

static void difference(void **state)
{
    run(*state, 20, differ);
}

/* In checked mode local calls are compared, with the values of their arguments and in order. */
static tsr_status differ_locally(tsr_comm *world, void *state)
{
    const scene *s = state;
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    const int64_t shape[] = {6, 6};
    const tsr_tensor_spec spec = {s->rows, TSR_F32, 2, shape};
    const size_t orders[][2] = {{1, 0}, {0, 1}};
    const tsr_random_key key = {.seed = 7, .stream = guilty ? 4 : 3};
    tsr_tensor *t = NULL;
    tsr_tensor *out = NULL;
    WANT(world, tsr_fill(world, &spec, guilty ? 0.5 : 0.25, &t) == TSR_ERR_PEER);
    WANT(world, heard(world, "rank 0 calls tsr_fill(0.25, f32[6,6]"));
    WANT(world, tsr_iota(world, &spec, guilty ? 1 : 0, &t) == TSR_ERR_PEER);
    WANT(world, heard(world, "rank 1 calls tsr_iota(iota_dimension = 1, "));
    WANT(world, tsr_random_uniform(world, &spec, key, &t) == TSR_ERR_PEER);
    WANT(world, heard(world, "stream = 4"));
    WANT(world, tsr_fill(world, &spec, 0.25, &t) == TSR_OK);
    WANT(world, tsr_transpose(t, orders[guilty ? 1 : 0], &out) == TSR_ERR_PEER);
    WANT(world, heard(world, "rank 0 calls tsr_transpose(permutation = [1, 0], f32[6,6]"));
    WANT(world, (guilty ? tsr_negate(t, &out) : tsr_exp(t, &out)) == TSR_ERR_PEER);
    WANT(world, heard(world, "rank 0 calls tsr_exp(f32[6,6]"));
    WANT(world, tsr_negate(t, &out) == TSR_OK);
    tsr_tensor_release(out);
    tsr_tensor_release(t);
    return TSR_OK;
}

static void local_difference(void **state)
{
    run(*state, 20, differ_locally);
}

/* A rank comes too late: the others name it, and it finds the communicator broken. */
static tsr_status stay_away(tsr_comm *world, void *state)
{
    (void)state;
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    WANT(world, tsr_barrier(world) == TSR_OK);
    if (guilty) {
        usleep(2500000);
    }
    WANT(world, tsr_barrier(world) == TSR_ERR_TIMEOUT);
    WANT(world, heard(world, guilty ? "the other ranks timed out waiting for this rank"
                                    : "tsr_barrier: rank 1 did not arrive within 0.8 seconds"));
    WANT(world, tsr_barrier(world) == TSR_ERR_TIMEOUT);
    WANT(world, heard(world, "the communicator is broken since an earlier call"));
    return TSR_OK;
}

static void absence(void **state)
{
    run(*state, 0.8, stay_away);
}

/* A rank that works inside a call is waited for, beyond the time-out. */
static tsr_status be_slow(tsr_comm *world, void *state)
{
    (void)state;
    const comm_call what = {.name = "a call", .hash = 1};
    WANT(world, comm_enter(world, &what) == TSR_OK);
    /* By messages no rank needs to wait for it, but all must end in time. */
    for (int i = 0; i < 13 && (tsr_comm_rank(world) == GUILTY || world->team->message); i++) {
        usleep(100000);
        progress_raise();
    }
    WANT(world, comm_leave(world, what.name) == TSR_OK);
    return TSR_OK;
}

static void slowness(void **state)
{
    run(*state, 1, be_slow);
}

/* So is one that is still at work on its part of a call when the others have entered the next. */
static tsr_status come_late(tsr_comm *world, void *state)
{
    (void)state;
    WANT(world, tsr_barrier(world) == TSR_OK);
    for (int i = 0; i < 13 && tsr_comm_rank(world) == GUILTY; i++) {
        usleep(100000);
        progress_raise();
    }
    WANT(world, tsr_barrier(world) == TSR_OK);
    return TSR_OK;
}

static void lateness(void **state)
{
    run(*state, 1, come_late);
}

/*
 * One that shows no progress is given up, where it is a process. A thread is waited for, since it
 * may use the caller's memory; by messages nothing waits at the end.
 */
static tsr_status stall(tsr_comm *world, void *state)
{
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    const bool gives_up = !world->team->threads && !world->team->message;
    const comm_call what = {.name = "a call", .hash = 1};
    void *block = segment_alloc(world->own, 1);
    (void)state;
    WANT(world, comm_enter(world, &what) == TSR_OK);
    if (guilty || world->team->message) {
        usleep(2500000);
    }
    WANT(world, comm_leave(world, what.name) == (gives_up ? TSR_ERR_TIMEOUT : TSR_OK));
    segment_free(world->own, block);
    if (!gives_up) {
        return TSR_OK;
    }
    WANT(world, heard(world, guilty ? "the other ranks timed out waiting for this rank"
                                    : "a call: rank 1 has made no progress inside the call for 0.8 "
                                      "seconds"));
    WANT(world, segment_try(world->own, 1) != block);
    WANT(world, tsr_barrier(world) == TSR_ERR_TIMEOUT);
    return TSR_OK;
}

static void stalling(void **state)
{
    run(*state, 0.8, stall);
}

enum { MAX_BYTES = 1 << 17, FILL = 5 };

/* A call in which rank 1 sends rank 0 a message, of whatever lengths the two take for right. */
static tsr_status move_bytes(tsr_comm *world, const scene *s, char *memory)
{
    const comm_call what = {.name = "a call", .hash = 1};
    const int64_t rank = tsr_comm_rank(world);
    channel m;
    tsr_status status = comm_enter(world, &what);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < 9 && s->slow && rank == GUILTY; i++) {
        usleep(50000);
        progress_raise();
    }
    comm_open_channel(world, &m);
    if (rank == 0) {
        status = channel_receive(&m, GUILTY, memory, s->expected, GUILTY);
    } else if (rank == GUILTY) {
        status = channel_send(&m, 0, memory, s->sent);
    }
    status = status == TSR_OK ? comm_await_channel(world, &m, what.name, true) : status;
    channel_close(&m);
    return status;
}

/*
 * The two lengths differ, and nothing that was compared told: the receiver says so before it gives
 * the transport its memory, and the others hear it.
 */
static tsr_status send_another_length(tsr_comm *world, void *state)
{
    static _Thread_local char memory[MAX_BYTES];
    const scene *s = state;
    char text[128];
    if (!world->team->message) {
        return TSR_OK;
    }
    memset(memory, FILL + (int)tsr_comm_rank(world), sizeof memory);
    (void)snprintf(text, sizeof text,
                   s->expected > 0 ? "rank 0 expects %zu bytes from rank 1, but receives %zu"
                                   : "rank 0 expected no more bytes from rank 1, but %zu",
                   s->expected > 0 ? s->expected : s->sent, s->sent);
    tsr_status status = move_bytes(world, s, memory);
    WANT(world, tsr_comm_rank(world) != 0 || (status < 0) == (s->expected > 0));
    for (int i = 0; i < 2 && status == TSR_OK; i++) {
        status = tsr_barrier(world);
    }
    WANT(world, status == TSR_ERR_PEER && heard(world, text));
    for (size_t i = 0; i < sizeof memory; i++) {
        WANT(world, memory[i] == FILL + (int)tsr_comm_rank(world));
    }
    return TSR_OK;
}

/* A rank that works before it sends is waited for, beyond the time-out. */
static tsr_status send_late(tsr_comm *world, void *state)
{
    static _Thread_local char memory[MAX_BYTES];
    const scene s = {.sent = 64, .expected = 64, .slow = true};
    (void)state;
    memset(memory, FILL + (int)tsr_comm_rank(world), sizeof memory);
    if (world->team->message) {
        WANT(world, move_bytes(world, &s, memory) == TSR_OK);
        WANT(world, tsr_comm_rank(world) != 0 || memory[63] == FILL + GUILTY);
        WANT(world, tsr_barrier(world) == TSR_OK);
    }
    return TSR_OK;
}

static void late_message(void **state)
{
    run(*state, 0.2, send_late);
}

/* What MPI began to send and no rank receives keeps mpirun from ending well. */
static void lengths(void **state)
{
    run_lengths(*state, 20, send_another_length, 64, 32);
    run_lengths(*state, 20, send_another_length, 32, 64);
    run_lengths(*state, 20, send_another_length, 64, 0);
    run_lengths(*state, 20, send_another_length, 64, MAX_BYTES);
    if (kinds_chosen() != TSR_RANKS_MPI) {
        run_lengths(*state, 20, send_another_length, MAX_BYTES, MAX_BYTES / 2);
    }
}

/* A rank ends while the others wait for it. */
static tsr_status end_early(tsr_comm *world, void *state)
{
    (void)state;
    if (tsr_comm_rank(world) == GUILTY) {
        return TSR_OK;
    }
    WANT(world, tsr_barrier(world) == TSR_ERR_PEER);
    WANT(world, heard(world, "tsr_barrier: rank 1 ended"));
    return TSR_OK;
}

static void early_end(void **state)
{
    run(*state, 20, end_early);
}

/* More memory than there is: an error on every rank, and the next tensor works. */
static tsr_status want_too_much(tsr_comm *world, void *state)
{
    const scene *s = state;
    tsr_tensor *t = NULL;
    WANT(world, make_tensor(world, s->columns, INT64_C(1) << 40, &t) == TSR_ERR_NOMEM);
    WANT(world, t == NULL && heard(world, "set a larger segment_bytes or TSR_SEGMENT_BYTES"));
    WANT(world, make_tensor(world, s->columns, 5 << 18, &t) == TSR_OK);
    tsr_tensor *second = NULL;
    tsr_tensor *third = NULL;
    WANT(world, make_tensor(world, s->columns, 5 << 18, &second) == TSR_ERR_NOMEM);
    WANT(world, heard(world, "a larger segment_bytes"));
    tsr_tensor_release(t);
    WANT(world, make_tensor(world, s->columns, 5 << 18, &third) == TSR_OK);
    tsr_tensor_release(third);
    return TSR_OK;
}

static void no_room(void **state)
{
    run(*state, 20, want_too_much);
}

/* One rank hands in memory that will not do: all hear of it, and nothing is written. */
static tsr_status hand_in_bad_memory(tsr_comm *world, void *state)
{
    const scene *s = state;
    enum { ROWS = 5, BYTES = ROWS * 6 * (int)sizeof(float) };
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    const int64_t shape[] = {ROWS, 6};
    const int64_t back[] = {-24, -4};
    static _Thread_local char memory[2 * BYTES];
    memset(memory, 3, sizeof memory);
    tsr_tensor *src = NULL;
    tsr_tensor *dst = NULL;
    const tsr_tensor_spec rows = {s->rows, TSR_F32, 2, shape};
    const tsr_tensor_spec columns = {s->columns, TSR_F32, 2, shape};
    WANT(world,
         tsr_tensor_wrap(world, &rows, guilty ? NULL : memory, NULL, &src) == TSR_ERR_INVALID);
    WANT(world,
         src == NULL && heard(world, "rank 1 passed no memory (NULL) for its part of 12 elements"));
    static const int64_t far[][2] = {{INT64_MAX - 3, 4}, {INT64_MIN, 4}, {INT64_MAX / 4, 4}};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        WANT(world, tsr_tensor_wrap(world, &rows, memory, far[i], &src) == TSR_ERR_OVERFLOW);
        WANT(world, src == NULL && heard(world, "leaves the address space"));
    }
    WANT(world, tsr_tensor_wrap(world, &rows, memory, NULL, &src) == TSR_OK);
    WANT(world, tsr_redistribute_into(src, src) == TSR_ERR_INVALID);
    WANT(world, heard(world, "the two tensors overlap in the memory of rank"));
    /* From its last element down: what it spans begins before its data. */
    char *last = memory + (guilty ? 0 : BYTES) + 4 * 24 + 4;
    WANT(world, tsr_tensor_wrap(world, &columns, last, back, &dst) == TSR_OK);
    WANT(world, tsr_redistribute_into(dst, src) == TSR_ERR_INVALID);
    WANT(world, heard(world, "the two tensors overlap in the memory of rank 1"));
    for (size_t i = 0; i < sizeof memory; i++) {
        WANT(world, memory[i] == 3);
    }
    tsr_tensor_release(dst);
    tsr_tensor_release(src);
    return TSR_OK;
}

static void bad_memory(void **state)
{
    run(*state, 20, hand_in_bad_memory);
}

/* More bytes than can be counted, though the elements can. */
static tsr_status want_uncountable(tsr_comm *world, void *state)
{
    const scene *s = state;
    tsr_tensor *t = NULL;
    const int64_t shapes[][2] = {
        {INT64_C(1) << 30, INT64_C(1) << 32}, {(INT64_C(1) << 58) + 1, 4}, {0, INT64_C(1) << 62}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const tsr_tensor_spec spec = {s->columns, TSR_C128, 2, shapes[i]};
        WANT(world, tsr_tensor_create(world, &spec, &t) == TSR_ERR_OVERFLOW);
        WANT(world, t == NULL && heard(world, "the tensor has more than 2^63-1 bytes"));
    }
    return TSR_OK;
}

static void uncountable(void **state)
{
    run(*state, 20, want_uncountable);
}

/* A group with the size of the world, but another order, where the world is asked for. */
static tsr_status take_group_for_world(tsr_comm *world, void *state)
{
    const scene *s = state;
    static const int64_t order[] = {2, 0, 1};
    const char *const name = "x";
    const int64_t size = RANKS;
    const tsr_mesh_spec spec = {.num_axes = 1,
                                .axis_names = &name,
                                .axis_sizes = &size,
                                .num_device_ids = RANKS,
                                .device_ids = order};
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    tsr_comm *group = NULL;
    tsr_comm *nested = NULL;
    tsr_tensor *t = NULL;
    tsr_context *ctx = tsr_comm_context(world);
    WANT(world, tsr_arena_create(ctx, &arena) == TSR_OK);
    WANT(world, tsr_mesh_create(ctx, arena, &spec, &mesh) == TSR_OK);
    const tsr_axis_ref axis = tsr_axis_full(mesh, 0);
    WANT(world, tsr_comm_along(world, mesh, &axis, 1, &group) == TSR_OK);
    WANT(world, make_tensor(group, s->rows, 5, &t) == TSR_ERR_INVALID);
    WANT(world,
         t == NULL && heard(world, "a group of 3 ranks; pass the communicator of the whole world"));
    WANT(world, tsr_comm_along(group, mesh, &axis, 1, &nested) == TSR_ERR_INVALID);
    WANT(world, nested == NULL &&
                    heard(world, "a group of 3 ranks; pass the communicator of the whole world"));
    WANT(world, tsr_comm_close(group) == TSR_ERR_INVALID);
    WANT(world, heard(world, "a group of 3 ranks; pass the communicator of the whole world"));
    tsr_arena_destroy(arena);
    return tsr_barrier(group);
}

static void group_for_world(void **state)
{
    run(*state, 20, take_group_for_world);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(refusal),      TEST(difference),      TEST(local_difference), TEST(absence),
        TEST(slowness),     TEST(lateness),        TEST(stalling),         TEST(lengths),
        TEST(late_message), TEST(early_end),       TEST(no_room),          TEST(bad_memory),
        TEST(uncountable),  TEST(group_for_world),
    };
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
