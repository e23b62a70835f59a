/* The choice of algorithms of a world: from the environment and from calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/environment.h"
#include "base/guard.h"
#include "base/map.h"
#include "rt/comm.h"

tsr_status algorithms_read(tsr_context *ctx, coll_choices *choices)
{
    const char *text = getenv("TSR_ALGORITHMS");
    TSR_TRY(environment_flag(ctx, "TSR_UNORDERED", &choices->unordered));
    const tsr_status status = text != NULL ? coll_choices_read(ctx, choices, text) : TSR_OK;
    return status < 0 ? diag_note(ctx, NO_LOCATION, "set by TSR_ALGORITHMS: %s", text) : status;
}

/* A hash of the choices of a world. */
static uint64_t hash_of(const coll_choices *choices)
{
    uint64_t words[COLL_CALLS + 1];
    for (int i = 0; i < COLL_CALLS; i++) {
        const coll_algorithm *a = choices->set[i];
        words[i] = a != NULL ? coll_algorithm_index(a) + 1 : 0;
    }
    words[COLL_CALLS] = choices->unordered;
    return hash_bytes(&choices->link, sizeof choices->link, hash_bytes(words, sizeof words, 11));
}

/* What a rank chooses, `all-gather=ring`, where ranks differ. */
static void describe(const void *of, char *text, size_t size)
{
    const coll_choices *choices = of;
    size_t used = (size_t)snprintf(text, size, "chooses %s order, a link of %g, %g, %g, %g",
                                   choices->unordered ? "any" : "the group's", choices->link.alpha,
                                   choices->link.beta, choices->link.gamma, choices->link.delta);
    for (int i = 0; i < COLL_CALLS && used < size; i++) {
        const coll_algorithm *a = choices->set[i];
        if (a != NULL) {
            used += (size_t)snprintf(text + used, size - used, ", %s=%s", a->shown.collective,
                                     a->shown.name);
        }
    }
}

/* Sets the choices on all ranks; a collective call that fails unless all ranks set the same. */
static tsr_status agree(tsr_comm *world, const char *name, tsr_status status,
                        const coll_choices *choices)
{
    const comm_call what = {.name = name,
                            .status = status,
                            .hash = hash_of(choices),
                            .describe = describe,
                            .of = choices};
    TSR_TRY(comm_enter(world, &what));
    world->state->choices = *choices;
    return TSR_OK;
}

/*
 * Refuses while requests are pending: some ranks would choose their algorithm before this call,
 * others after it.
 */
static tsr_status check_world(const tsr_comm *world)
{
    if (world->world != world) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "algorithms are chosen for the whole world; pass the communicator of the "
                          "world, not of a group");
    }
    return world->state->requests == NULL
               ? TSR_OK
               : diag_error(
                     world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                     "a request is pending: wait for all requests before choosing algorithms");
}

tsr_status tsr_comm_set_algorithm(tsr_comm *world, const char *collective, const char *name)
{
    GUARD(tsr_comm_set_algorithm);
    TSR_TRY(comm_check_real(world));
    coll_choices choices = world->state->choices;
    tsr_status status = check_world(world);
    if (status == TSR_OK) {
        status = coll_choices_set(world->ctx, &choices, collective, name);
    }
    return agree(world, "tsr_comm_set_algorithm", status, &choices);
}

tsr_status tsr_comm_allow_unordered(tsr_comm *world, bool allow)
{
    GUARD(tsr_comm_allow_unordered);
    TSR_TRY(comm_check_real(world));
    coll_choices choices = world->state->choices;
    tsr_status status = check_world(world);
    if (status == TSR_OK) {
        status = coll_choices_allow(world->ctx, &choices, allow);
    }
    return agree(world, "tsr_comm_allow_unordered", status, &choices);
}

tsr_status tsr_comm_set_link(tsr_comm *world, const tsr_link *link)
{
    GUARD(tsr_comm_set_link);
    TSR_TRY(comm_check_real(world));
    coll_choices choices = world->state->choices;
    tsr_status status = check_world(world);
    if (status == TSR_OK) {
        status = coll_choices_set_link(world->ctx, &choices, link);
    }
    return agree(world, "tsr_comm_set_link", status, &choices);
}

tsr_status tsr_comm_algorithm(const tsr_comm *comm, const char *collective, double bytes,
                              const tsr_algorithm **out)
{
    GUARD(tsr_comm_algorithm);
    coll_kind kind;
    TSR_TRY(coll_find(comm->ctx, collective, strlen(collective), &kind));
    *out = &coll_choose(&comm->state->choices, kind, false, bytes, comm->size)->shown;
    return TSR_OK;
}
