/*
 * The small rules of typed code, call by call: axes by name, claims, regions, counts. One function
 * a rule; each runs in a scope of its own.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

enum { RANKS = 4, MOST = 64 };

/* A vector whose elements are 1, 2, 3 .., with ten times the rank added unless they are the same.
 */
static tsr_status vector(tsr_comm *world, int64_t rows, bool same, const char *type,
                         tsr_tensor **out)
{
    double elements[MOST];
    for (int64_t i = 0; i < MOST; i++) {
        elements[i] = (double)(i + 1 + (same ? 0 : 10 * tsr_comm_rank(world)));
    }
    const tsr_view view = {elements, TSR_F64, 1, &rows, NULL};
    return tsr_typed_value(world, &view, type, out);
}

/* Whether a value has a type, as text. */
static bool has_type(const tsr_tensor *value, tsr_comm *world, const char *type)
{
    tsr_arena *arena = NULL;
    const char *text = NULL;
    bool same = false;
    if (tsr_arena_create(tsr_comm_context(world), &arena) == TSR_OK &&
        tsr_type_of(value, arena, &text) == TSR_OK) {
        same = strcmp(text, type) == 0;
        if (!same) {
            (void)fprintf(stderr, "%s where %s is wanted\n", text, type);
        }
    }
    tsr_arena_destroy(arena);
    return same;
}

static const double *numbers(const tsr_tensor *value)
{
    return tsr_tensor_data(value);
}

/* ---- axes ---- */

/* `world` is every axis, and each must be what the call says. */
static tsr_status along_world(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, false, "f64[2]{dp:P, tp:P}", &x));
    TSR_TRY(tsr_all_reduce(x, "world", TSR_AS(P), TSR_AS(I), NULL, &y));
    WANT(world, has_type(y, world, "f64[2]{dp:I, tp:I}"));
    WANT(world, numbers(y)[0] == 4 + 60);
    TSR_TRY(tsr_redistribute_type(x, "world", TSR_AS(P), TSR_AS(R), NULL, &y));
    WANT(world, has_type(y, world, "f64[2]{dp:R, tp:R}"));
    TSR_TRY(vector(world, 2, false, "f64[2]{dp:P, tp:R}", &x));
    WANT(world, tsr_all_reduce(x, "world", TSR_AS(P), TSR_AS(R), NULL, &y) == TSR_ERR_INVALID);
    tsr_context_clear(tsr_comm_context(world));
    return TSR_OK;
}

/* An operand that is untyped along an axis says nothing about it. */
static tsr_status untyped_axes(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, false, "f64[2]{dp:V}", &x));
    TSR_TRY(vector(world, 2, true, "f64[2]{tp:R}", &y));
    TSR_TRY(tsr_add(x, y, &y));
    WANT(world, has_type(y, world, "f64[2]{dp:V, tp:R}"));
    return TSR_OK;
}

/* In a strict scope that is refused, with the axis. */
static tsr_status strict(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, false, "f64[2]{dp:V}", &x));
    TSR_TRY(vector(world, 2, true, "f64[2]{dp:R, tp:R}", &y));
    WANT(world, tsr_add(x, y, &y) == TSR_ERR_INVALID && heard(world, "along axis tp"));
    WANT(world, tsr_exp(x, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "along axis tp: no operand has a type there"));
    WANT(world, tsr_all_reduce(x, "tp", TSR_AS(P), TSR_AS(R), NULL, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "untyped there, and checks are strict"));
    TSR_TRY(tsr_assert_type(x, "{tp:I}", &x));
    TSR_TRY(tsr_exp(x, &y));
    WANT(world, has_type(y, world, "f64[2]{dp:V, tp:I}"));
    TSR_TRY(tsr_scalar_like(x, 2, &y)); /* a number has no type, and needs none */
    return tsr_mul(x, y, &y);
}

/* ---- claims ---- */

static tsr_status claims(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, false, "f64[2]{dp:R, tp:V}", &x));
    TSR_TRY(tsr_assert_type(x, "{tp:S(0), dp:R}", &y));
    WANT(world, has_type(y, world, "f64[4@tp]{dp:R}"));
    TSR_TRY(tsr_assert_type(y, "{tp:S(-1)}", &y));
    WANT(world, tsr_assert_type(y, "{tp:P}", &y) == TSR_ERR_INVALID);
    TSR_TRY(tsr_assert_type(x, "{tp:P}", &y));
    WANT(world, has_type(y, world, "f64[2]{dp:R, tp:P}"));
    WANT(world, tsr_assert_type(x, "f64[4@tp]{tp:S(0)}", &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "in the braces, but not both"));
    WANT(world, tsr_assert_type(x, "{tp:S(1)}", &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "dimension 1 is out of range: the value has rank 1"));
    TSR_TRY(vector(world, 2, false, "f64[2]{dp:V, tp:V}", &x));
    WANT(world, tsr_assert_type(x, "{dp:S(0), tp:S(0)}", &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "it is ambiguous which is outer"));
    return TSR_OK;
}

/* ---- regions ---- */

static tsr_status doubled(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                          void *state)
{
    (void)world;
    (void)state;
    return tsr_add(inputs[0], inputs[0], &outputs[0]);
}

static tsr_status regions(tsr_comm *world)
{
    static const char *const none[] = {NULL};
    static const char *const whole[] = {"f64[4@tp]{dp:R}"};
    static const char *const left_out[] = {"f64[4@tp]"};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, false, "f64[4@tp]{dp:R}", &x));
    tsr_local_region r = {.region = doubled,
                          .inputs = &x,
                          .input_types = none,
                          .num_inputs = 1,
                          .output_types = whole,
                          .num_outputs = 1};
    TSR_TRY(tsr_local_map(world, "tp", &r, &y));
    WANT(world, has_type(y, world, "f64[4@tp]{dp:R}"));
    r.output_types = none;
    TSR_TRY(tsr_local_map(world, "tp", &r, &y));
    WANT(world, has_type(y, world, "f64[2]{dp:R, tp:V}"));
    r.input_types = left_out;
    WANT(world, tsr_local_map(world, "tp", &r, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "omits axis dp, along which it is R"));
    r.input_types = whole; /* what varies without a dimension may be declared to have one */
    TSR_TRY(vector(world, 2, false, "f64[2]{dp:R, tp:V}", &x));
    return tsr_local_map(world, "tp", &r, &y);
}

/* A dimension that a local axis and a global one cut keeps the global one inside. */
static tsr_status look_inside(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                              void *state)
{
    WANT(world, has_type(inputs[0], world, state));
    return tsr_exp(inputs[0], &outputs[0]);
}

static tsr_status mixed_cuts(tsr_comm *world)
{
    static const struct {
        const char *type;
        const char *axes;
        const char *inside;
    } rows[] = {{"f64[8@(dp,tp)]", "tp", "f64[4@dp]{tp:V}"},
                {"f64[8@(dp,tp)]", "dp", "f64[4@tp]{dp:V}"},
                {"f64[8@(tp,dp)]", "tp", "f64[4@dp]{tp:V}"},
                {"f64[8@(dp,tp)]", "dp,tp", "f64[2]{dp:V, tp:V}"}};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char inside[32];
        const char *const types[] = {rows[i].type};
        (void)snprintf(inside, sizeof inside, "%s", rows[i].inside);
        TSR_TRY(vector(world, 2, false, rows[i].type, &x));
        const tsr_local_region r = {.region = look_inside,
                                    .state = inside,
                                    .inputs = &x,
                                    .input_types = types,
                                    .num_inputs = 1,
                                    .output_types = types,
                                    .num_outputs = 1};
        TSR_TRY(tsr_local_map(world, rows[i].axes, &r, &y));
        WANT(world, has_type(y, world, rows[i].type));
    }
    static const char *const uneven[] = {"f64[7@(dp,tp)]"};
    TSR_TRY(vector(world, tsr_comm_rank(world) == 3 ? 1 : 2, false, uneven[0], &x));
    const tsr_local_region r = {.region = look_inside,
                                .inputs = &x,
                                .input_types = uneven,
                                .num_inputs = 1,
                                .output_types = uneven,
                                .num_outputs = 1};
    WANT(world, tsr_local_map(world, "tp", &r, &y) == TSR_ERR_UNSUPPORTED);
    WANT(world, heard(world, "make it a multiple of 4"));
    return TSR_OK;
}

/* ---- counts ---- */

/* Only S(i) has rows of each member, and all_to_all both lists. */
static tsr_status counts(tsr_comm *world)
{
    static const int64_t two[] = {1, 1};
    const tsr_collective_options rows = {.counts = two};
    const tsr_collective_options sent = {.sent = two};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, false, "f64[2]{dp:R, tp:V}", &x));
    WANT(world, tsr_all_gather(x, "tp", TSR_AS(V), TSR_AS(R), &rows, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "counts apply to S(i)"));
    WANT(world, tsr_reduce_scatter(x, "tp", TSR_AS(V), TSR_AS(V), &rows, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "counts apply to S(i)"));
    WANT(world, tsr_all_to_all(x, "tp", TSR_AS(V), TSR_AS(V), &rows, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "counts apply to S(i)"));
    WANT(world, tsr_all_to_all(x, "tp", TSR_AS_S(0), TSR_AS_S(0), &rows, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "takes both lists"));
    WANT(world, tsr_all_gather(x, "tp", TSR_AS_S(0), TSR_AS(R), &sent, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "only all_to_all"));
    return TSR_OK;
}

/* Rank 0 sends 1 and 2 rows, rank 1 sends 3 and 0; the gradient goes the same way back. */
static tsr_status rows_between_ranks(tsr_comm *world)
{
    static const int64_t table[2][2] = {{1, 2}, {3, 0}};
    const int64_t me = tsr_comm_rank(world) % 2;
    const int64_t come[] = {table[0][me], table[1][me]};
    const tsr_collective_options options = {.counts = come, .sent = table[me]};
    const size_t dim = 0;
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 3, false, "f64[3]{dp:I, tp:V}", &x));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_all_to_all(x, "tp", TSR_AS_S(0), TSR_AS_S(0), &options, &y));
    WANT(world, tsr_tensor_local_shape(y)[0] == come[0] + come[1]);
    const double first = 1 + 10 * (double)(tsr_comm_rank(world) - me);
    WANT(world, numbers(y)[0] == (me == 0 ? first : first + 1));
    WANT(world, me == 1 || numbers(y)[1] == first + 10);
    TSR_TRY(tsr_mul(y, y, &y));
    TSR_TRY(tsr_sum(y, &dim, 1, &y));
    TSR_TRY(tsr_all_reduce(y, "tp", TSR_AS(V), TSR_AS(I), NULL, &y));
    TSR_TRY(tsr_backward(y));
    TSR_TRY(tsr_gradient(x, &y));
    for (int64_t i = 0; i < 3; i++) {
        WANT(world, numbers(y)[i] == 2 * numbers(x)[i]);
    }
    tsr_tape_end(world);
    return TSR_OK;
}

/* ---- whole shapes ---- */

/* What was cut and is summed has the extent that each rank had; what is cut keeps the whole. */
static tsr_status whole_shapes(tsr_comm *world)
{
    static const int64_t uneven[] = {1, 3};
    const tsr_collective_options options = {.counts = uneven};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 4, false, "f64[8@tp]{dp:R}", &x));
    TSR_TRY(tsr_all_reduce(x, "tp", TSR_AS(V), TSR_AS(I), NULL, &y));
    WANT(world, has_type(y, world, "f64[4]{dp:R, tp:I}"));
    TSR_TRY(tsr_reinterpret(x, "tp", TSR_AS(V), TSR_AS(P), NULL, &y));
    WANT(world, has_type(y, world, "f64[4]{dp:R, tp:P}"));
    TSR_TRY(tsr_reduce_scatter(x, "tp", TSR_AS(V), TSR_AS_S(0), NULL, &y));
    WANT(world, has_type(y, world, "f64[4@tp]{dp:R}"));
    TSR_TRY(vector(world, 4, false, "f64[4]{dp:R, tp:P}", &x));
    TSR_TRY(tsr_reduce_scatter(x, "tp", TSR_AS(P), TSR_AS_S(0), NULL, &y));
    WANT(world, has_type(y, world, "f64[4@tp]{dp:R}"));
    TSR_TRY(tsr_all_gather(y, "tp", TSR_AS_S(0), TSR_AS(R), NULL, &y));
    WANT(world, has_type(y, world, "f64[4]{dp:R, tp:R}"));
    TSR_TRY(tsr_reduce_scatter(x, "tp", TSR_AS(P), TSR_AS_S(0), &options, &y));
    WANT(world, has_type(y, world, "f64[4@tp:[1,3]]{dp:R}"));
    TSR_TRY(vector(world, 4, false, "f64[8@dp]{tp:P}", &x));
    TSR_TRY(tsr_reduce_scatter(x, "tp", TSR_AS(P), TSR_AS_S(0), NULL, &y));
    WANT(world, has_type(y, world, "f64[8@(dp,tp)]"));
    TSR_TRY(tsr_all_reduce(y, "tp", TSR_AS(V), TSR_AS(R), NULL, &y));
    WANT(world, has_type(y, world, "f64[4@dp]{tp:R}"));
    return TSR_OK;
}

/* ---- calls about whole tensors ---- */

/* Each call on a value that is not the same on all ranks, and what it must say. */
static tsr_status refuse_all(tsr_comm *world, tsr_tensor *value, const tsr_sharding *sharding,
                             const char *remedy)
{
    double full[MOST];
    tsr_tensor *y = NULL;
    WANT(world, tsr_tensor_to_full(value, -1, full) == TSR_ERR_INVALID && heard(world, remedy));
    WANT(world, tsr_reduce_pending(value, &y) == TSR_ERR_INVALID && heard(world, remedy));
    WANT(world, tsr_replicate(value, &y) == TSR_ERR_INVALID && heard(world, remedy));
    WANT(world, tsr_gather(value, 0, &y) == TSR_ERR_INVALID && heard(world, remedy));
    WANT(world, tsr_shard(value, sharding, &y) == TSR_ERR_INVALID && heard(world, remedy));
    WANT(world, tsr_with_sharding(value, sharding, &y) == TSR_ERR_INVALID && heard(world, remedy));
    WANT(world, tsr_redistribute(value, sharding, &y) == TSR_ERR_INVALID && heard(world, remedy));
    WANT(world, tsr_redistribute_into(value, value) == TSR_ERR_INVALID && heard(world, remedy));
    WANT(world,
         tsr_tensor_save_npy(value, "/nowhere/x.npy") == TSR_ERR_INVALID && heard(world, remedy));
    WANT(world, tsr_local_of(value, TSR_I, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "tsr_local_of: the tensor is already a typed value"));
    return TSR_OK;
}

static tsr_status wholes(tsr_comm *world)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *sharding = NULL;
    tsr_tensor *x = NULL;
    double full[MOST] = {0};
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    TSR_TRY(tsr_mesh_parse(tsr_comm_context(world), arena, "<[\"dp\"=2, \"tp\"=2]>", &mesh));
    TSR_TRY(tsr_sharding_parse(tsr_comm_context(world), arena, mesh, "[{\"tp\"}]", &sharding));
    TSR_TRY(vector(world, 4, false, "f64[4]{dp:R, tp:P}", &x));
    TSR_TRY(refuse_all(world, x, sharding, "tsr_all_reduce(.., \"tp\", TSR_AS(P), TSR_AS(R)"));
    TSR_TRY(vector(world, 4, false, "f64[4]{dp:V, tp:R}", &x));
    TSR_TRY(refuse_all(world, x, sharding, "tsr_all_gather(.., \"dp\", TSR_AS(V), TSR_AS(R)"));
    TSR_TRY(vector(world, 4, false, "f64[8@tp]{dp:R}", &x));
    TSR_TRY(refuse_all(world, x, sharding, "use tsr_tensor_of_local first"));
    TSR_TRY(vector(world, 4, true, "f64[4]{dp:R, tp:I}", &x));
    TSR_TRY(tsr_tensor_to_full(x, -1, full));
    WANT(world, full[3] == 4);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

/* ---- messages ---- */

/* A sum over the wrong axis passes as a reinterpret; what fails later says so. */
static tsr_status implied(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, false, "f64[2]{dp:V, tp:P}", &x));
    TSR_TRY(tsr_all_reduce(x, "dp", TSR_AS(P), TSR_AS(R), NULL, &y)); /* tp was meant */
    WANT(world, tsr_exp(y, &x) == TSR_ERR_INVALID);
    WANT(world, heard(world, "operand 0 comes from a collective along axis dp that expected "
                             "TSR_AS(P) and reinterpreted a V as P"));
    TSR_TRY(tsr_mul(y, y, &x) < 0 ? TSR_OK : TSR_ERR_INVALID);
    WANT(world, heard(world, "reinterpreted a V as P"));
    TSR_TRY(tsr_negate(y, &y)); /* it stays with what is computed from it */
    WANT(world, tsr_all_reduce(y, "dp", TSR_AS(P), TSR_AS(I), NULL, &x) == TSR_ERR_INVALID);
    WANT(world, heard(world, "reinterpreted a V as P"));
    return TSR_OK;
}

/* The call that was made, the operand that it is about, what to write. */
static tsr_status what_to_write(tsr_comm *world)
{
    const double ones[] = {1, 1, 1, 1};
    const int64_t square[] = {2, 2};
    double room[4];
    memcpy(room, ones, sizeof room);
    const tsr_view view = {room, TSR_F64, 2, square, NULL};
    tsr_tensor *x = NULL;
    tsr_tensor *w = NULL;
    tsr_tensor *b = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(tsr_typed_value(world, &view, "f64[2,2]{dp:R, tp:V}", &x));
    TSR_TRY(tsr_typed_value(world, &view, "f64[2,2]{dp:R, tp:V}", &w));
    TSR_TRY(vector(world, 2, true, "f64[2]{dp:R, tp:R}", &b));
    WANT(world, tsr_linear_partial(x, w, b, "tp", &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "tsr_convert_type(bias, \"tp\", TSR_AS(R), TSR_AS(P), ..) would do"));
    WANT(world, tsr_linear_partial(x, w, b, "tp", &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "tsr_linear_partial(the product f64[2,2]{dp:R, tp:P}, bias f64[2]"));
    WANT(world, tsr_matmul_partial(x, w, "dp", &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "tsr_matmul_partial(f64[2,2]{dp:R, tp:V}"));
    TSR_TRY(tsr_typed_value(world, &view, "f64[2,2]{dp:R, tp:P}", &x));
    TSR_TRY(vector(world, 2, true, "f64[2]{dp:R, tp:R}", &b));
    TSR_TRY(tsr_typed_value(world, &view, "f64[2,2]{dp:R, tp:R}", &w));
    WANT(world, tsr_linear(x, w, b, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "tsr_convert_type(bias, \"tp\""));
    TSR_TRY(vector(world, 2, true, "f64[2]{dp:R, tp:I}", &b));
    WANT(world, tsr_all_reduce(b, "tp", TSR_AS(P), TSR_AS(I), NULL, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "the value is already I there: remove this call"));
    WANT(world, tsr_all_reduce(b, "tp", TSR_AS(I), TSR_AS(I), NULL, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "the value is already I: remove this call"));
    WANT(world, tsr_all_reduce(b, "tp", TSR_AS(V), TSR_AS_S(0), NULL, &y) == TSR_ERR_INVALID);
    tsr_context_clear(tsr_comm_context(world));
    WANT(world, tsr_all_gather(b, "tp", TSR_AS(P), TSR_AS(R), NULL, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "use tsr_all_reduce(.., \"tp\", TSR_AS(P), TSR_AS(R), ..)"));
    return TSR_OK;
}

/* In a global scope a contraction names the call that leaves a sum. */
static tsr_status contracted(tsr_comm *world)
{
    double room[] = {1, 1, 1, 1};
    const int64_t square[] = {2, 2};
    const tsr_view view = {room, TSR_F64, 2, square, NULL};
    tsr_tensor *x = NULL;
    tsr_tensor *w = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(tsr_typed_value(world, &view, "f64[2,4@tp]{dp:R}", &x));
    TSR_TRY(tsr_typed_value(world, &view, "f64[4@tp,2]{dp:R}", &w));
    WANT(world, tsr_matmul(x, w, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "use tsr_matmul_partial(.., \"tp\", ..), or gather first"));
    return tsr_matmul_partial(x, w, "tp", &y);
}

/* ---- invariant operands where no gradient is needed ---- */

static tsr_status scaled(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                         void *state)
{
    (void)world;
    return tsr_mul(inputs[0], state, &outputs[0]);
}

/* Only where the scope says so, and no tape records the call. */
static tsr_status mixing(tsr_comm *world)
{
    tsr_tensor *v = NULL;
    tsr_tensor *p = NULL;
    tsr_tensor *i = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, false, "f64[2]{dp:R, tp:V}", &v));
    TSR_TRY(vector(world, 2, false, "f64[2]{dp:R, tp:P}", &p));
    TSR_TRY(vector(world, 2, true, "f64[2]{dp:I, tp:I}", &i));
    TSR_TRY(tsr_mul(v, i, &y));
    WANT(world, has_type(y, world, "f64[2]{dp:R, tp:V}"));
    WANT(world, numbers(y)[1] == numbers(v)[1] * 2);
    TSR_TRY(tsr_mul(p, i, &y));
    WANT(world, has_type(y, world, "f64[2]{dp:R, tp:P}"));
    TSR_TRY(tsr_add(i, i, &y));
    WANT(world, has_type(y, world, "f64[2]{dp:I, tp:I}"));
    WANT(world, tsr_add(p, i, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "would be added once per rank"));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_mul(v, i, &y)); /* neither is watched */
    TSR_TRY(tsr_watch(v));
    WANT(world, tsr_mul(v, i, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "an invariant operand does not mix with others"));
    WANT(world, tsr_recompute(world, scaled, i, &v, 1, &y, 1) == TSR_ERR_INVALID);
    WANT(world, heard(world, "an invariant operand does not mix with others"));
    tsr_tape_pause(world);
    TSR_TRY(tsr_mul(v, i, &y));
    tsr_tape_resume(world);
    WANT(world, has_type(y, world, "f64[2]{dp:R, tp:V}"));
    TSR_TRY(tsr_recompute(world, scaled, i, &i, 1, &y, 1)); /* no input is recorded */
    TSR_TRY(tsr_recompute(world, scaled, i, &p, 1, &y, 1));
    WANT(world, tsr_mul(v, i, &y) == TSR_ERR_INVALID); /* the case of a paused tape is another */
    WANT(world, heard(world, "an invariant operand does not mix with others"));
    tsr_tape_end(world);
    return TSR_OK;
}

static tsr_status not_mixing(tsr_comm *world)
{
    tsr_tensor *v = NULL;
    tsr_tensor *i = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(vector(world, 2, false, "f64[2]{tp:V}", &v));
    TSR_TRY(vector(world, 2, true, "f64[2]{tp:I}", &i));
    WANT(world, tsr_mul(v, i, &y) == TSR_ERR_INVALID);
    WANT(world, heard(world, "an invariant operand does not mix with others"));
    return TSR_OK;
}

/* ---- without checks ---- */

/* What is said of a value stays said, so that parts make a tensor again. */
static tsr_status erased(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *whole = NULL;
    double full[4] = {0};
    TSR_TRY(vector(world, 2, true, "f64[4@tp]{dp:R}", &x));
    TSR_TRY(tsr_tensor_of_local(x, &whole));
    TSR_TRY(tsr_add(x, x, &y));
    WANT(world, tsr_tensor_of_local(y, &whole) == TSR_ERR_INVALID);
    WANT(world, heard(world, "state it with tsr_assert_type"));
    TSR_TRY(tsr_assert_type(y, "f64[4@tp]{dp:R}", &y));
    TSR_TRY(tsr_tensor_of_local(y, &whole));
    tsr_spmd_close(world);
    TSR_TRY(tsr_tensor_to_full(whole, -1, full));
    WANT(world, full[0] == 2 && full[1] == 4 && full[2] == 2 && full[3] == 4);
    return TSR_OK;
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    tsr_status (*run)(tsr_comm *world);
    bool global;
    bool unchecked;
    bool strict;
    bool mix;
} all[] = {{"along world", along_world, false, false, false, false},
           {"untyped axes", untyped_axes, false, false, false, false},
           {"strict", strict, false, false, true, false},
           {"claims", claims, false, false, false, false},
           {"regions", regions, false, false, false, false},
           {"mixed cuts", mixed_cuts, true, false, false, false},
           {"counts", counts, false, false, false, false},
           {"rows between ranks", rows_between_ranks, false, false, false, false},
           {"whole shapes", whole_shapes, false, false, false, false},
           {"wholes", wholes, false, false, false, false},
           {"implied", implied, false, false, false, false},
           {"what to write", what_to_write, false, false, false, false},
           {"contracted", contracted, true, false, false, false},
           {"mixing", mixing, false, false, false, true},
           {"not mixing", not_mixing, false, false, false, false},
           {"erased", erased, false, true, false, false}};

static tsr_status run_all(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    (void)state;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    tsr_status status =
        tsr_mesh_parse(tsr_comm_context(world), arena, "<[\"dp\"=2, \"tp\"=2]>", &mesh);
    for (size_t i = 0; status == TSR_OK && i < sizeof all / sizeof all[0]; i++) {
        const tsr_spmd_scope scope = {.mesh = mesh,
                                      .global.bits = all[i].global ? 3 : 0,
                                      .unchecked = all[i].unchecked,
                                      .strict = all[i].strict,
                                      .mix_invariant = all[i].mix};
        TSR_TRY(tsr_spmd_open(world, &scope));
        TSR_TRY(tsr_scope_open(world));
        status = all[i].run(world);
        tsr_scope_close(world);
        tsr_spmd_close(world);
        if (tsr_comm_rank(world) == 0) {
            printf("%s: %s\n", all[i].name, status == TSR_OK ? "fine" : "wrong");
        }
    }
    tsr_arena_destroy(arena);
    return status;
}

static void rules(void **state)
{
    const tsr_launch_spec spec = {.num_ranks = RANKS, .ranks = kinds_chosen()};
    size_t at = 0;
    int64_t count = RANKS;
    if (kinds_chosen() == TSR_RANKS_MPI) {
        (void)kinds_next_count(&at, RANKS, &count);
    }
    if (count == RANKS) {
        expect_ranks(*state, &spec, run_all, NULL);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(rules)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
