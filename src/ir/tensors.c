/* Tensors of a program from outside: values, and results of functions. */
#include "base/arena.h"
#include "base/guard.h"
#include "ir/edit.h"
#include "ir/function.h"
#include "ir/location.h"
#include "ir/message.h"
#include "ir/shardings.h"

tsr_ir_type tsr_ir_tensor_type(const tsr_program *program, tsr_ir_tensor tensor)
{
    GUARD(tsr_ir_tensor_type);
    if (tensor.value != 0) {
        const bool exists = tensor.value < program->values.count &&
                            program_value(program, tensor.value)->owner != 0;
        return exists ? value_type(program, tensor.value) : 0;
    }
    if (tensor.func == 0 || tensor.func >= program->ops.count ||
        !op_is(program, tensor.func, OP_FUNC_FUNC)) {
        return 0;
    }
    const type_head *type = function_type(program, tensor.func);
    return tensor.index < type->count - type->inputs ? type_list(type)[type->inputs + tensor.index]
                                                     : 0;
}

/* An entry of the dictionary of a result; 0: none. */
static uint32_t result_attr(const tsr_program *p, tsr_ir_tensor tensor, const char *name)
{
    return dict_get(p, function_dict(p, tensor.func, "res_attrs", tensor.index), name);
}

tsr_status tsr_ir_tensor_sharding(tsr_context *ctx, tsr_program *program, tsr_ir_tensor tensor,
                                  const tsr_sharding **out)
{
    GUARD(tsr_ir_tensor_sharding);
    *out = NULL;
    if (tsr_ir_tensor_type(program, tensor) == 0) {
        return TSR_OK;
    }
    if (tensor.value != 0) {
        return value_sharding(ctx, program, tensor.value, out);
    }
    const uint32_t attr = result_attr(program, tensor, "sdy.sharding");
    return attr != 0 ? sharding_of_attr(ctx, program, tensor.func, attr,
                                        op_location(program, tensor.func), "", NULL, out)
                     : TSR_OK;
}

/* The name in a location; empty: it has none. */
static slice location_name(const tsr_program *p, uint32_t where)
{
    location_kind kind;
    size_t count = 0;
    if ((where & IR_IS_GIVEN) == 0) {
        return (slice){0};
    }
    const uint32_t *numbers = given_location(p, where & ~IR_IS_GIVEN, &kind, &count);
    return kind == LOCATION_NAME ? string_at(p, numbers[0]) : (slice){0};
}

tsr_status tsr_ir_tensor_name(tsr_context *ctx, tsr_arena *arena, const tsr_program *program,
                              tsr_ir_tensor tensor, const char **out)
{
    GUARD(tsr_ir_tensor_name);
    slice name = {0};
    *out = NULL;
    if (tsr_ir_tensor_type(program, tensor) == 0) {
        return TSR_OK;
    }
    if (tensor.value == 0) {
        (void)attr_as_string(program, result_attr(program, tensor, "jax.result_info"), &name);
    } else if (value_block(program, tensor.value) != 0) {
        name = location_name(program, program_value(program, tensor.value)->location);
    }
    if (name.size == 0) {
        return TSR_OK;
    }
    *out = arena_string(arena, name.data, name.size);
    return *out != NULL ? TSR_OK : diag_nomem(ctx);
}
