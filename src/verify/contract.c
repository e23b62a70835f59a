#include "verify/contract.h"

#include <string.h>

#include "base/arena.h"
#include "ir/edit.h"
#include "ir/function.h"
#include "verify/verify.h"

/* ---- shardings ---- */

/* A walk over all shardings: what was looked at once is not looked at again. */
typedef struct sharding_walk {
    tsr_context *ctx;
    tsr_program *p;
    uint32_t op;
    uint8_t *seen; /* by attribute: shardings, their lists, dictionaries */
    /* What is wrong with a sharding, as printf takes it with the sharding; NULL: nothing. */
    const char *(*problem)(const sharding_text *text);
} sharding_walk;

static tsr_status check_sharding(sharding_walk *w, uint32_t attr)
{
    const sharding_text *text = NULL;
    TSR_TRY(sharding_written(w->ctx, w->p, w->op, attr, &text));
    const char *problem = w->problem(text);
    return problem == NULL ? TSR_OK
                           : op_error(w->ctx, w->p, w->op, "has the sharding %s, %s",
                                      attr_string_of(w->ctx, w->p, attr), problem);
}

/* A dictionary, an array of them, a list of shardings or a sharding. */
static tsr_status check_attr(sharding_walk *w, uint32_t attr)
{
    if (attr == 0 || w->seen[attr] != 0) {
        return TSR_OK;
    }
    const attr_head *head = program_attr(w->p, attr);
    w->seen[attr] = 1;
    if (attr_is(w->p, attr, ATTR_SDY) && head->row == SDY_SHARDING) {
        return check_sharding(w, attr);
    }
    const bool is_dict = attr_is(w->p, attr, ATTR_DICT);
    const bool is_list = attr_is(w->p, attr, ATTR_ARRAY) ||
                         (attr_is(w->p, attr, ATTR_SDY) && head->row == SDY_SHARDING_PER_VALUE);
    for (uint32_t i = 0; (is_dict || is_list) && i < head->count; i++) {
        TSR_TRY(check_attr(w, is_dict ? attr_entries(head)[i].value : attr_list(head)[i]));
    }
    return TSR_OK;
}

static tsr_status check_shardings(tsr_context *ctx, tsr_program *p,
                                  const char *(*problem)(const sharding_text *text))
{
    const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
    sharding_walk w = {.ctx = ctx, .p = p, .problem = problem};
    w.seen = ARENA_ARRAY(p->scratch, uint8_t, p->attrs.count);
    if (w.seen == NULL) {
        return diag_nomem(ctx);
    }
    memset(w.seen, 0, p->attrs.count);
    for (w.op = p->module; w.op != 0; w.op = op_walk_next(p, p->module, w.op)) {
        TSR_TRY(check_attr(&w, program_op(p, w.op)->properties));
        TSR_TRY(check_attr(&w, program_op(p, w.op)->attributes));
    }
    tsr_arena_reset(p->scratch, mark);
    return TSR_OK;
}

static const char *problem_of_name(const sharding_text *text)
{
    return text->inline_mesh != NULL ? "which does not name its mesh" : NULL;
}

static tsr_status verify_names(tsr_context *ctx, tsr_program *p)
{
    return check_shardings(ctx, p, problem_of_name);
}

static const char *problem_of_inlining(const sharding_text *text)
{
    return text->inline_mesh == NULL ? "which names a mesh" : NULL;
}

static tsr_status verify_inlining(tsr_context *ctx, tsr_program *p)
{
    return check_shardings(ctx, p, problem_of_inlining);
}

static const char *problem_of_closing(const sharding_text *text)
{
    for (size_t d = 0; d < text->rank; d++) {
        if (text->dims[d].open) {
            return "in which a dimension is open";
        }
    }
    return text->replicated.count > 0 ? "which replicates axes by name" : NULL;
}

static tsr_status verify_closing(tsr_context *ctx, tsr_program *p)
{
    return check_shardings(ctx, p, problem_of_closing);
}

/* ---- calls ---- */

/* Fails at the first call of a function with a body that is called more often than it may be. */
static tsr_status check_calls(tsr_context *ctx, tsr_program *p, uint8_t limit)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
    uint8_t *counts = ARENA_ARRAY(p->scratch, uint8_t, p->ops.count);
    if (counts == NULL) {
        return diag_nomem(ctx);
    }
    memset(counts, 0, p->ops.count);
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        slice name;
        uint32_t func = 0;
        if (!op_is(p, op, OP_FUNC_CALL) ||
            !attr_as_symbol(p, op_property(p, op, "callee"), &name)) {
            continue;
        }
        TSR_TRY(program_symbol(ctx, p, op, name, &func));
        if (func != 0 && op_entry_block(p, func, 0) != 0 && counts[func]++ == limit) {
            return op_error(ctx, p, op, "calls @%.*s, which may have %d calls at most",
                            (int)name.size, name.data, limit);
        }
    }
    tsr_arena_reset(p->scratch, mark);
    return TSR_OK;
}

static tsr_status verify_single_calls(tsr_context *ctx, tsr_program *p)
{
    return check_calls(ctx, p, 1);
}

static tsr_status verify_no_calls(tsr_context *ctx, tsr_program *p)
{
    return check_calls(ctx, p, 0);
}

/* ---- the contracts ---- */

const contract contract_named_meshes = {.name = "meshes by name",
                                        .remedy = "run -sdy-lift-inlined-meshes first",
                                        .verify = verify_names};
const contract contract_inlined_meshes = {.name = "meshes in place",
                                          .remedy = "run -sdy-inline-meshes first",
                                          .absent = {OP_SDY_MESH},
                                          .verify = verify_inlining};
const contract contract_single_calls = {.name = "functions that are called once",
                                        .remedy = "run -sdy-flatten-call-graph first",
                                        .verify = verify_single_calls};
const contract contract_no_calls = {
    .name = "no calls", .remedy = "run -sdy-import-func-calls first", .verify = verify_no_calls};
const contract contract_no_composites = {.name = "composites as calls",
                                         .remedy = "run -tessera-import-composites first",
                                         .absent = {OP_STABLEHLO_COMPOSITE}};
const contract contract_no_edges = {.name = "no data flow edges",
                                    .remedy = "run -sdy-sink-data-flow-edges first",
                                    .absent = {OP_SDY_DATA_FLOW_EDGE}};
const contract contract_no_func_edges = {.name = "no data flow edges of functions",
                                         .remedy = "run -sdy-sink-func-data-flow-edges first",
                                         .absent = {OP_SDY_FUNC_DATA_FLOW_EDGE}};
const contract contract_no_groups = {.name = "no sharding groups",
                                     .remedy = "run -sdy-remove-sharding-groups first",
                                     .absent = {OP_SDY_SHARDING_GROUP}};
const contract contract_no_constraints = {.name = "reshards instead of sharding constraints",
                                          .remedy = "run -sdy-sharding-constraint-to-reshard first",
                                          .absent = {OP_SDY_SHARDING_CONSTRAINT}};
const contract contract_closed_shardings = {.name = "closed shardings",
                                            .remedy = "run -sdy-close-shardings first",
                                            .verify = verify_closing};

static bool is_absent(const contract *c, op_kind kind)
{
    for (size_t i = 0; i < MAX_ABSENT_KINDS && kind != OP_UNKNOWN; i++) {
        if (c->absent[i] == kind) {
            return true;
        }
    }
    return false;
}

/* Whether the program has, or once had, ops of a kind that a contract excludes. */
static bool may_break(const tsr_program *p, const contract *c)
{
    for (size_t i = 0; i < MAX_ABSENT_KINDS && c->absent[i] != OP_UNKNOWN; i++) {
        if (p->kind_names[c->absent[i]] != 0) {
            return true;
        }
    }
    return false;
}

static tsr_status find_broken(tsr_context *ctx, tsr_program *p, const contract *c)
{
    for (uint32_t op = may_break(p, c) ? p->module : 0; op != 0;
         op = op_walk_next(p, p->module, op)) {
        if (is_absent(c, op_kind_of(p, op))) {
            return op_error(ctx, p, op, "remains in the program");
        }
    }
    return c->verify != NULL ? c->verify(ctx, p) : TSR_OK;
}

tsr_status contract_verify(tsr_context *ctx, tsr_program *p, const contract *c)
{
    const tsr_status status = find_broken(ctx, p, c);
    return status < 0 && status != TSR_ERR_NOMEM
               ? note_at_op(ctx, p, p->module, "this breaks a contract between passes: %s", c->name)
               : status;
}

tsr_status contract_require(tsr_context *ctx, tsr_program *p, const contract *c, const char *phase)
{
    tsr_context *quiet = NULL;
    TSR_TRY(context_create_like(ctx, &quiet));
    const tsr_status status = find_broken(quiet, p, c);
    tsr_context_destroy(quiet);
    if (status == TSR_ERR_NOMEM) {
        return diag_nomem(ctx);
    }
    return status < 0 ? error_at_op(ctx, p, p->module, "%s needs %s: %s", phase, c->name, c->remedy)
                      : TSR_OK;
}
