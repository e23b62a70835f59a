#include "kernel/convolution.h"

#include <string.h>

#include "base/base.h"
#include "kernel/dot.h"
#include "kernel/packed.h"

/* About how many bytes of patches are made at a time. */
enum { MAX_PATCHES = 8 << 20 };

/* An array with a shape and strides of its own. */
typedef struct own_view {
    tsr_view view;
    int64_t shape[KERNEL_MAX_RANK];
    int64_t strides[KERNEL_MAX_RANK];
} own_view;

static void add_dim(own_view *v, int64_t size, int64_t stride)
{
    v->shape[v->view.rank] = size;
    v->strides[v->view.rank++] = stride;
}

static void start_view(own_view *v, const tsr_view *of)
{
    v->view =
        (tsr_view){.data = of->data, .dtype = of->dtype, .shape = v->shape, .strides = v->strides};
}

/* What is the same for all products of a convolution. */
typedef struct sizes {
    int64_t item;
    int64_t groups;   /* of features or of batches */
    int64_t batch;    /* of one group */
    int64_t features; /* of the input, of one group */
    int64_t made;     /* features of the output, of one group */
    int64_t patch;    /* bytes of all patches of one element of the batch */
    int64_t at_once;  /* elements of the batch whose patches are made at a time */
    bool is_empty;
} sizes;

static sizes sizes_of(const convolution_job *job)
{
    sizes s = {.item = tsr_dtype_item_bytes(job->dst->dtype)};
    s.groups = max_i64(job->feature_groups, job->batch_groups);
    s.batch = job->input->shape[job->input_batch] / job->batch_groups;
    s.features = job->kernel->shape[job->kernel_input];
    s.made = job->kernel->shape[job->kernel_output] / s.groups;
    s.patch = s.item * s.features;
    s.is_empty = s.batch == 0 || s.made == 0;
    for (size_t i = 0; i < job->window.rank; i++) {
        s.patch *= job->window.output[i] * job->window.size[i];
        s.is_empty = s.is_empty || job->window.output[i] == 0;
    }
    s.at_once = s.patch > 0 ? max_i64(1, min_i64(s.batch, MAX_PATCHES / s.patch)) : s.batch;
    return s;
}

/* The patches of some of the batch: batch, output places, places of a window, features; packed. */
static void patches_view(const convolution_job *job, const sizes *s, int64_t batch, char *data,
                         own_view *v)
{
    start_view(v, job->dst);
    v->view.data = data;
    add_dim(v, batch, 0);
    for (size_t i = 0; i < job->window.rank; i++) {
        add_dim(v, job->window.output[i], 0);
    }
    for (size_t i = 0; i < job->window.rank; i++) {
        add_dim(v, job->window.size[i], 0);
    }
    add_dim(v, s->features, 0);
    (void)packed_strides(v->shape, v->view.rank, (size_t)s->item, v->strides);
}

/* The part of the kernel of one group: places of a window, features, output features. */
static void kernel_view(const convolution_job *job, const sizes *s, int64_t group, own_view *v)
{
    const tsr_view *k = job->kernel;
    start_view(v, k);
    for (size_t i = 0; i < job->window.rank; i++) {
        const int64_t stride = k->strides[job->kernel_spatial[i]];
        const int64_t size = job->window.size[i];
        add_dim(v, size, job->reversed[i] ? -stride : stride);
        v->view.data = (char *)v->view.data + (job->reversed[i] ? (size - 1) * stride : 0);
    }
    add_dim(v, s->features, k->strides[job->kernel_input]);
    add_dim(v, s->made, k->strides[job->kernel_output]);
    v->view.data = (char *)v->view.data + group * s->made * k->strides[job->kernel_output];
}

/* The part of the output of one group and some of the batch. */
static void output_view(const convolution_job *job, const sizes *s, int64_t group, int64_t first,
                        int64_t batch, own_view *v)
{
    const tsr_view *o = job->dst;
    start_view(v, o);
    add_dim(v, batch, o->strides[job->output_batch]);
    for (size_t i = 0; i < job->window.rank; i++) {
        add_dim(v, job->window.output[i], o->strides[job->output_spatial[i]]);
    }
    add_dim(v, s->made, o->strides[job->output_feature]);
    v->view.data = (char *)v->view.data + first * o->strides[job->output_batch] +
                   group * s->made * o->strides[job->output_feature];
}

/* Copies what one place of all windows is on; what is on padding stays 0. */
static void copy_place(const convolution_job *job, const own_view *patches, const char *input,
                       const int64_t *place)
{
    const size_t n = job->window.rank;
    const tsr_view *in = job->input;
    int64_t shape[KERNEL_MAX_RANK];
    int64_t to[KERNEL_MAX_RANK];
    int64_t from[KERNEL_MAX_RANK];
    char *dst = patches->view.data;
    shape[0] = patches->shape[0];
    to[0] = patches->strides[0];
    from[0] = in->strides[job->input_batch];
    for (size_t i = 0; i < n; i++) {
        const window_range r = window_range_of(&job->window, i, place[i]);
        if (r.count == 0) {
            return;
        }
        const int64_t stride = in->strides[job->input_spatial[i]];
        shape[1 + i] = r.count;
        to[1 + i] = r.step * patches->strides[1 + i];
        from[1 + i] = r.count > 1 ? r.source_step * stride : stride;
        dst += r.first * patches->strides[1 + i] + place[i] * patches->strides[1 + n + i];
        input += r.source * stride;
    }
    shape[1 + n] = patches->shape[1 + 2 * n];
    to[1 + n] = patches->strides[1 + 2 * n];
    from[1 + n] = in->strides[job->input_feature];
    kernel_copy(dst, to, input, from, shape, n + 2, (size_t)tsr_dtype_item_bytes(in->dtype), false);
}

static bool next_place(const window_shape *w, int64_t *place)
{
    for (size_t d = w->rank; d-- > 0;) {
        if (++place[d] < w->size[d]) {
            return true;
        }
        place[d] = 0;
    }
    return false;
}

static void make_patches(const convolution_job *job, const sizes *s, int64_t group, int64_t first,
                         const own_view *patches)
{
    const tsr_view *in = job->input;
    int64_t place[KERNEL_MAX_RANK] = {0};
    const bool by_batch = job->batch_groups > 1;
    const char *input = (const char *)in->data;
    input += (first + (by_batch ? group * s->batch : 0)) * in->strides[job->input_batch];
    input += by_batch ? 0 : group * s->features * in->strides[job->input_feature];
    memset(patches->view.data, 0, (size_t)(patches->shape[0] * s->patch));
    for (size_t i = 0; i < job->window.rank; i++) {
        if (job->window.input[i] == 0) {
            return;
        }
    }
    do {
        copy_place(job, patches, input, place);
    } while (next_place(&job->window, place));
}

static size_t round_up(int64_t bytes)
{
    return ((size_t)bytes + 63) / 64 * 64;
}

/* Scratch of one product; how arrays are aligned counts. */
static size_t product_scratch(const convolution_job *job, const sizes *s, int64_t group,
                              int64_t first)
{
    static _Alignas(64) char aligned[1];
    const int64_t batch = min_i64(s->at_once, s->batch - first);
    own_view patches;
    own_view kernel;
    own_view output;
    patches_view(job, s, batch, aligned, &patches);
    kernel_view(job, s, group, &kernel);
    output_view(job, s, group, first, batch, &output);
    const dot_job dot = {.dst = &output.view,
                         .a = &patches.view,
                         .b = &kernel.view,
                         .num_contracting = job->window.rank + 1};
    return kernel_dot_scratch(&dot);
}

size_t kernel_convolution_scratch(const convolution_job *job)
{
    const sizes s = sizes_of(job);
    size_t most = 0;
    if (s.is_empty) {
        return 0;
    }
    for (int64_t group = 0; group < s.groups; group++) {
        for (int64_t first = 0; first < s.batch; first += s.at_once) {
            const size_t one = product_scratch(job, &s, group, first);
            most = one > most ? one : most;
        }
    }
    return round_up(s.patch * s.at_once) + most;
}

void kernel_convolution(const convolution_job *job, void *scratch)
{
    const sizes s = sizes_of(job);
    if (s.is_empty) {
        return;
    }
    for (int64_t group = 0; group < s.groups; group++) {
        own_view kernel;
        kernel_view(job, &s, group, &kernel);
        for (int64_t first = 0; first < s.batch; first += s.at_once) {
            const int64_t batch = min_i64(s.at_once, s.batch - first);
            own_view patches;
            own_view output;
            patches_view(job, &s, batch, scratch, &patches);
            output_view(job, &s, group, first, batch, &output);
            make_patches(job, &s, group, first, &patches);
            const dot_job dot = {.dst = &output.view,
                                 .a = &patches.view,
                                 .b = &kernel.view,
                                 .num_contracting = job->window.rank + 1};
            kernel_dot(&dot, (char *)scratch + round_up(s.patch * s.at_once));
        }
    }
}
