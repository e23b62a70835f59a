/* Specs of tensors out of texts. */
#include "support.h"

/* The bare text of the sharding that a layout gives a type. */
static const char *layout_of(fixture *f, const tsr_mesh *mesh, const char *type, const char *layout)
{
    tsr_tensor_spec spec = {0};
    if (tsr_tensor_spec_parse(f->ctx, f->arena, mesh, type, layout, &spec) != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
    return sharding_bare(f, spec.sharding);
}

static void specs(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2, \"y\"=4]>");
    tsr_tensor_spec spec = {0};
    assert_int_equal(
        tsr_tensor_spec_parse(f->ctx, f->arena, mesh, "bf16[8,16]", "P('x', None)", &spec), TSR_OK);
    assert_int_equal(spec.dtype, TSR_BF16);
    assert_int_equal(spec.rank, 2);
    assert_int_equal(spec.shape[0], 8);
    assert_int_equal(spec.shape[1], 16);
    assert_ptr_equal(tsr_sharding_mesh(spec.sharding), mesh);
    assert_string_equal(sharding_bare(f, spec.sharding), "[{\"x\"}, {}]");
}

static void layouts(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2, \"y\"=4]>");
    static const struct {
        const char *type;
        const char *layout;
        const char *want;
    } cases[] = {
        {"f32[8,16]", "[{\"x\"}, {\"y\"}]", "[{\"x\"}, {\"y\"}]"},
        {"tensor<8x16xf32>", "P(None, ('x', 'y'))", "[{}, {\"x\", \"y\"}]"},
        {"8x16xf32", "P('x')", "[{\"x\"}, {}]"},
        {"f32[8,16]", "[Shard(1), Replicate()]", "[{}, {\"x\"}]"},
        {"f32[8,16]", "[{\"x\"}, {}], unreduced={\"y\"}", "[{\"x\"}, {}], unreduced={\"y\"}"},
        {"f32[8]", "{devices=[2,4]<=[8] last_tile_dim_replicate}", "[{\"x\"}]"},
        {"f32[8,16]", NULL, "[{}, {}]"},
        {"f32[]", NULL, "[]"},
        {"i32", "P()", "[]"},
        {"f32[0,3]", "P('x')", "[{\"x\"}, {}]"},
        {"f32[8,16]", "[{\"x\"}, {}] : tensor<8x16xf32>", "[{\"x\"}, {}]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(layout_of(f, mesh, cases[i].type, cases[i].layout), cases[i].want);
    }
    assert_string_equal(layout_of(f, mesh_of(f, "<[], device_ids=[0]>"), "f32[4,4]", NULL), "[]");
}

static void refusals(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=2, \"y\"=4]>");
    static const struct {
        const char *type;
        const char *layout;
        const char *message;
    } cases[] = {
        {"8x16", NULL, "the type '8x16' lacks an element type; write it as in f32[8,16]"},
        {"f32[8,?]", NULL, "extent 1 of the type 'f32[8,?]' is unknown"},
        {"f33[8]", NULL, "f33"},
        {"f32[8", NULL, ""},
        {"f32[8,16]", "P('z')", "z"},
        {"f32[8,16]", "[{\"x\"}]", ""},
        {"f32[8,16]", "P('x', None, None)", ""},
        {"f32[8,16]", "P('x'), P('y')", "one layout is needed, 'P('x'), P('y')' has 2 of them"},
        {"f32[8,16]", "", ""},
        {"f32[8,16]", "[{\"x\"}, {}] : tensor<8x8xf32>", "differs from the tensor, f32[8,16]"},
        {"f32[8,16]", "[{\"x\"}, {}] : tensor<8x16xf64>", "differs from the tensor, f32[8,16]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tsr_tensor_spec spec = {.rank = 77};
        if (tsr_tensor_spec_parse(f->ctx, f->arena, mesh, cases[i].type, cases[i].layout, &spec) >=
            0) {
            fail_msg("%s as %s is taken", cases[i].type, cases[i].layout);
        }
        assert_int_equal(spec.rank, 77);
        expect_message(f, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(specs),
        TEST(layouts),
        TEST(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
