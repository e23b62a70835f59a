/*
 * Ranks that make the same calls with other attributes, operands or orders of operands: in checked
 * mode the call fails on every rank, else the next rendezvous does; then calls work again.
 */
#include <stdio.h>
#include <string.h>

#include <tessera/typed.h>

#include "base/base.h"
#include "base/diag.h"
#include "kinds.h"
#include "rt/comm.h"
#include "texts.h"
#include "want.h"

enum { RANKS = 3, GUILTY = 1, ROWS = 12 };

/* What calls work on. All but the indices are f32. */
typedef struct scene {
    tsr_comm *world;
    tsr_arena *arena;
    const tsr_mesh *mesh;
    const tsr_sharding *columns;
    tsr_tensor *x, *y;  /* [12,12] by rows */
    tsr_tensor *whole;  /* [12,12] */
    tsr_tensor *less;   /* [12,6] by rows */
    tsr_tensor *rows;   /* [4,12] */
    tsr_tensor *places; /* i64[4] */
    tsr_tensor_spec spec;
} scene;

static const int64_t square[] = {ROWS, ROWS};
static const size_t second[] = {1};

static tsr_status set_up(scene *s)
{
    tsr_context *ctx = tsr_comm_context(s->world);
    TSR_TRY(tsr_arena_create(ctx, &s->arena));
    TSR_TRY(tsr_mesh_parse(ctx, s->arena, "<[\"x\"=3]>", &s->mesh));
    TSR_TRY(tsr_sharding_parse(ctx, s->arena, s->mesh, "[{}, {\"x\"}]", &s->columns));
    const struct {
        tsr_tensor **out;
        const char *type;
        const char *layout;
    } made[] = {
        {&s->x, "f32[12,12]", "[{\"x\"}, {}]"}, {&s->y, "f32[12,12]", "[{\"x\"}, {}]"},
        {&s->whole, "f32[12,12]", "[{}, {}]"},  {&s->less, "f32[12,6]", "[{\"x\"}, {}]"},
        {&s->rows, "f32[4,12]", "[{}, {}]"},    {&s->places, "i64[4]", "[{}]"},
    };
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        TSR_TRY(
            tensor_of_text(s->world, s->arena, s->mesh, made[i].type, made[i].layout, made[i].out));
    }
    s->spec = (tsr_tensor_spec){s->columns, TSR_F32, 2, square};
    return TSR_OK;
}

static void tear_down(scene *s)
{
    tsr_tensor *const all[] = {s->x, s->y, s->whole, s->less, s->rows, s->places};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        tsr_tensor_release(all[i]);
    }
    tsr_arena_destroy(s->arena);
}

/* ---- calls that differ where `other` is true; none of them needs to communicate ---- */

#define CALL(name, expression)                                                                     \
    static tsr_status name(const scene *s, bool other)                                             \
    {                                                                                              \
        tsr_tensor *out = NULL;                                                                    \
        return expression;                                                                         \
    }

CALL(another_op, other ? tsr_exp(s->x, &out) : tsr_negate(s->x, &out))
CALL(another_operand, tsr_exp(other ? s->y : s->x, &out))
CALL(order_of_operands, tsr_sub(other ? s->y : s->x, other ? s->x : s->y, &out))
CALL(einsum, tsr_einsum(other ? "ij->i" : "ij->j", &s->whole, 1, &out))
CALL(slice_bounds, tsr_slice(s->whole, (const int64_t[]){0, other ? 1 : 0},
                             (const int64_t[]){ROWS, other ? 5 : 4}, NULL, &out))
CALL(sort_direction, tsr_sort(s->x, 1, other, &out, NULL))
CALL(sum_or_mean, other ? tsr_mean(s->x, second, 1, &out) : tsr_sum(s->x, second, 1, &out))
CALL(scatter,
     tsr_scatter(s->whole, s->places, s->rows, 0, other ? TSR_SCATTER_ADD : TSR_SCATTER_SET, &out))
CALL(pad_number, tsr_pad(s->whole, other ? 1.0 : 0.0, (const int64_t[]){0, 1},
                         (const int64_t[]){0, 0}, NULL, &out))
CALL(pad_amount, tsr_pad(s->whole, 0.0, (const int64_t[]){0, other ? 1 : 2},
                         (const int64_t[]){0, other ? 2 : 1}, NULL, &out))
CALL(number, tsr_mul_number(s->x, other ? 2.0 : 3.0, &out))
CALL(filled, tsr_fill(s->world, &s->spec, other ? 2.0 : 3.0, &out))
CALL(made, other ? tsr_zeros(s->world, &s->spec, &out) : tsr_ones(s->world, &s->spec, &out))
CALL(seed, tsr_random_uniform(s->world, &s->spec, (tsr_random_key){other ? 8 : 7, 0}, &out))
CALL(softmax_dim, tsr_softmax(s->whole, other ? 0 : 1, &out))
CALL(softmax_shape, tsr_softmax(other ? s->less : s->x, 1, &out))
CALL(compared, tsr_compare(s->x, s->y, other ? TSR_LT : TSR_LE, &out))
CALL(converted, tsr_convert(s->x, other ? TSR_F64 : TSR_I32, &out))
CALL(depth, tsr_one_hot(s->places, other ? 5 : 4, TSR_F32, &out))
CALL(transposed, tsr_transpose(s->whole, (const size_t[]){other ? 1 : 0, other ? 0 : 1}, &out))
CALL(epsilon, tsr_rms_norm(s->x, NULL, other ? 1e-5 : 1e-6, &out))
CALL(taken, tsr_take(s->whole, s->places, other ? 1 : 0, &out))
CALL(local_layout,
     tsr_with_sharding(s->whole, other ? s->columns : tsr_tensor_sharding(s->x), &out))

static tsr_status concatenate(const scene *s, bool other)
{
    tsr_tensor *const operands[] = {other ? s->y : s->x, other ? s->x : s->y};
    tsr_tensor *out = NULL;
    return tsr_concatenate(operands, 2, 1, &out);
}

static tsr_status sum_then_exp(const scene *s, bool other)
{
    tsr_tensor *out = NULL;
    TSR_TRY(tsr_sum(other ? s->less : s->x, second, 1, &out));
    return tsr_exp(out, &out);
}

/* Bounds are tensors without dimensions, which each rank makes by itself. */
static tsr_status clip_bounds(const scene *s, bool other)
{
    tsr_tensor *least = NULL;
    tsr_tensor *greatest = NULL;
    tsr_tensor *out = NULL;
    TSR_TRY(tsr_scalar_like(s->x, other ? -1 : -2, &least));
    TSR_TRY(tsr_scalar_like(s->x, 2, &greatest));
    return tsr_clamp(least, s->x, greatest, &out);
}

static tsr_status given_elements(const scene *s, bool other)
{
    const float four[] = {1, 2, 3, other ? 5.0F : 4.0F};
    const int64_t shape[] = {4};
    const tsr_tensor_spec spec = {tsr_tensor_sharding(s->places), TSR_F32, 1, shape};
    tsr_tensor *out = NULL;
    const tsr_status status = tsr_tensor_from_full(s->world, &spec, -1, four, &out);
    tsr_tensor_release(out);
    return status;
}

static tsr_status another_result(const scene *s, bool other)
{
    tsr_tensor *parts[2] = {NULL};
    tsr_tensor *out = NULL;
    TSR_TRY(tsr_split(s->x, 1, (const int64_t[]){6, 6}, 2, parts));
    return tsr_exp(parts[other ? 1 : 0], &out);
}

static tsr_status more_calls(const scene *s, bool other)
{
    tsr_tensor *out = NULL;
    TSR_TRY(tsr_exp(s->x, &out));
    return other ? tsr_exp(s->x, &out) : TSR_OK;
}

static tsr_status another_gradient(const scene *s, bool other)
{
    tsr_tensor *out = NULL;
    TSR_TRY(tsr_tape_begin(s->world));
    tsr_status status = tsr_watch(s->whole);
    status = status < 0 ? status : tsr_mul(s->whole, s->whole, &out);
    status = status < 0 ? status : tsr_mul_number(out, other ? 2 : 3, &out);
    status = status < 0 ? status : tsr_sum(out, (const size_t[]){0, 1}, 2, &out);
    status = status < 0 ? status : tsr_backward(out);
    tsr_tape_end(s->world);
    return status;
}

typedef struct divergent_call {
    const char *name; /* what the message has, of the call or of one that it makes */
    tsr_status (*run)(const scene *s, bool other);
} divergent_call;

static const divergent_call calls[] = {
    {"tsr_negate", another_op},
    {"tsr_exp", another_operand},
    {"tsr_sub", order_of_operands},
    {"tsr_einsum", einsum},
    {"tsr_slice", slice_bounds},
    {"tsr_sort", sort_direction},
    {"tsr_sum", sum_or_mean},
    {"tsr_scatter", scatter},
    {"tsr_pad", pad_number},
    {"tsr_pad", pad_amount},
    {"tsr_mul_number", number},
    {"tsr_fill", filled},
    {"tsr_ones", made},
    {"tsr_random_uniform", seed},
    {"tsr_softmax", softmax_dim},
    {"tsr_softmax", softmax_shape},
    {"tsr_compare", compared},
    {"tsr_convert", converted},
    {"tsr_one_hot", depth},
    {"tsr_transpose", transposed},
    {"tsr_rms_norm", epsilon},
    {"tsr_take", taken},
    {"tsr_with_sharding", local_layout},
    {"tsr_concatenate", concatenate},
    {"tsr_sum", sum_then_exp},
    {"tsr_scalar_like", clip_bounds},
    {"tsr_tensor_from_full", given_elements},
    {"tsr_exp", another_result},
    {"tsr_exp", more_calls},
    {"tsr_mul_number", another_gradient},
};

enum { CALLS = sizeof calls / sizeof calls[0] };

static tsr_status complain(const scene *s, const divergent_call *call, const char *what)
{
    tsr_context *ctx = tsr_comm_context(s->world);
    char text[CALL_TEXT];
    (void)snprintf(text, sizeof text, "%s", last_error_text(ctx));
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "row %zu, %s: %s: %s",
                      (size_t)(call - calls), call->name, what, text);
}

/* A call by itself, then a rendezvous. */
static tsr_status call_and_meet(const scene *s, const divergent_call *call, bool other, bool *local)
{
    TSR_TRY(tsr_scope_open(s->world));
    tsr_status status = call->run(s, other);
    tsr_scope_close(s->world);
    *local = status == TSR_OK;
    return status < 0 ? status : tsr_barrier(s->world);
}

static tsr_status run_row(const scene *s, const divergent_call *call, bool checked)
{
    const bool other = tsr_comm_rank(s->world) == GUILTY;
    tsr_context *ctx = tsr_comm_context(s->world);
    bool local = false;
    if (call_and_meet(s, call, false, &local) != TSR_OK || !local) {
        return complain(s, call, "refused, although all ranks make it");
    }
    const tsr_status status = call_and_meet(s, call, other, &local);
    if (status != TSR_ERR_PEER) {
        return complain(s, call, status == TSR_OK ? "no error" : "another error");
    }
    const char *said = last_error_text(ctx);
    if (checked && call->run != more_calls && local) {
        return complain(s, call, "the call passed");
    }
    if ((strstr(said, "the ranks make different calls") == NULL &&
         strstr(said, "earlier calls of the ranks differ") == NULL) ||
        strstr(said, call->name) == NULL) {
        return complain(s, call, "the message does not name the call");
    }
    tsr_context_clear(ctx);
    return call_and_meet(s, call, false, &local) == TSR_OK
               ? TSR_OK
               : complain(s, call, "refused, after a difference");
}

static tsr_status run_rows(tsr_comm *world, void *state)
{
    scene s = {.world = world};
    const bool *checked = state;
    TSR_TRY(set_up(&s));
    for (size_t i = 0; i < CALLS; i++) {
        TSR_TRY(run_row(&s, &calls[i], *checked));
    }
    tear_down(&s);
    return TSR_OK;
}

/*
 * A request compares the calls before it, wherever ranks find it finished: calls after it do not
 * count.
 */
static tsr_status run_requests(tsr_comm *world, void *state)
{
    scene s = {.world = world};
    const bool other = tsr_comm_rank(world) == GUILTY;
    const int64_t count = 4096;
    static _Thread_local float numbers[2][4096];
    const tsr_view src = {numbers[0], TSR_F32, 1, &count, NULL};
    const tsr_view dst = {numbers[1], TSR_F32, 1, &count, NULL};
    tsr_request request = {0};
    (void)state;
    TSR_TRY(set_up(&s));
    TSR_TRY(tsr_scope_open(world));
    for (int i = 0; i < 20; i++) {
        TSR_TRY(order_of_operands(&s, false));
        TSR_TRY(tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &src, &dst, &request));
        tsr_status status = TSR_IN_PROGRESS;
        for (int64_t k = 0; k < tsr_comm_rank(world) * i && status == TSR_IN_PROGRESS; k++) {
            status = tsr_test(world, request);
        }
        TSR_TRY(number(&s, false));
        TSR_TRY(status == TSR_IN_PROGRESS ? tsr_wait(world, request) : status);
    }
    TSR_TRY(number(&s, other));
    TSR_TRY(tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &src, &dst, &request));
    TSR_TRY(order_of_operands(&s, false));
    WANT(world, tsr_wait(world, request) == TSR_ERR_PEER);
    WANT(world, heard(world, "on tensors is tsr_mul_number on rank 0, but tsr_mul_number"));
    WANT(world, order_of_operands(&s, false) == TSR_OK && tsr_barrier(world) == TSR_OK);
    tsr_scope_close(world);
    tear_down(&s);
    return TSR_OK;
}

/* In typed code a rank has values of its own, and makes calls of its own. */
static tsr_status run_typed(tsr_comm *world, void *state)
{
    scene s = {.world = world};
    (void)state;
    TSR_TRY(set_up(&s));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = s.mesh}));
    const tsr_status status = given_elements(&s, tsr_comm_rank(world) == GUILTY);
    tsr_spmd_close(world);
    TSR_TRY(status);
    TSR_TRY(tsr_barrier(world));
    WANT(world, given_elements(&s, tsr_comm_rank(world) == GUILTY) == TSR_ERR_PEER);
    tear_down(&s);
    return TSR_OK;
}

static void run(fixture *f, bool checked)
{
    const tsr_launch_spec spec = {.num_ranks = RANKS,
                                  .ranks = kinds_chosen(),
                                  .timeout = 20,
                                  .checked = checked,
                                  .segment_bytes = 1 << 24};
    expect_ranks(f, &spec, run_rows, &checked);
}

static void differences_are_found_at_the_next_rendezvous(void **state)
{
    run(*state, false);
}

static void differences_are_found_at_the_call_in_checked_mode(void **state)
{
    run(*state, true);
}

static void requests_compare_the_calls_before_them(void **state)
{
    const tsr_launch_spec spec = {.num_ranks = RANKS, .ranks = kinds_chosen(), .timeout = 20};
    expect_ranks(*state, &spec, run_requests, NULL);
}

static void typed_code_is_not_compared(void **state)
{
    for (int checked = 0; checked < 2; checked++) {
        const tsr_launch_spec spec = {
            .num_ranks = RANKS, .ranks = kinds_chosen(), .timeout = 20, .checked = checked == 1};
        expect_ranks(*state, &spec, run_typed, NULL);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(differences_are_found_at_the_next_rendezvous),
        TEST(differences_are_found_at_the_call_in_checked_mode),
        TEST(requests_compare_the_calls_before_them),
        TEST(typed_code_is_not_compared),
    };
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
