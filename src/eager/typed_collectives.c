/* The public collectives of typed code: checked, run, and noted for the backward. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "eager/tape.h"
#include "eager/trace.h"
#include "eager/transition.h"
#include "eager/typed.h"
#include "kernel/elementwise.h"
#include "rt/request.h"
#include "spmd/transition.h"
#include "spmd/view.h"

/* What a collective that was noted needs to go back. */
typedef struct noted {
    tsr_comm *comm;
    tsr_transition what;
    int64_t *counts; /* of what the way back takes in; NULL for none */
    int64_t *sent;   /* of what it sends, of an all_to_all; NULL for even chunks */
    int64_t members;
    bool has_wire_dtype; /* of the backward */
    tsr_dtype wire_dtype;
} noted;

static void drop_noted(eager *e, void *state)
{
    noted *n = state;
    const size_t bytes = (size_t)n->members * sizeof *n->counts;
    if (n->counts != NULL) {
        (void)context_resize(e->world->ctx, n->counts, bytes, 0);
    }
    if (n->sent != NULL) {
        (void)context_resize(e->world->ctx, n->sent, bytes, 0);
    }
    (void)context_resize(e->world->ctx, n, sizeof *n, 0);
}

/* One or two steps back; each works on the cotangent as it is. */
static tsr_status go_back(eager *e, const tape_node *node, tsr_tensor *const *cotangents,
                          tsr_tensor **grads)
{
    const noted *n = node->state;
    tsr_transition steps[2];
    size_t count = 0;
    TSR_TRY(tsr_transition_backward(e->world->ctx, &n->what, steps, &count));
    tsr_tensor *at = tsr_tensor_retain(cotangents[0]);
    for (size_t i = 0; i < count; i++) {
        tsr_tensor *next = NULL;
        const transition_job job = {.comm = n->comm,
                                    .what = steps[i],
                                    .counts = n->counts,
                                    .sent = n->sent,
                                    .has_wire_dtype = n->has_wire_dtype,
                                    .wire_dtype = n->wire_dtype};
        const tsr_status status = transition_run(e, &job, at, &next);
        tsr_tensor_release(at);
        TSR_TRY(status);
        at = next;
    }
    grads[0] = at;
    return TSR_OK;
}

static const tape_way collective_way = {.backward = go_back, .destroy = drop_noted};

/* A list of counts that the tape keeps: those given, or even chunks of `whole`. */
static tsr_status copy_counts(eager *e, const int64_t *given, int64_t whole, int64_t members,
                              int64_t **out)
{
    int64_t *counts = context_resize(e->world->ctx, NULL, 0, (size_t)members * sizeof *counts);
    if (counts == NULL) {
        return diag_nomem(e->world->ctx);
    }
    const int64_t even = ceil_div(whole, members);
    for (int64_t i = 0; i < members; i++) {
        const int64_t first = min_i64(i * even, whole);
        counts[i] = given != NULL ? given[i] : min_i64(even, whole - first);
    }
    *out = counts;
    return TSR_OK;
}

/*
 * The rows of each member along the dimension that is cut, if one is: even chunks where none are
 * given. The two lists of an all_to_all change places.
 */
static tsr_status keep_counts(eager *e, const transition_job *job, const tsr_tensor *x, noted *n)
{
    const tsr_transition what = transition_exchanged(&job->what);
    const tsr_end src = what.src;
    const tsr_end dst = what.dst;
    const bool swaps = job->what.op == TSR_ALL_TO_ALL && (src.dim != dst.dim || job->sent != NULL);
    const bool cuts =
        dst.dim != TSR_NO_DIM && (swaps || src.dim == TSR_NO_DIM) && !transition_stays(&job->what);
    n->members = job->comm->size;
    if (swaps && job->counts != NULL) {
        TSR_TRY(copy_counts(e, job->counts, 0, n->members, &n->sent));
    }
    if (job->counts == NULL && !cuts) {
        return TSR_OK;
    }
    return copy_counts(e, swaps ? job->sent : job->counts, cuts ? x->local_shape[dst.dim] : 0,
                       n->members, &n->counts);
}

static tsr_status note(eager *e, const char *call, const transition_job *job,
                       const tsr_collective_options *options, tsr_tensor *x, tsr_tensor *result)
{
    noted *n = context_resize(e->world->ctx, NULL, 0, sizeof *n);
    if (n == NULL) {
        return diag_nomem(e->world->ctx);
    }
    *n = (noted){.comm = job->comm,
                 .what = job->what,
                 .has_wire_dtype = options->has_backward_dtype,
                 .wire_dtype = options->backward_dtype};
    tsr_status status = keep_counts(e, job, x, n);
    if (status == TSR_OK) {
        status = tape_note_way(e, call, &collective_way, n, &x, 1, &result, 1);
    }
    if (status < 0) {
        drop_noted(e, n);
    }
    return status;
}

enum { MAX_PLACES = 64 };

/* A call under way. */
typedef struct collective_call {
    const char *name;
    eager *e;
    tsr_tensor *x;
    axis_names axes;
    transition_job job;
    tsr_collective_options options;
    /* The value on a mesh that has all parts of axes that it or the call is on; NULL below: no type
     */
    tsr_typed_shape before;
    size_t places[MAX_PLACES]; /* the axes of the call in that mesh */
    size_t num_places;
    tsr_axis_set global;  /* of that mesh */
    const tsr_type *type; /* of the result, on that mesh; NULL when nothing is typed */
} collective_call;

/* A dimension from the front; those of the value and of the result may differ by one. */
static int64_t from_front(int64_t dim, int64_t rank)
{
    return dim == TSR_NO_DIM || dim >= 0 ? dim : dim + rank;
}

static void settle_dims(collective_call *c)
{
    const int64_t rank = (int64_t)c->x->geometry->rank;
    tsr_transition *what = &c->job.what;
    const bool grows =
        what->op == TSR_ALL_GATHER || (what->op == TSR_CONVERT && what->src.kind == TSR_V);
    what->src.dim = from_front(what->src.dim, rank);
    what->dst.dim = from_front(what->dst.dim, rank);
    what->gather_dim = from_front(what->gather_dim, rank + (grows ? 1 : 0));
    what->scatter_dim = from_front(what->scatter_dim, rank);
}

/*
 * The rows that members are left with, where they are given, as the sizes of the dimension that is
 * cut. Within other axes they are those of one of several groups: then nothing is known of the
 * dimension.
 */
static tsr_status with_counts(collective_call *c)
{
    const eager *e = c->e;
    const int64_t dim = tsr_type_dim_of(c->type, c->places[0]);
    const bool swaps = c->job.what.op == TSR_ALL_TO_ALL;
    const bool stays = swaps && c->job.what.src.dim == c->job.what.dst.dim;
    const int64_t *rows = swaps ? c->job.sent : c->job.counts;
    if (dim < 0 || rows == NULL || c->job.what.dst.dim == TSR_NO_DIM) {
        return TSR_OK;
    }
    const size_t num_axes = tsr_mesh_num_axes(tsr_type_mesh(c->type));
    const size_t rank = tsr_type_rank(c->type);
    tsr_axis_type *kinds = ARENA_ARRAY(e->arena, tsr_axis_type, num_axes);
    tsr_spec_dim *dims = ARENA_ARRAY(e->arena, tsr_spec_dim, rank);
    if (kinds == NULL || dims == NULL) {
        return diag_nomem(e->world->ctx);
    }
    for (size_t a = 0; a < num_axes; a++) {
        kinds[a] = tsr_type_axis(c->type, a);
    }
    for (size_t d = 0; d < rank; d++) {
        dims[d] = *tsr_type_dim(c->type, d);
    }
    const bool alone = dims[dim].num_axes == c->num_places && !stays;
    if (!alone && axis_in_set(c->global, c->places[0])) {
        return diag_error(e->world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "%s: the counts are given for one of several groups of ranks, which the "
                          "type of a whole value cannot express; omit them",
                          c->name);
    }
    dims[dim] =
        alone
            ? (tsr_spec_dim){.num_axes = dims[dim].num_axes, .axes = dims[dim].axes, .sizes = rows}
            : (tsr_spec_dim){.num_axes = dims[dim].num_axes - c->num_places,
                             .axes = dims[dim].axes};
    const tsr_type_spec spec = {.mesh = tsr_type_mesh(c->type),
                                .axes = kinds,
                                .has_spec = true,
                                .rank = rank,
                                .dims = dims};
    return tsr_type_create(e->world->ctx, e->arena, &spec, &c->type);
}

/* The type after the call. */
static tsr_status find_type(collective_call *c)
{
    const eager *e = c->e;
    tsr_context *ctx = e->world->ctx;
    const tsr_mesh *base = e->typing.scope->settings.mesh;
    const tsr_mesh *mesh = NULL;
    const typed_record *record = record_of(c->x);
    if (!is_typing(e) || record == NULL) {
        return TSR_OK;
    }
    c->before = record->of;
    c->before.local = c->x->local_shape;
    TSR_TRY(typed_meet(e, &c->before.type, 1, &c->axes, &mesh));
    TSR_TRY(spmd_axes_of_parts(ctx, mesh, base, c->axes.refs, c->axes.count, MAX_PLACES, c->places,
                               &c->num_places));
    c->global = spmd_map_axes(base, e->typing.scope->settings.global, mesh);
    TSR_TRY(typed_note_implied(e, record, 0,
                               tsr_type_transition(ctx, e->arena, &c->before, c->places,
                                                   c->num_places, &c->job.what, c->global,
                                                   e->typing.scope->settings.guard,
                                                   e->typing.scope->settings.strict, &c->type)));
    return with_counts(c);
}

/*
 * The whole extent of a dimension that was `old` rows on this rank and is `now`. What the axes of
 * the call cut stays whole when it is put together or cut; when it is summed instead, taken for a
 * sum or forgotten, what each rank had is all there is. Other dimensions change as this rank's part
 * does.
 */
static int64_t whole_extent(const collective_call *c, size_t dim, int64_t whole, int64_t old,
                            int64_t now)
{
    const tsr_transition exchanged = transition_exchanged(&c->job.what);
    const tsr_transition *what = &exchanged;
    const bool stays = transition_stays(&c->job.what);
    const tsr_type *before = c->before.type;
    const bool was_cut = tsr_type_dim_of(before, c->places[0]) == (int64_t)dim;
    const bool is_cut = tsr_type_dim_of(c->type, c->places[0]) == (int64_t)dim;
    const bool joined = !stays && what->src.dim == (int64_t)dim &&
                        (what->op == TSR_ALL_GATHER || what->op == TSR_ALL_TO_ALL ||
                         (what->op == TSR_CONVERT && what->dst.kind == TSR_P));
    if (stays && is_cut && !was_cut) {
        return whole * c->job.comm->size;
    }
    if (stays && was_cut && !is_cut &&
        (!tsr_type_has_spec(c->type) || tsr_type_dim(c->type, dim)->num_axes == 0)) {
        return now; /* uneven parts: as this rank has it */
    }
    if (was_cut && !joined && c->type != before) {
        return whole / c->job.comm->size;
    }
    return was_cut || is_cut || old == now || old == 0 ? whole : whole / old * now;
}

/* The shape of the whole value after the call; a dimension that is stacked or taken out comes or
 * goes. */
static void find_whole(const collective_call *c, const tsr_tensor *result, int64_t *whole)
{
    const tsr_typed_shape *before = &c->before;
    const size_t rank = result->geometry->rank;
    const int64_t changed = rank > before->rank ? c->job.what.gather_dim : c->job.what.scatter_dim;
    const size_t special = rank != before->rank ? (size_t)changed : SIZE_MAX;
    for (size_t d = 0; d < rank; d++) {
        if (rank > before->rank && d == special) {
            whole[d] = result->local_shape[d];
            continue;
        }
        const size_t from = rank > before->rank ? d - (d > special) : d + (d >= special);
        const int64_t old = c->x->local_shape[from];
        const int64_t now = result->local_shape[d];
        whole[d] = rank == before->rank     ? whole_extent(c, d, before->shape[from], old, now)
                   : old == now || old == 0 ? before->shape[from]
                                            : before->shape[from] / old * now;
    }
}

/* The axes along which V was taken for P, here or before. */
static tsr_axis_set implied_by(const collective_call *c)
{
    const typed_record *record = record_of(c->x);
    tsr_axis_set implied = spmd_map_axes(tsr_type_mesh(record->of.type), record->implied,
                                         tsr_type_mesh(c->before.type));
    for (size_t i = 0; c->job.what.src.kind == TSR_P && i < c->num_places; i++) {
        if (tsr_type_axis(c->before.type, c->places[i]).kind == TSR_V) {
            implied.bits |= UINT64_C(1) << c->places[i];
        }
    }
    return implied;
}

/* The record of the result. */
static tsr_status type_result(const collective_call *c, tsr_tensor *result)
{
    int64_t whole[OP_MAX_RANK + 1];
    const typed_record *record = NULL;
    tsr_typed_shape shape = {
        .dtype = result->dtype, .rank = result->geometry->rank, .shape = whole};
    if (c->type == NULL) {
        return TSR_OK;
    }
    find_whole(c, result, whole);
    TSR_TRY(spmd_join(c->e->world->ctx, c->e->arena, c->e->typing.scope->settings.mesh, c->type,
                      &shape.type));
    const tsr_axis_set implied =
        spmd_map_axes(tsr_type_mesh(c->before.type), implied_by(c), tsr_type_mesh(shape.type));
    TSR_TRY(typed_intern_implied(c->e, &shape, implied, &record));
    typed_set(c->e, result, record);
    return TSR_OK;
}

/* A value must be convertible to what is sent of it, and back. */
static tsr_status check_wire(const collective_call *c, bool given, tsr_dtype dtype)
{
    const tsr_dtype own = c->x->dtype;
    if (!given || dtype == own || (convert_supports(own, dtype) && convert_supports(dtype, own))) {
        return TSR_OK;
    }
    return diag_error(c->e->world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                      "%s: %s cannot be sent as %s and converted to %s afterwards", c->name,
                      tsr_dtype_name(own), tsr_dtype_name(dtype), tsr_dtype_name(own));
}

static tsr_status prepare(collective_call *c, const char *axis, const tsr_transition *what,
                          const tsr_collective_options *options)
{
    static const tsr_collective_options defaults;
    const tsr_collective_options *o = options != NULL ? options : &defaults;
    c->options = *o;
    TSR_TRY(typed_scope(c->x->world, c->name, &c->e));
    TSR_TRY(typed_axes(c->e, c->name, axis, &c->axes));
    tsr_comm *comm = NULL;
    TSR_TRY(typed_comm(c->e, &c->axes, &comm));
    comm->told = false;
    c->job = (transition_job){.what = *what,
                              .comm = comm,
                              .counts = o->counts,
                              .sent = o->sent,
                              .has_wire_dtype = o->has_wire_dtype,
                              .wire_dtype = o->wire_dtype};
    c->job.what.gather_dim = o->dim;
    c->job.what.scatter_dim = o->dim;
    TSR_TRY(tsr_transition_check(c->e->world->ctx, axis, &c->job.what, c->x->geometry->rank,
                                 c->e->typing.scope->settings.guard));
    TSR_TRY(tsr_transition_check_counts(c->e->world->ctx, axis, &c->job.what, o->counts, o->sent));
    settle_dims(c);
    TSR_TRY(check_wire(c, o->has_wire_dtype, o->wire_dtype));
    TSR_TRY(check_wire(c, o->has_backward_dtype, o->backward_dtype));
    TSR_TRY(find_type(c));
    if (is_typing(c->e) && transition_communicates(what->op)) {
        TSR_TRY(typed_check_steered(c->e, c->name, &c->axes));
    }
    return TSR_OK;
}

/* A failure that only this rank has is told to its group. */
static tsr_status tell_group(const collective_call *c, tsr_status status)
{
    const bool alone =
        status == TSR_ERR_NOMEM && c->job.comm != NULL && transition_communicates(c->job.what.op);
    return alone ? comm_tell(c->job.comm, c->name, status) : status;
}

/* What one rank receives in a collective of a group, if no rank sends more than it must. */
static int64_t bytes_received(const collective_call *c, const tsr_tensor *result)
{
    const int64_t n = c->job.comm->size;
    const int64_t before = (int64_t)c->x->layout->bytes;
    const int64_t after = (int64_t)result->layout->bytes;
    switch (c->job.what.op) {
    case TSR_ALL_REDUCE:
        return 2 * (before / n * (n - 1));
    case TSR_ALL_GATHER:
        return after - before;
    case TSR_REDUCE_SCATTER:
        return after * (n - 1);
    case TSR_ALL_TO_ALL:
        return before / n * (n - 1);
    default:
        return 0;
    }
}

/* Tells the trace, if it listens. */
static tsr_status tell(const collective_call *c, const char *axis, const tsr_tensor *result)
{
    eager *e = c->e;
    if (e->trace.arena == NULL) {
        return TSR_OK;
    }
    const op_type type = type_of_layout(c->x->layout);
    const op_text text = op_type_text(&type);
    tsr_trace_event event = {.call = c->name,
                             .operand = -1,
                             .tensor = arena_string(e->trace.arena, text.text, strlen(text.text)),
                             .collective = tsr_transition_name(c->job.what.op),
                             .axes = arena_string(e->trace.arena, axis, strlen(axis)),
                             .bytes_received = bytes_received(c, result)};
    event.bytes_moved = event.bytes_received * e->world->size;
    if (event.tensor == NULL || event.axes == NULL) {
        return diag_nomem(e->world->ctx);
    }
    TSR_TRY(tsr_end_print(e->world->ctx, e->trace.arena, c->job.what.src, &event.from));
    TSR_TRY(tsr_end_print(e->world->ctx, e->trace.arena, c->job.what.dst, &event.to));
    return trace_add(e, &event);
}

/* A backward that reduces in less than f32 loses precision: it must be chosen explicitly. */
static tsr_status check_backward_dtype(const collective_call *c)
{
    tsr_transition steps[2];
    size_t count = 0;
    bool reduces = false;
    if (!c->job.has_wire_dtype || !tape_wants(c->e, &c->x, 1)) {
        return TSR_OK;
    }
    TSR_TRY(tsr_transition_backward(c->e->world->ctx, &c->job.what, steps, &count));
    for (size_t i = 0; i < count; i++) {
        reduces = reduces || steps[i].op == TSR_ALL_REDUCE || steps[i].op == TSR_REDUCE_SCATTER;
    }
    const tsr_wire_request forward = {
        .input = c->x->dtype, .has_wire = true, .wire = c->job.wire_dtype};
    const tsr_wire_request backward = {
        .input = c->x->dtype, .has_wire = true, .wire = c->options.backward_dtype};
    return tsr_wire_check_backward(c->e->world->ctx, &forward,
                                   c->options.has_backward_dtype ? &backward : NULL, reduces);
}

/* Carries it out, or starts it; the result has its type, and the tape knows of it. */
static tsr_status make_result(collective_call *c, const char *axis, tsr_tensor **out)
{
    tsr_tensor *result = NULL;
    TSR_TRY(check_backward_dtype(c));
    TSR_TRY(eager_reserve(c->e, 1));
    TSR_TRY(transition_run(c->e, &c->job, c->x, &result));
    tsr_status status = type_result(c, result);
    if (status == TSR_OK) {
        status = tell(c, axis, result);
    }
    if (status == TSR_OK && tape_wants(c->e, &c->x, 1)) {
        status = note(c->e, c->name, &c->job, &c->options, c->x, result);
    }
    if (status < 0) {
        if (c->job.tail != NULL) { /* the others still send into it */
            const tsr_status ended = tsr_wait(c->job.comm, c->job.tail->request);
            status = ended < 0 ? ended : status;
        }
        tsr_tensor_release(result);
        return status;
    }
    *out = result;
    return TSR_OK;
}

static tsr_status run_call(collective_call *c, const char *axis, tsr_tensor **out)
{
    digest_add(c->e, tsr_transition_name(c->job.what.op), &c->x, 1);
    TSR_TRY(make_result(c, axis, out));
    eager_adopt(c->e, *out);
    return TSR_OK;
}

static tsr_status collective(const char *name, tsr_tensor *x, const char *axis,
                             const tsr_transition *what, const tsr_collective_options *options,
                             tsr_tensor **out)
{
    collective_call c = {.name = name, .x = x};
    eager *e = NULL;
    TSR_TRY(typed_scope(x->world, name, &e));
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    tsr_status status = prepare(&c, axis, what, options);
    if (status == TSR_OK) {
        status = run_call(&c, axis, out);
    }
    tsr_arena_reset(e->arena, mark);
    return tell_group(&c, status);
}

#define COLLECTIVE_CALL(function, which)                                                           \
    tsr_status function(tsr_tensor *x, const char *axis, tsr_end src, tsr_end dst,                 \
                        const tsr_collective_options *options, tsr_tensor **out)                   \
    {                                                                                              \
        GUARD(function);                                                                           \
        const tsr_transition what = {.op = (which), .src = src, .dst = dst};                       \
        return collective(#function, x, axis, &what, options, out);                                \
    }
COLLECTIVE_CALL(tsr_all_reduce, TSR_ALL_REDUCE)
COLLECTIVE_CALL(tsr_all_gather, TSR_ALL_GATHER)
COLLECTIVE_CALL(tsr_reduce_scatter, TSR_REDUCE_SCATTER)
COLLECTIVE_CALL(tsr_all_to_all, TSR_ALL_TO_ALL)
COLLECTIVE_CALL(tsr_reinterpret, TSR_REINTERPRET)
COLLECTIVE_CALL(tsr_convert_type, TSR_CONVERT)

tsr_status tsr_redistribute_type(tsr_tensor *x, const char *axis, tsr_end src, tsr_end dst,
                                 const tsr_collective_options *options, tsr_tensor **out)
{
    GUARD(tsr_redistribute_type);
    tsr_transition what = {.op = TSR_REINTERPRET, .src = src, .dst = src};
    size_t count = 0;
    TSR_TRY(tsr_transition_route(x->world->ctx, src, dst, &what, &count));
    return collective("tsr_redistribute_type", x, axis, &what, options, out);
}

/* ---- in place ---- */

/* What is written over is what the call says, and nothing has saved it. */
static tsr_status check_in_place(collective_call *c)
{
    const eager *e = c->e;
    TSR_TRY(started_check_free(e, c->name, "the value", c->x));
    if (e->tapes.innermost != NULL) {
        return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: a tape is recording and may have saved the value; use "
                          "tsr_all_reduce, or call tsr_tape_end first",
                          c->name);
    }
    if (c->type == NULL) {
        return TSR_OK;
    }
    return tsr_type_collective_into(e->world->ctx, e->arena, &c->before, c->places, c->num_places,
                                    &c->job.what, NULL, &c->type);
}

static tsr_status reduce_in_place(collective_call *c, const char *axis)
{
    tsr_tensor *same = NULL;
    TSR_TRY(check_in_place(c));
    digest_add(c->e, c->name, &c->x, 1);
    c->job.in_place = true;
    TSR_TRY(is_abstract(c->x) ? TSR_OK : transition_run(c->e, &c->job, c->x, &same));
    tsr_tensor_release(same);
    TSR_TRY(type_result(c, c->x));
    return tell(c, axis, c->x);
}

tsr_status tsr_all_reduce_in_place(tsr_tensor *x, const char *axis, tsr_end src, tsr_end dst)
{
    GUARD(tsr_all_reduce_in_place);
    const tsr_transition what = {.op = TSR_ALL_REDUCE, .src = src, .dst = dst};
    collective_call c = {.name = "tsr_all_reduce_in_place", .x = x};
    eager *e = NULL;
    TSR_TRY(typed_scope(x->world, c.name, &e));
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    tsr_status status = prepare(&c, axis, &what, NULL);
    if (status == TSR_OK) {
        status = reduce_in_place(&c, axis);
    }
    tsr_arena_reset(e->arena, mark);
    return tell_group(&c, status);
}

/* ---- only started ---- */

/* One that was not waited for yet. */
struct started {
    struct started *next;
    uint64_t id;
    tsr_transition_op op;
    char *axis;              /* as the call names it */
    const spmd_scope *scope; /* that it was started in; NULL when that was closed */
    tsr_comm *comm;
    transition_tail tail;
    tsr_tensor *x; /* one reference each */
    tsr_tensor *result;
};

/*
 * Numbers of values are handed out with the op in their last bits, so that a message can name the
 * call of a value that is not in the list any more.
 */
enum { OP_BITS = 3 };

static uint64_t started_number(uint64_t id)
{
    return id >> OP_BITS;
}

static const char *started_name(uint64_t id)
{
    return tsr_transition_name((tsr_transition_op)(id & ((1U << OP_BITS) - 1)));
}

/* Frees one; its request is over, or the world ends. */
static void started_free(eager *e, struct started *s)
{
    tsr_context *ctx = e->world->ctx;
    transition_drop(e, &s->tail);
    tsr_tensor_release(s->x);
    tsr_tensor_release(s->result);
    if (s->axis != NULL) {
        (void)context_resize(ctx, s->axis, strlen(s->axis) + 1, 0);
    }
    (void)context_resize(ctx, s, sizeof *s, 0);
}

static request_state started_look(const struct started *s)
{
    return is_abstract(s->x) ? REQUEST_OVER : request_look(s->comm, s->tail.request);
}

tsr_status started_check_free(const eager *e, const char *call, const char *what,
                              const tsr_tensor *tensor)
{
    for (const struct started *s = e->requests.first; s != NULL; s = s->next) {
        if (s->x->data == tensor->data && started_look(s) == REQUEST_UNDER_WAY) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s: %s along axis %s, started as value %llu, still reads %s: call "
                              "tsr_wait_value first",
                              call, started_name(s->id), s->axis,
                              (unsigned long long)started_number(s->id), what);
        }
    }
    return TSR_OK;
}

static bool can_be_started(const tsr_transition *what)
{
    return !what->divide && transition_communicates(what->op);
}

static tsr_status start(collective_call *c, const char *axis, const tsr_transition *what,
                        const tsr_collective_options *options, struct started **out)
{
    TSR_TRY(prepare(c, axis, what, options));
    if (!can_be_started(what)) {
        return diag_error(
            c->e->world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
            "tsr_start_collective: %s%s cannot be started and waited for later; call it as it is",
            tsr_transition_name(what->op), what->divide ? " that divides" : "");
    }
    tsr_context *ctx = c->e->world->ctx;
    const size_t length = strlen(axis) + 1;
    struct started *s = context_resize(ctx, NULL, 0, sizeof *s);
    char *name = context_resize(ctx, NULL, 0, length);
    if (s == NULL || name == NULL) {
        (void)context_resize(ctx, s, sizeof *s, 0);
        (void)context_resize(ctx, name, length, 0);
        return diag_nomem(ctx);
    }
    memcpy(name, axis, length);
    *s = (struct started){.next = c->e->requests.first,
                          .id = (c->e->requests.count + 1) << OP_BITS | (uint64_t)what->op,
                          .op = what->op,
                          .axis = name,
                          .scope = c->e->typing.scope,
                          .comm = c->job.comm,
                          .x = tsr_tensor_retain(c->x)};
    c->job.tail = is_abstract(c->x) ? NULL : &s->tail;
    const tsr_status status = make_result(c, axis, &s->result);
    if (status < 0) {
        started_free(c->e, s);
        return status;
    }
    if (c->job.tail != NULL) { /* what is sent and received is held by references */
        request_outlive_run(s->comm, s->tail.request);
    }
    *out = s;
    return TSR_OK;
}

tsr_status tsr_start_collective(tsr_tensor *x, const char *axis, const tsr_transition *what,
                                const tsr_collective_options *options, tsr_started *started)
{
    GUARD(tsr_start_collective);
    collective_call c = {.name = "tsr_start_collective", .x = x};
    eager *e = NULL;
    TSR_TRY(typed_scope(x->world, c.name, &e));
    struct started *s = NULL;
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const tsr_status status = start(&c, axis, what, options, &s);
    tsr_arena_reset(e->arena, mark);
    if (status < 0) {
        return tell_group(&c, status);
    }
    e->requests.count++;
    e->requests.first = s;
    started->id = s->id;
    return TSR_OK;
}

/* The link to the one of that number; to the end of the list when there is none. */
static struct started **find_started(eager *e, uint64_t id)
{
    struct started **link = &e->requests.first;
    while (*link != NULL && (*link)->id != id) {
        link = &(*link)->next;
    }
    return link;
}

/* Refuses to wait for a value that is not in the list, or that has been given up. */
static tsr_status check_waitable(const eager *e, const struct started *s, uint64_t id)
{
    const uint64_t number = started_number(id);
    const char *why = NULL;
    if (s == NULL && (number == 0 || number > e->requests.count)) {
        return diag_error(
            e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "tsr_wait_value: unknown pending value %llu: only tsr_start_collective gives one",
            (unsigned long long)number);
    }
    if (s == NULL) {
        why = "was already waited for, or given up when its scope closed";
    } else if (s->scope == NULL) {
        why = "was given up when its scope closed";
    } else if (started_look(s) == REQUEST_GONE) {
        why = "was lost when the run of the world that started it failed";
    }
    return why == NULL ? TSR_OK
                       : diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                                    "tsr_wait_value: value %llu, of %s, %s: wait for each exactly "
                                    "once, in its scope",
                                    (unsigned long long)number, started_name(id), why);
}

tsr_status tsr_wait_value(tsr_comm *world, tsr_started started, tsr_tensor **out)
{
    GUARD(tsr_wait_value);
    eager *e = NULL;
    TSR_TRY(eager_of(world, &e));
    struct started **link = find_started(e, started.id);
    struct started *s = *link;
    TSR_TRY(check_waitable(e, s, started.id));
    TSR_TRY(eager_reserve(e, 1));
    const tsr_status status = is_abstract(s->x) ? TSR_OK : tsr_wait(s->comm, s->tail.request);
    *link = s->next;
    if (status == TSR_OK) {
        transition_finish(&s->tail, s->result);
        *out = tsr_tensor_retain(s->result);
        eager_adopt(e, *out);
    }
    started_free(e, s);
    return status;
}

/*
 * Takes one off the list; false for one under way, which stays until its request has ended with the
 * run or the rank.
 */
static bool give_up(eager *e, struct started **link)
{
    struct started *s = *link;
    const request_state state = started_look(s);
    s->scope = NULL;
    if (state != REQUEST_GONE && !is_abstract(s->x)) {
        request_abandon(s->comm, s->tail.request);
    }
    if (state == REQUEST_UNDER_WAY) {
        return false;
    }
    *link = s->next;
    started_free(e, s);
    return true;
}

tsr_status started_end_scope(eager *e, const spmd_scope *scope)
{
    tsr_status status = TSR_OK;
    for (struct started **link = &e->requests.first; *link != NULL;) {
        struct started *s = *link;
        const bool gone = started_look(s) == REQUEST_GONE;
        if (s->scope == scope && !gone) {
            status =
                diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                           "tsr_spmd_close: value %llu, %s along axis %s, was started in the "
                           "scope and never waited for: call tsr_wait_value for each exactly "
                           "once",
                           (unsigned long long)started_number(s->id), started_name(s->id), s->axis);
        }
        const bool left = s->scope == scope || (s->scope == NULL && gone);
        if (!left || !give_up(e, link)) {
            link = &s->next;
        }
    }
    return status;
}

void started_clear(eager *e)
{
    while (e->requests.first != NULL) {
        struct started *s = e->requests.first;
        e->requests.first = s->next;
        started_free(e, s);
    }
}

/* ---- axes by communicator ---- */

/* Whether a communicator's members are this rank's group along some axes, in that order. */
static bool is_along(const eager *e, const tsr_comm *comm, const axis_names *axes, tsr_arena *arena)
{
    const tsr_groups *groups = NULL;
    int64_t group;
    int64_t index;
    if (tsr_groups_create(e->world->ctx, arena, e->typing.scope->settings.mesh, axes->refs,
                          axes->count, &groups) < 0 ||
        tsr_groups_size(groups) != comm->size ||
        !tsr_groups_find(groups, e->world->rank, &group, &index)) {
        return false;
    }
    for (int64_t i = 0; i < comm->size; i++) {
        if (tsr_groups_device(groups, group, i) != tsr_comm_world_rank(comm, i)) {
            return false;
        }
    }
    return true;
}

/* Every choice of axes in the order of the mesh, as a number in binary. */
static void choose(const tsr_mesh *mesh, uint64_t choice, axis_names *out)
{
    out->count = 0;
    for (size_t a = 0; a < tsr_mesh_num_axes(mesh) && a < 16; a++) {
        if (choice >> a & 1) {
            out->refs[out->count] = tsr_axis_full(mesh, a);
            out->axes[out->count++] = a;
        }
    }
}

static tsr_status print_names(const eager *e, const axis_names *axes, char *names, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < axes->count && used < size; i++) {
        const int added =
            snprintf(names + used, size - used, "%s%s", i > 0 ? "," : "",
                     tsr_mesh_axis_name(e->typing.scope->settings.mesh, axes->axes[i]));
        used += added > 0 ? (size_t)added : 0;
    }
    return used < size ? TSR_OK
                       : diag_error(e->world->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                                    "tsr_axes_of_comm: %zu bytes are too few for the names", size);
}

tsr_status tsr_axes_of_comm(tsr_comm *world, const tsr_comm *comm, char *names, size_t size)
{
    GUARD(tsr_axes_of_comm);
    eager *e = NULL;
    TSR_TRY(typed_scope(world, "tsr_axes_of_comm", &e));
    const tsr_mesh *mesh = e->typing.scope->settings.mesh;
    const size_t count = tsr_mesh_num_axes(mesh) < 12 ? tsr_mesh_num_axes(mesh) : 12;
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    axis_names axes;
    bool found = false;
    for (uint64_t choice = 1; !found && choice < UINT64_C(1) << count; choice++) {
        choose(mesh, choice, &axes);
        found = is_along(e, comm, &axes, e->arena);
        tsr_arena_reset(e->arena, mark);
    }
    if (!found) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_axes_of_comm: no set of axes of the scope's mesh has the %lld ranks "
                          "of this communicator as a group",
                          (long long)comm->size);
    }
    return print_names(e, &axes, names, size);
}
