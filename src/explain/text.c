/* What is known of one tensor, in words. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "explain/explanation.h"

/* The name of an op without its dialect, and its line. */
static void tell_op(teller *t, tsr_ir_op op)
{
    const char *name = written_op_name(t->e, op);
    const char *dot = strchr(name, '.');
    buffer_string(&t->out, dot != NULL ? dot + 1 : name);
    tell_line(t, written_line(t->e->program, op));
}

/* How an axis came: `by dot_general (line 4)`. */
static void tell_way(teller *t, const tsr_axis_step *step)
{
    switch (step->kind) {
    case TSR_AXIS_ANNOTATED:
        return;
    case TSR_AXIS_BY_OP:
    case TSR_AXIS_BY_EDGE:
        buffer_string(&t->out, step->kind == TSR_AXIS_BY_OP ? "by " : "around ");
        tell_op(t, step->op);
        return;
    case TSR_AXIS_BY_RETURN:
        buffer_string(&t->out, "by return");
        return;
    case TSR_AXIS_BY_GROUP:
        buffer_string(&t->out, "by their sharding group");
        return;
    }
}

/* An annotation with its line and sharding. */
static void tell_origin(teller *t, uint32_t annotation)
{
    tell_annotation(t, annotation);
    tell_line(t, line_of_annotation(t->e, annotation));
    buffer_string(&t->out, ", annotated ");
    if (annotation != 0) {
        tell_sharding(t, t->e->why.annotations[annotation].sharding);
    }
}

/* Steps from one that `step` comes from, `count` of them, to `step`. */
static void tell_hops(teller *t, uint32_t step, size_t count)
{
    const tsr_axis_step *steps = t->e->why.steps;
    uint32_t *path = ARENA_ARRAY(t->out.arena, uint32_t, count);
    size_t at = count;
    for (uint32_t i = step; at > 0 && path != NULL; i = steps[i].from) {
        path[--at] = i;
    }
    if (path == NULL) {
        t->out.failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const tsr_axis_step *hop = &steps[path[i]];
        buffer_string(&t->out, "      to ");
        tell_tensor(t, hop->tensor);
        buffer_format(&t->out, " dim %zu, ", hop->dim);
        tell_way(t, hop);
        buffer_char(&t->out, '\n');
    }
}

/* The path to a step, without the annotation that it begins with; of a long one both ends. */
static void tell_path(teller *t, uint32_t step)
{
    const size_t count = t->e->depths[step];
    if (t->style.full || count <= MAX_HOPS) {
        tell_hops(t, step, count - 1);
        return;
    }
    tell_hops(t, t->e->heads[step], SHOWN_HOPS - 1);
    buffer_format(&t->out, "      ... %zu more, all with --full\n",
                  count - (size_t)(2 * SHOWN_HOPS));
    tell_hops(t, step, SHOWN_HOPS);
}

/* The steps of a dimension. */
static void tell_axes(teller *t, tsr_ir_tensor tensor, size_t dim)
{
    const tsr_provenance *why = &t->e->why;
    for (uint32_t i = tsr_provenance_first(why, tensor); i != 0; i = why->steps[i].next) {
        const tsr_axis_step *step = &why->steps[i];
        if (step->dim == dim) {
            buffer_format(&t->out, "  dim %zu has ", dim);
            tell_axis(t, i, step->axis);
            buffer_string(&t->out, " from ");
            tell_origin(t, step->annotation);
            buffer_char(&t->out, '\n');
            tell_path(t, i);
        }
    }
}

/* Why the winner of a conflict won. */
static const char *rule_text(tsr_conflict_rule rule)
{
    static const char *const texts[] = {
        [TSR_RULE_NONE] = "",
        [TSR_RULE_ANNOTATION] = "it is annotated",
        [TSR_RULE_USER_PRIORITY] = "its annotation has an earlier priority",
        [TSR_RULE_OP_PRIORITY] = "it came through ops with an earlier priority",
        [TSR_RULE_LARGER] = "it is on the larger of the tensors that arrived at the same time",
        [TSR_RULE_FIRST] = "it arrived first"};
    return texts[rule];
}

/* What a kind of conflict says by itself; of some an annotation follows. */
static const char *kind_text(tsr_conflict_kind kind)
{
    static const char *const texts[] = {
        [TSR_CONFLICT_CLOSED] = "the dimension is closed by ",
        [TSR_CONFLICT_REPLICATED] = "it is replicated or pending by ",
        [TSR_CONFLICT_RAGGED] = "the dimension has explicit sizes by ",
        [TSR_CONFLICT_SIZES] = "only elementwise ops and transposes propagate explicit sizes",
        [TSR_CONFLICT_INDIVISIBLE] = "it does not divide the rest of the dimension",
        [TSR_CONFLICT_HELD] = "operands of an elementwise op get at most the axes of its result",
        [TSR_CONFLICT_BLOCKED] = "the op does not propagate axes along this dimension",
        [TSR_CONFLICT_MESHES] = "the tensors of the op are on several meshes",
        [TSR_CONFLICT_ANNOTATED] = NULL};
    return texts[kind] != NULL ? texts[kind] : "";
}

/* What the winner of a conflict has, where there is one. */
static void tell_winner(teller *t, const tsr_conflict *c)
{
    const tsr_axis_step *won = &t->e->why.steps[c->winner];
    switch (c->kind) {
    case TSR_CONFLICT_TAKEN:
        buffer_format(&t->out, "it is on dim %zu already", won->dim);
        return;
    case TSR_CONFLICT_DISAGREE:
        buffer_string(&t->out, "there is ");
        tell_axis(t, c->winner, won->axis);
        buffer_string(&t->out, " already");
        return;
    case TSR_CONFLICT_UNDECIDED:
        tell_tensor(t, won->tensor);
        buffer_string(&t->out, " wants ");
        tell_axis(t, c->winner, won->axis);
        buffer_string(&t->out, " there");
        return;
    default:
        buffer_string(&t->out, kind_text(c->kind));
        return;
    }
}

void tell_reason(teller *t, const tsr_conflict *c)
{
    if (c->kind == TSR_CONFLICT_ANNOTATED) {
        buffer_string(&t->out, "what ");
        tell_op(t, c->op);
        buffer_string(&t->out, " requires is not applied: the value has its own annotation");
        return;
    }
    tell_winner(t, c);
    if (c->annotation != 0) {
        tell_origin(t, c->annotation);
    }
    if (c->winner != 0) {
        buffer_string(&t->out, ", from ");
        tell_origin(t, t->e->why.steps[c->winner].annotation);
        if (c->rule != TSR_RULE_NONE && c->kind != TSR_CONFLICT_UNDECIDED) {
            buffer_format(&t->out, "; %s", rule_text(c->rule));
        }
    }
}

static tsr_status tell_conflict(teller *t, uint32_t number)
{
    const tsr_conflict *c = &t->e->why.conflicts[number - 1];
    if (c->kind == TSR_CONFLICT_ANNOTATED) {
        buffer_string(&t->out, "  ");
        tell_reason(t, c);
        buffer_char(&t->out, '\n');
        return TSR_OK;
    }
    buffer_format(&t->out, "  dim %zu stays without ", c->dim);
    tell_axis(t, c->wanted, c->axis);
    if (c->wanted != 0) {
        buffer_string(&t->out, ", which ");
        tell_op(t, c->op);
        buffer_string(&t->out, " has on ");
        tell_tensor(t, t->e->why.steps[c->wanted].tensor);
    }
    buffer_string(&t->out, ":\n      ");
    tell_reason(t, c);
    buffer_char(&t->out, '\n');
    const suggestion *found = NULL;
    if (t->style.skip_suggestions) {
        return TSR_OK;
    }
    TSR_TRY(find_suggestion(t->ctx, t->e, number, &found));
    if (found->tensor != NULL) {
        buffer_format(&t->out, "      to have it there, annotate %s with %s\n", found->tensor,
                      found->sharding);
    }
    return TSR_OK;
}

/* The name, the type and the sharding. */
static tsr_status tell_heading(teller *t, tsr_ir_tensor tensor)
{
    tsr_program *p = t->e->program;
    const char *type = NULL;
    const tsr_sharding *sharding = NULL;
    TSR_TRY(tsr_ir_type_to_text(t->ctx, t->out.arena, p, tsr_ir_tensor_type(p, tensor), &type));
    TSR_TRY(tsr_ir_tensor_sharding(t->ctx, p, tensor, &sharding));
    tell_tensor(t, tensor);
    tell_line(t, line_of_tensor(t->e, tensor));
    buffer_format(&t->out, ": %s ", type);
    tell_sharding(t, sharding);
    buffer_char(&t->out, '\n');
    return TSR_OK;
}

tsr_status tsr_explanation_text(tsr_context *ctx, tsr_arena *arena, tsr_explanation *explanation,
                                tsr_ir_tensor tensor, const tsr_explain_style *style,
                                const char **out)
{
    GUARD(tsr_explanation_text);
    teller t = {.ctx = ctx, .e = explanation, .out = buffer_new(arena)};
    const tsr_program *p = explanation->program;
    size_t rank = 0;
    const int64_t *shape = NULL;
    t.style = style != NULL ? *style : (tsr_explain_style){0};
    TSR_TRY(check_tensor(ctx, explanation, tensor));
    TSR_TRY(tell_heading(&t, tensor));
    (void)tsr_ir_type_shape(p, tsr_ir_tensor_type(p, tensor), &rank, &shape);
    for (size_t d = 0; d < rank; d++) {
        tell_axes(&t, tensor, d);
    }
    for (uint32_t i = first_conflict(explanation, tensor, t.style.full); i != 0;
         i = next_conflict(explanation, i, t.style.full)) {
        TSR_TRY(tell_conflict(&t, i));
    }
    return buffer_finish(ctx, &t.out, out);
}
