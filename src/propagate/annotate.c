/* Shardings that a caller adds to a program. */
#include <tessera/explain.h>

#include "base/arena.h"
#include "base/guard.h"
#include "propagate/workspace.h"

/* One annotation to add. */
typedef struct annotating {
    workspace w;
    tsr_ir_tensor tensor;
    uint32_t attr;
} annotating;

/* Sets the sharding of one argument or result of a function; those of others stay. */
static tsr_status annotate_func(annotating *a, uint32_t func, const char *list, size_t index,
                                size_t count)
{
    tsr_program *p = a->w.p;
    uint32_t *attrs = ARENA_ARRAY(a->w.arena, uint32_t, count + 1);
    if (attrs == NULL) {
        return diag_nomem(a->w.ctx);
    }
    for (size_t i = 0; i < count; i++) {
        attrs[i] = dict_get(p, function_dict(p, func, list, i), "sdy.sharding");
    }
    attrs[index] = a->attr;
    return function_set_dicts(a->w.ctx, a->w.p, func, list, "sdy.sharding", attrs, count);
}

/* Puts a constraint between a value and all its users. */
static tsr_status constrain(annotating *a, uint32_t value)
{
    tsr_program *p = a->w.p;
    const uint32_t type = value_type(p, value);
    uint32_t dict = 0;
    uint32_t op = 0;
    TSR_TRY(dict_set(p, 0, "sharding", a->attr, &dict));
    const op_spec spec = {.kind = OP_SDY_SHARDING_CONSTRAINT,
                          .operands = &value,
                          .num_operands = 1,
                          .types = &type,
                          .num_results = 1,
                          .properties = dict,
                          .like = value_op(p, value)};
    TSR_TRY(op_create(p, &spec, &op));
    op_insert_after_value(p, op, value);
    value_replace_uses(p, value, op_result(p, op, 0), op);
    return TSR_OK;
}

static tsr_status annotate_value(annotating *a, uint32_t value)
{
    tsr_program *p = a->w.p;
    const uint32_t op = value_op(p, value);
    const uint32_t block = value_block(p, value);
    const uint32_t parent = block != 0 ? block_parent(p, block) : 0;
    if (parent != 0 && op_is(p, parent, OP_FUNC_FUNC)) {
        return annotate_func(a, parent, "arg_attrs", program_value(p, value)->index,
                             program_block(p, block)->num_arguments);
    }
    return op != 0 && op_is(p, op, OP_SDY_SHARDING_CONSTRAINT)
               ? op_set_property(p, op, "sharding", a->attr)
               : constrain(a, value);
}

static tsr_status annotate(annotating *a, const tsr_sharding *sharding)
{
    const tsr_sharding *known = NULL;
    TSR_TRY(engine_intern(a->w.engine, sharding, &known));
    TSR_TRY(sharding_attr(&a->w, known, &a->attr));
    return a->tensor.value != 0 ? annotate_value(a, a->tensor.value)
                                : annotate_func(a, a->tensor.func, "res_attrs", a->tensor.index,
                                                function_num_results(a->w.p, a->tensor.func));
}

tsr_status tsr_program_annotate(tsr_context *ctx, tsr_program *program, tsr_ir_tensor tensor,
                                const tsr_sharding *sharding)
{
    GUARD(tsr_program_annotate);
    annotating a = {.tensor = tensor};
    const uint32_t type = tsr_ir_tensor_type(program, tensor);
    size_t rank = 0;
    const int64_t *shape = NULL;
    if (type == 0 || !tsr_ir_type_shape(program, type, &rank, &shape)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the value to annotate is not a ranked tensor");
    }
    if (rank != tsr_sharding_rank(sharding)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the sharding has rank %zu, the tensor rank %zu",
                          tsr_sharding_rank(sharding), rank);
    }
    TSR_TRY(edit_begin(program));
    TSR_TRY(workspace_start(ctx, program, &a.w));
    const tsr_status status = annotate(&a, sharding);
    workspace_end(&a.w);
    ir_shardings_refresh(program);
    return status;
}

tsr_status tsr_program_mesh(tsr_context *ctx, tsr_program *program, const char *name,
                            const tsr_mesh **out)
{
    GUARD(tsr_program_mesh);
    const tsr_program *p = program;
    uint32_t found = 0;
    for (uint32_t op = program_block(p, op_entry_block(p, p->module, 0))->first_op; op != 0;
         op = program_op(p, op)->next) {
        slice symbol;
        if (!op_is(p, op, OP_SDY_MESH) ||
            !attr_as_string(p, op_property(p, op, "sym_name"), &symbol)) {
            continue;
        }
        if (name != NULL && slice_is(symbol, name)) {
            return program_mesh(ctx, program, program->module, symbol, out);
        }
        if (name == NULL && found != 0) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "the program has several meshes; name one of them");
        }
        found = op;
    }
    if (name != NULL || found == 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "the program has no mesh%s%s",
                          name != NULL ? " @" : "", name != NULL ? name : "");
    }
    slice symbol;
    (void)attr_as_string(p, op_property(p, found, "sym_name"), &symbol);
    return program_mesh(ctx, program, program->module, symbol, out);
}
