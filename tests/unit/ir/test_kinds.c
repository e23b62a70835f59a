/* The list of ops: each kind has the row of its own number, and a name that finds it again. */
#include <string.h>

#include "support.h"

#include "ir/row.h"

static void kinds_have_rows(void **state)
{
    size_t count = 0;
    (void)state;
    for (int kind = 1; kind < OP_KIND_COUNT; kind++) {
        const char *name = op_kind_name((op_kind)kind);
        const ir_row *row = ir_row_of((op_kind)kind);
        if (strcmp(name, "?") == 0) {
            continue;
        }
        assert_int_equal(op_kind_find(name, strlen(name)), kind);
        if (kind == OP_MHLO_RAGGED_DOT) { /* ops of mhlo have no spelling */
            assert_null(row);
        } else if (row == NULL || (int)row->kind != kind) {
            fail_msg("%s has no row", name);
        }
        count++;
    }
    assert_in_range(count, 150, OP_KIND_COUNT);
}

/* Names of properties, which are in the rows as well, are not ops. */
static void properties_are_not_ops(void **state)
{
    fixture *f = *state;
    const tsr_text text = tsr_text_of("p.mlir", "\"stablehlo.window_strides\"() : () -> ()\n");
    tsr_program *p = NULL;
    assert_true(tsr_program_read(f->ctx, &text, 0, &p) < 0);
    expect_message(f, "unregistered operation 'stablehlo.window_strides'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(kinds_have_rows), TEST(properties_are_not_ops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
