/*
 * Findings as C programs get them: rules, places, notes, order; programs that would take long; what
 * is not along axes. tests/golden/check has what each rule finds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define PSUM(groups, type, element)                                                                \
    "<{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = "        \
    "dense<" groups "> : tensor<" type "xi64>, use_global_device_ids}> ({\n"                       \
    "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"                                                    \
    "  %s = stablehlo.add %p, %q : tensor<f32>\n"                                                  \
    "  stablehlo.return %s : tensor<f32>\n"                                                        \
    "}) : (" element ") -> " element "\n"

/* A computation over "x" of 4, with an argument that is cut and one that is not. */
#define MANUAL(body)                                                                               \
    "sdy.mesh @m = <[\"x\"=4]>\n"                                                                  \
    "func.func public @main(%a: tensor<8xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {\n"            \
    "%r = sdy.manual_computation(%a, %b) in_shardings=[<@m, [{\"x\"}]>, <@m, [{}]>] "              \
    "out_shardings=[<@m, [{}]>] manual_axes={\"x\"} (%u: tensor<2xf32>, %v: tensor<2xf32>) "       \
    "{\n" body "} : (tensor<8xf32>, tensor<2xf32>) -> tensor<2xf32>\n"                             \
    "return %r : tensor<2xf32>\n"                                                                  \
    "}\n"

static tsr_program *read(fixture *f, const char *given)
{
    const tsr_text text = tsr_text_of("p.mlir", given);
    tsr_program *program = NULL;
    const tsr_status status = tsr_program_read(f->ctx, &text, 0, &program);
    if (status < 0) {
        print_error("%s\n", tsr_context_diagnostics(f->ctx)->text);
    }
    assert_int_equal(status, TSR_OK);
    return program;
}

static tsr_findings check(fixture *f, tsr_program *program, tsr_check_options options)
{
    tsr_findings findings = {0};
    assert_int_equal(tsr_check_program(f->ctx, f->arena, program, &options, &findings), TSR_OK);
    assert_null(tsr_context_diagnostics(f->ctx));
    return findings;
}

/* The names of the rules of all findings, in order, with a blank after each. */
static void expect_rules(fixture *f, const char *text, tsr_check_options options,
                         const char *wanted)
{
    char names[512] = "";
    size_t size = 0;
    tsr_program *program = read(f, text);
    const tsr_findings findings = check(f, program, options);
    for (size_t i = 0; i < findings.count && size < sizeof names; i++) {
        size +=
            (size_t)snprintf(names + size, sizeof names - size, "%s ", findings.list[i].rule->name);
    }
    assert_string_equal(names, wanted);
    tsr_program_destroy(program);
}

static void findings_have_places_and_reasons(void **state)
{
    fixture *f = *state;
    tsr_program *p = read(f, MANUAL("%0 = stablehlo.tanh %u : tensor<2xf32>\n"
                                    "%1 = stablehlo.add %0, %v : tensor<2xf32>\n"
                                    "sdy.return %1 : tensor<2xf32>\n"));
    tsr_findings findings = {0};
    assert_int_equal(tsr_check_program(f->ctx, f->arena, p, NULL, &findings), TSR_OK);
    assert_int_equal(findings.count, 1);
    const tsr_finding *found = &findings.list[0];
    assert_string_equal(found->rule->id, "TSR-C004");
    assert_string_equal(found->axis, "x");
    assert_string_equal(found->message, "result 0 is declared replicated over \"x\" and differs "
                                        "between devices along it");
    assert_non_null(strstr(found->remedy, "\"x\""));
    assert_string_equal(tsr_ir_op_name(p, found->op), "stablehlo.add");
    assert_int_equal(tsr_ir_value_op(p, found->value), found->op);
    assert_int_equal(found->num_notes, 2);
    assert_string_equal(tsr_ir_op_name(p, found->notes[0].op), "sdy.manual_computation");
    tsr_program_destroy(p);
}

static void rules_are_numbered(void **state)
{
    (void)state;
    size_t count = 0;
    const tsr_check_rule *rules = tsr_check_rules(&count);
    assert_int_equal(count, 12);
    for (size_t i = 0; i < count; i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "TSR-C%03zu", i + 1);
        assert_string_equal(rules[i].id, id);
        assert_true(strlen(rules[i].title) > 0 && strlen(rules[i].help) > 0);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(rules[i].name, rules[k].name);
        }
    }
}

static void findings_are_in_the_order_of_the_text(void **state)
{
    expect_rules(
        *state,
        MANUAL("%0 = \"stablehlo.all_reduce\"(%v) " PSUM(
            "[[0, 1, 2, 3]]", "1x4",
            "tensor<2xf32>") "%1 = \"stablehlo.all_reduce\"(%0) " PSUM("[[0, 1, 2, 3]]", "1x4",
                                                                       "tensor<2xf32>") "%2 = "
                                                                                        "stablehlo."
                                                                                        "add %1, "
                                                                                        "%u : "
                                                                                        "tensor<"
                                                                                        "2xf32>\n"
                                                                                        "sdy."
                                                                                        "return %2 "
                                                                                        ": "
                                                                                        "tensor<"
                                                                                        "2xf32>\n"),
        (tsr_check_options){0}, "needless-collective needless-collective result-varies ");
}

/* Groups of unequal parts of an axis are along none: nothing is known of what they give. */
static void groups_that_are_no_axes(void **state)
{
    fixture *f = *state;
    expect_rules(f,
                 MANUAL("%0 = \"stablehlo.all_reduce\"(%u) " PSUM(
                     "[[0, 3], [1, 2]]", "2x2", "tensor<2xf32>") "sdy.return %0 : tensor<2xf32>\n"),
                 (tsr_check_options){0}, "result-may-vary ");
    expect_rules(
        f,
        MANUAL("%0 = \"stablehlo.all_reduce\"(%u) " PSUM(
            "[[0, 1, 2], [3, -1, -1]]", "2x3", "tensor<2xf32>") "sdy.return %0 : tensor<2xf32>\n"),
        (tsr_check_options){0}, "result-may-vary ");
}

static void a_local_program_may_have_no_collectives(void **state)
{
    fixture *f = *state;
    static const char text[] =
        "sdy.mesh @m = <[\"x\"=4]>\n"
        "func.func public @main(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>},\n"
        "    %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {\n"
        "  %0 = stablehlo.tanh %a : tensor<2xf32>\n"
        "  return %0, %b : tensor<2xf32>, tensor<2xf32>\n"
        "}\n";
    expect_rules(f, text, (tsr_check_options){0}, "");
    expect_rules(f, text, (tsr_check_options){.local = true}, "result-varies ");
}

static void functions_that_call_themselves_end(void **state)
{
    expect_rules(*state,
                 MANUAL("%0 = func.call @f(%v) : (tensor<2xf32>) -> tensor<2xf32>\n"
                        "sdy.return %0 : tensor<2xf32>\n") "func.func private @f(%x: "
                                                           "tensor<2xf32>) -> tensor<2xf32> {\n"
                                                           "  %0 = call @f(%x) : (tensor<2xf32>) "
                                                           "-> tensor<2xf32>\n"
                                                           "  return %0 : tensor<2xf32>\n"
                                                           "}\n",
                 (tsr_check_options){0}, "result-varies ");
}

/* Each function calls the next twice, with other arguments: 2^40 walks. */
static void many_calls_end(void **state)
{
    fixture *f = *state;
    enum { DEPTH = 40 };
    char *text = malloc(1 << 16);
    assert_non_null(text);
    int size = sprintf(text, "%s",
                       MANUAL("%0 = func.call @f0(%u) : (tensor<2xf32>) -> "
                              "tensor<2xf32>\nsdy.return %v : tensor<2xf32>\n"));
    for (int i = 0; i < DEPTH; i++) {
        size += sprintf(text + size,
                        "func.func private @f%d(%%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                        "  %%0 = call @f%d(%%x) : (tensor<2xf32>) -> tensor<2xf32>\n"
                        "  %%1 = call @f%d(%%0) : (tensor<2xf32>) -> tensor<2xf32>\n"
                        "  return %%1 : tensor<2xf32>\n}\n",
                        i, i + 1, i + 1);
    }
    (void)sprintf(text + size,
                  "func.func private @f%d(%%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                  "  return %%x : tensor<2xf32>\n}\n",
                  DEPTH);
    expect_rules(f, text, (tsr_check_options){0}, "");
    free(text);
}

static int open_loop(char *text, int depth)
{
    return sprintf(text,
                   "%%l%d = stablehlo.while(%%i%d = %%%s%d) : tensor<2xf32> cond {\n"
                   "  %%t = stablehlo.constant dense<true> : tensor<i1>\n"
                   "  stablehlo.return %%t : tensor<i1>\n} do {\n",
                   depth, depth, depth > 0 ? "i" : "v", depth > 0 ? depth - 1 : 0);
}

/* Loops in loops: a walk of each until it is stable would be exponential. */
static void deep_loops_end(void **state)
{
    fixture *f = *state;
    enum { DEPTH = 40 };
    char *text = malloc(1 << 16);
    assert_non_null(text);
    int size = sprintf(text, "sdy.mesh @m = <[\"x\"=4]>\n"
                             "func.func public @main(%%b: tensor<2xf32>) -> tensor<2xf32> {\n"
                             "%%r = sdy.manual_computation(%%b) in_shardings=[<@m, [{}]>] "
                             "out_shardings=[<@m, [{}]>] manual_axes={\"x\"} (%%v0: "
                             "tensor<2xf32>) {\n");
    for (int i = 0; i < DEPTH; i++) {
        size += open_loop(text + size, i);
    }
    size += sprintf(text + size, "%%z = stablehlo.negate %%i%d : tensor<2xf32>\n", DEPTH - 1);
    for (int i = DEPTH; i-- > 0;) {
        size += sprintf(text + size,
                        i == DEPTH - 1 ? "stablehlo.return %%z : tensor<2xf32>\n}\n"
                                       : "stablehlo.return %%l%d : tensor<2xf32>\n}\n",
                        i + 1);
    }
    (void)sprintf(text + size, "sdy.return %%l0 : tensor<2xf32>\n"
                               "} : (tensor<2xf32>) -> tensor<2xf32>\n"
                               "return %%r : tensor<2xf32>\n}\n");
    tsr_program *program = read(f, text);
    (void)check(f, program, (tsr_check_options){0});
    tsr_program_destroy(program);
    free(text);
}

/* A condition along one mesh says nothing of a computation on another. */
static void meshes_are_apart(void **state)
{
    expect_rules(*state,
                 "sdy.mesh @m = <[\"x\"=4]>\n"
                 "sdy.mesh @n = <[\"y\"=2, \"x\"=2]>\n"
                 "func.func public @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {\n"
                 "%r = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}]>] "
                 "out_shardings=[<@m, [{\"x\"}]>] manual_axes={\"x\"} (%u: tensor<2xf32>) {\n"
                 "sdy.return %u : tensor<2xf32>\n"
                 "} : (tensor<8xf32>) -> tensor<8xf32>\n"
                 "%s = sdy.manual_computation(%a) in_shardings=[<@n, [{\"x\"}]>] "
                 "out_shardings=[<@n, [{}]>] manual_axes={\"x\", \"y\"} (%u: tensor<4xf32>) {\n"
                 "sdy.return %u : tensor<4xf32>\n"
                 "} : (tensor<8xf32>) -> tensor<4xf32>\n"
                 "return %r, %s : tensor<8xf32>, tensor<4xf32>\n"
                 "}\n",
                 (tsr_check_options){0}, "result-varies ");
}

/* The axes along which a body's result is reported, each as the first character of its name. */
static void expect_axes(fixture *f, const char *mesh, const char *body, const char *wanted)
{
    char given[1024];
    char axes[8] = "";
    (void)snprintf(given, sizeof given,
                   "sdy.mesh @m = %s\n"
                   "func.func public @main() -> tensor<1xi64> {\n"
                   "%%r = sdy.manual_computation() in_shardings=[] out_shardings=[<@m, [{}]>] "
                   "manual_axes={\"x\", \"y\"} () {\n"
                   "%%i = stablehlo.partition_id : tensor<ui32>\n%s"
                   "sdy.return %%s : tensor<1xi64>\n"
                   "} : () -> tensor<1xi64>\n"
                   "return %%r : tensor<1xi64>\n"
                   "}\n",
                   mesh, body);
    tsr_program *program = read(f, given);
    const tsr_findings findings = check(f, program, (tsr_check_options){0});
    for (size_t k = 0; k < findings.count && k < sizeof axes - 1; k++) {
        axes[k] = findings.list[k].axis[0];
    }
    assert_string_equal(axes, wanted);
    tsr_program_destroy(program);
}

static const char in_order[] = "<[\"x\"=2, \"y\"=2]>";
static const char swapped[] = "<[\"x\"=2, \"y\"=2], device_ids=[0, 2, 1, 3]>";
static const char mixed[] = "<[\"x\"=2, \"y\"=2], device_ids=[0, 3, 1, 2]>";

/* A table by a device's number varies as its numbers do. */
static void tables_by_device(void **state)
{
    static const struct {
        const char *mesh;
        const char *numbers;
        const char *axes;
    } rows[] = {{in_order, "5, 5, 5, 5", ""},  {in_order, "1, 2, 1, 2", "y"},
                {in_order, "1, 1, 2, 2", "x"}, {in_order, "1, 2, 3, 4", "xy"},
                {swapped, "1, 2, 1, 2", "x"},  {mixed, "1, 2, 2, 1", "x"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char body[512];
        (void)snprintf(body, sizeof body,
                       "%%t = stablehlo.constant dense<[%s]> : tensor<4xi64>\n"
                       "%%s = stablehlo.dynamic_slice %%t, %%i, sizes = [1] : (tensor<4xi64>, "
                       "tensor<ui32>) -> tensor<1xi64>\n",
                       rows[i].numbers);
        expect_axes(*state, rows[i].mesh, body, rows[i].axes);
    }
}

/* A digit of a device's number varies along the axes that it is of. */
static void digits_of_devices(void **state)
{
    static const struct {
        const char *mesh;
        int div;
        int mod;
        const char *axes;
    } rows[] = {{in_order, 1, 4, "xy"}, {in_order, 2, 2, "x"},  {in_order, 1, 2, "y"},
                {in_order, 4, 4, ""},   {in_order, 1, 3, "xy"}, {swapped, 2, 2, "y"},
                {swapped, 1, 2, "x"},   {mixed, 2, 2, "y"},     {mixed, 1, 2, "xy"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char body[512];
        (void)snprintf(body, sizeof body,
                       "%%d = stablehlo.constant dense<%d> : tensor<ui32>\n"
                       "%%m = stablehlo.constant dense<%d> : tensor<ui32>\n"
                       "%%q = stablehlo.divide %%i, %%d : tensor<ui32>\n"
                       "%%e = stablehlo.remainder %%q, %%m : tensor<ui32>\n"
                       "%%c = stablehlo.convert %%e : (tensor<ui32>) -> tensor<i64>\n"
                       "%%s = stablehlo.reshape %%c : (tensor<i64>) -> tensor<1xi64>\n",
                       rows[i].div, rows[i].mod);
        expect_axes(*state, rows[i].mesh, body, rows[i].axes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(findings_have_places_and_reasons),
        TEST(rules_are_numbered),
        TEST(findings_are_in_the_order_of_the_text),
        TEST(groups_that_are_no_axes),
        TEST(a_local_program_may_have_no_collectives),
        TEST(functions_that_call_themselves_end),
        TEST(many_calls_end),
        TEST(deep_loops_end),
        TEST(meshes_are_apart),
        TEST(tables_by_device),
        TEST(digits_of_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
