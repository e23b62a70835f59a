/* The worked example of PartitionedShard, and where sizes and counts come from. */
#include <string.h>

#include "memory_transport.h"
#include "placements.h"

#include "base/base.h"
#include "rt/comm.h"
#include "want.h"

static void launch(fixture *f, int64_t ranks, tsr_ranks kind, tsr_rank_function function,
                   void *state)
{
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kind,
                                  .timeout = 20,
                                  .checked = true,
                                  .segment_bytes = (size_t)1 << 24};
    expect_ranks(f, &spec, function, state);
}

/* ---- two shards, four partitions ---- */

enum { SHARDS = 2, PARTITIONS = 4, ROWS = 32 };

static const int64_t counts[SHARDS][PARTITIONS] = {{4, 6, 4, 2}, {2, 4, 8, 2}};

typedef struct scene {
    const tsr_sharding *even;
    const tsr_sharding *other;
    const tsr_sharding *whole;
    const tsr_sharding *ragged; /* unbound */
    const tsr_sharding *parts;  /* unbound */
} scene;

/* Rows of blocks (s, p), concatenated. */
static size_t write_blocks(int64_t *rows, const int64_t (*blocks)[2], size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t s = blocks[i][0];
        const int64_t p = blocks[i][1];
        for (int64_t row = 0; row < counts[s][p]; row++) {
            rows[at++] = (10000 * s + 100 * p + row);
        }
    }
    return at;
}

static const int64_t before_blocks[SHARDS][PARTITIONS][2] = {{{0, 0}, {0, 1}, {0, 2}, {0, 3}},
                                                             {{1, 0}, {1, 1}, {1, 2}, {1, 3}}};
static const int64_t after_blocks[SHARDS][PARTITIONS][2] = {{{0, 0}, {1, 0}, {0, 1}, {1, 1}},
                                                            {{0, 2}, {1, 2}, {0, 3}, {1, 3}}};

static tsr_status make_example(tsr_comm *world, const scene *s, tsr_counts_scope counts_scope,
                               int64_t alignment, tsr_partitioned **out)
{
    const tsr_partitioned_spec spec = {.sharding = s->even,
                                       .num_partitions = PARTITIONS,
                                       .splits = {.kind = TSR_AMOUNTS_OWN,
                                                  .values = counts[tsr_comm_rank(world)],
                                                  .count = PARTITIONS},
                                       .alignment = alignment,
                                       .counts_scope = counts_scope};
    return tsr_partitioned_create(world, &spec, out);
}

/* What the all-to-all of counts brings, and what the exchange of data moves. */
static tsr_status check_slice(tsr_comm *world, const scene *s)
{
    static const int64_t exchanged[SHARDS][PARTITIONS] = {{4, 6, 2, 4}, {4, 2, 8, 2}};
    const int64_t me = tsr_comm_rank(world);
    int64_t unaligned[ROWS];
    int64_t expected[ROWS];
    int64_t aligned[ROWS];
    int64_t owned = 0;
    tsr_partitioned *p = NULL;
    WANT(world, make_example(world, s, TSR_COUNTS_SLICE, 0, &p) == TSR_OK);
    WANT(world,
         tsr_partitioned_counts_scope(p) == TSR_COUNTS_SLICE && !tsr_partitioned_is_aligned(p));
    WANT(world, strcmp(tsr_partitioned_derivation(p),
                       me == 0 ? "C[2][4]: this shard's own row, and from an all-to-all its "
                                 "columns 0 to 1; the rest is unknown on this rank"
                               : "C[2][4]: this shard's own row, and from an all-to-all its "
                                 "columns 2 to 3; the rest is unknown on this rank") == 0);
    const int64_t *columns = tsr_partitioned_columns(p, &owned);
    WANT(world, owned == 2 && memcmp(columns, exchanged[me], sizeof exchanged[me]) == 0);
    WANT(world, memcmp(tsr_partitioned_row(p), counts[me], sizeof counts[me]) == 0);
    WANT(world, write_blocks(unaligned, before_blocks[me], PARTITIONS) == 16);
    WANT(world, write_blocks(expected, after_blocks[me], PARTITIONS) == 16);
    const int64_t shape[] = {16};
    const tsr_view from = {unaligned, TSR_I64, 1, shape, NULL};
    const tsr_view to = {aligned, TSR_I64, 1, shape, NULL};
    tsr_traffic before = tsr_comm_traffic(world);
    WANT(world, tsr_partitioned_align(p, &from, &to) == TSR_OK);
    tsr_traffic after = tsr_comm_traffic(world);
    WANT(world, after.bytes_sent - before.bytes_sent == 6 * 8);
    WANT(world, after.bytes_received - before.bytes_received == 6 * 8);
    WANT(world, after.bytes_local - before.bytes_local == 10 * 8);
    WANT(world, memcmp(aligned, expected, 16 * sizeof *aligned) == 0);
    memset(unaligned, 0, sizeof unaligned);
    before = after;
    WANT(world, tsr_partitioned_unalign(p, &to, &from) == TSR_OK);
    after = tsr_comm_traffic(world);
    WANT(world, after.bytes_received - before.bytes_received == 6 * 8);
    WANT(world, after.bytes_local - before.bytes_local == 10 * 8);
    WANT(world, write_blocks(expected, before_blocks[me], PARTITIONS) == 16);
    WANT(world, memcmp(unaligned, expected, 16 * sizeof *aligned) == 0);
    tsr_partitioned_release(p);
    return TSR_OK;
}

/* The same on tensors; the free step to a dynamic layout shares memory. */
static tsr_status check_tensors(tsr_comm *world, const tsr_partitioned *p)
{
    const int64_t me = tsr_comm_rank(world);
    const tsr_sharding *unaligned = NULL;
    const int64_t sizes[] = {16, 16};
    int64_t shape[] = {0};
    int64_t expected[ROWS];
    tsr_tensor *t[4] = {NULL};
    tsr_conversion *c = NULL;
    WANT(world, tsr_partitioned_sharding(p, false, &unaligned, &shape[0]) == TSR_OK);
    WANT(world, shape[0] == ROWS);
    const tsr_tensor_spec spec = {unaligned, TSR_I64, 1, shape};
    WANT(world, tsr_tensor_create(world, &spec, &t[0]) == TSR_OK);
    (void)write_blocks(tsr_tensor_data(t[0]), before_blocks[me], PARTITIONS);
    WANT(world, tsr_partitioned_unaligned_to_aligned(t[0], 0, &c, &t[1]) == TSR_OK);
    WANT(world, write_blocks(expected, after_blocks[me], PARTITIONS) == 16);
    WANT(world, memcmp(tsr_tensor_data(t[1]), expected, 16 * sizeof *expected) == 0);
    WANT(world, tsr_conversion_backward(c, t[1], &t[2]) == TSR_OK);
    WANT(world, write_blocks(expected, before_blocks[me], PARTITIONS) == 16);
    WANT(world, memcmp(tsr_tensor_data(t[2]), expected, 16 * sizeof *expected) == 0);
    WANT(world, tsr_partitioned_to_dynamic(t[1], 0, NULL, NULL, &t[3]) == TSR_OK);
    const tsr_ragged *rows = tsr_sharding_dim(tsr_tensor_sharding(t[3]), 0)->ragged;
    WANT(world, rows->kind == TSR_RAGGED_DYNAMIC);
    WANT(world, memcmp(rows->sizes, sizes, sizeof sizes) == 0);
    WANT(world, tsr_tensor_data(t[3]) == tsr_tensor_data(t[1]));
    tsr_tensor_release(t[1]);
    WANT(world, *(int64_t *)tsr_tensor_data(t[3]) == (me == 0 ? 0 : 200));
    tsr_conversion_release(c);
    tsr_tensor_release(t[0]);
    tsr_tensor_release(t[2]);
    tsr_tensor_release(t[3]);
    return TSR_OK;
}

static tsr_status worked_example(tsr_comm *world, void *state)
{
    const scene *s = state;
    tsr_partitioned *p = NULL;
    TSR_TRY(check_slice(world, s));
    WANT(world, make_example(world, s, TSR_COUNTS_FULL, 8, &p) == TSR_OK);
    WANT(world, tsr_partitioned_rows(p, false) == 16 && tsr_partitioned_rows(p, true) == 24);
    tsr_partitioned_release(p);
    WANT(world, make_example(world, s, TSR_COUNTS_FULL, 1, &p) == TSR_OK);
    WANT(world, strcmp(tsr_partitioned_derivation(p),
                       "C[2][4]: each shard's own row by an array, all-gathered: 4 from each of 2 "
                       "shards") == 0);
    const tsr_status status = check_tensors(world, p);
    tsr_partitioned_release(p);
    return status;
}

static scene scene_on(fixture *f, const char *mesh_text_of)
{
    const tsr_mesh *mesh = mesh_of(f, mesh_text_of);
    return (scene){.even = sharding_of(f, mesh, "[{\"x\"}]"),
                   .other = sharding_of(f, mesh, "[{\"x\"}, {}]"),
                   .whole = sharding_of(f, mesh, "[{}]"),
                   .ragged = sharding_of(f, mesh, "[{\"x\"}:dynamic[?]]"),
                   .parts = sharding_of(f, mesh, "[{\"x\"}:partitioned[?]]")};
}

void check_worked_example(fixture *f, tsr_ranks kind)
{
    scene s = scene_on(f, "<[\"x\"=2]>");
    launch(f, SHARDS, kind, worked_example, &s);
}

/* ---- where numbers come from ---- */

enum { RANKS = 3 };

static const int64_t sizes_given[RANKS] = {3, 0, 5};
static const int64_t counts_given[RANKS][2] = {{1, 2}, {0, 0}, {4, 1}};
static const int64_t totals_given[4] = {6, 1, 0, 5};
static const int64_t totals_cut[RANKS][4] = {{2, 1, 0, 2}, {2, 0, 0, 2}, {2, 0, 0, 1}};

/* Binds and compares with what it should be. */
static tsr_status check_bound(tsr_comm *world, tsr_arena *arena, const tsr_sharding *placement,
                              const tsr_amounts *amounts, int64_t extent, const int64_t *wanted,
                              const char *how_wanted)
{
    const tsr_placement to = {placement, amounts};
    const tsr_sharding *bound = NULL;
    const char *how = NULL;
    WANT(world, tsr_placement_bind(world, arena, &to, extent, &bound, &how) == TSR_OK);
    const tsr_ragged *ragged = tsr_sharding_dim(bound, 0)->ragged;
    const bool dynamic = ragged->kind == TSR_RAGGED_DYNAMIC;
    const size_t count = RANKS * (size_t)(dynamic ? 1 : ragged->partitions);
    WANT(world,
         memcmp(dynamic ? ragged->sizes : ragged->counts, wanted, count * sizeof *wanted) == 0);
    if (strcmp(how, how_wanted) != 0) {
        return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION, "how: %s", how);
    }
    return TSR_OK;
}

/* An i64 tensor of these elements, in some layout. */
static tsr_status make_numbers(tsr_comm *world, const tsr_sharding *sharding, size_t rank,
                               const int64_t *shape, const int64_t *values, tsr_tensor **out)
{
    const tsr_tensor_spec spec = {sharding, TSR_I64, rank, shape};
    return tsr_tensor_from_full(world, &spec, -1, values, out);
}

static tsr_status check_arrays(tsr_comm *world, tsr_arena *arena, const scene *s)
{
    const size_t me = (size_t)tsr_comm_rank(world);
    const tsr_amounts sizes = {TSR_AMOUNTS_ALL, sizes_given, RANKS, NULL};
    const tsr_amounts size = {TSR_AMOUNTS_OWN, &sizes_given[me], 1, NULL};
    const tsr_amounts table = {TSR_AMOUNTS_ALL, counts_given[0], 6, NULL};
    const tsr_amounts row = {TSR_AMOUNTS_OWN, counts_given[me], 2, NULL};
    const tsr_amounts totals = {TSR_AMOUNTS_TOTALS, totals_given, 4, NULL};
    TSR_TRY(check_bound(world, arena, s->ragged, &sizes, 8, sizes_given,
                        "sizes[3]: given for all shards by an array"));
    TSR_TRY(check_bound(world, arena, s->ragged, &size, 8, sizes_given,
                        "sizes[3]: each shard's own size by an array, all-gathered: 1 from each of "
                        "3 shards"));
    TSR_TRY(check_bound(world, arena, s->parts, &table, TSR_UNKNOWN, counts_given[0],
                        "C[3][2]: given for all shards by an array"));
    TSR_TRY(check_bound(world, arena, s->parts, &row, 8, counts_given[0],
                        "C[3][2]: each shard's own row by an array, all-gathered: 2 from each of 3 "
                        "shards"));
    return check_bound(world, arena, s->parts, &totals, 12, totals_cut[0],
                       "C[3][4]: totals of the partitions by an array, each cut over 3 shards in "
                       "chunks of ceil(total / 3)");
}

static tsr_status check_tensor_numbers(tsr_comm *world, tsr_arena *arena, const scene *s)
{
    const int64_t me = tsr_comm_rank(world);
    const int64_t three[] = {RANKS};
    const int64_t table_shape[] = {RANKS, 2};
    const int64_t four[] = {4};
    const int64_t one[] = {1};
    tsr_tensor *t[5] = {NULL};
    WANT(world, make_numbers(world, s->even, 1, three, sizes_given, &t[0]) == TSR_OK);
    WANT(world, make_numbers(world, s->whole, 1, three, sizes_given, &t[1]) == TSR_OK);
    WANT(world, make_numbers(world, s->other, 2, table_shape, counts_given[0], &t[2]) == TSR_OK);
    WANT(world, make_numbers(world, s->whole, 1, four, totals_given, &t[3]) == TSR_OK);
    const tsr_tensor_spec own_size = {s->whole, TSR_I64, 1, one};
    WANT(world, tsr_tensor_create(world, &own_size, &t[4]) == TSR_OK);
    *(int64_t *)tsr_tensor_data(t[4]) = sizes_given[me];
    for (size_t i = 0; i < 2; i++) {
        const tsr_amounts sizes = {TSR_AMOUNTS_ALL, NULL, 0, t[i]};
        TSR_TRY(check_bound(world, arena, s->ragged, &sizes, 8, sizes_given,
                            "sizes[3]: given for all shards by an i64 tensor"));
    }
    const tsr_amounts sharded = {TSR_AMOUNTS_OWN, NULL, 0, t[0]};
    const tsr_amounts local = {TSR_AMOUNTS_OWN, NULL, 0, t[4]};
    const tsr_amounts table = {TSR_AMOUNTS_ALL, NULL, 0, t[2]};
    const tsr_amounts row = {TSR_AMOUNTS_OWN, NULL, 0, t[2]};
    const tsr_amounts totals = {TSR_AMOUNTS_TOTALS, NULL, 0, t[3]};
    const char *own = "sizes[3]: each shard's own size by an i64 tensor, all-gathered: 1 from each "
                      "of 3 shards";
    TSR_TRY(check_bound(world, arena, s->ragged, &sharded, 8, sizes_given, own));
    TSR_TRY(check_bound(world, arena, s->ragged, &local, 8, sizes_given, own));
    TSR_TRY(check_bound(world, arena, s->parts, &table, 8, counts_given[0],
                        "C[3][2]: given for all shards by an i64 tensor"));
    TSR_TRY(check_bound(world, arena, s->parts, &row, 8, counts_given[0],
                        "C[3][2]: each shard's own row by an i64 tensor, all-gathered: 2 from each "
                        "of 3 shards"));
    TSR_TRY(
        check_bound(world, arena, s->parts, &totals, 12, totals_cut[0],
                    "C[3][4]: totals of the partitions by an i64 tensor, each cut over 3 shards "
                    "in chunks of ceil(total / 3)"));
    for (size_t i = 0; i < 5; i++) {
        tsr_tensor_release(t[i]);
    }
    return TSR_OK;
}

static void set_element(const int64_t *index, void *element, void *state)
{
    (void)state;
    *(int64_t *)element = index[0];
}

static void check_element(const int64_t *index, void *element, void *state)
{
    *(int64_t *)state += *(int64_t *)element != index[0];
}

static bool is_right(const tsr_tensor *t)
{
    int64_t wrong = 0;
    tsr_tensor_visit(t, check_element, &wrong);
    return wrong == 0;
}

/* A placement that is bound where it is first used. */
static tsr_status check_first_use(tsr_comm *world, const scene *s)
{
    const size_t me = (size_t)tsr_comm_rank(world);
    const int64_t shape[] = {8};
    const tsr_amounts size = {TSR_AMOUNTS_OWN, &sizes_given[me], 1, NULL};
    const tsr_amounts row = {TSR_AMOUNTS_OWN, counts_given[me], 2, NULL};
    const tsr_placement ragged = {s->ragged, &size};
    const tsr_placement parts = {s->parts, &row};
    const tsr_tensor_spec spec = {s->whole, TSR_I64, 1, shape};
    tsr_tensor *t[4] = {NULL};
    tsr_conversion *c = NULL;
    WANT(world, tsr_tensor_create(world, &spec, &t[0]) == TSR_OK);
    tsr_tensor_fill(t[0], set_element, NULL);
    WANT(world, tsr_dynamic_from_replicate(t[0], &ragged, NULL, &t[1]) == TSR_OK);
    WANT(world, tsr_tensor_local_shape(t[1])[0] == sizes_given[me] && is_right(t[1]));
    WANT(world, tsr_partitioned_from_replicate(t[0], &parts, &c, &t[2]) == TSR_OK);
    WANT(world, tsr_tensor_local_shape(t[2])[0] == counts_given[me][0] + counts_given[me][1]);
    WANT(world, is_right(t[2]));
    WANT(world, tsr_conversion_backward(c, t[2], &t[3]) == TSR_OK && is_right(t[3]));
    WANT(world, tsr_sharding_equal(tsr_conversion_destination(c), tsr_tensor_sharding(t[2])));
    WANT(world, tsr_sharding_equivalent(tsr_conversion_source(c), s->whole, false));
    tsr_conversion_release(c);
    for (size_t i = 0; i < 4; i++) {
        tsr_tensor_release(t[i]);
    }
    return TSR_OK;
}

/* From a source rank each receives its chunk; without one no rank receives anything. */
static tsr_status check_shard(tsr_comm *world, const scene *s, int64_t source)
{
    const int64_t me = tsr_comm_rank(world);
    const int64_t shape[] = {8};
    const bool have = source == -1 || source == me;
    const tsr_amounts sizes = {TSR_AMOUNTS_ALL, sizes_given, RANKS, NULL};
    const tsr_placement to = {s->ragged, &sizes};
    int64_t full[8];
    int64_t back[8] = {0};
    tsr_tensor *t = NULL;
    for (int64_t i = 0; i < 8; i++) {
        full[i] = i;
    }
    const tsr_traffic before = tsr_comm_traffic(world);
    TSR_TRY(tsr_barrier(world));
    WANT(world, tsr_dynamic_shard(world, &to, TSR_I64, 1, shape, source, have ? full : NULL, &t) ==
                    TSR_OK);
    const int64_t received = tsr_comm_traffic(world).bytes_received - before.bytes_received;
    WANT(world, received == (have ? 0 : sizes_given[me] * 8));
    WANT(world, is_right(t) && tsr_tensor_local_shape(t)[0] == sizes_given[me]);
    WANT(world, tsr_dynamic_shard_backward(t, source, have ? back : NULL) == TSR_OK);
    WANT(world, !have || memcmp(full, back, sizeof full) == 0);
    const int64_t gathered =
        tsr_comm_traffic(world).bytes_received - before.bytes_received - received;
    WANT(world, gathered == (have ? (8 - sizes_given[me]) * 8 : 0));
    tsr_tensor_release(t);
    return TSR_OK;
}

static tsr_status run_binding(tsr_comm *world, void *state)
{
    const scene *s = state;
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    tsr_status status = check_arrays(world, arena, s);
    status = status < 0 ? status : check_tensor_numbers(world, arena, s);
    status = status < 0 ? status : check_first_use(world, s);
    for (int64_t source = -1; status == TSR_OK && source < RANKS; source++) {
        status = check_shard(world, s, source);
    }
    tsr_arena_destroy(arena);
    return status;
}

void check_binding(fixture *f, tsr_ranks kind)
{
    scene s = scene_on(f, "<[\"x\"=3]>");
    launch(f, RANKS, kind, run_binding, &s);
}
