#include "rt/comm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/map.h"

/* A group that the world keeps, by mesh and axes. */
typedef struct comm_kept {
    struct comm_kept *next;
    uint64_t hash;
    tsr_comm comm;
} comm_kept;

size_t comm_shared_bytes(int64_t n)
{
    return sizeof(comm_shared) + (size_t)n * sizeof(comm_slot);
}

int64_t tsr_comm_rank(const tsr_comm *comm)
{
    return comm->rank;
}

int64_t tsr_comm_size(const tsr_comm *comm)
{
    return comm->size;
}

tsr_context *tsr_comm_context(const tsr_comm *comm)
{
    return comm->ctx;
}

int64_t tsr_comm_world_rank(const tsr_comm *comm, int64_t member)
{
    return comm->members != NULL ? comm->members[member] : member;
}

tsr_traffic tsr_comm_traffic(const tsr_comm *comm)
{
    const rank_shared *mine = &comm->team->ranks[comm->world_rank];
    return (tsr_traffic){.bytes_sent = atomic_load(&mine->bytes_sent),
                         .bytes_received = atomic_load(&mine->bytes_received),
                         .bytes_local = atomic_load(&mine->bytes_local)};
}

void comm_count(const tsr_comm *comm, int64_t from, int64_t to, int64_t bytes)
{
    rank_shared *ranks = comm->team->ranks;
    if (from == to) {
        atomic_fetch_add_explicit(&ranks[to].bytes_local, bytes, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(&ranks[from].bytes_sent, bytes, memory_order_relaxed);
        atomic_fetch_add_explicit(&ranks[to].bytes_received, bytes, memory_order_relaxed);
    }
}

uint64_t comm_offset(const tsr_comm *comm, const void *memory)
{
    return (uint64_t)(uintptr_t)memory - (uint64_t)(uintptr_t)comm->own->base;
}

char *comm_address(const tsr_comm *comm, int64_t world_rank, uint64_t offset)
{
    char *base = comm->team->segments + (size_t)world_rank * comm->team->segment_bytes;
    return base + (ptrdiff_t)offset;
}

const char *last_error_text(const tsr_context *ctx)
{
    const char *text = "";
    for (const tsr_diagnostic *d = tsr_context_diagnostics(ctx); d != NULL; d = d->next) {
        text = d->severity == TSR_ERROR && !d->follow_up ? d->text : text;
    }
    return text;
}

const call_record *comm_record(const tsr_comm *comm, int64_t member)
{
    return &comm->shared->slots[member].records[comm->calls & 1];
}

static void write_record(tsr_comm *comm, const call *what)
{
    call_record *record = &comm->shared->slots[comm->rank].records[comm->calls & 1];
    const char *text = what->text != NULL ? what->text : what->name;
    text = what->status < 0 ? last_error_text(comm->ctx) : text;
    const size_t length = strnlen(text, CALL_TEXT - 1);
    record->hash = what->hash;
    record->status = (int32_t)what->status;
    memcpy(record->text, text, length);
    record->text[length] = '\0';
    memcpy(record->words, what->words, sizeof record->words);
}

/* A meeting at the beginning of a call, or at its end. */
typedef struct meeting {
    const tsr_comm *comm;
    bool leaving;
} meeting;

/*
 * A member that is gone and will not come, as a rank of the world; -1 if none. At the beginning
 * those that have entered this call have come; at the end nobody ends a call by himself.
 */
static int64_t gone_member(const meeting *m)
{
    const tsr_comm *comm = m->comm;
    for (int64_t i = 0; i < comm->size; i++) {
        const int64_t rank = tsr_comm_world_rank(comm, i);
        if (atomic_load(&comm->team->ranks[rank].state) != RANK_RUNNING &&
            (m->leaving || atomic_load(&comm->shared->slots[i].entered) < comm->calls)) {
            return rank;
        }
    }
    return -1;
}

/* Waiting is pointless once a member that has not come is gone. */
static bool somebody_is_gone(void *state)
{
    return gone_member(state) >= 0;
}

/* `1, 3` of the members that have not entered this call. */
static void missing_members(const tsr_comm *comm, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < comm->size && used < size; i++) {
        if (atomic_load(&comm->shared->slots[i].entered) < comm->calls) {
            const int added = snprintf(text + used, size - used, "%s%lld", used > 0 ? ", " : "",
                                       (long long)tsr_comm_world_rank(comm, i));
            used += added > 0 ? (size_t)added : 0;
        }
    }
}

static tsr_status report_gone(tsr_comm *comm, const char *name, int64_t rank)
{
    static const char *const how[] = {"is running", "ended", "failed", "died"};
    const rank_shared *r = &comm->team->ranks[rank];
    const int32_t state = atomic_load(&r->state);
    return diag_error(comm->ctx, TSR_ERR_PEER, NO_PLACE, "%s: rank %lld %s%s%s", name,
                      (long long)rank, how[state], r->text[0] != '\0' ? ": " : "", r->text);
}

static tsr_status report_missing(tsr_comm *comm, const char *name, bool here)
{
    char missing[CALL_TEXT];
    missing_members(comm, missing, sizeof missing);
    if (missing[0] == '\0') {
        return diag_error(comm->ctx, TSR_ERR_TIMEOUT, NO_PLACE,
                          "%s: the communicator is broken: its other ranks gave up waiting for "
                          "this one",
                          name);
    }
    (void)diag_error(comm->ctx, TSR_ERR_TIMEOUT, NO_PLACE,
                     "%s: rank %s did not come within %g seconds", name, missing,
                     comm->team->timeout);
    return diag_note(comm->ctx, NO_PLACE,
                     here ? "the communicator is broken from now on: end the program, or go on "
                            "without it"
                          : "another rank noticed first");
}

/*
 * Meets the others, or says why not. Once all have entered a call, nobody leaves it for a time-out:
 * a peer may still be using his memory. Only a peer's death ends that.
 */
static tsr_status meet(tsr_comm *comm, const char *name, bool leaving)
{
    meeting m = {comm, leaving};
    const barrier_wait how = {.ranks = (uint32_t)comm->size,
                              .spin = comm->team->spin,
                              .timeout = leaving ? HUGE_VAL : comm->team->timeout,
                              .stop = somebody_is_gone,
                              .state = &m};
    const barrier_result result = barrier_enter(&comm->shared->gate, &how);
    if (result == BARRIER_PASSED) {
        return TSR_OK;
    }
    const int64_t gone = gone_member(&m);
    comm->broken = gone >= 0 ? TSR_ERR_PEER : TSR_ERR_TIMEOUT;
    return gone >= 0 ? report_gone(comm, name, gone)
                     : report_missing(comm, name, result == BARRIER_TIMED_OUT);
}

/* The first member that refuses, or -1. */
static int64_t refusing_member(const tsr_comm *comm)
{
    for (int64_t i = 0; i < comm->size; i++) {
        if (comm_record(comm, i)->status < 0) {
            return i;
        }
    }
    return -1;
}

static tsr_status report_refusal(tsr_comm *comm, const call *what, int64_t member)
{
    const call_record *record = comm_record(comm, member);
    if (what->status < 0) {
        return what->status;
    }
    return diag_error(comm->ctx, (tsr_status)record->status, NO_PLACE, "%s: rank %lld refuses: %s",
                      what->name, (long long)tsr_comm_world_rank(comm, member), record->text);
}

static tsr_status compare_records(tsr_comm *comm, const call *what)
{
    const call_record *first = comm_record(comm, 0);
    for (int64_t i = 1; i < comm->size; i++) {
        const call_record *other = comm_record(comm, i);
        if (other->hash != first->hash) {
            return diag_error(comm->ctx, TSR_ERR_PEER, NO_PLACE,
                              "%s: ranks differ in what they are about to do: rank %lld %s; rank "
                              "%lld %s",
                              what->name, (long long)tsr_comm_world_rank(comm, 0), first->text,
                              (long long)tsr_comm_world_rank(comm, i), other->text);
        }
    }
    return TSR_OK;
}

/*
 * A member of a broken group writes no record: peers that have not noticed yet may still be reading
 * the one before the last, which it would overwrite.
 */
tsr_status comm_enter(tsr_comm *comm, const call *what)
{
    if (comm->broken < 0) {
        return diag_error(comm->ctx, comm->broken, NO_PLACE,
                          "%s: the communicator is broken since an earlier call", what->name);
    }
    comm->calls++;
    write_record(comm, what);
    atomic_store_explicit(&comm->shared->slots[comm->rank].entered, comm->calls,
                          memory_order_release);
    TSR_TRY(meet(comm, what->name, false));
    const int64_t refusing = refusing_member(comm);
    if (refusing >= 0) {
        return report_refusal(comm, what, refusing);
    }
    return comm->team->checked ? compare_records(comm, what) : TSR_OK;
}

tsr_status comm_leave(tsr_comm *comm, const char *name)
{
    return comm->broken < 0 ? comm->broken : meet(comm, name, true);
}

tsr_status tsr_barrier(tsr_comm *comm)
{
    const call what = {.name = "tsr_barrier", .hash = 1};
    return comm_enter(comm, &what);
}

tsr_status comm_open_world(tsr_context *ctx, const team *t, int64_t rank, tsr_comm **out)
{
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    tsr_comm *comm = ARENA_NEW(arena, tsr_comm);
    segment *own = ARENA_NEW(arena, segment);
    if (comm == NULL || own == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(ctx);
    }
    segment_init(own, ctx, t->segments + (size_t)rank * t->segment_bytes, t->segment_bytes);
    *comm = (tsr_comm){.ctx = ctx,
                       .arena = arena,
                       .team = t,
                       .world = comm,
                       .world_rank = rank,
                       .rank = rank,
                       .size = t->num_ranks,
                       .shared = t->world,
                       .own = own};
    *out = comm;
    return TSR_OK;
}

void comm_close_world(tsr_comm *world)
{
    segment_destroy(world->own);
    tsr_arena_destroy(world->arena);
}

/* What tells a group from others: the device order of the mesh, and the axes. */
static uint64_t group_hash(const tsr_groups *groups)
{
    uint64_t hash = hash_bytes(NULL, 0, 0);
    const int64_t count = tsr_groups_count(groups);
    const int64_t size = tsr_groups_size(groups);
    for (int64_t g = 0; g < count; g++) {
        for (int64_t i = 0; i < size; i++) {
            const int64_t device = tsr_groups_device(groups, g, i);
            hash = hash_bytes(&device, sizeof device, hash);
        }
        hash = hash_bytes(&g, sizeof g, hash);
    }
    return hash;
}

/* The group of this rank, without what its members share. */
static tsr_status make_group(tsr_comm *world, const tsr_groups *groups, comm_kept **out)
{
    int64_t group = 0;
    int64_t index = 0;
    if (!tsr_groups_find(groups, world->rank, &group, &index)) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_PLACE,
                          "the mesh does not have device %lld, this rank", (long long)world->rank);
    }
    const int64_t size = tsr_groups_size(groups);
    comm_kept *kept = ARENA_NEW(world->arena, comm_kept);
    int64_t *members = ARENA_ARRAY(world->arena, int64_t, (size_t)size);
    if (kept == NULL || members == NULL) {
        return diag_nomem(world->ctx);
    }
    for (int64_t i = 0; i < size; i++) {
        members[i] = tsr_groups_device(groups, group, i);
    }
    *kept = (comm_kept){.hash = group_hash(groups), .comm = *world};
    kept->comm.rank = index;
    kept->comm.size = size;
    kept->comm.members = members;
    kept->comm.calls = 0;
    *out = kept;
    return TSR_OK;
}

static tsr_comm *find_kept(const tsr_comm *world, const comm_kept *like)
{
    for (comm_kept *k = world->kept; k != NULL; k = k->next) {
        if (k->hash == like->hash && k->comm.size == like->comm.size &&
            k->comm.rank == like->comm.rank) {
            return &k->comm;
        }
    }
    return NULL;
}

/* The first member makes what the group shares, in its segment, and tells the others where. */
static tsr_status share_group(tsr_comm *world, comm_kept *kept)
{
    const size_t bytes = comm_shared_bytes(kept->comm.size);
    call what = {.name = "tsr_comm_along", .hash = kept->hash};
    if (kept->comm.rank == 0) {
        kept->comm.shared = segment_alloc(world->own, bytes);
        if (kept->comm.shared != NULL) {
            memset(kept->comm.shared, 0, bytes);
            what.words[0] = comm_offset(world, kept->comm.shared);
        } else {
            what.status = TSR_ERR_NOMEM;
        }
    }
    TSR_TRY(comm_enter(world, &what));
    const int64_t leader = kept->comm.members[0];
    char *address = comm_address(world, leader, comm_record(world, leader)->words[0]);
    kept->comm.shared = (comm_shared *)(void *)address;
    return comm_leave(world, what.name);
}

/* What this rank brings to the call: its group, or the reason why not. */
static tsr_status prepare_group(tsr_comm *world, const tsr_mesh *mesh, const tsr_axis_ref *axes,
                                size_t num_axes, comm_kept **out)
{
    if (tsr_mesh_num_devices(mesh) != world->size) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_PLACE,
                          "the mesh has %lld devices, the world %lld ranks",
                          (long long)tsr_mesh_num_devices(mesh), (long long)world->size);
    }
    const tsr_groups *groups = NULL;
    TSR_TRY(tsr_groups_create(world->ctx, world->arena, mesh, axes, num_axes, &groups));
    return make_group(world, groups, out);
}

tsr_status tsr_comm_along(tsr_comm *world, const tsr_mesh *mesh, const tsr_axis_ref *axes,
                          size_t num_axes, tsr_comm **out)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(world->arena);
    comm_kept *kept = NULL;
    call what = {.name = "tsr_comm_along"};
    what.status = prepare_group(world, mesh, axes, num_axes, &kept);
    tsr_comm *known = kept != NULL ? find_kept(world, kept) : NULL;
    if (kept == NULL || known != NULL) {
        what.hash = kept != NULL ? kept->hash : 0;
        tsr_arena_reset(world->arena, mark);
        TSR_TRY(comm_enter(world, &what));
        *out = known;
        return TSR_OK;
    }
    TSR_TRY(share_group(world, kept));
    kept->next = world->kept;
    world->kept = kept;
    *out = &kept->comm;
    return TSR_OK;
}
