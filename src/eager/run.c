/* One call: operands laid out, the kernel, results. */
#include <stdio.h>
#include <string.h>

#include <tessera/gradient.h>

#include "base/arena.h"
#include "base/guard.h"
#include "eager/agree.h"
#include "eager/case.h"
#include "eager/compose.h"
#include "eager/tape.h"
#include "eager/trace.h"
#include "kernel/elementwise.h"
#include "ops/pending.h"
#include "rt/box_walk.h"

static op_array array_of(const tsr_tensor *t)
{
    const tsr_geometry *g = t->geometry;
    return (op_array){.view = {t->data, t->dtype, g->rank, t->local_shape, t->strides},
                      .start = t->layout->start,
                      .full = g->shape};
}

tsr_status make_abstract(const eager *e, tensor_layout *layout, tsr_tensor **out)
{
    static char nothing[1];
    TSR_TRY(tensor_of_layout(e->world, layout, nothing, out));
    (*out)->data = NULL;
    return TSR_OK;
}

/* Under way: a call and what it has made so far. */
typedef struct running {
    eager *e;
    const char *call;
    const op_case *c;
    bool abstract;
    tsr_tensor
        *operands[EAGER_MAX_OPERANDS]; /* in the layouts that they need; one reference each */
    size_t num_ready;
    tsr_tensor *results[EAGER_MAX_RESULTS];
    size_t num_results; /* set once the case is known */
} running;

/* A tensor without elements in another layout, with sums that stay pending. */
static tsr_status move_abstract(const eager *e, const tsr_tensor *from, tensor_layout *to,
                                tsr_tensor **out)
{
    const tsr_geometry *g = to->geometry;
    layout_table *layouts = &e->world->state->layouts;
    tensor_layout *wide = NULL;
    tensor_layout *pending = NULL;
    tsr_tensor *sums = NULL;
    TSR_TRY(make_abstract(e, to, out));
    if (from->sums == NULL || g->sharding->num_unreduced == 0) {
        return TSR_OK;
    }
    const tsr_tensor_spec spec = {g->sharding, from->sums->dtype, g->rank, g->shape};
    tsr_status status = layout_get(e->world, &spec, NULL, &wide);
    if (status == TSR_OK) {
        status = make_abstract(e, wide, &sums);
        layout_release(layouts, wide);
    }
    if (status == TSR_OK) {
        status = layout_get_pending(e->world, layout_plain(to), sums->dtype, &pending);
    }
    if (status < 0) {
        tsr_tensor_release(sums);
        tsr_tensor_release(*out);
        return status;
    }
    tensor_keep_sums(*out, sums, pending);
    return TSR_OK;
}

tsr_status eager_move(eager *e, const char *call, bool implicit, tsr_tensor *tensor,
                      tensor_layout *to, tsr_tensor **out)
{
    const move_note note = {
        .call = call, .operand = -1, .from = tensor->layout, .to = to, .implicit = implicit};
    if (implicit) {
        TSR_TRY(refuse_move(e, &note));
    }
    TSR_TRY(eager_reserve(e, 1));
    tsr_tensor *moved = NULL;
    trace_own_begin(e);
    tsr_status status = is_abstract(tensor) ? move_abstract(e, tensor, to, &moved)
                                            : redistribute_to_layout(call, tensor, to, &moved);
    trace_own_end(e);
    if (status < 0) {
        return status;
    }
    status = note_move(e, &note);
    if (status == TSR_OK && tape_wants(e, &tensor, 1)) {
        status = tape_note_way(e, call, &tape_identity, NULL, &tensor, 1, &moved, 1);
    }
    if (status < 0) {
        tsr_tensor_release(moved);
        return status;
    }
    eager_adopt(e, moved);
    *out = moved;
    return TSR_OK;
}

/* One tensor of a call to the layout that it needs. */
static tsr_status move_one(running *r, int64_t operand, tsr_tensor *from, tensor_layout *to,
                           tsr_tensor **out)
{
    const move_note note = {.call = r->call,
                            .operand = operand,
                            .from = from->layout,
                            .to = to,
                            .implicit = true,
                            .fallback = r->c->fallback};
    TSR_TRY(note_move(r->e, &note));
    trace_own_begin(r->e);
    const tsr_status status = r->abstract ? move_abstract(r->e, from, to, out)
                                          : redistribute_to_layout(r->call, from, to, out);
    trace_own_end(r->e);
    return status;
}

static tsr_status lay_out_operands(running *r, tsr_tensor *const *operands)
{
    for (size_t i = 0; i < r->c->num_operands; i++) {
        if (r->c->moves[i]) {
            TSR_TRY(move_one(r, (int64_t)i, operands[i], r->c->run[i], &r->operands[i]));
        } else {
            r->operands[i] = tsr_tensor_retain(operands[i]);
        }
        r->num_ready = i + 1;
    }
    return TSR_OK;
}

static tsr_status compute(running *r)
{
    op_array arrays[EAGER_MAX_OPERANDS];
    op_array results[EAGER_MAX_RESULTS];
    void *scratch = NULL;
    for (size_t i = 0; i < r->c->num_operands; i++) {
        arrays[i] = array_of(r->operands[i]);
    }
    for (size_t k = 0; k < r->c->num_results; k++) {
        results[k] = array_of(r->results[k]);
    }
    const op_call call = {.row = r->c->row,
                          .params = r->c->params,
                          .num_operands = r->c->num_operands,
                          .num_results = r->c->num_results,
                          .operands = arrays,
                          .results = results,
                          .first = r->c->first};
    if (call.row->scratch != NULL) {
        TSR_TRY(eager_scratch(r->e, call.row->scratch(&call), &scratch));
    }
    call.row->run(&call, scratch);
    return TSR_OK;
}

static tsr_status make_results(running *r)
{
    for (size_t k = 0; k < r->c->num_results; k++) {
        TSR_TRY(r->abstract
                    ? make_abstract(r->e, r->c->results[k], &r->results[k])
                    : tensor_of_layout(r->e->world, r->c->results[k], NULL, &r->results[k]));
        r->num_results = k + 1;
        typed_set(r->e, r->results[k], r->c->result_types[k]);
    }
    return TSR_OK;
}

/* Results that propagation wants elsewhere go there. */
static tsr_status reshard_results(running *r)
{
    for (size_t k = 0; k < r->c->num_results; k++) {
        tsr_tensor *moved = NULL;
        if (r->c->finals[k] != r->c->results[k]) {
            TSR_TRY(move_one(r, -1, r->results[k], r->c->finals[k], &moved));
            tsr_tensor_release(r->results[k]);
            r->results[k] = moved;
        }
    }
    return TSR_OK;
}

static tsr_status run_case(running *r, tsr_tensor *const *operands)
{
    TSR_TRY(eager_reserve(r->e, r->c->num_results));
    TSR_TRY(lay_out_operands(r, operands));
    TSR_TRY(make_results(r));
    if (!r->abstract) {
        TSR_TRY(compute(r));
    }
    return reshard_results(r);
}

/* In strict mode nothing moves but what is asked for. */
static tsr_status refuse_moves(eager *e, const char *call, const op_case *c)
{
    for (size_t i = 0; i < c->num_operands; i++) {
        const move_note note = {
            .call = call, .operand = (int64_t)i, .from = c->given[i], .to = c->run[i]};
        if (c->moves[i]) {
            TSR_TRY(refuse_move(e, &note));
        }
    }
    return TSR_OK;
}

/* All ranks make the same call: what differs is found, in checked mode here. */
static tsr_status agree(const running *r, tsr_tensor *const *operands, uint64_t *made_by)
{
    const op_case *c = r->c;
    tsr_tensor_spec specs[EAGER_MAX_OPERANDS];
    for (size_t i = 0; r->e->world->team->checked && i < c->num_operands; i++) {
        specs[i] = spec_of_layout(c->given[i]);
    }
    const local_call what = {.call = r->call,
                             .op = c->row->name,
                             .fields = c->row->fields,
                             .params = c->params,
                             .num_tensors = c->num_operands,
                             .tensors = specs,
                             .operands = operands,
                             .hash = c->call_hash};
    return eager_agree(r->e, &what, made_by);
}

/* Says what the operands of a call that failed are. */
static void explain(tsr_comm *world, const char *call, tsr_tensor *const *operands, size_t count)
{
    tsr_arena *arena = NULL;
    if (tsr_arena_create(world->ctx, &arena) < 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const char *text = NULL;
        const op_type type = type_of_layout(operands[i]->layout);
        if (tsr_sharding_print(world->ctx, arena, operands[i]->geometry->sharding, TSR_PRINT_BARE,
                               &text) == TSR_OK) {
            (void)diag_note(world->ctx, NO_LOCATION, "operand %zu of %s is %s, %s", i, call,
                            op_type_text(&type).text, text);
        }
    }
    tsr_arena_destroy(arena);
}

tsr_status eager_given(const char *call, tsr_tensor *const *operands, size_t count,
                       tsr_status status)
{
    for (size_t i = 0; status < 0 && i < count; i++) {
        if (operands[i] != NULL) {
            const op_type type = type_of_layout(operands[i]->layout);
            (void)diag_note(operands[i]->world->ctx, NO_LOCATION, "%s was given %s", call,
                            op_type_text(&type).text);
        }
    }
    return status;
}

static tsr_status check_operands(const char *call, const op_row *row, tsr_tensor *const *operands,
                                 size_t count, tsr_comm *world)
{
    const bool variadic = (row->traits & OP_VARIADIC) != 0;
    if (!op_takes(row, count) || count > EAGER_MAX_OPERANDS) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: %zu operands; there must be %zu%s", call, count, row->num_operands,
                          variadic ? " to 64" : "");
    }
    for (size_t i = 1; i < count; i++) {
        if (operands[i]->world != world) {
            return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s: operands 0 and %zu belong to different worlds", call, i);
        }
    }
    return TSR_OK;
}

/* ---- pending sums of narrow floats ---- */

static bool is_narrow(tsr_dtype dtype)
{
    return pending_dtype(dtype, TSR_SUM) != dtype;
}

/*
 * Whether a call leaves a sum of f16 or bf16 pending, or takes one along into another type. Parts
 * of it that were rounded, or that overflow, would show in the sum, as they do not on one device,
 * so such a call is made in f32; a narrow result has the parts both ways.
 */
static bool leaves_narrow_sum(const eager *e, const op_case *c, tsr_tensor *const *operands)
{
    const tsr_sharding *s = c->num_results == 1 ? c->finals[0]->geometry->sharding : NULL;
    if (s == NULL || e->typing.scope != NULL || tsr_axes_size(s->unreduced, s->num_unreduced) < 2 ||
        (s->reduction != TSR_SUM && s->reduction != TSR_AVG)) {
        return false;
    }
    bool is_one = is_narrow(c->finals[0]->dtype);
    for (size_t i = 0; i < c->num_operands; i++) {
        is_one = is_one || operands[i]->sums != NULL;
    }
    return is_one;
}

/* The parameters with f32 where they name the narrow type of a result. */
static tsr_status widen_params(const eager *e, const op_row *row, const void *params,
                               const void **out)
{
    const void *copy = NULL;
    TSR_TRY(op_params_copy(e->world->ctx, e->arena, row->fields, params, &copy));
    char *bytes = (char *)(uintptr_t)copy; /* NOLINT: the copy is this call's */
    for (size_t i = 0; bytes != NULL && i < row->fields->count; i++) {
        const op_field *field = &row->fields->fields[i];
        void *at = bytes + field->offset;
        tsr_dtype *dtype = field->kind == OP_FIELD_DTYPE    ? at
                           : field->kind == OP_FIELD_RESULT ? &((op_type *)at)->dtype
                                                            : NULL;
        if (dtype != NULL && is_narrow(*dtype)) {
            *dtype = TSR_F32;
        }
    }
    *out = copy;
    return TSR_OK;
}

static op_value *widen_operand(op_builder *b, tsr_tensor *x)
{
    if (x->sums != NULL) {
        return value_of(x->sums);
    }
    return is_narrow(x->dtype) ? build_convert(b, value_of(x), TSR_F32) : value_of(x);
}

/* The call in f32, with a reference of its own. */
static tsr_status call_in_f32(running *r, const op_row *row, const void *params,
                              tsr_tensor *const *operands, size_t count, tsr_tensor **out)
{
    op_value *wide[EAGER_MAX_OPERANDS];
    const void *widened = NULL;
    eager_builder b;
    TSR_TRY(widen_params(r->e, row, params, &widened));
    TSR_TRY(compose_begin(r->call, operands[0], &b));
    tsr_tape_pause(r->e->world);
    for (size_t i = 0; i < count; i++) {
        wide[i] = widen_operand(&b.base, operands[i]);
    }
    op_value *result = build_apply(&b.base, row, widened, wide, count);
    tsr_tape_resume(r->e->world);
    *out = result != NULL ? tsr_tensor_retain(tensor_of(result)) : NULL;
    tsr_scope_close(r->e->world);
    return b.base.status;
}

/* The result in its own type, whose layout says that its sums are kept in f32. */
static tsr_status round_result(running *r, tsr_dtype dtype, tsr_tensor *sums)
{
    const tsr_geometry *g = sums->geometry;
    const tsr_tensor_spec spec = {g->sharding, dtype, g->rank, g->shape};
    tensor_layout *layout = NULL;
    tensor_layout *pending = NULL;
    tsr_comm *world = r->e->world;
    TSR_TRY(layout_get(world, &spec, NULL, &layout));
    tsr_status status = r->abstract ? make_abstract(r->e, layout, &r->results[0])
                                    : tensor_of_layout(world, layout, NULL, &r->results[0]);
    if (status == TSR_OK) {
        r->num_results = 1;
        tensor_round(r->results[0], sums);
    }
    if (status == TSR_OK && g->sharding->num_unreduced > 0) {
        status = layout_get_pending(world, layout, sums->dtype, &pending);
    }
    if (status == TSR_OK && pending != NULL) {
        tensor_keep_sums(r->results[0], tsr_tensor_retain(sums), pending);
    }
    layout_release(&world->state->layouts, layout);
    return status;
}

static tsr_status run_in_f32(running *r, const op_row *row, const void *params,
                             tsr_tensor *const *operands, size_t count)
{
    const tsr_dtype dtype = r->c->finals[0]->dtype;
    const tsr_arena_mark mark = tsr_arena_get_mark(r->e->arena);
    tsr_tensor *sums = NULL;
    tsr_status status = eager_reserve(r->e, 1);
    if (status == TSR_OK) {
        status = call_in_f32(r, row, params, operands, count, &sums);
    }
    tsr_arena_reset(r->e->arena, mark);
    if (status == TSR_OK && sums->dtype == dtype) { /* NOLINT */
        r->results[r->num_results++] = tsr_tensor_retain(sums);
    } else if (status == TSR_OK) {
        status = round_result(r, dtype, sums);
    }
    tsr_tensor_release(sums);
    return status;
}

static tsr_status run_call(running *r, const op_row *row, const void *params,
                           tsr_tensor *const *operands, size_t count)
{
    tensor_layout *given[EAGER_MAX_OPERANDS];
    const typed_record *types[EAGER_MAX_OPERANDS];
    tsr_comm *world = operands[0]->world; /* NOLINT */
    uint64_t made_by = 0;
    TSR_TRY(check_operands(r->call, row, operands, count, world));
    TSR_TRY(eager_of(world, &r->e));
    TSR_TRY(typed_check_operands(r->e, r->call, operands, count));
    for (size_t i = 0; i < count; i++) {
        given[i] = operands[i]->layout;
        types[i] = record_of(operands[i]);
        r->abstract = r->abstract || is_abstract(operands[i]);
    }
    const op_request request = {.ctx = world->ctx,
                                .call = r->call,
                                .row = row,
                                .params = params,
                                .num_operands = count,
                                .broadcasts = true,
                                .own_values = r->e->typing.scope != NULL};
    digest_add(r->e, row->name, operands, count);
    typed_begin(r->e, operands, count);
    const tsr_status status = case_get(r->e, &request, given, types, &r->c);
    if (status < 0) {
        if (r->e->typing.scope == NULL) { /* types say it themselves */
            explain(world, r->call, operands, count);
        }
        return status;
    }
    TSR_TRY(agree(r, operands, &made_by));
    if (r->c->any_moves) {
        TSR_TRY(refuse_moves(r->e, r->call, r->c));
    }
    TSR_TRY(leaves_narrow_sum(r->e, r->c, operands) ? run_in_f32(r, row, params, operands, count)
                                                    : run_case(r, operands));
    for (size_t k = 0; k < r->num_results; k++) {
        r->results[k]->made_by = made_by + (made_by > 0 ? k : 0);
    }
    return tape_wants(r->e, operands, count)
               ? tape_note_op(r->e, r->call, row, params, operands, count, r->results)
               : TSR_OK;
}

tsr_status eager_call(const char *call, const op_row *row, const void *params,
                      tsr_tensor *const *operands, size_t num_operands, tsr_tensor **results)
{
    running r;
    r.call = call;
    r.abstract = false;
    r.num_ready = 0;
    r.num_results = 0;
    if (operands[0] != NULL) {
        eager_begin(operands[0]->world);
        r.call = eager_call_name(operands[0]->world, call);
    }
    const tsr_status status = run_call(&r, row, params, operands, num_operands);
    for (size_t i = 0; i < r.num_ready; i++) {
        tsr_tensor_release(r.operands[i]);
    }
    for (size_t k = 0; k < r.num_results; k++) {
        if (status < 0) {
            tsr_tensor_release(r.results[k]);
        } else {
            eager_adopt(r.e, r.results[k]);
            results[k] = r.results[k];
        }
    }
    return status < 0 && operands[0] != NULL ? eager_tell(operands[0]->world, call, status)
                                             : status;
}

/* Runs an op without operands on one box of a fresh tensor. */
static void make_box(const tsr_tensor *t, const op_row *row, const void *params, const box_walk *w)
{
    char *data = t->data;
    const op_array result = {.view = {data + box_walk_offset(w, t->strides), t->dtype,
                                      t->geometry->rank, w->size, t->strides},
                             .start = w->start,
                             .full = t->geometry->shape};
    const op_call c = {
        .row = row, .params = params, .num_results = 1, .results = &result, .first = true};
    row->run(&c, NULL);
}

/* Box by box: a rank's rows may be apart in the whole tensor, or in memory. */
static void make_boxes(const tsr_tensor *t, const op_row *row, const void *params)
{
    box_walk w;
    bool more = box_walk_first(&w, t->geometry, t->world->rank, false);
    for (; more; more = box_walk_next(&w)) {
        make_box(t, row, params, &w);
    }
}

/* A fresh tensor of a spec, which the op without operands then fills. */
static tsr_status make_from_nothing(eager *e, const op_row *row, const void *params,
                                    tensor_layout *layout, tsr_tensor **out)
{
    TSR_TRY(eager_reserve(e, 1));
    TSR_TRY(tensor_of_layout(e->world, layout, NULL, out));
    if (!is_abstract(*out)) {
        make_boxes(*out, row, params);
    }
    eager_adopt(e, *out);
    return TSR_OK;
}

static tsr_status make(const char *call, const op_row *row, const void *params, tsr_comm *world,
                       const tsr_tensor_spec *spec, tsr_tensor **out)
{
    eager *e = NULL;
    op_type result;
    tensor_layout *layout = NULL;
    uint64_t made_by = 0;
    const op_request r = {.ctx = world->ctx, .call = call, .row = row, .params = params};
    TSR_TRY(eager_of(world, &e));
    TSR_TRY(tensor_check_spec(world, spec));
    TSR_TRY(row->types(&r, &result));
    TSR_TRY(op_check_supported(&r, &result));
    const local_call what = {.call = call,
                             .op = row->name,
                             .fields = row->fields,
                             .params = params,
                             .num_tensors = 1,
                             .tensors = spec};
    TSR_TRY(eager_agree(e, &what, &made_by));
    TSR_TRY(layout_get(world, spec, NULL, &layout));
    const tsr_status status = make_from_nothing(e, row, params, layout, out);
    layout_release(&world->state->layouts, layout);
    if (status == TSR_OK) {
        (*out)->made_by = made_by;
    }
    return status;
}

tsr_status eager_make(const char *call, const op_row *row, const void *params, tsr_comm *world,
                      const tsr_tensor_spec *spec, tsr_tensor **out)
{
    eager_begin(world);
    return eager_tell(world, call, make(call, row, params, world, spec, out));
}

/* ---- tensors without elements ---- */

tsr_status tsr_abstract(tsr_comm *world, const tsr_tensor_spec *spec, tsr_tensor **out)
{
    GUARD(tsr_abstract);
    eager *e = NULL;
    tensor_layout *layout = NULL;
    TSR_TRY(eager_of(world, &e));
    TSR_TRY(tensor_check_spec(world, spec));
    TSR_TRY(layout_get(world, spec, NULL, &layout));
    tsr_status status = eager_reserve(e, 1);
    if (status == TSR_OK) {
        status = make_abstract(e, layout, out);
    }
    layout_release(&world->state->layouts, layout);
    TSR_TRY(status);
    eager_adopt(e, *out);
    return TSR_OK;
}

tsr_status tsr_abstract_like(const tsr_tensor *tensor, tsr_tensor **out)
{
    GUARD(tsr_abstract_like);
    const tsr_geometry *g = tensor->geometry;
    const tsr_tensor_spec spec = {g->sharding, tensor->dtype, g->rank, g->shape};
    return tsr_abstract(tensor->world, &spec, out);
}

bool tsr_tensor_is_abstract(const tsr_tensor *tensor)
{
    GUARD(tsr_tensor_is_abstract);
    return is_abstract(tensor);
}
