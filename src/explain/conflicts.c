/* The conflicts of a tensor, and annotations that resolve them. */
#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "explain/explanation.h"

/* Each trial propagates the whole program. */
enum { MAX_TRIALS = 64 };

static bool same_tensor(tsr_ir_tensor a, tsr_ir_tensor b)
{
    return a.value == b.value && (a.value != 0 || (a.func == b.func && a.index == b.index));
}

/* Whether a conflict says something that no earlier one of its tensor says. */
static bool is_worth_telling(const tsr_explanation *e, uint32_t number)
{
    const tsr_conflict *c = &e->why.conflicts[number - 1];
    return c->kind != TSR_CONFLICT_BLOCKED && c->kind != TSR_CONFLICT_HELD &&
           c->kind != TSR_CONFLICT_ANNOTATED && !e->is_repeated[number - 1];
}

/* This conflict or the next one of the tensor that is wanted. */
static uint32_t conflict_from(const tsr_explanation *e, tsr_ir_tensor tensor, uint32_t number,
                              bool full)
{
    while (number != 0 && (!same_tensor(e->why.conflicts[number - 1].tensor, tensor) ||
                           !(full || is_worth_telling(e, number)))) {
        number = e->next_conflict[number - 1];
    }
    return number;
}

uint32_t first_conflict(const tsr_explanation *e, tsr_ir_tensor tensor, bool full)
{
    return conflict_from(e, tensor, e->first_conflict[tensor.value], full);
}

uint32_t next_conflict(const tsr_explanation *e, uint32_t after, bool full)
{
    return conflict_from(e, e->why.conflicts[after - 1].tensor, e->next_conflict[after - 1], full);
}

/* ---- suggestions ---- */

/* A suggestion that is looked for, with messages and memory of its own: a trial may fail. */
typedef struct trial {
    tsr_context *ctx;
    tsr_arena *arena;
    tsr_explanation *e;
    const tsr_conflict *conflict;
    tsr_ir_tensor target;
    const tsr_sharding *sharding;
    bool helps;
} trial;

/* Whether a dimension of a tensor has an axis, or a part of it. */
static tsr_status has_axis(trial *t, tsr_program *p)
{
    const tsr_conflict *c = t->conflict;
    const tsr_sharding *sharding = NULL;
    TSR_TRY(tsr_ir_tensor_sharding(t->ctx, p, c->tensor, &sharding));
    if (sharding == NULL || c->dim >= tsr_sharding_rank(sharding)) {
        return TSR_OK;
    }
    const tsr_dim *d = tsr_sharding_dim(sharding, c->dim);
    for (size_t i = 0; i < d->num_axes; i++) {
        t->helps = t->helps || tsr_axis_overlaps(d->axes[i], c->axis);
    }
    return TSR_OK;
}

/* Annotates a copy of the program as it was, propagates, and looks. */
static tsr_status try_it(trial *t)
{
    tsr_program *copy = NULL;
    tsr_provenance why;
    TSR_TRY(tsr_program_clone(t->ctx, t->e->original, &copy));
    tsr_status status = tsr_program_annotate(t->ctx, copy, t->target, t->sharding);
    if (status >= 0) {
        status = tsr_program_explain(t->ctx, t->arena, copy, t->e->until, &why);
    }
    if (status >= 0) {
        status = has_axis(t, copy);
    }
    tsr_program_destroy(copy);
    return status;
}

/* The annotation to try: the one that is in the way, or a new one, with the axis where it lacks. */
static tsr_status make_sharding(trial *t)
{
    const tsr_conflict *c = t->conflict;
    const tsr_provenance *why = &t->e->why;
    const tsr_program *p = t->e->program;
    const tsr_annotation *wanted = &why->annotations[why->steps[c->wanted].annotation];
    const tsr_annotation *own = c->annotation != 0 ? &why->annotations[c->annotation] : NULL;
    size_t rank = 0;
    const int64_t *shape = NULL;
    if (!tsr_ir_type_shape(p, tsr_ir_tensor_type(p, c->tensor), &rank, &shape) || c->dim >= rank) {
        return TSR_ERR_UNSUPPORTED;
    }
    tsr_dim *dims = ARENA_ARRAY(t->arena, tsr_dim, rank);
    if (dims == NULL) {
        return diag_nomem(t->ctx);
    }
    for (size_t d = 0; d < rank; d++) {
        dims[d] = own != NULL ? *tsr_sharding_dim(own->sharding, d) : tsr_dim_closed(NULL, 0);
        dims[d].open = dims[d].open || own == NULL;
    }
    dims[c->dim] = tsr_dim_closed(&c->axis, 1);
    dims[c->dim].open = true;
    const tsr_sharding_spec spec = {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): every step has an annotation */
        .mesh = tsr_sharding_mesh(wanted->sharding),
        .rank = rank,
        .dims = dims};
    return tsr_sharding_create(t->ctx, t->arena, &spec, TSR_SHARDING_DEFAULT, &t->sharding);
}

/* What to annotate: the constraint that is in the way, or the tensor itself. */
static tsr_ir_tensor target_of(const tsr_explanation *e, const tsr_conflict *c)
{
    const tsr_annotation *a = &e->why.annotations[c->annotation];
    return c->annotation != 0 && a->kind == TSR_ANNOTATION_CONSTRAINT
               ? (tsr_ir_tensor){.value = tsr_ir_op_result(e->program, a->op, 0)}
               : c->tensor;
}

/* Whether there may be a suggestion: the dimension is replicated, and something can be said. */
static tsr_status may_suggest(tsr_context *ctx, const tsr_explanation *e, const tsr_conflict *c,
                              tsr_ir_tensor target, bool *out)
{
    const tsr_sharding *sharding = NULL;
    const tsr_ir_value value = target.value;
    *out = false;
    if ((c->kind != TSR_CONFLICT_TAKEN && c->kind != TSR_CONFLICT_UNDECIDED &&
         c->kind != TSR_CONFLICT_CLOSED && c->kind != TSR_CONFLICT_REPLICATED) ||
        c->wanted == 0 || e->trials >= MAX_TRIALS ||
        (value != 0 && (value > e->num_names || e->names[value] == NULL))) {
        return TSR_OK;
    }
    TSR_TRY(tsr_ir_tensor_sharding(ctx, e->program, c->tensor, &sharding));
    *out = sharding == NULL || tsr_sharding_dim(sharding, c->dim)->num_axes == 0;
    return TSR_OK;
}

/* The texts of a suggestion that helps. */
static tsr_status write_suggestion(tsr_context *ctx, const trial *t, suggestion *out)
{
    teller tensor = {.ctx = ctx, .e = t->e, .out = buffer_new(t->e->arena)};
    tell_tensor(&tensor, t->target);
    TSR_TRY(tsr_sharding_print(ctx, t->e->arena, t->sharding, TSR_PRINT_BARE, &out->sharding));
    return buffer_finish(ctx, &tensor.out, &out->tensor);
}

/* What cannot be tried is not suggested; only memory that runs out is a failure. */
static tsr_status look_for(tsr_context *ctx, trial *t, suggestion *out)
{
    TSR_TRY(context_create_like(ctx, &t->ctx));
    tsr_status status = tsr_arena_create(t->ctx, &t->arena);
    if (status >= 0) {
        status = make_sharding(t);
    }
    if (status >= 0) {
        status = try_it(t);
    }
    status = status == TSR_ERR_NOMEM   ? diag_nomem(ctx)
             : status >= 0 && t->helps ? write_suggestion(ctx, t, out)
                                       : TSR_OK;
    tsr_arena_destroy(t->arena);
    tsr_context_destroy(t->ctx);
    return status;
}

tsr_status find_suggestion(tsr_context *ctx, tsr_explanation *e, uint32_t conflict,
                           const suggestion **out)
{
    const tsr_conflict *c = &e->why.conflicts[conflict - 1];
    suggestion *found = &e->suggestions[conflict - 1];
    trial t = {.e = e, .conflict = c, .target = target_of(e, c)};
    bool may = false;
    *out = found;
    if (found->known) {
        return TSR_OK;
    }
    TSR_TRY(may_suggest(ctx, e, c, t.target, &may));
    if (may) {
        e->trials++;
        TSR_TRY(look_for(ctx, &t, found));
    }
    found->known = true;
    return TSR_OK;
}
