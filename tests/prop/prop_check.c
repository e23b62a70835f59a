/*
 * What a check takes to be the same on all devices is: random bodies of manual computations return
 * all their values as replicated, and are run on all devices of a small mesh. A result along an
 * axis of which nothing is reported must be equal on the devices that differ along that axis only.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"

static const char *const axis_names[] = {"x", "y"};

/* How often something was said to be the same, to vary, and varied. */
typedef struct tally {
    int64_t same;
    int64_t reported;
    int64_t varied;
} tally;

static bool varies(const body *b, size_t index, int mask)
{
    for (int64_t d = 0; d < b->num_devices; d++) {
        for (int64_t k = 0; k < b->num_devices; k++) {
            if (device_like(b, d, mask, k) == k &&
                memcmp(b->values[index].at[d], b->values[index].at[k],
                       sizeof b->values[index].at[d]) != 0) {
                return true;
            }
        }
    }
    return false;
}

static bool is_reported(const tsr_findings *findings, tsr_ir_value returned, const char *axis)
{
    for (size_t i = 0; i < findings->count; i++) {
        const tsr_finding *f = &findings->list[i];
        if (f->value == returned && strcmp(f->axis, axis) == 0 &&
            (strstr(f->message, "is declared replicated") != NULL ||
             strcmp(f->rule->name, "unreduced-gradient") == 0)) {
            return true;
        }
    }
    return false;
}

static tsr_ir_op find_return(const tsr_program *p)
{
    const tsr_ir_op func = tsr_program_symbol(p, "main");
    const tsr_ir_op manual =
        tsr_ir_block_first_op(p, tsr_ir_region_first_block(p, tsr_ir_op_region(p, func, 0)));
    return tsr_ir_block_last_op(p, tsr_ir_region_first_block(p, tsr_ir_op_region(p, manual, 0)));
}

static void compare(const body *b, const tsr_program *p, const tsr_findings *findings, tally *t)
{
    const tsr_ir_op last = find_return(p);
    for (size_t i = 0; i < MAX_VALUES; i++) {
        for (size_t a = 0; a < 2; a++) {
            const bool reported =
                is_reported(findings, tsr_ir_op_operand(p, last, i), axis_names[a]);
            const bool differs = varies(b, i, axis_masks[a]);
            if (differs && !reported) {
                print_error("%%v%zu varies along \"%s\" and is not reported:\n%s", i, axis_names[a],
                            b->text);
            }
            assert_false(differs && !reported);
            t->same += !reported;
            t->reported += reported;
            t->varied += differs;
        }
    }
}

static void what_is_the_same_is_equal(void **state)
{
    fixture *f = *state;
    rng start = rng_start("prop_check");
    tally t = {0};
    body *b = malloc(sizeof *b);
    char *text = malloc(MAX_BYTES);
    assert_true(b != NULL && text != NULL);
    for (int64_t n = 0; n < prop_cases(2000); n++) {
        rng r = rng_case(&start, (uint64_t)n);
        tsr_program *program = NULL;
        tsr_findings findings = {0};
        *b = (body){.r = &r, .text = text};
        make_body(b);
        const tsr_text given = tsr_text_of("body.mlir", text);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        if (tsr_program_read(f->ctx, &given, 0, &program) < 0) {
            print_error("%s\n%s", tsr_context_diagnostics(f->ctx)->text, text);
        }
        assert_non_null(program);
        assert_int_equal(tsr_check_program(f->ctx, f->arena, program, NULL, &findings), TSR_OK);
        compare(b, program, &findings, &t);
        tsr_program_destroy(program);
        tsr_arena_reset(f->arena, mark);
    }
    print_message("%" PRId64 " the same, %" PRId64 " reported, of which %" PRId64 " varied\n",
                  t.same, t.reported, t.varied);
    assert_true(t.same * 10 > t.reported);
    assert_true(t.varied * 10 > t.reported * 7);
    free(text);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(what_is_the_same_is_equal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
