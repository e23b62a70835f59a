/* The public calls. */
#include <tessera/interpret.h>

#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "exec/machine.h"
#include "exec/steps_check.h"
#include "ir/verify.h"

struct tsr_interpreter {
    tsr_context *ctx;
    exec_pool pool;
    exec_code *code;
    const exec_function *function;
    tsr_interpreter_options options;
    int64_t steps;
};

struct tsr_outputs {
    tsr_interpreter *interpreter;
    size_t count;
    exec_array *arrays[];
};

/* ---- the function ---- */

/* The only function of a module; 0 for none or several. */
static uint32_t only_function(const tsr_program *p)
{
    uint32_t found = 0;
    const uint32_t block = op_entry_block(p, p->module, 0);
    for (uint32_t op = program_block(p, block)->first_op; op != 0; op = program_op(p, op)->next) {
        if (op_is(p, op, "func.func")) {
            if (found != 0) {
                return 0;
            }
            found = op;
        }
    }
    return found;
}

static tsr_status find_entry(tsr_context *ctx, const tsr_program *p, const char *name,
                             uint32_t *out)
{
    uint32_t op = tsr_program_symbol(p, name != NULL ? name : "main");
    op = op == 0 && name == NULL ? only_function(p) : op;
    if (op == 0 || !op_is(p, op, "func.func")) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          name != NULL ? "there is no function @%s"
                                       : "there is neither a function @%s nor a single one",
                          name != NULL ? name : "main");
    }
    *out = op;
    return TSR_OK;
}

tsr_status tsr_interpreter_create(tsr_context *ctx, const tsr_program *program,
                                  const tsr_interpreter_options *options, tsr_interpreter **out)
{
    GUARD(tsr_interpreter_create);
    uint32_t op = 0;
    const tsr_interpreter_options chosen =
        options != NULL ? *options : (tsr_interpreter_options){0};
    TSR_TRY(find_entry(ctx, program, chosen.function, &op));
    tsr_interpreter *made = context_resize(ctx, NULL, 0, sizeof *made);
    if (made == NULL) {
        return diag_nomem(ctx);
    }
    *made = (tsr_interpreter){
        .ctx = ctx, .pool = exec_pool_new(ctx, chosen.max_bytes), .options = chosen};
    tsr_status status = exec_code_create(ctx, program, &made->pool, &made->code);
    if (status == TSR_OK) {
        status = exec_code_function(made->code, op, 0, &made->function);
    }
    if (status != TSR_OK) {
        tsr_interpreter_destroy(made);
        return status;
    }
    *out = made;
    return TSR_OK;
}

void tsr_interpreter_destroy(tsr_interpreter *interpreter)
{
    GUARD(tsr_interpreter_destroy);
    if (interpreter == NULL) {
        return;
    }
    exec_code_destroy(interpreter->code);
    exec_pool_clear(&interpreter->pool);
    (void)context_resize(interpreter->ctx, interpreter, sizeof *interpreter, 0);
}

size_t tsr_interpreter_num_inputs(const tsr_interpreter *interpreter)
{
    GUARD(tsr_interpreter_num_inputs);
    return interpreter->function->body->num_arguments;
}

tsr_ir_value tsr_interpreter_input(const tsr_interpreter *interpreter, size_t i)
{
    GUARD(tsr_interpreter_input);
    const tsr_program *p = interpreter->code->program;
    return tsr_ir_block_argument(p, op_entry_block(p, interpreter->function->op, 0), i);
}

size_t tsr_interpreter_num_outputs(const tsr_interpreter *interpreter)
{
    GUARD(tsr_interpreter_num_outputs);
    return interpreter->function->body->end.num_operands;
}

/* ---- runs ---- */

static tsr_status check_input(tsr_context *ctx, const exec_type *type, const tsr_view *input,
                              size_t i)
{
    const op_type given = {input->dtype, input->rank, input->shape};
    if (type->kind == EXEC_TENSOR && (given.dtype != type->tensor.dtype || op_has_unknown(&given) ||
                                      !op_shapes_agree(&given, &type->tensor))) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "input %zu is %s, the function takes %s", i, op_type_text(&given).text,
                          op_type_text(&type->tensor).text);
    }
    return TSR_OK;
}

static tsr_status copy_input(tsr_interpreter *in, const exec_type *type, const tsr_view *input,
                             exec_array **out)
{
    if (type->kind == EXEC_TOKEN) {
        return exec_array_token(&in->pool, out);
    }
    if (type->kind == EXEC_TUPLE) {
        return diag_error(in->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "a function that takes a tuple cannot be given inputs");
    }
    TSR_TRY(exec_array_shaped(&in->pool, input->dtype, input->rank, input->shape, out));
    const int64_t *strides = input->strides != NULL ? input->strides : (*out)->strides;
    if ((*out)->bytes > 0) {
        kernel_copy((*out)->data, (*out)->strides, input->data, strides, input->shape, input->rank,
                    (size_t)tsr_dtype_item_bytes(input->dtype), false);
    }
    return TSR_OK;
}

static tsr_status start(tsr_interpreter *in, exec_machine *m, const tsr_view *inputs)
{
    const exec_block *body = in->function->body;
    exec_array **arguments = exec_scratch(m, body->num_arguments * sizeof *arguments);
    if (arguments == NULL) {
        return diag_nomem(in->ctx);
    }
    for (size_t i = 0; i < body->num_arguments; i++) {
        const tsr_status status =
            copy_input(in, body->argument_types[i], &inputs[i], &arguments[i]);
        if (status != TSR_OK) {
            for (size_t k = 0; k < i; k++) {
                exec_array_drop(&in->pool, arguments[k]);
            }
            return status;
        }
    }
    return exec_enter_function(m, in->function, arguments, NULL);
}

static tsr_status take_outputs(tsr_interpreter *in, exec_machine *m, tsr_outputs **out)
{
    const size_t bytes = sizeof(tsr_outputs) + m->num_returned * sizeof(exec_array *);
    tsr_outputs *outputs = context_resize(in->ctx, NULL, 0, bytes);
    if (outputs == NULL) {
        return diag_nomem(in->ctx);
    }
    outputs->interpreter = in;
    outputs->count = m->num_returned;
    for (size_t i = 0; i < m->num_returned; i++) {
        outputs->arrays[i] = m->returned[i];
    }
    m->num_returned = 0;
    *out = outputs;
    return TSR_OK;
}

tsr_status tsr_interpreter_run(tsr_context *ctx, tsr_interpreter *interpreter,
                               const tsr_view *inputs, size_t num_inputs, tsr_outputs **out)
{
    GUARD(tsr_interpreter_run);
    const exec_block *body = interpreter->function->body;
    const tsr_interpreter_options *options = &interpreter->options;
    exec_host host = {.steps_left = options->max_ops > 0 ? options->max_ops : INT64_MAX,
                      .print = options->print,
                      .print_state = options->state};
    exec_machine m;
    if (num_inputs != body->num_arguments) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%zu inputs were given, the function takes %zu", num_inputs,
                          body->num_arguments);
    }
    for (size_t i = 0; i < num_inputs; i++) {
        TSR_TRY(check_input(ctx, body->argument_types[i], &inputs[i], i));
    }
    exec_machine_init(&m, interpreter->code, &host);
    tsr_status status = start(interpreter, &m, inputs);
    if (status == TSR_OK) {
        status = exec_machine_run(&m, 0);
    }
    if (status == TSR_OK) {
        status = take_outputs(interpreter, &m, out);
    }
    exec_probes_clear(&m);
    exec_machine_clear(&m);
    interpreter->steps = host.steps;
    return status;
}

size_t tsr_outputs_count(const tsr_outputs *outputs)
{
    GUARD(tsr_outputs_count);
    return outputs->count;
}

tsr_view tsr_outputs_get(const tsr_outputs *outputs, size_t i)
{
    GUARD(tsr_outputs_get);
    const exec_array *array = i < outputs->count ? outputs->arrays[i] : NULL;
    return array != NULL && array->kind == EXEC_TENSOR ? exec_array_view(array) : (tsr_view){0};
}

void tsr_outputs_destroy(tsr_outputs *outputs)
{
    GUARD(tsr_outputs_destroy);
    if (outputs == NULL) {
        return;
    }
    tsr_interpreter *in = outputs->interpreter;
    for (size_t i = 0; i < outputs->count; i++) {
        exec_array_drop(&in->pool, outputs->arrays[i]);
    }
    (void)context_resize(in->ctx, outputs, sizeof *outputs + outputs->count * sizeof(exec_array *),
                         0);
}

tsr_interpreter_stats tsr_interpreter_get_stats(const tsr_interpreter *interpreter)
{
    GUARD(tsr_interpreter_get_stats);
    return (tsr_interpreter_stats){.ops = interpreter->steps,
                                   .live_bytes = interpreter->pool.live,
                                   .peak_bytes = interpreter->pool.peak};
}
