/*
 * How fast one thread copies and folds, each beside memcpy of as many bytes: those copied, or half
 * of those that a fold reads and writes. All buffers have been touched before.
 */
#include <string.h>

#include "bench.h"

#include "kernel/copy.h"
#include "kernel/fold.h"

enum { MIB = 1 << 20, PAGE = 4096, MAX_SOURCES = 4, MAX_MIB = 64 };

typedef struct bench_state {
    char *from;    /* room for every source of a fold, or twice what a copy moves */
    char *to;      /* as large */
    int64_t bytes; /* what a copy moves, or the size of one array of a fold */
    bool stream;
    int64_t run; /* contiguous bytes of a copy in pieces */
    int64_t from_pitch;
    int64_t to_pitch;
    size_t sources;
} bench_state;

static int64_t copy(void *state)
{
    const bench_state *s = state;
    const int64_t shape[] = {s->bytes / s->run, s->run / 4};
    const int64_t to_strides[] = {s->to_pitch, 4};
    const int64_t from_strides[] = {s->from_pitch, 4};
    kernel_copy(s->to, to_strides, s->from, from_strides, shape, 2, 4, s->stream);
    kernel_copy_fence();
    return 2 * s->bytes;
}

/* Both halves of every row, each to a block of its own: a rank that sends to two. */
static int64_t copy_both_halves(void *state)
{
    const bench_state *s = state;
    const int64_t shape[] = {s->bytes / s->run / 2, s->run / 4};
    const int64_t to_strides[] = {s->run, 4};
    const int64_t from_strides[] = {2 * s->run, 4};
    const kernel_box boxes[] = {
        {s->to, s->from, to_strides, from_strides, shape},
        {s->to + s->bytes / 2, s->from + s->run, to_strides, from_strides, shape},
    };
    kernel_copy_boxes(boxes, 2, 2, 4, s->stream);
    kernel_copy_fence();
    return 2 * s->bytes;
}

static int64_t memcpy_of_a_copy(void *state)
{
    const bench_state *s = state;
    memcpy(s->to, s->from, (size_t)s->bytes);
    return 2 * s->bytes;
}

static const char *source(const bench_state *s, size_t index)
{
    return s->from + (int64_t)index * s->bytes;
}

static int64_t fold(void *state)
{
    const bench_state *s = state;
    const int64_t shape[] = {s->bytes / 4};
    const int64_t strides[] = {4};
    const void *sources[MAX_SOURCES];
    for (size_t i = 0; i < s->sources; i++) {
        sources[i] = source(s, i);
    }
    kernel_fold(s->to, strides, sources, s->sources, strides, shape, 1, TSR_F32, FOLD_SUM,
                s->stream);
    kernel_copy_fence();
    return (int64_t)(s->sources + 1) * s->bytes;
}

static int64_t memcpy_of_a_fold(void *state)
{
    const bench_state *s = state;
    const int64_t touched = (int64_t)(s->sources + 1) * s->bytes;
    memcpy(s->to, s->from, (size_t)touched / 2);
    return touched;
}

/* Checks that each piece is copied, and the bytes between the pieces are unchanged. */
static void check_copy(bench_state *s)
{
    enum { UNTOUCHED = 0x5a };
    memset(s->to, UNTOUCHED, 2 * (size_t)s->bytes);
    (void)copy(s);
    for (int64_t row = 0; row < s->bytes / s->run; row++) {
        const char *to = s->to + row * s->to_pitch;
        INSIST(memcmp(to, s->from + row * s->from_pitch, (size_t)s->run) == 0);
        for (int64_t i = s->run; i < s->to_pitch; i++) {
            INSIST(to[i] == UNTOUCHED);
        }
    }
}

static void check_both_halves(bench_state *s)
{
    memset(s->to, 0, (size_t)s->bytes);
    (void)copy_both_halves(s);
    for (int64_t i = 0; i < s->bytes / s->run; i++) {
        const char *to = s->to + i % 2 * (s->bytes / 2) + i / 2 * s->run;
        INSIST(memcmp(to, s->from + i * s->run, (size_t)s->run) == 0);
    }
}

static void check_fold(bench_state *s)
{
    memset(s->to, 0, (size_t)s->bytes);
    (void)fold(s);
    for (int64_t at = 0; at < s->bytes; at += 4) {
        float wanted;
        float got;
        memcpy(&wanted, source(s, 0) + at, sizeof wanted);
        for (size_t i = 1; i < s->sources; i++) {
            float next;
            memcpy(&next, source(s, i) + at, sizeof next);
            wanted += next;
        }
        memcpy(&got, s->to + at, sizeof got);
        INSIST(got == wanted);
    }
}

static void report(const char *name, work ours, work limit, bench_state *s)
{
    timing a = {0};
    timing b = {0};
    const int64_t times = s->bytes / MIB < 16 ? 64 : 1;
    race(ours, limit, s, times, &a, &b);
    INSIST(a.answer == b.answer);
    printf("{\"bench\": \"%s\", \"mib\": %lld, \"stream\": %s, \"gb_per_second\": %.2f, "
           "\"us\": %.1f, \"spread\": %.2f, \"limit\": \"memcpy of as many bytes\", "
           "\"limit_us\": %.1f, \"limit_spread\": %.2f, \"ratio\": %.2f}\n",
           name, (long long)(s->bytes / MIB), s->stream ? "true" : "false",
           1e-9 * (double)a.answer / a.median, 1e6 * a.median, a.spread, 1e6 * b.median, b.spread,
           a.median / b.median);
}

static void bench_copies(bench_state s)
{
    static const struct {
        const char *name;
        int64_t run;
        int64_t from_pitch;
        int64_t to_pitch;
    } rows[] = {
        {"copy_contiguous", 4096, 4096, 4096},
        {"copy_half_rows_16k_out", 16384, 32768, 16384},
        {"copy_half_rows_16k_in", 16384, 16384, 32768},
        {"copy_half_rows_512_out", 512, 1024, 512},
        {"copy_half_rows_512_in", 512, 512, 1024},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        s.run = rows[i].run;
        s.from_pitch = rows[i].from_pitch;
        s.to_pitch = rows[i].to_pitch;
        for (int stream = 0; stream < 2; stream++) {
            s.stream = stream != 0;
            report(rows[i].name, copy, memcpy_of_a_copy, &s);
            check_copy(&s);
        }
    }
}

/* From the start of a page to 16 bytes after one: from a segment to memory of malloc. */
static void bench_after_a_page(bench_state s)
{
    s.to += 16;
    s.run = 16384;
    s.from_pitch = 16384;
    s.to_pitch = 32768;
    s.stream = false;
    report("copy_half_rows_16k_after_a_page", copy, memcpy_of_a_copy, &s);
    check_copy(&s);
}

static void bench_both_halves(bench_state s)
{
    static const struct {
        const char *name;
        int64_t run;
    } rows[] = {{"copy_both_halves_16k", 16384}, {"copy_both_halves_512", 512}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        s.run = rows[i].run;
        for (int stream = 0; stream < 2; stream++) {
            s.stream = stream != 0;
            report(rows[i].name, copy_both_halves, memcpy_of_a_copy, &s);
            check_both_halves(&s);
        }
    }
}

static void bench_folds(bench_state s)
{
    static const struct {
        const char *name;
        size_t sources;
    } rows[] = {{"fold_2_f32", 2}, {"fold_4_f32", 4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        s.sources = rows[i].sources;
        for (int stream = 0; stream < 2; stream++) {
            s.stream = stream != 0;
            report(rows[i].name, fold, memcpy_of_a_fold, &s);
            check_fold(&s);
        }
    }
}

/* Small floats, so that every sum is exact and no source equals another. */
static void fill(char *bytes, size_t size)
{
    for (size_t i = 0; i < size / 4; i++) {
        const float value = (float)((i * 7 + i / 4096) % 4093);
        memcpy(bytes + 4 * i, &value, sizeof value);
    }
}

int main(void)
{
    const size_t room = (size_t)MAX_SOURCES * MAX_MIB * MIB;
    bench_state s = {.from = aligned_alloc(PAGE, room), .to = aligned_alloc(PAGE, room)};
    INSIST(s.from != NULL && s.to != NULL);
    fill(s.from, room);
    fill(s.to, room);
    static const int64_t sizes[] = {64, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        s.bytes = sizes[i] * MIB;
        bench_copies(s);
        bench_after_a_page(s);
        bench_both_halves(s);
        bench_folds(s);
    }
    free(s.from);
    free(s.to);
    return 0;
}
