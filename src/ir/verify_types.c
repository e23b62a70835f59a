/* The hooks of `ops` on the types of program ops: shapes that cannot be are refused. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "ir/params.h"
#include "ir/verify.h"

struct type_checker {
    tsr_context *ctx; /* of the hooks: their messages have no location */
    tsr_arena *arena;
    const op_row **rows; /* by op name */
    uint32_t count;
};

tsr_status type_checker_create(tsr_context *ctx, const tsr_program *p, type_checker **out)
{
    type_checker *c = ARENA_NEW(p->scratch, type_checker);
    if (c == NULL) {
        return diag_nomem(ctx);
    }
    *c = (type_checker){.count = p->op_names.count};
    c->rows = ARENA_ARRAY(p->scratch, const op_row *, c->count);
    if (c->rows == NULL) {
        return diag_nomem(ctx);
    }
    memset(c->rows, 0, c->count * sizeof *c->rows);
    TSR_TRY(context_create_like(ctx, &c->ctx));
    const tsr_status status = tsr_arena_create(c->ctx, &c->arena);
    if (status < 0) {
        tsr_context_destroy(c->ctx);
        return diag_nomem(ctx);
    }
    for (uint32_t op = 1; op < p->ops.count; op++) {
        const uint32_t name = program_op(p, op)->name;
        if (c->rows[name] == NULL) {
            c->rows[name] = ir_op_row(p, op);
        }
    }
    *out = c;
    return TSR_OK;
}

void type_checker_destroy(type_checker *c)
{
    if (c != NULL) {
        tsr_arena_destroy(c->arena);
        tsr_context_destroy(c->ctx);
    }
}

/* All operands and results have one type: elementwise, nothing to ask. */
static bool is_uniform(const tsr_program *p, uint32_t op)
{
    const ir_op *record = program_op(p, op);
    for (uint32_t i = 0; i < record->num_operands; i++) {
        if (value_type(p, op_operand(p, op, i)) != value_type(p, record->results)) {
            return false;
        }
    }
    return true;
}

/* What a hook said, without the name that it starts with. */
static tsr_status report(tsr_context *ctx, const tsr_program *p, uint32_t op, type_checker *c)
{
    const tsr_diagnostic *d = tsr_context_diagnostics(c->ctx);
    const char *text = d != NULL ? d->text : "the types of operands do not fit";
    const size_t size = strlen(op_name(p, op));
    if (strncmp(text, op_name(p, op), size) == 0 && strncmp(text + size, ": ", 2) == 0) {
        text += size + 2;
    }
    const tsr_status status = op_error(ctx, p, op, "%s", text);
    tsr_context_clear(c->ctx);
    return status;
}

static tsr_status compare_results(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                  const ir_request *request, const op_type *inferred)
{
    for (size_t i = 0; i < request->num_results; i++) {
        if (!op_shapes_agree(&inferred[i], &request->results[i])) {
            return op_error(ctx, p, op, "result #%zu has the type %s, but the operands give %s", i,
                            op_type_text(&request->results[i]).text,
                            op_type_text(&inferred[i]).text);
        }
    }
    return TSR_OK;
}

static tsr_status check(tsr_context *ctx, const tsr_program *p, uint32_t op, type_checker *c)
{
    ir_request request;
    const op_row *row = c->rows[program_op(p, op)->name];
    tsr_status status = ir_request_make(c->ctx, c->arena, p, op, row, &request);
    if (status == TSR_NOT_APPLICABLE) {
        return TSR_OK;
    }
    op_type *inferred = status < 0 ? NULL : ARENA_ARRAY(c->arena, op_type, request.num_results + 1);
    if (inferred == NULL) {
        return diag_nomem(ctx);
    }
    status = row->types(&request.request, inferred);
    if (status == TSR_ERR_NOMEM) {
        return diag_nomem(ctx);
    }
    if (status == TSR_ERR_UNSUPPORTED) {
        tsr_context_clear(c->ctx);
        return TSR_OK;
    }
    return status < 0 ? report(ctx, p, op, c) : compare_results(ctx, p, op, &request, inferred);
}

tsr_status verify_op_types(tsr_context *ctx, const tsr_program *p, uint32_t op, type_checker *c)
{
    const uint32_t name = program_op(p, op)->name;
    if (name >= c->count || c->rows[name] == NULL || program_op(p, op)->num_results == 0 ||
        ((c->rows[name]->traits & OP_ELEMENTWISE) != 0 && is_uniform(p, op))) {
        return TSR_OK;
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(c->arena);
    const tsr_status status = check(ctx, p, op, c);
    tsr_arena_reset(c->arena, mark);
    return status;
}
