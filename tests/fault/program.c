/*
 * Every allocation fails once while a program is read, verified, copied and printed: TSR_ERR_NOMEM
 * with a diagnostic, nothing is left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/program.h>

#include "failing_heap.h"

static const char text[] =
    "#alias = #sdy.sharding<@m, [{\"a\"}, {}]>\n"
    "#here = loc(\"file.py\":3:4)\n"
    "sdy.mesh @m = <[\"a\"=2, \"b\"=2]>\n"
    "func.func @f(%x: tensor<4x8xf32> {sdy.sharding = #alias} loc(\"x\"(#here)),\n"
    "             %i: tensor<i32>) -> (tensor<4x8xf32>, tensor<4xf32>) {\n"
    "  %c = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>\n"
    "  %z = stablehlo.constant dense<0.5> : tensor<f32>\n"
    "  %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : "
    "(tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>\n"
    "  %w:2 = stablehlo.while(%p = %x, %q = %i) : tensor<4x8xf32>, tensor<i32> cond {\n"
    "    %t = stablehlo.compare LT, %q, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %t : tensor<i1>\n"
    "  } do {\n"
    "    %n = stablehlo.add %p, %p {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {\"b\"}]>]>, "
    "sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=8}>} : "
    "tensor<4x8xf32>\n"
    "    stablehlo.return %n, %q : tensor<4x8xf32>, tensor<i32>\n"
    "  }\n"
    "  %m = sdy.manual_computation(%w#0) in_shardings=[<@m, [{\"a\"}, {}]>] "
    "out_shardings=[<@m, [{\"a\"}, {}]>] manual_axes={\"a\"} (%l: tensor<2x8xf32>) {\n"
    "    sdy.return %l : tensor<2x8xf32>\n"
    "  } : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    "  %g = sdy.all_gather [{\"a\"}, {}] %m out_sharding=<@m, [{}, {}]> : tensor<4x8xf32>\n"
    "  \"stablehlo.custom_call\"(%i) {call_target_name = \"t\", has_side_effect = true} : "
    "(tensor<i32>) -> ()\n"
    "  return %g, %r : tensor<4x8xf32>, tensor<4xf32> loc(#here)\n"
    "}\n";

static bool count_bytes(void *state, const char *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)state += count;
    return true;
}

static bool use_program(tsr_context *ctx)
{
    const tsr_text source = {.name = "f.mlir", .data = text, .size = strlen(text)};
    tsr_program *program = NULL;
    tsr_program *copy = NULL;
    size_t sizes[4] = {0};
    bool fine = worked_or_no_memory(ctx, tsr_program_read(ctx, &source, 0, &program));
    if (fine) {
        fine = worked_or_no_memory(ctx, tsr_program_clone(ctx, program, &copy));
    }
    for (int printing = 0; fine && printing < 4; printing++) {
        fine = worked_or_no_memory(
            ctx, tsr_program_print(ctx, copy, printing, count_bytes, &sizes[printing]));
    }
    assert_true(!fine || (sizes[0] > 0 && sizes[1] > sizes[0] && sizes[3] > sizes[2]));
    tsr_program_destroy(program);
    tsr_program_destroy(copy);
    return fine;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(fail_each_allocation_of(use_program) > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
