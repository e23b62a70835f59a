/* The public calls. */
#include <tessera/interpret.h>

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "interp/steps_check.h"
#include "interp/world.h"
#include "ir/message.h"

/* Devices of a module that are simulated. */
enum { MAX_DEVICES = 64 };

struct tsr_interpreter {
    tsr_context *ctx;
    interp_pool pool;
    program_code *code;
    const code_function *function;
    size_t replicas;
    size_t partitions; /* of each replica; 0: the function runs as one process in no world */
    tsr_interpreter_options options;
    int64_t steps;
};

struct tsr_outputs {
    tsr_interpreter *interpreter;
    size_t count;
    interp_array *arrays[];
};

/* ---- the function ---- */

/* The only function of a module; 0 for none or several. */
static uint32_t only_function(const tsr_program *p)
{
    uint32_t found = 0;
    const uint32_t block = op_entry_block(p, p->module, 0);
    for (uint32_t op = program_block(p, block)->first_op; op != 0; op = program_op(p, op)->next) {
        if (op_is(p, op, OP_FUNC_FUNC)) {
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
    if (op == 0 || !op_is(p, op, OP_FUNC_FUNC)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          name != NULL
                              ? "unknown function @%s"
                              : "the module has no function @%s, and not exactly 1 function",
                          name != NULL ? name : "main");
    }
    *out = op;
    return TSR_OK;
}

/* A number that the module has, 1 where it has none. */
static tsr_status module_number(tsr_context *ctx, const tsr_program *p, const char *name,
                                int64_t *out)
{
    const uint32_t attr = op_attribute(p, p->module, name);
    *out = 1;
    if (attr != 0 && (!attr_as_integer(p, attr, out) || *out < 1)) {
        return diag_error(ctx, TSR_ERR_INVALID, op_location(p, p->module),
                          "%s of the module is not an integer of at least 1", name);
    }
    return TSR_OK;
}

/*
 * Counts the devices that a function runs on: those of the module where an op needs them, outside
 * of manual computations, else one.
 */
static tsr_status count_devices(tsr_interpreter *in)
{
    const tsr_program *p = in->code->program;
    const uint32_t op = in->function->device_op;
    int64_t replicas = 1;
    int64_t partitions = 1;
    int64_t count = 0;
    if (op == 0) {
        return TSR_OK;
    }
    TSR_TRY(module_number(in->ctx, p, "mhlo.num_replicas", &replicas));
    TSR_TRY(module_number(in->ctx, p, "mhlo.num_partitions", &partitions));
    if (!checked_mul(replicas, partitions, &count) || count > MAX_DEVICES) {
        return CODE_ERROR(in->ctx, in->code, op, TSR_ERR_UNSUPPORTED,
                          "it needs all devices of the module, %lld x %lld; at most %d are "
                          "simulated: lower mhlo.num_replicas or mhlo.num_partitions",
                          (long long)replicas, (long long)partitions, MAX_DEVICES);
    }
    in->replicas = (size_t)replicas;
    in->partitions = (size_t)partitions;
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
    *made = (tsr_interpreter){.ctx = ctx, .options = chosen};
    tsr_status status = code_create(ctx, program, &interp_table, chosen.max_bytes, &made->code);
    if (status == TSR_OK) {
        status = code_function_of(made->code, op, 0, &made->function);
    }
    if (status == TSR_OK) {
        made->pool = interp_pool_new(ctx, chosen.max_bytes, made->code->constant_bytes);
        status = count_devices(made);
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
    code_destroy(interpreter->code);
    interp_pool_clear(&interpreter->pool);
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

size_t tsr_interpreter_num_devices(const tsr_interpreter *interpreter)
{
    GUARD(tsr_interpreter_num_devices);
    return interpreter->partitions > 0 ? interpreter->replicas * interpreter->partitions : 1;
}

/* ---- runs ---- */

static tsr_status check_input(tsr_context *ctx, const code_type *type, const tsr_view *input,
                              size_t i, int device)
{
    const op_type given = {input->dtype, input->rank, input->shape};
    if (type->kind == CODE_TENSOR && (given.dtype != type->tensor.dtype || op_has_unknown(&given) ||
                                      !op_shapes_agree(&given, &type->tensor))) {
        char where[32] = "";
        if (device >= 0) {
            (void)snprintf(where, sizeof where, " of device %d", device);
        }
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "input %zu%s is %s, but the function takes %s", i, where,
                          op_type_text(&given).text, op_type_text(&type->tensor).text);
    }
    return TSR_OK;
}

static tsr_status copy_input(tsr_interpreter *in, const code_type *type, const tsr_view *input,
                             interp_array **out)
{
    if (type->kind == CODE_TOKEN) {
        return interp_array_token(&in->pool, out);
    }
    if (type->kind == CODE_TUPLE) {
        return diag_error(in->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "a function with a tuple argument cannot be given inputs");
    }
    TSR_TRY(interp_array_shaped(&in->pool, input->dtype, input->rank, input->shape, out));
    const int64_t *strides = input->strides != NULL ? input->strides : (*out)->strides;
    if ((*out)->bytes > 0) {
        kernel_copy((*out)->data, (*out)->strides, input->data, strides, input->shape, input->rank,
                    (size_t)tsr_dtype_item_bytes(input->dtype), false);
    }
    return TSR_OK;
}

static tsr_status start(tsr_interpreter *in, interp_machine *m, const tsr_view *inputs)
{
    const code_block *body = in->function->body;
    interp_array **arguments = interp_scratch(m, body->num_arguments * sizeof *arguments);
    if (arguments == NULL) {
        return diag_nomem(in->ctx);
    }
    for (size_t i = 0; i < body->num_arguments; i++) {
        const tsr_status status =
            copy_input(in, body->argument_types[i], &inputs[i], &arguments[i]);
        if (status != TSR_OK) {
            for (size_t k = 0; k < i; k++) {
                interp_array_drop(&in->pool, arguments[k]);
            }
            return status;
        }
    }
    return interp_enter_function(m, in->function, arguments, NULL);
}

/* Moves what a machine has returned to the outputs of a device. */
static void take_outputs(interp_machine *m, tsr_outputs *outputs, size_t device)
{
    for (size_t i = 0; i < m->num_returned; i++) {
        outputs->arrays[device * m->num_returned + i] = m->returned[i];
    }
    m->num_returned = 0;
}

/* Runs the function as each device of the module; `stride` inputs lie between those of two. */
static tsr_status run_devices(tsr_interpreter *in, interp_machine *parent, const tsr_view *inputs,
                              size_t stride, tsr_outputs *outputs)
{
    interp_world world;
    TSR_TRY(interp_world_init(&world, parent, in->replicas, in->partitions));
    world.is_strict = true;
    tsr_status status = TSR_OK;
    for (size_t k = 0; k < world.count && status == TSR_OK; k++) {
        status = start(in, &world.machines[k], stride > 0 ? inputs + k * stride : inputs);
    }
    if (status == TSR_OK) {
        status = interp_world_run(&world, parent);
    }
    for (size_t k = 0; k < world.count && status == TSR_OK; k++) {
        take_outputs(&world.machines[k], outputs, k);
    }
    interp_world_clear(&world, parent);
    return status;
}

static tsr_status run_alone(tsr_interpreter *in, interp_machine *m, const tsr_view *inputs,
                            tsr_outputs *outputs)
{
    TSR_TRY(start(in, m, inputs));
    TSR_TRY(interp_machine_run(m, 0));
    take_outputs(m, outputs, 0);
    return TSR_OK;
}

static tsr_status new_outputs(tsr_interpreter *in, tsr_outputs **out)
{
    const size_t count = tsr_interpreter_num_devices(in) * in->function->body->end.num_operands;
    const size_t bytes = sizeof(tsr_outputs) + count * sizeof(interp_array *);
    tsr_outputs *outputs = context_resize(in->ctx, NULL, 0, bytes);
    if (outputs == NULL) {
        return diag_nomem(in->ctx);
    }
    memset(outputs, 0, bytes);
    outputs->interpreter = in;
    outputs->count = count;
    *out = outputs;
    return TSR_OK;
}

static tsr_status check_inputs(tsr_context *ctx, const tsr_interpreter *in, const tsr_view *inputs,
                               size_t num_inputs)
{
    const code_block *body = in->function->body;
    const size_t devices = tsr_interpreter_num_devices(in);
    if (num_inputs != body->num_arguments && num_inputs != devices * body->num_arguments) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          devices > 1
                              ? "%zu inputs given, %zu expected, or %zu for each of %zu devices"
                              : "%zu inputs given, %zu expected",
                          num_inputs, body->num_arguments, body->num_arguments, devices);
    }
    for (size_t i = 0; i < num_inputs; i++) {
        const size_t argument = i % body->num_arguments;
        TSR_TRY(
            check_input(ctx, body->argument_types[argument], &inputs[i], argument,
                        num_inputs > body->num_arguments ? (int)(i / body->num_arguments) : -1));
    }
    return TSR_OK;
}

tsr_status tsr_interpreter_run(tsr_context *ctx, tsr_interpreter *interpreter,
                               const tsr_view *inputs, size_t num_inputs, tsr_outputs **out)
{
    GUARD(tsr_interpreter_run);
    const size_t num_arguments = interpreter->function->body->num_arguments;
    const tsr_interpreter_options *options = &interpreter->options;
    interp_host host = {.steps_left = options->max_ops > 0 ? options->max_ops : INT64_MAX,
                        .print = options->print,
                        .print_state = options->state};
    interp_machine m;
    tsr_outputs *outputs = NULL;
    TSR_TRY(check_inputs(ctx, interpreter, inputs, num_inputs));
    TSR_TRY(new_outputs(interpreter, &outputs));
    interp_machine_init(&m, interpreter->ctx, interpreter->code, &interpreter->pool, &host);
    const tsr_status status =
        interpreter->partitions == 0
            ? run_alone(interpreter, &m, inputs, outputs)
            : run_devices(interpreter, &m, inputs, num_inputs > num_arguments ? num_arguments : 0,
                          outputs);
    interp_probes_clear(&m);
    interp_machine_clear(&m);
    interpreter->steps = host.steps;
    if (status != TSR_OK) {
        tsr_outputs_destroy(outputs);
        return status;
    }
    *out = outputs;
    return TSR_OK;
}

size_t tsr_outputs_count(const tsr_outputs *outputs)
{
    GUARD(tsr_outputs_count);
    return outputs->count;
}

tsr_view tsr_outputs_get(const tsr_outputs *outputs, size_t i)
{
    GUARD(tsr_outputs_get);
    const interp_array *array = i < outputs->count ? outputs->arrays[i] : NULL;
    return array != NULL && array->kind == CODE_TENSOR ? interp_array_view(array) : (tsr_view){0};
}

void tsr_outputs_destroy(tsr_outputs *outputs)
{
    GUARD(tsr_outputs_destroy);
    if (outputs == NULL) {
        return;
    }
    tsr_interpreter *in = outputs->interpreter;
    for (size_t i = 0; i < outputs->count; i++) {
        interp_array_drop(&in->pool, outputs->arrays[i]);
    }
    (void)context_resize(in->ctx, outputs,
                         sizeof *outputs + outputs->count * sizeof(interp_array *), 0);
}

tsr_interpreter_stats tsr_interpreter_get_stats(const tsr_interpreter *interpreter)
{
    GUARD(tsr_interpreter_get_stats);
    return (tsr_interpreter_stats){.ops = interpreter->steps,
                                   .live_bytes = interpreter->pool.live,
                                   .peak_bytes = interpreter->pool.peak};
}
