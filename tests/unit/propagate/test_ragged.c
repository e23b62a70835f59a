/* Explicit sizes in programs: closed, handed on by elementwise ops and transposes, nowhere else. */
#include <tessera/explain.h>

#include "support.h"

#define MESH "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
#define SHARDED(sharding) " {sdy.sharding = #sdy.sharding<@mesh, " sharding ">}"
#define T "tensor<8x8xf32>"

typedef struct explained {
    tsr_program *program;
    tsr_provenance why;
    tsr_ir_op ops[8];
} explained;

static explained explain(fixture *f, const char *text)
{
    explained e = {0};
    const tsr_text source = tsr_text_of("program.mlir", text);
    assert_int_equal(tsr_program_read(f->ctx, &source, 0, &e.program), TSR_OK);
    const tsr_program *p = e.program;
    tsr_ir_op op = tsr_ir_block_first_op(
        p, tsr_ir_region_first_block(p, tsr_ir_op_region(p, tsr_program_symbol(p, "main"), 0)));
    for (size_t i = 0; i < 8 && op != 0; i++, op = tsr_ir_op_next(p, op)) {
        e.ops[i] = op;
    }
    assert_int_equal(tsr_program_explain(f->ctx, f->arena, e.program, -1, &e.why), TSR_OK);
    return e;
}

static void expect(fixture *f, const explained *e, tsr_ir_tensor tensor, const char *text)
{
    const tsr_sharding *sharding = NULL;
    assert_int_equal(tsr_ir_tensor_sharding(f->ctx, e->program, tensor, &sharding), TSR_OK);
    assert_string_equal(sharding != NULL ? sharding_bare(f, sharding) : "none", text);
}

static tsr_ir_tensor result_of(const explained *e, size_t op)
{
    return (tsr_ir_tensor){.value = tsr_ir_op_result(e->program, e->ops[op], 0)};
}

static tsr_ir_tensor operand_of(const explained *e, size_t op, size_t i)
{
    return (tsr_ir_tensor){.value = tsr_ir_op_operand(e->program, e->ops[op], i)};
}

static bool has_conflict(const explained *e, tsr_conflict_kind kind, tsr_ir_tensor tensor)
{
    for (size_t i = 0; i < e->why.num_conflicts; i++) {
        if (e->why.conflicts[i].kind == kind && e->why.conflicts[i].tensor.value == tensor.value) {
            return true;
        }
    }
    return false;
}

static void sizes_are_handed_on(void **state)
{
    fixture *f = *state;
    explained e = explain(
        f,
        MESH "func.func @main(%a: " T SHARDED(
            "[{\"x\"}:dynamic[3, 5], {?}]") ", %b: " T ") -> (" T ", " T ") {\n"
                                            "  %0 = stablehlo.add %a, %b : " T "\n"
                                            "  %1 = stablehlo.transpose %0, dims = [1, 0] : (" T
                                            ") -> " T "\n"
                                            "  %2 = stablehlo.dot_general %0, %b, contracting_dims "
                                            "= [1] x [0] : (" T ", " T ") -> " T "\n"
                                            "  %3 = stablehlo.optimization_barrier %1 : " T "\n"
                                            "  return %2, %3 : " T ", " T "\n}\n");
    const tsr_ir_op main = tsr_program_symbol(e.program, "main");
    expect(f, &e, operand_of(&e, 0, 1), "[{\"x\"}:dynamic[3, 5], {?}]"); /* both ways */
    expect(f, &e, result_of(&e, 0), "[{\"x\"}:dynamic[3, 5], {?}]");
    expect(f, &e, result_of(&e, 1), "[{?}, {\"x\"}:dynamic[3, 5]]");
    expect(f, &e, result_of(&e, 2), "none");
    expect(f, &e, result_of(&e, 3), "[{?}, {\"x\"}:dynamic[3, 5]]");
    expect(f, &e, (tsr_ir_tensor){.func = main, .index = 1}, "[{?}, {\"x\"}:dynamic[3, 5]]");
    assert_true(has_conflict(&e, TSR_CONFLICT_SIZES, result_of(&e, 2)));
    const uint32_t step = tsr_provenance_first(&e.why, result_of(&e, 3));
    assert_int_equal(e.why.annotations[e.why.steps[step].annotation].kind, TSR_ANNOTATION_ARGUMENT);
    tsr_program_destroy(e.program);
}

static void their_factor_takes_no_other_axis(void **state)
{
    fixture *f = *state;
    explained e = explain(
        f, MESH "func.func @main(%a: " T SHARDED("[{\"x\"}:dynamic[3, 5], {?}]") ", %b: " T SHARDED(
               "[{\"y\", ?}, {?}]") ") -> " T " {\n"
                                    "  %0 = stablehlo.add %a, %b : " T "\n"
                                    "  return %0 : " T "\n}\n");
    expect(f, &e, operand_of(&e, 0, 0), "[{\"x\"}:dynamic[3, 5], {?}]");
    expect(f, &e, operand_of(&e, 0, 1), "[{\"y\", ?}, {?}]");
    expect(f, &e, result_of(&e, 0), "[{\"x\"}:dynamic[3, 5], {?}]");
    assert_true(has_conflict(&e, TSR_CONFLICT_RAGGED, operand_of(&e, 0, 0)));
    assert_true(has_conflict(&e, TSR_CONFLICT_DISAGREE, operand_of(&e, 0, 1)));
    tsr_program_destroy(e.program);
}

static void constraints_and_results_may_be_ragged(void **state)
{
    fixture *f = *state;
    explained e = explain(
        f, MESH "func.func @main(%a: " T ", %b: " T SHARDED("[{?}, {\"x\", ?}]") ") -> (" T SHARDED(
               "[{?}, {\"y\"}:dynamic[0, 5, 1, 2]]") ", " T ") {\n"
                                                     "  %0 = stablehlo.tanh %a : " T "\n"
                                                     "  %1 = sdy.sharding_constraint %0 <@mesh, "
                                                     "[{\"x\"}:partitioned[[1, 2], [3, 2]], "
                                                     "{?}]> : " T "\n"
                                                     "  %2 = stablehlo.abs %b : " T "\n"
                                                     "  return %2, %1 : " T ", " T "\n}\n");
    const char *partitioned = "[{\"x\"}:partitioned[[1, 2], [3, 2]], {?}]";
    expect(f, &e, result_of(&e, 1), partitioned);
    expect(f, &e, result_of(&e, 0), partitioned);
    expect(f, &e, operand_of(&e, 0, 0), partitioned);
    expect(f, &e, result_of(&e, 2), "[{?}, {\"y\"}:dynamic[0, 5, 1, 2]]");
    expect(f, &e, operand_of(&e, 2, 0), "[{?}, {\"x\", ?}]");
    tsr_program_destroy(e.program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(sizes_are_handed_on),
                                       TEST(their_factor_takes_no_other_axis),
                                       TEST(constraints_and_results_may_be_ragged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
