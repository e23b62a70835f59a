#include "rt/request.h"

#include <sched.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"

/* A collective that was started. */
typedef struct request {
    struct request *next; /* in the order of their starts */
    tsr_arena *arena;     /* of this and of the arguments */
    tsr_comm *comm;
    uint64_t id;
    coll_arguments args;
    coll_task x;
    uint64_t history; /* comm_history when it was started */
    bool begun;
    bool over;
    bool outlives;     /* the run of an open world: its memory stays */
    bool abandoned;    /* the program will not wait for it */
    tsr_status result; /* when it is over */
} request;

/* A copy of a view, without the elements. */
static tsr_status copy_view(tsr_context *ctx, tsr_arena *arena, const tsr_view **view)
{
    if (*view == NULL) {
        return TSR_OK;
    }
    tsr_view *copy = arena_copy(arena, *view, 1, sizeof **view);
    if (copy == NULL) {
        return diag_nomem(ctx);
    }
    const bool readable = copy->rank <= KERNEL_MAX_RANK;
    if (readable && copy->shape != NULL) {
        copy->shape = arena_copy(arena, copy->shape, copy->rank, sizeof *copy->shape);
        if (copy->shape == NULL) {
            return diag_nomem(ctx);
        }
    }
    if (readable && copy->strides != NULL) {
        copy->strides = arena_copy(arena, copy->strides, copy->rank, sizeof *copy->strides);
        if (copy->strides == NULL) {
            return diag_nomem(ctx);
        }
    }
    *view = copy;
    return TSR_OK;
}

static tsr_status copy_list(tsr_context *ctx, tsr_arena *arena, int64_t members,
                            const int64_t **list)
{
    if (*list == NULL) {
        return TSR_OK;
    }
    *list = arena_copy(arena, *list, (size_t)members, sizeof **list);
    return *list != NULL ? TSR_OK : diag_nomem(ctx);
}

static tsr_status copy_arguments(request *r)
{
    tsr_context *ctx = r->comm->ctx;
    const int64_t members = r->comm->size;
    const bool one = r->args.src == r->args.dst;
    TSR_TRY(copy_view(ctx, r->arena, &r->args.src));
    if (one) {
        r->args.dst = r->args.src;
    } else {
        TSR_TRY(copy_view(ctx, r->arena, &r->args.dst));
    }
    TSR_TRY(copy_list(ctx, r->arena, members, &r->args.src_counts));
    TSR_TRY(copy_list(ctx, r->arena, members, &r->args.dst_counts));
    return copy_list(ctx, r->arena, members, &r->args.destinations);
}

/* Makes progress on a request without waiting. */
static void advance(request *r)
{
    tsr_status status = TSR_OK;
    if (!r->begun) {
        r->begun = true;
        status = coll_task_begin(&r->x, r->comm, &r->args, r->history);
    }
    while (status == TSR_OK && r->x.next != NULL) {
        status = r->x.next(&r->x, false);
    }
    if (status != TSR_IN_PROGRESS) {
        coll_task_end(&r->x);
        r->over = true;
        r->result = status;
    }
}

void requests_progress(tsr_comm *world)
{
    if (world->state->progressing) {
        return;
    }
    world->state->progressing = true;
    world->state->turn++;
    for (request *r = world->state->requests; r != NULL; r = r->next) {
        if (!r->over && r->comm->turn_seen != world->state->turn) {
            r->comm->turn_seen = world->state->turn;
            advance(r);
        }
    }
    world->state->progressing = false;
}

static request *first_of(const tsr_comm *comm)
{
    for (request *r = comm->state->requests; r != NULL; r = r->next) {
        if (!r->over && r->comm == comm) {
            return r;
        }
    }
    return NULL;
}

/*
 * Makes progress on everything until a request is over, or with NULL all of a communicator. Waits
 * only by polling: a request that blocked here would be progressed inside itself. Each rendezvous
 * has the whole time-out, counted from the last progress of a member.
 */
static void finish(tsr_comm *comm, const request *last)
{
    tsr_comm *world = comm->world;
    uint64_t calls = comm->calls;
    uint64_t progress = comm_progress(comm);
    double deadline = clock_seconds() + world->team->timeout;
    for (;;) {
        requests_progress(world);
        if (first_of(comm) == NULL || (last != NULL && last->over)) {
            return;
        }
        const double now = clock_seconds();
        const uint64_t seen = comm_progress(comm);
        if (comm->calls != calls || seen != progress) {
            deadline = now + world->team->timeout;
        }
        calls = comm->calls;
        progress = seen;
        comm->overdue = now > deadline ? calls : 0;
        (void)sched_yield();
    }
}

void requests_finish_all(tsr_comm *comm)
{
    if (!comm->state->progressing && first_of(comm) != NULL) {
        finish(comm, NULL);
    }
}

/* The addresses that the elements of a view span; false for none, and for what is not a view. */
static bool span_of(const tsr_view *view, uintptr_t *low, uintptr_t *high)
{
    if (view == NULL || view->rank > KERNEL_MAX_RANK || view->data == NULL) {
        return false;
    }
    int64_t stride = tsr_dtype_item_bytes(view->dtype);
    int64_t first = 0;
    int64_t end = stride;
    for (size_t i = view->rank; i-- > 0;) {
        int64_t reach;
        const int64_t by = view->strides != NULL ? view->strides[i] : stride;
        if (view->shape[i] <= 0 || !checked_mul(view->shape[i] - 1, by, &reach) ||
            !checked_add(by < 0 ? first : end, reach, by < 0 ? &first : &end) ||
            (view->strides == NULL && !checked_mul(stride, view->shape[i], &stride))) {
            return false;
        }
    }
    *low = (uintptr_t)view->data + (uintptr_t)first;
    *high = (uintptr_t)view->data + (uintptr_t)end;
    return true;
}

static bool overlap(const tsr_view *a, const tsr_view *b)
{
    uintptr_t low[2];
    uintptr_t high[2];
    return span_of(a, &low[0], &high[0]) && span_of(b, &low[1], &high[1]) && low[0] < high[1] &&
           low[1] < high[0];
}

/* Whatever is written until a request is waited for, no other request may read or write. */
static tsr_status check_apart(const tsr_comm *comm, const coll_arguments *args)
{
    for (const request *r = comm->state->requests; r != NULL; r = r->next) {
        const bool writes = overlap(args->dst, r->args.dst) || overlap(args->dst, r->args.src);
        if (writes || overlap(args->src, r->args.dst)) {
            return diag_error(comm->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s_start: what it %s overlaps what request %llu %s; wait for that "
                              "request first",
                              coll_row_of(args->kind)->call, writes ? "writes" : "reads",
                              (unsigned long long)r->id, writes ? "reads or writes" : "writes");
        }
    }
    return TSR_OK;
}

/* The request, last in the list. */
static tsr_status make_request(tsr_comm *comm, const coll_arguments *args, request **out)
{
    tsr_comm *world = comm->world;
    tsr_arena *arena = NULL;
    TSR_TRY(check_apart(comm, args));
    TSR_TRY(tsr_arena_create(comm->ctx, &arena));
    request *r = ARENA_NEW(arena, request);
    if (r == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(comm->ctx);
    }
    *r = (request){.arena = arena,
                   .comm = comm,
                   .args = *args,
                   .id = ++world->state->last_request,
                   .history = comm_history(comm)};
    const tsr_status copied = copy_arguments(r);
    if (copied < 0) {
        tsr_arena_destroy(arena);
        return copied;
    }
    request **end = &world->state->requests;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = r;
    *out = r;
    return TSR_OK;
}

tsr_status request_start(tsr_comm *comm, const coll_arguments *args, tsr_request *out)
{
    request *r = NULL;
    const tsr_status status = make_request(comm, args, &r);
    if (status < 0) {
        return comm_tell(comm, coll_row_of(args->kind)->call, status);
    }
    out->id = r->id;
    requests_progress(comm->world);
    return TSR_OK;
}

/* The link to a request in the list; NULL with a diagnostic. */
static request **find(tsr_comm *comm, tsr_request which)
{
    for (request **r = &comm->state->requests; *r != NULL; r = &(*r)->next) {
        if ((*r)->id == which.id) {
            return r;
        }
    }
    const bool was = which.id > 0 && which.id <= comm->state->last_request;
    (void)diag_error(comm->ctx, TSR_ERR_INVALID, NO_LOCATION,
                     was ? "request %llu was already waited for; wait for each request exactly once"
                         : "unknown request %llu; requests come from calls that end in _start",
                     (unsigned long long)which.id);
    return NULL;
}

void request_outlive_run(tsr_comm *comm, tsr_request which)
{
    request **at = find(comm, which);
    if (at != NULL) {
        (*at)->outlives = true;
    }
}

void request_abandon(tsr_comm *comm, tsr_request which)
{
    request **at = find(comm, which);
    if (at != NULL) {
        (*at)->abandoned = true;
        if ((*at)->over) { /* its memory may be freed */
            (*at)->args.src = NULL;
            (*at)->args.dst = NULL;
        }
    }
}

request_state request_look(const tsr_comm *comm, tsr_request which)
{
    for (const request *r = comm->state->requests; r != NULL; r = r->next) {
        if (r->id == which.id) {
            return r->over ? REQUEST_OVER : REQUEST_UNDER_WAY;
        }
    }
    return REQUEST_GONE;
}

static tsr_status take(request **at)
{
    request *r = *at;
    const tsr_status result = r->result; /* NOLINT */
    if (result < 0) {
        comm_forget_history(r->comm);
    }
    *at = r->next;
    tsr_arena_destroy(r->arena);
    return result;
}

tsr_status tsr_wait(tsr_comm *comm, tsr_request which)
{
    GUARD(tsr_wait);
    request **at = find(comm, which);
    if (at == NULL) {
        return TSR_ERR_INVALID;
    }
    if (!(*at)->over) {
        finish((*at)->comm, *at);
    }
    return take(at);
}

tsr_status tsr_test(tsr_comm *comm, tsr_request which)
{
    GUARD(tsr_test);
    request **at = find(comm, which);
    const request *r = at != NULL ? *at : NULL;
    if (r == NULL) {
        return TSR_ERR_INVALID;
    }
    requests_progress(comm->world);
    return r->over ? take(at) : TSR_IN_PROGRESS;
}

/* Ends one that nothing will wait for; its group cannot be used if it was under way. */
static void drop(request **at, tsr_status status)
{
    request *r = *at;
    if (r->begun && !r->over) {
        coll_task_end(&r->x);
        r->comm->broken = r->comm->broken < 0 ? r->comm->broken : status;
    }
    (void)take(at);
}

static tsr_status never_waited_for(const request *r)
{
    return diag_error(
        r->comm->ctx, TSR_ERR_INVALID, NO_LOCATION,
        "request %llu, of %s, was never waited for; wait for each request exactly once",
        (unsigned long long)r->id, coll_row_of(r->args.kind)->call);
}

tsr_status requests_drop(tsr_comm *world)
{
    tsr_status status = TSR_OK;
    while (world->state->requests != NULL) {
        status = never_waited_for(world->state->requests);
        drop(&world->state->requests, status);
    }
    return status;
}

tsr_status requests_end_run(tsr_comm *world, tsr_status status)
{
    tsr_status result = status;
    request **at = &world->state->requests;
    for (request *r = *at; r != NULL && status >= 0; r = r->next) {
        if (r->outlives && !r->over) {
            finish(r->comm, r);
        }
    }
    while (*at != NULL) {
        const request *r = *at;
        if (r->outlives && r->over && r->result >= 0 && !r->abandoned) {
            at = &(*at)->next;
            continue;
        }
        if (!r->outlives || (r->abandoned && result >= 0)) {
            const tsr_status left = never_waited_for(r);
            result = result < 0 ? result : left;
        } else if (r->over) { /* its message is of this run */
            result = result < 0 ? result : r->result;
        }
        drop(at, result);
    }
    return result;
}
