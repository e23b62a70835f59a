/* The types of an op's results by the table of local rules, axis by axis. */
#include "spmd/infer.h"

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "spmd/view.h"

static verdict fails(const char *why)
{
    return (verdict){.why = why};
}

static verdict gives(tsr_local_type kind, tsr_reduction partial)
{
    return (verdict){.fine = true, .type = {kind, kind == TSR_P ? partial : TSR_SUM}};
}

static tsr_op_class class_of(const tsr_typed_call *call, size_t operand, tsr_reduction pending)
{
    return call->class_of != NULL ? call->class_of(call->state, operand, pending) : TSR_NONLINEAR;
}

/* How often each kind is among the operands. */
typedef struct census {
    size_t count[TSR_P + 1];
    size_t numbers;
    tsr_reduction pending;
    bool mixed; /* different reductions are pending */
} census;

static census count_kinds(const tsr_typed_call *call, const axis_operand *operands,
                          const bool *present)
{
    census c = {.pending = TSR_SUM};
    for (size_t i = 0; i < call->num_operands; i++) {
        const tsr_axis_type type = operands[i].type;
        if (present != NULL && !present[i]) {
            continue;
        }
        if (operands[i].number) {
            c.numbers++;
            continue;
        }
        if (type.kind == TSR_P) {
            c.mixed = c.mixed || (c.count[TSR_P] > 0 && c.pending != type.partial);
            c.pending = type.partial;
        }
        c.count[type.kind]++;
    }
    return c;
}

/*
 * Operands that are linear together: the reduction is pending in all of them. What is the same on
 * every rank may be among them only if reducing it gives itself, as an average does and a sum does
 * not.
 */
static const char *check_joint(const tsr_typed_call *call, const axis_operand *operands,
                               const bool *present, tsr_reduction pending)
{
    if (pending == TSR_AVG || pending == TSR_MAX || pending == TSR_MIN) {
        return NULL;
    }
    for (size_t i = 0; i < call->num_operands; i++) {
        const bool silent = !operands[i].number && operands[i].type.kind == TSR_UNTYPED;
        const bool pends = !operands[i].number && operands[i].type.kind == TSR_P;
        if ((present == NULL || present[i]) && !silent && !pends &&
            class_of(call, i, pending) == TSR_LINEAR) {
            return operands[i].number ? "the number would be added once per rank"
                                      : "the replicated operand would be added once per rank";
        }
    }
    return NULL;
}

/* The rules where something is pending; the others are R or numbers. */
static verdict infer_pending(const tsr_typed_call *call, const axis_operand *operands,
                             const bool *present, const census *c)
{
    bool joint = false;
    bool single = false;
    for (size_t i = 0; i < call->num_operands; i++) {
        if ((present != NULL && !present[i]) || operands[i].number ||
            operands[i].type.kind != TSR_P) {
            continue;
        }
        switch (class_of(call, i, c->pending)) {
        case TSR_NONLINEAR:
            return fails("the op does not commute with the pending reduction: applied to the "
                         "summands it does not give summands of the result");
        case TSR_LINEAR:
            joint = true;
            break;
        case TSR_MULTILINEAR:
            single = true;
            break;
        }
    }
    if (single && c->count[TSR_P] > 1) {
        return fails("a product of pending sums is not the sum of the products");
    }
    const char *why = joint ? check_joint(call, operands, present, c->pending) : NULL;
    return why != NULL ? fails(why) : gives(TSR_P, c->pending);
}

/* The table of local rules. An operand without a type along the axis says nothing about it. */
static verdict infer_kinds(const tsr_typed_call *call, const axis_operand *operands,
                           const bool *present)
{
    census c = count_kinds(call, operands, present);
    const size_t typed = c.count[TSR_R] + c.count[TSR_I] + c.count[TSR_V] + c.count[TSR_P];
    if (call->class_of == NULL || typed == 0) {
        return gives(TSR_UNTYPED, TSR_SUM);
    }
    if (c.count[TSR_UNTYPED] > 0 && call->strict) {
        return fails("an operand has no type there while others do, and checks are strict");
    }
    if (call->mix_invariant && c.count[TSR_I] < typed) {
        c.count[TSR_R] += c.count[TSR_I];
        c.count[TSR_I] = 0;
    }
    if (c.count[TSR_I] > 0) {
        return c.count[TSR_I] == typed
                   ? gives(TSR_I, TSR_SUM)
                   : fails(
                         "an invariant operand does not mix with others: its gradient must be the "
                         "same on every rank, and would need a sum");
    }
    if (c.count[TSR_P] == 0) {
        return gives(c.count[TSR_V] > 0 ? TSR_V : TSR_R, TSR_SUM);
    }
    if (c.count[TSR_V] > 0) {
        return fails("a pending reduction does not mix with a value that varies: the result would "
                     "be neither");
    }
    if (c.mixed) {
        return fails("different reductions are pending");
    }
    return infer_pending(call, operands, present, &c);
}

/* out_partial_axes, where the axis is not global: what varies is declared pending. */
static verdict apply_out_partial(const tsr_typed_call *call, size_t axis, verdict v)
{
    if (!v.fine || !axis_in_set(call->out_partial, axis) || axis_in_set(call->global, axis)) {
        return v;
    }
    if (v.type.kind == TSR_V) {
        return gives(TSR_P, call->reduction);
    }
    return v.type.kind == TSR_P ? v
                                : fails("it is given as partial, but every rank has the same value "
                                        "along it: the value would be counted once per rank");
}

verdict infer_axis(const tsr_typed_call *call, size_t axis, const axis_operand *operands,
                   const bool *present)
{
    const verdict v = apply_out_partial(call, axis, infer_kinds(call, operands, present));
    if (v.fine && v.type.kind == TSR_UNTYPED && call->strict && present == NULL &&
        axis_in_set(call->required, axis)) {
        return fails("no operand has a type there, and checks are strict");
    }
    return v;
}

void operands_along(const tsr_typed_call *call, size_t axis, axis_operand *out)
{
    for (size_t i = 0; i < call->num_operands; i++) {
        const tsr_type *type = call->operands[i].type;
        out[i] = (axis_operand){.number = type == NULL};
        if (type != NULL) {
            out[i].type = type->axes[axis];
        }
    }
}

/* ---- errors ---- */

tsr_status infer_error(inference *inf, size_t axis, const char *why)
{
    const tsr_typed_call *call = inf->call;
    buffer buf = buffer_new(inf->arena);
    const char *operands;
    if (inf->quiet) {
        return TSR_ERR_INVALID;
    }
    for (size_t i = 0; i < call->num_operands; i++) {
        buffer_string(&buf, i > 0 ? ", " : "");
        if (call->operand_names != NULL) {
            buffer_format(&buf, "%s ", call->operand_names[i]);
        }
        spmd_print_typed(&buf, &call->operands[i]);
    }
    TSR_TRY(buffer_finish(inf->ctx, &buf, &operands));
    const char *name = call->name != NULL ? call->name : "an op";
    return axis != SIZE_MAX ? SPMD_ERROR(inf->ctx, "%s(%s) along axis %s: %s", name, operands,
                                         tsr_mesh_axis_name(call->mesh, axis), why)
                            : SPMD_ERROR(inf->ctx, "%s(%s): %s", name, operands, why);
}

/* How a program would write a fix: `tsr_all_reduce(operand 1, "tp", TSR_AS(P), TSR_AS(R), ..)`. */
static tsr_status fix_text(const inference *inf, const tsr_fix *fix, const char **out)
{
    const char *const *names = inf->call->operand_names;
    buffer value = buffer_new(inf->arena);
    buffer buf = buffer_new(inf->arena);
    const char *which;
    if (names != NULL && !fix->all) {
        buffer_string(&value, names[fix->operand]);
    } else {
        buffer_format(&value, "%s%zu", fix->all ? "each such operand from " : "operand ",
                      fix->operand);
    }
    TSR_TRY(buffer_finish(inf->ctx, &value, &which));
    spmd_print_call(&buf, &fix->call, which, tsr_mesh_axis_name(inf->call->mesh, fix->axis));
    return buffer_finish(inf->ctx, &buf, out);
}

/* The fixes as notes of the error just made. */
static tsr_status add_notes(inference *inf)
{
    const tsr_fix *fixes;
    size_t count;
    TSR_TRY(find_fixes(inf->ctx, inf->arena, inf->call, inf->bad_axis, &fixes, &count));
    for (size_t i = 0; i < count; i++) {
        const char *text;
        TSR_TRY(fix_text(inf, &fixes[i], &text));
        (void)diag_note(inf->ctx, NO_LOCATION, "%s would do: %s", text, fixes[i].cost);
    }
    return TSR_OK;
}

/* ---- the whole check ---- */

static tsr_status infer_axes(inference *inf)
{
    const tsr_typed_call *call = inf->call;
    axis_operand *operands = ARENA_ARRAY(inf->arena, axis_operand, call->num_operands);
    if (operands == NULL) {
        return diag_nomem(inf->ctx);
    }
    for (size_t a = 0; a < tsr_mesh_num_axes(call->mesh); a++) {
        operands_along(call, a, operands);
        const verdict v = infer_axis(call, a, operands, NULL);
        if (!v.fine) {
            inf->bad_axis = a;
            return infer_error(inf, a, v.why);
        }
        inf->axes[a] = v.type;
        inf->has_global = inf->has_global || axis_in_set(call->global, a);
    }
    return TSR_OK;
}

static tsr_status check_operands(inference *inf)
{
    const tsr_typed_call *call = inf->call;
    bool typed = false;
    for (size_t i = 0; i < call->num_operands; i++) {
        const tsr_type *type = call->operands[i].type;
        for (size_t a = 0; type != NULL && a < tsr_mesh_num_axes(call->mesh); a++) {
            typed = typed || type->axes[a].kind != TSR_UNTYPED;
        }
    }
    if (call->class_of == NULL && call->strict && typed) {
        return infer_error(
            inf, SIZE_MAX,
            "the op is not registered, so its result type is unknown, and checks are strict");
    }
    return TSR_OK;
}

tsr_status infer_call(inference *inf, const tsr_type **results)
{
    inf->bad_axis = SIZE_MAX;
    inf->num_results = inf->call->rule != NULL ? tsr_rule_num_results(inf->call->rule) : 1;
    inf->axes = ARENA_ARRAY(inf->arena, tsr_axis_type, tsr_mesh_num_axes(inf->call->mesh));
    if (inf->axes == NULL) {
        return diag_nomem(inf->ctx);
    }
    TSR_TRY(check_operands(inf));
    TSR_TRY(infer_axes(inf));
    if (inf->has_global) {
        return infer_specs(inf, results);
    }
    const tsr_type_spec spec = {.mesh = inf->call->mesh, .axes = inf->axes};
    for (size_t r = 0; r < inf->num_results; r++) {
        TSR_TRY(tsr_type_create(inf->ctx, inf->arena, &spec, &results[r]));
    }
    return TSR_OK;
}

tsr_status infer_meet(tsr_context *ctx, tsr_arena *arena, const tsr_typed_call *call,
                      tsr_typed_call *out)
{
    const size_t n = call->num_operands;
    const tsr_type **types = ARENA_ARRAY(arena, const tsr_type *, n);
    tsr_typed_shape *operands = arena_copy(arena, call->operands, n, sizeof *operands);
    if (types == NULL || operands == NULL) {
        return diag_nomem(ctx);
    }
    *out = *call;
    for (size_t i = 0; i < n; i++) {
        types[i] = operands[i].type;
    }
    const tsr_status status = spmd_meet(ctx, arena, call->mesh, types, n, NULL, 0, &out->mesh);
    if (status == TSR_ERR_INVALID) {
        (void)diag_note(ctx, NO_LOCATION, "in a call of %s",
                        call->name != NULL ? call->name : "an op");
    }
    TSR_TRY(status);
    for (size_t i = 0; i < n; i++) {
        operands[i].type = types[i];
    }
    out->operands = operands;
    out->global = spmd_map_axes(call->mesh, call->global, out->mesh);
    out->out_partial = spmd_map_axes(call->mesh, call->out_partial, out->mesh);
    out->required = spmd_map_axes(call->mesh, call->required, out->mesh);
    return TSR_OK;
}

tsr_status tsr_type_infer(tsr_context *ctx, tsr_arena *arena, const tsr_typed_call *call,
                          const tsr_type **results)
{
    GUARD(tsr_type_infer);
    tsr_typed_call met;
    inference inf = {.ctx = ctx, .arena = arena, .call = &met};
    TSR_TRY(infer_meet(ctx, arena, call, &met));
    const tsr_status status = infer_call(&inf, results);
    if (status == TSR_ERR_INVALID && inf.bad_axis != SIZE_MAX && !call->no_fixes) {
        TSR_TRY(add_notes(&inf));
    }
    TSR_TRY(status);
    for (size_t r = 0; met.mesh != call->mesh && r < inf.num_results; r++) {
        TSR_TRY(spmd_join(ctx, arena, call->mesh, results[r], &results[r]));
    }
    return TSR_OK;
}
