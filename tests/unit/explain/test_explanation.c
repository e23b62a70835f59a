/* Explanations: texts and records of small programs by hand, how tensors are found, errors. */
#include <stdio.h>
#include <string.h>

#include <tessera/explain.h>

#include "support.h"

#define MESH "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
#define T "tensor<8x8xf32>"

static const char clash[] = /* line 1 is the mesh */
    MESH "func.func @main(%a: " T " {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>},\n"
         "    %w: " T " {sdy.sharding = #sdy.sharding<@mesh, [{?}, {\"x\", ?}]>})\n"
         "    -> (" T " {jax.result_info = \"result['loss']\"}) {\n"
         "  %p = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (" T ", " T ") -> " T
         "\n"
         "  %r = func.call @double(%p) : (" T ") -> " T " loc(\"/home/model.py\":7:3)\n"
         "  return %r : " T "\n"
         "}\n"
         "func.func private @double(%t: " T ") -> " T " {\n"
         "  %u = stablehlo.add %t, %t : " T "\n"
         "  return %u : " T "\n"
         "}\n";

static tsr_program *read_program(fixture *f, const char *text)
{
    tsr_program *program = NULL;
    const tsr_text source = tsr_text_of("program.mlir", text);
    assert_int_equal(tsr_program_read(f->ctx, &source, 0, &program), TSR_OK);
    return program;
}

/* The program is destroyed: the explanation lives on its own. */
static tsr_explanation *explained(fixture *f, const char *text)
{
    tsr_explanation *e = NULL;
    tsr_program *program = read_program(f, text);
    assert_int_equal(tsr_explanation_create(f->ctx, program, -1, &e), TSR_OK);
    tsr_program_destroy(program);
    return e;
}

/* How many tensors a text means, and the first of them. */
static size_t find(fixture *f, const tsr_explanation *e, const char *wanted, tsr_ir_tensor *first)
{
    const tsr_ir_tensor *list = NULL;
    size_t count = 0;
    assert_int_equal(tsr_explanation_find(f->ctx, f->arena, e, wanted, &count, &list), TSR_OK);
    assert_null(tsr_context_diagnostics(f->ctx));
    if (count > 0) {
        *first = list[0];
    }
    return count;
}

static const char *text_of(fixture *f, tsr_explanation *e, const char *wanted,
                           const tsr_explain_style *style)
{
    const char *text = NULL;
    tsr_ir_tensor tensor = {0};
    assert_int_equal(find(f, e, wanted, &tensor), 1);
    assert_int_equal(tsr_explanation_text(f->ctx, f->arena, e, tensor, style, &text), TSR_OK);
    return text;
}

static tsr_tensor_reasons reasons_of(fixture *f, tsr_explanation *e, const char *wanted,
                                     const tsr_explain_style *style)
{
    tsr_tensor_reasons reasons;
    tsr_ir_tensor tensor = {0};
    assert_int_equal(find(f, e, wanted, &tensor), 1);
    assert_int_equal(tsr_explanation_reasons(f->ctx, f->arena, e, tensor, style, &reasons), TSR_OK);
    return reasons;
}

static void a_conflict_in_words(void **state)
{
    fixture *f = *state;
    tsr_explanation *e = explained(f, clash);
    const char *axis = "%p (line 5): " T " [{\"x\", ?}, {?}]\n"
                       "  dim 0 has \"x\" from argument 0 of @main (line 2), annotated "
                       "[{\"x\"}, {}]\n"
                       "      to %p dim 0, by dot_general (line 5)\n"
                       "  dim 1 stays without \"x\", which dot_general (line 5) has on %w:\n"
                       "      it is on dim 0 already, from argument 0 of @main (line 2), annotated "
                       "[{\"x\"}, {}]; ";
    const char *text = text_of(f, e, "%p", NULL);
    assert_int_equal(strncmp(text, axis, strlen(axis)), 0);
    assert_non_null(strstr(text, "\n      to have it there, annotate %p with [{?}, {\"x\", ?}]\n"));
    text = text_of(f, e, "%p", &(tsr_explain_style){.skip_suggestions = true});
    assert_int_equal(strncmp(text, axis, strlen(axis)), 0);
    assert_null(strstr(text, "to have it there"));
    assert_string_equal(text_of(f, e, "%a", NULL),
                        "%a (line 2): " T " [{\"x\"}, {}]\n"
                        "  dim 0 has \"x\" from argument 0 of @main (line 2), annotated "
                        "[{\"x\"}, {}]\n");
    assert_null(tsr_context_diagnostics(f->ctx));
    tsr_explanation_destroy(e);
}

static void the_same_as_records(void **state)
{
    fixture *f = *state;
    tsr_explanation *e = explained(f, clash);
    const tsr_tensor_reasons r = reasons_of(f, e, "%p", NULL);
    assert_string_equal(r.tensor, "%p");
    assert_int_equal(r.line, 5);
    assert_string_equal(r.type, T);
    assert_string_equal(r.sharding, "[{\"x\", ?}, {?}]");
    assert_int_equal(r.num_axes, 1);
    assert_int_equal(r.axes[0].dim, 0);
    assert_string_equal(r.axes[0].axis, "\"x\"");
    assert_string_equal(r.axes[0].annotation.name, "argument 0 of @main");
    assert_string_equal(r.axes[0].annotation.sharding, "[{\"x\"}, {}]");
    assert_int_equal(r.axes[0].annotation.line, 2);
    assert_int_equal(r.axes[0].num_hops, 2);
    assert_int_equal(r.axes[0].path[0].kind, TSR_AXIS_BY_OP);
    assert_string_equal(r.axes[0].path[0].op, "stablehlo.dot_general");
    assert_int_equal(r.axes[0].path[0].line, 5);
    assert_int_equal(r.axes[0].path[1].kind, TSR_AXIS_ANNOTATED);
    assert_string_equal(r.axes[0].path[1].tensor, "%a");
    assert_null(r.axes[0].path[1].op);
    assert_int_equal(r.num_conflicts, 1);
    const tsr_conflict_reason *c = &r.conflicts[0];
    assert_int_equal(c->kind, TSR_CONFLICT_TAKEN);
    assert_int_equal(c->dim, 1);
    assert_string_equal(c->axis, "\"x\"");
    assert_string_equal(c->op, "stablehlo.dot_general");
    assert_string_equal(c->wanted.tensor, "%w");
    assert_int_equal(c->winner.dim, 0);
    assert_string_equal(c->winner.annotation.name, "argument 0 of @main");
    assert_int_equal(c->annotation.number, 0);
    assert_null(c->annotation.name);
    const char *start = "it is on dim 0 already, from argument 0 of @main (line 2), annotated ";
    assert_int_equal(strncmp(c->reason, start, strlen(start)), 0);
    assert_string_equal(c->suggested_tensor, "%p");
    assert_string_equal(c->suggested_sharding, "[{?}, {\"x\", ?}]");
    tsr_explanation_destroy(e);
}

/* What is suggested, done, has the effect. */
static void suggestions_hold(void **state)
{
    fixture *f = *state;
    tsr_program *program = read_program(f, clash);
    tsr_explanation *e = NULL;
    tsr_ir_tensor p = {0};
    const tsr_sharding *sharding = NULL;
    const tsr_mesh *mesh = NULL;
    assert_int_equal(tsr_explanation_create(f->ctx, program, -1, &e), TSR_OK);
    assert_int_equal(find(f, e, "%p", &p), 1);
    const tsr_tensor_reasons r = reasons_of(f, e, "%p", NULL);
    assert_int_equal(tsr_program_mesh(f->ctx, program, NULL, &mesh), TSR_OK);
    assert_int_equal(tsr_mesh_rename(f->ctx, f->arena, mesh, "mesh", &mesh), TSR_OK);
    assert_int_equal(
        tsr_sharding_parse(f->ctx, f->arena, mesh, r.conflicts[0].suggested_sharding, &sharding),
        TSR_OK);
    assert_int_equal(tsr_program_annotate(f->ctx, program, p, sharding), TSR_OK);
    tsr_explanation_destroy(e);
    assert_int_equal(tsr_explanation_create(f->ctx, program, -1, &e), TSR_OK);
    tsr_program_destroy(program);
    const tsr_ir_tensor *list = NULL;
    size_t count = 0;
    assert_int_equal(tsr_explanation_find(f->ctx, f->arena, e, "%p", &count, &list), TSR_OK);
    assert_int_equal(count, 2); /* the constraint that was added is called what it is about */
    const char *text = NULL;
    assert_int_equal(tsr_explanation_text(f->ctx, f->arena, e, p, NULL, &text), TSR_OK);
    assert_non_null(strstr(text, "dim 1 has \"x\" from the constraint %p (line 5)"));
    tsr_explanation_destroy(e);
}

static void tensors_are_found(void **state)
{
    fixture *f = *state;
    tsr_explanation *e = explained(f, clash);
    static const struct {
        const char *wanted;
        const char *name;
    } cases[] = {{"%a", "%a"},
                 {"5", "%p"},
                 {"%u", "%u of @double"},
                 {"model.py:7", "%r"},
                 {"/home/model.py:7", "%r"},
                 {"result0", "result 0 of @main"},
                 {"result['loss']", "result 0 of @main"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(reasons_of(f, e, cases[i].wanted, NULL).tensor, cases[i].name);
    }
    static const char *const absent[] = {"",           "0",     "1",       "99999999999999999999",
                                         "%",          "%none", "result1", "other.py:7",
                                         "model.py:8", ":",     ":7:"};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        tsr_ir_tensor none;
        assert_int_equal(find(f, e, absent[i], &none), 0);
    }
    const tsr_ir_tensor *all = NULL;
    size_t count = 0;
    assert_int_equal(tsr_explanation_tensors(f->ctx, f->arena, e, NULL, &count, &all), TSR_OK);
    assert_int_equal(count, 7); /* %a %w %p %r %t %u and the result */
    assert_int_equal(all[count - 1].value, 0);
    tsr_explanation_destroy(e);
}

/* The short form of a reduction stands for ops at the same place: it is called reduce. */
static void short_forms(void **state)
{
    fixture *f = *state;
    tsr_explanation *e = explained(
        f, MESH "func.func @main(%a: " T " {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>})"
                " -> tensor<8xf32> {\n"
                "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
                "  %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1]"
                " : (" T ", tensor<f32>) -> tensor<8xf32>\n"
                "  return %r : tensor<8xf32>\n}\n");
    assert_non_null(strstr(text_of(f, e, "%r", NULL), "to %r dim 0, by reduce (line 4)\n"));
    tsr_explanation_destroy(e);
}

static void long_paths_are_cut(void **state)
{
    fixture *f = *state;
    char text[4096] = MESH "func.func @main(%v0: " T
                           " {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}) -> " T " {\n";
    for (int i = 1; i <= 13; i++) {
        char op[128];
        (void)snprintf(op, sizeof op, "  %%v%d = stablehlo.negate %%v%d : " T "\n", i, i - 1);
        strcat(text, op);
    }
    strcat(text, "  return %v13 : " T "\n}\n");
    tsr_explanation *e = explained(f, text);
    const char *cut = text_of(f, e, "%v13", NULL);
    assert_non_null(strstr(cut, "      ... 6 more, all with --full\n"));
    assert_null(strstr(cut, "to %v6 "));
    const char *whole = text_of(f, e, "%v13", &(tsr_explain_style){.full = true});
    assert_null(strstr(whole, "more"));
    assert_non_null(strstr(whole, "to %v6 "));
    const tsr_axis_reason with = reasons_of(f, e, "%v13", NULL).axes[0];
    const tsr_axis_reason without =
        reasons_of(f, e, "%v13", &(tsr_explain_style){.no_paths = true}).axes[0];
    uint32_t step = without.step;
    assert_int_equal(with.num_hops, 14);
    assert_int_equal(without.num_hops, 0);
    assert_int_equal(with.step, step);
    for (size_t i = 0; i < with.num_hops; i++) {
        tsr_axis_hop hop;
        assert_int_equal(tsr_explanation_step(f->ctx, f->arena, e, step, &hop), TSR_OK);
        assert_string_equal(hop.tensor, with.path[i].tensor);
        assert_int_equal(hop.kind, with.path[i].kind);
        assert_int_equal(hop.from, with.path[i].from);
        step = hop.from;
    }
    assert_int_equal(step, 0);
    tsr_axis_hop none = {.dim = 7};
    assert_int_equal(tsr_explanation_step(f->ctx, f->arena, e, 0, &none), TSR_ERR_INVALID);
    assert_int_equal(tsr_explanation_step(f->ctx, f->arena, e, UINT32_MAX, &none), TSR_ERR_INVALID);
    assert_int_equal(none.dim, 7);
    tsr_explanation_destroy(e);
}

static void nothing_to_explain(void **state)
{
    fixture *f = *state;
    static const char *const texts[] = {
        "",
        "func.func @main(%a: tensor<0xf32>) -> tensor<0xf32> {\n  return %a : tensor<0xf32>\n}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tsr_explanation *e = explained(f, texts[i]);
        const tsr_ir_tensor *all = NULL;
        size_t count = 1;
        assert_int_equal(tsr_explanation_tensors(f->ctx, f->arena, e, NULL, &count, &all), TSR_OK);
        assert_int_equal(count, 0);
        if (i == 1) {
            assert_string_equal(text_of(f, e, "%a", NULL), "%a (line 1): tensor<0xf32> none\n");
        }
        assert_int_equal(tsr_explanation_provenance(e)->num_steps, 0);
        tsr_explanation_destroy(e);
    }
    tsr_explanation_destroy(NULL);
}

static void tensors_that_are_not_there(void **state)
{
    fixture *f = *state;
    tsr_explanation *e = explained(f, clash);
    const char *text = NULL;
    tsr_tensor_reasons reasons = {.line = 77};
    const tsr_ir_op main = tsr_program_main(tsr_explanation_program(e));
    assert_int_equal(
        tsr_explanation_text(f->ctx, f->arena, e, (tsr_ir_tensor){.value = 999999}, NULL, &text),
        TSR_ERR_INVALID);
    expect_error(f, "unknown value number 999999; use a number from tsr_explanation_find");
    assert_int_equal(tsr_explanation_reasons(f->ctx, f->arena, e,
                                             (tsr_ir_tensor){.func = main, .index = 1}, NULL,
                                             &reasons),
                     TSR_ERR_INVALID);
    expect_message(f, "unknown result 1 of op number ");
    assert_null(text);
    assert_int_equal(reasons.line, 77);
    tsr_explanation_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_conflict_in_words), TEST(the_same_as_records),
        TEST(suggestions_hold),    TEST(tensors_are_found),
        TEST(short_forms),         TEST(long_paths_are_cut),
        TEST(nothing_to_explain),  TEST(tensors_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
