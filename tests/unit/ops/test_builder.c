/*
 * Composites and gradients against a builder without implicit broadcasting, as that of programs:
 * values are types alone, and every row checks what it is given.
 */
#include <string.h>

#include "base/arena.h"
#include "instance.h"
#include "ops/composite.h"
#include "ops/gradient.h"

struct op_value {
    op_type type;
};

/* The builder, and what it has been asked for. */
typedef struct strict_builder {
    op_builder base;
    fixture *f;
    size_t applied;
    op_number last;
} strict_builder;

static op_value *new_value(const strict_builder *b, op_type type)
{
    op_value *value = ARENA_NEW(b->f->arena, op_value);
    int64_t *shape = arena_copy(b->f->arena, type.shape, type.rank, sizeof *shape);
    assert_non_null(value);
    assert_non_null(shape);
    *value = (op_value){{type.dtype, type.rank, shape}};
    return value;
}

static tsr_status apply(op_builder *base, const op_row *row, const void *params,
                        op_value *const *operands, size_t count, op_value **results)
{
    strict_builder *b = (strict_builder *)base;
    op_type types[64];
    op_type made[8];
    assert_true(count <= 64 && op_takes(row, count));
    for (size_t i = 0; i < count; i++) {
        types[i] = operands[i]->type;
    }
    const op_request r = {.ctx = base->ctx,
                          .arena = b->f->arena,
                          .call = row->name,
                          .row = row,
                          .params = params,
                          .num_operands = count,
                          .operands = types};
    TSR_TRY(row->types(&r, made));
    for (size_t k = 0; k < op_num_results(row, count); k++) {
        results[k] = new_value(b, made[k]);
    }
    b->applied++;
    return TSR_OK;
}

static tsr_status number(op_builder *base, op_value *beside, tsr_dtype dtype, op_number value,
                         op_value **out)
{
    strict_builder *b = (strict_builder *)base;
    (void)beside;
    b->last = value;
    *out = new_value(b, (op_type){.dtype = dtype});
    return TSR_OK;
}

static tsr_status count_up(op_builder *base, op_value *beside, tsr_dtype dtype, int64_t n,
                           op_value **out)
{
    (void)beside;
    *out = new_value((strict_builder *)base, (op_type){dtype, 1, &n});
    return TSR_OK;
}

static tsr_status same(op_builder *base, op_value *value, op_value **out)
{
    *out = new_value((strict_builder *)base, value->type);
    return TSR_OK;
}

static op_type type_of(const op_builder *base, const op_value *value)
{
    (void)base;
    return value->type;
}

static strict_builder builder_of(fixture *f)
{
    return (strict_builder){.base = {.ctx = f->ctx,
                                     .apply = apply,
                                     .number = number,
                                     .count = count_up,
                                     .zeros = same,
                                     .settle = same,
                                     .type_of = type_of},
                            .f = f};
}

static void expect_type(const strict_builder *b, const op_value *value, const char *text)
{
    if (b->base.status != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(b->f->ctx)->text);
    }
    assert_non_null(value);
    assert_string_equal(op_type_text(&value->type).text, text);
}

static void composites_materialise_broadcasts(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {2, 3, 4};
    const int64_t weights[] = {5, 4};
    strict_builder b = builder_of(f);
    op_value *x = new_value(&b, (op_type){TSR_F32, 3, shape});
    op_value *vector = new_value(&b, (op_type){TSR_F32, 1, shape + 2});
    op_value *weight = new_value(&b, (op_type){TSR_F32, 2, weights});
    op_value *bias = new_value(&b, (op_type){TSR_F32, 1, weights});
    op_value *labels = new_value(&b, (op_type){TSR_I64, 2, shape});
    expect_type(&b, compose_softmax(&b.base, x, 1), "f32[2,3,4]");
    expect_type(&b, compose_logsumexp(&b.base, x, 1), "f32[2,4]");
    expect_type(&b, compose_argmax(&b.base, x, 0), "i64[3,4]");
    expect_type(&b, compose_layer_norm(&b.base, x, vector, vector, 1e-5), "f32[2,3,4]");
    expect_type(&b, compose_rms_norm(&b.base, x, vector, 1e-5), "f32[2,3,4]");
    expect_type(&b, compose_linear(&b.base, x, weight, bias), "f32[2,3,5]");
    expect_type(&b, compose_cross_entropy(&b.base, x, labels, -100), "f32[2,3]");
    expect_type(&b, compose_one_hot(&b.base, labels, 7, TSR_BF16), "bf16[2,3,7]");
    expect_type(&b, compose_stack(&b.base, &x, 1, 3), "f32[2,3,4,1]");
}

/* Every gradient has the type of its operand, and needs no row that broadcasts. */
static void gradients_have_the_types_of_operands(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("gradients");
    size_t checked = 0;
    for (size_t k = 0; k < op_count(); k++) {
        const op_row *row = op_at(k);
        for (uint64_t n = 0; row->gradient != NULL && n < 40; n++) {
            rng r = rng_case(&base, 100 * k + n);
            const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
            op_value *operands[INSTANCE_OPERANDS];
            op_value *results[INSTANCE_RESULTS];
            op_value *grads[INSTANCE_OPERANDS] = {NULL};
            bool wanted[INSTANCE_OPERANDS];
            strict_builder b = builder_of(f);
            instance i;
            assert_true(instance_draw(f, row, &r, &i));
            const size_t num_results = op_num_results(row, i.num_operands);
            for (size_t o = 0; o < i.num_operands; o++) {
                operands[o] = new_value(&b, i.operands[o]);
                wanted[o] = dtype_is_float(i.operands[o].dtype);
            }
            for (size_t s = 0; s < num_results; s++) {
                results[s] = new_value(&b, i.results[s]);
            }
            const op_vjp v = {.call = row->name,
                              .row = row,
                              .params = i.params,
                              .num_operands = i.num_operands,
                              .operands = operands,
                              .results = results,
                              .cotangents = results,
                              .wanted = wanted};
            if (!dtype_is_float(i.results[0].dtype)) {
                tsr_arena_reset(f->arena, mark);
                continue;
            }
            row->gradient(&b.base, &v, grads);
            if (b.base.status < 0 && b.base.status != TSR_ERR_UNSUPPORTED) {
                fail_msg("%s: %s", row->name, tsr_context_diagnostics(f->ctx)->text);
            }
            for (size_t o = 0; b.base.status == TSR_OK && o < i.num_operands; o++) {
                if (wanted[o] && grads[o] != NULL) {
                    assert_string_equal(op_type_text(&grads[o]->type).text,
                                        op_type_text(&i.operands[o]).text);
                    checked++;
                }
            }
            tsr_context_clear(f->ctx);
            tsr_arena_reset(f->arena, mark);
        }
    }
    assert_true(checked > 1000);
}

static void numbers_are_exact(void **state)
{
    fixture *f = *state;
    strict_builder b = builder_of(f);
    const int64_t large = (INT64_C(1) << 53) + 1;
    const int64_t shape[] = {large};
    op_value *x = new_value(&b, (op_type){TSR_F32, 1, shape});
    int64_t stored = 0;
    float pair[2] = {0};
    uint8_t byte = 0;
    assert_non_null(compose_argmax(&b.base, x, 0));
    assert_int_equal(b.last.kind, OP_NUMBER_INTEGER);
    assert_true(b.last.integer == large);
    assert_true(op_number_store(number_integer(large), TSR_I64, &stored) && stored == large);
    assert_true(op_number_store(number_complex(1.5, -2), TSR_C64, pair));
    assert_true(pair[0] == 1.5F && pair[1] == -2.0F);
    assert_true(op_number_store(number_float(300), TSR_U8, &byte) && byte == 255);
    assert_true(op_number_store(number_integer(300), TSR_U8, &byte) && byte == 44);
    assert_false(op_number_store(number_complex(1, 1), TSR_F32, pair));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(composites_materialise_broadcasts),
                                       TEST(gradients_have_the_types_of_operands),
                                       TEST(numbers_are_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
