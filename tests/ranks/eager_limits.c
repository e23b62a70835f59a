/* What eager and typed calls refuse, and what outlives what: traces, aliases, counts, conditions.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "eager/eager.h"
#include "kinds.h"
#include "want.h"

/* A value of 2 rows of 5 columns; the ranks' rows are counted through. */
static tsr_status rows_of_five(tsr_comm *world, const char *type, tsr_tensor **out)
{
    const int64_t shape[] = {2, 5};
    float elements[10];
    for (int64_t i = 0; i < 10; i++) {
        elements[i] = (float)(10 * tsr_comm_rank(world) + i);
    }
    const tsr_view view = {elements, TSR_F32, 2, shape, NULL};
    return tsr_typed_value(world, &view, type, out);
}

/* Products of more dimensions than a tensor has, rows of nothing, and gaps without end. */
static tsr_status large_and_empty(tsr_comm *world, const tsr_mesh *mesh, tsr_arena *arena)
{
    const char *const equation = "abcdefghijklmnopqrstuvwxyz,ABCDEFGHIJKLMNOPQRSTUVWXYZ->"
                                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const int64_t empty[] = {0, 3};
    const int64_t two[] = {2};
    const int64_t least = INT64_MIN;
    const int64_t most = INT64_MAX;
    const int64_t none = 0;
    int64_t ones[26];
    tsr_tensor_spec spec = {NULL, TSR_F32, 26, ones};
    tsr_tensor *operands[2];
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    for (size_t i = 0; i < 26; i++) {
        ones[i] = 1;
    }
    tsr_context *ctx = tsr_comm_context(world);
    TSR_TRY(tsr_sharding_replicated_over(ctx, arena, mesh, 26, false, &spec.sharding));
    TSR_TRY(tsr_ones(world, &spec, &operands[0]));
    TSR_TRY(tsr_ones(world, &spec, &operands[1]));
    WANT(world, tsr_einsum(equation, operands, 2, &y) < 0);
    tsr_context_clear(ctx);
    TSR_TRY(tsr_sharding_replicated_over(ctx, arena, mesh, 1, false, &spec.sharding));
    spec = (tsr_tensor_spec){spec.sharding, TSR_I32, 1, two};
    TSR_TRY(tsr_ones(world, &spec, &x));
    WANT(world, tsr_pad(x, 0, &least, &most, &none, &y) == TSR_ERR_INVALID);
    TSR_TRY(tsr_slice(x, &none, &none, NULL, &y));
    WANT(world, tsr_pad(y, 0, &none, &none, &most, &y) == TSR_ERR_INVALID);
    tsr_context_clear(ctx);
    TSR_TRY(tsr_sharding_replicated_over(ctx, arena, mesh, 2, false, &spec.sharding));
    spec = (tsr_tensor_spec){spec.sharding, TSR_F32, 2, empty};
    TSR_TRY(tsr_ones(world, &spec, &y));
    TSR_TRY(tsr_take(y, x, 0, &y));
    WANT(world, ((const float *)tsr_tensor_data(y))[5] == 0);
    return TSR_OK;
}

/* The gradient of ones that came out of x, which is watched. */
static tsr_status gradient_through(tsr_tensor *x, tsr_tensor *y, tsr_tensor **out)
{
    tsr_tensor *one = NULL;
    tsr_tensor *ones = NULL;
    TSR_TRY(tsr_scalar_like(y, 1, &one));
    TSR_TRY(tsr_broadcast_to(one, tsr_tensor_shape(y), tsr_tensor_rank(y), &ones));
    TSR_TRY(tsr_backward_from(y, ones));
    return tsr_gradient(x, out);
}

/* Steps that go beyond all memory are never taken: of slices, of pads, and in their gradients. */
static tsr_status steps_without_end(tsr_comm *world, const tsr_mesh *mesh, tsr_arena *arena)
{
    const int64_t most = INT64_MAX;
    const int64_t one = 1;
    const int64_t two = 2;
    const int64_t before[] = {0, 1, -INT64_MAX, -INT64_MAX};
    const int64_t after[] = {0, 1, INT64_MAX, INT64_MAX};
    const int64_t between[] = {INT64_MAX - 1, INT64_MAX - 1, 0, (INT64_C(1) << 62) - 1};
    const float wanted[] = {1, 0, 0, 0}; /* the first element of each pad */
    tsr_tensor_spec spec = {NULL, TSR_F32, 1, &two};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *g = NULL;
    TSR_TRY(tsr_sharding_replicated_over(tsr_comm_context(world), arena, mesh, 1, false,
                                         &spec.sharding));
    TSR_TRY(tsr_iota(world, &spec, 0, &x));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_slice(x, &(int64_t){0}, &two, &most, &y));
    WANT(world, tsr_tensor_shape(y)[0] == 1 && *(const float *)tsr_tensor_data(y) == 0);
    TSR_TRY(gradient_through(x, y, &g));
    const float *slopes = tsr_tensor_data(g);
    WANT(world, slopes[0] == 1 && slopes[1] == 0);
    tsr_tape_end(world);
    spec.shape = &one;
    TSR_TRY(tsr_ones(world, &spec, &x));
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        TSR_TRY(tsr_tape_begin(world));
        TSR_TRY(tsr_watch(x));
        TSR_TRY(tsr_pad(x, 0, &before[i], &after[i], &between[i], &y));
        WANT(world, tsr_tensor_shape(y)[0] == 1 + before[i] + after[i]);
        WANT(world, *(const float *)tsr_tensor_data(y) == wanted[i]);
        TSR_TRY(gradient_through(x, y, &g));
        WANT(world, *(const float *)tsr_tensor_data(g) == (float)(before[i] >= 0));
        tsr_tape_end(world);
    }
    return TSR_OK;
}

/* Indices whose type cannot count to the depth, nor tell the last classes from negative ones. */
static tsr_status more_classes_than_indices(tsr_comm *world, const tsr_mesh *mesh, tsr_arena *arena)
{
    const int64_t depths[] = {100, 256, 300};
    const tsr_dtype types[] = {TSR_I8, TSR_U8};
    const int64_t two = 2;
    const size_t last = 1;
    tsr_tensor_spec spec = {NULL, TSR_I8, 1, &two};
    TSR_TRY(tsr_sharding_replicated_over(tsr_comm_context(world), arena, mesh, 1, false,
                                         &spec.sharding));
    for (size_t i = 0; i < 6; i++) {
        tsr_tensor *x = NULL;
        spec.dtype = types[i % 2];
        TSR_TRY(tsr_iota(world, &spec, 0, &x));
        TSR_TRY(tsr_negate(x, &x)); /* 0, and -1 or 255 */
        TSR_TRY(tsr_one_hot(x, depths[i / 2], TSR_F32, &x));
        TSR_TRY(tsr_sum(x, &last, 1, &x));
        const float *sums = tsr_tensor_data(x);
        WANT(world, sums[0] == 1);
        WANT(world, sums[1] == (float)(types[i % 2] == TSR_U8 && depths[i / 2] > 255));
    }
    return TSR_OK;
}

/* An index beyond i64 is the last row, for the gradient too. */
static tsr_status indices_beyond(tsr_comm *world, const tsr_mesh *mesh, tsr_arena *arena)
{
    const int64_t two = 2;
    const int64_t one = 1;
    tsr_tensor_spec spec = {NULL, TSR_F32, 1, &two};
    tsr_tensor *x = NULL;
    tsr_tensor *index = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *g = NULL;
    TSR_TRY(tsr_sharding_replicated_over(tsr_comm_context(world), arena, mesh, 1, false,
                                         &spec.sharding));
    TSR_TRY(tsr_iota(world, &spec, 0, &x));
    spec.dtype = TSR_U64;
    spec.shape = &one;
    TSR_TRY(tsr_zeros(world, &spec, &index));
    TSR_TRY(tsr_not(index, &index));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_take(x, index, 0, &y));
    WANT(world, *(const float *)tsr_tensor_data(y) == 1);
    TSR_TRY(gradient_through(x, y, &g));
    const float *slopes = tsr_tensor_data(g);
    WANT(world, slopes[0] == 0 && slopes[1] == 1);
    tsr_tape_end(world);
    return TSR_OK;
}

/* A sort of as many dimensions as a tensor can have, and back. */
static tsr_status sort_of_many_dimensions(tsr_comm *world, const tsr_mesh *mesh, tsr_arena *arena)
{
    enum { MOST = 32 };
    int64_t shape[MOST];
    tsr_tensor_spec spec = {NULL, TSR_F32, MOST, shape};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *g = NULL;
    for (size_t d = 0; d < MOST; d++) {
        shape[d] = d + 1 == MOST ? 3 : 1;
    }
    TSR_TRY(tsr_sharding_replicated_over(tsr_comm_context(world), arena, mesh, MOST, false,
                                         &spec.sharding));
    TSR_TRY(tsr_iota(world, &spec, MOST - 1, &x));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_top_k(x, MOST - 1, 2, &y, NULL));
    TSR_TRY(gradient_through(x, y, &g));
    const float *slopes = tsr_tensor_data(g);
    WANT(world, slopes[0] == 0 && slopes[1] == 1 && slopes[2] == 1);
    tsr_tape_end(world);
    return TSR_OK;
}

/* Ranks that make other element types than others, or call an op on them, make another call. */
static tsr_status element_types_are_compared(tsr_comm *world, const tsr_mesh *mesh,
                                             tsr_arena *arena)
{
    const int64_t two = 2;
    const bool last = tsr_comm_rank(world) + 1 == tsr_comm_size(world);
    const bool differ = tsr_comm_size(world) > 1;
    tsr_tensor_spec spec = {NULL, last ? TSR_F64 : TSR_F32, 1, &two};
    tsr_tensor *x = NULL;
    tsr_tensor *wide = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(tsr_sharding_replicated_over(tsr_comm_context(world), arena, mesh, 1, false,
                                         &spec.sharding));
    WANT(world, (tsr_ones(world, &spec, &x) < 0) == differ);
    spec.dtype = TSR_F32;
    TSR_TRY(tsr_ones(world, &spec, &x));
    spec.dtype = TSR_F64;
    TSR_TRY(tsr_ones(world, &spec, &wide));
    WANT(world, (tsr_exp(last ? wide : x, &y) < 0) == differ);
    tsr_context_clear(tsr_comm_context(world));
    return TSR_OK;
}

/* An event tells its call also when the tape that made the call is gone. */
static tsr_status trace_outlives_tape(tsr_comm *world, const tsr_mesh *mesh, tsr_arena *arena)
{
    const int64_t shape[] = {8};
    const size_t dim = 0;
    const tsr_axis_ref axis = tsr_axis_full(mesh, 0);
    const tsr_dim cut = tsr_dim_closed(&axis, 1);
    const tsr_sharding_spec spec = {.mesh = mesh, .rank = 1, .dims = &cut};
    const tsr_sharding *sharding = NULL;
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *whole = NULL;
    tsr_tensor *loss = NULL;
    const char *text = NULL;
    TSR_TRY(tsr_sharding_create(tsr_comm_context(world), arena, &spec, 0, &sharding));
    TSR_TRY(tsr_ones(world, &(tsr_tensor_spec){sharding, TSR_F32, 1, shape}, &x));
    TSR_TRY(tsr_trace_begin(world));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_mul(x, x, &y));
    TSR_TRY(tsr_replicate(y, &whole));
    TSR_TRY(tsr_cumsum(y, 0, &y));
    TSR_TRY(tsr_mul(y, whole, &y));
    TSR_TRY(tsr_sum(y, &dim, 1, &loss));
    TSR_TRY(tsr_backward(loss));
    tsr_tape_end(world);
    TSR_TRY(tsr_trace_print(world, arena, &text));
    WANT(world, tsr_comm_size(world) == 1 || strstr(text, "gradient of ") != NULL);
    tsr_trace_end(world);
    return TSR_OK;
}

/*
 * A full array that a caller takes is an event of that name with the bytes that move: to all ranks,
 * to one, of shards and of a pending sum; and none where a rank has it. Strict mode refuses it.
 */
static tsr_status full_arrays_are_traced(tsr_comm *world, const tsr_mesh *mesh, tsr_arena *arena)
{
    const int64_t shape[] = {8 * tsr_comm_size(world)};
    const tsr_axis_ref axis = tsr_axis_full(mesh, 0);
    const tsr_dim dims[] = {tsr_dim_closed(&axis, 1), tsr_dim_closed(NULL, 0)};
    const tsr_sharding_spec specs[] = {
        {.mesh = mesh, .rank = 1, .dims = &dims[0]},
        {.mesh = mesh, .rank = 1, .dims = &dims[1], .num_unreduced = 1, .unreduced = &axis},
        {.mesh = mesh, .rank = 1, .dims = &dims[1]}};
    float *full = tsr_arena_alloc(arena, (size_t)shape[0] * sizeof *full);
    const bool many = tsr_comm_size(world) > 1;
    for (size_t i = 0; full != NULL && i < sizeof specs / sizeof specs[0]; i++) {
        for (int64_t root = -1; root < (many ? 2 : 1); root++) {
            const tsr_full_request request = {.call = "caller", .implicit = true};
            const tsr_sharding *sharding = NULL;
            tsr_tensor *x = NULL;
            size_t count = 0;
            const bool mine = root < 0 || root == tsr_comm_rank(world);
            TSR_TRY(tsr_sharding_create(tsr_comm_context(world), arena, &specs[i], 0, &sharding));
            TSR_TRY(tsr_tensor_create(world, &(tsr_tensor_spec){sharding, TSR_F32, 1, shape}, &x));
            TSR_TRY(tsr_trace_begin(world));
            TSR_TRY(tsr_barrier(world));
            const tsr_traffic before = tsr_comm_traffic(world);
            TSR_TRY(tsr_take_full(x, &request, root, mine ? full : NULL));
            const tsr_traffic after = tsr_comm_traffic(world);
            const tsr_trace_event *events = tsr_trace_events(world, &count);
            const int64_t received = after.bytes_received - before.bytes_received;
            WANT(world, count == (many && i < 2 ? 1 : 0));
            WANT(world, received == (count > 0 ? events[0].bytes_received : 0));
            WANT(world, count == 0 || (strcmp(events[0].call, "caller") == 0 &&
                                       events[0].implicit && events[0].bytes_moved > 0));
            tsr_trace_end(world);
            TSR_TRY(tsr_set_strict(world, true));
            const tsr_status status = tsr_take_full(x, &request, root, mine ? full : NULL);
            WANT(world, (status < 0) == (many && i < 2));
            tsr_context_clear(tsr_comm_context(world));
            TSR_TRY(
                tsr_take_full(x, &(tsr_full_request){.call = "asked"}, root, mine ? full : NULL));
            TSR_TRY(tsr_set_strict(world, false));
            tsr_tensor_release(x);
        }
    }
    return TSR_OK;
}

/* Two losses that share a value are walked back together, or refused: nothing gets lost. */
static tsr_status shared_by_two_losses(tsr_comm *world, const tsr_mesh *mesh, tsr_arena *arena)
{
    const tsr_sharding *sharding = NULL;
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *losses[2];
    TSR_TRY(
        tsr_sharding_replicated_over(tsr_comm_context(world), arena, mesh, 0, false, &sharding));
    TSR_TRY(tsr_fill(world, &(tsr_tensor_spec){sharding, TSR_F32, 0, NULL}, 3, &x));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_mul(x, x, &y));
    TSR_TRY(tsr_exp(y, &losses[0]));
    TSR_TRY(tsr_negate(y, &losses[1]));
    TSR_TRY(tsr_backward(losses[0]));
    TSR_TRY(tsr_exp(y, &losses[1]));
    WANT(world, tsr_backward(losses[1]) == TSR_ERR_INVALID);
    WANT(
        world,
        heard(world, "gradient of tsr_exp: it depends on tsr_mul, whose backward has already run"));
    tsr_tape_end(world);
    return TSR_OK;
}

/* A tensor without elements has none as a value of typed code either. */
static tsr_status abstract_values(tsr_comm *world, const tsr_mesh *mesh, tsr_arena *arena)
{
    const int64_t shape[] = {4, 2};
    const tsr_sharding *sharding = NULL;
    tsr_tensor *x = NULL;
    TSR_TRY(
        tsr_sharding_replicated_over(tsr_comm_context(world), arena, mesh, 2, false, &sharding));
    TSR_TRY(tsr_abstract(world, &(tsr_tensor_spec){sharding, TSR_F32, 2, shape}, &x));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    WANT(world, tsr_local_of(x, TSR_R, &x) == TSR_ERR_UNSUPPORTED);
    WANT(world, heard(world, "this call has no gradient"));
    tsr_tape_end(world);
    TSR_TRY(tsr_local_of(x, TSR_R, &x));
    WANT(world, tsr_tensor_is_abstract(x));
    TSR_TRY(tsr_convert_type(x, "x", TSR_AS(R), TSR_AS(P), NULL, &x));
    WANT(world, tsr_tensor_is_abstract(x));
    TSR_TRY(tsr_all_reduce(x, "x", TSR_AS(P), TSR_AS(R), NULL, &x));
    WANT(world, tsr_tensor_is_abstract(x));
    return TSR_OK;
}

/* Counts that are not those of what a rank has, or no counts at all. */
static tsr_status wrong_counts(tsr_comm *world)
{
    const int64_t small[] = {1, 1, 1, 1};
    const int64_t negative[] = {-2, -2, -2, -2};
    const tsr_collective_options options = {.counts = small};
    const tsr_collective_options none = {.counts = negative};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(rows_of_five(world, "{x:V}", &x));
    WANT(world, tsr_convert_type(x, "x", TSR_AS_S(0), TSR_AS(P), &options, &y) < 0);
    WANT(world, heard(world, "convert: this rank's part has 2 rows where the counts say 1"));
    WANT(world, tsr_all_to_all(x, "x", TSR_AS_S(0), TSR_AS_S(1), &options, &y) < 0);
    tsr_context_clear(tsr_comm_context(world));
    WANT(world, tsr_all_gather(x, "x", TSR_AS_S(0), TSR_AS(R), &none, &y) < 0);
    tsr_context_clear(tsr_comm_context(world));
    return TSR_OK;
}

/* Types on the wire that there is no way to, and calls that cannot be only started. */
static tsr_status refused_options(tsr_comm *world)
{
    const tsr_collective_options options = {.has_wire_dtype = true, .wire_dtype = TSR_C64};
    const tsr_transition divides = {
        .op = TSR_ALL_REDUCE, .src = TSR_AS(P), .dst = TSR_AS(R), .divide = true};
    const int64_t ones[33] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                              1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    float number = 1;
    tsr_view view = {&number, TSR_F32, 32, ones, NULL};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_started started;
    TSR_TRY(rows_of_five(world, "{x:P}", &x));
    WANT(world, tsr_all_reduce(x, "x", TSR_AS(P), TSR_AS(R), &options, &y) < 0);
    WANT(world, heard(world, "cannot be sent as"));
    WANT(world, tsr_start_collective(x, "x", &divides, NULL, &started) < 0);
    WANT(world, heard(world, "that divides"));
    TSR_TRY(tsr_typed_value(world, &view, "{x:V}", &x));
    WANT(world, tsr_all_gather(x, "x", TSR_AS(V), TSR_AS(R), NULL, &y) < 0);
    tsr_context_clear(tsr_comm_context(world));
    view.rank = 33;
    WANT(world, tsr_typed_value(world, &view, "{x:V}", &y) == TSR_ERR_LIMIT);
    tsr_context_clear(tsr_comm_context(world));
    return TSR_OK;
}

/* Columns that do not come out even go there and back again. */
static tsr_status uneven_columns(tsr_comm *world)
{
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *weighed = NULL;
    tsr_tensor *gradient = NULL;
    TSR_TRY(rows_of_five(world, "{x:V}", &x));
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_all_to_all(x, "x", TSR_AS_S(0), TSR_AS_S(1), NULL, &y));
    WANT(world, tsr_tensor_local_shape(y)[0] == 2 * tsr_comm_size(world));
    TSR_TRY(tsr_mul(y, y, &weighed));
    TSR_TRY(tsr_backward_from(weighed, y));
    TSR_TRY(tsr_gradient(x, &gradient));
    WANT(world, tsr_tensor_local_shape(gradient)[0] == 2);
    WANT(world, tsr_tensor_local_shape(gradient)[1] == 5);
    for (size_t i = 0; i < 10; i++) {
        const float was = ((const float *)tsr_tensor_data(x))[i];
        WANT(world, ((const float *)tsr_tensor_data(gradient))[i] == 2 * was * was);
    }
    tsr_tape_end(world);
    return TSR_OK;
}

static tsr_status reduce_within(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                                void *state)
{
    (void)world;
    (void)state;
    return tsr_all_reduce(inputs[0], "x", TSR_AS(V), TSR_AS(R), NULL, &outputs[0]);
}

/* Ranks go their own ways under a condition that varies; collectives there are refused. */
static tsr_status own_ways(tsr_comm *world)
{
    float number = (float)tsr_comm_rank(world);
    const tsr_view view = {&number, TSR_F32, 0, NULL, NULL};
    const char *const types[] = {"{x:V}"};
    tsr_typed_number steers;
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    TSR_TRY(tsr_typed_value(world, &view, "{x:V}", &x));
    TSR_TRY(tsr_reshape(x, (const int64_t[]){1}, 1, &y));
    TSR_TRY(tsr_reshape(y, NULL, 0, &x));
    TSR_TRY(tsr_read_number(x, &steers));
    const tsr_local_region region = {.region = reduce_within,
                                     .inputs = &x,
                                     .input_types = types,
                                     .num_inputs = 1,
                                     .output_types = types,
                                     .num_outputs = 1};
    if (tsr_if(world, &steers, steers.number > 0)) {
        TSR_TRY(tsr_exp(x, &y));
        WANT(world, tsr_local_map(world, "x", &region, &y) == TSR_ERR_INVALID);
        WANT(world, heard(world, "inside a condition that varies along it"));
    }
    tsr_end_if(world);
    for (size_t i = 0; i < 40; i++) {
        (void)tsr_if(world, &(tsr_typed_number){0}, true);
    }
    (void)tsr_if(world, &steers, true);
    WANT(world, tsr_all_reduce(x, "x", TSR_AS(V), TSR_AS(R), NULL, &y) == TSR_ERR_INVALID);
    tsr_context_clear(tsr_comm_context(world));
    for (size_t i = 0; i < 41; i++) {
        tsr_end_if(world);
    }
    return tsr_all_reduce(x, "x", TSR_AS(V), TSR_AS(R), NULL, &y);
}

/* The arena for one call at a time is after each call as it was before. */
static tsr_status calls_keep_nothing(tsr_comm *world)
{
    const int32_t zeros[2] = {0};
    const int64_t two = 2;
    const tsr_view view = {(void *)(uintptr_t)zeros, TSR_I32, 1, &two, NULL};
    eager *e = NULL;
    tsr_tensor *rows = NULL;
    tsr_tensor *indices = NULL;
    tsr_tensor *x = NULL;
    tsr_tensor *updates = NULL;
    TSR_TRY(eager_of(world, &e));
    TSR_TRY(rows_of_five(world, "{x:V}", &rows));
    TSR_TRY(rows_of_five(world, "{x:R}", &x));
    TSR_TRY(rows_of_five(world, "{x:V}", &updates));
    TSR_TRY(tsr_typed_value(world, &view, "{x:V}", &indices));
    const tsr_arena_mark before = tsr_arena_get_mark(e->arena);
    TSR_TRY(tsr_scatter_partial(x, indices, updates, 0, TSR_SCATTER_ADD, "x", &x));
    TSR_TRY(tsr_take_partial(rows, indices, 0, 0, "x", &rows));
    const tsr_arena_mark after = tsr_arena_get_mark(e->arena);
    WANT(world, after.block == before.block && after.used == before.used);
    return TSR_OK;
}

static tsr_status run(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    char text[32];
    (void)state;
    (void)snprintf(text, sizeof text, "<[\"x\"=%lld]>", (long long)tsr_comm_size(world));
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    TSR_TRY(tsr_mesh_parse(tsr_comm_context(world), arena, text, &mesh));
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(large_and_empty(world, mesh, arena));
    TSR_TRY(steps_without_end(world, mesh, arena));
    TSR_TRY(more_classes_than_indices(world, mesh, arena));
    TSR_TRY(indices_beyond(world, mesh, arena));
    TSR_TRY(sort_of_many_dimensions(world, mesh, arena));
    TSR_TRY(element_types_are_compared(world, mesh, arena));
    TSR_TRY(trace_outlives_tape(world, mesh, arena));
    TSR_TRY(full_arrays_are_traced(world, mesh, arena));
    TSR_TRY(shared_by_two_losses(world, mesh, arena));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = mesh}));
    TSR_TRY(abstract_values(world, mesh, arena));
    TSR_TRY(wrong_counts(world));
    TSR_TRY(refused_options(world));
    TSR_TRY(uneven_columns(world));
    TSR_TRY(own_ways(world));
    TSR_TRY(calls_keep_nothing(world));
    tsr_spmd_close(world);
    tsr_scope_close(world);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void limits_hold(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 4, &ranks);) {
        const tsr_launch_spec spec = {.num_ranks = ranks, .ranks = kinds_chosen(), .checked = true};
        expect_ranks(*state, &spec, run, NULL);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(limits_hold)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
