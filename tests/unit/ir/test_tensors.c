/* Tensors of a program from outside: names as written and as users gave them, types, shardings. */
#include <tessera/program.h>

#include "support.h"

static const char text[] =
    "sdy.mesh @mesh = <[\"x\"=2]>\n"
    "func.func @main(%left: tensor<4x2xf32> loc(\"weights['w']\"), %arg1: tensor<4x2xf32>)\n"
    "    -> (tensor<4x2xf32> {jax.result_info = \"result['loss']\",\n"
    "                         sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>},\n"
    "        tensor<4x2xf32>) {\n"
    "  %sum.1 = stablehlo.add %left, %arg1 : tensor<4x2xf32>\n"
    "  %a, %both:2 = stablehlo.optimization_barrier %sum.1, %left, %arg1 : tensor<4x2xf32>, "
    "tensor<4x2xf32>, tensor<4x2xf32>\n"
    "  return %a, %both#1 : tensor<4x2xf32>, tensor<4x2xf32>\n"
    "}\n";

static tsr_program *read_it(fixture *f)
{
    tsr_program *program = NULL;
    const tsr_text source = tsr_text_of("names.mlir", text);
    assert_int_equal(tsr_program_read(f->ctx, &source, 0, &program), TSR_OK);
    return program;
}

static tsr_ir_op first_op(const tsr_program *p, tsr_ir_op func)
{
    return tsr_ir_block_first_op(p, tsr_ir_region_first_block(p, tsr_ir_op_region(p, func, 0)));
}

static void names_are_as_written(void **state)
{
    fixture *f = *state;
    tsr_program *p = read_it(f);
    const tsr_ir_op main = tsr_program_symbol(p, "main");
    const tsr_ir_op add = first_op(p, main);
    const tsr_ir_op barrier = tsr_ir_op_next(p, add);
    const char *const *names = NULL;
    assert_int_equal(tsr_program_written_names(f->ctx, f->arena, p, &names), TSR_OK);
    assert_string_equal(names[tsr_ir_op_result(p, add, 0)], "%sum.1");
    assert_string_equal(names[tsr_ir_op_result(p, barrier, 0)], "%a");
    assert_string_equal(names[tsr_ir_op_result(p, barrier, 1)], "%both#0");
    assert_string_equal(names[tsr_ir_op_result(p, barrier, 2)], "%both#1");
    assert_string_equal(names[tsr_ir_op_operand(p, add, 1)], "%arg1");
    assert_string_equal(names[tsr_ir_op_operand(p, add, 0)], "%arg0"); /* it has a location */
    tsr_program_destroy(p);
}

static void users_names_types_and_shardings(void **state)
{
    fixture *f = *state;
    tsr_program *p = read_it(f);
    const tsr_ir_op main = tsr_program_symbol(p, "main");
    const tsr_ir_tensor argument = {.value = tsr_ir_op_operand(p, first_op(p, main), 0)};
    const tsr_ir_tensor loss = {.func = main, .index = 0};
    const tsr_ir_tensor other = {.func = main, .index = 1};
    const tsr_ir_tensor none = {.func = main, .index = 2};
    const char *name = NULL;
    const tsr_sharding *sharding = NULL;
    assert_int_equal(tsr_ir_tensor_name(f->ctx, f->arena, p, argument, &name), TSR_OK);
    assert_string_equal(name, "weights['w']");
    assert_int_equal(tsr_ir_tensor_name(f->ctx, f->arena, p, loss, &name), TSR_OK);
    assert_string_equal(name, "result['loss']");
    assert_int_equal(tsr_ir_tensor_name(f->ctx, f->arena, p, other, &name), TSR_OK);
    assert_null(name);
    assert_int_equal(tsr_ir_tensor_sharding(f->ctx, p, loss, &sharding), TSR_OK);
    assert_string_equal(sharding_bare(f, sharding), "[{\"x\"}, {}]");
    assert_int_equal(tsr_ir_tensor_sharding(f->ctx, p, other, &sharding), TSR_OK);
    assert_null(sharding);
    assert_int_equal(tsr_ir_tensor_type(p, loss), tsr_ir_tensor_type(p, argument));
    assert_int_equal(tsr_ir_tensor_type(p, none), 0);
    assert_int_equal(tsr_ir_tensor_type(p, (tsr_ir_tensor){.value = 1000}), 0);
    assert_int_equal(tsr_ir_tensor_type(p, (tsr_ir_tensor){0}), 0);
    assert_int_equal(tsr_ir_tensor_sharding(f->ctx, p, none, &sharding), TSR_OK);
    assert_null(sharding);
    tsr_program_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(names_are_as_written),
                                       TEST(users_names_types_and_shardings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
