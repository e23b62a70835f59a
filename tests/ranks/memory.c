/* Tensors over the caller's memory, and full arrays in and out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kinds.h"
#include "want.h"

enum { ROWS = 7, COLUMNS = 5 };
#define ELEMENTS ((size_t)ROWS * COLUMNS)

typedef struct scene {
    const tsr_sharding *rows;
    const tsr_sharding *columns;
    const tsr_sharding *ragged;
    char path[64];
} scene;

static const int64_t shape[] = {ROWS, COLUMNS};

static int32_t value_at(const int64_t *index)
{
    return (int32_t)(100 * index[0] + index[1]);
}

static void fill_element(const int64_t *index, void *element, void *state)
{
    (void)state;
    const int32_t value = value_at(index);
    memcpy(element, &value, sizeof value);
}

static void check_element(const int64_t *index, void *element, void *state)
{
    int32_t value;
    memcpy(&value, element, sizeof value);
    *(int64_t *)state += value != value_at(index);
}

static bool is_right(const tsr_tensor *t)
{
    int64_t wrong = 0;
    tsr_tensor_visit(t, check_element, &wrong);
    return wrong == 0;
}

static tsr_tensor_spec spec_of(const tsr_sharding *sharding)
{
    return (tsr_tensor_spec){sharding, TSR_I32, 2, shape};
}

static tsr_status check_full(tsr_comm *world, const tsr_sharding *sharding, int64_t root)
{
    int32_t full[ROWS * COLUMNS];
    int32_t back[ROWS * COLUMNS] = {0};
    const bool have = root == -1 || root == tsr_comm_rank(world);
    const tsr_tensor_spec spec = spec_of(sharding);
    for (int64_t i = 0; i < (int64_t)ELEMENTS; i++) {
        full[i] = value_at((const int64_t[]){i / COLUMNS, i % COLUMNS});
    }
    tsr_tensor *t = NULL;
    WANT(world, tsr_tensor_from_full(world, &spec, root, have ? full : NULL, &t) == TSR_OK);
    WANT(world, is_right(t));
    const tsr_traffic before = tsr_comm_traffic(world);
    WANT(world, tsr_tensor_to_full(t, root, have ? back : NULL) == TSR_OK);
    WANT(world, !have || memcmp(full, back, sizeof full) == 0);
    WANT(world, have || tsr_comm_traffic(world).bytes_received == before.bytes_received);
    tsr_tensor_release(t);
    return TSR_OK;
}

/* This rank's part in memory of the caller's, the rows apart and the columns backwards to them. */
static tsr_status check_wrapped(tsr_comm *world, tsr_arena *arena, const tsr_sharding *from,
                                const tsr_sharding *to)
{
    char *a = tsr_arena_alloc(arena, ELEMENTS * 16);
    char *b = tsr_arena_alloc(arena, ELEMENTS * 16);
    const int64_t by_columns[] = {8, INT64_C(8) * ROWS};
    const tsr_tensor_spec from_spec = spec_of(from);
    const tsr_tensor_spec to_spec = spec_of(to);
    tsr_tensor *src = NULL;
    tsr_tensor *dst = NULL;
    WANT(world, a != NULL && b != NULL);
    memset(b, 0, ELEMENTS * 16);
    WANT(world, tsr_tensor_wrap(world, &from_spec, a, by_columns, &src) == TSR_OK);
    WANT(world, tsr_tensor_wrap(world, &to_spec, b, NULL, &dst) == TSR_OK);
    WANT(world, tsr_tensor_data(src) == a && tsr_tensor_strides(src)[0] == 8);
    tsr_tensor_fill(src, fill_element, NULL);
    WANT(world, tsr_redistribute_into(dst, src) == TSR_OK);
    WANT(world, is_right(dst));
    memset(a, 0, ELEMENTS * 16);
    WANT(world, tsr_redistribute_into(src, dst) == TSR_OK);
    WANT(world, is_right(src));
    tsr_tensor *owned = NULL;
    WANT(world, tsr_redistribute(src, to, &owned) == TSR_OK);
    WANT(world, is_right(owned));
    tsr_tensor_release(owned);
    tsr_tensor_release(src);
    tsr_tensor_release(dst);
    return TSR_OK;
}

/* Out to a file and in again under another layout. */
static tsr_status check_file(tsr_comm *world, const scene *s, const tsr_sharding *to)
{
    const tsr_tensor_spec spec = spec_of(s->rows);
    tsr_tensor *t = NULL;
    tsr_tensor *back = NULL;
    WANT(world, tsr_tensor_create(world, &spec, &t) == TSR_OK);
    tsr_tensor_fill(t, fill_element, NULL);
    WANT(world, tsr_tensor_save_npy(t, s->path) == TSR_OK);
    WANT(world, tsr_tensor_load_npy(world, to, s->path, &back) == TSR_OK);
    WANT(world, tsr_tensor_dtype(back) == TSR_I32 && is_right(back));
    tsr_tensor_release(back);
    back = NULL;
    WANT(world, tsr_tensor_load_npy(world, to, "/nowhere/at.all", &back) == TSR_ERR_INVALID);
    WANT(world, tsr_tensor_save_npy(t, "/nowhere/at.all") == TSR_ERR_INVALID);
    WANT(world, back == NULL);
    tsr_context_clear(tsr_comm_context(world));
    tsr_tensor_release(t);
    return TSR_OK;
}

static tsr_status check_errors(tsr_comm *world, const scene *s)
{
    tsr_tensor *t = NULL;
    tsr_tensor *other = NULL;
    int32_t full[ROWS * COLUMNS] = {0};
    const tsr_tensor_spec spec = spec_of(s->rows);
    tsr_tensor_spec floats = spec;
    floats.dtype = TSR_F32;
    WANT(world, tsr_tensor_from_full(world, &spec, 99, full, &t) == TSR_ERR_INVALID);
    WANT(world, tsr_tensor_from_full(world, &spec, 0, NULL, &t) == TSR_ERR_INVALID);
    WANT(world, tsr_tensor_create(world, &spec, &t) == TSR_OK);
    WANT(world, tsr_tensor_create(world, &floats, &other) == TSR_OK);
    WANT(world, tsr_redistribute_into(other, t) == TSR_ERR_INVALID);
    WANT(world, tsr_tensor_to_full(t, -2, full) == TSR_ERR_INVALID);
    tsr_context_clear(tsr_comm_context(world));
    tsr_tensor_release(other);
    tsr_tensor_release(t);
    return TSR_OK;
}

enum { SEGMENT = 1 << 20, PLANES = 3, LINES = 401, ITEMS = 997 };

/* A number that depends on the rank and on the place. */
static int32_t term(int64_t rank, int64_t at)
{
    return (int32_t)((rank + 1) * (at % 1009 + 1));
}

/* Sums arrays of the caller's, each larger than a segment, from gaps into gaps and in place. */
static tsr_status reduce_more_than_a_segment(tsr_comm *world, void *state)
{
    const int64_t count = (int64_t)PLANES * LINES * ITEMS;
    const int64_t sizes[] = {PLANES, LINES, ITEMS};
    const int64_t by_two[] = {(int64_t)LINES * ITEMS * 8, (int64_t)ITEMS * 8, 8};
    const int64_t ranks = tsr_comm_size(world);
    int32_t *of = malloc((size_t)count * 12);
    tsr_request request;
    (void)state;
    WANT(world, of != NULL);
    const tsr_view sparse = {of, TSR_I32, 3, sizes, by_two};
    const tsr_view dense = {of + 2 * count, TSR_I32, 3, sizes, NULL};
    const tsr_view flat = {of + 2 * count, TSR_I32, 1, &count, NULL};
    for (int64_t i = 0; i < count; i++) {
        of[2 * i] = term(tsr_comm_rank(world), i);
        of[2 * i + 1] = -1;
    }
    tsr_status status = tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &sparse, &dense);
    bool right = status == TSR_OK;
    for (int64_t i = 0; right && i < count; i++) {
        right = of[2 * count + i] == (int32_t)(ranks * (ranks + 1) / 2 * (i % 1009 + 1));
    }
    status = status < 0 ? status
                        : tsr_comm_all_reduce_start(world, TSR_REDUCE_MAX, &flat, &flat, &request);
    status = status < 0 ? status : tsr_wait(world, request);
    status = status < 0 ? status : tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &dense, &sparse);
    for (int64_t i = 0; right && status == TSR_OK && i < count; i++) {
        right = of[2 * i] == ranks * of[2 * count + i] && of[2 * i + 1] == -1;
    }
    free(of);
    WANT(world, right || status < 0);
    return status;
}

static void arrays_may_be_larger_than_the_segment(void **state)
{
    int64_t count = 0;
    for (size_t at = 0; kinds_next_count(&at, 4, &count);) {
        const tsr_launch_spec spec = {
            .num_ranks = count, .ranks = kinds_chosen(), .timeout = 20, .segment_bytes = SEGMENT};
        expect_ranks(*state, &spec, reduce_more_than_a_segment, NULL);
    }
}

static tsr_status run(tsr_comm *world, void *state)
{
    scene mine = *(const scene *)state;
    const scene *s = &mine;
    const int64_t length = sizeof mine.path;
    /* Processes that were started one by one have made a file each. */
    const tsr_view path = {mine.path, TSR_U8, 1, &length, NULL};
    WANT(world, tsr_comm_broadcast(world, &path, 0) == TSR_OK);
    const tsr_sharding *const layouts[] = {s->rows, s->columns, s->ragged};
    tsr_arena *arena = NULL;
    tsr_status status = tsr_arena_create(tsr_comm_context(world), &arena);
    for (size_t i = 0; status == TSR_OK && i < 9; i++) {
        status = check_full(world, layouts[i / 3],
                            i % 3 == 0 ? -1 : (int64_t)(i % (size_t)tsr_comm_size(world)));
        if (status == TSR_OK) {
            status = check_wrapped(world, arena, layouts[i / 3], layouts[i % 3]);
        }
    }
    for (size_t i = 0; status == TSR_OK && i < 3; i++) {
        status = check_file(world, s, layouts[i]);
    }
    tsr_arena_destroy(arena);
    return status == TSR_OK ? check_errors(world, s) : status;
}

static void check_memory(fixture *f, int64_t ranks)
{
    char mesh_text_of[32];
    char ragged[128] = "[{\"x\"}:dynamic[7";
    size_t used = strlen(ragged);
    (void)snprintf(mesh_text_of, sizeof mesh_text_of, "<[\"x\"=%lld]>", (long long)ranks);
    for (int64_t i = 1; i < ranks; i++, used += 3) {
        (void)snprintf(ragged + used, sizeof ragged - used, ", 0");
    }
    (void)snprintf(ragged + used, sizeof ragged - used, "], {}]");
    const tsr_mesh *mesh = mesh_of(f, mesh_text_of);
    scene s = {sharding_of(f, mesh, "[{\"x\"}, {}]"), sharding_of(f, mesh, "[{}, {\"x\"}]"),
               sharding_of(f, mesh, ragged), "/tmp/tessera-XXXXXX"};
    const int made = mkstemp(s.path);
    assert_true(made >= 0);
    (void)close(made);
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kinds_chosen(),
                                  .timeout = 20,
                                  .checked = true,
                                  .segment_bytes = (size_t)1 << 22};
    const tsr_status status = launch_ranks(f->ctx, &spec, run, &s);
    (void)unlink(s.path);
    if (status != TSR_OK) {
        fail_msg("%lld ranks: %s", (long long)ranks, tsr_context_diagnostics(f->ctx)->text);
    }
}

static void users_memory_and_full_arrays(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 8, &ranks);) {
        check_memory(*state, ranks);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(users_memory_and_full_arrays),
                                       TEST(arrays_may_be_larger_than_the_segment)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
