/* Making an explanation: a program is propagated, and its text indexed. */
#include "explain/explanation.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/map.h"
#include "ir/program.h"

/* By place; of one place the outermost first, then by number. */
static int compare_ops(const void *a, const void *b)
{
    const text_op *x = a;
    const text_op *y = b;
    if (x->line != y->line) {
        return x->line < y->line ? -1 : 1;
    }
    if (x->column != y->column) {
        return x->column < y->column ? -1 : 1;
    }
    if (x->depth != y->depth) {
        return x->depth < y->depth ? -1 : 1;
    }
    return x->op < y->op ? -1 : x->op > y->op;
}

static size_t depth_of(const tsr_program *p, tsr_ir_op op)
{
    size_t depth = 0;
    for (tsr_ir_block block = tsr_ir_op_block(p, op); block != 0; block = tsr_ir_op_block(p, op)) {
        op = tsr_ir_region_parent(p, tsr_ir_block_parent(p, block));
        depth++;
    }
    return depth;
}

/*
 * Keeps one op of each place: the outermost, which holds what its short form stands for, and of
 * several the first, after which constraints were added. The results of the others have no names of
 * their own: they are called what that op is.
 */
static void drop_copies(tsr_explanation *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->num_ops; i++) {
        const text_op *op = &e->ops[i];
        const text_op *last = kept > 0 ? &e->ops[kept - 1] : NULL;
        if (last == NULL || last->line != op->line || last->column != op->column) {
            e->ops[kept++] = *op;
            continue;
        }
        for (size_t r = 0; r < tsr_ir_op_num_results(e->original, op->op); r++) {
            e->names[tsr_ir_op_result(e->original, op->op, r)] = NULL;
        }
    }
    e->num_ops = kept;
}

/* The names and places of the text. */
static tsr_status index_text(tsr_context *ctx, tsr_explanation *e)
{
    const size_t num_ops = tsr_program_num_ops(e->original);
    const char *const *names = NULL;
    TSR_TRY(tsr_program_written_names(ctx, e->arena, e->original, &names));
    e->num_names = tsr_program_num_values(e->original);
    e->names = arena_copy(e->arena, names, e->num_names + 1, sizeof *names);
    e->ops = ARENA_ARRAY(e->arena, text_op, num_ops + 1);
    if (e->names == NULL || e->ops == NULL) {
        return diag_nomem(ctx);
    }
    for (tsr_ir_op op = 1; op <= num_ops; op++) {
        text_op place = {.op = op};
        if (tsr_ir_op_position(e->original, op, &place.line, &place.column)) {
            place.depth = depth_of(e->original, op);
            e->ops[e->num_ops++] = place;
        }
    }
    qsort(e->ops, e->num_ops, sizeof *e->ops, compare_ops);
    drop_copies(e);
    return TSR_OK;
}

/* Which conflicts say what an earlier one of the same tensor, dimension and axis says. */
static tsr_status index_repeated(tsr_context *ctx, tsr_explanation *e)
{
    typedef struct about {
        int64_t tensor[3]; /* value, function, index */
        int64_t dim;
        int64_t axis[4];
    } about;
    const size_t count = e->why.num_conflicts;
    map seen = map_new(e->arena);
    about *keys = ARENA_ARRAY(e->arena, about, count + 1);
    bool *repeated = ARENA_ARRAY(e->arena, bool, count + 1);
    if (keys == NULL || repeated == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < count; i++) {
        const tsr_conflict *c = &e->why.conflicts[i];
        keys[i] =
            (about){.tensor = {c->tensor.value, c->tensor.value == 0 ? (int64_t)c->tensor.func : 0,
                               c->tensor.value == 0 ? (int64_t)c->tensor.index : 0},
                    .dim = (int64_t)c->dim,
                    .axis = {c->axis.axis, c->axis.is_sub, c->axis.is_sub ? c->axis.pre : 0,
                             c->axis.is_sub ? c->axis.size : 0}};
        uint64_t *times = map_insert(&seen, (const char *)&keys[i], sizeof keys[i]);
        if (times == NULL) {
            return diag_nomem(ctx);
        }
        repeated[i] = (*times)++ > 0;
    }
    e->is_repeated = repeated;
    return TSR_OK;
}

/* How long the path of each step is, and where its beginning ends: a step comes after its source.
 */
static tsr_status index_steps(tsr_context *ctx, tsr_explanation *e)
{
    const size_t count = e->why.num_steps;
    uint32_t *depths = ARENA_ARRAY(e->arena, uint32_t, count + 1);
    uint32_t *heads = ARENA_ARRAY(e->arena, uint32_t, count + 1);
    if (depths == NULL || heads == NULL) {
        return diag_nomem(ctx);
    }
    depths[0] = 0;
    heads[0] = 0;
    for (uint32_t i = 1; i <= count; i++) {
        const uint32_t from = e->why.steps[i].from;
        depths[i] = depths[from] + 1;
        heads[i] = depths[i] <= SHOWN_HOPS ? i : heads[from];
    }
    e->depths = depths;
    e->heads = heads;
    return TSR_OK;
}

static tsr_status index_conflicts(tsr_context *ctx, tsr_explanation *e)
{
    const size_t num_values = tsr_program_num_values(e->program);
    const size_t count = e->why.num_conflicts;
    uint32_t *first = ARENA_ARRAY(e->arena, uint32_t, num_values + 1);
    uint32_t *next = ARENA_ARRAY(e->arena, uint32_t, count + 1);
    e->suggestions = ARENA_ARRAY(e->arena, suggestion, count + 1);
    if (first == NULL || next == NULL || e->suggestions == NULL) {
        return diag_nomem(ctx);
    }
    memset(first, 0, (num_values + 1) * sizeof *first);
    memset(e->suggestions, 0, (count + 1) * sizeof *e->suggestions);
    for (size_t i = count; i > 0; i--) {
        const tsr_ir_value value = e->why.conflicts[i - 1].tensor.value;
        next[i - 1] = first[value];
        first[value] = (uint32_t)i;
    }
    e->first_conflict = first;
    e->next_conflict = next;
    return TSR_OK;
}

static tsr_status explain(tsr_context *ctx, const tsr_program *program, tsr_explanation *e)
{
    TSR_TRY(tsr_program_clone(ctx, program, &e->original));
    TSR_TRY(tsr_program_clone(ctx, program, &e->program));
    TSR_TRY(program_find_lines(e->original));
    TSR_TRY(program_find_lines(e->program));
    TSR_TRY(index_text(ctx, e));
    TSR_TRY(tsr_program_explain(ctx, e->arena, e->program, e->until, &e->why));
    e->main = tsr_program_main(e->original);
    TSR_TRY(index_steps(ctx, e));
    TSR_TRY(index_repeated(ctx, e));
    return index_conflicts(ctx, e);
}

tsr_status tsr_explanation_create(tsr_context *ctx, const tsr_program *program, int64_t until,
                                  tsr_explanation **out)
{
    GUARD(tsr_explanation_create);
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    tsr_explanation *e = ARENA_NEW(arena, tsr_explanation);
    if (e == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(ctx);
    }
    *e = (tsr_explanation){.arena = arena, .until = until};
    const tsr_status status = explain(ctx, program, e);
    if (status < 0) {
        tsr_explanation_destroy(e);
        return status;
    }
    *out = e;
    return TSR_OK;
}

void tsr_explanation_destroy(tsr_explanation *explanation)
{
    GUARD(tsr_explanation_destroy);
    if (explanation != NULL) {
        tsr_program_destroy(explanation->original);
        tsr_program_destroy(explanation->program);
        tsr_arena_destroy(explanation->arena);
    }
}

tsr_program *tsr_explanation_program(tsr_explanation *explanation)
{
    GUARD(tsr_explanation_program);
    return explanation->program;
}

const tsr_provenance *tsr_explanation_provenance(const tsr_explanation *explanation)
{
    GUARD(tsr_explanation_provenance);
    return &explanation->why;
}

tsr_status check_tensor(tsr_context *ctx, const tsr_explanation *e, tsr_ir_tensor tensor)
{
    if (tsr_ir_tensor_type(e->program, tensor) != 0) {
        return TSR_OK;
    }
    if (tensor.value != 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "unknown value number %lu; use a number from tsr_explanation_find",
                          (unsigned long)tensor.value);
    }
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "unknown result %zu of op number %lu; use numbers from tsr_explanation_find",
                      tensor.index, (unsigned long)tensor.func);
}
