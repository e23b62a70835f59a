/* Changing programs: uses and their order, ops made, moved, cloned and erased, attributes. */
#include <stdio.h>
#include <string.h>

#include <tessera/program.h>

#include "support.h"

#include "ir/edit.h"
#include "verify/verify.h"

static const char sample[] =
    "func.func @main(%a: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {\n"
    "  %x = stablehlo.add %a, %a : tensor<4xf32>\n"
    "  %0:2 = stablehlo.while(%u = %a, %v = %n) : tensor<4xf32>, tensor<i32>\n"
    "  cond {\n"
    "    %p = stablehlo.compare LT, %v, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %p : tensor<i1>\n"
    "  } do {\n"
    "    %w = stablehlo.multiply %u, %a : tensor<4xf32>\n"
    "    stablehlo.return %w, %v : tensor<4xf32>, tensor<i32>\n"
    "  }\n"
    "  %1 = stablehlo.subtract %0#0, %x : tensor<4xf32>\n"
    "  return %1 : tensor<4xf32>\n"
    "}\n";

static tsr_program *read(fixture *f, const char *given)
{
    const tsr_text text = tsr_text_of("p.mlir", given);
    tsr_program *program = NULL;
    assert_int_equal(tsr_program_read(f->ctx, &text, 0, &program), TSR_OK);
    assert_int_equal(edit_begin(program), TSR_OK);
    return program;
}

static const char *printed(fixture *f, const tsr_program *p)
{
    const char *text = NULL;
    assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, 0, &text), TSR_OK);
    return text;
}

/* The first op of a kind, in the order of the program. */
static uint32_t find(const tsr_program *p, op_kind kind)
{
    uint32_t op = p->module;
    while (op != 0 && !op_is(p, op, kind)) {
        op = op_walk_next(p, p->module, op);
    }
    assert_int_not_equal(op, 0);
    return op;
}

/* `add.1 add.0` for the uses of a value, in order. */
static const char *uses_of(const tsr_program *p, uint32_t value)
{
    static char text[512];
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t use = value_first_use(p, value); use != 0; use = use_next(p, use)) {
        const char *name = strchr(op_name(p, use_op(p, use)), '.') + 1;
        assert_int_equal(op_operand(p, use_op(p, use), use_index(p, use)), value);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s.%u", used > 0 ? " " : "",
                                 name, use_index(p, use));
    }
    return text;
}

/* The last use is in front; an op with regions comes after what is inside it. */
static void uses_have_the_order_of_reading(void **state)
{
    tsr_program *p = read(*state, sample);
    const uint32_t body = op_entry_block(p, find(p, OP_FUNC_FUNC), 0);
    assert_string_equal(uses_of(p, block_argument(p, body, 0)), "while.0 multiply.1 add.1 add.0");
    assert_string_equal(uses_of(p, block_argument(p, body, 1)), "while.1 compare.1");
    tsr_program_destroy(p);
}

static void replaced_uses_are_reversed(void **state)
{
    tsr_program *p = read(*state, sample);
    const uint32_t a = block_argument(p, op_entry_block(p, find(p, OP_FUNC_FUNC), 0), 0);
    const uint32_t x = op_result(p, find(p, OP_STABLEHLO_ADD), 0);
    value_replace_uses(p, a, x, find(p, OP_STABLEHLO_ADD));
    assert_string_equal(uses_of(p, a), "add.1 add.0");
    assert_string_equal(uses_of(p, x), "multiply.1 while.0 subtract.1");
    op_set_operand(p, find(p, OP_STABLEHLO_SUBTRACT), 1, a);
    assert_string_equal(uses_of(p, a), "subtract.1 add.1 add.0");
    assert_string_equal(uses_of(p, x), "multiply.1 while.0");
    assert_int_equal(tsr_program_verify(((fixture *)*state)->ctx, p), TSR_OK);
    tsr_program_destroy(p);
}

/* Erased with all inside it: nothing counts as used by it any more. */
static void erased_ops_use_nothing(void **state)
{
    fixture *f = *state;
    tsr_program *p = read(f, sample);
    const uint32_t a = block_argument(p, op_entry_block(p, find(p, OP_FUNC_FUNC), 0), 0);
    const uint32_t loop = find(p, OP_STABLEHLO_WHILE);
    op_set_operand(p, find(p, OP_STABLEHLO_SUBTRACT), 0, a);
    op_erase(p, loop);
    assert_true(op_is_erased(p, loop));
    assert_string_equal(uses_of(p, a), "subtract.0 add.1 add.0");
    assert_int_equal(tsr_program_verify(f->ctx, p), TSR_OK);
    assert_null(strstr(printed(f, p), "while"));
    tsr_program_destroy(p);
}

static void clones_are_of_their_own(void **state)
{
    fixture *f = *state;
    tsr_program *p = read(f, sample);
    const uint32_t loop = find(p, OP_STABLEHLO_WHILE);
    const uint32_t x = op_result(p, find(p, OP_STABLEHLO_ADD), 0);
    const uint32_t a = op_operand(p, loop, 0);
    value_map became = {.ctx = f->ctx};
    uint32_t copy = 0;
    assert_int_equal(value_map_set(&became, a, x), TSR_OK);
    assert_int_equal(op_clone(p, loop, &became, &copy), TSR_OK);
    op_insert_after(p, copy, loop);
    assert_int_equal(value_map_get(&became, op_result(p, loop, 1)), op_result(p, copy, 1));
    value_map_free(&became);
    assert_string_equal(uses_of(p, x), "multiply.1 while.0 subtract.1");
    op_set_operand(p, find(p, OP_STABLEHLO_SUBTRACT), 1, op_result(p, copy, 0));
    ir_shardings_refresh(p);
    assert_int_equal(tsr_program_verify(f->ctx, p), TSR_OK);
    const char *text = printed(f, p);
    tsr_program *again = read(f, text);
    assert_string_equal(printed(f, again), text);
    tsr_program_destroy(again);
    tsr_program_destroy(p);
}

static void ops_are_made_and_placed(void **state)
{
    fixture *f = *state;
    tsr_program *p = read(f, sample);
    const uint32_t a = block_argument(p, op_entry_block(p, find(p, OP_FUNC_FUNC), 0), 0);
    const uint32_t type = value_type(p, a);
    const op_spec spec = {.kind = OP_STABLEHLO_TANH,
                          .operands = &a,
                          .num_operands = 1,
                          .types = &type,
                          .num_results = 1,
                          .like = find(p, OP_STABLEHLO_ADD)};
    uint32_t op = 0;
    assert_int_equal(op_create(p, &spec, &op), TSR_OK);
    op_insert_after_value(p, op, a);
    value_replace_uses(p, a, op_result(p, op, 0), op);
    assert_int_equal(program_op(p, find(p, OP_STABLEHLO_ADD))->prev, op);
    op_remove(p, op);
    op_insert_before(p, op, find(p, OP_STABLEHLO_ADD));
    uint32_t attr = 0;
    assert_int_equal(attr_i64(p, 7, &attr), TSR_OK);
    assert_int_equal(op_set_attribute(p, op, "m.b", attr), TSR_OK);
    assert_int_equal(op_set_attribute(p, op, "m.a", attr), TSR_OK);
    assert_int_equal(op_set_attribute(p, op, "m.b", 0), TSR_OK);
    assert_int_equal(tsr_program_verify(f->ctx, p), TSR_OK);
    assert_non_null(strstr(printed(f, p),
                           "%0 = stablehlo.tanh %arg0 {m.a = 7 : i64} : tensor<4xf32>\n"
                           "    %1 = stablehlo.add %0, %0 : tensor<4xf32>"));
    tsr_program_destroy(p);
}

/* Every op once in each walk; a parent before, or after, what is inside. */
static void walks_see_every_op_once(void **state)
{
    static const char *const before[] = {"module", "func",     "add",    "while",    "compare",
                                         "return", "multiply", "return", "subtract", "return"};
    static const char *const after[] = {"add",   "compare",  "return", "multiply", "return",
                                        "while", "subtract", "return", "func",     "module"};
    tsr_program *p = read(*state, sample);
    size_t count = 0;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        assert_string_equal(strchr(op_name(p, op), '.') + 1, before[count++]);
    }
    assert_int_equal(count, sizeof before / sizeof before[0]);
    count = 0;
    for (uint32_t op = op_post_first(p, p->module); op != 0; op = op_post_next(p, p->module, op)) {
        assert_string_equal(strchr(op_name(p, op), '.') + 1, after[count++]);
    }
    assert_int_equal(count, sizeof after / sizeof after[0]);
    tsr_program_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(uses_have_the_order_of_reading), TEST(replaced_uses_are_reversed),
        TEST(erased_ops_use_nothing),         TEST(clones_are_of_their_own),
        TEST(ops_are_made_and_placed),        TEST(walks_see_every_op_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
