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
        const char *name = NULL;
        if (strcmp(tsr_ir_op_name(program, op), "func.func") == 0) {
            found++;
            status = tsr_ir_op_symbol(ctx, arena, program, op, &name);
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
