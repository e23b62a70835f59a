/*
 * What the tape goes back through that is not an op of ours: regions computed again, ops of the
 * program's own, ragged conversions.
 */
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "eager/tape.h"
#include "eager/transition.h"

/* ---- regions ---- */

typedef struct region {
    tsr_region function;
    void *state;
    size_t num_inputs;
    size_t num_outputs;
    uint64_t digest;                        /* of the calls that it made */
    tsr_tensor *inputs[EAGER_MAX_OPERANDS]; /* one reference each */
} region;

static void drop_region(eager *e, void *state)
{
    region *r = state;
    for (size_t i = 0; i < r->num_inputs; i++) {
        tsr_tensor_release(r->inputs[i]);
    }
    (void)context_resize(e->world->ctx, r, sizeof *r, 0);
}

static bool same_type(const op_type *a, const op_type *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

/* Runs the function; all outputs must be there, and the tapes as they were. */
static tsr_status run_region(eager *e, const region *r, tsr_tensor *const *inputs,
                             tsr_tensor **outputs, uint64_t *digest)
{
    const tape_guest guest = tape_enter(e);
    const uint64_t outer = digest_begin(e);
    const tsr_status status = r->function(e->world, inputs, outputs, r->state);
    *digest = digest_end(e, outer);
    TSR_TRY(tape_leave(e, guest, "tsr_recompute: the region", status));
    for (size_t k = 0; k < r->num_outputs; k++) {
        if (outputs[k] == NULL) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "tsr_recompute: the region did not set output %zu; it must set all "
                              "%zu outputs in each call",
                              k, r->num_outputs);
        }
    }
    return TSR_OK;
}

/* What the region gave before it gives again, by the same calls. */
static tsr_status check_again(const eager *e, const region *r, const tape_node *node,
                              tsr_tensor *const *outputs, uint64_t digest)
{
    for (size_t k = 0; k < r->num_outputs; k++) {
        const op_type is = type_of_layout(outputs[k]->layout);
        const op_type was = type_of_layout(node->results[k]->layout);
        if (!same_type(&is, &was)) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "tsr_recompute: when recomputed, the region returned %s as output "
                              "%zu, which was %s; it must compute the same in each call",
                              op_type_text(&is).text, k, op_type_text(&was).text);
        }
    }
    if (digest != r->digest) {
        return diag_error(
            e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "tsr_recompute: when recomputed, the region made other calls than before, so the "
            "gradient would be wrong; it must make the same calls each time");
    }
    return TSR_OK;
}

/* Runs the region on aliases of its inputs under a tape of its own, and walks that back. */
static tsr_status run_again(eager *e, const region *r, const tape_node *node,
                            tsr_tensor *const *cotangents, tsr_tensor **aliases, tsr_tensor **grads)
{
    tsr_tensor *outputs[EAGER_MAX_OPERANDS] = {NULL};
    for (size_t i = 0; i < r->num_inputs; i++) {
        TSR_TRY(alias_tensor(r->inputs[i], r->inputs[i]->layout, &aliases[i]));
        if (dtype_is_float(aliases[i]->dtype)) {
            TSR_TRY(tsr_watch(aliases[i]));
        }
    }
    uint64_t digest = 0;
    TSR_TRY(run_region(e, r, aliases, outputs, &digest));
    TSR_TRY(check_again(e, r, node, outputs, digest));
    TSR_TRY(tape_backward(e, outputs, cotangents, r->num_outputs));
    for (size_t i = 0; i < r->num_inputs; i++) {
        tsr_tensor *grad = NULL;
        if (dtype_is_float(aliases[i]->dtype)) {
            TSR_TRY(tsr_gradient(aliases[i], &grad));
            grads[i] = tsr_tensor_retain(grad);
        }
    }
    return TSR_OK;
}

static tsr_status back_through_region(eager *e, const tape_node *node,
                                      tsr_tensor *const *cotangents, tsr_tensor **grads)
{
    const region *r = node->state;
    tsr_tensor *aliases[EAGER_MAX_OPERANDS] = {NULL};
    TSR_TRY(tsr_scope_open(e->world));
    tsr_status status = tsr_tape_begin(e->world);
    if (status == TSR_OK) {
        status = run_again(e, r, node, cotangents, aliases, grads);
        tsr_tape_end(e->world);
    }
    tsr_scope_close(e->world);
    for (size_t i = 0; i < r->num_inputs; i++) {
        tsr_tensor_release(aliases[i]);
        if (status < 0) {
            tsr_tensor_release(grads[i]);
            grads[i] = NULL;
        }
    }
    return status;
}

static const tape_way region_way = {.backward = back_through_region, .destroy = drop_region};

static tsr_status note_region(eager *e, const region *what, tsr_tensor *const *outputs)
{
    region *r = context_resize(e->world->ctx, NULL, 0, sizeof *r);
    if (r == NULL) {
        return diag_nomem(e->world->ctx);
    }
    *r = *what;
    for (size_t i = 0; i < r->num_inputs; i++) {
        (void)tsr_tensor_retain(r->inputs[i]);
    }
    const tsr_status status = tape_note_way(e, "tsr_recompute", &region_way, r, r->inputs,
                                            r->num_inputs, outputs, r->num_outputs);
    if (status < 0) {
        drop_region(e, r);
    }
    return status;
}

tsr_status tsr_recompute(tsr_comm *world, tsr_region function, void *state,
                         tsr_tensor *const *inputs, size_t num_inputs, tsr_tensor **outputs,
                         size_t num_outputs)
{
    GUARD(tsr_recompute);
    eager *e = NULL;
    region r = {
        .function = function, .state = state, .num_inputs = num_inputs, .num_outputs = num_outputs};
    TSR_TRY(eager_of(world, &e));
    if (num_inputs > EAGER_MAX_OPERANDS || num_outputs > EAGER_MAX_OPERANDS) {
        return diag_error(world->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "tsr_recompute: %zu inputs and %zu outputs; the maximum is %d each",
                          num_inputs, num_outputs, EAGER_MAX_OPERANDS);
    }
    const bool wanted = tape_wants(e, inputs, num_inputs);
    tsr_tensor *found[EAGER_MAX_OPERANDS] = {NULL};
    e->tapes.recomputing += wanted;
    tsr_tape_pause(world);
    tsr_status status = run_region(e, &r, inputs, found, &r.digest);
    tsr_tape_resume(world);
    e->tapes.recomputing -= wanted;
    if (status == TSR_OK && wanted) {
        memcpy((void *)r.inputs, (const void *)inputs, num_inputs * sizeof *inputs);
        status = note_region(e, &r, found);
    }
    for (size_t k = 0; k < num_outputs; k++) {
        if (status == TSR_OK) {
            outputs[k] = found[k];
        } else if (e->scope == NULL) {
            tsr_tensor_release(found[k]);
        }
    }
    return status;
}

/* ---- ops of the program's own ---- */

typedef struct custom_op {
    tsr_custom_op op;
    size_t num_inputs;
    tsr_tensor *inputs[EAGER_MAX_OPERANDS]; /* one reference each */
} custom_op;

static void destroy_custom(eager *e, void *state)
{
    custom_op *o = state;
    for (size_t i = 0; i < o->num_inputs; i++) {
        tsr_tensor_release(o->inputs[i]);
    }
    if (o->op.destroy != NULL) {
        o->op.destroy(o->op.state);
    }
    (void)context_resize(e->world->ctx, o, sizeof *o, 0);
}

/* A gradient is of its input's shape and element type. */
static tsr_status check_own(const eager *e, const custom_op *o, const tsr_tensor *grad,
                            size_t index)
{
    if (grad == NULL) {
        return TSR_OK;
    }
    const op_type is = type_of_layout(grad->layout);
    const op_type should = type_of_layout(o->inputs[index]->layout);
    if (grad->world == o->inputs[index]->world && same_type(&is, &should)) {
        return TSR_OK;
    }
    return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s: its backward gave a gradient %s%s for input %zu, %s: a gradient has the "
                      "shape and element type of its input",
                      o->op.name, op_type_text(&is).text,
                      grad->world == o->inputs[index]->world ? "" : " of another world", index,
                      op_type_text(&should).text);
}

static tsr_status back_through_custom(eager *e, const tape_node *node,
                                      tsr_tensor *const *cotangents, tsr_tensor **grads)
{
    const custom_op *o = node->state;
    eager_scope *const scope = e->scope;
    const tape_guest guest = tape_enter(e);
    e->scope = NULL; /* what it gives is the tape's */
    tsr_status status = o->op.backward(e->world, o->op.state, o->inputs, cotangents, grads);
    e->scope = scope;
    status = tape_leave(e, guest, o->op.name, status);
    for (size_t i = 0; status == TSR_OK && i < o->num_inputs; i++) {
        status = check_own(e, o, grads[i], i);
    }
    return status;
}

static const tape_way custom_way = {.backward = back_through_custom, .destroy = destroy_custom};

/* Puts it on the tape; the state is the tape's then. */
static tsr_status note_own(eager *e, const tsr_custom_op *op, tsr_tensor *const *inputs,
                           size_t num_inputs, tsr_tensor *const *outputs, size_t num_outputs)
{
    custom_op *o = context_resize(e->world->ctx, NULL, 0, sizeof *o);
    if (o == NULL) {
        if (op->destroy != NULL) {
            op->destroy(op->state);
        }
        return diag_nomem(e->world->ctx);
    }
    *o = (custom_op){.op = *op, .num_inputs = num_inputs};
    for (size_t i = 0; i < num_inputs; i++) {
        o->inputs[i] = tsr_tensor_retain(inputs[i]);
    }
    const tsr_status status =
        tape_note_way(e, op->name, &custom_way, o, inputs, num_inputs, outputs, num_outputs);
    if (status < 0) {
        destroy_custom(e, o);
    }
    return status;
}

tsr_status tsr_tape_custom(const tsr_custom_op *op, tsr_tensor *const *inputs, size_t num_inputs,
                           tsr_tensor *const *outputs, size_t num_outputs)
{
    GUARD(tsr_tape_custom);
    eager *e = NULL;
    const bool fits =
        num_inputs > 0 && num_inputs <= EAGER_MAX_OPERANDS && num_outputs <= EAGER_MAX_OPERANDS;
    tsr_status status = fits ? eager_of(inputs[0]->world, &e) : TSR_ERR_INVALID;
    if (status == TSR_OK && tape_wants(e, inputs, num_inputs)) {
        return note_own(e, op, inputs, num_inputs, outputs, num_outputs);
    }
    if (op->destroy != NULL) {
        op->destroy(op->state);
    }
    return status;
}

/* ---- conversions ---- */

static void drop_conversion(eager *e, void *state)
{
    (void)e;
    tsr_conversion_release(state);
}

/* The cotangent is brought to the layout of the conversion's result, then goes back. */
static tsr_status back_through_conversion(eager *e, const tape_node *node,
                                          tsr_tensor *const *cotangents, tsr_tensor **grads)
{
    const tsr_conversion *record = node->state;
    tsr_tensor *laid_out = NULL;
    TSR_TRY(tsr_scope_open(e->world));
    tsr_status status =
        tsr_with_sharding(cotangents[0], tsr_conversion_destination(record), &laid_out);
    if (status == TSR_OK) {
        status = tsr_conversion_backward(record, laid_out, &grads[0]);
    }
    tsr_scope_close(e->world);
    return status;
}

static const tape_way conversion_way = {.backward = back_through_conversion,
                                        .destroy = drop_conversion};

tsr_status tsr_tape_conversion(tsr_tensor *from, tsr_tensor *to, tsr_conversion *record)
{
    GUARD(tsr_tape_conversion);
    eager *e = NULL;
    TSR_TRY(eager_of(from->world, &e));
    if (!tape_wants(e, &from, 1)) {
        tsr_conversion_release(record);
        return TSR_OK;
    }
    return tape_note_way(e, "tsr_tape_conversion", &conversion_way, record, &from, 1, &to, 1);
}
