#include "kernel/windows.h"

#include <string.h>

static bool is_in(const size_t *list, size_t count, size_t dim)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == dim) {
            return true;
        }
    }
    return false;
}

/* Maps the window dimensions of the slices to the dimensions of the input. */
static void init_window(windows *w, const tsr_view *slices)
{
    const gather_job *job = w->job;
    size_t offset = 0;
    for (size_t d = 0; d < w->rank; d++) {
        w->shape[d] = 1;
        w->slice_strides[d] = 0;
        if (!is_in(job->collapsed_dims, job->num_collapsed, d) &&
            !is_in(job->input_batching, job->num_batching, d)) {
            const size_t dim = job->offset_dims[offset++];
            w->shape[d] = slices->shape[dim];
            w->slice_strides[d] = slices->strides[dim];
        }
    }
}

/* How far the input moves with a dimension of the indices. */
static int64_t batching_stride(const gather_job *job, size_t dim)
{
    for (size_t i = 0; i < job->num_batching; i++) {
        if (job->indices_batching[i] == dim) {
            return job->input->strides[job->input_batching[i]];
        }
    }
    return 0;
}

/* The loops over the windows: slices, indices, input. */
static bool init_nest(windows *w, const tsr_view *slices)
{
    const gather_job *job = w->job;
    int64_t shape[KERNEL_MAX_RANK];
    int64_t strides[3][KERNEL_MAX_RANK];
    const int64_t *const arrays[] = {strides[0], strides[1], strides[2]};
    size_t count = 0;
    size_t dim = 0;
    for (size_t d = 0; d < slices->rank; d++) {
        if (is_in(job->offset_dims, job->num_offset, d)) {
            continue;
        }
        dim += dim == job->index_vector_dim ? 1 : 0;
        shape[count] = slices->shape[d];
        strides[0][count] = slices->strides[d];
        strides[1][count] = job->indices->strides[dim];
        strides[2][count++] = batching_stride(job, dim++);
    }
    return loops_init(&w->nest, shape, count, arrays, 3, 0);
}

static void place(windows *w, const tsr_view *slices)
{
    w->slice = (char *)slices->data + w->nest.offsets[0];
    w->index = (const char *)w->job->indices->data + w->nest.offsets[1];
    w->input = (char *)w->job->input->data + w->nest.offsets[2];
    w->inner = 0;
}

/*
 * Whether the box has the first row of every dimension that no index moves and of which the window
 * is only the first rows. Where the slice size is the full one the window has the rows of the box.
 */
static bool has_first_rows(const gather_job *job)
{
    for (size_t d = 0; d < job->input->rank; d++) {
        const bool is_partial =
            is_in(job->collapsed_dims, job->num_collapsed, d) ||
            (job->slice_sizes != NULL && job->slice_sizes[d] != job->input_full[d]);
        if (is_partial && job->input_start[d] > 0 &&
            !is_in(job->start_index_map, job->num_indexed, d) &&
            !is_in(job->input_batching, job->num_batching, d)) {
            return false;
        }
    }
    return true;
}

bool windows_init(windows *w, const gather_job *job, const tsr_view *slices)
{
    w->job = job;
    w->item = (size_t)tsr_dtype_item_bytes(job->input->dtype);
    w->rank = job->input->rank;
    w->input_strides = job->input->strides;
    w->index_step = job->index_vector_dim < job->indices->rank
                        ? job->indices->strides[job->index_vector_dim]
                        : 0;
    init_window(w, slices);
    w->is_box_empty = !has_first_rows(job);
    for (size_t d = 0; d < w->rank; d++) {
        if (w->shape[d] == 0) {
            return false;
        }
        w->is_box_empty = w->is_box_empty || job->input->shape[d] == 0;
    }
    if (!init_nest(w, slices)) {
        return false;
    }
    place(w, slices);
    return true;
}

bool windows_next(windows *w)
{
    const loop *inner = &w->nest.loops[w->nest.count - 1];
    const int64_t before[] = {w->nest.offsets[0], w->nest.offsets[1], w->nest.offsets[2]};
    if (++w->inner < inner->size) {
        w->slice += inner->strides[0];
        w->index += inner->strides[1];
        w->input += inner->strides[2];
        return true;
    }
    if (!loops_next(&w->nest)) {
        return false;
    }
    const int64_t back = inner->size - 1;
    w->slice += w->nest.offsets[0] - before[0] - back * inner->strides[0];
    w->index += w->nest.offsets[1] - before[1] - back * inner->strides[1];
    w->input += w->nest.offsets[2] - before[2] - back * inner->strides[2];
    w->inner = 0;
    return true;
}

static int64_t load(tsr_dtype dtype, const char *from)
{
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (dtype) {
    case TSR_I8:
        memcpy(&i8, from, sizeof i8);
        return i8;
    case TSR_I16:
        memcpy(&i16, from, sizeof i16);
        return i16;
    case TSR_I32:
        memcpy(&i32, from, sizeof i32);
        return i32;
    case TSR_I64:
        memcpy(&i64, from, sizeof i64);
        return i64;
    case TSR_U16:
        memcpy(&u16, from, sizeof u16);
        return u16;
    case TSR_U32:
        memcpy(&u32, from, sizeof u32);
        return u32;
    case TSR_U64:
        memcpy(&u64, from, sizeof u64);
        return u64 > INT64_MAX ? INT64_MAX : (int64_t)u64;
    default:
        memcpy(&u8, from, sizeof u8);
        return u8;
    }
}

int64_t windows_start(const windows *w, size_t index)
{
    return load(w->job->indices->dtype, w->index + (int64_t)index * w->index_step);
}

bool windows_part(const windows *w, const int64_t *starts, window_part *part)
{
    const gather_job *job = w->job;
    part->is_whole = true;
    part->slice = w->slice;
    part->input = w->input;
    memcpy(part->shape, w->shape, w->rank * sizeof part->shape[0]);
    for (size_t i = 0; i < job->num_indexed; i++) {
        const size_t d = job->start_index_map[i];
        const int64_t from = starts[i] - job->input_start[d];
        const int64_t first = from < 0 ? -from : 0;
        const int64_t room = job->input->shape[d] - from;
        const int64_t last = room < w->shape[d] ? room : w->shape[d];
        if (first >= last) {
            return false;
        }
        part->is_whole = part->is_whole && last - first == w->shape[d];
        part->shape[d] = last - first;
        part->slice += first * w->slice_strides[d];
        part->input += (from + first) * w->input_strides[d];
    }
    return !w->is_box_empty;
}
