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

static tsr_program *read_text(fixture *f, const char *of)
{
    tsr_program *program = NULL;
    const tsr_text source = tsr_text_of("values.mlir", of);
    assert_int_equal(tsr_program_read(f->ctx, &source, 0, &program), TSR_OK);
    return program;
}

/* The values of a program in order, by the names that its text gives them. */
static void expect_values(fixture *f, tsr_program *p, const char *const *wanted, size_t expected)
{
    const char *const *names = NULL;
    const tsr_ir_value *values = NULL;
    size_t count = 0;
    assert_int_equal(tsr_program_written_names(f->ctx, f->arena, p, &names), TSR_OK);
    assert_int_equal(tsr_program_values(f->ctx, f->arena, p, &count, &values), TSR_OK);
    assert_int_equal(count, expected);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(names[values[i]], wanted[i]);
    }
}

/* Names as they are stored: what is quoted or escaped in the text is not there. */
static void symbols(void **state)
{
    fixture *f = *state;
    tsr_program *p = read_text(f, "sdy.mesh @\"a \\22b\\0A\" = <[\"x\"=2]>\n"
                                  "func.func @main() {\n"
                                  "  return\n"
                                  "}\n");
    const tsr_ir_op module = tsr_program_module(p);
    const tsr_ir_region body = tsr_ir_op_region(p, module, 0);
    const tsr_ir_op mesh = tsr_ir_block_first_op(p, tsr_ir_region_first_block(p, body));
    const tsr_ir_op main = tsr_ir_op_next(p, mesh);
    const char *name = "";
    assert_int_equal(tsr_ir_op_symbol(f->ctx, f->arena, p, module, &name), TSR_OK);
    assert_null(name);
    assert_int_equal(tsr_ir_op_symbol(f->ctx, f->arena, p, mesh, &name), TSR_OK);
    assert_string_equal(name, "a \"b\n");
    assert_int_equal(tsr_program_symbol(p, name), mesh);
    assert_int_equal(tsr_ir_op_symbol(f->ctx, f->arena, p, main, &name), TSR_OK);
    assert_string_equal(name, "main");
    tsr_program_destroy(p);
}

/* The short form of a reduction, with one result and with several. */
static void names_of_reductions(void **state)
{
    fixture *f = *state;
    tsr_program *p = read_text(
        f, "func.func @main(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {\n"
           "  %sum=stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] :\n"
           "      (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
           "  %both:2 = stablehlo.reduce(%a init: %z), (%a init: %z) across dimensions = [0] :\n"
           "      (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>)\n"
           "      -> (tensor<f32>, tensor<f32>)\n"
           "      reducer(%b: tensor<f32>, %c: tensor<f32>) (%d: tensor<f32>, %e: tensor<f32>) {\n"
           "    stablehlo.return %b, %d : tensor<f32>, tensor<f32>\n"
           "  }\n"
           "  return %sum : tensor<f32>\n"
           "}\n");
    static const char *const wanted[] = {"%a", "%z", "%sum", "%both#0", "%both#1"};
    expect_values(f, p, wanted, sizeof wanted / sizeof wanted[0]);
    tsr_program_destroy(p);
}

/* Arguments, results, and what loops hold; what a reduction adds is left out. */
static void values_in_order(void **state)
{
    fixture *f = *state;
    tsr_program *p = read_text(
        f, "func.func @f(%a: tensor<4xf32>, %n: tensor<i32>) -> (tensor<f32>, tensor<i32>) {\n"
           "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
           "  %r = \"stablehlo.reduce\"(%a, %z) <{dimensions = array<i64: 0>}> ({\n"
           "  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
           "    %s = stablehlo.add %x, %y : tensor<f32>\n"
           "    stablehlo.return %s : tensor<f32>\n"
           "  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
           "  %w = stablehlo.while(%i = %n) : tensor<i32> cond {\n"
           "    %c = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
           "    stablehlo.return %c : tensor<i1>\n"
           "  } do {\n"
           "    stablehlo.return %i : tensor<i32>\n"
           "  }\n"
           "  return %r, %w : tensor<f32>, tensor<i32>\n"
           "}\n");
    static const char *const wanted[] = {"%a", "%n", "%z", "%r", "%w", "%i", "%c", "%i"};
    expect_values(f, p, wanted, sizeof wanted / sizeof wanted[0]);
    const tsr_ir_op only = tsr_program_main(p);
    assert_int_equal(only, tsr_program_symbol(p, "f"));
    assert_int_equal(tsr_ir_func_num_results(p, only), 2);
    assert_int_equal(tsr_ir_func_num_results(p, tsr_program_module(p)), 0);
    tsr_program_destroy(p);
}

static void the_main_function(void **state)
{
    fixture *f = *state;
    static const char *const texts[] = {"", "func.func private @f()\nfunc.func private @g()\n",
                                        "func.func private @f()\nfunc.func private @main()\n",
                                        "sdy.mesh @main = <[\"x\"=2]>\nfunc.func private @f()\n"};
    static const char *const mains[] = {NULL, NULL, "main", "f"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tsr_program *p = read_text(f, texts[i]);
        assert_int_equal(tsr_program_main(p),
                         mains[i] != NULL ? tsr_program_symbol(p, mains[i]) : 0);
        tsr_program_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(names_are_as_written),
                                       TEST(users_names_types_and_shardings),
                                       TEST(symbols),
                                       TEST(names_of_reductions),
                                       TEST(values_in_order),
                                       TEST(the_main_function)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
