/* Running programs from C: inputs and outputs, what is refused, memory, limits. */
#include <stdio.h>
#include <string.h>

#include <tessera/interpret.h>

#include "support.h"

static tsr_program *read_program(fixture *f, const char *text)
{
    const tsr_text source = {.name = "p.mlir", .data = text, .size = strlen(text)};
    tsr_program *program = NULL;
    assert_int_equal(tsr_program_read(f->ctx, &source, 0, &program), TSR_OK);
    return program;
}

static tsr_interpreter *make(fixture *f, const tsr_program *program,
                             const tsr_interpreter_options *options)
{
    tsr_interpreter *in = NULL;
    assert_int_equal(tsr_interpreter_create(f->ctx, program, options, &in), TSR_OK);
    return in;
}

static const char scale[] = "func.func @main(%x: tensor<2x3xf32>, %s: tensor<f32>) -> "
                            "(tensor<2x3xf32>, tensor<f32>) {\n"
                            "  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> "
                            "tensor<2x3xf32>\n"
                            "  %1 = stablehlo.multiply %x, %0 : tensor<2x3xf32>\n"
                            "  return %1, %s : tensor<2x3xf32>, tensor<f32>\n"
                            "}\n";

static void tensors_go_in_and_come_out(void **state)
{
    fixture *f = *state;
    tsr_program *program = read_program(f, scale);
    tsr_interpreter *in = make(f, program, NULL);
    assert_int_equal(tsr_interpreter_num_inputs(in), 2);
    assert_int_equal(tsr_interpreter_num_outputs(in), 2);
    /* The first input is given column by column. */
    float x[] = {1, 4, 2, 5, 3, 6};
    float s = 10;
    const int64_t shape[] = {2, 3};
    const int64_t strides[] = {4, 8};
    const tsr_view inputs[] = {{x, TSR_F32, 2, shape, strides}, {&s, TSR_F32, 0, NULL, NULL}};
    for (int run = 0; run < 3; run++) {
        tsr_outputs *outputs = NULL;
        assert_int_equal(tsr_interpreter_run(f->ctx, in, inputs, 2, &outputs), TSR_OK);
        assert_int_equal(tsr_outputs_count(outputs), 2);
        const tsr_view y = tsr_outputs_get(outputs, 0);
        const float wanted[] = {10, 20, 30, 40, 50, 60};
        assert_int_equal(y.dtype, TSR_F32);
        assert_int_equal(y.rank, 2);
        assert_memory_equal(y.shape, shape, sizeof shape);
        assert_memory_equal(y.data, wanted, sizeof wanted);
        assert_true(*(const float *)tsr_outputs_get(outputs, 1).data == 10);
        tsr_outputs_destroy(outputs);
        assert_int_equal(tsr_interpreter_get_stats(in).live_bytes, 0);
    }
    tsr_interpreter_destroy(in);
    tsr_program_destroy(program);
}

static void wrong_inputs_are_refused(void **state)
{
    fixture *f = *state;
    tsr_program *program = read_program(f, scale);
    tsr_interpreter *in = make(f, program, NULL);
    float x[6] = {0};
    const int64_t shape[] = {2, 3};
    const int64_t other[] = {3, 2};
    tsr_outputs *outputs = NULL;
    const tsr_view right = {x, TSR_F32, 2, shape, NULL};
    const tsr_view scalar = {x, TSR_F32, 0, NULL, NULL};
    const tsr_view turned[] = {{x, TSR_F32, 2, other, NULL}, scalar};
    const tsr_view integer[] = {right, {x, TSR_I32, 0, NULL, NULL}};
    assert_int_equal(tsr_interpreter_run(f->ctx, in, &right, 1, &outputs), TSR_ERR_INVALID);
    expect_error(f, "1 inputs given, 2 expected");
    assert_int_equal(tsr_interpreter_run(f->ctx, in, turned, 2, &outputs), TSR_ERR_INVALID);
    expect_error(f, "input 0 is f32[3,2], but the function takes f32[2,3]");
    assert_int_equal(tsr_interpreter_run(f->ctx, in, integer, 2, &outputs), TSR_ERR_INVALID);
    expect_error(f, "input 1 is i32[], but the function takes f32[]");
    assert_null(outputs);
    tsr_interpreter_destroy(in);
    tsr_program_destroy(program);
}

static void programs_that_cannot_run_are_refused(void **state)
{
    static const struct {
        const char *text;
        const char *function;
        tsr_status status;
        const char *message;
    } rows[] = {
        {"func.func @f() { return }\nfunc.func @g() { return }", NULL, TSR_ERR_INVALID,
         "the module has no function @main, and not exactly 1 function"},
        {"func.func @f() { return }", "h", TSR_ERR_INVALID, "unknown function @h"},
        {"func.func private @f()", NULL, TSR_ERR_UNSUPPORTED, "without a body"},
        {"func.func @main() { call @main() : () -> () return }", NULL, TSR_ERR_UNSUPPORTED,
         "calls itself"},
        {"func.func @main(%x: tensor<1x1x4xf32>, %k: tensor<1x1x2xf32>) {\n"
         "  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], "
         "window "
         "= {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x4xf32>, "
         "tensor<1x1x2xf32>) -> tensor<1x1x2xf32>\n  return\n}",
         NULL, TSR_ERR_INVALID, "result 0 is f32[1,1,2] in the program, and should be f32[1,1,3]"},
        {"func.func @main(%x: tensor<2xf32>) { %0 = stablehlo.custom_call @nobody(%x) : "
         "(tensor<2xf32>) -> tensor<2xf32> return }",
         NULL, TSR_ERR_UNSUPPORTED, "with target @nobody: tensor<2xf32> -> tensor<2xf32>"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tsr_program *program = NULL;
        const tsr_text text = tsr_text_of("test.mlir", rows[i].text);
        assert_int_equal(tsr_program_read(f->ctx, &text, TSR_PROGRAM_UNVERIFIED, &program),
                         TSR_OK); /* verification would refuse some */
        const tsr_interpreter_options options = {.function = rows[i].function};
        tsr_interpreter *in = NULL;
        assert_int_equal(tsr_interpreter_create(f->ctx, program, &options, &in), rows[i].status);
        assert_null(in);
        expect_message(f, rows[i].message);
        tsr_program_destroy(program);
    }
}

/* A chain of ops needs two of its values at a time: what is read and what is written. */
static void values_are_dropped_after_their_last_use(void **state)
{
    fixture *f = *state;
    tsr_program *program =
        read_program(f, "func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {\n"
                        "  %0 = stablehlo.add %x, %x : tensor<1000xf32>\n"
                        "  %1 = stablehlo.negate %0 : tensor<1000xf32>\n"
                        "  %unused = stablehlo.abs %1 : tensor<1000xf32>\n"
                        "  %2 = stablehlo.reshape %1 : (tensor<1000xf32>) -> tensor<10x100xf32>\n"
                        "  %3 = stablehlo.negate %2 : tensor<10x100xf32>\n"
                        "  %4 = stablehlo.reshape %3 : (tensor<10x100xf32>) -> tensor<1000xf32>\n"
                        "  return %4 : tensor<1000xf32>\n}");
    tsr_interpreter *in = make(f, program, NULL);
    static float x[1000];
    const int64_t shape = 1000;
    const tsr_view input = {x, TSR_F32, 1, &shape, NULL};
    tsr_outputs *outputs = NULL;
    assert_int_equal(tsr_interpreter_run(f->ctx, in, &input, 1, &outputs), TSR_OK);
    assert_int_equal(tsr_interpreter_get_stats(in).peak_bytes, 8000);
    assert_int_equal(tsr_interpreter_get_stats(in).live_bytes, 4000);
    assert_int_equal(tsr_interpreter_get_stats(in).ops, 6);
    tsr_outputs_destroy(outputs);
    tsr_interpreter_destroy(in);
    tsr_program_destroy(program);
}

static const char endless[] = "func.func @main() -> tensor<1000xf64> {\n"
                              "  %x = stablehlo.constant dense<1.0> : tensor<1000xf64>\n"
                              "  %yes = stablehlo.constant dense<true> : tensor<i1>\n"
                              "  %0 = stablehlo.while(%a = %x) : tensor<1000xf64> cond {\n"
                              "    stablehlo.return %yes : tensor<i1>\n"
                              "  } do {\n"
                              "    %1 = stablehlo.add %a, %x : tensor<1000xf64>\n"
                              "    stablehlo.return %1 : tensor<1000xf64>\n"
                              "  }\n"
                              "  return %0 : tensor<1000xf64>\n}";

static void limits_end_a_run(void **state)
{
    fixture *f = *state;
    tsr_program *program = read_program(f, endless);
    const tsr_interpreter_options few_ops = {.max_ops = 1000};
    const tsr_interpreter_options few_bytes = {.max_ops = 1000, .max_bytes = 20000};
    tsr_interpreter *in = make(f, program, &few_ops);
    tsr_outputs *outputs = NULL;
    assert_int_equal(tsr_interpreter_run(f->ctx, in, NULL, 0, &outputs), TSR_ERR_LIMIT);
    expect_message(f, "the program reached the limit of 1001 ops");
    /* The truth value that the program has as a constant stays. */
    assert_int_equal(tsr_interpreter_get_stats(in).live_bytes, 1);
    tsr_interpreter_destroy(in);
    in = make(f, program, &few_bytes);
    assert_int_equal(tsr_interpreter_run(f->ctx, in, NULL, 0, &outputs), TSR_ERR_LIMIT);
    expect_message(f, "the limit is 20000");
    assert_null(outputs);
    tsr_interpreter_destroy(in);
    tsr_program_destroy(program);
}

static void sizes_that_overflow_are_refused(void **state)
{
    fixture *f = *state;
    tsr_program *program = read_program(
        f, "func.func @main() {\n"
           "  %0 = stablehlo.iota dim = 0 : tensor<4611686018427387904x4xf32>\n  return\n}");
    tsr_interpreter *in = NULL;
    assert_int_equal(tsr_interpreter_create(f->ctx, program, NULL, &in), TSR_ERR_OVERFLOW);
    expect_message(f, "in bytes exceeds 2^63-1");
    tsr_program_destroy(program);
}

static void checks_say_what_differs(void **state)
{
    fixture *f = *state;
    tsr_program *program =
        read_program(f, "func.func @main(%x: tensor<2x2xi32>) {\n"
                        "  check.expect_eq_const %x, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>\n"
                        "  return\n}");
    tsr_interpreter *in = make(f, program, NULL);
    int32_t x[] = {1, 2, 3, 5};
    const int64_t shape[] = {2, 2};
    const tsr_view input = {x, TSR_I32, 2, shape, NULL};
    tsr_outputs *outputs = NULL;
    assert_int_equal(tsr_interpreter_run(f->ctx, in, &input, 1, &outputs), TSR_ERR_CHECK);
    expect_error(f, "check.expect_eq_const: at [1, 1] the value is 5, expected 4");
    x[3] = 4;
    assert_int_equal(tsr_interpreter_run(f->ctx, in, &input, 1, &outputs), TSR_OK);
    tsr_outputs_destroy(outputs);
    tsr_interpreter_destroy(in);
    tsr_program_destroy(program);
}

/* A sum over groups of devices, in a function that main calls. */
static tsr_program *bare_sum(fixture *f, const char *module, const char *groups)
{
    enum { SIZE = 1200 };
    char *text = tsr_arena_alloc(f->arena, SIZE); /* the program reads it as long as it lives */
    assert_non_null(text);
    (void)snprintf(text, SIZE,
                   "module attributes {%s} {\n"
                   "  func.func private @sum(%%x: tensor<2xi32>) -> tensor<2xi32> {\n"
                   "    %%0 = \"stablehlo.all_reduce\"(%%x) ({\n"
                   "    ^bb0(%%a: tensor<i32>, %%b: tensor<i32>):\n"
                   "      %%1 = stablehlo.add %%a, %%b : tensor<i32>\n"
                   "      stablehlo.return %%1 : tensor<i32>\n"
                   "    }) {%s} : (tensor<2xi32>) -> tensor<2xi32>\n"
                   "    return %%0 : tensor<2xi32>\n  }\n"
                   "  func.func @main(%%x: tensor<2xi32>) -> tensor<2xi32> {\n"
                   "    %%0 = call @sum(%%x) : (tensor<2xi32>) -> tensor<2xi32>\n"
                   "    return %%0 : tensor<2xi32>\n  }\n}",
                   module, groups);
    return read_program(f, text);
}

static const char by_id[] = "replica_groups = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>, "
                            "channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, "
                            "use_global_device_ids";

static void bare_collectives_run_on_all_devices_of_the_module(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {2};
    int32_t x[4][2] = {{1, 10}, {2, 20}, {4, 40}, {8, 80}};
    tsr_view inputs[4];
    for (size_t k = 0; k < 4; k++) {
        inputs[k] = (tsr_view){x[k], TSR_I32, 1, shape, NULL};
    }
    for (int form = 0; form < 2; form++) {
        tsr_program *program =
            form == 0 ? bare_sum(f, "mhlo.num_partitions = 4 : i32", by_id)
                      : bare_sum(f, "mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 2 : i32",
                                 "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>");
        tsr_interpreter *in = make(f, program, NULL);
        assert_int_equal(tsr_interpreter_num_devices(in), 4);
        assert_int_equal(tsr_interpreter_num_inputs(in), 1);
        assert_int_equal(tsr_interpreter_num_outputs(in), 1);
        tsr_outputs *outputs = NULL;
        assert_int_equal(tsr_interpreter_run(f->ctx, in, inputs, 4, &outputs), TSR_OK);
        assert_int_equal(tsr_outputs_count(outputs), 4);
        const int32_t wanted[] = {5, 10, 5, 10};
        for (size_t k = 0; k < 4; k++) {
            const int32_t *got = tsr_outputs_get(outputs, k).data;
            assert_int_equal(got[0], wanted[k]);
            assert_int_equal(got[1], 10 * wanted[k]);
        }
        tsr_outputs_destroy(outputs);
        assert_int_equal(tsr_interpreter_run(f->ctx, in, inputs, 1, &outputs), TSR_OK);
        assert_int_equal(*(const int32_t *)tsr_outputs_get(outputs, 3).data, 2);
        tsr_outputs_destroy(outputs);
        assert_int_equal(tsr_interpreter_run(f->ctx, in, inputs, 3, &outputs), TSR_ERR_INVALID);
        expect_message(f, "3 inputs given, 1 expected, or 1 for each of 4 devices");
        inputs[2].rank = 0;
        assert_int_equal(tsr_interpreter_run(f->ctx, in, inputs, 4, &outputs), TSR_ERR_INVALID);
        expect_message(f, "input 0 of device 2 is");
        inputs[2].rank = 1;
        tsr_interpreter_destroy(in);
        tsr_program_destroy(program);
    }
}

static void devices_that_the_module_lacks_are_refused(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {2};
    int32_t x[] = {1, 2};
    const tsr_view input = {x, TSR_I32, 1, shape, NULL};
    tsr_interpreter *in = NULL;
    tsr_outputs *outputs = NULL;
    static const struct {
        const char *module;
        const char *groups;
        const char *message;
    } cases[] = {
        {"", by_id, "it names device 2, but the run has 1"},
        {"mhlo.num_partitions = 3 : i32", by_id, "it names device 3, but the run has 3"},
        {"mhlo.num_partitions = 4 : i32", "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
         "it names replica 1, but the run has 1; without a channel_handle"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tsr_program *program = bare_sum(f, cases[i].module, cases[i].groups);
        in = make(f, program, NULL);
        assert_int_equal(tsr_interpreter_run(f->ctx, in, &input, 1, &outputs), TSR_ERR_INVALID);
        expect_message(f, cases[i].message);
        assert_null(outputs);
        tsr_interpreter_destroy(in);
        tsr_program_destroy(program);
    }
    in = NULL;
    tsr_program *large =
        bare_sum(f, "mhlo.num_replicas = 13 : i32, mhlo.num_partitions = 5 : i32", by_id);
    assert_int_equal(tsr_interpreter_create(f->ctx, large, NULL, &in), TSR_ERR_UNSUPPORTED);
    expect_message(f, "13 x 5; at most 64 are simulated");
    tsr_program_destroy(large);
    tsr_program *none = bare_sum(f, "mhlo.num_replicas = 0 : i32", by_id);
    assert_int_equal(tsr_interpreter_create(f->ctx, none, NULL, &in), TSR_ERR_INVALID);
    expect_message(f, "mhlo.num_replicas of the module is not an integer of at least 1");
    assert_null(in);
    tsr_program_destroy(none);
}

/* Whole tensors and a manual computation: one device, whatever the module says. */
static void manual_computations_bring_their_own_devices(void **state)
{
    fixture *f = *state;
    tsr_program *program = read_program(
        f, "module attributes {mhlo.num_partitions = 1000 : i32} {\n"
           "  sdy.mesh @m = <[\"x\"=2]>\n"
           "  func.func @main(%a: tensor<4xi32>) -> tensor<2xi32> {\n"
           "    %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}]>] "
           "out_shardings=[<@m, [{}]>] manual_axes={\"x\"} (%b: tensor<2xi32>) {\n"
           "      %1 = \"stablehlo.all_reduce\"(%b) ({\n"
           "      ^bb0(%c: tensor<i32>, %d: tensor<i32>):\n"
           "        %2 = stablehlo.add %c, %d : tensor<i32>\n"
           "        stablehlo.return %2 : tensor<i32>\n"
           "      }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = "
           "#stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : "
           "(tensor<2xi32>) -> tensor<2xi32>\n"
           "      sdy.return %1 : tensor<2xi32>\n"
           "    } : (tensor<4xi32>) -> tensor<2xi32>\n"
           "    return %0 : tensor<2xi32>\n  }\n}");
    tsr_interpreter *in = make(f, program, NULL);
    int32_t x[] = {1, 2, 3, 4};
    const int64_t shape[] = {4};
    const tsr_view input = {x, TSR_I32, 1, shape, NULL};
    tsr_outputs *outputs = NULL;
    assert_int_equal(tsr_interpreter_num_devices(in), 1);
    assert_int_equal(tsr_interpreter_run(f->ctx, in, &input, 1, &outputs), TSR_OK);
    const int32_t wanted[] = {4, 6};
    assert_memory_equal(tsr_outputs_get(outputs, 0).data, wanted, sizeof wanted);
    tsr_outputs_destroy(outputs);
    tsr_interpreter_destroy(in);
    tsr_program_destroy(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tensors_go_in_and_come_out),
        TEST(wrong_inputs_are_refused),
        TEST(programs_that_cannot_run_are_refused),
        TEST(values_are_dropped_after_their_last_use),
        TEST(limits_end_a_run),
        TEST(sizes_that_overflow_are_refused),
        TEST(checks_say_what_differs),
        TEST(bare_collectives_run_on_all_devices_of_the_module),
        TEST(devices_that_the_module_lacks_are_refused),
        TEST(manual_computations_bring_their_own_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
