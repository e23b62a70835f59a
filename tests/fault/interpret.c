/*
 * Every allocation fails once while a program is decoded and run: TSR_ERR_NOMEM with a diagnostic,
 * nothing is left.
 */
#include <string.h>

#include <tessera/interpret.h>

#include "failing_heap.h"

static const char text[] =
    "sdy.mesh @m = <[\"a\"=2]>\n"
    "func.func private @half(%x: tensor<4xi32>) -> tensor<4xi32> {\n"
    "  %0 = \"stablehlo.all_reduce\"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> "
    "({\n"
    "  ^bb0(%a: tensor<i32>, %b: tensor<i32>):\n"
    "    %1 = stablehlo.subtract %a, %b : tensor<i32>\n"
    "    stablehlo.return %1 : tensor<i32>\n"
    "  }) : (tensor<4xi32>) -> tensor<4xi32>\n"
    "  return %0 : tensor<4xi32>\n"
    "}\n"
    "func.func @main() {\n"
    "  %c = stablehlo.constant dense<[3, 1, 2, 0]> : tensor<4xi32>\n"
    "  %big = stablehlo.constant dense<1.5> : tensor<2000xf32>\n"
    "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "  %p:2 = \"interpreter.run_parallel\"(%c, %c) <{programs = [[@half], [@half]]}> : "
    "(tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)\n"
    "  check.expect_eq_const %p#0, dense<0> : tensor<4xi32>\n"
    "  %s = \"stablehlo.sort\"(%c) <{dimension = 0 : i64}> ({\n"
    "  ^bb0(%a: tensor<i32>, %b: tensor<i32>):\n"
    "    %l = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %l : tensor<i1>\n"
    "  }) : (tensor<4xi32>) -> tensor<4xi32>\n"
    "  check.expect_eq_const %s, dense<[3, 2, 1, 0]> : tensor<4xi32>\n"
    "  %w:2 = stablehlo.while(%i = %one, %v = %big) : tensor<i32>, tensor<2000xf32> cond {\n"
    "    %t = stablehlo.compare LE, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %t : tensor<i1>\n"
    "  } do {\n"
    "    %n = stablehlo.add %i, %one : tensor<i32>\n"
    "    %d = stablehlo.add %v, %v : tensor<2000xf32>\n"
    "    stablehlo.return %n, %d : tensor<i32>, tensor<2000xf32>\n"
    "  }\n"
    "  %m = sdy.manual_computation(%c) in_shardings=[<@m, [{\"a\"}]>] "
    "out_shardings=[<@m, [{\"a\"}]>] manual_axes={\"a\"} (%x: tensor<2xi32>) {\n"
    "    %y = stablehlo.add %x, %x : tensor<2xi32>\n"
    "    sdy.return %y : tensor<2xi32>\n"
    "  } : (tensor<4xi32>) -> tensor<4xi32>\n"
    "  check.expect_eq_const %m, dense<[6, 2, 4, 0]> : tensor<4xi32>\n"
    "  %f = stablehlo.convert %c : (tensor<4xi32>) -> tensor<4xf8E4M3FN>\n"
    "  %g = stablehlo.multiply %f, %f : tensor<4xf8E4M3FN>\n"
    "  %shape = stablehlo.constant dense<[2, 2]> : tensor<2xi64>\n"
    "  %r = stablehlo.dynamic_reshape %c, %shape : (tensor<4xi32>, tensor<2xi64>) -> "
    "tensor<?x?xi32>\n"
    "  %q = stablehlo.add %r, %r : tensor<?x?xi32>\n"
    "  %z = interpreter.probe %c, probe_id = \"c\" : tensor<4xi32>\n"
    "  interpreter.print %z : tensor<4xi32>\n"
    "  return\n"
    "}\n";

static void print_nothing(void *state, const char *bytes, size_t size)
{
    (void)state;
    (void)bytes;
    (void)size;
}

static bool use_interpreter(tsr_context *ctx)
{
    const tsr_text source = {.name = "f.mlir", .data = text, .size = strlen(text)};
    const tsr_interpreter_options options = {.print = print_nothing};
    tsr_program *program = NULL;
    tsr_interpreter *in = NULL;
    tsr_outputs *outputs = NULL;
    const bool fine =
        worked_or_no_memory(ctx, tsr_program_read(ctx, &source, 0, &program)) &&
        worked_or_no_memory(ctx, tsr_interpreter_create(ctx, program, &options, &in)) &&
        worked_or_no_memory(ctx, tsr_interpreter_run(ctx, in, NULL, 0, &outputs));
    assert_true(fine || outputs == NULL);
    tsr_outputs_destroy(outputs);
    tsr_interpreter_destroy(in);
    tsr_program_destroy(program);
    return fine;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(fail_each_allocation_of(use_interpreter) > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
