/* What a world keeps for eager calls: made, set, given up; scopes. */
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "eager/case.h"
#include "eager/tape.h"
#include "eager/trace.h"
#include "eager/typed.h"

static void *resize(const eager *e, void *old, size_t old_size, size_t new_size)
{
    return context_resize(e->world->ctx, old, old_size, new_size);
}

static void close_eager(void *state)
{
    eager *e = state;
    while (e->scope != NULL) {
        tsr_scope_close(e->world);
    }
    started_clear(e);
    tapes_clear(e);
    cases_clear(e);
    typed_clear(e);
    tsr_trace_end(e->world);
    (void)resize(e, e->scratch, e->scratch_bytes, 0);
    tsr_arena_destroy(e->arena);
    (void)resize(e, e, sizeof *e, 0);
}

tsr_status eager_tell(tsr_comm *world, const char *call, tsr_status status)
{
    const eager *e = eager_if_any(world);
    const bool alone = status == TSR_ERR_NOMEM && (e == NULL || e->typing.scope == NULL);
    return alone ? comm_tell(world, call, status) : status;
}

static tsr_status make_eager(tsr_comm *world, eager **out)
{
    TSR_TRY(comm_check_world(world));
    eager *e = context_resize(world->ctx, NULL, 0, sizeof *e);
    if (e == NULL) {
        return diag_nomem(world->ctx);
    }
    *e = (eager){.world = world, .strategy = TSR_STRATEGY_AGGRESSIVE};
    const tsr_status status = tsr_arena_create(world->ctx, &e->arena);
    if (status < 0) {
        (void)context_resize(world->ctx, e, sizeof *e, 0);
        return status;
    }
    world->state->above = e;
    world->state->close_above = close_eager;
    world->state->release_typed = typed_release;
    world->state->check_whole = typed_check_whole;
    world->state->moved = trace_moved;
    *out = e;
    return TSR_OK;
}

tsr_status eager_of(tsr_comm *world, eager **out)
{
    *out = eager_if_any(world);
    return *out != NULL ? TSR_OK
                        : eager_tell(world, "the first call on tensors", make_eager(world, out));
}

tsr_status eager_scratch(eager *e, size_t bytes, void **out)
{
    if (bytes > e->scratch_bytes) {
        char *grown = resize(e, NULL, 0, bytes);
        if (grown == NULL) {
            return diag_nomem(e->world->ctx);
        }
        (void)resize(e, e->scratch, e->scratch_bytes, 0);
        e->scratch = grown;
        e->scratch_bytes = bytes;
    }
    *out = e->scratch;
    return TSR_OK;
}

tsr_status tsr_set_strategy(tsr_comm *world, tsr_strategy strategy)
{
    GUARD(tsr_set_strategy);
    eager *e = NULL;
    TSR_TRY(eager_of(world, &e));
    e->strategy = strategy;
    return TSR_OK;
}

tsr_status tsr_set_strict(tsr_comm *world, bool strict)
{
    GUARD(tsr_set_strict);
    eager *e = NULL;
    TSR_TRY(eager_of(world, &e));
    e->strict = strict;
    return TSR_OK;
}

/* ---- scopes ---- */

struct eager_scope {
    eager_scope *outer;
    tsr_tensor **tensors;
    size_t count;
    size_t room;
};

static tsr_status open_scope(tsr_comm *world)
{
    eager *e = NULL;
    TSR_TRY(eager_of(world, &e));
    eager_scope *scope = resize(e, NULL, 0, sizeof *scope);
    if (scope == NULL) {
        return diag_nomem(world->ctx);
    }
    *scope = (eager_scope){.outer = e->scope};
    e->scope = scope;
    return TSR_OK;
}

tsr_status tsr_scope_open(tsr_comm *world)
{
    GUARD(tsr_scope_open);
    eager_begin(world);
    return eager_tell(world, "tsr_scope_open", open_scope(world));
}

void tsr_scope_close(tsr_comm *world)
{
    GUARD(tsr_scope_close);
    eager *e = eager_if_any(world);
    eager_scope *scope = e != NULL ? e->scope : NULL;
    if (scope == NULL) {
        return;
    }
    e->scope = scope->outer;
    for (size_t i = scope->count; i-- > 0;) {
        tsr_tensor_release(scope->tensors[i]);
    }
    (void)resize(e, (void *)scope->tensors, scope->room * sizeof *scope->tensors, 0);
    (void)resize(e, scope, sizeof *scope, 0);
}

tsr_status eager_reserve(eager *e, size_t count)
{
    eager_scope *scope = e->scope;
    if (scope == NULL || scope->count + count <= scope->room) {
        return TSR_OK;
    }
    const size_t room = 2 * scope->room + count + 64;
    tsr_tensor **grown =
        resize(e, (void *)scope->tensors, scope->room * sizeof *grown, room * sizeof *grown);
    if (grown == NULL) {
        return diag_nomem(e->world->ctx);
    }
    scope->tensors = grown;
    scope->room = room;
    return TSR_OK;
}

void eager_adopt(eager *e, tsr_tensor *tensor)
{
    if (e->scope != NULL) {
        e->scope->tensors[e->scope->count++] = tensor;
    }
}
