#include "kernel/copy.h"

#include <string.h>

#include "kernel/loops.h"
#include "kernel/progress.h"

/* How far ahead of a streamed copy its source is fetched, in bytes of source that are wanted. */
enum { AHEAD = 2048 };

/* In rows up to this long the next rows are fetched ahead; in longer ones the next bytes. */
enum { SHORT_ROW = 16384 };

#ifdef __SSE2__
#include <emmintrin.h>

enum { LINE = 64, STREAM_LEAST = 2 * LINE };

/* Four vectors, all loaded before one is stored. */
typedef struct line {
    __m128i parts[LINE / sizeof(__m128i)];
} line;

static inline line load_line(const char *src)
{
    const __m128i *from = (const __m128i *)(const void *)src;
    return (line){{_mm_loadu_si128(from), _mm_loadu_si128(from + 1), _mm_loadu_si128(from + 2),
                   _mm_loadu_si128(from + 3)}};
}

static inline void stream_line(char *dst, const char *src)
{
    __m128i *to = (__m128i *)(void *)dst;
    const line x = load_line(src);
    _mm_stream_si128(to, x.parts[0]);
    _mm_stream_si128(to + 1, x.parts[1]);
    _mm_stream_si128(to + 2, x.parts[2]);
    _mm_stream_si128(to + 3, x.parts[3]);
}

/* A hint, which never faults: the address may be past the end of what there is. */
static void fetch(const char *src, int64_t ahead)
{
    const uintptr_t address = (uintptr_t)src + (uintptr_t)ahead;
    _mm_prefetch((const char *)address, _MM_HINT_T0); /* NOLINT(performance-no-int-to-ptr) */
}

/*
 * Whole lines go around the cache; the ends, whose lines hold bytes outside the box, do not.
 * The source is fetched `ahead` bytes before it is read.
 */
static void stream_run(char *dst, const char *src, size_t bytes, int64_t ahead)
{
    const size_t head = (size_t)(-(uintptr_t)dst % LINE);
    memcpy(dst, src, head);
    dst += head;
    src += head;
    bytes -= head;
    for (; bytes >= LINE; bytes -= LINE, dst += LINE, src += LINE) {
        fetch(src, ahead);
        stream_line(dst, src);
    }
    memcpy(dst, src, bytes);
}

/*
 * Libc copies runs from about 2 KiB up to half a MiB by one instruction, which some machines carry
 * out twenty times slower when the destination is at a slightly higher offset in its page.
 * That is common: large blocks of malloc start 16 bytes into a page, segments at its start.
 */
enum { PAGE = 4096, SLOW_LEAST = 2048, SLOW_DISTANCE = 64 };

static bool is_slow_for_libc(const char *dst, const char *src, size_t bytes)
{
    const size_t distance = ((uintptr_t)dst - (uintptr_t)src) % PAGE;
    return bytes >= SLOW_LEAST && distance > 0 && distance < SLOW_DISTANCE;
}

static inline void copy_line(char *dst, const char *src)
{
    __m128i *to = (__m128i *)(void *)dst;
    const line x = load_line(src);
    _mm_storeu_si128(to, x.parts[0]);
    _mm_storeu_si128(to + 1, x.parts[1]);
    _mm_storeu_si128(to + 2, x.parts[2]);
    _mm_storeu_si128(to + 3, x.parts[3]);
}

static void copy_by_lines(char *dst, const char *src, size_t bytes)
{
    for (; bytes >= LINE; bytes -= LINE, dst += LINE, src += LINE) {
        copy_line(dst, src);
    }
    memcpy(dst, src, bytes);
}

static void copy_run(char *dst, const char *src, size_t bytes, bool stream, int64_t ahead)
{
    if (stream && bytes >= STREAM_LEAST) {
        stream_run(dst, src, bytes, ahead);
    } else if (is_slow_for_libc(dst, src, bytes)) {
        copy_by_lines(dst, src, bytes);
    } else {
        memcpy(dst, src, bytes);
    }
}

void kernel_copy_fence(void)
{
    _mm_sfence();
}

#else

static void copy_run(char *dst, const char *src, size_t bytes, bool stream, int64_t ahead)
{
    (void)stream;
    (void)ahead;
    memcpy(dst, src, bytes);
}

void kernel_copy_fence(void) {}

#endif

/* A run of any length, in blocks after which progress is noted. */
static void copy_blocks(char *dst, const char *src, size_t bytes, bool stream, int64_t ahead)
{
    for (; bytes > PROGRESS_BYTES; bytes -= PROGRESS_BYTES) {
        copy_run(dst, src, PROGRESS_BYTES, stream, ahead);
        dst += PROGRESS_BYTES;
        src += PROGRESS_BYTES;
        progress_raise();
    }
    copy_run(dst, src, bytes, stream, ahead);
}

void kernel_copy_run(void *dst, const void *src, size_t bytes, bool stream)
{
    copy_blocks(dst, src, bytes, stream, AHEAD);
}

/* Copies items one by one along the innermost dimension. */
typedef void (*strided_copy)(char *dst, const char *src, const loop *inner, size_t item);

static void strided_any(char *dst, const char *src, const loop *inner, size_t item)
{
    for (int64_t i = 0; i < inner->size; i++) {
        memcpy(dst + i * inner->strides[0], src + i * inner->strides[1], item);
    }
}

#define DEFINE_STRIDED(bytes)                                                                      \
    static void strided_##bytes(char *dst, const char *src, const loop *inner, size_t item)        \
    {                                                                                              \
        (void)item;                                                                                \
        strided_any(dst, src, inner, bytes);                                                       \
    }
DEFINE_STRIDED(1)
DEFINE_STRIDED(2)
DEFINE_STRIDED(4)
DEFINE_STRIDED(8)
DEFINE_STRIDED(16)

enum { MAX_STRIDED = 16 };

static const strided_copy strided[MAX_STRIDED + 1] = {
    [1] = strided_1, [2] = strided_2, [4] = strided_4, [8] = strided_8, [16] = strided_16,
};

static strided_copy strided_of(size_t item)
{
    return item <= MAX_STRIDED && strided[item] != NULL ? strided[item] : strided_any;
}

/* The state of copying one box. */
typedef struct walk {
    loops nest;
    char *dst;
    const char *src;
    const loop *inner;
    size_t item;
    strided_copy strided; /* NULL when rows are contiguous */
    int64_t ahead;
    bool stream;
    size_t since; /* bytes since progress was noted */
} walk;

static bool is_contiguous(const loop *l, size_t item)
{
    return l->strides[0] == (int64_t)item && l->strides[1] == (int64_t)item;
}

/* Rows as short as an item of some type are copied as such items, along the next dimension. */
static void widen(walk *w)
{
    const size_t bytes = (size_t)w->nest.loops[w->nest.count - 1].size * w->item;
    if (w->nest.count > 1 && bytes <= MAX_STRIDED && strided[bytes] != NULL &&
        is_contiguous(&w->nest.loops[w->nest.count - 1], w->item)) {
        w->item = bytes;
        w->nest.count--;
    }
}

/* From a row to the row that should be fetched meanwhile. */
static int64_t bytes_ahead(const walk *w)
{
    const int64_t row = w->inner->size * (int64_t)w->item;
    if (w->nest.count == 1 || row > SHORT_ROW) {
        return AHEAD;
    }
    return (row < AHEAD ? AHEAD / row : 1) * w->nest.loops[w->nest.count - 2].strides[1];
}

/* False when there is nothing to copy. */
static bool walk_init(walk *w, const kernel_box *box, size_t rank, size_t item, bool stream)
{
    const int64_t *strides[] = {box->dst_strides, box->src_strides};
    w->dst = box->dst;
    w->src = box->src;
    w->item = item;
    w->stream = stream;
    w->since = 0;
    if (!loops_init_sorted(&w->nest, box->shape, rank, strides, 2, (int64_t)item)) {
        return false;
    }
    widen(w);
    w->inner = &w->nest.loops[w->nest.count - 1];
    w->strided = is_contiguous(w->inner, w->item) ? NULL : strided_of(w->item);
    w->ahead = bytes_ahead(w);
    return true;
}

/* Copies one row; false when it was the last. */
static bool walk_row(walk *w)
{
    char *dst = w->dst + w->nest.offsets[0];
    const char *src = w->src + w->nest.offsets[1];
    if (w->strided != NULL) {
        w->strided(dst, src, w->inner, w->item);
    } else {
        copy_blocks(dst, src, (size_t)w->inner->size * w->item, w->stream, w->ahead);
    }
    progress_add(&w->since, (size_t)w->inner->size * w->item);
    return loops_next(&w->nest);
}

void kernel_copy(void *dst, const int64_t *dst_strides, const void *src, const int64_t *src_strides,
                 const int64_t *shape, size_t rank, size_t item, bool stream)
{
    const kernel_box box = {dst, src, dst_strides, src_strides, shape};
    walk w;
    if (walk_init(&w, &box, rank, item, stream)) {
        while (walk_row(&w)) {
        }
    }
}

void kernel_clear(void *dst, const int64_t *strides, const int64_t *shape, size_t rank, size_t item)
{
    static const char zero[MAX_STRIDED];
    static const int64_t none[KERNEL_MAX_RANK];
    kernel_copy(dst, strides, zero, none, shape, rank, item, false);
}

/* How many boxes take turns; the others wait. */
enum { TOGETHER = 16 };

/* Takes the next boxes that hold anything until there are TOGETHER; returns how many there are. */
static size_t walks_fill(walk *walks, const kernel_box **boxes, const kernel_box *end, size_t rank,
                         size_t item, bool stream)
{
    size_t count = 0;
    while (*boxes < end && count < TOGETHER) {
        count += walk_init(&walks[count], (*boxes)++, rank, item, stream) ? 1 : 0;
    }
    return count;
}

void kernel_copy_boxes(const kernel_box *boxes, size_t count, size_t rank, size_t item, bool stream)
{
    const kernel_box *end = boxes + count;
    walk walks[TOGETHER];
    size_t left[TOGETHER];
    while (boxes < end) {
        size_t active = walks_fill(walks, &boxes, end, rank, item, stream);
        for (size_t i = 0; i < active; i++) {
            left[i] = i;
        }
        while (active > 0) {
            size_t kept = 0;
            for (size_t i = 0; i < active; i++) {
                if (walk_row(&walks[left[i]])) {
                    left[kept++] = left[i];
                }
            }
            active = kept;
        }
    }
}

void copy_batch_run(copy_batch *batch)
{
    kernel_copy_boxes(batch->boxes, batch->count, batch->rank, batch->item, batch->stream);
    batch->count = 0;
}

void copy_batch_add(copy_batch *batch, const kernel_box *box)
{
    const size_t i = batch->count++;
    const size_t bytes = batch->rank * sizeof(int64_t);
    memcpy(batch->shapes[i], box->shape, bytes);
    memcpy(batch->dst_strides[i], box->dst_strides, bytes);
    memcpy(batch->src_strides[i], box->src_strides, bytes);
    batch->boxes[i] = (kernel_box){box->dst, box->src, batch->dst_strides[i], batch->src_strides[i],
                                   batch->shapes[i]};
    if (batch->count == COPY_BATCH) {
        copy_batch_run(batch);
    }
}
