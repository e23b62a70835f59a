/* Gather, scatter and convolution on parts of small arrays. */
#include <string.h>

#include "small_ops.h"

static bool is_in(size_t dim, const size_t *dims, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (dims[i] == dim) {
            return true;
        }
    }
    return false;
}

/* Where an element of the slices comes from: which of the indices, and where in the window. */
typedef struct origin {
    int64_t batch[SMALL_RANK];  /* an index of the indices; 0 along the index vector */
    int64_t window[SMALL_RANK]; /* an index of the input, relative to the window */
    size_t window_dim[SMALL_RANK];
    size_t batch_dim[SMALL_RANK]; /* by dimension of the slices: of the input, of the indices */
} origin;

static void find_origin(const small_gather *g, size_t slices_rank, const int64_t *at, origin *o)
{
    const tsr_gather_dims *d = &g->dims;
    size_t window = 0;
    size_t batch = 0;
    *o = (origin){.window_dim = {SMALL_RANK, SMALL_RANK, SMALL_RANK},
                  .batch_dim = {SMALL_RANK, SMALL_RANK, SMALL_RANK}};
    for (size_t s = 0; s < slices_rank; s++) {
        if (is_in(s, d->offset_dims, d->num_offset)) {
            while (is_in(window, d->collapsed_dims, d->num_collapsed) ||
                   is_in(window, d->input_batching, d->num_batching)) {
                window++;
            }
            o->window_dim[s] = window;
            o->window[window++] = at[s];
        } else {
            batch += batch == d->index_vector_dim;
            o->batch_dim[s] = batch;
            o->batch[batch++] = at[s];
        }
    }
    for (size_t i = 0; i < d->num_batching; i++) {
        o->window[d->input_batching[i]] = o->batch[d->indices_batching[i]];
    }
}

/* The start of a window in each dimension of the input; false when the indices are elsewhere. */
static bool find_start(const small_gather *g, const small_array *indices, const origin *o,
                       int64_t *start)
{
    memset(start, 0, SMALL_RANK * sizeof *start);
    for (size_t i = 0; i < g->num_indexed; i++) {
        int64_t at[SMALL_RANK] = {0};
        int64_t place;
        memcpy(at, o->batch, sizeof at);
        if (g->dims.index_vector_dim < indices->rank) {
            at[g->dims.index_vector_dim] = (int64_t)i;
        }
        if (!small_find(indices, at, &place)) {
            return false;
        }
        start[g->map[i]] = indices->data[place];
    }
    return true;
}

/* Whether input, slices and indices are cut alike where they go together, as kernels want it. */
static bool batches_agree(const small_gather *g, const small_array *input,
                          const small_array *indices, const small_array *slices)
{
    const int64_t nowhere[SMALL_RANK] = {0};
    origin o;
    for (size_t i = 0; i < g->dims.num_batching; i++) {
        const size_t d = g->dims.input_batching[i];
        const size_t b = g->dims.indices_batching[i];
        if (input->shape[d] != indices->shape[b] || input->start[d] != indices->start[b]) {
            return false;
        }
    }
    find_origin(g, slices->rank, nowhere, &o);
    for (size_t s = 0; s < slices->rank; s++) {
        const size_t b = o.batch_dim[s];
        if (b < SMALL_RANK && (indices->shape[b] != slices->shape[s] ||
                               (slices->shape[s] > 0 && indices->start[b] != slices->start[s]))) {
            return false;
        }
    }
    return true;
}

/* Dimensions in which a kernel leaves out what its part of the input lacks. */
static bool may_miss(const small_gather *g, const small_array *input, const int64_t *at)
{
    for (size_t d = 0; d < input->rank; d++) {
        const bool inside = at[d] >= input->start[d] && at[d] < input->start[d] + input->shape[d];
        if (!inside && !is_in(d, g->map, g->num_indexed) && g->slice_sizes[d] == input->full[d]) {
            return false;
        }
    }
    return true;
}

/* What is outside the part of the input is left out: 0, and a sum pending. */
bool small_gather_apply(const small_op *o, const small_array *const *in, small_array *out,
                        bool first)
{
    const small_gather *g = o->gather;
    const small_array *input = in[0];
    (void)first;
    if (!batches_agree(g, in[0], in[1], out)) {
        return false;
    }
    for (int64_t i = 0; i < small_count(out); i++) {
        int64_t at[SMALL_RANK] = {0};
        int64_t start[SMALL_RANK];
        int64_t place;
        origin from;
        small_index(out, i, at);
        for (size_t d = 0; d < out->rank; d++) {
            at[d] += out->start[d];
        }
        find_origin(g, out->rank, at, &from);
        if (!find_start(g, in[1], &from, start)) {
            return false;
        }
        for (size_t d = 0; d < input->rank; d++) {
            const int64_t most = input->full[d] - g->slice_sizes[d];
            start[d] = start[d] > most ? most : start[d];
            start[d] = is_in(d, g->map, g->num_indexed) ? start[d] : 0;
            start[d] += from.window[d];
        }
        if (small_find(input, start, &place)) {
            out->data[i] = input->data[place];
        } else if (!may_miss(g, input, start)) {
            return false;
        }
    }
    return true;
}

static bool same_box(const small_array *a, const small_array *b)
{
    return memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0 &&
           (small_count(a) == 0 || memcmp(a->start, b->start, a->rank * sizeof *a->start) == 0);
}

/* Whether the windows of the updates are cut like the input where they are as large. */
static bool windows_agree(const small_gather *g, const small_array *input,
                          const small_array *updates)
{
    const int64_t nowhere[SMALL_RANK] = {0};
    origin o;
    find_origin(g, updates->rank, nowhere, &o);
    for (size_t s = 0; s < updates->rank; s++) {
        const size_t w = o.window_dim[s];
        const bool whole = w < SMALL_RANK && input->full[w] == updates->full[s];
        if (whole && (input->shape[w] != updates->shape[s] ||
                      (input->shape[w] > 0 && input->start[w] != updates->start[s]))) {
            return false;
        }
    }
    return true;
}

static void update(const small_op *o, int64_t *to, int64_t with)
{
    if (o->reduction == TSR_MAX) {
        *to = with > *to ? with : *to;
    } else {
        *to = (o->dim != 0 ? *to : 0) + with;
    }
}

/* `dim` is 1 for one that adds. What is outside the part is dropped. */
bool small_scatter_apply(const small_op *o, const small_array *const *in, small_array *out,
                         bool first)
{
    const small_gather *g = o->gather;
    const small_array *updates = in[2];
    if (!same_box(in[0], out) || !batches_agree(g, in[0], in[1], updates) ||
        !windows_agree(g, in[0], updates)) {
        return false;
    }
    for (int64_t i = 0; i < small_count(out); i++) {
        out->data[i] = first || o->dim == 0 || o->reduction == TSR_MAX ? in[0]->data[i] : 0;
    }
    for (int64_t i = 0; i < small_count(updates); i++) {
        int64_t at[SMALL_RANK] = {0};
        int64_t start[SMALL_RANK];
        int64_t place;
        origin from;
        small_index(updates, i, at);
        for (size_t d = 0; d < updates->rank; d++) {
            at[d] += updates->start[d];
        }
        find_origin(g, updates->rank, at, &from);
        if (!find_start(g, in[1], &from, start)) {
            return false;
        }
        for (size_t d = 0; d < out->rank; d++) {
            start[d] += from.window[d];
        }
        if (small_find(out, start, &place)) {
            update(o, &out->data[place], updates->data[i]);
        } else if (!may_miss(g, out, start)) {
            return false;
        }
    }
    return true;
}

/* Input [b, f, s], kernel [o, i, s], output [b, o, s]; `dim` is how far windows are apart. Groups
 * are as many as the parts say; without features there is nothing to sum. */
bool small_convolution_apply(const small_op *o, const small_array *const *in, small_array *out,
                             bool first)
{
    const small_array *a = in[0];
    const small_array *k = in[1];
    const int64_t stride = (int64_t)o->dim;
    (void)first;
    if (small_count(out) == 0) {
        return true;
    }
    if (a->shape[2] < k->shape[2] || (k->shape[1] > 0 && a->shape[1] == 0) ||
        (k->shape[1] > 0 && a->shape[1] % k->shape[1] != 0) || a->shape[0] % out->shape[0] != 0) {
        return false;
    }
    const int64_t groups = k->shape[1] > 0 ? a->shape[1] / k->shape[1] : 1;
    const int64_t batches = a->shape[0] / out->shape[0];
    if (batches == 0 || out->shape[1] != k->shape[0] || out->shape[1] % groups != 0 ||
        out->shape[1] % batches != 0 || out->shape[2] != (a->shape[2] - k->shape[2]) / stride + 1) {
        return false;
    }
    for (int64_t i = 0; i < small_count(out); i++) {
        int64_t at[SMALL_RANK] = {0};
        small_index(out, i, at);
        const int64_t group = at[1] / (out->shape[1] / groups);
        const int64_t batch = at[1] / (out->shape[1] / batches) * out->shape[0] + at[0];
        for (int64_t f = 0; f < k->shape[1]; f++) {
            for (int64_t w = 0; w < k->shape[2]; w++) {
                const int64_t from[] = {batch, group * k->shape[1] + f, at[2] * stride + w};
                const int64_t by[] = {at[1], f, w};
                out->data[i] += a->data[small_place(a, from)] * k->data[small_place(k, by)];
            }
        }
    }
    return true;
}
