#include "transform/call_graph.h"

#include <string.h>

#include "base/arena.h"
#include "transform/passes.h"

uint32_t call_graph_original_name(const tsr_program *p, uint32_t func)
{
    const uint32_t attr = op_attribute(p, func, "sdy.original_func_name");
    return attr != 0 ? attr : op_property(p, func, "sym_name");
}

tsr_status call_graph_list(workspace *w, uint32_t root, op_list *out)
{
    const tsr_program *p = w->p;
    *out = (op_list){0};
    for (uint32_t op = op_walk_next(p, root, root); op != 0; op = op_walk_next(p, root, op)) {
        if (op_is(p, op, OP_FUNC_CALL)) {
            TSR_TRY(op_list_add(w, out, op));
        }
    }
    return TSR_OK;
}

tsr_status call_graph_clone(workspace *w, symbols *table, uint32_t func, uint32_t *out)
{
    tsr_program *p = w->p;
    value_map became = {.ctx = p->ctx};
    op_list calls;
    const tsr_status status = op_clone(p, func, &became, out);
    value_map_free(&became);
    TSR_TRY(status);
    TSR_TRY(call_graph_list(w, *out, &calls));
    for (size_t i = 0; i < calls.count; i++) {
        const uint32_t callee = symbols_callee(p, table, calls.ops[i]);
        uint32_t copy = 0;
        if (callee != 0) {
            TSR_TRY(call_graph_clone(w, table, callee, &copy));
            TSR_TRY(symbols_set_callee(p, calls.ops[i], copy));
        }
    }
    TSR_TRY(op_set_attribute(p, *out, "sdy.original_func_name", call_graph_original_name(p, func)));
    return symbols_insert(w, table, *out);
}

/* What a walk of the call graph has seen of a function. */
enum graph_state { NOT_SEEN, UNDER_WAY, FINISHED };

/* A function under way in a walk of the call graph. */
typedef struct graph_step {
    uint32_t func;
    op_list calls;
    size_t next;
} graph_step;

typedef struct graph_walk {
    workspace *w;
    const symbols *table;
    uint8_t *seen; /* a graph_state by op */
    graph_step *steps;
    size_t depth;
    op_list *out;
} graph_walk;

/* A call, the last of the functions under way, leads to one of them. */
static tsr_status refuse_recursion(const graph_walk *g, uint32_t func)
{
    const tsr_program *p = g->w->p;
    const graph_step *last = &g->steps[g->depth - 1];
    const slice name = symbols_name(p, func);
    const slice caller = symbols_name(p, last->func);
    const char *remedy =
        "recursive calls are not supported; write the repetition as stablehlo.while";
    const uint32_t call = last->calls.ops[last->next - 1];
    return last->func == func
               ? error_at_op(g->w->ctx, p, call, "function @%.*s calls itself: %s", (int)name.size,
                             name.data, remedy)
               : error_at_op(g->w->ctx, p, call, "function @%.*s calls itself through @%.*s: %s",
                             (int)name.size, name.data, (int)caller.size, caller.data, remedy);
}

static tsr_status enter(graph_walk *g, uint32_t func)
{
    if (func == 0 || g->seen[func] == FINISHED || op_entry_block(g->w->p, func, 0) == 0) {
        return TSR_OK;
    }
    if (g->seen[func] == UNDER_WAY) {
        return refuse_recursion(g, func);
    }
    g->seen[func] = UNDER_WAY;
    graph_step *step = &g->steps[g->depth++];
    *step = (graph_step){.func = func};
    return call_graph_list(g->w, func, &step->calls);
}

static tsr_status walk_from(graph_walk *g, uint32_t func)
{
    TSR_TRY(enter(g, func));
    while (g->depth > 0) {
        graph_step *step = &g->steps[g->depth - 1];
        if (step->next == step->calls.count) {
            TSR_TRY(op_list_add(g->w, g->out, step->func));
            g->seen[step->func] = FINISHED;
            g->depth--;
        } else {
            const uint32_t call = step->calls.ops[step->next++];
            TSR_TRY(enter(g, symbols_callee(g->w->p, g->table, call)));
        }
    }
    return TSR_OK;
}

tsr_status call_graph_post_order(workspace *w, const symbols *table, op_list *out)
{
    const tsr_program *p = w->p;
    size_t count = 1;
    for (uint32_t func = function_first(p); func != 0; func = function_next(p, func)) {
        count++;
    }
    graph_walk g = {.w = w,
                    .table = table,
                    .seen = ARENA_ARRAY(w->arena, uint8_t, p->ops.count),
                    .steps = ARENA_ARRAY(w->arena, graph_step, count),
                    .out = out};
    if (g.seen == NULL || g.steps == NULL) {
        return diag_nomem(w->ctx);
    }
    memset(g.seen, 0, p->ops.count);
    *out = (op_list){0};
    for (uint32_t func = function_first(p); func != 0; func = function_next(p, func)) {
        TSR_TRY(walk_from(&g, func));
    }
    return TSR_OK;
}

static bool has_calls(const tsr_program *p)
{
    if (p->kind_names[OP_FUNC_CALL] == 0) {
        return false;
    }
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, OP_FUNC_CALL)) {
            return true;
        }
    }
    return false;
}

static tsr_status verify_calls(workspace *w)
{
    symbols table;
    op_list funcs;
    TSR_TRY(symbols_load(w, &table));
    return call_graph_post_order(w, &table, &funcs);
}

tsr_status call_graph_verify(tsr_context *ctx, tsr_program *p)
{
    return has_calls(p) ? workspace_do(ctx, p, verify_calls) : TSR_OK;
}

/* ---- copies for each call ---- */

/* What a function becomes when each of its calls has a copy of the function called. */
typedef struct expanded {
    int64_t ops;    /* its own and those of all copies; at most one more than the limit */
    uint32_t depth; /* of calls inside of calls */
    bool is_called;
} expanded;

enum { MAX_COPIED_OPS = 1 << 22, MAX_CALL_DEPTH = 1000 };

static tsr_status expand_function(workspace *w, const symbols *table, uint32_t func,
                                  expanded *sizes)
{
    const tsr_program *p = w->p;
    const slice name = symbols_name(p, func);
    expanded *own = &sizes[func];
    for (uint32_t op = func; op != 0; op = op_walk_next(p, func, op)) {
        const uint32_t callee = op_is(p, op, OP_FUNC_CALL) ? symbols_callee(p, table, op) : 0;
        own->ops++;
        if (callee != 0) {
            expanded *called = &sizes[callee];
            called->is_called = true;
            own->ops += called->ops;
            own->depth = called->depth >= own->depth ? called->depth + 1 : own->depth;
        }
        own->ops = own->ops > INT32_MAX ? INT32_MAX : own->ops;
    }
    return own->depth > MAX_CALL_DEPTH ? error_at_op(w->ctx, p, func,
                                                     "calls of function @%.*s are nested more than "
                                                     "%d levels deep; inline some of them",
                                                     (int)name.size, name.data, MAX_CALL_DEPTH)
                                       : TSR_OK;
}

tsr_status call_graph_limit(workspace *w, const symbols *table, const op_list *funcs)
{
    const tsr_program *p = w->p;
    expanded *sizes = ARENA_ARRAY(w->arena, expanded, p->ops.count);
    int64_t before = 0;
    int64_t after = 0;
    uint32_t largest = 0;
    if (sizes == NULL) {
        return diag_nomem(w->ctx);
    }
    memset(sizes, 0, p->ops.count * sizeof *sizes);
    for (size_t i = 0; i < funcs->count; i++) {
        TSR_TRY(expand_function(w, table, funcs->ops[i], sizes));
    }
    for (size_t i = 0; i < funcs->count; i++) {
        const uint32_t func = funcs->ops[i];
        for (uint32_t op = func; op != 0; op = op_walk_next(p, func, op)) {
            before++;
        }
        after += sizes[func].is_called ? 0 : sizes[func].ops;
        largest = largest == 0 || sizes[func].ops > sizes[largest].ops ? func : largest;
    }
    if (after - before <= MAX_COPIED_OPS) {
        return TSR_OK;
    }
    return error_at_op(w->ctx, p, largest,
                       "cloning each function for each of its calls gives more than %d ops, the "
                       "maximum; reduce the calls of functions that call others",
                       MAX_COPIED_OPS);
}
