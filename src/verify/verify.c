/*
 * Verification of programs, in the order of MLIR's verifier: an op, then what is inside it; ops
 * that use nothing from outside after all others of their body; then dominance; then symbols.
 *
 * A program that was verified before is only looked at where it changed (verify_changed.c).
 */
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "ir/changes.h"
#include "ir/shardings.h"
#include "verify/verify_parts.h"

/* ---- the walk ---- */

typedef struct verifier {
    tsr_context *ctx;
    tsr_program *p;
    uint32_t *order; /* of each op in its block */
    type_checker *types;
    ir_array deferred; /* ops that use nothing from outside, of the bodies that are open */
} verifier;

static tsr_status verify_isolated(verifier *v, uint32_t op);

static tsr_status verify_op(verifier *v, uint32_t op);

static tsr_status verify_block(verifier *v, uint32_t op, uint32_t block)
{
    for (uint32_t inner = program_block(v->p, block)->first_op; inner != 0;
         inner = program_op(v->p, inner)->next) {
        const ir_row *its = program_row(v->p, inner);
        if (its != NULL && (its->traits & IR_ISOLATED) != 0 &&
            program_op(v->p, inner)->num_regions > 0) {
            TSR_TRY(ir_array_reserve(v->ctx, &v->deferred, sizeof inner, 1));
            ((uint32_t *)v->deferred.items)[v->deferred.count++] = inner;
        } else {
            TSR_TRY(verify_op(v, inner));
        }
    }
    return verify_terminator(v->ctx, v->p, op, block);
}

static tsr_status verify_op(verifier *v, uint32_t op)
{
    const uint32_t first = v->deferred.count;
    const ir_row *row = program_row(v->p, op);
    const tsr_arena_mark mark = tsr_arena_get_mark(v->p->scratch);
    TSR_TRY(verify_entrance(v->ctx, v->p, op, v->types));
    tsr_arena_reset(v->p->scratch, mark);
    for (uint32_t i = 0; i < program_op(v->p, op)->num_regions; i++) {
        for (uint32_t b = op_entry_block(v->p, op, i); b != 0; b = program_block(v->p, b)->next) {
            TSR_TRY(verify_block(v, op, b));
        }
    }
    const bool is_isolated = row != NULL && (row->traits & IR_ISOLATED) != 0;
    const uint32_t last = v->deferred.count;
    for (uint32_t i = first; is_isolated && i < last; i++) {
        TSR_TRY(verify_isolated(v, ((const uint32_t *)v->deferred.items)[i]));
    }
    if (is_isolated) {
        v->deferred.count = first;
    }
    TSR_TRY(verify_exit(v->ctx, v->p, op, v->types));
    tsr_arena_reset(v->p->scratch, mark);
    return TSR_OK;
}

/* Isolation and dominance of everything in an isolated op, but for what isolated ops in it have. */
static tsr_status verify_uses(verifier *v, uint32_t op, uint32_t around, bool isolation)
{
    const tsr_program *p = v->p;
    for (uint32_t r = 0; r < program_op(p, op)->num_regions; r++) {
        for (uint32_t b = op_entry_block(p, op, r); b != 0; b = program_block(p, b)->next) {
            for (uint32_t inner = program_block(p, b)->first_op; inner != 0;
                 inner = program_op(p, inner)->next) {
                TSR_TRY(isolation ? verify_isolation(v->ctx, p, around, inner)
                                  : verify_dominance(v->ctx, p, v->order, inner));
                const ir_row *row = program_row(p, inner);
                if (program_op(p, inner)->num_regions > 0 &&
                    (row == NULL || (row->traits & IR_ISOLATED) == 0)) {
                    TSR_TRY(verify_uses(v, inner, around, isolation));
                }
            }
        }
    }
    return TSR_OK;
}

static tsr_status verify_isolated(verifier *v, uint32_t op)
{
    TSR_TRY(verify_op(v, op));
    TSR_TRY(verify_uses(v, op, op, true));
    return verify_uses(v, op, op, false);
}

/* ---- symbols ---- */

/* Ops of a region in order, then the regions inside it, the last one first. */
static tsr_status verify_symbols(tsr_context *ctx, tsr_program *p, ir_array *stack)
{
    while (stack->count > 0) {
        const uint32_t region = ((const uint32_t *)stack->items)[--stack->count];
        for (uint32_t b = program_region(p, region)->first_block; b != 0;
             b = program_block(p, b)->next) {
            for (uint32_t op = program_block(p, b)->first_op; op != 0;
                 op = program_op(p, op)->next) {
                const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
                TSR_TRY(verify_op_symbols(ctx, p, op));
                tsr_arena_reset(p->scratch, mark);
                for (uint32_t i = 0; i < program_op(p, op)->num_regions; i++) {
                    TSR_TRY(ir_array_reserve(ctx, stack, sizeof(uint32_t), 1));
                    ((uint32_t *)stack->items)[stack->count++] = op_region_at(p, op, i);
                }
            }
        }
    }
    return TSR_OK;
}

static tsr_status verify_all_symbols(tsr_context *ctx, tsr_program *p)
{
    ir_array stack = {0};
    TSR_TRY(verify_op_symbols(ctx, p, p->module));
    TSR_TRY(ir_array_reserve(ctx, &stack, sizeof(uint32_t), 1));
    ((uint32_t *)stack.items)[stack.count++] = op_region_at(p, p->module, 0);
    const tsr_status status = verify_symbols(ctx, p, &stack);
    ir_array_free(ctx, &stack, sizeof(uint32_t));
    return status;
}

static tsr_status verify_module(tsr_context *ctx, tsr_program *p)
{
    verifier v = {.ctx = ctx, .p = p};
    const size_t bytes = p->ops.count * sizeof *v.order;
    v.order = context_resize(ctx, NULL, 0, bytes);
    if (v.order == NULL) {
        return diag_nomem(ctx);
    }
    memset(v.order, 0, bytes);
    tsr_status status = type_checker_create(ctx, p, &v.types);
    if (status >= 0) {
        status = verify_isolated(&v, p->module);
    }
    type_checker_destroy(v.types);
    context_resize(ctx, v.order, bytes, 0);
    ir_array_free(ctx, &v.deferred, sizeof(uint32_t));
    return status < 0 ? status : verify_all_symbols(ctx, p);
}

/* ---- the program ---- */

tsr_status verify_all(tsr_context *ctx, tsr_program *p)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
    changes_forget(p);
    ir_shardings_drop(p);
    const tsr_status status = verify_module(ctx, p);
    tsr_arena_reset(p->scratch, mark);
    return status;
}

tsr_status tsr_program_verify(tsr_context *ctx, tsr_program *program)
{
    GUARD(tsr_program_verify);
    tsr_status status = TSR_ERR_INVALID;
    if (!op_is(program, program->module, OP_BUILTIN_MODULE)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "the program has no module");
    }
    if (program->changes.is_known && (program->changes.subjects & CHANGED_MESHES) == 0) {
        status = verify_changed(ctx, program);
    }
    if (status == TSR_ERR_INVALID) {
        status = verify_all(ctx, program);
    }
    if (status >= 0) {
        changes_begin(program);
    }
    return status;
}
