/*
 * The types of program ops: constraints and traits by the row of check.h, then the rules of the
 * op, by the hook `types` of `ops` where it has one. What an op infers is compared after its
 * regions.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "ir/params.h"
#include "verify/check.h"
#include "verify/verify.h"

struct type_checker {
    tsr_context *ctx; /* of the hooks: their messages have no location */
    tsr_arena *arena;
    uint64_t *fits; /* by type: the constraints that it is known to satisfy */
    uint32_t num_types;
    bool no_memory; /* for what a check needs */
};

tsr_status type_checker_create(tsr_context *ctx, const tsr_program *p, type_checker **out)
{
    type_checker *c = ARENA_NEW(p->scratch, type_checker);
    if (c == NULL) {
        return diag_nomem(ctx);
    }
    *c = (type_checker){.num_types = p->types.count};
    c->fits = ARENA_ARRAY(p->scratch, uint64_t, c->num_types);
    if (c->fits == NULL) {
        return diag_nomem(ctx);
    }
    memset(c->fits, 0, c->num_types * sizeof *c->fits);
    TSR_TRY(context_create_like(ctx, &c->ctx));
    const tsr_status status = tsr_arena_create(c->ctx, &c->arena);
    if (status < 0) {
        tsr_context_destroy(c->ctx);
        return diag_nomem(ctx);
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

/* ---- constraints ---- */

static bool fits(const ir_check *k, int constraint, uint32_t type)
{
    const uint64_t bit = UINT64_C(1) << constraint;
    if (type < k->checker->num_types && (k->checker->fits[type] & bit) != 0) {
        return true;
    }
    if (!constraint_fits(k->p, constraint, type)) {
        return false;
    }
    if (type < k->checker->num_types) {
        k->checker->fits[type] |= bit;
    }
    return true;
}

static tsr_status refuse_type(const ir_check *k, const char *what, size_t i, int constraint,
                              uint32_t type)
{
    char text[MAX_TEXT_OF_CONSTRAINT];
    constraint_text(constraint, text, sizeof text);
    return op_error(k->ctx, k->p, k->op, "%s #%zu must be %s, but got '%s'", what, i, text,
                    type_words(k, type));
}

/* The constraint of an operand: the last of the row stands for the rest, unless traits say more. */
static int operand_constraint(const ir_check *k, size_t i, size_t count, size_t listed)
{
    const uint8_t *list = k->row->operands;
    if ((k->row->traits & CHECK_TAIL) != 0) {
        return list[i + 1 == count ? 1 : 0];
    }
    if ((k->row->traits & CHECK_MIDDLE) != 0) {
        return list[i == (count - 1) / 2 ? 1 : 0];
    }
    return list[i < listed ? i : listed - 1];
}

static size_t count_constraints(const uint8_t *list, size_t most)
{
    size_t n = 0;
    while (n < most && list[n] != 0) {
        n++;
    }
    return n;
}

static tsr_status check_constraints(const ir_check *k)
{
    const size_t operands = count_constraints(k->row->operands, MAX_CONSTRAINTS);
    const size_t results = count_constraints(k->row->results, 3);
    const size_t n = num_operands(k);
    for (size_t i = 0; operands > 0 && i < n; i++) {
        const int constraint = operand_constraint(k, i, n, operands);
        if (!fits(k, constraint, operand_type(k, i))) {
            return refuse_type(k, "operand", i, constraint, operand_type(k, i));
        }
    }
    for (size_t i = 0; results > 0 && i < num_results(k); i++) {
        const int constraint = k->row->results[i < results ? i : results - 1];
        if (!fits(k, constraint, result_type(k, i))) {
            return refuse_type(k, "result", i, constraint, result_type(k, i));
        }
    }
    return TSR_OK;
}

/* ---- hooks ---- */

/* What a hook said, without the name that it starts with. */
static tsr_status report(const ir_check *k)
{
    const tsr_diagnostic *d = tsr_context_diagnostics(k->checker->ctx);
    const char *text = d != NULL ? d->text : "the operand types are not supported";
    const size_t size = strlen(op_name(k->p, k->op));
    if (strncmp(text, op_name(k->p, k->op), size) == 0 && strncmp(text + size, ": ", 2) == 0) {
        text += size + 2;
    }
    const tsr_status status = refuse(k, "%s", text);
    tsr_context_clear(k->checker->ctx);
    return status;
}

/* Asks the hook; TSR_NOT_APPLICABLE when there is none for these types. */
static tsr_status ask_hook(const ir_check *k, ir_request *request, op_type **inferred)
{
    type_checker *c = k->checker;
    const op_row *row = ir_op_row(k->p, k->op);
    tsr_status status = ir_request_make(c->ctx, c->arena, k->p, k->op, row, request);
    if (status == TSR_NOT_APPLICABLE) {
        return status;
    }
    *inferred = status < 0 ? NULL : ARENA_ARRAY(c->arena, op_type, request->num_results + 1);
    if (*inferred == NULL) {
        return diag_nomem(k->ctx);
    }
    status = row->types(&request->request, *inferred);
    if (status == TSR_ERR_NOMEM) {
        return diag_nomem(k->ctx);
    }
    if (status == TSR_ERR_UNSUPPORTED) {
        tsr_context_clear(c->ctx);
        return TSR_NOT_APPLICABLE;
    }
    return status < 0 ? report(k) : TSR_OK;
}

/* Compares what the hook inferred with the results; all that is made is allocated in the arena. */
static tsr_status compare_with_hook(const ir_check *k)
{
    ir_request request;
    op_type *inferred = NULL;
    const tsr_status status = ask_hook(k, &request, &inferred);
    if (status != TSR_OK) {
        return status == TSR_NOT_APPLICABLE ? TSR_OK : status;
    }
    bool same = true;
    for (size_t i = 0; same && i < request.num_results; i++) {
        same = op_shapes_agree(&inferred[i], &request.results[i]) &&
               inferred[i].dtype == request.results[i].dtype;
    }
    if (same) {
        return TSR_OK;
    }
    inferred_types types = {0};
    for (size_t i = 0; i < request.num_results; i++) {
        uint32_t type = 0;
        TSR_TRY(ir_type_from_op(k->p, &inferred[i], &type));
        TSR_TRY(infer_one(k, type, &types));
    }
    return refuse_types(k, types_words(k, types.types, types.count));
}

static tsr_status with_arena(const ir_check *k, tsr_status (*ask)(const ir_check *k))
{
    const tsr_arena_mark mark = tsr_arena_get_mark(k->checker->arena);
    const tsr_status status = ask(k);
    tsr_arena_reset(k->checker->arena, mark);
    return status;
}

static tsr_status only_ask(const ir_check *k)
{
    ir_request request;
    op_type *inferred = NULL;
    const tsr_status status = ask_hook(k, &request, &inferred);
    return status == TSR_NOT_APPLICABLE ? TSR_OK : status;
}

static tsr_status compare_shape(const ir_check *k)
{
    ir_request request;
    op_type *inferred = NULL;
    const tsr_status status = ask_hook(k, &request, &inferred);
    if (status != TSR_OK) {
        return status == TSR_NOT_APPLICABLE ? TSR_OK : status;
    }
    return op_shapes_agree(&inferred[0], &request.results[0])
               ? TSR_OK
               : refuse(k,
                        "inferred shape '[%s]' is incompatible with return type of operation '%s'",
                        words_of_extents(inferred[0].shape, inferred[0].rank).text,
                        type_words(k, result_type(k, 0)));
}

tsr_status ask_row(const ir_check *k, const op_row *row, const void *params, size_t num_operands,
                   const op_type *operands, op_type *results)
{
    const op_request request = {.ctx = k->checker->ctx,
                                .arena = k->p->scratch,
                                .call = op_name(k->p, k->op),
                                .row = row,
                                .params = params,
                                .num_operands = num_operands,
                                .operands = operands,
                                .mixes_dtypes = true};
    const tsr_status status = row->types(&request, results);
    if (status == TSR_ERR_NOMEM) {
        return diag_nomem(k->ctx);
    }
    return status < 0 ? report(k) : TSR_OK;
}

tsr_status check_by_hook(const ir_check *k)
{
    return with_arena(k, only_ask);
}

tsr_status check_shape_by_hook(const ir_check *k)
{
    return with_arena(k, compare_shape);
}

/* A mark in rows: the hook itself is compared, without types of the program being made. */
tsr_status infer_by_hook(const ir_check *k, inferred_types *out)
{
    (void)out;
    return with_arena(k, compare_with_hook);
}

/* ---- the checks of one op ---- */

/* What there is to check of an op; false when nothing is known of it. */
static bool check_of(tsr_context *ctx, tsr_program *p, uint32_t op, type_checker *c, ir_check *out)
{
    *out = (ir_check){
        .ctx = ctx, .p = p, .op = op, .row = check_row_of(op_kind_of(p, op)), .checker = c};
    return out->row != NULL;
}

static tsr_status check_types(const ir_check *k)
{
    TSR_TRY(check_constraints(k));
    if (k->row->invariants != NULL) {
        TSR_TRY(k->row->invariants(k));
    }
    TSR_TRY(check_row_traits(k));
    return k->row->verify != NULL ? k->row->verify(k) : TSR_OK;
}

static tsr_status check_inference(const ir_check *k)
{
    inferred_types inferred = {0};
    TSR_TRY(k->row->infer(k, &inferred));
    return k->row->infer == infer_by_hook ? TSR_OK : compare_inferred(k, &inferred);
}

void check_lacks_memory(const ir_check *k)
{
    k->checker->no_memory = true;
}

/* What was found without memory does not count. */
static tsr_status with_memory(const ir_check *k, tsr_status status)
{
    return k->checker->no_memory ? diag_nomem(k->ctx) : status;
}

tsr_status verify_op_types(tsr_context *ctx, tsr_program *p, uint32_t op, type_checker *c)
{
    ir_check k;
    return check_of(ctx, p, op, c, &k) ? with_memory(&k, check_types(&k)) : TSR_OK;
}

tsr_status verify_op_inference(tsr_context *ctx, tsr_program *p, uint32_t op, type_checker *c)
{
    ir_check k;
    if (!check_of(ctx, p, op, c, &k) || k.row->infer == NULL) {
        return TSR_OK;
    }
    k.inferring = true;
    return with_memory(&k, check_inference(&k));
}
