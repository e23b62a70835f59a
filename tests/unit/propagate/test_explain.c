/* Provenance: annotations, steps and each kind of conflict; annotations that a caller adds. */
#include <string.h>

#include <tessera/explain.h>

#include "support.h"

#define MESH "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
#define SHARDED(sharding) " {sdy.sharding = #sdy.sharding<@mesh, " sharding ">}"
#define T "tensor<8x8xf32>"

/* A program with its reasons. */
typedef struct explained {
    tsr_program *program;
    tsr_provenance why;
} explained;

static explained explain(fixture *f, const char *text)
{
    explained e = {0};
    const tsr_text source = tsr_text_of("program.mlir", text);
    assert_int_equal(tsr_program_read(f->ctx, &source, 0, &e.program), TSR_OK);
    assert_int_equal(tsr_program_explain(f->ctx, f->arena, e.program, -1, &e.why), TSR_OK);
    return e;
}

/* The i-th op of main. */
static tsr_ir_op op_at(const tsr_program *p, size_t i)
{
    const tsr_ir_op main = tsr_program_symbol(p, "main");
    tsr_ir_op op =
        tsr_ir_block_first_op(p, tsr_ir_region_first_block(p, tsr_ir_op_region(p, main, 0)));
    for (; i > 0; i--) {
        op = tsr_ir_op_next(p, op);
    }
    return op;
}

/* The only conflict of a kind about a value; NULL: there is none. */
static const tsr_conflict *conflict_of(const explained *e, tsr_conflict_kind kind,
                                       tsr_ir_value value)
{
    for (size_t i = 0; i < e->why.num_conflicts; i++) {
        if (e->why.conflicts[i].kind == kind && e->why.conflicts[i].tensor.value == value) {
            return &e->why.conflicts[i];
        }
    }
    return NULL;
}

static void steps_lead_to_annotations(void **state)
{
    fixture *f = *state;
    explained e = explain(
        f, MESH "func.func @main(%a: " T SHARDED(
               "[{\"x\"}, {}]") ", %b: " T ") -> " T " {\n"
                                "  %c = stablehlo.transpose %a, dims = [1, 0] : (" T ") -> " T "\n"
                                "  %d = stablehlo.add %c, %b : " T "\n"
                                "  return %d : " T "\n}\n");
    const tsr_ir_op transpose = op_at(e.program, 0);
    const tsr_ir_op add = op_at(e.program, 1);
    const uint32_t last =
        tsr_provenance_first(&e.why, (tsr_ir_tensor){.value = tsr_ir_op_result(e.program, add, 0)});
    assert_int_equal(e.why.num_annotations, 1);
    assert_int_equal(e.why.annotations[1].kind, TSR_ANNOTATION_ARGUMENT);
    assert_int_equal(e.why.steps[last].kind, TSR_AXIS_BY_OP);
    assert_int_equal(e.why.steps[last].op, add);
    assert_int_equal(e.why.steps[last].dim, 1);
    const tsr_axis_step *middle = &e.why.steps[e.why.steps[last].from];
    assert_int_equal(middle->op, transpose);
    assert_int_equal(middle->dim, 1);
    const tsr_axis_step *first = &e.why.steps[middle->from];
    assert_int_equal(first->kind, TSR_AXIS_ANNOTATED);
    assert_int_equal(first->dim, 0);
    assert_int_equal(first->annotation, 1);
    assert_int_equal(first->from, 0);
    assert_int_equal(e.why.num_conflicts, 0);
    const uint32_t result = tsr_provenance_first(
        &e.why, (tsr_ir_tensor){.func = tsr_program_symbol(e.program, "main"), .index = 0});
    assert_int_equal(e.why.steps[result].kind, TSR_AXIS_BY_RETURN);
    tsr_program_destroy(e.program);
}

static void conflicts_have_winners_and_rules(void **state)
{
    fixture *f = *state;
    explained e = explain(
        f, MESH "func.func @main(%a: " T SHARDED("[{\"x\"}, {}]") ", %b: " T
               SHARDED("[{\"y\"}, {}]") ", %w: " T SHARDED(
                   "[{?}, {\"x\", ?}]") ") -> " T " {\n"
                                        "  %s = stablehlo.add %a, %b : " T "\n"
                                        "  %p = stablehlo.dot_general %a, %w, contracting_dims = "
                                        "[1] x [0] : (" T ", " T ") -> " T "\n"
                                        "  %c = sdy.sharding_constraint %p <@mesh, [{}, {?}], "
                                        "replicated={\"y\"}> : " T "\n"
                                        "  %q = stablehlo.add %s, %c : " T "\n"
                                        "  return %q : " T "\n}\n");
    const tsr_ir_value sum = tsr_ir_op_result(e.program, op_at(e.program, 0), 0);
    const tsr_ir_value product = tsr_ir_op_result(e.program, op_at(e.program, 1), 0);
    const tsr_ir_value constrained = tsr_ir_op_result(e.program, op_at(e.program, 2), 0);
    const tsr_conflict *c = conflict_of(&e, TSR_CONFLICT_UNDECIDED, sum);
    assert_non_null(c);
    assert_int_equal(c->dim, 0);
    c = conflict_of(&e, TSR_CONFLICT_TAKEN, product);
    assert_non_null(c);
    assert_int_equal(c->dim, 1);
    assert_int_equal(c->rule, TSR_RULE_LARGER);
    assert_int_equal(e.why.steps[c->winner].dim, 0);
    assert_int_equal(e.why.annotations[e.why.steps[c->wanted].annotation].index, 2);
    c = conflict_of(&e, TSR_CONFLICT_CLOSED, constrained);
    assert_non_null(c);
    assert_int_equal(e.why.annotations[c->annotation].kind, TSR_ANNOTATION_CONSTRAINT);
    tsr_program_destroy(e.program);
}

static void replicated_axes_stay_out(void **state)
{
    fixture *f = *state;
    explained e =
        explain(f, MESH "func.func @main(%a: " T SHARDED("[{\"x\"}, {}]") ", %b: " T SHARDED(
                       "[{?}, {?}], replicated={\"x\"}") ") -> " T " {\n"
                                                         "  %s = stablehlo.add %a, %b : " T "\n"
                                                         "  return %s : " T "\n}\n");
    const tsr_ir_value b = tsr_ir_op_operand(e.program, op_at(e.program, 0), 1);
    const tsr_conflict *c = conflict_of(&e, TSR_CONFLICT_REPLICATED, b);
    assert_non_null(c);
    assert_int_equal(e.why.annotations[c->annotation].index, 1);
    tsr_program_destroy(e.program);
}

static void priorities_decide(void **state)
{
    fixture *f = *state;
    explained e =
        explain(f, MESH "func.func @main(%a: " T SHARDED("[{\"x\"}p1, {}]") ", %b: " T SHARDED(
                       "[{\"y\"}p0, {}]") ") -> " T " {\n"
                                          "  %s = stablehlo.add %a, %b : " T "\n"
                                          "  return %s : " T "\n}\n");
    const tsr_ir_value sum = tsr_ir_op_result(e.program, op_at(e.program, 0), 0);
    const tsr_conflict *c = conflict_of(&e, TSR_CONFLICT_DISAGREE, sum);
    assert_non_null(c);
    assert_int_equal(c->rule, TSR_RULE_USER_PRIORITY);
    tsr_program_destroy(e.program);
}

static void groups_and_computations_pass_axes_on(void **state)
{
    fixture *f = *state;
    explained e = explain(
        f,
        MESH "func.func @main(%a: " T SHARDED(
            "[{\"x\"}, {}]") ", %b: " T ") -> " T " {\n"
                             "  sdy.sharding_group %a group_id = 3 : " T "\n"
                             "  sdy.sharding_group %b group_id = 3 : " T "\n"
                             "  %m = sdy.manual_computation(%b) in_shardings=[<@mesh, [{\"y\", ?}, "
                             "{?}]>] "
                             "out_shardings=[<@mesh, [{\"y\", ?}, {?}]>] manual_axes={\"y\"} (%i: "
                             "tensor<2x8xf32>) {\n"
                             "    %n = stablehlo.negate %i : tensor<2x8xf32>\n"
                             "    sdy.return %n : tensor<2x8xf32>\n"
                             "  } : (" T ") -> " T "\n"
                             "  return %m : " T "\n}\n");
    bool by_group = false;
    bool by_edge = false;
    for (size_t i = 1; i <= e.why.num_steps; i++) {
        by_group = by_group || e.why.steps[i].kind == TSR_AXIS_BY_GROUP;
        by_edge = by_edge || e.why.steps[i].kind == TSR_AXIS_BY_EDGE;
        assert_int_not_equal(e.why.steps[i].annotation, 0);
    }
    assert_true(by_group);
    assert_true(by_edge || e.why.num_conflicts > 0);
    tsr_program_destroy(e.program);
}

static void callers_annotate(void **state)
{
    fixture *f = *state;
    tsr_program *p = NULL;
    tsr_provenance why;
    const tsr_sharding *sharding = NULL;
    const tsr_text source = tsr_text_of("plain.mlir", "func.func @main(%a: " T ") -> " T " {\n"
                                                      "  %s = stablehlo.abs %a : " T "\n"
                                                      "  %t = stablehlo.tanh %s : " T "\n"
                                                      "  return %t : " T "\n}\n");
    assert_int_equal(tsr_program_read(f->ctx, &source, 0, &p), TSR_OK);
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2, \"y\"=4]>");
    const tsr_mesh *known = NULL;
    const tsr_ir_value s = tsr_ir_op_result(p, op_at(p, 0), 0);
    const tsr_ir_tensor a = {.value = tsr_ir_op_operand(p, op_at(p, 0), 0)};
    assert_int_equal(tsr_program_mesh(f->ctx, p, NULL, &known), TSR_ERR_INVALID);
    expect_error(f, "the program has no mesh");
    assert_int_equal(tsr_program_annotate(f->ctx, p, a, sharding_of(f, mesh, "[{\"x\"}, {?}]")),
                     TSR_OK);
    assert_int_equal(tsr_program_annotate(f->ctx, p, (tsr_ir_tensor){.value = s},
                                          sharding_of(f, mesh, "[{?}, {\"y\", ?}]")),
                     TSR_OK);
    assert_int_equal(tsr_program_annotate(f->ctx, p, a, sharding_of(f, mesh, "[{\"x\"}]")),
                     TSR_ERR_INVALID);
    expect_error(f, "the sharding has rank 1, the tensor rank 2");
    assert_int_equal(tsr_program_annotate(f->ctx, p, (tsr_ir_tensor){.value = 999},
                                          sharding_of(f, mesh, "[{}, {}]")),
                     TSR_ERR_INVALID);
    expect_error(f, "the value to annotate is not a ranked tensor");
    assert_int_equal(tsr_program_verify(f->ctx, p), TSR_OK);
    assert_int_equal(tsr_program_explain(f->ctx, f->arena, p, -1, &why), TSR_OK);
    assert_int_equal(tsr_ir_tensor_sharding(f->ctx, p, (tsr_ir_tensor){.value = s}, &sharding),
                     TSR_OK);
    assert_string_equal(sharding_bare(f, sharding), "[{\"x\", ?}, {\"y\", ?}]");
    assert_int_equal(tsr_program_mesh(f->ctx, p, NULL, &known), TSR_OK);
    assert_int_equal(tsr_mesh_num_devices(known), 8);
    assert_int_equal(tsr_program_mesh(f->ctx, p, "other", &known), TSR_ERR_INVALID);
    expect_error(f, "the program has no mesh @other");
    tsr_program_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(steps_lead_to_annotations),
        TEST(conflicts_have_winners_and_rules),
        TEST(replicated_axes_stay_out),
        TEST(priorities_decide),
        TEST(groups_and_computations_pass_axes_on),
        TEST(callers_annotate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
