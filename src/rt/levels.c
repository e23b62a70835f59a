/* Worlds whose ranks are laid over the levels of a topology. */
#include "rt/levels.h"

#include <stdio.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/map.h"
#include "rt/comm.h"

rank_levels rank_levels_of(const tsr_topology *topology)
{
    rank_levels levels = {0};
    if (topology == NULL) {
        return levels;
    }
    const tsr_topology_spec spec = tsr_topology_facts(topology);
    int64_t stride = 1;
    levels.count = spec.num_levels;
    levels.hash = 13;
    for (size_t l = spec.num_levels; l-- > 0;) {
        const int64_t words[] = {spec.levels[l].size, spec.levels[l].latency,
                                 spec.levels[l].bandwidth};
        levels.strides[l] = stride;
        levels.hash = hash_bytes(words, sizeof words, levels.hash);
        stride *= spec.levels[l].size;
    }
    const int64_t rates[] = {spec.copy_bandwidth, spec.reduce_bandwidth, spec.memory};
    levels.hash = hash_bytes(rates, sizeof rates, levels.hash);
    return levels;
}

/* What a rank sets, where ranks differ. */
static void describe(const void *of, char *text, size_t size)
{
    const rank_levels *levels = of;
    size_t used =
        (size_t)snprintf(text, size, "sets %s", levels->count > 0 ? "levels" : "no topology");
    for (size_t l = 0; l < levels->count && used < size; l++) {
        used += (size_t)snprintf(text + used, size - used, "%s%lld",
                                 l > 0 ? ", " : " of groups of ", (long long)levels->strides[l]);
    }
}

/* Refuses while requests are pending: some ranks would count their bytes, others not. */
static tsr_status check_world(const tsr_comm *world)
{
    if (world->world != world) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a topology is set for the whole world; pass the communicator of the "
                          "world, not of a group");
    }
    return world->state->requests == NULL
               ? TSR_OK
               : diag_error(
                     world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                     "a request is pending: wait for all requests before setting a topology");
}

/* The levels of a topology that fits the ranks of a world. */
static tsr_status find_levels(const tsr_comm *world, const tsr_topology *topology, rank_levels *out)
{
    const tsr_topology *fitted = NULL;
    tsr_arena *arena = NULL;
    TSR_TRY(check_world(world));
    TSR_TRY(tsr_arena_create(world->ctx, &arena));
    tsr_status status = TSR_OK;
    if (topology != NULL) {
        status = tsr_topology_fit(world->ctx, arena, topology, world->size, &fitted);
    }
    *out = rank_levels_of(fitted);
    tsr_arena_destroy(arena);
    return status;
}

/* Counts from zeros again, before any rank can have left the rendezvous and moved something. */
static void forget_counts(const tsr_comm *world)
{
    rank_shared *mine = &world->team->ranks[world->world_rank];
    for (size_t l = 0; l < TSR_MAX_LEVELS; l++) {
        atomic_store(&mine->sent_at[l], 0);
        atomic_store(&mine->received_at[l], 0);
    }
}

tsr_status tsr_comm_set_topology(tsr_comm *world, const tsr_topology *topology)
{
    GUARD(tsr_comm_set_topology);
    TSR_TRY(comm_check_real(world));
    rank_levels levels = {0};
    const tsr_status status = find_levels(world, topology, &levels);
    const comm_call what = {.name = "tsr_comm_set_topology",
                            .status = status,
                            .hash = levels.hash,
                            .describe = describe,
                            .of = &levels};
    if (status == TSR_OK) {
        forget_counts(world);
    }
    TSR_TRY(comm_enter(world, &what));
    world->state->levels = levels;
    return TSR_OK;
}

tsr_traffic tsr_comm_traffic_at(const tsr_comm *comm, size_t level)
{
    GUARD(tsr_comm_traffic_at);
    if (comm->team->abstract || level >= comm->state->levels.count) {
        return (tsr_traffic){0};
    }
    const rank_shared *mine = &comm->team->ranks[comm->world_rank];
    return (tsr_traffic){.bytes_sent = atomic_load(&mine->sent_at[level]),
                         .bytes_received = atomic_load(&mine->received_at[level])};
}
