/* Parameters of every row as values, by their tables of fields. */
#include <string.h>

#include "instance.h"

/* Another value for one field of a copy. */
static void change_field(const op_field *field, char *params, tsr_arena *arena)
{
    void *at = params + field->offset;
    int64_t *more = tsr_arena_alloc(arena, 9 * sizeof *more);
    assert_non_null(more);
    switch (field->kind) {
    case OP_FIELD_INT:
        *(int64_t *)at += 1;
        return;
    case OP_FIELD_INTS: {
        op_ints *list = at;
        for (size_t i = 0; i < list->count; i++) {
            more[i] = list->values[i];
        }
        more[list->count] = 7;
        *list = (op_ints){list->count + 1, more};
        return;
    }
    case OP_FIELD_BOOL:
        *(bool *)at = !*(bool *)at;
        return;
    case OP_FIELD_ENUM:
        *(int32_t *)at = *(int32_t *)at == 0 ? 1 : 0;
        return;
    case OP_FIELD_REGION:
        ((op_region *)at)->body =
            ((op_region *)at)->body == OP_BODY_MAX ? OP_BODY_MIN : OP_BODY_MAX;
        return;
    case OP_FIELD_DTYPE:
        *(tsr_dtype *)at = *(tsr_dtype *)at == TSR_F32 ? TSR_F64 : TSR_F32;
        return;
    case OP_FIELD_RESULT:
        ((op_type *)at)->dtype = ((op_type *)at)->dtype == TSR_F32 ? TSR_F64 : TSR_F32;
        return;
    }
}

static void copies_are_equal_and_changes_are_seen(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("params");
    size_t seen = 0;
    for (size_t k = 0; k < op_count(); k++) {
        const op_row *row = op_at(k);
        for (uint64_t n = 0; row->fields != NULL && row->types != NULL && n < 20; n++) {
            rng r = rng_case(&base, 100 * k + n);
            instance i;
            assert_true(instance_draw(f, row, &r, &i));
            const void *copy = NULL;
            assert_int_equal(op_params_copy(f->ctx, f->arena, row->fields, i.params, &copy),
                             TSR_OK);
            assert_ptr_not_equal(copy, i.params);
            assert_true(op_params_equal(row->fields, i.params, copy));
            assert_true(op_params_hash(row->fields, i.params, 1) ==
                        op_params_hash(row->fields, copy, 1));
            for (size_t field = 0; field < row->fields->count; field++) {
                char *other = tsr_arena_alloc(f->arena, row->fields->bytes);
                assert_non_null(other);
                memcpy(other, copy, row->fields->bytes);
                change_field(&row->fields->fields[field], other, f->arena);
                assert_false(op_params_equal(row->fields, copy, other));
                assert_true(op_params_hash(row->fields, copy, 1) !=
                            op_params_hash(row->fields, other, 1));
                seen++;
            }
        }
    }
    assert_true(seen > 500);
}

/* The tables describe the structs: fields do not overlap, and lie inside. */
static void fields_lie_inside_their_structs(void **state)
{
    static const size_t sizes[] = {
        [OP_FIELD_INT] = sizeof(int64_t),      [OP_FIELD_INTS] = sizeof(op_ints),
        [OP_FIELD_BOOL] = sizeof(bool),        [OP_FIELD_ENUM] = sizeof(int32_t),
        [OP_FIELD_REGION] = sizeof(op_region), [OP_FIELD_DTYPE] = sizeof(tsr_dtype),
        [OP_FIELD_RESULT] = sizeof(op_type)};
    (void)state;
    for (size_t k = 0; k < op_count(); k++) {
        const op_fields *fields = op_at(k)->fields;
        for (size_t a = 0; fields != NULL && a < fields->count; a++) {
            const op_field *x = &fields->fields[a];
            assert_true(x->offset + sizes[x->kind] <= fields->bytes);
            assert_true((x->kind == OP_FIELD_ENUM) == (x->names != NULL));
            for (size_t b = 0; b < a; b++) {
                const op_field *y = &fields->fields[b];
                assert_true(x->offset >= y->offset + sizes[y->kind] ||
                            y->offset >= x->offset + sizes[x->kind]);
                assert_string_not_equal(x->name, y->name);
            }
        }
    }
}

static void opaque_regions_are_told_apart_by_their_state(void **state)
{
    static const op_field list[] = {{.name = "body", .kind = OP_FIELD_REGION}};
    static const op_fields fields = {sizeof(op_region), 1, list};
    int states[2];
    const op_region a = {.state = &states[0]};
    const op_region b = {.state = &states[1]};
    const op_region sum = {.body = OP_BODY_SUM, .state = &states[0]};
    const op_region same_sum = {.body = OP_BODY_SUM, .state = &states[1]};
    (void)state;
    assert_true(op_params_equal(&fields, &a, &a));
    assert_false(op_params_equal(&fields, &a, &b));
    assert_false(op_params_equal(&fields, &a, &sum));
    assert_true(op_params_equal(&fields, &sum, &same_sum));
}

/* A row without types is of programs only: no call leads to it, it has a rule, and a kernel only
 * with `supports`, which checks what nothing else has. */
static void rows_without_types_are_of_programs(void **state)
{
    size_t without = 0;
    (void)state;
    for (size_t k = 0; k < op_count(); k++) {
        const op_row *row = op_at(k);
        if (row->types != NULL) {
            continue;
        }
        without += row->dialect == OP_STABLEHLO ? 1 : 0;
        assert_int_not_equal(row->dialect, OP_TESSERA);
        assert_non_null(row->rule);
        assert_null(row->call);
        assert_true(row->run == NULL || row->supports != NULL);
        assert_null(row->gradient);
    }
    assert_true(without > 0 && without < op_count() / 2);
}

static void rows_have_names_of_their_own(void **state)
{
    (void)state;
    for (size_t k = 0; k < op_count(); k++) {
        assert_ptr_equal(op_find(op_at(k)->name), op_at(k));
        assert_string_equal(tsr_op_at(k).name, op_at(k)->name);
    }
    assert_int_equal(tsr_op_count(), op_count());
    assert_null(op_at(op_count()));
    assert_null(tsr_op_at(op_count()).name);
    assert_null(op_find("frobnicate"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(copies_are_equal_and_changes_are_seen), TEST(fields_lie_inside_their_structs),
        TEST(opaque_regions_are_told_apart_by_their_state),
        TEST(rows_without_types_are_of_programs), TEST(rows_have_names_of_their_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
