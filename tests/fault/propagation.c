/*
 * Every allocation fails once while the passes around propagation run: TSR_ERR_NOMEM with a
 * diagnostic, nothing is left.
 */
#include <string.h>

#include <tessera/explain.h>
#include <tessera/pass.h>

#include "failing_heap.h"

static const char text[] =
    "sdy.mesh @m = <[\"a\"=2, \"b\"=2, \"c\"=1]>\n"
    "func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"a\"}p1, {?}]>},\n"
    "    %w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<mesh<[\"a\"=2, \"b\"=2, \"c\"=1]>,\n"
    "    [{}, {\"b\"}]>}, %i: tensor<i32>) -> tensor<4x16xf32> {\n"
    "  %c = stablehlo.constant dense<1.0> : tensor<4x8xf32>\n"
    "  %s = stablehlo.add %x, %c : tensor<4x8xf32>\n"
    "  %t = call @f(%s) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    "  %u = call @f(%t) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    "  %k = sdy.sharding_constraint %u <@m, [{\"a\", ?}, {?}]> : tensor<4x8xf32>\n"
    "  sdy.sharding_group %k group_id=7 : tensor<4x8xf32>\n"
    "  sdy.sharding_group %t group_id=7 : tensor<4x8xf32>\n"
    "  %l:2 = stablehlo.while(%p = %k, %q = %i) : tensor<4x8xf32>, tensor<i32> cond {\n"
    "    %r = stablehlo.compare LT, %q, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %r : tensor<i1>\n"
    "  } do {\n"
    "    %n = stablehlo.tanh %p : tensor<4x8xf32>\n"
    "    stablehlo.return %n, %q : tensor<4x8xf32>, tensor<i32>\n"
    "  }\n"
    "  %m = sdy.manual_computation(%l#0) in_shardings=[<@m, [{\"a\"}, {?}]>]\n"
    "      out_shardings=[<@m, [{\"a\"}, {?}]>] manual_axes={\"a\"} (%v: tensor<2x8xf32>) {\n"
    "    %n = stablehlo.negate %v : tensor<2x8xf32>\n"
    "    sdy.return %n : tensor<2x8xf32>\n"
    "  } : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    "  %d = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] :\n"
    "      (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>\n"
    "  return %d : tensor<4x16xf32>\n"
    "}\n"
    "func.func private @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"
    "  %y = stablehlo.concatenate %x, %x, dim = 1 :\n"
    "      (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>\n"
    "  %z = stablehlo.slice %y [0:4, 0:8] : (tensor<4x16xf32>) -> tensor<4x8xf32>\n"
    "  return %z : tensor<4x8xf32>\n"
    "}\n";

/* With an option of type bool set; NULL: with none. */
static bool run_pipeline(tsr_context *ctx, const char *name, const char *option)
{
    const tsr_text source = {.name = "f.mlir", .data = text, .size = strlen(text)};
    const tsr_pass *pipeline = tsr_pass_find(name);
    tsr_program *program = NULL;
    assert_non_null(pipeline);
    tsr_option_value values[16] = {0};
    assert_true(pipeline->num_options <= 16);
    for (size_t i = 0; option != NULL && i < pipeline->num_options; i++) {
        values[i].is_given = strcmp(pipeline->options[i].name, option) == 0;
        values[i].number = 1;
    }
    const tsr_pass_options options = {pipeline->options, pipeline->num_options, values};
    bool fine = worked_or_no_memory(ctx, tsr_program_read(ctx, &source, 0, &program));
    if (fine) {
        fine = worked_or_no_memory(ctx, tsr_pass_run(ctx, program, pipeline, &options));
    }
    if (fine) {
        fine = worked_or_no_memory(ctx, tsr_program_verify(ctx, program));
    }
    tsr_program_destroy(program);
    return fine;
}

/* Reasons, and an annotation before. */
static bool run_explain(tsr_context *ctx)
{
    const tsr_text source = {.name = "f.mlir", .data = text, .size = strlen(text)};
    tsr_program *program = NULL;
    tsr_arena *arena = NULL;
    tsr_provenance why;
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *sharding = NULL;
    const char *const *names = NULL;
    bool fine = worked_or_no_memory(ctx, tsr_program_read(ctx, &source, 0, &program)) &&
                worked_or_no_memory(ctx, tsr_arena_create(ctx, &arena)) &&
                worked_or_no_memory(ctx, tsr_program_written_names(ctx, arena, program, &names)) &&
                worked_or_no_memory(ctx, tsr_program_mesh(ctx, program, NULL, &mesh)) &&
                worked_or_no_memory(ctx, tsr_mesh_rename(ctx, arena, mesh, "m", &mesh)) &&
                worked_or_no_memory(
                    ctx, tsr_sharding_parse(ctx, arena, mesh, "[{?}, {\"b\", ?}]", &sharding));
    const size_t count = fine ? tsr_program_num_values(program) : 0;
    for (tsr_ir_value v = 1; fine && v <= count; v++) {
        if (names[v] != NULL && strcmp(names[v], "%s") == 0) {
            fine = worked_or_no_memory(
                ctx, tsr_program_annotate(ctx, program, (tsr_ir_tensor){.value = v}, sharding));
        }
    }
    fine = fine && worked_or_no_memory(ctx, tsr_program_explain(ctx, arena, program, -1, &why));
    tsr_program_destroy(program);
    tsr_arena_destroy(arena);
    return fine;
}

/* Every tensor, in words and as records. */
static bool tell_all(tsr_context *ctx, tsr_arena *arena, tsr_explanation *e)
{
    const tsr_ir_tensor *tensors = NULL;
    size_t count = 0;
    bool fine =
        worked_or_no_memory(ctx,
                            tsr_explanation_find(ctx, arena, e, "model.py:7", &count, &tensors)) &&
        worked_or_no_memory(ctx, tsr_explanation_tensors(ctx, arena, e, NULL, &count, &tensors));
    for (size_t i = 0; fine && i < count; i++) {
        const char *words = NULL;
        tsr_tensor_reasons reasons;
        fine = worked_or_no_memory(ctx,
                                   tsr_explanation_text(ctx, arena, e, tensors[i], NULL, &words)) &&
               worked_or_no_memory(
                   ctx, tsr_explanation_reasons(ctx, arena, e, tensors[i], NULL, &reasons));
    }
    return fine;
}

/* An explanation of a small program with a conflict, for which an annotation is tried. */
static bool run_explanation(tsr_context *ctx)
{
    static const char small[] =
        "sdy.mesh @m = <[\"a\"=2]>\n"
        "func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"a\"}, {}]>},\n"
        "    %y: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {\"a\"}]>})\n"
        "    -> tensor<4x4xf32> {\n"
        "  %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] :\n"
        "      (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(\"model.py\":7:1)\n"
        "  return %z : tensor<4x4xf32>\n"
        "}\n";
    const tsr_text source = tsr_text_of("small.mlir", small);
    tsr_program *program = NULL;
    tsr_explanation *e = NULL;
    tsr_arena *arena = NULL;
    const bool fine = worked_or_no_memory(ctx, tsr_program_read(ctx, &source, 0, &program)) &&
                      worked_or_no_memory(ctx, tsr_arena_create(ctx, &arena)) &&
                      worked_or_no_memory(ctx, tsr_explanation_create(ctx, program, -1, &e)) &&
                      tell_all(ctx, arena, e);
    tsr_explanation_destroy(e);
    tsr_program_destroy(program);
    tsr_arena_destroy(arena);
    return fine;
}

/* What runs: one at a time, so that a failure late in one does not repeat the others. */
static const struct {
    const char *name;
    const char *option;
} runs[] = {{"sdy-propagation-pipeline", NULL},
            {"sdy-propagation-pipeline", "debug-sharding-origins"},
            {"sdy-apply-sharding-constraints", "debug-propagation-edge-sharding"},
            {"sdy-populate-op-sharding-rules", NULL},
            {NULL, NULL},    /* the reasons */
            {NULL, "text"}}; /* and in words */
static size_t current;

static bool use_current(tsr_context *ctx)
{
    return runs[current].name != NULL ? run_pipeline(ctx, runs[current].name, runs[current].option)
           : runs[current].option != NULL ? run_explanation(ctx)
                                          : run_explain(ctx);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (current = 0; current < sizeof runs / sizeof runs[0]; current++) {
        assert_true(fail_each_allocation_of(use_current) > 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
