/* Worlds over a transport that the caller opened: heartbeats, and what is left when one has ended.
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "kernel/progress.h"
#include "rt/comm.h"
#include "rt/control.h"
#include "rt/joined.h"

/* A transport whose only peer sends back what it gets, one message at a time. */
typedef struct echo {
    char data[1024]; /* of the message that is on its way, */
    size_t bytes;    /* 0 for none */
    int32_t tag;
    bool fails; /* to send */
    tsr_transport_end how;
} echo;

static int echo_send(void *state, int64_t peer, int32_t tag, const void *data, size_t bytes,
                     void **request)
{
    echo *e = state;
    (void)peer;
    if (e->fails || bytes > sizeof e->data) {
        return 1;
    }
    memcpy(e->data, data, bytes);
    e->bytes = bytes;
    e->tag = tag;
    *request = e;
    return 0;
}

static int echo_receive(void *state, int64_t peer, int32_t tag, void *data, size_t bytes,
                        void **request)
{
    echo *e = state;
    (void)peer;
    if (e->bytes == 0 || tag != e->tag || bytes != e->bytes) {
        return 1;
    }
    memcpy(data, e->data, bytes);
    e->bytes = 0;
    *request = e;
    return 0;
}

static int echo_test(void *state, void **request, bool *done)
{
    (void)state;
    *request = NULL;
    *done = true;
    return 0;
}

static int echo_probe(void *state, int64_t peer, int32_t tag, bool *found, int64_t *from,
                      size_t *bytes)
{
    const echo *e = state;
    (void)peer;
    *found = e->bytes > 0 && e->tag == tag;
    *from = 1;
    *bytes = e->bytes;
    return 0;
}

static const char *echo_error(void *state, int error)
{
    (void)state;
    (void)error;
    return "it fails";
}

static int echo_cancel(void *state, void **request)
{
    (void)state;
    *request = NULL;
    return 0;
}

static void echo_abort(void *state, int code)
{
    (void)state;
    (void)code;
}

static void echo_close(void *state, tsr_transport_end how)
{
    ((echo *)state)->how = how;
}

/* A world by messages, of this rank alone or with the peer. */
static tsr_comm *open_world(fixture *f, echo *e, int64_t size)
{
    const tsr_transport transport = {.version = TSR_TRANSPORT_VERSION,
                                     .name = "echo",
                                     .size = size,
                                     .most_bytes = 1 << 20,
                                     .most_tag = 32767,
                                     .state = e,
                                     .send = echo_send,
                                     .receive = echo_receive,
                                     .test = echo_test,
                                     .cancel = echo_cancel,
                                     .probe = echo_probe,
                                     .abort = echo_abort,
                                     .error_text = echo_error,
                                     .close = echo_close};
    tsr_comm *world = NULL;
    assert_int_equal(setenv("TSR_TRANSPORT", "message", 1), 0);
    assert_int_equal(tsr_comm_open(f->ctx, &transport, NULL, &world), TSR_OK);
    assert_int_equal(unsetenv("TSR_TRANSPORT"), 0);
    return world;
}

/* A thread whose world could not be freed shows it no progress: its transport is closed. */
static void progress_ends_with_the_world(void **state)
{
    fixture *f = *state;
    echo e = {0};
    tsr_comm *world = open_world(f, &e, 1);
    assert_int_equal(tsr_barrier(world), TSR_OK);
    const rank_shared *own = world->team->ranks;
    const uint64_t before = atomic_load(&own->progress);
    progress_raise();
    assert_int_equal(atomic_load(&own->progress), before + 1);
    world->team->endpoint->has_untracked = true;
    assert_int_equal(tsr_comm_close(world), TSR_OK);
    assert_int_equal(e.how, TSR_END_BROKEN);
    progress_raise();
    assert_int_equal(atomic_load(&own->progress), before + 1);
}

/* A heartbeat arrives, and leaves no diagnostic where it cannot be sent. */
static void heartbeats_do_not_fail(void **state)
{
    fixture *f = *state;
    echo e = {0};
    tsr_comm *world = open_world(f, &e, 2);
    const uint64_t before = atomic_load(&world->team->ranks[1].progress);
    control_send_heartbeat(world);
    control_poll(world);
    assert_int_equal(atomic_load(&world->team->ranks[1].progress), before + 1);
    e.fails = true;
    world->state->last_heartbeat = 0;
    control_send_heartbeat(world);
    assert_null(tsr_context_diagnostics(f->ctx));
    e.fails = false;
    assert_int_equal(tsr_comm_close(world), TSR_OK);
    assert_int_equal(e.how, TSR_END_CLEAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(progress_ends_with_the_world),
                                       TEST(heartbeats_do_not_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
