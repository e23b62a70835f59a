#include "eager/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/guard.h"
#include "coll/collective.h"

/* The bytes of a plan whose last step only one rank's part is of; NULL: of every rank. */
static void count_bytes(const tsr_plan *plan, int64_t rank, const int64_t *only,
                        tsr_trace_event *out)
{
    const plan_exchange *last = &plan->steps[plan->num_steps - 1].exchange;
    const int64_t item = tsr_dtype_item_bytes(plan->dtype);
    out->bytes_received = tsr_plan_bytes_received(plan, rank);
    out->bytes_moved = plan_bytes_moved(plan);
    if (only != NULL && out->bytes_moved < INT64_MAX) {
        out->bytes_moved += (exchange_received(last, *only) - exchange_moved(last)) * item;
        out->bytes_received -= rank == *only ? 0 : exchange_received(last, rank) * item;
    }
}

/* The axes along which something changes, in words. */
static tsr_status print_axes(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *from,
                             const tsr_mesh *to, const tsr_axis_list *axes, const char **out)
{
    if (!tsr_mesh_equal(from, to)) {
        *out = "the whole mesh";
        return TSR_OK;
    }
    if (axes->count == 0) { /* other sizes, or another order, of the same cuts */
        *out = "the axes that cut it";
        return TSR_OK;
    }
    return tsr_axes_print(ctx, arena, from, axes->refs, axes->count, out);
}

/* What a redistribution amounts to, by the plan: its kind, its axes and its bytes. */
static tsr_status describe_plan(eager *e, tsr_arena *arena, const tsr_plan *plan,
                                const int64_t *only, tsr_trace_event *out)
{
    const tsr_comm *world = e->world;
    const plan_step *first = &plan->steps[0];
    const plan_step *last = &plan->steps[plan->num_steps - 1];
    const tsr_sharding *from = first->exchange.src.of->sharding;
    const tsr_sharding *to = last->exchange.dst.of->sharding;
    tsr_axis_list axes = {0};
    out->collective = tsr_step_kind_name(plan->kind);
    count_bytes(plan, world->rank, only, out);
    TSR_TRY(plan_changed_axes(world->ctx, arena, from, to, &axes));
    return print_axes(world->ctx, arena, from->mesh, to->mesh, &axes, &out->axes);
}

/* Without a plan: where sizes are unbound, the bytes of what may move are not known. */
static tsr_status describe_sketch(eager *e, tsr_arena *arena, const move_note *move,
                                  tsr_trace_event *out)
{
    tsr_context *ctx = e->world->ctx;
    const tsr_mesh *mesh = move->from->geometry->sharding->mesh;
    plan_sketch sketch;
    TSR_TRY(plan_sketch_create(ctx, arena, move->from->geometry, move->to->geometry, &sketch));
    out->collective = tsr_step_kind_name(sketch.kind);
    out->bytes_received = sketch.may_move ? TSR_UNKNOWN : 0;
    out->bytes_moved = out->bytes_received;
    return print_axes(ctx, arena, mesh, move->to->geometry->sharding->mesh, &sketch.axes,
                      &out->axes);
}

/* `bf16[4,8]`, or `bf16[4,8] pending in f32`. */
static tsr_status print_tensor(tsr_context *ctx, tsr_arena *arena, const tensor_layout *layout,
                               const char **out)
{
    const op_type type = type_of_layout(layout);
    buffer buf = buffer_new(arena);
    buffer_string(&buf, op_type_text(&type).text);
    if (layout->pending != layout->dtype) {
        buffer_format(&buf, " pending in %s", tsr_dtype_name(layout->pending));
    }
    return buffer_finish(ctx, &buf, out);
}

/* `f32 to bf16`, where a sum that is pending in a wider type is completed. */
static tsr_status print_convert(tsr_context *ctx, tsr_arena *arena, const move_note *move,
                                const char **out)
{
    const tensor_layout *from = move->from;
    if (from->pending == from->dtype || move->to->geometry->sharding->num_unreduced > 0) {
        return TSR_OK;
    }
    buffer buf = buffer_new(arena);
    buffer_format(&buf, "%s to %s", tsr_dtype_name(from->pending), tsr_dtype_name(from->dtype));
    return buffer_finish(ctx, &buf, out);
}

tsr_status describe_move(eager *e, tsr_arena *arena, const move_note *move, tsr_trace_event *out)
{
    tsr_context *ctx = e->world->ctx;
    const tsr_sharding *from = move->from->geometry->sharding;
    const tsr_sharding *to = move->to->geometry->sharding;
    *out = (tsr_trace_event){.call = arena_string(arena, move->call, strlen(move->call)),
                             .operand = move->operand,
                             .implicit = move->implicit,
                             .fallback = move->fallback};
    if (out->call == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(print_tensor(ctx, arena, move->from, &out->tensor));
    TSR_TRY(print_convert(ctx, arena, move, &out->convert));
    TSR_TRY(tsr_sharding_print(ctx, arena, from, TSR_PRINT_BARE, &out->from));
    TSR_TRY(tsr_sharding_print(ctx, arena, to, TSR_PRINT_BARE, &out->to));
    if (!geometry_is_bound(move->from->geometry) || !geometry_is_bound(move->to->geometry)) {
        return describe_sketch(e, arena, move, out);
    }
    if (move->plan != NULL) {
        return describe_plan(e, arena, move->plan, move->only, out);
    }
    const cached_plan *plan = NULL;
    TSR_TRY(plan_cache_get(&e->world->state->plans, ctx, move->from->geometry, move->to->geometry,
                           move->from->pending, &plan));
    const tsr_status status = describe_plan(e, arena, plan->plan, move->only, out);
    plan_cache_put(&e->world->state->plans, plan);
    return status;
}

/* `12 bytes`, or `unknown bytes`. */
static void bytes_text(int64_t bytes, char *text, size_t size)
{
    if (bytes == TSR_UNKNOWN) {
        (void)snprintf(text, size, "unknown bytes");
    } else {
        (void)snprintf(text, size, "%lld bytes", (long long)bytes);
    }
}

static tsr_status refuse(tsr_context *ctx, const tsr_trace_event *event)
{
    char which[32] = "a value within the call";
    if (event->operand >= 0) {
        (void)snprintf(which, sizeof which, "operand %lld", (long long)event->operand);
    }
    char bytes[32];
    bytes_text(event->bytes_moved, bytes, sizeof bytes);
    (void)diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                     "%s: %s, %s, has the layout %s and needs %s: strict mode refuses the implicit "
                     "%s over %s of %s",
                     event->call, which, event->tensor, event->from, event->to, event->collective,
                     event->axes, bytes);
    return diag_note(
        ctx, NO_LOCATION,
        "redistribute the operand explicitly with tsr_with_sharding to %s, or turn strict mode off",
        event->to);
}

tsr_status refuse_move(eager *e, const move_note *move)
{
    if (!e->strict) {
        return TSR_OK;
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    tsr_trace_event event;
    tsr_status status = describe_move(e, e->arena, move, &event);
    if (status == TSR_OK && event.bytes_moved != 0) {
        status = refuse(e->world->ctx, &event);
    }
    tsr_arena_reset(e->arena, mark);
    return status;
}

tsr_status trace_add(eager *e, const tsr_trace_event *event)
{
    if (e->trace.count == e->trace.room) {
        const size_t room = e->trace.room > 0 ? 2 * e->trace.room : 64;
        tsr_trace_event *grown = ARENA_ARRAY(e->trace.arena, tsr_trace_event, room);
        if (grown == NULL) {
            return diag_nomem(e->world->ctx);
        }
        if (e->trace.count > 0) {
            memcpy(grown, e->trace.events, e->trace.count * sizeof *grown);
        }
        e->trace.events = grown;
        e->trace.room = room;
    }
    e->trace.events[e->trace.count++] = *event;
    return TSR_OK;
}

tsr_status note_move(eager *e, const move_note *move)
{
    tsr_trace_event event;
    if (e->trace.arena == NULL) {
        return TSR_OK;
    }
    TSR_TRY(describe_move(e, e->trace.arena, move, &event));
    return event.bytes_moved == 0 && move->only_moves ? TSR_OK : trace_add(e, &event);
}

/* A number without dimensions that one rank gives all others. */
static tsr_status note_broadcast(eager *e, const char *call, const tensor_layout *to, int64_t root)
{
    tsr_arena *arena = e->trace.arena;
    const tsr_comm *world = e->world;
    const int64_t item = tsr_dtype_item_bytes(to->dtype);
    const op_type type = type_of_layout(to);
    const op_text text = op_type_text(&type);
    char from[48];
    (void)snprintf(from, sizeof from, "the array of rank %lld", (long long)root);
    tsr_trace_event event = {.call = arena_string(arena, call, strlen(call)),
                             .operand = -1,
                             .tensor = arena_string(arena, text.text, strlen(text.text)),
                             .collective = coll_row_of(COLL_BROADCAST)->name,
                             .axes = "the whole mesh",
                             .from = arena_string(arena, from, strlen(from)),
                             .bytes_received = world->rank == root ? 0 : item,
                             .bytes_moved = (world->size - 1) * item};
    if (event.call == NULL || event.tensor == NULL || event.from == NULL) {
        return diag_nomem(world->ctx);
    }
    TSR_TRY(
        tsr_sharding_print(world->ctx, arena, to->geometry->sharding, TSR_PRINT_BARE, &event.to));
    return event.bytes_moved > 0 ? trace_add(e, &event) : TSR_OK;
}

tsr_status trace_moved(tsr_comm *world, const char *call, const tensor_layout *from,
                       const tensor_layout *to, const tsr_plan *plan, int64_t only)
{
    eager *e = eager_if_any(world);
    const move_note note = {.call = call,
                            .operand = -1,
                            .from = from,
                            .to = to,
                            .only_moves = true,
                            .only = only >= 0 ? &only : NULL,
                            .plan = plan};
    if (e == NULL || e->trace.arena == NULL || e->trace.own > 0) {
        return TSR_OK;
    }
    return from == NULL ? note_broadcast(e, call, to, only) : note_move(e, &note);
}

tsr_status tsr_trace_begin(tsr_comm *world)
{
    GUARD(tsr_trace_begin);
    eager *e = NULL;
    TSR_TRY(eager_of(world, &e));
    tsr_trace_end(world);
    return tsr_arena_create(world->ctx, &e->trace.arena);
}

void tsr_trace_end(tsr_comm *world)
{
    GUARD(tsr_trace_end);
    eager *e = eager_if_any(world);
    if (e == NULL) {
        return;
    }
    tsr_arena_destroy(e->trace.arena);
    e->trace.arena = NULL;
    e->trace.events = NULL;
    e->trace.count = 0;
    e->trace.room = 0;
}

const tsr_trace_event *tsr_trace_events(const tsr_comm *world, size_t *count)
{
    GUARD(tsr_trace_events);
    const eager *e = eager_if_any(world);
    *count = e != NULL ? e->trace.count : 0;
    return *count > 0 ? e->trace.events : NULL;
}

static void print_event(buffer *buf, const tsr_trace_event *event)
{
    buffer_format(buf, "%s: ", event->call);
    if (event->operand >= 0) {
        buffer_format(buf, "operand %lld, ", (long long)event->operand);
    } else if (event->implicit) {
        buffer_string(buf, "the result, ");
    }
    char bytes[32];
    bytes_text(event->bytes_moved, bytes, sizeof bytes);
    buffer_format(buf, "%s: %s over %s, %s to %s, %s", event->tensor, event->collective,
                  event->axes, event->from, event->to, bytes);
    if (event->convert != NULL) {
        buffer_format(buf, ", then convert %s", event->convert);
    }
    buffer_format(buf, "%s%s\n", event->implicit ? "" : ", as asked",
                  event->fallback ? ", because the op has no rule for this layout" : "");
}

tsr_status tsr_trace_print(const tsr_comm *world, tsr_arena *arena, const char **out)
{
    GUARD(tsr_trace_print);
    size_t count;
    const tsr_trace_event *events = tsr_trace_events(world, &count);
    buffer buf = buffer_new(arena);
    for (size_t i = 0; i < count; i++) {
        print_event(&buf, &events[i]);
    }
    return buffer_finish(world->ctx, &buf, out);
}
