/* Fixes: each one offered is applied, and the call then type-checks with the type it should have.
 */
#include <stdio.h>

#include "types.h"

static tsr_op_class class_of(void *state, size_t operand, tsr_reduction pending)
{
    (void)operand;
    (void)pending;
    return *(const tsr_op_class *)state;
}

static tsr_typed_call call_of(const tsr_mesh *mesh, const tsr_typed_shape *operands, size_t count,
                              tsr_op_class *class)
{
    return (tsr_typed_call){.name = "op",
                            .mesh = mesh,
                            .num_operands = count,
                            .operands = operands,
                            .class_of = class_of,
                            .state = class};
}

/* Puts the operands through the fix's call. */
static void apply(fixture *f, const tsr_fix *fix, tsr_typed_shape *operands, size_t count)
{
    const tsr_local_type from = tsr_type_axis(operands[fix->operand].type, fix->axis).kind;
    for (size_t i = 0; i < count; i++) {
        const bool meant =
            fix->all ? tsr_type_axis(operands[i].type, fix->axis).kind == from : i == fix->operand;
        if (meant) {
            assert_int_equal(tsr_type_transition(f->ctx, f->arena, &operands[i], &fix->axis, 1,
                                                 &fix->call, (tsr_axis_set){0}, TSR_UNGUARDED, true,
                                                 &operands[i].type),
                             TSR_OK);
        }
    }
}

/* All calls of up to three operands that fail along one axis. */
static void offered_fixes_work(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"tp\"=2]>");
    size_t offered = 0;
    for (int code = 0; code < 3 * 4 * 4 * 4; code++) {
        tsr_typed_shape operands[3] = {{0}};
        tsr_op_class class = (tsr_op_class)(code / 64);
        for (int i = 0, rest = code % 64; i < 3; i++, rest /= 4) {
            const tsr_axis_type type = {(tsr_local_type)(TSR_R + rest % 4), TSR_SUM};
            assert_int_equal(tsr_type_uniform(f->ctx, f->arena, mesh, type, &operands[i].type),
                             TSR_OK);
        }
        for (size_t count = 1; count <= 3; count++) {
            tsr_typed_call call = call_of(mesh, operands, count, &class);
            const tsr_fix *fixes = NULL;
            const tsr_type *result = NULL;
            size_t num_fixes = 0;
            const bool fine = tsr_type_infer(f->ctx, f->arena, &call, &result) >= 0;
            assert_int_equal(tsr_type_fixes(f->ctx, f->arena, &call, &fixes, &num_fixes), TSR_OK);
            assert_true(!fine || num_fixes == 0);
            for (size_t i = 0; i < num_fixes; i++, offered++) {
                tsr_typed_shape changed[3] = {operands[0], operands[1], operands[2]};
                apply(f, &fixes[i], changed, count);
                call = call_of(mesh, changed, count, &class);
                assert_int_equal(tsr_type_infer(f->ctx, f->arena, &call, &result), TSR_OK);
                assert_non_null(fixes[i].cost);
            }
            tsr_context_clear(f->ctx);
        }
    }
    assert_true(offered > 100);
}

/* Which ones, in which order. */
static void the_usual_ones(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        tsr_op_class class;
        const char *notes[2];
    } rows[] = {
        {"f32[4]{tp:P}", "f32[4]{tp:R}", TSR_LINEAR, {"all_reduce P->R", "convert R->P"}},
        {"f32[4]{tp:P}", "f32[4]{tp:I}", TSR_LINEAR, {"convert I->P", "all_reduce P->I"}},
        {"f32[4]{tp:P}", "f32[4]{tp:V}", TSR_MULTILINEAR, {"all_reduce P->R", NULL}},
        {"f32[4]{tp:I}", "f32[4]{tp:V}", TSR_NONLINEAR, {"convert I->R", NULL}},
        {"f32[4]{tp:P}", "f32[4]{tp:P}", TSR_MULTILINEAR, {"all_reduce P->R", "all_reduce P->R"}},
    };
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"tp\"=2]>");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tsr_typed_shape operands[] = {typed_of(f, mesh, rows[i].a),
                                            typed_of(f, mesh, rows[i].b)};
        tsr_op_class class = rows[i].class;
        const tsr_typed_call call = call_of(mesh, operands, 2, &class);
        const tsr_fix *fixes = NULL;
        size_t count = 0;
        assert_int_equal(tsr_type_fixes(f->ctx, f->arena, &call, &fixes, &count), TSR_OK);
        assert_int_equal(count, rows[i].notes[1] != NULL ? 2 : 1);
        for (size_t k = 0; k < count; k++) {
            char text[64];
            (void)snprintf(text, sizeof text, "%s %s->%s", tsr_transition_name(fixes[k].call.op),
                           tsr_local_type_name(fixes[k].call.src.kind),
                           tsr_local_type_name(fixes[k].call.dst.kind));
            assert_string_equal(text, rows[i].notes[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(offered_fixes_work), TEST(the_usual_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
