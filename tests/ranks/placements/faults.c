/* What is refused of placements, and DLPack between ranks. */
#include <stdlib.h>
#include <string.h>

#include <dlpack/dlpack.h>

#include "memory_transport.h"
#include "placements.h"

#include "base/base.h"
#include "rt/comm.h"
#include "want.h"

enum { RANKS = 3, GUILTY = 1, ROWS = 8 };

typedef struct scene {
    const tsr_sharding *even;
    const tsr_sharding *whole;
    const tsr_sharding *sums;
    const tsr_sharding *averages;
    const tsr_sharding *ragged;
    const tsr_sharding *ragged_other;
    const tsr_sharding *unbound;
    const tsr_sharding *parts_unbound;
    const tsr_sharding *unaligned;
    const tsr_sharding *aligned;
    const tsr_sharding *flat; /* of two dimensions */
} scene;

static const int64_t shape[] = {ROWS};

/* The call fails with this status and text. Where it does not, the text that there is is shown. */
#define WANT_ERROR(world, call, status, part)                                                      \
    do {                                                                                           \
        const tsr_status got = (call);                                                             \
        if (got != (status) || !heard(world, part)) {                                              \
            return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION,               \
                              "line %d: %s, wanted: %s; last message: %s", __LINE__,               \
                              tsr_status_name(got), part,                                          \
                              last_error_text(tsr_comm_context(world)));                           \
        }                                                                                          \
    } while (0)

static tsr_status make_tensor(tsr_comm *world, const tsr_sharding *sharding, tsr_dtype dtype,
                              tsr_tensor **out)
{
    const tsr_tensor_spec spec = {sharding, dtype, 1, shape};
    return tsr_tensor_create(world, &spec, out);
}

/* One way to give wrong numbers, the same on every rank unless one of them is guilty. */
typedef struct wrong_numbers {
    bool partitioned;
    tsr_amounts_kind kind;
    int64_t values[8];
    size_t count;
    const char *text;
} wrong_numbers;

static const wrong_numbers wrong[] = {
    {false, TSR_AMOUNTS_ALL, {3, 0, 4}, 3, "dim 0: its sizes sum to 7, the extent is 8"},
    {false, TSR_AMOUNTS_ALL, {9, -1, 0}, 3, "dim 0: explicit size 1 is negative: -1"},
    {false,
     TSR_AMOUNTS_ALL,
     {4, 4},
     2,
     "dim 0: a dynamic dimension over 3 shards needs 3 sizes, got: 2"},
    {false, TSR_AMOUNTS_OWN, {4, 4}, 2, "dim 0: the size of one shard must be 1 number, got: 2"},
    {false, TSR_AMOUNTS_OWN, {-4}, 1, "dim 0: explicit size 0 is negative: -4"},
    {false, TSR_AMOUNTS_OWN, {3}, 1, "dim 0: its sizes sum to 9, the extent is 8"},
    {false,
     TSR_AMOUNTS_TOTALS,
     {8},
     1,
     "dim 0: totals belong to partitions, but a dynamic dimension has none"},
    {true,
     TSR_AMOUNTS_ALL,
     {1, 2, 3},
     3,
     "dim 0: counts of 2 partitions over 3 shards are 6 numbers, got: 3"},
    {true,
     TSR_AMOUNTS_OWN,
     {1, 2, 3},
     3,
     "dim 0: one shard's counts of 2 partitions over 3 shards are 2 numbers, got: 3"},
    {true,
     TSR_AMOUNTS_TOTALS,
     {8},
     1,
     "dim 0: totals of 2 partitions over 3 shards are 2 numbers, got: 1"},
    {true, TSR_AMOUNTS_TOTALS, {4, 5}, 2, "dim 0: its counts sum to 9, the extent is 8"},
    {true, TSR_AMOUNTS_OWN, {4, -5}, 2, "dim 0: explicit size 1 is negative: -5"},
    {true,
     TSR_AMOUNTS_ALL,
     {INT64_MAX, 1, 0, 0, 0, 0},
     6,
     "dim 0: its sizes sum to more than 2^63-1"},
};

static tsr_status check_numbers(tsr_comm *world, tsr_arena *arena, const scene *s)
{
    const tsr_sharding *bound = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const wrong_numbers *w = &wrong[i];
        const tsr_amounts amounts = {w->kind, w->values, w->count, NULL};
        const tsr_placement to = {w->partitioned ? s->parts_unbound : s->unbound, &amounts};
        const tsr_status status = tsr_placement_bind(world, arena, &to, ROWS, &bound, NULL);
        if (status >= 0 || !heard(world, w->text)) {
            return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION,
                              "wanted: %s; last message: %s", w->text,
                              last_error_text(tsr_comm_context(world)));
        }
        WANT(world, bound == NULL);
    }
    return TSR_OK;
}

/* One rank is wrong by itself: it knows why, the others whose fault it is. */
static tsr_status check_guilty(tsr_comm *world, tsr_arena *arena, const scene *s)
{
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    const int64_t mine = guilty ? -2 : 4;
    const int64_t all[] = {3, guilty, guilty ? 4 : 5};
    const tsr_amounts own = {TSR_AMOUNTS_OWN, &mine, 1, NULL};
    const tsr_amounts sizes = {TSR_AMOUNTS_ALL, all, RANKS, NULL};
    const tsr_placement negative = {s->unbound, &own};
    const tsr_placement different = {s->unbound, &sizes};
    const tsr_placement bound_twice = {s->ragged, guilty ? &sizes : NULL};
    const tsr_sharding *bound = NULL;
    const char *text =
        "the ranks make different calls: rank 0 calls tsr_placement_bind with dim 0:dynamic[3, 0, "
        "5]; rank 1 calls tsr_placement_bind with dim 0:dynamic[3, 1, 4]; unlike rank 0: 1";
    tsr_tensor *whole = NULL;
    tsr_tensor *out = NULL;
    WANT_ERROR(world, tsr_placement_bind(world, arena, &negative, ROWS, &bound, NULL),
               TSR_ERR_INVALID,
               guilty ? "dim 0: explicit size 0 is negative: -2"
                      : "rank 1 refuses: dim 0: explicit size 0 is negative: -2");
    WANT_ERROR(world, tsr_placement_bind(world, arena, &different, ROWS, &bound, NULL),
               TSR_ERR_PEER, text);
    WANT(world, make_tensor(world, s->whole, TSR_F64, &whole) == TSR_OK);
    WANT_ERROR(world, tsr_dynamic_from_replicate(whole, &different, NULL, &out), TSR_ERR_PEER,
               "rank 1 calls tsr_dynamic_from_replicate with dim 0:dynamic[3, 1, 4]");
    const tsr_placement other = {guilty ? s->ragged_other : s->ragged, NULL};
    WANT_ERROR(world, tsr_dynamic_from_replicate(whole, &other, NULL, &out), TSR_ERR_PEER,
               "rank 1 calls tsr_dynamic_from_replicate with dim 0:dynamic[3, 1, 4]");
    WANT_ERROR(
        world,
        tsr_dynamic_shard(world, &other, TSR_F64, 1, shape, -1, tsr_tensor_data(whole), &out),
        TSR_ERR_PEER, "rank 1 calls tsr_dynamic_shard with dim 0:dynamic[3, 1, 4]");
    WANT_ERROR(world, tsr_dynamic_from_replicate(whole, &bound_twice, NULL, &out), TSR_ERR_INVALID,
               guilty ? "no dimension of the placement is unbound"
                      : "rank 1 refuses: no dimension of the placement is unbound");
    WANT(world, out == NULL && bound == NULL);
    tsr_tensor_release(whole);
    return TSR_OK;
}

static tsr_status check_sources(tsr_comm *world, tsr_arena *arena, const scene *s)
{
    const int64_t eight[] = {8};
    const tsr_sharding *bound = NULL;
    tsr_tensor *floats = NULL;
    tsr_tensor *table = NULL;
    const tsr_tensor_spec spec = {s->flat, TSR_I64, 2, (const int64_t[]){RANKS, 3}};
    WANT(world, make_tensor(world, s->whole, TSR_F64, &floats) == TSR_OK);
    WANT(world, tsr_tensor_create(world, &spec, &table) == TSR_OK);
    const tsr_amounts of_floats = {TSR_AMOUNTS_ALL, NULL, 0, floats};
    const tsr_amounts of_table = {TSR_AMOUNTS_ALL, NULL, 0, table};
    const tsr_amounts nothing = {TSR_AMOUNTS_ALL, NULL, 0, NULL};
    const tsr_amounts some = {TSR_AMOUNTS_ALL, eight, 1, NULL};
    const struct {
        tsr_placement to;
        const char *text;
    } cases[] = {
        {{s->unbound, &of_floats}, "dim 0: sizes and counts must be i64 tensors, got: f64"},
        {{s->unbound, &of_table}, "dim 0: a tensor of sizes or totals must have rank 1, got: 2"},
        {{s->parts_unbound, &of_table},
         "dim 0: counts of 2 partitions over 3 shards are 6 numbers, got: 9"},
        {{s->unbound, &nothing}, "dim 0: its sizes or counts are unbound and none are given"},
        {{s->unbound, NULL}, "dim 0: its sizes or counts are unbound and none are given"},
        {{s->ragged, &some}, "no dimension of the placement is unbound: remove the amounts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        WANT_ERROR(world, tsr_placement_bind(world, arena, &cases[i].to, ROWS, &bound, NULL),
                   TSR_ERR_INVALID, cases[i].text);
    }
    tsr_tensor_release(floats);
    tsr_tensor_release(table);
    return TSR_OK;
}

/* Conversions of tensors that are laid out otherwise, or to where they cannot go. */
static tsr_status check_kinds(tsr_comm *world, const scene *s)
{
    tsr_tensor *t[5] = {NULL};
    tsr_tensor *out = NULL;
    const tsr_placement ragged = {s->ragged, NULL};
    const tsr_placement whole = {s->whole, NULL};
    const tsr_placement flat = {s->flat, NULL};
    const tsr_placement sums = {s->sums, NULL};
    const tsr_placement unaligned = {s->unaligned, NULL};
    const tsr_sharding *const at[] = {s->whole, s->ragged, s->unaligned, s->aligned, s->sums};
    for (size_t i = 0; i < 5; i++) {
        WANT(world, make_tensor(world, at[i], TSR_F64, &t[i]) == TSR_OK);
    }
    WANT_ERROR(world, tsr_dynamic_to_replicate(t[0], 0, NULL, &out), TSR_ERR_INVALID,
               "tsr_dynamic_to_replicate: dim 0 of the tensor is not sharded; it must be sharded "
               "evenly, or dynamic");
    WANT_ERROR(world, tsr_dynamic_to_replicate(t[1], 1, NULL, &out), TSR_ERR_INVALID,
               "tsr_dynamic_to_replicate: dim 1 is out of range: the tensor has 1 dimensions");
    WANT_ERROR(world, tsr_dynamic_to_replicate(t[2], 0, NULL, &out), TSR_ERR_INVALID,
               "dim 0 of the tensor is partitioned and unaligned; it must be");
    WANT_ERROR(world, tsr_dynamic_to_replicate(t[4], 0, NULL, &out), TSR_ERR_INVALID,
               "tsr_dynamic_to_replicate: the tensor has a pending sum: reduce it first");
    WANT_ERROR(world, tsr_dynamic_from_replicate(t[1], &ragged, NULL, &out), TSR_ERR_INVALID,
               "dim 0 of the tensor is dynamic; it must be not sharded");
    WANT_ERROR(world, tsr_dynamic_from_replicate(t[0], &whole, NULL, &out), TSR_ERR_INVALID,
               "tsr_dynamic_from_replicate: no dimension of the placement is dynamic");
    WANT_ERROR(world, tsr_dynamic_from_replicate(t[0], &flat, NULL, &out), TSR_ERR_INVALID,
               "the placement has 2 dimensions, the tensor 1");
    WANT_ERROR(world, tsr_dynamic_reduce_shard(t[0], &ragged, NULL, &out), TSR_ERR_INVALID,
               "tsr_dynamic_reduce_shard: the tensor has no pending reduction");
    WANT_ERROR(world, tsr_dynamic_to_dynamic(t[1], &sums, NULL, &out), TSR_ERR_INVALID,
               "no dimension of the placement is dynamic");
    WANT_ERROR(world, tsr_partitioned_unaligned_to_aligned(t[3], 0, NULL, &out), TSR_ERR_INVALID,
               "dim 0 of the tensor is partitioned and aligned; it must be partitioned and "
               "unaligned");
    WANT_ERROR(world, tsr_partitioned_aligned_to_unaligned(t[2], 0, NULL, &out), TSR_ERR_INVALID,
               "dim 0 of the tensor is partitioned and unaligned");
    WANT_ERROR(world, tsr_partitioned_from_replicate(t[0], &ragged, NULL, &out), TSR_ERR_INVALID,
               "no dimension of the placement is partitioned and unaligned, or partitioned and "
               "aligned");
    WANT_ERROR(world, tsr_partitioned_reinterpret(t[2], &unaligned, NULL, &out), TSR_ERR_INVALID,
               "source and destination have the same unaligned dimensions, so there is nothing to "
               "convert");
    WANT_ERROR(world, tsr_partitioned_reinterpret(t[2], &ragged, NULL, &out), TSR_ERR_INVALID,
               "rows of dim 0, where the other layout has");
    const tsr_tensor_spec without = {s->unaligned, TSR_F64, 1, shape};
    tsr_tensor *none = NULL;
    WANT(world, tsr_abstract(world, &without, &none) == TSR_OK);
    WANT_ERROR(world, tsr_partitioned_reinterpret(none, &ragged, NULL, &out), TSR_ERR_INVALID,
               "cannot move the elements of an abstract tensor");
    tsr_tensor_release(none);
    WANT(world, out == NULL);
    for (size_t i = 0; i < 5; i++) {
        tsr_tensor_release(t[i]);
    }
    return TSR_OK;
}

static tsr_status check_owners(tsr_comm *world, const scene *s)
{
    static const int64_t falling[] = {0, 2, 1, 2};
    static const int64_t beyond[] = {0, 1, 2, 3};
    static const int64_t values[] = {1, 1};
    tsr_tensor *t = NULL;
    tsr_tensor *out = NULL;
    tsr_partitioned *p = NULL;
    WANT(world, make_tensor(world, s->aligned, TSR_F64, &t) == TSR_OK);
    WANT_ERROR(world, tsr_partitioned_realign(t, 0, falling, 4, 1, NULL, &out), TSR_ERR_INVALID,
               "dim 0: owners must not decrease, got: 1 after 2");
    WANT_ERROR(world, tsr_partitioned_realign(t, 0, beyond, 4, 1, NULL, &out), TSR_ERR_INVALID,
               "dim 0: owners must run from 0 to the number of partitions, 2, got: 0 to 3");
    WANT_ERROR(world, tsr_partitioned_realign(t, 0, falling, 3, 1, NULL, &out), TSR_ERR_INVALID,
               "dim 0: owners of 3 shards are 4 numbers, got: 3");
    WANT_ERROR(world, tsr_partitioned_realign(t, 0, NULL, 0, 0, NULL, &out), TSR_ERR_INVALID,
               "dim 0: align must be at least 1, got: 0");
    tsr_partitioned_spec spec = {.sharding = s->even,
                                 .num_partitions = 2,
                                 .splits = {TSR_AMOUNTS_OWN, values, 2, NULL},
                                 .owner_start = falling,
                                 .num_owners = 4,
                                 .counts_scope = TSR_COUNTS_SLICE};
    WANT_ERROR(world, tsr_partitioned_create(world, &spec, &p), TSR_ERR_INVALID,
               "dim 0: owners must not decrease, got: 1 after 2");
    spec.num_owners = 2;
    WANT_ERROR(world, tsr_partitioned_create(world, &spec, &p), TSR_ERR_INVALID,
               "dim 0: owners of 3 shards are 4 numbers, got: 2");
    spec.owner_start = NULL;
    spec.dim = 1;
    WANT_ERROR(world, tsr_partitioned_create(world, &spec, &p), TSR_ERR_INVALID,
               "dim 1 is out of range: the sharding has 1 dimensions");
    spec.dim = 0;
    spec.num_partitions = 0;
    WANT_ERROR(world, tsr_partitioned_create(world, &spec, &p), TSR_ERR_INVALID,
               "dim 0: the number of partitions must be at least 1, got: 0");
    spec.num_partitions = 3;
    WANT_ERROR(world, tsr_partitioned_create(world, &spec, &p), TSR_ERR_INVALID,
               "dim 0: one shard's counts of 3 partitions over 3 shards are 3 numbers, got: 2");
    spec.num_partitions = 2;
    spec.alignment = tsr_comm_rank(world) == GUILTY ? 4 : 8;
    WANT_ERROR(world, tsr_partitioned_create(world, &spec, &p), TSR_ERR_PEER,
               "the ranks make different calls: rank 0 calls tsr_partitioned_create with dim "
               "0:partitioned[?](partitions=2, align=8); rank 1 calls tsr_partitioned_create with "
               "dim 0:partitioned[?](partitions=2, align=4); unlike rank 0: 1");
    WANT(world, out == NULL && p == NULL);
    tsr_tensor_release(t);
    return TSR_OK;
}

/* Parts that are not as large as the counts say. */
static tsr_status check_part_faults(tsr_comm *world, const scene *s)
{
    static const int64_t values[] = {1, 1};
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    const int64_t owned = tsr_comm_rank(world) == 0 ? 0 : RANKS;
    const int64_t two[] = {guilty ? 3 : 2};
    const int64_t right[] = {2};
    const int64_t out_shape[] = {owned};
    double src[4] = {0};
    double dst[4] = {0};
    float floats[4] = {0};
    tsr_partitioned *p = NULL;
    const tsr_partitioned_spec spec = {.sharding = s->even,
                                       .num_partitions = 2,
                                       .splits = {TSR_AMOUNTS_OWN, values, 2, NULL},
                                       .counts_scope = TSR_COUNTS_SLICE};
    WANT(world, tsr_partitioned_create(world, &spec, &p) == TSR_OK);
    WANT(world, tsr_partitioned_rows(p, true) == owned);
    const tsr_view from = {src, TSR_F64, 1, two, NULL};
    const tsr_view fine = {src, TSR_F64, 1, right, NULL};
    const tsr_view to = {dst, TSR_F64, 1, out_shape, NULL};
    const tsr_view other = {floats, TSR_F32, 1, out_shape, NULL};
    WANT_ERROR(world, tsr_partitioned_align(p, &from, &to), TSR_ERR_INVALID,
               guilty ? "tsr_partitioned_align: rank 1 has 2 rows of dim 0 unaligned, got: 3"
                      : "rank 1 refuses: tsr_partitioned_align: rank 1 has 2 rows of dim 0 "
                        "unaligned, got: 3");
    WANT_ERROR(world, tsr_partitioned_align(p, &fine, guilty ? &other : &to), TSR_ERR_INVALID,
               "the parts are of f64 unaligned and f32 aligned");
    WANT(world, tsr_partitioned_align(p, &fine, &to) == TSR_OK);
    tsr_partitioned_release(p);
    return TSR_OK;
}

static tsr_status check_gradients(tsr_comm *world, const scene *s)
{
    tsr_tensor *t[6] = {NULL};
    tsr_tensor *back = NULL;
    tsr_conversion *c = NULL;
    tsr_conversion *average = NULL;
    const tsr_placement ragged = {s->ragged, NULL};
    const tsr_tensor_spec longer = {s->even, TSR_F64, 1, (const int64_t[]){ROWS + 1}};
    WANT(world, make_tensor(world, s->ragged, TSR_F64, &t[0]) == TSR_OK);
    WANT(world, tsr_dynamic_to_replicate(t[0], 0, &c, &t[1]) == TSR_OK);
    WANT_ERROR(world, tsr_conversion_backward(c, t[0], &back), TSR_ERR_INVALID,
               "tsr_dynamic_to_replicate: the gradient is laid out as [{\"x\"}:dynamic[3, 0, 5]], "
               "the result was [{}]");
    WANT(world, tsr_tensor_create(world, &longer, &t[2]) == TSR_OK);
    WANT_ERROR(world, tsr_conversion_backward(c, t[2], &back), TSR_ERR_INVALID,
               "the shapes of the gradient and of the result differ");
    WANT(world, make_tensor(world, s->averages, TSR_I32, &t[3]) == TSR_OK);
    WANT(world, tsr_dynamic_reduce_shard(t[3], &ragged, &average, &t[4]) == TSR_OK);
    WANT_ERROR(world, tsr_conversion_backward(average, t[4], &back), TSR_ERR_UNSUPPORTED,
               "tsr_dynamic_reduce_shard: an average of i32 has no gradient");
    WANT(world, back == NULL);
    tsr_conversion_release(c);
    tsr_conversion_release(average);
    for (size_t i = 0; i < 6; i++) {
        tsr_tensor_release(t[i]);
    }
    return TSR_OK;
}

static tsr_status run_faults(tsr_comm *world, void *state)
{
    const scene *s = state;
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    tsr_status status = check_numbers(world, arena, s);
    status = status < 0 ? status : check_guilty(world, arena, s);
    status = status < 0 ? status : check_sources(world, arena, s);
    status = status < 0 ? status : check_kinds(world, s);
    status = status < 0 ? status : check_owners(world, s);
    status = status < 0 ? status : check_part_faults(world, s);
    status = status < 0 ? status : check_gradients(world, s);
    tsr_arena_destroy(arena);
    return status;
}

static void launch(fixture *f, tsr_ranks kind, bool checked, tsr_rank_function function)
{
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=3]>");
    scene s = {
        .even = sharding_of(f, mesh, "[{\"x\"}]"),
        .whole = sharding_of(f, mesh, "[{}]"),
        .sums = sharding_of(f, mesh, "[{}], unreduced={\"x\"}"),
        .averages = sharding_of(f, mesh, "[{}], unreduced=avg{\"x\"}"),
        .ragged = sharding_of(f, mesh, "[{\"x\"}:dynamic[3, 0, 5]]"),
        .ragged_other = sharding_of(f, mesh, "[{\"x\"}:dynamic[3, 1, 4]]"),
        .unbound = sharding_of(f, mesh, "[{\"x\"}:dynamic[?]]"),
        .parts_unbound = sharding_of(f, mesh, "[{\"x\"}:partitioned[?](partitions=2)]"),
        .unaligned = sharding_of(f, mesh, "[{\"x\"}:partitioned[[1, 2], [0, 1], [3, 1]]]"),
        .aligned = sharding_of(f, mesh, "[{\"x\"}:partitioned[[1, 2], [0, 1], [3, 1]](aligned)]"),
        .flat = sharding_of(f, mesh, "[{\"x\"}, {}]"),
    };
    const tsr_launch_spec spec = {.num_ranks = RANKS,
                                  .ranks = kind,
                                  .timeout = 20,
                                  .checked = checked,
                                  .segment_bytes = (size_t)1 << 24};
    expect_ranks(f, &spec, function, &s);
}

/* One rank refuses a conversion that the others make, without checks: all fail together. */
static tsr_status refuse_unchecked(tsr_comm *world, void *state)
{
    const scene *s = state;
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    tsr_tensor *t = NULL;
    tsr_tensor *out = NULL;
    WANT(world, make_tensor(world, s->ragged, TSR_F64, &t) == TSR_OK);
    WANT_ERROR(world, tsr_dynamic_to_replicate(t, guilty ? 1 : 0, NULL, &out), TSR_ERR_INVALID,
               "dim 1 is out of range");
    WANT(world, out == NULL && tsr_dynamic_to_replicate(t, 0, NULL, &out) == TSR_OK);
    tsr_tensor_release(out);
    tsr_tensor_release(t);
    return TSR_OK;
}

void check_placement_faults(fixture *f, tsr_ranks kind)
{
    launch(f, kind, true, run_faults);
    launch(f, kind, false, refuse_unchecked);
}

/* ---- DLPack ---- */

static void count_deletion(DLManagedTensor *self)
{
    (*(int64_t *)self->manager_ctx)++;
}

static void set_element(const int64_t *index, void *element, void *state)
{
    (void)state;
    *(float *)element = (float)(10 * index[0] + index[1]);
}

static void check_element(const int64_t *index, void *element, void *state)
{
    *(int64_t *)state += *(float *)element != (float)(10 * index[0] + index[1]);
}

static bool is_right(const tsr_tensor *t)
{
    int64_t wrong_ones = 0;
    tsr_tensor_visit(t, check_element, &wrong_ones);
    return wrong_ones == 0;
}

/* In from column-major memory at an offset, redistributed, out, and out again as a tensor. */
static tsr_status exchange_dlpack(tsr_comm *world, void *state)
{
    enum { COLUMNS = 5, OFFSET = 3 };
    const scene *s = state;
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    const int64_t global[] = {ROWS, COLUMNS};
    const tsr_tensor_spec spec = {s->flat, TSR_F32, 2, global};
    const int64_t rows = tsr_comm_rank(world) < 2 ? 3 : 2;
    int64_t local[] = {rows, COLUMNS};
    int64_t strides[] = {1, rows};
    int64_t deleted = 0;
    float memory[OFFSET + 3 * COLUMNS] = {0};
    DLManagedTensor managed = {.dl_tensor = {.data = memory,
                                             .device = {.device_type = kDLCPU},
                                             .ndim = 2,
                                             .dtype = {kDLFloat, 32, 1},
                                             .shape = local,
                                             .strides = strides,
                                             .byte_offset = OFFSET * sizeof *memory},
                               .manager_ctx = &deleted,
                               .deleter = count_deletion};
    tsr_tensor *in = NULL;
    tsr_tensor *whole = NULL;
    DLManagedTensor *out = NULL;
    const tsr_dim dims[] = {tsr_dim_closed(NULL, 0), tsr_dim_closed(NULL, 0)};
    WANT_ERROR(world, tsr_tensor_from_dlpack(world, &spec, guilty ? NULL : &managed, &in),
               TSR_ERR_INVALID,
               guilty ? "rank 1 has no DLPack tensor"
                      : "tsr_tensor_from_dlpack: rank 1 refuses: rank 1 has no DLPack tensor");
    WANT(world, in == NULL && deleted == 0);
    WANT(world, tsr_tensor_from_dlpack(world, &spec, &managed, &in) == TSR_OK);
    tsr_tensor_fill(in, set_element, NULL);
    WANT(world, memory[OFFSET] == (float)(30 * tsr_comm_rank(world)));
    tsr_arena *arena = NULL;
    const tsr_sharding *everywhere = NULL;
    const tsr_sharding_spec all = {.mesh = tsr_sharding_mesh(s->flat), .rank = 2, .dims = dims};
    WANT(world, tsr_arena_create(tsr_comm_context(world), &arena) == TSR_OK);
    WANT(world,
         tsr_sharding_create(tsr_comm_context(world), arena, &all, 0, &everywhere) == TSR_OK);
    WANT(world, tsr_redistribute(in, everywhere, &whole) == TSR_OK && is_right(whole));
    tsr_arena_destroy(arena);
    WANT(world, tsr_tensor_to_dlpack(in, &out) == TSR_OK);
    tsr_tensor_release(in);
    WANT(world, deleted == 0 && out->dl_tensor.data == memory + OFFSET);
    WANT(world, out->dl_tensor.strides[0] == 1 && out->dl_tensor.strides[1] == rows);
    out->deleter(out);
    WANT(world, deleted == 1);
    tsr_tensor_release(whole);
    return TSR_OK;
}

void check_dlpack(fixture *f, tsr_ranks kind)
{
    launch(f, kind, true, exchange_dlpack);
}
