/* Passes that add data-flow edges to a program, and take them away again. */
#include "transform/edge_passes.h"
#include "base/arena.h"
#include "propagate/workspace.h"
#include "transform/passes.h"

/* ---- adding ---- */

/* The properties or attributes of an edge that has the sharding of its owner. */
static tsr_status edge_dict(workspace *w, uint32_t owner, bool of_func, uint32_t *out)
{
    const tsr_sharding *sharding = NULL;
    const tsr_sharding *one = NULL;
    const uint32_t type = value_type(w->p, owner);
    uint32_t attr = 0;
    *out = 0;
    TSR_TRY(value_sharding(w->ctx, w->p, owner, &sharding));
    if (sharding == NULL) {
        return TSR_OK;
    }
    TSR_TRY(engine_intern(w->engine, sharding, &one));
    TSR_TRY(of_func ? sharding_list_attr(w, &one, &type, 1, &attr) : sharding_attr(w, one, &attr));
    return dict_set(w->p, 0, of_func ? "sdy.sharding" : "sharding", attr, out);
}

/* Makes an edge that takes over the uses of its owner. */
static tsr_status make_edge(workspace *w, uint32_t owner, op_kind kind, uint32_t like,
                            uint32_t *out)
{
    tsr_program *p = w->p;
    const bool of_func = kind == OP_SDY_FUNC_DATA_FLOW_EDGE;
    const uint32_t type = value_type(p, owner);
    uint32_t dict = 0;
    TSR_TRY(edge_dict(w, owner, of_func, &dict));
    const op_spec spec = {.kind = kind,
                          .operands = &owner,
                          .num_operands = 1,
                          .types = &type,
                          .num_results = 1,
                          .properties = of_func ? 0 : dict,
                          .attributes = of_func ? dict : 0,
                          .like = like};
    TSR_TRY(op_create(p, &spec, out));
    value_replace_uses(p, owner, op_result(p, *out, 0), *out);
    return TSR_OK;
}

/* Edges of the arguments of a block, in order at its start. */
static tsr_status add_to_arguments(workspace *w, uint32_t block, op_kind kind)
{
    tsr_program *p = w->p;
    uint32_t last = 0;
    for (uint32_t i = 0; i < program_block(p, block)->num_arguments; i++) {
        const uint32_t value = block_argument(p, block, i);
        uint32_t edge = 0;
        if (!type_is_static(p, value_type(p, value))) {
            continue;
        }
        TSR_TRY(make_edge(w, value, kind, block_parent(p, block), &edge));
        if (last == 0) {
            block_prepend(p, block, edge);
        } else {
            op_insert_after(p, edge, last);
        }
        last = edge;
    }
    return TSR_OK;
}

/* Edges of the results of an op, in order after it. */
static tsr_status add_to_results(workspace *w, uint32_t op, op_kind kind)
{
    tsr_program *p = w->p;
    uint32_t last = op;
    for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
        const uint32_t value = op_result(p, op, i);
        uint32_t edge = 0;
        if (!type_is_static(p, value_type(p, value))) {
            continue;
        }
        TSR_TRY(make_edge(w, value, kind, op, &edge));
        op_insert_after(p, edge, last);
        last = edge;
    }
    return TSR_OK;
}

static bool has_own_arguments(const tsr_program *p, uint32_t op)
{
    const ir_row *row = program_row(p, op);
    return row != NULL && row->argument_shardings != NULL;
}

tsr_status edge_add_around(workspace *w, uint32_t op)
{
    if (has_own_arguments(w->p, op)) {
        TSR_TRY(add_to_arguments(w, op_entry_block(w->p, op, 0), OP_SDY_DATA_FLOW_EDGE));
    }
    return add_to_results(w, op, OP_SDY_DATA_FLOW_EDGE);
}

static tsr_status add_edges(workspace *w)
{
    tsr_program *p = w->p;
    uint32_t next = 0;
    for (uint32_t op = op_post_first(p, p->module); op != 0; op = next) {
        next = op_post_next(p, p->module, op);
        if (op_has_trait(p, op, IR_HAS_EDGES)) {
            TSR_TRY(edge_add_around(w, op));
        }
    }
    return TSR_OK;
}

static tsr_status add_func_edges(workspace *w)
{
    const op_kind kind = OP_SDY_FUNC_DATA_FLOW_EDGE;
    tsr_program *p = w->p;
    const uint32_t main = function_main(p);
    for (uint32_t op = function_first(p); op != 0; op = function_next(p, op)) {
        if (op != main && op_entry_block(p, op, 0) != 0) {
            TSR_TRY(add_to_arguments(w, op_entry_block(p, op, 0), kind));
        }
    }
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, OP_FUNC_CALL)) {
            TSR_TRY(add_to_results(w, op, kind));
        }
    }
    return TSR_OK;
}

/* ---- sinking ---- */

/* Takes an edge away: what it has goes on as its input. */
static void remove_edge(tsr_program *p, uint32_t edge)
{
    value_replace_uses(p, op_result(p, edge, 0), op_operand(p, edge, 0), edge);
    op_erase(p, edge);
}

/* The shardings of the edges of some owners, and whether there is one. */
static tsr_status edge_shardings(workspace *w, const uint32_t *owners, size_t count,
                                 const tsr_sharding **out, bool *any)
{
    *any = false;
    for (size_t i = 0; i < count; i++) {
        const uint32_t edge = edge_of_owner(w->p, owners[i]);
        out[i] = NULL;
        if (edge != 0) {
            TSR_TRY(sharding_at(w, op_property(w->p, edge, "sharding"), &out[i]));
            *any = *any || out[i] != NULL;
        }
    }
    return TSR_OK;
}

tsr_status edge_sink_owners(workspace *w, const uint32_t *owners, size_t count, uint32_t *out)
{
    tsr_program *p = w->p;
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    const tsr_sharding **shardings = ARENA_ARRAY(w->scratch, const tsr_sharding *, count + 1);
    uint32_t *types = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    const tsr_mesh *mesh = NULL;
    bool any = false;
    *out = 0;
    if (shardings == NULL || types == NULL) {
        return diag_nomem(w->ctx);
    }
    TSR_TRY(edge_shardings(w, owners, count, shardings, &any));
    for (size_t i = 0; i < count && mesh == NULL; i++) {
        mesh = shardings[i] != NULL ? shardings[i]->mesh : NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t edge = edge_of_owner(p, owners[i]);
        types[i] = value_type(p, owners[i]);
        if (any && shardings[i] == NULL) {
            TSR_TRY(open_sharding(w, mesh, types[i], &shardings[i]));
        }
        if (value_block(p, owners[i]) != 0) {
            TSR_TRY(edge_argument_outside(w, owners[i], shardings[i], &shardings[i]));
        }
        if (edge != 0) {
            remove_edge(p, edge);
        }
    }
    if (any) {
        TSR_TRY(sharding_list_attr(w, shardings, types, count, out));
    }
    tsr_arena_reset(w->scratch, mark);
    return TSR_OK;
}

static tsr_status list_arguments(workspace *w, uint32_t block, uint32_t **out, size_t *count)
{
    *count = program_block(w->p, block)->num_arguments;
    *out = ARENA_ARRAY(w->scratch, uint32_t, *count + 1);
    for (size_t i = 0; *out != NULL && i < *count; i++) {
        (*out)[i] = block_argument(w->p, block, i);
    }
    return *out != NULL ? TSR_OK : diag_nomem(w->ctx);
}

static tsr_status list_results(workspace *w, uint32_t op, uint32_t **out, size_t *count)
{
    *count = program_op(w->p, op)->num_results;
    *out = ARENA_ARRAY(w->scratch, uint32_t, *count + 1);
    for (size_t i = 0; *out != NULL && i < *count; i++) {
        (*out)[i] = op_result(w->p, op, i);
    }
    return *out != NULL ? TSR_OK : diag_nomem(w->ctx);
}

/* What is kept of what edges tell of propagation. */
typedef struct sunk_row {
    const char *name;
    const char *of_arguments;
    const char *of_results;
} sunk_row;

static const sunk_row origins_sunk = {"sdy.sharding_origins", "sdy.block_arg_sharding_origins",
                                      "sdy.result_sharding_origins"};
static const sunk_row steps_sunk = {"sdy.propagation_edges", "sdy.block_arg_propagation_edges",
                                    "sdy.result_propagation_edges"};

/* Lists an attribute of the edges of some owners, of those that have it, as one of an op. */
static tsr_status list_told(workspace *w, uint32_t op, const uint32_t *owners, size_t count,
                            const char *name, const char *list)
{
    tsr_program *p = w->p;
    uint32_t *attrs = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    size_t found = 0;
    uint32_t array = 0;
    if (attrs == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t edge = edge_of_owner(p, owners[i]);
        attrs[found] = edge != 0 ? op_attribute(p, edge, name) : 0;
        found += attrs[found] != 0;
    }
    TSR_TRY(attr_array(p, attrs, found, &array));
    return op_set_attribute(p, op, list, array);
}

/* Lets an op tell what its edges do. */
static tsr_status sink_told(workspace *w, uint32_t op, const sunk_row *row)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    uint32_t *owners = NULL;
    size_t count = 0;
    if (has_own_arguments(w->p, op)) {
        TSR_TRY(list_arguments(w, op_entry_block(w->p, op, 0), &owners, &count));
    }
    TSR_TRY(list_told(w, op, owners, count, row->name, row->of_arguments));
    TSR_TRY(list_results(w, op, &owners, &count));
    TSR_TRY(list_told(w, op, owners, count, row->name, row->of_results));
    tsr_arena_reset(w->scratch, mark);
    return TSR_OK;
}

tsr_status edge_sink_around(workspace *w, uint32_t op)
{
    tsr_program *p = w->p;
    const ir_row *row = program_row(p, op);
    uint32_t *owners = NULL;
    size_t count = 0;
    uint32_t attr = 0;
    if (row->argument_shardings != NULL) {
        TSR_TRY(list_arguments(w, op_entry_block(p, op, 0), &owners, &count));
        TSR_TRY(edge_sink_owners(w, owners, count, &attr));
        if (attr != 0) {
            TSR_TRY(op_set_property(p, op, row->argument_shardings, attr));
        }
    }
    TSR_TRY(list_results(w, op, &owners, &count));
    TSR_TRY(edge_sink_owners(w, owners, count, &attr));
    if (attr == 0) {
        return TSR_OK;
    }
    return row->result_sharding != NULL ? op_set_property(p, op, row->result_sharding, attr)
                                        : op_set_attribute(p, op, "sdy.sharding", attr);
}

static tsr_status sink_edges(workspace *w, bool origins, bool steps)
{
    tsr_program *p = w->p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_has_trait(p, op, IR_HAS_EDGES)) {
            if (origins) {
                TSR_TRY(sink_told(w, op, &origins_sunk));
            }
            if (steps) {
                TSR_TRY(sink_told(w, op, &steps_sunk));
            }
            TSR_TRY(edge_sink_around(w, op));
        }
    }
    return TSR_OK;
}

/* The sharding of an edge as an attribute: open where only its operand has one; 0: none. */
static tsr_status func_edge_sharding(workspace *w, uint32_t edge, uint32_t *out)
{
    tsr_program *p = w->p;
    const uint32_t operand = op_operand(p, edge, 0);
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    const tsr_sharding **shardings = NULL;
    const tsr_sharding *had = NULL;
    *out = 0;
    TSR_TRY(sharding_list_at(w, op_attribute(p, edge, "sdy.sharding"), 1, &shardings));
    TSR_TRY(value_sharding(w->ctx, p, operand, &had));
    if (shardings[0] == NULL && had != NULL) {
        TSR_TRY(open_sharding(w, had->mesh, value_type(p, operand), &shardings[0]));
    }
    if (shardings[0] != NULL) {
        TSR_TRY(sharding_attr(w, shardings[0], out));
    }
    tsr_arena_reset(w->scratch, mark);
    return TSR_OK;
}

/* Edges of arguments: all shardings of a function are written at once. */
static tsr_status sink_func_arguments(workspace *w, uint32_t func)
{
    tsr_program *p = w->p;
    const uint32_t block = op_entry_block(p, func, 0);
    const size_t count = block != 0 ? program_block(p, block)->num_arguments : 0;
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    uint32_t *attrs = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    bool any = false;
    if (attrs == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t use = value_first_use(p, block_argument(p, block, i));
        const uint32_t user = use != 0 ? use_op(p, use) : 0;
        attrs[i] = dict_get(p, function_dict(p, func, "arg_attrs", i), "sdy.sharding");
        if (user != 0 && op_is(p, user, OP_SDY_FUNC_DATA_FLOW_EDGE)) {
            TSR_TRY(func_edge_sharding(w, user, &attrs[i]));
            remove_edge(p, user);
            any = true;
        }
    }
    if (any) {
        TSR_TRY(function_set_dicts(w->ctx, w->p, func, "arg_attrs", "sdy.sharding", attrs, count));
    }
    tsr_arena_reset(w->scratch, mark);
    return TSR_OK;
}

static tsr_status sink_func_edges(workspace *w)
{
    tsr_program *p = w->p;
    uint32_t next = 0;
    for (uint32_t func = function_first(p); func != 0; func = function_next(p, func)) {
        TSR_TRY(sink_func_arguments(w, func));
    }
    for (uint32_t op = p->module; op != 0; op = next) {
        uint32_t attr = 0;
        next = op_walk_next(p, p->module, op);
        if (!op_is(p, op, OP_SDY_FUNC_DATA_FLOW_EDGE)) {
            continue;
        }
        TSR_TRY(func_edge_sharding(w, op, &attr));
        if (attr != 0) {
            TSR_TRY(value_set_sharding(w, op_operand(p, op, 0), attr));
        }
        remove_edge(p, op);
    }
    return TSR_OK;
}

/* ---- passes ---- */

WORKSPACE_PASS(pass_add_edges, add_edges)
WORKSPACE_PASS(pass_add_func_edges, add_func_edges)

tsr_status pass_sink_edges(tsr_context *ctx, tsr_program *p, const tsr_pass_options *options)
{
    workspace w;
    TSR_TRY(workspace_start(ctx, p, &w));
    const tsr_status status =
        sink_edges(&w, tsr_option_bool(options, "sink-debug-sharding-origins"),
                   tsr_option_bool(options, "sink-debug-propagation-edge-sharding"));
    workspace_end(&w);
    return status;
}

WORKSPACE_PASS(pass_sink_func_edges, sink_func_edges)
