#include "steps.h"

#include <stdio.h>
#include <string.h>

#include "catalogue.h"
#include "memory_transport.h"
#include "parts.h"
#include "want.h"

#include "base/base.h"
#include "rt/comm.h"

enum { MAX_STEPS = 8, MAX_LISTS = 64 };

typedef struct step_row {
    tsr_step_kind kind;
    const char *mesh;
    const char *text;
} step_row;

/* A list: the axes of its mesh that must have several devices for the kinds to be as they say. */
typedef struct list_row {
    const char *needs;
    const char *mesh;
    const char *text;
    step_row steps[MAX_STEPS]; /* the rest has no mesh */
} list_row;

#define SLICE TSR_STEP_SLICE
#define GATHER TSR_STEP_ALL_GATHER
#define TO_ALL TSR_STEP_ALL_TO_ALL
#define SCATTER TSR_STEP_REDUCE_SCATTER
#define REDUCE TSR_STEP_ALL_REDUCE
#define PERMUTE TSR_STEP_PERMUTE
#define DIRECT TSR_STEP_DIRECT

static const list_row list_rows[] = {
    {"", "line", "[{}, {}, {}]", {{SLICE, "line", "[{'x'}, {}, {}]"}}},
    {"", "grid", "[{}, {}, {}]", {{SLICE, "grid", "[{'y'}, {'x'}, {}]"}}},
    {"x", "line", "[{'x'}, {}, {}]", {{GATHER, "line", "[{}, {}, {}]"}}},
    {"xy", "grid", "[{'x'}, {}, {'y'}]", {{GATHER, "grid", "[{}, {}, {}]"}}},
    {"y", "grid", "[{'x'}, {'y'}, {}]", {{GATHER, "grid", "[{'x'}, {}, {}]"}}},
    {"x", "line", "[{'x'}, {}, {}]", {{TO_ALL, "line", "[{}, {'x'}, {}]"}}},
    {"xy", "grid", "[{'x', 'y'}, {}, {}]", {{TO_ALL, "grid", "[{}, {'x', 'y'}, {}]"}}},
    {"y", "grid", "[{'x'}, {'y'}, {}]", {{TO_ALL, "grid", "[{'x'}, {}, {'y'}]"}}},
    {"x", "line", "[{}, {}, {}], unreduced={'x'}", {{SCATTER, "line", "[{}, {'x'}, {}]"}}},
    {"xy",
     "grid",
     "[{}, {}, {}], unreduced=max{'x', 'y'}",
     {{SCATTER, "grid", "[{'y'}, {'x'}, {}]"}}},
    {"y", "grid", "[{'x'}, {}, {}], unreduced={'y'}", {{SCATTER, "grid", "[{'x'}, {'y'}, {}]"}}},
    {"x", "line", "[{}, {}, {}], unreduced={'x'}", {{REDUCE, "line", "[{}, {}, {}]"}}},
    {"y", "grid", "[{'x'}, {}, {}], unreduced=min{'y'}", {{REDUCE, "grid", "[{'x'}, {}, {}]"}}},
    {"xy", "grid", "[{}, {}, {}], unreduced={'x', 'y'}", {{REDUCE, "grid", "[{}, {}, {}]"}}},
    {"x", "line", "[{'x'}, {}, {}]", {{PERMUTE, "back", "[{'x'}, {}, {}]"}}},
    {"xy", "grid", "[{}, {'x', 'y'}, {}]", {{PERMUTE, "grid", "[{}, {'y', 'x'}, {}]"}}},
    {"xy", "grid", "[{'x'}, {}, {}]", {{DIRECT, "grid", "[{}, {'y'}, {}]"}}},
    {"x", "line", "[{}, {'x'}, {}]", {{DIRECT, "mixed", "[{'x'}, {}, {'y'}]"}}},
    {"x", "line", "[{}, {}, {}], unreduced={'x'}", {{DIRECT, "back", "[{}, {}, {'x'}]"}}},
    {"x",
     "line",
     "[{'x'}, {}, {}]",
     {{GATHER, "line", "[{}, {}, {}]"}, {SLICE, "line", "[{}, {'x'}, {}]"}}},
    {"x",
     "line",
     "[{'x'}, {}, {}]",
     {{GATHER, "line", "[{}, {}, {}]"},
      {SLICE, "line", "[{}, {'x'}, {}]"},
      {GATHER, "line", "[{}, {}, {}]"}}},
    {"xy",
     "grid",
     "[{}, {}, {}], unreduced={'x', 'y'}",
     {{SCATTER, "grid", "[{'x'}, {}, {}], unreduced={'y'}"},
      {REDUCE, "grid", "[{'x'}, {}, {}]"},
      {GATHER, "grid", "[{}, {}, {}]"}}},
    {"xy",
     "grid",
     "[{'x'}, {}, {}], unreduced={'y'}",
     {{SCATTER, "grid", "[{'x'}, {'y'}, {}]"},
      {TO_ALL, "grid", "[{'x'}, {}, {'y'}]"},
      {GATHER, "grid", "[{}, {}, {'y'}]"},
      {SLICE, "grid", "[{}, {'x'}, {'y'}]"},
      {GATHER, "grid", "[{}, {'x'}, {}]"},
      {DIRECT, "back", "[{}, {}, {'x'}]"}}},
    {"x",
     "line",
     "[{}, {}, {}], unreduced={'x'}",
     {{SCATTER, "line", "[{'x'}, {}, {}]"},
      {TO_ALL, "line", "[{}, {'x'}, {}]"},
      {PERMUTE, "back", "[{}, {'x'}, {}]"},
      {GATHER, "back", "[{}, {}, {}]"},
      {SLICE, "back", "[{}, {}, {'x'}]"},
      {DIRECT, "line", "[{'x'}, {}, {}]"},
      {GATHER, "line", "[{}, {}, {}]"}}},
    {"xyz",
     "cube",
     "[{'x'}, {'y'}, {}], unreduced={'z'}",
     {{REDUCE, "cube", "[{'x'}, {'y'}, {}]"},
      {SLICE, "cube", "[{'x'}, {'y'}, {'z'}]"},
      {TO_ALL, "cube", "[{'x', 'y'}, {}, {'z'}]"},
      {PERMUTE, "cube", "[{'y', 'x'}, {}, {'z'}]"},
      {GATHER, "cube", "[{'y'}, {}, {}]"},
      {DIRECT, "twisted", "[{'x'}, {'y', 'z'}, {}]"}}},
    {"xy",
     "grid",
     "[{'y'}, {}, {}], unreduced=avg{'x'}",
     {{DIRECT, "grid", "[{}, {'y'}, {}], unreduced=avg{'x'}"},
      {SCATTER, "grid", "[{}, {'y'}, {'x'}]"},
      {GATHER, "grid", "[{}, {'y'}, {}]"}}},
};

enum { ROWS = sizeof list_rows / sizeof list_rows[0] };

/* Blocks of whole pages whatever is sharded; extents that nothing divides; few rows. */
static const struct {
    int64_t shape[3];
    tsr_dtype dtype;
} shapes[] = {{{16, 16, 32}, TSR_F64}, {{13, 7, 5}, TSR_F32}, {{5, 11, 3}, TSR_F64}};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* A list on one shape. */
typedef struct step_list {
    const list_row *row;
    const family *of;
    tsr_dtype dtype;
    const tsr_geometry *src;
    size_t num_steps;
    tsr_step_spec steps[MAX_STEPS];
    memory from; /* of the two tensors */
    memory to;
    bool exact; /* what is between steps is whole blocks */
} step_list;

typedef struct step_lists {
    bool by_messages;
    family families[SHAPES];
    step_list lists[ROWS * SHAPES];
    size_t count;
} step_lists;

/* Bytes of a segment that a tensor takes: whole pages. */
static int64_t block_of(int64_t bytes)
{
    const int64_t pages = (bytes + SEGMENT_ALIGNMENT - 1) / SEGMENT_ALIGNMENT;
    return (pages > 0 ? pages : 1) * SEGMENT_ALIGNMENT;
}

/* What a device stores after a step. */
static int64_t stored_after(const step_list *l, size_t step, int64_t device)
{
    device_slice rows;
    const tsr_sharding *s = tsr_geometry_sharding(l->steps[step].dst);
    slice_of(s, l->of->rank, l->of->shape, device, &rows);
    int64_t bytes = tsr_dtype_item_bytes(l->dtype);
    for (size_t i = 0; i < l->of->rank; i++) {
        bytes *= rows.count[i];
    }
    return bytes;
}

/* The most that is between steps at once, as it is or in blocks. */
static int64_t most_between(const step_list *l, int64_t device, bool blocks)
{
    int64_t most = 0;
    int64_t before = 0;
    for (size_t i = 0; i + 1 < l->num_steps; i++) {
        const int64_t stored = stored_after(l, i, device);
        const int64_t after = blocks ? block_of(stored) : stored;
        most = before + after > most ? before + after : most;
        before = after;
    }
    return most;
}

/* What a device receives in all steps: all parts of what it has after each, but its own. */
static int64_t lacking(const step_list *l, int64_t device)
{
    int64_t elements = 0;
    const tsr_sharding *from = tsr_geometry_sharding(l->src);
    for (size_t i = 0; i < l->num_steps; i++) {
        device_slice before;
        device_slice after;
        const tsr_sharding *to = tsr_geometry_sharding(l->steps[i].dst);
        slice_of(from, l->of->rank, l->of->shape, device, &before);
        slice_of(to, l->of->rank, l->of->shape, device, &after);
        const int64_t parts = filling_of(from, 0).members / filling_of(to, 0).members;
        elements += parts * slice_elements(&after) - slice_common(&after, &before);
        from = to;
    }
    return elements * tsr_dtype_item_bytes(l->dtype);
}

/* A list on one rank. */
typedef struct run {
    tsr_comm *world;
    const step_list *list;
    const tsr_plan *plan;
    part from;
    part to;
    tsr_tensor *src;
    tsr_tensor *dst;
} run;

/* Over all ranks. */
static tsr_status reduced(tsr_comm *world, tsr_reduce_op op, int64_t mine, int64_t *out)
{
    const tsr_view view = {&mine, TSR_I64, 0, NULL, NULL};
    const tsr_status status = tsr_comm_all_reduce(world, op, &view, &view);
    *out = mine;
    return status;
}

/* Compares what the transport counted with what this rank lacks, and with what the steps say. */
static tsr_status check_bytes(const run *r, tsr_traffic before)
{
    tsr_comm *world = r->world;
    tsr_context *ctx = tsr_comm_context(world);
    const int64_t rank = tsr_comm_rank(world);
    const tsr_traffic after = tsr_comm_traffic(world);
    const int64_t received = after.bytes_received - before.bytes_received;
    const int64_t sent = after.bytes_sent - before.bytes_sent;
    int64_t moved = 0;
    int64_t most[2] = {0, 0};
    int64_t sum = 0;
    tsr_plan_totals total;
    WANT(world, received == lacking(r->list, rank));
    WANT(world, received == tsr_plan_bytes_received(r->plan, rank));
    WANT(world, sent == tsr_plan_bytes_sent(r->plan, rank));
    TSR_TRY(reduced(world, TSR_REDUCE_SUM, received, &moved));
    TSR_TRY(reduced(world, TSR_REDUCE_MAX, received, &most[0]));
    TSR_TRY(reduced(world, TSR_REDUCE_MAX, sent, &most[1]));
    for (size_t i = 0; i < r->list->num_steps; i++) {
        tsr_step step;
        TSR_TRY(tsr_plan_step(ctx, r->plan, i, NULL, &step));
        sum += step.bytes.moved;
        WANT(world, r->list->steps[i].kind == DIRECT || step.kind == r->list->steps[i].kind);
    }
    TSR_TRY(tsr_plan_total(ctx, r->plan, &total));
    WANT(world, moved == sum);
    WANT(world, total.moved == sum);
    WANT(world, total.most_received == most[0]);
    WANT(world, total.most_sent == most[1]);
    return TSR_OK;
}

/* Large messages take buffers from the segment too; without them it is just the tensors. */
static tsr_status check_memory(const run *r, size_t live, bool by_messages)
{
    tsr_comm *world = r->world;
    const int64_t rank = tsr_comm_rank(world);
    const int64_t between = tsr_plan_bytes_between(r->plan, rank);
    const int64_t peak = (int64_t)(world->own->most - live);
    WANT(world, between == most_between(r->list, rank, false));
    WANT(world, world->own->live == live);
    if (by_messages || r->list->from != OWNED || r->list->to != OWNED) {
        WANT(world, peak >= between);
        return TSR_OK;
    }
    WANT(world, peak == most_between(r->list, rank, true));
    WANT(world, !r->list->exact || peak == between);
    return TSR_OK;
}

static tsr_status run_list(run *r, tsr_arena *arena, bool by_messages)
{
    tsr_comm *world = r->world;
    const step_list *l = r->list;
    const family *of = l->of;
    const tsr_sharding *last = tsr_geometry_sharding(l->steps[l->num_steps - 1].dst);
    const tsr_tensor_spec from = {tsr_geometry_sharding(l->src), l->dtype, of->rank, of->shape};
    const tsr_tensor_spec to = {last, l->dtype, of->rank, of->shape};
    TSR_TRY(make_part(world, &from, of, l->from, &r->from, &r->src));
    TSR_TRY(make_part(world, &to, of, l->to, &r->to, &r->dst));
    part_fill(&r->from);
    TSR_TRY(tsr_plan_from_steps(tsr_comm_context(world), arena, l->src, l->num_steps, l->steps,
                                l->dtype, &r->plan));
    TSR_TRY(tsr_barrier(world));
    const tsr_traffic before = tsr_comm_traffic(world);
    const size_t live = world->own->live;
    TSR_TRY(tsr_barrier(world));
    world->own->most = live;
    TSR_TRY(tsr_redistribute_by(r->dst, r->src, r->plan));
    TSR_TRY(check_memory(r, live, by_messages));
    TSR_TRY(check_bytes(r, before));
    WANT(world, same_sizes(r->dst, &r->to));
    WANT(world, part_is_right(&r->to));
    WANT(world, part_is_right(&r->from));
    return TSR_OK;
}

static tsr_status run_lists(tsr_comm *world, void *state)
{
    const step_lists *all = state;
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    for (size_t i = 0; i < all->count; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(arena);
        run r = {.world = world, .list = &all->lists[i]};
        const tsr_status status = run_list(&r, arena, all->by_messages);
        drop_part(&r.from, &r.src);
        drop_part(&r.to, &r.dst);
        if (status < 0) {
            const list_row *row = all->lists[i].row;
            tsr_context *ctx = tsr_comm_context(world);
            return diag_error(ctx, status, NO_LOCATION, "list %zu of %s, from %s on %s: %s", i,
                              all->lists[i].of->name, row->text, row->mesh, last_error_text(ctx));
        }
        tsr_arena_reset(arena, mark);
    }
    tsr_arena_destroy(arena);
    return TSR_OK;
}

/* Whether all axes that a list needs have several devices. */
static bool has_axes(const tsr_sharding *s, const char *needs)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(s);
    bool has = true;
    for (size_t i = 0; i < tsr_mesh_num_axes(mesh); i++) {
        const bool needed = strchr(needs, tsr_mesh_axis_name(mesh, i)[0]) != NULL;
        has = has && (!needed || tsr_mesh_axis_size(mesh, i) > 1);
    }
    return has;
}

/* A list of the table on a shape. Where an axis is too short it is still run, as what it is. */
static void fill_list(fixture *f, int64_t ranks, const family *of, step_list *out)
{
    const list_row *row = out->row;
    const tsr_sharding *from = catalogue_layout(f, ranks, row->mesh, row->text);
    const bool strict = has_axes(from, row->needs);
    out->of = of;
    out->src = geometry_of(f, from, of->rank, of->shape);
    for (size_t i = 0; i < MAX_STEPS && row->steps[i].mesh != NULL; i++) {
        const step_row *step = &row->steps[i];
        const tsr_sharding *s = catalogue_layout(f, ranks, step->mesh, step->text);
        out->steps[i] =
            (tsr_step_spec){strict ? step->kind : DIRECT, geometry_of(f, s, of->rank, of->shape)};
        out->num_steps++;
    }
    for (int64_t device = 0; device < ranks; device++) {
        out->exact =
            out->exact && most_between(out, device, true) == most_between(out, device, false);
    }
}

/* Steps are counted by what they are, which is also what the list says. */
static void count_list(fixture *f, const step_list *l, step_counts *counts)
{
    const tsr_plan *plan = NULL;
    if (tsr_plan_from_steps(f->ctx, f->arena, l->src, l->num_steps, l->steps, l->dtype, &plan) !=
        TSR_OK) {
        fail_msg("from %s: %s", l->row->text, tsr_context_diagnostics(f->ctx)->text);
    }
    for (size_t i = 0; i < l->num_steps; i++) {
        tsr_step step;
        assert_int_equal(tsr_plan_step(f->ctx, plan, i, NULL, &step), TSR_OK);
        counts->kinds[step.kind] += step.kind == l->row->steps[i].kind;
    }
    counts->lists++;
    counts->long_lists += l->num_steps >= 3;
    counts->exact += l->exact && l->num_steps > 1;
}

static tsr_launch_spec launch_of(int64_t ranks, tsr_ranks kind)
{
    return (tsr_launch_spec){.num_ranks = ranks,
                             .ranks = kind,
                             .timeout = 60,
                             .checked = true,
                             .segment_bytes = (size_t)1 << 26};
}

void check_steps(fixture *f, int64_t ranks, tsr_ranks kind, step_counts *counts)
{
    static const memory turns[] = {OWNED, OWNED, WRAPPED, OWNED, STRIDED};
    static step_lists all;
    const tsr_launch_spec spec = launch_of(ranks, kind);
    all = (step_lists){.by_messages = kind == RANKS_BY_MESSAGES || kind == TSR_RANKS_MPI};
    for (size_t k = 0; k < SHAPES; k++) {
        family *of = &all.families[k];
        *of = (family){.name = k == 0 ? "even blocks" : "uneven blocks", .rank = 3};
        memcpy(of->shape, shapes[k].shape, sizeof shapes[k].shape);
        for (size_t i = 0; i < ROWS; i++) {
            step_list *l = &all.lists[all.count++];
            *l = (step_list){.row = &list_rows[i], .dtype = shapes[k].dtype, .exact = k == 0};
            l->from = k < 2 ? OWNED : turns[i % 5];
            l->to = k < 2 ? OWNED : turns[i % 3];
            fill_list(f, ranks, of, l);
            count_list(f, l, counts);
        }
    }
    expect_ranks(f, &spec, run_lists, &all);
}

/* Two layouts and the tensors of one rank in both. */
typedef struct refusal {
    const tsr_geometry *rows;
    const tsr_geometry *columns;
} refusal;

static tsr_status refuse_plans(tsr_comm *world, const refusal *x, tsr_arena *arena,
                               tsr_tensor *rows, tsr_tensor *columns)
{
    tsr_context *ctx = tsr_comm_context(world);
    const tsr_step_spec to_columns = {DIRECT, x->columns};
    const tsr_plan *right = NULL;
    const tsr_plan *other = NULL;
    TSR_TRY(tsr_plan_from_steps(ctx, arena, x->rows, 1, &to_columns, TSR_F32, &right));
    TSR_TRY(tsr_plan_from_steps(ctx, arena, x->rows, 1, &to_columns, TSR_F64, &other));
    WANT(world, tsr_redistribute_by(columns, rows, other) == TSR_ERR_INVALID);
    WANT(world, heard(world, "the plan is for element type f64, but the tensor has f32"));
    TSR_TRY(tsr_plan_from_steps(ctx, arena, x->columns, 1, &to_columns, TSR_F32, &other));
    WANT(world, tsr_redistribute_by(columns, rows, other) == TSR_ERR_INVALID);
    WANT(world, heard(world, "the first layout of the plan is not the layout of the source"));
    const tsr_step_spec stay = {DIRECT, x->rows};
    TSR_TRY(tsr_plan_from_steps(ctx, arena, x->rows, 1, &stay, TSR_F32, &other));
    WANT(world, tsr_redistribute_by(columns, rows, other) == TSR_ERR_INVALID);
    WANT(world, heard(world, "the last layout of the plan is not the layout of the destination"));
    const tsr_plan *none = NULL;
    const tsr_step_spec wrong = {REDUCE, x->columns};
    WANT(world,
         tsr_plan_from_steps(ctx, arena, x->rows, 1, &wrong, TSR_F32, &none) == TSR_ERR_INVALID);
    WANT(world, heard(world, "step 0 of the plan has kind all-reduce"));
    WANT(world,
         tsr_plan_from_steps(ctx, arena, x->rows, 0, NULL, TSR_F32, &none) == TSR_ERR_INVALID);
    WANT(world, heard(world, "a plan must have at least 1 step"));
    WANT(world, none == NULL);
    return tsr_redistribute_by(columns, rows, right);
}

/* After all refusals the world is as it was. */
static tsr_status refuse_all(tsr_comm *world, void *state)
{
    const refusal *x = state;
    static const int64_t shape[] = {9, 7};
    tsr_arena *arena = NULL;
    tsr_tensor *t[2] = {NULL, NULL};
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    for (int i = 0; i < 2; i++) {
        const tsr_geometry *g = i == 0 ? x->rows : x->columns;
        const tsr_tensor_spec spec = {tsr_geometry_sharding(g), TSR_F32, 2, shape};
        TSR_TRY(tsr_tensor_create(world, &spec, &t[i]));
    }
    const tsr_status status = refuse_plans(world, x, arena, t[0], t[1]);
    tsr_tensor_release(t[0]);
    tsr_tensor_release(t[1]);
    tsr_arena_destroy(arena);
    return status;
}

void check_refused_steps(fixture *f, int64_t ranks, tsr_ranks kind)
{
    const int64_t shape[] = {9, 7};
    const tsr_launch_spec spec = launch_of(ranks, kind);
    refusal x = {
        .rows = geometry_of(f, catalogue_layout(f, ranks, "line", "[{'x'}, {}]"), 2, shape),
        .columns = geometry_of(f, catalogue_layout(f, ranks, "line", "[{}, {'x'}]"), 2, shape)};
    expect_ranks(f, &spec, refuse_all, &x);
}

void print_step_counts(const step_counts *counts)
{
    printf("%lld lists of steps, %lld of three and more, %lld of whole blocks:",
           (long long)counts->lists, (long long)counts->long_lists, (long long)counts->exact);
    for (int kind = 0; kind <= DIRECT; kind++) {
        printf(" %s %lld", tsr_step_kind_name((tsr_step_kind)kind), (long long)counts->kinds[kind]);
    }
    printf("\n");
}
