/* The values of a program in the order of its text, and its main function. */
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "ir/function.h"
#include "ir/message.h"

/* Values found so far; a first walk only counts them. */
typedef struct walk {
    const tsr_program *program;
    tsr_ir_value *list; /* NULL: counting */
    size_t count;
} walk;

/* Whether the values inside an op are elements, not tensors of the program. */
static bool hides_elements(const tsr_program *p, tsr_ir_op op)
{
    static const bool kinds[OP_KIND_COUNT] = {
        [OP_STABLEHLO_REDUCE] = true,     [OP_STABLEHLO_REDUCE_WINDOW] = true,
        [OP_STABLEHLO_SCATTER] = true,    [OP_STABLEHLO_SORT] = true,
        [OP_STABLEHLO_MAP] = true,        [OP_STABLEHLO_SELECT_AND_SCATTER] = true,
        [OP_STABLEHLO_ALL_REDUCE] = true, [OP_STABLEHLO_REDUCE_SCATTER] = true,
    };
    return kinds[op_kind_of(p, op)];
}

static void add(walk *w, tsr_ir_value value)
{
    if (w->list != NULL) {
        w->list[w->count] = value;
    }
    w->count++;
}

static void walk_block(walk *w, tsr_ir_block block);

/* The values of an op: its results, then what is inside it. */
static void walk_op(walk *w, tsr_ir_op op)
{
    const tsr_program *p = w->program;
    for (size_t i = 0; i < tsr_ir_op_num_results(p, op); i++) {
        add(w, tsr_ir_op_result(p, op, i));
    }
    for (size_t r = 0; !hides_elements(p, op) && r < tsr_ir_op_num_regions(p, op); r++) {
        for (tsr_ir_block b = tsr_ir_region_first_block(p, tsr_ir_op_region(p, op, r)); b != 0;
             b = tsr_ir_block_next(p, b)) {
            walk_block(w, b);
        }
    }
}

static void walk_block(walk *w, tsr_ir_block block)
{
    const tsr_program *p = w->program;
    for (size_t i = 0; i < tsr_ir_block_num_arguments(p, block); i++) {
        add(w, tsr_ir_block_argument(p, block, i));
    }
    for (tsr_ir_op op = tsr_ir_block_first_op(p, block); op != 0; op = tsr_ir_op_next(p, op)) {
        walk_op(w, op);
    }
}

tsr_status tsr_program_values(tsr_context *ctx, tsr_arena *arena, const tsr_program *program,
                              size_t *count, const tsr_ir_value **out)
{
    GUARD(tsr_program_values);
    walk w = {.program = program};
    walk_op(&w, tsr_program_module(program));
    w.list = ARENA_ARRAY(arena, tsr_ir_value, w.count);
    if (w.list == NULL) {
        return diag_nomem(ctx);
    }
    w.count = 0;
    walk_op(&w, tsr_program_module(program));
    *count = w.count;
    *out = w.list;
    return TSR_OK;
}

tsr_ir_op tsr_program_main(const tsr_program *program)
{
    GUARD(tsr_program_main);
    return function_main(program);
}

size_t tsr_ir_func_num_results(const tsr_program *program, tsr_ir_op func)
{
    GUARD(tsr_ir_func_num_results);
    size_t count = 0;
    while (tsr_ir_tensor_type(program, (tsr_ir_tensor){.func = func, .index = count}) != 0) {
        count++;
    }
    return count;
}
