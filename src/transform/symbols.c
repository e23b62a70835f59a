#include "transform/symbols.h"

#include <stdio.h>

#include "base/arena.h"

slice symbols_name(const tsr_program *p, uint32_t op)
{
    slice name = {0};
    (void)attr_as_string(p, op_property(p, op, "sym_name"), &name);
    return name;
}

static tsr_status add_symbol(workspace *w, symbols *table, uint32_t op)
{
    const slice name = symbols_name(w->p, op);
    uint64_t *entry =
        name.data != NULL ? workspace_entry(w, &table->ops, name.data, name.size) : NULL;
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
    const slice base = symbols_name(w->p, op);
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
    if (symbols_find(table, symbols_name(w->p, op)) != 0) {
        TSR_TRY(make_unique(w, table, op));
    }
    block_append(w->p, op_entry_block(w->p, w->p->module, 0), op);
    return add_symbol(w, table, op);
}

uint32_t symbols_callee(const tsr_program *p, const symbols *table, uint32_t call)
{
    slice name = {0};
    (void)attr_as_symbol(p, op_property(p, call, "callee"), &name);
    return symbols_find(table, name);
}

tsr_status symbols_set_callee(tsr_program *p, uint32_t call, uint32_t func)
{
    const slice name = symbols_name(p, func);
    uint32_t string = 0;
    uint32_t attr = 0;
    TSR_TRY(program_string(p, name.data, name.size, &string));
    TSR_TRY(attr_symbol(p, &string, 1, &attr));
    return op_set_property(p, call, "callee", attr);
}
