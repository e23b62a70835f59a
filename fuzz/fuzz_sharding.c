/*
 * Sharding text, ragged dimensions included: fixed points, and geometry that stays within the
 * tensor.
 */
#include "fuzz.h"

enum { MAX_DIMS = 8, MAX_SEEN = 16 };

static void check_text(workbench *w, const tsr_sharding *sharding)
{
    const tsr_sharding_reader reader = {
        .mesh = tsr_sharding_mesh(sharding), .reading = TSR_READ_PROGRAM, .rank = -1};
    const char *text;
    const char *again;
    const tsr_sharding *copy;
    INSIST(tsr_sharding_print(w->ctx, w->arena, sharding, TSR_PRINT_FULL, &text) == TSR_OK);
    tsr_text source = tsr_text_of(NULL, text);
    INSIST(tsr_sharding_read(w->ctx, w->arena, &source, &reader, &copy) == TSR_OK);
    INSIST(tsr_sharding_equal(sharding, copy));
    INSIST(tsr_sharding_print(w->ctx, w->arena, copy, TSR_PRINT_FULL, &again) == TSR_OK);
    INSIST(strcmp(text, again) == 0);
}

/* An extent that the sizes of a ragged dimension allow, else any. */
static int64_t extent_of(const tsr_sharding *sharding, size_t dim)
{
    const tsr_ragged *ragged = tsr_sharding_dim(sharding, dim)->ragged;
    if (ragged == NULL || (ragged->sizes == NULL && ragged->counts == NULL)) {
        return (int64_t)(dim * 5 + 3);
    }
    const int64_t shards = tsr_sharding_num_shards(sharding, dim);
    const int64_t *numbers = ragged->sizes != NULL ? ragged->sizes : ragged->counts;
    const int64_t count = ragged->sizes != NULL ? shards : shards * ragged->partitions;
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += numbers[i];
    }
    return sum;
}

static void check_geometry(workbench *w, const tsr_sharding *sharding)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
    const size_t rank = tsr_sharding_rank(sharding);
    int64_t shape[MAX_DIMS];
    int64_t start[MAX_DIMS];
    int64_t size[MAX_DIMS];
    int64_t local[MAX_DIMS];
    if (rank > MAX_DIMS) {
        return;
    }
    for (size_t i = 0; i < rank; i++) {
        shape[i] = extent_of(sharding, i);
    }
    const tsr_geometry *g;
    if (!worked(w, tsr_geometry_create(w->ctx, w->arena, sharding, rank, shape, &g))) {
        return;
    }
    tsr_geometry_local_shape(g, local);
    for (int64_t i = 0; i < tsr_mesh_num_devices(mesh) && i < MAX_SEEN; i++) {
        INSIST(tsr_geometry_box(g, tsr_mesh_device_at(mesh, i), start, size));
        for (size_t d = 0; d < rank; d++) {
            INSIST(start[d] >= 0 && size[d] >= 0 && size[d] <= local[d]);
            INSIST(start[d] + size[d] <= shape[d]);
        }
    }
    bool same = false;
    INSIST(tsr_geometry_same(w->ctx, g, g, &same) != TSR_OK || same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    workbench w = workbench_open();
    const tsr_mesh *mesh;
    INSIST(tsr_mesh_parse(w.ctx, w.arena, "@m = <[\"x\"=2, \"y\"=4, \"z\"=6, \"w\"=1]>", &mesh) ==
           TSR_OK);
    for (int reading = TSR_READ_PROGRAM; reading <= TSR_READ_LENIENT; reading++) {
        const tsr_sharding_reader reader = {
            .mesh = mesh, .reading = (tsr_reading)reading, .rank = -1};
        tsr_text text = {.data = (const char *)data, .size = size};
        const tsr_sharding *sharding;
        if (worked(&w, tsr_sharding_read(w.ctx, w.arena, &text, &reader, &sharding))) {
            INSIST(text.at <= size);
            check_text(&w, sharding);
            check_geometry(&w, sharding);
        }
        const tsr_sharding *const *list;
        size_t count;
        tsr_text per_value = {.data = (const char *)data, .size = size};
        (void)worked(&w, tsr_shardings_read(w.ctx, w.arena, &per_value, &reader, &list, &count));
    }
    workbench_close(&w);
    return 0;
}
