/* Passes over functions and calls: cloned for each call, put in place of calls, and back. */
#include <string.h>

#include "base/arena.h"
#include "transform/call_graph.h"
#include "transform/edge_passes.h"
#include "transform/passes.h"
#include "transform/reshard.h"

/* ---- results of functions, and calls ---- */

static tsr_status shard_calls(workspace *w)
{
    tsr_program *p = w->p;
    symbols table;
    op_list calls;
    TSR_TRY(symbols_load(w, &table));
    TSR_TRY(call_graph_list(w, p->module, &calls));
    for (size_t i = 0; i < calls.count; i++) {
        const uint32_t func = symbols_callee(p, &table, calls.ops[i]);
        uint32_t attr = 0;
        if (func == 0 || op_attribute(p, calls.ops[i], "sdy.sharding") != 0) {
            continue;
        }
        TSR_TRY(function_shardings(w, func, "res_attrs", &attr));
        if (attr != 0) {
            TSR_TRY(op_set_attribute(p, calls.ops[i], "sdy.sharding", attr));
        }
    }
    return TSR_OK;
}

static tsr_status shard_func_results(workspace *w, uint32_t func)
{
    tsr_program *p = w->p;
    const uint32_t block = op_entry_block(p, func, 0);
    const uint32_t last = block != 0 ? program_block(p, block)->last_op : 0;
    const size_t count = function_num_results(p, func);
    uint32_t *attrs = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    if (last == 0) {
        return TSR_OK;
    }
    if (attrs == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        const tsr_sharding *sharding = NULL;
        const tsr_sharding *one = NULL;
        attrs[i] = 0;
        TSR_TRY(value_sharding(w->ctx, p, op_operand(p, last, i), &sharding));
        if (sharding != NULL) {
            TSR_TRY(engine_intern(w->engine, sharding, &one));
            TSR_TRY(sharding_attr(w, one, &attrs[i]));
        }
    }
    return function_set_dicts(w->ctx, w->p, func, "res_attrs", "sdy.sharding", attrs, count);
}

static tsr_status shard_results(workspace *w)
{
    const tsr_program *p = w->p;
    const uint32_t main = function_main(p);
    for (uint32_t func = function_first(p); func != 0; func = function_next(p, func)) {
        if (func != main) {
            TSR_TRY(shard_func_results(w, func));
        }
    }
    return TSR_OK;
}

/* ---- symbols that nothing names ---- */

typedef struct liveness {
    symbols table;
    uint8_t *is_live; /* by op */
    uint8_t *is_read; /* by attribute */
    op_list pending;
    size_t next;
} liveness;

static tsr_status make_live(workspace *w, liveness *l, uint32_t op)
{
    if (op == 0 || l->is_live[op]) {
        return TSR_OK;
    }
    l->is_live[op] = 1;
    return op_list_add(w, &l->pending, op);
}

/* Everything that an attribute names is live. */
static tsr_status read_symbols(workspace *w, liveness *l, uint32_t attr)
{
    const tsr_program *p = w->p;
    if (attr == 0 || l->is_read[attr]) {
        return TSR_OK;
    }
    l->is_read[attr] = 1;
    const attr_head *head = program_attr(p, attr);
    switch (head->kind) {
    case ATTR_SYMBOL:
        return make_live(w, l, symbols_find(&l->table, string_at(p, attr_list(head)[0])));
    case ATTR_ARRAY:
    case ATTR_STRUCT:
        for (uint32_t i = 0; i < head->count; i++) {
            TSR_TRY(read_symbols(w, l, attr_list(head)[i]));
        }
        return TSR_OK;
    case ATTR_DICT:
        for (uint32_t i = 0; i < head->count; i++) {
            TSR_TRY(read_symbols(w, l, attr_entries(head)[i].value));
        }
        return TSR_OK;
    default:
        return TSR_OK;
    }
}

static bool is_private(const tsr_program *p, uint32_t op)
{
    slice visibility;
    return attr_as_string(p, op_property(p, op, "sym_visibility"), &visibility) &&
           !slice_is(visibility, "public");
}

static tsr_status mark_live(workspace *w, liveness *l)
{
    const tsr_program *p = w->p;
    const uint32_t body = op_entry_block(p, p->module, 0);
    for (uint32_t op = program_block(p, body)->first_op; op != 0; op = program_op(p, op)->next) {
        if (!is_private(p, op)) {
            TSR_TRY(make_live(w, l, op));
        }
    }
    while (l->next < l->pending.count) {
        const uint32_t root = l->pending.ops[l->next++];
        for (uint32_t op = root; op != 0; op = op_walk_next(p, root, op)) {
            TSR_TRY(read_symbols(w, l, program_op(p, op)->properties));
            TSR_TRY(read_symbols(w, l, program_op(p, op)->attributes));
        }
    }
    return TSR_OK;
}

static tsr_status remove_dead(workspace *w)
{
    tsr_program *p = w->p;
    liveness l = {.is_live = ARENA_ARRAY(w->arena, uint8_t, p->ops.count),
                  .is_read = ARENA_ARRAY(w->arena, uint8_t, p->attrs.count)};
    if (l.is_live == NULL || l.is_read == NULL) {
        return diag_nomem(w->ctx);
    }
    memset(l.is_live, 0, p->ops.count);
    memset(l.is_read, 0, p->attrs.count);
    TSR_TRY(symbols_load(w, &l.table));
    TSR_TRY(mark_live(w, &l));
    uint32_t next = 0;
    uint32_t op = program_block(p, op_entry_block(p, p->module, 0))->first_op;
    for (; op != 0; op = next) {
        next = program_op(p, op)->next;
        if (!l.is_live[op]) {
            op_erase(p, op);
        }
    }
    return TSR_OK;
}

/* ---- a function for each call ---- */

static tsr_status flatten(workspace *w)
{
    tsr_program *p = w->p;
    symbols table;
    op_list funcs;
    TSR_TRY(symbols_load(w, &table));
    TSR_TRY(call_graph_post_order(w, &table, &funcs));
    TSR_TRY(call_graph_limit(w, &table, &funcs));
    uint8_t *taken = ARENA_ARRAY(w->arena, uint8_t, p->ops.count);
    const uint32_t num_ops = p->ops.count;
    if (taken == NULL) {
        return diag_nomem(w->ctx);
    }
    memset(taken, 0, num_ops);
    for (size_t f = 0; f < funcs.count; f++) {
        op_list calls;
        TSR_TRY(call_graph_list(w, funcs.ops[f], &calls));
        for (size_t i = 0; i < calls.count; i++) {
            const uint32_t callee = symbols_callee(p, &table, calls.ops[i]);
            uint32_t copy = 0;
            if (callee == 0 || callee >= num_ops || !taken[callee]) {
                taken[callee < num_ops ? callee : 0] = 1;
                continue;
            }
            TSR_TRY(call_graph_clone(w, &table, callee, &copy));
            TSR_TRY(symbols_set_callee(p, calls.ops[i], copy));
        }
    }
    return TSR_OK;
}

/* ---- functions in place of calls ---- */

/* Puts the uses by an op in front of all others, as if it had just been made. */
static void renew_uses(tsr_program *p, uint32_t op)
{
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        op_set_operand(p, op, i, op_operand(p, op, i));
    }
}

static tsr_status set_terminator(tsr_program *p, uint32_t region, op_kind kind)
{
    const uint32_t block = program_region(p, region)->last_block;
    const uint32_t last = block != 0 ? program_block(p, block)->last_op : 0;
    if (last == 0) {
        return TSR_OK;
    }
    TSR_TRY(op_set_kind(p, last, kind));
    renew_uses(p, last);
    return TSR_OK;
}

static tsr_status computation_dicts(workspace *w, uint32_t call, uint32_t func,
                                    uint32_t *properties, uint32_t *attributes)
{
    tsr_program *p = w->p;
    const uint32_t out_shardings = op_attribute(p, call, "sdy.sharding");
    const uint32_t thread = op_attribute(p, func, "execution_thread");
    uint32_t in_shardings = 0;
    TSR_TRY(function_shardings(w, func, "arg_attrs", &in_shardings));
    TSR_TRY(dict_set(p, 0, "name", call_graph_original_name(p, func), properties));
    if (in_shardings != 0) {
        TSR_TRY(dict_set(p, *properties, "in_shardings", in_shardings, properties));
    }
    if (out_shardings != 0) {
        TSR_TRY(dict_set(p, *properties, "out_shardings", out_shardings, properties));
    }
    TSR_TRY(dict_set(p, program_op(p, call)->attributes, "sdy.sharding", 0, attributes));
    return thread != 0 ? dict_set(p, *attributes, "execution_thread", thread, attributes) : TSR_OK;
}

typedef struct importing {
    symbols table;
    uint32_t *body; /* by function: the region that has its body now; 0: still its own */
    uint32_t num_ops;
    bool warned;
    op_list computations;
    op_list called;
} importing;

static tsr_status warn_of_clone(workspace *w, importing *m, uint32_t call, uint32_t func)
{
    const slice name = symbols_name(w->p, func);
    if (m->warned) {
        return TSR_OK;
    }
    m->warned = true;
    return diag_warning(w->ctx, op_location(w->p, call),
                        "function @%.*s has multiple call ops, we need to clone the function body "
                        "for each call",
                        (int)name.size, name.data);
}

static tsr_status import_call(workspace *w, importing *m, uint32_t call)
{
    tsr_program *p = w->p;
    const uint32_t func = symbols_callee(p, &m->table, call);
    uint32_t properties = 0;
    uint32_t attributes = 0;
    uint32_t op = 0;
    if (func == 0 || func >= m->num_ops ||
        (m->body[func] == 0 && op_entry_block(p, func, 0) == 0)) {
        return TSR_OK;
    }
    TSR_TRY(computation_dicts(w, call, func, &properties, &attributes));
    const op_substitute now = {OP_SDY_NAMED_COMPUTATION, 1, properties, attributes};
    TSR_TRY(op_create_before(w->p, call, &now, &op));
    const uint32_t region = op_region_at(p, op, 0);
    if (m->body[func] == 0) {
        region_take(p, region, op_region_at(p, func, 0));
        TSR_TRY(set_terminator(p, region, OP_SDY_RETURN));
        m->body[func] = region;
        TSR_TRY(op_list_add(w, &m->called, func));
    } else {
        value_map became = {.ctx = p->ctx};
        TSR_TRY(warn_of_clone(w, m, call, func));
        const tsr_status status = region_clone(p, m->body[func], region, &became);
        value_map_free(&became);
        TSR_TRY(status);
    }
    op_replace(p, call, op);
    return op_list_add(w, &m->computations, op);
}

static tsr_status import_calls(workspace *w, bool with_edges)
{
    tsr_program *p = w->p;
    importing m = {.num_ops = p->ops.count};
    op_list funcs;
    TSR_TRY(symbols_load(w, &m.table));
    TSR_TRY(call_graph_post_order(w, &m.table, &funcs));
    TSR_TRY(call_graph_limit(w, &m.table, &funcs));
    m.body = ARENA_ARRAY(w->arena, uint32_t, m.num_ops);
    if (m.body == NULL) {
        return diag_nomem(w->ctx);
    }
    memset(m.body, 0, m.num_ops * sizeof *m.body);
    for (size_t f = 0; f < funcs.count; f++) {
        op_list calls;
        const uint32_t func = funcs.ops[f];
        TSR_TRY(call_graph_list(w, func, &calls));
        for (size_t i = 0; i < calls.count; i++) {
            TSR_TRY(import_call(w, &m, calls.ops[i]));
        }
    }
    for (size_t i = 0; i < m.called.count; i++) {
        op_erase(p, m.called.ops[i]);
    }
    uint32_t next = 0;
    for (uint32_t op = op_post_first(p, p->module); with_edges && op != 0; op = next) {
        next = op_post_next(p, p->module, op);
        if (op_is(p, op, OP_SDY_NAMED_COMPUTATION)) {
            TSR_TRY(edge_add_around(w, op));
        }
    }
    return TSR_OK;
}

/* ---- computations as functions ---- */

/* The shardings of the arguments or results of a computation: those of edges, else its own. */
static tsr_status final_shardings(workspace *w, uint32_t op, const uint32_t *owners, size_t count,
                                  const char *property, uint32_t *out)
{
    TSR_TRY(edge_sink_owners(w, owners, count, out));
    if (*out == 0) {
        *out = op_property(w->p, op, property);
    }
    return TSR_OK;
}

static tsr_status func_properties(workspace *w, uint32_t op, uint32_t *out)
{
    tsr_program *p = w->p;
    const ir_op *o = program_op(p, op);
    uint32_t *types = ARENA_ARRAY(w->scratch, uint32_t, o->num_operands + o->num_results + 1);
    uint32_t type = 0;
    uint32_t attr = 0;
    if (types == NULL) {
        return diag_nomem(w->ctx);
    }
    for (uint32_t i = 0; i < o->num_operands; i++) {
        types[i] = value_type(p, op_operand(p, op, i));
    }
    for (uint32_t i = 0; i < o->num_results; i++) {
        types[o->num_operands + i] = value_type(p, op_result(p, op, i));
    }
    TSR_TRY(
        type_function(p, types, o->num_operands, types + o->num_operands, o->num_results, &type));
    TSR_TRY(attr_type(p, type, &attr));
    TSR_TRY(dict_set(p, 0, "function_type", attr, out));
    TSR_TRY(dict_set(p, *out, "sym_name", op_property(p, op, "name"), out));
    TSR_TRY(attr_string(p, "private", 7, 0, &attr));
    return dict_set(p, *out, "sym_visibility", attr, out);
}

static tsr_status export_function(workspace *w, symbols *table, uint32_t op, uint32_t in_shardings,
                                  uint32_t *out)
{
    tsr_program *p = w->p;
    const uint32_t thread = op_attribute(p, op, "execution_thread");
    const uint32_t count = program_op(p, op)->num_operands;
    uint32_t properties = 0;
    uint32_t attributes = 0;
    TSR_TRY(func_properties(w, op, &properties));
    TSR_TRY(dict_set(p, 0, "sdy.original_func_name", op_property(p, op, "name"), &attributes));
    if (thread != 0) {
        TSR_TRY(dict_set(p, attributes, "execution_thread", thread, &attributes));
    }
    const op_spec spec = {.kind = OP_FUNC_FUNC,
                          .num_regions = 1,
                          .properties = properties,
                          .attributes = attributes,
                          .like = op};
    TSR_TRY(op_create(p, &spec, out));
    region_take(p, op_region_at(p, *out, 0), op_region_at(p, op, 0));
    TSR_TRY(set_terminator(p, op_region_at(p, *out, 0), OP_FUNC_RETURN));
    if (attr_is(p, in_shardings, ATTR_SDY) && program_attr(p, in_shardings)->count == count) {
        TSR_TRY(function_set_dicts(w->ctx, w->p, *out, "arg_attrs", "sdy.sharding",
                                   attr_list(program_attr(p, in_shardings)), count));
    }
    return symbols_insert(w, table, *out);
}

static tsr_status export_computation(workspace *w, symbols *table, uint32_t op)
{
    tsr_program *p = w->p;
    const uint32_t num_arguments = program_op(p, op)->num_operands;
    const uint32_t num_results = program_op(p, op)->num_results;
    uint32_t *owners = ARENA_ARRAY(w->scratch, uint32_t, num_arguments + num_results + 1);
    uint32_t in_shardings = 0;
    uint32_t out_shardings = 0;
    uint32_t func = 0;
    uint32_t call = 0;
    uint32_t attributes = 0;
    uint32_t properties = 0;
    uint32_t attr = 0;
    if (owners == NULL) {
        return diag_nomem(w->ctx);
    }
    for (uint32_t i = 0; i < num_arguments; i++) {
        owners[i] = block_argument(p, op_entry_block(p, op, 0), i);
    }
    for (uint32_t i = 0; i < num_results; i++) {
        owners[num_arguments + i] = op_result(p, op, i);
    }
    TSR_TRY(final_shardings(w, op, owners, num_arguments, "in_shardings", &in_shardings));
    TSR_TRY(final_shardings(w, op, owners + num_arguments, num_results, "out_shardings",
                            &out_shardings));
    TSR_TRY(export_function(w, table, op, in_shardings, &func));
    TSR_TRY(dict_set(p, program_op(p, op)->attributes, "execution_thread", 0, &attributes));
    if (out_shardings != 0) {
        TSR_TRY(dict_set(p, attributes, "sdy.sharding", out_shardings, &attributes));
    }
    const slice name = symbols_name(p, func);
    uint32_t string = 0;
    TSR_TRY(program_string(p, name.data, name.size, &string));
    TSR_TRY(attr_symbol(p, &string, 1, &attr));
    TSR_TRY(dict_set(p, 0, "callee", attr, &properties));
    const op_substitute now = {OP_FUNC_CALL, 0, properties, attributes};
    TSR_TRY(op_create_before(w->p, op, &now, &call));
    op_replace(p, op, call);
    return TSR_OK;
}

static tsr_status export_computations(workspace *w)
{
    tsr_program *p = w->p;
    symbols table;
    op_list list = {0};
    TSR_TRY(symbols_load(w, &table));
    for (uint32_t op = op_post_first(p, p->module); op != 0; op = op_post_next(p, p->module, op)) {
        if (op_is(p, op, OP_SDY_NAMED_COMPUTATION)) {
            TSR_TRY(op_list_add(w, &list, op));
        }
    }
    for (size_t i = 0; i < list.count; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
        TSR_TRY(export_computation(w, &table, list.ops[i]));
        tsr_arena_reset(w->scratch, mark);
    }
    return TSR_OK;
}

/* ---- one function for equal calls ---- */

/* What makes two functions one: the original name, manual axes, shardings. */
typedef struct func_key {
    uint32_t name;
    uint32_t manual;
    uint32_t arguments;
    uint32_t results;
} func_key;

/* The calls of a key, and the first function that was called. */
typedef struct served {
    uint32_t func;
    uint32_t calls;
} served;

/* The key of a name that was called most often, and the function whose call made it so. */
typedef struct most_called {
    const served *key;
    uint32_t func;
} most_called;

typedef struct unflattening {
    symbols table;
    map by_key;  /* to a served */
    map by_name; /* to a most_called */
    bool fully;  /* shardings do not count */
} unflattening;

static tsr_status key_of(workspace *w, uint32_t func, func_key *out)
{
    const tsr_program *p = w->p;
    *out = (func_key){.name = call_graph_original_name(p, func),
                      .manual = op_attribute(p, func, "sdy.func_manual_axes")};
    TSR_TRY(function_shardings(w, func, "arg_attrs", &out->arguments));
    return function_shardings(w, func, "res_attrs", &out->results);
}

/* A zeroed record of a table, made when it is asked for first; NULL without memory. */
static void *table_record(workspace *w, map *table, const void *key, size_t key_size, size_t size)
{
    uint64_t *entry = workspace_entry(w, table, key, key_size);
    if (entry != NULL && *entry == 0) {
        void *record = tsr_arena_alloc(w->arena, size);
        if (record == NULL) {
            return NULL;
        }
        memset(record, 0, size);
        *entry = (uint64_t)(uintptr_t)record;
    }
    return entry != NULL ? (void *)(uintptr_t)*entry : NULL;
}

/* Counts a call: another key serves a name when it has been called more often. */
static tsr_status count_call(workspace *w, unflattening *u, uint32_t func)
{
    func_key key;
    TSR_TRY(key_of(w, func, &key));
    served *own = table_record(w, &u->by_key, &key, sizeof key, sizeof *own);
    most_called *most = table_record(w, &u->by_name, &key, 2 * sizeof(uint32_t), sizeof *most);
    if (own == NULL || most == NULL) {
        return diag_nomem(w->ctx);
    }
    own->func = own->func != 0 ? own->func : func;
    own->calls++;
    if (most->key == NULL || own->calls > most->key->calls) {
        *most = (most_called){.key = own, .func = func};
    }
    return TSR_OK;
}

static tsr_status function_for(workspace *w, unflattening *u, uint32_t func, uint32_t *out)
{
    func_key key;
    TSR_TRY(key_of(w, func, &key));
    const uint64_t *entry = u->fully
                                ? map_find(&u->by_name, (const char *)&key, 2 * sizeof(uint32_t))
                                : map_find(&u->by_key, (const char *)&key, sizeof key);
    if (entry == NULL) {
        *out = func;
        return TSR_OK;
    }
    *out = u->fully ? ((const most_called *)(uintptr_t)*entry)->func
                    : ((const served *)(uintptr_t)*entry)->func;
    return TSR_OK;
}

static tsr_status unflatten(workspace *w, bool fully)
{
    tsr_program *p = w->p;
    unflattening u = {.by_key = map_new(w->arena), .by_name = map_new(w->arena), .fully = fully};
    op_list calls;
    TSR_TRY(symbols_load(w, &u.table));
    TSR_TRY(call_graph_list(w, p->module, &calls));
    for (size_t i = 0; i < calls.count; i++) {
        const uint32_t func = symbols_callee(p, &u.table, calls.ops[i]);
        if (func != 0) {
            TSR_TRY(count_call(w, &u, func));
        }
    }
    for (size_t i = 0; i < calls.count; i++) {
        const uint32_t func = symbols_callee(p, &u.table, calls.ops[i]);
        uint32_t serving = func;
        if (func != 0) {
            TSR_TRY(function_for(w, &u, func, &serving));
        }
        if (serving != func) {
            TSR_TRY(symbols_set_callee(p, calls.ops[i], serving));
        }
    }
    for (uint32_t func = function_first(p); func != 0; func = function_next(p, func)) {
        TSR_TRY(op_set_attribute(p, func, "sdy.original_func_name", 0));
        TSR_TRY(op_set_attribute(p, func, "sdy.func_manual_axes", 0));
    }
    return TSR_OK;
}

/* ---- reshards after calls ---- */

/* Puts a reshard of a result right after its call. */
static tsr_status add_reshard(workspace *w, uint32_t value, const tsr_sharding *to, uint32_t call)
{
    tsr_program *p = w->p;
    const uint32_t type = value_type(p, value);
    uint32_t attr = 0;
    uint32_t dict = 0;
    uint32_t op = 0;
    TSR_TRY(sharding_attr(w, to, &attr));
    TSR_TRY(dict_set(p, 0, "sharding", attr, &dict));
    const op_spec spec = {.kind = OP_SDY_RESHARD,
                          .operands = &value,
                          .num_operands = 1,
                          .types = &type,
                          .num_results = 1,
                          .properties = dict,
                          .like = call};
    TSR_TRY(op_create(p, &spec, &op));
    value_replace_uses(p, value, op_result(p, op, 0), op);
    op_insert_after(p, op, call);
    return TSR_OK;
}

static tsr_status reshard_call(workspace *w, uint32_t call, uint32_t func)
{
    tsr_program *p = w->p;
    const uint32_t count = program_op(p, call)->num_results;
    const uint32_t had = op_attribute(p, call, "sdy.sharding");
    const tsr_sharding **from = NULL;
    const tsr_sharding **to = NULL;
    uint32_t attr = 0;
    TSR_TRY(function_shardings(w, func, "res_attrs", &attr));
    if (attr == 0 && had == 0) {
        return TSR_OK;
    }
    TSR_TRY(sharding_list_at(w, attr, count, &from));
    TSR_TRY(sharding_list_at(w, had, count, &to));
    uint32_t *types = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    const tsr_sharding **shardings = ARENA_ARRAY(w->scratch, const tsr_sharding *, count + 1);
    if (types == NULL || shardings == NULL) {
        return diag_nomem(w->ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t value = op_result(p, call, i);
        types[i] = value_type(p, value);
        shardings[i] = from[i];
        if (from[i] == NULL) {
            TSR_TRY(closed_sharding(w, to[i]->mesh, types[i], &shardings[i]));
        }
        if (!reshard_is_equivalent(shardings[i], to[i])) {
            const tsr_sharding *wanted = to[i];
            if (wanted == NULL) {
                TSR_TRY(closed_sharding(w, shardings[i]->mesh, types[i], &wanted));
            }
            TSR_TRY(add_reshard(w, value, wanted, call));
        }
    }
    TSR_TRY(sharding_list_attr(w, shardings, types, count, &attr));
    return op_set_attribute(p, call, "sdy.sharding", attr);
}

static tsr_status reshard_calls(workspace *w)
{
    symbols table;
    op_list calls;
    TSR_TRY(symbols_load(w, &table));
    TSR_TRY(call_graph_list(w, w->p->module, &calls));
    for (size_t i = 0; i < calls.count; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
        const uint32_t func = symbols_callee(w->p, &table, calls.ops[i]);
        if (func != 0) {
            TSR_TRY(reshard_call(w, calls.ops[i], func));
        }
        tsr_arena_reset(w->scratch, mark);
    }
    return TSR_OK;
}

/* ---- order ---- */

static tsr_status order_functions(workspace *w)
{
    tsr_program *p = w->p;
    symbols table;
    op_list funcs;
    TSR_TRY(symbols_load(w, &table));
    TSR_TRY(call_graph_post_order(w, &table, &funcs));
    for (size_t i = funcs.count; i > 0; i--) {
        op_remove(p, funcs.ops[i - 1]);
        block_append(p, op_entry_block(p, p->module, 0), funcs.ops[i - 1]);
    }
    return TSR_OK;
}

/* ---- passes ---- */

WORKSPACE_PASS(pass_shard_calls, shard_calls)
WORKSPACE_PASS(pass_shard_func_results, shard_results)
WORKSPACE_PASS(pass_symbol_dce, remove_dead)
WORKSPACE_PASS(pass_flatten, flatten)
WORKSPACE_PASS(pass_export_computations, export_computations)
WORKSPACE_PASS(pass_reshard_calls, reshard_calls)
WORKSPACE_PASS(pass_pre_order_funcs, order_functions)

static tsr_status import_with_edges(workspace *w)
{
    return import_calls(w, true);
}

static tsr_status import_without_edges(workspace *w)
{
    return import_calls(w, false);
}

tsr_status pass_import_calls(tsr_context *ctx, tsr_program *p, const tsr_pass_options *options)
{
    return workspace_do(ctx, p,
                        tsr_option_bool(options, "add-data-flow-edges-on-named-computations")
                            ? import_with_edges
                            : import_without_edges);
}

static tsr_status unflatten_by_shardings(workspace *w)
{
    return unflatten(w, false);
}

static tsr_status unflatten_fully(workspace *w)
{
    return unflatten(w, true);
}

tsr_status pass_unflatten(tsr_context *ctx, tsr_program *p, const tsr_pass_options *options)
{
    return workspace_do(ctx, p,
                        tsr_option_bool(options, "dedup-functions-fully") ? unflatten_fully
                                                                          : unflatten_by_shardings);
}
