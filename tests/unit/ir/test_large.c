/*
 * Programs that are large in one direction only. Each has so many items that what is not linear
 * (nearly) in their number would take minutes, or overflow the stack.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/program.h>

#include "support.h"

/* A text that grows. */
typedef struct growing {
    char *data;
    size_t size;
    size_t room;
} growing;

static void add(growing *text, const char *format, ...)
{
    enum { MOST = 1024 };
    va_list arguments;
    if (text->size + MOST > text->room) {
        text->room = 2 * text->room + MOST;
        text->data = realloc(text->data, text->room);
        assert_non_null(text->data);
    }
    va_start(arguments, format);
    const int size = vsnprintf(text->data + text->size, MOST, format, arguments);
    va_end(arguments);
    assert_in_range(size, 0, MOST - 1);
    text->size += (size_t)size;
}

/* Reads a text; NULL when it is refused. */
static tsr_program *read(fixture *f, growing *text, int flags)
{
    const tsr_text source = {.name = "large.mlir", .data = text->data, .size = text->size};
    tsr_program *program = NULL;
    const tsr_status status = tsr_program_read(f->ctx, &source, flags, &program);
    assert_int_equal(status < 0, program == NULL);
    return program;
}

/* Arguments of async_start have the sharding of its operand, here an argument of the next one. */
static void many_operands_are_followed(void **state)
{
    fixture *f = *state;
    enum { COUNT = 100000 };
    growing text = {0};
    add(&text, "sdy.mesh @m = <[\"x\"=2]>\nfunc.func @f(%%x: tensor<4xf32>) {\n");
    for (int i = 0; i < COUNT; i++) {
        add(&text, "%%r%d = \"stablehlo.async_start\"(%%a%d) ({\n^bb0(%%a%d: tensor<4xf32>):\n", i,
            i + 1, i);
        if (i == 0) {
            add(&text, "%%c = sdy.reshard %%a0 <@m, [{}]> : tensor<4xf32>\n");
        }
        add(&text,
            "stablehlo.return %%a%d : tensor<4xf32>\n}) : (tensor<4xf32>) -> "
            "!stablehlo.future<tensor<4xf32>>\n",
            i);
    }
    add(&text, "%%a%d = stablehlo.negate %%x : tensor<4xf32>\nreturn\n}\n", COUNT);
    assert_null(read(f, &text, 0));
    expect_error(f, "'stablehlo.async_start' op operand #0 does not dominate this use");
    free(text.data);
}

/* A fused location holds each part once. */
static void many_parts_are_fused(void **state)
{
    fixture *f = *state;
    enum { COUNT = 200000 };
    growing text = {0};
    const char *printed = NULL;
    add(&text, "module {} loc(fused[\"p\"");
    for (int i = 0; i < COUNT; i++) {
        add(&text, ", \"f\":%d:1", i / 2);
    }
    add(&text, "])\n");
    tsr_program *p = read(f, &text, 0);
    assert_non_null(p);
    assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, TSR_PROGRAM_LOCATIONS, &printed),
                     TSR_OK);
    assert_non_null(strstr(printed, "#loc100000 = loc(\"f\":99999:1)\n"));
    assert_null(strstr(printed, "#loc100002 ="));
    tsr_program_destroy(p);
    free(text.data);
}

/* Blobs by name: the first of each. */
static void many_resources_are_kept(void **state)
{
    fixture *f = *state;
    enum { COUNT = 50000 };
    growing text = {0};
    const char *printed = NULL;
    add(&text, "module attributes {a.b = [");
    for (int i = 0; i < COUNT; i++) {
        add(&text, "%sdense_resource<r%d> : tensor<i8>", i > 0 ? ", " : "", i);
    }
    add(&text, "]} {}\n{-# dialect_resources: { builtin: { r0: \"0x0100000000\"");
    for (int i = COUNT - 1; i >= 0; i--) {
        add(&text, ", r%d: \"0x01000000%02x\"", i, i % 200 + 16);
    }
    add(&text, "} } #-}\n");
    tsr_program *p = read(f, &text, 0);
    assert_non_null(p);
    assert_in_range(tsr_program_memory(p), 0, 20 * text.size);
    assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, 0, &printed), TSR_OK);
    assert_non_null(strstr(printed, "      r0: \"0x0100000000\",\n      r1: \"0x0100000011\",\n"));
    assert_non_null(strstr(printed, "      r49999: \"0x01000000D7\"\n"));
    tsr_program_destroy(p);
    free(text.data);
}

/* Keys in the wrong order, each once. */
static void many_entries_are_sorted(void **state)
{
    fixture *f = *state;
    enum { COUNT = 200000 };
    growing text = {0};
    const char *printed = NULL;
    add(&text, "module attributes {");
    for (int i = COUNT - 1; i >= 0; i--) {
        add(&text, "a.k%06d = %d, ", i, i);
    }
    growing twice = {0};
    add(&twice, "module attributes {a.b = {a = {a = 1}, ");
    for (int i = 0; i < 20; i++) {
        add(&twice, "k%d, ", i);
    }
    add(&text, "a.z} {}\n");
    add(&twice, "a}} {}\n");
    tsr_program *p = read(f, &text, 0);
    assert_non_null(p);
    assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, 0, &printed), TSR_OK);
    assert_memory_equal(printed, "module attributes {a.k000000 = 0 : i64, a.k000001 = 1", 53);
    assert_non_null(strstr(printed, "a.k199999 = 199999 : i64, a.z} {"));
    tsr_program_destroy(p);
    assert_null(read(f, &twice, 0));
    expect_error(f, "duplicate key 'a' in dictionary attribute");
    free(text.data);
    free(twice.data);
}

/* Each block branches to the first and the next one; in each is a region that has their names. */
static void many_blocks_are_printed(void **state)
{
    fixture *f = *state;
    enum { COUNT = 50000 };
    growing text = {0};
    const char *printed = NULL;
    add(&text, "module {\n  \"a.f\"() ({\n    \"a.br\"()[^bb1] : () -> ()\n");
    for (int i = 1; i < COUNT; i++) {
        add(&text, "  ^bb%d:  // ", i);
        if (i == 1) {
            add(&text, "%d preds: ^bb0", COUNT);
            for (int k = 1; k < COUNT; k++) {
                add(&text, ", ^bb%d", k);
            }
        } else {
            add(&text, "pred: ^bb%d", i - 1);
        }
        add(&text, "\n    \"a.g\"() ({\n      \"a.br\"()[^bb1, ^bb1] : () -> ()\n"
                   "    ^bb1:  // pred: ^bb0\n    }) : () -> ()\n    \"a.br\"()[^bb1");
        add(&text, i + 1 < COUNT ? ", ^bb%d] : () -> ()\n" : "] : () -> ()\n", i + 1);
    }
    add(&text, "  }) : () -> ()\n}\n");
    tsr_program *p = read(f, &text, TSR_PROGRAM_ALLOW_UNREGISTERED | TSR_PROGRAM_UNVERIFIED);
    assert_non_null(p);
    assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, 0, &printed), TSR_OK);
    assert_string_equal(printed, text.data);
    tsr_program_destroy(p);
    free(text.data);
}

static void many_ops_have_positions(void **state)
{
    fixture *f = *state;
    enum { COUNT = 200000 };
    growing text = {0};
    add(&text, "func.func @f(%%a: tensor<f32>) {\n");
    for (int i = 0; i < COUNT; i++) {
        add(&text, "%%%d = stablehlo.negate %%a : tensor<f32>\n", i);
    }
    add(&text, "return }\n");
    tsr_program *p = read(f, &text, TSR_PROGRAM_UNVERIFIED);
    assert_non_null(p);
    const tsr_ir_op func = tsr_program_symbol(p, "f");
    int64_t wanted = 2;
    for (tsr_ir_op op =
             tsr_ir_block_first_op(p, tsr_ir_region_first_block(p, tsr_ir_op_region(p, func, 0)));
         op != 0; op = tsr_ir_op_next(p, op)) {
        int64_t line = 0;
        int64_t column = 0;
        assert_true(tsr_ir_op_position(p, op, &line, &column));
        assert_int_equal(line, wanted++);
    }
    assert_int_equal(wanted, COUNT + 3);
    tsr_program_destroy(p);
    free(text.data);
}

/* Constants of `arith` suggest names that hold their value; the same names again inside. */
static void many_names_are_suggested(void **state)
{
    fixture *f = *state;
    enum { COUNT = 100000 };
    growing text = {0};
    const char *printed = NULL;
    add(&text, "module {\n  func.func @f() {\n");
    for (int i = 0; i < COUNT; i++) {
        add(&text, "    %%c%d_i32 = arith.constant %d : i32\n", i, i);
    }
    add(&text, "    \"a.f\"() ({\n      %%c70_i32_0 = arith.constant 70 : i32\n"
               "      %%c-1_i32 = arith.constant -1 : i32\n    }) : () -> ()\n"
               "    \"a.f\"() ({\n      %%c70_i32_0 = arith.constant 70 : i32\n"
               "      %%c-1_i32 = arith.constant -1 : i32\n    }) : () -> ()\n"
               "    return\n  }\n}\n");
    tsr_program *p = read(f, &text, TSR_PROGRAM_ALLOW_UNREGISTERED);
    assert_non_null(p);
    assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, 0, &printed), TSR_OK);
    assert_string_equal(printed, text.data);
    tsr_program_destroy(p);
    free(text.data);
}

/* Results of one op, all used before it. */
static void many_results_are_used_early(void **state)
{
    fixture *f = *state;
    enum { COUNT = 50000 };
    growing text = {0};
    const char *printed = NULL;
    add(&text, "module {\n");
    for (int i = 0; i < 2 * COUNT; i++) {
        add(&text, "  \"a.f\"(%%0#%d) : (i32) -> ()\n", i % COUNT);
    }
    add(&text, "  %%0:%d = \"a.g\"() : () -> (i32", COUNT);
    for (int i = 1; i < COUNT; i++) {
        add(&text, ", i32");
    }
    add(&text, ")\n}\n");
    tsr_program *p = read(f, &text, TSR_PROGRAM_ALLOW_UNREGISTERED);
    assert_non_null(p);
    assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, 0, &printed), TSR_OK);
    assert_string_equal(printed, text.data);
    tsr_program_destroy(p);
    free(text.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_operands_are_followed), TEST(many_parts_are_fused),
        TEST(many_resources_are_kept),    TEST(many_entries_are_sorted),
        TEST(many_blocks_are_printed),    TEST(many_ops_have_positions),
        TEST(many_names_are_suggested),   TEST(many_results_are_used_early)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
