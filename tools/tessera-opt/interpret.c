#include "interpret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/interpret.h>

static void print_text(void *state, const char *text, size_t size)
{
    (void)fwrite(text, 1, size, state);
}

static tsr_status run_function(tsr_context *ctx, const tsr_program *program, const char *name)
{
    const tsr_interpreter_options options = {
        .function = name, .print = print_text, .state = stdout};
    tsr_interpreter *interpreter = NULL;
    tsr_outputs *outputs = NULL;
    tsr_status status = tsr_interpreter_create(ctx, program, &options, &interpreter);
    if (status >= 0) {
        status = tsr_interpreter_run(ctx, interpreter, NULL, 0, &outputs);
    }
    tsr_outputs_destroy(outputs);
    tsr_interpreter_destroy(interpreter);
    return status;
}

static tsr_ir_op first_op(const tsr_program *program)
{
    const tsr_ir_region body = tsr_ir_op_region(program, tsr_program_module(program), 0);
    return tsr_ir_block_first_op(program, tsr_ir_region_first_block(program, body));
}

/* The name of a function, the arena's; it is printed in quotes. */
static tsr_status function_name(tsr_context *ctx, tsr_arena *arena, const tsr_program *program,
                                tsr_ir_op op, char **out)
{
    const char *quoted = NULL;
    const tsr_ir_attr attr = tsr_ir_op_attribute(program, op, "sym_name");
    const tsr_status status = tsr_ir_attr_to_text(ctx, arena, program, attr, &quoted);
    if (status < 0) {
        return status;
    }
    const size_t size = strlen(quoted);
    *out = tsr_arena_alloc(arena, size);
    if (*out == NULL) {
        return TSR_ERR_NOMEM;
    }
    memcpy(*out, quoted + 1, size - 2);
    (*out)[size - 2] = '\0';
    return TSR_OK;
}

tsr_status interpret_program(tsr_context *ctx, const tsr_program *program)
{
    tsr_arena *arena = NULL;
    size_t found = 0;
    if (tsr_program_symbol(program, "main") != 0) {
        return run_function(ctx, program, NULL);
    }
    tsr_status status = tsr_arena_create(ctx, &arena);
    if (status < 0) {
        return status;
    }
    for (tsr_ir_op op = first_op(program); op != 0 && status >= 0;
         op = tsr_ir_op_next(program, op)) {
        char *name = NULL;
        if (strcmp(tsr_ir_op_name(program, op), "func.func") == 0) {
            found++;
            status = function_name(ctx, arena, program, op, &name);
            status = status >= 0 ? run_function(ctx, program, name) : status;
        }
    }
    tsr_arena_destroy(arena);
    return found > 0 ? status : run_function(ctx, program, NULL);
}

int interpret_exit_status(tsr_status status)
{
    if (status >= 0) {
        return EXIT_SUCCESS;
    }
    switch (status) {
    case TSR_ERR_UNSUPPORTED:
        return EXIT_UNSUPPORTED;
    case TSR_ERR_INVALID:
    case TSR_ERR_SYNTAX:
        return EXIT_BAD_INPUT;
    default:
        return EXIT_FAILURE;
    }
}
