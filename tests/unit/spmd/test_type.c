/* Types: text, building, claims, shardings, axes as pairs. */
#include "types.h"

static const char mesh_of_tests[] = "<[\"dp\"=2, \"tp\"=3, \"pp\"=2]>";

static void texts_round_trip(void **state)
{
    static const char *const texts[] = {"f32[8,16@tp]",
                                        "f32[8@(dp,tp)]{pp:R}",
                                        "bf16[8@tp:[3,0,5],4]{dp:P(max), pp:I}",
                                        "f32[]{dp:V, tp:P}",
                                        "complex<f32>[2,0]",
                                        "i32[7@(tp,pp,dp)]",
                                        "f32[8@tp:[?rows],4]{dp:R}",
                                        "f32[8@(dp,tp):[?]]"};
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, mesh_of_tests);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const tsr_typed_shape typed = typed_of(f, mesh, texts[i]);
        assert_string_equal(typed_text(f, &typed), texts[i]);
    }
}

/* Several axes of a dimension without parentheses: a name is no extent. */
static void bare_axes(void **state)
{
    static const struct {
        const char *text;
        const char *same;
    } rows[] = {{"f32[8@dp,tp]", "f32[8@(dp,tp)]"},
                {"f32[8@tp,dp,pp]", "f32[8@(tp,dp,pp)]"},
                {"f32[2,8@dp,tp,4]{pp:R}", "f32[2,8@(dp,tp),4]{pp:R}"},
                {"f32[8@dp,\"tp\",6@pp]", "f32[8@(dp,tp),6@pp]"},
                {"f32[7@tp,dp:[2,1,1,1,1,1],5]", "f32[7@(tp,dp):[2,1,1,1,1,1],5]"}};
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, mesh_of_tests);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tsr_typed_shape typed = typed_of(f, mesh, rows[i].text);
        assert_string_equal(typed_text(f, &typed), rows[i].same);
    }
}

static void texts_are_refused(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {{"f32[8@tp]{tp:R}", "only an axis along which the value varies"},
                {"f32[8@tp,8@tp]", "twice in the partition spec"},
                {"f32[8@xx]", "no axis xx"},
                {"f32[8]{tp:Q}", "expected R, I, V, P or S(dimension)"},
                {"f32[8@tp:[3,4]]", "2 sizes for 3 shards"},
                {"f32[8@tp:[3,4,2]]", "sum to 9"},
                {"f32[8@tp:[?3]]", "expected ']'"},
                {"f32[8]{tp:R, tp:R}", "two types"},
                {"[8]", "expected an element type"},
                {"f32[8@dp,]", "expected"},
                {"f32[8@dp,tq]", "no axis tq"},
                {"f32[8@(dp]", "expected"}};
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, mesh_of_tests);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tsr_text text = tsr_text_of(NULL, rows[i].text);
        tsr_typed_shape typed;
        assert_true(tsr_type_read(f->ctx, f->arena, &text, mesh, &typed) < 0);
        expect_message(f, rows[i].message);
    }
}

static void claims_add_and_contradict(void **state)
{
    static const struct {
        const char *value;
        const char *claim;
        const char *result; /* NULL: an error */
    } rows[] = {{"f32[8,6]", "f32[8,6]{tp:R}", "f32[8,6]{tp:R}"},
                {"f32[8,6]{tp:V}", "f32[8@tp,6]", "f32[8@tp,6]"},
                {"f32[8@tp,6]", "f32[8,6@tp]", NULL},
                {"f32[8@tp,6]", "f32[8,6@dp]", "f32[8@tp,6@dp]"},
                {"f32[8@tp,6]", "f32[8@dp,6]", NULL},
                {"f32[8@tp,6]", "f32[8@(dp,tp),6]", "f32[8@(dp,tp),6]"},
                {"f32[8@(dp,tp),6]", "f32[8@(tp,dp),6]", NULL},
                {"f32[8@(dp,tp),6]", "f32[8@tp,6]", "f32[8@(dp,tp),6]"},
                {"f32[8,6]{tp:R}", "f32[8,6]{tp:I}", NULL},
                {"f32[8,6]{tp:P}", "f32[8,6]{tp:P(max)}", NULL}};
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, mesh_of_tests);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tsr_typed_shape value = typed_of(f, mesh, rows[i].value);
        const tsr_typed_shape claim = typed_of(f, mesh, rows[i].claim);
        const tsr_status status =
            tsr_type_assert(f->ctx, f->arena, value.type, claim.type, TSR_UNTYPED, &value.type);
        assert_int_equal(status < 0, rows[i].result == NULL);
        if (status >= 0) {
            assert_string_equal(typed_text(f, &value), rows[i].result);
        }
        tsr_context_clear(f->ctx);
    }
}

static void rest_is_checked(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, mesh_of_tests);
    tsr_typed_shape value = typed_of(f, mesh, "f32[8]{dp:R, tp:V}");
    const tsr_typed_shape claim = typed_of(f, mesh, "f32[8]{tp:V}");
    const tsr_type *out;
    assert_int_equal(tsr_type_assert(f->ctx, f->arena, value.type, claim.type, TSR_R, &value.type),
                     TSR_OK);
    assert_string_equal(typed_text(f, &value), "f32[8]{dp:R, tp:V, pp:R}");
    assert_true(tsr_type_assert(f->ctx, f->arena, value.type, claim.type, TSR_I, &out) < 0);
    expect_message(f, "along axis dp the value is R, but the assertion says I");
}

static void gradients_are_dual(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, mesh_of_tests);
    tsr_typed_shape typed = typed_of(f, mesh, "f32[8@tp]{dp:R, pp:P}");
    assert_int_equal(tsr_type_gradient(f->ctx, f->arena, typed.type, &typed.type), TSR_OK);
    assert_string_equal(typed_text(f, &typed), "f32[8@tp]{dp:P, pp:R}");
    assert_int_equal(tsr_type_gradient(f->ctx, f->arena, typed.type, &typed.type), TSR_OK);
    assert_string_equal(typed_text(f, &typed), "f32[8@tp]{dp:R, pp:P}");
    typed = typed_of(f, mesh, "f32[8]{pp:P(max)}");
    assert_true(tsr_type_gradient(f->ctx, f->arena, typed.type, &typed.type) < 0);
    expect_message(f, "no gradient along axis pp");
}

static void shardings_and_back(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, mesh_of_tests);
    tsr_typed_shape typed = typed_of(f, mesh, "f32[8@(tp,dp),4]{pp:P(avg)}");
    const tsr_sharding *sharding = NULL;
    assert_int_equal(tsr_type_sharding(f->ctx, f->arena, typed.type, 2, &sharding), TSR_OK);
    const tsr_type *back = NULL;
    assert_int_equal(tsr_type_of_sharding(f->ctx, f->arena, sharding, TSR_R, &back), TSR_OK);
    assert_true(tsr_type_equal(typed.type, back));
    typed = typed_of(f, mesh, "f32[8,4]{pp:V}");
    assert_true(tsr_type_sharding(f->ctx, f->arena, typed.type, 2, &sharding) < 0);
    expect_message(f, "varies along axis pp");
}

/* A symbol stands for sizes that are not known: equal where it is the same. */
static void unbound_sizes(void **state)
{
    static const char *const texts[] = {"f32[8@tp:[?rows],4]", "f32[8@tp:[?rest],4]",
                                        "f32[8@tp:[?],4]", "f32[8@tp,4]", "f32[8@tp:[3,0,5],4]"};
    static const char *const layouts[] = {
        "[{\"tp\"}:dynamic[?rows], {}]", "[{\"tp\"}:dynamic[?rest], {}]",
        "[{\"tp\"}:dynamic[?], {}]", "[{\"tp\"}, {}]", "[{\"tp\"}:dynamic[3, 0, 5], {}]"};
    enum { COUNT = sizeof texts / sizeof texts[0] };
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, mesh_of_tests);
    for (size_t i = 0; i < COUNT; i++) {
        const tsr_typed_shape typed = typed_of(f, mesh, texts[i]);
        const tsr_sharding *sharding = NULL;
        const tsr_type *back = NULL;
        assert_int_equal(tsr_type_sharding(f->ctx, f->arena, typed.type, 2, &sharding), TSR_OK);
        assert_string_equal(sharding_bare(f, sharding), layouts[i]);
        assert_int_equal(tsr_type_of_sharding(f->ctx, f->arena, sharding, TSR_R, &back), TSR_OK);
        assert_int_equal(tsr_type_sharding(f->ctx, f->arena, back, 2, &sharding), TSR_OK);
        assert_string_equal(sharding_bare(f, sharding), layouts[i]);
        for (size_t k = 0; k < COUNT; k++) {
            assert_int_equal(tsr_type_equal(typed.type, typed_of(f, mesh, texts[k]).type), i == k);
        }
    }
    const int64_t at[] = {1, 1, 1};
    int64_t local[2];
    tsr_typed_shape typed = typed_of(f, mesh, texts[0]);
    assert_int_equal(tsr_type_local_shape(f->ctx, &typed, at, local), TSR_OK);
    assert_int_equal(local[0], TSR_UNKNOWN);
    assert_int_equal(local[1], 4);
    typed.local = (const int64_t[]){7, 4};
    assert_int_equal(tsr_type_check(f->ctx, &typed), TSR_OK);
    typed.local = (const int64_t[]){9, 4};
    assert_true(tsr_type_check(f->ctx, &typed) < 0);
    expect_message(f, "dimension 0 has extent 9 on this rank, but no shard of 8 has that size");
}

static void local_shapes(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, mesh_of_tests);
    const tsr_typed_shape typed = typed_of(f, mesh, "f32[7@(dp,tp),5@pp:[4,1]]");
    const int64_t last[] = {1, 1, 1};
    int64_t local[2];
    assert_int_equal(tsr_type_local_shape(f->ctx, &typed, last, local), TSR_OK);
    assert_int_equal(local[0], 0); /* chunks of 2: the fifth of 6 is empty */
    assert_int_equal(local[1], 1);
}

static void overlapping_pairs_are_named(void **state)
{
    fixture *f = *state;
    const tsr_stride pairs[] = {{4, 1}, {2, 2}};
    const tsr_strided_axis axes[] = {{&pairs[0], 1, {TSR_V, TSR_SUM}},
                                     {&pairs[1], 1, {TSR_V, TSR_SUM}}};
    const size_t places[] = {0, 1};
    const tsr_strided_dim dims[] = {{&places[0], 1}, {&places[1], 1}};
    const tsr_strided_type type = {2, axes, 2, dims};
    assert_true(tsr_strided_spec_check(f->ctx, &type) < 0);
    expect_message(f, "ranks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(texts_round_trip),   TEST(bare_axes),
        TEST(texts_are_refused),  TEST(claims_add_and_contradict),
        TEST(rest_is_checked),    TEST(gradients_are_dual),
        TEST(shardings_and_back), TEST(local_shapes),
        TEST(unbound_sizes),      TEST(overlapping_pairs_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
