/*
 * Redistribution of typed values from spec to spec on a 2x2 mesh: every value in its place, and the
 * gradient exactly adjoint on integers, with checks and without.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

enum { ROWS = 6, COLUMNS = 5, MOST = ROWS * COLUMNS };

static const struct {
    const char *src;
    const char *dst;
} moves[] = {
    {"f64[6@(dp,tp),5]{}", "f64[6@(tp,dp),5]{}"},
    {"f64[6@dp,5@tp]{}", "f64[6@tp,5@dp]{}"},
    {"f64[6@dp,5]{tp:R}", "f64[6,5@tp]{dp:R}"},
    {"f64[6@dp,5]{tp:I}", "f64[6@dp,5@tp]{}"},
    {"f64[6,5]{dp:P, tp:P}", "f64[6@(dp,tp),5]{}"},
    {"f64[6,5]{dp:P, tp:R}", "f64[6,5]{dp:R, tp:R}"},
    {"f64[6,5@tp]{dp:P}", "f64[6@tp,5]{dp:P}"},
    {"f64[6,5]{dp:R, tp:R}", "f64[6@tp,5@dp]{}"},
    {"f64[6,5]{dp:I, tp:R}", "f64[6,5]{dp:R, tp:I}"},
    {"f64[6@tp,5]{dp:I}", "f64[6,5]{dp:I, tp:I}"},
    {"f64[6,5]{dp:P(avg), tp:R}", "f64[6,5]{dp:R, tp:R}"},
    {"f64[6,5]{dp:P(avg), tp:R}", "f64[6@dp,5]{tp:R}"},
    {"f64[6,5]{dp:P(avg), tp:P(avg)}", "f64[6@(tp,dp),5]{}"},
    {"f64[6,5@tp]{dp:P(avg)}", "f64[6@tp,5]{dp:P(avg)}"},
    {"f64[6,5]{dp:P(avg), tp:R}", "f64[6,5]{dp:I, tp:R}"},
};
enum { NUM_MOVES = sizeof moves / sizeof moves[0] };

/* What a rank has of a value of a type: whole numbers, that fit the type. */
typedef struct part {
    int64_t shape[2];
    double numbers[MOST];
    tsr_axis_type kinds[2];
} part;

static tsr_status make_part(tsr_comm *world, tsr_arena *arena, const tsr_mesh *mesh,
                            const char *type, bool dual, int64_t seed, part *out)
{
    tsr_context *ctx = tsr_comm_context(world);
    tsr_text text = tsr_text_of(NULL, type);
    tsr_typed_shape shape;
    const tsr_sharding *sharding = NULL;
    const tsr_geometry *geometry = NULL;
    int64_t start[2];
    TSR_TRY(tsr_type_read(ctx, arena, &text, mesh, &shape));
    TSR_TRY(dual ? tsr_type_gradient(ctx, arena, shape.type, &shape.type) : TSR_OK);
    TSR_TRY(tsr_type_sharding(ctx, arena, shape.type, 2, &sharding));
    TSR_TRY(tsr_geometry_create(ctx, arena, sharding, 2, shape.shape, &geometry));
    (void)tsr_geometry_box(geometry, tsr_comm_rank(world), start, out->shape);
    for (size_t a = 0; a < 2; a++) {
        out->kinds[a] = tsr_type_axis(shape.type, a);
    }
    /* Along an axis that is pending each rank has numbers of its own. */
    const int64_t me = tsr_comm_rank(world);
    const int64_t own = (out->kinds[0].kind == TSR_P ? me / 2 * 3 : 0) +
                        (out->kinds[1].kind == TSR_P ? me % 2 * 5 : 0);
    for (int64_t i = 0; i < out->shape[0] * out->shape[1]; i++) {
        const int64_t row = start[0] + i / (out->shape[1] > 0 ? out->shape[1] : 1);
        const int64_t column = start[1] + i % (out->shape[1] > 0 ? out->shape[1] : 1);
        out->numbers[i] = (double)((row * 7 + column * 3 + own + seed) % 11 - 5);
    }
    return TSR_OK;
}

static tsr_status value_of(tsr_comm *world, part *p, const char *type, tsr_tensor **out)
{
    const tsr_view view = {p->numbers, TSR_F64, 2, p->shape, NULL};
    return tsr_typed_value(world, &view, type, out);
}

/* The pairing of a value and a cotangent: over all ranks, once where both are invariant along an
 * axis. */
static tsr_status pairing(tsr_comm *world, const part *p, const double *a, const double *b,
                          double *out)
{
    const int64_t me = tsr_comm_rank(world);
    const bool counts =
        (p->kinds[0].kind != TSR_I || me / 2 == 0) && (p->kinds[1].kind != TSR_I || me % 2 == 0);
    double mine = 0;
    for (int64_t i = 0; counts && i < p->shape[0] * p->shape[1]; i++) {
        mine += a[i] * b[i];
    }
    const tsr_view src = {&mine, TSR_F64, 0, NULL, NULL};
    const tsr_view dst = {out, TSR_F64, 0, NULL, NULL};
    return tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &src, &dst);
}

static tsr_status check_move(tsr_comm *world, tsr_arena *arena, const tsr_mesh *mesh, size_t i)
{
    part x;
    part y;
    part g;
    tsr_tensor *value = NULL;
    tsr_tensor *moved = NULL;
    tsr_tensor *cotangent = NULL;
    tsr_tensor *gradient = NULL;
    double left;
    double right;
    TSR_TRY(make_part(world, arena, mesh, moves[i].src, false, 1, &x));
    TSR_TRY(make_part(world, arena, mesh, moves[i].dst, false, 1, &y));
    TSR_TRY(make_part(world, arena, mesh, moves[i].dst, true, 4, &g));
    TSR_TRY(value_of(world, &x, moves[i].src, &value));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(value));
    TSR_TRY(tsr_redistribute_spec(value, moves[i].src, moves[i].dst, &moved));
    WANT(world, memcmp(tsr_tensor_local_shape(moved), y.shape, sizeof y.shape) == 0);
    const bool pending = x.kinds[0].kind == TSR_P || x.kinds[1].kind == TSR_P;
    WANT(world, pending || memcmp(tsr_tensor_data(moved), y.numbers,
                                  (size_t)(y.shape[0] * y.shape[1]) * sizeof(double)) == 0);
    TSR_TRY(value_of(world, &g, moves[i].dst, &cotangent));
    TSR_TRY(tsr_backward_from(moved, cotangent));
    TSR_TRY(tsr_gradient(value, &gradient));
    TSR_TRY(pairing(world, &y, tsr_tensor_data(moved), g.numbers, &left));
    TSR_TRY(pairing(world, &x, x.numbers, tsr_tensor_data(gradient), &right));
    tsr_tape_end(world);
    if (left != right) {
        return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION,
                          "%s to %s: %g is not %g", moves[i].src, moves[i].dst, left, right);
    }
    return TSR_OK;
}

static tsr_status check_refusals(tsr_comm *world, tsr_arena *arena, const tsr_mesh *mesh)
{
    part x;
    tsr_tensor *value = NULL;
    tsr_tensor *moved = NULL;
    TSR_TRY(make_part(world, arena, mesh, "f64[6,5]{dp:R, tp:R}", false, 1, &x));
    TSR_TRY(value_of(world, &x, "f64[6,5]{dp:R, tp:R}", &value));
    WANT(world, tsr_redistribute_spec(value, "f64[6,5]{dp:R, tp:R}", "f64[6,5]{dp:P, tp:R}",
                                      &moved) == TSR_ERR_INVALID);
    WANT(world, heard(world, "redistribution does not make pending sums"));
    WANT(world, tsr_redistribute_spec(value, "f64[6@dp,5]{tp:R}", "f64[6,5]{dp:R, tp:R}", &moved) ==
                    TSR_ERR_INVALID);
    WANT(world, heard(world, "which is not its part of"));
    WANT(world, tsr_redistribute_spec(value, "f64[6,5]{dp:R, tp:R}", "f64[5,6]{dp:R, tp:R}",
                                      &moved) == TSR_ERR_INVALID);
    WANT(world, heard(world, "not two layouts of one value"));
    return TSR_OK;
}

static tsr_status run(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    (void)state;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    TSR_TRY(tsr_mesh_parse(tsr_comm_context(world), arena, "<[\"dp\"=2, \"tp\"=2]>", &mesh));
    for (int unchecked = 0; unchecked < 2; unchecked++) {
        const tsr_spmd_scope scope = {.mesh = mesh, .global = {3}, .unchecked = unchecked == 1};
        TSR_TRY(tsr_scope_open(world));
        TSR_TRY(tsr_spmd_open(world, &scope));
        for (size_t i = 0; i < NUM_MOVES; i++) {
            TSR_TRY(check_move(world, arena, mesh, i));
        }
        TSR_TRY(unchecked == 0 ? check_refusals(world, arena, mesh) : TSR_OK);
        tsr_spmd_close(world);
        tsr_scope_close(world);
    }
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void from_spec_to_spec(void **state)
{
    int64_t ranks = 4;
    size_t at = 0;
    const tsr_launch_spec spec = {.num_ranks = 4, .ranks = kinds_chosen()};
    if (kinds_chosen() == TSR_RANKS_MPI && kinds_next_count(&at, 4, &ranks) && ranks != 4) {
        return;
    }
    expect_ranks(*state, &spec, run, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(from_spec_to_spec)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
