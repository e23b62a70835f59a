#include "ir/function.h"

#include "base/arena.h"

/* A function at or after an op of the module. */
static uint32_t function_from(const tsr_program *p, uint32_t op)
{
    while (op != 0 && !op_is(p, op, OP_FUNC_FUNC)) {
        op = program_op(p, op)->next;
    }
    return op;
}

uint32_t function_first(const tsr_program *p)
{
    return function_from(p, program_block(p, op_entry_block(p, p->module, 0))->first_op);
}

uint32_t function_next(const tsr_program *p, uint32_t func)
{
    return function_from(p, program_op(p, func)->next);
}

uint32_t function_main(const tsr_program *p)
{
    const uint32_t first = function_first(p);
    if (first != 0 && function_next(p, first) == 0) {
        return first;
    }
    for (uint32_t func = first; func != 0; func = function_next(p, func)) {
        slice name;
        if (attr_as_string(p, op_property(p, func, "sym_name"), &name) && slice_is(name, "main")) {
            return func;
        }
    }
    return 0;
}

const type_head *function_type(const tsr_program *p, uint32_t func)
{
    const uint32_t attr = op_property(p, func, "function_type");
    const uint32_t type = attr_is(p, attr, ATTR_TYPE) ? program_attr(p, attr)->type : 0;
    return type_is(p, type, TYPE_FUNCTION) ? program_type(p, type) : NULL;
}

size_t function_num_arguments(const tsr_program *p, uint32_t func)
{
    return function_type(p, func)->inputs;
}

size_t function_num_results(const tsr_program *p, uint32_t func)
{
    return function_type(p, func)->count - function_type(p, func)->inputs;
}

uint32_t function_dict(const tsr_program *p, uint32_t func, const char *list, size_t index)
{
    const uint32_t attr = op_property(p, func, list);
    return attr_is(p, attr, ATTR_ARRAY) && index < program_attr(p, attr)->count
               ? attr_list(program_attr(p, attr))[index]
               : 0;
}

tsr_status function_set_dicts(tsr_context *ctx, tsr_program *p, uint32_t func, const char *list,
                              const char *name, const uint32_t *attrs, size_t count)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
    uint32_t *dicts = ARENA_ARRAY(p->scratch, uint32_t, count + 1);
    uint32_t array = 0;
    bool any = false;
    if (dicts == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < count; i++) {
        dicts[i] = function_dict(p, func, list, i);
        TSR_TRY(dict_set(p, dicts[i], name, attrs[i], &dicts[i]));
        any = any || dicts[i] != 0;
        TSR_TRY(dict_value(p, dicts[i], &dicts[i]));
    }
    if (any) {
        TSR_TRY(attr_array(p, dicts, count, &array));
    }
    tsr_arena_reset(p->scratch, mark);
    return op_set_property(p, func, list, array);
}
