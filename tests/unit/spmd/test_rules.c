/* The small rules of types: places to write to, declarations, placements, other meshes, counts. */
#include "types.h"

static const char mesh_of_tests[] = "<[\"dp\"=2, \"tp\"=3]>";

static void places_take_the_result(void **state)
{
    static const struct {
        const char *slot;
        const char *result;
        bool fine[3]; /* watched, updated, out */
    } rows[] = {{"f32[6]{tp:R}", "f32[6]{tp:R}", {true, true, true}},
                {"f32[6]", "f32[6]{tp:P}", {true, true, true}},
                {"f32[6]{tp:R}", "f32[6]{tp:V}", {false, true, true}},
                {"f32[6]{tp:V}", "f32[6]{tp:R}", {false, true, true}},
                {"f32[6]{tp:R}", "f32[6]{tp:P}", {false, true, false}},
                {"f32[6]{tp:I}", "f32[6]{tp:R}", {false, true, false}},
                {"f32[6@tp,6]", "f32[6,6@tp]", {false, true, false}},
                {"f32[6,6]{tp:R}", "f32[6@tp,6]", {false, true, true}}};
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, mesh_of_tests);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int place = TSR_PLACE_WATCHED; place <= TSR_PLACE_OUT; place++) {
            const tsr_type *slot = typed_of(f, mesh, rows[i].slot).type;
            const tsr_type *result = typed_of(f, mesh, rows[i].result).type;
            const tsr_type *after = NULL;
            const tsr_status status =
                tsr_type_store(f->ctx, f->arena, slot, result, (tsr_place)place, &after);
            assert_int_equal(status == TSR_OK, rows[i].fine[place]);
            assert_true(status < 0 || tsr_type_equal(after, result));
        }
    }
}

static void declarations(void **state)
{
    static const struct {
        const char *value;
        const char *declared;
        const char *message; /* NULL: fine */
    } rows[] = {{"f32[6]{dp:R, tp:V}", "f32[6@tp]{dp:R}", NULL},
                {"f32[6@tp]{dp:R}", "f32[6@tp]{dp:R}", NULL},
                {"f32[6@tp]{dp:R}", NULL, NULL},
                {NULL, NULL, NULL},
                {NULL, "f32[6]{tp:R}", "remove its declaration"},
                {"f32[6@tp]{dp:R}", "f32[6]{dp:R, tp:V}", "is S(0) along axis tp, but declared V"},
                {"f32[6@tp]{dp:R}", "f32[6@tp]", "omits axis dp"},
                {"f32[6]{tp:R}", "f32[6]{tp:I}", "is R along axis tp, but declared I"}};
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, mesh_of_tests);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tsr_type *value =
            rows[i].value != NULL ? typed_of(f, mesh, rows[i].value).type : NULL;
        const tsr_type *declared =
            rows[i].declared != NULL ? typed_of(f, mesh, rows[i].declared).type : NULL;
        const tsr_status status = tsr_local_map_check(f->ctx, f->arena, &value, &declared, 1);
        assert_int_equal(status == TSR_OK, rows[i].message == NULL);
        if (rows[i].message != NULL) {
            expect_message(f, rows[i].message);
        }
    }
}

static void placements(void **state)
{
    static const struct {
        const char *placement;
        const char *gradient;
        const char *end; /* NULL: an error */
    } rows[] = {{"Replicate", NULL, "I"},       {"Replicate()", "Replicate", "I"},
                {"Replicate", "Partial", "R"},  {"Replicate", "Partial('sum')", "R"},
                {"Shard(dim=1)", NULL, "S(1)"}, {"Partial(sum)", "Replicate", "P"},
                {"Partial(avg)", NULL, NULL},   {"Partial(max)", NULL, NULL},
                {"Shard(0)", "Shard(1)", NULL}, {"Replicate", "Shard(0)", NULL}};
    static const struct {
        const char *end;
        const char *placement;
    } back[] = {{"R", "Replicate()"},  {"I", "Replicate()"}, {"S(2)", "Shard(2)"},
                {"P", "Partial(sum)"}, {"V", NULL},          {"P(avg)", NULL}};
    fixture *f = *state;
    const char *text = NULL;
    tsr_end end;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tsr_status status =
            tsr_end_of_placement(f->ctx, rows[i].placement, rows[i].gradient, &end);
        assert_int_equal(status == TSR_OK, rows[i].end != NULL);
        if (rows[i].end != NULL) {
            assert_int_equal(tsr_end_print(f->ctx, f->arena, end, &text), TSR_OK);
            assert_string_equal(text, rows[i].end);
        }
    }
    for (size_t i = 0; i < sizeof back / sizeof back[0]; i++) {
        assert_int_equal(tsr_end_parse(f->ctx, back[i].end, &end), TSR_OK);
        const tsr_status status = tsr_end_placement(f->ctx, f->arena, end, &text);
        assert_int_equal(status == TSR_OK, back[i].placement != NULL);
        if (back[i].placement != NULL) {
            assert_string_equal(text, back[i].placement);
        }
    }
}

/* A mesh that has more axes than a type: those stay untyped, those of size 1 are left out. */
static void other_meshes(void **state)
{
    static const tsr_stride outer = {2, 8};
    static const tsr_stride inner = {4, 1};
    static const tsr_stride wide = {4, 4};
    static const tsr_stride one = {1, 3};
    fixture *f = *state;
    const tsr_strided_axis from = {&outer, 1, {TSR_V, TSR_SUM}};
    const tsr_strided_type type = {.num_axes = 1, .axes = &from};
    const tsr_strided_axis none = {NULL, 0, {TSR_UNTYPED, TSR_SUM}};
    tsr_strided_axis to[] = {none, none, none};
    tsr_strided_type out;
    to[0].pairs = &inner;
    to[1].pairs = &one;
    to[2].pairs = &outer;
    to[0].num_pairs = to[1].num_pairs = to[2].num_pairs = 1;
    assert_int_equal(tsr_type_reaxis(f->ctx, f->arena, &type, to, 3, &out), TSR_OK);
    assert_int_equal(out.num_axes, 2);
    assert_int_equal(out.axes[0].pairs[0].stride, 8);
    assert_int_equal(out.axes[0].type.kind, TSR_V);
    assert_int_equal(out.axes[1].type.kind, TSR_UNTYPED);
    to[2].pairs = &wide; /* half of it is what the type is about */
    assert_int_equal(tsr_type_reaxis(f->ctx, f->arena, &type, to, 3, &out), TSR_ERR_INVALID);
    to[2].pairs = &inner; /* the type's axis is missing */
    assert_int_equal(tsr_type_reaxis(f->ctx, f->arena, &type, to + 1, 2, &out), TSR_ERR_INVALID);
}

/* A collective into a place that has a type. */
static void typed_places(void **state)
{
    static const struct {
        tsr_transition_op op;
        const char *ends[2];
        const char *value;
        const char *place; /* NULL: in place */
        const char *message;
    } rows[] = {
        {TSR_ALL_REDUCE, {"P", "R"}, "f32[6]{tp:P}", NULL, NULL},
        {TSR_ALL_REDUCE, {"P", "R"}, "f32[6]{tp:V}", NULL, "does not reinterpret it"},
        {TSR_ALL_REDUCE, {"P", "R"}, "f32[6]", NULL, "untyped there"},
        {TSR_ALL_GATHER, {"V", "I"}, "f32[6]{tp:V}", "f32[3,6]{tp:I}", NULL},
        {TSR_ALL_GATHER, {"V", "R"}, "f32[6]{tp:V}", "f32[3,6]", "has no type there"},
        {TSR_ALL_GATHER, {"V", "R"}, "f32[6]{tp:V}", "f32[3,6]{tp:I}", "cannot be written"},
    };
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, mesh_of_tests);
    const size_t tp = 1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tsr_transition t = {.op = rows[i].op};
        const tsr_typed_shape value = typed_of(f, mesh, rows[i].value);
        const tsr_type *place =
            rows[i].place != NULL ? typed_of(f, mesh, rows[i].place).type : NULL;
        const tsr_type *out = NULL;
        assert_int_equal(tsr_end_parse(f->ctx, rows[i].ends[0], &t.src), TSR_OK);
        assert_int_equal(tsr_end_parse(f->ctx, rows[i].ends[1], &t.dst), TSR_OK);
        const tsr_status status =
            tsr_type_collective_into(f->ctx, f->arena, &value, &tp, 1, &t, place, &out);
        assert_int_equal(status == TSR_OK, rows[i].message == NULL);
        if (rows[i].message != NULL) {
            expect_message(f, rows[i].message);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(places_take_the_result), TEST(declarations),
                                       TEST(placements), TEST(other_meshes), TEST(typed_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
