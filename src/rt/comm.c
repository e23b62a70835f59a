#include "rt/comm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/map.h"
#include "kernel/progress.h"
#include "rt/control.h"
#include "rt/symbols.h"
#include "rt/tensor.h"

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
    GUARD(tsr_comm_rank);
    return comm->rank;
}

int64_t tsr_comm_size(const tsr_comm *comm)
{
    GUARD(tsr_comm_size);
    return comm->size;
}

tsr_context *tsr_comm_context(const tsr_comm *comm)
{
    GUARD(tsr_comm_context);
    return comm->ctx;
}

int64_t tsr_comm_world_rank(const tsr_comm *comm, int64_t member)
{
    GUARD(tsr_comm_world_rank);
    if (member < 0 || member >= comm->size) {
        return -1;
    }
    return comm->members != NULL ? comm->members[member] : member;
}

bool tsr_comm_is_abstract(const tsr_comm *comm)
{
    GUARD(tsr_comm_is_abstract);
    return comm->team->abstract;
}

tsr_status comm_check_real(const tsr_comm *comm)
{
    return !comm->team->abstract ? TSR_OK
                                 : diag_error(comm->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                                              "this world is abstract: one rank stands for %lld, "
                                              "and collectives on arrays are not available",
                                              (long long)comm->world->size);
}

tsr_traffic tsr_comm_traffic(const tsr_comm *comm)
{
    GUARD(tsr_comm_traffic);
    if (comm->team->abstract) {
        return (tsr_traffic){0};
    }
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
        if (comm->state->levels.count > 0) {
            const size_t l = rank_levels_between(&comm->state->levels, from, to);
            atomic_fetch_add_explicit(&ranks[from].sent_at[l], bytes, memory_order_relaxed);
            atomic_fetch_add_explicit(&ranks[to].received_at[l], bytes, memory_order_relaxed);
        }
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

const char *tsr_comm_transport(const tsr_comm *comm, bool *shared)
{
    GUARD(tsr_comm_transport);
    *shared = !comm->team->message;
    return comm->team->name;
}

void tsr_comm_abort(tsr_comm *comm, int code)
{
    GUARD(tsr_comm_abort);
    if (comm->team->endpoint != NULL) {
        const tsr_transport *t = &comm->team->endpoint->transport;
        t->abort(t->state, code);
    }
}

tsr_status comm_open_world(tsr_context *ctx, const team *t, int64_t rank, tsr_comm **out)
{
    tsr_arena *arena = NULL;
    coll_choices choices =
        coll_choices_default(t->message ? TSR_MEDIUM_MESSAGES : TSR_MEDIUM_SHARED);
    TSR_TRY(algorithms_read(ctx, &choices));
    TSR_TRY(tsr_arena_create(ctx, &arena));
    tsr_comm *comm = ARENA_NEW(arena, tsr_comm);
    segment *own = ARENA_NEW(arena, segment);
    world_state *state = ARENA_NEW(arena, world_state);
    const size_t watched = t->abstract ? 0 : (size_t)t->num_ranks;
    progress_seen *seen = ARENA_ARRAY(arena, progress_seen, watched);
    if (comm == NULL || own == NULL || state == NULL || seen == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(ctx);
    }
    char *base = t->segments != NULL ? t->segments + (size_t)rank * t->segment_bytes : NULL;
    segment_init(own, ctx, base, t->segment_bytes);
    if (t->ranks != NULL) {
        t->ranks[rank].pid = (int32_t)getpid();
    }
    *state = (world_state){.choices = choices};
    plan_store_init(&state->own_plans, ctx);
    state->plans =
        plan_cache_new(t->plans != NULL ? t->plans : &state->own_plans, PLAN_CACHE_DEFAULT);
    *comm = (tsr_comm){.ctx = ctx,
                       .arena = arena,
                       .team = t,
                       .world = comm,
                       .state = state,
                       .world_rank = rank,
                       .rank = rank,
                       .size = t->num_ranks,
                       .shared = t->world,
                       .seen = seen,
                       .own = own};
    const tsr_status status = t->message ? control_open(comm) : TSR_OK;
    if (status < 0) {
        comm_close_world(comm);
        return status;
    }
    *out = comm;
    return TSR_OK;
}

void comm_close_control(tsr_comm *world)
{
    channel_close(&world->control);
    for (comm_kept *k = world->state->kept; k != NULL; k = k->next) {
        channel_close(&k->comm.control);
    }
}

void comm_close_world(tsr_comm *world)
{
    progress_set((progress_target){0});
    if (world->state->above != NULL) {
        world->state->close_above(world->state->above);
    }
    tensors_free_left(world);
    plan_cache_clear(&world->state->plans);
    plan_store_destroy(&world->state->own_plans);
    layout_table_clear(&world->state->layouts);
    symbols_clear(world);
    segment_destroy(world->own);
    tsr_arena_destroy(world->arena);
}

/* Does something to the world and to each of its groups. */
static void for_each_group(tsr_comm *world, void (*act)(tsr_comm *comm))
{
    act(world);
    for (comm_kept *k = world->state->kept; k != NULL; k = k->next) {
        act(&k->comm);
    }
}

static void break_out_of_step(tsr_comm *comm)
{
    if (comm->broken < 0 || barrier_has_arrivals(&comm->shared->gate)) {
        barrier_break_idle(&comm->shared->gate);
    }
}

static void note_broken(tsr_comm *comm)
{
    if (comm->broken == TSR_OK && barrier_is_broken(&comm->shared->gate)) {
        comm->broken = TSR_ERR_PEER;
    }
}

void comm_settle(tsr_comm *const *worlds, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        for_each_group(worlds[i], break_out_of_step);
    }
    for (int64_t i = 0; i < count; i++) {
        for_each_group(worlds[i], note_broken);
        comm_forget_history(worlds[i]);
    }
}

tsr_status comm_check_world(const tsr_comm *comm)
{
    if (comm->world == comm) {
        return TSR_OK;
    }
    return diag_error(
        comm->ctx, TSR_ERR_INVALID, NO_LOCATION,
        "this communicator is a group of %lld ranks; pass the communicator of the whole world",
        (long long)comm->size);
}

/* The identity of a group: the device order of the mesh, and the axes. */
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
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the mesh does not contain device %lld, this rank",
                          (long long)world->rank);
    }
    const int64_t size = tsr_groups_size(groups);
    comm_kept *kept = ARENA_NEW(world->arena, comm_kept);
    int64_t *members = ARENA_ARRAY(world->arena, int64_t, (size_t)size);
    progress_seen *seen = ARENA_ARRAY(world->arena, progress_seen, (size_t)size);
    if (kept == NULL || members == NULL || seen == NULL) {
        return diag_nomem(world->ctx);
    }
    for (int64_t i = 0; i < size; i++) {
        members[i] = tsr_groups_device(groups, group, i);
    }
    *kept = (comm_kept){.hash = group_hash(groups),
                        .comm = {.ctx = world->ctx,
                                 .arena = world->arena,
                                 .team = world->team,
                                 .world = world,
                                 .state = world->state,
                                 .world_rank = world->world_rank,
                                 .rank = index,
                                 .size = size,
                                 .members = members,
                                 .seen = seen,
                                 .id = world->state->num_kept + 1,
                                 .own = world->own}};
    *out = kept;
    return TSR_OK;
}

static tsr_comm *find_kept(const tsr_comm *world, const comm_kept *like)
{
    for (comm_kept *k = world->state->kept; k != NULL; k = k->next) {
        if (k->hash == like->hash && k->comm.size == like->comm.size &&
            k->comm.rank == like->comm.rank) {
            return &k->comm;
        }
    }
    return NULL;
}

/* The axes of a group that is being made. */
typedef struct axes_call {
    tsr_context *ctx;
    const tsr_mesh *mesh;
    const tsr_axis_ref *axes;
    size_t num_axes;
} axes_call;

static void describe_axes(const void *of, char *text, size_t size)
{
    const axes_call *call = of;
    tsr_arena *scratch = NULL;
    const char *axes = NULL;
    const char *mesh = NULL;
    if (tsr_arena_create(call->ctx, &scratch) == TSR_OK &&
        tsr_mesh_print(call->ctx, scratch, call->mesh, &mesh) == TSR_OK &&
        tsr_axes_print(call->ctx, scratch, call->mesh, call->axes, call->num_axes, &axes) ==
            TSR_OK) {
        (void)snprintf(text, size, "calls tsr_comm_along(%s of %s)", axes, mesh);
    }
    tsr_arena_destroy(scratch);
}

static comm_call axes_call_record(const axes_call *call, uint64_t hash, tsr_status status)
{
    return (comm_call){.name = "tsr_comm_along",
                       .hash = hash,
                       .status = status,
                       .describe = describe_axes,
                       .of = call};
}

/*
 * The first member allocates what the group shares, in its segment, and publishes the offset. Ranks
 * that share no memory make their own.
 */
static tsr_status share_group(tsr_comm *world, comm_kept *kept, const axes_call *call)
{
    if (world->team->abstract) {
        return TSR_OK;
    }
    const size_t bytes = comm_shared_bytes(kept->comm.size);
    const bool each = world->team->message;
    comm_call what = axes_call_record(call, kept->hash, TSR_OK);
    void *own = NULL;
    if (kept->comm.rank == 0 || each) {
        own = segment_alloc(world->own, bytes);
        what.status = own != NULL ? TSR_OK : TSR_ERR_NOMEM;
    }
    if (own != NULL) {
        memset(own, 0, bytes);
        what.words[0] = comm_offset(world, own);
    }
    const tsr_status status = comm_enter(world, &what);
    if (status < 0) {
        if (own != NULL) {
            segment_free(world->own, own);
        }
        return status;
    }
    const int64_t leader = each ? world->rank : kept->comm.members[0];
    char *address = comm_address(world, leader, comm_record(world, leader)->words[0]);
    kept->comm.shared = (comm_shared *)(void *)address;
    return comm_leave(world, what.name);
}

/* This rank's input of the call: its group, or the reason why it has none. */
static tsr_status prepare_group(tsr_comm *world, const tsr_mesh *mesh, const tsr_axis_ref *axes,
                                size_t num_axes, comm_kept **out)
{
    TSR_TRY(comm_check_world(world));
    if (tsr_mesh_num_devices(mesh) != world->size) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the mesh has %lld devices, the world %lld ranks",
                          (long long)tsr_mesh_num_devices(mesh), (long long)world->size);
    }
    const endpoint *ep = world->team->endpoint;
    if (ep != NULL &&
        world->state->num_kept >= (ep->transport.most_tag - TAG_GROUPS) / TAGS_OF_GROUP - 1) {
        return diag_error(world->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "%s has tags for at most %d groups", ep->transport.name,
                          world->state->num_kept);
    }
    const tsr_groups *groups = NULL;
    TSR_TRY(tsr_groups_create(world->ctx, world->arena, mesh, axes, num_axes, &groups));
    return make_group(world, groups, out);
}

tsr_status tsr_comm_along(tsr_comm *world, const tsr_mesh *mesh, const tsr_axis_ref *axes,
                          size_t num_axes, tsr_comm **out)
{
    GUARD(tsr_comm_along);
    const tsr_arena_mark mark = tsr_arena_get_mark(world->arena);
    comm_kept *kept = NULL;
    const axes_call call = {world->ctx, mesh, axes, num_axes};
    const tsr_status status = prepare_group(world, mesh, axes, num_axes, &kept);
    tsr_comm *known = kept != NULL ? find_kept(world, kept) : NULL;
    if (kept == NULL || known != NULL) {
        const comm_call what = axes_call_record(&call, kept != NULL ? kept->hash : 0, status);
        tsr_arena_reset(world->arena, mark);
        TSR_TRY(comm_enter(world, &what));
        *out = known;
        return TSR_OK;
    }
    TSR_TRY(share_group(world, kept, &call));
    kept->next = world->state->kept;
    world->state->kept = kept;
    world->state->num_kept++;
    *out = &kept->comm;
    return TSR_OK;
}
