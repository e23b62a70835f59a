#include "eager/tape.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "base/map.h"
#include "eager/compose.h"
#include "eager/transition.h"
#include "eager/typed.h"
#include "ops/op_elementwise.h"

/* A value on the tape. Number 0 is none. */
typedef struct tape_value {
    size_t node; /* that made it, from 1; 0 for a watched tensor that nothing made */
    bool watched;
    tsr_tensor *cotangent; /* so far; one reference */
    tsr_tensor *lent;      /* a tensor on an outer tape, which gets `note` back; one reference */
    uint64_t note;
} tape_value;

struct tape {
    tape *outer;
    tsr_arena *arena;
    uint64_t number; /* of this tape, in notes */
    int64_t paused;
    int64_t guests; /* how much code of the program's own runs that must not end it */
    bool ended;     /* such code has tried to */
    tape_node *nodes;
    size_t num_nodes;
    size_t nodes_room;
    tape_value *values;
    size_t num_values;
    size_t values_room;
};

/* ---- numbers of values ---- */

enum { VALUE_BITS = 32 };

static size_t value_on(const tape *t, const tsr_tensor *tensor)
{
    return tensor->note >> VALUE_BITS == t->number
               ? (size_t)(tensor->note & ((UINT64_C(1) << VALUE_BITS) - 1))
               : 0;
}

/* An array of a tape with room for one more; an outgrown one stays in the arena. */
static void *grown(tsr_arena *arena, void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return array;
    }
    const size_t more = *room > 0 ? 2 * *room : 64;
    void *fresh = arena_array(arena, more, size);
    if (fresh == NULL) {
        return NULL;
    }
    if (count > 0) {
        memcpy(fresh, array, count * size);
    }
    *room = more;
    return fresh;
}

static tsr_status new_value(eager *e, tape *t, size_t node, tsr_tensor *tensor, size_t *out)
{
    tape_value *values = grown(t->arena, t->values, t->num_values, &t->values_room, sizeof *values);
    if (values == NULL || t->num_values >= (size_t)UINT32_MAX) {
        return diag_nomem(e->world->ctx);
    }
    t->values = values;
    t->num_values += t->num_values == 0; /* number 0 is none */
    t->values[t->num_values] = (tape_value){.node = node};
    *out = t->num_values++;
    tensor->note = t->number << VALUE_BITS | *out;
    return TSR_OK;
}

/* ---- noting ---- */

bool tape_wants(const eager *e, tsr_tensor *const *tensors, size_t count)
{
    const tape *t = e->tapes.innermost;
    if (t == NULL || t->paused > 0) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (value_on(t, tensors[i]) > 0) {
            return true;
        }
    }
    return false;
}

/* References to tensors; of those of which only the type is needed, to stand-ins for them. */
static tsr_status save(eager *e, bool whole, tsr_tensor *const *from, size_t count, tsr_tensor **to)
{
    for (size_t i = 0; i < count; i++) {
        if (whole) {
            to[i] = tsr_tensor_retain(from[i]);
        } else {
            TSR_TRY(make_abstract(e, from[i]->layout, &to[i]));
        }
    }
    return TSR_OK;
}

static void drop_saved(eager *e, tape_node *node)
{
    for (size_t i = 0; i < node->num_operands; i++) {
        tsr_tensor_release(node->operands[i]);
        node->operands[i] = NULL;
    }
    for (size_t i = 0; i < node->num_results; i++) {
        tsr_tensor_release(node->results[i]);
        node->results[i] = NULL;
    }
    if (node->way != NULL && node->way->destroy != NULL && node->state != NULL) {
        node->way->destroy(e, node->state);
    }
    node->state = NULL;
    node->done = true;
}

/* A node with room for its lists, the last of the tape; it counts when all is well. */
static tsr_status new_node(eager *e, size_t operands, size_t results, tape_node **out)
{
    tape *t = e->tapes.innermost;
    tape_node *nodes = grown(t->arena, t->nodes, t->num_nodes, &t->nodes_room, sizeof *nodes);
    tsr_tensor **tensors = ARENA_ARRAY(t->arena, tsr_tensor *, operands + results);
    size_t *numbers = ARENA_ARRAY(t->arena, size_t, operands + results);
    if (nodes == NULL || tensors == NULL || numbers == NULL) {
        return diag_nomem(e->world->ctx);
    }
    t->nodes = nodes;
    memset((void *)tensors, 0, (operands + results) * sizeof *tensors);
    memset(numbers, 0, (operands + results) * sizeof *numbers);
    *out = &nodes[t->num_nodes];
    **out = (tape_node){.num_operands = operands,
                        .num_results = results,
                        .operands = tensors,
                        .results = tensors + operands,
                        .inputs = numbers,
                        .outputs = numbers + operands};
    return TSR_OK;
}

/* Puts a node on the tape: what it depends on, and the numbers of its results. */
static tsr_status link_node(eager *e, tape_node *node, tsr_tensor *const *operands,
                            tsr_tensor *const *results)
{
    tape *t = e->tapes.innermost;
    for (size_t i = 0; i < node->num_operands; i++) {
        node->inputs[i] = value_on(t, operands[i]);
    }
    for (size_t k = 0; k < node->num_results; k++) {
        /* What a region passes on has its number already, and gets its cotangent by that. */
        if (dtype_is_float(results[k]->dtype) && value_on(t, results[k]) == 0) {
            TSR_TRY(new_value(e, t, t->num_nodes + 1, results[k], &node->outputs[k]));
        }
    }
    t->num_nodes++;
    return TSR_OK;
}

tsr_status tape_note_op(eager *e, const char *call, const op_row *row, const void *params,
                        tsr_tensor *const *operands, size_t count, tsr_tensor *const *results)
{
    tape_node *node = NULL;
    const void *copy = NULL;
    const size_t num_results = op_num_results(row, count);
    TSR_TRY(op_params_copy(e->world->ctx, e->tapes.innermost->arena, row->fields, params, &copy));
    TSR_TRY(new_node(e, count, num_results, &node));
    node->call = call;
    node->row = row;
    node->params = copy;
    tsr_status status =
        save(e, (row->traits & OP_GRADIENT_BY_TYPE) == 0, operands, count, node->operands);
    if (status == TSR_OK) {
        status = save(e, (row->traits & OP_GRADIENT_BY_RESULT) != 0, results, num_results,
                      node->results);
    }
    if (status == TSR_OK) {
        status = link_node(e, node, operands, results);
    }
    if (status < 0) {
        drop_saved(e, node);
    }
    return status;
}

tsr_status tape_note_way(eager *e, const char *call, const tape_way *way, void *state,
                         tsr_tensor *const *operands, size_t count, tsr_tensor *const *results,
                         size_t num_results)
{
    tape_node *node = NULL;
    TSR_TRY(new_node(e, count, num_results, &node));
    node->call = call;
    node->way = way;
    tsr_status status = save(e, false, operands, count, node->operands);
    if (status == TSR_OK) {
        status = save(e, false, results, num_results, node->results);
    }
    if (status == TSR_OK) {
        status = link_node(e, node, operands, results);
    }
    if (status < 0) {
        drop_saved(e, node);
        return status;
    }
    node->state = state;
    return TSR_OK;
}

/* ---- walking back ---- */

static tsr_status pass_on(eager *e, const tape_node *node, tsr_tensor *const *cotangents,
                          tsr_tensor **grads)
{
    (void)e;
    (void)node;
    grads[0] = tsr_tensor_retain(cotangents[0]);
    return TSR_OK;
}

const tape_way tape_identity = {.backward = pass_on};

/* Adds to the cotangent of a value; takes the reference over. */
static tsr_status accumulate(eager *e, tape_value *value, tsr_tensor *grad)
{
    if (value->cotangent == NULL) {
        value->cotangent = grad;
        return TSR_OK;
    }
    tsr_tensor *sum = NULL;
    eager_scope *const scope = e->scope;
    e->scope = NULL; /* the sum is the tape's */
    const tsr_status status = tsr_add(value->cotangent, grad, &sum);
    e->scope = scope;
    tsr_tensor_release(grad);
    if (status < 0) {
        return status;
    }
    tsr_tensor_release(value->cotangent);
    value->cotangent = sum;
    return TSR_OK;
}

/* Whether something flows into an operand. */
static void find_wanted(const tape_node *node, bool *wanted)
{
    for (size_t i = 0; i < node->num_operands; i++) {
        wanted[i] = node->inputs[i] > 0 && dtype_is_float(node->operands[i]->dtype);
    }
}

/* The gradients of an op, by its row; one reference each. */
static tsr_status back_through_op(eager *e, const tape_node *node, tsr_tensor *const *cotangents,
                                  tsr_tensor **grads)
{
    op_value *operands[EAGER_MAX_OPERANDS];
    op_value *found[EAGER_MAX_OPERANDS] = {NULL};
    op_value *results[EAGER_MAX_RESULTS];
    op_value *came[EAGER_MAX_RESULTS];
    bool wanted[EAGER_MAX_OPERANDS];
    eager_builder b;
    char call[96];
    (void)snprintf(call, sizeof call, "gradient of %s", node->call);
    const char *kept = arena_string(e->tapes.innermost->arena, call, strlen(call));
    if (kept == NULL) {
        return diag_nomem(e->world->ctx);
    }
    if (node->row->gradient == NULL) {
        return diag_error(e->world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "%s: the op %s has no gradient", node->call, node->row->name);
    }
    for (size_t i = 0; i < node->num_operands; i++) {
        operands[i] = value_of(node->operands[i]);
    }
    for (size_t k = 0; k < node->num_results; k++) {
        results[k] = value_of(node->results[k]);
        came[k] = value_of(cotangents[k]);
    }
    find_wanted(node, wanted);
    const op_vjp vjp = {.call = node->call,
                        .row = node->row,
                        .params = node->params,
                        .num_operands = node->num_operands,
                        .operands = operands,
                        .results = results,
                        .cotangents = came,
                        .wanted = wanted};
    TSR_TRY(compose_begin(kept, node->operands[0], &b));
    node->row->gradient(&b.base, &vjp, found);
    for (size_t i = 0; b.base.status >= 0 && i < node->num_operands; i++) {
        grads[i] = wanted[i] && found[i] != NULL ? tsr_tensor_retain((tsr_tensor *)found[i]) : NULL;
    }
    tsr_scope_close(e->world);
    return b.base.status;
}

/* The cotangents of a node's results, and whether one came. */
static bool find_cotangents(const tape *t, const tape_node *node, tsr_tensor **cotangents)
{
    bool any = false;
    for (size_t k = 0; k < node->num_results; k++) {
        cotangents[k] = node->outputs[k] > 0 ? t->values[node->outputs[k]].cotangent : NULL;
        any = any || cotangents[k] != NULL;
    }
    return any;
}

/* Adds to the cotangent of an operand; takes the reference over. */
static tsr_status flow_into(eager *e, const tape_node *node, size_t number, tsr_tensor *grad)
{
    tape *t = e->tapes.innermost;
    const size_t made_by = t->values[number].node;
    if (made_by > 0 && t->nodes[made_by - 1].done) {
        tsr_tensor_release(grad);
        return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "gradient of %s: it depends on %s, whose backward has already run; add "
                          "the losses before one backward, or begin another tape",
                          node->call, t->nodes[made_by - 1].call);
    }
    return accumulate(e, &t->values[number], grad);
}

static tsr_status back_through(eager *e, tape_node *node)
{
    tape *t = e->tapes.innermost;
    tsr_tensor *cotangents[EAGER_MAX_OPERANDS];
    tsr_tensor *grads[EAGER_MAX_OPERANDS] = {NULL};
    if (node->done || !find_cotangents(t, node, cotangents)) {
        return TSR_OK;
    }
    tsr_status status = node->way != NULL ? node->way->backward(e, node, cotangents, grads)
                                          : back_through_op(e, node, cotangents, grads);
    for (size_t i = 0; i < node->num_operands; i++) {
        if (grads[i] == NULL) {
            continue;
        }
        if (status < 0 || node->inputs[i] == 0) {
            tsr_tensor_release(grads[i]);
        } else {
            status = flow_into(e, node, node->inputs[i], grads[i]);
        }
    }
    return status;
}

/* What a node saved and the cotangents of its results are needed no more. */
static void unwind(eager *e, tape_node *node)
{
    tape *t = e->tapes.innermost;
    for (size_t k = 0; k < node->num_results; k++) {
        tape_value *value = &t->values[node->outputs[k]];
        if (node->outputs[k] > 0 && !value->watched) {
            tsr_tensor_release(value->cotangent);
            value->cotangent = NULL;
        }
    }
    drop_saved(e, node);
}

static tsr_status walk_back(eager *e, size_t last)
{
    tape *t = e->tapes.innermost;
    for (size_t n = last; n > 0; n--) {
        TSR_TRY(back_through(e, &t->nodes[n - 1]));
        unwind(e, &t->nodes[n - 1]);
    }
    return TSR_OK;
}

/* Whether a backward can start from a tensor; an error when it depends on nothing watched. */
static tsr_status check_start(const eager *e, const char *call, const tsr_tensor *tensor)
{
    const tape *t = e->tapes.innermost;
    if (t == NULL) {
        return diag_error(
            e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "%s: no tape is recording; call tsr_tape_begin before the calls to differentiate",
            call);
    }
    if (t->guests > 0) {
        return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the tape is in use by a backward or region around this call; begin "
                          "another tape here",
                          call);
    }
    const size_t value = value_on(t, tensor);
    if (value == 0) {
        return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the tensor does not depend on a watched tensor; call tsr_watch on "
                          "the input before it is used",
                          call);
    }
    const size_t node = t->values[value].node;
    if (node > 0 && t->nodes[node - 1].done) {
        return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the backward of this tape has already run; begin another tape",
                          call);
    }
    return TSR_OK;
}

tsr_status tape_backward(eager *e, tsr_tensor *const *values, tsr_tensor *const *cotangents,
                         size_t count)
{
    tape *t = e->tapes.innermost;
    size_t last = 0;
    tsr_status status = TSR_OK;
    t->paused++;
    e->typing.off++;
    for (size_t k = 0; status == TSR_OK && k < count; k++) {
        const size_t number = cotangents[k] != NULL ? value_on(t, values[k]) : 0;
        if (number > 0) {
            status = accumulate(e, &t->values[number], tsr_tensor_retain(cotangents[k]));
            last = t->values[number].node > last ? t->values[number].node : last;
        }
    }
    if (status == TSR_OK) {
        status = walk_back(e, last);
    }
    e->typing.off--;
    t->paused--;
    return status;
}

static tsr_status backward_from(eager *e, const char *call, tsr_tensor *value,
                                tsr_tensor *cotangent)
{
    TSR_TRY(check_start(e, call, value));
    eager_begin(e->world);
    return eager_tell(e->world, call, tape_backward(e, &value, &cotangent, 1));
}

tsr_status tsr_backward_from(tsr_tensor *value, tsr_tensor *cotangent)
{
    GUARD(tsr_backward_from);
    eager *e = NULL;
    const op_type types[] = {type_of_layout(value->layout), type_of_layout(cotangent->layout)};
    TSR_TRY(eager_of(value->world, &e));
    if (types[0].dtype != types[1].dtype || types[0].rank != types[1].rank ||
        memcmp(types[0].shape, types[1].shape, types[0].rank * sizeof(int64_t)) != 0) {
        return diag_error(value->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_backward_from: a cotangent %s of a value %s",
                          op_type_text(&types[1]).text, op_type_text(&types[0]).text);
    }
    return backward_from(e, "tsr_backward_from", value, cotangent);
}

tsr_status tsr_backward(tsr_tensor *loss)
{
    GUARD(tsr_backward);
    eager *e = NULL;
    tsr_tensor *one = NULL;
    const op_type type = type_of_layout(loss->layout);
    TSR_TRY(eager_of(loss->world, &e));
    if (type.rank != 0 || !dtype_is_float(type.dtype)) {
        return diag_error(loss->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_backward: the loss must be one floating-point number, got: %s; "
                          "reduce it, or call tsr_backward_from with a cotangent",
                          op_type_text(&type).text);
    }
    const bool unchecked = e->typing.scope != NULL && e->typing.scope->settings.unchecked;
    if (record_of(loss) != NULL && !unchecked) {
        TSR_TRY(
            typed_note_implied(eager_if_any(loss->world), record_of(loss), 0,
                               tsr_type_check_loss(loss->world->ctx, record_of(loss)->of.type)));
    }
    TSR_TRY(tsr_scope_open(loss->world));
    tsr_status status = tsr_scalar_like(loss, 1, &one);
    if (status == TSR_OK) {
        status = backward_from(e, "tsr_backward", loss, one);
    }
    tsr_scope_close(loss->world);
    return status;
}

/* ---- tapes ---- */

static tsr_status begin_tape(tsr_comm *world)
{
    eager *e = NULL;
    tsr_arena *arena = NULL;
    TSR_TRY(eager_of(world, &e));
    TSR_TRY(tsr_arena_create(world->ctx, &arena));
    tape *t = ARENA_NEW(arena, tape);
    if (t == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(world->ctx);
    }
    *t = (tape){.outer = e->tapes.innermost, .arena = arena, .number = ++e->tapes.begun};
    e->tapes.innermost = t;
    return TSR_OK;
}

tsr_status tsr_tape_begin(tsr_comm *world)
{
    GUARD(tsr_tape_begin);
    eager_begin(world);
    return eager_tell(world, "tsr_tape_begin", begin_tape(world));
}

void tsr_tape_end(tsr_comm *world)
{
    GUARD(tsr_tape_end);
    eager *e = eager_if_any(world);
    tape *t = e != NULL ? e->tapes.innermost : NULL;
    if (t == NULL) {
        return;
    }
    if (t->guests > 0) {
        t->ended = true; /* said when the code that did it returns */
        return;
    }
    for (size_t n = t->num_nodes; n-- > 0;) {
        if (!t->nodes[n].done) {
            drop_saved(e, &t->nodes[n]);
        }
    }
    for (size_t v = 1; v < t->num_values; v++) {
        tsr_tensor_release(t->values[v].cotangent);
        if (t->values[v].lent != NULL) {
            t->values[v].lent->note = t->values[v].note;
            tsr_tensor_release(t->values[v].lent);
        }
    }
    e->tapes.innermost = t->outer;
    tsr_arena_destroy(t->arena);
}

tape_guest tape_enter(const eager *e)
{
    tape *t = e->tapes.innermost;
    if (t == NULL) {
        return (tape_guest){NULL, 0};
    }
    t->guests++;
    return (tape_guest){t, t->paused};
}

tsr_status tape_leave(eager *e, tape_guest guest, const char *who, tsr_status status)
{
    bool begun = false;
    while (e->tapes.innermost != guest.own) {
        begun = true;
        tsr_tape_end(e->world);
    }
    const bool ended = guest.own != NULL && guest.own->ended;
    if (guest.own != NULL) {
        guest.own->guests--;
        guest.own->ended = false;
        guest.own->paused = guest.paused;
    }
    if (status < 0 || (!begun && !ended)) {
        return status;
    }
    return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      begun ? "%s: the function began a tape and did not end it"
                            : "%s: the function ended a tape that its caller began",
                      who);
}

/* ---- what a region calls ---- */

uint64_t digest_begin(eager *e)
{
    const uint64_t outer = e->tapes.digest;
    e->tapes.digest = 0;
    e->tapes.digesting++;
    return outer;
}

void digest_add(eager *e, const char *what, tsr_tensor *const *operands, size_t count)
{
    if (e->tapes.digesting == 0) {
        return;
    }
    uint64_t hash = hash_bytes(what, strlen(what), e->tapes.digest);
    for (size_t i = 0; i < count; i++) {
        const tsr_geometry *g = operands[i]->geometry;
        hash = hash_bytes(g->shape, g->rank * sizeof *g->shape,
                          hash + (uint64_t)operands[i]->dtype + 1);
    }
    e->tapes.digest = hash;
}

uint64_t digest_end(eager *e, uint64_t outer)
{
    const uint64_t own = e->tapes.digest;
    e->tapes.digesting--;
    e->tapes.digest = hash_bytes(&own, sizeof own, outer);
    return own;
}

void tapes_clear(eager *e)
{
    while (e->tapes.innermost != NULL) {
        e->tapes.innermost->guests = 0;
        tsr_tape_end(e->world);
    }
}

void tsr_tape_pause(tsr_comm *world)
{
    GUARD(tsr_tape_pause);
    const eager *e = eager_if_any(world);
    if (e != NULL && e->tapes.innermost != NULL) {
        e->tapes.innermost->paused++;
    }
}

void tsr_tape_resume(tsr_comm *world)
{
    GUARD(tsr_tape_resume);
    const eager *e = eager_if_any(world);
    if (e != NULL && e->tapes.innermost != NULL && e->tapes.innermost->paused > 0) {
        e->tapes.innermost->paused--;
    }
}

static bool is_on_outer(const tape *t, const tsr_tensor *tensor)
{
    for (const tape *outer = t->outer; outer != NULL; outer = outer->outer) {
        if (value_on(outer, tensor) > 0) {
            return true;
        }
    }
    return false;
}

/* Whether a backward could still go through a tensor. */
static bool is_live(const tape *t, const tsr_tensor *tensor)
{
    const size_t value = value_on(t, tensor);
    const size_t node = value > 0 ? t->values[value].node : 0;
    return value > 0 && (node == 0 || !t->nodes[node - 1].done);
}

bool tsr_tensor_is_recorded(const tsr_tensor *tensor)
{
    GUARD(tsr_tensor_is_recorded);
    const eager *e = eager_if_any(tensor->world);
    if (e == NULL || e->tapes.innermost == NULL || e->tapes.innermost->paused > 0) {
        return false;
    }
    for (const tape *t = e->tapes.innermost; t != NULL; t = t->outer) {
        if (is_live(t, tensor)) {
            return true;
        }
    }
    return false;
}

tsr_status tsr_stop_gradient(tsr_tensor *x, tsr_tensor **out)
{
    GUARD(tsr_stop_gradient);
    tsr_comm *world = x->world;
    const convert_params params = {.result = x->dtype};
    tsr_tape_pause(world);
    const tsr_status status = eager_call("tsr_stop_gradient", &op_convert, &params, &x, 1, out);
    tsr_tape_resume(world);
    return status;
}

/* A tensor that nothing on this tape made; an outer one finds it again when this one ends. */
static tsr_status watch_new(eager *e, tsr_tensor *tensor, size_t *value)
{
    const bool lent = is_on_outer(e->tapes.innermost, tensor);
    const uint64_t note = tensor->note;
    TSR_TRY(new_value(e, e->tapes.innermost, 0, tensor, value));
    if (lent) {
        e->tapes.innermost->values[*value].lent = tsr_tensor_retain(tensor);
        e->tapes.innermost->values[*value].note = note;
    }
    return TSR_OK;
}

static tsr_status watch(tsr_tensor *tensor)
{
    eager *e = NULL;
    TSR_TRY(eager_of(tensor->world, &e));
    const op_type type = type_of_layout(tensor->layout);
    if (e->tapes.innermost == NULL || !dtype_is_float(type.dtype)) {
        return diag_error(
            tensor->world->ctx, TSR_ERR_INVALID, NO_LOCATION, "tsr_watch: %s",
            e->tapes.innermost == NULL
                ? "no tape is recording; call tsr_tape_begin first"
                : "only tensors of floats and complex numbers have gradients; convert the tensor");
    }
    size_t value = value_on(e->tapes.innermost, tensor);
    if (value == 0) {
        TSR_TRY(watch_new(e, tensor, &value));
    }
    e->tapes.innermost->values[value].watched = true;
    return TSR_OK;
}

tsr_status tsr_watch(tsr_tensor *tensor)
{
    GUARD(tsr_watch);
    eager_begin(tensor->world);
    return eager_tell(tensor->world, "tsr_watch", watch(tensor));
}

/*
 * A gradient as it is handed out. Values of different types may have one cotangent, as those that
 * are added do: where it gets a type, or a number on an outer tape, it is a tensor of its own, in
 * the same memory.
 */
static tsr_status handle_of(eager *e, tsr_tensor *cotangent, const typed_record *record, bool lent,
                            tsr_tensor **out)
{
    if (record == NULL && !lent) {
        *out = tsr_tensor_retain(cotangent);
        return TSR_OK;
    }
    TSR_TRY(alias_tensor(cotangent, cotangent->layout, out));
    (*out)->note = lent ? 0 : cotangent->note;
    typed_set(e, *out, record);
    return TSR_OK;
}

static tsr_status refuse_second(eager *e, const tape_node *node, tsr_tensor *const *cotangents,
                                tsr_tensor **grads)
{
    (void)node;
    (void)cotangents;
    (void)grads;
    return diag_error(e->world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                      "tsr_gradient: second derivatives are not supported: a backward is not "
                      "recorded on the tape around it; write the first gradient as calls, or give "
                      "it a backward with tsr_tape_custom");
}

static const tape_way second_way = {.backward = refuse_second};

/*
 * The gradient of what an outer tape watches too: on that tape it is a call without a way back, so
 * that a backward through it is refused instead of losing a part. The gradient is a tensor of its
 * own there.
 */
static tsr_status note_second(eager *e, const tape_value *value, tsr_tensor *gradient)
{
    tape *inner = e->tapes.innermost;
    if (value->lent == NULL || inner->outer == NULL || inner->outer->paused > 0) {
        return TSR_OK;
    }
    const uint64_t note = value->lent->note;
    value->lent->note = value->note; /* as the outer tape knows it */
    e->tapes.innermost = inner->outer;
    const tsr_status status =
        tape_note_way(e, "tsr_gradient", &second_way, NULL, &value->lent, 1, &gradient, 1);
    e->tapes.innermost = inner;
    value->lent->note = note;
    return status;
}

static tsr_status find_gradient(tsr_tensor *tensor, tsr_tensor **out)
{
    eager *e = NULL;
    const typed_record *record = NULL;
    TSR_TRY(eager_of(tensor->world, &e));
    const size_t value = e->tapes.innermost != NULL ? value_on(e->tapes.innermost, tensor) : 0;
    if (value == 0 || !e->tapes.innermost->values[value].watched) {
        return diag_error(
            tensor->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "tsr_gradient: the recording tape does not watch the tensor; call tsr_watch first");
    }
    if (e->tapes.innermost->values[value].cotangent == NULL) {
        eager_builder b;
        TSR_TRY(typed_gradient(e, tensor, &record));
        TSR_TRY(compose_begin("tsr_gradient", tensor, &b));
        TSR_TRY(compose_end(&b, build_zeros(&b.base, value_of(tensor)), out));
        typed_set(e, *out, record);
        return TSR_OK;
    }
    TSR_TRY(eager_reserve(e, 1));
    TSR_TRY(typed_gradient(e, tensor, &record));
    const tape_value *watched = &e->tapes.innermost->values[value];
    TSR_TRY(handle_of(e, watched->cotangent, record, watched->lent != NULL, out));
    const tsr_status status = note_second(e, watched, *out);
    if (status < 0) {
        tsr_tensor_release(*out);
        return status;
    }
    eager_adopt(e, *out);
    return TSR_OK;
}

tsr_status tsr_gradient(tsr_tensor *tensor, tsr_tensor **out)
{
    GUARD(tsr_gradient);
    eager_begin(tensor->world);
    return eager_tell(tensor->world, "tsr_gradient", find_gradient(tensor, out));
}
