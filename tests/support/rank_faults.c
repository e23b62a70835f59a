#include "rank_faults.h"
#include "post_office.h"

#include <string.h>
#include <unistd.h>

#include "rt/comm.h"
#include "want.h"

enum { RANKS = 3, GUILTY = 1 };

/* Whether some message of this rank contains a text; clears them. */
static bool heard(tsr_comm *world, const char *part)
{
    bool found = false;
    tsr_context *ctx = tsr_comm_context(world);
    for (const tsr_diagnostic *d = tsr_context_diagnostics(ctx); d != NULL; d = d->next) {
        found = found || strstr(d->text, part) != NULL;
    }
    if (found) {
        tsr_context_clear(ctx);
    }
    return found;
}

typedef struct scene {
    const tsr_sharding *rows;
    const tsr_sharding *columns;
    const tsr_sharding *elsewhere; /* on a mesh of other devices */
} scene;

static tsr_status make_tensor(tsr_comm *world, const tsr_sharding *sharding, int64_t extent,
                              tsr_tensor **out)
{
    const int64_t shape[] = {extent, 6};
    const tsr_tensor_spec spec = {sharding, TSR_F32, 2, shape};
    return tsr_tensor_create(world, &spec, out);
}

static void run(fixture *f, tsr_ranks kind, double timeout, tsr_rank_function function)
{
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=3]>");
    scene s = {sharding_of(f, mesh, "[{\"x\"}, {}]"), sharding_of(f, mesh, "[{}, {\"x\"}]"),
               sharding_of(f, mesh_of(f, "<[\"x\"=2]>"), "[{\"x\"}, {}]")};
    const tsr_launch_spec spec = {.num_ranks = RANKS,
                                  .ranks = kind,
                                  .timeout = timeout,
                                  .checked = true,
                                  .segment_bytes = (size_t)1 << 24};
    if (launch_ranks(f->ctx, &spec, function, &s) != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
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

void check_refusal(fixture *f, tsr_ranks kind)
{
    run(f, kind, 20, refuse);
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
    WANT(world, heard(world, "ranks differ in what they are about to do: rank 0 redistributes "
                             "f32[5,6]"));
    const tsr_sharding *other = guilty ? s->rows : s->columns;
    WANT(world, tsr_redistribute(t, other, &out) == TSR_ERR_PEER);
    WANT(world, heard(world, "differ"));
    tsr_tensor *smaller = NULL;
    WANT(world, make_tensor(world, s->rows, guilty ? 4 : 5, &smaller) == TSR_ERR_PEER);
    tsr_context_clear(tsr_comm_context(world));
    tsr_tensor_release(t);
    return TSR_OK;
}

void check_difference(fixture *f, tsr_ranks kind)
{
    run(f, kind, 20, differ);
}

/* A rank comes too late: the others name it, and it finds the communicator broken. */
static tsr_status stay_away(tsr_comm *world, void *state)
{
    (void)state;
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    WANT(world, tsr_barrier(world) == TSR_OK);
    if (guilty) {
        usleep(450000);
    }
    WANT(world, tsr_barrier(world) == TSR_ERR_TIMEOUT);
    WANT(world, heard(world, guilty ? "its other ranks gave up waiting for this one"
                                    : "tsr_barrier: rank 1 did not come within 0.3 seconds"));
    WANT(world, tsr_barrier(world) == TSR_ERR_TIMEOUT);
    WANT(world, heard(world, "the communicator is broken since an earlier call"));
    return TSR_OK;
}

void check_absence(fixture *f, tsr_ranks kind)
{
    run(f, kind, 0.3, stay_away);
}

/* A rank that is slow inside a call is waited for: its memory is in use, where it is shared. */
static tsr_status be_slow(tsr_comm *world, void *state)
{
    (void)state;
    const call what = {.name = "a call", .hash = 1};
    WANT(world, comm_enter(world, &what) == TSR_OK);
    /* By messages nobody needs to wait for it, but all must end in time. */
    if (tsr_comm_rank(world) == GUILTY || world->team->message) {
        usleep(450000);
    }
    WANT(world, comm_leave(world, what.name) == TSR_OK);
    return TSR_OK;
}

void check_slowness(fixture *f, tsr_ranks kind)
{
    run(f, kind, 0.2, be_slow);
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

void check_early_end(fixture *f, tsr_ranks kind)
{
    run(f, kind, 20, end_early);
}

/* More memory than there is: an error on every rank, and the next tensor works. */
static tsr_status want_too_much(tsr_comm *world, void *state)
{
    const scene *s = state;
    tsr_tensor *t = NULL;
    WANT(world, make_tensor(world, s->columns, INT64_C(1) << 40, &t) == TSR_ERR_NOMEM);
    WANT(world, t == NULL && heard(world, "bytes for a tensor are more than there are"));
    WANT(world, make_tensor(world, s->columns, 5 << 18, &t) == TSR_OK);
    tsr_tensor *second = NULL;
    tsr_tensor *third = NULL;
    WANT(world, make_tensor(world, s->columns, 5 << 18, &second) == TSR_ERR_NOMEM);
    WANT(world, heard(world, "has no room for a tensor"));
    tsr_tensor_release(t);
    WANT(world, make_tensor(world, s->columns, 5 << 18, &third) == TSR_OK);
    tsr_tensor_release(third);
    return TSR_OK;
}

void check_no_room(fixture *f, tsr_ranks kind)
{
    run(f, kind, 20, want_too_much);
}
