#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "memory_transport.h"
#include "parts.h"

/* One rank at work. */
typedef struct worker {
    tsr_comm *world;
    tsr_arena *arena;
    const pair_list *list;
    const layout_pair *now;
    part from;
    tsr_tensor *src;
} worker;

static const family *family_of(const worker *w)
{
    return &w->list->families[w->now->family];
}

static tsr_status complain(const worker *w, const char *what)
{
    const family *of = family_of(w);
    const char *texts[2] = {"?", "?"};
    const char *meshes[2] = {"?", "?"};
    tsr_context *ctx = tsr_comm_context(w->world);
    for (int i = 0; i < 2; i++) {
        const tsr_sharding *s = of->layouts[i == 0 ? w->now->from : w->now->to];
        (void)!tsr_sharding_print(ctx, w->arena, s, TSR_PRINT_BARE, &texts[i]);
        (void)!tsr_mesh_print(ctx, w->arena, tsr_sharding_mesh(s), &meshes[i]);
    }
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "%s: %s, %s on %s to %s on %s", what,
                      of->name, texts[0], meshes[0], texts[1], meshes[1]);
}

/* Mostly f64; others where every share of the values is exact and can be folded. */
static tsr_dtype dtype_of(const tsr_sharding *from, size_t number)
{
    static const tsr_dtype turns[] = {TSR_F64, TSR_F32,  TSR_F64, TSR_I32, TSR_F64,
                                      TSR_F64, TSR_BF16, TSR_F64, TSR_I8,  TSR_C64};
    const tsr_dtype dtype = turns[number % (sizeof turns / sizeof turns[0])];
    const tsr_reduction reduction = tsr_sharding_reduction(from);
    const bool integer = dtype == TSR_I32 || dtype == TSR_I8;
    const bool fits = reduction == TSR_AVG   ? !integer
                      : reduction == TSR_SUM ? true
                                             : dtype != TSR_C64;
    return fits || !sharding_is_pending(from) ? dtype : TSR_F64;
}

/* The source of the pair at hand, in memory that turns with its number. */
static tsr_status make_source(worker *w)
{
    static const memory turns[] = {OWNED, OWNED, STRIDED, OWNED, WRAPPED};
    const family *of = family_of(w);
    const size_t number = w->now->from + w->now->family;
    const tsr_sharding *from = of->layouts[w->now->from];
    const tsr_tensor_spec spec = {from, dtype_of(from, number), of->rank, of->shape};
    const tsr_status status = make_part(w->world, &spec, of, turns[number % 5], &w->from, &w->src);
    if (status == TSR_OK) {
        part_fill(&w->from);
        return tsr_barrier(w->world);
    }
    return status;
}

/* Whether the source is still what it was; it is dropped. */
static tsr_status finish_source(worker *w)
{
    const bool right = w->src == NULL || part_is_right(&w->from);
    drop_part(&w->from, &w->src);
    return right ? TSR_OK : complain(w, "the source changed");
}

/* Compares what the transport moved with what this rank lacks, or with the plan. */
static tsr_status check_traffic(const worker *w, const tsr_tensor *dst, const part *to,
                                tsr_traffic before)
{
    const int64_t rank = tsr_comm_rank(w->world);
    const tsr_traffic after = tsr_comm_traffic(w->world);
    const family *of = family_of(w);
    const tsr_plan *plan = NULL;
    const tsr_status status =
        tsr_plan_create(tsr_comm_context(w->world), w->arena, tsr_tensor_geometry(w->src),
                        tsr_tensor_geometry(dst), to->dtype, &plan);
    if (status < 0) {
        return status;
    }
    int64_t wanted = tsr_plan_bytes_received(plan, rank);
    if (!sharding_is_pending(of->layouts[w->now->from])) {
        wanted = slice_elements(&to->rows) - slice_common(&to->rows, &w->from.rows);
        wanted *= tsr_dtype_item_bytes(to->dtype);
    }
    if (after.bytes_received - before.bytes_received != wanted) {
        return complain(w, "a rank received other than it should");
    }
    if (after.bytes_sent - before.bytes_sent != tsr_plan_bytes_sent(plan, rank)) {
        return complain(w, "a rank sent other than the plan says");
    }
    return TSR_OK;
}

/* The destination by one of the calls: a new tensor, or one that is there already. */
static tsr_status redistribute(const worker *w, size_t number, part *to, tsr_tensor **dst)
{
    enum { FRESH = -1 };
    static const int turns[] = {FRESH, OWNED, FRESH, STRIDED, FRESH, WRAPPED, FRESH};
    const family *of = family_of(w);
    const int turn = turns[number % 7];
    const tsr_tensor_spec spec = {of->layouts[w->now->to], w->from.dtype, of->rank, of->shape};
    if (turn != FRESH) {
        const tsr_status status = make_part(w->world, &spec, of, (memory)turn, to, dst);
        return status == TSR_OK ? tsr_redistribute_into(*dst, w->src) : status;
    }
    const int64_t rank = tsr_comm_rank(w->world);
    const tsr_status status = tsr_redistribute(w->src, spec.sharding, dst);
    if (status == TSR_OK) {
        *to = (part){.of = of, .dtype = spec.dtype, .how = filling_of(spec.sharding, rank)};
        slice_of(spec.sharding, of->rank, of->shape, rank, &to->rows);
        to->data = tsr_tensor_data(*dst);
        memcpy(to->strides, tsr_tensor_strides(*dst), of->rank * sizeof *to->strides);
    }
    return status;
}

static tsr_status run_pair(worker *w, size_t number)
{
    part to = {0};
    tsr_tensor *dst = NULL;
    const tsr_traffic before = tsr_comm_traffic(w->world);
    tsr_status status = tsr_barrier(w->world);
    if (status == TSR_OK) {
        status = redistribute(w, number, &to, &dst);
    }
    if (status == TSR_OK) {
        status = check_traffic(w, dst, &to, before);
    }
    if (status == TSR_OK && !(same_sizes(dst, &to) && part_is_right(&to))) {
        status = complain(w, "wrong elements");
    }
    drop_part(&to, &dst);
    return status;
}

static bool same_source(const layout_pair *a, const layout_pair *b)
{
    return a->family == b->family && a->from == b->from;
}

tsr_status run_pairs(tsr_comm *world, void *state)
{
    worker w = {.world = world, .list = state};
    tsr_status status = tsr_arena_create(tsr_comm_context(world), &w.arena);
    for (size_t i = 0; status == TSR_OK && i < w.list->count; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(w.arena);
        const layout_pair *next = &w.list->pairs[i];
        if (w.now == NULL || !same_source(w.now, next)) {
            status = finish_source(&w);
            w.now = next;
            status = status == TSR_OK ? make_source(&w) : status;
        }
        w.now = next;
        status = status == TSR_OK ? run_pair(&w, i) : status;
        tsr_arena_reset(w.arena, mark);
    }
    const tsr_status last = finish_source(&w);
    tsr_arena_destroy(w.arena);
    return status < 0 ? status : last;
}

static bool same_pending(const tsr_sharding *a, const tsr_sharding *b)
{
    size_t count_a;
    size_t count_b;
    const tsr_axis_ref *axes_a = tsr_sharding_unreduced(a, &count_a);
    const tsr_axis_ref *axes_b = tsr_sharding_unreduced(b, &count_b);
    return tsr_axes_equal(axes_a, count_a, axes_b, count_b) &&
           tsr_sharding_reduction(a) == tsr_sharding_reduction(b) &&
           tsr_mesh_equal(tsr_sharding_mesh(a), tsr_sharding_mesh(b));
}

/* Lists the pairs; how many there are. With `out` NULL only that. */
static size_t list_pairs(const family *families, size_t count, layout_pair *out)
{
    size_t number = 0;
    for (size_t k = 0; k < count; k++) {
        const family *of = &families[k];
        for (size_t i = 0; i < of->count * of->count; i++) {
            const layout_pair p = {k, i / of->count, i % of->count};
            if (sharding_is_pending(of->layouts[p.to]) &&
                !same_pending(of->layouts[p.from], of->layouts[p.to])) {
                continue;
            }
            if (out != NULL) {
                out[number] = p;
            }
            number++;
        }
    }
    return number;
}

static int by_place(const void *a, const void *b)
{
    const layout_pair *x = a;
    const layout_pair *y = b;
    const size_t first = (x->family * MAX_LAYOUTS + x->from) * MAX_LAYOUTS + x->to;
    const size_t second = (y->family * MAX_LAYOUTS + y->from) * MAX_LAYOUTS + y->to;
    return (first > second) - (first < second);
}

pair_list pairs_of(fixture *f, const family *families, size_t count, size_t sample)
{
    pair_list list = {.families = families, .count = list_pairs(families, count, NULL)};
    list.pairs = tsr_arena_alloc(f->arena, (list.count + 1) * sizeof *list.pairs);
    assert_non_null(list.pairs);
    (void)list_pairs(families, count, list.pairs);
    if (sample == 0 || sample >= list.count) {
        return list;
    }
    rng r = rng_start("pairs_of");
    for (size_t i = 0; i < sample; i++) {
        const size_t j = i + (size_t)rng_below(&r, (int64_t)(list.count - i));
        const layout_pair kept = list.pairs[i];
        list.pairs[i] = list.pairs[j];
        list.pairs[j] = kept;
    }
    qsort(list.pairs, sample, sizeof *list.pairs, by_place);
    list.count = sample;
    return list;
}

void launch_pairs(fixture *f, int64_t ranks, tsr_ranks kind, pair_list *pairs)
{
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kind,
                                  .timeout = 60,
                                  .checked = true,
                                  .segment_bytes = (size_t)1 << 26};
    expect_ranks(f, &spec, run_pairs, pairs);
}

static void fill_family(fixture *f, rng *r, int64_t ranks, family *of)
{
    of->name = "random layouts";
    do {
        of->rank = random_shape(r, of->shape);
    } while (of->rank == 0 && rng_chance(r, 90));
    const size_t wanted = ranks > 4 ? 10 : 14;
    for (of->count = 0; of->count < wanted; of->count++) {
        const sharding_limits limits = {true, rng_chance(r, 40), rng_chance(r, 50)};
        of->layouts[of->count] =
            random_sharding(f, r, random_mesh_of(f, r, ranks, (mesh_limits){ranks, true, true}),
                            of->rank, of->shape, limits);
    }
}

void check_pairs(fixture *f, int64_t ranks, tsr_ranks kind, size_t sample)
{
    enum { SHAPES = 4 };
    static family families[SHAPES];
    const rng base = rng_start("check_pairs");
    rng r = rng_case(&base, (uint64_t)ranks);
    for (size_t i = 0; i < SHAPES; i++) {
        fill_family(f, &r, ranks, &families[i]);
    }
    pair_list list = pairs_of(f, families, SHAPES, sample);
    launch_pairs(f, ranks, kind, &list);
}
