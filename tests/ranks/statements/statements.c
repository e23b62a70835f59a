#include "statements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "want.h"

/* What a statement works with: a mesh "x" of all ranks, an arena, a scope, a trace. */
typedef struct stage {
    tsr_comm *world;
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_mesh *mesh;
} stage;

static tsr_status stage_open(tsr_comm *world, stage *s)
{
    char text[32];
    *s = (stage){.world = world, .ctx = tsr_comm_context(world)};
    (void)snprintf(text, sizeof text, "<[\"x\"=%lld]>", (long long)tsr_comm_size(world));
    TSR_TRY(tsr_arena_create(s->ctx, &s->arena));
    TSR_TRY(tsr_mesh_parse(s->ctx, s->arena, text, &s->mesh));
    TSR_TRY(tsr_scope_open(world));
    return tsr_trace_begin(world);
}

static void stage_close(stage *s)
{
    tsr_trace_end(s->world);
    tsr_scope_close(s->world);
    tsr_arena_destroy(s->arena);
}

typedef tsr_status (*scene)(stage *s);

static tsr_status perform(tsr_comm *world, scene play)
{
    stage s;
    tsr_status status = stage_open(world, &s);
    if (status == TSR_OK) {
        status = play(&s);
    }
    stage_close(&s);
    return status;
}

/* A tensor of f32 in a layout; element i of a rank's part is first + i * step. */
static tsr_status ramp(const stage *s, const char *layout, size_t rank, const int64_t *shape,
                       double first, double step, tsr_tensor **out)
{
    const tsr_sharding *sharding = NULL;
    TSR_TRY(tsr_sharding_parse(s->ctx, s->arena, s->mesh, layout, &sharding));
    const tsr_tensor_spec spec = {sharding, TSR_F32, rank, shape};
    TSR_TRY(tsr_zeros(s->world, &spec, out));
    float *part = tsr_tensor_data(*out);
    int64_t count = 1;
    for (size_t d = 0; d < rank; d++) {
        count *= tsr_tensor_local_shape(*out)[d];
    }
    for (int64_t i = 0; i < count; i++) {
        part[i] = (float)(first + step * (double)i);
    }
    return TSR_OK;
}

static size_t events(const stage *s, const tsr_trace_event **list)
{
    size_t count;
    *list = tsr_trace_events(s->world, &count);
    return count;
}

static bool is_pending(const tsr_tensor *t)
{
    size_t count;
    (void)tsr_sharding_unreduced(tsr_tensor_sharding(t), &count);
    return count > 0;
}

static const int64_t three[] = {3};

/* exp of a pending sum is the exp of the sum. */
static tsr_status play_exp(stage *s)
{
    tsr_tensor *sum = NULL;
    tsr_tensor *result = NULL;
    float got[3];
    const tsr_trace_event *event;
    TSR_TRY(ramp(s, "[{}], unreduced={\"x\"}", 1, three, (double)tsr_comm_rank(s->world), 1, &sum));
    TSR_TRY(tsr_exp(sum, &result));
    WANT(s->world, events(s, &event) == 1 && strcmp(event->collective, "all-reduce") == 0);
    TSR_TRY(tsr_tensor_to_full(result, -1, got));
    for (int i = 0; i < 3; i++) {
        WANT(s->world, fabs(got[i] - exp(1 + 2 * i)) < 1e-4 * got[i]);
    }
    return TSR_OK;
}

/* A pending sum times a replicated number stays pending. */
static tsr_status play_scale(stage *s)
{
    tsr_tensor *sum = NULL;
    tsr_tensor *number = NULL;
    tsr_tensor *result = NULL;
    float got[3];
    const tsr_trace_event *event;
    TSR_TRY(ramp(s, "[{}], unreduced={\"x\"}", 1, three, (double)tsr_comm_rank(s->world), 1, &sum));
    TSR_TRY(tsr_scalar_like(sum, 4, &number));
    TSR_TRY(tsr_mul(sum, number, &result));
    WANT(s->world, is_pending(result) && events(s, &event) == 0);
    TSR_TRY(tsr_tensor_to_full(result, -1, got));
    for (int i = 0; i < 3; i++) {
        WANT(s->world, got[i] == (float)(4 * (1 + 2 * i)));
    }
    return TSR_OK;
}

/* Two pending sums are added as they are, and reduced once. */
static tsr_status play_add(stage *s)
{
    tsr_tensor *sums[2] = {NULL, NULL};
    tsr_tensor *result = NULL;
    tsr_tensor *whole = NULL;
    float got[3];
    const tsr_trace_event *event;
    for (int i = 0; i < 2; i++) {
        TSR_TRY(ramp(s, "[{}], unreduced={\"x\"}", 1, three, i, 1, &sums[i]));
    }
    TSR_TRY(tsr_add(sums[0], sums[1], &result));
    WANT(s->world, is_pending(result) && events(s, &event) == 0);
    TSR_TRY(tsr_reduce_pending(result, &whole));
    WANT(s->world, events(s, &event) == 1);
    TSR_TRY(tsr_tensor_to_full(whole, -1, got));
    for (int i = 0; i < 3; i++) {
        WANT(s->world, got[i] == (float)(2 * (2 * i + 1)));
    }
    return TSR_OK;
}

/* A pending sum is reduced before it stands beside something replicated. */
static tsr_status play_concatenate(stage *s)
{
    tsr_tensor *parts[2] = {NULL, NULL};
    tsr_tensor *result = NULL;
    float got[6];
    TSR_TRY(ramp(s, "[{}], unreduced={\"x\"}", 1, three, 1, 0, &parts[0]));
    TSR_TRY(ramp(s, "[{}]", 1, three, 5, 0, &parts[1]));
    TSR_TRY(tsr_concatenate(parts, 2, 0, &result));
    TSR_TRY(tsr_tensor_to_full(result, -1, got));
    for (int i = 0; i < 6; i++) {
        WANT(s->world, got[i] == (i < 3 ? 2.0F : 5.0F));
    }
    return TSR_OK;
}

/* A sum is carried out before it is rounded: f16 of 2049 + 1 is 2050. */
static tsr_status play_narrow(stage *s)
{
    tsr_tensor *sum = NULL;
    tsr_tensor *half = NULL;
    tsr_tensor *result = NULL;
    float got[3];
    const double mine = tsr_comm_rank(s->world) == 0 ? 2049 : 1;
    TSR_TRY(ramp(s, "[{}], unreduced={\"x\"}", 1, three, mine, 0, &sum));
    TSR_TRY(tsr_convert(sum, TSR_F16, &half));
    TSR_TRY(tsr_convert(half, TSR_F32, &result));
    TSR_TRY(tsr_tensor_to_full(result, -1, got));
    WANT(s->world, got[0] == 2050.0F && got[2] == 2050.0F);
    return TSR_OK;
}

/* The mean over a sharded dimension is the sum of the whole over the count of the whole. */
static tsr_status play_mean(stage *s)
{
    const int64_t shape[] = {7};
    const size_t dim = 0;
    tsr_tensor *x = NULL;
    tsr_tensor *mean = NULL;
    float got;
    const int64_t chunk = (7 + tsr_comm_size(s->world) - 1) / tsr_comm_size(s->world);
    TSR_TRY(ramp(s, "[{\"x\"}]", 1, shape, (double)(tsr_comm_rank(s->world) * chunk), 1, &x));
    TSR_TRY(tsr_mean(x, &dim, 1, &mean));
    TSR_TRY(tsr_tensor_to_full(mean, -1, &got));
    WANT(s->world, fabsf(got - 3.0F) < 1e-6F);
    return TSR_OK;
}

/* The gradient of the square of a sum over ranks is twice the sum, on every rank. */
static tsr_status play_gradient(stage *s)
{
    const int64_t shape[] = {2};
    const size_t dim = 0;
    tsr_tensor *u = NULL;
    tsr_tensor *r = NULL;
    tsr_tensor *loss = NULL;
    tsr_tensor *gradient = NULL;
    float got[2];
    TSR_TRY(ramp(s, "[{\"x\"}]", 1, shape, 3 + 4 * (double)tsr_comm_rank(s->world), 0, &u));
    TSR_TRY(tsr_tape_begin(s->world));
    TSR_TRY(tsr_watch(u));
    TSR_TRY(tsr_sum(u, &dim, 1, &r));
    TSR_TRY(tsr_mul(r, r, &loss));
    TSR_TRY(tsr_backward(loss));
    TSR_TRY(tsr_gradient(u, &gradient));
    TSR_TRY(tsr_tensor_to_full(gradient, -1, got));
    tsr_tape_end(s->world);
    WANT(s->world, got[0] == 20.0F && got[1] == 20.0F);
    return TSR_OK;
}

/* Rows to columns: an all-to-all, every value in its place. */
static tsr_status play_exchange(stage *s)
{
    const int64_t shape[] = {8, 8};
    const tsr_sharding *columns = NULL;
    tsr_tensor *x = NULL;
    tsr_tensor *moved = NULL;
    float got[64];
    const tsr_trace_event *event;
    const double first = (double)(64 / tsr_comm_size(s->world) * tsr_comm_rank(s->world));
    TSR_TRY(ramp(s, "[{\"x\"}, {}]", 2, shape, first, 1, &x));
    TSR_TRY(tsr_sharding_parse(s->ctx, s->arena, s->mesh, "[{}, {\"x\"}]", &columns));
    TSR_TRY(tsr_with_sharding(x, columns, &moved));
    WANT(s->world, events(s, &event) == 1 && strcmp(event->collective, "all-to-all") == 0);
    TSR_TRY(tsr_tensor_to_full(moved, -1, got));
    for (int i = 0; i < 64; i++) {
        WANT(s->world, got[i] == (float)i);
    }
    return TSR_OK;
}

/* ---- mistakes that others have made ---- */

/* Whether an axis stands twice in a sharding. */
static bool has_axis_twice(const tsr_sharding *s)
{
    size_t uses = 0;
    for (size_t d = 0; d < tsr_sharding_rank(s); d++) {
        uses += tsr_sharding_dim(s, d)->num_axes;
    }
    return uses > 1;
}

/* x by rows times w by columns of the same axis: the result has the axis once. */
static tsr_status play_axis_once(stage *s)
{
    const int64_t shape[] = {4, 4};
    tsr_tensor *operands[2] = {NULL, NULL};
    tsr_tensor *result = NULL;
    float got[16];
    TSR_TRY(ramp(s, "[{\"x\"}, {}]", 2, shape, 1, 0, &operands[0]));
    TSR_TRY(ramp(s, "[{}, {\"x\"}]", 2, shape, 2, 0, &operands[1]));
    TSR_TRY(tsr_matmul(operands[0], operands[1], &result));
    WANT(s->world, !has_axis_twice(tsr_tensor_sharding(result)));
    TSR_TRY(tsr_tensor_to_full(result, -1, got));
    WANT(s->world, got[0] == 8.0F && got[15] == 8.0F);
    return TSR_OK;
}

/* A reshape of what lies in one way to a shape where that would be another layout keeps the values.
 */
static tsr_status reshape_keeps(stage *s, const char *layout, const int64_t *from, size_t rank,
                                const int64_t *to, size_t to_rank)
{
    tsr_tensor *x = NULL;
    tsr_tensor *counted = NULL;
    tsr_tensor *result = NULL;
    const tsr_sharding *sharding = NULL;
    const int64_t flat[] = {8};
    float got[8];
    TSR_TRY(ramp(s, "[{}]", 1, flat, 0, 1, &x));
    TSR_TRY(tsr_reshape(x, from, rank, &counted));
    TSR_TRY(tsr_sharding_parse(s->ctx, s->arena, s->mesh, layout, &sharding));
    TSR_TRY(tsr_with_sharding(counted, sharding, &x));
    TSR_TRY(tsr_reshape(x, to, to_rank, &result));
    TSR_TRY(tsr_tensor_to_full(result, -1, got));
    for (int i = 0; i < 8; i++) {
        WANT(s->world, got[i] == (float)i);
    }
    return TSR_OK;
}

static tsr_status play_merge(stage *s)
{
    return reshape_keeps(s, "[{}, {\"x\"}]", (const int64_t[]){2, 4}, 2, (const int64_t[]){8}, 1);
}

static tsr_status play_split(stage *s)
{
    return reshape_keeps(s, "[{\"x\"}]", (const int64_t[]){8}, 1, (const int64_t[]){2, 4}, 2);
}

/* A greatest element over a sharded dimension is reduced by the greatest, not by a sum. */
static tsr_status play_max(stage *s)
{
    const int64_t shape[] = {8};
    const size_t dim = 0;
    tsr_tensor *x = NULL;
    tsr_tensor *most = NULL;
    float got;
    TSR_TRY(ramp(s, "[{\"x\"}]", 1, shape, 1, 1, &x));
    TSR_TRY(tsr_max(x, &dim, 1, &most));
    WANT(s->world, tsr_sharding_reduction(tsr_tensor_sharding(most)) == TSR_MAX);
    TSR_TRY(tsr_tensor_to_full(most, -1, &got));
    WANT(s->world, got == (float)(8 / tsr_comm_size(s->world)));
    return TSR_OK;
}

/* What a user has closed is not sharded further by propagation. */
static tsr_status play_closed(stage *s)
{
    const int64_t sizes[] = {8};
    const tsr_extents shape = {1, sizes};
    const tsr_rule *rule = NULL;
    const tsr_sharding *operands[2] = {NULL, NULL};
    const tsr_sharding *after[2] = {NULL, NULL};
    const tsr_sharding *result = NULL;
    TSR_TRY(tsr_rule_elementwise(s->ctx, s->arena, 2, shape, &rule));
    TSR_TRY(tsr_sharding_parse(s->ctx, s->arena, s->mesh, "[{\"x\", ?}]", &operands[0]));
    TSR_TRY(tsr_sharding_parse(s->ctx, s->arena, s->mesh, "[{}]", &operands[1]));
    for (int strategy = 0; strategy < 3; strategy++) {
        const tsr_propagation op = {.rule = rule,
                                    .mesh = s->mesh,
                                    .strategy = (tsr_strategy)strategy,
                                    .elementwise = true,
                                    .operands = operands};
        TSR_TRY(tsr_propagate(s->ctx, s->arena, &op, after, &result));
        WANT(s->world, tsr_sharding_equal(after[1], operands[1]));
    }
    return TSR_OK;
}

#define STATEMENT(function, scene)                                                                 \
    static tsr_status function(tsr_comm *world, void *state)                                       \
    {                                                                                              \
        (void)state;                                                                               \
        return perform(world, scene);                                                              \
    }
STATEMENT(exp_of_pending, play_exp)
STATEMENT(scale_of_pending, play_scale)
STATEMENT(sum_of_pending, play_add)
STATEMENT(pending_beside_replicated, play_concatenate)
STATEMENT(narrowing, play_narrow)
STATEMENT(mean, play_mean)
STATEMENT(gradient, play_gradient)
STATEMENT(exchange, play_exchange)
STATEMENT(axis_once, play_axis_once)
STATEMENT(merge, play_merge)
STATEMENT(split, play_split)
STATEMENT(greatest, play_max)
STATEMENT(closed, play_closed)

const statement statements[] = {
    {"partial-1", 2, exp_of_pending},
    {"partial-2", 2, scale_of_pending},
    {"partial-3", 2, sum_of_pending},
    {"partial-4", 2, pending_beside_replicated},
    {"partial-5", 2, narrowing},
    {"mean-1", 4, mean},
    {"grad-1", 2, gradient},
    {"a2a-1", 4, exchange},
    {"one axis on two dimensions", 2, axis_once},
    {"(2,4)[_,x] merged to {x}", 2, merge},
    {"8{x=4} split to [x,_]", 4, split},
    {"max reduced by sum", 4, greatest},
    {"a closed dimension rewritten", 2, closed},
};
const size_t num_statements = sizeof statements / sizeof statements[0];
