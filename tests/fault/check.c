/*
 * Every allocation fails once while a program is checked: TSR_ERR_NOMEM with a diagnostic, nothing
 * is left.
 */
#include <string.h>

#include <tessera/check.h>

#include "failing_heap.h"

static const char text[] =
    "sdy.mesh @m = <[\"a\"=4, \"b\"=2]>\n"
    "sdy.mesh @n = <[\"c\"=2]>\n"
    "func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"b\"}, {?}]>},\n"
    "    %i: tensor<i32>) -> tensor<2x4xf32> {\n"
    "  %k = sdy.sharding_constraint %x <@m, [{}, {?}]> : tensor<8x4xf32>\n"
    "  %g = sdy.sharding_constraint %k <@m, [{\"b\"}, {?}]> : tensor<8x4xf32>\n"
    "  %m = sdy.manual_computation(%g) in_shardings=[<@m, [{\"a\"}, {?}]>]\n"
    "      out_shardings=[<@m, [{}, {?}]>] manual_axes={\"a\"} (%v: tensor<2x4xf32>) {\n"
    "    %d = stablehlo.dot_general %v, %v, contracting_dims = [0] x [0] :\n"
    "        (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>\n"
    "    %e = stablehlo.tanh %d : tensor<4x4xf32>\n"
    "    %id = stablehlo.partition_id : tensor<ui32>\n"
    "    %t = stablehlo.constant dense<[0, 0, 1, 1, 2, 2, 3, 3]> : tensor<8xi64>\n"
    "    %o = stablehlo.dynamic_slice %t, %id, sizes = [1] :\n"
    "        (tensor<8xi64>, tensor<ui32>) -> tensor<1xi64>\n"
    "    %c = stablehlo.reshape %o : (tensor<1xi64>) -> tensor<i64>\n"
    "    %z = stablehlo.constant dense<0> : tensor<i64>\n"
    "    %p = stablehlo.compare EQ, %c, %z : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
    "    %f = \"stablehlo.if\"(%p) ({\n"
    "      %s = \"stablehlo.all_gather\"(%v) <{all_gather_dim = 0 : i64,\n"
    "          replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>,\n"
    "          use_global_device_ids, channel_handle =\n"
    "          #stablehlo.channel_handle<handle = 1, type = 1>}> :\n"
    "          (tensor<2x4xf32>) -> tensor<8x4xf32>\n"
    "      stablehlo.return %s : tensor<8x4xf32>\n"
    "    }, {\n"
    "      %s = stablehlo.concatenate %v, %v, %v, %v, dim = 0 : (tensor<2x4xf32>,\n"
    "          tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>\n"
    "      stablehlo.return %s : tensor<8x4xf32>\n"
    "    }) : (tensor<i1>) -> tensor<8x4xf32>\n"
    "    %l = stablehlo.while(%q = %v) : tensor<2x4xf32> cond {\n"
    "      stablehlo.return %p : tensor<i1>\n"
    "    } do {\n"
    "      %n = func.call @f(%q) : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"
    "      stablehlo.return %n : tensor<2x4xf32>\n"
    "    }\n"
    "    sdy.return %l : tensor<2x4xf32>\n"
    "  } : (tensor<8x4xf32>) -> tensor<2x4xf32>\n"
    "  %u = sdy.manual_computation(%m) in_shardings=[<@n, [{\"c\"}, {}]>]\n"
    "      out_shardings=[<@n, [{\"c\"}, {}]>] manual_axes={\"c\"} (%v: tensor<1x4xf32>) {\n"
    "    sdy.return %v : tensor<1x4xf32>\n"
    "  } : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"
    "  return %u : tensor<2x4xf32>\n"
    "}\n"
    "func.func private @f(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {\n"
    "  %y = \"stablehlo.collective_permute\"(%x) <{source_target_pairs =\n"
    "      dense<[[0, 2], [2, 4]]> : tensor<2x2xi64>, channel_handle =\n"
    "      #stablehlo.channel_handle<handle = 1, type = 1>}> :\n"
    "      (tensor<2x4xf32>) -> tensor<2x4xf32>\n"
    "  return %y : tensor<2x4xf32>\n"
    "}\n";

enum { NUM_FINDINGS = 5 };

static bool check(tsr_context *ctx)
{
    const tsr_text source = {.name = "f.mlir", .data = text, .size = strlen(text)};
    const tsr_check_options options = {.notes = true};
    tsr_arena *arena = NULL;
    tsr_program *program = NULL;
    tsr_findings findings = {0};
    bool fine = worked_or_no_memory(ctx, tsr_arena_create(ctx, &arena));
    fine = fine && worked_or_no_memory(ctx, tsr_program_read(ctx, &source, 0, &program));
    fine = fine &&
           worked_or_no_memory(ctx, tsr_check_program(ctx, arena, program, &options, &findings));
    assert_int_equal(findings.count, fine ? NUM_FINDINGS : 0);
    tsr_program_destroy(program);
    tsr_arena_destroy(arena);
    return fine;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(fail_each_allocation_of(check) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
