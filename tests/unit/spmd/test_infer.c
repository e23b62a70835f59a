/* The table of local rules, for every combination of one to three operands. */
#include "types.h"

enum { MOST = 3, NUMBER = TSR_P + 1 };

/* The class of every operand. */
typedef struct classes {
    tsr_op_class of[MOST];
} classes;

static tsr_op_class class_of(void *state, size_t operand, tsr_reduction pending)
{
    (void)pending;
    return ((const classes *)state)->of[operand];
}

typedef struct bench {
    fixture *f;
    bool mix; /* mix_invariant */
    const tsr_mesh *mesh;
    const tsr_type *types[TSR_P + 1];
} bench;

static bench bench_of(fixture *f)
{
    bench b = {.f = f, .mesh = mesh_of(f, "<[\"tp\"=2]>")};
    for (int kind = TSR_UNTYPED; kind <= TSR_P; kind++) {
        assert_int_equal(tsr_type_uniform(f->ctx, f->arena, b.mesh,
                                          (tsr_axis_type){(tsr_local_type)kind, TSR_SUM},
                                          &b.types[kind]),
                         TSR_OK);
    }
    return b;
}

/* What a call of some kinds comes to; -1 for an error. */
static int infer(const bench *b, const int *kinds, size_t count, classes *c, bool strict)
{
    tsr_typed_shape operands[MOST] = {{0}};
    const tsr_type *result = NULL;
    for (size_t i = 0; i < count; i++) {
        operands[i].type = kinds[i] == NUMBER ? NULL : b->types[kinds[i]];
    }
    const tsr_typed_call call = {.name = "op",
                                 .mesh = b->mesh,
                                 .num_operands = count,
                                 .operands = operands,
                                 .class_of = class_of,
                                 .state = c,
                                 .strict = strict,
                                 .mix_invariant = b->mix};
    const tsr_status status = tsr_type_infer(b->f->ctx, b->f->arena, &call, &result);
    tsr_context_clear(b->f->ctx);
    return status < 0 ? -1 : (int)tsr_type_axis(result, 0).kind;
}

/* The table as the rules have it, written another way than the library does. */
static int table(const int *kinds, size_t count, const classes *c)
{
    int n[NUMBER + 1] = {0};
    bool others_are_fine = true;
    for (size_t i = 0; i < count; i++) {
        n[kinds[i]]++;
    }
    const int typed = n[TSR_R] + n[TSR_I] + n[TSR_V] + n[TSR_P];
    if (typed == 0) {
        return TSR_UNTYPED;
    }
    if (n[TSR_I] > 0) {
        return n[TSR_I] == typed ? TSR_I : -1;
    }
    if (n[TSR_P] == 0) {
        return n[TSR_V] > 0 ? TSR_V : TSR_R;
    }
    for (size_t i = 0; i < count; i++) {
        const bool pends = kinds[i] == TSR_P;
        others_are_fine = others_are_fine && !(pends && c->of[i] == TSR_NONLINEAR) &&
                          !(pends && c->of[i] == TSR_MULTILINEAR && n[TSR_P] > 1);
        for (size_t k = 0; k < count; k++) {
            others_are_fine = others_are_fine && !(pends && c->of[i] == TSR_LINEAR &&
                                                   c->of[k] == TSR_LINEAR && kinds[k] != TSR_P);
        }
    }
    return n[TSR_V] == 0 && others_are_fine ? TSR_P : -1;
}

static void every_combination(void **state)
{
    const bench b = bench_of(*state);
    for (size_t count = 1; count <= MOST; count++) {
        for (int code = 0; code < 5 * 5 * 5 * 27; code++) {
            int kinds[MOST];
            classes c;
            int rest = code;
            for (size_t i = 0; i < MOST; i++, rest /= 5) {
                kinds[i] = TSR_R + rest % 5;
            }
            for (size_t i = 0; i < MOST; i++, rest /= 3) {
                c.of[i] = (tsr_op_class)(rest % 3);
            }
            assert_int_equal(infer(&b, kinds, count, &c, false), table(kinds, count, &c));
        }
    }
}

/* Where an invariant operand mixes, each row is that of the table with R in the place of I. */
static void invariant_mixes(void **state)
{
    bench b = bench_of(*state);
    int mixed = 0;
    b.mix = true;
    for (int code = 0; code < 5 * 5 * 5 * 27; code++) {
        int kinds[MOST];
        int as_replicated[MOST];
        int num_invariant = 0;
        classes c;
        int rest = code;
        for (size_t i = 0; i < MOST; i++, rest /= 5) {
            kinds[i] = TSR_R + rest % 5;
            as_replicated[i] = kinds[i] == TSR_I ? TSR_R : kinds[i];
            num_invariant += kinds[i] == TSR_I;
        }
        for (size_t i = 0; i < MOST; i++, rest /= 3) {
            c.of[i] = (tsr_op_class)(rest % 3);
        }
        const bool alone = table(kinds, MOST, &c) == TSR_I;
        mixed += num_invariant > 0 && !alone;
        assert_int_equal(infer(&b, kinds, MOST, &c, false),
                         alone ? TSR_I : table(as_replicated, MOST, &c));
    }
    assert_true(mixed > 0);
}

static void untyped_and_strict(void **state)
{
    const bench b = bench_of(*state);
    classes c = {{TSR_LINEAR, TSR_LINEAR, TSR_LINEAR}};
    const int kinds[] = {TSR_R, TSR_UNTYPED};
    const int none[] = {TSR_UNTYPED, TSR_UNTYPED};
    assert_int_equal(infer(&b, kinds, 2, &c, false), TSR_R);
    assert_int_equal(infer(&b, kinds, 2, &c, true), -1);
    assert_int_equal(infer(&b, none, 2, &c, true), TSR_UNTYPED);
}

/* Reductions that give back what is the same everywhere may have it among them; sums may not. */
static void partial_kinds(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        tsr_op_class class;
        const char *result; /* NULL: an error */
    } rows[] = {{"f32[4]{tp:P(avg)}", "f32[4]{tp:P(avg)}", TSR_LINEAR, "f32[4]{tp:P(avg)}"},
                {"f32[4]{tp:P(avg)}", "f32[4]{tp:P}", TSR_LINEAR, NULL},
                {"f32[4]{tp:P(avg)}", "f32[4]{tp:R}", TSR_LINEAR, "f32[4]{tp:P(avg)}"},
                {"f32[4]{tp:P}", "f32[4]{tp:R}", TSR_LINEAR, NULL},
                {"f32[4]{tp:P(max)}", "f32[4]{tp:R}", TSR_LINEAR, "f32[4]{tp:P(max)}"},
                {"f32[4]{tp:P(max)}", "f32[4]{tp:R}", TSR_MULTILINEAR, "f32[4]{tp:P(max)}"},
                {"f32[4]{tp:P(max)}", "f32[4]{tp:P(max)}", TSR_MULTILINEAR, NULL},
                {"f32[4]{tp:P(min)}", "f32[4]{tp:P(max)}", TSR_LINEAR, NULL},
                {"f32[4]{tp:P(max)}", "f32[4]{tp:P(max)}", TSR_NONLINEAR, NULL}};
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"tp\"=2]>");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tsr_typed_shape operands[] = {typed_of(f, mesh, rows[i].a),
                                            typed_of(f, mesh, rows[i].b)};
        classes c = {{rows[i].class, rows[i].class, rows[i].class}};
        const tsr_typed_call call = {.name = "op",
                                     .mesh = mesh,
                                     .num_operands = 2,
                                     .operands = operands,
                                     .class_of = class_of,
                                     .state = &c};
        tsr_typed_shape result = operands[0];
        const tsr_status status = tsr_type_infer(f->ctx, f->arena, &call, &result.type);
        assert_int_equal(status < 0, rows[i].result == NULL);
        if (status >= 0) {
            assert_string_equal(typed_text(f, &result), rows[i].result);
        }
        tsr_context_clear(f->ctx);
    }
}

static void messages_name_all(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"dp\"=2, \"tp\"=2]>");
    const tsr_typed_shape operands[] = {typed_of(f, mesh, "f32[4,8]{dp:R, tp:P}"),
                                        typed_of(f, mesh, "f32[4,8]{dp:R, tp:R}")};
    classes c = {{TSR_LINEAR, TSR_LINEAR, TSR_LINEAR}};
    const tsr_typed_call call = {.name = "tsr_add",
                                 .mesh = mesh,
                                 .num_operands = 2,
                                 .operands = operands,
                                 .class_of = class_of,
                                 .state = &c};
    const tsr_type *result;
    assert_true(tsr_type_infer(f->ctx, f->arena, &call, &result) < 0);
    expect_error(f, "tsr_add(f32[4,8]{dp:R, tp:P}, f32[4,8]{dp:R, tp:R}) along axis tp: the "
                    "replicated operand would be added once per rank");
    assert_true(tsr_type_infer(f->ctx, f->arena, &call, &result) < 0);
    expect_message(f, "tsr_all_reduce(operand 0, \"tp\", TSR_AS(P), TSR_AS(R), ..) would do: one "
                      "all_reduce forward, one all_reduce backward");
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(every_combination), TEST(invariant_mixes),
                                       TEST(untyped_and_strict), TEST(partial_kinds),
                                       TEST(messages_name_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
