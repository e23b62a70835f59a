#include "kernel/window.h"

#include <string.h>

#include "base/base.h"

enum { MAX_ITEM = 16 };

/* More would overflow sums of it. */
#define MAX_PADDING (INT64_C(1) << 60)

/* ---- shapes ---- */

/* (count - 1) * step + 1, or 0 of none; false when it overflows. */
static bool dilated(int64_t count, int64_t step, int64_t *out)
{
    int64_t reach = 0;
    *out = 0;
    return count == 0 || (checked_mul(count - 1, step, &reach) && checked_add(reach, 1, out));
}

bool window_fit(window_shape *w)
{
    for (size_t d = 0; d < w->rank; d++) {
        int64_t full = 0;
        int64_t window = 0;
        if (w->before[d] < -MAX_PADDING || w->before[d] > MAX_PADDING ||
            w->after[d] < -MAX_PADDING || w->after[d] > MAX_PADDING || w->size[d] < 1 ||
            w->stride[d] < 1 || w->input_dilation[d] < 1 || w->dilation[d] < 1 ||
            !dilated(w->input[d], w->input_dilation[d], &full) ||
            !dilated(w->size[d], w->dilation[d], &window) ||
            !checked_add(full, w->before[d], &full) || !checked_add(full, w->after[d], &full)) {
            return false;
        }
        w->output[d] = full < window ? 0 : (full - window) / w->stride[d] + 1;
    }
    return true;
}

/* Whether there is a next index of a shape, in row-major order. */
static bool next_index(const int64_t *shape, size_t rank, int64_t *index)
{
    for (size_t d = rank; d-- > 0;) {
        if (++index[d] < shape[d]) {
            return true;
        }
        index[d] = 0;
    }
    return false;
}

static bool is_empty(const int64_t *shape, size_t rank)
{
    for (size_t d = 0; d < rank; d++) {
        if (shape[d] == 0) {
            return true;
        }
    }
    return false;
}

/* ---- folds of known ops: place by place of the window, all windows at once ---- */

window_range window_range_of(const window_shape *w, size_t d, int64_t place)
{
    const int64_t common = gcd_i64(w->stride[d], w->input_dilation[d]);
    window_range r = {.step = w->input_dilation[d] / common, .source_step = w->stride[d] / common};
    int64_t first = 0;
    const int64_t offset = place * w->dilation[d] - w->before[d];
    if (offset < 0) {
        first = ceil_div(-offset, w->stride[d]);
    }
    for (int64_t tries = 0; tries < r.step && first < w->output[d]; tries++, first++) {
        r.source = window_source(w, d, first, place);
        if (r.source >= 0) {
            r.first = first;
            r.count = min_i64((w->output[d] - 1 - first) / r.step,
                              (w->input[d] - 1 - r.source) / r.source_step) +
                      1;
            return r;
        }
    }
    return r;
}

/* Combines what one place of all windows is on with the results so far. */
static void fold_place(binary_op op, const window_shape *w, const int64_t *place,
                       const tsr_view *dst, const tsr_view *src)
{
    int64_t shape[KERNEL_MAX_RANK];
    int64_t to_strides[KERNEL_MAX_RANK];
    int64_t from_strides[KERNEL_MAX_RANK];
    tsr_view to = *dst;
    tsr_view from = *src;
    for (size_t d = 0; d < w->rank; d++) {
        const window_range r = window_range_of(w, d, place[d]);
        if (r.count == 0) {
            return;
        }
        shape[d] = r.count;
        to.data = (char *)to.data + r.first * dst->strides[d];
        from.data = (char *)from.data + r.source * src->strides[d];
        to_strides[d] = r.count > 1 ? r.step * dst->strides[d] : dst->strides[d];
        from_strides[d] = r.count > 1 ? r.source_step * src->strides[d] : src->strides[d];
    }
    to.shape = shape;
    from.shape = shape;
    to.strides = to_strides;
    from.strides = from_strides;
    kernel_binary(op, &to, &to, &from);
}

void kernel_reduce_window(binary_op op, const window_shape *w, const tsr_view *dst,
                          const tsr_view *src, const void *initial)
{
    int64_t place[KERNEL_MAX_RANK] = {0};
    if (is_empty(w->output, w->rank)) {
        return;
    }
    kernel_fill(dst, initial);
    if (is_empty(w->input, w->rank)) {
        return;
    }
    do {
        fold_place(op, w, place, dst, src);
    } while (next_index(w->size, w->rank, place));
}

/* ---- any function ---- */

/* The offset of a place of a window in an array of the input's shape; false for padding. */
static bool source_offset(const window_shape *w, const int64_t *window, const int64_t *place,
                          const int64_t *strides, int64_t *out)
{
    *out = 0;
    for (size_t d = 0; d < w->rank; d++) {
        const int64_t at = window_source(w, d, window[d], place[d]);
        if (at < 0) {
            return false;
        }
        *out += at * strides[d];
    }
    return true;
}

static int64_t offset_of(const int64_t *index, const int64_t *strides, size_t rank)
{
    int64_t offset = 0;
    for (size_t d = 0; d < rank; d++) {
        offset += index[d] * strides[d];
    }
    return offset;
}

typedef struct accumulators {
    _Alignas(MAX_ITEM) char values[WINDOW_MAX_ARRAYS][MAX_ITEM];
    _Alignas(MAX_ITEM) char next[WINDOW_MAX_ARRAYS][MAX_ITEM];
    const void *arguments[2 * WINDOW_MAX_ARRAYS];
    void *results[WINDOW_MAX_ARRAYS];
} accumulators;

static void call_window(window_call call, void *state, const window_shape *w, const tsr_view *src,
                        size_t count, const int64_t *window, accumulators *a)
{
    int64_t place[KERNEL_MAX_RANK] = {0};
    do {
        bool inside = true;
        for (size_t k = 0; k < count && inside; k++) {
            int64_t offset = 0;
            inside = source_offset(w, window, place, src[k].strides, &offset);
            a->arguments[count + k] = (const char *)src[k].data + offset;
        }
        if (inside) {
            call(state, a->arguments, a->results);
            memcpy(a->values, a->next, sizeof a->values[0] * count);
        }
    } while (next_index(w->size, w->rank, place));
}

void kernel_reduce_window_call(window_call call, void *state, const window_shape *w,
                               const tsr_view *dst, const tsr_view *src, const void *const *initial,
                               size_t count)
{
    int64_t window[KERNEL_MAX_RANK] = {0};
    accumulators a;
    if (is_empty(w->output, w->rank)) {
        return;
    }
    memset(&a, 0, sizeof a);
    do {
        for (size_t k = 0; k < count; k++) {
            memcpy(a.values[k], initial[k], (size_t)tsr_dtype_item_bytes(dst[k].dtype));
            a.arguments[k] = a.values[k];
            a.results[k] = a.next[k];
        }
        call_window(call, state, w, src, count, window, &a);
        for (size_t k = 0; k < count; k++) {
            memcpy((char *)dst[k].data + offset_of(window, dst[k].strides, w->rank), a.values[k],
                   (size_t)tsr_dtype_item_bytes(dst[k].dtype));
        }
    } while (next_index(w->output, w->rank, window));
}

/* ---- select and scatter ---- */

/* The offset in the input of the element that a window picks; false when it has none. */
static bool pick(window_call select, void *state, const window_shape *w, const int64_t *window,
                 const tsr_view *input, int64_t *picked, int64_t *where)
{
    int64_t place[KERNEL_MAX_RANK] = {0};
    bool found = false;
    do {
        int64_t offset = 0;
        uint8_t keep = 0;
        void *result = &keep;
        if (!source_offset(w, window, place, input->strides, &offset)) {
            continue;
        }
        if (found) {
            const void *both[] = {(const char *)input->data + *picked,
                                  (const char *)input->data + offset};
            select(state, both, &result);
        }
        if (!found || keep == 0) {
            *picked = offset;
            memcpy(where, place, w->rank * sizeof *where);
        }
        found = true;
    } while (next_index(w->size, w->rank, place));
    return found;
}

void kernel_select_and_scatter(window_call select, void *select_state, window_call combine,
                               void *combine_state, const window_shape *w, const tsr_view *dst,
                               const tsr_view *input, const tsr_view *source)
{
    const size_t item = (size_t)tsr_dtype_item_bytes(dst->dtype);
    int64_t window[KERNEL_MAX_RANK] = {0};
    if (is_empty(w->output, w->rank) || is_empty(w->input, w->rank)) {
        return;
    }
    do {
        int64_t place[KERNEL_MAX_RANK];
        int64_t picked = 0;
        int64_t offset = 0;
        _Alignas(MAX_ITEM) char sum[MAX_ITEM] = {0};
        void *result = sum;
        if (!pick(select, select_state, w, window, input, &picked, place) ||
            !source_offset(w, window, place, dst->strides, &offset)) {
            continue;
        }
        const void *both[] = {(const char *)dst->data + offset,
                              (const char *)source->data +
                                  offset_of(window, source->strides, w->rank)};
        combine(combine_state, both, &result);
        memcpy((char *)dst->data + offset, sum, item);
    } while (next_index(w->output, w->rank, window));
}
