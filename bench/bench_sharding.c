/*
 * How fast shardings are parsed, printed and turned into boxes, each beside a limit: the least that
 * any implementation must do with the same bytes or numbers.
 */
#include <string.h>

#include "bench.h"

static const char *const texts[] = {
    "#sdy.sharding<@mesh, [{\"x\"}, {\"y\"}]>",
    "#sdy.sharding<@mesh, [{\"x\", \"y\"}, {}, {?}p1], replicated={\"z\"}>",
    "#sdy.sharding<@mesh, [{\"z\":(2)2, ?}, {\"x\"}, {\"y\"}], unreduced={\"w\"}>",
    "#sdy.sharding<@mesh, [{\"x\"}, {}, {}, {\"y\", \"w\"}]>",
    "#sdy.sharding<@mesh, [{}, {\"w\"}]>",
};
enum { NUM_TEXTS = sizeof texts / sizeof texts[0] };

typedef struct bench_state {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_mesh *mesh;
    const tsr_sharding *shardings[NUM_TEXTS];
    const tsr_geometry *geometry;
    char room[4096];
} bench_state;

static int64_t parse(void *state)
{
    bench_state *s = state;
    const tsr_arena_mark mark = tsr_arena_get_mark(s->arena);
    const tsr_sharding_reader reader = {.mesh = s->mesh, .reading = TSR_READ_PROGRAM, .rank = -1};
    int64_t bytes = 0;
    for (size_t i = 0; i < NUM_TEXTS; i++) {
        tsr_text text = tsr_text_of(NULL, texts[i]);
        const tsr_sharding *sharding;
        INSIST(tsr_sharding_read(s->ctx, s->arena, &text, &reader, &sharding) == TSR_OK);
        bytes += (int64_t)text.at;
    }
    tsr_arena_reset(s->arena, mark);
    return bytes;
}

/* The limit for reading: look at every byte once. */
static int64_t look_at_bytes(void *state)
{
    bench_state *s = state;
    int64_t bytes = 0;
    for (size_t i = 0; i < NUM_TEXTS; i++) {
        int quotes = 0;
        for (const char *c = texts[i]; *c != '\0'; c++, bytes++) {
            quotes += *c == '"';
        }
        s->room[i] = (char)quotes;
    }
    return bytes;
}

static int64_t print(void *state)
{
    bench_state *s = state;
    const tsr_arena_mark mark = tsr_arena_get_mark(s->arena);
    int64_t bytes = 0;
    for (size_t i = 0; i < NUM_TEXTS; i++) {
        const char *text;
        INSIST(tsr_sharding_print(s->ctx, s->arena, s->shardings[i], TSR_PRINT_FULL, &text) ==
               TSR_OK);
        bytes += (int64_t)strlen(text);
    }
    tsr_arena_reset(s->arena, mark);
    return bytes;
}

/* The limit for printing: copy text that is already printed. */
static int64_t copy_text(void *state)
{
    bench_state *s = state;
    int64_t bytes = 0;
    for (size_t i = 0; i < NUM_TEXTS; i++) {
        const size_t length = strlen(texts[i]);
        memcpy(s->room + 128 * i, texts[i], length + 1);
        bytes += (int64_t)strlen(s->room + 128 * i);
    }
    return bytes;
}

enum { DEVICES = 4096, ROWS = 1000, COLUMNS = 777 };

static int64_t boxes(void *state)
{
    const bench_state *s = state;
    int64_t sum = 0;
    for (int64_t device = 0; device < DEVICES; device++) {
        int64_t start[2];
        int64_t size[2];
        INSIST(tsr_geometry_box(s->geometry, device, start, size));
        sum += start[0] * 3 + size[0] * 5 + start[1] * 7 + size[1] * 11;
    }
    return sum;
}

static int64_t clamp(int64_t x, int64_t most)
{
    return x < most ? x : most;
}

/* The limit for boxes: this mesh and this sharding written out by hand. */
static int64_t boxes_by_hand(void *state)
{
    (void)state;
    const int64_t x = 16;
    const int64_t y = 16;
    const int64_t w = 16;
    const int64_t row_chunk = (ROWS + x - 1) / x;
    const int64_t column_chunk = (COLUMNS + y * w - 1) / (y * w);
    int64_t sum = 0;
    for (int64_t device = 0; device < DEVICES; device++) {
        const int64_t i = device / (y * w);
        const int64_t j = device % (y * w);
        const int64_t row = clamp(i * row_chunk, ROWS);
        const int64_t rows = clamp((i + 1) * row_chunk, ROWS) - row;
        const int64_t column = clamp(j * column_chunk, COLUMNS);
        const int64_t columns = clamp((j + 1) * column_chunk, COLUMNS) - column;
        sum += row * 3 + rows * 5 + column * 7 + columns * 11;
    }
    return sum;
}

static void report(const char *name, const char *limit, work ours, work theirs, bench_state *s,
                   int64_t times, int64_t items)
{
    timing a = {0};
    timing b = {0};
    race(ours, theirs, s, times, &a, &b);
    INSIST(a.answer == b.answer);
    printf("{\"bench\": \"%s\", \"per_second\": %.0f, \"ns\": %.1f, \"spread\": %.2f, "
           "\"limit\": \"%s\", \"limit_ns\": %.1f, \"ratio\": %.2f}\n",
           name, (double)items / a.median, 1e9 * a.median / (double)items, a.spread, limit,
           1e9 * b.median / (double)items, a.median / b.median);
}

int main(void)
{
    static bench_state s;
    INSIST(tsr_context_create(NULL, &s.ctx) == TSR_OK);
    INSIST(tsr_arena_create(s.ctx, &s.arena) == TSR_OK);
    INSIST(tsr_mesh_parse(s.ctx, s.arena, "@mesh = <[\"x\"=16, \"y\"=16, \"w\"=16, \"z\"=8]>",
                          &s.mesh) == TSR_OK);
    for (size_t i = 0; i < NUM_TEXTS; i++) {
        INSIST(tsr_sharding_parse(s.ctx, s.arena, s.mesh, texts[i], &s.shardings[i]) == TSR_OK);
    }
    report("sharding_parse", "look at every byte", parse, look_at_bytes, &s, 2000, NUM_TEXTS);
    report("sharding_print", "copy the text", print, copy_text, &s, 2000, NUM_TEXTS);

    const tsr_mesh *mesh;
    const tsr_sharding *sharding;
    const int64_t shape[] = {ROWS, COLUMNS};
    INSIST(tsr_mesh_parse(s.ctx, s.arena, "<[\"x\"=16, \"y\"=16, \"w\"=16]>", &mesh) == TSR_OK);
    INSIST(tsr_sharding_parse(s.ctx, s.arena, mesh, "[{\"x\"}, {\"y\", \"w\"}]", &sharding) ==
           TSR_OK);
    INSIST(tsr_geometry_create(s.ctx, s.arena, sharding, 2, shape, &s.geometry) == TSR_OK);
    report("boxes", "the same sharding written by hand", boxes, boxes_by_hand, &s, 20, DEVICES);

    tsr_arena_destroy(s.arena);
    tsr_context_destroy(s.ctx);
    return 0;
}
