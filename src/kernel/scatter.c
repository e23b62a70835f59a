#include <string.h>

#include "base/base.h"
#include "kernel/windows.h"

/* How many bytes of a row are combined at a time. */
enum { CHUNK = 2048, MAX_ITEM = 16 };

static const fold_op folds[] = {[SCATTER_ADD] = FOLD_SUM,
                                [SCATTER_MULTIPLY] = FOLD_PROD,
                                [SCATTER_MAX] = FOLD_MAX,
                                [SCATTER_MIN] = FOLD_MIN};

bool scatter_supports(scatter_kind kind, tsr_dtype dtype)
{
    return kind == SCATTER_SET || fold_supports(dtype, folds[kind]);
}

/* Where the strides of two arrays differ: both are copied to a row each and combined there. */
static void combine_row(fold_op op, tsr_dtype dtype, char *dst, const char *src, const loop *l)
{
    _Alignas(MAX_ITEM) char old[CHUNK];
    _Alignas(MAX_ITEM) char update[CHUNK];
    const void *both[] = {old, update};
    const int64_t item = tsr_dtype_item_bytes(dtype);
    const size_t size = (size_t)item;
    for (int64_t i = 0; i < l->size; i += CHUNK / item) {
        const int64_t n = l->size - i < CHUNK / item ? l->size - i : CHUNK / item;
        char *at = dst + i * l->strides[0];
        kernel_copy(old, &item, at, &l->strides[0], &n, 1, size, false);
        kernel_copy(update, &item, src + i * l->strides[1], &l->strides[1], &n, 1, size, false);
        kernel_fold(old, &item, both, 2, &item, &n, 1, dtype, op, false);
        kernel_copy(at, &l->strides[0], old, &item, &n, 1, size, false);
    }
}

static bool has_same_strides(const windows *w, const int64_t *shape)
{
    for (size_t d = 0; d < w->rank; d++) {
        if (shape[d] > 1 && w->slice_strides[d] != w->input_strides[d]) {
            return false;
        }
    }
    return true;
}

static void combine(scatter_kind kind, const windows *w, const window_part *part)
{
    const tsr_dtype dtype = w->job->input->dtype;
    const int64_t *strides[] = {w->input_strides, w->slice_strides};
    const void *both[] = {part->input, part->slice};
    loops nest;
    if (kind == SCATTER_SET) {
        kernel_copy(part->input, w->input_strides, part->slice, w->slice_strides, part->shape,
                    w->rank, w->item, false);
    } else if (has_same_strides(w, part->shape)) {
        kernel_fold(part->input, w->input_strides, both, 2, w->input_strides, part->shape, w->rank,
                    dtype, folds[kind], false);
    } else if (loops_init_sorted(&nest, part->shape, w->rank, strides, 2, (int64_t)w->item)) {
        do {
            combine_row(folds[kind], dtype, part->input + nest.offsets[0],
                        part->slice + nest.offsets[1], &nest.loops[nest.count - 1]);
        } while (loops_next(&nest));
    }
}

/* Where the window begins; a start far outside is moved to just outside, so that sums cannot
 * overflow. */
static void load_starts(const windows *w, int64_t *starts)
{
    for (size_t i = 0; i < w->job->num_indexed; i++) {
        const size_t d = w->job->start_index_map[i];
        const int64_t start = windows_start(w, i);
        const int64_t full = w->job->input_full[d];
        starts[i] = start < -w->shape[d] ? -w->shape[d] : start > full ? full : start;
    }
}

void kernel_scatter(scatter_kind kind, const gather_job *job, const tsr_view *updates)
{
    windows w;
    if (!windows_init(&w, job, updates)) {
        return;
    }
    do {
        int64_t starts[KERNEL_MAX_RANK];
        window_part part;
        load_starts(&w, starts);
        if (windows_part(&w, starts, &part)) {
            combine(kind, &w, &part);
        }
    } while (windows_next(&w));
}

/* Combines the elements of one window of all arrays. */
static void call_part(scatter_call call, void *state, const windows *w, const window_part *parts,
                      size_t count)
{
    int64_t index[KERNEL_MAX_RANK] = {0};
    const void *arguments[2 * SCATTER_MAX_ARRAYS];
    _Alignas(MAX_ITEM) char made[SCATTER_MAX_ARRAYS][MAX_ITEM];
    void *results[SCATTER_MAX_ARRAYS];
    const int64_t *shape = parts[0].shape;
    size_t d = 0;
    do {
        for (size_t k = 0; k < count; k++) {
            int64_t to = 0;
            int64_t from = 0;
            for (size_t e = 0; e < w[0].rank; e++) {
                to += index[e] * w[k].input_strides[e];
                from += index[e] * w[k].slice_strides[e];
            }
            arguments[k] = parts[k].input + to;
            arguments[count + k] = parts[k].slice + from;
            results[k] = made[k];
        }
        call(state, arguments, results);
        for (size_t k = 0; k < count; k++) {
            memcpy(without_const(arguments[k]), made[k], w[k].item);
        }
        for (d = w[0].rank; d > 0; d--) {
            if (++index[d - 1] < shape[d - 1]) {
                break;
            }
            index[d - 1] = 0;
        }
    } while (d > 0);
}

void kernel_scatter_call(scatter_call call, void *state, const gather_job *jobs,
                         const tsr_view *updates, size_t count)
{
    windows w[SCATTER_MAX_ARRAYS];
    window_part parts[SCATTER_MAX_ARRAYS];
    if (count == 0) {
        return;
    }
    for (size_t k = 0; k < count; k++) {
        if (!windows_init(&w[k], &jobs[k], &updates[k])) {
            return;
        }
    }
    bool more = true;
    while (more) {
        int64_t starts[KERNEL_MAX_RANK];
        bool inside = true;
        load_starts(&w[0], starts);
        for (size_t k = 0; k < count; k++) {
            inside = windows_part(&w[k], starts, &parts[k]) && inside;
        }
        if (inside) {
            call_part(call, state, w, parts, count);
        }
        for (size_t k = 0; k < count; k++) {
            more = windows_next(&w[k]);
        }
    }
}
