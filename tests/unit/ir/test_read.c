/* Reading programs: texts that are refused, and where; hostile texts; what can be walked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/program.h>

#include "support.h"

/* The program of a text, or NULL when it is refused. */
static tsr_program *read(fixture *f, const char *given, int flags)
{
    const tsr_text text = tsr_text_of("p.mlir", given);
    tsr_program *program = NULL;
    const tsr_status status = tsr_program_read(f->ctx, &text, flags, &program);
    assert_int_equal(status < 0, program == NULL);
    return program;
}

static const char sample[] =
    "#s = #sdy.sharding<@m, [{\"x\"}, {?}]>\n"
    "!t = tensor<4x2xf32>\n"
    "module @p attributes {a.b = \"\\22q\"} {\n"
    "  sdy.mesh @m = <[\"x\"=2, \"y\"=2]>\n"
    "  func.func public @main(%a: !t {sdy.sharding = #s}, %n: tensor<i32>) -> !t {\n"
    "    %c = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi8>\n"
    "    %0:2 = stablehlo.while(%u = %a, %v = %n) : !t, tensor<i32>\n"
    "    cond {\n"
    "      %p = stablehlo.compare LT, %v, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "      stablehlo.return %p : tensor<i1>\n"
    "    } do {\n"
    "      %w = stablehlo.add %u, %u : !t\n"
    "      stablehlo.return %w, %v : !t, tensor<i32>\n"
    "    }\n"
    "    %1 = sdy.reshard %0#0 <@m, [{\"x\"}, {\"y\"}]> : !t\n"
    "    return %1 : !t\n"
    "  }\n"
    "}\n";

static void programs_can_be_walked(void **state)
{
    fixture *f = *state;
    tsr_program *p = read(f, sample, 0);
    assert_non_null(p);
    const tsr_ir_op func = tsr_program_symbol(p, "main");
    assert_string_equal(tsr_ir_op_name(p, func), "func.func");
    assert_int_equal(tsr_program_symbol(p, "nothing"), 0);
    const tsr_ir_block body = tsr_ir_region_first_block(p, tsr_ir_op_region(p, func, 0));
    assert_int_equal(tsr_ir_block_num_arguments(p, body), 2);
    const tsr_ir_value argument = tsr_ir_block_argument(p, body, 0);
    assert_int_equal(tsr_ir_value_block(p, argument), body);
    assert_int_equal(tsr_ir_value_op(p, argument), 0);
    size_t rank = 0;
    const int64_t *shape = NULL;
    assert_true(tsr_ir_type_shape(p, tsr_ir_value_type(p, argument), &rank, &shape));
    assert_int_equal(rank, 2);
    assert_int_equal(shape[0], 4);
    const tsr_sharding *sharding = NULL;
    assert_int_equal(tsr_ir_value_sharding(f->ctx, p, argument, &sharding), TSR_OK);
    assert_string_equal(sharding_full(f, sharding), "#sdy.sharding<@m, [{\"x\"}, {?}]>");
    const tsr_ir_op last = tsr_ir_block_last_op(p, body);
    const tsr_ir_value returned = tsr_ir_op_operand(p, last, 0);
    const tsr_ir_op reshard = tsr_ir_value_op(p, returned);
    assert_string_equal(tsr_ir_op_name(p, reshard), "sdy.reshard");
    assert_int_equal(tsr_ir_op_next(p, reshard), last);
    assert_int_equal(tsr_ir_value_sharding(f->ctx, p, returned, &sharding), TSR_OK);
    assert_string_equal(sharding_full(f, sharding), "#sdy.sharding<@m, [{\"x\"}, {\"y\"}]>");
    assert_int_equal(tsr_ir_value_index(p, tsr_ir_op_operand(p, reshard, 0)), 0);
    int64_t line = 0;
    int64_t column = 0;
    assert_true(tsr_ir_op_position(p, reshard, &line, &column));
    assert_int_equal(line, 15);
    assert_int_equal(column, 10);
    const char *text = NULL;
    const tsr_ir_attr attr = tsr_ir_op_attribute(p, reshard, "sharding");
    assert_int_equal(tsr_ir_attr_to_text(f->ctx, f->arena, p, attr, &text), TSR_OK);
    assert_string_equal(text, "#sdy.sharding<@m, [{\"x\"}, {\"y\"}]>");
    tsr_program_destroy(p);
}

/* Names of the text are forgotten; aliases and defaults are written out. */
static void programs_print_as_mlir_prints_them(void **state)
{
    fixture *f = *state;
    static const char wanted[] =
        "module @p attributes {a.b = \"\\22q\"} {\n"
        "  sdy.mesh @m = <[\"x\"=2, \"y\"=2]>\n"
        "  func.func public @main(%arg0: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@m, "
        "[{\"x\"}, {?}]>}, %arg1: tensor<i32>) -> tensor<4x2xf32> {\n"
        "    %c = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi8>\n"
        "    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<4x2xf32>, "
        "tensor<i32>\n"
        "    cond {\n"
        "      %2 = stablehlo.compare LT, %iterArg_0, %arg1 : (tensor<i32>, tensor<i32>) -> "
        "tensor<i1>\n"
        "      stablehlo.return %2 : tensor<i1>\n"
        "    } do {\n"
        "      %2 = stablehlo.add %iterArg, %iterArg : tensor<4x2xf32>\n"
        "      stablehlo.return %2, %iterArg_0 : tensor<4x2xf32>, tensor<i32>\n"
        "    }\n"
        "    %1 = sdy.reshard %0#0 <@m, [{\"x\"}, {\"y\"}]> : tensor<4x2xf32>\n"
        "    return %1 : tensor<4x2xf32>\n"
        "  }\n"
        "}\n";
    tsr_program *p = read(f, sample, 0);
    const char *text = NULL;
    assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, TSR_PROGRAM_PRETTY, &text), TSR_OK);
    assert_string_equal(text, wanted);
    tsr_program *copy = NULL;
    assert_int_equal(tsr_program_clone(f->ctx, p, &copy), TSR_OK);
    tsr_program_destroy(p);
    assert_int_equal(tsr_program_to_text(f->ctx, f->arena, copy, TSR_PROGRAM_PRETTY, &text),
                     TSR_OK);
    assert_string_equal(text, wanted);
    tsr_program_destroy(copy);
}

static void faults_have_their_messages(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *text;
        const char *error;
        int64_t line;
    } cases[] = {
        {"func.func @f() { return", "expected operation name in quotes", 1},
        {"func.func @f(%a: tensor<4xf32>) {\n  %0 = stablehlo.add %a, %b : tensor<4xf32>\n  "
         "return\n}",
         "use of undeclared SSA value name", 2},
        {"func.func @f(%a: tensor<4xf32>) {\n  %a = stablehlo.add %a, %a : tensor<4xf32>\n  "
         "return\n}",
         "redefinition of SSA value '%a'", 2},
        {"func.func @f(%a: tensor<4xf32>) {\n  %0 = stablehlo.add %a, %a : tensor<5xf32>\n  "
         "return\n}",
         "use of value '%a' expects different type than prior uses: 'tensor<5xf32>' vs "
         "'tensor<4xf32>'",
         2},
        {"func.func @f(%a: tensor<4xf32>) {\n  stablehlo.adds %a : tensor<4xf32>\n  return\n}",
         "custom op 'stablehlo.adds' is unknown", 2},
        {"func.func @f() {\n  \"my.op\"() : () -> ()\n  return\n}",
         "operation being parsed with an unregistered dialect. If this is intended, please use "
         "-allow-unregistered-dialect with the MLIR tool used",
         2},
        {"func.func @f() {\n  %c = stablehlo.constant dense<300> : tensor<i8>\n  return\n}",
         "integer constant out of range for type", 2},
        {"func.func @f() {\n  %c = stablehlo.constant dense<[1, 2]> : tensor<3xi8>\n  return\n}",
         "inferred shape of elements literal ([2]) does not match type ([3])", 2},
        {"func.func @f() {\n  return\n}\nfunc.func @f() {\n  return\n}",
         "redefinition of symbol named 'f'", 4},
        {"func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = func.call @g(%a) : "
         "(tensor<2xf32>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}",
         "'func.call' op 'g' does not reference a valid function", 2},
        {"func.func @f(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}) {\n  return\n}",
         "'func.func' op arg 0 - unknown mesh: @m", 1},
        {"func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n  return\n}",
         "'func.return' op has 0 operands, but enclosing function (@f) returns 1", 2},
        {"func.func @f(%a: tensor<2xf32>) {\n  %0 = stablehlo.add %1, %a : tensor<2xf32>\n"
         "  %1 = stablehlo.add %a, %a : tensor<2xf32>\n  return\n}",
         "'stablehlo.add' op operand #0 does not dominate this use", 2},
        {"func.func @f(%a: tensor<2xf32>) {\n  %0 = stablehlo.slice %a [0:99999999999999999999] : "
         "(tensor<2xf32>) -> tensor<2xf32>\n  return\n}",
         "custom op 'stablehlo.slice' integer value too large", 2},
        {"func.func @f(%a: tensor<2xf32>) {\n  %0 = \"stablehlo.negate\"() : () -> tensor<2xf32> "
         "loc(\"f.py\":9:9)\n  return\n}",
         "'stablehlo.negate' op requires a single operand", 2},
        {"func.func @f(%a: tensor<2x3xf32>) {\n  %0 = stablehlo.transpose %a, dims = [1, 0] : "
         "(tensor<2x3xf32>) -> tensor<2x3xf32>\n  return\n}",
         "'stablehlo.transpose' op inferred type(s) 'tensor<3x2xf32>' are incompatible with return "
         "type(s) of operation 'tensor<2x3xf32>'",
         2},
        {"func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xbf16>) {\n  %0 = stablehlo.dot_general "
         "%a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<2x3xbf16>) -> "
         "tensor<2x3xf32>\n  return\n}",
         "contracting dimension sizes must match for lhs/rhs", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_null(read(f, cases[i].text, 0));
        const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
        assert_non_null(d);
        assert_string_equal(d->text, cases[i].error);
        assert_int_equal(d->line, cases[i].line);
        tsr_context_clear(f->ctx);
    }
}

/* A text cut anywhere is read or refused with a message; it never crashes. */
static void every_cut_is_refused_or_read(void **state)
{
    fixture *f = *state;
    const size_t size = strlen(sample);
    size_t refused = 0;
    for (size_t cut = 0; cut < size; cut++) {
        char *copy = malloc(cut + 1);
        assert_non_null(copy);
        memcpy(copy, sample, cut);
        const tsr_text text = {.name = "cut", .data = copy, .size = cut};
        tsr_program *program = NULL;
        if (tsr_program_read(f->ctx, &text, 0, &program) < 0) {
            assert_non_null(tsr_context_diagnostics(f->ctx));
            refused++;
        }
        tsr_program_destroy(program);
        tsr_context_clear(f->ctx);
        free(copy);
    }
    assert_true(refused > size * 9 / 10);
}

/* `head` once, `open` many times, `close` as often. */
static char *nested(size_t depth, const char *head, const char *open, const char *middle,
                    const char *close, const char *tail)
{
    const size_t size =
        strlen(head) + depth * (strlen(open) + strlen(close)) + strlen(middle) + strlen(tail) + 1;
    char *text = malloc(size);
    assert_non_null(text);
    char *at = stpcpy(text, head);
    for (size_t i = 0; i < depth; i++) {
        at = stpcpy(at, open);
    }
    at = stpcpy(at, middle);
    for (size_t i = 0; i < depth; i++) {
        at = stpcpy(at, close);
    }
    stpcpy(at, tail);
    return text;
}

static void deep_nesting_is_refused(void **state)
{
    fixture *f = *state;
    enum { DEPTH = 10000 };
    char *texts[] = {
        nested(DEPTH, "", "\"my.op\"() ({\n", "", "}) : () -> ()\n", ""),
        nested(DEPTH, "module attributes {a.b = ", "[", "", "]", "} {}"),
        nested(DEPTH, "module attributes {a.b = ", "{k = ", "1", "}", "} {}"),
        nested(DEPTH, "module attributes {a.b = ", "tuple<", "f32", ">", "} {}"),
        nested(DEPTH, "module attributes {a.b = dense<", "[", "1", "]", "> : tensor<1xi8>} {}"),
        nested(DEPTH, "module attributes {} {} loc(", "\"n\"(", "unknown", ")", ")"),
        nested(DEPTH, "", "module {\n", "", "}\n", ""),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_null(read(f, texts[i], TSR_PROGRAM_ALLOW_UNREGISTERED));
        const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
        assert_non_null(strstr(d->text, "nested more than"));
        assert_int_equal(d->status, TSR_ERR_LIMIT);
        tsr_context_clear(f->ctx);
        free(texts[i]);
    }
}

/* A chain of aliases: `first`, then each by `rest`, where %d is the one before; the last is used.
 */
static char *chain(int count, const char *sign, const char *first, const char *rest)
{
    enum { LINE = 64 };
    char *text = malloc((size_t)(count + 3) * LINE);
    assert_non_null(text);
    char *at = text + sprintf(text, "%sa0 = %s\n", sign, first);
    for (int i = 1; i <= count; i++) {
        at += sprintf(at, "%sa%d = ", sign, i);
        at += snprintf(at, LINE / 2, rest, i - 1);
        *at++ = '\n';
    }
    sprintf(at, "module attributes {x.y = %sa%d} {}\n", sign, count);
    return text;
}

/* Aliases that hold each other are as deep as what they stand for. */
static void deep_aliases_are_refused(void **state)
{
    fixture *f = *state;
    enum { FEW = 505, MANY = 100000 };
    static const char *const cases[][3] = {
        {"#", "1", "[#a%d]"},
        {"#", "1", "{k = #a%d}"},
        {"!", "i32", "tuple<!a%d>"},
        {"#", "loc(unknown)", "loc(\"n\"(#a%d))"},
        {"#", "loc(unknown)", "loc(callsite(\"n\" at #a%d))"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *few = chain(FEW, cases[i][0], cases[i][1], cases[i][2]);
        char *many = chain(MANY, cases[i][0], cases[i][1], cases[i][2]);
        tsr_program *p = read(f, few, 0);
        const char *printed = NULL;
        assert_non_null(p);
        assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, 0, &printed), TSR_OK);
        tsr_program_destroy(p);
        assert_null(read(f, many, 0));
        expect_message(f, "nested more than 512 levels deep");
        free(few);
        free(many);
    }
    char *metadata = chain(MANY, "#", "loc(unknown)", "loc(fused<#a%d>[\"n\"])");
    assert_null(read(f, metadata, 0));
    expect_message(f, "nested more than 512 levels deep");
    free(metadata);
}

static void many_dimensions_are_refused(void **state)
{
    fixture *f = *state;
    enum { MOST = 512, MANY = 100000 };
    char *most = nested(MOST, "module attributes {a.b = tensor<", "1x", "f32>} {}", "", "");
    char *many = nested(MANY, "module attributes {a.b = tensor<", "1x", "f32>} {}", "", "");
    tsr_program *p = read(f, most, 0);
    assert_non_null(p);
    tsr_program_destroy(p);
    assert_null(read(f, many, 0));
    expect_error(f, "types of more than 512 dimensions are not supported");
    free(most);
    free(many);
}

/* Properties that do not fit their row are printed in generic form, as they are. */
static void wrong_properties_are_printed(void **state)
{
    fixture *f = *state;
    static const char *const texts[] = {
        "\"stablehlo.composite\"(%arg0) <{composite_attributes = [1, 2], decomposition = @g, name "
        "= "
        "\"a.b\", version = 0 : i32}> : (tensor<f32>) -> tensor<f32>",
        "\"sdy.propagation_barrier\"(%arg0) <{allowed_direction = 99 : i32}> : (tensor<f32>) -> "
        "tensor<f32>",
        "\"sdy.all_reduce\"(%arg0) <{out_sharding = #sdy.sharding<@m, []>, reduction_axes = "
        "#sdy<axis_ref_list{\"x\"}>, reduction_op = -1 : i32}> : (tensor<f32>) -> tensor<f32>",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        enum { MOST = 512 };
        char text[MOST];
        const char *printed = NULL;
        snprintf(text, sizeof text,
                 "func.func @f(%%arg0: tensor<f32>) {\n    %%0 = %s\n    return\n  }", texts[i]);
        tsr_program *p = read(f, text, TSR_PROGRAM_UNVERIFIED);
        assert_non_null(p);
        assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, TSR_PROGRAM_PRETTY, &printed),
                         TSR_OK);
        assert_non_null(strstr(printed, text));
        tsr_program_destroy(p);
    }
}

/* A `while` whose second region has other arguments than the first is printed in generic form. */
static void a_while_prints_all_it_has(void **state)
{
    fixture *f = *state;
    static const char *const bodies[] = {"", "^bb0:\n", "^bb0(%arg1: tensor<2xf32>):\n",
                                         "^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):\n"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        enum { MOST = 512 };
        char text[MOST];
        const char *printed = NULL;
        const char *again = NULL;
        snprintf(text, sizeof text,
                 "func.func @f(%%a: tensor<f32>) {\n%%0 = \"stablehlo.while\"(%%a) ({\n"
                 "^bb0(%%b: tensor<f32>):\nstablehlo.return %%b : tensor<f32>\n}, {\n%s"
                 "stablehlo.return %%a : tensor<f32>\n}) : (tensor<f32>) -> tensor<f32>\nreturn\n}",
                 bodies[i]);
        tsr_program *p = read(f, text, TSR_PROGRAM_UNVERIFIED);
        assert_non_null(p);
        assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, 0, &printed), TSR_OK);
        assert_non_null(strstr(printed, "\"stablehlo.while\"(%arg0) ({"));
        tsr_program_destroy(p);
        p = read(f, printed, TSR_PROGRAM_UNVERIFIED);
        assert_non_null(p);
        assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, 0, &again), TSR_OK);
        assert_string_equal(again, printed);
        tsr_program_destroy(p);
    }
}

static void long_names_are_kept(void **state)
{
    fixture *f = *state;
    enum { LENGTH = 65536 };
    char *name = malloc(LENGTH + 1);
    char *text = malloc(4 * LENGTH + 200);
    assert_true(name != NULL && text != NULL);
    memset(name, 'n', LENGTH);
    name[LENGTH] = '\0';
    char *at = stpcpy(stpcpy(text, "func.func @"), name);
    at = stpcpy(stpcpy(stpcpy(at, "(%"), name), ": tensor<f32>) attributes {x.");
    stpcpy(stpcpy(at, name), "} {\n  return\n}\n");
    tsr_program *p = read(f, text, 0);
    assert_non_null(p);
    assert_true(tsr_program_symbol(p, name) != 0);
    const char *printed = NULL;
    assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, TSR_PROGRAM_PRETTY, &printed),
                     TSR_OK);
    assert_non_null(strstr(printed, name));
    tsr_program_destroy(p);
    free(name);
    free(text);
}

/* Ops of unknown dialects, with blocks and successors, are kept as they are. */
static void unknown_ops_are_kept(void **state)
{
    fixture *f = *state;
    static const char text[] =
        "module {\n"
        "  \"a.f\"() ({\n"
        "  ^bb0(%arg0: i32):\n"
        "    \"a.br\"(%arg0)[^bb2] {k = #other.attr<x, [1]>, l = #other<y> : tensor<2xf32>} : "
        "(i32) -> ()\n"
        "  ^bb1:  // no predecessors\n"
        "    \"a.end\"() : () -> ()\n"
        "  ^bb2:  // pred: ^bb0\n"
        "    %0:2 = \"a.two\"() <{p = 1 : i64}> : () -> (!other.type<3>, f32)\n"
        "    \"a.end\"(%0#1) : (f32) -> ()\n"
        "  }) : () -> ()\n"
        "}\n";
    tsr_program *p = read(f, text, TSR_PROGRAM_ALLOW_UNREGISTERED);
    const char *printed = NULL;
    assert_non_null(p);
    assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, TSR_PROGRAM_PRETTY, &printed),
                     TSR_OK);
    assert_string_equal(printed, text);
    tsr_program_destroy(p);
}

static void a_missing_file_is_told(void **state)
{
    fixture *f = *state;
    tsr_program *p = NULL;
    assert_int_equal(tsr_program_load(f->ctx, "no/such/file.mlir", 0, &p), TSR_ERR_INVALID);
    assert_null(p);
    expect_message(f, "cannot read no/such/file.mlir: No such file or directory");
    assert_int_equal(tsr_program_load(f->ctx, "/", 0, &p), TSR_ERR_INVALID);
    expect_message(f, "cannot read /: it is not a regular file");
}

static bool refuse(void *state, const char *bytes, size_t count)
{
    (void)state;
    (void)bytes;
    (void)count;
    return false;
}

static void a_writer_may_stop(void **state)
{
    fixture *f = *state;
    tsr_program *p = read(f, sample, 0);
    assert_int_equal(tsr_program_print(f->ctx, p, 0, refuse, NULL), TSR_ERR_INVALID);
    expect_message(f, "the output cannot be written");
    tsr_program_destroy(p);
}

/* The source of the k-th op of a text's first function. */
static bool source_of(fixture *f, const tsr_program *p, size_t k, tsr_source_location *out)
{
    const tsr_ir_op func = tsr_program_symbol(p, "main");
    tsr_ir_op op =
        tsr_ir_block_first_op(p, tsr_ir_region_first_block(p, tsr_ir_op_region(p, func, 0)));
    while (k-- > 0) {
        op = tsr_ir_op_next(p, op);
    }
    return tsr_ir_op_source(f->ctx, f->arena, p, op, out);
}

static void sources_are_the_innermost(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *location;
        const char *file; /* NULL: none */
        int64_t line;
        int64_t column;
    } rows[] = {
        {"loc(\"a.py\":3:7)", "a.py", 3, 7},
        {"loc(\"a.py\":3:7 to 4:9)", "a.py", 3, 7},
        {"loc(\"tanh\"(\"a.py\":3:7))", "a.py", 3, 7},
        {"loc(callsite(\"in.py\":1:2 at \"out.py\":3:4))", "in.py", 1, 2},
        {"loc(callsite(\"f\" at \"out.py\":3:4))", "out.py", 3, 4},
        {"loc(fused<\"x\">[\"f\", \"b.py\":5:6, \"c.py\":7:8])", "b.py", 5, 6},
        {"loc(\"name\")", NULL, 0, 0},
        {"loc(unknown)", NULL, 0, 0},
        {"", NULL, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        tsr_source_location source = {0};
        (void)snprintf(text, sizeof text,
                       "func.func @main(%%a: tensor<f32>) -> tensor<f32> {\n"
                       "  %%b = stablehlo.tanh %%a : tensor<f32> %s\n"
                       "  return %%b : tensor<f32>\n}\n",
                       rows[i].location);
        tsr_program *p = read(f, text, 0);
        assert_non_null(p);
        assert_int_equal(source_of(f, p, 0, &source), rows[i].file != NULL);
        if (rows[i].file != NULL) {
            assert_string_equal(source.file, rows[i].file);
            assert_int_equal(source.line, rows[i].line);
            assert_int_equal(source.column, rows[i].column);
        }
        assert_false(source_of(f, p, 1, &source));
        tsr_program_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(programs_can_be_walked),      TEST(programs_print_as_mlir_prints_them),
        TEST(faults_have_their_messages),  TEST(every_cut_is_refused_or_read),
        TEST(deep_nesting_is_refused),     TEST(deep_aliases_are_refused),
        TEST(many_dimensions_are_refused), TEST(wrong_properties_are_printed),
        TEST(a_while_prints_all_it_has),   TEST(long_names_are_kept),
        TEST(unknown_ops_are_kept),        TEST(a_missing_file_is_told),
        TEST(a_writer_may_stop),           TEST(sources_are_the_innermost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
