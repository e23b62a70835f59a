#include "interp/world.h"

#include <string.h>

#include "base/arena.h"

static void *new_list(tsr_context *ctx, size_t count, size_t size)
{
    void *list = context_resize(ctx, NULL, 0, count * size);
    if (list != NULL) {
        memset(list, 0, count * size);
    }
    return list;
}

tsr_status interp_world_init(interp_world *world, interp_machine *parent, size_t replicas,
                             size_t partitions)
{
    const size_t count = replicas * partitions;
    *world = (interp_world){.replicas = replicas, .partitions = partitions, .count = count};
    world->machines = new_list(parent->ctx, count, sizeof *world->machines);
    world->arrivals = new_list(parent->ctx, count, sizeof *world->arrivals);
    if (world->machines == NULL || world->arrivals == NULL) {
        world->count = 0;
        (void)context_resize(parent->ctx, world->machines, count * sizeof *world->machines, 0);
        (void)context_resize(parent->ctx, world->arrivals, count * sizeof *world->arrivals, 0);
        *world = (interp_world){0};
        return diag_nomem(parent->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        interp_machine_init(&world->machines[i], parent->ctx, parent->code, parent->pool,
                            parent->host);
        world->machines[i].world = world;
        world->machines[i].process = i;
    }
    return TSR_OK;
}

/* Drops results that no process has taken. */
static void drop_arrival(interp_machine *parent, interp_arrival *arrival)
{
    if (arrival->done) {
        const size_t count = arrival->step->num_results;
        for (size_t i = 0; i < count; i++) {
            interp_array_drop(parent->pool, arrival->results[i]);
        }
        (void)context_resize(parent->ctx, arrival->results, count * sizeof *arrival->results, 0);
    }
}

void interp_world_clear(interp_world *world, interp_machine *parent)
{
    for (size_t i = 0; i < world->count; i++) {
        drop_arrival(parent, &world->arrivals[i]);
        interp_machine_clear(&world->machines[i]);
    }
    while (world->messages != NULL) {
        interp_message *message = world->messages;
        world->messages = message->next;
        interp_array_drop(parent->pool, message->values);
        (void)context_resize(parent->ctx, message, sizeof *message, 0);
    }
    (void)context_resize(parent->ctx, world->machines, world->count * sizeof *world->machines, 0);
    (void)context_resize(parent->ctx, world->arrivals, world->count * sizeof *world->arrivals, 0);
}

/* All processes that have not ended wait: says where the first of them does. */
static tsr_status deadlock(const interp_world *world, const interp_machine *parent)
{
    for (size_t i = 0; i < world->count; i++) {
        const interp_machine *m = &world->machines[i];
        if (m->depth > 0) {
            return INTERP_RUN_ERROR(
                parent, m->stack[m->depth - 1].next, TSR_ERR_INVALID,
                "process %zu waits in a collective that other processes never enter", i);
        }
    }
    return TSR_OK;
}

tsr_status interp_world_run(interp_world *world, interp_machine *parent)
{
    bool waiting = true;
    while (waiting) {
        const int64_t before = parent->host->steps;
        size_t ended = 0;
        size_t turns = 0;
        waiting = false;
        for (size_t i = 0; i < world->count; i++) {
            interp_machine *m = &world->machines[i];
            if (m->depth == 0) {
                continue;
            }
            turns++;
            const tsr_status status = interp_machine_run(m, 0);
            TSR_TRY(status);
            waiting = waiting || status == TSR_IN_PROGRESS;
            ended += status == TSR_OK;
        }
        if (waiting && ended == 0 && parent->host->steps - before <= (int64_t)turns) {
            return deadlock(world, parent);
        }
    }
    return TSR_OK;
}
