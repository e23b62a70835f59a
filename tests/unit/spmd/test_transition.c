/* Every pair of ends for every call, and their backwards, which are adjoint. */
#include <string.h>

#include "transitions.h"
#include "types.h"

static const char *const ends[] = {"R", "I", "V", "P", "S(0)", "S(1)"};
enum { ENDS = sizeof ends / sizeof ends[0] };

/* o fine, E in an expert scope, x none; by source, a character for each of `ends`. */
static const struct {
    tsr_transition_op op;
    const char *rows[ENDS];
} table[] = {
    {TSR_ALL_REDUCE, {"xxxxxx", "xxxxxx", "ooxxxx", "ooxxxx", "xxxxxx", "xxxxxx"}},
    {TSR_ALL_GATHER, {"xxxxxx", "xxxxxx", "ooxxxx", "xxxxxx", "ooxxxx", "ooxxxx"}},
    {TSR_REDUCE_SCATTER, {"xxxxxx", "xxxxxx", "xxoxoo", "xxoxoo", "xxxxxx", "xxxxxx"}},
    {TSR_ALL_TO_ALL, {"xxxxxx", "xxxxxx", "xxoxoo", "xxxxxx", "xxoxoo", "xxoxoo"}},
    {TSR_REINTERPRET, {"oEEExx", "Eoooxx", "xxooxx", "xxxoxx", "xxxxox", "xxxxxo"}},
    {TSR_CONVERT, {"oEoooo", "oooEoo", "xxoEoo", "xxxoxx", "xxoEox", "xxoExo"}},
};
enum { OPS = sizeof table / sizeof table[0] };

static tsr_transition transition_of(fixture *f, tsr_transition_op op, size_t src, size_t dst)
{
    return (tsr_transition){
        .op = op, .src = end_of_text(f, ends[src]), .dst = end_of_text(f, ends[dst])};
}

static void every_pair(void **state)
{
    fixture *f = *state;
    for (size_t o = 0; o < OPS; o++) {
        for (size_t s = 0; s < ENDS; s++) {
            for (size_t d = 0; d < ENDS; d++) {
                const tsr_transition t = transition_of(f, table[o].op, s, d);
                const char letter = table[o].rows[s][d];
                const tsr_status plain = tsr_transition_check(f->ctx, "x", &t, 3, TSR_UNGUARDED);
                const tsr_status guarded = tsr_transition_check(f->ctx, "x", &t, 3, TSR_GUARDED);
                const tsr_status expert =
                    tsr_transition_check(f->ctx, "x", &t, 3, TSR_GUARDED_EXPERT);
                assert_int_equal(plain >= 0, letter != 'x');
                assert_int_equal(guarded >= 0, letter == 'o');
                assert_int_equal(expert >= 0, letter != 'x');
                tsr_context_clear(f->ctx);
            }
        }
    }
}

static bool same_end(tsr_end a, tsr_end b)
{
    return a.kind == b.kind && a.dim == b.dim;
}

/* Reinterpret and convert are one act between R and I. */
static bool same_call(const tsr_transition *a, const tsr_transition *b)
{
    const bool renamed = a->op >= TSR_REINTERPRET && b->op >= TSR_REINTERPRET &&
                         a->src.kind <= TSR_I && a->dst.kind <= TSR_I;
    return (a->op == b->op || renamed) && same_end(a->src, b->src) && same_end(a->dst, b->dst);
}

/* Steps go from the dual of the result to the dual of the source, and back again. */
static void backwards(void **state)
{
    static const tsr_local_type duals[] = {TSR_UNTYPED, TSR_P, TSR_I, TSR_V, TSR_R};
    fixture *f = *state;
    for (size_t i = 0; i < OPS * ENDS * ENDS; i++) {
        const tsr_transition t =
            transition_of(f, table[i / (ENDS * ENDS)].op, i / ENDS % ENDS, i % ENDS);
        tsr_transition steps[2];
        tsr_transition again[2];
        size_t count = 0;
        size_t back = 0;
        const char letter = table[i / (ENDS * ENDS)].rows[i / ENDS % ENDS][i % ENDS];
        const tsr_status status = tsr_transition_backward(f->ctx, &t, steps, &count);
        assert_int_equal(status >= 0, letter != 'x');
        tsr_context_clear(f->ctx);
        if (status < 0 || count == 0) {
            continue;
        }
        assert_int_equal(steps[0].src.kind, duals[t.dst.kind]);
        assert_int_equal(steps[count - 1].dst.kind, duals[t.src.kind]);
        assert_int_equal(tsr_transition_backward(f->ctx, &steps[0], again, &back), TSR_OK);
        if (count == 1) {
            assert_int_equal(back, 1);
            assert_true(same_call(&again[0], &t));
        }
    }
}

static void backwards_are_adjoint(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < OPS * ENDS * ENDS; i++) {
        const tsr_transition t =
            transition_of(f, table[i / (ENDS * ENDS)].op, i / ENDS % ENDS, i % ENDS);
        if (table[i / (ENDS * ENDS)].rows[i / ENDS % ENDS][i % ENDS] == 'x') {
            continue;
        }
        for (int64_t size = 1; size <= 4; size++) {
            bool right = false;
            assert_int_equal(transition_is_adjoint(f->ctx, &t, size, &right), TSR_OK);
            assert_true(right);
        }
    }
}

/* Stacked and unbound on any dimension. */
static void other_dimensions(void **state)
{
    static const struct {
        tsr_transition_op op;
        const char *src;
        const char *dst;
        int64_t gather;
        int64_t scatter;
    } rows[] = {{TSR_ALL_GATHER, "V", "I", 2, TSR_NO_DIM},
                {TSR_ALL_GATHER, "V", "R", -1, TSR_NO_DIM},
                {TSR_REDUCE_SCATTER, "P", "V", TSR_NO_DIM, 1},
                {TSR_ALL_TO_ALL, "V", "V", 2, 0},
                {TSR_ALL_TO_ALL, "V", "V", 0, -1},
                {TSR_ALL_TO_ALL, "V", "S(2)", 1, TSR_NO_DIM},
                {TSR_ALL_TO_ALL, "V", "S(1)", 1, TSR_NO_DIM},
                {TSR_ALL_TO_ALL, "S(0)", "V", TSR_NO_DIM, -1},
                {TSR_CONVERT, "V", "P", 3, TSR_NO_DIM},
                {TSR_CONVERT, "R", "V", TSR_NO_DIM, 2}};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tsr_transition t = {.op = rows[i].op,
                            .src = end_of_text(f, rows[i].src),
                            .dst = end_of_text(f, rows[i].dst)};
        bool right = false;
        assert_int_equal(tsr_transition_set_dims(f->ctx, &t, 3, rows[i].gather, rows[i].scatter),
                         TSR_OK);
        assert_int_equal(tsr_transition_check(f->ctx, "x", &t, 3, TSR_UNGUARDED), TSR_OK);
        assert_int_equal(transition_is_adjoint(f->ctx, &t, 3, &right), TSR_OK);
        assert_true(right);
    }
}

static void averages_divide(void **state)
{
    fixture *f = *state;
    tsr_transition t = {TSR_ALL_REDUCE, end_of_text(f, "P(avg)"), end_of_text(f, "R"), 0, 0, false};
    tsr_transition steps[2];
    size_t count = 0;
    bool right = false;
    assert_int_equal(tsr_transition_backward(f->ctx, &t, steps, &count), TSR_OK);
    assert_true(count == 1 && steps[0].divide);
    assert_int_equal(transition_is_adjoint(f->ctx, &t, 3, &right), TSR_OK);
    assert_true(right);
    t.src = end_of_text(f, "P(max)");
    assert_true(tsr_transition_backward(f->ctx, &t, steps, &count) < 0);
    expect_message(f, "has no gradient");
}

/* The type and the local shape after a call agree with each other, uneven shards included. */
static void types_after_calls(void **state)
{
    static const struct {
        const char *before;
        tsr_transition_op op;
        const char *src;
        const char *dst;
        const char *after; /* NULL: an error */
    } rows[] = {
        {"f32[10@dp,4]{tp:R}", TSR_CONVERT, "R", "S(0)", "f32[10@(dp,tp):[2,2,1,2,2,1],4]"},
        {"f32[12@dp,4]{tp:R}", TSR_CONVERT, "R", "S(0)", "f32[12@(dp,tp),4]"},
        {"f32[10@(dp,tp),4]", TSR_ALL_GATHER, "S(0)", "R", "f32[10@dp:[6,4],4]{tp:R}"},
        {"f32[12@(dp,tp),4]", TSR_ALL_GATHER, "S(0)", "I", "f32[12@dp,4]{tp:I}"},
        {"f32[12@(tp,dp),4]", TSR_ALL_GATHER, "S(0)", "I", NULL},
        {"f32[12@tp,6]", TSR_ALL_TO_ALL, "S(0)", "S(-1)", "f32[12,6@tp]"},
        {"f32[12@tp,6]", TSR_CONVERT, "S(0)", "S(-2)", "f32[12@tp,6]"},
        {"f32[12,6]{tp:P}", TSR_REDUCE_SCATTER, "P", "S(1)", "f32[12,6@tp]"},
        {"f32[12,6]{tp:P(max)}", TSR_REDUCE_SCATTER, "P", "S(1)", NULL},
        {"f32[12,6]{tp:R}", TSR_REINTERPRET, "R", "P", NULL},
        {"f32[12@tp:[?a],6]", TSR_ALL_GATHER, "S(0)", "R", "f32[12,6]{tp:R}"},
        {"f32[12@tp:[?a],6]", TSR_ALL_TO_ALL, "S(0)", "S(1)", "f32[12,6@tp]"},
        {"f32[12@(dp,tp):[?a],6]", TSR_ALL_GATHER, "S(0)", "R", NULL},
        {"f32[12@dp:[?a],6]{tp:R}", TSR_CONVERT, "R", "S(0)", NULL},
        {"f32[12@dp:[?a],6]{tp:R}", TSR_CONVERT, "R", "S(1)", "f32[12@dp:[?a],6@tp]"},
    };
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"dp\"=2, \"tp\"=3]>");
    const size_t tp = 1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tsr_typed_shape value = typed_of(f, mesh, rows[i].before);
        const tsr_transition t = {.op = rows[i].op,
                                  .src = end_of_text(f, rows[i].src),
                                  .dst = end_of_text(f, rows[i].dst)};
        const tsr_status status =
            tsr_type_transition(f->ctx, f->arena, &value, &tp, 1, &t, (tsr_axis_set){3},
                                TSR_UNGUARDED, false, &value.type);
        assert_int_equal(status < 0, rows[i].after == NULL);
        if (status >= 0) {
            assert_string_equal(typed_text(f, &value), rows[i].after);
        }
        tsr_context_clear(f->ctx);
    }
}

/* Where V and S(i) meet along a local axis: what the type says afterwards of a whole of `rows`. */
static void types_where_kinds_meet(void **state)
{
    static const struct {
        const char *before;
        tsr_transition_op op;
        const char *src;
        const char *dst;
        int64_t plain; /* the dimension that the plain V is taken along */
        int64_t rows;
        const char *after; /* NULL: an error, with these words */
        const char *words;
    } rows[] = {
        {"f32[4@dp,6]{tp:V}", TSR_CONVERT, "V", "S(1)", 0, 4, "f32[4@dp,6@tp]", NULL},
        {"f32[4@dp,6]{tp:V}", TSR_CONVERT, "V", "S(0)", 0, 12, "f32[12@(dp,tp),6]", NULL},
        {"f32[5@dp,6]{tp:V}", TSR_CONVERT, "V", "S(0)", 0, 15, "f32[15@(dp,tp):[3,3,3,2,2,2],6]",
         NULL},
        {"f32[4@dp,6@tp]", TSR_CONVERT, "V", "S(1)", 0, 4, "f32[4@dp,6@tp]", NULL},
        {"f32[4@dp,6@tp]", TSR_CONVERT, "V", "S(0)", 0, 4, NULL, "cuts another dimension"},
        {"f32[4@dp,6@tp]", TSR_CONVERT, "S(1)", "V", 0, 4, "f32[4@dp,6]{tp:V}", NULL},
        {"f32[4@dp,6@tp]", TSR_CONVERT, "S(0)", "V", 0, 4, NULL, "cuts another dimension"},
        {"f32[12@(dp,tp),6]", TSR_CONVERT, "S(0)", "V", 0, 4, "f32[4@dp,6]{tp:V}", NULL},
        {"f32[10@(dp,tp),6]", TSR_CONVERT, "S(0)", "V", 0, 4, NULL, "cut unevenly"},
        {"f32[4,6]{tp:V}", TSR_ALL_TO_ALL, "V", "S(1)", 0, 4, "f32[4,6@tp]", NULL},
        {"f32[4,6]{tp:V}", TSR_ALL_TO_ALL, "V", "S(-1)", -2, 4, "f32[4,6@tp]", NULL},
        {"f32[4@dp,6]{tp:V}", TSR_ALL_TO_ALL, "V", "S(1)", 0, 4, NULL, "cut by other axes"},
        {"f32[4,6@tp]", TSR_ALL_TO_ALL, "S(1)", "V", 0, 4, "f32[4,6]{tp:V}", NULL},
        {"f32[4,6@(dp,tp)]", TSR_ALL_TO_ALL, "S(1)", "V", 0, 4, "f32[4,6@dp]{tp:V}", NULL},
        {"f32[4,6@tp]", TSR_ALL_TO_ALL, "V", "S(0)", 0, 4, NULL, "cuts another dimension"},
        {"f32[4,6@tp]", TSR_ALL_TO_ALL, "V", "S(0)", 1, 4, "f32[4@tp,6]", NULL},
        {"f32[3,6]{tp:V}", TSR_ALL_TO_ALL, "V", "S(0)", 0, 9, "f32[9@tp,6]", NULL},
        {"f32[4,6@dp]{tp:V}", TSR_ALL_TO_ALL, "V", "V", 2, 4, NULL, "dimension 2 is out of range"},
    };
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, "<[\"dp\"=2, \"tp\"=3]>");
    const size_t tp = 1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tsr_typed_shape value = typed_of(f, mesh, rows[i].before);
        const tsr_transition t = {.op = rows[i].op,
                                  .src = end_of_text(f, rows[i].src),
                                  .dst = end_of_text(f, rows[i].dst),
                                  .gather_dim = rows[i].plain,
                                  .scatter_dim = rows[i].plain};
        const tsr_status status =
            tsr_type_transition(f->ctx, f->arena, &value, &tp, 1, &t, (tsr_axis_set){1},
                                TSR_UNGUARDED, false, &value.type);
        assert_int_equal(status < 0, rows[i].after == NULL);
        if (status < 0) {
            expect_message(f, rows[i].words);
            continue;
        }
        const int64_t whole[] = {rows[i].rows, 6};
        value.shape = whole;
        assert_string_equal(typed_text(f, &value), rows[i].after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(every_pair),
                                       TEST(backwards),
                                       TEST(backwards_are_adjoint),
                                       TEST(other_dimensions),
                                       TEST(averages_divide),
                                       TEST(types_after_calls),
                                       TEST(types_where_kinds_meet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
