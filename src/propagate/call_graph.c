#include "propagate/call_graph.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"

/* ---- symbols ---- */

slice symbol_name(const tsr_program *p, uint32_t op)
{
    slice name = {0};
    (void)attr_as_string(p, op_property(p, op, "sym_name"), &name);
    return name;
}

static tsr_status add_symbol(workspace *w, symbols *table, uint32_t op)
{
    const slice name = symbol_name(w->p, op);
    uint64_t *entry = name.data != NULL ? table_entry(w, &table->ops, name.data, name.size) : NULL;
    if (entry == NULL) {
        return name.data == NULL ? TSR_OK : diag_nomem(w->ctx);
    }
    *entry = op;
    return TSR_OK;
}

tsr_status symbols_load(workspace *w, symbols *out)
{
    const tsr_program *p = w->p;
    *out = (symbols){.ops = map_new(w->arena)};
    for (uint32_t op = program_block(p, op_entry_block(p, p->module, 0))->first_op; op != 0;
         op = program_op(p, op)->next) {
        TSR_TRY(add_symbol(w, out, op));
    }
    return TSR_OK;
}

uint32_t symbols_find(const symbols *table, slice name)
{
    const uint64_t *entry = name.size > 0 ? map_find(&table->ops, name.data, name.size) : NULL;
    return entry != NULL ? (uint32_t)*entry : 0;
}

static tsr_status make_unique(workspace *w, symbols *table, uint32_t op)
{
    const slice base = symbol_name(w->p, op);
    const size_t room = base.size + 16;
    char *name = tsr_arena_alloc(w->scratch, room);
    uint32_t attr = 0;
    int size = 0;
    if (name == NULL) {
        return diag_nomem(w->ctx);
    }
    do {
        size = snprintf(name, room, "%.*s_%u", (int)base.size, base.data, table->counter++);
    } while (symbols_find(table, (slice){name, (size_t)size}) != 0);
    TSR_TRY(attr_string(w->p, name, (size_t)size, 0, &attr));
    return op_set_property(w->p, op, "sym_name", attr);
}

tsr_status symbols_insert(workspace *w, symbols *table, uint32_t op)
{
    if (symbols_find(table, symbol_name(w->p, op)) != 0) {
        TSR_TRY(make_unique(w, table, op));
    }
    block_append(w->p, op_entry_block(w->p, w->p->module, 0), op);
    return add_symbol(w, table, op);
}

/* ---- calls ---- */

uint32_t called_function(const tsr_program *p, const symbols *table, uint32_t call)
{
    slice name = {0};
    (void)attr_as_symbol(p, op_property(p, call, "callee"), &name);
    return symbols_find(table, name);
}

tsr_status set_callee(tsr_program *p, uint32_t call, uint32_t func)
{
    const slice name = symbol_name(p, func);
    uint32_t string = 0;
    uint32_t attr = 0;
    TSR_TRY(program_string(p, name.data, name.size, &string));
    TSR_TRY(attr_symbol(p, &string, 1, &attr));
    return op_set_property(p, call, "callee", attr);
}

uint32_t original_name(const tsr_program *p, uint32_t func)
{
    const uint32_t attr = op_attribute(p, func, "sdy.original_func_name");
    return attr != 0 ? attr : op_property(p, func, "sym_name");
}

tsr_status op_list_add(workspace *w, op_list *list, uint32_t op)
{
    if (list->count == list->room) {
        const size_t room = list->room > 0 ? 2 * list->room : 16;
        uint32_t *ops = ARENA_ARRAY(w->arena, uint32_t, room);
        if (ops == NULL) {
            return diag_nomem(w->ctx);
        }
        for (size_t i = 0; i < list->count; i++) {
            ops[i] = list->ops[i];
        }
        list->ops = ops;
        list->room = room;
    }
    list->ops[list->count++] = op;
    return TSR_OK;
}

tsr_status list_calls(workspace *w, uint32_t root, op_list *out)
{
    const tsr_program *p = w->p;
    *out = (op_list){0};
    for (uint32_t op = op_walk_next(p, root, root); op != 0; op = op_walk_next(p, root, op)) {
        if (op_is(p, op, "func.call")) {
            TSR_TRY(op_list_add(w, out, op));
        }
    }
    return TSR_OK;
}

/* A copy of a function and of all that it calls. */
static tsr_status clone_deep(workspace *w, symbols *table, uint32_t func, int depth, uint32_t *out)
{
    tsr_program *p = w->p;
    value_map became = {.ctx = p->ctx};
    op_list calls;
    if (depth > 1000) {
        return error_at_op(w->ctx, p, func, "functions call each other without end");
    }
    const tsr_status status = op_clone(p, func, &became, out);
    value_map_free(&became);
    TSR_TRY(status);
    TSR_TRY(list_calls(w, *out, &calls));
    for (size_t i = 0; i < calls.count; i++) {
        const uint32_t callee = called_function(p, table, calls.ops[i]);
        uint32_t copy = 0;
        if (callee != 0) {
            TSR_TRY(clone_deep(w, table, callee, depth + 1, &copy));
            TSR_TRY(set_callee(p, calls.ops[i], copy));
        }
    }
    TSR_TRY(op_set_attribute(p, *out, "sdy.original_func_name", original_name(p, func)));
    return symbols_insert(w, table, *out);
}

tsr_status clone_function(workspace *w, symbols *table, uint32_t func, uint32_t *out)
{
    return clone_deep(w, table, func, 0, out);
}

/* A function under way in a walk of the call graph. */
typedef struct graph_step {
    uint32_t func;
    op_list calls;
    size_t next;
} graph_step;

typedef struct graph_walk {
    workspace *w;
    const symbols *table;
    uint8_t *seen; /* by op */
    graph_step *steps;
    size_t depth;
    op_list *out;
} graph_walk;

static tsr_status enter(graph_walk *g, uint32_t func)
{
    if (func == 0 || g->seen[func] || op_entry_block(g->w->p, func, 0) == 0) {
        return TSR_OK;
    }
    g->seen[func] = 1;
    graph_step *step = &g->steps[g->depth++];
    *step = (graph_step){.func = func};
    return list_calls(g->w, func, &step->calls);
}

static tsr_status walk_from(graph_walk *g, uint32_t func)
{
    TSR_TRY(enter(g, func));
    while (g->depth > 0) {
        graph_step *step = &g->steps[g->depth - 1];
        if (step->next == step->calls.count) {
            TSR_TRY(op_list_add(g->w, g->out, step->func));
            g->depth--;
        } else {
            const uint32_t call = step->calls.ops[step->next++];
            TSR_TRY(enter(g, called_function(g->w->p, g->table, call)));
        }
    }
    return TSR_OK;
}

tsr_status functions_post_order(workspace *w, const symbols *table, op_list *out)
{
    const tsr_program *p = w->p;
    size_t count = 1;
    for (uint32_t func = first_function(p); func != 0; func = next_function(p, func)) {
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
    for (uint32_t func = first_function(p); func != 0; func = next_function(p, func)) {
        TSR_TRY(walk_from(&g, func));
    }
    return TSR_OK;
}

tsr_status func_shardings(workspace *w, uint32_t func, const char *list, uint32_t *out)
{
    const tsr_program *p = w->p;
    const type_head *type = func_type(p, func);
    const bool results = list[0] == 'r';
    const size_t count = results ? type->count - type->inputs : type->inputs;
    const uint32_t *types = type_list(type) + (results ? type->inputs : 0);
    const tsr_sharding **shardings = ARENA_ARRAY(w->scratch, const tsr_sharding *, count + 1);
    bool any = false;
    *out = 0;
    if (shardings == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t attr = dict_get(p, func_dict(p, func, list, i), "sdy.sharding");
        TSR_TRY(sharding_at(w, attr, &shardings[i]));
        any = any || (shardings[i] != NULL && !tsr_mesh_is_maximal(shardings[i]->mesh));
    }
    return any ? sharding_list_attr(w, shardings, types, count, out) : TSR_OK;
}
