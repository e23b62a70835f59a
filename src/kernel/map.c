#include "kernel/map.h"

#include "base/base.h"
#include "kernel/copy.h"
#include "kernel/loops.h"

/* How many elements a buffer holds; the buffers of all arrays fit the first cache. */
enum { BLOCK = 512, MAX_ITEM = 16, LINE = 64, MAX_ARRAYS = MAP_MAX_SOURCES + 1 };

/* Room for a block of every array, dst first. */
typedef struct map_buffers {
    _Alignas(LINE) char bytes[MAX_ARRAYS][BLOCK * MAX_ITEM];
} map_buffers;

/* What is the same for all rows; arrays are dst and then the sources. */
typedef struct map_job {
    map_run run;
    size_t num_arrays;
    int64_t items[MAX_ARRAYS];
    char *dst;
    const char *src[MAP_MAX_SOURCES];
    bool stream;
} map_job;

static int64_t whole_chunks(int64_t n)
{
    return ceil_div(n, MAP_CHUNK) * MAP_CHUNK;
}

/* Copies n elements into a buffer, followed by zeros up to a whole chunk. */
static void gather(char *buffer, const char *src, int64_t stride, int64_t item, int64_t n)
{
    if (stride == item) {
        memcpy(buffer, src, (size_t)(n * item));
    } else {
        kernel_copy(buffer, &item, src, &stride, &n, 1, (size_t)item, false);
    }
    memset(buffer + n * item, 0, (size_t)((whole_chunks(n) - n) * item));
}

static void scatter(char *dst, int64_t stride, const char *buffer, int64_t item, int64_t n,
                    bool stream)
{
    if (stride == item) {
        kernel_copy_run(dst, buffer, (size_t)(n * item), stream);
    } else {
        kernel_copy(dst, &stride, buffer, &item, &n, 1, (size_t)item, false);
    }
}

/* A row: where its arrays are and how far apart their elements are. */
typedef struct map_row {
    char *dst;
    const char *src[MAP_MAX_SOURCES];
    const int64_t *strides; /* of dst and of the sources */
} map_row;

/*
 * Computes n elements of a row from `from` on, through buffers where an array is not packed or n is
 * no multiple of a chunk. A source of stride 0 is in its buffer already.
 */
static void map_block(const map_job *job, const map_row *row, map_buffers *buffers, int64_t from,
                      int64_t n)
{
    const bool whole = n % MAP_CHUNK == 0;
    const char *src[MAP_MAX_SOURCES] = {NULL};
    for (size_t a = 1; a < job->num_arrays; a++) {
        const int64_t stride = row->strides[a];
        const char *at = row->src[a - 1] + from * stride;
        const bool in_place = whole && stride == job->items[a];
        src[a - 1] = in_place ? at : buffers->bytes[a];
        if (!in_place && stride != 0) {
            gather(buffers->bytes[a], at, stride, job->items[a], n);
        }
    }
    char *dst = row->dst + from * row->strides[0];
    if (whole && !job->stream && row->strides[0] == job->items[0]) {
        job->run(dst, src, n);
    } else {
        job->run(buffers->bytes[0], src, whole_chunks(n));
        scatter(dst, row->strides[0], buffers->bytes[0], job->items[0], n, job->stream);
    }
}

/* Streamed blocks begin on a line, so the first one ends where one begins. */
static int64_t first_block(const map_job *job, const char *dst)
{
    const int64_t to_line = (int64_t)(-(uintptr_t)dst % LINE);
    return job->stream && to_line % job->items[0] == 0 && to_line > 0 ? to_line / job->items[0]
                                                                      : BLOCK;
}

static void map_inner(const map_job *job, const map_row *row, map_buffers *buffers, int64_t size)
{
    const int64_t most = min_i64(size, BLOCK);
    for (size_t a = 1; a < job->num_arrays; a++) {
        if (row->strides[a] == 0) {
            gather(buffers->bytes[a], row->src[a - 1], 0, job->items[a], most);
        }
    }
    int64_t n = min_i64(first_block(job, row->dst), most);
    for (int64_t from = 0; from < size; from += n, n = min_i64(size - from, BLOCK)) {
        map_block(job, row, buffers, from, n);
    }
}

/* The offsets of the nest are those of the row's arrays. */
static void map_rows(const map_job *job, loops *nest)
{
    const loop *inner = &nest->loops[nest->count - 1];
    map_buffers buffers;
    do {
        map_row row = {.dst = job->dst + nest->offsets[0], .strides = inner->strides};
        for (size_t a = 1; a < job->num_arrays; a++) {
            row.src[a - 1] = job->src[a - 1] + nest->offsets[a];
        }
        map_inner(job, &row, &buffers, inner->size);
    } while (loops_next(nest));
}

/* Whether results go around the cache: when much is moved, none of it in place. */
static bool is_streamed(const map_job *job, const loops *nest)
{
    int64_t bytes = 0;
    int64_t elements = 1;
    for (size_t i = 0; i < nest->count; i++) {
        elements *= nest->loops[i].size;
    }
    for (size_t a = 0; a < job->num_arrays; a++) {
        bytes += elements * job->items[a];
    }
    for (size_t a = 1; a < job->num_arrays; a++) {
        if (job->src[a - 1] == job->dst) {
            return false;
        }
    }
    return bytes >= KERNEL_STREAM_BYTES && nest->loops[nest->count - 1].strides[0] == job->items[0];
}

void kernel_map(const map_forms *forms, const tsr_view *dst, const tsr_view *const *src,
                size_t num_src)
{
    map_job job = {.run = forms->run[vector_best()],
                   .num_arrays = num_src + 1,
                   .items = {tsr_dtype_item_bytes(dst->dtype)},
                   .dst = dst->data};
    const int64_t *strides[MAX_ARRAYS] = {dst->strides};
    for (size_t s = 0; s < num_src; s++) {
        job.items[s + 1] = tsr_dtype_item_bytes(src[s]->dtype);
        job.src[s] = src[s]->data;
        strides[s + 1] = src[s]->strides;
    }
    loops nest;
    if (!loops_init_sorted(&nest, dst->shape, dst->rank, strides, job.num_arrays, job.items[0])) {
        return;
    }
    job.stream = is_streamed(&job, &nest);
    map_rows(&job, &nest);
    if (job.stream) {
        kernel_copy_fence();
    }
}
