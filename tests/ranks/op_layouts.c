/*
 * Which calls need no collective, and how their results lie; and what the others move. In strict
 * mode the first go on as before and the others are refused.
 */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "kinds.h"
#include "texts.h"

enum { RANKS = 4, OPERANDS = 3 };

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define R0 "[]"
#define R1 "[{}]"
#define R2 "[{}, {}]"
#define R3 "[{}, {}, {}]"

typedef tsr_status (*call_function)(tsr_tensor **x, tsr_tensor **out);

/* An operand, or NULLs behind the last. */
typedef struct row_operand {
    const char *type;
    const char *layout;
} row_operand;

/* A call on <["x"=2, "y"=2]>, with sub-axes on <["x"=4]>, and how its result lies. */
typedef struct layout_row {
    const char *name;
    call_function call;
    row_operand operands[OPERANDS];
    const char *result;
} layout_row;

/* The first move of a call that has one. */
typedef struct layout_move {
    const char *call;
    int64_t operand;
    const char *collective;
    const char *axes;
    const char *to;
    int64_t bytes;
    bool fallback;
} layout_move;

typedef struct moving_row {
    layout_row row;
    layout_move move;
} moving_row;

/* ---- calls ---- */

#define ONE(name, expression)                                                                      \
    static tsr_status name(tsr_tensor **x, tsr_tensor **out)                                       \
    {                                                                                              \
        return expression;                                                                         \
    }

static const size_t first_dim[] = {0};
static const size_t second_dim[] = {1};
static const size_t swapped[] = {1, 0};
static const int64_t merged[] = {48};
static const int64_t split[] = {2, 4, 6};
static const int64_t grown[] = {4, 8, 6};
static const int64_t from_zero[] = {0, 1};
static const int64_t to_all[] = {8, 4};
static const int64_t no_border[] = {0, 0};
static const int64_t border[] = {0, 2};
static const int64_t from_one[] = {1, 0};
static const int64_t to_most[] = {7, 6};

ONE(call_add, tsr_add(x[0], x[1], out))
ONE(call_sub, tsr_sub(x[0], x[1], out))
ONE(call_mul, tsr_mul(x[0], x[1], out))
ONE(call_div, tsr_div(x[0], x[1], out))
ONE(call_maximum, tsr_maximum(x[0], x[1], out))
ONE(call_negate, tsr_negate(x[0], out))
ONE(call_exp, tsr_exp(x[0], out))
ONE(call_relu, tsr_relu(x[0], out))
ONE(call_compare, tsr_compare(x[0], x[1], TSR_LT, out))
ONE(call_select, tsr_select(x[0], x[1], x[2], out))
ONE(call_to_f64, tsr_convert(x[0], TSR_F64, out))
ONE(call_to_bf16, tsr_convert(x[0], TSR_BF16, out))
ONE(call_matmul, tsr_matmul(x[0], x[1], out))
ONE(call_linear, tsr_linear(x[0], x[1], x[2], out))
ONE(call_einsum, tsr_einsum("bij,bjk->bik", x, 2, out))
ONE(call_sum_0, tsr_sum(x[0], first_dim, 1, out))
ONE(call_sum_1, tsr_sum(x[0], second_dim, 1, out))
ONE(call_max_0, tsr_max(x[0], first_dim, 1, out))
ONE(call_mean_0, tsr_mean(x[0], first_dim, 1, out))
ONE(call_cumsum_0, tsr_cumsum(x[0], 0, out))
ONE(call_cumsum_1, tsr_cumsum(x[0], 1, out))
ONE(call_argmax_1, tsr_argmax(x[0], 1, out))
ONE(call_transpose, tsr_transpose(x[0], swapped, out))
ONE(call_merge, tsr_reshape(x[0], merged, 1, out))
ONE(call_split, tsr_reshape(x[0], split, 3, out))
ONE(call_broadcast, tsr_broadcast_to(x[0], grown, 3, out))
ONE(call_slice, tsr_slice(x[0], from_zero, to_all, NULL, out))
ONE(call_pad, tsr_pad(x[0], 1, no_border, border, NULL, out))
ONE(call_concatenate_0, tsr_concatenate(x, 2, 0, out))
ONE(call_concatenate_1, tsr_concatenate(x, 2, 1, out))
ONE(call_stack, tsr_stack(x, 2, 0, out))
ONE(call_take, tsr_take(x[0], x[1], 0, out))
ONE(call_embedding, tsr_embedding(x[0], x[1], out))
ONE(call_scatter_add, tsr_scatter(x[0], x[1], x[2], 0, TSR_SCATTER_ADD, out))
ONE(call_sort_0, tsr_sort(x[0], 0, false, out, NULL))
ONE(call_sort_1, tsr_sort(x[0], 1, false, out, NULL))
ONE(call_top_k_1, tsr_top_k(x[0], 1, 2, out, NULL))
ONE(call_all_0, tsr_all(x[0], first_dim, 1, out))
ONE(call_slice_0, tsr_slice(x[0], from_one, to_most, NULL, out))
ONE(call_softmax_1, tsr_softmax(x[0], 1, out))
ONE(call_layer_norm, tsr_layer_norm(x[0], x[1], x[2], 1e-5, out))
ONE(call_rms_norm, tsr_rms_norm(x[0], x[1], 1e-5, out))
ONE(call_cross_entropy, tsr_cross_entropy(x[0], x[1], out))
ONE(call_one_hot, tsr_one_hot(x[0], 6, TSR_F32, out))

/* ---- what moves nothing ---- */

#define XY "[{\"x\"}, {\"y\"}]"
#define X_ "[{\"x\"}, {}]"
#define _X "[{}, {\"x\"}]"
#define PENDING "[{}, {}], unreduced={\"x\"}"
#define RAGGED "[{\"x\"}:dynamic[3, 5], {}]"

static const layout_row quiet_rows[] = {
    {"rows by all", call_matmul, {{"f32[8,6]", X_}, {"f32[6,4]", R2}}, X_},
    {"all by columns", call_matmul, {{"f32[8,6]", R2}, {"f32[6,4]", _X}}, _X},
    {"rows by columns", call_matmul, {{"f32[8,6]", X_}, {"f32[6,4]", "[{}, {\"y\"}]"}}, XY},
    {"contracted", call_matmul, {{"f32[8,6]", _X}, {"f32[6,4]", X_}}, PENDING},
    {"contracted, and rows and columns",
     call_matmul,
     {{"f32[8,6]", "[{\"y\"}, {\"x\"}]"}, {"f32[6,4]", X_}},
     "[{\"y\"}, {}], unreduced={\"x\"}"},
    {"batches",
     call_matmul,
     {{"f32[4,8,6]", "[{\"x\"}, {}, {}]"}, {"f32[4,6,4]", "[{\"x\"}, {}, {\"y\"}]"}},
     "[{\"x\"}, {}, {\"y\"}]"},
    {"a matrix by batches",
     call_matmul,
     {{"f32[8,6]", X_}, {"f32[4,6,4]", "[{\"y\"}, {}, {}]"}},
     "[{\"y\"}, {\"x\"}, {}]"},
    {"batches by letters",
     call_einsum,
     {{"f32[4,8,6]", "[{\"x\"}, {}, {\"y\"}]"}, {"f32[4,6,4]", "[{\"x\"}, {\"y\"}, {}]"}},
     "[{\"x\"}, {}, {}], unreduced={\"y\"}"},
    {"rows of a pending product", call_matmul, {{"f32[8,6]", PENDING}, {"f32[6,4]", R2}}, PENDING},
    {"a column-parallel layer",
     call_linear,
     {{"f32[8,6]", X_}, {"f32[4,6]", "[{\"y\"}, {}]"}, {"f32[4]", "[{\"y\"}]"}},
     XY},
    {"two axes",
     call_matmul,
     {{"f32[8,6]", "[{\"x\", \"y\"}, {}]"}, {"f32[6,4]", R2}},
     "[{\"x\", \"y\"}, {}]"},
    {"sub-axes",
     call_matmul,
     {{"f32[8,6]", "[{\"x\":(1)2}, {}]"}, {"f32[6,4]", "[{}, {\"x\":(2)2}]"}},
     "[{\"x\":(1)2}, {\"x\":(2)2}]"},
    {"sub-axes",
     call_sum_0,
     {{"f32[8,6]", "[{\"x\":(2)2}, {\"x\":(1)2}]"}},
     "[{\"x\":(1)2}], unreduced={\"x\":(2)2}"},
    {"uneven rows", call_matmul, {{"f32[7,5]", X_}, {"f32[5,3]", R2}}, X_},
    {"ragged rows", call_matmul, {{"f32[8,6]", RAGGED}, {"f32[6,4]", R2}}, RAGGED},

    {"same layouts", call_add, {{"f32[8,6]", XY}, {"f32[8,6]", XY}}, XY},
    {"ragged rows", call_add, {{"f32[8,6]", RAGGED}, {"f32[8,6]", RAGGED}}, RAGGED},
    {"ragged rows", call_exp, {{"f32[8,6]", RAGGED}}, RAGGED},
    {"a row beside", call_add, {{"f32[8,6]", XY}, {"f32[6]", "[{\"y\"}]"}}, XY},
    {"a scalar beside", call_mul, {{"f32[8,6]", XY}, {"f32[]", R0}}, XY},
    {"both pending", call_add, {{"f32[8,6]", PENDING}, {"f32[8,6]", PENDING}}, PENDING},
    {"both pending", call_sub, {{"f32[8,6]", PENDING}, {"f32[8,6]", PENDING}}, PENDING},
    {"one pending", call_mul, {{"f32[8,6]", PENDING}, {"f32[8,6]", R2}}, PENDING},
    {"the dividend pending", call_div, {{"f32[8,6]", PENDING}, {"f32[8,6]", R2}}, PENDING},
    {"pending", call_negate, {{"f32[8,6]", PENDING}}, PENDING},
    {"greatest pending in both",
     call_maximum,
     {{"f32[8,6]", "[{}, {}], unreduced=max{\"x\"}"},
      {"f32[8,6]", "[{}, {}], unreduced=max{\"x\"}"}},
     "[{}, {}], unreduced=max{\"x\"}"},
    {"of a pending greatest",
     call_relu,
     {{"f32[8,6]", "[{}, {}], unreduced=max{\"x\"}"}},
     "[{}, {}], unreduced=max{\"x\"}"},
    {"same layouts", call_compare, {{"f32[8,6]", XY}, {"f32[8,6]", XY}}, XY},
    {"same layouts", call_select, {{"i1[8,6]", XY}, {"f32[8,6]", XY}, {"f32[8,6]", XY}}, XY},
    {"wider", call_to_f64, {{"f32[8,6]", PENDING}}, PENDING},
    {"narrower, nothing pending", call_to_bf16, {{"f32[8,6]", XY}}, XY},

    {"over a whole dimension", call_sum_1, {{"f32[8,6]", X_}}, "[{\"x\"}]"},
    {"over a sharded one", call_sum_0, {{"f32[8,6]", XY}}, "[{\"y\"}], unreduced={\"x\"}"},
    {"pending already",
     call_sum_0,
     {{"f32[8,6]", "[{\"y\"}, {}], unreduced={\"x\"}"}},
     "[{}], unreduced={\"x\", \"y\"}"},
    {"over a sharded one", call_max_0, {{"f32[8,6]", XY}}, "[{\"y\"}], unreduced=max{\"x\"}"},
    {"over an uneven one", call_mean_0, {{"f32[7,6]", X_}}, "[{}], unreduced={\"x\"}"},
    {"along a whole dimension", call_cumsum_1, {{"f32[8,6]", X_}}, X_},
    {"along a whole dimension", call_argmax_1, {{"f32[8,6]", X_}}, "[{\"x\"}]"},

    {"any", call_transpose, {{"f32[8,6]", XY}}, "[{\"y\"}, {\"x\"}]"},
    {"pending", call_transpose, {{"f32[8,6]", PENDING}}, PENDING},
    {"the major of those merged", call_merge, {{"f32[8,6]", X_}}, "[{\"x\"}]"},
    {"to the major of those split", call_split, {{"f32[8,6]", XY}}, "[{\"x\"}, {}, {\"y\"}]"},
    {"any", call_broadcast, {{"f32[8,6]", XY}}, "[{}, {\"x\"}, {\"y\"}]"},
    {"beside a sharded dimension", call_slice, {{"f32[8,6]", X_}}, X_},
    {"beside a sharded dimension", call_pad, {{"f32[8,6]", X_}}, X_},
    {"beside a sharded dimension", call_concatenate_1, {{"f32[8,6]", X_}, {"f32[8,4]", X_}}, X_},
    {"all pending", call_concatenate_0, {{"f32[8,6]", PENDING}, {"f32[4,6]", PENDING}}, PENDING},
    {"any", call_stack, {{"f32[8,6]", XY}, {"f32[8,6]", XY}}, "[{}, {\"x\"}, {\"y\"}]"},

    {"rows whole", call_take, {{"f32[8,6]", _X}, {"i32[5]", R1}}, _X},
    {"indices sharded", call_take, {{"f32[8,6]", R2}, {"i32[4]", "[{\"x\"}]"}}, X_},
    {"rows sharded", call_embedding, {{"f32[8,6]", X_}, {"i32[5]", R1}}, PENDING},
    {"rows and indices sharded",
     call_embedding,
     {{"f32[8,6]", X_}, {"i32[4]", "[{\"y\"}]"}},
     "[{\"y\"}, {}], unreduced={\"x\"}"},
    {"updates sharded",
     call_scatter_add,
     {{"f32[8,6]", R2}, {"i32[4]", "[{\"x\"}]"}, {"f32[4,6]", X_}},
     PENDING},
    {"along a whole dimension", call_sort_1, {{"f32[8,6]", X_}}, X_},
    {"along a whole dimension", call_top_k_1, {{"f32[8,6]", X_}}, X_},
    {"indices sharded", call_one_hot, {{"i32[8]", "[{\"x\"}]"}}, X_},

    {"along a whole dimension", call_softmax_1, {{"f32[8,6]", X_}}, X_},
    {"features whole", call_layer_norm, {{"f32[8,6]", X_}, {"f32[6]", R1}, {"f32[6]", R1}}, X_},
    {"features whole", call_rms_norm, {{"f32[8,6]", X_}, {"f32[6]", R1}}, X_},
    {"batch sharded", call_cross_entropy, {{"f32[8,6]", X_}, {"i32[8]", "[{\"x\"}]"}}, "[{\"x\"}]"},
};

/* ---- what moves ---- */

static const moving_row moving_rows[] = {
    {{"pending", call_exp, {{"f32[8,6]", PENDING}}, R2},
     {"tsr_exp", 0, "all-reduce", "\"x\"", R2, 768, false}},
    {{"narrower", call_to_bf16, {{"f32[8,6]", PENDING}}, R2},
     {"tsr_convert", 0, "all-reduce", "\"x\"", R2, 768, false}},
    {{"pending beside whole", call_concatenate_0, {{"f32[8,6]", PENDING}, {"f32[4,6]", R2}}, R2},
     {"tsr_concatenate", 0, "all-reduce", "\"x\"", R2, 768, false}},
    {{"pending beside whole", call_add, {{"f32[8,6]", R2}, {"f32[8,6]", PENDING}}, R2},
     {"tsr_add", 1, "all-reduce", "\"x\"", R2, 768, false}},
    {{"both pending", call_mul, {{"f32[8,6]", PENDING}, {"f32[8,6]", PENDING}}, PENDING},
     {"tsr_mul", 1, "all-reduce", "\"x\"", R2, 768, false}},
    {{"of a pending sum", call_max_0, {{"f32[8,6]", PENDING}}, R1},
     {"tsr_max", 0, "all-reduce", "\"x\"", R2, 768, false}},
    {{"rows beside columns", call_add, {{"f32[8,6]", X_}, {"f32[8,6]", _X}}, X_},
     {"tsr_add", 1, "all-to-all", "\"x\"", X_, 192, false}},
    {{"along the sharded dimension", call_sort_0, {{"f32[8,6]", X_}}, X_},
     {"tsr_sort", 0, "all-gather", "\"x\"", R2, 384, true}},
    {{"along the sharded dimension", call_cumsum_0, {{"f32[8,6]", X_}}, X_},
     {"tsr_cumsum", 0, "all-gather", "\"x\"", R2, 384, true}},
    {{"the minor of those merged", call_merge, {{"f32[8,6]", _X}}, R1},
     {"tsr_reshape", 0, "all-gather", "\"x\"", R2, 384, false}},
    {{"bits of a sharded dimension", call_all_0, {{"i32[8,6]", X_}}, R1},
     {"tsr_all", 0, "all-gather", "\"x\"", R2, 384, false}},
    {{"along the sharded dimension", call_top_k_1, {{"f32[8,6]", _X}}, _X},
     {"tsr_top_k", 0, "all-gather", "\"x\"", R2, 384, true}},
    {{"of the sharded dimension", call_slice_0, {{"f32[8,6]", X_}}, X_},
     {"tsr_slice", 0, "all-gather", "\"x\"", R2, 384, true}},
    {{"columns beside columns", call_matmul, {{"f32[8,6]", _X}, {"f32[6,4]", _X}}, _X},
     {"tsr_matmul", 0, "all-gather", "\"x\"", R2, 384, false}},
    {{"a pending predicate",
      call_select,
      {{"i1[8,6]", "[{}, {}], unreduced=max{\"x\"}"}, {"f32[8,6]", R2}, {"f32[8,6]", R2}},
      R2},
     {"tsr_select", 0, "all-reduce", "\"x\"", R2, 192, false}},
    {{"along the sharded dimension", call_concatenate_0, {{"f32[8,6]", X_}, {"f32[4,6]", X_}}, X_},
     {"tsr_concatenate", 0, "all-gather", "\"x\"", R2, 384, true}},
    {{"a pending table of indices",
      call_take,
      {{"f32[8,6]", R2}, {"i32[5]", "[{}], unreduced={\"x\"}"}},
      R2},
     {"tsr_take", 1, "all-reduce", "\"x\"", R1, 80, false}},
};

/* ---- on a rank ---- */

/* What a rank is to do with both tables. */
typedef struct scene {
    const tsr_mesh *mesh;
    const tsr_mesh *flat; /* with one axis, for sub-axes of it */
    bool strict;
} scene;

/* One row on one rank. */
typedef struct trial {
    tsr_comm *world;
    tsr_arena *arena;
    const scene *s;
    const layout_row *row;
    const layout_move *move; /* NULL for none */
    tsr_tensor *x[OPERANDS];
    tsr_tensor *out;
} trial;

static tsr_status complain(const trial *t, const char *what, const char *want, const char *got)
{
    const char *layout = t->row->operands[0].layout;
    return diag_error(tsr_comm_context(t->world), TSR_ERR_INVALID, NO_LOCATION,
                      "%s of %s as %s ..: %s is %s, expected: %s", t->row->name,
                      t->row->operands[0].type, layout, what, got, want);
}

static tsr_status expect_text(const trial *t, const char *what, const char *want, const char *got)
{
    return strcmp(want, got) == 0 ? TSR_OK : complain(t, what, want, got);
}

static tsr_status check_result(const trial *t)
{
    const char *text = NULL;
    const tsr_status status = tsr_sharding_print(
        tsr_comm_context(t->world), t->arena, tsr_tensor_sharding(t->out), TSR_PRINT_BARE, &text);
    return status < 0 ? status : expect_text(t, "the result", t->row->result, text);
}

static tsr_status check_quiet(const trial *t)
{
    size_t count;
    const tsr_trace_event *events = tsr_trace_events(t->world, &count);
    for (size_t i = 0; i < count; i++) {
        if (events[i].bytes_moved > 0 || strcmp(events[i].collective, "slice") != 0) {
            return complain(t, "a collective", "none", events[i].collective);
        }
    }
    return TSR_OK;
}

static tsr_status check_event(const trial *t)
{
    size_t count;
    char numbers[2][64];
    const layout_move *move = t->move;
    const row_operand *operand = &t->row->operands[move->operand];
    const tsr_trace_event *event = tsr_trace_events(t->world, &count);
    if (event == NULL) {
        return complain(t, "the trace", move->collective, "empty");
    }
    (void)snprintf(numbers[0], sizeof numbers[0], "%lld, operand %lld%s", (long long)move->bytes,
                   (long long)move->operand, move->fallback ? ", fallback" : "");
    (void)snprintf(numbers[1], sizeof numbers[1], "%lld, operand %lld%s",
                   (long long)event->bytes_moved, (long long)event->operand,
                   event->fallback ? ", fallback" : "");
    tsr_status status = expect_text(t, "the collective", move->collective, event->collective);
    status = status < 0 ? status : expect_text(t, "along", move->axes, event->axes);
    status = status < 0 ? status : expect_text(t, "to", move->to, event->to);
    status = status < 0 ? status : expect_text(t, "from", operand->layout, event->from);
    status = status < 0 ? status : expect_text(t, "what", operand->type, event->tensor);
    status = status < 0 ? status : expect_text(t, "moved", numbers[0], numbers[1]);
    return status < 0 || event->implicit ? status : complain(t, "the move", "implicit", "not");
}

/* In strict mode the call is refused, with everything that there is to say. */
static tsr_status check_refusal(const trial *t, tsr_status status)
{
    const layout_move *move = t->move;
    const row_operand *operand = &t->row->operands[move->operand];
    const char *const parts[] = {operand->type,       operand->layout, move->to,
                                 move->collective,    move->axes,      "strict mode",
                                 "tsr_with_sharding", move->call};
    if (status >= 0 || t->out != NULL) {
        return complain(t, "the call", "refused", "done");
    }
    for (size_t i = 0; i < COUNT(parts); i++) {
        if (!messages_have(t->world, parts[i])) {
            const tsr_diagnostic *d = tsr_context_diagnostics(tsr_comm_context(t->world));
            return complain(t, "the message", parts[i], d != NULL ? d->text : "none");
        }
    }
    tsr_context_clear(tsr_comm_context(t->world));
    return TSR_OK;
}

static tsr_status run_trial(trial *t)
{
    const bool sub_axes = strstr(t->row->operands[0].layout, ":(") != NULL;
    const tsr_mesh *mesh = sub_axes ? t->s->flat : t->s->mesh;
    for (size_t i = 0; i < OPERANDS && t->row->operands[i].type != NULL; i++) {
        const row_operand *o = &t->row->operands[i];
        const tsr_status made =
            tensor_of_text(t->world, t->arena, mesh, o->type, o->layout, &t->x[i]);
        if (made < 0) {
            return made;
        }
    }
    const bool moves = t->move != NULL;
    tsr_status status = t->row->call(t->x, &t->out);
    if (moves && t->s->strict) {
        return check_refusal(t, status);
    }
    status = status < 0 ? status : check_result(t);
    status = status < 0 ? status : moves ? check_event(t) : check_quiet(t);
    return status;
}

static tsr_status run_row(tsr_comm *world, tsr_arena *arena, const scene *s, const layout_row *row,
                          const layout_move *move)
{
    trial t = {.world = world, .arena = arena, .s = s, .row = row, .move = move};
    tsr_status status = tsr_trace_begin(world);
    status = status < 0 ? status : tsr_scope_open(world);
    if (status == TSR_OK) {
        status = run_trial(&t);
        tsr_scope_close(world);
    }
    tsr_trace_end(world);
    for (size_t i = 0; i < OPERANDS; i++) {
        tsr_tensor_release(t.x[i]);
    }
    return status < 0 ? status : tsr_barrier(world);
}

static tsr_status run_tables(tsr_comm *world, void *state)
{
    const scene *s = state;
    tsr_arena *arena = NULL;
    tsr_status status = tsr_arena_create(tsr_comm_context(world), &arena);
    status = status < 0 ? status : tsr_set_strict(world, s->strict);
    for (size_t i = 0; status == TSR_OK && i < COUNT(quiet_rows); i++) {
        status = run_row(world, arena, s, &quiet_rows[i], NULL);
    }
    for (size_t i = 0; status == TSR_OK && i < COUNT(moving_rows); i++) {
        status = run_row(world, arena, s, &moving_rows[i].row, &moving_rows[i].move);
    }
    tsr_arena_destroy(arena);
    return status;
}

static void launch(fixture *f, bool strict)
{
    int64_t ranks;
    scene s = {mesh_of(f, "<[\"x\"=2, \"y\"=2]>"), mesh_of(f, "<[\"x\"=4]>"), strict};
    const tsr_launch_spec spec = {.num_ranks = RANKS,
                                  .ranks = kinds_chosen(),
                                  .timeout = 60,
                                  .checked = true,
                                  .segment_bytes = (size_t)1 << 24};
    for (size_t at = 0; kinds_next_count(&at, RANKS, &ranks);) {
        if (ranks == RANKS) {
            expect_ranks(f, &spec, run_tables, &s);
            printf("%zu calls without a collective, %zu with one\n", COUNT(quiet_rows),
                   COUNT(moving_rows));
        }
    }
}

static void traced(void **state)
{
    launch(*state, false);
}

static void strictly(void **state)
{
    launch(*state, true);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(traced), TEST(strictly)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
