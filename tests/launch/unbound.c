/*
 * Placements whose sizes are not known yet, in abstract worlds: layouts are inferred with their
 * symbols, bytes are unknown, and once the symbols are bound everything is as if they had been so
 * from the start.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "random.h"
#include "rt/comm.h"
#include "support.h"
#include "want.h"

static const char MESH[] = "<[\"x\"=3, \"y\"=2]>";

/* A rank's function, with what it needs to make tensors by text. */
typedef struct bench {
    tsr_comm *world;
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_mesh *mesh;
} bench;

static tsr_status bench_open(tsr_comm *world, bench *b)
{
    *b = (bench){.world = world, .ctx = tsr_comm_context(world)};
    TSR_TRY(tsr_arena_create(b->ctx, &b->arena));
    TSR_TRY(tsr_mesh_parse(b->ctx, b->arena, MESH, &b->mesh));
    TSR_TRY(tsr_scope_open(world));
    return tsr_trace_begin(world);
}

static void bench_close(const bench *b)
{
    tsr_trace_end(b->world);
    tsr_scope_close(b->world);
    tsr_arena_destroy(b->arena);
}

static tsr_status lay(const bench *b, const char *layout, int64_t rows, int64_t columns,
                      tsr_tensor **out)
{
    const int64_t shape[] = {rows, columns};
    const tsr_sharding *sharding = NULL;
    TSR_TRY(tsr_sharding_parse(b->ctx, b->arena, b->mesh, layout, &sharding));
    const tsr_tensor_spec spec = {sharding, TSR_F32, 2, shape};
    return tsr_ones(b->world, &spec, out);
}

static tsr_status move(const bench *b, tsr_tensor *t, const char *layout, tsr_tensor **out)
{
    const tsr_sharding *sharding = NULL;
    TSR_TRY(tsr_sharding_parse(b->ctx, b->arena, b->mesh, layout, &sharding));
    return tsr_with_sharding(t, sharding, out);
}

static const char *layout_of(const bench *b, const tsr_tensor *t)
{
    const char *text = "";
    (void)!tsr_sharding_print(b->ctx, b->arena, tsr_tensor_sharding(t), TSR_PRINT_BARE, &text);
    return text;
}

static bool is_laid(const bench *b, const tsr_tensor *t, const char *layout)
{
    return strcmp(layout_of(b, t), layout) == 0;
}

/* The last event of the trace. */
static const tsr_trace_event *last_event(const bench *b)
{
    static const tsr_trace_event none = {.collective = ""};
    size_t count = 0;
    const tsr_trace_event *events = tsr_trace_events(b->world, &count);
    return count > 0 ? &events[count - 1] : &none;
}

static bool is_last(const bench *b, const char *collective, int64_t received, int64_t moved)
{
    const tsr_trace_event *e = last_event(b);
    return strcmp(e->collective, collective) == 0 && e->bytes_received == received &&
           e->bytes_moved == moved;
}

static tsr_status infer(tsr_comm *world, void *state)
{
    bench b;
    tsr_tensor *x = NULL;
    tsr_tensor *w = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *z = NULL;
    const char *text = NULL;
    size_t count = 0;
    (void)state;
    TSR_TRY(bench_open(world, &b));
    TSR_TRY(lay(&b, "[{\"x\"}:dynamic[?rows], {}]", 8, 6, &x));
    TSR_TRY(lay(&b, "[{}, {\"y\"}]", 6, 4, &w));
    TSR_TRY(tsr_exp(x, &y));
    TSR_TRY(tsr_add(x, y, &y));
    WANT(world, is_laid(&b, y, "[{\"x\"}:dynamic[?rows], {}]"));
    TSR_TRY(tsr_matmul(y, w, &z));
    WANT(world, is_laid(&b, z, "[{\"x\"}:dynamic[?rows], {\"y\"}]"));
    TSR_TRY(tsr_sum(y, (const size_t[]){1}, 1, &z));
    WANT(world, is_laid(&b, z, "[{\"x\"}:dynamic[?rows]]"));
    TSR_TRY(tsr_sum(y, (const size_t[]){0}, 1, &z));
    WANT(world, is_laid(&b, z, "[{}], unreduced={\"x\"}"));
    WANT(world, tsr_tensor_local_shape(y)[0] == TSR_UNKNOWN && tsr_tensor_local_shape(y)[1] == 6);
    WANT(world, tsr_tensor_strides(y)[0] == 24 && tsr_tensor_shape(y)[0] == 8);
    (void)tsr_trace_events(world, &count);
    WANT(world, count == 0);
    /* What has to be known of shards is refused, and says so. */
    const int64_t index[] = {0, 0};
    const tsr_devices *devices = NULL;
    const tsr_plan *plan = NULL;
    const tsr_geometry *g = tsr_tensor_geometry(y);
    WANT(world, tsr_geometry_holders(b.ctx, b.arena, g, index, &devices) == TSR_ERR_INVALID);
    WANT(world, heard(world, "dim 0: its sizes are not bound yet"));
    WANT(world, tsr_plan_create(b.ctx, b.arena, g, g, TSR_F32, &plan) == TSR_ERR_INVALID);
    WANT(world, heard(world, "dim 0: its sizes are not bound yet"));
    int64_t start[2];
    int64_t size[2];
    WANT(world, tsr_geometry_box(g, 1, start, size) && start[0] == TSR_UNKNOWN &&
                    size[0] == TSR_UNKNOWN && start[1] == 0 && size[1] == 6);
    tsr_geometry_padded_shape(g, size);
    WANT(world, size[0] == TSR_UNKNOWN && size[1] == 6);
    tsr_geometry_least_shape(g, size);
    WANT(world, size[0] == TSR_UNKNOWN && size[1] == 6);
    WANT(world, tsr_geometry_pieces(g, 1, 0, 0, NULL) == TSR_UNKNOWN);
    /* Redistributions: all that is known is whether anything may move. */
    TSR_TRY(move(&b, y, "[{}, {}]", &z));
    WANT(world, is_last(&b, "all-gather", TSR_UNKNOWN, TSR_UNKNOWN));
    TSR_TRY(move(&b, z, "[{\"x\"}:dynamic[?rows], {\"y\"}]", &z));
    WANT(world, is_last(&b, "slice", 0, 0));
    TSR_TRY(move(&b, z, "[{\"x\"}:dynamic[?rows], {}]", &z));
    WANT(world, is_last(&b, "all-gather", TSR_UNKNOWN, TSR_UNKNOWN));
    TSR_TRY(move(&b, z, "[{\"y\", \"x\"}, {}]", &z));
    WANT(world, is_last(&b, "direct", TSR_UNKNOWN, TSR_UNKNOWN));
    TSR_TRY(move(&b, z, "[{}, {\"x\"}]", &z));
    WANT(world, last_event(&b)->bytes_moved > 0);
    TSR_TRY(tsr_trace_print(world, b.arena, &text));
    WANT(world, strstr(text, "all-gather over \"x\", [{\"x\"}:dynamic[?rows], {}] to [{}, {}], "
                             "unknown bytes, as asked") != NULL);
    /* The op wants whole rows: the move is listed, and strict mode refuses it. */
    TSR_TRY(tsr_cumsum(y, 0, &z));
    WANT(world, last_event(&b)->bytes_moved == TSR_UNKNOWN && last_event(&b)->implicit);
    TSR_TRY(tsr_set_strict(world, true));
    WANT(world, tsr_cumsum(y, 0, &z) == TSR_ERR_INVALID);
    WANT(world, heard(world, "of unknown bytes"));
    TSR_TRY(tsr_set_strict(world, false));
    bench_close(&b);
    return TSR_OK;
}

static void layouts_follow_symbols(void **state)
{
    fixture *f = *state;
    if (tsr_launch_abstract(f->ctx, 6, 3, infer, NULL) != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
}

static tsr_status refuse(tsr_comm *world, void *state)
{
    static const char *const others[] = {"[{\"x\"}:dynamic[?rest], {}]", "[{\"x\"}:dynamic[?], {}]",
                                         "[{\"x\"}:partitioned[?rows], {}]",
                                         "[{\"y\"}:dynamic[?rows], {}]"};
    bench b;
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    (void)state;
    TSR_TRY(bench_open(world, &b));
    TSR_TRY(lay(&b, "[{\"x\"}:dynamic[?rows], {}]", 8, 6, &x));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        TSR_TRY(lay(&b, others[i], 8, 6, &y));
        WANT(world, tsr_add(x, y, &y) == TSR_ERR_INVALID);
        WANT(world, heard(world, "dimension 0 of operand 0, [{\"x\"}:dynamic[?rows], {}], and "
                                 "dimension 0 of operand 1, "));
        WANT(world, tsr_add(y, x, &y) == TSR_ERR_INVALID);
        WANT(world, heard(world, "are both unbound and are not the same placement"));
        WANT(world, tsr_add(y, x, &y) == TSR_ERR_INVALID);
        WANT(world, heard(world, "bind them, by tsr_symbol_bind, or redistribute one"));
        TSR_TRY(move(&b, y, "[{\"x\"}:dynamic[?rows], {}]", &y));
        TSR_TRY(tsr_add(x, y, &y));
        WANT(world, is_laid(&b, y, "[{\"x\"}:dynamic[?rows], {}]"));
    }
    /* Even chunks and sizes that are known are laid out as ever: what moves is not known. */
    TSR_TRY(lay(&b, "[{\"x\"}, {}]", 8, 6, &y));
    TSR_TRY(tsr_add(x, y, &y));
    WANT(world, last_event(&b)->bytes_moved == TSR_UNKNOWN);
    bench_close(&b);
    return TSR_OK;
}

static void other_symbols_are_refused(void **state)
{
    fixture *f = *state;
    if (tsr_launch_abstract(f->ctx, 6, 0, refuse, NULL) != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
}

static tsr_status convert(tsr_comm *world, void *state)
{
    bench b;
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *z = NULL;
    tsr_conversion *record = NULL;
    const tsr_sharding *to = NULL;
    size_t before = 0;
    size_t after = 0;
    (void)state;
    TSR_TRY(bench_open(world, &b));
    TSR_TRY(lay(&b, "[{\"x\"}:partitioned[?tokens](partitions=4), {}]", 12, 2, &x));
    TSR_TRY(tsr_partitioned_unaligned_to_aligned(x, 0, &record, &y));
    WANT(world, is_laid(&b, y, "[{\"x\"}:partitioned[?tokens](aligned, partitions=4), {}]"));
    WANT(world, is_last(&b, "direct", TSR_UNKNOWN, TSR_UNKNOWN));
    TSR_TRY(tsr_conversion_backward(record, y, &z));
    WANT(world, is_laid(&b, z, "[{\"x\"}:partitioned[?tokens](partitions=4), {}]"));
    WANT(world, tsr_conversion_backward(record, x, &z) == TSR_ERR_INVALID);
    WANT(world, heard(world, "the gradient is laid out as"));
    tsr_conversion_release(record);
    TSR_TRY(tsr_partitioned_to_replicate(y, 0, NULL, &z));
    WANT(world, is_laid(&b, z, "[{}, {}]"));
    WANT(world, is_last(&b, "all-gather", TSR_UNKNOWN, TSR_UNKNOWN));
    WANT(world, tsr_partitioned_to_dynamic(y, 0, NULL, NULL, &z) == TSR_ERR_INVALID);
    WANT(world, heard(world, "bind the symbol ?tokens first"));
    TSR_TRY(tsr_sharding_parse(b.ctx, b.arena, b.mesh, "[{\"x\"}:dynamic[?rows], {}]", &to));
    const tsr_placement rows = {to, NULL};
    TSR_TRY(tsr_partitioned_to_dynamic(y, 0, &rows, NULL, &z));
    WANT(world, is_laid(&b, z, "[{\"x\"}:dynamic[?rows], {}]"));
    TSR_TRY(tsr_partitioned_reinterpret(x, &rows, NULL, &y));
    WANT(world, is_laid(&b, y, "[{\"x\"}:dynamic[?rows], {}]"));
    TSR_TRY(tsr_dynamic_to_replicate(z, 0, NULL, &y));
    WANT(world, is_last(&b, "all-gather", TSR_UNKNOWN, TSR_UNKNOWN));
    (void)tsr_trace_events(world, &before);
    TSR_TRY(tsr_dynamic_from_replicate(y, &rows, NULL, &y));
    (void)tsr_trace_events(world, &after);
    WANT(world, before == after && is_laid(&b, y, "[{\"x\"}:dynamic[?rows], {}]"));
    TSR_TRY(tsr_sum(z, (const size_t[]){0}, 1, &y));
    WANT(world, tsr_dynamic_to_replicate(y, 0, NULL, &y) == TSR_ERR_INVALID);
    (void)heard(world, "");
    bench_close(&b);
    return TSR_OK;
}

static void conversions_by_name(void **state)
{
    fixture *f = *state;
    if (tsr_launch_abstract(f->ctx, 6, 5, convert, NULL) != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
}

static tsr_status bind(tsr_comm *world, void *state)
{
    static const int64_t sizes[] = {3, 0, 5};
    static const int64_t long_sizes[] = {3, 1, 5};
    static const int64_t negative[] = {3, -1, 6};
    static const int64_t counts[] = {1, 2, 0, 0, 0, 1, 1, 3};
    bench b;
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *z = NULL;
    (void)state;
    TSR_TRY(bench_open(world, &b));
    TSR_TRY(lay(&b, "[{\"x\"}:dynamic[?rows], {}]", 8, 6, &x));
    TSR_TRY(lay(&b, "[{\"y\"}:partitioned[?rows](aligned), {}]", 8, 6, &y));
    TSR_TRY(tsr_mul(x, x, &z));
    /* Nothing is bound unless all tensors can have the numbers. */
    WANT(world, tsr_symbol_bind(world, "rows", 0, 3, long_sizes) == TSR_ERR_INVALID);
    WANT(world, heard(world, "dim 0: its sizes sum to 9, the extent is 8"));
    WANT(world, tsr_symbol_bind(world, "rows", 0, 2, sizes) == TSR_ERR_INVALID);
    WANT(world, heard(world, "?rows is bound to the sizes of 2 shards, the dimension has 3"));
    WANT(world, tsr_symbol_bind(world, "rows", 0, 3, negative) == TSR_ERR_INVALID);
    WANT(world, heard(world, "number 1 of ?rows is negative: -1"));
    WANT(world, tsr_symbol_bind(world, "rows", 3, 8, counts) == TSR_ERR_INVALID);
    WANT(world, heard(world, "got: 8 numbers of 3 partitions"));
    WANT(world, tsr_symbol_bind(world, "two words", 0, 3, sizes) == TSR_ERR_INVALID);
    WANT(world, heard(world, "a symbol is a bare id"));
    WANT(world, is_laid(&b, x, "[{\"x\"}:dynamic[?rows], {}]"));
    TSR_TRY(tsr_symbol_bind(world, "rest", 0, 3, sizes));
    TSR_TRY(tsr_symbol_bind(world, NULL, 0, 3, sizes));
    WANT(world, is_laid(&b, x, "[{\"x\"}:dynamic[?rows], {}]"));
    /* For tensors that exist, and for those made later; counts are another kind of numbers. */
    TSR_TRY(tsr_symbol_bind(world, "rows", 0, 3, sizes));
    WANT(world, is_laid(&b, x, "[{\"x\"}:dynamic[3, 0, 5], {}]"));
    WANT(world, is_laid(&b, z, "[{\"x\"}:dynamic[3, 0, 5], {}]"));
    WANT(world, is_laid(&b, y, "[{\"y\"}:partitioned[?rows](aligned), {}]"));
    TSR_TRY(tsr_symbol_bind(world, "rows", 4, 8, counts));
    WANT(world, is_laid(&b, y, "[{\"y\"}:partitioned[[1, 2, 0, 0], [0, 1, 1, 3]](aligned), {}]"));
    WANT(world, tsr_tensor_local_shape(z)[0] == (tsr_comm_rank(world) < 2 ? 3 : 5));
    TSR_TRY(lay(&b, "[{\"x\"}:dynamic[?], {}]", 8, 6, &y));
    TSR_TRY(tsr_add(y, z, &z));
    TSR_TRY(move(&b, z, "[{}, {}]", &z));
    WANT(world, is_last(&b, "all-gather", (8 - (tsr_comm_rank(world) < 2 ? 3 : 5)) * 24,
                        (5 + 8 + 3) * 2 * 24));
    bench_close(&b);
    return TSR_OK;
}

static void symbols_are_bound_for_all(void **state)
{
    fixture *f = *state;
    for (int64_t rank = 0; rank < 6; rank += 5) {
        if (tsr_launch_abstract(f->ctx, 6, rank, bind, NULL) != TSR_OK) {
            fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
        }
    }
}

/* Worlds with elements refuse what is unbound, and take symbols once they are bound. */
static tsr_status with_elements(tsr_comm *world, void *state)
{
    const int64_t mine[] = {1, 2, 5 + (tsr_comm_rank(world) == 4)};
    static const int64_t sizes[] = {1, 2, 5};
    bench b;
    tsr_tensor *x = NULL;
    (void)state;
    TSR_TRY(bench_open(world, &b));
    WANT(world, lay(&b, "[{\"x\"}:dynamic[?rows], {}]", 8, 6, &x) == TSR_ERR_INVALID);
    WANT(world, heard(world, "dim 0: its sizes are not bound yet"));
    WANT(world, tsr_symbol_bind(world, "rows", 0, 3, mine) < 0);
    WANT(world, heard(world, "tsr_symbol_bind"));
    TSR_TRY(tsr_symbol_bind(world, "rows", 0, 3, sizes));
    TSR_TRY(lay(&b, "[{\"x\"}:dynamic[?rows], {}]", 8, 6, &x));
    WANT(world, is_laid(&b, x, "[{\"x\"}:dynamic[1, 2, 5], {}]"));
    bench_close(&b);
    return TSR_OK;
}

static void elements_need_numbers(void **state)
{
    fixture *f = *state;
    const tsr_launch_spec spec = {.num_ranks = 6, .ranks = TSR_RANKS_THREADS, .timeout = 20};
    if (tsr_launch(f->ctx, &spec, with_elements, NULL) != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
}

/* ---- random programs ---- */

enum { STEPS = 24, POOL = 4, PARTITIONS = 4, SHARDS = 3, LAYOUTS = 8, LOG = 1 << 16 };

/* A program, with the numbers of its symbols. */
typedef struct random_run {
    rng seed;
    int64_t rows;
    int64_t rank;
    bool unbound;        /* starts with symbols, which are bound when it has run once */
    bool skipped[STEPS]; /* refused as both unbound */
    int64_t sizes[2][SHARDS];
    int64_t counts[SHARDS * PARTITIONS];
    char log[LOG]; /* what the bound program gave */
    size_t used;
    char kept[STEPS][512]; /* layouts of the results of steps, once bound */
} random_run;

static void print_numbers(char *text, size_t size, const int64_t *numbers, size_t rows,
                          size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < rows * length; i++) {
        const char *before = i % length > 0 ? ", "
                             : length == 1  ? (i > 0 ? ", " : "")
                             : i > 0        ? "], ["
                                            : "[";
        used += (size_t)snprintf(text + used, size - used, "%s%lld", before, (long long)numbers[i]);
    }
    (void)snprintf(text + used, size - used, "%s", length > 1 ? "]" : "");
}

/* One of the layouts, with symbols or with their numbers. */
static void layout_text(const random_run *r, bool symbols, int64_t which, char *text, size_t size)
{
    char numbers[3][256] = {"?rows", "?rest", "?tokens"};
    if (!symbols) {
        print_numbers(numbers[0], sizeof numbers[0], r->sizes[0], SHARDS, 1);
        print_numbers(numbers[1], sizeof numbers[1], r->sizes[1], SHARDS, 1);
        print_numbers(numbers[2], sizeof numbers[2], r->counts, SHARDS, PARTITIONS);
    }
    const char *partitions = symbols ? "partitions=4" : "";
    switch (which) {
    case 0:
        (void)snprintf(text, size, "[{\"x\"}:dynamic[%s], {}]", numbers[0]);
        break;
    case 1:
        (void)snprintf(text, size, "[{\"x\"}:dynamic[%s], {\"y\"}]", numbers[0]);
        break;
    case 2:
        (void)snprintf(text, size, "[{\"x\"}:dynamic[%s], {}]", numbers[1]);
        break;
    case 3:
        (void)snprintf(text, size, "[{\"x\"}:partitioned[%s](unaligned%s%s), {}]", numbers[2],
                       symbols ? ", " : "", partitions);
        break;
    case 4:
        (void)snprintf(text, size, "[{\"x\"}:partitioned[%s](aligned%s%s), {\"y\"}]", numbers[2],
                       symbols ? ", " : "", partitions);
        break;
    case 5:
        (void)snprintf(text, size, "[{\"y\"}, {}]");
        break;
    case 6:
        (void)snprintf(text, size, "[{}, {\"x\"}]");
        break;
    default:
        (void)snprintf(text, size, "[{}, {}]");
        break;
    }
}

/* One step on the pool; its result, which is 2-d, replaces one of it. */
static tsr_status take_step(const bench *b, random_run *r, rng *g, bool symbols, tsr_tensor **pool,
                            tsr_tensor **out)
{
    char text[1024];
    tsr_tensor *x = pool[rng_below(g, POOL)];
    tsr_tensor *y = pool[rng_below(g, POOL)];
    const int64_t kind = rng_below(g, 8);
    const int64_t layout = rng_below(g, LAYOUTS);
    tsr_tensor *w = NULL;
    switch (kind) {
    case 0:
        return tsr_exp(x, out);
    case 1:
    case 2:
        return tsr_add(x, y, out);
    case 3:
        TSR_TRY(lay(b, "[{}, {}]", 6, 6, &w));
        return tsr_matmul(x, w, out);
    case 4:
        return tsr_sum(x, (const size_t[]){1}, 1, out);
    case 5:
        return tsr_sum(x, (const size_t[]){0}, 1, out);
    default:
        layout_text(r, symbols, layout, text, sizeof text);
        return move(b, x, text, out);
    }
}

static void note(random_run *r, const char *text)
{
    r->used += (size_t)snprintf(r->log + r->used, LOG - r->used, "%s\n", text);
}

static tsr_status run_program(const bench *b, random_run *r, bool symbols, bool first,
                              tsr_tensor **results)
{
    tsr_tensor *pool[POOL];
    rng g = r->seed;
    char text[1024];
    for (int i = 0; i < POOL; i++) {
        layout_text(r, symbols, rng_below(&g, LAYOUTS), text, sizeof text);
        TSR_TRY(lay(b, text, r->rows, 6, &pool[i]));
    }
    for (int i = 0; i < STEPS; i++) {
        rng step = rng_case(&g, (uint64_t)i);
        results[i] = NULL;
        if (r->skipped[i] && !first) {
            continue;
        }
        const tsr_status status = take_step(b, r, &step, symbols, pool, &results[i]);
        if (first && status < 0 && heard(b->world, "both unbound")) {
            r->skipped[i] = true;
            continue;
        }
        TSR_TRY(status);
        const int64_t *shape = tsr_tensor_shape(results[i]);
        if (tsr_tensor_rank(results[i]) == 2 && shape[0] == r->rows && shape[1] == 6) {
            pool[rng_below(&step, POOL)] = results[i];
        }
        if (!first) {
            note(r, layout_of(b, results[i]));
        }
    }
    return TSR_OK;
}

static tsr_status run_random(tsr_comm *world, void *state)
{
    random_run *r = state;
    bench b;
    tsr_tensor *results[STEPS];
    const char *text = NULL;
    TSR_TRY(bench_open(world, &b));
    if (r->unbound) {
        TSR_TRY(run_program(&b, r, true, true, results));
        TSR_TRY(tsr_symbol_bind(world, "rows", 0, SHARDS, r->sizes[0]));
        TSR_TRY(tsr_symbol_bind(world, "rest", 0, SHARDS, r->sizes[1]));
        TSR_TRY(
            tsr_symbol_bind(world, "tokens", PARTITIONS, (size_t)SHARDS * PARTITIONS, r->counts));
        for (int i = 0; i < STEPS; i++) {
            (void)snprintf(r->kept[i], sizeof r->kept[i], "%s",
                           results[i] != NULL ? layout_of(&b, results[i]) : "");
        }
        TSR_TRY(tsr_trace_begin(world));
    }
    TSR_TRY(run_program(&b, r, r->unbound, false, results));
    for (int i = 0; i < STEPS && !r->unbound; i++) {
        (void)snprintf(r->kept[i], sizeof r->kept[i], "%s",
                       results[i] != NULL ? layout_of(&b, results[i]) : "");
    }
    size_t count = 0;
    const tsr_trace_event *events = tsr_trace_events(world, &count);
    for (size_t i = 0; i < count; i++) {
        char bytes[64];
        WANT(world, events[i].bytes_moved != TSR_UNKNOWN);
        (void)snprintf(bytes, sizeof bytes, "%lld %lld", (long long)events[i].bytes_received,
                       (long long)events[i].bytes_moved);
        note(r, bytes);
    }
    TSR_TRY(tsr_trace_print(world, b.arena, &text));
    note(r, text);
    bench_close(&b);
    return TSR_OK;
}

/* Numbers that sum to what they are for. */
static void share(rng *g, int64_t total, int64_t *numbers, int64_t count)
{
    memset(numbers, 0, (size_t)count * sizeof *numbers);
    for (int64_t i = 0; i < total; i++) {
        numbers[rng_below(g, count)]++;
    }
}

static void bound_later_is_bound_before(void **state)
{
    fixture *f = *state;
    const rng all = rng_start("unbound");
    static random_run runs[2];
    for (int64_t i = 0; i < prop_cases(300); i++) {
        rng g = rng_case(&all, (uint64_t)i);
        memset(runs, 0, sizeof runs);
        runs[0].seed = rng_case(&g, 1);
        runs[0].rows = rng_below(&g, 13);
        runs[0].rank = rng_below(&g, 6);
        share(&g, runs[0].rows, runs[0].sizes[0], SHARDS);
        share(&g, runs[0].rows, runs[0].sizes[1], SHARDS);
        share(&g, runs[0].rows, runs[0].counts, (int64_t)SHARDS * PARTITIONS);
        runs[0].unbound = true;
        if (tsr_launch_abstract(f->ctx, 6, runs[0].rank, run_random, &runs[0]) != TSR_OK) {
            fail_msg("case %lld, unbound: %s", (long long)i, tsr_context_diagnostics(f->ctx)->text);
        }
        runs[1] = runs[0];
        runs[1].unbound = false;
        runs[1].used = 0;
        memset(runs[1].log, 0, LOG);
        if (tsr_launch_abstract(f->ctx, 6, runs[1].rank, run_random, &runs[1]) != TSR_OK) {
            fail_msg("case %lld, bound: %s", (long long)i, tsr_context_diagnostics(f->ctx)->text);
        }
        if (strcmp(runs[0].log, runs[1].log) != 0) {
            fail_msg("case %lld: bound later\n%s\nbound before\n%s", (long long)i, runs[0].log,
                     runs[1].log);
        }
        for (int k = 0; k < STEPS; k++) {
            if (strcmp(runs[0].kept[k], runs[1].kept[k]) != 0) {
                fail_msg("case %lld, step %d: inferred unbound, then bound, %s; bound %s",
                         (long long)i, k, runs[0].kept[k], runs[1].kept[k]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(layouts_follow_symbols), TEST(other_symbols_are_refused),
        TEST(conversions_by_name),    TEST(symbols_are_bound_for_all),
        TEST(elements_need_numbers),  TEST(bound_later_is_bound_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
