/* Types under other meshes over the same ranks, and on parts of axes. */
#include "types.h"

static const char whole_mesh[] = "<[\"dp_cp\"=4, \"tp\"=2]>";
static const char parts_mesh[] = "<[\"dp\"=2, \"cp\"=2, \"tp\"=2]>";

/* Texts with parts of axes of `<["x"=8, "y"=2]>`; the canonical text where it differs. */
static void texts_with_parts(void **state)
{
    static const struct {
        const char *text;
        const char *same;
    } rows[] = {
        {"f32[8@x:(1)2]{x:(2)4:R}", NULL},
        {"f32[8]{x:(1)2:R, x:(2)2:V, x:(4)2:P, y:I}", NULL},
        {"f32[8@(x:(2)4,y)]{x:(1)2:P}", NULL},
        {"f32[8@x:(1)4:[3,1,4,0],4]{x:(4)2:V}", NULL},
        {"f32[8@(x:(1)2,x:(2)4)]", "f32[8@x]"},
        {"f32[8@x:(1)2,x:(2)4,y]", "f32[8@(x,y)]"},
        {"f32[8@(x:(2)4,x:(1)2)]", NULL},
        {"f32[8]{x:(1)2:R, x:(2)4:R}", "f32[8]{x:R}"},
        {"f32[8]{x:(1)2:R, x:(2)2:R, x:(4)2:V}", "f32[8]{x:(1)4:R, x:(4)2:V}"},
        {"f32[8]{\"x\":(1)2:R, x:(2)2:I}", "f32[8]{x:(1)2:R, x:(2)2:I}"},
        {"f32[8]{\"x:(1)2\":R}", "f32[8]{x:(1)2:R}"},
        {"f32[8,4]{x:(1)2:S(1)}", "f32[8,4@x:(1)2]"},
        {"f32[8]{x:(1)2:V, x:(2)4:S(0)}", "f32[8@x:(2)4]{x:(1)2:V}"},
    };
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=8, \"y\"=2]>");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tsr_typed_shape typed = typed_of(f, mesh, rows[i].text);
        const char *text = typed_text(f, &typed);
        assert_string_equal(text, rows[i].same != NULL ? rows[i].same : rows[i].text);
        /* what is printed reads back, under the mesh and under the type's own */
        const tsr_typed_shape again = typed_of(f, mesh, text);
        const tsr_typed_shape own = typed_of(f, tsr_type_mesh(typed.type), text);
        assert_true(tsr_type_equal(typed.type, again.type));
        assert_true(tsr_type_equal(typed.type, own.type));
    }
}

static void texts_that_are_refused(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        {"f32[8]{x:(1)3:R}", "\"x\":(1)3"},
        {"f32[8]{x:(1)8:R}", "\"x\":(1)8"},
        {"f32[8]{x:(0)2:R}", "\"x\":(0)2"},
        {"f32[8]{z:(1)2:R}", "the mesh has no axis z:(1)2"},
        {"f32[8]{x:(1)2:R, x:V}", "axes and parts of axes in one type must not overlap"},
        {"f32[8@x]{x:(1)2:R}", "axes and parts of axes in one type must not overlap"},
        {"f32[8]{x:(1)4:R, x:(2)2:V}", "overlapping sub-axes"},
        {"f32[8@x:(1)2,8@x:(1)2]", "axis x:(1)2 occurs twice in the partition spec"},
        {"f32[8]{x:(1)2:R, x:(1)2:R}", "axis x:(1)2 has two types"},
        {"f32[8]{x:(1)2:S(0), x:(2)2:S(0)}", "axes x:(1)2 and x:(2)2 both cut dimension 0"},
        {"f32[8]{x:(1)2}", "expected"},
        {"f32[8@x:(1)2:[1,2,5]]", "3 sizes for 2 shards"},
    };
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=8, \"y\"=2]>");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tsr_text text = tsr_text_of(NULL, rows[i].text);
        tsr_typed_shape typed;
        assert_true(tsr_type_read(f->ctx, f->arena, &text, mesh, &typed) < 0);
        expect_message(f, rows[i].message);
    }
}

/* A type under another mesh; NULL: refused, with a message. */
static void under_another_mesh(void **state)
{
    static const struct {
        const char *from;
        const char *type;
        const char *to;
        const char *same;
        const char *message;
    } rows[] = {
        {whole_mesh, "f32[8]{dp_cp:V, tp:R}", parts_mesh, "f32[8]{dp:V, cp:V, tp:R}", NULL},
        {parts_mesh, "f32[8]{dp:V, cp:V, tp:R}", whole_mesh, "f32[8]{dp_cp:V, tp:R}", NULL},
        {parts_mesh, "f32[8]{dp:P, cp:P}", whole_mesh, "f32[8]{dp_cp:P}", NULL},
        {whole_mesh, "f32[8@dp_cp]{tp:I}", parts_mesh, "f32[8@(dp,cp)]{tp:I}", NULL},
        {parts_mesh, "f32[8@(tp,dp,cp)]", whole_mesh, "f32[8@(tp,dp_cp)]", NULL},
        {parts_mesh, "f32[8@(dp,cp):[1,2,0,5]]{tp:R}", whole_mesh, "f32[8@dp_cp:[1,2,0,5]]{tp:R}",
         NULL},
        {parts_mesh, "f32[8]{tp:R}", whole_mesh, "f32[8]{tp:R}", NULL},
        {parts_mesh, "f32[8]{dp:R, cp:V}", whole_mesh, NULL,
         "a type is R along axis dp (ranks 0, 4) and V along axis cp (ranks 0, 2), which are parts "
         "of axis dp_cp (ranks 0, 2, 4, 6) of the current mesh"},
        {parts_mesh, "f32[8]{dp:R}", whole_mesh, NULL,
         "a type is R along axis dp (ranks 0, 4) and ? along axis cp (ranks 0, 2)"},
        {parts_mesh, "f32[8]{dp:P, cp:P(max)}", whole_mesh, NULL, "P(max) along axis cp"},
        {parts_mesh, "f32[8@(cp,dp)]{tp:R}", whole_mesh, NULL, "in that order"},
        {parts_mesh, "f32[8@dp]{cp:V}", whole_mesh, NULL, "a dimension is cut by these ranks"},
        {parts_mesh, "f32[8]{tp:R}", "<[\"x\"=16]>", NULL, "which has other ranks"},
        {"<[\"a\"=2, \"b\"=4]>", "f32[8]{a:R}",
         "<[\"c\"=4, \"d\"=2], device_ids=[0,2,4,6,1,3,5,7]>", NULL,
         "axis b (ranks 0, 1, 2, 3) of a type overlaps axis c (ranks 0, 4, 1, 5) of the current "
         "mesh"},
        {"<[\"a\"=2, \"b\"=3]>", "f32[8]{a:R, b:V}", "<[\"c\"=3, \"d\"=2]>", NULL,
         "and neither is a part of the other"},
        {"<[\"a\"=2, \"b\"=2]>", "f32[8]{a:R, b:V}", "<[\"b\"=2, \"a\"=2], device_ids=[0,2,1,3]>",
         "f32[8]{b:V, a:R}", NULL},
        {"<[\"a\"=4, \"one\"=1]>", "f32[8]{a:R, one:I}", "<[\"one\"=1, \"b\"=2, \"c\"=2]>",
         "f32[8]{one:I, b:R, c:R}", NULL},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tsr_typed_shape typed = typed_of(f, mesh_of(f, rows[i].from), rows[i].type);
        const tsr_mesh *to = mesh_of(f, rows[i].to);
        const tsr_status status = tsr_type_on_mesh(f->ctx, f->arena, typed.type, to, &typed.type);
        if (rows[i].same == NULL) {
            assert_int_equal(status, TSR_ERR_INVALID);
            expect_message(f, rows[i].message);
            continue;
        }
        assert_int_equal(status, TSR_OK);
        assert_ptr_equal(tsr_type_mesh(typed.type), to);
        assert_string_equal(typed_text(f, &typed), rows[i].same);
    }
}

static tsr_op_class multilinear(void *state, size_t operand, tsr_reduction pending)
{
    (void)state;
    (void)operand;
    (void)pending;
    return TSR_MULTILINEAR;
}

/* Calls whose operands are on different views, or on parts. */
static void calls_on_views(void **state)
{
    static const struct {
        const char *mesh; /* the current one */
        const char *meshes[2];
        const char *operands[2];
        const char *result; /* NULL: refused */
        const char *message;
    } rows[] = {
        {parts_mesh,
         {whole_mesh, parts_mesh},
         {"f32[8]{dp_cp:R}", "f32[8]{dp:R, cp:V}"},
         "f32[8]{dp:R, cp:V}",
         NULL},
        {whole_mesh,
         {whole_mesh, parts_mesh},
         {"f32[8]{dp_cp:R}", "f32[8]{dp:V, cp:V}"},
         "f32[8]{dp_cp:V}",
         NULL},
        {whole_mesh,
         {whole_mesh, parts_mesh},
         {"f32[8]{dp_cp:R}", "f32[8]{dp:R, cp:V}"},
         NULL,
         "which are parts of axis dp_cp (ranks 0, 2, 4, 6)"},
        {parts_mesh,
         {whole_mesh, parts_mesh},
         {"f32[8]{dp_cp:P}", "f32[8]{dp:R, cp:V}"},
         NULL,
         "along axis cp: a pending reduction does not mix"},
        {whole_mesh,
         {whole_mesh, whole_mesh},
         {"f32[8]{dp_cp:(1)2:R, dp_cp:(2)2:V}", "f32[8]{dp_cp:R}"},
         "f32[8]{dp_cp:(1)2:R, dp_cp:(2)2:V}",
         NULL},
        {whole_mesh,
         {whole_mesh, whole_mesh},
         {"f32[8]{dp_cp:(1)2:R, dp_cp:(2)2:V}", "f32[8]{dp_cp:(1)2:V, dp_cp:(2)2:R}"},
         "f32[8]{dp_cp:V}",
         NULL},
        {whole_mesh,
         {whole_mesh, parts_mesh},
         {"f32[8]{dp_cp:(1)2:R, dp_cp:(2)2:V}", "f32[8]{dp:R, cp:R}"},
         "f32[8]{dp_cp:(1)2:R, dp_cp:(2)2:V}",
         NULL},
        {whole_mesh,
         {whole_mesh, whole_mesh},
         {"f32[8]{dp_cp:(1)2:P, dp_cp:(2)2:V}", "f32[8]{dp_cp:V}"},
         NULL,
         "along axis dp_cp:(1)2: a pending reduction does not mix"},
        {"<[\"x\"=12]>",
         {"<[\"x\"=12]>", "<[\"x\"=12]>"},
         {"f32[8]{x:(1)2:R, x:(2)6:V}", "f32[8]{x:(1)3:R, x:(3)4:V}"},
         NULL,
         "no reshape of the axis has both"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tsr_typed_shape operands[] = {
            typed_of(f, mesh_of(f, rows[i].meshes[0]), rows[i].operands[0]),
            typed_of(f, mesh_of(f, rows[i].meshes[1]), rows[i].operands[1])};
        const tsr_typed_call call = {.name = "tsr_mul",
                                     .mesh = mesh_of(f, rows[i].mesh),
                                     .num_operands = 2,
                                     .operands = operands,
                                     .class_of = multilinear};
        tsr_typed_shape result = operands[0];
        const tsr_status status = tsr_type_infer(f->ctx, f->arena, &call, &result.type);
        if (rows[i].result == NULL) {
            assert_int_equal(status, TSR_ERR_INVALID);
            expect_message(f, rows[i].message);
            continue;
        }
        assert_int_equal(status, TSR_OK);
        assert_string_equal(typed_text(f, &result), rows[i].result);
    }
}

/* Fixes of a call on parts name the part, and the mesh that has it as an axis. */
static void fixes_on_parts(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=4]>");
    const tsr_typed_shape operands[] = {typed_of(f, mesh, "f32[8]{x:(1)2:P, x:(2)2:R}"),
                                        typed_of(f, mesh, "f32[8]{x:V}")};
    const tsr_typed_call call = {.name = "tsr_mul",
                                 .mesh = mesh,
                                 .num_operands = 2,
                                 .operands = operands,
                                 .class_of = multilinear};
    const tsr_type *result = NULL;
    const tsr_fix *fixes = NULL;
    size_t count = 0;
    assert_int_equal(tsr_type_fixes(f->ctx, f->arena, &call, &fixes, &count), TSR_OK);
    assert_true(count > 0);
    assert_string_equal(tsr_mesh_axis_name(fixes[0].mesh, fixes[0].axis), "x:(1)2");
    assert_true(tsr_type_infer(f->ctx, f->arena, &call, &result) < 0);
    expect_message(f, "tsr_all_reduce(operand 0, \"x:(1)2\", TSR_AS(P), TSR_AS(R), ..) would do");
}

/* A strict call asks for every axis of its mesh, also those of one rank, where axes are cut. */
static void strict_on_parts(void **state)
{
    static const struct {
        const char *type;
        const char *message; /* NULL: it is fine */
    } rows[] = {{"f32[8]{x:(1)2:R, x:(2)2:V, one:R}", NULL},
                {"f32[8]{x:(1)2:R, x:(2)2:V}", "along axis one: no operand has a type there"},
                {"f32[8]{x:(1)2:R, one:R}", "along axis x:(2)2: no operand has a type there"}};
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=4, \"one\"=1]>");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tsr_typed_shape operand = typed_of(f, mesh, rows[i].type);
        const tsr_typed_call call = {.name = "tsr_exp",
                                     .mesh = mesh,
                                     .num_operands = 1,
                                     .operands = &operand,
                                     .class_of = multilinear,
                                     .strict = true,
                                     .required.bits = 3};
        const tsr_type *result = NULL;
        const tsr_status status = tsr_type_infer(f->ctx, f->arena, &call, &result);
        assert_int_equal(status < 0, rows[i].message != NULL);
        if (status < 0) {
            expect_message(f, rows[i].message);
        }
    }
}

/* Shardings that use parts of axes as types, and back. */
static void shardings_with_parts(void **state)
{
    static const struct {
        const char *sharding;
        const char *type;
    } rows[] = {
        {"[{\"x\":(1)2}, {\"y\"}]", "f32[8@x:(1)2,4@y]{x:(2)4:R}"},
        {"[{\"x\":(2)2, \"y\"}, {}], unreduced={\"x\":(4)2}", "f32[8@(x:(2)2,y),4]{x:(1)2:R, "
                                                              "x:(4)2:P}"},
        {"[{\"x\"}, {}]", "f32[8@x,4]{y:R}"},
    };
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=8, \"y\"=2]>");
    const int64_t shape[] = {8, 4};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tsr_sharding *sharding = NULL;
        tsr_typed_shape typed = {.dtype = TSR_F32, .rank = 2, .shape = shape};
        assert_int_equal(tsr_sharding_parse(f->ctx, f->arena, mesh, rows[i].sharding, &sharding),
                         TSR_OK);
        assert_int_equal(tsr_type_of_sharding(f->ctx, f->arena, sharding, TSR_R, &typed.type),
                         TSR_OK);
        assert_string_equal(typed_text(f, &typed), rows[i].type);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(texts_with_parts),    TEST(texts_that_are_refused),
                                       TEST(under_another_mesh),  TEST(calls_on_views),
                                       TEST(fixes_on_parts),      TEST(strict_on_parts),
                                       TEST(shardings_with_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
