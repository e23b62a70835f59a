#include "propagate/state.h"

#include <string.h>

#include "base/arena.h"
#include "verify/verify.h"

/* Shapes that propagation cannot work with. */
static tsr_status check_results(propagation *s, uint32_t op)
{
    const tsr_program *p = s->w.p;
    for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
        const uint32_t type = value_type(p, op_result(p, op, i));
        const type_kind kind = program_type(p, type)->kind;
        if (kind == TYPE_TUPLE) {
            return error_at_op(s->w.ctx, p, op, "Shardy propagation doesn't support tuples: %s",
                               type_string(s->w.ctx, p, type));
        }
        if (kind == TYPE_UNRANKED || (kind == TYPE_TENSOR && !type_is_static(p, type))) {
            return error_at_op(s->w.ctx, p, op,
                               "Shardy propagation only supports ranked tensors with a static "
                               "shape. type: %s",
                               type_string(s->w.ctx, p, type));
        }
    }
    return TSR_OK;
}

static tsr_status check_shapes(propagation *s)
{
    const tsr_program *p = s->w.p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        TSR_TRY(check_results(s, op));
    }
    return TSR_OK;
}

/* Room for the rules of all ops. */
static tsr_status make_rules(propagation *s)
{
    const tsr_program *p = s->w.p;
    s->num_ops = p->ops.count;
    s->names = ARENA_ARRAY(s->w.arena, name_info, p->op_names.count);
    s->rules = ARENA_ARRAY(s->w.arena, op_rule, s->num_ops);
    if (s->names == NULL || s->rules == NULL) {
        return diag_nomem(s->w.ctx);
    }
    memset(s->names, 0, p->op_names.count * sizeof *s->names);
    memset(s->rules, 0, s->num_ops * sizeof *s->rules);
    return TSR_OK;
}

static tsr_status make_places(propagation *s)
{
    TSR_TRY(check_shapes(s));
    TSR_TRY(calls_load(s));
    return places_load(s);
}

tsr_status rules_start(tsr_context *ctx, tsr_program *p, const prop_options *options,
                       propagation *out)
{
    *out = (propagation){.options = options, .level = -1};
    TSR_TRY(workspace_start(ctx, p, &out->w));
    const tsr_status status = make_rules(out);
    if (status < 0) {
        propagation_end(out);
    }
    return status;
}

tsr_status propagation_start(tsr_context *ctx, tsr_program *p, const prop_options *options,
                             propagation *out)
{
    TSR_TRY(rules_start(ctx, p, options, out));
    const tsr_status status = make_places(out);
    if (status < 0) {
        propagation_end(out);
    }
    return status;
}

void propagation_end(propagation *s)
{
    workspace_end(&s->w);
}
