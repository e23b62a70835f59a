/* What the guards of public functions say: the call, the argument and its value. */
#include "support.h"

static void pointers_are_named(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = NULL;
    assert_int_equal(tsr_mesh_parse(f->ctx, f->arena, NULL, &mesh), TSR_ERR_INVALID);
    expect_message(f, "tsr_mesh_parse: 'string' is NULL, which its prototype does not allow");
    tsr_context_clear(f->ctx);
    assert_int_equal(tsr_mesh_parse(f->ctx, f->arena, "<[\"x\"=2]>", NULL), TSR_ERR_INVALID);
    expect_message(f, "tsr_mesh_parse: 'out' is NULL, which its prototype does not allow");
    assert_int_equal(tsr_mesh_parse(NULL, f->arena, "<[\"x\"=2]>", &mesh), TSR_ERR_INVALID);
    assert_null(mesh);
}

static void empty_arrays_may_be_null(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = NULL;
    const tsr_groups *groups = NULL;
    assert_int_equal(tsr_mesh_parse(f->ctx, f->arena, "<[\"x\"=2]>", &mesh), TSR_OK);
    assert_int_equal(tsr_groups_create(f->ctx, f->arena, mesh, NULL, 0, &groups), TSR_OK);
    assert_int_equal(tsr_groups_create(f->ctx, f->arena, mesh, NULL, 1, &groups), TSR_ERR_INVALID);
    expect_message(f, "tsr_groups_create: 'axes' is NULL where 1 elements are to be");
}

static void structs_are_looked_into(void **state)
{
    fixture *f = *state;
    const char *const names[] = {"x", NULL};
    const int64_t sizes[] = {2, 2};
    const tsr_mesh_spec spec = {.num_axes = 2, .axis_names = names, .axis_sizes = sizes};
    const tsr_mesh *mesh = NULL;
    assert_int_equal(tsr_mesh_create(f->ctx, f->arena, &spec, &mesh), TSR_ERR_INVALID);
    expect_message(f, "tsr_mesh_create: 'spec->axis_names[1]' is NULL");
    tsr_context_clear(f->ctx);

    const size_t factors[] = {0};
    const tsr_rule_dim dims[] = {{factors, 1}, {NULL, 1}};
    const tsr_factor factor = {.size = 4, .kind = TSR_FACTOR_PASS_THROUGH};
    const tsr_rule_tensor operand = {dims, 2};
    const tsr_rule_spec rule = {
        .factors = &factor, .num_factors = 1, .operands = &operand, .num_operands = 1};
    const tsr_rule *made = NULL;
    assert_int_equal(tsr_rule_create(f->ctx, f->arena, &rule, &made), TSR_ERR_INVALID);
    expect_message(f, "tsr_rule_create: 'spec->operands[0].dims[1].factors' is NULL");
}

static void enumerations_have_their_values(void **state)
{
    fixture *f = *state;
    tsr_end end = {.kind = (tsr_local_type)-1};
    const char *text = NULL;
    assert_int_equal(tsr_end_print(f->ctx, f->arena, end, &text), TSR_ERR_INVALID);
    expect_message(f, "tsr_end_print: 'end.kind' is -1, which is not a value of tsr_local_type");
    tsr_context_clear(f->ctx);
    const int64_t shape[] = {2};
    size_t size = 0;
    assert_int_equal(tsr_npy_header(f->ctx, f->arena, (tsr_dtype)99, 1, shape, &text, &size),
                     TSR_ERR_INVALID);
    expect_message(f, "tsr_npy_header: 'dtype' is 99, which is not a value of tsr_dtype");
}

static void calls_without_a_status_give_nothing(void **state)
{
    (void)state;
    assert_null(tsr_sharding_mesh(NULL));
    assert_false(tsr_mesh_is_iota(NULL));
    assert_int_equal(tsr_sharding_rank(NULL), 0);
    assert_int_equal(tsr_comm_rank(NULL), -1);
    assert_string_equal(tsr_dialect_name((tsr_dialect)12), "?");
    assert_int_equal(tsr_comm_traffic(NULL).bytes_sent, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pointers_are_named),
        TEST(empty_arrays_may_be_null),
        TEST(structs_are_looked_into),
        TEST(enumerations_have_their_values),
        TEST(calls_without_a_status_give_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
