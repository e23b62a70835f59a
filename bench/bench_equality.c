/*
 * Whether two shardings over 2^20 devices are the same, on pairs that are equal but spelled
 * differently and on near misses, beside comparing the boxes of every device.
 */
#include "bench.h"

enum { RANK = 2 };
static const int64_t shape[RANK] = {4096, 3000};

typedef struct pair {
    tsr_context *ctx;
    const tsr_geometry *a;
    const tsr_geometry *b;
} pair;

typedef struct bench_case {
    const char *name;
    const char *mesh_a;
    const char *a;
    const char *mesh_b;
    const char *b;
    bool same;
} bench_case;

static const bench_case cases[] = {
    {"sub-axes", "<[\"x\"=1024, \"y\"=1024]>", "[{\"x\"}, {\"y\"}]", "<[\"d\"=1048576]>",
     "[{\"d\":(1)1024}, {\"d\":(1024)1024}]", true},
    {"another view", "<[\"x\"=64, \"y\"=16, \"z\"=1024]>", "[{\"x\", \"y\"}, {\"z\":(1)32}]",
     "<[\"a\"=1024, \"b\"=32, \"c\"=32]>", "[{\"a\"}, {\"b\"}]", true},
    {"permuted ids", "<[\"x\"=1024, \"y\"=1024], device_ids<=[1024, 1024]T(1, 0)>",
     "[{\"y\"}, {\"x\"}]", "<[\"a\"=1024, \"b\"=1024]>", "[{\"a\"}, {\"b\"}]", true},
    {"many axes",
     "<[\"a\"=4, \"b\"=4, \"c\"=4, \"d\"=4, \"e\"=4, \"f\"=4, \"g\"=4, \"h\"=4, \"i\"=4, \"j\"=4]>",
     "[{\"a\", \"b\", \"c\", \"d\", \"e\"}, {\"f\", \"g\", \"h\", \"i\", \"j\"}]",
     "<[\"x\"=1024, \"y\"=1024]>", "[{\"x\"}, {\"y\"}]", true},
    {"near miss: last sub-axis", "<[\"x\"=1024, \"y\"=1024]>", "[{\"x\"}, {\"y\":(1)512}]",
     "<[\"d\"=1048576]>", "[{\"d\":(1)1024}, {\"d\":(2048)512}]", false},
    {"near miss: two axes swapped", "<[\"x\"=1024, \"y\"=32, \"z\"=32]>",
     "[{\"x\"}, {\"y\", \"z\"}]", "<[\"x\"=1024, \"y\"=32, \"z\"=32]>", "[{\"x\"}, {\"z\", \"y\"}]",
     false},
    {"near miss: permuted ids", "<[\"x\"=1024, \"y\"=1024], device_ids<=[512, 2, 1024]T(1, 0, 2)>",
     "[{\"x\"}, {\"y\"}]", "<[\"a\"=1024, \"b\"=1024]>", "[{\"a\"}, {\"b\"}]", false},
};

static int64_t by_form(void *state)
{
    const pair *p = state;
    bool same = false;
    INSIST(tsr_geometry_same(p->ctx, p->a, p->b, &same) == TSR_OK);
    return same;
}

static int64_t by_enumeration(void *state)
{
    const pair *p = state;
    const int64_t devices = tsr_mesh_num_devices(tsr_sharding_mesh(tsr_geometry_sharding(p->a)));
    for (int64_t device = 0; device < devices; device++) {
        int64_t start[2][RANK];
        int64_t size[2][RANK];
        INSIST(tsr_geometry_box(p->a, device, start[0], size[0]));
        INSIST(tsr_geometry_box(p->b, device, start[1], size[1]));
        const bool empty_a = size[0][0] == 0 || size[0][1] == 0;
        const bool empty_b = size[1][0] == 0 || size[1][1] == 0;
        bool same = true;
        for (int i = 0; i < RANK; i++) {
            same = same && start[0][i] == start[1][i] && size[0][i] == size[1][i];
        }
        if (!(empty_a && empty_b) && !same) {
            return 0;
        }
    }
    return 1;
}

static const tsr_geometry *prepare(tsr_context *ctx, tsr_arena *arena, const char *mesh_text,
                                   const char *text)
{
    const tsr_mesh *mesh;
    const tsr_sharding *sharding;
    const tsr_geometry *geometry;
    INSIST(tsr_mesh_parse(ctx, arena, mesh_text, &mesh) == TSR_OK);
    INSIST(tsr_sharding_parse(ctx, arena, mesh, text, &sharding) == TSR_OK);
    INSIST(tsr_geometry_create(ctx, arena, sharding, RANK, shape, &geometry) == TSR_OK);
    return geometry;
}

/* Times one of the two by itself: they differ too much to take as many runs of each. */
static double median_of(work contestant, pair *p, int64_t times, int64_t *answer)
{
    timing ours = {0};
    timing again = {0};
    race(contestant, contestant, p, times, &ours, &again);
    *answer = ours.answer;
    return ours.median;
}

int main(void)
{
    tsr_context *ctx;
    tsr_arena *arena;
    INSIST(tsr_context_create(NULL, &ctx) == TSR_OK);
    INSIST(tsr_arena_create(ctx, &arena) == TSR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bench_case *c = &cases[i];
        pair p = {ctx, prepare(ctx, arena, c->mesh_a, c->a), prepare(ctx, arena, c->mesh_b, c->b)};
        int64_t by_our_form;
        int64_t by_every_device;
        const double ours = median_of(by_form, &p, 2000, &by_our_form);
        const double theirs = median_of(by_enumeration, &p, 1, &by_every_device);
        INSIST(by_our_form == c->same && by_every_device == c->same);
        printf("{\"bench\": \"equality\", \"case\": \"%s\", \"devices\": 1048576, \"same\": %s, "
               "\"microseconds\": %.3f, \"wanted\": 10, \"peer\": \"every device compared\", "
               "\"peer_microseconds\": %.1f, \"ratio\": %.6f}\n",
               c->name, c->same ? "true" : "false", 1e6 * ours, 1e6 * theirs, ours / theirs);
    }
    tsr_arena_destroy(arena);
    tsr_context_destroy(ctx);
    return 0;
}
