#include "kernel/windows.h"

#include <string.h>

/*
 * A start index, moved so that the window is inside the whole input. A window as large as that
 * leaves no choice: then the slices have the rows of the box.
 */
static int64_t clamped(const windows *w, size_t index)
{
    const size_t d = w->job->start_index_map[index];
    if (w->job->slice_sizes[d] == w->job->input_full[d]) {
        return w->job->input_start[d];
    }
    const int64_t most = w->job->input_full[d] - w->shape[d];
    const int64_t start = windows_start(w, index);
    return start < 0 ? 0 : start > most ? most : start;
}

/* Bytes of a window that is one run of memory on both sides, such as a row of an embedding; or 0.
 */
static size_t run_of(const windows *w)
{
    const int64_t *strides[] = {w->slice_strides, w->input_strides};
    const int64_t item = (int64_t)w->item;
    loops nest;
    (void)loops_init_sorted(&nest, w->shape, w->rank, strides, 2, item);
    const loop *l = &nest.loops[0];
    return nest.count == 1 && l->strides[0] == item && l->strides[1] == item
               ? (size_t)(l->size * item)
               : 0;
}

void kernel_gather(const gather_job *job, const tsr_view *slices)
{
    windows w;
    if (!windows_init(&w, job, slices)) {
        return;
    }
    const size_t run = run_of(&w);
    do {
        int64_t starts[KERNEL_MAX_RANK];
        window_part part;
        for (size_t i = 0; i < job->num_indexed; i++) {
            starts[i] = clamped(&w, i);
        }
        const bool any = windows_part(&w, starts, &part);
        if (!any || !part.is_whole) {
            kernel_clear(w.slice, w.slice_strides, w.shape, w.rank, w.item);
        }
        if (any && part.is_whole && run > 0) {
            memcpy(part.slice, part.input, run);
        } else if (any) {
            kernel_copy(part.slice, w.slice_strides, part.input, w.input_strides, part.shape,
                        w.rank, w.item, false);
        }
    } while (windows_next(&w));
}
