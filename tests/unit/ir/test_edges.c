/* Propagation edges: canonical text, errors of reading. */
#include "base/buffer.h"
#include "ir/edges.h"
#include "support.h"

static tsr_status read(fixture *f, const char *given, edges_text *out)
{
    tsr_text text = tsr_text_of("p.mlir", given);
    lexer lex = lex_start(f->ctx, f->arena, &text);
    return edges_text_read(&lex, out);
}

/* In the order they are written. */
static void edges_print_in_canonical_form(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *given;
        const char *wanted;
    } cases[] = {
        {"#sdy.propagation_edges<[{step - 7=[{\"q\":(2) 4=result-1->[operand - 3,result-0]}]}]>",
         "<[{step-7 = [{\"q\":(2)4 = result-1 -> [operand-3, result-0]}]}]>"},
        {"<[{step-1 = [{\"p\" = \"operand\"-0 -> [result-0]}, {\"o\" = operand-0 -> [result-0]}]}, "
         "{step-0 = [{\"p\" = result-0 -> [operand-0]}]}]>",
         "<[{step-1 = [{\"p\" = operand-0 -> [result-0]}, {\"o\" = operand-0 -> [result-0]}]}, "
         "{step-0 = [{\"p\" = result-0 -> [operand-0]}]}]>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        edges_text edges;
        buffer buf = buffer_new(f->arena);
        const char *printed = NULL;
        assert_int_equal(read(f, cases[i].given, &edges), TSR_OK);
        edges_text_print(&buf, &edges);
        assert_int_equal(buffer_finish(f->ctx, &buf, &printed), TSR_OK);
        assert_string_equal(printed, cases[i].wanted);
    }
}

/* The first error of each text, and how many follow from it. */
static void every_fault_has_its_message(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *given;
        const char *message;
        size_t follow_ups;
    } cases[] = {
        {"<[{step--2 = [{\"p\" = operand-0 -> [result-0]}]}]>",
         "propagation edges have negative step index: -2", 0},
        {"<[{step-2 = [{\"p\" = operand-0 -> [result-0]}]}, "
         "{step-2 = [{\"q\" = operand-0 -> [result-0]}]}]>",
         "propagation edges have duplicate step index: 2", 0},
        {"<[{step-2 = [{\"p\" = result-1 -> [result-0, result-1]}]}]>",
         "propagation edges have a source that is the same as a target", 0},
        {"<[{step-2 = [{\"p\":(1)2 = result-1 -> [result-0, operand-0, result-0]}]}]>",
         "propagation edges have duplicate targets for step index: 2 and axis: p", 0},
        {"<[]>", "expected '{'", 1},
        {"<[{stage-2 = []}]>", "expected 'step'", 1},
        {"<[{step-2 = []}]>", "expected '{'", 2},
        {"<[{step-p = []}]>", "expected integer value", 2},
        {"<[{step-2 = [{p = operand-0 -> [result-0]}]}]>", "expected string", 4},
        {"<[{step-2 = [{\"p\" = input-0 -> [result-0]}]}]>",
         "expected ::mlir::sdy::EdgeNodeType to be one of: operand, result", 4},
        {"<[{step-2 = [{\"p\" = operand-x -> [result-0]}]}]>", "expected integer value", 4},
        {"<[{step-2 = [{\"p\" = operand-0 -> []}]}]>", "expected valid keyword or string", 4},
        {"<[{step-2 = [{\"p\" = operand-0, [result-0]}]}]>", "expected '->'", 2},
        {"<[{step-2 = [{\"p\" = operand-0 -> [result-0]}]}", "expected ']'", 0},
        {"<[{step-2 = [{\"p\" ;", "unexpected character", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        edges_text edges;
        size_t follow_ups = 0;
        assert_true(read(f, cases[i].given, &edges) < 0);
        const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
        assert_non_null(d);
        assert_string_equal(d->text, cases[i].message);
        for (d = d->next; d != NULL; d = d->next) {
            assert_true(d->follow_up);
            follow_ups++;
        }
        assert_int_equal(follow_ups, cases[i].follow_ups);
        tsr_context_clear(f->ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(edges_print_in_canonical_form),
        TEST(every_fault_has_its_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
