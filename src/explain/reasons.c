/* What is known of one tensor, as records. */
#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "explain/explanation.h"

/* The text told since the last one; allocated in the arena. */
static tsr_status finish(teller *t, const char **out)
{
    TSR_TRY(buffer_finish(t->ctx, &t->out, out));
    t->out = buffer_new(t->out.arena);
    return TSR_OK;
}

static tsr_status tensor_text(teller *t, tsr_ir_tensor tensor, const char **out)
{
    tell_tensor(t, tensor);
    return finish(t, out);
}

static tsr_status axis_text(teller *t, uint32_t step, tsr_axis_ref axis, const char **out)
{
    tell_axis(t, step, axis);
    return finish(t, out);
}

static tsr_status describe_annotation(teller *t, uint32_t number, tsr_annotation_words *out)
{
    const tsr_annotation *a = &t->e->why.annotations[number];
    *out = (tsr_annotation_words){0};
    if (number == 0) {
        return TSR_OK;
    }
    *out = (tsr_annotation_words){.number = number,
                                  .kind = a->kind,
                                  .index = a->index,
                                  .line = line_of_annotation(t->e, number)};
    tell_annotation(t, number);
    TSR_TRY(finish(t, &out->name));
    tell_sharding(t, a->sharding);
    return finish(t, &out->sharding);
}

static tsr_status describe_step(teller *t, uint32_t step, tsr_axis_hop *out)
{
    const tsr_explanation *e = t->e;
    const tsr_axis_step *s = &e->why.steps[step];
    *out = (tsr_axis_hop){.kind = s->kind,
                          .dim = s->dim,
                          .op = s->op != 0 ? written_op_name(e, s->op) : NULL,
                          .line = written_line(e->program, s->op),
                          .from = s->from};
    return tensor_text(t, s->tensor, &out->tensor);
}

/* The hops from a step back to its annotation, that one last. */
static tsr_status describe_path(teller *t, uint32_t step, tsr_axis_reason *out)
{
    const tsr_explanation *e = t->e;
    size_t count = 0;
    for (uint32_t i = step; i != 0; i = e->why.steps[i].from) {
        count++;
    }
    tsr_axis_hop *hops = ARENA_ARRAY(t->out.arena, tsr_axis_hop, count);
    if (hops == NULL) {
        return diag_nomem(t->ctx);
    }
    out->path = hops;
    for (uint32_t i = step; i != 0; i = e->why.steps[i].from) {
        TSR_TRY(describe_step(t, i, &hops[out->num_hops++]));
    }
    return TSR_OK;
}

static tsr_status describe_axes(teller *t, tsr_ir_tensor tensor, tsr_tensor_reasons *out)
{
    const tsr_provenance *why = &t->e->why;
    size_t count = 0;
    for (uint32_t i = tsr_provenance_first(why, tensor); i != 0; i = why->steps[i].next) {
        count++;
    }
    tsr_axis_reason *axes = ARENA_ARRAY(t->out.arena, tsr_axis_reason, count);
    if (axes == NULL) {
        return diag_nomem(t->ctx);
    }
    out->axes = axes;
    for (uint32_t i = tsr_provenance_first(why, tensor); i != 0; i = why->steps[i].next) {
        const tsr_axis_step *step = &why->steps[i];
        tsr_axis_reason *axis = &axes[out->num_axes++];
        *axis = (tsr_axis_reason){.dim = step->dim, .step = i};
        TSR_TRY(axis_text(t, i, step->axis, &axis->axis));
        TSR_TRY(describe_annotation(t, step->annotation, &axis->annotation));
        if (!t->style.no_paths) {
            TSR_TRY(describe_path(t, i, axis));
        }
    }
    return TSR_OK;
}

/* A step as one side of a conflict. */
static tsr_status describe_side(teller *t, uint32_t step, tsr_conflict_side *out)
{
    const tsr_axis_step *s = &t->e->why.steps[step];
    *out = (tsr_conflict_side){0};
    if (step == 0) {
        return TSR_OK;
    }
    out->dim = s->dim;
    TSR_TRY(tensor_text(t, s->tensor, &out->tensor));
    TSR_TRY(axis_text(t, step, s->axis, &out->axis));
    return describe_annotation(t, s->annotation, &out->annotation);
}

static tsr_status describe_conflict(teller *t, uint32_t number, tsr_conflict_reason *out)
{
    const tsr_explanation *e = t->e;
    const tsr_conflict *c = &e->why.conflicts[number - 1];
    *out = (tsr_conflict_reason){.kind = c->kind,
                                 .rule = c->rule,
                                 .dim = c->dim,
                                 .op = c->op != 0 ? written_op_name(e, c->op) : NULL,
                                 .line = written_line(e->program, c->op)};
    TSR_TRY(axis_text(t, c->wanted, c->axis, &out->axis));
    TSR_TRY(describe_side(t, c->wanted, &out->wanted));
    TSR_TRY(describe_side(t, c->winner, &out->winner));
    TSR_TRY(describe_annotation(t, c->annotation, &out->annotation));
    tell_reason(t, c);
    TSR_TRY(finish(t, &out->reason));
    if (!t->style.skip_suggestions) {
        const suggestion *found = NULL;
        TSR_TRY(find_suggestion(t->ctx, t->e, number, &found));
        out->suggested_tensor = found->tensor;
        out->suggested_sharding = found->sharding;
    }
    return TSR_OK;
}

static tsr_status describe_conflicts(teller *t, tsr_ir_tensor tensor, tsr_tensor_reasons *out)
{
    const tsr_explanation *e = t->e;
    const bool full = t->style.full;
    size_t count = 0;
    for (uint32_t i = first_conflict(e, tensor, full); i != 0; i = next_conflict(e, i, full)) {
        count++;
    }
    tsr_conflict_reason *conflicts = ARENA_ARRAY(t->out.arena, tsr_conflict_reason, count);
    if (conflicts == NULL) {
        return diag_nomem(t->ctx);
    }
    out->conflicts = conflicts;
    for (uint32_t i = first_conflict(e, tensor, full); i != 0; i = next_conflict(e, i, full)) {
        TSR_TRY(describe_conflict(t, i, &conflicts[out->num_conflicts++]));
    }
    return TSR_OK;
}

tsr_status tsr_explanation_reasons(tsr_context *ctx, tsr_arena *arena, tsr_explanation *explanation,
                                   tsr_ir_tensor tensor, const tsr_explain_style *style,
                                   tsr_tensor_reasons *out)
{
    GUARD(tsr_explanation_reasons);
    teller t = {.ctx = ctx, .e = explanation, .out = buffer_new(arena)};
    tsr_program *p = explanation->program;
    tsr_tensor_reasons reasons = {.line = 0};
    const tsr_sharding *sharding = NULL;
    t.style = style != NULL ? *style : (tsr_explain_style){0};
    TSR_TRY(check_tensor(ctx, explanation, tensor));
    reasons.line = line_of_tensor(explanation, tensor);
    TSR_TRY(tensor_text(&t, tensor, &reasons.tensor));
    TSR_TRY(tsr_ir_type_to_text(ctx, arena, p, tsr_ir_tensor_type(p, tensor), &reasons.type));
    TSR_TRY(tsr_ir_tensor_sharding(ctx, p, tensor, &sharding));
    tell_sharding(&t, sharding);
    TSR_TRY(finish(&t, &reasons.sharding));
    TSR_TRY(describe_axes(&t, tensor, &reasons));
    TSR_TRY(describe_conflicts(&t, tensor, &reasons));
    *out = reasons;
    return TSR_OK;
}

tsr_status tsr_explanation_step(tsr_context *ctx, tsr_arena *arena, tsr_explanation *explanation,
                                uint32_t step, tsr_axis_hop *out)
{
    GUARD(tsr_explanation_step);
    teller t = {.ctx = ctx, .e = explanation, .out = buffer_new(arena)};
    tsr_axis_hop hop;
    if (step == 0 || step > explanation->why.num_steps) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_explanation_step: step %lu is not one of 1 to %zu",
                          (unsigned long)step, explanation->why.num_steps);
    }
    TSR_TRY(describe_step(&t, step, &hop));
    *out = hop;
    return TSR_OK;
}
