/* A program propagated with reasons: names, conflicts and suggestions. */
#include <string.h>

#include <tessera/pass.h>

#include "command.h"
#include "explain.h"
#include "progress.h"

enum { MOST_TRIALS = 64 };

/* ---- opening ---- */

static void index_conflicts(struct explained *e)
{
    const size_t num_values = tsr_program_num_values(e->program);
    uint32_t *first = session_alloc(e->session, num_values + 1, sizeof *first);
    uint32_t *next = session_alloc(e->session, e->why.num_conflicts + 1, sizeof *next);
    for (size_t i = e->why.num_conflicts; i > 0; i--) {
        const tsr_ir_value value = e->why.conflicts[i - 1].tensor.value; /* 0: results */
        next[i - 1] = first[value];
        first[value] = (uint32_t)i;
    }
    e->first_conflict = first;
    e->next_conflict = next;
}

int explained_open(struct session *session, const char *file, const struct annotations *annotations,
                   int64_t until, struct explained *out)
{
    *out = (struct explained){.session = session, .until = until};
    int code = program_read(session, file, &out->program);
    if (code == EXIT_FINE) {
        code = text_values_collect(session, out->program, &out->values);
    }
    if (code == EXIT_FINE) {
        code = annotations_apply(session, annotations, out->program);
    }
    if (code != EXIT_FINE) {
        return code;
    }
    progress_stage("propagating");
    tsr_status status = tsr_program_clone(session->ctx, out->program, &out->original);
    if (status >= 0) {
        status = tsr_program_explain(session->ctx, session->arena, out->program, until, &out->why);
    }
    progress_stage(NULL);
    if (status < 0) {
        return session_fail(session, status);
    }
    print_warnings(session);
    tsr_context_clear(session->ctx); /* trials warn of the same */
    out->main = main_of(out->original);
    index_conflicts(out);
    return EXIT_FINE;
}

void explained_close(struct explained *e)
{
    tsr_program_destroy(e->original);
    tsr_program_destroy(e->program);
}

/* ---- names ---- */

/* `@main` of a function. */
static const char *func_name(const struct explained *e, tsr_ir_op func)
{
    const char *text = "\"?\"";
    const tsr_ir_attr name = tsr_ir_op_attribute(e->program, func, "sym_name");
    if (name != 0 &&
        tsr_ir_attr_to_text(e->session->ctx, e->session->arena, e->program, name, &text) < 0) {
        text = "\"?\"";
    }
    return session_format(e->session, "@%.*s", (int)strlen(text) - 2, text + 1);
}

/* The function that holds an op, of the program as it was read; 0: none does. */
static tsr_ir_op func_around(const tsr_program *p, tsr_ir_op op)
{
    while (op != 0 && strcmp(tsr_ir_op_name(p, op), "func.func") != 0) {
        const tsr_ir_block block = tsr_ir_op_block(p, op);
        op = block != 0 ? tsr_ir_region_parent(p, tsr_ir_block_parent(p, block)) : 0;
    }
    return op;
}

/* The function in which the text defines a value; 0: it does not. */
static tsr_ir_op func_of_value(const struct explained *e, tsr_ir_value value)
{
    const tsr_ir_value original = text_value_of(&e->values, e->program, value);
    if (original == 0) {
        return 0;
    }
    const tsr_ir_op op = tsr_ir_value_op(e->original, original);
    if (op != 0) {
        return func_around(e->original, op);
    }
    const tsr_ir_block block = tsr_ir_value_block(e->original, original);
    return func_around(e->original,
                       tsr_ir_region_parent(e->original, tsr_ir_block_parent(e->original, block)));
}

const char *op_name_of(const struct explained *e, tsr_ir_op op)
{
    const tsr_ir_op original = text_op_of(&e->values, e->program, op);
    return original != 0 ? tsr_ir_op_name(e->original, original) : tsr_ir_op_name(e->program, op);
}

const char *tensor_name(const struct explained *e, tsr_ir_tensor tensor)
{
    if (tensor.value != 0) {
        const char *name = text_name_of(&e->values, e->program, tensor.value);
        const tsr_ir_op func = func_of_value(e, tensor.value);
        return func == 0 || func == e->main
                   ? name
                   : session_format(e->session, "%s of %s", name, func_name(e, func));
    }
    return session_format(e->session, "result %zu of %s", tensor.index, func_name(e, tensor.func));
}

int64_t tensor_line(const struct explained *e, tsr_ir_tensor tensor)
{
    tsr_ir_op op = tensor.func;
    if (tensor.value != 0) {
        op = tsr_ir_value_op(e->program, tensor.value);
        if (op == 0) {
            const tsr_ir_block block = tsr_ir_value_block(e->program, tensor.value);
            op = tsr_ir_region_parent(e->program, tsr_ir_block_parent(e->program, block));
        }
    }
    return place_of_op(e->program, op).line;
}

int tensor_sharding_text(const struct explained *e, tsr_ir_tensor tensor, const char **out)
{
    const tsr_sharding *sharding = NULL;
    *out = "none";
    tsr_status status = tsr_ir_tensor_sharding(e->session->ctx, e->program, tensor, &sharding);
    if (status >= 0 && sharding != NULL) {
        status =
            tsr_sharding_print(e->session->ctx, e->session->arena, sharding, TSR_PRINT_BARE, out);
    }
    return status < 0 ? session_fail(e->session, status) : EXIT_FINE;
}

int64_t annotation_line(const struct explained *e, uint32_t number)
{
    return number != 0 ? place_of_op(e->program, e->why.annotations[number].op).line : 0;
}

const char *annotation_name(const struct explained *e, uint32_t number)
{
    const tsr_annotation *a = &e->why.annotations[number];
    struct session *s = e->session;
    if (number == 0) {
        return "?";
    }
    switch (a->kind) {
    case TSR_ANNOTATION_ARGUMENT:
        return session_format(s, "argument %zu of %s", a->index, func_name(e, a->op));
    case TSR_ANNOTATION_RESULT:
        return session_format(s, "result %zu of %s", a->index, func_name(e, a->op));
    case TSR_ANNOTATION_CONSTRAINT:
        return session_format(
            s, "the constraint %s",
            text_name_of(&e->values, e->program, tsr_ir_op_result(e->program, a->op, 0)));
    case TSR_ANNOTATION_INPUT:
        return session_format(s, "input %zu of %s", a->index, op_name_of(e, a->op));
    case TSR_ANNOTATION_OUTPUT:
        return session_format(s, "output %zu of %s", a->index, op_name_of(e, a->op));
    case TSR_ANNOTATION_OP:
        return session_format(s, "result %zu of %s", a->index, op_name_of(e, a->op));
    }
    return "?";
}

const char *axis_label(const struct explained *e, uint32_t step, tsr_axis_ref axis)
{
    const tsr_annotation *a = &e->why.annotations[e->why.steps[step].annotation];
    if (step == 0 || a->sharding == NULL) {
        return "?";
    }
    const char *name = tsr_mesh_axis_name(tsr_sharding_mesh(a->sharding), (size_t)axis.axis);
    return axis.is_sub ? session_format(e->session, "\"%s\":(%lld)%lld", name, (long long)axis.pre,
                                        (long long)axis.size)
                       : session_format(e->session, "\"%s\"", name);
}

/* ---- conflicts ---- */

const char *rule_text(tsr_conflict_rule rule)
{
    switch (rule) {
    case TSR_RULE_NONE:
        break;
    case TSR_RULE_ANNOTATION:
        return "it is annotated";
    case TSR_RULE_USER_PRIORITY:
        return "its annotation has an earlier priority";
    case TSR_RULE_OP_PRIORITY:
        return "it came through ops of an earlier priority";
    case TSR_RULE_LARGER:
        return "of what came at once, it is of the larger tensor";
    case TSR_RULE_FIRST:
        return "it came first";
    }
    return "";
}

static bool same_tensor(tsr_ir_tensor a, tsr_ir_tensor b)
{
    return a.value == b.value && (a.value != 0 || (a.func == b.func && a.index == b.index));
}

/* Whether a conflict says something that no earlier one of its tensor says. */
static bool is_worth_telling(const struct explained *e, uint32_t number)
{
    const tsr_conflict *c = &e->why.conflicts[number - 1];
    if (e->details) {
        return true;
    }
    if (c->kind == TSR_CONFLICT_BLOCKED || c->kind == TSR_CONFLICT_HELD ||
        c->kind == TSR_CONFLICT_ANNOTATED) {
        return false;
    }
    for (uint32_t i = e->first_conflict[c->tensor.value]; i != number;
         i = e->next_conflict[i - 1]) {
        const tsr_conflict *other = &e->why.conflicts[i - 1];
        if (same_tensor(other->tensor, c->tensor) && other->dim == c->dim &&
            tsr_axis_equal(other->axis, c->axis)) {
            return false;
        }
    }
    return true;
}

/* This conflict or the next one of the tensor that is worth telling. */
static uint32_t conflict_from(const struct explained *e, tsr_ir_tensor tensor, uint32_t number)
{
    while (number != 0 && (!same_tensor(e->why.conflicts[number - 1].tensor, tensor) ||
                           !is_worth_telling(e, number))) {
        number = e->next_conflict[number - 1];
    }
    return number;
}

uint32_t first_conflict(const struct explained *e, tsr_ir_tensor tensor)
{
    return conflict_from(e, tensor, e->first_conflict[tensor.value]);
}

uint32_t next_conflict(const struct explained *e, uint32_t after)
{
    return conflict_from(e, e->why.conflicts[after - 1].tensor, e->next_conflict[after - 1]);
}

/* ---- suggestions ---- */

/* Whether a dimension of a tensor has an axis, or a part of it. */
static tsr_status has_axis(struct explained *e, tsr_program *p, tsr_ir_tensor tensor, size_t dim,
                           tsr_axis_ref axis, bool *out)
{
    const tsr_sharding *sharding = NULL;
    const tsr_status status = tsr_ir_tensor_sharding(e->session->ctx, p, tensor, &sharding);
    *out = false;
    if (status < 0 || sharding == NULL || dim >= tsr_sharding_rank(sharding)) {
        return status;
    }
    const tsr_dim *d = tsr_sharding_dim(sharding, dim);
    for (size_t i = 0; i < d->num_axes; i++) {
        *out = *out || tsr_axis_overlaps(d->axes[i], axis);
    }
    return TSR_OK;
}

/* Annotates a copy of the program as it was, propagates, and looks. */
static tsr_status try_it(struct explained *e, const tsr_conflict *c, tsr_ir_tensor target,
                         const tsr_sharding *sharding, bool *helps)
{
    struct session *s = e->session;
    tsr_program *trial = NULL;
    tsr_provenance why;
    tsr_status status = tsr_program_clone(s->ctx, e->original, &trial);
    if (status >= 0) {
        status = tsr_program_annotate(s->ctx, trial, target, sharding);
    }
    if (status >= 0) {
        status = tsr_program_explain(s->ctx, s->arena, trial, e->until, &why);
    }
    if (status >= 0) {
        status = has_axis(e, trial, c->tensor, c->dim, c->axis, helps);
    }
    tsr_program_destroy(trial);
    tsr_context_clear(s->ctx);
    return status;
}

/* The annotation to try: the one that is in the way, or a new one, with the axis where it lacks. */
static tsr_status make_sharding(struct explained *e, const tsr_conflict *c,
                                const tsr_sharding **out)
{
    struct session *s = e->session;
    const tsr_annotation *wanted = &e->why.annotations[e->why.steps[c->wanted].annotation];
    const tsr_annotation *own = c->annotation != 0 ? &e->why.annotations[c->annotation] : NULL;
    size_t rank = 0;
    const int64_t *shape = NULL;
    (void)tsr_ir_type_shape(e->program, tsr_ir_tensor_type(e->program, c->tensor), &rank, &shape);
    tsr_dim *dims = session_alloc(s, rank + 1, sizeof *dims);
    tsr_axis_ref *axis = session_alloc(s, 1, sizeof *axis);
    *axis = c->axis;
    for (size_t d = 0; d < rank; d++) {
        dims[d] = own != NULL ? *tsr_sharding_dim(own->sharding, d) : tsr_dim_closed(NULL, 0);
        dims[d].open = dims[d].open || own == NULL;
    }
    dims[c->dim] = tsr_dim_closed(axis, 1);
    dims[c->dim].open = true;
    const tsr_sharding_spec spec = {
        .mesh = tsr_sharding_mesh(wanted->sharding), .rank = rank, .dims = dims};
    return tsr_sharding_create(s->ctx, s->arena, &spec, TSR_SHARDING_DEFAULT, out);
}

/* What to annotate: the constraint that is in the way, or the tensor itself. */
static tsr_ir_tensor target_of(const struct explained *e, const tsr_conflict *c)
{
    const tsr_annotation *a = &e->why.annotations[c->annotation];
    return c->annotation != 0 && a->kind == TSR_ANNOTATION_CONSTRAINT
               ? (tsr_ir_tensor){.value = tsr_ir_op_result(e->program, a->op, 0)}
               : c->tensor;
}

/* Whether there may be a suggestion: the dimension is replicated, and something can be said. */
static bool may_suggest(const struct explained *e, const tsr_conflict *c, tsr_ir_tensor target)
{
    const tsr_sharding *sharding = NULL;
    const tsr_ir_value value = target.value;
    if ((c->kind != TSR_CONFLICT_TAKEN && c->kind != TSR_CONFLICT_UNDECIDED &&
         c->kind != TSR_CONFLICT_CLOSED && c->kind != TSR_CONFLICT_REPLICATED) ||
        c->wanted == 0 || e->trials >= MOST_TRIALS ||
        (value != 0 && (value > e->values.num_names || e->values.names[value] == NULL))) {
        return false;
    }
    return tsr_ir_tensor_sharding(e->session->ctx, e->program, c->tensor, &sharding) >= 0 &&
           (sharding == NULL || tsr_sharding_dim(sharding, c->dim)->num_axes == 0);
}

void suggestion_for(struct explained *e, const tsr_conflict *c, struct suggestion *out)
{
    const tsr_sharding *sharding = NULL;
    const tsr_ir_tensor target = target_of(e, c);
    const char *text = NULL;
    bool helps = false;
    *out = (struct suggestion){0};
    if (!may_suggest(e, c, target)) {
        return;
    }
    e->trials++;
    tsr_status status = make_sharding(e, c, &sharding);
    if (status >= 0) {
        status = try_it(e, c, target, sharding, &helps);
    }
    if (status >= 0 && helps) {
        status =
            tsr_sharding_print(e->session->ctx, e->session->arena, sharding, TSR_PRINT_BARE, &text);
    }
    if (status >= 0 && helps) { /* what cannot be tried is not suggested */
        *out = (struct suggestion){.tensor = tensor_name(e, target), .sharding = text};
    }
}
