/*
 * Ranks that make different calls, or the same with other arguments, with checks off: every rank
 * gets an error that shows both, nothing is overwritten, and the next call works.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "kinds.h"
#include "rt/comm.h"
#include "want.h"

enum { RANKS = 3, GUILTY = 1, ROWS = 12, LARGE = 4096 };

/* What the calls work on: the plain tensor and one that differs in what `variant` says. */
typedef struct scene {
    tsr_comm *world;
    tsr_arena *arena;
    const tsr_mesh *mesh;
    const tsr_sharding *rows;
    const tsr_sharding *columns;
    const tsr_sharding *whole;
    const tsr_sharding *pending;
    tsr_tensor *x;      /* f32, by rows */
    tsr_tensor *small;  /* of another shape */
    tsr_tensor *narrow; /* of another type */
    tsr_tensor *other;  /* by columns */
    tsr_tensor *sums;
    tsr_tensor *witness[2];
} scene;

typedef enum variant { PLAIN, OTHER_SHAPE, OTHER_TYPE, OTHER_LAYOUT, OTHER_ROOT, VARIANTS } variant;

static const int64_t full_shape[] = {ROWS, ROWS};
static const int64_t small_shape[] = {3, 3};

static tsr_status make(const scene *s, const tsr_sharding *sharding, tsr_dtype dtype,
                       const int64_t *shape, tsr_tensor **out)
{
    const tsr_tensor_spec spec = {sharding, dtype, 2, shape};
    return tsr_tensor_create(s->world, &spec, out);
}

static tsr_status read_layouts(scene *s)
{
    tsr_context *ctx = tsr_comm_context(s->world);
    TSR_TRY(tsr_arena_create(ctx, &s->arena));
    TSR_TRY(tsr_mesh_parse(ctx, s->arena, "<[\"x\"=3]>", &s->mesh));
    TSR_TRY(tsr_sharding_parse(ctx, s->arena, s->mesh, "[{\"x\"}, {}]", &s->rows));
    TSR_TRY(tsr_sharding_parse(ctx, s->arena, s->mesh, "[{}, {\"x\"}]", &s->columns));
    TSR_TRY(tsr_sharding_parse(ctx, s->arena, s->mesh, "[{}, {}]", &s->whole));
    return tsr_sharding_parse(ctx, s->arena, s->mesh, "[{}, {}], unreduced={\"x\"}", &s->pending);
}

static tsr_status set_up(scene *s)
{
    TSR_TRY(read_layouts(s));
    TSR_TRY(make(s, s->whole, TSR_F32, full_shape, &s->witness[0]));
    TSR_TRY(make(s, s->rows, TSR_F32, small_shape, &s->small));
    TSR_TRY(make(s, s->rows, TSR_F32, full_shape, &s->x));
    TSR_TRY(make(s, s->rows, TSR_I8, full_shape, &s->narrow));
    TSR_TRY(make(s, s->columns, TSR_F32, full_shape, &s->other));
    TSR_TRY(make(s, s->pending, TSR_F32, full_shape, &s->sums));
    TSR_TRY(make(s, s->whole, TSR_F32, full_shape, &s->witness[1]));
    for (int i = 0; i < 2; i++) {
        memset(tsr_tensor_data(s->witness[i]), 0x5a, sizeof(float) * ROWS * ROWS);
    }
    return TSR_OK;
}

static void tear_down(scene *s)
{
    tsr_tensor *const all[] = {s->witness[0], s->small, s->x,         s->narrow,
                               s->other,      s->sums,  s->witness[1]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        tsr_tensor_release(all[i]);
    }
    tsr_arena_destroy(s->arena);
}

static bool witnesses_are_untouched(const scene *s)
{
    for (int i = 0; i < 2; i++) {
        const unsigned char *bytes = tsr_tensor_data(s->witness[i]);
        for (size_t k = 0; k < sizeof(float) * ROWS * ROWS; k++) {
            if (bytes[k] != 0x5a) {
                return false;
            }
        }
    }
    return true;
}

static tsr_tensor *tensor_of(const scene *s, variant v)
{
    tsr_tensor *const tensors[VARIANTS] = {[PLAIN] = s->x,
                                           [OTHER_SHAPE] = s->small,
                                           [OTHER_TYPE] = s->narrow,
                                           [OTHER_LAYOUT] = s->other,
                                           [OTHER_ROOT] = s->x};
    return tensors[v];
}

/* ---- calls on tensors ---- */

static tsr_status wait_for_all(scene *s, variant v)
{
    (void)v;
    return tsr_barrier(s->world);
}

static tsr_status create(scene *s, variant v)
{
    tsr_tensor *out = NULL;
    const tsr_status status =
        make(s, v == OTHER_LAYOUT ? s->columns : s->rows, v == OTHER_TYPE ? TSR_I8 : TSR_F64,
             v == OTHER_SHAPE ? small_shape : full_shape, &out);
    tsr_tensor_release(out);
    return status;
}

static tsr_status redistribute(scene *s, variant v)
{
    tsr_tensor *out = NULL;
    const tsr_status status = tsr_redistribute(tensor_of(s, v), s->whole, &out);
    tsr_tensor_release(out);
    return status;
}

static tsr_status redistribute_into(scene *s, variant v)
{
    return v == OTHER_LAYOUT ? tsr_redistribute_into(s->x, s->other)
                             : tsr_redistribute_into(s->other, s->x);
}

static tsr_status replicate(scene *s, variant v)
{
    tsr_tensor *out = NULL;
    return tsr_replicate(tensor_of(s, v), &out);
}

static tsr_status gather(scene *s, variant v)
{
    tsr_tensor *out = NULL;
    return tsr_gather(tensor_of(s, v), v == OTHER_LAYOUT ? 1 : 0, &out);
}

static tsr_status with_sharding(scene *s, variant v)
{
    tsr_tensor *out = NULL;
    tsr_tensor *x = tensor_of(s, v);
    return tsr_with_sharding(x, v == OTHER_LAYOUT ? s->rows : s->columns, &out);
}

static tsr_status reduce_pending(scene *s, variant v)
{
    tsr_tensor *out = NULL;
    (void)v;
    return tsr_reduce_pending(s->sums, &out);
}

static tsr_status add(scene *s, variant v)
{
    tsr_tensor *out = NULL;
    (void)v;
    return tsr_add(s->x, s->other, &out);
}

static tsr_status sort(scene *s, variant v)
{
    tsr_tensor *values = NULL;
    tsr_tensor *indices = NULL;
    return tsr_sort(tensor_of(s, v), v == OTHER_LAYOUT ? 1 : 0, false, &values, &indices);
}

static tsr_status cumsum(scene *s, variant v)
{
    tsr_tensor *out = NULL;
    return tsr_cumsum(tensor_of(s, v), v == OTHER_LAYOUT ? 1 : 0, &out);
}

static tsr_status backward(scene *s, variant v)
{
    const size_t both[] = {0, 1};
    tsr_tensor *out = NULL;
    TSR_TRY(tsr_tape_begin(s->world));
    tsr_status status = tsr_watch(s->x);
    status = status == TSR_OK ? tsr_mul(s->x, s->x, &out) : status;
    status = status == TSR_OK ? tsr_sum(out, both, 2, &out) : status;
    status = status == TSR_OK ? tsr_reduce_pending(out, &out) : status;
    status = status == TSR_OK ? tsr_backward(out) : status;
    tsr_tape_end(s->world);
    (void)v;
    return status;
}

static tsr_status from_full(scene *s, variant v)
{
    double full[ROWS * ROWS] = {0};
    const tsr_tensor_spec spec = {v == OTHER_LAYOUT ? s->columns : s->rows,
                                  v == OTHER_TYPE ? TSR_I8 : TSR_F64, 2,
                                  v == OTHER_SHAPE ? small_shape : full_shape};
    const int64_t root = v == OTHER_ROOT ? GUILTY : 0;
    tsr_tensor *out = NULL;
    const bool mine = tsr_comm_rank(s->world) == root;
    const tsr_status status = tsr_tensor_from_full(s->world, &spec, root, mine ? full : NULL, &out);
    tsr_tensor_release(out);
    return status;
}

static tsr_status to_full(scene *s, variant v)
{
    float full[ROWS * ROWS];
    const int64_t root = v == OTHER_ROOT ? GUILTY : 0;
    const bool mine = tsr_comm_rank(s->world) == root;
    return tsr_tensor_to_full(tensor_of(s, v), root, mine ? full : NULL);
}

static tsr_status from_local(scene *s, variant v)
{
    float part[ROWS * ROWS] = {0};
    const bool small = v == OTHER_SHAPE;
    const int64_t by_rows[] = {small ? 1 : ROWS / RANKS, small ? 3 : ROWS};
    const int64_t by_columns[] = {ROWS, ROWS / RANKS};
    const tsr_dtype dtype = v == OTHER_TYPE ? TSR_I32 : TSR_F32;
    const tsr_view view = {part, dtype, 2, v == OTHER_LAYOUT ? by_columns : by_rows, NULL};
    const tsr_tensor_spec spec = {v == OTHER_LAYOUT ? s->columns : s->rows, dtype, 2,
                                  small ? small_shape : full_shape};
    tsr_tensor *out = NULL;
    return tsr_from_local(s->world, &spec, &view, &out);
}

static tsr_status save(scene *s, variant v)
{
    return tsr_tensor_save_npy(tensor_of(s, v), "/dev/null/nowhere");
}

static tsr_status dynamic(scene *s, variant v)
{
    const int64_t all[] = {v == OTHER_LAYOUT ? 4 : 6, v == OTHER_LAYOUT ? 4 : 2, 4};
    const tsr_amounts sizes = {TSR_AMOUNTS_ALL, all, RANKS, NULL};
    const tsr_sharding *unbound = NULL;
    const tsr_sharding *bound = NULL;
    TSR_TRY(tsr_sharding_parse(tsr_comm_context(s->world), s->arena, s->mesh,
                               "[{\"x\"}:dynamic[?]]", &unbound));
    const tsr_placement to = {unbound, &sizes};
    return tsr_placement_bind(s->world, s->arena, &to, ROWS, &bound, NULL);
}

static tsr_status along(scene *s, variant v)
{
    const tsr_axis_ref axis = tsr_axis_full(s->mesh, 0);
    tsr_comm *group = NULL;
    return tsr_comm_along(s->world, s->mesh, &axis, v == OTHER_LAYOUT ? 0 : 1, &group);
}

static tsr_status choose(scene *s, variant v)
{
    return tsr_comm_allow_unordered(s->world, v == OTHER_LAYOUT);
}

/* ---- collectives on arrays ---- */

/* Memory of this rank for both views, in its own cache lines. */
typedef struct arrays {
    float src[LARGE * RANKS];
    float dst[LARGE * RANKS];
} arrays;

static _Thread_local arrays memory;

static tsr_view view_of(float *data, const int64_t *count, variant v)
{
    return (tsr_view){data, v == OTHER_TYPE ? TSR_I32 : TSR_F32, 1, count, NULL};
}

static tsr_status reduce_some(scene *s, variant v, int64_t plain, int64_t less)
{
    const int64_t count = v == OTHER_SHAPE ? less : plain;
    const tsr_view src = view_of(memory.src, &count, v);
    const tsr_view dst = view_of(memory.dst, &count, v);
    const tsr_reduce_op op = v == OTHER_LAYOUT ? TSR_REDUCE_MAX : TSR_REDUCE_SUM;
    return tsr_comm_all_reduce(s->world, op, &src, &dst);
}

/* Elements in the record itself, where a redistribution has offsets. */
static tsr_status reduce_inline(scene *s, variant v)
{
    return reduce_some(s, v, 16, 8);
}

static tsr_status reduce_large(scene *s, variant v)
{
    return reduce_some(s, v, LARGE, 100);
}

static tsr_status all_gather(scene *s, variant v)
{
    const int64_t each = v == OTHER_SHAPE ? 100 : LARGE;
    const int64_t all = each * RANKS;
    const tsr_view src = view_of(memory.src, &each, v);
    const tsr_view dst = view_of(memory.dst, &all, v);
    return tsr_comm_all_gather(s->world, &src, 0, &dst);
}

static tsr_status reduce_scatter(scene *s, variant v)
{
    const int64_t each = v == OTHER_SHAPE ? 100 : LARGE;
    const int64_t all = each * RANKS;
    const tsr_view src = view_of(memory.src, &all, v);
    const tsr_view dst = view_of(memory.dst, &each, v);
    const tsr_reduce_op op = v == OTHER_LAYOUT ? TSR_REDUCE_MAX : TSR_REDUCE_SUM;
    return tsr_comm_reduce_scatter(s->world, op, &src, 0, &dst);
}

static tsr_status all_to_all(scene *s, variant v)
{
    const int64_t all = (v == OTHER_SHAPE ? 100 : LARGE) * RANKS;
    const tsr_view src = view_of(memory.src, &all, v);
    const tsr_view dst = view_of(memory.dst, &all, v);
    return tsr_comm_all_to_all(s->world, &src, 0, 0, &dst);
}

/* Counts may differ between ranks, but each must expect what the other sends. */
static tsr_status all_to_all_v(scene *s, variant v)
{
    const int64_t counts[] = {v == OTHER_SHAPE ? 7 : 5, 5, 5};
    const int64_t all = counts[0] + counts[1] + counts[2];
    const tsr_view src = view_of(memory.src, &all, v);
    const tsr_view dst = view_of(memory.dst, &all, v);
    return tsr_comm_all_to_all_v(s->world, &src, 0, counts, counts, &dst);
}

static tsr_status broadcast(scene *s, variant v)
{
    const int64_t count = v == OTHER_SHAPE ? 100 : LARGE;
    const tsr_view view = view_of(memory.dst, &count, v);
    return tsr_comm_broadcast(s->world, &view, v == OTHER_ROOT ? GUILTY : 0);
}

static tsr_status permute(scene *s, variant v)
{
    const int64_t count = v == OTHER_SHAPE ? 100 : LARGE;
    const int64_t forward[] = {1, 2, 0};
    const int64_t back[] = {2, 0, 1};
    const tsr_view src = view_of(memory.src, &count, v);
    const tsr_view dst = view_of(memory.dst, &count, v);
    return tsr_comm_permute(s->world, &src, v == OTHER_LAYOUT ? back : forward, &dst);
}

#define BIT(v) (1U << (v))

/* The calls, and the variants in which each differs from itself. */
static const struct {
    const char *name;
    tsr_status (*run)(scene *s, variant v);
    unsigned variants;
} calls[] = {
    {"barrier", wait_for_all, 0},
    {"create", create, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
    {"redistribute", redistribute, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
    {"redistribute_into", redistribute_into, BIT(OTHER_LAYOUT)},
    {"replicate", replicate, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
    {"gather", gather, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
    {"with_sharding", with_sharding, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
    {"reduce_pending", reduce_pending, 0},
    {"add", add, 0},
    {"sort", sort, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
    {"cumsum", cumsum, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
    {"backward", backward, 0},
    {"from_full", from_full,
     BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT) | BIT(OTHER_ROOT)},
    {"to_full", to_full, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT) | BIT(OTHER_ROOT)},
    {"from_local", from_local, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
    {"save_npy", save, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
    {"placement_bind", dynamic, BIT(OTHER_LAYOUT)},
    {"comm_along", along, BIT(OTHER_LAYOUT)},
    {"allow_unordered", choose, BIT(OTHER_LAYOUT)},
    {"all_reduce, inline", reduce_inline, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
    {"all_reduce", reduce_large, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
    {"all_gather", all_gather, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE)},
    {"reduce_scatter", reduce_scatter, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
    {"all_to_all", all_to_all, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE)},
    {"all_to_all_v", all_to_all_v, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE)},
    {"broadcast", broadcast, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_ROOT)},
    {"permute", permute, BIT(OTHER_SHAPE) | BIT(OTHER_TYPE) | BIT(OTHER_LAYOUT)},
};

enum { CALLS = sizeof calls / sizeof calls[0] };

/* What the two kinds of ranks call. */
typedef struct cell {
    size_t innocent;
    size_t guilty;
    variant v; /* of the guilty one */
} cell;

static tsr_status complain(const scene *s, const cell *c, const char *what)
{
    tsr_context *ctx = tsr_comm_context(s->world);
    const char *said = last_error_text(ctx);
    char text[CALL_TEXT];
    (void)snprintf(text, sizeof text, "%s", said);
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "%s: %s against %s, variant %d: %s", what,
                      calls[c->innocent].name, calls[c->guilty].name, (int)c->v, text);
}

/* One cell: an error that names what differs; what is not involved is untouched; a valid call. */
static tsr_status run_cell(scene *s, const cell *c)
{
    const bool guilty = tsr_comm_rank(s->world) == GUILTY;
    tsr_context *ctx = tsr_comm_context(s->world);
    TSR_TRY(tsr_scope_open(s->world));
    const tsr_status status =
        guilty ? calls[c->guilty].run(s, c->v) : calls[c->innocent].run(s, PLAIN);
    tsr_scope_close(s->world);
    if (status != TSR_ERR_PEER && status != TSR_ERR_INVALID) {
        return complain(s, c, status == TSR_OK ? "no error" : "another error");
    }
    const char *said = last_error_text(ctx);
    if (strstr(said, "the ranks make different calls: rank 0 ") == NULL &&
        strstr(said, "rows to rank") == NULL) {
        return complain(s, c, "it is not said what differs");
    }
    if (!witnesses_are_untouched(s)) {
        return complain(s, c, "overwritten");
    }
    tsr_context_clear(ctx);
    return tsr_barrier(s->world) == TSR_OK ? TSR_OK : complain(s, c, "the next call failed");
}

/* All cells; how many is the same on every rank. */
static tsr_status run_matrix(tsr_comm *world, void *state)
{
    scene s = {.world = world};
    size_t cells = 0;
    (void)state;
    TSR_TRY(set_up(&s));
    for (size_t i = 0; i < CALLS; i++) {
        for (size_t k = 0; k < CALLS; k++) {
            const cell c = {i, k, PLAIN};
            if (i != k) {
                TSR_TRY(run_cell(&s, &c));
                cells++;
            }
        }
        for (int v = 1; v < VARIANTS; v++) {
            const cell c = {i, i, (variant)v};
            if ((calls[i].variants & BIT(v)) != 0) {
                TSR_TRY(run_cell(&s, &c));
                cells++;
            }
        }
    }
    if (tsr_comm_rank(world) == 0) {
        printf("cells of disagreement: %zu\n", cells);
    }
    WANT(world, cells == (size_t)CALLS * (CALLS - 1) + 60);
    WANT(world, redistribute(&s, PLAIN) == TSR_OK);
    tear_down(&s);
    return TSR_OK;
}

static void every_disagreement_is_an_error(void **state)
{
    const tsr_launch_spec spec = {
        .num_ranks = RANKS, .ranks = kinds_chosen(), .timeout = 20, .segment_bytes = 1 << 24};
    expect_ranks(*state, &spec, run_matrix, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(every_disagreement_is_an_error)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
